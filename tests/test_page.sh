#!/bin/sh
# test_page.sh - pages that play runs: what is refused, sizes, and the pages of ten models in headless Chromium (tests/page/check.mjs).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli page

run 2 run double_pendulum --view page.png
has err "--view page.png: expected a name that ends in .html"
run 2 run double_pendulum --view page.html --out rows.csv --checkpoint saved
has err "--view cannot be combined with --checkpoint"
run 2 view --out page.html
has err "no runs"
run 2 view double_pendulum --out page.html
has err "expected an HDF5 file of a run"

models="double_pendulum chain four_bar bennett crane bouncing_ball kepler robertson lj_fluid stick_slip"
for model in $models; do
    run 0 run $model --out $model.csv --view $model.html --quiet
done
size() { wc -c <"$1" | tr -d ' '; }
for model in $models; do
    [ "$(size $model.html)" -lt 300000 ]
    row $? "$model.html has $(size $model.html) bytes"
done
has double_pendulum.html "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

# many rows are thinned: a page is at most 2 MB
run 0 run chain --set N=60 --set omega=1e3 --motion full --method verlet --step 1e-3 --until 4 --every step --verify never --view long.html --quiet
[ "$(size long.html)" -lt 2000000 ]
row $? "long.html has $(size long.html) bytes"
run 0 run chain --set N=10000 --set omega=1e6 --motion rigid --verify never --until 0.01 --every 0.002 --view many.html --quiet

# sweeps: the page has the table of the CSV file; a file becomes a page, too
run 0 sweep double_pendulum --vary omega=50:5000:log5 --vary method=dop8,verlet --vary step=0.01 --set lift=0 --motion full --until 0.1 \
    --keep 'max(energy)' --keep 'end(x2)' --out sweep.csv --view sweep.html --quiet
run 0 sweep spring_pendulum --vary ratio=2:4:10 --vary swing=0.1:0.4:10 --keep 'max(extension)' --until 1 --verify never --out map.csv --quiet
run 0 view map.csv --out map.html --quiet
run 2 view map.csv sweep.csv --out both.html
has err "a page shows runs, or one sweep"
run 2 view chain.csv --out both.html
has err "expected the table of a sweep"
sed '3s/,/ /' map.csv >broken.csv
run 2 view broken.csv --out both.html
has err "row 2 of the table has"
run 2 sweep double_pendulum --vary lift=0,1 --keep 'end(x2)' --view page.png
has err "expected a name that ends in .html"

# nothing is markup: not in titles, not in tables, not in names of files
printf '# </script><script>bad = 1</script>\n# </script><script>bad = 2</script>\n[tables]\nu = <b>.csv\n[coordinates]\nx, y\n[start]\nx = u.x[1]\n[run]\nuntil = 1\n' \
    >'<img src=x onerror=bad=1>.taut'
printf '# </script><script>bad = 3</script>\nx\n1\n' >'<b>.csv'
run 0 run '<img src=x onerror=bad=1>.taut' --view '<img src=x onerror=bad=1>.html' --quiet
lacks '<img src=x onerror=bad=1>.html' '<script>bad'

run 0 run truss --set modulus=1e5 --until 1 --out truss.csv --view truss.html --quiet

run 0 compare double_pendulum --set omega=30 --motion full --until 2 --methods verlet,dop8 --steps 0.01 --view compared.html --quiet
has compared.html '"name":"dop8"'
run 0 compare double_pendulum --set omega=30 --until 2 --view motions.html --json
cp out motions.json
has motions.html '"name":"rigid"'

if [ -z "${TAUT_TEST_CORE:-}" ] && "$taut" run double_pendulum --set omega=30 --motion slow --out slow.h5 --quiet 2>/dev/null; then
    run 0 run double_pendulum --set omega=30 --motion full --out full.h5 --quiet
    run 0 view slow.h5 full.h5 --out several.html --quiet
else
    skip "pages of files: this build has no HDF5"
fi

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ] || ! command -v node >/dev/null 2>&1 || [ -n "${TAUT_TEST_SANITIZED:-}" ] || [ ! -f several.html ]; then
    skip "pages in a browser: Chromium, Node or HDF5 are missing (Debian: chromium nodejs)"
else
    # shellcheck disable=SC2086
    timeout 150 node "$here/page/check.mjs" "$chromium" "$work" $models >rows.txt 2>errors.txt
    row $? "check.mjs: $(tail -n 5 errors.txt)"
    while read -r status text; do
        row "$status" "$text"
    done <rows.txt
    # who receives a page can repeat the run: its model, its tables, its command
    (cd received && mv command repeat && sed -i "s#^taut #'$taut' #; s#truss --set#./truss.taut --set#" repeat && sh ./repeat) && cmp truss.csv received/truss.csv
    row $? "the run of a page, repeated: $(cat received/repeat)"
fi
done_rows
