#!/bin/bash
# Every header compiles alone, with each compiler that is installed. TAP on stdout.
# usage: ALL_CFLAGS='-Isim ...' tests/check_headers.sh HEADER...
set -uo pipefail
one() {
    local h=$1 out
    # The typedef keeps a header of macros alone from being an empty translation unit.
    if out=$(printf '#include "%s"\ntypedef int alone;\n' "$h" | "$cc" $ALL_CFLAGS -Werror -fsyntax-only -x c - 2>&1); then
        echo "ok $h with $cc"
    else
        printf '%s\nnot ok %s with %s\n' "$out" "$h" "$cc"
    fi
}
export -f one
export ALL_CFLAGS cc
out=$(for cc in gcc clang; do
    if command -v "$cc" >/dev/null; then printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$1"' one
    else echo "ok headers with $cc # SKIP $cc is not installed"; fi
done)
echo "$out"
! grep -q '^not ok' <<<"$out"
