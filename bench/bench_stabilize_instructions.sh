#!/bin/sh
# bench_stabilize_instructions.sh - what stabilisation after a step (post, default) costs, in instructions, over the step of dop8 itself: the
# double pendulum with the default and a tighter tolerance, and a chain of 1000 links.
. "$(dirname "$0")/count.sh"
bench=$(dirname "${TAUT:-build/taut}")

part() { # part FUNCTION ARGUMENTS...: instructions inside it, of taut run
    function=$1
    shift
    inside "--toggle-collect=$function" taut run "$@" --motion rigid --method dop8 --verify never --every 1 --out "$work/rows.csv" --quiet
}

verdict() { # verdict NAME ARGUMENTS...
    name=$1
    shift
    step=$(part taut_runge_kutta_step "$@") && after=$(part taut_stabilize "$@") ||
        { echo "$name | failed | callgrind"; return; }
    echo "$step $after" | awk -v name="$name" '{ printf "%s | 0.15 | %.4g | %s\n", name, $2 / $1, $2 / $1 <= 0.15 ? "met" : "missed" }'
}

verdict "stabilisation over a step of dop8, double pendulum" double_pendulum --set lift=0 --until 20
verdict "stabilisation over a step of dop8, double pendulum, rtol 1e-9" double_pendulum --set lift=0 --until 20 --rtol 1e-9
verdict "stabilisation over a step of dop8, chain of 1000 links" chain --set N=1000 --until 2
