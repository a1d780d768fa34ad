#!/bin/bash
# Run benchmarks several times and keep the record: a table on stdout, JSON (gpusim-bench/1) in $B/bench.json.
#
# usage: [B=build/release] [BENCH_RUNS=3] tests/run_bench.sh PROGRAM...    (make bench)
#
# Each program prints lines of bench.h: name, figure, unit, ratio to a reference of the same run. Shown are the median of the
# runs, the least and the greatest. Nothing fails on a figure: machines differ, and others work on them (load in the record).
# A program that fails is named, its figures are left out, the others go on; the status is 1 then.
# The same queue in SimPy is run beside them where python3 has it.
set -uo pipefail
export LC_ALL=C
B=${B:-build/release} runs=${BENCH_RUNS:-3}
case $runs in '' | *[!0-9]* | 0) echo "BENCH_RUNS: expected a whole number from 1, found '$runs'" >&2; exit 2 ;; esac
lines=$(mktemp); trap 'rm -f "$lines"' EXIT
failed=" " # names

python= # one that has SimPy
for p in python3 /usr/bin/python3; do [ -n "$python" ] || ! "$p" -c 'import simpy' 2>/dev/null || python=$p; done

once() { # NAME COMMAND...
    local name=$1; shift
    case $failed in *" $name "*) return ;; esac
    "$@" | sed "s|^|$name\t|" >>"$lines" && return
    echo "$name failed" >&2
    failed="$failed$name "
}
for ((i = 1; i <= runs; i++)); do
    for program in "$@"; do
        echo "run $i of $runs: ${program##*/}" >&2
        once "${program##*/}" "$program"
    done
    case " $* " in *bench_evq*) [ -z "$python" ] || once simpy "$python" tests/bench/simpy_mm1.py ;; esac
done

text() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\\"' | tr '\t\n' '  ')"; }
package() { pkg-config --modversion "$1" 2>/dev/null || echo unknown; }
machine() {
    printf '{"processor": %s, "cores": %s, "memory_bytes": %s, "system": %s, "load": %s}' \
        "$(text "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)")" "$(nproc)" \
        "$(awk '/^MemTotal/ { print $2 * 1024 }' /proc/meminfo 2>/dev/null || echo null)" "$(text "$(uname -srm)")" \
        "$(text "$(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null)")"
}
versions() {
    printf '{"gpusim": %s, "commit": %s, "compiler": %s, "gsl": %s, "jansson": %s}' \
        "$(text "$("$B/gpusim" --version 2>/dev/null)")" "$(text "$(git rev-parse --short HEAD 2>/dev/null)")" \
        "$(text "$(${CC:-cc} --version 2>/dev/null | head -n 1)")" "$(text "$(package gsl)")" "$(text "$(package jansson)")"
}
head=$(printf '{\n  "format": "gpusim-bench/1", "date": "%s", "runs": %s,\n  "machine": %s,\n  "versions": %s,\n  "figures": [' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$runs" "$(machine)" "$(versions)")
awk -F'\t' -v json="$B/bench.json" -v head="$head" -v failed="$failed" '
    index(failed, " " $1 " ") { next }
    # one line of bench.h: everything up to the figure, the figure, two spaces, the unit, the ratio
    match($2, / +[-+0-9.einfa]+  [^ ]/) {
        name = substr($2, 1, RSTART - 1)
        split(substr($2, RSTART), part, " ")
        ratio = $2; sub(/.* /, "", ratio)
        unit = substr($2, RSTART + RLENGTH - 1); sub(/ +[-0-9.]+$/, "", unit)
        key = $1 "\t" name "\t" unit
        if (!(key in n)) order[++keys] = key
        value[key, ++n[key]] = part[1] + 0
        by[key, n[key]] = ratio
    }
    function sort(a, m,   i, j, x) {
        for (i = 2; i <= m; i++) { x = a[i]; for (j = i - 1; j > 0 && a[j] > x; j--) a[j + 1] = a[j]; a[j + 1] = x }
    }
    function median(a, m) { sort(a, m); return m % 2 ? a[(m + 1) / 2] : (a[m / 2] + a[m / 2 + 1]) / 2 }
    END {
        print head >json
        for (k = 1; k <= keys; k++) {
            key = order[k]; split(key, f, "\t"); m = n[key]; rated = 0
            for (i = 1; i <= m; i++) { v[i] = value[key, i]; if (by[key, i] != "-") r[++rated] = by[key, i] + 0 }
            mid = median(v, m)
            if (f[1] != last) print "== " f[1]
            last = f[1]
            share = rated ? sprintf("%.2f", median(r, rated)) : "-"
            printf "%-52s %10.4g  %-14s %6s  (%.4g to %.4g)\n", f[2], mid, f[3], share, v[1], v[m]
            gsub(/["\\]/, "", f[2])
            printf "    {\"bench\": \"%s\", \"name\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"low\": %.6g, \"high\": %.6g, \"ratio\": %s}%s\n", \
                f[1], f[2], f[3], mid, v[1], v[m], rated ? share : "null", k < keys ? "," : "" >json
        }
        print "  ]\n}" >json
    }' "$lines" || exit 1
echo "wrote $B/bench.json"
[ "$failed" = " " ] || { echo "failed:${failed% }" >&2; exit 1; }
