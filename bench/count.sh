# count.sh - for scripts that count instructions with valgrind's callgrind: the same on every machine of a kind, under any load. TAUT is
# the program, next to whose folder the benches are.
bench=$(dirname "${TAUT:-build/taut}")/bench
if ! command -v valgrind >/dev/null 2>&1; then
    echo "valgrind is not installed: instructions are not counted"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

inside() { # inside OPTIONS PROGRAM ARGUMENTS...: the number of instructions with OPTIONS of callgrind
    options=$1 program=$2
    shift 2
    # shellcheck disable=SC2086
    OPENBLAS_NUM_THREADS=1 valgrind --tool=callgrind $options --callgrind-out-file="$work/out" "$bench/$program" "$@" >"$work/printed" 2>/dev/null || return 1
    sed -n 's/^\(summary\|totals\): //p' "$work/out" | head -n 1
}

instructions() { # instructions PROGRAM ARGUMENTS...: their number; what it prints goes to $work/printed
    inside "" "$@"
}
