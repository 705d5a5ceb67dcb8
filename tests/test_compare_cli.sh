#!/bin/sh
# test_compare_cli.sh - taut compare as a user meets it: table, JSON, picture, refusals in the table, usage.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli compare

# orders of the methods on the slider crank; rattle refuses once, with its reason
run 0 compare slider_crank --until 1 --methods euler,rk4,rattle --steps 0.02,0.01
has out "motion rigid at t = 1; reference"
has out "rattle"
has out "forces that depend on velocities"
[ "$(grep -c rattle out)" -eq 1 ]
row $? "the refusal is said once: $(grep -c rattle out) lines with the name"
narrow
run 0 compare slider_crank --until 1 --methods euler,rk4,rattle --steps 0.02,0.01 --json
json 'len(d["rows"]) == 6 and d["uncertainty"] < 1e-10'
json 'abs(d["rows"][1]["order"] - 1) < 0.15 and abs(d["rows"][3]["order"] - 4) < 0.1'
json 'd["rows"][0]["evaluations"] == 51 and d["rows"][0]["stats"]["steps"] == 50'
json 'd["rows"][4]["error"] is None and "velocities" in d["rows"][4]["message"]'

# tolerances, with parameters, and a picture
# the ranking: from where on all errors of a method are smaller, between its rows
run 0 compare slider_crank --until 1 --motion rigid --methods rk4,euler --steps 0.1,0.05
has out "evaluations for an error of 0.01: euler 11, rk4 41"
lacks out "evaluations for an error of 1e-06"
run 0 compare slider_crank --until 1 --motion rigid --methods rk4,euler --steps 0.1,0.05 --json
json '[k["method"] for k in d["ranking"]] == ["euler", "rk4", "rk4", "rk4", "rk4"]'
json '(lambda a, b, log: abs(d["ranking"][4]["evaluations"] - a["evaluations"]*(b["evaluations"]/a["evaluations"])**(log(a["error"]/1e-8)/log(a["error"]/b["error"]))) < 1e-6)(d["rows"][0], d["rows"][1], __import__("math").log)'
run 0 compare double_pendulum --set omega=1000 --set lift=0 --until 2 --methods radau5,radau3 --tolerances 1e-4,1e-6,1e-8 --json
json 'all(r["error"] < 100 * r["tolerance"] for r in d["rows"])'
# slow motion is judged by the full motion; what is below the uncertainty is reported as such
run 0 compare double_pendulum --set omega=100 --set lift=0 --until 1 --methods radau9 --tolerances 1e-4,1e-13
has out "the full motion by dop8"
grep -q ' <[1-9].[0-9]e-1[0-9] ' out
row $? "an error below the uncertainty is not marked: $(cat out)"
if pictures; then
    run 0 compare kepler --until 6 --methods rk4,dop8 --steps 0.1,0.05 --plot work.png
    picture work.png
    run 2 compare kepler --until 6 --methods rk4 --steps 0.1 --plot nowhere/work.png
    has err "the folder 'nowhere' does not exist"
else
    skip "picture (no gnuplot)"
fi

# motions: differences from the first one; without stiff bonds there is none
run 0 compare double_pendulum --set omega=200 --until 1
has out "motions, with the largest differences from full"
run 0 compare pendulum --motions slow,rigid,full --json
json '[r["motion"] for r in d["rows"]] == ["slow", "rigid", "full"] and d["from"] == "slow" and d["rows"][0]["difference"] is None'
json '1e-9 < d["rows"][2]["difference"] < 1e-8 < 1e-6 < d["rows"][1]["difference"] < 2e-6'
json 'all(r["common_rows"] == 101 for r in d["rows"][1:])'
run 0 compare double_pendulum --motions slow,rigid --methods dop8 --steps 0.05 --until 1 --json
json 'all(r["method"] == "dop8" and r["stats"]["steps"] == 20 for r in d["rows"])'
run 0 compare pendulum --motions slow,rigid --every 0.25 --json
json 'd["rows"][1]["common_rows"] == 5'
run 2 compare kepler
has err "only mechanical systems have the motions full, slow and rigid"
run 0 compare kepler --motions full,rigid
has out "only mechanical systems have motions such as rigid"
run 1 compare kepler --motions rigid --json
json 'd["status"] == "failed" and "none of the motions" in d["error"]["message"]'
run 2 compare pendulum --motions slow,fast
has err "--motions: "
run 2 compare pendulum --motions slow,
has err "after the last comma"
run 2 compare pendulum --motions slow --motion rigid
has err "give either --motion or --motions"
run 2 compare pendulum --motions slow,rigid --tolerances 1e-4,1e-6
has err "give one value to --tolerances"
run 2 compare pendulum --motions slow,rigid --methods verlt
has err "did you mean verlet?"
run 2 compare pendulum --motions slow,rigid --out rows.csv
has err "--out and --plot are of --methods"

# nothing could run; usage
run 1 compare kepler --methods verlet --steps 0.1
has out "needs a mechanical system"
run 1 compare kepler --methods verlet --steps 0.1 --json
json 'd["status"] == "failed" and "none of the methods" in d["error"]["message"] and len(d["rows"]) == 1'
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
run 2 compare kepler --methods rk4, --steps 0.1
has err "after the last comma"
run 2 compare kepler --methods rk4 --steps 0.1,
run 2 compare kepler --methods rk4 --steps 0.1 --plot work.gif
has err ".png or .svg"
run 2 compare kepler --methods rk4 --steps 0.1 --every 1
has err "methods are compared at the end"
run 2 compare kepler --methods rk4 --steps 0.1 --end file
has err "not an option of 'taut compare'"
run 2 run kepler --tolerances 1e-3
has err "not an option of 'taut run'"
run 2 compare
# a name that does not exist: of the option that was given
run 2 compare pendulum --methods verlt,dop8 --steps 0.01
has err "--methods: unknown method 'verlt'; did you mean verlet?"
run 2 compare pendulum --methods kernel --steps 0.01
has err "--methods: kernel is a projection"
done_rows
