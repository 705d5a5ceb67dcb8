#!/bin/sh
# test_spectrum_cli.sh - taut spectrum as a user meets it: table, separation, JSON, limits, exit status; and effective runs.
#
# TAUT is the program (default ../build/taut next to this script). Numbers: Lubich, Weiss, actions at eps = 1e-3 (docs/sources.md, E).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli spectrum

# the table: frequencies, actions, springs by name
run 0 spectrum double_pendulum_gravity --set eps=1e-3
has out "mode       frequency        period        energy        action  springs"
has out "7.78457e-08  inner 100%"
has out "0.00443493  outer 100%"
has out "neighbouring frequencies differ by at least 29.3%"
has out "nearest resonance   mode 2 ~ mode 1, apart by 29.3%"
narrow
run 0 spectrum double_pendulum_gravity --quiet
[ ! -s out ]
row $? "--quiet printed $(head -c 100 out)"

# the 1:2 resonance, where the cosine between the links is 0.748: the outer link turned to atan2(.6637, .748)
run 0 spectrum double_pendulum_gravity --init x11=1 --init x12=0 --init x21=1.7483 --init x22=0.66332
has out "near resonances     mode 2 ~ mode 1 + mode 1"
has out "may exchange their actions"

# JSON
run 0 spectrum double_pendulum_gravity --set eps=1e-3 --json
json 'd["status"] == "done" and d["complete"] and d["count"] == 2 and len(d["modes"]) == 2'
json 'abs(d["modes"][0]["action"]/1e-3 - 7.78456513604e-5) < 1e-15 and abs(d["modes"][1]["action"]/1e-3 - 4.4349321933) < 1e-9'
json 'd["modes"][1]["springs"][0]["name"] == "outer" and d["resonances"][0]["near"] == [1]'
json 'abs(d["modes"][0]["period"]*d["modes"][0]["frequency"] - 2*math.pi) < 1e-12'

# check and spectrum have one diagnosis
for model in pendulum double_pendulum_gravity triatomic fpu; do
    run 0 check $model --json
    cp out checked
    run 0 spectrum $model --json
    json 'all(d[k] == json.load(open("checked"))["frequencies"][k] for k in ("slow_rate", "separation"))'
    json 'd["oscillatory_energy"] == json.load(open("checked"))["oscillatory_energy"]'
    json 'abs(d["modes"][0]["frequency"]/json.load(open("checked"))["frequencies"]["least"] - 1) < 1e-12'
    json 'abs(d["modes"][-1]["frequency"]/json.load(open("checked"))["frequencies"]["most"] - 1) < 1e-12'
done
printf '%s\n' '[coordinates]' 'x, y' '[potential]' y '[bonds]' 'rod = sqrt(x^2 + y^2) - 1 stiffness 50' '[start]' 'y = -1' > one.taut
run 0 check one.taut --until 3
has out "slow rate           1 rad per time"
has out "separation          7.07, lowest stiff frequency over the slow rate"
has out "oscillatory energy  0.01"
run 0 spectrum one.taut
has out "slow rate           1 rad per time"
has out "separation          7.07, lowest stiff frequency over the slow rate"
has out "oscillatory energy  0.01"

# many modes: both ends, numbered among all
run 0 spectrum net --modes 8
has out "114; those at both ends are shown"
has out "   114 "
narrow
run 0 spectrum net --modes 8 --json
json 'd["count"] == 114 and not d["complete"] and [m["mode"] for m in d["modes"]] == [1, 2, 3, 4, 111, 112, 113, 114]'
run 0 spectrum chain --set N=1000 --modes 4
lacks out "nan"
has out "both ends"

# nothing to tell, and refusals
run 0 spectrum four_bar
run 0 spectrum quartic_rod
lacks out "nan"
run 2 spectrum index2
has err "mechanical"
run 0 spectrum kepler
has out "there is no slow manifold here"
run 0 spectrum five_dimensions
has out "the slow manifold appears to have dimension 2"
run 0 spectrum five_dimensions --json
json 'd["dimension"] == 2 and abs(d["gap"] - 800) < 1 and len(d["rates"]) == 5'
run 2 spectrum double_pendulum --modes 0
has err "--modes"
run 2 spectrum no_such_model
run 2 spectrum double_pendulum --step 1
has err "--until"
run 2 spectrum no_such_model --json
json 'd["status"] == "failed" and d["error"]["code"] == "TAUT_ERROR_USAGE"'

# along the full motion: rows, actions kept to O(eps) up to t = 2, the 1:2 resonance met soon after
run 0 spectrum double_pendulum_gravity --set eps=1e-3 --until 2 --every 0.5
has out "t,frequency[1],frequency[2],action[1],action[2],gap"
[ "$(wc -l <out)" = 6 ]
row $? "five rows: $(cat out)"
has err "smallest gap 4.69%, at t = 2"
has err "mode 2 ~ mode 1 + mode 1, closest (4.7%) at t = 2, from t = 2 to 2"
# the gap at t = 2 of runs with rtol 1e-9 and 1e-12, which agree to ten digits; verlet with the step 2e-6 has 0.0468727
run 0 spectrum double_pendulum_gravity --set eps=1e-3 --until 2 --every 0.5 --out a.csv --json
json 'abs(d["closest"]["gap"] - 0.0468729241) < 1e-5'
run 0 run double_pendulum_gravity --set eps=1e-3 --motion full --rtol 1e-10 --until 2 --verify never --out a.csv --json
set -- $(python3 -c 'import json
d = json.load(open("out"))
for name, q, v in zip(("x11", "x12", "x21", "x22"), d["q"], d["v"]): print("--init", f"{name}={q!r}", "--init", f"{name}'"'"'={v!r}")')
run 0 spectrum double_pendulum_gravity --set eps=1e-3 --json "$@"
json 'abs(d["resonances"][0]["gap"] - 0.0468729241) < 1e-9 and d["resonances"][0]["near"] == [1, 1]'
run 0 spectrum double_pendulum_gravity --set eps=1e-3 --until 2 --every 0.01 --json
json 'd["rows"] == 201 and d["modes"][1]["most"]/d["modes"][1]["least"] < 1.02 and d["closest"]["t"] == 2'
run 0 spectrum double_pendulum_gravity --set eps=1e-3 --until 3 --every 0.01 --out a.csv --json
json 'd["closest"]["gap"] < 0.01 and 2 < d["closest"]["t"] < 2.2'
# equal frequencies exchange their actions
run 0 spectrum fpu --until 100 --every 0.5 --out a.csv
has out "3 modes in 201 rows"
run 0 spectrum truss --until 0.02 --every 0.01 --modes 4 --out a.csv
has a.csv "action[23]"
run 2 spectrum index2 --until 1
# frequencies that cross: the time by the closed form (tests/test_crossing.c), and the actions that change there
run 0 spectrum crossing --along --out a.csv --json
json 'len(d["resonances"]) == 1 and abs(d["resonances"][0]["t"]/0.9138 - 1) < 0.01 and d["resonances"][0]["near"] == [1]'
json 'abs(d["resonances"][0]["share"] - 0.5) < 0.05 and abs(sum(d["resonances"][0]["change"])) < 1e-5'
json 'd["resonances"][0]["moved"] == d["resonances"][0]["change"][::-1]'
# molecules that do not touch: modes are numbered group by group, three of each, and gaps of modes that are not shown are known
run 0 spectrum water_box --along --until 0.02 --out a.csv --json
json 'len(d["modes"]) == 20 and len(d["resonances"]) >= 10 and all(r["gap"] < 0.05 and 0 < r["share"] < 0.1 for r in d["resonances"])'
json 'all(r["mode"] % 3 == 0 and r["near"] == [r["mode"] - 1] for r in d["resonances"])'
run 0 spectrum water_box --along --until 0.02 --out a.csv
has out "others, which --json contains"
[ "$(grep -c 'closest (' out)" -eq 10 ]
row $? "ten episodes are shown: $(cat out)"
# more than 400 springs that are connected: frequencies alone
run 0 spectrum chain --set N=420 --until 1e-4 --every 1e-4 --modes 4 --out a.csv
has out "frequencies alone: of more than 400 connected springs"
lacks out " nan"
run 0 spectrum crossing --along --set link=0 --out a.csv
has out "mode 2 ~ mode 1, closest"
run 0 spectrum crossing --along --set link=0.2 --out a.csv
has out "no resonance within 5%"
# the rows of a run that is in a file: as when it is computed; its model and parameters, or one with the same variables
if "$taut" --version | grep -q hdf5; then
    run 0 run crossing --motion full --set link=0.02 --verify never --out run.h5 --quiet
    run 0 spectrum crossing --along --set link=0.02 --out a.csv --json
    cp out a.json
    for model in "" crossing run.h5; do
        run 0 spectrum $model --along run.h5 --out b.csv --json
        cmp -s a.csv b.csv && cmp -s out a.json
        row $? "spectrum $model --along run.h5: what spectrum --along gives"
    done
    run 0 spectrum crossing --along=run.h5 --set link=0.1 --out b.csv
    ! cmp -s a.csv b.csv
    row $? "--set has an effect on --along run.h5"
    run 2 spectrum double_pendulum --along run.h5
    has err "the parameters of the run are those of --along run.h5"
    run 2 spectrum crossing --along run.h5 --until 1
    has err "--until has no effect on the rows of --along run.h5"
    run 2 spectrum crossing --along none.h5
    run 2 spectrum crossing --along=run.csv
    has err "--along=run.csv: expected a file of a run"
    run 0 run double_pendulum --motion rigid --until 1 --out rigid.h5 --quiet
    run 0 spectrum --along rigid.h5 --out b.csv
    has err "those of motion rigid"
    has out "closest (0.79%) at t = 0.95"
    run 2 spectrum crossing --along rigid.h5
    has err "--along rigid.h5: it belongs to another model: it has 'x1'"
    run 0 run michaelis_menten --until 2 --every 1 --verify never --out rates.h5 --quiet
    run 0 spectrum --along rates.h5 --out b.csv --json
    has out '"least_at": 2'
else
    skip "no HDF5"
fi
# two resonances, the one that changes more first
run 0 spectrum double_pendulum_gravity --until 5 --out a.csv --json
json 'len(d["resonances"]) >= 2 and all(a["share"] >= b["share"] for a, b in zip(d["resonances"], d["resonances"][1:]))'
json 'any(abs(r["t"] - 2.08) < 0.03 and r["near"] == [1, 1] for r in d["resonances"])'
# rates along a motion, and their picture
run 0 spectrum michaelis_menten --until 2 --every 1
has out "t,rate[1],frequency[1],rate[2],frequency[2],dimension,gap"
has out "0,-0.2408577"
has err "2 rates in 3 rows; gap 79.1 to 111, the smallest at t = 2"
run 0 spectrum michaelis_menten --until 2 --every 1 --out a.csv --json
has out '"least_at": 2'
run 2 spectrum michaelis_menten --plot a.png
has err "--plot applies to a run"
if command -v gnuplot >/dev/null && [ -z "${TAUT_TEST_CORE:-}" ]; then
    run 0 spectrum michaelis_menten --until 2 --every 0.1 --out a.csv --plot a.svg
    has a.svg "rate 2"
    run 0 spectrum crossing --along --every 0.02 --out a.csv --plot a.svg
    has a.svg "closest gap"
    has out "picture in a.svg"
else
    skip "no pictures"
fi
run 2 spectrum double_pendulum_gravity --until 1 --out a.h5
run 2 spectrum double_pendulum_gravity --until 1 --out no_folder/a.csv
run 2 spectrum double_pendulum_gravity --until 1 --method projected-impulse --step 0.1
has err "motion"

# static stretch is no vibration: weights that hang at rest, and one velocity; check and spectrum agree
cat >hangs.taut <<'END'
# weights
[coordinates]
x, y, u, w
[potential]
3*y + 2*w
[bonds]
a = sqrt(x^2 + y^2) - 1 stiffness 100
b = sqrt((u-x)^2 + (w-y)^2) - 1 stiffness 100
[start]
x = 0, y = -1.05, u = 0, w = -2.07, w' = 0.1
END
run 0 spectrum hangs.taut
has out "modal energy        0.15 at t = 0"
has out "oscillatory energy  0.005, of"
run 0 check hangs.taut
has out "oscillatory energy  0.005, "
for start in double_pendulum_gravity "double_pendulum --init y1=0.3" crossing cart "butane --from 0.2"; do
    run 0 check $start --no-derivatives --json
    cp out check.json
    run 0 spectrum $start --json
    json '0 < d["oscillatory_energy"] == json.load(open("check.json"))["oscillatory_energy"]'
    json 'all(d[k] == json.load(open("check.json"))["frequencies"][k] for k in ("slow_rate", "separation"))'
done

# resonances and a lost separation: one sentence for each episode, with its time; --strict makes the exit status 1
for way in "--method effective" "--method mollified-impulse --step 0.02" "--method impulse --step 0.02"; do
    run 0 run double_pendulum_gravity --set eps=1e-2 --motion effective --until 5 --out a.csv $way
    has err "mode 2 ~ mode 1 + mode 1 at t = 2.08"
    has err ", mode 2 ~ mode 1 + mode 1 at t = 3.2"
    has err "needs a separation of 30, and from t = 2."
    run 1 run double_pendulum_gravity --set eps=1e-2 --motion effective --until 5 --out a.csv $way --strict --quiet
    run 0 run double_pendulum_gravity --set eps=1e-2 --motion effective --until 1 --out a.csv $way --strict
done

# the error of averaging: stated where it was measured, else unknown
run 0 run crossing --motion effective --out a.csv --json
json '0.03 < d["averaging_error"] < 0.06 and any("neglects the resonance mode 2 ~ mode 1" in w for w in d["warnings"])'
run 0 run crossing --motion effective --verify never --out a.csv
has out "averaging error         unknown: full motion"

# the effective motion: two methods, one result
run 0 run double_pendulum_gravity --set eps=1e-3 --motion effective --method effective --out a.csv --json
cp out a.json
json 'd["motion"] == "effective" and d["stats"]["micro_steps"] == 0'
run 0 run double_pendulum_gravity --set eps=1e-3 --method projected-impulse --step 0.1 --out b.csv --json
json 'd["motion"] == "effective" and d["stats"]["force_evaluations"] == 21 and d["stats"]["micro_steps"] > 20000'
json 'max(abs(x - y) for x, y in zip(d["q"], json.load(open("a.json"))["q"])) < 0.064*0.01 + 1.8e-3'
run 0 run cart --method projected-impulse --step 0.1 --until 1 --out c.csv --json
json 'd["motion"] == "effective" and d["stats"]["micro_steps"] > 0'
run 2 run cloth --method projected-impulse --step 0.1 --out c.csv
has err "does not support"
run 2 run double_pendulum_gravity --method impulse --step 0.1 --inner-step 0 --out c.csv
has err "--inner-step"

done_rows
