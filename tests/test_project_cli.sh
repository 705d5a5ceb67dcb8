#!/bin/sh
# test_project_cli.sh - taut project as a user meets it: table of passes, state, multipliers, JSON, [start] files, exit status.
#
# TAUT is the program (default ../build/taut next to this script). Numbers: Ariel, Sanz-Serna, Tsai 2012, table 1 (docs/sources.md, A).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli project

# the table of passes, state, multipliers by name, distances
run 0 project double_pendulum --set omega=1000 --method ipa
has out "37 force evaluations a pass"
has out "5   1.007216e-06   2.426279e-06                185"
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

# to the last bit, through a file and through a pipe, for every kind of system; small numbers and minus zero too
round_trip() { # round_trip INIT MODEL OPTIONS...: --init is for the projection only, it would win over --start
    init=$1
    shift
    run 0 project "$@" --init "$init" --out one.start --json
    cp out one.json
    run 0 run "$@" --start one.start --motion "$motion" --method "$method" --step 1e-9 --steps 1 --out rows.csv --quiet
    if [ -x /usr/bin/python3 ]; then
        /usr/bin/python3 -c 'import csv, json, sys
d = json.load(open("one.json"), parse_int=float)
rows = list(csv.reader(open("rows.csv")))
first = dict(zip(rows[0], map(float, rows[1])))
pairs = [(first[n], x) for n, x in zip(d["names"]["q"], d["q"])] + [(first[n + "\x27"], x) for n, x in zip(d["names"]["q"], d["v"])]
sys.exit(0 if all(a.hex() == b.hex() for a, b in pairs) and len(pairs) > 1 else 1)' 2>python_err
        row $? "$*: the start is not the one that was written: $(tail -n 1 python_err)"
    fi
}
motion=full method=verlet
round_trip x1=1.01 double_pendulum --set omega=1000
round_trip "bob[3].y=-1e-300" chain --set N=40 --set omega=1e6
cp rows.csv file.csv
"$taut" project chain --set N=40 --set omega=1e6 --init "bob[3].y=-1e-300" --out - 2>err |
    "$taut" run chain --set N=40 --set omega=1e6 --start - --motion full --method verlet --step 1e-9 --steps 1 --out pipe.csv --quiet 2>>err
cmp -s file.csv pipe.csv
row $? "a pipe carries another start than a file: $(cat err)"
run 2 project - --start -

# a file appears whole or not at all, and what cannot be written is said before or after
echo keep >old.start
ln -s old.start link.start
run 0 project double_pendulum --out link.start --quiet
[ -L link.start ] && grep -q "x1 = " old.start
row $? "a link is written through"
run 0 project double_pendulum --out old.start
[ "$(ls -d old.start*)" = old.start ]
row $? "a temporary file is left: $(ls -d old.start*)"
echo other >other && ln -s other new.start.part
run 0 project double_pendulum --out new.start --quiet
[ "$(cat other)" = other ] && grep -q "x1 = " new.start && [ -L new.start.part ]
row $? "a link new.start.part of the user is followed or removed"
echo mine >user.start.part
run 0 project double_pendulum --out user.start --quiet
[ "$(cat user.start.part)" = mine ] && grep -q "x1 = " user.start
row $? "a file user.start.part of the user is overwritten or removed"
if [ -w /dev/full ]; then
    run 1 project double_pendulum --out /dev/full
    has err "--out: cannot write '/dev/full': No space left on device"
    lacks out "state in"
    run 1 project double_pendulum --out /dev/full --json
    json 'd["status"] == "failed" and d["error"]["code"] == "TAUT_ERROR_FILE" and len(d["q"]) == 4'
    [ -c /dev/full ]
    row $? "a device stays what it is"
else
    skip "/dev/full"
fi
run 2 project double_pendulum --out "$work"
has err "this is a folder"
run 2 project "$work"
has err "is a folder, expected a model file"
run 2 project double_pendulum --plot picture.gif
has err "expected a name that ends in .png or .svg"
run 2 project double_pendulum --plot nowhere/picture.png
has err "the folder 'nowhere' does not exist"
"$taut" project chain --set N=2000 --set omega=1e6 -v 2>err | head -n 2 >out
lacks err "error"

# pictures: every projection; the picture of the documentation is made by the command that stands above it
if pictures; then
    for method in ipa kernel series constraint auto; do
        run 0 project double_pendulum --set omega=1000 --method $method --plot $method.svg
        has out "picture in"
        picture $method.svg
    done
    has kernel.svg ": projection kernel"
    run 1 project double_pendulum --method ipa --passes 2 --plot failed.png
    picture failed.png
    has out "picture in"
    run 0 project michaelis_menten --plot box.png --json
    picture box.png
    run 1 project double_pendulum --plot "$work/no_gnuplot.png" --quiet --init x1=0 --init y1=0
    [ ! -e no_gnuplot.png ]
    row $? "a picture of nothing"
    command=$(sed -n 's/^    taut \(project .*--plot project\.png\)$/\1/p' "$here/../docs/project.md")
    [ -n "$command" ]
    row $? "docs/project.md has the command of its picture"
    # shellcheck disable=SC2086
    run 0 $command
    picture project.png
    size() { od -An -tx1 -j16 -N8 "$1"; }
    [ "$(size project.png)" = "$(size "$here/../docs/project.png")" ]
    row $? "docs/project.png is of another size than what its command draws: make pictures"
    PATH=/nowhere "$taut" project double_pendulum --plot a.png >out 2>err
    [ $? = 2 ]
    row $? "without gnuplot the exit status is 2"
    has err "install it"
else
    run 2 project double_pendulum --plot a.png
    has err "gnuplot"
    skip "pictures of projections (no gnuplot)"
fi

# not converged: exit 1, the initial state is kept
run 1 project double_pendulum --method ipa --passes 2
has err "after 2 passes"
has out "the initial state is kept"
run 1 project double_pendulum --method ipa --passes 2 --json
json 'd["status"] == "failed" and d["q"][1] == 0.25 and d["error"]["code"] == "TAUT_ERROR_CONVERGE" and len(d["iterations"]) == 2'
json 'd["lambda"] == [None, None]'

# refusals and slips
run 2 project michaelis_menten --method ipa
has err "first-order"
run 2 project slider_crank --method ipa
has err "rigid bonds"
run 0 project four_bar --set c=1e-6 --method ipa
has out "on the rigid bonds"
run 2 project double_pendulum --method constrain
has err "did you mean constraint"
run 2 project double_pendulum --micro-steps 0
run 2 project
run 0 methods
has out "ipa  (projection)"
run 0 help project
has out "--window"
has out "kernel,"
has out "difference, derivative, brute, outer, filter, auto)"
has out "write the state to FILE as a [start] section"
lacks out "verlet"
lacks out "trajectory"
run 0 help run
has out "dop8"
lacks out "constraint,"
lacks out "write the state to FILE as a [start] section"
run 2 help projct
has err "did you mean 'taut project'?"

# results on request: the multipliers of infinite stiffness, the expansion; as an object too
run 0 project double_pendulum --set omega=1000 --set lift=0 --richardson 2 --json
json 'abs(d["lambda"][0] - 1.5) < 2e-8 and abs(d["lambda"][1] - 1.25) < 2e-8'
run 0 project double_pendulum --set omega=1000 --set lift=0 --expansion
has out "y = y0 + eps^2 y1 + eps^4 y2"
narrow
run 0 project double_pendulum --set omega=1e4 --set lift=0 --expansion --json
json 'abs(d["expansion"]["eps2"] - 1e-8) < 1e-22 and len(d["expansion"]["terms"]) == 3'
json 'max(abs(sum(1e-8**k * t["q"][i] for k, t in enumerate(d["expansion"]["terms"])) - d["q"][i]) for i in range(4)) < 1e-14'
run 0 project double_pendulum --set omega=1000 --hold "x1,y1'" --json
json 'd["q"][0] == 1 and d["v"][1] == -0.5 and d["moved"]["normal"] > 0'
run 2 project double_pendulum --hold x3
has err "x3"

# a chain of 10,000 links
run 0 project chain --set N=10000 --method constraint --json
json 'len(d["q"]) == 20000 and abs(d["lambda"][0]) < 1e-9'
run 0 project chain --set N=10000 --set omega=1e6 -v
[ "$(wc -l <out)" -lt 500 ]
row $? "--verbose prints $(wc -l <out) lines"
has out "... and 9992 bonds with no more"
has out "... and 19800 more"
narrow
done_rows
