#!/bin/sh
# test_resume_cli.sh - taut run --end, --checkpoint and --resume as a user meets them: what a checkpoint needs (nothing but itself), and
# what is refused, with a sentence.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli resume
if [ "${TAUT_TEST_CORE:-}" = 1 ]; then
    echo "skip: a core build cannot continue files"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

cat >ball.taut <<'END'
# a ball on a spring
[parameters]
k = 40
[coordinates]
x, y
[potential]
9.81*y
[bonds]
link = sqrt(x^2 + y^2) - 1   stiffness k
[events]
floor = y + 1.1   falling   then y' = -0.9*y'
[start]
x = 1, y = 0
END

same() { cmp -s "$1" "$2"; row $? "$3: $1 and $2 differ"; }
expect() { # exit status, words, then the arguments
    status=$1 words=$2
    shift 2
    message=$("$taut" "$@" 2>&1 >/dev/null)
    code=$?
    [ $code = "$status" ]
    row $? "taut $*: exit status $code, expected $status: $message"
    printf '%s' "$message" | grep -qF -- "$words"
    row $? "taut $*: '$message' does not contain '$words'"
}

# ---- what a run leaves
fixed="--method verlet --motion full --step 1e-3 --until 6"
"$taut" run ball.taut $fixed --out whole.csv --quiet --end whole.start
row $? "a run"
"$taut" run ball.taut $fixed --steps 3000 --out part.csv --quiet --checkpoint ck --end part.start
row $? "a run with a checkpoint"
head -c 18 ck | grep -q '^taut checkpoint 3$'
row $? "the checkpoint has its name"
[ ! -e ck.part ]
row $? "no part of a checkpoint stays"
grep -q '^x = ' part.start && grep -q "^y' = " part.start
row $? "the final state is a [start] section"

# ---- the final state begins another run: all digits
"$taut" run ball.taut --start whole.start --from 6 --method verlet --motion full --step 1e-3 --until 6.5 --out next.csv --quiet
row $? "a run from the final state"
[ "$(tail -n 1 whole.csv | cut -d, -f 1-5)" = "$(sed -n 2p next.csv | cut -d, -f 1-5)" ]
row $? "the first row of the next run is the last one of the run before"

# ---- a run that was terminated needs nothing but its checkpoint
start_and_end() { # out, then arguments: a run that is terminated as soon as it has a checkpoint
    out=$1
    shift
    rm -f ck
    "$taut" run "$@" --out "$out" --quiet --checkpoint ck --checkpoint-every 0.01 &
    pid=$!
    while [ ! -e ck ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
    kill -TERM $pid 2>/dev/null
    wait $pid
    code=$?
    # a fast machine may have finished it
    [ $code = 130 ] || [ $code = 0 ]
    row $? "terminated: exit status $code"
}
long="--method verlet --motion full --step 2e-5 --until 6"
"$taut" run ball.taut --set k=50 --init x=0.9 $long --out long.csv --quiet
cp ball.taut kept.taut
start_and_end ended.csv ball.taut --set k=50 --init x=0.9 $long
sed -i 's/9.81/1.62/' ball.taut
(cd / && "$taut" run --resume "$work/ck" --quiet)
row $? "resumed from another folder, with the model changed"
same long.csv ended.csv "the model of the checkpoint counts"
cp kept.taut ball.taut

mkdir tables
cp "$here/../models/truss.taut" "$here/../models/truss_bars.csv" "$here/../models/truss_nodes.csv" tables
truss="--until 0.02 --rtol 1e-9 --verify never"
cp /dev/null values
"$taut" run tables/truss.taut --start values $truss --out long.csv --quiet
start_and_end ended.csv tables/truss.taut --start values $truss
rm -r tables values
"$taut" run --resume ck --quiet
row $? "resumed without model, tables and initial values"
same long.csv ended.csv "tables"

"$taut" run - $long --out long.csv --quiet <ball.taut
rm -f ck
"$taut" run - $long --out ended.csv --quiet --checkpoint ck --steps 100000 <ball.taut
row $? "a model from standard input"
"$taut" run --resume ck --json >object.json
row $? "resumed with --json"
grep -q '"status": "limit"' object.json
row $? "a limit stays a limit"

# ---- a picture shows the whole run: few rows, and more than it has points
if command -v gnuplot >/dev/null 2>&1; then
    for every in 0.1 4e-4; do
        "$taut" run ball.taut $long --every $every --plot long.svg --out long.csv --quiet
        start_and_end ended.csv ball.taut $long --every $every --plot ended.svg
        "$taut" run --resume ck --quiet
        row $? "resumed with a picture"
        same long.svg ended.svg "a picture with rows every $every"
        same long.csv ended.csv "and its rows"
    done
    rm -f ck
    "$taut" run ball.taut $fixed --plot only.svg --json --quiet --checkpoint ck >/dev/null && rm only.svg
    "$taut" run --resume ck --quiet >/dev/null
    row $? "a picture without rows in a file"
    [ -s only.svg ]
    row $? "a picture is drawn again from the checkpoint of the end"
fi

# ---- refused before the computation
expect 2 "--checkpoint needs --out FILE" run ball.taut $fixed --checkpoint new
expect 2 "this is the file of --plot" run ball.taut $fixed --checkpoint a.svg --out a.csv --plot a.svg
expect 2 "this is the file of --end" run ball.taut $fixed --checkpoint a.start --out a.csv --end a.start
expect 2 "give it a file" run ball.taut $fixed --checkpoint - --out a.csv
expect 2 "has no effect without --checkpoint" run ball.taut $fixed --checkpoint-every 3 --out a.csv
expect 2 "it would be overwritten" run ball.taut $fixed --checkpoint ball.taut --out a.csv
same ball.taut kept.taut "a model is never replaced by a checkpoint"
expect 2 "does not exist" run ball.taut $fixed --checkpoint nowhere/new --out a.csv
expect 2 "give the final state a file" run ball.taut $fixed --end -
expect 2 "No such file" run --resume missing
expect 2 "needs no model" run ball.taut --resume ck
expect 2 "continues with the options of the checkpoint" run --resume ck --step 1e-3
expect 2 "it is not a checkpoint" run --resume ball.taut
"$taut" run ball.taut $fixed --out part.csv --quiet --checkpoint ck
head -c 700 ck >cut
expect 2 "damaged or cut off" run --resume cut
sed 's/9.81/9.82/' ck >changed
expect 2 "damaged or cut off" run --resume changed
sed '1s/3/4/' ck >newer
expect 2 "use the version that wrote it" run --resume newer
: >empty
expect 2 "it is not a checkpoint" run --resume empty

# ---- places that fail
cp part.csv all.csv
head -c 500 all.csv >part.csv
expect 1 "is shorter than it was" run --resume ck
sed 's/1/2/g' all.csv >part.csv # as long, and other rows
expect 1 "is not the one that was written" run --resume ck
rm part.csv
expect 1 "cannot open part.csv" run --resume ck
cp all.csv part.csv
"$taut" run --resume ck --quiet
row $? "the file is there again"
same part.csv all.csv "a run that had ended"
if "$taut" run ball.taut $fixed --out part.h5 --quiet --checkpoint ck5 2>/dev/null; then
    cp part.h5 all.h5
    "$taut" run ball.taut $fixed --init x=0.9 --out part.h5 --quiet
    expect 1 "was it replaced" run --resume ck5
    cp all.h5 part.h5
    "$taut" run --resume ck5 --quiet
    row $? "the HDF5 file is there again"
fi
mkdir ck2.part
expect 0 "the run continues" run ball.taut $fixed --out a.csv --checkpoint ck2
same a.csv whole.csv "a checkpoint that cannot be written"
rmdir ck2.part
message=$(trap '' XFSZ; ulimit -f 2; "$taut" run ball.taut $fixed --json --checkpoint ck2 2>&1 >/dev/null)
code=$?
[ $code = 0 ] && [ ! -e ck2.part ] && printf '%s' "$message" | grep -q "the run continues"
row $? "a full disk: exit status $code, '$message'"
done_rows
