/* test_easy.c - EASY backfill on a flat pool against the textbook algorithm written down again
 * here, where cards are a mere number: the head's reservation at the earliest promised time, jobs
 * behind it start if they end before that or take no more than what is spare then (Mu'alem and
 * Feitelson 2001). With shares of cards a number is not enough: there the same is written down with
 * cards, each looked at for every decision. Who outlasts the reservation may start on the tightest
 * card that leaves the head some card at its time. Mutants: a job that outlasts the reservation
 * needs the very cards it would get first; the head sticks to the card it would have got. */
#include "support/simulate.h"

#include "base/str.h"

enum { JOBS = 60, CARDS = 8, RUNS = 40 };

struct row {
    int submit, run, limit, cards;
    int start; /* -1: not yet */
};

static int free_cards(const struct row *j, int now)
{
    int free = CARDS;
    for (int i = 0; i < JOBS; i++)
        if (j[i].start >= 0 && j[i].start + j[i].run > now) free -= j[i].cards;
    return free;
}

/* When `head` fits if running jobs end at their limits, and what is spare then. */
static int reservation(const struct row *j, const struct row *head, int now, int *spare)
{
    for (int when = now;; when++) {
        int free = CARDS;
        for (int i = 0; i < JOBS; i++)
            if (j[i].start >= 0 && j[i].start + j[i].run > now && j[i].start + j[i].limit > when)
                free -= j[i].cards;
        if (free < head->cards) continue;
        *spare = free - head->cards;
        return when;
    }
}

static void textbook(struct row *j)
{
    int left = JOBS;
    for (int now = 0; left > 0; now++) {
        int head = 0;
        for (; head < JOBS && j[head].submit <= now; head++) {
            if (j[head].start >= 0) continue;
            if (j[head].cards > free_cards(j, now)) break;
            j[head].start = now;
            left--;
        }
        if (head == JOBS || j[head].submit > now) continue;
        int spare, when = reservation(j, &j[head], now, &spare);
        for (int i = head + 1; i < JOBS && j[i].submit <= now; i++) {
            const bool brief = now + j[i].limit <= when;
            if (j[i].start >= 0 || j[i].cards > free_cards(j, now)) continue;
            if (!brief && j[i].cards > spare) continue;
            if (!brief) spare -= j[i].cards;
            j[i].start = now;
            left--;
        }
    }
}

static void starts_as_the_textbook_says(void **state)
{
    static const int sizes[] = { 1, 1, 2, 2, 3, 4, 6, 8 }, slack[] = { 0, 0, 50, 200 };
    const char *scenario =
        "{'format': 'gpusim-scenario/1', 'name': 'easy',"
        " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 8}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'policies': [{'name': 'easy', 'share': {'kind': 'whole'}}],"
        " 'schedule': {'backfill': 'easy'}, 'output': {'sample': '1 d'}}";
    uint64_t seed = test_seed();
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct row j[JOBS];
        struct strbuf trace = { 0 };
        int t = 0, start[JOBS];
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus,walltime_s\n");
        for (int i = 0; i < JOBS; i++) {
            t += (int)(test_random(&seed) % 41);
            j[i] = (struct row){ .submit = t,
                                 .run = 10 + (int)(test_random(&seed) % 291),
                                 .cards = sizes[test_random(&seed) % 8],
                                 .start = -1 };
            j[i].limit = j[i].run + slack[test_random(&seed) % 4];
            strbuf_addf(&trace, "j%d,%d,%d,%d,%d\n", i, j[i].submit, j[i].run, j[i].cards,
                        j[i].limit);
        }
        textbook(j);
        for (int k = 0; k < JOBS; k++) start[k] = j[k].start;
        sim_expect_starts(scenario, trace.s, start, JOBS, run);
        strbuf_fini(&trace);
    }
}

/* ---- shares of cards, in eighths ---- */

enum { EIGHTHS = 8, POOL = 5 };

struct part {
    int submit, run, limit, eighths;
    int start, card; /* -1: not yet */
};

/* What is free on a card at `now`, or at `when` if those who run at `now` end at their limits. */
static int free_on(const struct part *j, int card, int now, int when)
{
    int free = EIGHTHS;
    for (int i = 0; i < JOBS; i++)
        if (j[i].start >= 0 && j[i].card == card && j[i].start + j[i].run > now &&
            (when == now || j[i].start + j[i].limit > when))
            free -= j[i].eighths;
    return free;
}

/* The tightest card with so much room; `not` is left out. -1: none. */
static int tightest(const struct part *j, int eighths, int now, const bool * not )
{
    int best = -1, least = EIGHTHS + 1;
    for (int c = 0; c < POOL; c++) {
        const int free = free_on(j, c, now, now);
        if ((not &&not [c]) || free < eighths || free >= least) continue;
        best = c;
        least = free;
    }
    return best;
}

static bool head_has_a_card(const struct part *j, const struct part *head, int now, int when)
{
    for (int c = 0; c < POOL; c++)
        if (free_on(j, c, now, when) >= head->eighths) return true;
    return false;
}

static void textbook_of_shares(struct part *j)
{
    int left = JOBS;
    for (int now = 0; left > 0; now++) {
        int head = 0;
        for (; head < JOBS && j[head].submit <= now; head++) {
            if (j[head].start >= 0) continue;
            const int card = tightest(j, j[head].eighths, now, NULL);
            if (card < 0) break;
            j[head].start = now;
            j[head].card = card;
            left--;
        }
        if (head == JOBS || j[head].submit > now) continue;
        int when = now + 1;
        while (!head_has_a_card(j, &j[head], now, when)) when++;
        for (int i = head + 1; i < JOBS && j[i].submit <= now; i++) {
            bool not [POOL] = { false };
            if (j[i].start >= 0) continue;
            for (;;) {
                const int card = tightest(j, j[i].eighths, now, not );
                if (card < 0) break;
                j[i].start = now;
                j[i].card = card;
                if (now + j[i].limit <= when || head_has_a_card(j, &j[head], now, when)) break;
                j[i].start = -1;
                not [card] = true;
            }
            left -= j[i].start >= 0;
        }
    }
}

static void shares_start_as_the_textbook_says(void **state)
{
    static const int sizes[] = { 1, 1, 2, 3, 4, 5, 6, 7 }, slack[] = { 0, 0, 50, 200 };
    const char *scenario =
        "{'format': 'gpusim-scenario/1', 'name': 'easy',"
        " 'fleet': [{'name': 'pool', 'gpu': 'generic', 'nodes': 1, 'gpus_per_node': 5}],"
        " 'work': [{'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv'}],"
        " 'profiles': {'still': {'host': 1, 'compute': 0, 'memory': 0}},"
        " 'policies': [{'name': 'easy', 'share': {'kind': 'intercept', 'enforce': 'none',"
        " 'startup': '0 s', 'startup_per_process': '0 s', 'launch': '0 s'}}],"
        " 'schedule': {'backfill': 'easy'}, 'output': {'sample': '1 d'}}";
    uint64_t seed = test_seed();
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct part j[JOBS];
        struct strbuf trace = { 0 };
        int t = 0, start[JOBS];
        strbuf_addz(&trace, "job_id,submit_s,duration_s,gpus,walltime_s,profile\n");
        for (int i = 0; i < JOBS; i++) {
            t += (int)(test_random(&seed) % 30);
            j[i] = (struct part){ .submit = t,
                                  .run = 10 + (int)(test_random(&seed) % 291),
                                  .eighths = sizes[test_random(&seed) % 8],
                                  .start = -1 };
            j[i].limit = j[i].run + slack[test_random(&seed) % 4];
            strbuf_addf(&trace, "j%d,%d,%d,%g,%d,still\n", i, j[i].submit, j[i].run,
                        j[i].eighths / 8.0, j[i].limit);
        }
        textbook_of_shares(j);
        for (int k = 0; k < JOBS; k++) start[k] = j[k].start;
        sim_expect_starts(scenario, trace.s, start, JOBS, run);
        strbuf_fini(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(starts_as_the_textbook_says),
                                        cmocka_unit_test(shares_start_as_the_textbook_says) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
