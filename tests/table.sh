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

# ---- tests of the program: `here` is the folder of the script
open_cli() { # open_cli NAME: $taut is the program, the current folder a fresh one that is removed at the end
    taut=${TAUT:-${TAUT_BUILD:-$here/../build}/taut}
    case $taut in
    /*) ;;
    *) taut=$(pwd)/$taut ;;
    esac
    work=$(mktemp -d "${TMPDIR:-/tmp}/taut_$1.XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    cd "$work" || exit 1
    TAUT_MODELS=$here/../models
    TAUT_REPRODUCE=$here/../reproduce
    export TAUT_MODELS TAUT_REPRODUCE
}

run() { # run STATUS ARGUMENTS: one call of the program, its exit status as a row; files out and err
    want=$1
    shift
    "$taut" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ]
    row $? "taut $*: exit status $got, expected $want: $(head -c 300 err)"
}

advice() { # advice ARGUMENTS: of `taut check`, as one line in the file `line`
    run 0 check "$@"
    tr -s '\n ' ' ' <out >line
}

has() { # has FILE TEXT
    grep -qF -e "$2" "$1"
    row $? "'$2' is not in: $(head -c 600 "$1")"
}

lacks() { # lacks FILE TEXT
    ! grep -qF -e "$2" "$1"
    row $? "'$2' is in: $(head -c 600 "$1")"
}

narrow() { # no line of `out` is wider than 100 columns
    [ "$(awk 'length($0) > 100' out | wc -l)" -eq 0 ]
    row $? "lines wider than 100 columns: $(awk 'length($0) > 100' out | head -n 1)"
}

json() { # json EXPRESSION: of python, about the object d in `out`
    if [ -x /usr/bin/python3 ]; then
        /usr/bin/python3 -c 'import json, math, sys
d = json.load(open("out"), parse_constant=lambda word: 1 / 0)
sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" 2>python_err
        row $? "$1: $(tail -n 1 python_err) in $(head -c 600 out)"
    else
        skip "$1 (no python3)"
    fi
}

pictures() { # can pictures be drawn?
    [ -z "${TAUT_TEST_CORE:-}" ] && command -v gnuplot >/dev/null 2>&1
}

picture() { # picture FILE: a PNG or SVG file that is not empty
    case $1 in
    *.png) [ "$(head -c 4 "$1" 2>/dev/null | tail -c 3)" = PNG ] ;;
    *) grep -q '</svg>' "$1" 2>/dev/null ;;
    esac
    row $? "$1 is no picture"
}
