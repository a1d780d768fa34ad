#!/bin/bash
# The same bytes whatever builds and runs it: gcc and clang, -O0 to -O3, machine code with and without fused
# multiply-add, the C library with and without it, 1, 2 and 4 threads. TAP on stdout.
#
# usage: tests/soak/determinism.sh [--accept]
#
# Every result folder but timing.json is compared with that of the first build; of jobs.csv, series.csv and services.csv
# the SHA-256 is kept in determinism.sha256 as well, so that a change from one commit to the next is seen. Where that is
# wanted, --accept stores the new ones.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
work=${B:-build/release}/determinism kept=tests/soak/determinism.sha256 n=0 bad=0
export GPUSIM_DATA=scenarios
say() { n=$((n + 1)); [ "$1" = ok ] || bad=1; echo "$1 $n - $2"; }
# what is replayed: a name, then arguments; all with a seed of their own where they draw
runs="mixed scenarios/mixed.json --set horizon=2d --set warmup=2h
faults scenarios/faults.json
turns scenarios/whose-turn.json
defrag scenarios/defrag.json
erlang scenarios/sizing-erlang.json --set horizon=2000s
service scenarios/sizing-service.json
planned scenarios/mixed.json --policy mig --set policies.mig.share.layout=planned --set policies.mig.share.forecast=oracle --set policies.mig.share.period=20min --set horizon=2d --set warmup=2h
chat scenarios/chat-and-jobs.json --set horizon=4h"

replay() { # BINARY FOLDER THREADS: hashes of everything on stdout; "failed" and why of a run that fails
    local name args
    rm -rf "$2"
    while read -r name args; do
        # shellcheck disable=SC2086
        "$1" run $args -q --no-report --jobs "$3" -o "$2/$name" >/dev/null 2>"$2.err" || { echo "failed $name: $(head -1 "$2.err")"; continue; }
        (cd "$2" && find "$name" -type f ! -name timing.json | sort | xargs sha256sum)
    done <<<"$runs"
}
build() { # NAME CC FLAGS
    make -s B="$work/$1" CC="$2" CFLAGS="$3" NVCC= "$work/$1/gpusim" >"$work/$1.log" 2>&1
}
compare() { # NAME, hashes in $work/NAME.sums
    # The same failure everywhere is not the same result.
    if grep '^failed ' "$work/$1.sums" >"$work/failed"; then
        say 'not ok' "$1: a run fails"; sed 's/^/# /' "$work/failed"
    elif cmp -s "$work/first.sums" "$work/$1.sums"; then say ok "$1: the same bytes"
    else say 'not ok' "$1: other bytes"; diff "$work/first.sums" "$work/$1.sums" | head -6 | sed 's/^/# /'; fi
}

mkdir -p "$work"
flags_fma=$(grep -qw fma /proc/cpuinfo 2>/dev/null && echo '-march=x86-64-v3')
if ! build first gcc '-O2 -g'; then say 'not ok' 'the first build fails'; tail -3 "$work/first.log" | sed 's/^/# /'; echo "1..$n"; exit 1; fi
replay "$work/first/gpusim" "$work/out" 1 >"$work/first.sums"
if grep '^failed ' "$work/first.sums" >"$work/failed"; then
    say 'not ok' 'a run fails in the first build'; sed 's/^/# /' "$work/failed"; echo "1..$n"; exit 1
fi
grep -E '/(jobs|series|services)\.csv$' "$work/first.sums" >"$work/new.sha256"
if [ "${1-}" = --accept ]; then cp "$work/new.sha256" $kept; fi
if diff $kept "$work/new.sha256" >"$work/diff"; then say ok 'as recorded'
else say 'not ok' 'not as recorded (--accept stores it)'; head -6 "$work/diff" | sed 's/^/# /'; fi
for threads in 2 4; do
    replay "$work/first/gpusim" "$work/out" $threads >"$work/threads-$threads.sums"; compare "threads-$threads"
done
if [ -n "$flags_fma" ]; then # the functions of the C library choose by the processor
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4 replay "$work/first/gpusim" "$work/out" 2 >"$work/libc-without-fma.sums"
    compare libc-without-fma
fi
while IFS='|' read -r name cc flags; do
    command -v "$cc" >/dev/null || { n=$((n + 1)); echo "ok $n - $name # SKIP no $cc"; continue; }
    case $name in *fma*) [ -n "$flags_fma" ] || { n=$((n + 1)); echo "ok $n - $name # SKIP this processor has no FMA"; continue; } ;; esac
    if ! build "$name" "$cc" "$flags"; then say 'not ok' "$name does not build"; tail -3 "$work/$name.log" | sed 's/^/# /'; continue; fi
    replay "$work/$name/gpusim" "$work/out" 2 >"$work/$name.sums"; compare "$name"
done <<F
gcc-O0|gcc|-O0
gcc-O3-fma|gcc|-O3 $flags_fma
clang-O2|clang|-O2
clang-O3-fma|clang|-O3 $flags_fma
F
echo "1..$n"
exit $bad
