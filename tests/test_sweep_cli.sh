#!/bin/sh
# test_sweep_cli.sh - taut sweep as a user meets it: the same table for any number of cores, after Ctrl-C and after SIGKILL; files,
# pictures, messages; taut compare with ranges and as CSV.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli sweep

same() { cmp -s "$1" "$2"; row $? "$3: $1 and $2 differ"; }
whole() { # whole FILE: every line is ended, and has as many fields as the first
    [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ] && awk -F, 'NR == 1 { n = NF } NF < n { exit 1 }' "$1"
    row $? "$1 has a part of a row: $(tail -n 1 "$1")"
}

# ---- the table
what="double_pendulum --until 0.5 --vary omega=200:5000:log4 --vary lift=0,0.1,0.25 --keep max(energy) --keep end(x2)-start(x2)"
for cores in 1 2 3; do
    # shellcheck disable=SC2086
    run 0 sweep $what -j $cores --out s$cores.csv
    has out '12 runs in'
done
same s1.csv s2.csv "one core and two"
same s1.csv s3.csv "one core and three"
[ "$(head -n 1 s1.csv)" = 'run,omega,lift,max(energy),end(x2)-start(x2),status,error,steps,force_evaluations,message' ]
row $? "header $(head -n 1 s1.csv)"
[ ! -e s1.csv.checkpoint ]
row $? "no checkpoint stays after a complete sweep"
# shellcheck disable=SC2086
run 0 sweep $what
same out s1.csv "standard output"
# the run of a row by itself
"$taut" run double_pendulum --until 0.5 --set omega=200 --set lift=0.1 --out r.csv --quiet
[ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "x2") k = i } NR == 2 { first = $k } END { printf "%.12g", $k - first }' r.csv)" = \
    "$(awk -F, 'NR == 3 { printf "%.12g", $5 }' s1.csv)" ]
row $? "the values of taut run"

# ---- options, initial values, words
run 0 sweep double_pendulum --until 0.2 --vary method=dop8,radau5 --vary "x1'=0,0.1" --keep 'end(x1)' --zip --json
json 'd["runs"] == 2 and d["rows"][1]["varied"] == ["radau5", 0.1] and d["rows"][0]["status"] == "done"'
run 0 sweep double_pendulum --until 0.2 --vary lift=0:0.2 --random 5 --seed 3 --keep 'end(x1)' -q
cp out first
run 0 sweep double_pendulum --until 0.2 --vary lift=0:0.2 --random 5 --seed 3 --keep 'end(x1)' -q -j1
same out first "the same seed"

# ---- a failed run is a row
run 0 sweep double_pendulum --until 0.2 --motion slow --vary method=dop8,verlet --keep 'end(x1)' --out f.csv
has out '1 failed'
has f.csv '2,verlet,,failed,'
has f.csv 'method verlet is for motion full'
run 1 sweep double_pendulum --until 0.2 --motion slow --vary method=verlet --keep 'end(x1)'

# ---- messages
run 2 sweep double_pendulum --vary omega=1,2 --keep 'max(enrgy)'
has err "--keep:1:5: error: unknown name 'enrgy'; did you mean 'energy'?"
run 2 sweep double_pendulum --vary omga=1,2 --keep 'end(x1)'
has err "--vary: 'omga' is no parameter, initial value or option of a run; did you mean 'omega'?"
run 2 sweep double_pendulum --vary omega=1,2
has err 'nothing is kept'
run 2 sweep double_pendulum --keep 'end(x1)'
has err 'nothing is varied'
run 2 sweep double_pendulum --vary omega=1 --keep 'end(x1)' -j none
has err "--jobs: expected a whole number"
run 2 sweep double_pendulum --vary omega=1 --keep 'end(x1)' --out s.txt
has err "expected a name that ends in .csv, or in .h5"
run 0 sweep double_pendulum --until 0.1 --vary omega=1e4,2e4 --keep 'end(x1)' --out q.csv
[ ! -s err ]
row $? "no progress where standard error is no terminal: $(head -c 200 err)"

# ---- compare: ranges, CSV
run 0 compare double_pendulum --until 0.5 --methods dop8,radau5 --tols 1e-3..1e-5 --out c.csv
[ "$(cut -d, -f1,2 c.csv | tr '\n' ' ')" = \
    'method,tolerance dop8,0.001 dop8,0.0001 dop8,1.0000000000000001e-05 radau5,0.001 radau5,0.0001 radau5,1.0000000000000001e-05 ' ]
row $? "rows of compare: $(cut -d, -f1,2 c.csv | tr '\n' ' ')"
run 0 compare double_pendulum --until 0.5 --motion rigid --methods rk4 --steps 0.1..0.02,0.01 --out -
[ "$(cut -d, -f2 out | tr '\n' ' ')" = 'step 0.10000000000000001 0.050000000000000003 0.025000000000000001 0.01 ' ]
row $? "steps of compare: $(cut -d, -f2 out | tr '\n' ' ')"
run 2 compare double_pendulum --methods rk4 --steps 0.1..0.2
has err 'A..B with A > B'

if pictures; then
    run 0 sweep double_pendulum --until 0.1 --vary lift=0:0.2:5 --keep 'end(x1)' --plot one.png -q
    picture one.png
    run 0 sweep double_pendulum --until 0.1 --vary lift=0:0.2:9 --vary "y2'=0:0.5:9" --keep 'end(x1)' --plot map.svg -q
    picture map.svg
    lacks map.svg failed
    # x = a e^t, which cannot be evaluated from x = 3 on: the runs from a = 1.25 on fail
    printf '[parameters]\na = 1\n[state]\nx\n[rates]\nx'"'"' = x + 1e-30*log(3 - x)\n[start]\nx = a\n' >ends.taut
    run 0 sweep ends.taut --until 1 --vary a=0.5:2:7 --keep 'end(x)' --plot failed.svg --out ends.csv
    has out '4 failed'
    has failed.svg failed
fi

if [ "${TAUT_TEST_CORE:-}" = 1 ]; then
    skip "a core build cannot continue files"
    done_rows
    exit
fi

# ---- killed and continued: the same table, whatever the moment, and no part of a row at any time
long="double_pendulum --vary lift=0:0.5:200 --keep max(energy) --keep end(x1)"
# shellcheck disable=SC2086
run 0 sweep $long --out whole.csv
for attempt in 1 2; do
    # shellcheck disable=SC2086
    "$taut" sweep $long --out killed.csv -j 2 >/dev/null 2>&1 &
    pid=$!
    while [ ! -s killed.csv ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    sleep 0.1
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ -e killed.csv.checkpoint ] || continue # it was faster
    [ -s killed.csv ] && whole killed.csv
    mkdir -p elsewhere
    (cd elsewhere && "$taut" sweep --resume ../killed.csv.checkpoint --quiet -j $attempt)
    row $? "continued after SIGKILL $attempt"
    same killed.csv whole.csv "killed $attempt"
    [ ! -e killed.csv.checkpoint ]
    row $? "the checkpoint is removed"
    rm -f killed.csv
done
# shellcheck disable=SC2086
"$taut" sweep $long --out stopped.csv -j 1 >out 2>err &
pid=$!
while [ ! -s stopped.csv ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -TERM $pid 2>/dev/null
wait $pid
code=$?
if [ -e stopped.csv.checkpoint ]; then
    [ $code = 130 ]
    row $? "exit status $code after SIGTERM, expected 130"
    whole stopped.csv
    has out 'taut sweep --resume stopped.csv.checkpoint'
    run 2 run --resume stopped.csv.checkpoint
    run 2 sweep --resume stopped.csv.checkpoint --vary a=1
    has err 'continues with the options of the checkpoint'
    sed '2s/,done,/,event,/' stopped.csv >edited && cp edited stopped.csv
    run 0 sweep --resume stopped.csv.checkpoint --progress
    sed '2s/,event,/,done,/' stopped.csv >again.csv
    same again.csv whole.csv "rows that are there are not computed again"
fi

# ---- HDF5
if "$taut" --version | grep -q hdf5; then
    # shellcheck disable=SC2086
    run 0 sweep $what --out s.h5
    [ -s s.h5 ] && [ ! -e s.h5.rows ] && [ ! -e s.h5.checkpoint ] && [ ! -e s.h5.part ]
    row $? "files of HDF5: $(ls)"
    if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
        /usr/bin/python3 -c 'import csv, h5py
f = h5py.File("s.h5", "r")
rows = list(csv.DictReader(open("s1.csv")))
assert list(f["kept"].attrs["names"]) == [b"max(energy)", b"end(x2)-start(x2)"]
assert [float(r["max(energy)"]) for r in rows] == list(f["kept"][:, 0])
assert [float(r["omega"]) for r in rows] == list(f["varied"][:, 0])
assert [r["omega"].encode() for r in rows] == list(f["varied_text"][:, 0])
assert set(f["status"]) == {b"done"} and f["steps"][0] == float(rows[0]["steps"])'
        row $? "the table in HDF5"
    else
        skip "the table in HDF5 (no h5py)"
    fi
fi
done_rows
