#!/bin/sh
# bench_instructions.sh - instructions per link and step of Verlet and RATTLE on the chain, by Taut and by hand-written C, counted by
# valgrind's callgrind: the same on every machine of a kind, whatever else it does. Two runs that differ in the number of steps give
# the cost of a step without that of setting up. Both limits are our own aim: twice what hand-written C takes. TAUT is the program, beside
# whose folder the benches lie.
bench=$(dirname "${TAUT:-build/taut}")/bench
if ! command -v valgrind >/dev/null 2>&1; then
    echo "valgrind is not installed: instructions are not counted"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
links=1000

total() { # total PROGRAM WHO STEPS
    OPENBLAS_NUM_THREADS=1 valgrind --tool=callgrind --callgrind-out-file="$work/out" "$bench/$1" "$2" $links "$3" >/dev/null 2>&1 || return 1
    sed -n 's/^\(summary\|totals\): //p' "$work/out" | head -n 1
}

each() { # each PROGRAM WHO: instructions per link and step
    few=$(total "$1" "$2" 5) && many=$(total "$1" "$2" 25) || return 1
    echo "$few $many" | awk -v n=$links '{ printf "%.1f", ($2 - $1) / 20 / n }'
}

for row in "verlet bench_run 2" "rattle bench_explicit 2"; do
    set -- $row
    hand=$(each "$2" hand) && ours=$(each "$2" taut) || { echo "$1, instructions | failed | callgrind"; continue; }
    echo "$1, chain of $links: $hand instructions per link and step by hand, $ours by Taut"
    echo "$hand $ours $3" | awk -v name="$1, chain of $links, instructions against C" '{ r = $2 / $1; printf "%s | %s | %.3g | %s\n", name, $3, r, r <= $3 ? "met" : "missed" }'
done
