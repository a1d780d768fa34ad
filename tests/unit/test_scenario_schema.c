/* The published schema of the scenario against the code: every key that a table or a registry knows
 * is described with its kind, bounds, default and choices, nothing else is; what the schema refuses
 * the program refuses too, and the scenarios that ship, as written and resolved, are valid. */
#include "tests/support/simulate.h"

#include "model/scenario_inside.h"

#include "base/datadir.h"
#include "engine/order.h"
#include "engine/place.h"
#include "engine/route.h"
#include "engine/serve.h"
#include "engine/share.h"
#include "model/signature.h"

#include <dirent.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_doc doc; /* the schema */
static json_t *defs;

static int set_up(void **state)
{
    char path[4096];
    struct err e = { 0 };
    (void)state;
    if (json_doc_load(&doc, datadir_path(path, sizeof path, "schema/scenario.schema.json"), &e) < 0)
        fail_msg("%s: %s", e.where, e.msg);
    defs = json_object_get(doc.root, "$defs");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    json_doc_fini(&doc);
    return 0;
}

static json_t *def(const char *name)
{
    json_t *d = json_object_get(defs, name);
    if (!d) fail_msg("the schema has no $defs/%s", name);
    return d;
}

/* What "$ref" names, NULL without one. */
static const char *ref_name(const json_t *schema)
{
    const char *ref = json_string_value(json_object_get(schema, "$ref"));
    if (!ref) return NULL;
    if (strncmp(ref, "#/$defs/", 8) != 0) fail_msg("expected a $ref into $defs, found %s", ref);
    return ref + 8;
}

/* ---- as much of JSON Schema as the file uses ---- */

static bool matches(const char *text, const char *pattern)
{
    regex_t re;
    if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0) fail_msg("bad pattern %s", pattern);
    const bool yes = regexec(&re, text, 0, NULL, 0) == 0;
    regfree(&re);
    return yes;
}

static bool has_type(const json_t *v, const char *type)
{
    const double x = json_number_value(v);
    if (strcmp(type, "object") == 0) return json_is_object(v);
    if (strcmp(type, "array") == 0) return json_is_array(v);
    if (strcmp(type, "string") == 0) return json_is_string(v);
    if (strcmp(type, "boolean") == 0) return json_is_boolean(v);
    if (strcmp(type, "number") == 0) return json_is_number(v);
    if (strcmp(type, "integer") == 0) return json_is_number(v) && x == rint(x);
    fail_msg("type %s is not known to this test", type);
    return false;
}

static bool listed(const json_t *list, const json_t *v)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), v)) return true;
    return false;
}

static bool valid(const json_t *v, const json_t *schema);

static size_t count_valid(const json_t *v, const json_t *list)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) n += valid(v, json_array_get(list, i));
    return n;
}

static bool members_valid(const json_t *v, const json_t *schema)
{
    const json_t *props = json_object_get(schema, "properties");
    const json_t *extra = json_object_get(schema, "additionalProperties");
    const json_t *dependent = json_object_get(schema, "dependentSchemas");
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)v, key, member)
    {
        const json_t *own = json_object_get(props, key), *also = json_object_get(dependent, key);
        if (own ? !valid(member, own) : extra && !valid(member, extra)) return false;
        if (also && !valid(v, also)) return false;
    }
    return true;
}

static bool holds(const json_t *v, const json_t *schema, const char *word, const json_t *arg)
{
    static const char *const silent[] = { "$schema",     "$id",     "$defs", "title",
                                          "description", "default", "then" };
    static const char *const of_members[] = { "properties", "additionalProperties",
                                              "dependentSchemas" };
    const double x = json_number_value(v), bound = json_number_value(arg);
    const size_t n = (size_t)json_integer_value(arg);
    if (strcmp(word, "type") == 0) return has_type(v, json_string_value(arg));
    if (strcmp(word, "const") == 0) return json_equal(v, arg);
    if (strcmp(word, "enum") == 0) return listed(arg, v);
    if (strcmp(word, "minimum") == 0) return !json_is_number(v) || x >= bound;
    if (strcmp(word, "exclusiveMinimum") == 0) return !json_is_number(v) || x > bound;
    if (strcmp(word, "exclusiveMaximum") == 0) return !json_is_number(v) || x < bound;
    if (strcmp(word, "maximum") == 0) return !json_is_number(v) || x <= bound;
    if (strcmp(word, "minItems") == 0) return !json_is_array(v) || json_array_size(v) >= n;
    if (strcmp(word, "maxItems") == 0) return !json_is_array(v) || json_array_size(v) <= n;
    if (strcmp(word, "minProperties") == 0) return !json_is_object(v) || json_object_size(v) >= n;
    if (strcmp(word, "$ref") == 0) return valid(v, def(ref_name(schema)));
    if (strcmp(word, "allOf") == 0) return count_valid(v, arg) == json_array_size(arg);
    if (strcmp(word, "anyOf") == 0) return count_valid(v, arg) > 0;
    if (strcmp(word, "pattern") == 0)
        return !json_is_string(v) || matches(json_string_value(v), json_string_value(arg));
    if (strcmp(word, "if") == 0) return !valid(v, arg) || valid(v, json_object_get(schema, "then"));
    if (strcmp(word, "items") == 0) {
        for (size_t i = 0; i < json_array_size(v); i++)
            if (!valid(json_array_get(v, i), arg)) return false;
        return true;
    }
    if (strcmp(word, "required") == 0) {
        for (size_t i = 0; json_is_object(v) && i < json_array_size(arg); i++)
            if (!json_object_get(v, json_string_value(json_array_get(arg, i)))) return false;
        return true;
    }
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(word, silent[i]) == 0) return true;
    for (size_t i = 0; i < sizeof of_members / sizeof *of_members; i++)
        if (strcmp(word, of_members[i]) == 0) return !json_is_object(v) || members_valid(v, schema);
    fail_msg("the keyword \"%s\" is not known to this test", word);
    return false;
}

static bool valid(const json_t *v, const json_t *schema)
{
    const char *word;
    json_t *arg;
    if (json_is_boolean(schema)) return json_is_true(schema);
    json_object_foreach((json_t *)(uintptr_t)schema, word, arg)
    {
        if (!holds(v, schema, word, arg)) return false;
    }
    return true;
}

/* ---- the schema describes the tables ---- */

static void same_words(const char *what, const json_t *list, const char *const *want, size_t n)
{
    if (json_array_size(list) != n)
        fail_msg("%s: %zu words in the schema, %zu in the code", what, json_array_size(list), n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(json_string_value(json_array_get(list, i)), want[i]) != 0)
            fail_msg("%s: %s is not where the code has it", what, want[i]);
}

static void is_bound(const char *what, const json_t *prop, const struct cfg_field *f)
{
    const json_t *low = json_object_get(prop, "minimum"), *high = json_object_get(prop, "maximum");
    const bool plain = f->min == 0 && f->max == 0;
    if (!low) low = json_object_get(prop, "exclusiveMinimum");
    if (plain && f->type != CFG_RATIO) {
        if (low || high) fail_msg("%s has bounds in the schema, none in the code", what);
        return;
    }
    const double max = plain ? 1 : f->max;
    if (!low || !high || json_number_value(low) != f->min || json_number_value(high) != max)
        fail_msg("%s: bounds of the code are %g and %g", what, f->min, max);
}

static void is_default(const char *what, const json_t *prop, const struct cfg_field *f)
{
    json_t *want = NULL, *got = json_object_get(prop, "default");
    if (f->dflt &&
        (f->type == CFG_BOOL || f->type == CFG_INT || f->type == CFG_REAL || f->type == CFG_RATIO))
        want = json_loads(f->dflt, JSON_DECODE_ANY, NULL);
    else if (f->dflt)
        want = json_string(f->dflt);
    if (want && json_is_number(want) ? json_number_value(want) != json_number_value(got) || !got
        : want                       ? !json_equal(want, got)
                                     : got != NULL)
        fail_msg("%s: the default of the code is %s", what, f->dflt ? f->dflt : "none");
    json_decref(want);
}

static bool is_text(const json_t *prop)
{
    const json_t *list = json_object_get(prop, "enum");
    const char *ref = ref_name(prop), *type = json_string_value(json_object_get(prop, "type"));
    if (ref) return is_text(def(ref)) && strcmp(ref, "name") == 0;
    if (json_is_string(json_object_get(prop, "const"))) return true;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i))) return false;
    return list || (type && strcmp(type, "string") == 0);
}

static void is_kind(const char *what, const json_t *prop, const struct cfg_field *f)
{
    static const char *const type_of[] = {
        [CFG_BOOL] = "boolean", [CFG_INT] = "integer", [CFG_REAL] = "number", [CFG_RATIO] = "number"
    };
    const char *ref = ref_name(prop), *type = json_string_value(json_object_get(prop, "type"));
    size_t n = 0;
    bool right = false;
    switch (f->type) {
    case CFG_BOOL:
    case CFG_INT:
    case CFG_REAL:
    case CFG_RATIO: right = type && strcmp(type, type_of[f->type]) == 0; break;
    case CFG_TEXT: right = is_text(prop); break;
    case CFG_TIME: right = ref && strcmp(ref, "duration") == 0; break;
    case CFG_BYTES: right = ref && strcmp(ref, "bytes") == 0; break;
    case CFG_QTY: right = ref && strcmp(ref, "rate") == 0 && f->dim == UNIT_RATE; break;
    case CFG_JSON: right = ref || type || json_object_get(prop, "anyOf"); break;
    case CFG_CHOICE:
        while (f->choices[n]) n++;
        same_words(what, json_object_get(prop, "enum"), f->choices, n);
        right = true;
    }
    if (!right) fail_msg("%s is of another kind in the schema", what);
    if (type && f->type <= CFG_RATIO && f->type != CFG_BOOL) is_bound(what, prop, f);
}

/* Every field of the table is described, and its name joins `known`. */
static void describes(const json_t *object, const char *where, const struct cfg_field *fields,
                      size_t n, json_t *known)
{
    const json_t *props = json_object_get(object, "properties");
    for (size_t i = 0; i < n; i++) {
        const struct cfg_field *f = &fields[i];
        const json_t *prop = json_object_get(props, f->name);
        json_t *name = json_string(f->name);
        char what[200];
        snprintf(what, sizeof what, "%s.%s", where, f->name);
        if (!prop) fail_msg("%s is not in the schema", what);
        is_kind(what, prop, f);
        is_default(what, prop, f);
        if (listed(json_object_get(object, "required"), name) != f->required)
            fail_msg("%s: required in one of schema and code only", what);
        if (!json_object_get(prop, "description") && !json_object_get(prop, "const"))
            fail_msg("%s lacks a description", what);
        json_object_set_new(known, f->name, name);
    }
}

/* No property but those that are known; no other key is let through. Releases `known`. */
static void describes_no_more(const json_t *object, const char *where, json_t *known)
{
    const char *key;
    json_t *prop;
    json_object_foreach(json_object_get(object, "properties"), key, prop)
    {
        if (!json_object_get(known, key)) fail_msg("%s.%s is not known to the code", where, key);
    }
    assert_true(json_is_false(json_object_get(object, "additionalProperties")));
    json_decref(known);
}

static void every_table(void **state)
{
    (void)state;
    const struct {
        const char *where;
        const struct cfg_field *fields;
        size_t n;
    } table[] = {
        { "", top_fields, top_fields_n },
        { "group", fleet_fields, fleet_fields_n },
        { "work", work_fields, work_fields_n },
        { "output", output_fields, output_fields_n },
        { "faults", fault_fields, fault_fields_n },
        { "change", capacity_fields, capacity_fields_n },
        { "policy", policy_fields, policy_fields_n },
        { "signature", signature_fields, signature_fields_n },
        { "service", service_fields, service_fields_n },
        { "need", service_need_fields, service_need_fields_n },
        { "replicas", service_replicas_fields, service_replicas_fields_n },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const json_t *object = *table[i].where ? def(table[i].where) : doc.root;
        json_t *known = json_object();
        describes(object, table[i].where, table[i].fields, table[i].n, known);
        describes_no_more(object, table[i].where, known);
    }
}

static void every_sharing_policy(void **state)
{
    const char *names[64];
    size_t n = 0;
    (void)state;
    for (; share_all[n]; n++) {
        char where[100];
        const struct share_ops *s = share_all[n];
        snprintf(where, sizeof where, "share_%s", s->name);
        const json_t *object = def(where);
        const char *kind = json_string_value(json_object_get(
            json_object_get(json_object_get(object, "properties"), "kind"), "const"));
        json_t *known = json_pack("{s:b}", "kind", 1), *v = json_pack("{s:s}", "kind", s->name);
        assert_string_equal(kind, s->name);
        describes(object, where, s->fields, s->fields_n, known);
        describes_no_more(object, where, known);
        assert_true(valid(v, def("share")));
        json_object_set_new(v, "nonsense", json_true()); /* "share" leads to the right one */
        assert_false(valid(v, def("share")));
        json_decref(v);
        names[n] = s->name;
    }
    same_words("share.kind", json_path_get(def("share"), "properties.kind.enum"), names, n);
}

static void every_way_of_serving(void **state)
{
    const char *names[64];
    size_t n = 0;
    (void)state;
    for (; serve_all[n]; n++) {
        char where[100];
        const struct serve_ops *s = serve_all[n];
        snprintf(where, sizeof where, "serve_%s", s->name);
        json_t *known = json_pack("{s:b}", "kind", 1);
        describes(def(where), where, s->fields, s->fields_n, known);
        describes_no_more(def(where), where, known);
        names[n] = s->name;
    }
    same_words("serve.kind", json_path_get(def("serve"), "properties.kind.enum"), names, n);
    for (n = 0; route_all[n]; n++) names[n] = route_all[n]->name;
    same_words("route", json_path_get(def("service"), "properties.route.enum"), names, n);
}

/* Keys of an order are let through with this order only. */
static void every_order(void **state)
{
    const char *names[64];
    const json_t *object = def("schedule");
    json_t *known = json_object(), *own = json_object(), *list;
    const char *key;
    size_t n = 0;
    (void)state;
    describes(object, "schedule", schedule_fields, schedule_fields_n, known);
    for (; order_all[n]; n++) {
        const struct order_ops *o = order_all[n];
        describes(object, "schedule", o->fields, o->fields_n, known);
        for (size_t i = 0; i < o->fields_n; i++) {
            list = json_object_get(own, o->fields[i].name);
            if (!list) json_object_set_new(own, o->fields[i].name, list = json_array());
            json_array_append_new(list, json_string(o->name));
        }
        names[n] = o->name;
    }
    same_words("order", json_path_get(doc.root, "$defs.schedule.properties.order.enum"), names, n);
    describes_no_more(object, "schedule", known);
    const json_t *dependent = json_object_get(object, "dependentSchemas");
    assert_int_equal(json_object_size(dependent), json_object_size(own));
    json_object_foreach(own, key, list)
    {
        json_t *want = json_pack("{s:[s],s:{s:{s:O}}}", "required", "order", "properties", "order",
                                 "enum", list);
        if (!json_equal(want, json_object_get(dependent, key)))
            fail_msg("%s: other orders in the code", key);
        json_decref(want);
    }
    json_decref(own);
    for (n = 0; place_all[n]; n++) names[n] = place_all[n]->name;
    same_words("place", json_path_get(doc.root, "$defs.schedule.properties.place.enum"), names, n);
}

/* ---- the schema and the program agree ---- */

#define TRACE "job_id,submit_s,duration_s,gpus\na,0,1,1\n"

static json_t *parse(const char *text)
{
    json_error_t e;
    char *json = strdup(text);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *v = json_loads(json, 0, &e);
    if (!v) fail_msg("%s: %s", e.text, text);
    free(json);
    return v;
}

/* The scenario is valid in the schema and loads, or neither. */
static void both_text(bool good, const char *text)
{
    char said[600] = "";
    json_t *v = parse(text);
    if (valid(v, doc.root) != good) fail_msg("the schema: %d expected for %s", good, text);
    json_decref(v);
    if ((sim_problems(text, TRACE, NULL, said, sizeof said) == 0) != good)
        fail_msg("the program: %d expected for %s: %s", good, text, said);
}

/* The same with these sections in one that is good. */
static void both(bool good, const char *fleet, const char *share, const char *more)
{
    char text[1000];
    snprintf(text, sizeof text,
             "{ 'format': 'gpusim-scenario/1', 'name': 's', 'fleet': [ { 'name': 'a', %s } ],"
             "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
             "  'policies': [ { 'name': 'p', 'share': { %s } } ] %s }",
             fleet, share, more);
    both_text(good, text);
}

#define A100   "'gpu': 'a100-sxm4-80gb'"
#define WHOLE  "'kind': 'whole'"
#define STATIC "'kind': 'mig', 'layout': 'static', 'slices': "

static void both_accept(void **state)
{
    static const char *const share[] = {
        "'kind': 'timeslice', 'slots': 8.0, 'quantum': '.5ms', 'switch': '1e2 us'",
        STATIC "['3g.40gb', '2g.20gb']",
        STATIC "{ '1g.10gb': 7 }",
        STATIC "'off'",
        STATIC "[ { 'cards': 2, 'slices': 'off' }, { 'cards': 6, 'slices': { '1g.10gb': 2 } } ]",
        "'kind': 'remote', 'network': '3 GiB/s', 'rtt': '0 s'",
        "'kind': 'intercept', 'gain': 0, 'enforce': 'bucket'",
        "'kind': 'mps', 'cap': 1",
    };
    static const char *const more[] = {
        ", 'schedule': {}, 'profiles': {}, 'output': {}",
        ", 'seed': 0, 'horizon': '1 y', 'warmup': '2 w'",
        ", 'faults': {}",
        ", 'faults': { 'card_mtbf': '1 y', 'node_mtbf': '0 s', 'repair': 'fixed', 'max_restarts': 0 }",
        ", 'schedule': { 'order': 'fair', 'half_life': '1 d' }",
        ", 'schedule': { 'order': 'las', 'threshold': '3 min', 'backfill': 'greedy' }",
        (", 'schedule': { 'quotas': { 'a': { 'gpus': 2.5, 'borrow': 1, 'cohort': 'c' },"
         " 'b': { 'gpus': 3, 'cohort': 'c' }, '*': { 'gpus': 0 } } }"),
        ", 'schedule': { 'order': 'drf', 'weights': { 'a': 2, '*': 0.5 } }",
        ", 'schedule': { 'order': 'priority', 'classes': { 'inference': 100, 'dev': -1 } }",
        ", 'profiles': { 'x y': { 'compute': 0.5, 'host': 0.5, 'pcie': '8 Mbit/s' } }",
        ", 'output': { 'sample': '1 h', 'jobs': false, 'timeline': false }",
        ", 'output': { 'timeline': true }",
        ", 'output': { 'timeline': { 'from': '1 h', 'to': '2 h', 'events': 10 } }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof share / sizeof *share; i++) both(true, A100, share[i], "");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) both(true, A100, WHOLE, more[i]);
    both(true,
         A100 ", 'nodes': 3, 'faults': { 'job_mtbf': '1 d' }, 'capacity': ["
              " { 'at': '1 h', 'do': 'drain', 'nodes': '0..1', 'cards': '7' } ]",
         WHOLE, "");
    both(true, A100 ", 'nodes': 3, 'cpu_cores': 0.5, 'host_memory': '1 TB'", WHOLE, "");
}

static void both_refuse(void **state)
{
    static const char *const fleet[] = {
        "'nodes': 1",
        A100 ", 'nodes': 0",
        A100 ", 'nodes': 1.5",
        A100 ", 'nodes': '1'",
        A100 ", 'host_memory': 64",
        A100 ", 'host_memory': '64 Gb'",
        A100 ", 'cards': 8",
        "'gpu': null",
        A100 ", 'faults': []",
        A100 ", 'faults': { 'mtbf': '1 h' }",
        A100 ", 'faults': { 'card_mtbf': 10 }",
        A100 ", 'capacity': {}",
        A100 ", 'capacity': [ { 'at': '1 h' } ]",
        A100 ", 'capacity': [ { 'at': '1 h', 'do': 'stop' } ]",
        A100 ", 'capacity': [ { 'at': '1 h', 'do': 'add', 'nodes': 0 } ]",
        A100 ", 'capacity': [ { 'at': '1 h', 'do': 'add', 'nodes': '0-1' } ]",
        A100 ", 'capacity': [ { 'do': 'add' } ]",
        A100 ", 'cpu_cores': -1",
    };
    static const char *const share[] = {
        "",
        "'kind': 'wholes'",
        WHOLE ", 'slots': 2",
        "'kind': 'mps', 'slots': 61",
        "'kind': 'mps', 'quantum': '1 ms'",
        "'kind': 'timeslice', 'quantum': 2",
        "'kind': 'timeslice', 'memory': 'Reserve'",
        "'kind': 'remote', 'network': '1 GBps'",
        STATIC "[]",
        STATIC "{}",
        STATIC "'on'",
        STATIC "[ { 'slices': 'off' } ]",
        STATIC "[ { 'cards': 8 } ]",
        STATIC "[ { 'cards': 0, 'slices': 'off' } ]",
        STATIC "[ { 'cards': '8', 'slices': 'off' } ]",
        STATIC "{ '1g.10gb': 0 }",
        "'kind': 'remote', 'network': 1e9",
        STATIC "{ '1g.10gb': '1' }",
    };
    static const char *const more[] = {
        ", 'speed': 1",
        ", 'seed': -1",
        ", 'horizon': '1 m'",
        ", 'warmup': 0",
        ", 'prices': 3",
        ", 'schedule': null",
        ", 'schedule': { 'order': 'lifo' }",
        ", 'schedule': { 'orders': 'sjf' }",
        ", 'schedule': { 'half_life': '1 d' }",
        ", 'schedule': { 'order': 'las', 'half_life': '1 d', 'backfill': 'none' }",
        ", 'schedule': { 'quotas': [] }",
        ", 'schedule': { 'quotas': { 'a': 3 } }",
        ", 'schedule': { 'quotas': { 'a': {} } }",
        ", 'schedule': { 'quotas': { 'a': { 'gpus': -1 } } }",
        ", 'schedule': { 'quotas': { 'a': { 'gpus': 3, 'borrow': 1 } } }",
        ", 'schedule': { 'order': 'drf', 'weights': { 'a': 0 } }",
        ", 'schedule': { 'order': 'drf', 'weights': { 'a': '1' } }",
        ", 'schedule': { 'classes': { 'dev': 1 } }",
        ", 'schedule': { 'order': 'priority', 'classes': { 'devel': 1 } }",
        ", 'schedule': { 'order': 'priority', 'classes': { 'dev': 1.5 } }",
        ", 'profiles': []",
        ", 'profiles': { 'x': { 'compte': 1 } }",
        ", 'profiles': { 'x': { 'sm_width': 0 } }",
        ", 'profiles': { 'x': { 'precision': 'fp33' } }",
        ", 'output': { 'timeline': 'yes' }",
        ", 'output': { 'timeline': { 'events': 0 } }",
        ", 'output': { 'timeline': { 'lanes': 2 } }",
        ", 'output': { 'jobs': 1 }",
        ", 'output': []",
        ", 'faults': { 'repair': 'none' }",
        ", 'faults': { 'max_restarts': -1 }",
        ", 'faults': null",
    };
    (void)state;
    for (size_t i = 0; i < sizeof fleet / sizeof *fleet; i++) both(false, fleet[i], WHOLE, "");
    for (size_t i = 0; i < sizeof share / sizeof *share; i++) both(false, A100, share[i], "");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) both(false, A100, WHOLE, more[i]);
}

/* Name, fleet, work and policies of a scenario that is good but for one of them. */
static void both_refuse_lists(void **state)
{
    static const char fleet[] = "[ { 'name': 'a', " A100 " } ]",
                      policies[] = "[ { 'name': 'p', 'share': { " WHOLE " } } ]",
                      work[] = "[ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ]";
    static const char *const bad[][4] = {
        { "", fleet, work, policies },
        { "a b", fleet, work, policies },
        { "a\\\\b", fleet, work, policies },
        { "a\\tb", fleet, work, policies },
        { "-a", fleet, work, policies },
        { "a.b", fleet, work, policies },
        { "s", "[]", work, policies },
        { "s", "{}", work, policies },
        { "s", "[ 'a' ]", work, policies },
        { "s", fleet, "[]", policies },
        { "s", fleet, "[ { 'name': 'w', 'kind': 'jobs' } ]", policies },
        { "s", fleet, "[ { 'name': 'w', 'kind': 'jobs', 'spec': 'w.json' } ]", policies },
        { "s", fleet, "[ { 'name': 'w', 'kind': 'generate', 'trace': 'trace.csv' } ]", policies },
        { "s", fleet, "[ { 'name': 'w', 'kind': 'service', 'trace': 'trace.csv' } ]", policies },
        { "s", fleet, "[ { 'name': 'w', 'trace': 'trace.csv' } ]", policies },
        { "s", fleet, work, "[]" },
        { "s", fleet, work, "[ 'p' ]" },
        { "s", fleet, work, "[ { 'name': 'p' } ]" },
        { "s", fleet, work, "[ { 'name': 'p', 'share': 'whole' } ]" },
        { "s", fleet, work, "[ { 'name': 'p', 'share': { " WHOLE " }, 'seed': 1 } ]" },
    };
    char text[1000];
    (void)state;
    both(true, A100, WHOLE, "");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "{ 'format': 'gpusim-scenario/1', 'name': '%s', 'fleet': %s, 'work': %s,"
                 "  'policies': %s }",
                 bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        both_text(false, text);
    }
}

/* A service in place of the work. */
static void both_service(bool good, const char *keys)
{
    char text[1200];
    snprintf(text, sizeof text,
             "{ 'format': 'gpusim-scenario/1', 'name': 's', 'horizon': '1 h',"
             "  'fleet': [ { 'name': 'a', 'gpu': 'generic' } ],"
             "  'work': [ { 'name': 'w', 'kind': 'service'%s } ],"
             "  'policies': [ { 'name': 'p', 'share': { 'kind': 'whole' } } ] }",
             keys);
    both_text(good, text);
}

#define POISSON ", 'arrivals': { 'kind': 'poisson', 'gap': '1 s' }, 'size': '100 ms'"

static void services(void **state)
{
    static const char *const accepted[] = {
        "",
        ", 'need': { 'gpu': 0.25, 'memory': '1 GiB' }",
        ", 'replicas': { 'per_card': 2 }, 'route': 'random', 'serve': { 'kind': 'single' }",
        ", 'queue': 0, 'timeout': '2 s', 'slo': { 'wait_p99': '1 s', 'latency_mean': '20 ms' }",
        ", 'start_up': '30 s', 'load': 2, 'count': 100",
        ", 'serve': { 'kind': 'dynamic', 'max': 16, 'preferred': 8, 'delay': '2 ms', 'floor': '4 ms', 'bend': 2.4 }",
        ", 'serve': { 'kind': 'fixed', 'size': 4, 'pad': true }",
        ", 'replicas': { 'min': 2, 'max': 8, 'scale_on': 'utilization', 'target': 0.6 }",
        ", 'replicas': { 'min': 2, 'max': 8, 'scale_on': 'queue', 'interval': '10 s', 'down_after': '0 s' }",
    };
    static const char *const refused[] = {
        ", 'need': { 'gpus': 1 }",
        ", 'need': { 'gpu': 0 }",
        ", 'replicas': 3",
        ", 'replicas': { 'min': 0 }",
        ", 'replicas': { 'scale_on': 'cpu' }",
        ", 'replicas': { 'scale_on': 'schedule', 'hours': [ 1 ] }",
        ", 'route': 'rand'",
        ", 'serve': { 'kind': 'singles' }",
        ", 'serve': { 'kind': 'single', 'x': 1 }",
        ", 'serve': 'single'",
        ", 'serve': { 'kind': 'fixed', 'max': 4 }",
        ", 'serve': { 'kind': 'dynamic', 'bend': 0.5 }",
        ", 'serve': { 'kind': 'continuous', 'block': 0 }",
        ", 'queue': -1",
        ", 'timeout': 2",
        ", 'slo': { 'latency_p99': 500 }",
        ", 'slo': [ ]",
        ", 'trace': 'trace.csv'",
        ", 'load': 0",
    };
    char keys[600];
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        snprintf(keys, sizeof keys, POISSON "%s", accepted[i]);
        both_service(true, keys);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(keys, sizeof keys, POISSON "%s", refused[i]);
        both_service(false, keys);
    }
    both_service(true,
                 ", 'users': 3, 'think': { 'kind': 'exponential', 'mean': '9 s' }, 'size': '1 s'");
    both_service(false, ", 'arrivals': { 'kind': 'sessions', 'members': 3 }, 'size': '1 s'");
}

/* What the program says is valid in place of a word that it does not know. */
static void ask_words(const char *rule, char *said, size_t size)
{
    static const char frame[] =
        "{ 'format': 'gpusim-scenario/1', 'name': 's',"
        "  'fleet': [ { 'name': 'a', " A100 " } ],"
        "  'work': [ { 'name': 'w', 'kind': 'jobs', 'trace': 'trace.csv' } ],"
        "  'policies': [ { 'name': 'p', 'share': { " WHOLE " } } ],"
        "  'schedule': { '%s': 'qqqqqqqqq' } }";
    char text[1000];
    struct runner r = { 0 };
    struct diag d;
    struct err e = { 0 };
    snprintf(text, sizeof text, frame, rule);
    diag_init(&d);
    runner_load(&r, sim_write(text, TRACE, NULL), NULL, 0, NULL, 0, &d, &e);
    assert_true(d.count > 0);
    snprintf(said, size, "%s", d.problem[0].hint);
    diag_fini(&d);
    runner_fini(&r);
}

/* Rules that the tables hold as plain text: the program takes every word of the schema, and lists
 * the same ones for a wrong word. */
static void words_of_rules(void **state)
{
    static const char *const rule[] = { "backfill",  "gang",    "racks",
                                        "when_full", "preempt", "walltime" };
    (void)state;
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        char more[100], said[1000], path[100];
        size_t k, n = 1;
        json_t *word, *list;
        snprintf(path, sizeof path, "properties.%s.enum", rule[i]);
        list = json_path_get(def("schedule"), path);
        ask_words(rule[i], said, sizeof said);
        json_array_foreach(list, k, word)
        {
            /* what preempts has no reservations */
            snprintf(more, sizeof more, ", 'schedule': { '%s': '%s'%s }", rule[i],
                     json_string_value(word),
                     strcmp(rule[i], "preempt") == 0 ? ", 'backfill': 'none'" : "");
            both(true, A100 ", 'nodes_per_rack': 4", WHOLE, more); /* rules of racks need some */
            assert_contains(said, json_string_value(word));
        }
        for (const char *at = said; (at = strchr(at, ',')); at++) n++;
        assert_int_equal(n, json_array_size(list));
    }
}

/* Every unit of the schema's patterns is one of the program's; the rest is refused by both. */
static void quantities(void **state)
{
    static const char *const times[] = { "ns", "us", "ms", "s", "min", "h", "d", "w", "y" };
    static const char *const bytes[] = { "B",   "kB",  "MB",  "GB",   "TB",   "KiB",  "MiB",
                                         "GiB", "TiB", "bit", "kbit", "Mbit", "Gbit", "Tbit" };
    static const char *const numbers[] = { "1", "1.", ".5", "0.5", "1e3", "2.5E-1", "1e+2" };
    static const char *const wrong[] = { "",     "s",     "1",     "-1 s", "+1 s", "1  s",
                                         " 1 s", "1 s ",  ". s",   "1e s", "1 S",  "1 sec",
                                         "1 m",  "1,5 s", "0x1 s", "1 B/h" };
    char text[40];
    double out;
    (void)state;
#define AGREE(def_, dim_)                                                                          \
    do {                                                                                           \
        json_t *v_ = json_string(text);                                                            \
        if (valid(v_, def(def_)) != (unit_parse(text, dim_, &out, NULL) == 0))                     \
            fail_msg("\"%s\" is a " def_ " in one of schema and code only", text);                 \
        json_decref(v_);                                                                           \
    } while (0)
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            snprintf(text, sizeof text, "%s%s%s", numbers[n], i % 2 ? " " : "", times[i]);
            assert_int_equal(unit_parse(text, UNIT_TIME, &out, NULL), 0);
            AGREE("duration", UNIT_TIME);
        }
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
            snprintf(text, sizeof text, "%s %s", numbers[n], bytes[i]);
            AGREE("bytes", UNIT_BYTES);
            snprintf(text, sizeof text, "%s %s/s", numbers[n], bytes[i]);
            assert_int_equal(unit_parse(text, UNIT_RATE, &out, NULL), 0);
            AGREE("rate", UNIT_RATE);
        }
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "%s", wrong[i]);
        AGREE("duration", UNIT_TIME);
        AGREE("bytes", UNIT_BYTES);
        AGREE("rate", UNIT_RATE);
    }
}

/* ---- what ships ---- */

static void shipped_scenarios(void **state)
{
    char dir[4096], path[5000];
    struct dirent *entry;
    size_t n = 0;
    DIR *d = opendir(datadir_path(dir, sizeof dir, ""));
    (void)state;
    assert_non_null(d);
    while ((entry = readdir(d))) {
        const char *dot = strrchr(entry->d_name, '.');
        struct json_doc file;
        struct runner r = { 0 };
        struct err e = { 0 };
        if (!dot || strcmp(dot, ".json") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (json_doc_load(&file, path, &e) != 0) fail_msg("%s: %s", e.where, e.msg);
        const char *format = json_string_value(json_object_get(file.root, "format"));
        if (format && strcmp(format, "gpusim-scenario/1") == 0) {
            if (!valid(file.root, doc.root)) fail_msg("%s is not valid under the schema", path);
            sim_load(&r, path);
            if (!valid(r.resolved, doc.root)) fail_msg("%s, resolved, is not valid", path);
            runner_fini(&r);
            n++;
        }
        json_doc_fini(&file);
    }
    closedir(d);
    assert_true(n >= 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table),          cmocka_unit_test(every_sharing_policy),
        cmocka_unit_test(every_way_of_serving), cmocka_unit_test(every_order),
        cmocka_unit_test(both_accept),          cmocka_unit_test(both_refuse),
        cmocka_unit_test(both_refuse_lists),    cmocka_unit_test(services),
        cmocka_unit_test(words_of_rules),       cmocka_unit_test(quantities),
        cmocka_unit_test(shipped_scenarios),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
