#!/bin/sh
# bench_slow_instructions.sh - instructions per link and jet of a slow point by projection series, 10,000 links over 100. Counts of projections
# differ, so that setting up drops out. (Jets: short chains, whose rounding is smaller, take a level more.)
. "$(dirname "$0")/count.sh"

each() { # each LINKS: instructions per link and jet
    few=$(instructions bench_slow series "$1" 1) && many=$(instructions bench_slow series "$1" 3) || return 1
    echo "$few $many" | awk -v n="$1" -v jets="$(tail -n 1 "$work/printed")" '{ printf "%.1f", ($2 - $1) / 2 / n / jets }'
}

short=$(each 100) && long=$(each 10000) || { echo "slow point by series, instructions | failed | callgrind"; exit 1; }
echo "slow point by series: $short instructions per link and jet in a chain of 100, $long in one of 10000"
echo "$short $long" | awk '{ r = $2 / $1; printf "slow point by series, instructions per link and jet, 10000 links over 100 | 1.5 | %.3g | %s\n", r, r <= 1.5 ? "met" : "missed" }'
