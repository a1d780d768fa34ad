#!/bin/bash
# kill -9 at random moments, fifty sweeps in a row, other moments each time. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
program=${B:-build/release}/tests/property/test_resume
make -s B="${B:-build/release}" "$program" >/dev/null || { echo 'not ok resume: does not build'; exit 1; }
GPUSIM_TEST_SEED=$(date +%s) GPUSIM_SOAK=50 CMOCKA_MESSAGE_OUTPUT=STDOUT
export GPUSIM_TEST_SEED GPUSIM_SOAK CMOCKA_MESSAGE_OUTPUT
if "$program" | sed 's/^/# /'; then echo 'ok resume: fifty sweeps killed'; else echo 'not ok resume'; exit 1; fi
