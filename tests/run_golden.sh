#!/bin/bash
# Command lines against their stored output. TAP on stdout.
#
# usage: tests/run_golden.sh [--accept] [CASE...]
#
# A case is a folder tests/golden/NAME/ that holds
#   cmd      shell lines, run at the root of the tree with $GPUSIM (the binary) and $OUT (an empty folder)
#   stdout   what must come, exactly; a line `...` stands for any number of lines, and a `*` inside a
#   stderr   line that starts with `~ ` for any characters. A missing file means: nothing
#   status   the exit status; missing: 0
# The names of $OUT and of the binary read as OUT and gpusim in the output. --accept stores what came
# (only exact lines: put `...` and `~ ` back by hand). A case whose cmd ends with 77 is skipped.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
accept=
if [ "${1-}" = --accept ]; then accept=1; shift; fi
export GPUSIM=${GPUSIM_BIN:-$PWD/build/gpusim} GPUSIM_DATA=${GPUSIM_DATA:-scenarios}
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
cases=("$@")
if [ ${#cases[@]} = 0 ]; then for d in tests/golden/*/cmd; do [ ! -e "$d" ] || cases+=("$(basename "$(dirname "$d")")"); done; fi
if [ ${#cases[@]} = 0 ]; then echo 'ok golden # SKIP there is no case'; exit 0; fi

# matches EXPECTED ACTUAL: line by line, as above.
matches() {
    awk '
    function glob(p, s,   i, c, re) {
        re = "^"
        for (i = 1; i <= length(p); i++) {
            c = substr(p, i, 1)
            re = re (c == "*" ? ".*" : c ~ /[A-Za-z0-9 _]/ ? c : c == "\\" || c == "^" ? "\\" c : "[" c "]")
        }
        return s ~ (re "$")
    }
    function one(p, s) { return p == s || (substr(p, 1, 2) == "~ " && glob(substr(p, 3), s)) }
    function rest(i, j,   k) { # does actual from j match expected from i?
        while (i <= ne && e[i] != "...") {
            if (j > na || !one(e[i], a[j])) return 0
            i++; j++
        }
        if (i <= ne) {
            for (k = j; k <= na + 1; k++) if (rest(i + 1, k)) return 1
            return 0
        }
        return j == na + 1
    }
    FILENAME == ARGV[1] { e[++ne] = $0; next }
    { a[++na] = $0 }
    END { exit !rest(1, 1) }' "$1" "$2"
}

bad=0
for c in "${cases[@]}"; do
    d=tests/golden/$c
    export OUT=$tmp/out; rm -rf "$OUT"; mkdir "$OUT"
    timeout "${TEST_TIMEOUT:-300}" bash -e "$d/cmd" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
    status=$?
    if [ $status = 77 ]; then echo "ok $c # SKIP $(tail -n 1 "$tmp/stderr")"; continue; fi
    for f in stdout stderr; do sed -i "s|$OUT|OUT|g; s|$GPUSIM|gpusim|g" "$tmp/$f"; done
    if [ -n "$accept" ]; then
        for f in stdout stderr; do
            if [ -s "$tmp/$f" ]; then cp "$tmp/$f" "$d/$f"; else rm -f "$d/$f"; fi
        done
        if [ $status = 0 ]; then rm -f "$d/status"; else echo $status >"$d/status"; fi
        echo "ok $c accepted"; continue
    fi
    verdict=ok
    for f in stdout stderr; do
        want=$d/$f; [ -e "$want" ] || want=/dev/null
        if ! cmp -s "$want" "$tmp/$f" && ! matches "$want" "$tmp/$f"; then
            verdict='not ok'; diff -u --label "$c/$f expected" --label "$c/$f found" "$want" "$tmp/$f"
        fi
    done
    want=0; [ ! -e "$d/status" ] || want=$(cat "$d/status")
    if [ $status != "$want" ]; then verdict='not ok'; echo "$c: exit status expected $want, found $status"; fi
    echo "$verdict $c"; [ "$verdict" = ok ] || bad=1
done
exit $bad
