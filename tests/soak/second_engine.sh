#!/bin/bash
# Two thousand random scenarios against the second engine, of jobs and of services, other ones each time. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
GPUSIM_TEST_SEED=$(date +%s) GPUSIM_SOAK=2000 GPUSIM_DATA=scenarios CMOCKA_MESSAGE_OUTPUT=STDOUT
export GPUSIM_TEST_SEED GPUSIM_SOAK GPUSIM_DATA CMOCKA_MESSAGE_OUTPUT
bad=0
for name in second_engine second_services; do
    program=${B:-build/release}/tests/oracle/test_$name
    make -s B="${B:-build/release}" "$program" >/dev/null || { echo "not ok $name: does not build"; exit 1; }
    said=$("$program" 2>&1) rc=$?
    grep -v '^gpusim: ' <<<"$said" | sed 's/^/# /' # not its warnings of each scenario
    if [ $rc = 0 ] && ! grep -q SKIPPED <<<"$said"; then echo "ok $name: two thousand scenarios agree"; else echo "not ok $name"; bad=1; fi
done
exit $bad
