#!/bin/sh
# bench_slow_field_instructions.sh - instructions of runs of the double pendulum (lift = 0, t = 10, stepping only) on the slow field: compiled, at the
# loosest of some tolerances whose error is below 1e-4, 1e-6, 1e-8, in millions; and interpreted, per evaluation and with projections, over the rigid run.
. "$(dirname "$0")/count.sh"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
mkdir "$XDG_CACHE_HOME"

steps() { # steps HOW MOTION OMEGA OPTIONS: instructions of taut_solver_advance; evaluations, error and level are in $work/printed
    inside "--collect-atstart=no --toggle-collect=taut_solver_advance" bench_slow_field "$@"
}

first_below() { # first_below ERROR OMEGA: the tolerance
    for tolerance in 1e-3 5e-4 2e-4 1e-4 5e-5 2e-5 1e-5 5e-6 2e-6 1e-6 5e-7 2e-7 1e-7 5e-8 2e-8 1e-8 5e-9 2e-9 1e-9 5e-10; do
        "$bench/bench_slow_field" compiled slow "$2" "rtol=$tolerance" >"$work/found" || continue
        tail -n 1 "$work/found" | awk -v most="$1" '{ exit !($2 <= most) }' && { echo "$tolerance"; return 0; }
    done
    return 1
}

for row in "1e-4 0.5" "1e-6 1.3" "1e-8 2.6"; do
    set -- $row
    for omega in 1e3 1e4 1e5 1e6 1e7 1e8; do
        tolerance=$(first_below "$1" $omega) && many=$(steps compiled slow $omega "rtol=$tolerance") ||
            { echo "slow field, omega $omega, error $1, instructions | failed | callgrind"; continue; }
        tail -n 1 "$work/printed" | awk -v many="$many" -v goal="$1" -v limit="$2" -v tolerance="$tolerance" -v omega=$omega '{
            printf "slow field, omega %s, rtol %s: level %d, %d evaluations, error %s, %d instructions per evaluation\n", omega, tolerance, $3, $1, $2, many / $1
            printf "slow field, omega %s, dop8 compiled, error %s, million instructions | %s | %.3g | %s\n", omega, goal, limit, many / 1e6, many / 1e6 <= limit ? "met" : "missed" }'
    done
done

for how in run compiled; do
    for rtol in 1e-4 1e-6 1e-8; do
        rigid=$(steps $how rigid 1e4 rtol=$rtol) || { echo "slow field, instructions | failed | callgrind"; exit 1; }
        each=$(tail -n 1 "$work/printed" | awk -v n="$rigid" '{ print n / $1 }')
        for level in 0 1 2; do
            slow=$(steps $how slow 1e4 "rtol=$rtol level=$level") || exit 1
            tail -n 1 "$work/printed" | awk -v n="$slow" -v each="$each" -v level=$level -v rtol=$rtol -v how=$how '{
                how = how == "run" ? "interpreted" : how
                printf "slow field, %s, rtol %s, level %d: %.3g M instructions, %d evaluations\n", how, rtol, level, n / 1e6, $1
                limit = level == 1 ? 8 : level == 0 ? 2 : 40
                printf "slow field, %s, rtol %s, level %d: an evaluation over one of the rigid run | %d | %.3g | %s\n", how, rtol, level, limit, n / $1 / each, n / $1 / each <= limit ? "met" : "missed"
            }'
        done
    done
done
