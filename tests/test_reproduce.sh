#!/bin/sh
# test_reproduce.sh - taut reproduce as a user meets it: every recipe is equal or explained, one changed digit is seen, files, JSON.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
open_cli reproduce

names="a-table-1 a-figure-2 a-figure-3 a-figure-4 a-figure-5 a-figure-6 b-orders b-methods b-damping b-damped b-expansion b-newton b-outer c-table-1-1 c-example-2 c-theorems c-table-3-1 c-slider-crank d-michaelis-menten d-five-dimensions d-hydrogen-oxygen e-figure-1 e-figure-3 e-figure-4"
run 0 reproduce
for name in $names; do
    has out "$name"
done
run 0 reproduce --json
json 'len(d["recipes"]) == 24 and all(r["source"] for r in d["recipes"])'

# every table and figure of the papers, whether it is reproduced or not
run 0 reproduce --list
has out "A  figure 6      reproduced  a-figure-6"
has out "E  figure 4      reproduced  e-figure-4"
run 0 reproduce --list --json
json 'len(d["items"]) == 51 and {i["state"] for i in d["items"]} == {"reproduced", "no numbers"}'
json '{i["recipe"] for i in d["items"] if i["state"] == "reproduced"} <= set("'"$names"'".split())'
json 'all(any(n == i["recipe"] for i in d["items"]) for n in "'"$names"'".split())'
run 2 reproduce a-table-1 --list
has err "lists everything"

# everything at once: tables and pictures in a folder that is made
run 0 reproduce all --out results
for name in $names; do
    has "results/$name.txt" ", 0 unexplained"
done
if pictures; then
    for name in $names; do
        case $name in
        c-slider-crank)
            for figure in 2 3 4 5 6 7 8 9 10 11 12 13; do picture "results/$name-4-$figure.png"; done ;;
        *) picture "results/$name.png" ;;
        esac
    done
else
    skip "pictures (no gnuplot)"
fi
# and one page of them all: every recipe with its verdicts, pictures and the best method, and nothing from elsewhere
sed 's|data:image/png;base64,iVBOR[A-Za-z0-9+/=]*"|PNG"|' results/index.html >page
page=page
for name in $names; do
    grep -A 400 "^<section id=\"$name\">" $page | sed '/^<\/section>/q' >section
    has section "<h3>$name: "
    ! pictures || has section 'src="PNG"'
    grep -q '<summary>[0-9]* numbers: <span class="[a-z]*">[0-9]* [a-z]*</span>' section
    row $? "$name has no verdicts on the page"
    has section "The best method of Taut on this problem"
    lacks section 'class="failure"'
done
has $page '<a href="#c-slider-crank">c-slider-crank</a>'
has $page "g2 has lost its minus sign"
[ "$(grep -c '<tr><td>.*class="[a-zU]*">\(equal\|within\|explained\|UNEXPLAINED\)</td>' $page)" = \
    "$(cat results/*.txt | grep -c ' \(equal\|within\|explained\|UNEXPLAINED\)$')" ]
row $? "the page has not as many numbers as the tables"
has $page "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
! grep -q 'src="[^P]\|url(\|https\{0,1\}:' $page
row $? "the page asks for something from elsewhere"
narrow
[ "$(cat results/*.txt | grep -c UNEXPLAINED)" -eq 0 ]
row $? "a table has unexplained entries"

# verdicts and their words
run 0 reproduce a-table-1
has out "the minus sign is lost"
has out "9.719184e-7, cut off"
run 0 reproduce a-table-1 --quiet
[ ! -s out ]
row $? "--quiet printed $(head -c 100 out)"
run 0 reproduce d-michaelis-menten --json
json 'd["results"][0]["name"] == "d-michaelis-menten" and d["results"][0]["unexplained"] == 0'
json '[r["verdict"] for r in d["results"][0]["rows"] if r["key"] == "slow manifold, eps = 0.01"] == ["explained"]'
json 'abs([r["ours"] for r in d["results"][0]["rows"] if r["key"] == "slow manifold, eps = 0.1"][0] - 0.503031511623918) < 1e-12'

# one digit changed, in a copy: what is read decides the verdict and nothing else does
cp -R "$TAUT_REPRODUCE" copy
TAUT_REPRODUCE=$work/copy
changed() { # changed NAME FROM TO: one replacement, exit 1, and back
    cp "copy/$1.txt" kept
    sed "s/$2/$3/" kept >"copy/$1.txt"
    [ "$(cmp -l kept "copy/$1.txt" 2>/dev/null | wc -l)" -eq 1 ]
    row $? "$1: '$2' to '$3' changes one character"
    run 1 reproduce "$1" --json
    json 'sum(r["unexplained"] for r in d["results"]) == 1 == [r["verdict"] for x in d["results"] for r in x["rows"]].count("unexplained")'
    cp kept "copy/$1.txt"
}
changed a-table-1 '1000, pass 3, g2 | 8.95e-7' '1000, pass 3, g2 | 8.96e-7'
changed a-table-1 'misprint 2.33e-3' 'misprint 2.34e-3'
changed a-table-1 '5.25e-3 | truncated' '5.24e-3 | truncated'
changed a-figure-2 '6.93e-3' '8.93e-3'
changed b-orders "radau3, eps 0, y' | 2" "radau3, eps 0, y' | 3"
changed b-methods "sdirk4, eps 0, y | 1" "sdirk4, eps 0, y | 4"
changed b-damping "radau5, distance after 2 steps | 9e-08" "radau5, distance after 2 steps | 9e-06"
changed b-outer "radau5, k = 1, order in eps, h = 0.2 | 2" "radau5, k = 1, order in eps, h = 0.2 | 5"
changed b-damped "radau5, eps 1e-06, lambda | 3" "radau5, eps 1e-06, lambda | 5"
changed b-expansion "radau5, order of y'^1 | 1" "radau5, order of y'^1 | 4"
changed b-newton "(8.1) converges, eps = 0.0001, h = 0.03 | 0" "(8.1) converges, eps = 0.0001, h = 0.03 | 1"
changed c-table-1-1 '10, Error1 | .56e-4' '10, Error1 | .57e-4'
changed c-table-1-1 'misprint 3.1e+66' 'misprint 3.1e+67'
changed c-example-2 '-0.250000' '-0.250001'
changed c-example-2 'misprint 0.0736806' 'misprint 0.0736807'
changed c-theorems 'rk4, forward, drift order | 5' 'rk4, forward, drift order | 6'
changed c-table-3-1 '| -.63 |' '| -.64 |'
changed c-slider-crank '1.061270282398' '1.061270282397'
changed d-michaelis-menten 'anderson, iterations | 6' 'anderson, iterations | 7'
changed d-five-dimensions '3.559434800714' '3.559434800715'
changed e-figure-4 'h = 0.03125, P y | 0.02876' 'h = 0.03125, P y | 0.05876'
run 0 reproduce a-table-1 --quiet
[ ! -s out ]
row $? "the copy as it was prints $(head -c 100 out)"

# texts are data: what looks like markup is shown, also in an explanation and in the list
bad='</script><script>bad = 1</script><img src=x onerror=bad=1> & "quotes"'
mkdir hostile
cp copy/*.txt hostile
echo "$bad | 1" >>hostile/d-five-dimensions.txt
echo "slow manifold, x1 | 1 | | $bad" >>hostile/d-five-dimensions.txt
echo "# $bad" >>hostile/d-five-dimensions.txt
echo "D | $bad | d-five-dimensions | $bad" >>hostile/list.txt
echo "D | remark | $bad | $bad" >>hostile/papers.txt
TAUT_REPRODUCE=$work/hostile
run 1 reproduce d-five-dimensions --out hostile
page=hostile/d-five-dimensions.html
lacks $page '<script>bad'
lacks $page '<img src=x'
[ "$(grep -o '&lt;/script&gt;&lt;script&gt;bad = 1&lt;/script&gt;&lt;img src=x onerror=bad=1&gt; &amp; &quot;quotes&quot;' $page | wc -l)" = 7 ]
row $? "texts that look like markup are not all on the page"
has $page '<td class="unexplained">UNEXPLAINED</td><td>the recipe does not compute this number'
# without the list or the papers there is no page, and the message has the file
TAUT_REPRODUCE=$work/copy
mv copy/papers.txt kept
run 2 reproduce d-five-dimensions --out none --quiet
has err "copy/papers.txt"
[ ! -e none/d-five-dimensions.html ]
row $? "a page without its papers"
mv kept copy/papers.txt
mkdir none/d-five-dimensions.html
run 1 reproduce d-five-dimensions --out none --quiet
has err "cannot write 'none/d-five-dimensions.html'"

# numbers that nothing computes, files that are not there, wrong names
echo 'no such key | 1' >>copy/b-orders.txt
run 1 reproduce b-orders
has out "does not compute this number"
has out ", 1 unexplained"
run 1 reproduce b-orders --quiet
has out UNEXPLAINED
: >copy/b-orders.txt
run 1 reproduce b-orders
rm copy/b-orders.txt
run 2 reproduce b-orders
has err "printed numbers are missing"
run 2 reproduce a-table-2
has err "did you mean 'a-table-1'?"
run 2 reproduce xyzzy
has err "'taut reproduce' lists them"
run 2 reproduce a-table-1 --out /dev/null/folder
has err "cannot make the folder"
# a program that stands alone finds no models
cp "$taut" "$work/copy/taut"
taut=$work/copy/taut
TAUT_MODELS=$work/results
run 1 reproduce c-table-3-1
has err "is missing"
done_rows
