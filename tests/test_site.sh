#!/bin/sh
# test_site.sh - the documentation as a site: links and Markdown of every page, the commands of the tutorials with their output, the index of
# the search, and pages of text in headless Chromium (tests/page/text.mjs).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli site
source=$(cd "$here/.." && pwd)
if [ ! -x /usr/bin/python3 ]; then
    skip "the site (no python3; Debian: tools/packages-docs.txt)"
    done_rows
    exit
fi

"$source/tools/site" --check >out 2>&1
row $? "pages and their links: $(head -n 5 out)"

# what is wrong is reported with its place: a copy with mistakes
mkdir copy && (cd "$source" && cp -R README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs examples models include tools python reproduce web "$work/copy")
cp copy/docs/page.md kept.md
: >expected
mistake() { # mistake TEXT MESSAGE: a line at the end of docs/page.md, and what is reported
    printf '\n%s\n' "$1" >>copy/docs/page.md
    echo "docs/page.md:$(wc -l <copy/docs/page.md | tr -d ' '): $2" >>expected
}
mistake 'see [a page](no-such-page.md)' "the link 'no-such-page.md' leads nowhere"
mistake 'see [a heading](theory.md#no-such-heading)' "the heading '#no-such-heading' does not exist in docs/theory.md"
mistake '![a picture](no-such-picture.png)' "the link 'no-such-picture.png' leads nowhere"
mistake '<div>markup</div>' "this Markdown is not understood"
mistake '| a | b |' "a table without a line"
mistake '```text' "a block of code without an end"
echo "docs/index.md:1: no link to docs/lost.md" >>expected
echo '# Lost' >copy/docs/lost.md
copy/tools/site --check >out 2>&1
[ $? = 1 ] && [ "$(wc -l <out)" -eq "$(wc -l <expected)" ]
row $? "mistakes that are reported: $(cat out)"
while IFS= read -r message; do
    has out "$message"
done <expected
rm copy/docs/lost.md
mv kept.md copy/docs/page.md

if ! pictures || ! "$taut" --version | grep -q hdf5 || [ -n "${TAUT_TEST_SANITIZED:-}" ]; then
    skip "the tutorials (a build without sanitizers, with gnuplot and HDF5)"
    done_rows
    exit
fi

# an output that is not that of the program; then the site itself, with every command of the tutorials
build=${TAUT_BUILD:-$source/build}
sed -i 's/^Omega 40 .*/Omega 40  swing 76.59 to 136.72  torque 1.1061/' copy/docs/tutorial-linkage.md
for page in copy/docs/tutorial-[!l]*.md; do
    sed -i 's/^```console/```text/' "$page"
done
copy/tools/site --build "$build" --out wrong >out 2>&1
[ $? = 1 ] && [ ! -e wrong ]
row $? "a site with a wrong number was built"
has out "torque 1.1061"
has out "torque 1.0061"
"$source/tools/site" --build "$build" --out web >out 2>&1
row $? "tools/site: $(tail -n 5 out)"
for page in index README CHANGELOG tutorial-linkage tutorial-rope tutorial-molecule tutorial-simulator tutorial-method theory file-examples-chain.c; do
    [ -s web/$page.html ]
    row $? "the site has no page $page"
done
for name in wiper rope full work precision; do
    picture web/$name.svg
done
has web/wiper.html "default-src 'none'"
! grep -l 'src="https\{0,1\}:\|href="https\{0,1\}:[^"]*\.css' web/*.html >out
row $? "pages ask for something from elsewhere: $(cat out)"
cat >index.py <<'END'
import json, sys
sections = json.loads(open("web/search.js").read().removeprefix("const sections = ").rstrip().removesuffix(";"))
found = [row for row in sections if "foot point" in row[3].lower()]
sys.exit(0 if len(sections) > 300 and any(row[0].startswith("glossary.html") for row in found) else 1)
END
/usr/bin/python3 index.py
row $? "the index of the search does not have the foot point"

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ] || ! command -v node >/dev/null 2>&1; then
    skip "pages of text in a browser: Chromium or Node are missing (Debian: chromium nodejs)"
else
    "$taut" reproduce d-five-dimensions --out book --quiet
    timeout 120 node "$here/page/text.mjs" "$chromium" "$work" >rows.txt 2>errors.txt
    row $? "text.mjs: $(tail -n 5 errors.txt)"
    while read -r status text; do
        row "$status" "$text"
    done <rows.txt
fi
done_rows
