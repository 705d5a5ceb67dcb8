#!/bin/sh
# test_compile_cli.sh - taut run --compile=auto: long runs are compiled and short ones are not, with the reason; a compiler that is missing or
# hangs does no harm; digits, and those of resumed runs, are the same.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli compile
if [ "${TAUT_TEST_CORE:-}" = 1 ]; then
    echo "skip: a core build cannot compile"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

cat >double.taut <<'END'
# two bodies on rigid bonds
[coordinates]
x1, y1, x2, y2
[bonds]
inner = sqrt(x1^2 + y1^2) - 1
outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1
[potential]
y1 + y2
[start]
x1 = 1, x2 = 2
[run]
method = rk4, step = 0.0001, every = 2
END
same() { cmp -s "$1" "$2"; row $? "$3: $1 and $2 differ"; }
objects() { find "$work/cache" -name '*.so' 2>/dev/null | wc -l; }
says() { # says TEXT: the explanation of the latest run, as one line
    tr -s '\n ' ' ' <out >line
    has line "$1"
}

run 0 run double.taut --until 0.01 --compile=auto --out short.csv
says "; not compiled: about"
run 0 run double.taut --until 0.001 --compile=auto --out short.csv
says "; not compiled: the run is short"
[ "$(objects)" = 0 ]
row $? "a short run was compiled"
run 0 run chain --set N=100 --motion rigid --until 0.01 --compile=auto --out short.csv
says "; not compiled: with adaptive step size, large systems gain little"
cat >squares.taut <<'END'
# links whose squared lengths are kept
[particles]
dimension = 2
bob[i] for i in 1..300 mass 1
[bonds]
link[i] = ((bob[i+1].x - bob[i].x)^2 + (bob[i+1].y - bob[i].y)^2 - 1)/2 for i in 1..299 stiffness 1e6
[start]
bob[i] = (i, 0) for i in 1..300
bob[150].y' = 1
[run]
motion = full, method = verlet, step = 1e-5, every = 1
END
# 299 links of 9 operations by 0.15, (1 + 16)/16 evaluations a step: 1e5 steps, where 3.6e5 would pay; springs between two points gain nothing
run 0 run squares.taut --compile=auto --until 1 --out squares.csv
says "; not compiled: about 4.3e+07 of 1.1e+09 operations saved, where a compiler takes as long as 1.5e+08"
[ "$(objects)" = 0 ]
row $? "a chain was compiled for too short a run"
run 0 run chain --set N=300 --motion full --method verlet --step 1e-5 --steps 200 --until 1e6 --compile=auto --out distances.csv
says "; not compiled: about 0 of"
for value in maybe yes,no; do
    run 2 run double.taut --until 1 --compile=$value
    has err "--compile: expected yes, auto or no, found '$value'"
done
run 2 run double.taut --until 1 --quiet=yes
has err "--quiet has no value"

mkdir tools
printf '#!/bin/sh\nsleep 97.25\n' >tools/cc
chmod +x tools/cc
run 0 run double.taut --until 60 --out interpreted.csv
PATH=$work/tools:$PATH TAUT_COMPILE_SECONDS=0.3 run 0 run double.taut --until 60 --compile=auto --out hangs.csv
says "; not compiled: $work/tools/cc was ended after 0.3 s"
[ ! -s err ]
row $? "a compiler that nobody asked for hangs: $(cat err)"
same interpreted.csv hangs.csv "a compiler that hangs"
mkdir bare
ln -s "$(command -v head)" bare/head
PATH=$work/bare run 0 run double.taut --until 60 --compile=auto --out missing.csv
says "; not compiled: no C compiler (cc, gcc, clang) found in PATH"
same interpreted.csv missing.csv "no compiler"

if command -v cc >/dev/null 2>&1; then
    run 0 run squares.taut --compile=auto --until 4.2 --out squares.csv
    says "; compiled: about 1.8e+08 of 4.5e+09 operations saved, where a compiler takes as long as 1.5e+08"
    run 0 run squares.taut --until 4.2 --out interpreted_squares.csv
    same squares.csv interpreted_squares.csv "a compiled chain"
    rm -rf "$work/cache"
    run 0 run double.taut --until 60 --compile=auto --out compiled.csv
    says "; compiled: about"
    [ "$(objects)" = 1 ]
    row $? "$(objects) objects in the cache"
    same interpreted.csv compiled.csv "compiled"
    # interrupted somewhere: the checkpoint has the decision, whatever is left of the run
    "$taut" run double.taut --until 60 --compile=auto --checkpoint part.check --checkpoint-every 0.01 --out resumed.csv >out 2>err &
    while [ ! -s part.check ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
    kill -TERM $! 2>/dev/null
    wait $!
    grep -qa -e "--compile=yes" part.check
    row $? "the checkpoint has no decision"
    run 0 run --resume part.check
    same interpreted.csv resumed.csv "resumed"
else
    skip "there is no compiler here"
fi
done_rows
