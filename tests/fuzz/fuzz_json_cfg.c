/* tests/fuzz/fuzz_json_cfg.c - any bytes as a JSON document: parsing, the place of every value, a
 * configuration table, paths, and the written form, which must read back as the same tree. */
#include "base/cfg.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const modes[] = { "one", "two", NULL };

struct sample {
    int64_t slots;
    simtime quantum;
    uint64_t bytes;
    double share, rate;
    const char *name;
    int mode;
    bool on;
};

static const struct cfg_field fields[] = {
    CFG_FIELD(struct sample, slots, CFG_INT, "4", 1, 64, "a count"),
    CFG_FIELD(struct sample, quantum, CFG_TIME, "1 ms", 0, 1, "a time"),
    CFG_FIELD(struct sample, bytes, CFG_BYTES, NULL, 0, 0, "a size"),
    CFG_FIELD(struct sample, share, CFG_RATIO, "0.5", 0, 0, "a ratio"),
    CFG_QUANTITY(struct sample, rate, UNIT_RATE, NULL, 0, 0, "a rate"),
    CFG_FIELD(struct sample, name, CFG_TEXT, NULL, 0, 0, "a text"),
    CFG_ONE_OF(struct sample, mode, modes, "one", "a choice"),
    CFG_FIELD(struct sample, on, CFG_BOOL, "true", 0, 0, "a flag"),
};
enum { FIELDS = sizeof fields / sizeof *fields, POINTER = 256, DEEP = 12 };

/* The text at each value's place says what the tree holds. */
static void locate_all(const struct json_doc *doc, json_t *v, const char *pointer, int depth)
{
    char at[POINTER];
    int line, col, len;
    const char *key;
    size_t i;
    json_t *each;

    const bool whole = strlen(pointer) < POINTER - 1; /* a longer one may have been cut */
    const bool found = json_doc_locate(doc, pointer, &line, &col, &len);
    if (whole) BUG_ON(!found);
    BUG_ON(line < 1 || col < 1 || len < 1);
    if (depth == DEEP) return;
    json_object_foreach(v, key, each)
        locate_all(doc, each, json_pointer_key(at, sizeof at, pointer, key), depth + 1);
    json_array_foreach(v, i, each)
        locate_all(doc, each, json_pointer_index(at, sizeof at, pointer, i), depth + 1);
}

static void write_and_read(const json_t *root)
{
    struct strbuf once = { 0 }, twice = { 0 };
    struct json_doc again;
    struct err e = { 0 };

    json_write(root, &once);
    BUG_ON(json_doc_parse(&again, "again", once.s, once.len, &e) != 0);
    json_write(again.root, &twice);
    BUG_ON(once.len != twice.len || memcmp(once.s, twice.s, once.len) != 0);
    strbuf_fini(&once);
    strbuf_fini(&twice);
    json_doc_fini(&again);
}

static void configure(const struct json_doc *doc)
{
    struct arena *a = arena_create();
    struct sample s;
    struct diag d;

    diag_init(&d);
    cfg_read(fields, FIELDS, &s, a, doc, doc->root, "", NULL, 0, &d);
    if (d.count == 0) { /* what was accepted can be said again */
        struct sample t;
        json_t *out = cfg_write(fields, FIELDS, &s);
        cfg_read(fields, FIELDS, &t, a, NULL, out, "", NULL, 0, &d);
        BUG_ON(d.count != 0 || t.slots != s.slots || t.quantum != s.quantum || t.bytes != s.bytes);
        json_decref(out);
    }
    diag_fini(&d);
    arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_doc doc;
    struct err e = { 0 };

    if (size > 4096) return 0; /* locating every value is quadratic */
    if (json_doc_parse(&doc, "fuzz", (const char *)data, size, &e)) {
        BUG_ON(e.code != ERR_INPUT || !*e.msg);
        return 0;
    }
    locate_all(&doc, doc.root, "", 0);
    write_and_read(doc.root);
    configure(&doc);
    json_path_set(doc.root, "a.b.0", "[1]", &e);
    json_path_get(doc.root, "a.b.0.name");
    json_doc_fini(&doc);
    return 0;
}
