#!/bin/sh
# test_black_box_cli.sh - taut project on rates and on separate programs, as a user meets it: choice, orders, JSON, refusals, exit status.
#
# TAUT is the program, TAUT_BUILD the build folder with tests/legacy and tests/process_peer. Numbers: docs/sources.md, D.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
build=${TAUT_BUILD:-$here/../build}
open_cli box
cp "$build/tests/legacy" "$build/tests/process_peer" . 2>/dev/null

run 0 project michaelis_menten
has out "projection difference of order 3 (order 3 moved the state by 3e-07"
run 0 project michaelis_menten --order 2
has out "projection difference of order 2 over"
has out "euler in steps of 0.01"
has out "0.50303544577"
run 0 project michaelis_menten --order 1 --iterate plain
has out "      0          37"
has out "      1          61"
run 0 project michaelis_menten --order 0 --json
has out '"orders"'
has out '"iterations": 6'
has out '"method": "difference"'
run 0 project michaelis_menten --order 2 --out slow.start
run 0 run michaelis_menten --start slow.start --method rk4 --until 0.1 --quiet
run 1 project michaelis_menten --iterate plain --passes 5
has out "the initial state is kept"
has err "allow more passes"
run 2 project michaelis_menten --order 7
has err "--order"
run 2 project michaelis_menten --method ipa
has err "use projection difference"
run 2 project double_pendulum --method difference
has err "does not support a mechanical system"

# a program: only when allowed
printf '# Legacy\n[state]\nx, y\n[stepper]\ncommand = ./legacy --eps 0.1\nhorizon = 0.04\n[observables]\nx\n[start]\nx = 1\n' >box.taut
for verb in project "run --until 1" spectrum; do
    run 2 $verb box.taut
    has err "./legacy --eps 0.1"
    has err "--allow-command"
done
if [ -n "${TAUT_TEST_CORE:-}" ]; then
    run 2 project box.taut --allow-command
    has err "not part of this build"
    done_rows
    exit
fi
# a gap of 9: the run integrates directly; of 4,000: by bursts, with fewer uses of the program
run 0 run box.taut --allow-command --until 1 --every 0.5 --out -
has err "method flow"
has err "integrated directly: bursts would take"
# invariants are functions of its variables; their drift is reported
printf '[invariants]\nwhole = x + 2*y\n' | cat box.taut - >kept.taut
run 0 run kept.taut --allow-command --until 1 --every 0.5 --out -
has err "drift                   0."
sed 's/eps 0.1/eps 0.001/; s/0.04/0.0004/' box.taut >fast.taut
run 0 run fast.taut --allow-command --until 5 --every 1 --out -
has err "motion slow, method dopri5"
has err "where direct integration needs 12500"
has out "5,0.1853708"
run 0 run fast.taut --allow-command --until 5 --json --out a.csv
has out '"direct_steps": 12500'
run 2 run box.taut --allow-command --until 1 --method radau5
has err "method radau5 is no explicit one"
run 2 run box.taut --allow-command --until 1 --motion full --method rk4
has err "method rk4 needs equations"
run 2 run box.taut --allow-command --until 1 --motion rigid
has err "only mechanical systems"
# without permission nothing runs
printf '#!/bin/sh\ntouch ran\n' >mark
chmod +x mark
sed 's/legacy --eps 0.1/mark/' box.taut >mark.taut
for verb in "run --until 1" "run --until 1 --method flow" "run --until 1 --motion slow" spectrum project; do
    run 2 $verb mark.taut
    has err "runs the command './mark'"
done
[ ! -e ran ]
row $? "no command runs without permission"
run 0 project box.taut --allow-command --order 2
has out "0.50303544577"
has out "uses of the flow"
mkdir -p elsewhere && cd elsewhere || exit 1
run 0 project ../box.taut --allow-command --order 2
has out "0.50303544577"
cd "$work" || exit 1
sed 's/legacy --eps 0.1/process_peer exit/; s/^x, y/y[i] for i in 1..5/; s/^x = 1/y[1] = -791.2, y[2] = -792.2, y[3] = -814/; s/^x$/y[1], y[2]/' \
    box.taut >dies_once.taut
sed 's/^horizon/restarts = 0\nhorizon/' dies_once.taut >dies.taut
run 1 project dies.taut --allow-command
has err "exit status 3"
has err "table not found"
run 1 project dies.taut --allow-command --json
has out '"code"'
sed 's/y\[3\] = -814/y[3] = -814, y[4] = 5, y[5] = 405/; s/0.04/4e-4/' dies_once.taut >dies_often.taut
run 0 project dies_often.taut --allow-command --copies 2
has out "restarts of it"
run 0 project dies_often.taut --allow-command --json
has out '"restarts": '
lacks out '"restarts": 0'

done_rows
