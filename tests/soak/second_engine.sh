#!/bin/bash
# Two thousand random scenarios against the second engine, other ones each time. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
program=${B:-build/release}/tests/oracle/test_second_engine
make -s B="${B:-build/release}" "$program" >/dev/null || { echo 'not ok second engine: does not build'; exit 1; }
GPUSIM_TEST_SEED=$(date +%s) GPUSIM_SOAK=2000 GPUSIM_DATA=scenarios CMOCKA_MESSAGE_OUTPUT=STDOUT
export GPUSIM_TEST_SEED GPUSIM_SOAK GPUSIM_DATA CMOCKA_MESSAGE_OUTPUT
if "$program" 2>/dev/null | sed 's/^/# /'; then echo 'ok second engine: two thousand scenarios agree'; else echo 'not ok second engine'; exit 1; fi
