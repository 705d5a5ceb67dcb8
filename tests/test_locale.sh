#!/bin/sh
# test_locale.sh - a host program may have set any locale: numbers as text are the same in one with a decimal comma, and in one whose
# decimal point has two bytes (U+066B). The locales are made here, in a folder of their own.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
build=${TAUT_BUILD:-$here/../build}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # the C library does not free what it reads from LOCPATH
export ASAN_OPTIONS
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for locale in de_DE ps_AF; do
    if ! localedef -i $locale -f UTF-8 "$work/$locale.UTF-8" >/dev/null 2>&1; then
        skip "locale $locale cannot be made here"
        continue
    fi
    LOCPATH=$work TAUT_TEST_LOCALE=$locale.UTF-8 "$build/tests/test_options" >"$work/said" 2>&1
    row $? "numbers as text in $locale: $(grep FAIL "$work/said" | head -n 3)"
    ! grep -q 'no locale' "$work/said"
    row $? "$locale could not be set"
done
done_rows
