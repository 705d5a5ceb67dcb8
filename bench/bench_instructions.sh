#!/bin/sh
# bench_instructions.sh - instructions per link and step (dop8: and evaluation, 12 in a step) on chains, by Taut and by hand-written C. Two
# runs that differ in the number of steps give the cost of a step without that of setting up, and of guards that watch each of the first steps.
# A run before them, not counted, leaves compiled expressions in the cache: else the first of the two contained emitting and compiling.
. "$(dirname "$0")/count.sh"

each() { # each PARTS LINKS PROGRAM ARGUMENTS...: instructions per link and part of a step
    parts=$1 links=$2 tested=$3
    shift 3
    "$bench/$tested" "$@" "$links" 1 >/dev/null || return 1
    few=$(instructions "$tested" "$@" "$links" 40) && many=$(instructions "$tested" "$@" "$links" 60) || return 1
    echo "$few $many" | awk -v n="$links" -v p="$parts" '{ printf "%.2f", ($2 - $1) / 20 / n / p }'
}

verdict() { # verdict NAME LIMIT VALUE
    echo "$2 $3" | awk -v name="$1" '{ printf "%s | %s | %.4g | %s\n", name, $1, $2, $1 == "-" ? "-" : $2 <= $1 ? "met" : "missed" }'
}

row() { # row NAME WHO HOW PARTS LIMIT PART: both sides; a limit of -: none
    hand=$(each "$4" 1000 bench_chains "$1" hand) && ours=$(each "$4" 1000 bench_chains "$1" "$2") || { echo "$1, $3, instructions | failed | callgrind"; return; }
    echo "$1, chain of 1000, $3: $hand instructions per link and $6 by hand, $ours by Taut"
    verdict "$1, chain of 1000, $3, instructions per link and $6" "$5" "$ours"
}

row verlet taut "distances of the library" 1 17 step
row "verlet by roots" taut interpreted 1 - step
row "verlet by roots" compiled compiled 1 - step
for how in taut:interpreted compiled:compiled; do
    row rattle "${how%:*}" "${how#*:}" 1 200 step
    row dop8 "${how%:*}" "${how#*:}" 12 200 evaluation
done

short=$(each 1 100 bench_radau radau5) && long=$(each 1 1000 bench_radau radau5) || { echo "radau5, instructions | failed | callgrind"; exit 1; }
echo "radau5: $short instructions per link and step in a chain of 100, $long in one of 1000"
verdict "radau5, chain of 1000, instructions per link and step" 4000 "$long"
verdict "radau5, chain of 1000, instructions per link and step against 100" 1.3 "$(echo "$long $short" | awk '{ print $1 / $2 }')"
# other implicit methods, of one real matrix (sdirk, trbdf2) or few stages (gauss): values without a limit
for method in sdirk2 sdirk3 trbdf2 gauss2 gauss4 gauss6; do
    other=$(each 1 1000 bench_radau "$method") || { echo "$method, instructions | failed | callgrind"; continue; }
    echo "$method: $other instructions per link and step in a chain of 1000"
    verdict "$method, chain of 1000, instructions per link and step against radau5" - "$(echo "$other $long" | awk '{ print $1 / $2 }')"
done
