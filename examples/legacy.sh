#!/bin/sh
# How an existing simulator in shell and awk answers Taut: a line in, a line out (docs/black-boxes.md). Michaelis and
# Menten by forward Euler. In a model file:   [stepper]
#                                             command = sh legacy.sh
# awk runs once a request: some versions of awk read their input in blocks, and would wait for more than one line.
while read -r word a H n x y; do
    case "$word $a $H" in
    "taut 1 2") echo "ready 1" ;;
    taut*) echo "error this program has the variables x and y" ;;
    advance*)
        awk -v eps=0.1 -v H="$H" -v x="$x" -v y="$y" 'BEGIN {
            steps = int(H/(eps/10) + 0.5); if (steps < 1) steps = 1
            h = H/steps
            for (k = 0; k < steps; k++) {
                rate = -x + (x + 0.5)*y
                y += h*((x - (x + 1)*y)/eps)
                x += h*rate
            }
            printf "ok %.17g %.17g\n", x, y
        }' ;;
    *) echo "error unknown request" ;;
    esac
done
