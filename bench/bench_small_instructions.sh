#!/bin/sh
# bench_small_instructions.sh - instructions of a compiled run of the rigid double pendulum, stepping only, at the loosest of some tolerances whose
# error at t = 10 is below 1e-4, 1e-6, 1e-8; in millions.
. "$(dirname "$0")/count.sh"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
mkdir "$XDG_CACHE_HOME"

first_below() { # first_below ERROR: the tolerance; evaluations and error stay in $work/found
    for tolerance in 1e-3 5e-4 2e-4 1e-4 5e-5 2e-5 1e-5 5e-6 2e-6 1e-6 5e-7 2e-7 1e-7 5e-8 2e-8 1e-8 5e-9 2e-9 1e-9 5e-10; do
        "$bench/bench_small" count "$tolerance" | tail -n 1 >"$work/found" || return 1
        awk -v most="$1" '{ exit !($2 <= most) }' "$work/found" && { echo "$tolerance"; return 0; }
    done
    return 1
}

for row in "1e-4 0.2" "1e-6 0.35" "1e-8 0.5"; do
    set -- $row
    tolerance=$(first_below "$1") && many=$(inside "--toggle-collect=taut_solver_advance" bench_small count "$tolerance") ||
        { echo "rigid double pendulum, error $1, instructions | failed | callgrind"; continue; }
    echo "$many $(cat "$work/found")" | awk -v goal="$1" -v limit="$2" -v tolerance="$tolerance" '{
        printf "rigid double pendulum, rtol %s: %d evaluations, error %s, %d instructions per evaluation\n", tolerance, $2, $3, $1 / $2
        printf "rigid double pendulum, dop8 compiled, error %s, million instructions | %s | %.3g | %s\n", goal, limit, $1 / 1e6, $1 / 1e6 <= limit ? "met" : "missed" }'
done

# per evaluation: the comparisons of bench_small, which are measured in seconds there; numbers of its list
each() { # each K WHO FUNCTION
    total=$(inside "--toggle-collect=$3" bench_small once "$1" "$2") && echo "$total $(tail -n 1 "$work/printed")" | awk '{ printf "%d", $1 / $2 }'
}
k=0
for name in "rigid, dop8, Taut stabilised" "rigid, dop8, neither stabilised" "rigid, rk4, neither stabilised" "rigid, rk4, Taut stabilised" "stiff, rk4" "Fermi-Pasta-Ulam, dop8" "rigid, dop8, both stabilised" "rigid, rk4, both stabilised"; do
    hand=$(each $k hand hand_once) && ours=$(each $k compiled taut_solver_advance) && slow=$(each $k interpreted taut_solver_advance) &&
        echo "$name: $hand instructions per evaluation by hand, $ours compiled, $slow interpreted"
    k=$((k + 1))
done
