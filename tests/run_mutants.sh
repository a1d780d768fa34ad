#!/bin/bash
# Does a test notice when the program is wrong? Break one thing at a time, build, and run the test that
# is named for it: it must fail (a wrong result, a broken conservation law or a crash).
#
# usage: [B=build/release] [T=word] [LONG=1] tests/run_mutants.sh    (make mutants)
#        tests/run_mutants.sh --find    only: is the text that each mutant changes in its file? A second; in make check
#
# Works on a copy of the sources under $B/mutants; the tree is not touched. A mutant whose text is no
# longer found in the source is a failure too: it has to follow the code. Output is TAP.
set -uo pipefail
export LC_ALL=C
n=0 bad=0
say() { n=$((n + 1)); [ "$1" = ok ] || bad=$((bad + 1)); echo "$1 $n - $2"; }

# Without calibrate and with few optimisations: it is the answer that counts.
build() { make -s CFLAGS=-O1 NVCC= B="$work/build" "$work/build/tests/$1" >"$work/log" 2>&1; }

# A copy of the sources, and the tests pass on it.
prepare() {
    local root=$PWD t tests
    work=${B:-build/release}/mutants
    case $work in /*) ;; *) work=$root/$work ;; esac
    src=$work/src
    unset MAKEFLAGS MFLAGS MAKELEVEL B
    mkdir -p "$src"
    # Keep what has not changed, so that a second run compiles little.
    git ls-files -co --exclude-standard sim traces plots scenarios tests Makefile calibrate | while read -r f; do
        [ -f "$f" ] || continue
        cmp -s "$f" "$src/$f" || { mkdir -p "$src/$(dirname "$f")"; cp "$f" "$src/$f"; }
    done
    cd "$src" || exit 1
    export GPUSIM_DATA=scenarios CMOCKA_MESSAGE_OUTPUT=STDOUT
    export CCACHE_DISABLE=1        # no cache of compilations between an edit and its test
    unset GPUSIM_BIN GPUSIM_SHARED # tests that replay real traces skip: others must notice
    tests='unit/test_place oracle/test_scenarios oracle/test_fcfs oracle/test_speeds property/test_runs unit/test_outages unit/test_gangs unit/test_migrate'
    for t in $tests; do
        if ! build "$t"; then cat "$work/log"; say "not ok" "unchanged: $t does not build"; echo "1..$n"; exit 1; fi
        if timeout 300 "$work/build/tests/$t" >"$work/log" 2>&1; then say ok "unchanged: $t passes"
        else say "not ok" "unchanged: $t fails"; tail -5 "$work/log" | sed 's/^/# /'; fi
    done
}

# mutant NAME TEST FILE PERL: PERL changes the whole text of FILE.
mutant() {
    local name=$1 test=$2 file=$3 code=$4
    case $name in *"${T-}"*) ;; *) return ;; esac
    if perl -0pe "$code" "$file" | cmp -s - "$file"; then
        say "not ok" "$name: its text is not in $file any more"
        return
    fi
    [ "$find" ] && { say ok "$name: its text is in $file"; return; }
    cp "$file" "$work/kept"
    perl -0pi -e "$code" "$file"
    if ! build "$test"; then
        say "not ok" "$name: does not build"; tail -3 "$work/log" | sed 's/^/# /'
    elif timeout 120 "$work/build/tests/$test" >"$work/log" 2>&1; then
        say "not ok" "$name: $test did not notice"
    else
        say ok "$name: $test fails"
        grep -am1 -E 'expected|wanted|did not|broken|off by|seed [0-9]+,|beside|BUG|misses' "$work/log" | cut -c1-110 | sed 's/^/# /'
    fi
    cp "$work/kept" "$file"
}

find=
case ${1-} in
--find) find=1 LONG=1; cd "$(dirname "$0")/.." || exit 1 ;;
*) prepare ;;
esac

mutant switch-cost-dropped oracle/test_speeds sim/policy/timeshare.c \
    's/return 1\.0 \+ fmax\(0\.0, switch_ratio - t->spared\)/return 1.0/'
mutant turns-forget-the-queue oracle/test_speeds sim/policy/timeshare.c \
    's/\(double\)m \* r\[k\]\.there/r[k].there/'
mutant presence-without-balance oracle/test_speeds sim/policy/presence.c 's/BALANCES = 2/BALANCES = 1/; s/double off = balance\(c\)/double off = 1/'
mutant presence-in-one-order oracle/test_speeds sim/policy/presence.c 's/came\[i\] \+= of_kind/came[i] = of_kind/'
mutant presence-forgets-an-odd-neighbour oracle/test_speeds sim/policy/presence.c 's/x->back\[x->n\] = c->come\[k\] \* \(gone \+ 1\)/x->back[x->n] = c->come[k] * gone/'
mutant a-ceiling-lends-nothing oracle/test_speeds sim/policy/timeshare.c \
    's/if \(!cap \|\| n == 0\) \{\n(.*)\n/if (true) {\n$1\n for (size_t i = 0; cap && i < n; i++) speed[i] = fmin(speed[i], cap[i]);\n/'
mutant ceilings-take-costs-for-equal oracle/test_speeds sim/policy/timeshare.c \
    's/factor\[i\] = exact\[i\] \/ speed\[i\]/factor[i] = 1/'
mutant a-bucket-stops-graphs oracle/test_bucket sim/policy/share_intercept.c 's/share \+ \(1 - share\) \* s->graphs/share/'
mutant a-bucket-weighs-quotas oracle/test_bucket sim/policy/share_intercept.c 's/, p->gain\);/, 1);/'
mutant hook-cost-dropped oracle/test_speeds sim/policy/share_intercept.c \
    's/s->host \+ s->launches_per_s \* hook_shows\(p, s\)/s->host/'
mutant mps-users-meet oracle/test_scenarios sim/engine/cluster.c 's/card->owner == d->owner/true/'
mutant the-link-is-the-cards-own oracle/test_scenarios sim/engine/residents.c 's/if \(i != index\) card_settle\(r, i, now\);.*/if (i != index) continue;/'
mutant swap-is-free oracle/test_scenarios sim/policy/share_timeslice.c 's/return 2 \* fmin/return 0 * fmin/'
mutant measured-pairs-unheard oracle/test_scenarios sim/engine/answers.c 's/if \(g->pairs\)/if (false)/'
mutant kin-forgotten unit/test_validate_time sim/model/colocation.c 's/exp\(-fabs\(.*?OCTAVES\)/0.0/'
mutant overcommit-counts-bytes oracle/test_scenarios sim/policy/share_whole.c 's/p->overcommit == 1, out/true, out/'
mutant mps-cap-ignored oracle/test_scenarios sim/policy/share_mps.c 's/core_cap = p->cap;/core_cap = 1.0;/'
mutant mig-share-is-slices-over-seven oracle/test_scenarios sim/policy/share_mig.c \
    's/mig_sm_share\(gpu, profile, NULL\)/gpu->mig->profile[profile].compute_slices \/ 7.0/'
mutant plan-forgets-the-repartition unit/test_mig_plan sim/model/mig_plan.c \
    's/at < 0 +\? t->repartition_s/at < 0 ? 0 * t->repartition_s/'
mutant first-turn-like-the-others unit/test_mig_plan sim/model/mig_plan.c 's/all \* \(p\.n_asked \+ 1\)/all/'
mutant reservation-forgets-instances oracle/test_mig_runs sim/engine/sched_easy.c 's/    sched_untry\(s\);\n//'
mutant moves-forget-instances oracle/test_mig_runs sim/engine/sched_migrate.c 's/    sched_untry\((m->)?s\);\n//g'
mutant forecast-of-smallest-sizes oracle/test_mig_runs sim/engine/carve.c 's/j->n_sizes \? j->asked : j->shape/j->shape/'
mutant planned-instances-at-once oracle/test_mig_runs sim/engine/cluster_mig.c \
    's/\.planned = true, \.making = true/.planned = true/'
mutant planned-units-given-away unit/test_cluster sim/engine/cluster_mig.c \
    's/if \(m->instance\[i\]\.busy \|\| m->instance\[i\]\.planned\)/if (m->instance[i].busy)/'
mutant forecast-forgotten oracle/test_mig_runs sim/engine/carve.c \
    's/memcpy\(c->asked, c->arrived,/memset(c->asked, 0,/; s/if \(!s->rejected\) ask/if (false) ask/'
mutant bus-without-end oracle/test_speeds sim/policy/share_mig.c 's/if \(all <= bus\) return;/if (all <= 1e300) return;/'
mutant power-without-cap oracle/test_speeds sim/policy/share_mig.c \
    's/fmin\(1\.0, \(1\.0 - p->power_loss\) \/ cbrt\(busy\)\)/1.0/'
mutant two-slices-make-one-device oracle/test_mig_runs sim/policy/share_mig.c 's/if \(request->slots > 1 &&/if (false &&/'
mutant easy-without-reservation oracle/test_scenarios sim/engine/sched_easy.c \
    's/if \(sched_makes\(s, &s->pick\) \+ job_limit\(j\) > when - now\)/if (false)/'
mutant easy-needs-the-very-cards property/test_easy sim/engine/sched_easy.c \
    's/if \(j->shape->no_room_beside == s->walk\) return false;/return false;/'
mutant easy-head-sticks-to-its-card property/test_easy sim/engine/sched_easy.c \
    's/if \(reserved && move_head\(s, head, reserved, &r\)\) return true;//'
mutant last-come-first-served oracle/test_fcfs sim/engine/waitlist.c \
    's/a->rank < b->rank \? -1 : 1/a->rank < b->rank ? 1 : -1/'
mutant queue-overtaken-when-the-head-waits oracle/test_fcfs sim/engine/sched.c \
    's/(else if \(!sched_resize\(s\)\) \{\s*)break;/$1struct job *x;\n            waitlist_walk(&s->queue);\n            while ((x = waitlist_step(&s->queue)))\n                if (sched_place_now(s, x, &group)) sched_start_at(s, x, group);\n            break;/'
mutant cohort-lends-what-is-used property/test_accounts sim/engine/accounts.c \
    's/a->cohort_used\[q->cohort\] \+ milli <=/milli <=/'
mutant cohort-not-released property/test_accounts sim/engine/sched.c 's/if \(a->quota->cohort < 0\) \{/if (true) {/'
mutant newcomer-planned-last property/test_deadline sim/engine/sched_reserve.c \
    's/!placed && waitlist_compare\(newcomer, j\) < 0/false/'
mutant resize-forgets-the-work unit/test_elastic sim/engine/sim_finish.c \
    's/j->remaining = least\(j->remaining, left\);\n/j->remaining = least(j->remaining, 0 * left + j->row.duration);\n/'
mutant memory-ignored-by-placement oracle/test_scenarios sim/engine/cluster.c \
    's/if \(card->free_bytes < r->demand->reserve_bytes\)/if (false)/; s/BUG_ON\(card->free_units < d->units \|\| card->free_bytes < d->reserve_bytes\);//'
mutant placement-ignores-node-limits property/test_runs sim/engine/cluster.c \
    's/(static bool node_holds\([^{]*\{)/$1\n    if (r) return true;/'
mutant gang-node-rule-ignored oracle/test_scenarios sim/engine/sched.c \
    's/plan->gang == GANG_ANY \|\| plan->share->pooled/true/'
mutant gang-as-fast-as-its-first-card oracle/test_scenarios sim/engine/residents.c \
    's/speed = fmin\(speed, j->holding\[i\]\.speed\)/speed = j->holding[0].speed/'
mutant energy-charged-to-each oracle/test_scenarios sim/engine/residents_measure.c \
    's/gpu->idle_context_W \/ \(double\)active/gpu->idle_context_W/'
mutant work-credited-twice property/test_runs sim/engine/residents.c \
    's/work_left -= \(int64_t\)whole/work_left -= 2 * (int64_t)whole/'
mutant finish-a-microsecond-early property/test_runs sim/engine/sim_start.c \
    's/j->work_left = job_line\(j\);/j->work_left = j->remaining > 1000 ? j->remaining - 1000 : 0;/'
mutant growth-before-ends oracle/test_scenarios sim/engine/evq.h \
    's/enum ev_class \{ EV_FINISH, EV_FAULT, EV_ARRIVE, EV_POLICY,/enum ev_class { EV_POLICY, EV_FINISH, EV_FAULT, EV_ARRIVE,/'
mutant stranded-slices-forgotten oracle/test_scenarios sim/engine/cluster_mig.c \
    's/return g->compute_slices - used - reachable;/return 0 * (used + reachable);/'
mutant slots-counted-once property/test_runs sim/policy/share_timeslice.c 's/units = request->slots;/units = 1;/'
mutant percentile-off-by-one property/test_runs sim/metrics/dist.c 's/\(uint64_t\)ceil\(exact - slip\)/1 + (uint64_t)ceil(exact - slip)/'
mutant warm-up-ignored property/test_runs sim/metrics/collect.c \
    's/\.covered = j->row\.submit >= warmup/.covered = warmup >= 0/'
mutant pack-and-spread-swapped unit/test_place sim/policy/place_pack.c 's/1 - \(double\)slot_free_units/0 + (double)slot_free_units/'
mutant change-of-a-node-unnoticed unit/test_place sim/policy/nodescore.c 's/s->changes\+\+ & /s->changes & /'
mutant fragments-without-cpus unit/test_place sim/policy/place_fgd.c 's/demands_within\(f, cpus\);/demands_within(f, cpus + 64000);/'
mutant fault-strikes-nobody unit/test_outages sim/engine/outages.c 's/if \(on_cards\(list\[i\]\)\)/if (0 \&\& on_cards(list[i]))/'
mutant fault-stays-with-its-job unit/test_outages sim/engine/outages.c 's/blast != BLAST_JOB; i\+\+/0; i++/'
mutant struck-job-keeps-its-work unit/test_outages sim/engine/sim_finish.c 's/every > 0 \? job_saved\(j, r->now, every\) : 0;/j->row.duration - left;/'
mutant drained-card-takes-new-jobs unit/test_outages sim/engine/cluster.c \
    's/card->out = \(uint8_t\)\(\(card->out \| set\) & ~clear\)/card->out = 0/'
mutant annuity-of-simple-interest unit/test_cashflow sim/cost/cashflow.c 's/-expm1\(-periods \* log1p\(rate\)\) \/ rate/periods \/ (1 + periods * rate)/'
mutant month-rate-is-a-twelfth unit/test_cashflow sim/cost/cashflow.c 's/expm1\(log1p\(yearly_rate\) \/ 12\)/yearly_rate \/ 12/'
mutant residual-not-discounted unit/test_cashflow sim/cost/cashflow.c 's/p->residual_usd \* pow\(1 \+ p->rate, -p->years\)/p->residual_usd/'
mutant part-of-a-year-is-one unit/test_cashflow sim/cost/cashflow.c 's/part = left < 1 \? left : 1/part = 1/'
mutant owned-cards-idle-for-nothing unit/test_breakeven sim/cost/breakeven.c 's/rent_usd - \(busy_usd - idle_usd\)/rent_usd - busy_usd/'
mutant paid-back-without-interest unit/test_breakeven sim/cost/breakeven.c 's/-log1p\(-paid_back\) \/ log1p\(rate\)/upfront_usd \/ saved/'
mutant commits-one-level-too-low unit/test_breakeven sim/cost/breakeven.c 's/return d\[i\]\.cards;/return i ? d[i - 1].cards : 0;/'
mutant one-spare-too-many unit/test_spares sim/cost/spares.c 's/    return high;/    return high + 1;/'
mutant repair-takes-a-year unit/test_spares sim/cost/spares.c 's/failures_per_year \* repair_days \/ 365/failures_per_year * repair_days/'
mutant stranded-is-idle unit/test_tco sim/cost/charge.c 's/fmin\(s->stranded_h, open\)/0 * s->stranded_h/'
mutant tenants-pay-no-energy unit/test_tco sim/cost/charge.c 's/ \+\n           t->energy_kwh \* r->kwh//'
mutant down-cards-cost-nothing unit/test_tco sim/cost/charge.c 's/s->down_h \* r->fixed, s->down_h/0, s->down_h/'
mutant differences-not-paired unit/test_chances sim/cost/montecarlo.c 's/ - cost\[i \* n \+ against\]//'
mutant modes-decide unit/test_chances sim/metrics/decide.c 's/view\[i\]\.cost = drawn\[i\]\.cost_p50/(void)0/'
mutant paid-back-for-a-month unit/test_months sim/cost/months.c 's/while \(m > 0 && own\[m - 1\]/if (m > 0 \&\& own[m - 1]/'
mutant removed-cards-cost-money unit/test_outages sim/cost/quantity.c 's/p->s->u->hours - p->g->absent_h/p->s->u->hours/'
mutant faults-differ-by-policy unit/test_outages sim/engine/outages.c \
    's/fault_stream\(seed, env->replication, spec->name\)/fault_stream(seed + (uint64_t)(size_t)p->share, env->replication, spec->name)/'
mutant checkpoint-counts-too-early unit/test_checkpoint sim/engine/checkpoint.c 's/\(simtime\)cycles : all/(simtime)(cycles + 1) : all/'
mutant crossing-domains-costs-nothing unit/test_gangs sim/engine/cluster_zone.c 's/speed = spec->cross_domain_speed/speed = 1/'
mutant pack-spreads unit/test_gangs sim/engine/cluster_zone.c 's/\? pack : spread/? spread : pack/'
mutant moving-costs-nothing unit/test_migrate sim/engine/sim_start.c 's/sim_later\(r->plan->migrate_pause, p->prepare\)/p->prepare/'
mutant moved-job-begins-again unit/test_migrate sim/engine/sim_start.c \
    's/residents_leave\(r->residents, j, r->now\);/$&\n    j->work_left = job_line(j);/'
mutant moves-depend-on-what-was-tried unit/test_migrate sim/engine/sched_migrate.c 's/if \(!done\) forget_tried\(m\);//'
mutant second-packing-opens-cards oracle/test_second_engine sim/policy/place_packing.c 's/if \(v->slot/if (0 \&\& v->slot/'
mutant second-dot-product-forgets-cores oracle/test_second_engine sim/policy/place_dot_product.c 's/most->cpus_milli > 0 &&/0 \&\&/'
mutant second-clustering-forgets-likeness oracle/test_second_engine sim/policy/place_clustering.c 's/\(like << 40\)/0 * like/'
mutant second-gangs-take-slots-by-number oracle/test_second_engine sim/engine/cluster.c 's/if \(prefer == PREFER_LOOSEST && r/if (0 \&\& r/'
GPUSIM_SECOND=drf mutant second-drf-forgets-cores oracle/test_second_engine sim/policy/order_drf.c 's/fmax\(fmax\(gpus, cpus\)/fmax(gpus + 0 * cpus/'
GPUSIM_SECOND=timeslice mutant second-swap-runs-out oracle/test_second_engine sim/engine/residents.c 's/j->n_holdings && !swaps/j->n_holdings/'
GPUSIM_SECOND=overcommit mutant second-gangs-need-empty-cards oracle/test_second_engine sim/engine/cluster.c 's/\? pg->capacity : d\.units/? pg->capacity : pg->capacity/'
mutant easy-beside-forgets-the-head oracle/test_second_engine sim/engine/sched_easy.c 's/r\.beside = s->then;//'
mutant easy-head-never-moves oracle/test_second_engine sim/engine/sched_easy.c \
    's/if \(reserved && move_head/if (0 && reserved && move_head/'
mutant promises-count-units oracle/test_second_engine sim/engine/places.c \
    's/if \(!shared && !limits && most_nodes <= 1\)/if (most_nodes > 0)/'
# rare: one random scenario in some hundreds
GPUSIM_SOAK=2000 mutant easy-brief-job-takes-what-the-head-needs oracle/test_second_engine sim/engine/cluster_prefer.c \
    's/prefer\(c, other, r, false, p\)/prefer(c, other, r, true, p)/'
mutant short-gang-of-slots-by-number unit/test_place sim/engine/cluster_prefer.c \
    's/n == 0 \|\| r->demand->units < pg->capacity/n == 0 || (n == 1 \&\& r->demand->units < pg->capacity)/'
mutant unused-quota-unsaid unit/test_accounts sim/engine/accounts.c 's/if \(n == 0\) return NULL;\n    snprintf/return NULL;\n    snprintf/'
mutant first-fit-skips-a-card oracle/test_second_engine sim/engine/cluster.c \
    's/at = maxtree_next\(&g->units_of, at \+ 1, r->demand->units\)/at = maxtree_next(\&g->units_of, at + 2, r->demand->units)/'
mutant service-idle-neighbour-felt unit/test_service sim/engine/residents_inside.h \
    's/return x->active && x->job->as;/return x->active;/'
mutant service-timeout-not-kept unit/test_service sim/engine/service_work.c \
    's/while \(from->n && expiry\(v, from->head\) < until\)/while (false)/'
mutant service-routes-to-the-fullest unit/test_service sim/engine/service_work.c \
    's/-llround\(v->plan->route->score/llround(v->plan->route->score/'
mutant service-drops-who-need-not-wait oracle/test_second_services sim/engine/service_work.c 's/expire_until\(s, v, from, now, now\)/expire_until(s, v, from, now + 1, now)/'
mutant service-who-goes-holds-back oracle/test_second_services sim/engine/service_replica.c 's/service_look\(s, x, now\); .. a batch/return; \/* a batch/'
mutant service-waits-for-who-is-here unit/test_service_users sim/engine/service.c \
    's/!service_may_come\(v\)\) service_look/v->spec->count != CFG_NO_INT \&\& v->requests == (uint64_t)v->spec->count) service_look/'
mutant service-slice-takes-no-longer oracle/test_second_services sim/engine/service_work.c 's/(fit->transfer : measured\)) . x->alone;/$1;/'
mutant service-struck-lose-their-turn unit/test_service sim/engine/service_replica.c 's/queue_insert\(to \? &to->queue/queue_push(to ? \&to->queue/'
mutant service-start-up-forgotten unit/test_service sim/engine/sim_start.c \
    's/ready = sim_later\(ready, services_start_up\(j\)\);/ready = sim_later(ready, 0);/'
mutant llm-cut-at-the-arrival property/test_llm_steps sim/policy/serve_continuous.c \
    's/whole_steps\(e, done_ns\) \+ 1;/whole_steps(e, done_ns) + 2;/'
mutant llm-blocks-by-the-round property/test_llm_steps sim/policy/serve_continuous.c \
    's/return rounds \* e->p->block \+ k;/return rounds * e->p->block + k + 1;/'
mutant llm-cut-loses-a-part property/test_llm_any sim/engine/service_work.c \
    's/x->job->as, left - less, now\)/x->job->as, ceil(left - less), now)/'
mutant llm-match-of-the-stretch property/test_llm_steps sim/policy/serve_continuous.c \
    's/if \(!e->filling && e->heap\.n > 0 && e->m > 1\)/if (false)/'
mutant vain-faults-go-uncounted unit/test_vain_faults sim/engine/sim_vain.c 's/r->in_vain\+\+;/r->in_vain = 1;/'
mutant vain-looks-go-uncounted unit/test_vain_faults sim/engine/sim_vain.c 's/r->looks = stands_still\(r\) \? r->looks \+ 1 : 0;/r->looks = 1;/'
mutant vain-faults-forget-checkpoints unit/test_vain_faults sim/engine/sim_finish.c 's/r->in_vain = 0;//'
mutant prefix-cache-forgets-the-use unit/test_prefix_cache sim/policy/prefix_cache.c \
    's/push_newest\(c, b\);\n    \}/drop(c, b);\n    }/'
mutant prefix-hit-still-computed oracle/test_prefix_reuse sim/policy/serve_continuous.c \
    's/q->done = need\.hit < q->target \? need\.hit : q->target - 1;/q->done = 0;/'
mutant affinity-by-rank unit/test_route_affinity sim/policy/route_affinity.c \
    's/if \(!v->session\) return v->by_rank\(v, \(size_t\)\(v->sequence % v->n\)\);/return v->by_rank(v, (size_t)((v->session ? v->session - 1 : v->sequence) % v->n));/'
mutant look-of-any-batch unit/test_service_looks sim/engine/residents.c \
    's/1u \+ j->look : 0/1u + (j->look > 0) : 0/'
mutant scale-down-at-once unit/test_scale sim/engine/scale.c \
    's/if \(s->wanted\[i\] > most\) most = s->wanted\[i\];/continue;/'
if [ "${LONG-}" ]; then # tens of seconds
    mutant repair-takes-as-long-as-life oracle/test_breakdowns sim/engine/fault_times.c 's/down \? repair : fault_unit_mtbf/fault_unit_mtbf/'
    mutant service-frees-a-slot-early oracle/test_services sim/engine/service_work.c \
        's/const double work = v->plan->serve->work_ns/const double work = 1 \/ (double)v->n_up * v->plan->serve->work_ns/'
    mutant service-queue-goes-on-at-who-left unit/test_service_queue sim/engine/service_inside.h \
        's/if \(from->inserted == q\) from->inserted = NULL;//'
    mutant service-random-is-one-queue oracle/test_services sim/policy/route_random.c \
        's/\.pick = pick,/.shared = true, .pick = pick,/'
    mutant stability-never-doubted oracle/test_queueing sim/metrics/stability.c 's/return t->growth < 1\.0 \|\|/return true ||/'
    mutant burst-is-a-queue-without-end unit/test_stability sim/metrics/stability.c 's/ \|\| t->waiting < STABILITY_LEAST_WAITING//'
fi
echo "1..$n"
[ "$bad" = 0 ]
