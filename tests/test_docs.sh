#!/bin/sh
# test_docs.sh - what the pages of docs/ show works: every command in them runs, in their order; numbers that they promise are printed;
# sizes and frequencies of the shipped models are those of the page; options, verbs and files that are named exist.
# (The README has its own test, C in docs/c-api.md too.)
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$here/..
. "$here/table.sh"
open_cli docs
mkdir bin && ln -s "$taut" bin/taut && PATH=$work/bin:$PATH
export PATH

# what the commands work on: a start, a simulator
printf '[start]\ny1 = 0.1\n' >other.txt
cat >model.taut <<'END'
[state]
x, y
[stepper]
command = ./legacy --eps 0.1
horizon = 0.04
[observables]
x
[start]
x = 1
END
processes=yes
[ -n "${TAUT_TEST_CORE:-}" ] && processes=
cc -O1 -o legacy "$source/examples/legacy.c" -lm 2>/dev/null || processes=

command_of() { # the command of a line, without the words that explain it; nothing when it has a placeholder
    printf '%s\n' "$1" | sed -e 's/^ *//' -e 's/   *[a-z].*$//' -e '/ MODEL\| VERB/d'
}

run_command() { # run_command PAGE COMMAND
    case $2 in
    *--plot* | *--out*DIR*) pictures || { skip "no pictures: $2"; return; } ;;
    *.h5*) "$taut" --version | grep -q hdf5 || { skip "no HDF5: $2"; return; } ;;
    *--allow-command*) [ -n "$processes" ] || { skip "no processes: $2"; return; } ;;
    esac
    case $2 in
    *N=10000* | *reproduce\ all*) [ -n "${TAUT_TEST_LONG:-}" ] || { skip "long: $2"; return; } ;;
    esac
    sh -c "$2" >out 2>err </dev/null
    row $? "$1: $2: $(tail -n 2 err)"
}

count=0
for page in "$source"/docs/*.md; do
    grep '^    taut ' "$page" >lines
    while IFS= read -r line; do
        command=$(command_of "$line")
        [ -n "$command" ] || continue
        count=$((count + 1))
        run_command "$(basename "$page")" "$command"
    done <lines
done
[ $count -gt 40 ]
row $? "$count commands in docs/"

# numbers that a page promises: the page has them, and the program prints them
said() { # said PAGE TEXT ARGUMENTS: both the page and the output of taut ARGUMENTS have the text
    page=$1 text=$2
    shift 2
    grep -qF -e "$text" "$source/docs/$page"
    row $? "docs/$page does not say '$text'"
    run 0 "$@"
    has out "$text"
}
said theory.md 1.000100010001 project forced_spring --set omega=100
said project.md 1.00000150004507 project double_pendulum --set omega=1000 --set lift=0
said project.md 2.00000275007326 project double_pendulum --set omega=1000 --set lift=0
said project.md '5   1.007216e-06   2.426279e-06                185' project double_pendulum --set omega=1000 --method ipa

# the first model of the language, with its mistake: the message is the one on the page
awk '/^```taut$/ { on = 1; next } /^```$/ { if (on) exit } on' "$source/docs/model-language.md" |
    sed 's/stiffness omega/stiffness omga/' >pendulum.taut
run 2 check pendulum.taut
grep -qxF "$(head -n 1 err)" "$source/docs/model-language.md"
row $? "docs/model-language.md does not show '$(head -n 1 err)'"

# sizes and frequencies of docs/models.md
if [ -x /usr/bin/python3 ]; then
    "$taut" models --names | while read -r name; do
        printf '%s ' "$name"
        "$taut" check "$name" --no-derivatives --json | tr -d '\n'
        echo
    done >checks
    /usr/bin/python3 - "$source/docs/models.md" >wrong <<'END'
import json, re, sys
page = open(sys.argv[1]).read()
for line in open("checks"):
    name, text = line.split(" ", 1)
    d = json.loads(text)
    rows = re.findall(r"^\| `%s` \|(.*)\|$" % name, page, re.M)
    if not rows:
        print(name, "is not on the page")
        continue
    size = rows[0].split("|")[1].strip()
    values = dict(re.findall(r"([A-Za-z]+) = ([0-9]+)", size))
    formula = size.split(",")[0]
    terms = [re.sub(r"(?<=[0-9A-Za-z])(?=[(])|(?<=[0-9])(?=[A-Za-z])", "*", t.strip()).replace("^", "**") for t in formula.split(" x ")]
    left, right = (eval(t, {}, {k: int(v) for k, v in values.items()}) for t in terms)
    s = d["sizes"]
    if (left, right) != (s["coordinates"] + s["algebraic"], s["bonds"]):
        print(name, "has", s["coordinates"], "+", s["algebraic"], "x", s["bonds"], "and the page says", size)
    if len(rows) > 1:
        numbers = [float(x) for x in re.findall(r"[0-9.]+(?:e[0-9]+)?", rows[1].split("|")[0])]
        ours = [d["frequencies"]["least"], d["frequencies"]["most"]]
        if any(abs(a - b) > 0.02 * b for a, b in zip([numbers[0], numbers[-1]], ours)):
            print(name, "has frequencies", ours, "and the page says", rows[1].split("|")[0])
END
    [ $? = 0 ] && [ ! -s wrong ]
    row $? "docs/models.md: $(cat wrong)"
    [ "$(wc -l <checks)" -ge 23 ]
    row $? "$(wc -l <checks) models"
else
    skip "docs/models.md (no python3)"
fi

# every key of every object is explained
if [ -x /usr/bin/python3 ]; then
    : >objects
    object() { # object ARGUMENTS: of one call, whatever its exit status
        "$taut" "$@" --json 2>/dev/null </dev/null | tr -d '\n' >>objects
        echo >>objects
    }
    object check double_pendulum
    object run double_pendulum --until 0.1
    object run kepler --until 0.1
    object run index2 --until 0.1
    object project double_pendulum --expansion
    object project quartic_rod
    object project michaelis_menten
    object spectrum double_pendulum
    object spectrum double_pendulum_gravity --until 0.1
    object compare slider_crank --until 0.2 --methods rk4 --steps 0.1
    object compare slider_crank --until 0.2 --methods dop8 --tolerances 1e-3
    object reproduce
    object reproduce b-orders
    object methods
    object models
    object models chain
    object run nosuch
    /usr/bin/python3 - "$source"/docs/*.md >wrong <<'END'
import json, re, sys
text = " ".join(open(name).read() for name in sys.argv[1:])
known = set(re.findall(r"[`\"]([a-z_0-9]+)[`\"]", text))
def keys(x):
    if isinstance(x, dict):
        for k, v in x.items():
            yield k
            yield from keys(v)
    elif isinstance(x, list):
        for v in x:
            yield from keys(v)
lines = open("objects").read().splitlines()
if len(lines) < 17 or not all(lines):
    print("objects are missing")
print(*sorted({k for line in lines for k in keys(json.loads(line))} - known))
END
    [ $? = 0 ] && [ -z "$(tr -d '\n' <wrong)" ]
    row $? "keys of --json that no page explains: $(cat wrong)"
else
    skip "keys of --json (no python3)"
fi

# options and files that pages name exist
"$taut" help --options-page | grep -o '`-[^`]*`' | grep -o -e '--[a-z-]*' | sort -u >options
printf '%s\n' --name --help --quiet --verbose >>options
for option in $(cat "$source"/docs/*.md "$source/README.md" | grep -o '`--[a-z][a-z-]*' | tr -d '`' | sort -u); do
    grep -qx -e "$option" options
    row $? "docs/ name the option $option, which does not exist"
done
for file in $(grep -oh '`\(src\|cli\|tests\|models\|examples\|include\|tools\|bench\)/[a-z0-9_/.-]*`' "$source"/docs/*.md "$source/README.md" | tr -d '`' | sort -u); do
    [ -e "$source/$file" ]
    row $? "docs/ name the file $file, which does not exist"
done
# docs/architecture.md: every file and folder in it exists, and it answers at least 30 questions
for name in $(grep -o '`[a-z_0-9/.-]*`' "$source/docs/architecture.md" | tr -d '`' | grep -e / -e '\.[ch]$' | sort -u); do
    [ -e "$source/$name" ]
    row $? "docs/architecture.md names $name, which does not exist"
done
[ "$(sed -n '/^## Where is/,/^## Adding/p' "$source/docs/architecture.md" | grep -c '? |')" -ge 30 ]
row $? "docs/architecture.md answers fewer than 30 questions"
done_rows
