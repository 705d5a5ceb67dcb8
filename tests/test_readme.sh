#!/bin/sh
# test_readme.sh - what the README shows works: its model and commands run, its C program compiles and runs, its error message is the
# program's. (Links between the documents: test_site.sh.)
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The model is the indented block that begins with its title; the program is the fenced C block.
awk '/^    # A hanging rope/ { on = 1 } on && /^[^ ]/ { exit } on { sub(/^    /, ""); print }' README.md >"$work/rope.taut"
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >"$work/example.c"
[ "$(wc -l <"$work/rope.taut")" -gt 10 ] && [ "$(wc -l <"$work/example.c")" -gt 10 ]
row $? "the README has a model and a program"

run_line() { # a command of the README, in the folder of its model; pictures need gnuplot
    line=$(printf '%s' "$1" | sed 's/^ *//; s|^build/taut|"$TAUT"|')
    case $line in
    *--plot*) command -v gnuplot >/dev/null 2>&1 && [ -z "${TAUT_TEST_CORE:-}" ] || { skip "no pictures: $1"; return; } ;;
    *.h5*) [ -z "${TAUT_TEST_CORE:-}" ] || { skip "no HDF5: $1"; return; } ;;
    *N=100000*) [ -z "${TAUT_TEST_SANITIZED:-}" ] || { skip "too large under sanitizers: $1"; return; } ;;
    esac
    (cd "$work" && TAUT_MODELS=$TAUT_SOURCE/models sh -c "$line" >out 2>&1 </dev/null)
    row $? "$1: $(tail -n 3 "$work/out")"
}
# join continued lines, then take the indented commands
sed -e ':again' -e '/\\$/ { N; s/\\\n */ /; b again' -e '}' README.md | grep '^    build/taut ' >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 5 ]
row $? "the README has commands"
while read -r command; do run_line "$command"; done <"$work/commands"

# the message of a mistake
expected=$(sed -n 's/^    \(rope.taut:.*error:.*\)/\1/p' README.md)
sed 's/bob\[i\]\( - bob\)/bop[i]\1/' "$work/rope.taut" >"$work/broken.taut"
mkdir "$work/wrong" && cp "$work/broken.taut" "$work/wrong/rope.taut"
(cd "$work/wrong" && NO_COLOR=1 "$TAUT" check rope.taut >../said 2>&1 </dev/null)
[ $? = 2 ]
row $? "a wrong model has exit status 2"
grep -qxF "$expected" "$work/said"
row $? "the README shows '$expected', the program says '$(head -n 1 "$work/said")'"

if [ -n "${TAUT_TEST_SANITIZED:-}" ]; then
    skip "the C program is compiled without sanitizers"
elif cc -std=c17 -Wall -Wextra -Werror -Iinclude "$work/example.c" -L"$TAUT_BUILD/lib" -ltaut -Wl,-rpath,"$TAUT_BUILD/lib" \
    -o "$work/example" >"$work/out" 2>&1; then
    (cd "$work" && ./example >out 2>&1)
    row $? "the C program runs: $(cat "$work/out")"
else
    row 1 "the C program does not compile: $(cat "$work/out")"
fi
done_rows
