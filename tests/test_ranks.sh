#!/bin/sh
# test_ranks.sh - runs over several processes (`make test-mpi`): states and rows agree with those of one process, in the same order; rigid
# bonds hold to rounding; runs are saved and resumed; memory is divided; what is not supported is refused, and no process waits for ever.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
if ! grep -q '^TAUT_MPI:BOOL=ON' "$TAUT_BUILD/CMakeCache.txt" 2>/dev/null; then
    skip "this build has no MPI (make mpi)"
    done_rows
    exit
fi
if ! command -v mpiexec >/dev/null 2>&1; then
    skip "mpiexec is not installed"
    done_rows
    exit
fi
open_cli ranks
# more processes than cores, also as root; one thread each
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
# other programs, and other ranks, may need the core on which a rank waits
export OMPI_MCA_mpi_yield_when_idle=1

ranks() { # ranks STATUS P ARGUMENTS: as `run`, by P processes
    want=$1 processes=$2
    shift 2
    timeout 120 mpiexec -n "$processes" "$taut" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ]
    row $? "mpiexec -n $processes taut $*: exit status $got, expected $want: $(head -c 300 err)"
}

apart() { # apart A B TOLERANCE TEXT: files of equal words but for numbers that differ by at most TOLERANCE
    awk -v other="$2" -v most="$3" '
    { if ((getline line < other) <= 0) exit 1
      n = split($0, a, /[ ,=]+/); m = split(line, b, /[ ,=]+/)
      if (n != m) exit 1
      for (k = 1; k <= n; k++)
          if (a[k] != b[k]) {
              d = a[k] - b[k]
              if (a[k] + 0 != a[k] && a[k] !~ /^[-+.0-9]/) exit 1
              if (d > most || -d > most) exit 1
          } }
    END { }' "$1" && [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] && [ "$(wc -l <"$1")" -gt 1 ]
    row $? "$4: more than $3 apart: $(diff "$1" "$2" | head -n 4 | tr '\n' ' ')"
}

drift() { # drift MOST: of the summary in out
    awk -v most="$1" '/ drift / { gsub(",", "", $3); seen = 1; if ($3 + 0 > most || $5 + 0 > most) bad = 1 } END { exit bad || !seen }' out
    row $? "drift above $1: $(grep drift out)"
}

cat >strip.taut <<'MODEL'
[parameters]
rows = 3
N = 24
[particles]
dimension = 3
p[i,j] for i in 1..N, j in 1..rows    mass 1 + i/100
[potential]
sum(p[i,j].z + 0.1*p[i,j].y^2 for i in 1..N, j in 1..rows)
[bonds]
along[i,j] = length(p[i+1,j] - p[i,j]) - 1 for i in 1..N-1, j in 1..rows   rigid
across[i,j] = length(p[i,j+1] - p[i,j]) - 1 for i in 1..N, j in 1..rows-1   rigid
hook = length(p[1,1] - (0, 0, 0)) - 1   rigid
[forces]
p[i,j] = -0.1*p[i,j]' for i in 1..N, j in 1..rows
[start]
p[i,j] = (i, j - 1, 0) for i in 1..N, j in 1..rows
p[i,j]' = (0, 0, sin(i)) for i in 1..N, j in 1..rows
MODEL

# a polymer: rigid links, springs over two, bending, forces on four beads
cat >polymer.taut <<'MODEL'
[parameters]
N = 40
k = 100
[particles]
dimension = 3
b[i] for i in 1..N   mass 1
[potential]
sum(b[i].y for i in 1..N)
sum(k/2*(length(b[i+1] - b[i-1]) - 1.9)^2 for i in 2..N-1)
sum(exp(-length(b[i+3] - b[i])^2) for i in 1..N-3)
[bonds]
link[i] = length(b[i+1] - b[i]) - 1 for i in 1..N-1   rigid
spring[i] = length(b[i+2] - b[i]) - 1.95 for i in 1..N-2   stiffness 50   soft
[start]
b[i] = (i*sqrt(0.99), 0.05*(-1)^i, 0) for i in 1..N
b[i]' = (0, 0, cos(i)) for i in 1..N
MODEL

# ---- states at the end, against one process
try() { # try DRIFT TOLERANCE ARGUMENTS
    most=$1 tolerance=$2
    shift 2
    run 0 run "$@" --out none --verify never --end serial
    for p in $processes_tried; do
        ranks 0 $p run "$@" --out none --verify never --end end
        apart serial end "$tolerance" "$p ranks, $*"
        [ "$most" = - ] || drift "$most"
    done
}
processes_tried="1 2 3"
try 1e-13 1e-12 chain --set N=50 --motion rigid --step 0.01 --until 0.5
processes_tried="2 3"
try 1e-13 1e-10 chain --set N=50 --motion rigid --until 1 --rtol 1e-8
try 1e-13 1e-12 chain --set N=50 --motion rigid --method dopri5 --step 0.01 --until 0.5
try 1e-13 1e-12 chain --set N=50 --motion rigid --method rk4 --step 0.01 --until 0.5 --stabilize project
try 1e-13 1e-11 chain --set N=50 --motion rigid --method rattle --step 0.01 --until 0.5
try - 1e-12 chain --set N=50 --motion full --method verlet --step 1e-4 --until 0.05
try - 1e-12 chain --set N=50 --motion full --method dop8 --step 1e-4 --until 0.02
# rows between steps
run 0 run chain --set N=30 --motion rigid --method rattle --step 0.01 --until 0.1 --every 0.013 --verify never --out rows1.csv
ranks 0 2 run chain --set N=30 --motion rigid --method rattle --step 0.01 --until 0.1 --every 0.013 --verify never --out rows.csv
apart rows1.csv rows.csv 1e-8 "2 ranks, rows of rattle"
try 1e-13 1e-11 strip.taut --motion rigid --step 0.01 --until 0.3
try 1e-13 1e-10 strip.taut --motion rigid --until 0.3
try 1e-13 1e-11 polymer.taut --motion rigid --step 0.005 --until 0.2
try 1e-13 1e-11 polymer.taut --motion rigid --method rattle --step 0.002 --until 0.1
# no narrow band
mumps=no
grep -q '^TAUT_DMUMPS_PARALLEL:.*NOTFOUND' "$TAUT_BUILD/CMakeCache.txt" || mumps=yes
if [ $mumps = yes ]; then
    try 1e-13 1e-11 net --set N=12 --motion rigid --step 0.01 --until 0.1
    try 1e-13 1e-10 net --set N=12 --motion rigid --until 0.3
    try 1e-13 1e-11 net --set N=12 --motion rigid --method rattle --step 0.01 --until 0.1
    try 1e-13 1e-11 truss --motion rigid --step 0.001 --until 0.05
else
    skip "nets: this build has no parallel MUMPS"
fi
# the matrix in segments, and by columns of threads' size
try 1e-10 1e-10 chain --set N=3000 --motion rigid --step 0.01 --until 0.1

# a state off the rigid bonds: the same foot point
try 1e-13 1e-12 chain --set N=30 --motion rigid --step 0.01 --until 0.1 --init "bob[7]=(7, 0.001)"
try 1e-13 1e-12 chain --set N=30 --motion rigid --method rattle --step 0.01 --until 0.1 --init "bob[20]'=(1, 2)"
# initial values that refer to others, also of other ranks, in both directions
sed -e 's/^b\[i\] = .*/b[1] = (0, 0, 0)\nb[i] = b[i-1] + (cos(0.3*sin(i)), sin(0.3*sin(i)), 0) for i in 2..N/' \
    -e "s/^b\[i\]' = .*/b[i]' = 0.1*b[N+1-i] for i in 1..N/" polymer.taut >linked.taut
try 1e-13 1e-11 linked.taut --motion rigid --step 0.005 --until 0.05
try 1e-13 1e-10 linked.taut --motion rigid --step 0.005 --until 0.05 --init "b[5] = b[6] + (0.001, 1, 0)" --init "b[6] = b[4] + (0.9, 0.2, 0)"
# rigid and stiff bonds in turn
cat >mixed.taut <<'MODEL'
[parameters]
N = 31
[particles]
dimension = 2
b[i] for i in 1..N   mass 1
[potential]
sum(b[i].y for i in 1..N)
[bonds]
rod[i] = length(b[2*i] - b[2*i-1]) - 1 for i in 1..(N-1)/2   rigid
spring[i] = length(b[2*i+1] - b[2*i]) - 1 for i in 1..(N-1)/2   stiffness 1000  soft
[start]
b[i] = (i, 0) for i in 1..N
b[i]' = (0, sin(i)) for i in 1..N
MODEL
try 1e-13 1e-10 mixed.taut --motion rigid --step 0.002 --until 0.2
try 1e-13 1e-10 mixed.taut --motion rigid --method rattle --step 0.001 --until 0.1
# angles between the links of a polymer
cat >angles.taut <<'MODEL'
[parameters]
N = 30
[particles]
dimension = 3
b[i] for i in 1..N   mass 1
[potential]
sum(5*(((b[i-1].x - b[i].x)*(b[i+1].x - b[i].x) + (b[i-1].y - b[i].y)*(b[i+1].y - b[i].y) + (b[i-1].z - b[i].z)*(b[i+1].z - b[i].z)) + 0.5)^2 for i in 2..N-1)
[bonds]
link[i] = length(b[i+1] - b[i]) - 1 for i in 1..N-1   rigid
bend[i] = length(b[i+2] - b[i]) - 2*sin(0.95) for i in 1..N-2   rigid
[start]
b[i] = (i*sin(0.95), cos(0.95)*mod(i, 2), 0) for i in 1..N
b[i]' = (0, 0, cos(i)) for i in 1..N
MODEL
try 1e-13 1e-10 angles.taut --motion rigid --step 0.005 --until 0.1

# ---- slow points and foot points: the point, the multipliers, passes and what is said of them
# rigid, stiff and soft bonds, a bond that moves, velocities; the same with dampers; a net
cat >stiff.taut <<'MODEL'
[parameters]
N = 31
k = 1e6
[particles]
dimension = 2
b[i] for i in 1..N   mass 1 + 0.1*sin(i)
[potential]
sum(b[i].y for i in 1..N)
[forces]
b[i] = -0.1*b[i]' for i in 1..N
[bonds]
hook = length(b[1] - (0.001*sin(t), 0)) - 1   stiffness k
rod[i] = length(b[2*i] - b[2*i-1]) - 1 for i in 1..(N-1)/2   rigid
spring[i] = length(b[2*i+1] - b[2*i]) - 1 for i in 1..(N-1)/2   stiffness k
pull[i] = length(b[i+2] - b[i]) - 1.9 for i in 1..N-2   stiffness 20   soft
[start]
b[i] = (i, 0) for i in 1..N
b[i]' = (0, 0.1*sin(i)) for i in 1..N
MODEL
sed 's/stiffness k$/stiffness k   damping 50/' stiff.taut >damped.taut
cat >stiff_net.taut <<'MODEL'
[parameters]
N = 14
k = 1e6
[particles]
dimension = 3
p[i,j] for i in 1..N, j in 1..2*N   mass 1
[potential]
sum(p[i,j].z for i in 1..N, j in 1..2*N)
[bonds]
along[i,j] = length(p[i+1,j] - p[i,j]) - 1 for i in 1..N-1, j in 1..2*N   stiffness k
across[i,j] = length(p[i,j+1] - p[i,j]) - 1 for i in 1..N, j in 1..2*N-1   stiffness k
hook = length(p[1,1] - (0, 0, 0)) - 1   rigid
[start]
p[i,j] = (i, j - 1, 0) for i in 1..N, j in 1..2*N
p[i,j]' = (0, 0, 0.1*sin(i+j)) for i in 1..N, j in 1..2*N
MODEL
words() { tr -c '0-9a-zA-Z.+_-' '\n' <"$1" | grep .; }
point() { # point TOLERANCE ARGUMENTS: everything that --json has, and the file
    tolerance=$1
    shift
    run 0 project "$@" --json --out serial
    words out >words1
    for p in 2 3; do
        ranks 0 $p project "$@" --json --out point
        words out >words
        apart words1 words "$tolerance" "$p ranks, project $*"
        apart serial point "$tolerance" "$p ranks, the file of project $*"
    done
}
for method in constraint series; do
    point 1e-12 chain --set N=50 --method $method --init "bob[7]=(7, 0.001)" --init "bob[30]'=(0.1, 0.3)"
    [ $mumps = no ] || point 1e-12 truss --method $method
done
point 1e-12 stiff.taut --method series --from 0.3
point 1e-12 damped.taut --method series
[ $mumps = no ] || point 1e-12 stiff_net.taut --method series
point 1e-9 angles.taut --method constraint
point 1e-11 chain --set N=3000 --set omega=1e6 --method series
run 0 project chain --set N=50
ranks 0 2 project chain --set N=50
has out "projection series: the foot point (pass 1), then 4 levels"

# ---- slow motion by explicit methods, from the slow point, with the level of one process
slow() { # slow DRIFT TOLERANCE ARGUMENTS
    try "$@" --motion slow
    level=$(grep -o 'slow field  *level [0-9]' out)
    shift 2
    run 0 run "$@" --motion slow --out none --verify never
    has out "${level:-no level}"
}
slow - 1e-12 chain --set N=50 --method dop8 --until 1
slow 1e-13 1e-12 stiff.taut --until 0.5 --rtol 1e-8
slow 1e-13 1e-12 damped.taut --until 0.3 --method rk4 --step 0.01
slow - 1e-11 chain --set N=3000 --set omega=1e7 --method dop8 --until 0.1
[ $mumps = no ] || slow 1e-13 1e-12 stiff_net.taut --until 0.2
run 0 run stiff.taut --motion slow --until 0.5 --every 0.07 --verify never --out rows1.csv
ranks 0 2 run stiff.taut --motion slow --until 0.5 --every 0.07 --verify never --out rows.csv
apart rows1.csv rows.csv 1e-9 "2 ranks, rows of slow motion"

# ---- check: what does not depend on the number of processes is that of one; the rest is said to be unknown
same() { # same MODEL: lines of the text that agree
    run 0 check $1
    grep -E '^  (kind|size|mass|rank of G|soft springs|initial state|oscillatory|verdict|  *(all bonds|bonds that))|   ok$' out | sed 's/[0-9.]*e-[0-9]*//g; s/  */ /g' >lines1
    for p in 2 3; do
        ranks 0 $p check $1
        grep -E '^  (kind|size|mass|rank of G|soft springs|initial state|oscillatory|verdict|  *(all bonds|bonds that))|   ok$' out | sed 's/[0-9.]*e-[0-9]*//g; s/  */ /g' >lines
        cmp -s lines1 lines
        row $? "$p ranks, check $1: $(diff lines1 lines | head -n 4 | tr '\n' ' ')"
        has out "not computed over several processes"
    done
}
same "chain --set N=50"
has out "50 stiff modes, below 2000 rad per time, a bound"
same stiff.taut
[ $mumps = no ] || same stiff_net.taut
# the numbers: derivatives that all ranks have in common, energies; null where nothing is known
run 0 check stiff.taut --json
grep -A1 -E '"(oscillatory_energy|energy_scale)"' out >numbers1
ranks 0 2 check stiff.taut --json
grep -A1 -E '"(oscillatory_energy|energy_scale)"' out >numbers
apart numbers1 numbers 1e-9 "2 ranks, energies of check"
tr -d ' \n' <out | grep -q '"least":null,"most":null,"bound":2[0-9.]*,"slow_rate":null,"slow_rate_initial":null,"decay_rate":0,"time_rate":null,"separation":null'
row $? "check --json over ranks: $(grep -A 12 '"frequencies"' out | tr -d '\n')"
# bonds that depend on each other: rigid ones, and springs
sed 's/^\[start\]/twin = length(b[4] - b[3]) - 1   rigid\n[start]/' mixed.taut >twin.taut
ranks 1 2 check twin.taut
has out "below 16: rigid bonds depend on each other"
has out "numerically unusable"
sed 's/^\[start\]/twin = length(b[5] - b[4]) - 1   stiffness 1e5\n[start]/' stiff.taut >twin.taut
ranks 0 2 check twin.taut
has out "below 32: springs depend on each other"

# ---- events: found at the same times, with the same states; coordinates of several ranks; families; what a wall at rest meets
cat >swing.taut <<'MODEL'
[parameters]
N = 12
[particles]
dimension = 2
b[i] for i in 1..N   mass 1
[potential]
sum(9.81*b[i].y for i in 1..N)
[bonds]
link[i] = length(b[i] - b[i-1]) - 1 for i in 2..N   rigid
hook = length(b[1]) - 1   rigid
[events]
kick = b[N].y + 3.5   falling   then b[1]' = (0.5*b[N].x', 0), b[N]' = -0.9*b[N]'
wall = b[N].x - b[1].x - 5   falling   stop
[start]
b[i] = (i, 0) for i in 1..N
MODEL
sed 's/   rigid$/   stiffness 1e8/' swing.taut >slow_swing.taut
cat >bounce.taut <<'MODEL'
[parameters]
N = 12
[particles]
dimension = 2
b[i] for i in 1..N   mass 1
[potential]
sum(9.81*b[i].y for i in 1..N)
[bonds]
link[i] = length(b[i+1] - b[i]) - 1 for i in 1..N-1   stiffness 20   soft
[events]
floor[i] = b[i].y for i in 1..N   falling   then b[i].y' = -0.8*b[i].y'
late = t - 0.7   rising   then b[2].x' = b[N].x', b[N].x' = b[2].x'
[start]
b[i] = (i, 1 + 0.1*sin(i)) for i in 1..N
b[i]' = (0, cos(i)) for i in 1..N
MODEL
events() { # events TOLERANCE ARGUMENTS: states, rows and their times, and what is reported of the events
    tolerance=$1
    shift
    run 0 run "$@" --verify never --every 0.1 --out rows1.csv --end serial
    grep -E 'events|ended' out >events1
    for p in 2 3; do
        ranks 0 $p run "$@" --verify never --every 0.1 --out rows.csv --end end
        apart serial end "$tolerance" "$p ranks, events, $*"
        apart rows1.csv rows.csv 1e-7 "$p ranks, rows with events, $*"
        grep -E 'events|ended' out | cmp -s - events1
        row $? "$p ranks, events: $(grep -E 'events|ended' out), $*"
    done
}
events 1e-9 swing.taut --motion rigid --rtol 1e-8 --until 1.3
events 1e-9 swing.taut --motion rigid --method rattle --step 0.01 --until 1.3
events 1e-9 slow_swing.taut --motion slow --rtol 1e-5 --until 0.9
events 1e-10 bounce.taut --motion full --method verlet --step 0.01 --until 1
events 1e-10 bounce.taut --motion full --method dop8 --step 0.05 --until 1

# ---- rows: the same columns in the same order, at the same times
for how in "--every 0.05" "--every step"; do
    # shellcheck disable=SC2086
    run 0 run chain --set N=30 --motion rigid --step 0.03 --until 0.3 --verify never $how --out rows1.csv
    for p in 2 3; do
        # shellcheck disable=SC2086
        ranks 0 $p run chain --set N=30 --motion rigid --step 0.03 --until 0.3 --verify never $how --out rows.csv
        apart rows1.csv rows.csv 1e-10 "$p ranks, rows $how"
        head -n 1 rows.csv | cmp -s - "$(head -n 1 rows1.csv >head1; echo head1)"
        row $? "$p ranks: names of columns"
    done
done

if [ "$(sed -n 's/^TAUT_HDF5_LIBRARY:[A-Z]*=//p' "$TAUT_BUILD/CMakeCache.txt")" != "" ]; then
    run 0 run chain --set N=30 --motion rigid --step 0.03 --until 0.3 --verify never --end state1 --out none
    ranks 0 3 run chain --set N=30 --motion rigid --step 0.03 --until 0.3 --verify never --out rows.h5
    # what the file has at the end, as an initial state
    run 0 run chain --set N=30 --motion rigid --start rows.h5@0.3 --step 0.03 --until 0.33 --verify never --end more --out none
    run 0 run chain --set N=30 --motion rigid --start state1 --from 0.3 --step 0.03 --until 0.33 --verify never --end more1 --out none
    apart more1 more 1e-10 "rows in HDF5"
    # the file of one process, but for times of day and the summary: rigid bonds that no two ranks share have the same bits
    cat >pairs.taut <<'MODEL'
[parameters]
N = 40000
[particles]
dimension = 3
p[i] for i in 1..N   mass 1
[potential]
sum(0.1*p[i].y^2 for i in 1..N)
[bonds]
rod[i] = length(p[2*i] - p[2*i-1]) - 1 for i in 1..N/2   rigid
[start]
p[i] = (i, 0, 0) for i in 1..N
p[i]' = (0, 0, mod(i, 5)) for i in 1..N
MODEL
    for model in pairs.taut "pairs.taut --set N=400"; do
        # shellcheck disable=SC2086
        run 0 run $model --threads 1 --motion rigid --step 0.01 --until 0.03 --every 0.01 --verify never --out rows.h5
        mv rows.h5 rows1.h5
        for p in 2 3; do
            # shellcheck disable=SC2086
            ranks 0 $p run $model --threads 1 --motion rigid --step 0.01 --until 0.03 --every 0.01 --verify never --out rows.h5
            others=$(cmp -l rows1.h5 rows.h5 2>/dev/null | wc -l)
            [ "$(wc -c <rows1.h5)" = "$(wc -c <rows.h5)" ] && [ "$others" -lt 3000 ]
            row $? "$p ranks, $model: a file of $(wc -c <rows.h5) bytes, one process $(wc -c <rows1.h5); $others differ"
        done
    done
    # a full disk in the middle of a row: the first process ends all
    mpiexec -n 2 sh -c 'trap "" XFSZ; ulimit -f 16000; exec "$@"' sh "$taut" run pairs.taut --motion rigid --step 0.01 --until 0.05 \
        --every 0.01 --verify never --out full.h5 --quiet >out 2>err </dev/null
    status=$?
    [ $status != 0 ] && grep -q 'cannot write full.h5' err
    row $? "a full disk: exit status $status: $(head -c 300 err)"
    # resumed with rows in HDF5, also wide ones
    for model in "pairs.taut --set N=8000" "chain --set N=50"; do
        # shellcheck disable=SC2086
        ranks 0 2 run $model --motion rigid --step 0.01 --until 0.15 --every 0.05 --verify never --out rows.h5 --end whole
        cp rows.h5 whole.h5
        rm -f ck
        # shellcheck disable=SC2086
        mpiexec -n 2 "$taut" run $model --motion rigid --step 0.01 --until 0.15 --every 0.05 --verify never --out rows.h5 --end end --quiet \
            --checkpoint ck --checkpoint-every 0 >/dev/null 2>&1 &
        pid=$!
        while kill -0 $pid 2>/dev/null && [ ! -s ck ]; do sleep 0.02; done
        kill -TERM $pid 2>/dev/null
        wait $pid
        rm -f end
        ranks 0 2 run --resume ck --quiet
        others=$(cmp -l whole.h5 rows.h5 2>/dev/null | wc -l)
        cmp -s end whole && [ "$(wc -c <whole.h5)" = "$(wc -c <rows.h5)" ] && [ "$others" -lt 5000 ]
        row $? "resumed with rows in HDF5: $(wc -c <rows.h5) bytes, $others differ, $model"
    done
    run 0 run chain --set N=50 --motion rigid --start whole.h5@0.1 --step 0.01 --until 0.3 --verify never --end more1 --out none
    run 0 run chain --set N=50 --motion rigid --start rows.h5@0.1 --step 0.01 --until 0.3 --verify never --end more --out none
    cmp -s more1 more
    row $? "resumed with rows in HDF5: another row"
fi

# ---- Radau methods: fixed and adaptive step sizes, forces of velocities (no symmetry), soft and rigid bonds, rows with multipliers, events
if [ $mumps = yes ]; then
    processes_tried="2 3"
    try 1e-7 1e-12 chain --set N=50 --motion rigid --method radau5 --newton tensor --step 0.01 --until 0.2
    try 1e-13 1e-11 chain --set N=50 --motion rigid --method radau5 --newton tensor --until 0.5 --rtol 1e-8
    try 1e-13 1e-11 chain --set N=50 --motion rigid --method radau3 --newton tensor --until 0.2
    try 1e-10 1e-12 chain --set N=50 --motion rigid --method radau7 --newton tensor --step 0.01 --until 0.1
    try 1e-3 1e-12 chain --set N=50 --motion rigid --method radau1 --newton tensor --step 0.01 --until 0.05
    try - 1e-11 chain --set N=50 --motion full --method radau5 --newton tensor --step 1e-3 --until 0.02
    processes_tried="2"
    try 1e-13 1e-9 chain --set N=50 --motion rigid --method radau5 --until 0.5 --rtol 1e-8
    try 1e-13 1e-10 strip.taut --motion rigid --method radau5 --newton tensor --until 0.3
    try 1e-5 1e-11 strip.taut --motion rigid --method radau5 --newton tensor --until 0.1 --step 0.01
    try 1e-13 1e-10 polymer.taut --motion rigid --method radau5 --newton tensor --until 0.2
    try 1e-13 1e-10 mixed.taut --motion rigid --method radau5 --newton tensor --until 0.2
    try 1e-13 1e-10 angles.taut --motion rigid --method radau5 --newton tensor --until 0.1
    try 1e-13 1e-10 net --set N=8 --motion rigid --method radau5 --newton tensor --until 0.2
    events 1e-9 swing.taut --motion rigid --method radau5 --newton tensor --rtol 1e-5 --until 0.9
    run 0 run polymer.taut --motion rigid --method radau5 --newton tensor --until 0.2 --every 0.03 --verify never --out rows1.csv
    ranks 0 3 run polymer.taut --motion rigid --method radau5 --newton tensor --until 0.2 --every 0.03 --verify never --out rows.csv
    apart rows1.csv rows.csv 1e-8 "3 ranks, rows of radau5"
    # states off the bonds, and steps that Newton's iteration cannot make: all ranks make smaller ones, or end
    try 1e-13 1e-10 chain --set N=30 --motion rigid --method radau5 --newton tensor --until 0.1 --init "bob[7]=(7, 0.001)"
    ranks 1 2 run chain --set N=30 --motion rigid --method radau5 --step 3 --until 9 --out none
fi

# ---- the same bits on the same number of ranks
ranks 0 3 run strip.taut --motion rigid --until 0.2 --out none --end first
ranks 0 3 run strip.taut --motion rigid --until 0.2 --out none --end second
cmp -s first second
row $? "two runs on three ranks differ"

# ---- checkpoints: a run that was terminated goes on, with the same bits on the same number of ranks, within rounding on others
saved() { # saved P TOLERANCE OTHERS EVERY ARGUMENTS
    p=$1 tolerance=$2 others=$3 every=$4
    shift 4
    rm -f ck rows.csv
    ranks 0 "$p" run "$@" --verify never --every "$every" --out rows.csv --end whole
    mv rows.csv whole.csv
    mpiexec -n "$p" "$taut" run "$@" --verify never --every "$every" --out rows.csv --end end --quiet --checkpoint ck --checkpoint-every 0 >/dev/null 2>&1 &
    pid=$!
    # rows are in the file when the run is saved; a fast machine may finish it
    while kill -0 $pid 2>/dev/null && [ "$(cat rows.csv 2>/dev/null | wc -l)" -lt 4 ]; do sleep 0.02; done
    kill -TERM $pid 2>/dev/null
    wait $pid
    cp ck ck.first
    cp rows.csv rows.first
    rm -f end
    ranks 0 "$p" run --resume ck --quiet
    cmp -s end whole && cmp -s rows.csv whole.csv
    row $? "resumed on $p ranks: other bits, $*"
    for other in $others; do
        cp ck.first ck
        cp rows.first rows.csv
        rm -f end
        ranks 0 "$other" run --resume ck --quiet
        apart whole end "$tolerance" "saved by $p and resumed by $other, $*"
        apart whole.csv rows.csv 1e-8 "rows, saved by $p and resumed by $other, $*"
    done
}
saved 2 1e-10 3 0.05 chain --set N=50 --motion rigid --until 1
saved 2 1e-11 "1 3" 0.1 chain --set N=50 --motion rigid --method rattle --step 0.01 --until 1
saved 1 1e-11 2 1e-3 chain --set N=50 --motion full --method verlet --step 1e-4 --until 0.01
saved 3 1e-10 2 0.02 polymer.taut --motion rigid --method rattle --step 0.002 --until 0.2
saved 2 1e-10 3 0.02 stiff.taut --motion slow --method rk4 --step 0.001 --until 0.5
cp ck.first ck
run 2 run --resume ck --quiet
has err "slow motion that several processes saved is resumed by several"
saved 2 1e-10 3 0.1 bounce.taut --motion full --method verlet --step 0.01 --until 1
ranks 0 2 run chain --set N=50 --motion rigid --step 0.01 --until 0.1 --out none --checkpoint ck --quiet
head -c 5000 ck >cut
ranks 2 2 run --resume cut
has err "damaged or cut off"
# another byte, in the middle and in the digest of the run (the line of the file's own digest has 24 bytes): only the first process looks
# at all bytes
for at in $(($(wc -c <ck) / 2)) $(($(wc -c <ck) - 30)); do
    cp ck damaged
    printf '\377' | dd of=damaged bs=1 seek=$at conv=notrunc 2>/dev/null
    cmp -s ck damaged && printf '\376' | dd of=damaged bs=1 seek=$at conv=notrunc 2>/dev/null
    ranks 2 3 run --resume damaged
    has err "damaged or cut off"
done

# ---- sweeps: whole runs, the same table; of one that was cut off the other rows
sweep="double_pendulum --vary omega=50:500:log7 --keep max(energy) --keep end(x2) --until 0.2"
# shellcheck disable=SC2086
run 0 sweep $sweep --out table1.csv --quiet
for p in 2 3; do
    # shellcheck disable=SC2086
    mpiexec -n $p "$taut" sweep $sweep --out table.csv --quiet >out 2>err </dev/null
    row $? "taut sweep on $p processes: $(head -c 300 err)"
    cmp -s table1.csv table.csv
    row $? "taut sweep on $p processes: another table"
done
mpiexec -n 2 "$taut" sweep double_pendulum --vary nothing=1,2 --keep 'max(energy)' --quiet >out 2>err </dev/null
[ $? = 2 ] && has err "is no parameter"
# a sweep that is terminated, and resumed on another number
mpiexec -n 2 "$taut" sweep double_pendulum --vary omega=50:500:log300 --keep 'max(energy)' --until 0.5 --out cut.csv --quiet >/dev/null 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && [ ! -s cut.csv ]; do sleep 0.02; done
kill -TERM $pid 2>/dev/null
wait $pid
if [ -e cut.csv.checkpoint ]; then
    mpiexec -n 3 "$taut" sweep --resume cut.csv.checkpoint --quiet >out 2>err </dev/null
    row $? "a resumed sweep: $(head -c 300 err)"
fi
[ "$(wc -l <cut.csv)" = 301 ] && [ "$(tail -n 1 cut.csv | cut -d, -f1)" = 300 ]
row $? "a resumed sweep has $(wc -l <cut.csv) lines"

# ---- refusals, each with a sentence; models that are wrong; a rank that fails alone
refused() { # refused STATUS TEXT ARGUMENTS
    status=$1 text=$2
    shift 2
    ranks "$status" 2 "$@"
    has err "$text"
}
refused 2 "the motion is not chosen over several ranks" run chain --set N=50 --until 0.1
refused 2 "motion effective is not supported" run chain --set N=50 --motion effective --until 0.1
refused 2 "grow from 1.43e+04 to 7.97e+08 tolerances of a step; use method radau5 without mpiexec" run chain --set N=50 --set omega=20 --motion slow --method dop8 --until 1
refused 2 "(not dop8: the explicit slow field does not apply: slow and fast are not separated" run chain --set N=50 --set omega=20 --motion slow --until 1
refused 2 "method gauss4 is not supported" run chain --set N=50 --motion rigid --method gauss4 --until 0.1
refused 2 "cannot be saved" run chain --set N=50 --motion rigid --method radau5 --until 0.1 --out rows.csv --checkpoint file.ck
refused 2 "it is tensor" run chain --set N=50 --motion rigid --method radau5 --newton stage --until 0.1
refused 2 "computed by explicit Runge-Kutta methods, not by radau5" run chain --set N=50 --motion slow --method radau5 --until 0.1
refused 2 "initial values refer to themselves" run linked.taut --motion rigid --until 1 --init "b[5] = b[35]" --init "b[35] = b[5]"
sed 's/^wall = .*/wall = lambda(hook) rising stop/' swing.taut >pull.taut
refused 2 "lambda(hook) is not supported" run pull.taut --motion rigid --until 1
sed 's/^late = .*/late[i] = t - i for i in 1..100000   rising   stop/' bounce.taut >many.taut
refused 2 "can have 100000 events" run many.taut --motion full --step 0.001 --until 1
refused 2 "a sum over pairs is not supported" run lj_fluid --motion full --step 0.001
if [ $mumps = no ]; then
    refused 2 "not a narrow band" run net --set N=40 --motion rigid --step 0.001 --until 0.01
    refused 2 "too few of them" run chain --set N=2 --motion rigid --step 0.001 --until 0.01
fi
refused 2 "too small for 2 ranks" run chain --set N=1 --motion rigid --step 0.001 --until 0.01
refused 2 "over several ranks it is" run chain --motion rigid --until 0.1 --stabilize backward
refused 2 "needs a fixed step size" run chain --motion full --method dop8 --until 0.1
refused 1 "must be below" run chain --motion full --method verlet --step 0.01 --until 0.1
refused 2 "'taut spectrum' does not use several processes" spectrum chain
refused 2 "projection kernel is not supported over several ranks, which have constraint and series" project chain --method kernel
for option in "--expansion" "--hold bob[3]" "--plot x.png" "--richardson 2"; do
    # shellcheck disable=SC2086
    refused 2 "this option is not supported over several ranks" project chain $option
done
sed "s/^b\[i\]' = .*/b[3] = (3, 0) hold/" stiff.taut >held.taut
refused 2 "are not supported in projections over several ranks" project held.taut
sed "s/^b\[i\] = -0.1.*/b[i] = -abs(b[i]') for i in 1..N/" stiff.taut >kink.taut
refused 2 "abs, min, floor and other kinks are not supported over several ranks" project kink.taut
refused 2 "projection series needs springs, and the system has none" project angles.taut --method series
refused 1 "slow and fast are not separated at this state" project chain --set N=30 --set omega=2 --method series
refused 1 "no foot point was found over 2 ranks" project chain --set N=30 --init "bob[7]=(7, 0.5)"
cat >half.taut <<'MODEL'
[parameters]
N = 400
[particles]
dimension = 2
bob[i] for i in 1..N    mass 1
[potential]
sum(bob[i].y for i in 1..N)
[bonds]
link[1] = length(bob[1]) - 1                               rigid
link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N/4    rigid
rope[i] = length(bob[i] - bob[i-1]) - 1 for i in N/4+1..N  stiffness 100  soft
[start]
bob[i] = (i, 0) for i in 1..N
MODEL
refused 2 "some would have rigid bonds and others none" run half.taut --motion rigid --method dop8 --until 0.1
refused 2 "some would have stiff or rigid bonds and others none" run half.taut --motion slow --method dop8 --until 0.1
refused 2 "some would have rigid bonds and others none" run half.taut --motion rigid --method rattle --step 0.01 --until 0.1
refused 2 "unknown" run chain --set nothing=1 --motion rigid
refused 1 "no foot point was found over 2 ranks" run chain --set N=30 --motion rigid --until 0.1 --init "bob[7]=(7, 0.5)"
sed 's/^p\[i,j\] = (i, j - 1, 0) for.*/p[i,j] = (i, j - 1, 0.001*i) for i in 1..N, j in 1..rows   hold/' strip.taut >hold.taut
refused 2 "without \`hold\`" run hold.taut --motion rigid --until 0.1
refused 2 "cannot be saved" run chain --set N=30 --motion rigid --until 0.1 --out rows.csv --checkpoint file.ck --stabilize-refresh 2
# a mass that only the last rank reads
sed 's|^\[forces\]|[mass]\np[24,3] = -1\n[forces]|; s|   mass 1 + i/100||' strip.taut >wrong.taut
refused 2 "must be positive" run wrong.taut --motion rigid --until 0.1
has err "rank 1:"

# a force that only the last rank cannot evaluate: the others have its reason
sed 's|^\[bonds\]|sum(0.001*sqrt(p[N,3].z + 0.5) for k in 1..1)\n[bonds]|; s|sin(i)|-1|' strip.taut >domain.taut
refused 1 "outside the domain" run domain.taut --motion rigid --step 0.01 --until 2 --out none
sed 's/^\[forces\]/sum(sqrt(b[N].y - 1) for k in 1..1)\n[forces]/' stiff.taut >domain.taut
refused 1 "the force on b[31].y is not a number" check domain.taut
refused 1 "Taylor coefficient of the force on b[31].y is not a number" project domain.taut
refused 2 "is too large for one rank" project chain --set N=3e6
refused 1 "the rigid bonds cannot be reached" run chain --set N=30 --motion rigid --method rattle --step 3 --until 9 --out none

# ---- memory of a rank: that of its part
if command -v /usr/bin/time >/dev/null 2>&1 && /usr/bin/time -f %M true 2>/dev/null; then
    memory() { # memory P ARGUMENTS: kilobytes of the largest process
        p=$1
        shift
        mpiexec -n "$p" /usr/bin/time -f "KB %M" "$taut" run "$@" 2>&1 >/dev/null |
            awk '$1 == "KB" && $2 > most { most = $2 } END { print most + 0 }'
    }
    large="chain --set N=400000 --motion rigid --method rattle --step 0.001 --until 0.003"
    # shellcheck disable=SC2086
    one=$(memory 1 $large --out none) three=$(memory 3 $large --out none --checkpoint large.ck)
    [ "$one" -gt 0 ] && [ "$three" -gt 0 ] && [ $((three * 5)) -lt $((one * 3)) ]
    row $? "one process $one kB, each of three $three kB"
    # the file is read in pieces
    again=$(memory 3 --resume large.ck)
    [ "$again" -gt 0 ] && [ $((again * 20)) -lt $((three * 21)) ]
    row $? "each of three $three kB, resumed $again kB"
else
    skip "memory: no /usr/bin/time"
fi
done_rows
