#!/bin/sh
# test_cli.sh - the program as a user meets it: verbs, help, exit status, messages, JSON, interrupt, pipes, full disks.
#
# TAUT is the program (default ../build/taut next to this script). Every row passes or fails; the last line counts them.
# Rows that need a tool this machine lacks (python3 for JSON, /dev/full, gnuplot) are skipped and counted.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli cli
models=$here/../models
python=/usr/bin/python3
[ -x "$python" ] || python=
unset NO_COLOR
group=

pass() {
    row 0 "$group: $1"
}

fail() { # fail WHAT DETAIL...
    row 1 "$group: $1"
    shift
    for line in "$@"; do
        echo "$line" | head -n 12 | sed 's/^/     | /'
    done
}

# run ARGUMENTS: output, message and status of one call
run() {
    "$taut" "$@" >out 2>err </dev/null
    status=$?
}

# expect STATUS: of the last call
expect() {
    if [ "$status" -eq "$1" ]; then
        pass "$2: exit status $1"
    else
        fail "$2: exit status $status, expected $1" "$(cat err)"
    fi
}

# has FILE TEXT WHAT, lacks FILE TEXT WHAT: fixed strings
has() {
    if grep -qF -e "$2" "$1"; then
        pass "$3"
    else
        fail "$3: '$2' not found in:" "$(cat "$1")"
    fi
}

lacks() {
    if grep -qF -e "$2" "$1"; then
        fail "$3: '$2' found in:" "$(cat "$1")"
    else
        pass "$3"
    fi
}

empty() {
    if [ -s "$1" ]; then
        fail "$2: expected nothing, found:" "$(cat "$1")"
    else
        pass "$2"
    fi
}

narrow() {
    if awk 'length($0) > 100 { bad = 1 } END { exit bad }' "$1"; then
        pass "$2: within 100 columns"
    else
        fail "$2: wider than 100 columns" "$(awk 'length($0) > 100' "$1")"
    fi
}

# json FILE EXPRESSION WHAT: FILE is one JSON value d for which the Python expression holds
json() {
    if [ -z "$python" ]; then
        skip "$group: $3 (no python3)"
    elif "$python" -c 'import json, math, sys
d = json.load(open(sys.argv[1]), parse_constant=lambda word: 1 / 0)
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" 2>python_err; then
        pass "$3"
    else
        fail "$3: $2" "$(cat "$1")" "$(tail -n 1 python_err)"
    fi
}

rows() {
    grep -c . "$1"
}

cat >swing.taut <<'END'
# Stiff pendulum for the tests
[parameters]
omega = 50
[coordinates]
x, y
[potential]
y
[bonds]
rod = sqrt(x^2 + y^2) - 1   stiffness omega^2
[start]
x = 1, y = 0, x' = 0, y' = 0
[run]
until = 1
step = 1e-3
motion = full
method = verlet
END

# --------------------------------------------------------------------------------------------------------------------
group=help
run
expect 0 "taut alone"
has out "usage: taut" "taut alone shows the usage"
for verb in check run methods models help; do
    has out "  $verb" "taut alone names $verb"
    run "$verb" --help
    expect 0 "$verb --help"
    narrow out "$verb --help"
    mv out first
    run help "$verb"
    if cmp -s out first; then pass "help $verb is $verb --help"; else fail "help $verb differs from $verb --help"; fi
    run "$verb" -h
    if cmp -s out first; then pass "$verb -h is $verb --help"; else fail "$verb -h differs from $verb --help"; fi
    run "$verb" --version
    has out "taut " "$verb --version"
    run
done
run --help
expect 0 "--help"
run --version
expect 0 "--version"
has out "taut 0." "--version"
run run swing.taut --help
has out "usage: taut run MODEL" "--help wins over the model"
run help --man
expect 0 "help --man"
has out ".SH OPTIONS" "man page"
if command -v groff >/dev/null; then
    groff -ww -man -Tascii out >page 2>groff_err
    empty groff_err "groff has nothing to say about the man page"
else
    skip "$group: man page through groff (no groff)"
fi
for shell in bash zsh fish; do
    run help --completion $shell
    expect 0 "help --completion $shell"
    has out "taut" "completion for $shell"
    if command -v $shell >/dev/null; then
        if $shell -n out 2>shell_err; then pass "$shell reads its script"; else fail "$shell -n" "$(cat shell_err)"; fi
    else
        skip "$group: $shell reads its script (no $shell)"
    fi
done
# what bash offers after --method depends on the verb
if command -v bash >/dev/null 2>&1; then
    run help --completion bash
    cp out taut.bash
    offered() { bash -c '. ./taut.bash; COMP_WORDS=(taut "$1" chain --method ""); COMP_CWORD=4; _taut; echo " ${COMPREPLY[*]} "' - "$1" >out 2>err; }
    offered project
    has out " series " "bash offers projections to project"
    lacks out " dop8 " "bash offers no methods to project"
    offered run
    has out " dop8 " "bash offers methods to run"
    lacks out " series " "bash offers no projections to run"
else
    skip "$group: completion in bash (no bash)"
fi
run help --completion fish
has out "__fish_seen_subcommand_from project' -l method" "fish has its own line for the methods of project"
run help --man
has out ".SH PROJECTIONS" "the man page has the projections"
run help --completion ksh
expect 2 "help --completion ksh"
run help --options-page
expect 0 "help --options-page"
if cmp -s out "$here/../docs/options.md"; then
    pass "docs/options.md is what the program prints"
else
    fail "docs/options.md differs from taut help --options-page" "$(diff out "$here/../docs/options.md")"
fi

# --------------------------------------------------------------------------------------------------------------------
group=usage
run rum
expect 2 "unknown verb"
has err "did you mean 'taut run'?" "near miss of a verb"
run xyzzy
expect 2 "unknown verb, far from all"
lacks err "did you mean" "no near miss when there is none"
run --json
expect 2 "option before the verb"
run run
expect 2 "run without a model"
has err "no model" "run without a model says so"
run run --stpe 1 swing.taut
expect 2 "unknown option"
has err "did you mean '--step'?" "near miss of an option"
run run -step 1 swing.taut
has err "did you mean '--step'?" "near miss of an option with one dash"
run run swing.taut --outer-step 2
expect 2 "--outer-step"
has err "unsupported" "--outer-step is planned"
run run swing.taut --threads 0
expect 2 "--threads 0"
has err ">= 1" "no threads"
run check swing.taut --step 1
expect 2 "option of another verb"
has err "not an option of 'taut check'" "option of another verb"
run run swing.taut --step
expect 2 "missing value"
has err "--step needs a value" "missing value"
run run swing.taut --out --json
expect 2 "an option where a value should be"
run run swing.taut --step abc
expect 2 "value that is not a number"
has err "abc" "the value is shown"
run run swing.taut --step=-1
expect 2 "value out of range"
run run swing.taut --motion fulll
expect 2 "value that is not a choice"
has err "full" "near miss of a choice"
run run swing.taut --quiet=yes
expect 2 "value for a flag"
run run swing.taut other.taut
expect 2 "two models"
run methods swing.taut
expect 2 "a model where none belongs"
run run swing.taut --until 0.01 --out rows.h5
if "$taut" --version | grep -q hdf5; then
    expect 0 "--out .h5"
else
    expect 2 "--out .h5 without HDF5"
    has err ".csv" "--out .h5 says what to do"
fi
run run swing.taut --out rows.xls
expect 2 "--out .xls"
run run swing.taut --plot picture.gif
expect 2 "--plot .gif"
run run swing.taut --json --nonsense
expect 2 "wrong usage with --json"
json out 'd["status"] == "failed" and d["error"]["code"] == "TAUT_ERROR_USAGE"' "wrong usage with --json is an object"

# --------------------------------------------------------------------------------------------------------------------
group=models
run models
expect 0 "models"
narrow out "models"
has out "double_pendulum " "models lists double_pendulum"
has out "Stiff spring double pendulum" "models shows titles"
run models --names
expect 0 "models --names"
(cd "$models" && for f in *.taut; do echo "${f%.taut}"; done) | LC_ALL=C sort >expected
if cmp -s out expected; then pass "models are the files, sorted"; else fail "models" "$(diff out expected)"; fi
run models --json
json out 'len(d["models"]) > 10 and all(m["title"] for m in d["models"])' "models --json"
run check doubel_pendulum
expect 2 "misspelt model"
has err "did you mean 'double_pendulum'?" "near miss of a model"
run check "$models/cahin.taut"
expect 2 "misspelt file"
has err "chain.taut" "near miss of a file"
run check no_such_model_at_all
expect 2 "no such model"
mkdir -p empty_folder
TAUT_MODELS=$work/empty_folder "$taut" check swing >out 2>err
status=$?
expect 2 "a name is looked for among shipped models only"
has err "did you mean 'swing.taut'?" "a file in the same folder is suggested"
cp swing.taut empty_folder/hanging.taut
TAUT_MODELS=$work/empty_folder "$taut" check hanging >out 2>err
status=$?
expect 0 "TAUT_MODELS is searched"

group=methods
run methods
expect 0 "methods"
has out "verlet" "methods lists verlet"
narrow out "methods"
run methods --json
json out 'any(m["name"] == "verlet" and m["order"] == 2 for m in d["methods"])' "methods --json"

# --------------------------------------------------------------------------------------------------------------------
group=check
run check swing.taut
expect 0 "check"
narrow out "check"
for word in "Stiff pendulum for the tests" "2 coordinates" "1 bond" "rank of G" "frequencies" "50" "derivative" "ok" "usable"; do
    has out "$word" "check says '$word'"
done
run check swing.taut --json
expect 0 "check --json"
json out 'd["status"] == "usable" and d["sizes"]["coordinates"] == 2 and abs(d["frequencies"]["most"] - 50) < 1e-9' "check --json"
json out 'all(r["good"] and r["deviation"] <= r["limit"] for r in d["derivatives"]) and len(d["derivatives"]) > 1' "derivatives in JSON"
run check swing.taut --set omega=200 --json
json out 'abs(d["frequencies"]["most"] - 200) < 1e-9' "--set changes a parameter"
run check swing.taut --set=omega=300 --json
json out 'abs(d["frequencies"]["most"] - 300) < 1e-9' "--set=P=V"
run check --set omega=400 --json swing.taut
json out 'abs(d["frequencies"]["most"] - 400) < 1e-9' "options before the model"
run check swing.taut --init x=1.5 --json
json out 'abs(d["start"]["foot_distance"] - 0.5) < 1e-12' "--init changes the start"
printf '[start]\nx = 3\ny = 4\n' >with_header
printf '# elsewhere\nx = 3\ny = 4\n' >without_header
for file in with_header without_header; do
    run check swing.taut --start $file --json
    json out 'abs(d["start"]["foot_distance"] - 4) < 1e-12' "--start $file"
done
run check swing.taut --start no_such_file
expect 2 "--start of a missing file"
run check swing.taut --quiet
expect 0 "check --quiet"
empty out "check --quiet prints nothing"
"$taut" check - <swing.taut >out 2>err
status=$?
expect 0 "model from standard input"
has out "2 coordinates" "model from standard input"
run check swing.taut --set omgea=3
expect 2 "unknown parameter"
has err "omega" "near miss of a parameter"

# two rigid bonds that say the same: G has rank 1
cat >twice.taut <<'END'
[coordinates]
x, y
[bonds]
one = x^2 + y^2 - 1
two = 2*x^2 + 2*y^2 - 2
[start]
x = 1, y = 0
END
run check twice.taut
expect 0 "redundant rigid bonds"
has out "two" "the redundant bond is named"
run check twice.taut --json
expect 0 "redundant rigid bonds, --json"
json out 'd["status"] == "usable" and d["rank"]["rank"] == 1 and d["rank"]["bonds"] == 2' "rank in JSON"

group=message
cat >wrong.taut <<'END'
[coordinates]
x1, y1
[bonds]
inner = sqrt(x3^2 + y1^2) - 1   stiffness 100
END
run check wrong.taut
expect 2 "wrong model"
empty out "nothing on standard output"
cat >expected <<'END'
    inner = sqrt(x3^2 + y1^2) - 1   stiffness 100
                 ^
END
head -n 1 err >first
has first "wrong.taut:4:14: error: " "file, line and column"
has first "x1" "near miss in a model"
sed 1d err >rest
if cmp -s rest expected; then pass "the line and a caret"; else fail "the line and a caret" "$(cat err)"; fi
lacks err "$(printf '\033')" "no colours when it is not a terminal"
run check wrong.taut --json
expect 2 "wrong model, --json"
json out 'd["error"]["code"] == "TAUT_ERROR_MODEL" and d["error"]["line"] == 4 and d["error"]["column"] == 14 and "wrong.taut" in d["error"]["file"]' "error in JSON"
"$taut" check - <wrong.taut >out 2>err
has err "<stdin>:4:14: error: " "the place in standard input"
# under a pseudo-terminal there are colours, unless NO_COLOR
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    TERM=xterm script -qec "'$taut' check wrong.taut" /dev/null >screen 2>/dev/null </dev/null
    has screen "$(printf '\033')[1;31merror" "colours on a terminal"
    TERM=xterm NO_COLOR=1 script -qec "'$taut' check wrong.taut" /dev/null >screen 2>/dev/null </dev/null
    lacks screen "$(printf '\033')" "no colours with NO_COLOR"
else
    skip "$group: colours on a terminal (no script)"
    skip "$group: no colours with NO_COLOR (no script)"
fi
cat >unused.taut <<'END'
# A name that nothing uses
[parameters]
omega = 50
[definitions]
forgotten = 2*omega
[coordinates]
x
[bonds]
spring = x   stiffness omega^2
[start]
x = 0.1
END
run check unused.taut
expect 0 "warnings do not fail"
has err "unused.taut:5:1: warning: " "a warning has a place"
has err "    forgotten = 2*omega" "a warning shows the line"
run check unused.taut --quiet
empty err "--quiet hides warnings"
run check unused.taut --json
json out 'len(d["warnings"]) == 1' "warnings in JSON"

# --------------------------------------------------------------------------------------------------------------------
group=run
run run swing.taut --every 0.1
expect 0 "run"
head -n 1 out >header
has header "t,x,y" "CSV header"
if [ "$(rows out)" -eq 12 ]; then pass "header and 11 rows"; else fail "rows: $(rows out), expected 12"; fi
has err "verlet" "explanation or summary on standard error"
has err "steps" "summary on standard error"
has err "energy" "summary has the energy"
narrow err "summary"
mv out reference.csv
run run swing.taut --every 0.1 --quiet
empty err "--quiet is silent"
if cmp -s out reference.csv; then pass "--quiet has the same rows"; else fail "--quiet changes the rows"; fi
run run swing.taut --every 0.1 --out rows.csv
expect 0 "run --out"
if cmp -s rows.csv reference.csv; then pass "--out has the same rows"; else fail "--out changes the rows"; fi
has out "rows.csv" "summary on standard output names the file"
empty err "nothing on standard error"
run run swing.taut --every 0.1 --out rows.csv -q
empty out "-q is silent"
run run swing.taut --every 0.1 --out rows.csv -v
has out "force evaluations" "-v prints counts"
run run double_pendulum_gravity --motion effective --step 0.1 --until 0.2 --out rows.csv -v
if awk '/fast_force_evaluations / && $2 > 0 { found = 1 } END { exit !found }' out; then
    pass "a blank separates the name of a count from the count"
else
    fail "a blank separates the name of a count from the count" "$(grep fast out)"
fi
"$taut" run - --every 0.1 -q <swing.taut >out 2>err
if cmp -s out reference.csv; then pass "model from standard input"; else fail "model from standard input" "$(cat err)"; fi
run run swing.taut --until 2 --every 1 -q
if [ "$(tail -n 1 out | cut -d, -f1)" = 2 ]; then pass "--until wins over [run]"; else fail "--until" "$(tail -n 1 out)"; fi
run run swing.taut --json
expect 0 "run --json"
empty err "run --json is silent on standard error"
json out 'd["status"] == "done" and d["t"] == 1 and d["names"]["q"] == ["x", "y"] and d["names"]["lambda"] == ["rod"]' "JSON: status, t, names"
json out 'len(d["q"]) == 2 and len(d["v"]) == 2 and len(d["lambda"]) == 1 and d["method"] == "verlet" and d["motion"] == "full"' "JSON: state"
json out 'd["stats"]["steps"] == 1000 and d["stats"]["force_evaluations"] == 1001 and set(d["stats"]) == {"steps", "rejected", "force_evaluations", "fast_force_evaluations", "jets", "jacobians", "factorisations", "solves", "newton_iterations", "micro_steps", "stabilizer_factorisations", "stabilizer_solves", "stabilizer_evaluations", "restarts", "projections"}' "JSON: statistics"
json out '"error_estimate" in d and set(d["drift"]) == {"position", "velocity"}' "JSON: estimate and drift"
json out 'abs(d["lambda"][0] - 2500 * (math.hypot(*d["q"]) - 1)) < 1e-9 * (1 + abs(d["lambda"][0]))' "JSON: lambda = kappa g at the end"
run run swing.taut --json --out rows.csv --every 0.1
if cmp -s rows.csv reference.csv; then pass "--json with --out"; else fail "--json with --out changes the rows"; fi
json out 'd["status"] == "done"' "--json with --out is one object"
run run swing.taut --json --out -
expect 2 "--json --out -"
run run swing.taut --steps 10 --json
expect 0 "a limit of steps is a result"
json out 'd["status"] == "limit" and d["stats"]["steps"] == 10' "a limit of steps in JSON"
run run swing.taut --motion slow --json
expect 0 "slow motion"
json out 'd["motion"] == "slow" and d["method"] == "dop8" and d["error_estimate"] < 1e-6' "slow motion by dop8"
run run swing.taut --motion rigid --json
expect 0 "rigid motion"
json out 'd["motion"] == "rigid" and d["method"] == "dop8" and d["drift"]["position"] < 1e-14' "rigid motion by dop8"
run run swing.taut --method leapfrog
expect 2 "unknown method"
run run swing.taut --step 0.1
expect 1 "unstable step"
has err "step" "unstable step is explained"
run run swing.taut --step 0.1 --json
expect 1 "unstable step, --json"
json out 'd["status"] == "failed" and d["error"]["code"] == "TAUT_ERROR_STEP"' "failure in JSON"
run run twice.taut --until 1 --step 0.1 --method verlet
expect 2 "Verlet refuses rigid bonds"
run run swing.taut --out no/such/folder/rows.csv
expect 2 "--out in a missing folder"

# a force that becomes NaN: what was computed stays
cat >fall.taut <<'END'
[coordinates]
x
[forces]
x = -1 + 1e-9*sqrt(x)
[start]
x = 1
[run]
motion = full
method = verlet
step = 0.01
until = 10
END
run run fall.taut --json --out fall.csv
expect 1 "a force that becomes NaN"
json out 'd["status"] == "failed" and d["error"]["code"] == "TAUT_ERROR_EVALUATE" and 1 < d["t"] < 2' "NaN in JSON"
if [ "$(rows fall.csv)" -gt 100 ]; then pass "rows before the failure are kept"; else fail "rows: $(rows fall.csv)"; fi

cat >drop.taut <<'END'
[coordinates]
h
[forces]
h = -2
[start]
h = 1
[events]
floor = h falling stop
[run]
motion = full
method = verlet
step = 0.01
until = 10
END
run run drop.taut --json
expect 0 "an event is a result"
json out 'd["status"] == "event" and d["event"] == "floor" and abs(d["t"] - 1) < 1e-9' "event in JSON"

# long enough for a bar, were there a terminal
run run swing.taut --until 2000 --every 1000
lacks err "$(printf '\r')" "no progress bar without a terminal"
lacks err "$(printf '\033')" "no escape sequences without a terminal"

group=picture
if command -v gnuplot >/dev/null && [ -z "${TAUT_TEST_CORE:-}" ]; then
    run run swing.taut --plot swing.png --out rows.csv
    expect 0 "--plot .png"
    if [ "$(head -c 4 swing.png | tail -c 3)" = PNG ]; then pass "a PNG file"; else fail "not a PNG file" "$(cat err)"; fi
    run run swing.taut --plot swing.svg --out rows.csv
    expect 0 "--plot .svg"
    has swing.svg "<svg" "an SVG file"
else
    skip "$group: --plot .png (no gnuplot, or a core build)"
    skip "$group: --plot .svg (no gnuplot, or a core build)"
fi

# --------------------------------------------------------------------------------------------------------------------
group=endings
"$taut" run swing.taut --until 1e4 --every 1e-3 2>err | head -n 3 >out
if [ "$(rows out)" -eq 3 ]; then pass "| head gets its rows"; else fail "| head" "$(cat out)"; fi
lacks err "error" "a broken pipe ends quietly"
"$taut" help --man 2>err | head -n 1 >out
lacks err "error" "a broken pipe ends help quietly"
if [ -w /dev/full ]; then
    "$taut" run swing.taut >/dev/full 2>err
    status=$?
    expect 1 "disk full, rows on standard output"
    has err "error" "disk full is said"
    run run swing.taut --out /dev/full
    expect 1 "disk full, --out"
    has err "error" "disk full is said for --out"
    "$taut" methods >/dev/full 2>err
    status=$?
    expect 1 "disk full, methods"
    "$taut" run swing.taut --json >/dev/full 2>err
    status=$?
    expect 1 "disk full, --json"
else
    skip "$group: disk full (no /dev/full)"
fi

# Ctrl-C: the shell starts background jobs with the signal ignored, env gives it back
if env --default-signal=INT true 2>/dev/null; then
    env --default-signal=INT "$taut" run swing.taut --until 1e6 --every 1 --out long.csv --json >out 2>err &
    job=$!
    tries=0
    while [ "$(cat long.csv 2>/dev/null | wc -l)" -lt 2 ] && [ $tries -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -INT $job
    wait $job
    status=$?
    expect 130 "Ctrl-C"
    json out 'd["status"] == "interrupted" and 0 < d["t"] < 1e6 and d["stats"]["steps"] > 0' "Ctrl-C gives the state so far"
    if tail -n 1 long.csv | awk -F, '{ exit !(NF == 6 && $1 > 0) }'; then
        pass "Ctrl-C keeps whole rows"
    else
        fail "Ctrl-C: the last row" "$(tail -n 1 long.csv)"
    fi
    # a projection that takes long has nothing to keep: it ends at once and leaves no file
    env --default-signal=INT "$taut" project chain --set N=4000 --method ipa --out long.start --plot long.png >out 2>err &
    job=$!
    sleep 1
    kill -INT $job
    wait $job
    status=$?
    expect 130 "Ctrl-C ends a projection"
    if ls long.start* long.png >/dev/null 2>&1; then fail "Ctrl-C: files of a projection" "$(ls long.*)"; else pass "no files"; fi
else
    skip "$group: Ctrl-C (env cannot restore signals)"
fi

# --------------------------------------------------------------------------------------------------------------------
group=shipped
for file in "$models"/*.taut; do
    name=$(basename "$file" .taut)
    run check "$name"
    expect 0 "check $name"
    narrow out "check $name"
    run run "$name" --until 0.01 --motion full --quiet
    case $status in
    0) pass "run $name" ;;
    2) if [ -s err ] && ! grep -q "unknown" err; then pass "run $name is refused with a reason"; else fail "run $name" "$(cat err)"; fi ;;
    *) fail "run $name: exit status $status" "$(cat err)" ;;
    esac
done

done_rows
