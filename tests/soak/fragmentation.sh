#!/bin/bash
# The inflation experiment with ten seeds of every pod list. Needs GPUSIM_SHARED. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
program=${B:-build/release}/tests/oracle/test_fragmentation
if [ -z "${GPUSIM_SHARED-}" ]; then echo 'ok fragmentation # SKIP GPUSIM_SHARED is not set'; exit 0; fi
make -s B="${B:-build/release}" "$program" >/dev/null || { echo 'not ok fragmentation: does not build'; exit 1; }
GPUSIM_BIN=$(realpath "${GPUSIM_BIN:-build/gpusim}") || { echo 'not ok fragmentation: no gpusim'; exit 1; }
export GPUSIM_BIN GPUSIM_DATA=${GPUSIM_DATA:-scenarios} GPUSIM_SOAK=1 CMOCKA_MESSAGE_OUTPUT=STDOUT
said=$("$program") rc=$?
sed 's/^/# /' <<<"$said"
[ $rc = 0 ] && ! grep -q SKIPPED <<<"$said" || { echo 'not ok fragmentation'; exit 1; }
echo 'ok fragmentation: ten seeds of every list'
