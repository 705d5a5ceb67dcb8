#!/bin/sh
# test_slow_words.sh - a projection that does not converge, as a user meets it: exit status 1, the start to the last bit, and a sentence that
# says which of three things it is (too far; slow and fast not separated, with both rates; a tolerance below rounding) and what to do. And
# a slow point, given back, stays.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli words

# A spring of frequency 20 whose end moves at 30.
cat >near.taut <<'END'
[coordinates]
q
[bonds]
s = q - cos(30*t)   stiffness 400
[start]
q = 1.1, q' = 0.3
END
# A bond that nothing satisfies.
cat >never.taut <<'END'
[coordinates]
x, y
[bonds]
never = sqrt(x^2 + y^2) + 1   stiffness 1e6
[start]
x = 0.1, y = 0.2
END

kept() { # kept FILE: the JSON of a failure has the start, to the last bit
    case $1 in
    near) json 'd["status"] == "failed" and d["q"] == [1.1] and d["v"] == [0.3]' ;;
    never) json 'd["status"] == "failed" and d["q"] == [0.1, 0.2] and d["v"] == [0, 0]' ;;
    esac
    json 'd["error"]["code"] == "TAUT_ERROR_CONVERGE" and len(d["error"]["message"]) > 60'
}

for method in series kernel ipa auto; do
    run 1 project near.taut --method $method
    has err "not separated"
    has out "the initial state is kept"
    run 1 project near.taut --method $method --json
    kept near
done
# both numbers: how fast it moves, how fast the spring is
for method in series auto; do
    run 1 project near.taut --method $method
    grep -q "rate of about [0-9.]*, and the slowest spring oscillates at 20 " err
    row $? "both rates: $(cat err)"
done

for method in constraint series auto; do
    run 1 project never.taut --method $method
    has err "foot point"
    has err "never"
    has err "nearer"
    run 1 project never.taut --method $method --json
    kept never
done
# far from the slow manifold, and turning wildly
run 1 project double_pendulum --set omega=1000 --init x1=0.02 --init y1=0 --init x2=0.021 --init "x1'=40" --method ipa
has err "a pass still changes the bonds"
has out "the initial state is kept"
run 1 project double_pendulum --set omega=1000 --passes 2 --method kernel
has err "allow more passes"

# a tolerance that rounding does not allow
run 1 project double_pendulum --set omega=1000 --method ipa --tolerance 1e-20
has err "below what rounding leaves"
has err "larger tolerance"
has out "the initial state is kept"

# the result of a projection, projected again: nothing moves, by any method
for model in double_pendulum chain triatomic; do
    run 0 project $model --out $model.start
    for method in series kernel ipa auto; do
        run 0 project $model --start $model.start --method $method --json
        json 'd["moved"]["normal"] < 1e-12 and d["moved"]["tangential"] < 1e-12 and d["moved"]["tangential_velocity"] < 1e-12'
        if [ $method = kernel ] || [ $method = ipa ]; then
            json 'len(d["iterations"]) <= 1 and "the initial state is kept" in d["explanation"]'
        fi
    done
done

# an option that does nothing says so; one that does is used in silence
run 0 project double_pendulum --method series --window 2 --json
has err "--window has no effect: projection series does not read it; ipa does"
run 0 project double_pendulum --method kernel --omega 10
has err "--omega has no effect"
run 0 project double_pendulum --method ipa --window 12 --passes 20
lacks err "no effect"
run 0 project double_pendulum --method kernel --moments 7 --accelerate
lacks err "no effect"
run 0 project double_pendulum --method kernel --omega 10 --quiet
lacks err "no effect"

# refusals end with 2 and name what does the work instead
run 2 project michaelis_menten --method kernel
has err "projection kernel"
run 2 project slider_crank --method series
has err "projection constraint"
run 2 project michaelis_menten --method series
has err "projection difference"
done_rows
