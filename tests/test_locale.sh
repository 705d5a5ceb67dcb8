#!/bin/sh
# test_locale.sh - a host program may have set any locale: numbers as text are the same in one with a decimal comma, and in one whose
# decimal point has two bytes (U+066B, as in ps_AF). The locales are made here, in a folder of their own.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
build=${TAUT_BUILD:-$here/../build}
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # the C library does not free what it reads from LOCPATH
export ASAN_OPTIONS
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

make_locale() { # make_locale NAME POINT: like POSIX but for the decimal point
    {
        printf 'comment_char %%\nescape_char /\n'
        for part in CTYPE COLLATE MONETARY TIME MESSAGES PAPER NAME ADDRESS TELEPHONE MEASUREMENT IDENTIFICATION; do
            printf 'LC_%s\ncopy "POSIX"\nEND LC_%s\n' $part $part
        done
        printf 'LC_NUMERIC\ndecimal_point "%s"\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n' "$2"
    } >"$work/$1.source"
    localedef -c -i "$work/$1.source" -f UTF-8 "$work/$1.UTF-8" >/dev/null 2>&1
    [ -e "$work/$1.UTF-8/LC_NUMERIC" ]
}

for locale in 'comma <U002C>' 'arabic <U066B>'; do
    name=${locale% *}
    if ! make_locale "$name" "${locale#* }"; then
        skip "no locale can be made here"
        continue
    fi
    LOCPATH=$work TAUT_TEST_LOCALE=$name.UTF-8 "$build/tests/test_options" >"$work/said" 2>&1
    row $? "numbers as text, $locale: $(grep FAIL "$work/said" | head -n 3)"
    ! grep -q 'no locale' "$work/said"
    row $? "locale $name could not be set"
done
done_rows
