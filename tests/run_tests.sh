#!/bin/bash
# Run test programs and the checks around them; add everything up.
#
# usage: B=build/release tests/run_tests.sh [--programs-only] PROGRAM...
#
# A PROGRAM is a cmocka program, or one that speaks TAP ("ok", "not ok", "# SKIP why"),
# as do the golden, malformed input, fault, header, layer, template and other checks that follow unless --programs-only. Every program gets
# TEST_TIMEOUT seconds (default 300). Logs: $B/log/. The last line is `N passed, N failed, N skipped`;
# failures print their log, skips are listed with their reason. Exit 1 when anything failed.
set -uo pipefail
export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL
extras=1
if [ "${1-}" = --programs-only ]; then extras=; shift; fi
log=${B:?}/log
rm -rf "$log"; mkdir -p "$log"
export log TEST_TIMEOUT=${TEST_TIMEOUT:-300} CMOCKA_MESSAGE_OUTPUT=STDOUT

# Name, then command: output to NAME.log, exit status to NAME.rc. The program has a process group of its
# own (timeout), so an interrupt is passed on: no test, nor what it started, goes on after a Ctrl-C.
run_one() {
    local name=$1; shift
    local from=$SECONDS rc=0 pid
    env --default-signal=INT,QUIT timeout -k 5 "$TEST_TIMEOUT" "$@" >"$log/$name.log" 2>&1 </dev/null &
    pid=$!
    trap 'kill -TERM $pid 2>/dev/null; wait $pid; exit 130' INT TERM HUP
    wait $pid || rc=$?
    trap - INT TERM HUP
    echo "$rc" >"$log/$name.rc"
    printf '  %-4s %s (%d s)\n' "$([ $rc = 0 ] && echo ok || echo FAIL)" "$name" $((SECONDS - from))
}
export -f run_one
name_of() { local p=${1#"$B"/}; p=${p#tests/}; echo "${p//\//.}"; }

for p in "$@"; do printf '%s\0%s\0' "$(name_of "$p")" "$p"; done |
    xargs -0 -r -n 2 -P "$(nproc)" bash -c 'run_one "$@"' run_one
if [ -n "$extras" ]; then
    # a time for each case, and six times that for all
    TEST_TIMEOUT=$((6 * TEST_TIMEOUT)) run_one golden env TEST_TIMEOUT="$TEST_TIMEOUT" tests/run_golden.sh
    run_one faults tests/run_faults.sh
    run_one bad tests/run_bad.sh
    case ${GPUSIM_VARIANT-} in
    asan | ubsan | sanitize | tsan | coverage) ;; # these see the sources, which are the same
    *)
        run_one layers tests/check_layers.sh
        run_one templates tests/check_templates.sh
        run_one coverage tests/check_coverage.sh
        run_one sizes tests/check_sizes.sh
        run_one lint tests/check_lint.sh
        run_one headers tests/check_headers.sh
        run_one mutants tests/run_mutants.sh --find
        ;;
    esac
fi

# One line for each test: "pass NAME", "fail NAME" or "skip NAME: reason".
results() {
    local f name rc
    for f in "$log"/*.log; do
        [ -e "$f" ] || continue
        name=${f##*/}; name=${name%.log}; rc=$(cat "$log/$name.rc")
        awk -v name="$name" -v rc="$rc" '
            function line(verdict, test) { print verdict " " name (test == "" ? "" : ": " test); n[verdict]++ }
            /^\[ RUN      \] /                   { said = ""; next }
            /^\[       OK \] /                   { line("pass", substr($0, 14)); next }
            /^\[  (FAILED|ERROR)   *\] / && !/ --- / && !/ test\(s\)/ { if (!tail) line("fail", substr($0, 14)); next }
            /^\[  SKIPPED \] / && !/ test\(s\)/  { if (!tail) line("skip", substr($0, 14) (said == "" ? "" : " (" said ")")); next }
            /^\[==========\] .* run\.$/          { tail = 1; next }
            /^\[==========\] Running/            { tail = 0; next }
            /^ok .*# SKIP/                       { sub(/^ok[ 0-9-]*/, ""); sub(/ # SKIP /, " ("); line("skip", $0 ")"); next }
            /^ok /                               { sub(/^ok[ 0-9-]*/, ""); line("pass", $0); next }
            /^not ok /                           { sub(/^not ok[ 0-9-]*/, ""); line("fail", $0); next }
            NF                                   { said = $0 }
            END {
                if (rc == 124 || rc == 137) line("fail", "ran out of time")
                else if (rc != 0 && !n["fail"]) line("fail", "exit status " rc)
                else if (!n["pass"] && !n["fail"] && !n["skip"]) line("fail", "ran no test")
            }' "$f"
    done
}
results >"$log/results"
for name in $(sed -n 's/^fail \([^:]*\).*/\1/p' "$log/results" | sort -u); do
    echo "---- $name"; tail -n 60 "$log/$name.log"
done
grep -E '^(fail|skip) ' "$log/results"
awk '{ n[$1]++ } END { printf "%d passed, %d failed, %d skipped\n", n["pass"], n["fail"], n["skip"] }' "$log/results"
! grep -q '^fail ' "$log/results" && [ -s "$log/results" ]
