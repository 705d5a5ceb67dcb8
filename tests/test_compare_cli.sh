#!/bin/sh
# test_compare_cli.sh - taut compare as a user meets it: table, JSON, picture, refusals in the table, usage.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
taut=${TAUT:-$here/../build/taut}
case $taut in
/*) ;;
*) taut=$(pwd)/$taut ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/taut_compare.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
TAUT_MODELS=$here/../models
export TAUT_MODELS

run() { # run STATUS ARGUMENTS: one call, its exit status as a row
    want=$1
    shift
    "$taut" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ]
    row $? "taut $*: exit status $got, expected $want: $(head -c 300 err)"
}
has() { # has FILE TEXT
    grep -qF -e "$2" "$1"
    row $? "'$2' is not in: $(head -c 600 "$1")"
}
json() { # json EXPRESSION: about the object d in `out`
    if [ -x /usr/bin/python3 ]; then
        /usr/bin/python3 -c 'import json, sys
d = json.load(open("out"), parse_constant=lambda word: 1 / 0)
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" 2>python_err
        row $? "$1: $(tail -n 1 python_err) in $(head -c 600 out)"
    fi
}

# orders of the methods on the slider crank; rattle refuses once, with its reason
run 0 compare slider_crank --until 1 --methods euler,rk4,rattle --steps 0.02,0.01
has out "motion rigid at t = 1; reference"
has out "rattle"
has out "forces that depend on velocities"
[ "$(grep -c rattle out)" -eq 1 ]
row $? "the refusal is said once: $(grep -c rattle out) lines with the name"
[ "$(awk 'length($0) > 100' out | wc -l)" -eq 0 ]
row $? "lines wider than 100 columns"
run 0 compare slider_crank --until 1 --methods euler,rk4,rattle --steps 0.02,0.01 --json
json 'len(d["rows"]) == 6 and d["uncertainty"] < 1e-10'
json 'abs(d["rows"][1]["order"] - 1) < 0.15 and abs(d["rows"][3]["order"] - 4) < 0.1'
json 'd["rows"][0]["evaluations"] == 51 and d["rows"][0]["stats"]["steps"] == 50'
json 'd["rows"][4]["error"] is None and "velocities" in d["rows"][4]["message"]'

# tolerances, with parameters, and a picture
run 0 compare double_pendulum --set omega=1000 --set lift=0 --until 2 --methods radau5,radau3 --tolerances 1e-4,1e-6,1e-8 --json
json 'all(r["error"] < 100 * r["tolerance"] for r in d["rows"])'
if [ -n "${TAUT_TEST_CORE:-}" ] || ! command -v gnuplot >/dev/null; then
    skip "picture (no gnuplot)"
else
    run 0 compare kepler --until 6 --methods rk4,dop8 --steps 0.1,0.05 --plot work.png
    head -c 8 work.png 2>/dev/null | grep -q PNG
    row $? "work.png is a picture"
    run 2 compare kepler --until 6 --methods rk4 --steps 0.1 --plot nowhere/work.png
fi

# nothing could run; usage
run 1 compare kepler --methods verlet --steps 0.1
has out "needs a mechanical system"
run 2 compare kepler --methods rk5 --steps 0.1
has err "did you mean rk4?"
run 2 compare kepler --steps 0.1
has err "no methods"
run 2 compare kepler --methods rk4
has err "--steps H1,H2,.. or --tolerances"
run 2 compare kepler --methods rk4 --steps 0.1 --tolerances 1e-3
run 2 compare kepler --methods rk4 --steps 0.1,zero
has err "found '0.1,zero'"
run 2 compare kepler --methods rk4,,dop8 --steps 0.1
run 2 compare kepler --methods rk4 --steps 0.1 --plot work.gif
has err ".png or .svg"
run 2 compare kepler --methods rk4 --steps 0.1 --every 1
has err "not an option of 'taut compare'"
run 2 run kepler --tolerances 1e-3
has err "not an option of 'taut run'"
run 2 compare
done_rows
