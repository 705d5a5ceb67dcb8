#!/bin/sh
# test_hard_places.sh - the program where others have prepared the place: strange files, control characters, little memory, missing
# libraries, a compiler that hangs, signals, outputs that are inputs.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli hard_places
esc=$(printf '\033')

model() { # model FILE [TABLE]: a pendulum, with a table when one is named
    {
        echo "# A pendulum"
        [ -z "${2:-}" ] || printf '[tables]\nbars = %s\n' "$2"
        printf '[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\n[potential]\n'
        [ -z "${2:-}" ] || printf 'bars.weight[1]*'
        printf 'y\n[start]\nx = 1\n[run]\nuntil = 1\nevery = 0.25\n'
    } >"$1"
}
bounded() { # bounded STATUS ARGUMENTS: as run, and it must end
    want=$1
    shift
    timeout 20 "$taut" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ]
    row $? "taut $*: exit status $got, expected $want: $(head -c 300 err)"
}
clean() { # clean FILE: no control characters but line ends
    ! LC_ALL=C grep -q -e "$(printf '[\001-\010\013-\037\177]')" -e "$(printf '\302[\200-\237]')" "$1"
    row $? "control characters in: $(head -c 300 "$1" | cat -v)"
}

# ---- files that are no files
mkdir place
printf 'weight\n2\n' >place/bars.csv
printf 'weight\n3\n' >outside.csv
model place/good.taut bars.csv
bounded 0 check place/good.taut
for kind in zero pipe folder out deep; do model place/$kind.taut $kind.csv; done
model place/deep.taut deep/outside.csv
ln -s /dev/zero place/zero.csv
mkfifo place/pipe.csv
mkdir place/folder.csv
ln -s ../outside.csv place/out.csv
ln -s .. place/deep
for kind in zero pipe folder out deep; do
    bounded 2 check place/$kind.taut
    has err "place/$kind.taut:3:"
done
ln -s bars.csv place/inside.csv
model place/inside.taut inside.csv
bounded 0 check place/inside.taut
truncate -s 300M place/large.csv
model place/large.taut large.csv
bounded 2 check place/large.taut
has err "larger than 256 MB"
rm place/large.csv
mkfifo pipe.taut
bounded 2 check pipe.taut
has err "pipe.taut': it is a pipe"
bounded 2 check /dev/zero
has err "it is a device"
for option in "run place/good.taut --start" "run --resume" "run place/good.taut --out o.csv --checkpoint"; do
    for file in pipe.taut /dev/zero place; do
        # shellcheck disable=SC2086
        bounded 2 $option $file
        has err "is a "
    done
done
truncate -s 100M large.start
bounded 2 run place/good.taut --start large.start
has err "too large"
rm large.start
ln -s place/good.taut link.taut
cp place/bars.csv .
bounded 0 check link.taut

# ---- outputs that are inputs
model p.taut
model q.taut bars.csv
printf '[start]\nx = 0.6\ny = -0.8\n' >start.csv
ln p.taut hard.csv
ln -s p.taut soft.csv
ln p.taut hard.svg
cp p.taut p.copy
for out in hard.csv soft.csv; do
    bounded 2 run p.taut --out $out
    has err "$out: this file is the model"
done
bounded 2 project p.taut --out p.taut
bounded 2 project p.taut --out ./soft.csv
bounded 2 run q.taut --out bars.csv
has err "this file is a table of the model"
bounded 2 run p.taut --start start.csv --out start.csv
has err "this file is the initial state"
for verb in run project compare; do
    methods=
    [ $verb != compare ] || methods="--methods rk4 --steps 0.1"
    # shellcheck disable=SC2086
    bounded 2 $verb p.taut $methods --plot hard.svg
    has err "this file is the model"
done
# two outputs in one file, whatever it is called
ln -s both.csv other.csv
: >both.csv
for pair in "--out both.csv --checkpoint ./both.csv" "--out both.csv --end $PWD/both.csv" "--out both.csv --checkpoint other.csv" \
    "--plot both.svg --end ./both.svg" "--out fresh.csv --end both.save --checkpoint both.save"; do
    # shellcheck disable=SC2086
    bounded 2 run p.taut $pair
    has err "this is the file of --"
done
rm other.csv both.csv
cmp -s p.taut p.copy && [ "$(cat bars.csv)" = "$(printf 'weight\n2\n')" ] && grep -q 'x = 0.6' start.csv
row $? "an input was overwritten"
bounded 0 run p.taut --start start.csv --out fresh.csv
bounded 0 run p.taut --out fresh.csv

# ---- control characters of others
printf '# Title %s[2J%s]0;owned\007 of a model\n[coordinates]\nx\n' "$esc" "$esc" >title.taut
bounded 2 check title.taut
clean err
# U+009B begins a sequence too
printf '# Title \302\2332J of a model\n[coordinates]\nx\n[potential]\nx^2\n[start]\nx = 1\n' >title.taut
bounded 0 check title.taut
has out "Title"
clean out
bounded 0 check title.taut --json
clean out
bounded 0 run title.taut --until 1
clean err
printf '[coordinates]\nx\n[potential]\n%s[31mx\n' "$esc" >wrong.taut
bounded 2 check wrong.taut
clean err
printf '[coordinates]\nx\n[tables]\na = %s[31m.csv\n[potential]\nx\n' "$esc" >wrong.taut
bounded 2 check wrong.taut
clean err
printf 'weight\n%s[31m7\n' "$esc" >bars.csv
bounded 2 check q.taut
has err "bars.csv:2:1"
clean err
cp p.taut "evil$esc[31m.taut"
bounded 0 check "evil$esc[31m.taut"
clean out
has out 'evil\x1b[31m'
bounded 2 check "none$esc[31m.taut"
clean err
bounded 2 check "none$esc[31m.taut" --json
clean out
bounded 2 run p.taut --out "none$esc[31m/x.csv"
clean err
bounded 2 check p.taut --set "a$esc[2J=1"
clean err

# ---- numbers that ask for too much
bounded 2 run p.taut --every 1e-300 --out rows.csv
has err "1e+300 rows"
[ ! -e rows.csv ]
row $? "--every 1e-300 has begun to write"
bounded 2 run p.taut --every 1e-300 --until 1e300 --out rows.csv
sed '/^until/d' p.taut >endless.taut
bounded 2 run endless.taut --every 1e-300 --steps 3 --out rows.csv
has err "rows in one step"
TAUT_MEMORY=1e8 bounded 2 check chain --set N=100000
has err "of memory, and there are 0.1 GB"
TAUT_MEMORY=5e8 bounded 0 check chain --set N=30000 --no-derivatives
has err "there are 0.5 GB"
TAUT_MEMORY=3e8 bounded 2 run chain --set N=100000 --motion rigid --method radau5 --until 1e-9 --out none
has err "needs about 0.36 GB of memory, and there are 0.3 GB"
if [ -z "${TAUT_TEST_SANITIZED:-}" ]; then # which take a minute
    TAUT_MEMORY=3e8 bounded 0 run chain --set N=100000 --motion rigid --method dop8 --until 1e-9 --out none
    has err "needs about 0.14 GB of memory; there are 0.3 GB"
    TAUT_MEMORY=1e9 bounded 0 run chain --set N=300000 --motion rigid --method dop8 --step 1e-3 --until 1e-3 --out none
    has err "needs about 0.2 GB of memory; there are 1 GB"
fi
TAUT_MEMORY=3e8 bounded 2 project chain --set N=100000 --method series
has err "needs about 0.33 GB of memory, and there are 0.3 GB"
bounded 0 check chain --set N=300
lacks err "memory"

# ---- little address space; libraries that are missing
if [ -z "${TAUT_TEST_SANITIZED:-}" ]; then
    for arguments in "run p.taut --out rows.csv" "check truss" "run net --until 0.01 --out rows.csv" "project chain --set N=100" "spectrum water_box"; do
        (ulimit -v 200000 && exec timeout 60 "$taut" $arguments >out 2>err </dev/null)
        row $? "ulimit -v 200000, taut $arguments: $(head -c 300 err)"
    done
    library=$TAUT_BUILD/lib/libtaut.so
    files=$(grep -ao 'lib[a-z_]*5\{0,1\}[a-z_]*\(-[0-9.]*\)\{0,1\}\.so[.0-9]*' "$library" | grep -e blas -e arpack -e mumps -e hdf5 | sort -u)
    if [ -n "$files" ] && ! ldd "$library" | grep -q blas; then
        mkdir broken
        for file in $files; do : >"broken/$file"; done
        [ "$(ls broken | wc -l)" = 5 ]
        row $? "libraries: $files"
        LD_LIBRARY_PATH=$work/broken bounded 2 run p.taut --out rows.h5
        has err "no HDF5 output"
        has err "package libhdf5-dev"
        LD_LIBRARY_PATH=$work/broken bounded 0 run net --until 0.01 --out without.csv
        LD_LIBRARY_PATH=$work/broken bounded 0 check truss
        bounded 0 run net --until 0.01 --out with.csv
        # other kernels, the same motion
        paste -d, without.csv with.csv | awk -F, 'NR > 1 { n = NF / 2; for (k = 1; k <= n / 3; k++) { d = $k - $(k + n); if (d < 0) d = -d; if (d > m) m = d } }
            END { exit !(NR > 2 && m < 1e-6) }'
        row $? "the results with and without LAPACK differ"
    else
        skip "this build links its libraries, or has none"
    fi
else
    skip "sanitizers need more address space"
fi

# ---- programs that hang, and programs that outlive
alive() { # alive WORD: is there a process with this word in its arguments?
    grep -qa "$1" /proc/[0-9]*/cmdline 2>/dev/null
}
gone() { # gone WORD: within ten seconds
    tries=0
    while alive "$1" && [ $tries -lt 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    ! alive "$1"
}
if [ -z "${TAUT_TEST_CORE:-}" ] && [ -d /proc/self ]; then
    mkdir tools
    word=9$$1.25 # seconds of sleep that no other process has
    printf '#!/bin/sh\nsleep %s &\nwait\n' "$word" >tools/cc
    chmod +x tools/cc
    PATH=$work/tools:$PATH XDG_CACHE_HOME=$work/cache TAUT_COMPILE_SECONDS=0.3 bounded 0 run p.taut --compile --out rows.csv
    has err "was ended after 0.3 s; expressions stay interpreted"
    gone "$word"
    row $? "the compiler that hangs is still there"

    word=9$$2.25
    cat >legacy <<END
#!/bin/sh
read -r line
echo ok >asked
sleep $word
END
    chmod +x legacy
    cat >box.taut <<END
[state]
a, b
[stepper]
command = ./legacy
horizon = 0.1
timeout = 600
[observables]
a
[start]
a = 1, b = 2
END
    for signal in TERM HUP KILL INT; do
        rm -f asked
        # a shell ignores INT for what it starts in the background: ask for the default again
        env --default-signal=INT "$taut" project box.taut --allow-command >out 2>err </dev/null &
        child=$!
        tries=0
        # asked, and its sleep begun: between the two it can be interrupted on a busy machine
        until { [ -e asked ] && alive "$word"; } || [ $tries -ge 400 ]; do
            sleep 0.05
            tries=$((tries + 1))
        done
        [ -e asked ] && alive "$word"
        row $? "the black box was not asked: $(cat err)"
        kill -$signal $child
        gone "$word"
        row $? "after $signal the black box is still there"
        wait $child 2>/dev/null
    done

    # what it writes as its last words is shown, not obeyed
    printf '#!/bin/sh\nprintf "%s" >&2\nexit 3\n' '\033[31mred \033]0;title\007 end\n' >legacy
    bounded 1 project box.taut --allow-command
    has err '\x1b[31mred'
    clean err
else
    skip "no processes in this build, or no /proc"
fi
done_rows
