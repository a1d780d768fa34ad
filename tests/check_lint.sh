#!/bin/bash
# tests/run_lint.sh tells a clean tree from findings and from a tool that fails. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
bad=0
# NAME STATUS STDOUT STDERR COMMAND...: what comes when COMMAND is asked about the files a.c and b.c.
expect() {
    local name=$1 status=$2 out=$3 err=$4 rc=0 dir
    shift 4
    dir=$(mktemp -d)
    printf '%s\n' a.c b.c | tests/run_lint.sh "$@" >"$dir/out" 2>"$dir/err" || rc=$?
    if [ "$rc" = "$status" ] && [ "$(sort "$dir/out")" = "$out" ] && [ "$(cat "$dir/err")" = "$err" ]; then
        echo "ok $name"
    else
        echo "not ok $name: status $rc, said:"; cat "$dir/out" "$dir/err"; bad=1
    fi
    rm -r "$dir"
}
expect 'nothing to say' 0 '' '' true {}
expect 'chatter of clang is no finding' 0 '' '' echo '1 warning generated.'
expect 'one finding a file' 1 $'a.c:1: warning: x\nb.c:1: warning: x' '2 findings' echo '{}:1: warning: x'
expect 'a finding in a header counts once' 1 $'h.h:1: warning: x\nh.h:1: warning: x' '1 findings' echo 'h.h:1: warning: x'
expect 'a tool that fails' 1 $'a.c: error: false ended with status 1\nb.c: error: false ended with status 1' '2 findings' false {}
exit $bad
