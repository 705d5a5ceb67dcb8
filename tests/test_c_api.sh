#!/bin/sh
# test_c_api.sh - every piece of C in docs/c-api.md compiles against the public header and runs with the built library: statements inside a
# function that has the usual objects, definitions by the call that a comment before them names. A piece that is wrong on purpose must not
# compile, and one that fails must be noticed. The page names every public function, and nothing else.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

awk -v folder="$work" '
    /^<!-- run: / { sub(/^<!-- run: /, ""); sub(/ -->$/, ""); call = $0 }
    /^```c$/ { on = 1; n++; if (call != "") print call >(folder "/piece" n ".call"); call = ""; next }
    /^```/ { on = 0 }
    on { print >(folder "/piece" n ".txt") }' docs/c-api.md

# What a piece finds: the chain with 50 links, a context at its initial state, a run of it.
cat >"$work/frame.h" <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <taut/taut.h>
static taut_error error;
static int open_all(taut_system **system, taut_context **context, taut_solver **solver, double *q, double *v)
{
    const char *const set[] = {"omega=1000", "N=50"};
    taut_load how = {.size = sizeof how, .set = set, .set_count = 2};
    taut_options *options = NULL;
    int status = taut_system_load("models/chain.taut", &how, system, &error);
    if (status == 0)
        status = taut_context_create(*system, NULL, context, &error);
    if (status == 0)
        status = taut_context_start(*context, 0, q, v, &error);
    if (status == 0)
        status = taut_options_create(NULL, &options, &error);
    if (status == 0)
        status = taut_options_set_real(options, "until", 0.02, &error);
    if (status == 0)
        status = taut_solver_create(*system, options, NULL, solver, &error);
    taut_options_destroy(options);
    return status;
}
END
head='taut_system *system = NULL; taut_context *context = NULL; taut_solver *solver = NULL; taut_options *options = NULL;
static double q[100], v[100]; taut_values values = {.size = sizeof values};
int status = open_all(&system, &context, &solver, q, v); if (status != 0) return 3;'
tail='if (status != 0) fprintf(stderr, "%d: %s\n", status, error.message);
return status != 0;'

runs() { # runs NAME: compiles and runs the piece; its words in $work/out
    {
        echo '#include "frame.h"'
        if [ -f "$work/$1.call" ]; then
            cat "$work/$1.txt"
            printf 'int main(void)\n{\n%s\nstatus = %s;\n%s\n}\n' "$head" "$(cat "$work/$1.call")" "$tail"
        else
            printf 'int main(void)\n{\n%s\n{\n' "$head"
            cat "$work/$1.txt"
            printf '}\n%s\n}\n' "$tail"
        fi
    } >"$work/$1.c"
    # a program without the sanitizers' runtime cannot use a library that has them: it is only compiled
    if [ -n "${TAUT_TEST_SANITIZED:-}" ]; then
        set -- "$1" -fsyntax-only
    else
        set -- "$1" -L"$TAUT_BUILD/lib" -ltaut -lm -o "$work/$1"
    fi
    name=$1
    shift
    cc -std=c17 -Wall -Wextra -Wno-unused -Werror -Iinclude -I"$work" "$work/$name.c" "$@" >"$work/out" 2>&1 || return 1
    [ -n "${TAUT_TEST_SANITIZED:-}" ] || LD_LIBRARY_PATH=$TAUT_BUILD/lib timeout 60 "$work/$name" >/dev/null 2>"$work/out"
}

count=0
for piece in "$work"/piece*.txt; do
    count=$((count + 1))
    runs "$(basename "$piece" .txt)"
    row $? "$(head -n 3 "$piece") ... : $(head -n 5 "$work/out")"
done
[ $count -ge 25 ]
row $? "$count pieces of C in docs/c-api.md"
printf 'status = taut_context_start(context, q, v, &error);\n' >"$work/wrong.txt"
! runs wrong
row $? "self-test: a wrong call is noticed"
if [ -n "${TAUT_TEST_SANITIZED:-}" ]; then
    skip "self-test: a piece that fails is noticed (the library needs the sanitizers' runtime)"
else
    printf 'status = taut_solver_advance(solver, NAN, &error);\n' >"$work/fails.txt"
    ! runs fails
    row $? "self-test: a piece that fails is noticed"
fi

# what the page names exists
for name in $(grep -o '`taut_[a-z_]*[a-z]`' docs/c-api.md | tr -d '`' | sort -u); do
    cat include/taut/*.h | grep -q "\b$name\b"
    row $? "docs/c-api.md names $name, which the header does not"
done
# and every public function is on the page, whether exported or inline
names=$(cat include/taut/*.h | tr '\n' ' ' | sed 's/TAUT_API/\n&/g; s/static inline/\n&/g' |
    sed -n 's/^\(TAUT_API\|static inline\) \([^(;]*\)(.*/\2/p' | sed 's/.*[ *]//' | grep '^taut_' | sort -u)
[ "$(echo "$names" | wc -l)" -ge 120 ]
row $? "only $(echo "$names" | wc -l) functions were found in the headers"
for name in $names; do
    grep -q "\b$name\b" docs/c-api.md
    row $? "docs/c-api.md does not mention $name"
done
done_rows
