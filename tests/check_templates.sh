#!/bin/bash
# No plot template starts a shell: paths reach them as text, and a shell would run what stands in them. That is
# system, backticks, lines that begin with !, the command shell, and files whose names begin with < or |. TAP on stdout.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
bad=0
# FILE...: the lines that start a shell, comments left out. Texts are taken from the line before it is looked at.
shells() {
    awk '
        {
            code = ""; quote = ""; start = 0; bad = 0
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                if (quote == "" && c == "#") break
                if (c == "`") bad = 1
                if (quote != "" && start && c !~ /[ \t]/) { if (c ~ /[<|]/) bad = 1; start = 0 }
                if (quote == "\"" && c == "\\") { i++; continue }
                if (quote != "") { if (c == quote) quote = ""; continue }
                if (c ~ /["\047]/) { quote = c; start = 1; c = " \"\" " }
                code = code c
            }
        }
        bad || code ~ /(^|[^A-Za-z0-9_])system([^A-Za-z0-9_]|$)/ || code ~ /(^|;)[ \t]*(!|shell[ \t]*(;|$))/ {
            print FILENAME ":" FNR ": " $0; found = 1
        }
        END { exit found }' "$@"
}
for file in plots/templates/*.gp; do
    if shells "$file"; then echo "ok ${file##*/} starts no shell"
    else echo "not ok ${file##*/} starts a shell"; bad=1; fi
done
# The check itself sees each of the ways.
for line in 'x = system("ls ".data)' 'system "ls"' 'x = `ls`' '!ls' '  ! ls' 'a = 1; shell' "plot '< sort '.data" \
    'plot "<sort x"' 'set output "| cat"' 'system("ls") # why'; do
    if printf '%s\n' "$line" | shells - >/dev/null; then echo "not ok it passes over: $line"; bad=1; fi
done
for line in '# a shell, system(), `' 'if (a != 1 && !b) c = 1 # system' 'systems = 3' 'set title "a < b"'; do
    if ! printf '%s\n' "$line" | shells - >/dev/null; then echo "not ok it finds fault with: $line"; bad=1; fi
done
exit $bad
