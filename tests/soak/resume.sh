#!/bin/bash
# kill -9 at random moments, fifty sweeps in a row, other moments each time. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
program=${B:-build/release}/tests/property/test_resume
make -s B="${B:-build/release}" "$program" >/dev/null || { echo 'not ok resume: does not build'; exit 1; }
GPUSIM_BIN=$(realpath "${GPUSIM_BIN:-build/gpusim}") || { echo 'not ok resume: no gpusim'; exit 1; }
GPUSIM_TEST_SEED=$(date +%s)
export GPUSIM_BIN GPUSIM_TEST_SEED GPUSIM_DATA=${GPUSIM_DATA:-scenarios} GPUSIM_SOAK=50 CMOCKA_MESSAGE_OUTPUT=STDOUT
said=$("$program") rc=$?
sed 's/^/# /' <<<"$said"
[ $rc = 0 ] && ! grep -q SKIPPED <<<"$said" || { echo 'not ok resume'; exit 1; }
echo 'ok resume: fifty sweeps killed'
