# table.sh - table.h for shell tests: source it, call `row STATUS TEXT` for every row, end with `done_rows`.
passed=0 failed=0 skipped=0

row() { # row STATUS TEXT...: 0 passes
    row_status=$1
    shift
    if [ "$row_status" = 0 ]; then
        passed=$((passed + 1))
        if [ -n "${TAUT_TEST_VERBOSE:-}" ]; then printf 'ok   %s\n' "$*"; fi
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n' "$*"
    fi
}

skip() {
    skipped=$((skipped + 1))
    printf 'skip %s\n' "$*"
}

done_rows() {
    printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    [ $failed = 0 ]
}
