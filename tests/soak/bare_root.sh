#!/bin/bash
# README on two machines, each a Debian 12 built in a temporary folder with nothing but make:
#   root   the two commands of README; then the installed program runs without the source tree, and leaves nothing
#   user   somebody who is not root and may use sudo: make deps; from then on without a network: the two commands,
#          every line of README's tour, and an installation under the home folder
# Needs mmdebstrap and a network. TAP on stdout. `tests/soak/bare_root.sh user` takes one of them.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
if ! command -v mmdebstrap >/dev/null; then echo 'ok bare root # SKIP mmdebstrap is not installed'; exit 0; fi
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
git ls-files -z | tar -c --null -T - -f "$tmp/src.tar" --transform 's|^|src/|' || exit 1

cat >"$tmp/say" <<'SAY'
set -u
say() { if "$@"; then echo "ok bare root: $*"; else echo "not ok bare root: $*"; fi; }
SAY
cat >"$tmp/root" <<'ROOT'
. /say && cd /src
say make run
say test -s out/mixed/report.html
say make check
say make install
mv /src /gone && cd /
say gpusim run /usr/local/share/gpusim/scenarios/mixed.json -o /tmp/mixed --quiet
say test -s /tmp/mixed/report.html
cd /gone && say make uninstall
say test -z "$(find /usr/local -type f -name '*gpusim*')"
ROOT
cat >"$tmp/user" <<'USER'
. /say
useradd --create-home ada && echo 'ada ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ada
mv /src /home/ada/src && chown -R ada: /home/ada/src && cd /home/ada/src
as_ada() { setpriv --reuid ada --regid ada --init-groups env -i HOME=/home/ada PATH=/usr/bin:/bin "$@"; }
offline() { unshare --net setpriv --reuid ada --regid ada --init-groups --no-new-privs env -i HOME=/home/ada PATH=/usr/bin:/bin "$@"; }
say as_ada make deps
say offline sh -c '! getent hosts deb.debian.org'
say offline make run
say test -s out/mixed/report.html
awk '/^## / { tour = /short tour/ } tour && /^```/ { on = !on; next } tour && on' README.md >/tour
say test -s /tour
while read -r line; do say offline sh -c "$line" </dev/null; done </tour
say offline make check
say offline make install PREFIX=/home/ada/.local
rm -rf /home/ada/src && cd /
say offline /home/ada/.local/bin/gpusim run /home/ada/.local/share/gpusim/scenarios/mixed.json -o /home/ada/mixed --quiet
say test -s /home/ada/mixed/report.html
USER

machine() { # root or user, and the packages it has beside the smallest system
    mmdebstrap --quiet --variant=minbase --include="$2" --format=null --customize-hook="tar-in $tmp/src.tar /" \
        --customize-hook="upload $tmp/say /say" --customize-hook="upload $tmp/$1 /inside" \
        --customize-hook='chroot "$1" sh /inside' bookworm - http://deb.debian.org/debian 2>&1 | tee "$tmp/log"
    local status=${PIPESTATUS[0]}
    if [ "$status" != 0 ]; then echo "not ok bare root: $1: status $status"; return 1; fi
    ! grep -q '^not ok' "$tmp/log"
}
bad=0
case ${1:-root} in root) machine root make,ca-certificates || bad=1 ;; esac
case ${1:-user} in user) machine user make,ca-certificates,sudo || bad=1 ;; esac
exit $bad
