#!/bin/sh
# bench_slow_field_instructions.sh - instructions of runs of the double pendulum (lift = 0, t = 10, stepping only) on the slow field: compiled, at the
# loosest of some tolerances whose error is below 1e-4, 1e-6, 1e-8, in millions; and interpreted, per evaluation and with projections, over the rigid run.
. "$(dirname "$0")/count.sh"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
mkdir "$XDG_CACHE_HOME"

steps() { # steps HOW MOTION OMEGA OPTIONS: instructions of taut_solver_advance; evaluations are in $work/printed
    inside "--collect-atstart=no --toggle-collect=taut_solver_advance" bench_slow_field "$@"
}

for row in "1e-4 0.5" "1e-6 1.3" "1e-8 2.6"; do
    for omega in 1e3 1e4 1e5 1e6 1e7 1e8; do
        set -- $row
        goal=$1 limit=$2
        set -- $("$bench/bench_slow_field" below "$goal" $omega | tail -n 1)
        many=$(steps compiled slow $omega "rtol=$1") || { echo "slow field, omega $omega, error $goal, instructions | failed | callgrind"; continue; }
        echo "slow field, omega $omega, rtol $1: level $4, $2 evaluations, error $3"
        awk -v n="$many" -v goal="$goal" -v limit="$limit" -v omega=$omega 'BEGIN {
            printf "slow field, omega %s, dop8 compiled, error %s, million instructions | %s | %.3g | %s\n", omega, goal, limit, n / 1e6, n / 1e6 <= limit ? "met" : "missed" }'
    done
done

for how in run compiled; do
    for rtol in 1e-4 1e-6 1e-8; do
        rigid=$(steps $how rigid 1e4 rtol=$rtol) || { echo "slow field, instructions | failed | callgrind"; exit 1; }
        each=$(awk -v n="$rigid" '{ print n / $1 }' "$work/printed")
        for level in 0 1 2; do
            slow=$(steps $how slow 1e4 "rtol=$rtol level=$level") || exit 1
            awk -v n="$slow" -v each="$each" -v level=$level -v rtol=$rtol -v how=$how '{
                how = how == "run" ? "interpreted" : how
                printf "slow field, %s, rtol %s, level %d: %.3g M instructions, %d evaluations\n", how, rtol, level, n / 1e6, $1
                limit = level == 1 ? 8 : level == 0 ? 2 : 20
                if (level == 2 && how == "compiled") exit # not compiled
                printf "slow field, %s, rtol %s, level %d: an evaluation over one of the rigid run | %d | %.3g | %s\n", how, rtol, level, limit, n / $1 / each, n / $1 / each <= limit ? "met" : "missed"
            }' "$work/printed"
        done
    done
done

rigid=$(steps chain rigid rtol=1e-8) || { echo "slow field, chain, instructions | failed | callgrind"; exit 1; }
each=$(awk -v n="$rigid" '{ print n / $1 }' "$work/printed")
for level in 0 1 2; do
    slow=$(steps chain slow "rtol=1e-8 level=$level") || exit 1
    awk -v n="$slow" -v each="$each" -v level=$level '{
        limit = level == 1 ? 8 : level == 0 ? 2 : 20
        printf "slow field, chain, level %d: %.3g M instructions, %d evaluations\n", level, n / 1e6, $1
        printf "slow field, chain, level %d: an evaluation over one of the rigid run | %d | %.3g | %s\n", level, limit, n / $1 / each, n / $1 / each <= limit ? "met" : "missed"
    }' "$work/printed"
done
