#!/bin/sh
# bench_page.sh - pages that play runs: size and time of writing for the chain of 1000 links with 501 rows; JavaScript for a frame of 1000,
# 10,000 and (a still one) 100,000 links, where Chromium and Node are there (frames per second would measure the software renderer).
#
# Rows: name | limit | value | verdict.
set -u
cd "$(dirname "$0")/.." || exit 1
taut=$(cd "$(dirname "${TAUT:-build/taut}")" && pwd)/taut
here=$(pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
TAUT_MODELS=$here/models
export TAUT_MODELS

verdict() { # verdict NAME LIMIT VALUE
    awk -v name="$1" -v limit="$2" -v value="$3" 'BEGIN { printf "%s | %s | %.4g | %s\n", name, limit, value, value + 0 <= limit + 0 ? "met" : "missed" }'
}
# User seconds of all programs so far.
seconds() {
    times >"$work/times"
    awk 'NR == 2 { split($1, part, /[ms]/); print 60 * part[1] + part[2] }' "$work/times"
}

chain() { # chain LINKS ARGUMENTS
    links=$1
    shift
    "$taut" run chain --set N="$links" --set omega=1e6 --motion rigid --verify never --quiet "$@"
}
cd "$work" || exit 1
seconds >begin
chain 1000 --until 5 --every 0.01 --json >/dev/null
seconds >middle
chain 1000 --until 5 --every 0.01 --view small.html || exit 1
seconds >end
verdict "page, chain of 1000 links, 501 rows, bytes" 2000000 "$(wc -c <small.html)"
verdict "page, chain of 1000 links, 501 rows, seconds beyond the run" 1 "$(paste begin middle end | awk '{ print $3 - $2 - ($2 - $1) }')"

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ] || ! command -v node >/dev/null 2>&1; then
    echo "frames are not measured: Chromium or Node are missing"
    exit 0
fi
chain 10000 --until 1 --every 0.01 --view large.html || exit 1
chain 100000 --until 1e-3 --every 1e-3 --view still.html || exit 1
node "$here/tests/page/bench.mjs" "$chromium" small.html large.html still.html >times || exit 1
while read -r file scene plots; do
    case $file in small.html) links=1000 limit=4 ;; large.html) links=10000 limit=16 ;; *) links=100000 limit=250 ;; esac
    verdict "page, $links links, milliseconds of JavaScript for the scene" $limit "$scene"
    verdict "page, $links links, milliseconds of JavaScript for the plots" 8 "$plots"
done <times
