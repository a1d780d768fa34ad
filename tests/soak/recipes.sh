#!/bin/bash
# The recipes of CONTRIBUTING.md, followed in a copy of the sources: one file for a policy, an order, a trace format
# and a card each, a line for a cost item. No list is edited: each must be there, work, be documented, and pass the tests
# that every member of its registry passes. TAP on stdout.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
work=${B:-build/release}/recipes; case $work in /*) ;; *) work=$PWD/$work ;; esac
unset B
rm -rf "$work/src"; mkdir -p "$work/src"
git ls-files -co --exclude-standard | while read -r f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done |
    tar -c --null -T - | tar -x -C "$work/src" || exit 1
cd "$work/src" || exit 1
export GPUSIM_DATA=scenarios CMOCKA_MESSAGE_OUTPUT=STDOUT GPUSIM_BIN=$work/build/gpusim
unset GPUSIM_SHARED
n=0 bad=0
say() { n=$((n + 1)); [ "$1" = ok ] || bad=1; echo "$1 $n - $2"; }
check() { # what, then a command
    local what=$1; shift
    if "$@" >"$work/log" 2>&1; then say ok "$what"; else say 'not ok' "$what"; tail -5 "$work/log" | sed 's/^/# /'; fi
}
shows() { local text=$1; shift; "$@" >"$work/shown" 2>&1; grep -F -m 1 -- "$text" "$work/shown" || { cat "$work/shown"; return 1; }; }
# At -O1 gcc guesses what is not set; what is clean is said by the builds at -O2.
build() { nice make -s -j "$(nproc)" CFLAGS='-O1 -Wno-maybe-uninitialized' NVCC= DEVELOPER=1 B="$work/build" "${@/#/$work/build/}"; }

# ---- a policy ----
cat >sim/policy/share_couple.c <<'C'
/* policy/share_couple.c - at most two jobs on a card, each at `pace` while both are there: no more than a half, or
 * two that fill the card would get more than there is (the test of the registry says so). */
#include "policy/bytes.h"

struct couple {
    double pace;
};
static const struct cfg_field fields[] = {
    CFG_FIELD(struct couple, pace, CFG_RATIO, "0.45", 0.01, 0.5, "speed of each of two on a card"),
};

static const char *bind(void *params, struct arena *a, const struct card_type *type)
{
    (void)params;
    (void)a;
    (void)type;
    return NULL;
}

static int32_t capacity(const void *params, const struct card_type *type)
{
    (void)params;
    (void)type;
    return 2;
}

static const char *demand(const void *params, const struct card_type *type,
                          const struct request *request, struct demand *out)
{
    (void)params;
    out->cards = request_cards(request);
    out->units = 1;
    out->core_cap = 1.0;
    out->mig_profile = -1;
    return bytes_demand(type, request, 0.5, true, out);
}

static void speeds(const void *params, const struct share_view *v, double speed[])
{
    const struct couple *p = params;
    for (size_t i = 0; i < v->n; i++) speed[i] = v->n == 1 ? 1.0 : p->pace;
}

const struct share_ops share_couple = {
    .name = "couple",
    .help = "two jobs on a card, each at a stated pace",
    .fields = fields,
    .fields_n = sizeof fields / sizeof *fields,
    .params_size = sizeof(struct couple),
    .keeps_duty = true,
    .bind = bind,
    .capacity = capacity,
    .demand = demand,
    .speeds = speeds,
};
C
cat >sim/policy/order_longest.c <<'C'
/* policy/order_longest.c - longest limit first; jobs without a limit first of all. */
#include "engine/order.h"

static int64_t rank(const struct order_view *v, const struct job *j)
{
    (void)v;
    return j->row.walltime == JOB_NO_TIME ? INT64_MIN : -j->row.walltime;
}

const struct order_ops order_longest = { .name = "longest", .help = "longest limit first", .rank = rank };
C

# ---- a format ----
cat >traces/fmt_ledger.c <<'C'
/* fmt_ledger.c - the ledger of an imaginary site: name;begin;length;cards, whole seconds. */
#include "traces/format.h"

#include "base/mem.h"

#include <stdlib.h>

enum { COL_name, COL_begin, COL_length, COL_cards, COLUMNS };
static const char *const columns[COLUMNS] = { "name", "begin", "length", "cards" };

static void ledger_close(void *state)
{
    struct table *t = state;
    if (!t) return;
    table_close(t);
    free(t);
}

static int ledger_open(void **state, const char *path, const void *options, struct symtab *names,
                       struct import_info *info, struct err *e)
{
    struct table *t = xcalloc(1, sizeof *t);
    const int rc = table_open(t, path, ';', "ledger", columns, COLUMNS, COLUMNS, e);
    (void)options;
    (void)names;
    (void)info;
    if (rc < 0) ledger_close(t);
    else *state = t;
    return rc;
}

static int ledger_next(void *state, struct import_row *row, struct err *e)
{
    struct table *t = state;
    int64_t begin, length, cards;
    const int rc = table_next(t, row, e);
    if (rc <= 0 || row->quarantined) return rc;
    const struct csv_field name = table_cell(t, COL_name);
    row->job.id = name.s;
    row->job.id_len = name.len;
    if (!table_whole(t, COL_begin, "begin", 9000000000, &begin, row) ||
        !table_whole(t, COL_length, "length", 9000000000, &length, row) ||
        !table_whole(t, COL_cards, "cards", 100000, &cards, row))
        return 1;
    row->job.submit = begin * SIM_SECOND;
    row->job.duration = length * SIM_SECOND;
    row->job.gpus_milli = (int32_t)cards * 1000;
    row->asked = true;
    return 1;
}

static int ledger_sniff(const char *head, size_t len)
{
    return header_has(head, len, ';', columns, COLUMNS) ? 90 : 0;
}

const struct trace_format fmt_ledger = {
    .name = "ledger",
    .help = "the ledger of an imaginary site: name, begin, length, cards",
    .sniff = ledger_sniff,
    .open = ledger_open,
    .next = ledger_next,
    .close = ledger_close,
};
C
mkdir -p traces/samples/ledger
printf 'name;begin;length;cards\na;0;100;1\nb;1;100;1\nc;2;soon;1\n' >traces/samples/ledger/ledger.csv

# ---- a card, a cost item ----
sed 's/"NVIDIA L4"/"Example E9"/g; s/"value": "72 W"/"value": "75 W"/' scenarios/gpus/l4.json >scenarios/gpus/e9.json
sed 's/"items": \[/"items": [\n    {"name": "card e9", "driver": "card", "gpu": "e9", "period": "once", "amount": 2000, "source": "this recipe", "date": "2026-01", "confidence": "assumed"},\n    {"name": "licence of the example", "driver": "card", "period": "year", "amount": 123.5, "source": "this recipe", "date": "2026-01", "confidence": "assumed"},/' \
    scenarios/prices/default.json >scenarios/prices/example.json

if ! build gpusim >"$work/log" 2>&1; then
    say 'not ok' 'the copy builds without a warning'; tail -8 "$work/log" | sed 's/^/# /'; echo "1..$n"; exit 1
fi
say ok 'the copy builds without a warning'
g=$work/build/gpusim
cat >s.json <<'J'
{ "format": "gpusim-scenario/1", "name": "s", "work": [ { "name": "w", "kind": "jobs", "trace": "t.csv" } ], "horizon": "1000 s",
  "fleet": [ { "name": "f", "gpu": "e9", "nodes": 1, "gpus_per_node": 1 } ], "prices": "scenarios/prices/example.json",
  "policies": [ { "name": "couple", "share": { "kind": "couple", "pace": 0.4 } } ],
  "schedule": { "order": "longest", "backfill": "none" } }
J

check 'policy: it is listed with its help' shows 'each at a stated pace' "$g" list policies
check 'order: it is listed' shows 'longest limit first' "$g" list schedulers
check 'format: it is listed' shows 'imaginary site' "$g" list formats
check 'format: auto knows it, and quarantines the bad row' shows '3 read = 2 kept + 0 repaired + 1 quarantined' "$g" import auto traces/samples/ledger/ledger.csv -o t.csv --lenient
check 'card: it is shown' shows 'Example E9' "$g" gpu e9
check 'the scenario with all of them is good' "$g" check s.json
check 'it runs' "$g" run s.json -q --no-report -o out
# a alone for 1 s, then both at 0.4: a has 99 s left and ends at 1 + 247.5; b has 1 s left by then
check 'policy: the ends are those of its pace' shows 'a,248.5' cut -d, -f2,6 out/jobs.csv
check 'cost item: it has a row' shows 'licence of the example' cat out/tco.csv
check 'policy: a mistake in its parameter is met' shows 'from 0.01 to 0.5, found 2' "$g" run s.json --set policies.couple.share.pace=2
check 'policy: resolved scenarios and the manual know its parameter' shows 'pace' "$g" run s.json --resolved
check 'layers' tests/check_layers.sh
for t in unit/test_registries unit/test_sharing unit/test_catalogue unit/test_import_signatures unit/test_sched; do
    if ! build "tests/$t" >"$work/log" 2>&1; then say 'not ok' "$t builds"; tail -3 "$work/log" | sed 's/^/# /'; continue; fi
    check "$t passes with the newcomers" "$work/build/tests/$t"
done
echo "1..$n"
exit $bad
