#!/bin/sh
# test_levels.sh - the folders are the architecture: a file of src/ includes headers of its own or lower levels only and calls functions
# of its own or lower levels only, cli/ includes the public header and its own ones, no .c file name occurs twice in src. Reads the
# #include lines, and the symbols of the object files with nm; the rules are tried on wrong lines first.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh

levels="base:0 expr:1 linalg:1 system:2 model:3 step:3 blackbox:3 io:3 point:4 slow:5 filter:5 vibration:5 wrap:5 project:6 drive:7 verbs:8"

# Reads "path<TAB>#include line" and prints a sentence for every line that breaks a rule.
judge() {
    awk -F '\t' -v levels="$levels" '
    BEGIN {
        n = split(levels, pair, " ")
        for (k = 1; k <= n; k++) { split(pair[k], p, ":"); level[p[1]] = p[2] }
    }
    {
        split($1, part, "/")
        line = $2
        sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
        quoted = line ~ /^"/
        name = line
        sub(/^["<]/, "", name)
        sub(/[">].*/, "", name)
        if (part[1] == "cli") {
            split(name, to, "/")
            if (quoted && name ~ /\// && name !~ /^reproduce\//) print $1 ": " name ": the program includes headers of its own folder only"
            if (!quoted && to[1] in level)
                print $1 ": " name ": the program uses the public header only"
            next
        }
        if (!(part[2] in level)) { print $1 ": folder " part[2] " has no level"; next }
        if (!quoted) next
        split(name, to, "/")
        if (name !~ /\// || !(to[1] in level))
            print $1 ": " name ": write \"folder/header.h\", with a folder of src"
        else if (level[to[1]] + 0 > level[part[2]] + 0)
            print $1 ": " name ": level " level[part[2]] " (" part[2] ") includes level " level[to[1]] " (" to[1] ")"
    }'
}

includes() { # of the files given, as "path<TAB>line"
    awk '/^[ \t]*#[ \t]*include/ { sub(/\r$/, ""); print FILENAME "\t" $0 }' "$@"
}

# The judge itself: wrong lines are caught, right ones are not.
try() { # try WRONG(0|1) PATH LINE
    said=$(printf '%s\t%s\n' "$2" "$3" | judge)
    if [ -n "$said" ]; then caught=1; else caught=0; fi
    [ $caught = "$1" ]
    row $? "self-test: $2: $3: caught $caught, expected $1"
}
try 1 src/base/a.c '#include "expr/tape.h"'
try 1 src/expr/a.c '  #  include   "system/system.h"   /* why */'
try 1 src/expr/a.h '#include "drive/loop.h"'
try 1 src/wrap/a.c '#include "drive/loop.h"'
try 1 src/system/a.c '#include "step/verlet.h"'
try 1 src/system/a.c '#include "nearmiss.h"'
try 1 src/system/a.c '#include "../drive/loop.h"'
try 1 src/other/a.c '#include "base/error.h"'
try 1 cli/a.c '#include "base/error.h"'
try 1 cli/a.c '#include "../src/base/error.h"'
try 1 cli/a.c '#include <base/error.h>'
try 0 cli/a.c '#include <taut/taut.h>'
try 0 cli/a.c '#include "cli.h"'
try 0 src/base/a.c '#include <stdlib.h>'
try 0 src/base/a.c '#include <taut/taut.h>'
try 0 src/expr/a.c '#include "linalg/saddle.h"'
try 0 src/drive/a.c '#include "slow/potential/potential.h"'
try 1 src/system/kernel/a.c '#include "model/model.h"'
try 0 cli/reproduce/a.c '#include "reproduce/reproduce.h"'
try 0 src/io/a.c '#include "io/writer.h"'

sources=$(find src cli -name '*.[ch]' | sort)
files=0
for file in $sources; do
    files=$((files + 1))
    said=$(includes "$file" | judge)
    [ -z "$said" ]
    row $? "$said"
done
[ $files -ge 20 ]
row $? "only $files files were read"

# Every quoted header exists, so that a mistyped folder cannot hide.
for file in $(find src -name '*.[ch]'); do
    for header in $(includes "$file" | sed -n 's/.*"\(.*\)".*/\1/p'); do
        [ -f "src/$header" ] || row 1 "$file: $header does not exist"
    done
done

twice=$(find src -name '*.c' | sed 's,.*/,,' | sort | uniq -d | tr '\n' ' ')
[ -z "$twice" ]
row $? "file names that occur twice in src: $twice"

# Symbols. Reads "D name path" (defined there) and "U name path" (used there), prints every use of a higher level.
judge_symbols() {
    awk -v levels="$levels" '
    BEGIN {
        n = split(levels, pair, " ")
        for (k = 1; k <= n; k++) { split(pair[k], p, ":"); level[p[1]] = p[2] }
    }
    $1 == "D" { home[$2] = $3 }
    $1 == "U" { use[$2 " " $3] = 1 }
    END {
        for (u in use) {
            split(u, x, " ")
            if (!(x[1] in home)) continue
            split(x[2], a, "/")
            split(home[x[1]], b, "/")
            if (level[b[2]] + 0 > level[a[2]] + 0)
                print x[2] " (level " level[a[2]] ") uses " x[1] " of " home[x[1]] " (level " level[b[2]] ")"
        }
    }'
}
said=$(printf 'D f src/drive/a.c\nU f src/system/b.c\n' | judge_symbols)
[ -n "$said" ]
row $? "self-test: a call of a higher level was not seen"
said=$(printf 'D f src/system/a.c\nU f src/drive/b.c\nU g src/base/b.c\n' | judge_symbols)
[ -z "$said" ]
row $? "self-test: $said"

objects=$TAUT_BUILD/CMakeFiles/taut_objects.dir/src
if command -v nm >/dev/null 2>&1 && [ -d "$objects" ]; then
    symbols=$(find "$objects" -name '*.o' | while read -r object; do
        path=src/${object#"$objects"/}
        [ -f "${path%.o}" ] || continue # of a file that has been removed since
        nm "$object" | awk -v path="${path%.o}" '$2 ~ /^[TDRBVC]$/ { print "D", $3, path } $1 == "U" { print "U", $2, path }'
    done)
    count=$(printf '%s\n' "$symbols" | grep -c '^D')
    [ "$count" -ge 300 ]
    row $? "only $count symbols were read"
    said=$(printf '%s\n' "$symbols" | judge_symbols)
    [ -z "$said" ]
    row $? "$said"
else
    skip "no nm, or no object files in $objects"
fi
done_rows
