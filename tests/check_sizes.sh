#!/bin/bash
# No file over 600 lines and no function over 80 without a reason: those that have one are in tests/sizes.allow,
# a line each: the file, or file:function, then the reason. What is listed and no longer too long is a failure as
# well, so that the list stays short. TAP on stdout.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
allow=tests/sizes.allow
find sim traces plots calibrate tests \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' \) 2>/dev/null | sort | xargs -r awk -v allow=$allow '
    BEGIN {
        while ((getline line < allow) > 0) {
            if (line ~ /^#/ || line == "") continue
            what = line; sub(/[ \t].*/, "", what); why = line; sub(/^[^ \t]*[ \t]*/, "", why)
            reason[what] = why; listed[++n] = what
            if (why == "") { printf "%s: no reason is given\n", what; bad_list++ }
        }
    }
    function long(what, lines, most, kind) {
        seen[what] = 1
        if (what in reason) return
        printf "%s: %d lines, at most %d: split it, or give a reason in %s\n", what, lines, most, allow
        bad[kind]++
    }
    function last() { if (file != "" && count > 600) long(file, count, 600, "file") }
    FNR == 1 { last(); file = FILENAME; inside = 0 }
    { count = FNR }
    /^\{/ { inside = FNR; head = before }
    /^\}/ && inside {
        if (FNR - inside - 1 > 80) {
            sub(/\(.*/, "", head); sub(/.*[ *]/, "", head)
            long(FILENAME ":" head, FNR - inside - 1, 80, "function")
        }
        inside = 0
    }
    /^[A-Za-z_].*\(/ { before = $0 }
    END {
        last()
        for (i = 1; i <= n; i++) if (!(listed[i] in seen)) { printf "%s: not too long any more; take it off %s\n", listed[i], allow; bad_list++ }
        print (bad["file"] ? "not ok" : "ok") " files of at most 600 lines"
        print (bad["function"] ? "not ok" : "ok") " functions of at most 80 lines"
        print (bad_list ? "not ok" : "ok") " the list of exceptions"
        exit bad["file"] + bad["function"] + bad_list > 0
    }'
