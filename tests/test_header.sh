#!/bin/sh
# test_header.sh - the public header stands alone, as C17, C11 and C++17, without a warning.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

compile() { # compile COMPILER LANGUAGE STANDARD
    if ! command -v "$1" >/dev/null 2>&1; then
        skip "$1 is not installed"
        return
    fi
    # twice: the guard must work; a use: the types must be complete enough
    printf '#include <taut/taut.h>\n#include <taut/taut.h>\nint use(void);\nint use(void)\n{\n    taut_error error;\n    taut_sizes sizes;\n    return (int)(sizeof error + sizeof sizes) + TAUT_OK + taut_method_count();\n}\n' >"$work/use.c"
    said=$("$1" -x "$2" "-std=$3" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude "$work/use.c" 2>&1)
    row $? "$1 $3: $said"
}
for pair in gcc:g++ clang:clang++; do
    compile "${pair%:*}" c c17
    compile "${pair%:*}" c c11
    compile "${pair#*:}" c++ c++17
    compile "${pair#*:}" c++ c++11
done
for header in include/taut/*.h; do
    lines=$(wc -l <"$header")
    [ "$lines" -lt 600 ]
    row $? "$header has $lines lines, fewer than 600 are wanted"
done
done_rows
