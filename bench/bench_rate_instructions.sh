#!/bin/sh
# bench_rate_instructions.sh - which part of `taut check` the slow rate is, in instructions, on inclined chains: that of the initial state and
# of the states of leap.c, without the pattern of the tangent matrices, which verifying the derivatives needs too. Collection is toggled at
# each entrance of a function: with both, rates inside leaps are not counted.
. "$(dirname "$0")/count.sh"

cat >"$work/chain.taut" <<'MODEL'
[parameters]
N = 1000
[particles]
dimension = 2
bob[i] for i in 1..N mass 1
[potential]
sum(bob[i].y for i in 1..N)
[bonds]
link[1] = length(bob[1]) - 1 stiffness 1e6
link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e6
[start]
bob[i] = (0.8*i, -0.6*i) for i in 1..N
[run]
until = 10
MODEL

for links in 1000 20000; do
    part() { inside "$1" ../taut check "$work/chain.taut" --set N=$links; }
    whole=$(part "") && rates=$(part --toggle-collect=taut_slow_rate) && leaps=$(part --toggle-collect=taut_leaps) &&
        both=$(part "--toggle-collect=taut_slow_rate --toggle-collect=taut_leaps") && form=$(part --toggle-collect=taut_system_form) || { echo "slow rate of $links links | failed | callgrind"; continue; }
    echo "$whole $rates $leaps $both $form" | awk -v links=$links '{ r = (($2 + $3 + $4) / 2 - $5) / $1; printf "slow rate, part of check, %d links | 0.15 | %.4g | %s\n", links, r, r <= 0.15 ? "met" : "missed" }'
done
