#!/bin/sh
# test_c_api.sh - every piece of C in docs/c-api.md compiles against the public header: definitions as they stand, statements inside a
# function that declares the usual variables. A piece that is wrong on purpose must not.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

awk -v folder="$work" '
    /^```c$/ { on = 1; n++; next }
    /^```/ { on = 0 }
    on { print >(folder "/piece" n ".txt") }' docs/c-api.md

compiles() { # compiles PIECE: 0 when it does
    {
        printf '#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <taut/taut.h>\n'
        if grep -q '^static ' "$1"; then
            cat "$1"
        else
            printf 'extern taut_system *system_; extern taut_context *context_; extern taut_solver *solver_;\n'
            printf 'int piece(double *q, double *v);\nint piece(double *q, double *v)\n{\n'
            printf 'taut_system *system = system_; taut_context *context = context_; taut_solver *solver = solver_;\n'
            printf 'taut_options *options = NULL; taut_values values = {0}; taut_error error = {0}; int status = 0;\n'
            cat "$1"
            printf '\nreturn status;\n}\n'
        fi
    } >"$work/piece.c"
    cc -std=c17 -Wall -Wextra -Wno-unused -Werror -Wno-shadow -Iinclude -fsyntax-only "$work/piece.c" >"$work/out" 2>&1
}

# `values` may be declared by the piece itself
for piece in "$work"/piece*.txt; do
    if grep -q 'taut_values values' "$piece"; then sed -i '1i {' "$piece" && echo '}' >>"$piece"; fi
done

count=0
for piece in "$work"/piece*.txt; do
    count=$((count + 1))
    compiles "$piece"
    row $? "$(head -n 3 "$piece") ... : $(head -n 5 "$work/out")"
done
[ $count -ge 12 ]
row $? "$count pieces of C in docs/c-api.md"

printf 'status = taut_context_start(context, q, v, &error);\n' >"$work/wrong"
! compiles "$work/wrong"
row $? "self-test: a wrong call is noticed"

# what the page names exists
for name in $(grep -o '`taut_[a-z_]*[a-z]`' docs/c-api.md | tr -d '`' | sort -u); do
    cat include/taut/*.h | grep -q "\b$name\b"
    row $? "docs/c-api.md names $name, which the header does not"
done
done_rows
