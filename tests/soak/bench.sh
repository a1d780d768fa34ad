#!/bin/bash
# Every benchmark runs, at a small size, and prints figures; the runner names one that fails, keeps the record of the
# others and ends with status 1. TAP on stdout.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
B=${B:-build/release}
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
n=0 bad=0
say() { n=$((n + 1)); [ "$1" = ok ] || bad=1; echo "$1 $n - $2"; }
check() { local what=$1; shift; if "$@" >"$tmp/log" 2>&1; then say ok "$what"; else say 'not ok' "$what"; tail -5 "$tmp/log" | sed 's/^/# /'; fi; }
figures() { timeout 120 "$@" >"$tmp/figures" 2>&1; local rc=$?; cat "$tmp/figures"; [ $rc = 0 ] && [ -s "$tmp/figures" ]; }

if ! make -s B="$B" benches >"$tmp/log" 2>&1; then
    say 'not ok' 'the benchmarks do not build'; tail -5 "$tmp/log" | sed 's/^/# /'; echo "1..$n"; exit 1
fi
GPUSIM_BIN=$(realpath "$B/gpusim"); export GPUSIM_BIN GPUSIM_DATA=scenarios
for source in tests/bench/bench_*.c; do
    name=$(basename "$source" .c) size=1000
    case $name in
    bench_evq | bench_speeds) size= ;; # of one size
    bench_sweep) size='4 1000' ;;
    bench_tco) size=scenarios/whose-turn.json ;;
    esac
    # shellcheck disable=SC2086
    check "$name" figures "$B/tests/bench/$name" $size
done

printf '#!/bin/sh\necho "one figure  1  s  -"\n' >"$tmp/good"
printf '#!/bin/sh\necho "half a figure  1  s  -"; exit 3\n' >"$tmp/bad"
printf '#!/bin/sh\necho "another figure  2  s  -"\n' >"$tmp/last"
chmod +x "$tmp/good" "$tmp/bad" "$tmp/last"
B=$tmp BENCH_RUNS=2 tests/run_bench.sh "$tmp/good" "$tmp/bad" "$tmp/last" >"$tmp/out" 2>"$tmp/err"
check 'a program that fails: status 1' test $? = 1
check 'it is named' grep -qx 'failed: bad' "$tmp/err"
check 'the record has those before it' grep -q 'one figure' "$tmp/bench.json"
check 'and after it' grep -q 'another figure' "$tmp/bench.json"
check 'and none of its own' bash -c '! grep -q "half a figure" "$1"' sh "$tmp/bench.json"
B=$tmp BENCH_RUNS=1 tests/run_bench.sh "$tmp/good" >"$tmp/out" 2>&1
check 'all run: status 0' test $? = 0
echo "1..$n"
exit $bad
