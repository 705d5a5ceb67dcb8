#!/bin/sh
# test_project_cli.sh - taut project as a user meets it: table of passes, state, multipliers, JSON, [start] files, exit status.
#
# TAUT is the program (default ../build/taut beside this script). Numbers: Ariel, Sanz-Serna, Tsai 2012, table 1 (FACTS A).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli project

# the table of passes, state, multipliers by name, distances
run 0 project double_pendulum --set omega=1000 --method ipa
has out "37 force evaluations a pass"
has out "5   1.007216e-06   2.426279e-06          185"
has out "inner"
has out "multiplier"
has out "along them"
lacks out "  outer                      0.9"
run 0 project double_pendulum --set omega=1000 --method ipa -v
has out "outer                      8.952276e-07   1.612199e-06"
narrow
run 0 project double_pendulum --set omega=1000 --quiet
[ ! -s out ]
row $? "--quiet printed $(head -c 100 out)"

# JSON
run 0 project double_pendulum --set omega=1e4 --method ipa --json
json 'd["status"] == "done" and d["method"] == "ipa" and d["t"] == 0'
json 'len(d["iterations"]) == 5 and d["iterations"][4]["force_evaluations"] == 185'
json 'abs(d["iterations"][4]["gdot"][0] - 2.427409e-8) < 1e-12'
json 'abs(d["start"]["g"][0] - 3.08e-2) < 5e-5 and d["names"]["lambda"] == ["inner", "outer"]'
json 'len(d["q"]) == 4 and len(d["v"]) == 4 and abs(d["lambda"][0] - 1.0072) < 1e-3'
json 'd["stats"]["force_evaluations"] == 185 and d["stats"]["micro_steps"] == 180'
json 'd["moved"]["normal"] > 0.05 and d["moved"]["tangential"] < 0.01'
run 0 project slider_crank --json
json 'd["method"] == "constraint" and len(d["lambda"]) == 3'

# the written start is read again: nothing moves; the rigid start of a perturbed mechanism is consistent
run 0 project double_pendulum --set omega=1000 --set lift=0 --out slow.start
has out "slow.start"
has slow.start "[start]"
run 0 project double_pendulum --set omega=1000 --set lift=0 --start slow.start --json
json 'd["method"] == "series" and d["moved"]["normal"] < 1e-14'
run 0 project double_pendulum --set omega=1000 --start slow.start --method ipa --json
json 'd["moved"]["normal"] == 0'
run 0 project four_bar --from 0.4 --init ax=1.1 --init "by'=3" --out bar.start
run 0 check four_bar --from 0.4 --start bar.start --json
json 'd["start"]["position"] < 1e-12 and d["start"]["velocity"] < 1e-12'
run 0 project double_pendulum --out -
has out "x1 = "
run 2 project double_pendulum --json --out -
run 2 project double_pendulum --out /nowhere/at/all.start

# not converged: exit 1, the start is kept
run 1 project double_pendulum --passes 2
has err "after 2 passes"
has out "the start is kept"
run 1 project double_pendulum --passes 2 --json
json 'd["status"] == "failed" and d["q"][1] == 0.25 and d["error"]["code"] == "TAUT_ERROR_CONVERGE" and len(d["iterations"]) == 2'
json 'd["lambda"] == [None, None]'

# refusals and slips
run 2 project michaelis_menten --method ipa
has err "first-order"
run 2 project four_bar --set c=1e-6 --method ipa
has err "rigid bonds"
run 2 project slider_crank --method ipa
has err "--method constraint"
run 2 project double_pendulum --method constrain
has err "did you mean constraint"
run 2 project double_pendulum --micro-steps 0
run 2 project
run 0 methods
has out "ipa  (projection)"
run 0 help project
has out "--window"

# a chain of 10,000 links
run 0 project chain --set N=10000 --method constraint --json
json 'len(d["q"]) == 20000 and abs(d["lambda"][0]) < 1e-9'
done_rows
