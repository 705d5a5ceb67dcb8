#!/bin/sh
# bench_monitors_instructions.sh - what error norm, energy balance, stiffness detection, drift and the watch for singular configurations add to a step of dop8, in instructions: those
# inside the functions of each, over those of the step without any of them. Two runs that differ in the number of steps give the cost of a
# step without that of setting up. Rows apart from those that only watch: the error norm, which every adaptive method has, and the drift,
# which is a column of each row that is written: here a row for each step.
. "$(dirname "$0")/count.sh"

each() { # each MODEL FEW MANY FUNCTION...: instructions per step, inside the functions if there are any
    model=$1 few=$2 many=$3
    shift 3
    only=
    for function in "$@"; do only="$only --toggle-collect=$function"; done
    few_count=$(inside "$only" bench_monitors "$model" "$few") && many_count=$(inside "$only" bench_monitors "$model" "$many") || return 1
    echo "$few_count $many_count" | awk -v steps="$((many - few))" '{ printf "%.0f", ($2 - $1) / steps }'
}

verdict() { # verdict NAME STEP PART: 1 + part/step
    echo "$2 $3" | awk -v name="$1" '{ r = 1 + $2 / $1; printf "%s | 1.05 | %.4g | %s\n", name, r, r <= 1.05 ? "met" : "missed" }'
}

# the same for models whose balance is that of work at the stages
for model in radau-pendulum radau-chain kinetic-pendulum kinetic-radau; do
    case $model in
    *chain) steps="4 12" ;;
    *) steps="100 400" ;;
    esac
    case $model in
    *radau*) method=radau5 ;;
    *) method=dop8 ;;
    esac
    step=$(each $model $steps) && balance=$(each $model $steps taut_ledger_step) || { echo "$model, energy balance | failed | callgrind"; continue; }
    echo "$method, $model: $((step - balance)) instructions per step, energy balance $balance"
    verdict "$method, $model, instructions with the energy balance" $((step - balance)) "$balance"
done

for model in pendulum chain driven-pendulum driven-chain rigid-pendulum rigid-chain; do
    case $model in
    *pendulum) steps="100 1100" ;;
    *) steps="16 48" ;;
    esac
    step=$(each $model $steps) && norm=$(each $model $steps taut_norm_step taut_norm_accept) &&
        balance=$(each $model $steps taut_ledger_step) && stiffness=$(each $model $steps taut_switch_step) &&
        drift=$(each $model $steps taut_drift_measure) && singular=$(each $model $steps taut_singular_step) || { echo "$model, monitors | failed | callgrind"; continue; }
    all=$((balance + stiffness + singular))
    alone=$((step - all - norm - drift))
    echo "dop8, $model: $alone instructions per step, norm $norm, energy balance $balance, stiffness $stiffness, drift $drift, singular $singular"
    verdict "dop8, $model, instructions with the error norm" $alone "$norm"
    verdict "dop8, $model, instructions with the energy balance" $alone "$balance"
    case $model in
    rigid*)
        verdict "dop8, $model, instructions with the drift" $alone "$drift"
        verdict "dop8, $model, instructions with the watch for singular configurations" $alone "$singular"
        ;;
    *) verdict "dop8, $model, instructions with stiffness detection" $alone "$stiffness" ;;
    esac
    verdict "dop8, $model, instructions with all monitors" $alone $all
done
