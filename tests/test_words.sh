#!/bin/sh
# test_words.sh - the first mistakes of a newcomer are answered with what to write instead: words that are no verbs, methods of another verb,
# parameters given as options, results that are named in part, folders that are not found; files that cannot be written are not announced.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli newcomer

# the help of the program: two columns, and commands that work
run 0
narrow
[ "$(awk '/^  [a-z]+ / && substr($0, 20, 1) != " "' out | grep -vc '^  taut')" -eq 0 ]
row $? "the summaries of the verbs do not line up: $(cat out)"
grep '^  taut ' out | sed 's/^  taut //; s/--plot [^ ]*//' >commands
while read -r line; do
    # shellcheck disable=SC2086
    run 0 $line
done <commands
[ "$(wc -l <commands)" -ge 2 ]
row $? "the help has no commands"

# no verbs
run 2 version
has err "write 'taut --version'"
run 2 simulate double_pendulum
has err "write 'taut run MODEL'"
run 2 model.taut
has err "expected a verb before it: 'taut run model.taut'"
run 2 runn
has err "did you mean 'taut run'?"

# what a shipped model is
run 0 models chain
narrow
has out "Hanging chain of N stiff links"
has out "gravity along"
has out "Try: taut check chain"
has out "models/chain.taut"
lacks out "#"
run 0 models chain --json
json 'd["name"] == "chain" and d["description"].startswith("N unit masses") and d["path"].endswith("chain.taut")'
run 2 models chian
has err "did you mean 'chain'?"
for name in $("$taut" models --names); do
    run 0 models "$name"
done

# help about a method, or a projection
run 0 help radau5
has out "Radau IIA, 3 stages"
lacks out "verlet"
run 0 help kernel
has out "(projection)"
run 2 help radau6
has err "unknown verb"

# lines are no longer than a narrow terminal
if command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "stty cols 60; '$taut' help run" /dev/null </dev/null 2>/dev/null | tr -d '\r' >out
    [ "$(awk 'length($0) > 60' out | wc -l)" -eq 0 ] && [ "$(wc -l <out)" -gt 40 ]
    row $? "wider than a terminal of 60 columns: $(awk 'length($0) > 60' out | head -n 2)"
else
    skip "no terminal (script)"
fi

# methods of the other verb; misspelt ones
run 2 project double_pendulum --method verlet
has err "--method: verlet moves a system in time and is not a projection; use it for a run"
run 2 run double_pendulum --method series
has err "series is a projection, not a method of motion in time; \`taut project\` uses it"
run 2 project double_pendulum --method sereis
has err "did you mean series?"
run 2 project double_pendulum --method nonsense
has err "--method: unknown projection 'nonsense'; choose ipa"

# parameters as options
run 2 run double_pendulum --lift 0.1
has err "set by --set lift=VALUE"
run 2 run double_pendulum --omega=100
has err "not an option of 'taut run', but of: project"
has err "set by --set omega=VALUE"
run 2 check double_pendulum --set lfit=0
has err "did you mean 'lift'?"
has err "--set:1:1: error"
has err "'taut check double_pendulum' lists the parameters"
run 2 check double_pendulum --init y1==0
has err "--init:1:"
run 2 models --lift
lacks err "--set"

# numbers as some write them
run 2 run double_pendulum --until 1,5
has err "the decimal point is written '.'"
run 2 run double_pendulum --until 10s
has err "expected a number, found '10s'"
lacks err "decimal point"

# a slip that would fill a disk
run 0 run double_pendulum --every 1e-9 --until 0.1 --steps 1 --max-step 1e-7 --out few.csv
has err "about 1e+08 rows, 28.6 GB"
run 0 run double_pendulum --every 1e-15 --until 0.1 --steps 1 --max-step 1e-13 --out few.csv
has err "GB are free"
run 0 run double_pendulum --every 1e-3 --until 0.1 --out few.csv
lacks err "rows"

# part of a name
run 2 reproduce table
has err "did you mean 'a-table-1'?"
run 2 reproduce slider
has err "did you mean 'c-slider-crank'?"
run 2 reproduce xyzzy
has err "'taut reproduce' lists them"

# nothing shipped is found: said once, and where to look
cp "$taut" alone
models=$TAUT_MODELS numbers=$TAUT_REPRODUCE
unset TAUT_MODELS TAUT_REPRODUCE
program=$taut
taut=./alone
run 2 check double_pendulum
has err "set TAUT_MODELS"
run 2 reproduce all
has err "set TAUT_REPRODUCE"
[ "$(wc -l <err)" -eq 1 ]
row $? "said more than once: $(cat err)"
taut=$program TAUT_MODELS=$models TAUT_REPRODUCE=$numbers
export TAUT_MODELS TAUT_REPRODUCE

# what cannot be written is reported once, and not announced as written
if [ -c /dev/full ]; then
    run 1 run double_pendulum --out /dev/full
    has err "No space left"
    lacks out "rows in"
    run 1 project double_pendulum --out /dev/full --json
    json '"No space left" in d["error"]["message"] and d["error"]["code"] == "TAUT_ERROR_FILE"'
    "$taut" run double_pendulum >/dev/full 2>err
    [ $? = 1 ] && [ "$(grep -c 'cannot write standard output' err)" -eq 1 ]
    row $? "a full disk: $(cat err)"
    "$taut" check double_pendulum >/dev/full 2>err
    [ $? = 1 ] && [ "$(grep -c 'cannot write standard output' err)" -eq 1 ]
    row $? "a full disk: $(cat err)"
else
    skip "no /dev/full"
fi

# folders without write permission: reported before the computation
mkdir shut && chmod 555 shut && : >kept.csv && chmod 444 kept.csv
if [ -w shut ]; then
    skip "root may write everywhere"
else
    for place in shut/a.csv kept.csv; do
        run 2 run double_pendulum --out $place
        has err "Permission denied"
        [ ! -s out ]
        row $? "computed before $place was looked at: $(head -c 100 out)"
    done
    run 2 project double_pendulum --plot shut/a.png
    has err "cannot write in the folder 'shut'"
    run 2 reproduce a-table-1 --out shut
    lacks out "tables and pictures are in"
fi

# what the numbers of a result are, how many there are, and where its files are
run 0 reproduce c-slider-crank
has out "computed  verdict"
run 0 reproduce a-table-1 --out results
has out "printed  verdict"
has out "tables and pictures are in results"
# a file whose name begins with a hyphen
echo '[state]' >./-m.taut
run 2 run -m.taut
has err "the file is './-m.taut'"
run 2 run -no-such-file.taut
lacks err "the file is"
# rows over many decades have a logarithmic time axis, others do not
if pictures; then
    run 0 run robertson --until 4e10 --every step --plot long.svg
    has long.svg "1e6"
    run 0 run robertson --until 100 --plot short.svg
    lacks short.svg "1e-"
fi
done_rows
