#!/bin/sh
# test_record.sh - HDF5 files of runs as a user meets them: taut show, taut run FILE.h5, --start FILE.h5@T, files of interrupted and
# resumed runs, and what is refused, with a sentence.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli record
if ! "$taut" --version | grep -q hdf5; then
    : >a.h5
    "$taut" show a.h5 2>&1 | grep -q "no HDF5"
    row $? "without HDF5"
    done_rows
    exit
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
[tables]
drop = drop.csv
[events]
floor = y + drop.h[1]   falling   then y' = -0.9*y'
[start]
x = 1, y = 0
[run]
until = 3
every = 0.01
END
printf 'h\n1.1\n' >drop.csv
sed 's/x, y/x, y, z/' ball.taut >larger.taut
sed "/^\[bonds\]/,/^link/d; s/x, y/x, u/; s/9.81\*y/9.81*u/; s/^floor.*/floor = u + 1 falling stop/; s/, y = 0/, u = 0/" ball.taut >other.taut

expect() { # exit status, words, then the arguments
    status=$1 words=$2
    shift 2
    message=$("$taut" "$@" 2>&1)
    code=$?
    [ $code = "$status" ]
    row $? "taut $*: exit status $code, expected $status: $message"
    printf '%s' "$message" | grep -qF -- "$words"
    row $? "taut $*: '$message' does not contain '$words'"
}
rows() { # the rows of FILE.h5 as CSV, by repeating its run
    "$taut" run "$1" --quiet --out "$2"
}

"$taut" run ball.taut --motion full --set k=50 --init "x=1 + 0.5" --rtol 1e-8 --quiet --out a.h5
row $? "the run"
"$taut" run ball.taut --motion full --set k=50 --init "x=1 + 0.5" --rtol 1e-8 --quiet --out a.csv
mkdir elsewhere
cp a.h5 elsewhere
cd elsewhere || exit 1
rows a.h5 b.csv && cmp -s b.csv ../a.csv
row $? "repeated from the file alone: the same bits"
"$taut" run a.h5 --quiet --out b.h5 && rows b.h5 c.csv && cmp -s c.csv ../a.csv
row $? "repeated from the file of a repetition"
"$taut" show a.h5 --text model | cmp -s - ../ball.taut
row $? "the text of the model"
"$taut" show a.h5 --text table1 | cmp -s - ../drop.csv
row $? "the text of a table"
cd ..
"$taut" run ball.taut --motion full --set k=50 --init "x=1 + 0.5" --rtol 1e-8 --quiet --json --out d.csv >a.json
"$taut" show a.h5 --text summary >b.json
sed '/"seconds"/d' a.json >a1.json
sed '/"seconds"/d' b.json | cmp -s - a1.json
row $? "the summary is the object of --json"
expect 0 "--init 'x=1 + 0.5'" show a.h5 --text command
expect 0 "done" show a.h5
expect 0 "floor (4 times)" show a.h5
expect 0 '"rows": ' show a.h5 --json
expect 2 "did you mean 'model'?" show a.h5 --text modle
expect 2 "No such file" show no.h5
expect 2 "not an HDF5 file" show ball.taut
expect 2 "no file" show
"$taut" check ball.taut --set k=50 --init "x=1 + 0.5" >want
"$taut" check a.h5 | cmp -s - want
row $? "check of the file's model, with its values"

# initial states: the row itself, and its time
"$taut" run ball.taut --motion full --set k=50 --quiet --start a.h5@1 --out e.csv
row $? "from a row"
grep "^1," a.csv | cut -d , -f 1-5 >want
sed -n 2p e.csv | cut -d , -f 1-5 | cmp -s - want
row $? "the row at t = 1 is the initial state"
expect 0 "the nearest row, at t = 1" run ball.taut --motion full --start a.h5@1.0004 --until 1.1 --out e.csv
"$taut" run ball.taut --motion full --set k=50 --quiet --start a.h5 --until 4 --out e.csv
tail -n 1 a.csv | cut -d , -f 1-5 >want
sed -n 2p e.csv | cut -d , -f 1-5 | cmp -s - want
row $? "the last row is the initial state"
"$taut" run ball.taut --motion full --quiet --start a.h5@1 --from 0 --until 1 --out e.csv
sed -n 2p e.csv | grep -q '^0,'
row $? "--from sets the time"
expect 2 "its rows are from t = 0 to 3" run ball.taut --start a.h5@7
expect 2 "it does not have 'z' of this model" run larger.taut --start a.h5
expect 2 "it has 'y', which this model does not have" run other.taut --start a.h5
expect 2 "cannot read no.h5" run ball.taut --start no.h5@1
expect 2 "cannot be saved" run a.h5 --checkpoint ck --out e.csv

expect 2 "would be overwritten" run ball.taut --start a.h5@1 --out a.h5
expect 2 "would be overwritten" run a.h5 --out a.h5
mkfifo pipe.h5
expect 2 "not a regular file" show pipe.h5

# what is known of a run that is interrupted, and completed later
"$taut" run double_pendulum --motion full --set omega=100 --until 2000 --every 50 --verify never --quiet --out i.h5 --checkpoint ck 2>/dev/null &
child=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e i.h5 ] && break
    sleep 0.1
done
expect 0 "unfinished" show i.h5
kill -TERM $child
wait $child
row "$((130 - $?))" "interrupted"
expect 0 "interrupted" show i.h5
"$taut" run --resume ck --quiet
expect 0 "done" show i.h5
expect 0 "41 rows from t = 0 to 2000" show i.h5
done_rows
