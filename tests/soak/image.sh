#!/bin/bash
# The steps of scenarios/cluster/Dockerfile in their order, each in the root of its stage, without Docker: FROM is a
# Debian 12 with nothing but the essential packages (as debian:12-slim, which is smaller still by its manuals),
# RUN, WORKDIR, USER and COPY do what they do there. In the end the image answers as its user. An instruction that
# is not known here fails. Needs root, mmdebstrap or debootstrap (BASE=FOLDER: a root that is there), and a network. TAP.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
skip() { echo "ok image # SKIP $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip 'needs root, to change into the image'
tmp=$(mktemp -d); trap 'rm -rf --one-file-system "$tmp"' EXIT
base=${BASE:-$tmp/base}
if [ ! -d "$base" ]; then
    if command -v mmdebstrap >/dev/null; then
        mmdebstrap --quiet --variant=minbase bookworm "$base" http://deb.debian.org/debian >"$tmp/log" 2>&1
    elif command -v debootstrap >/dev/null; then
        debootstrap --variant=minbase bookworm "$base" http://deb.debian.org/debian >"$tmp/log" 2>&1
    else
        skip 'neither mmdebstrap nor debootstrap is installed'
    fi || skip 'no Debian root could be made (a network is needed)'
fi
declare -A root
stage= wd=/ user=0:0 failed=0 steps=0 entry= command=
inside() { chroot --userspec="$user" "${root[$stage]}" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive sh -c "cd $wd && $1" </dev/null; }
step() {
    local word=${1%% *} rest=${1#* }
    case $word in
    FROM)
        [[ $rest = debian:12-slim* ]] || return 1
        stage=${rest##* }; wd=/; user=0:0
        root[$stage]=$tmp/stage-$steps
        cp -a "$base" "${root[$stage]}" && cp /etc/resolv.conf "${root[$stage]}/etc/resolv.conf" ;;
    RUN) inside "$rest" >"$tmp/log" 2>&1 ;;
    WORKDIR) wd=$rest; mkdir -p "${root[$stage]}$wd" ;;
    USER) user=$rest ;;
    COPY)
        read -r -a word <<<"$rest"
        if [ "$rest" = '. .' ]; then # what git knows: nothing that .dockerignore names
            git ls-files -z | tar -c --null -T - | tar -x --no-same-owner -C "${root[$stage]}$wd"
        elif [[ $rest = --from=* ]]; then
            local from=${word[0]#--from=}
            cp -a "${root[$from]}${word[1]}/." "${root[$stage]}${word[2]}/"
        else
            return 1
        fi ;;
    ENTRYPOINT) entry=$rest ;;
    CMD) command=$rest ;;
    *) return 1 ;;
    esac
}
words() { tr -d '[]",' <<<"$1"; } # of the JSON form
while IFS= read -r line; do
    steps=$((steps + 1))
    if step "$line"; then echo "ok image: $line"; else echo "not ok image: $line"; tail -n 20 "$tmp/log" 2>/dev/null | sed 's/^/# /'; failed=1; break; fi
done < <(grep -v '^ *#' scenarios/cluster/Dockerfile | sed -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ta' -e '}' | grep .)
if [ $failed = 0 ]; then
    check() { if "${@:2}" >"$tmp/log" 2>&1; then echo "ok image: $1"; else echo "not ok image: $1"; tail -n 20 "$tmp/log" | sed 's/^/# /'; failed=1; fi; }
    check 'its command' inside "$(words "$entry") $(words "$command")"
    check 'a sweep as its user, its program and data alone' inside \
        "$(words "$entry") sweep /usr/local/share/gpusim/scenarios/sizing-erlang.json --vary fleet.pool.nodes=4,5 --set horizon=50s --set warmup=0s -o /tmp/out --plots"
    check 'is not root' test "$(inside 'id -u')" = 10001
fi
[ $failed = 0 ] && [ $steps -gt 10 ]
