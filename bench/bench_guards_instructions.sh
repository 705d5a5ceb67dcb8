#!/bin/sh
# bench_guards_instructions.sh - instructions per step of dop8 on 100,000 oscillators with a condition each, whose branch never changes,
# against forces of the same length without conditions.
. "$(dirname "$0")/count.sh"

each() { # each WHO: instructions per step
    few=$(instructions bench_guards "$1" 100000 3) && many=$(instructions bench_guards "$1" 100000 13) || return 1
    echo "$few $many" | awk '{ printf "%.0f", ($2 - $1) / 10 }'
}

compare() { # compare PLAIN GUARDS WORDS
    plain=$(each "$1") && guards=$(each "$2") || { echo "guards, instructions | failed | callgrind"; exit 1; }
    echo "dop8, 100000 oscillators: $plain instructions per step, $guards with a guard each$3"
    echo "$plain $guards" | awk -v words="$3" '{ r = $2 / $1; printf "100000 guards%s, instructions against none | 1.05 | %.4g | %s\n", words, r, r <= 1.05 ? "met" : "missed" }'
}

compare plain guards ""
compare plain-mixed guards-mixed " on both branches"
