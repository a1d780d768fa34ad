/* The prefix cache of one replica (policy/prefix_cache.h) by hand: blocks of 40 tokens in a KV
 * cache of blocks of 16, so 32 tokens (2 blocks) of each whole block are kept.
 *
 * Mutant: prefix-cache-forgets-the-use. */
#include "policy/prefix_cache.h"

#include "model/blocks.h"
#include "support/support.h"

static struct symtab *names;

/* "1,2,3": the chain of these blocks. */
static struct prefix prompt(const char *ids, int64_t tokens)
{
    sym chain = 0;
    for (; *ids; ids++)
        if (*ids != ',') chain = blocks_add(names, chain, *ids - '0');
    return (struct prefix){ chain, 40, tokens };
}

#define EXPECT(c, ids, tokens, hit_, shared_, units_)                                              \
    do {                                                                                           \
        const struct prefix p_ = prompt(ids, tokens);                                              \
        const struct prefix_need n_ = prefix_cache_look(c, &p_);                                   \
        assert_int_equal(n_.hit, hit_);                                                            \
        assert_int_equal(n_.shared, shared_);                                                      \
        assert_int_equal(n_.units, units_);                                                        \
    } while (0)

static void use(struct prefix_cache *c, const char *ids, int64_t tokens)
{
    const struct prefix p = prompt(ids, tokens);
    prefix_cache_use(c, &p);
}

static int64_t release(struct prefix_cache *c, const char *ids, int64_t tokens, int64_t done)
{
    const struct prefix p = prompt(ids, tokens);
    return prefix_cache_release(c, &p, done);
}

static void chains(void **state)
{
    int64_t id;
    (void)state;
    const sym a = blocks_add(names, 0, 7), b = blocks_add(names, a, -5),
              c = blocks_add(names, 0, -5);
    assert_true(b != c); /* the same number behind something else is another block */
    assert_int_equal(blocks_add(names, a, -5), b);
    assert_int_equal(blocks_parent(names, b, &id), a);
    assert_int_equal(id, -5);
    assert_int_equal(blocks_parent(names, a, NULL), 0);
    assert_int_equal(symtab_find(names, ""), 0);
}

/* Two prompts share two blocks; a third begins with another block first. */
static void sharing(void **state)
{
    struct prefix_cache *c = prefix_cache_create(names, 16);
    (void)state;
    EXPECT(c, "1,2,3", 120, 0, 96, 6);
    use(c, "1,2,3", 120);
    EXPECT(c, "1,2,3", 120, 96, 96, 0);
    EXPECT(c, "1,2,4", 120, 64, 96, 2);
    EXPECT(c, "2,3", 80, 0, 64, 4);
    use(c, "1,2,4", 120);
    assert_int_equal(release(c, "1,2,3", 120, 120), 2); /* 1 and 2 have another user */
    EXPECT(c, "1,2,3", 120, 96, 96, 2);                 /* 3 is there and would be taken again */
    assert_int_equal(release(c, "1,2,4", 120, 120), 6);
    EXPECT(c, "1,2,4", 120, 96, 96, 6);
    prefix_cache_destroy(c);
}

/* The least recently used goes first, of one prompt the last block first. */
static void least_recently_used(void **state)
{
    struct prefix_cache *c = prefix_cache_create(names, 16);
    (void)state;
    use(c, "1,2", 80);
    use(c, "3,4", 80);
    release(c, "1,2", 80, 80);
    release(c, "3,4", 80, 80);
    use(c, "1", 40); /* block 1 is used once more, and is the newest now */
    release(c, "1", 40, 40);
    prefix_cache_trim(c, 8);
    EXPECT(c, "1,2", 80, 64, 64, 4);
    prefix_cache_trim(c, 6);
    EXPECT(c, "1,2", 80, 32, 64, 4);
    EXPECT(c, "3,4", 80, 64, 64, 4);
    prefix_cache_trim(c, 5); /* 4 goes, and with it two blocks of KV cache */
    EXPECT(c, "3,4", 80, 32, 64, 4);
    prefix_cache_trim(c, 2);
    EXPECT(c, "3,4", 80, 0, 64, 4);
    EXPECT(c, "1,2", 80, 32, 64, 4);
    use(c, "1", 40);
    prefix_cache_trim(c, 0); /* what is used stays */
    EXPECT(c, "1", 40, 32, 32, 0);
    prefix_cache_destroy(c);
}

/* Evicted while its prompt was filled in: 45 tokens are there, which is the first block. */
static void never_filled_in(void **state)
{
    struct prefix_cache *c = prefix_cache_create(names, 16);
    (void)state;
    use(c, "1,2,3", 120);
    assert_int_equal(release(c, "1,2,3", 120, 45), 6);
    EXPECT(c, "1,2,3", 120, 32, 96, 6);
    prefix_cache_destroy(c);
}

/* The last block is begun only: 20 tokens of it are one block of KV cache, 15 are none. More
 * numbers than the prompt has blocks count for nothing, as does a trace in which a block is once
 * shorter, once longer. */
static void odd_prompts(void **state)
{
    struct prefix_cache *c = prefix_cache_create(names, 16);
    (void)state;
    EXPECT(c, "1,2", 60, 0, 48, 3);
    EXPECT(c, "1,2", 55, 0, 32, 2);
    EXPECT(c, "1,2,3,4", 41, 0, 32, 2);
    EXPECT(c, "1,2", 0, 0, 0, 0);
    use(c, "1,2", 60);
    EXPECT(c, "1,2,3", 120, 48, 80, 2); /* of block 2 only 16 tokens are there: the hit ends */
    prefix_cache_destroy(c);
    prefix_cache_destroy(NULL);
}

/* Many blocks, at random, against a list of what must be there. */
/* The trace's mistake: block 2 is a whole one here and begun only there. A prompt never takes
 * more than its own tokens need, so that a block which goes makes no room for who waits. */
static void shorter(void **state)
{
    struct prefix_cache *c = prefix_cache_create(names, 16);
    (void)state;
    use(c, "1,2", 80);
    release(c, "1,2", 80, 80);
    EXPECT(c, "1,2", 56, 48, 48, 3); /* not 4 */
    use(c, "1,2", 56);
    EXPECT(c, "1,2", 80, 48, 48, 0);
    assert_int_equal(release(c, "1,2", 56, 56), 3);
    EXPECT(c, "1,2", 80, 48, 48, 3);
    prefix_cache_destroy(c);
}

static void many(void **state)
{
    enum { PROMPTS = 4000 };
    struct prefix_cache *c = prefix_cache_create(names, 16);
    uint64_t seed = test_seed();
    int64_t held = 0;
    (void)state;
    for (int i = 0; i < PROMPTS; i++) {
        struct prefix p = { 0, 40, 400 };
        for (int k = 0; k < 10; k++)
            p.chain = blocks_add(names, p.chain, (int64_t)(test_random(&seed) % (k < 5 ? 3 : 50)));
        const struct prefix_need n = prefix_cache_look(c, &p);
        prefix_cache_use(c, &p);
        assert_int_equal(prefix_cache_look(c, &p).units, 0);
        assert_int_equal(n.shared, 320);
        assert_true(n.units <= 20 && n.hit <= 320);
        assert_int_equal(prefix_cache_release(c, &p, 400), 20);
        held += 20 - n.hit / 16;
    }
    assert_true(held > 20000);
    prefix_cache_trim(c, 0);
    for (int64_t id = 0; id < 3; id++) {
        const struct prefix p = { blocks_add(names, 0, id), 40, 40 };
        assert_int_equal(prefix_cache_look(c, &p).hit, 0);
    }
    prefix_cache_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),
        cmocka_unit_test(sharing),
        cmocka_unit_test(least_recently_used),
        cmocka_unit_test(never_filled_in),
        cmocka_unit_test(odd_prompts),
        cmocka_unit_test(shorter),
        cmocka_unit_test(many),
    };
    names = symtab_create();
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    symtab_destroy(names);
    return rc;
}
