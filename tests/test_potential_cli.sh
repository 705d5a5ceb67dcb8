#!/bin/sh
# test_potential_cli.sh - stiff potentials as a user meets them: project, spectrum, check and run.
#
# TAUT is the program (default ../build/taut next to this script). Numbers: the straight double pendulum, Omega = omega (sqrt 5 -+ 1)/2, its
# slow point and pulls (docs/sources.md, A, the exact slow point over (31)-(32)).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli potential

cat >both.taut <<'EOF'
[parameters]
omega = 1000
[coordinates]
x1, y1, x2, y2
[bonds]
inner = sqrt(x1^2 + y1^2) - 1    stiffness omega^2
[stiff potential]
(sqrt((x1-x2)^2 + (y1-y2)^2) - 1)^2/2    scale omega^2
[start]
x1 = 1, x2 = 2, y1' = -0.5, y2' = 0.5
EOF

# a slow point, and the force of the potential in place of multipliers
run 0 project both.taut
has out "projection series: the foot point where the stiff potential is least, rank 1"
has out "stiff force"
narrow
run 0 project both.taut --method series --json
json 'abs(d["q"][0] - 1.000001500045071) < 1e-15 and abs(d["q"][2] - 2.000002750073264) < 1e-15'
json 'abs(d["lambda"][0] - 1.500045071096781) < 1e-12 and abs(d["stiff_force"][2] + 1.250028192841212) < 1e-12'
run 0 project both.taut --method constraint --json
json 'abs(d["lambda"][0] - 1.5) < 1e-12 and abs(d["stiff_force"][2] + 1.25) < 1e-12'
run 0 project quartic_rod
lacks out "0.000000e+00"
run 0 project quartic_rod --method kernel --json
json '"stiff_force" not in d'

# what is written can be given back, and stays
run 0 project quartic_rod --init "y'=1" --init x=1.05 --out slow.start
run 0 project quartic_rod --start slow.start --json
json 'd["moved"]["normal"] < 1e-14 and d["moved"]["normal_velocity"] < 1e-14'

# failures: the initial state is kept
cat >flat.taut <<'EOF'
[coordinates]
x, y
[stiff potential]
x^4    scale 1e6
[start]
x = 0.1
EOF
run 1 project flat.taut --method series
has err "its Hessian vanishes there"

# modes of both, their energies and who carries them
run 0 spectrum both.taut --json
json 'abs(d["modes"][0]["frequency"] - 500*(5**.5 - 1)) < 1e-9 and abs(d["modes"][1]["frequency"] - 500*(5**.5 + 1)) < 1e-9'
json 'all(abs(m["potential"] + m["springs"][0]["share"] - 1) < 1e-12 for m in d["modes"])'
run 0 spectrum both.taut
has out "stiff potential 27.6%, inner 72.4%"
narrow
run 0 spectrum quartic_rod --init x=1.02 --json
json 'd["count"] == 1 and d["modes"][0]["energy"] > 100'
# along a run: a harmonic spring keeps its action, to 10/omega
cat >rod.taut <<'EOF'
[coordinates]
x, y
[potential]
y
[stiff potential]
(sqrt(x^2 + y^2) - 1)^2/2    scale 1e6
[start]
x = 1.001
EOF
run 0 spectrum rod.taut --until 1 --every 0.1 --step 3e-5 --json
json 'd["rows"] == 11 and abs(d["modes"][0]["most"] - d["modes"][0]["least"]) < 0.01*d["modes"][0]["action"]'

# check and run: a start that oscillates is seen to, and a slow run begins at its slow point
advice quartic_rod --init x=1.02
has out "1 stiff mode, 1071.47"
has out "oscillatory energy  200, 196 of the energy scale 1.02"
has line "motion full, method dop8; full because every oscillation can be resolved"
has line "motion slow would neglect an oscillation (energy 200, energy scale 1.02)"
has line "motion slow removes the oscillation"
advice quartic_rod --init x=1.02 --until 1e9
has line "motion full, method dop8; full because the initial state oscillates (energy 200, energy scale 1.02)"
has line ", and a stiff potential has no bonds that could become rigid in motion effective"
has line "motion slow removes the oscillation"
advice quartic_rod --until 1e9
has line "motion slow, method radau5; slow because the oscillation of the initial state is negligible"
run 0 check both.taut
has out "2 stiff modes, 618.034 to 1618.03"
# above 400 coordinates the stiff modes are not counted, and nothing that follows from them is claimed: the highest one is 2 omega cos(pi/501)
cat >long.taut <<'EOF'
[particles]
dimension = 2
p[i] for i in 1..250
[definitions]
p[0] = (0, 0)
[potential]
sum(p[i].y for i in 1..250)
[stiff potential]
sum((length(p[i] - p[i-1]) - 1)^2/2 for i in 1..250)   scale 1e6
[start]
p[i] = (i, 0) for i in 1..250
EOF
run 0 check long.taut --json
json 'd["frequencies"]["count"] is None and d["oscillatory_energy"] is None and d["frequencies"]["separation"] is None'
json 'abs(d["frequencies"]["most"] - 1999.9606791) < 1e-5'
advice long.taut --until 1e9
has line "motion full, method dop8; full because the stiff modes of a stiff potential of more than 400 coordinates"
has out "up to 1999.96 rad per time"
lacks out "separation"
run 0 run quartic_rod --init x=1.02 --motion slow --until 0.1 --out rows.csv
has out "without oscillation (series; normal 0.02"
run 0 run both.taut --motion slow --until 0.1 --out rows.csv
has out "(series; normal 3.1e-06"
done_rows
