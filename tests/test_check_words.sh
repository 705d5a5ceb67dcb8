#!/bin/sh
# test_check_words.sh - what `taut check` says of modes, masses, damping and observables, and of the matrix it solves with.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli check_words

# a spring along a rigid bond has no mode: its frequency is zero, and it does nothing
cat >along.taut <<'MODEL'
[coordinates]
x, y
[bonds]
a = x - 1 rigid
b = 2*x - 2 stiffness 1e6
[start]
x = 1, y' = 1
[run]
until = 0.1
MODEL
run 0 check along.taut
lacks out "stiff mode"
has out "have no effect: omit them"
run 0 check along.taut --json
json 'd["frequencies"]["count"] == 0 and d["rank"]["rank"] == 1'
run 0 run along.taut --out rows.csv --json
json 'd["status"] == "done" and abs(d["q"][1] - 0.1) < 1e-9'

# the number of states at which the slow rate was evaluated, of large systems too: 4000/420 is above 8
run 0 check chain --set N=210 --no-derivatives
has out "along the rigid motion (8"
run 0 check quartic_rod --no-derivatives
has out "of the initial state alone: no later state was examined"
run 0 check double_pendulum --no-derivatives
lacks out "initial state alone"

# two springs of one direction: one mode, sqrt(1e6 + 4e6); rigid and effective motion cannot have them
sed 's/rigid/stiffness 1e6/; s/^x = 1,/x = 1.001,/' along.taut >twice.taut
advice twice.taut
has out "1 stiff mode, 2236.07 rad per time"
has line "motion full, method dop8; full because every oscillation can be resolved"
advice twice.taut --until 1e9
has line "motion full, method dop8; not effective: "
has out "the tiny solver, for the matrix A = G M^-1 G^T, 2 rows, definite"

# vibration that dies is not averaged
cat >damped.taut <<'MODEL'
[coordinates]
x, y
[bonds]
a = sqrt(x^2 + y^2) - 1 stiffness 1e6 damping 1
[start]
x = 1.01, y' = 1
MODEL
advice damped.taut
has line "motion full, method dop8; full because the initial state oscillates (amplitude about 0.01"
lacks line "effective"
lacks line "no end time"
advice damped.taut --until 1
has line "motion full, method dop8; full because every oscillation can be resolved with about"
has line "motion slow would neglect an oscillation (amplitude about 0.01, energy 50, energy scale 0.5)"
sed 's/ damping 1//' damped.taut >free.taut
advice free.taut
has line "motion effective, method effective; effective because the initial state"
has line "no end time is given: with one, motion full is chosen where it is affordable"
advice free.taut --until 1
has line "motion full, method dop8; full because every oscillation can be resolved with about"
lacks line "no end time"
advice free.taut --until 1e9
has line "motion effective, method effective; effective because the initial state"
has line "motion full would need about 1.8e+13 evaluations"
lacks line "no end time"
# what is overdamped does not oscillate, and motion slow would not remove it
sed 's/damping 1/damping 1e5/' damped.taut >over.taut
advice over.taut --until 1
has line "motion full, method dop8"
lacks line "motion slow"

# neither mass nor bond: the motion is undetermined; a bond is enough
cat >massless.taut <<'MODEL'
[particles]
dimension = 2
a mass 1
b mass 0
[potential]
a.x^2/2 + b.x^2/2
[start]
a.x = 1
MODEL
run 1 check massless.taut
has out "b.x has neither mass nor bonds"
has out "numerically unusable"
lacks out "linear algebra"
sed 's/^b mass 0/b mass 2/' massless.taut >massive.taut
run 0 check massive.taut

# observables are no constraints
run 0 check michaelis_menten
lacks out "constraints"
run 0 check index2
has out "constraints: max |g|"
done_rows
