#!/bin/bash
# Malformed input, one case a line of tests/golden/bad/table: what is wrong must be said, with the place, and the
# exit status must be that of the mistake. TAP on stdout.
#
# usage: tests/run_bad.sh [--accept] [WORD]
#
# A line holds, between tabs: the exit status, the command (@ is the file, $OUT an empty folder), the file below
# tests/golden/bad, and the first line that is said on stderr, where the file reads as @. --accept writes what came
# into the table: read it before committing.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
gpusim=${GPUSIM_BIN:-$PWD/build/gpusim}
export GPUSIM_DATA=${GPUSIM_DATA:-scenarios} OUT
table=tests/golden/bad/table accept=
if [ "${1-}" = --accept ]; then accept=1; shift; fi
word=${1-}
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
n=0 bad=0
: >"$tmp/table"
while IFS=$'\t' read -r status command file said; do
    case $command$file in *"$word"*) ;; *) [ -z "$accept" ] || printf '%s\t%s\t%s\t%s\n' "$status" "$command" "$file" "$said" >>"$tmp/table"; continue ;; esac
    n=$((n + 1)) OUT=$tmp/out got=0; rm -rf "$OUT"; mkdir "$OUT"
    path=tests/golden/bad/$file
    line=${command//@/$path}; line=${line//\$OUT/$OUT}
    # The words of a command are split at spaces and nothing else happens to them.
    set -f; set -- $line; set +f
    timeout 60 "$gpusim" "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null || got=$?
    first=$(grep -av -m 1 -E '^gpusim: [0-9]+ problems,' "$tmp/stderr" | tr -d '\000')
    first=${first//"$path"/@}; first=${first//"$OUT"/\$OUT}
    if [ -n "$accept" ]; then
        printf '%s\t%s\t%s\t%s\n' "$got" "$command" "$file" "$first" >>"$tmp/table"
    elif [ "$got" != "$status" ]; then
        bad=$((bad + 1)); echo "not ok $n - $command, $file: status $got, expected $status"; head -3 "$tmp/stderr" | sed 's/^/# /'
    elif [ "$first" != "$said" ]; then
        bad=$((bad + 1)); echo "not ok $n - $command, $file: says"; echo "# $first"; echo '# expected'; echo "# $said"
    elif [ -n "$(find "$OUT" -type f)" ]; then
        bad=$((bad + 1)); echo "not ok $n - $command, $file: it wrote something"
    else
        echo "ok $n - $command, $file"
    fi
done <"$table"
if [ -n "$accept" ]; then cp "$tmp/table" "$table"; echo "ok $n lines accepted"; exit 0; fi
echo "1..$n"
[ $bad = 0 ]
