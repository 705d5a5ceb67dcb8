#!/bin/sh
# bench_slow_field_instructions.sh - instructions of a run on the slow field, per evaluation and with its projections, over those of the
# rigid run; and those of its steps alone: the double pendulum (omega = 1e4, t = 10, interpreted) and a chain of 1000 links (omega = 1e5,
# t = 1).
. "$(dirname "$0")/count.sh"

steps() { # steps MODEL MOTION OPTIONS: instructions of taut_solver_advance; evaluations are in $work/printed
    inside "--collect-atstart=no --toggle-collect=taut_solver_advance" bench_slow_field "$1" "$2" "$3"
}

compare() { # compare MODEL RTOL LEVELS: rows
    rigid=$(steps "$1" rigid "rtol=$2") || { echo "slow field, $1, instructions | failed | callgrind"; exit 1; }
    each=$(awk -v n="$rigid" '{ print n / $1 }' "$work/printed")
    for level in $3; do
        slow=$(steps "$1" slow "rtol=$2 level=$level") || exit 1
        awk -v n="$slow" -v each="$each" -v level="$level" -v name="slow field, $1, rtol $2, level $level" '{
            printf "%s: %.3g M instructions, %d evaluations\n", name, n / 1e6, $1
            limit = level == 1 ? 8 : level == 0 ? 2 : 20
            printf "%s: an evaluation over one of the rigid run | %d | %.3g | %s\n", name, limit, n / $1 / each, n / $1 / each <= limit ? "met" : "missed"
        }' "$work/printed"
    done
}

for rtol in 1e-4 1e-6 1e-8; do
    compare pendulum $rtol "0 1 2"
done
compare chain 1e-8 "0 1 2"
