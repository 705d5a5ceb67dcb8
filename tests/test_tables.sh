#!/bin/sh
# test_tables.sh - nothing is listed twice: every option is in the help of its verbs and in docs/options.md, every method in
# `taut methods` and docs/methods.md, and the generated page is the committed one.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$TAUT_BUILD/tests/print_tables" >"$work/tables"
row $? "the tables can be printed"
awk -F '\t' '$1 == "option" { n = split($3, verb, /[ ,|]+/); for (k = 1; k <= n; k++) if (verb[k] != "") print verb[k], $2 }' \
    "$work/tables" >"$work/options"
awk -F '\t' '$1 == "method" { print $2 }' "$work/tables" >"$work/methods"
[ "$(wc -l <"$work/options")" -ge 10 ]
row $? "options by verb: only $(wc -l <"$work/options")"
[ -s "$work/methods" ]
row $? "there are methods"

# A whole word: --step is not found in --steps.
mentions() { # mentions FILE WORD
    awk -v word="$2" '
        { rest = $0
          while ((at = index(rest, word)) > 0) {
              before = at > 1 ? substr(rest, at - 1, 1) : " "
              after = substr(rest, at + length(word), 1)
              if (before !~ /[A-Za-z0-9-]/ && after !~ /[A-Za-z0-9-]/) found = 1
              rest = substr(rest, at + 1)
          } }
        END { exit !found }' "$1"
}
printf -- '  --steps N\n' >"$work/probe"
mentions "$work/probe" --steps && ! mentions "$work/probe" --step
row $? "self-test: whole words only"

# tools/work-precision has every method but that of black boxes
sed -n '/^<!-- work-precision -->/,/^<!-- end -->/p' docs/methods.md >"$work/compared"
for method in $(grep -v '^flow$' "$work/methods"); do
    grep -q "^| .$method. |.*[0-9]" "$work/compared"
    row $? "docs/methods.md, Which method: no row of $method; run tools/work-precision build --write"
done

for verb in $(awk '{ print $1 }' "$work/options" | sort -u); do
    "$TAUT" "$verb" --help >"$work/help.$verb" 2>&1 </dev/null
    row $? "taut $verb --help: $(head -n 3 "$work/help.$verb")"
    "$TAUT" help "$verb" 2>&1 </dev/null | cmp -s - "$work/help.$verb"
    row $? "taut help $verb is taut $verb --help"
    "$TAUT" --help 2>&1 </dev/null | grep -q "$verb"
    row $? "taut --help names $verb"
done
while read -r verb option; do
    mentions "$work/help.$verb" "--$option"
    row $? "taut $verb --help names --$option"
    mentions docs/options.md "--$option"
    row $? "docs/options.md names --$option"
done <"$work/options"

"$TAUT" methods >"$work/list" 2>&1 </dev/null
row $? "taut methods"
while read -r method; do
    mentions "$work/list" "$method"
    row $? "taut methods names $method"
    mentions docs/methods.md "$method"
    row $? "docs/methods.md names $method"
    mentions "$work/help.run" "$method"
    row $? "taut run --help names $method"
done <"$work/methods"

"$TAUT" help --options-page >"$work/page" 2>&1 </dev/null
row $? "taut help --options-page"
cmp "$work/page" docs/options.md >"$work/differs" 2>&1
row $? "docs/options.md is not what the program prints (taut help --options-page >docs/options.md): $(cat "$work/differs")"
done_rows
