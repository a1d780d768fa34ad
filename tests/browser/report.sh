#!/bin/bash
# The report opens in a browser, offline: Chromium renders it without a network, every plot is there,
# and the page asks for nothing outside itself. TAP output; skipped where there is no Chromium.
#   GPUSIM_BIN=build/gpusim tests/browser/report.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${GPUSIM_BIN:-build/gpusim}
echo 1..4
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    for i in 1 2 3 4; do echo "ok $i # SKIP no Chromium"; done
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$bin" run scenarios/mixed.json -o "$dir/out" --quiet >/dev/null 2>&1
"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" \
    --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 \
    --dump-dom "file://$dir/out/report.html" >"$dir/dom" 2>"$dir/log" || true

check() { # number, what, condition as exit status
    if [ "$3" = 0 ]; then echo "ok $1 $2"; else echo "not ok $1 $2"; failed=1; fi
}
failed=0
status() { if "$@"; then echo 0; else echo 1; fi; }
check 1 'the page has its title and its tables' \
    "$(status grep -q '<h1[^>]*>mixed' "$dir/dom")"
check 2 'four plots are drawn' "$(status test "$(grep -o '<svg' "$dir/dom" | wc -l)" -ge 4)"
check 3 'the page names no other file and no server' \
    "$(status bash -c "! grep -Eq '(src|href)=.(https?:|//|file:)' '$dir/out/report.html'")"
check 4 'the browser complains of nothing' \
    "$(status bash -c "! grep -q 'CONSOLE' '$dir/log'")"
exit $failed
