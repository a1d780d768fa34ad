#!/bin/bash
# tests/run_coverage.sh tells enough coverage from too little. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
bad=0
# What gcov says of a file: NAME, per cent of 100 lines, per cent of 100 branches.
file() { printf "File '%s'\nLines executed:%s%% of 100\nBranches executed:99%% of 100\nTaken at least once:%s%% of 100\nNo calls\n\n" "$@"; }
expect() { # NAME STATUS PATTERN: what comes of the files on stdin
    local rc=0
    tests/run_coverage.sh >"$tmp/out" || rc=$?
    if [ "$rc" = "$2" ] && grep -q "$3" "$tmp/out"; then echo "ok $1"
    else echo "not ok $1: status $rc"; cat "$tmp/out"; bad=1; fi
}
{ file sim/base/a.c 90.00 80.00; file traces/b.c 80.00 60.00; } | expect 'just enough' 0 '^in all .*200 lines  85.00 %.* 70.00 %$'
{ file sim/base/a.c 90.00 80.00; file traces/b.c 79.00 60.00; } | expect 'too few lines' 1 '^too little'
{ file sim/base/a.c 90.00 80.00; file traces/b.c 80.00 59.00; } | expect 'too few branches' 1 '^too little'
{ file sim/base/a.c 80.00 60.00; file tests/unit/t.c 100.00 100.00; file /usr/include/x.h 100.00 100.00; } |
    expect 'only the product counts' 1 '^in all .*100 lines  80.00 %'
expect 'nothing was measured' 1 '^too little' </dev/null
exit $bad
