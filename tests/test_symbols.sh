#!/bin/sh
# test_symbols.sh - what the built libraries show and use: the shared one exports exactly what the public header declares; every
# global name begins with taut_; only base/memory.c asks for memory; nothing prints to a standard stream, exits or aborts.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh
shared=$TAUT_BUILD/lib/libtaut.so
static=$TAUT_BUILD/lib/libtaut.a

if ! command -v nm >/dev/null 2>&1; then
    skip "nm is not installed"
    done_rows
    exit
fi
if [ -n "${TAUT_TEST_SANITIZED:-}" ]; then
    skip "sanitizers replace the functions that are looked for"
    done_rows
    exit
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Declarations may go over several lines: join them, then take the name before the first bracket.
cat include/taut/*.h | tr '\n' ' ' | sed 's/TAUT_API/\n&/g' | sed -n 's/^TAUT_API \([^(;]*\)(.*/\1/p' | sed 's/.*[ *]//' |
    grep '^taut_' | sort >"$work/declared"
nm -D --defined-only "$shared" | awk '$2 ~ /^[A-Z]$/ { print $3 }' | sed 's/@.*//' | grep -v -e '^_init$' -e '^_fini$' | sort >"$work/exported"
[ "$(wc -l <"$work/declared")" -ge 40 ]
row $? "the header declares only $(wc -l <"$work/declared") functions: was it read?"
for name in $(comm -23 "$work/declared" "$work/exported"); do row 1 "$name is declared in taut.h but the library has none"; done
for name in $(comm -13 "$work/declared" "$work/exported"); do row 1 "$name is exported but not declared in taut.h"; done
for name in $(comm -12 "$work/declared" "$work/exported"); do row 0 "$name"; done

# Programs find the library by 0.MINOR before 1.0, as find_package does.
if command -v readelf >/dev/null 2>&1; then
    wanted=$(sed -n 's/^#define TAUT_VERSION_\(MAJOR\|MINOR\) //p' include/taut/taut.h | tr '\n' '.' | sed 's/\.$//; s/^\([1-9][0-9]*\)\..*/\1/')
    readelf -d "$shared" | grep -q "SONAME.*libtaut\.so\.$wanted\]"
    row $? "the library is not libtaut.so.$wanted"
fi

# Global names of the static library, with the file they are in; compilers add names with a dot (clones).
nm -A -g --defined-only "$static" 2>/dev/null | awk '{ split($1, place, ":"); print place[2], $NF }' >"$work/global"
other=$(awk '$2 !~ /^taut_/ && $2 !~ /\./ { print }' "$work/global")
[ -z "$other" ]
row $? "global names that do not begin with taut_: $other"

# What the objects ask of libc.
nm -A -u "$static" 2>/dev/null | awk '{ split($1, place, ":"); print place[2], $NF }' >"$work/used"
uses() { # uses PATTERN [FILE that may]
    awk -v pattern="^($1)\$" -v may="${2:-}" '$2 ~ pattern && $1 != may' "$work/used"
}
found=$(uses 'malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup|asprintf' memory.c.o)
[ -z "$found" ]
row $? "memory is asked for outside base/memory.c: $found"
found=$(uses 'printf|vprintf|puts|putchar|perror|stderr|__printf_chk')
[ -z "$found" ]
row $? "the library prints: $found"
found=$(uses 'exit|quick_exit|abort')
[ -z "$found" ]
row $? "the library ends the program: $found"
found=$(uses 'strtok|rand|srand|setlocale|setenv|putenv|system|popen|gets|tmpnam')
[ -z "$found" ]
row $? "functions with hidden state or a shell: $found"
found=$(uses 'time|timespec_get|gettimeofday|ftime')
[ -z "$found" ]
row $? "clocks that setting the time of day changes: $found"
found=$(uses clock_gettime clock.c.o)
[ -z "$found" ]
row $? "a clock is read outside base/clock.c: $found"
found=$(awk '$2 == "malloc" && $1 == "memory.c.o"' "$work/used")
[ -n "$found" ]
row $? "base/memory.c does not use malloc: the list of symbols was not read"
done_rows
