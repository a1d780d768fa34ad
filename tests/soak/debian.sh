#!/bin/bash
# dpkg-buildpackage builds a package from the tracked files; unpacked, it runs without the tree, and the package says
# what it needs. Needs dpkg-dev and debhelper. TAP on stdout.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL GPUSIM_DATA GPUSIM_BIN B
for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null || { echo "ok debian package # SKIP $tool is not installed (apt-get install dpkg-dev debhelper)"; exit 0; }
done
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
n=0 bad=0
say() { n=$((n + 1)); [ "$1" = ok ] || bad=1; echo "$1 $n - $2"; }
check() { local what=$1; shift; if "$@" >"$tmp/log" 2>&1; then say ok "$what"; else say 'not ok' "$what"; tail -5 "$tmp/log" | sed 's/^/# /'; fi; }
mkdir "$tmp/src"
git ls-files -z | tar -c --null -T - | tar -x -C "$tmp/src" || exit 1
if ! (cd "$tmp/src" && DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -b -us -uc) >"$tmp/log" 2>&1; then
    if grep -q 'Unmet build dependencies' "$tmp/log"; then
        echo "ok debian package # SKIP $(grep -m 1 'Unmet build dependencies' "$tmp/log" | sed 's/.*: //')"; exit 0
    fi
    say 'not ok' 'dpkg-buildpackage'; tail -12 "$tmp/log" | sed 's/^/# /'; echo "1..$n"; exit 1
fi
say ok 'dpkg-buildpackage'
deb=$(ls "$tmp"/gpusim_*.deb)
dpkg-deb -x "$deb" "$tmp/root"
dpkg-deb -I "$deb" >"$tmp/info"; dpkg-deb -c "$deb" >"$tmp/list"
for library in libgsl libjansson libmd libyaml libexpat; do check "it depends on $library" grep -q "Depends:.*$library" "$tmp/info"; done
for file in usr/bin/gpusim usr/share/gpusim/scenarios/mixed.json usr/share/gpusim/scenarios/gpus/t4.json usr/share/man/man1/gpusim.1 \
    usr/share/bash-completion/completions/gpusim usr/share/zsh/vendor-completions/_gpusim usr/share/doc/gpusim/copyright; do
    check "it holds $file" grep -q "$file" "$tmp/list"
done
check 'nothing lies outside /usr' bash -c '! awk "{ print \$6 }" "$1" | grep -qv "^\./\(usr/.*\)\?$"' sh "$tmp/list"
mv "$tmp/src" "$tmp/gone"
cd / || exit 1
check 'the program runs' "$tmp/root/usr/bin/gpusim" --version
check 'it replays a scenario of its own' "$tmp/root/usr/bin/gpusim" run "$tmp/root/usr/share/gpusim/scenarios/mixed.json" --policy whole -q --no-report -o "$tmp/out"
check 'it wrote a result' test -s "$tmp/out/result.json"
check 'it finds its templates' "$tmp/root/usr/bin/gpusim" report "$tmp/out"
check 'and its cards' "$tmp/root/usr/bin/gpusim" gpu h100-sxm5-80gb
echo "1..$n"
exit $bad
