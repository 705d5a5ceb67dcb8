#!/bin/sh
# bench_pairs_instructions.sh - sums over pairs within a cut-off are O(N): instructions a particle and step of the Lennard-Jones fluid with 1000
# and 8000 particles, steps of Verlet through several lists of neighbours, without reading the model and without output.
. "$(dirname "$0")/count.sh"
model=$(dirname "$0")/../models/lj_fluid.taut

each() { # each N: instructions a particle and step, from 10 steps and 30
    run() { instructions ../taut run "$model" --set N=$1 --until $2 --every 1000 --out "$work/rows.csv"; }
    short=$(run "$1" 0.04) && long=$(run "$1" 0.12) && echo "$long $short $1" | awk '{ print ($1 - $2) / 20 / $3 }'
}

small=$(each 1000) && large=$(each 8000) || { echo "pairs | failed | callgrind"; exit 0; }
echo "$small $large" | awk '{
    printf "pairs, instructions a particle and step, N = 1000 | 20000 | %.0f | %s\n", $1, $1 <= 20000 ? "met" : "missed"
    printf "pairs, the same of 8000 particles over that | 1.15 | %.3f | %s\n", $2 / $1, $2 <= 1.15 * $1 ? "met" : "missed" }'
