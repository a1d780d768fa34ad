#!/bin/bash
# Includes point one way: base < model < engine < {policy, metrics, cost} < whatif < cli; traces/ and plots/
# see base, model, cli/command.h and cli/opt.h; calibrate/ sees base and model/profile.h; nothing in sim/
# sees any of those three. Every include is written from a tree root and exists. TAP on stdout.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1
find sim traces plots calibrate -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null | sort | xargs -r awk '
    BEGIN {
        see["base"] = "base"; see["model"] = "base model"; see["engine"] = "base model engine"
        see["policy"] = see["engine"] " policy"; see["metrics"] = see["engine"] " metrics"; see["cost"] = see["engine"] " cost"
        see["whatif"] = see["engine"] " policy metrics cost whatif"
        see["cli"] = see["whatif"] " cli"
        see["traces"] = "base model traces cli/command.h cli/opt.h"
        see["plots"] = "base model plots cli/command.h cli/opt.h"
        see["calibrate"] = "base model/profile.h calibrate"
    }
    function bad(why) { printf "%s:%d: %s\n", FILENAME, FNR, why; faults[layer]++ }
    FNR == 1 {
        n = split(FILENAME, part, "/")
        layer = part[1] == "sim" ? part[2] : part[1]
        seen[layer] = 1
    }
    match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]*"/) {
        split($0, q, "\""); to = q[2]; split(to, t, "/")
        if ((getline junk < ("sim/" to)) < 0 && (getline junk < to) < 0) {
            bad("\"" to "\" is not a file under sim/ or the root"); next
        }
        close("sim/" to); close(to)
        if (index(" " see[layer] " ", " " t[1] " ") == 0 && index(" " see[layer] " ", " " to " ") == 0)
            bad(layer " must not include \"" to "\"")
    }
    END { for (l in seen) { printf "%s %s includes downwards only\n", faults[l] ? "not ok" : "ok", l; rc = rc || faults[l] } exit rc }'
