#!/bin/bash
# Long runs.
#   1. A hundred million events in one run (some fifty million jobs, about two minutes): what it needs of memory is what a
#      run of a tenth of it needs, since only the jobs in the system are kept.
#   2. 24 core-minutes of whole runs under ASan and UBSan: each turn takes another seed, order, backfill, placement and shipped
#      scenario. Every run checks its conservation laws; a report of a sanitizer is a failure. SOAK_CORE_S: another length.
# TAP on stdout.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
root=$PWD gpusim=${GPUSIM_BIN:-$PWD/build/gpusim} core_s=${SOAK_CORE_S:-1440}
case $gpusim in /*) ;; *) gpusim=$root/$gpusim ;; esac
export GPUSIM_DATA=$root/scenarios
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
bad=0
tell() { if [ "$1" = 0 ]; then echo "ok $2"; else bad=1; echo "not ok $2"; fi; }
number() { grep -o "\"$2\": [0-9.e+]*" "$1" | head -n 1 | sed 's/.*: //'; }

# ---- a hundred million events ----

work() { # for so many days
    cat <<J
{ "format": "gpusim-generate/1", "name": "many", "source": "two jobs a second at random; nobody's trace", "horizon": "$1 d",
  "classes": [ { "name": "job", "class": "inference", "arrivals": { "kind": "poisson", "gap": "500 ms" },
    "duration": { "kind": "exponential", "mean": "40 s" }, "gpus": 1 } ] }
J
}
cat >"$tmp/long.json" <<'J'
{ "format": "gpusim-scenario/1", "name": "long", "work": [ { "name": "w", "kind": "generate", "spec": "work.json" } ],
  "fleet": [ { "name": "pool", "gpu": "generic", "nodes": 25, "gpus_per_node": 4 } ],
  "policies": [ { "name": "whole", "share": { "kind": "whole" } } ],
  "output": { "jobs": false, "sample": "1 d" } }
J
for days in 30 300; do
    work $days >"$tmp/work.json"
    "$gpusim" run "$tmp/long.json" --no-report -q -o "$tmp/$days" >/dev/null 2>"$tmp/err" || { tell 1 "events: run of $days days"; sed 's/^/# /' "$tmp/err"; }
    echo "# $days days: $(number "$tmp/$days/result.json" events) events," \
        "$(number "$tmp/$days/result.json" submitted) jobs, peak $(number "$tmp/$days/timing.json" peak_memory_bytes) bytes," \
        "$(number "$tmp/$days/timing.json" wall_s) s"
done
awk -v n="$(number "$tmp/300/result.json" events)" 'BEGIN { exit !(n >= 1e8) }'; tell $? 'events: a hundred million in one run'
awk -v a="$(number "$tmp/30/timing.json" peak_memory_bytes)" -v b="$(number "$tmp/300/timing.json" peak_memory_bytes)" \
    'BEGIN { exit !(a > 0 && b < 1.1 * a) }'; tell $? 'events: memory is that of a tenth of it'

# ---- under the sanitizers ----

make -s VARIANT=sanitize build/sanitize/gpusim >"$tmp/log" 2>&1 || { tell 1 'events: sanitized build'; tail -5 "$tmp/log"; exit 1; }
seed=$(date +%s)
echo "# seed $seed"
RANDOM=$((seed % 32768))
pick() { local a=("$@"); echo "${a[RANDOM % ${#a[@]}]}"; }
# Core-seconds of the programs that have ended. (Not in a subshell: that has children of its own.)
used() {
    times >"$tmp/times"
    spent=$(tail -n 1 "$tmp/times" | tr 'ms' '  ' | awk '{ printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }')
}
scenarios=(mixed chat-and-jobs dev-pool-300 faults defrag inference-peaks desktop-graphics whose-turn a100-mig-balanced)
runs=0 refused=0
used; from=$spent
while [ $((spent - from)) -lt "$core_s" ]; do
    name=$(pick "${scenarios[@]}") order=$(pick fifo sjf srtf priority fair las deadline drf) back=$(pick none easy conservative)
    place=$(pick first_fit best_fit worst_fit pack spread fgd random) s=$RANDOM
    rm -rf "$tmp/out"; rc=0
    timeout 600 build/sanitize/gpusim run "scenarios/$name.json" --no-report -q -o "$tmp/out" --seed $s --set "schedule.order=$order" \
        --set "schedule.backfill=$back" --set "schedule.place=$place" >/dev/null 2>"$tmp/err" || rc=$?
    runs=$((runs + 1)); used
    case $rc in
    0) ;;
    3) refused=$((refused + 1)) ;; # two settings that exclude each other, said so
    *) tell 1 "events: $name, seed $s, $order, $back, $place ended with $rc"; tail -20 "$tmp/err" | sed 's/^/# /' ;;
    esac
done
echo "# $runs runs in $((spent - from)) core-seconds, $refused refused"
[ $((runs - refused)) -gt 0 ]; tell $? 'events: runs under ASan and UBSan'
exit $bad
