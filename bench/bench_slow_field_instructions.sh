#!/bin/sh
# bench_slow_field_instructions.sh - instructions of a run of the double pendulum (omega = 1e4, t = 10, interpreted) on the slow field, per
# evaluation and with its projections, over those of the rigid run; and those of its steps alone.
. "$(dirname "$0")/count.sh"

steps() { # steps MOTION OPTIONS: instructions of taut_solver_advance; evaluations are in $work/printed
    inside "--collect-atstart=no --toggle-collect=taut_solver_advance" bench_slow_field pendulum "$1" "$2"
}

for rtol in 1e-4 1e-6 1e-8; do
    rigid=$(steps rigid rtol=$rtol) || { echo "slow field, instructions | failed | callgrind"; exit 1; }
    each=$(awk -v n="$rigid" '{ print n / $1 }' "$work/printed")
    for level in 0 1 2; do
        slow=$(steps slow "rtol=$rtol level=$level") || exit 1
        awk -v n="$slow" -v each="$each" -v level=$level -v rtol=$rtol '{
            printf "slow field, rtol %s, level %d: %.3g M instructions, %d evaluations\n", rtol, level, n / 1e6, $1
            limit = level == 1 ? 8 : level == 0 ? 2 : 20
            printf "slow field, rtol %s, level %d: an evaluation over one of the rigid run | %d | %.3g | %s\n", rtol, level, limit, n / $1 / each, n / $1 / each <= limit ? "met" : "missed"
        }' "$work/printed"
    done
done
