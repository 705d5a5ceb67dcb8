#!/bin/sh
# test_run_words.sh - what `taut run` says of its options: those without effect, where a step comes from, what [run] may hold, and that
# unstable fixed step sizes are a failure.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli run_words

# an option that the method never reads: a warning, also in the object; not with --quiet
run 0 run pendulum --motion full --method dop8 --newton tensor --until 0.01 --out rows.csv
has err "warning: --newton has no effect: method dop8 with adaptive step size does not read it"
run 0 run pendulum --motion full --method dop8 --newton tensor --until 0.01 --out rows.csv --json
json 'd["warnings"] == ["--newton has no effect: method dop8 with adaptive step size does not read it"]'
run 0 run pendulum --motion full --method dop8 --newton tensor --until 0.01 --out rows.csv --quiet
[ ! -s err ]
row $? "--quiet: $(cat err)"
run 0 run pendulum --motion full --method verlet --step 1e-4 --max-step 1 --until 0.01 --out rows.csv --json
json '[w.split()[0] for w in d["warnings"]] == ["--max-step"]'
# a tolerance that the method cannot honour is an error
run 2 run pendulum --motion full --method verlet --step 1e-4 --rtol 1e-8 --until 0.01 --out rows.csv --json
json 'd["status"] == "failed" and d["error"]["code"] == "TAUT_ERROR_USAGE" and d["error"]["option"] == "rtol"'
run 2 run pendulum --motion full --method verlet --step 1e-4 --atol 1e-8 --until 0.01 --out rows.csv
has err "--atol: method verlet has a fixed step size and no error estimate"
run 0 run pendulum --motion slow --method radau5 --newton tensor --rtol 1e-8 --until 0.1 --out rows.csv --json
json 'd["warnings"] == []'

# what the motion relies on, along the run: the 1:2 resonance at t = 2.08
run 0 run double_pendulum_gravity --until 5 --out rows.csv
has err "warning: motion effective needs a separation of 30, and from t = 2."
has err "it neglects the resonances mode 2 ~ mode 1 + mode 1 at t = 2.08"
has out "resonance               mode 2 ~ mode 1 + mode 1, apart by 0.0%, at t = 2.08"
run 0 run double_pendulum_gravity --until 5 --out rows.csv --json
json 'd["watched"]["resonance"] == [2, 1, 1] and abs(d["watched"]["resonance_at"] - 2.084) < 6e-3 and len(d["warnings"]) == 1'
json '15 < d["watched"]["separation"] < 30 and d["watched"]["looks"] > 8'
run 0 run double_pendulum_gravity --out rows.csv --json
json 'd["watched"]["resonance"] == [] and d["watched"]["resonance_at"] is None and d["warnings"] == []'
sed '/^motion = /d' "$TAUT_SOURCE/models/double_pendulum_gravity.taut" >chosen.taut
run 3 run chosen.taut --set eps=1e-8 --until 5 --out rows.csv
has out "ended                   at t = 5; averaging was not justified all the way, see the warning"
run 3 run chosen.taut --set eps=1e-8 --until 5 --out rows.csv --json
json 'd["status"] == "inaccurate" and d["error"] < 1e-4'
run 0 run chosen.taut --set eps=1e-8 --until 1.5 --out rows.csv --json
json 'd["status"] == "done" and d["motion"] == "effective"'
run 0 run double_pendulum --motion full --until 0.01 --out rows.csv --json
json 'd["watched"]["looks"] == 0 and d["watched"]["separation"] is None'

# a step of [run] is said to be from there, one of the command line is not
run 0 run pendulum --motion full --method verlet --until 0.01 --out rows.csv --json
json '"step 0.0003 (of [run])" in d["explanation"]'
run 0 run pendulum --motion full --method verlet --step 1e-4 --until 0.01 --out rows.csv --json
json '"step 0.0001:" in d["explanation"] and "[run]" not in d["explanation"]'

# settings of projections stand in [run] too, and reach taut project
cat >window.taut <<'MODEL'
[coordinates]
x, y
[bonds]
spring = sqrt(x^2 + y^2) - 1 stiffness 1e6
[start]
x = 1.001, y' = 1
[run]
until = 0.1
passes = 1
window = 30
MODEL
run 0 run window.taut --motion slow --out rows.csv --json
json 'd["status"] == "done" and d["warnings"] == []'
run 1 project window.taut --method ipa # one pass shows no convergence
has err "1 pass"
run 0 project window.taut --method ipa --passes 30

# unstable fixed step sizes: the index-2 system of paper C with the step of its [run], by an explicit method
run 1 run index2 --method rk4 --out rows.csv --json
json 'd["status"] == "failed" and "unstable" in d["error"]["message"] and "adaptive step size" in d["error"]["message"]'
run 0 run index2 --method rk4 --step 1e-4 --out rows.csv --json
json 'abs(d["state"][0] - 2.718281828459045) < 1e-6'
# and few of them: backward Euler, whose halves end elsewhere (nu = 1000 makes it unstable, and the exact solution ends at e)
for h in 0.3 0.1 0.05 0.02 0.01; do
    run 1 run index2 --method radau1 --step $h --out rows.csv --json
    json 'd["status"] == "failed" and "unstable" in d["error"]["message"]'
done
# what grows by itself is no failure: x = exp(14 t) ends at exp(28)
cat >grows.taut <<'MODEL'
[state]
x
[rates]
x' = 14*x
[start]
x = 1
[run]
until = 2
MODEL
run 0 run grows.taut --method radau5 --step 0.05 --out rows.csv --json
json 'abs(d["state"][0]/math.exp(28) - 1) < 1e-2'
run 0 run grows.taut --method rk4 --step 0.02 --out rows.csv --json
json 'abs(d["state"][0]/math.exp(28) - 1) < 1e-2'

# the estimate of the error is reported as a share of the tolerance, whichever of rtol and atol rules
run 0 run pendulum --motion full --method dop8 --rtol 1e-15 --atol 1e-9 --until 0.1 --out rows.csv
grep -Eq '^  error +not measured \(--verify always\); worst step 0\.[0-9]+ of its tolerance' out
row $? "a share of the tolerance: $(grep '^  error' out)"
run 0 run pendulum --motion full --method dop8 --rtol 1e-15 --atol 1e-9 --until 0.1 --out rows.csv --json
json '0.01 < d["error_share"] <= 1'

# a slow start that kernel finds, where redundant springs leave no foot point: how far it moved is known all the same
cat >twice.taut <<'MODEL'
[coordinates]
x, y
[bonds]
a = x - 1 stiffness 1e6
b = 2*x - 2 stiffness 1e6
[start]
x = 1.001, y' = 1
[run]
until = 0.1
MODEL
run 0 run twice.taut --motion slow --out rows.csv --json
json '"(kernel; by 0.001)" in d["explanation"] and "nan" not in d["explanation"]'

# what a projection advises is named in full: --method of a run is another
cat >kick.taut <<'MODEL'
[coordinates]
x, y
[bonds]
a = sqrt(x^2 + y^2) - 1 stiffness 1e4
[start]
x = 1, y' = 0.1
[events]
kick = t - 0.05 then y' = 200
[run]
until = 0.1
MODEL
run 1 run kick.taut --motion slow --out rows.csv
has err "use projection constraint"
done_rows
