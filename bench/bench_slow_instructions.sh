#!/bin/sh
# bench_slow_instructions.sh - instructions per link and jet of a slow point by projection series, 10,000 links over 100, counted by valgrind's
# callgrind: the same on every machine of a kind, whatever else it does. Counts of projections differ, so that setting up drops out. (Jets:
# short chains, whose rounding is smaller, take a level more.) TAUT is the program, beside whose folder the benches lie.
bench=$(dirname "${TAUT:-build/taut}")/bench
if ! command -v valgrind >/dev/null 2>&1; then
    echo "valgrind is not installed: instructions are not counted"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

total() { # total LINKS COUNT
    OPENBLAS_NUM_THREADS=1 valgrind --tool=callgrind --callgrind-out-file="$work/out" "$bench/bench_slow" series "$1" "$2" >"$work/jets" 2>/dev/null || return 1
    sed -n 's/^\(summary\|totals\): //p' "$work/out" | head -n 1
}

each() { # each LINKS: instructions per link and jet
    few=$(total "$1" 1) && many=$(total "$1" 3) || return 1
    echo "$few $many" | awk -v n="$1" -v jets="$(tail -n 1 "$work/jets")" '{ printf "%.1f", ($2 - $1) / 2 / n / jets }'
}

short=$(each 100) && long=$(each 10000) || { echo "slow point by series, instructions | failed | callgrind"; exit 1; }
echo "slow point by series: $short instructions per link and jet in a chain of 100, $long in one of 10000"
echo "$short $long" | awk '{ r = $2 / $1; printf "slow point by series, instructions per link and jet, 10000 links over 100 | 1.5 | %.3g | %s\n", r, r <= 1.5 ? "met" : "missed" }'
