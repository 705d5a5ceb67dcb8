#!/bin/sh
# bench_instructions.sh - instructions per link and step on the chain: of Verlet and RATTLE, by Taut and by hand-written C, and of radau5 as the
# chain grows. Two runs that differ in the number of steps give the cost of a step without that of setting up. The limits of the first two
# are twice those of hand-written C; that of radau5 is the one of its time (bench_radau.c).
. "$(dirname "$0")/count.sh"

each() { # each PROGRAM WHO LINKS: instructions per link and step
    few=$(instructions "$1" "$2" "$3" 5) && many=$(instructions "$1" "$2" "$3" 25) || return 1
    echo "$few $many" | awk -v n="$3" '{ printf "%.1f", ($2 - $1) / 20 / n }'
}

verdict() { # verdict NAME LIMIT BASE VALUE
    echo "$3 $4 $2" | awk -v name="$1" '{ r = $2 / $1; printf "%s | %s | %.3g | %s\n", name, $3, r, r <= $3 ? "met" : "missed" }'
}

for row in "verlet bench_run 2" "rattle bench_explicit 2"; do
    set -- $row
    hand=$(each "$2" hand 1000) && ours=$(each "$2" taut 1000) || { echo "$1, instructions | failed | callgrind"; continue; }
    echo "$1, chain of 1000: $hand instructions per link and step by hand, $ours by Taut"
    verdict "$1, chain of 1000, instructions against C" "$3" "$hand" "$ours"
done

short=$(each bench_radau taut 100) && long=$(each bench_radau taut 1000) || { echo "radau5, instructions | failed | callgrind"; exit 1; }
echo "radau5: $short instructions per link and step in a chain of 100, $long in one of 1000"
verdict "radau5, chain of 1000, instructions per link and step against 100" 1.3 "$short" "$long"
