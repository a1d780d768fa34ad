#!/bin/bash
# Every header compiles alone, with each compiler that is installed. TAP on stdout.
# usage: HDR_CFLAGS='-Isim ...' HEADERS='sim/base/err.h ...' tests/check_headers.sh
set -uo pipefail
# Silent when the header compiles.
one() {
    # The typedef keeps a header of macros alone from being an empty translation unit.
    printf '#include "%s"\ntypedef int alone;\n' "$1" | "$cc" $HDR_CFLAGS -Werror -Wno-unused -fsyntax-only -x c - 2>&1 || echo "does not compile alone: $1"
}
export -f one
export HDR_CFLAGS cc
rc=0
for cc in gcc clang; do
    if ! command -v "$cc" >/dev/null; then echo "ok headers with $cc # SKIP $cc is not installed"; continue; fi
    out=$(printf '%s\n' $HEADERS | xargs -r -n 1 -P "$(nproc)" bash -c 'one "$1"' one)
    if [ -z "$out" ]; then echo "ok headers compile alone with $cc"
    else echo "$out"; echo "not ok headers compile alone with $cc"; rc=1; fi
done
exit $rc
