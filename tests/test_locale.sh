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

# A host program in a locale: a model with tables, one with numbers in [run], a projection, a run.
cat >"$work/host.c" <<'END'
#include <locale.h>
#include <stdio.h>
#include <taut/taut.h>

int main(int count, char **word)
{
    taut_error error = {0};
    taut_system *system = NULL;
    taut_options *options = NULL;
    taut_projection *projection = NULL;
    taut_solver *solver = NULL;
    taut_file_sink *file = NULL;
    taut_sink sink;
    taut_load how = {.size = sizeof how, .from = 0.3};
    int code = count == 4 && setlocale(LC_ALL, word[1]) ? 0 : TAUT_ERROR_USAGE;
    code = code ? code : taut_system_load(word[2], &how, &system, &error);
    code = code ? code : taut_options_create(NULL, &options, &error);
    code = code ? code : taut_options_set(options, "from", "0.3", &error);
    code = code ? code : taut_options_set(options, "until", "0.35", &error);
    code = code ? code : taut_project(system, options, NULL, &projection, &error);
    code = code ? code : taut_solver_create(system, options, NULL, &solver, &error);
    code = code ? code : taut_csv_create(word[3], &file, &sink, &error);
    code = code ? code : taut_solver_run(solver, &sink, 1, NULL, NULL, &error);
    printf("%s\n", error.message);
    taut_file_sink_destroy(file);
    taut_solver_destroy(solver);
    taut_projection_destroy(projection);
    taut_options_destroy(options);
    taut_system_destroy(system);
    return code != 0;
}
END
host=yes
if [ -n "${TAUT_TEST_SANITIZED:-}" ] ||
    ! cc -std=c17 -I"$here/../include" "$work/host.c" -L"$build/lib" -ltaut -Wl,-rpath,"$build/lib" -o "$work/host" 2>/dev/null; then
    skip "no host program here"
    host=
fi

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
    for model in truss double_pendulum; do
        [ -n "$host" ] || continue
        "$work/host" C "$here/../models/$model.taut" "$work/plain.csv" >"$work/said"
        row $? "$model: $(cat "$work/said")"
        LOCPATH=$work "$work/host" $name.UTF-8 "$here/../models/$model.taut" "$work/local.csv" >"$work/said"
        row $? "$model, $locale: $(cat "$work/said")"
        cmp -s "$work/plain.csv" "$work/local.csv"
        row $? "$model, $locale: the rows are others"
    done
done
done_rows
