#!/bin/sh
# test_levels.sh - the folders are the architecture: a file of src/ includes headers of its own or lower levels only, cli/ includes
# the public header and its own ones. Reads the #include lines; the rules are tried on wrong lines first.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh

# Reads "path<TAB>#include line" and prints a sentence for every line that breaks a rule.
judge() {
    awk -F '\t' '
    BEGIN {
        n = split("base:0 expr:1 linalg:1 system:2 step:3 blackbox:3 io:3 slow:4 wrap:5 drive:6", pair, " ")
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
            if (quoted && name ~ /\//) print $1 ": " name ": the program includes headers of its own folder only"
            if (!quoted && name ~ /^(base|expr|linalg|system|step|blackbox|io|slow|wrap|drive)\//)
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
try 0 src/drive/a.c '#include "slow/series.h"'
try 0 src/io/a.c '#include "io/writer.h"'

files=0
for file in src/*/*.[ch] cli/*.[ch]; do
    [ -f "$file" ] || continue
    files=$((files + 1))
    said=$(includes "$file" | judge)
    [ -z "$said" ]
    row $? "$said"
done
[ $files -ge 20 ]
row $? "only $files files were read"

# Every quoted header exists, so that a mistyped folder cannot hide.
for file in src/*/*.[ch]; do
    for header in $(includes "$file" | sed -n 's/.*"\(.*\)".*/\1/p'); do
        [ -f "src/$header" ] || row 1 "$file: $header does not exist"
    done
done
done_rows
