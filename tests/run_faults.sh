#!/bin/bash
# What happens when the world fails: full disks, closed pipes, files that cannot be read or vanish, signals, no
# memory, gnuplot missing, failing or hanging, a clock that jumps. Each time the exit status must be honest, and
# a file is whole or absent. TAP on stdout.
#
# usage: [GPUSIM_BIN=build/gpusim] [GPUSIM_VARIANT=release] tests/run_faults.sh [WORD]
#
# An interrupted `run` leaves partial results, marked as such; a killed one none: result.json and report.html
# appear last, whole, or not at all.
# (`sweep` keeps finished points: property/test_resume.)
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
gpusim=${GPUSIM_BIN:-$PWD/build/gpusim} variant=${GPUSIM_VARIANT:-release} word=${1-}
case $gpusim in /*) ;; *) gpusim=$PWD/$gpusim ;; esac
export GPUSIM_DATA=${GPUSIM_DATA:-$PWD/scenarios}
case $GPUSIM_DATA in /*) ;; *) GPUSIM_DATA=$PWD/$GPUSIM_DATA ;; esac
tmp=$(mktemp -d); trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
n=0 bad=0 why=
sanitized=; case $variant in asan | ubsan | sanitize | tsan | coverage) sanitized=1 ;; esac

# fault NAME COMMAND...: a function of that name; it calls wrong() for what must not be.
wrong() { why="$why; $*"; }
fault() {
    case $1 in *"$word"*) ;; *) return ;; esac
    n=$((n + 1)) why= skip=
    rm -rf "$tmp/d"; mkdir "$tmp/d"
    "$2" "${@:3}"
    if [ -n "$skip" ]; then echo "ok $n - $1 # SKIP $skip"
    elif [ -z "$why" ]; then echo "ok $n - $1"
    else bad=$((bad + 1)); echo "not ok $n - $1${why}"; sed 's/^/# /' "$tmp/err" | tail -5
    fi
}
# ends STATUS COMMAND...: talk goes to $tmp/err
ends() {
    local want=$1 got=0; shift
    "$@" 2>"$tmp/err" || got=$?
    [ "$got" = "$want" ] || wrong "$* ended with $got, expected $want"
}
says() { grep -qF "$1" "$tmp/err" || wrong "it does not say '$1'"; }
absent() { local f; for f in "$@"; do [ ! -e "$f" ] || wrong "$f is there"; done; }
there() { local f; for f in "$@"; do [ -s "$f" ] || wrong "$f is missing"; done; }
no_litter() { local f; for f in $(find "$1" -name '*.tmp*'); do wrong "$f was left"; done; }
as_nobody() { # unreadable files are readable to root
    if [ "$(id -u)" != 0 ]; then "$@"; elif command -v setpriv >/dev/null; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else return 99; fi
}

cat >"$tmp/small.json" <<'J'
{ "format": "gpusim-scenario/1", "name": "small", "work": [ { "name": "w", "kind": "jobs", "trace": "small.csv" } ],
  "fleet": [ { "name": "pool", "gpu": "a100-sxm4-40gb", "nodes": 2, "gpus_per_node": 2 } ],
  "policies": [ { "name": "whole", "share": { "kind": "whole" } }, { "name": "mps", "share": { "kind": "mps" } } ] }
J
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 300; i++) print "j" i "," 7 * i "," 50 + i % 17 "," 1 + i % 2 }' >"$tmp/small.csv"
sed 's/small/large/g' "$tmp/small.json" >"$tmp/large.json"
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 1500000; i++) print "j" i "," 20 * i "," 30 + i % 37 "," 1 }' >"$tmp/large.csv"

# ---- the disk is full ----

full_stdout() {
    [ -w /dev/full ] || { skip='no /dev/full'; return; }
    local c
    for c in 'list gpus' 'gpu t4' 'mig a30 --layouts' 'check --help' 'help run' "run $tmp/small.json --resolved" \
        "run $tmp/small.json --no-report -q -o $tmp/d/run" 'validate' "generate $GPUSIM_DATA/workloads/notebooks.json" \
        'import --format list' "trace stat $tmp/small.csv" 'tco scenarios/tco-l40s.json --format json'; do
        # shellcheck disable=SC2086
        ends 4 "$gpusim" $c >/dev/full
    done
}
closed_stdout() {
    ends 4 "$gpusim" list gpus >&-
    ends 4 "$gpusim" run "$tmp/small.json" --no-report -q -o "$tmp/d/run" >&-
    there "$tmp/d/run/result.json" # the files were written all the same, and no file took number 1
    ends 0 "$gpusim" check "$tmp/d/run/result.json" </dev/null
    "$gpusim" list gpus 2>&- >"$tmp/d/out" <&- || wrong "all else closed: $?"
    there "$tmp/d/out"
}
closed_pipe() { # the reader went away: the signal ends us, quietly
    ( "$gpusim" gpu h100-sxm5-80gb --format json 2>"$tmp/err"; echo $? >"$tmp/status" ) | head -c 1 >/dev/null
    case $(cat "$tmp/status") in 141 | 0 | 4) ;; *) wrong "status $(cat "$tmp/status")" ;; esac
}
full_file() {
    local f
    [ -w /dev/full ] || { skip='no /dev/full'; return; }
    for f in scenario.resolved.json jobs.csv series.csv tco.csv; do
        rm -rf "$tmp/d/run"; mkdir "$tmp/d/run"; ln -s /dev/full "$tmp/d/run/$f"
        ends 4 "$gpusim" run "$tmp/small.json" --no-report -q -o "$tmp/d/run"
        says "$f"
        absent "$tmp/d/run/result.json"; no_litter "$tmp/d"
    done
    ends 4 "$gpusim" generate "$GPUSIM_DATA/workloads/generate-philly.json" -o /dev/full
    ends 4 "$gpusim" import native "$tmp/small.csv" -o /dev/full
}
full_folder() { # a file system of 64 KiB
    cat >"$tmp/d/go" <<'S'
mount -t tmpfs -o size=64k none "$1" || exit 99
shift
"$@"
S
    mkdir "$tmp/d/mnt"
    unshare -rm sh "$tmp/d/go" "$tmp/d/mnt" true 2>/dev/null || { skip='no user namespaces to mount a file system in'; return; }
    local c
    "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/a" >/dev/null
    for c in "import native $tmp/large.csv -o $tmp/d/mnt/t.csv" "run $tmp/small.json -q -o $tmp/d/mnt/run" \
        "generate $GPUSIM_DATA/workloads/generate-philly.json -o $tmp/d/mnt/t.csv" "compare $tmp/d/a $tmp/d/a -o $tmp/d/mnt" \
        "sweep $tmp/small.json --vary fleet.pool.nodes=2..9 --replications 9 -q -o $tmp/d/mnt/sweep"; do
        # shellcheck disable=SC2086
        ends 4 unshare -rm sh -c "$(cat "$tmp/d/go"); rc=\$?; find $tmp/d/mnt -name '*.json' -size 0 -o -name '*.tmp*' -o -name t.csv | sed s/^/left:/ >&2; exit \$rc" sh "$tmp/d/mnt" "$gpusim" $c
        says 'No space left on device'
        ! grep -q ^left: "$tmp/err" || wrong "$(grep ^left: "$tmp/err")"
    done
}

# ---- files ----

unreadable() {
    cp "$tmp/small.json" "$tmp/small.csv" "$tmp/d"; chmod 755 "$tmp" "$tmp/d"; chmod 000 "$tmp/d/small.csv"
    as_nobody test -x "$gpusim" || { skip='the binary cannot be run by another user'; return; }
    as_nobody test -r "$tmp/d/small.csv" && { skip='files cannot be made unreadable here'; return; }
    ends 4 as_nobody "$gpusim" run "$tmp/d/small.json" -o "$tmp/d/run"; says small.csv
    ends 4 as_nobody "$gpusim" check "$tmp/d/small.csv"; says small.csv
    ends 4 as_nobody "$gpusim" import native "$tmp/d/small.csv"; says small.csv
    chmod 000 "$tmp/d/small.json"
    ends 4 as_nobody "$gpusim" run "$tmp/d/small.json"; says small.json
    absent "$tmp/d/run"
}
no_file() {
    cp "$tmp/small.json" "$tmp/d"; mkdir "$tmp/d/small.csv"
    ends 3 "$gpusim" run "$tmp/d/small.json" -o "$tmp/d/run"; says 'found a directory'
    rmdir "$tmp/d/small.csv"; ln -s small.csv "$tmp/d/small.csv"
    ends 4 "$gpusim" run "$tmp/d/small.json" -o "$tmp/d/run"; says small.csv # a link to itself
    ends 4 "$gpusim" run "$tmp/d/none.json"; says none.json
    ends 4 "$gpusim" tco "$tmp/d/none.json"
    ends 4 "$gpusim" report "$tmp/d/none"
    ends 4 "$gpusim" run "$tmp/small.json" -o "$tmp/small.csv/run"; says small.csv
    there "$tmp/small.csv"
}
vanishes() { # the trace goes away while it is replayed: the answer is right, or there is none
    local rc=0
    cp "$tmp/large.json" "$tmp/d"; cp "$tmp/large.csv" "$tmp/d"
    "$gpusim" run "$tmp/d/large.json" -q --no-report --jobs 1 -o "$tmp/d/run" >/dev/null 2>"$tmp/err" & local pid=$!
    while [ ! -d "$tmp/d/run" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    rm "$tmp/d/large.csv"
    wait $pid || rc=$?
    case $rc in 0) there "$tmp/d/run/result.json" ;; 4) absent "$tmp/d/run/result.json"; says large.csv ;; *) wrong "status $rc" ;; esac
    no_litter "$tmp/d"
}
shrinks() { # or is cut short
    local rc=0
    cp "$tmp/large.json" "$tmp/d"; cp "$tmp/large.csv" "$tmp/d"
    "$gpusim" run "$tmp/d/large.json" -q --no-report --jobs 1 -o "$tmp/d/run" >/dev/null 2>"$tmp/err" & local pid=$!
    while [ ! -d "$tmp/d/run" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    truncate -s 2000007 "$tmp/d/large.csv"
    wait $pid || rc=$?
    case $rc in 3 | 4) absent "$tmp/d/run/result.json"; says large.csv ;; *) wrong "status $rc: the trace changed under it and it did not notice" ;; esac
}

# ---- signals ----

# start COMMAND...: in the background, as a foreground command gets its signals; waits until it is at work
start() {
    mkdir -p "$tmp/d/run"; echo old >"$tmp/d/run/result.json"
    ( trap - INT TERM; exec env --default-signal=INT,TERM "$@" -o "$tmp/d/run" ) >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    while [ -e "$tmp/d/run/result.json" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    sleep 0.1
}
interrupted() { # partial results, marked; nobody takes them for the whole
    local rc=0 pid result
    start "$gpusim" run "$tmp/large.json" --jobs 1
    kill -"$1" $pid || wrong 'it had ended before'
    wait $pid || rc=$?
    [ $rc = "$2" ] || wrong "status $rc, expected $2"
    says "SIG$1"; says 'partial'
    no_litter "$tmp/d"; absent "$tmp/d/run/report.html"; there "$tmp/d/run/jobs.csv" "$tmp/d/run/series.csv"
    result=$tmp/d/run/result.json
    [ "$(grep -c '"interrupted": true' "$result")" = 2 ] || wrong 'policies are not marked'
    [ "$(grep -c '"stable": true' "$result")" = 0 ] || wrong 'an interrupted policy is stable'
    grep -q '"comparison": \[\]' "$result" && grep -q '"decisions": \[\]' "$result" || wrong 'it compares or advises'
    grep -q '"submitted": 0,' "$result" || wrong 'the second policy had begun: one at a time was asked for'
    grep -q '"completed": [1-9]' "$result" || wrong 'the first policy has completed nothing'
    ends 0 "$gpusim" check "$tmp/d/run/result.json"
    ends 3 "$gpusim" compare "$tmp/d/run" "$tmp/d/run"; says 'interrupted'
    ends 3 "$gpusim" tco "$tmp/d/run" --prices "$GPUSIM_DATA/prices/default.json"; says 'interrupted'
    ends 0 "$gpusim" report "$tmp/d/run"; grep -q 'partial results' "$tmp/d/run/report.html" || wrong 'the page does not say it'
    ends 0 "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/run" >/dev/null # nothing is in the way of the next one
    ! grep -q interrupted "$tmp/d/run/result.json" || wrong 'what is whole is marked'
}
signal() {
    local rc=0 pid
    start "$gpusim" run "$tmp/large.json" --no-report
    kill -"$1" $pid || wrong 'it had ended before'
    wait $pid || rc=$?
    [ $rc = "$2" ] || wrong "status $rc, expected $2"
    [ ! -s "$tmp/out" ] || wrong 'it printed a result'
    absent "$tmp/d/run/result.json" "$tmp/d/run/report.html"; no_litter "$tmp/d"
    ends 0 "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/run" >/dev/null # nothing is in the way of the next one
    there "$tmp/d/run/result.json"
}

# ---- memory ----

no_memory() {
    [ -z "$sanitized" ] || { skip='sanitizers need all the address space'; return; }
    local kib rc status=
    for kib in 12000 20000 30000 45000 70000 110000; do
        rm -rf "$tmp/d/run"; rc=0
        ( ulimit -v $kib; exec "$gpusim" run "$tmp/small.json" -q --no-report --jobs 2 -o "$tmp/d/run" ) >/dev/null 2>"$tmp/err" || rc=$?
        status="$status $rc"
        case $rc in
        0) there "$tmp/d/run/result.json" ;;
        5) says 'out of memory'; absent "$tmp/d/run/result.json" ;;
        4 | 127) ;; # a thread could not be started; the loader could not map the libraries
        *) wrong "status $rc with $kib KiB" ;;
        esac
        [ ! -d "$tmp/d/run" ] || no_litter "$tmp/d/run"
    done
    case $status in *5*) ;; *) wrong "none of these limits was too small:$status" ;; esac
    case $status in *0) ;; *) wrong "none of these limits was enough:$status" ;; esac
}

no_memory_at_all() { # each command with a little more each time: status 5 and nothing, then all of it
    [ -z "$sanitized" ] || { skip='sanitizers need all the address space'; return; }
    local kib rc five name line f
    "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/a" >/dev/null
    "$gpusim" run "$tmp/small.json" -q --no-report --seed 2 -o "$tmp/d/b" >/dev/null
    while read -r name line; do
        five=0
        for kib in 9600 10000 10400 10800 11300 11900 12600 14000 17000 23000 40000 120000; do
            rm -rf "$tmp/d/out"; mkdir "$tmp/d/out"; rc=0
            # shellcheck disable=SC2086
            ( ulimit -c 0 -v $kib; exec "$gpusim" $line ) >"$tmp/out" 2>"$tmp/err" || rc=$?
            case $rc in
            0) ;;
            5) five=$((five + 1)); says 'out of memory'
               for f in "$tmp"/d/out/*.csv "$tmp"/d/out/*.html; do [ ! -e "$f" ] || wrong "$name with $kib KiB left ${f##*/}"; done ;;
            4) grep -qE 'thread|process' "$tmp/err" || wrong "$name with $kib KiB: status 4" ;;
            127) ;; # the loader
            *) wrong "$name with $kib KiB: status $rc" ;;
            esac
            no_litter "$tmp/d/out"
        done
        [ $rc = 0 ] || wrong "$name: 120 MB are not enough"
        [ $five -gt 0 ] || wrong "$name: none of these limits was too small"
    done <<L
sweep sweep $tmp/small.json --vary fleet.pool.nodes=2..3 -q -o $tmp/d/out/s
size size $tmp/small.json --slo jobs.wait_s.p95<=1000000
import import native $tmp/small.csv -o $tmp/d/out/t.csv
generate generate $GPUSIM_DATA/workloads/generate-philly.json -o $tmp/d/out/g.csv
trace trace stat $tmp/small.csv
tco tco $GPUSIM_DATA/tco-l40s.json --monte-carlo 1000
stored tco $tmp/d/a --prices $GPUSIM_DATA/prices/default.json
compare compare $tmp/d/a $tmp/d/a --unpaired
check check $tmp/small.json
validate validate --set mig_scaling
L
}

any_allocation() { # the n-th allocation fails, and all after it: in our own code, in libraries, in the C library
    [ -z "$sanitized" ] || { skip='sanitizers have an allocator of their own'; return; }
    local cc name line at rc ends
    cc=$(command -v cc || command -v gcc) || { skip='no compiler'; return; }
    cat >"$tmp/alloc.c" <<'C'
#include <errno.h>
#include <stdlib.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static long calls, fail_at = -1;
static int fails(void)
{
    if (fail_at < 0) { const char *s = getenv("FAIL_AT"); fail_at = s ? atol(s) : 0; }
    if (__sync_add_and_fetch(&calls, 1) < fail_at) return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t n) { return fails() ? 0 : __libc_malloc(n); }
void *calloc(size_t a, size_t b) { return fails() ? 0 : __libc_calloc(a, b); }
void *realloc(void *p, size_t n) { return fails() ? 0 : __libc_realloc(p, n); }
C
    "$cc" -shared -fPIC -o "$tmp/alloc.so" "$tmp/alloc.c" 2>"$tmp/err" || { skip='not the C library of GNU'; return; }
    LD_PRELOAD=$tmp/alloc.so FAIL_AT=2 "$gpusim" list gpus >/dev/null 2>&1
    [ $? = 5 ] || wrong 'the second allocation did not fail'
    "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/a" >/dev/null
    gzip -c "$tmp/small.csv" >"$tmp/d/t.csv.gz"
    if command -v xz >/dev/null; then xz -c "$tmp/small.csv" >"$tmp/d/t.csv.xz"; else cp "$tmp/small.csv" "$tmp/d/t.csv.xz"; fi
    while read -r name line; do
        ends=0
        for at in $(seq 1 3 130) $(seq 131 41 900) $(seq 901 379 12000); do
            rc=0
            # shellcheck disable=SC2086
            ( ulimit -c 0; LD_PRELOAD=$tmp/alloc.so FAIL_AT=$at exec timeout 60 "$gpusim" $line ) >/dev/null 2>"$tmp/err" || rc=$?
            case $rc in
            5) ends=$((ends + 1)); says 'out of memory' ;;
            0) break ;; # it needs no more
            *) wrong "$name, allocation $at: status $rc: $(head -n 1 "$tmp/err")" ;;
            esac
        done
        [ $ends -gt 3 ] || wrong "$name: it failed $ends times"
    done <<L
gpu gpu t4
import import native $tmp/small.csv
gzip import native $tmp/d/t.csv.gz
xz import native $tmp/d/t.csv.xz
yaml import kubernetes traces/samples/kubernetes/pods.yaml
xml import nvidia-smi traces/samples/nvidia-smi/twice.xml
generate generate $GPUSIM_DATA/workloads/notebooks.json -o $tmp/d/g.csv
check check $tmp/small.json
run run $tmp/small.json -q --no-report -o $tmp/d/run
report report $tmp/d/a
compare compare $tmp/d/a $tmp/d/a --unpaired
tco tco $GPUSIM_DATA/tco-l40s.json --monte-carlo 100
sobol sweep $tmp/small.json --vary fleet.pool.nodes=2..3 --design sobol:2 -q -o $tmp/d/s
fit validate --set lucid
L
}
small_stack() {
    [ -z "$sanitized" ] || { skip='sanitizers need more of it'; return; }
    ends 5 bash -c 'ulimit -s 128; exec "$@"' sh "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/run"
    says 'limited to 128 KiB, expected at least 1024 KiB'; absent "$tmp/d/run"
    ends 0 bash -c 'ulimit -S -s 128; exec "$@"' sh "$gpusim" run "$tmp/small.json" -q --no-report --jobs 2 -o "$tmp/d/run" >/dev/null
    ends 0 bash -c 'ulimit -s 1024; exec "$@"' sh "$gpusim" run "$GPUSIM_DATA/mixed.json" -q --no-report -o "$tmp/d/run" >/dev/null
    ends 0 bash -c 'ulimit -s 1024; exec "$@"' sh "$gpusim" validate >/dev/null
    { printf '{"format": "gpusim-scenario/1", "fleet": '; head -c 2040 /dev/zero | tr '\000' '['; head -c 2040 /dev/zero | tr '\000' ']'; printf '}'; } >"$tmp/d/deep.json"
    ends 1 bash -c 'ulimit -s 1024; exec "$@"' sh "$gpusim" check "$tmp/d/deep.json" >/dev/null
}

# ---- input without end ----

# within KIB STATUS SAYS COMMAND...: with little memory, so that what is read cannot all be kept
within() {
    local kib=$1 status=$2 text=$3; shift 3
    [ -z "$sanitized" ] || kib=unlimited
    ends "$status" bash -c 'ulimit -v $0; exec timeout 60 "$@"' "$kib" "$@" >/dev/null
    says "$text"
}
endless() { # one line of 2 GiB
    yes aaaaaaaaaaaaaaa 2>/dev/null | tr -d '\n' | head -c "${1:-2147483648}"
}
endless_line() {
    within 300000 1 'more than 16 MiB' "$gpusim" check /dev/stdin < <(echo job_id,submit_s,duration_s,gpus; endless)
    within 300000 3 'more than 16 MiB' "$gpusim" import native - < <(echo job_id,submit_s,duration_s,gpus; endless)
    within 300000 3 'more than 16 MiB' "$gpusim" import helios - < <(endless)
}
endless_json() {
    head -c 70000000 /dev/zero | tr '\000' '[' >"$tmp/d/deep.json"
    within 600000 3 'larger than 64 MiB' "$gpusim" run "$tmp/d/deep.json"
    head -c 1000000 /dev/zero | tr '\000' '[' >"$tmp/d/deep.json"
    within 300000 3 'maximum parsing depth' "$gpusim" run "$tmp/d/deep.json"
    { printf '{"format": "gpusim-scenario/1", "name": "'; head -c 9000000 /dev/zero | tr '\000' x; printf '"}'; } >"$tmp/d/long.json"
    within 300000 3 'expected a member "fleet"' "$gpusim" run "$tmp/d/long.json"
}
endless_copy() { # what is no file is copied, but not for ever
    local c mib=1048576
    export GPUSIM_SPOOL_BYTES=$((20 * mib))
    for c in 'import auto /dev/zero' 'import native -' 'import philly -' 'trace stat -' 'validate --measured -' \
        "import synergy $tmp/small.csv --rates /dev/zero" "import openb $tmp/small.csv --nodes -"; do
        # shellcheck disable=SC2086
        within 300000 5 'more than the 20971520 bytes' "$gpusim" $c < <(echo job_id,submit_s,duration_s,gpus; yes j1,1,2,1 2>/dev/null)
    done
    within 300000 1 'more than the 20971520 bytes' "$gpusim" check - < <(yes '' 2>/dev/null)
    within 300000 0 '' "$gpusim" import native - < <(cat "$tmp/small.csv")
    GPUSIM_SPOOL_BYTES=$(wc -c <"$tmp/small.csv") within 300000 0 '' "$gpusim" import native - < <(cat "$tmp/small.csv") # just enough
    GPUSIM_SPOOL_BYTES=$(($(wc -c <"$tmp/small.csv") - 1)) within 300000 5 'GPUSIM_SPOOL_BYTES' "$gpusim" import native - < <(cat "$tmp/small.csv")
    GPUSIM_SPOOL_BYTES=20MB within 300000 2 'a whole number of bytes' "$gpusim" import native - <"$tmp/small.csv"
    GPUSIM_SPOOL_BYTES=0 within 300000 2 'a whole number of bytes' "$gpusim" import native - <"$tmp/small.csv"
    unset GPUSIM_SPOOL_BYTES
    # JSON is read into memory, up to 64 MiB; what every policy reads again must be a file
    within 600000 3 'larger than 64 MiB' "$gpusim" gpu t4 --profile /dev/zero
    within 600000 3 'larger than 64 MiB' "$gpusim" generate /dev/zero
    within 300000 3 'found a device' "$gpusim" run "$tmp/small.json" --set work.w.trace=/dev/zero -q
}
file_size() { # the shell's limit, in KiB: an error, not a signal; nothing is left
    local c f
    for c in "import native $tmp/large.csv -o $tmp/d/t.csv" "generate $GPUSIM_DATA/workloads/generate-philly.json -o $tmp/d/t.csv" \
        "run $tmp/small.json -q --no-report -o $tmp/d/run"; do
        # shellcheck disable=SC2086
        ends 4 bash -c 'ulimit -f 8; exec "$@"' sh "$gpusim" $c >/dev/null
        says 'File too large'
        absent "$tmp/d/t.csv" "$tmp/d/t.csv.account.json" "$tmp/d/t.csv.quarantine.csv" "$tmp/d/run/result.json"; no_litter "$tmp/d"
    done
}
half_of_the_disk() { # of 1 MiB
    cat >"$tmp/d/go" <<'S'
mount -t tmpfs -o size=1m none "$1" || exit 99
export TMPDIR=$1; shift
"$@"
S
    mkdir "$tmp/d/mnt"
    unshare -rm sh "$tmp/d/go" "$tmp/d/mnt" true 2>/dev/null || { skip='no user namespaces to mount a file system in'; return; }
    ends 5 unshare -rm sh "$tmp/d/go" "$tmp/d/mnt" timeout 60 "$gpusim" import auto /dev/zero
    says '524288 bytes that are half of what is free'
}
zip_bomb() { # 1 GiB in 1 MiB: lines of no end, or documents that must be read whole
    { echo job_id,submit_s,duration_s,gpus; endless 1073741824; } | gzip -1 >"$tmp/d/bomb.csv.gz"
    within 300000 1 'more than 16 MiB' "$gpusim" check "$tmp/d/bomb.csv.gz"
    { echo '[{"jobid": "'; endless 1073741824; } | gzip -1 >"$tmp/d/bomb.json.gz"
    within 900000 3 'MiB' "$gpusim" import philly "$tmp/d/bomb.json.gz"
    # short lines, none of use
    { echo job_id,submit_s,duration_s,gpus; yes x | head -c 268435456; } | gzip >"$tmp/d/lines.csv.gz"
    within 300000 3 'the first 1000000 rows are all quarantined' "$gpusim" import native "$tmp/d/lines.csv.gz" -o "$tmp/d/lines.csv"
    absent "$tmp/d/lines.csv" "$tmp/d/lines.csv.quarantine.csv"
}
no_shell() { # names are names: nothing is run, nothing outside the folder is written
    cd "$tmp/d" || return
    cat >'a; touch x & `touch y` $(touch z) | w.csv' <"$tmp/small.csv"
    sed 's/small.csv/a; touch x \& `touch y` $(touch z) | w.csv/; s/"whole", "share"/"q$(touch p)", "share"/' "$tmp/small.json" >s.json
    ends 3 "$gpusim" run s.json -o out; says '/policies/0/name'
    sed 's/small.csv/a; touch x \& `touch y` $(touch z) | w.csv/; s/"pool"/"pool$(touch n)"/' "$tmp/small.json" >s.json
    "$gpusim" run s.json -q -o 'o; touch q' >/dev/null 2>"$tmp/err" || says 'expected'
    "$gpusim" import native 'a; touch x & `touch y` $(touch z) | w.csv' -o 'b; touch r' >/dev/null 2>&1
    awk 'NR > 1 { sub(/^j/, "$(touch u)`touch v`\\\"\x27"); } { print }' "$tmp/small.csv" >small.csv; cp "$tmp/small.json" .
    "$gpusim" run small.json -q -o out >/dev/null 2>"$tmp/err" || says gnuplot
    absent x y z w p q n r u v out/u out/plots/u out/v out/plots/v
    cd - >/dev/null || return
}

# ---- gnuplot ----

fake() { mkdir -p "$tmp/d/bin"; printf '#!/bin/sh\n%s\n' "$1" >"$tmp/d/bin/gnuplot"; chmod +x "$tmp/d/bin/gnuplot"; }
pictures() { # what the fake does, what must be said
    [ -z "$1" ] || fake "$1"
    mkdir -p "$tmp/d/bin"
    ends 4 env PATH="$tmp/d/bin" GPUSIM_PLOT_S=1 "$gpusim" run "$tmp/small.json" -o "$tmp/d/run" >"$tmp/out"
    says "$2"
    there "$tmp/d/run/result.json" "$tmp/d/run/report.html" "$tmp/out"; no_litter "$tmp/d"
    grep -q 'not drawn' "$tmp/d/run/report.html" || wrong 'the report does not say what is missing'
}
hangs() {
    local from=$SECONDS
    pictures 'exec /bin/sleep 300' 'still busy'
    [ $((SECONDS - from)) -lt 30 ] || wrong "it took $((SECONDS - from)) s"
    pictures 'exec /bin/sleep 300 >/dev/null 2>&1' 'still busy' # with its mouth shut
}

# ---- the clock ----

clock_steps() {
    [ -z "$sanitized" ] || { skip='sanitizers come first'; return; }
    local cc; cc=$(command -v cc || command -v gcc) || { skip='no compiler'; return; }
    cat >"$tmp/clock.c" <<'C'
#include <time.h>
static long calls;
static long step(void) { return calls++ % 3 ? 100000000 : -5000; }
time_t time(time_t *t) { const time_t now = 1000000000 + step(); if (t) *t = now; return now; }
int clock_gettime(clockid_t id, struct timespec *t) { (void)id; t->tv_sec = 2000000000 + step(); t->tv_nsec = 0; return 0; }
C
    "$cc" -shared -fPIC -o "$tmp/clock.so" "$tmp/clock.c" 2>"$tmp/err" || { wrong 'the clock does not compile'; return; }
    ends 0 "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/a" >/dev/null
    ends 0 env LD_PRELOAD="$tmp/clock.so" "$gpusim" run "$tmp/small.json" -q --no-report -o "$tmp/d/b" >/dev/null
    rm -f "$tmp"/d/?/timing.json
    diff -r "$tmp/d/a" "$tmp/d/b" >/dev/null || wrong 'the result depends on the clock'
}

fault 'standard output is full' full_stdout
fault 'standard output is closed' closed_stdout
fault 'the reader of the pipe is gone' closed_pipe
fault 'an output file is on a full disk' full_file
fault 'the output folder is on a full disk' full_folder
fault 'files may not grow' file_size
fault 'input cannot be read' unreadable
fault 'input is no file' no_file
fault 'the trace vanishes' vanishes
fault 'the trace is cut short' shrinks
fault 'interrupted from the keyboard' interrupted INT 130
fault 'asked to end' interrupted TERM 143
fault 'killed' signal KILL 137
fault 'memory runs out' no_memory
fault 'memory runs out, whatever the command' no_memory_at_all
fault 'memory runs out at any allocation' any_allocation
fault 'the stack is small' small_stack
fault 'a line without end' endless_line
fault 'JSON without end' endless_json
fault 'a pipe or a device without end' endless_copy
fault 'a device without end and a small disk' half_of_the_disk
fault 'a zip bomb' zip_bomb
fault 'names that a shell would run' no_shell
fault 'gnuplot is missing' pictures '' 'gnuplot is not installed'
fault 'gnuplot fails' pictures 'echo no such terminal >&2; exit 3' 'no such terminal'
fault 'gnuplot does not start' pictures 'echo libgd.so.3: failed to map segment; exit 127' 'gnuplot does not start: libgd.so.3'
fault 'gnuplot crashes' pictures 'kill -SEGV $$' 'gnuplot failed'
fault 'gnuplot draws nothing' pictures 'exit 0' 'gnuplot drew nothing'
fault 'gnuplot hangs' hangs
fault 'the clock jumps' clock_steps
echo "1..$n"
[ $bad = 0 ]
