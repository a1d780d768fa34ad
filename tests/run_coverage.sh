#!/bin/bash
# What `gcov -nb` says of the product's files (stdin), added up by folder: lines and branches, then all. Status 1 when
# all have less than LINES % of lines or BRANCHES % of branches (85 and 70), or when nothing was measured.
#
# usage: gcov -nb FILE... | tests/run_coverage.sh [LINES BRANCHES]    (make coverage)
set -uo pipefail
export LC_ALL=C
awk -F"'" -v lines="${1:-85}" -v branches="${2:-70}" '
    function row(f) {
        return sprintf("%-14s %6d lines %6.2f %%  %6d branches %6.2f %%", f, all[f "l"], 100 * got[f "l"] / (all[f "l"] + 1e-9),
            all[f "b"], 100 * got[f "b"] / (all[f "b"] + 1e-9))
    }
    /^File/ { f = $2; sub(/\/[^\/]*$/, "", f); if (f !~ /^(sim|traces|plots|calibrate)(\/|$)/) f = "" }
    /^(Calls|No calls)/ { f = "" }
    f == "" { next }
    /^(Lines executed|Taken at least once)/ {
        split($0, a, /:|% of /); k = /^Lines/ ? "l" : "b"; seen[f]
        got[f k] += a[2] * a[3] / 100; all[f k] += a[3]
        got["in all" k] += a[2] * a[3] / 100; all["in all" k] += a[3]
    }
    END {
        for (f in seen) print row(f) | "sort"
        close("sort")
        print row("in all")
        l = 100 * got["in alll"] / (all["in alll"] + 1e-9); b = 100 * got["in allb"] / (all["in allb"] + 1e-9)
        if (l + 1e-6 >= lines && b + 1e-6 >= branches) exit 0 # what gcov says has two digits
        printf "too little: wanted are %g %% of lines and %g %% of branches\n", lines, branches
        exit 1
    }'
