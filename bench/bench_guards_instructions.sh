#!/bin/sh
# bench_guards_instructions.sh - instructions per step of dop8 on 100,000 oscillators with a condition each, whose branch never changes,
# against forces of the same length without conditions; and of runs of water molecules against runs in which nothing is known of their conditions.
. "$(dirname "$0")/count.sh"

each() { # each WHO: instructions per step
    few=$(instructions bench_guards "$1" 100000 3) && many=$(instructions bench_guards "$1" 100000 13) || return 1
    echo "$few $many" | awk '{ printf "%.0f", ($2 - $1) / 10 }'
}

compare() { # compare HOW PLAIN GUARDS NAME
    plain=$("$1" "$2") && guards=$("$1" "$3") || { echo "guards, instructions | failed | callgrind"; exit 1; }
    echo "dop8, $4: $plain instructions without, $guards with guards"
    echo "$plain $guards" | awk -v name="$4" '{ r = $2 / $1; printf "%s, instructions against those without guards | 1.05 | %.4g | %s\n", name, r, r <= 1.05 ? "met" : "missed" }'
}

water() { # water WHO: instructions of three runs
    for rtol in 1e-5 1e-6 1e-7; do inside --toggle-collect=taut_solver_run bench_guards "$1" water "$rtol" || return 1; done |
        awk '{ n += $1 } END { printf "%.0f", n }'
}

compare each plain guards "100000 guards, a step"
compare each plain-mixed guards-mixed "100000 guards on both branches, a step"
compare water plain guards "water_box"
