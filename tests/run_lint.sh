#!/bin/bash
# Ask a tool about one source file after another, as many at once as there are processors.
#
# usage: tests/run_lint.sh COMMAND... <NAMES    ({} in the COMMAND: a name from standard input)    (make lint)
#
# What the tool says goes to stdout. A finding is a line with "warning: " or "error: "; one in a header that many files include
# counts once. Exit 1 after any, or where the tool itself fails; the last line on stderr says how many.
set -uo pipefail
export LC_ALL=C
said=$(mktemp); trap 'rm -f "$said"' EXIT
xargs -r -P "$(nproc)" -I{} bash -c '
    said=$("$@" 2>&1) || said+=$'\''\n'\''"$0: error: $1 ended with status $?"
    [ -z "$said" ] || printf "%s\n" "$said"' {} "$@" |
    grep -Ev '^$|^[0-9]+ (warnings?|errors?)( and [0-9]+ errors?)? generated\.$' | tee "$said"
n=$(grep -E '(warning|error): ' "$said" | sort -u | wc -l)
[ "$n" = 0 ] || { echo "$n findings" >&2; exit 1; }
