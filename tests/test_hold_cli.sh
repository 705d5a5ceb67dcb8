#!/bin/sh
# test_hold_cli.sh - taut project --hold, --richardson and --expansion as a user meets them.
#
# Numbers: docs/sources.md, A (multipliers 3/2 and 5/4), docs/sources.md, B (r = 1 - 3 eps^4), the start (29)-(30) of A.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli hold

run 0 project double_pendulum --set omega=1000 --hold "y1, x1'" --json
json 'd["method"] == "series" and d["q"][1] == 0.25 and d["v"][0] == 0'
json 'd["q"][0] != 1 and d["v"][1] != -0.5'
run 0 project double_pendulum --set omega=1000 --hold y1 --hold "x1'" --json
json 'd["q"][1] == 0.25 and d["v"][0] == 0'
run 0 project double_pendulum --set omega=1000 --hold y1 --out held.start
run 0 project double_pendulum --set omega=1000 --start held.start --json
json 'max(abs(a - b) for a, b in zip(d["q"], [d["q"][0], 0.25, d["q"][2], d["q"][3]])) < 1e-13'
run 2 project double_pendulum --hold x3
has err "did you mean x1?"
run 2 project chain --hold "bob[99]"
has err "bob[1].x to bob[20].y"
run 1 project four_bar --hold ax
has err "release one"

run 0 project double_pendulum --set omega=1000 --set lift=0 --method ipa --richardson 2 --json
json 'abs(d["lambda"][0] - 1.5) < 2e-8 and abs(d["lambda"][1] - 1.25) < 2e-8'
json '"extrapolated" in d["explanation"]'
run 2 project slider_crank --richardson 1
has err "--richardson"
run 2 project double_pendulum --richardson 3
has err "<= 2"

run 0 project pendulum --set eps=1e-2 --method series --expansion
has out "eps^2 = 0.0001"
has out "-3"
run 0 project pendulum --set eps=1e-2 --expansion --json
json 'abs(d["expansion"]["eps2"] - 1e-4) < 1e-19 and len(d["expansion"]["terms"]) == 3'
json 'abs(d["expansion"]["terms"][2]["q"][0] + 3) < 1e-13 and abs(d["expansion"]["terms"][1]["q"][0]) < 1e-13'
run 2 project slider_crank --expansion
has err "--expansion"
run 2 project double_pendulum --hold y1 --expansion
has err "held"

done_rows
