#!/bin/sh
# test_bad_cli.sh - every bad model, as a user meets it: exit code 2, and the place in the form file:line:column.
# TAUT is the program; the first line of each model says where the mistake is: # expect LINE:COLUMN words
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
sections=""
count=0
for file in "$here"/data/bad/*.taut "$here"/data/syntax/*.taut; do
    place=$(sed -n '1s/^# expect \([0-9]*:[0-9]*\).*/\1/p' "$file")
    [ -n "$place" ] || continue
    count=$((count + 1))
    message=$("$TAUT" check "$file" 2>&1 >/dev/null)
    code=$?
    [ $code = 2 ]
    row $? "${file##*/}: exit code $code, expected 2"
    # a mistake inside a table is reported with the place in the table
    case "$message" in
    *.csv:*) printf '%s' "$message" | grep -q ":$place: error: "; row $? "${file##*/}: '$message' does not name $place" ;;
    *) printf '%s' "$message" | grep -qF "$file:$place: error: "; row $? "${file##*/}: '$message' does not begin with the place $place" ;;
    esac
    sections="$sections $(grep -ao '^\[[a-z ]*\]' "$file" | tr -d '\n')"
done
[ $count -ge 40 ]
row $? "$count bad models, expected at least 40"
for section in parameters coordinates particles definitions tables mass kinetic potential forces bonds "stiff potential" start run state \
    algebraic rates constraints invariants stepper observables outputs events; do
    printf '%s' "$sections" | grep -qF "[$section]"
    row $? "no bad model has a section [$section]"
done
done_rows
