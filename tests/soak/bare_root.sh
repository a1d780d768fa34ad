#!/bin/bash
# A Debian 12 with nothing but make, built in a temporary folder: the README's two commands must work in
# it, and the installed program must run without the source tree. Needs mmdebstrap and a network. TAP on stdout.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
if ! command -v mmdebstrap >/dev/null; then echo 'ok bare root # SKIP mmdebstrap is not installed'; exit 0; fi
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
git ls-files -z | tar -c --null -T - -f "$tmp/src.tar" --transform 's|^|src/|' || exit 1
cat >"$tmp/inside" <<'INSIDE'
set -eu
cd /src
say() { if "$@"; then echo "ok bare root: $*"; else echo "not ok bare root: $*"; fi; }
say make run
say test -s out/mixed/report.html
say make check
say make install
mv /src /gone && cd /
say gpusim run /usr/local/share/gpusim/scenarios/mixed.json -o /tmp/mixed --quiet
say test -s /tmp/mixed/report.html
cd /gone && say make uninstall
say test -z "$(find /usr/local -type f -name '*gpusim*')"
INSIDE
mmdebstrap --quiet --variant=minbase --include=make,ca-certificates --format=null \
    --customize-hook="tar-in $tmp/src.tar /" --customize-hook="upload $tmp/inside /inside" \
    --customize-hook='chroot "$1" sh /inside' \
    bookworm - http://deb.debian.org/debian 2>&1 | tee "$tmp/log"
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || echo "not ok bare root: status $status"
[ "$status" = 0 ] && ! grep -q '^not ok' "$tmp/log"
