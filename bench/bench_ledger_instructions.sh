#!/bin/sh
# bench_ledger_instructions.sh - instructions of a step of dop8 with every step's energy compared, against none: two runs that differ in the
# number of steps give the cost of a step without that of setting up.
. "$(dirname "$0")/count.sh"

each() { # each MODEL on|off FEW MANY: instructions per step
    few=$(instructions bench_ledger "$1" "$2" "$3") && many=$(instructions bench_ledger "$1" "$2" "$4") || return 1
    echo "$few $many" | awk -v steps="$(($4 - $3))" '{ printf "%.0f", ($2 - $1) / steps }'
}

for model in pendulum chain; do
    [ $model = chain ] && steps="5 25" || steps="100 1100"
    without=$(each $model off $steps) && with=$(each $model on $steps) || { echo "$model, instructions | failed | callgrind"; continue; }
    echo "dop8, $model: $without instructions per step, $with with the energy balance"
    echo "$without $with" | awk -v name="dop8, $model, instructions with the energy balance against none" \
        '{ r = $2 / $1; printf "%s | 1.05 | %.3g | %s\n", name, r, r <= 1.05 ? "met" : "missed" }'
done
