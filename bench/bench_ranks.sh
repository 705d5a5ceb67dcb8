#!/bin/sh
# bench_ranks.sh - a chain of a million links on one and on two processes: milliseconds an evaluation and bytes a link, in a build with MPI
# (make mpi; make bench BUILD=build-mpi). The prototype took 46 and 26.5 ms for rigid motion; the limits are 1.3 times that.
set -u
grep -q '^TAUT_MPI:BOOL=ON' "$(dirname "$TAUT")/CMakeCache.txt" 2>/dev/null || { echo "runs over several processes: a build without MPI"; exit 0; }
command -v mpiexec >/dev/null 2>&1 || { echo "runs over several processes: no mpiexec"; exit 0; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
links=1000000

row() { # row NAME LIMIT VALUE
    awk -v name="$1" -v limit="$2" -v value="$3" 'BEGIN {
        verdict = limit == "-" ? "-" : value <= limit ? "met" : "missed"
        printf "%s | %s | %.1f | %s\n", name, limit, value, verdict }'
}

measure() { # measure P ARGUMENTS: the shortest of three runs, ms an evaluation, and bytes a link of the largest process
    processes=$1
    shift
    for k in 1 2 3; do
        mpiexec -n "$processes" /usr/bin/time -f 'KB %M' "$TAUT" run chain --set N=$links --out none --threads 1 --verify never "$@" 2>&1
    done | awk -v n=$links -v p="$processes" '
        /force evaluations/ { e = $3 }
        /wall time/ { ms = 1000 * $3 / e; if (!best || ms < best) best = ms }
        $1 == "KB" && $2 > most { most = $2 }
        END { print best, 1024 * most * p / n }'
}

for p in 1 2; do
    limit=$([ $p = 1 ] && echo 60 || echo 34.5)
    # shellcheck disable=SC2046
    set -- $(measure $p --motion rigid --method dop8 --step 0.001 --until 0.01)
    row "dop8, $p ranks: ms an evaluation" "$limit" "$1"
    row "dop8, $p ranks: bytes a link" - "$2"
    # shellcheck disable=SC2046
    set -- $(measure $p --motion rigid --method rattle --step 0.001 --until 0.02)
    row "RATTLE, $p ranks: ms a step" - "$1"
    row "RATTLE, $p ranks: bytes a link" - "$2"
    # shellcheck disable=SC2046
    set -- $(measure $p --motion full --method verlet --set omega=1e6 --step 1e-8 --until 4e-7)
    row "Verlet, $p ranks: ms a step" - "$1"
    row "Verlet, $p ranks: bytes a link" - "$2"
done
