#!/bin/sh
# test_runner.sh - the runner itself: a crash, silence, a time-out, a missing test and a wrong exit status are failures, and the sums
# are right. Runs tests/run on a made-up build folder.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/table.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests"

make_test() { # make_test NAME SHELL-TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"$work/tests/$1"
    chmod +x "$work/tests/$1"
}
make_test test_good 'echo "3 passed, 0 failed, 1 skipped"'
make_test test_bad 'echo "FAIL seen"; echo "2 passed, 4 failed, 0 skipped"; exit 1'
make_test test_crash 'echo "1 passed, 0 failed, 0 skipped"; kill -SEGV $$'
make_test test_silent 'exit 0'
make_test test_status 'echo "5 passed, 0 failed, 0 skipped"; exit 3'
make_test test_unsaid 'echo "1 passed, 1 failed, 0 skipped"; exit 0'
make_test test_slow 'sleep 30; echo "1 passed, 0 failed, 0 skipped"'
make_test test_input 'read -r line; echo "$? passed, 0 failed, 0 skipped"'

try() { # try EXIT-STATUS LAST-LINE NAME...
    expected_status=$1 expected_line=$2
    shift 2
    said=$(TAUT_TEST_LIMIT=2 tests/run "$work" "$@" 2>&1)
    status=$?
    last=$(printf '%s\n' "$said" | tail -n 1)
    [ "$status" = "$expected_status" ] && [ "$last" = "$expected_line" ]
    row $? "$*: status $status, '$last', expected $expected_status, '$expected_line'"
}
try 0 '3 passed, 0 failed, 1 skipped' test_good
try 1 '2 passed, 4 failed, 0 skipped' test_bad
try 1 '1 passed, 1 failed, 0 skipped' test_crash
try 1 '0 passed, 1 failed, 0 skipped' test_silent
try 1 '5 passed, 1 failed, 0 skipped' test_status
try 1 '1 passed, 1 failed, 0 skipped' test_unsaid
try 1 '0 passed, 1 failed, 0 skipped' test_slow
try 1 '0 passed, 1 failed, 0 skipped' test_absent
try 0 '1 passed, 0 failed, 0 skipped' test_input
try 1 '10 passed, 6 failed, 1 skipped' test_good test_bad test_status test_silent
case $said in *'FAIL seen'*) row 0 shown ;; *) row 1 "the output of a failing test is not shown" ;; esac
done_rows
