#include "traces/parse_slurm.h"

#include "base/dec.h"

#include <string.h>
#include <strings.h>

static bool is_word(const char *s, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(s, word, len) == 0;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

bool slurm_missing(const char *s, size_t len)
{
    static const char *const words[] = { "Unknown", "None",    "N/A",           "NA",
                                         "(null)",  "INVALID", "None assigned", "NULL" };
    if (len == 0) return true;
    if (!strchr("UuNnIi(", s[0])) return false; /* nearly every cell */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(s, len, words[i])) return true;
    return false;
}

/* ---- durations ------------------------------------------------------------------------------- */

/* Whole number of at most nine digits at *at; advances. */
static bool take_number(const char *s, size_t len, size_t *at, int64_t *out)
{
    size_t from = *at;
    int64_t v = 0;
    while (*at < len && digit(s[*at]) && *at - from < 9) v = v * 10 + (s[(*at)++] - '0');
    *out = v;
    return *at > from;
}

/* Decimals of a second. */
static bool take_fraction(const char *s, size_t len, size_t *at, int64_t *ns)
{
    int64_t v;
    size_t from = *at;
    while (*at < len && digit(s[*at])) (*at)++;
    if (*at == from || dec_fixed(s + from - 1, *at - from + 1, 9, &v) != DEC_OK) return false;
    *ns = v;
    return true;
}

bool slurm_duration(const char *s, size_t len, simtime *out)
{
    int64_t part[3] = { 0 }, days = 0, ns = 0, sec;
    size_t at = 0, n = 0;
    bool with_days = false;
    while (n < 3) {
        if (!take_number(s, len, &at, &part[n])) return false;
        if (at < len && s[at] == '-' && n == 0 && !with_days) {
            days = part[0];
            with_days = true;
            at++;
            continue;
        }
        n++;
        if (at < len && s[at] == ':')
            at++;
        else
            break;
    }
    if (at < len && s[at] == '.' && n >= 2 && (n == 3 || !with_days)) {
        at++;
        if (!take_fraction(s, len, &at, &ns)) return false;
    }
    if (at != len || (n == 1 && !with_days)) return false;
    /* the leftmost part of all may be any number; the others are digits of a clock */
    if ((with_days && part[0] > 23) || (n >= 2 && part[1] > 59) || (n == 3 && part[2] > 59))
        return false;
    if (with_days)
        sec = days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
    else
        sec = n == 3 ? part[0] * 3600 + part[1] * 60 + part[2] : part[0] * 60 + part[1];
    if (sec > (int64_t)SIM_MAX_S) return false;
    *out = sec * SIM_SECOND + ns;
    return true;
}

bool slurm_time_limit(const char *s, size_t len, enum slurm_limit *kind, simtime *out)
{
    int64_t minutes;
    *kind = LIMIT_SET;
    if (slurm_duration(s, len, out)) return true;
    if (is_word(s, len, "UNLIMITED") || is_word(s, len, "INFINITE")) {
        *kind = LIMIT_NONE;
        return true;
    }
    if (slurm_missing(s, len) || is_word(s, len, "Partition_Limit") || is_word(s, len, "NOT_SET")) {
        *kind = LIMIT_UNKNOWN;
        return true;
    }
    if (dec_fixed_exact(s, len, 0, &minutes) != DEC_OK || minutes < 0 || minutes > 150000000)
        return false;
    *out = minutes * 60 * SIM_SECOND;
    return true;
}

/* ---- quantities ------------------------------------------------------------------------------ */

/* x 2^shift by suffix; the rest of the text is the number. */
static bool unit_shift(char c, int *shift)
{
    static const char units[] = "KMGTPE";
    const char *p = c ? strchr(units, c >= 'a' && c <= 'z' ? c - 32 : c) : NULL;
    if (p) *shift = 10 * (int)(p - units + 1);
    return p != NULL;
}

/* number[K..E] x 2^default_shift without a unit, exactly. */
static bool scaled(const char *s, size_t len, int default_shift, int64_t *out)
{
    int shift = default_shift;
    int64_t micro;
    if (len > 0 && unit_shift(s[len - 1], &shift)) len--;
    if (dec_fixed(s, len, 6, &micro) != DEC_OK || micro < 0) return false;
    __extension__ typedef unsigned __int128 wide;
    const wide v = (((wide)micro << shift) + 500000) / 1000000;
    if (v > INT64_MAX) return false;
    *out = (int64_t)v;
    return true;
}

bool slurm_memory(const char *s, size_t len, uint64_t *bytes, char *per)
{
    const uint64_t per_cpu_mb = UINT64_C(1) << 31; /* MEM_PER_CPU of old versions, cut to 32 bits */
    int64_t v;
    *per = 0;
    if (len > 0 && (s[len - 1] == 'n' || s[len - 1] == 'c')) *per = s[--len];
    if (len > 0 && s[len - 1] == '?') len--;
    if (!scaled(s, len, 20, &v)) return false;
    *bytes = (uint64_t)v;
    if (*bytes >> 20 >= per_cpu_mb && len > 0 && (s[len - 1] == 'M' || digit(s[len - 1]))) {
        *bytes -= per_cpu_mb << 20;
        *per = 'c';
    }
    return true;
}

int slurm_gpu_ids(struct slurm_gpu_ids *out, const char *text, struct err *e)
{
    *out = (struct slurm_gpu_ids){ .n = 0 };
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        uint64_t id;
        if (out->n == SLURM_GPU_IDS || dec_u64(p, n, &id) != DEC_OK || id == 0 || id > INT32_MAX) {
            *out = (struct slurm_gpu_ids){ .n = 0 };
            return err_set(e, ERR_USAGE, NULL,
                           "--gpu-tres: expected ids such as 1001,1002, found \"%s\"", text);
        }
        out->id[out->n++] = (int64_t)id;
        p += n + (p[n] == ',');
    }
    return 0;
}

int32_t slurm_mig_milli(const char *type, size_t len)
{
    for (size_t i = 0; i + 5 < len + 1; i++) { /* N g . M g b */
        size_t at = i + 3;
        int64_t gb;
        if (!digit(type[i]) || (i > 0 && digit(type[i - 1])) || type[i + 1] != 'g' ||
            type[i + 2] != '.')
            continue;
        if (!take_number(type, len, &at, &gb) || at + 1 >= len || type[at] != 'g' ||
            type[at + 1] != 'b')
            continue;
        switch (type[i]) {
        case '1':
            if (gb == 6) return 250; /* A30: four slices */
            return gb == 20 || gb == 24 || gb == 35 || gb >= 40 ? 250 : 125;
        case '2': return gb == 12 ? 500 : 250;
        case '3': return 500;
        case '4': return gb == 24 ? 1000 : 500;
        case '7': return 1000;
        default: return 0;
        }
    }
    return 0;
}

/* ---- lists of resources ----------------------------------------------------------------------- */

static void tres_init(struct slurm_tres *t)
{
    *t = (struct slurm_tres){ .cpus = -1,
                              .mem_bytes = -1,
                              .nodes = -1,
                              .gpus = -1,
                              .typed = -1,
                              .slices = -1,
                              .slices_milli = -1,
                              .shards = -1 };
}

static void add(int64_t *sum, int64_t n)
{
    if (*sum < 0) *sum = 0;
    *sum = *sum > INT64_MAX - n ? INT64_MAX : *sum + n;
}

static void add_typed(struct slurm_tres *t, const char *type, size_t len, int64_t n)
{
    const int32_t milli = slurm_mig_milli(type, len);
    int64_t sum;
    if (milli && !__builtin_mul_overflow(n, milli, &sum)) {
        add(&t->slices, n);
        add(&t->slices_milli, sum);
    } else {
        add(&t->typed, n);
    }
    if (t->type && n <= t->type_n) return;
    t->type = type;
    t->type_len = len;
    t->type_n = n;
}

static bool starts(const char *s, size_t len, const char *with)
{
    return len >= strlen(with) && strncasecmp(s, with, strlen(with)) == 0;
}

static bool tres_number(int64_t id, int64_t n, const struct slurm_gpu_ids *ids,
                        struct slurm_tres *t)
{
    for (int i = 0; ids && i < ids->n; i++)
        if (ids->id[i] == id) {
            add(&t->gpus, n);
            return true;
        }
    switch (id) {
    case 1: t->cpus = n; break;
    case 2: return !__builtin_mul_overflow(n, INT64_C(1) << 20, &t->mem_bytes);
    case 4: t->nodes = n; break;
    default:
        if (id > 1000 && n > 0) t->other_ids = true;
        break;
    }
    return true;
}

static bool tres_entry(const char *k, size_t klen, const char *v, size_t vlen,
                       const struct slurm_gpu_ids *ids, struct slurm_tres *t)
{
    int64_t n, id;
    if (is_word(k, klen, "mem")) return scaled(v, vlen, 20, &t->mem_bytes);
    if (is_word(k, klen, "cpu")) return scaled(v, vlen, 0, &t->cpus);
    if (is_word(k, klen, "node")) return scaled(v, vlen, 0, &t->nodes);
    if (klen > 0 && digit(k[0])) {
        if (dec_fixed_exact(k, klen, 0, &id) != DEC_OK) return false;
        /* values of other ids may be anything, 2^64 - 2 for energy among them */
        return dec_fixed(v, vlen, 0, &n) == DEC_OK && n >= 0 ? tres_number(id, n, ids, t) : id == 3;
    }
    if (starts(k, klen, "gres/") || starts(k, klen, "gres:")) k += 5, klen -= 5;
    const bool gpu = is_word(k, klen, "gpu"), typed = starts(k, klen, "gpu:");
    const bool part = is_word(k, klen, "shard") || starts(k, klen, "shard:") ||
                      is_word(k, klen, "mps") || starts(k, klen, "mps:");
    if (!gpu && !typed && !part) return true;
    if (!scaled(v, vlen, 0, &n)) return false;
    if (gpu) add(&t->gpus, n);
    if (typed) add_typed(t, k + 4, klen - 4, n);
    if (part && (!memchr(k, ':', klen) || t->shards < 0)) t->shards = n;
    return true;
}

bool slurm_tres(const char *s, size_t len, const struct slurm_gpu_ids *ids, struct slurm_tres *out,
                size_t *bad)
{
    tres_init(out);
    for (size_t at = 0; at < len;) {
        const char *comma = memchr(s + at, ',', len - at);
        const size_t end = comma ? (size_t)(comma - s) : len;
        const char *eq = memchr(s + at, '=', end - at);
        if (bad) *bad = at;
        if (eq) {
            const char *v = eq + 1;
            if (!tres_entry(s + at, (size_t)(eq - s) - at, v, (size_t)(s + end - v), ids, out))
                return false;
        } else if (end > at) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

/* name[:type][:count][(...)] without the parenthesis. */
static bool gres_entry(const char *s, size_t len, int64_t nodes, struct slurm_tres *t)
{
    int64_t n = 1;
    if (starts(s, len, "gres/") || starts(s, len, "gres:")) s += 5, len -= 5;
    const char *colon = memchr(s, ':', len);
    const size_t name = colon ? (size_t)(colon - s) : len;
    const char *type = NULL;
    size_t type_len = 0;
    if (colon) {
        const char *last = memrchr(s, ':', len);
        const size_t after = (size_t)(s + len - last) - 1;
        const bool counted = after > 0 && scaled(last + 1, after, 0, &n);
        const char *type_end = counted ? last : s + len;
        if (type_end > colon) type = colon + 1, type_len = (size_t)(type_end - type);
        if (!counted) n = 1;
    }
    if (__builtin_mul_overflow(n, nodes, &n)) return false;
    if (is_word(s, name, "gpu")) {
        if (type_len)
            add_typed(t, type, type_len, n);
        else
            add(&t->gpus, n);
    } else if (is_word(s, name, "shard") || is_word(s, name, "mps")) {
        add(&t->shards, n);
    }
    return true;
}

bool slurm_gres(const char *s, size_t len, int64_t nodes, struct slurm_tres *out, size_t *bad)
{
    tres_init(out);
    if (slurm_missing(s, len)) return true;
    for (size_t at = 0; at < len;) {
        size_t end = at, stop = len;
        int depth = 0;
        for (; end < len && (depth > 0 || s[end] != ','); end++) {
            if (s[end] == '(' && depth++ == 0 && stop == len) stop = end;
            if (s[end] == ')') depth -= depth > 0;
        }
        if (stop > end) stop = end;
        if (bad) *bad = at;
        if (stop > at && !gres_entry(s + at, stop - at, nodes, out)) return false;
        at = end + 1;
    }
    return true;
}

int64_t slurm_gpus_milli(const struct slurm_tres *t, bool *disagree)
{
    const int64_t cap = INT64_C(1) << 40;
    const int64_t typed = t->typed > 0 ? t->typed : 0, slices = t->slices > 0 ? t->slices : 0;
    if (disagree) *disagree = false;
    if (t->gpus > cap || typed > cap || slices > cap || t->slices_milli > cap) return cap * 1000;
    const bool types = t->typed >= 0 || t->slices >= 0;
    if (!types) return t->gpus < 0 ? -1 : t->gpus * 1000;
    const int64_t by_type = typed * 1000 + (slices ? t->slices_milli : 0);
    if (t->gpus < 0 || t->gpus == typed + slices) return by_type;
    if (disagree) *disagree = true;
    return t->gpus * 1000;
}

/* ---- states and ids --------------------------------------------------------------------------- */

const char *const slurm_state_names[SLURM_STATES] = { "?",
#define X(name) #name,
                                                      SLURM_STATE_MAP(X)
#undef X
};

static const struct {
    const char *code;
    enum slurm_state state;
} state_codes[] = {
    { "CANCELED", SLURM_CANCELLED }, { "PD", SLURM_PENDING },      { "CF", SLURM_CONFIGURING },
    { "R", SLURM_RUNNING },          { "S", SLURM_SUSPENDED },     { "CG", SLURM_COMPLETING },
    { "CD", SLURM_COMPLETED },       { "CA", SLURM_CANCELLED },    { "F", SLURM_FAILED },
    { "TO", SLURM_TIMEOUT },         { "NF", SLURM_NODE_FAIL },    { "OOM", SLURM_OUT_OF_MEMORY },
    { "PR", SLURM_PREEMPTED },       { "BF", SLURM_BOOT_FAIL },    { "DL", SLURM_DEADLINE },
    { "RQ", SLURM_REQUEUED },        { "RH", SLURM_REQUEUE_HOLD }, { "RF", SLURM_REQUEUE_FED },
    { "RV", SLURM_REVOKED },         { "SE", SLURM_SPECIAL_EXIT }, { "SI", SLURM_SIGNALING },
    { "SO", SLURM_STAGE_OUT },       { "ST", SLURM_STOPPED },      { "RS", SLURM_RESIZING },
    { "RD", SLURM_RESV_DEL_HOLD },
};

enum slurm_state slurm_state(const char *s, size_t len)
{
    if (len == 0) return SLURM_UNKNOWN_STATE;
    const char *blank = memchr(s, ' ', len); /* "CANCELLED by 1234" */
    if (blank) len = (size_t)(blank - s);
    const bool cut = len > 0 && s[len - 1] == '+';
    if (cut) len--;
    if (len == 0) return SLURM_UNKNOWN_STATE;
    for (int i = 1; i < SLURM_STATES; i++) {
        const size_t n = strlen(slurm_state_names[i]);
        if (strncasecmp(slurm_state_names[i], s, len) == 0 &&
            (n == len || (cut && len < n && len > 4)))
            return (enum slurm_state)i;
    }
    for (size_t i = 0; !cut && i < sizeof state_codes / sizeof *state_codes; i++)
        if (is_word(s, len, state_codes[i].code)) return state_codes[i].state;
    return SLURM_UNKNOWN_STATE;
}

bool slurm_is_step(const char *id, size_t len)
{
    const char *list = memchr(id, '[', len); /* "123_[1-5,...]" was cut, and is no step */
    return memchr(id, '.', list ? (size_t)(list - id) : len) != NULL;
}

bool slurm_is_task_range(const char *id, size_t len)
{
    return memchr(id, '[', len) != NULL;
}
