/* scenarios/cluster/kubernetes-job.yaml against what the API takes (batch/v1 Job, Kubernetes
 * 1.29 to 1.31): every field of it exists there, has the type that is asked for as YAML reads it
 * (an environment variable of 8 is refused, "8" is not), and brings what it must. A field that
 * is not listed here fails: look it up in the API reference and add it. Checked against the
 * models of the client library of version 31 as well, once, by hand. */
#include "tests/support/support.h"

#include "base/mem.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

enum kind { OBJECT, LIST, TEXT, WHOLE, BOOLEAN, QUANTITY };
static const char *const kind_names[] = { "an object",      "a list",    "text",
                                          "a whole number", "a boolean", "a quantity" };

#define RULE   "/spec/podFailurePolicy/rules/*"
#define POD    "/spec/template/spec"
#define BOX    POD "/containers/*"
#define VOLUME POD "/volumes/*"

/* Paths, "*" for a member of a list or any key; members that must be there. */
static const struct field {
    const char *path;
    enum kind kind;
    const char *must[3];
} fields[] = {
    { "", OBJECT, { "apiVersion", "kind", "spec" } },
    { "/apiVersion", TEXT, { 0 } },
    { "/kind", TEXT, { 0 } },
    { "/metadata", OBJECT, { "name" } },
    { "/metadata/name", TEXT, { 0 } },
    { "/spec", OBJECT, { "template" } },
    { "/spec/completionMode", TEXT, { 0 } },
    { "/spec/completions", WHOLE, { 0 } },
    { "/spec/parallelism", WHOLE, { 0 } },
    { "/spec/backoffLimitPerIndex", WHOLE, { 0 } },
    { "/spec/podFailurePolicy", OBJECT, { "rules" } },
    { "/spec/podFailurePolicy/rules", LIST, { 0 } },
    { RULE, OBJECT, { "action" } },
    { RULE "/action", TEXT, { 0 } },
    { RULE "/onPodConditions", LIST, { 0 } },
    { RULE "/onPodConditions/*", OBJECT, { "type", "status" } },
    { RULE "/onPodConditions/*/type", TEXT, { 0 } },
    { RULE "/onPodConditions/*/status", TEXT, { 0 } },
    { RULE "/onExitCodes", OBJECT, { "operator", "values" } },
    { RULE "/onExitCodes/operator", TEXT, { 0 } },
    { RULE "/onExitCodes/values", LIST, { 0 } },
    { RULE "/onExitCodes/values/*", WHOLE, { 0 } },
    { "/spec/template", OBJECT, { 0 } },
    { POD, OBJECT, { "containers" } },
    { POD "/restartPolicy", TEXT, { 0 } },
    { POD "/securityContext", OBJECT, { 0 } },
    { POD "/securityContext/runAsNonRoot", BOOLEAN, { 0 } },
    { POD "/securityContext/runAsUser", WHOLE, { 0 } },
    { POD "/securityContext/runAsGroup", WHOLE, { 0 } },
    { POD "/securityContext/fsGroup", WHOLE, { 0 } },
    { POD "/containers", LIST, { 0 } },
    { BOX, OBJECT, { "name" } },
    { BOX "/name", TEXT, { 0 } },
    { BOX "/image", TEXT, { 0 } },
    { BOX "/command", LIST, { 0 } },
    { BOX "/command/*", TEXT, { 0 } },
    { BOX "/env", LIST, { 0 } },
    { BOX "/env/*", OBJECT, { "name" } },
    { BOX "/env/*/name", TEXT, { 0 } },
    { BOX "/env/*/value", TEXT, { 0 } },
    { BOX "/resources", OBJECT, { 0 } },
    { BOX "/resources/requests", OBJECT, { 0 } },
    { BOX "/resources/requests/*", QUANTITY, { 0 } },
    { BOX "/resources/limits", OBJECT, { 0 } },
    { BOX "/resources/limits/*", QUANTITY, { 0 } },
    { BOX "/securityContext", OBJECT, { 0 } },
    { BOX "/securityContext/allowPrivilegeEscalation", BOOLEAN, { 0 } },
    { BOX "/securityContext/readOnlyRootFilesystem", BOOLEAN, { 0 } },
    { BOX "/volumeMounts", LIST, { 0 } },
    { BOX "/volumeMounts/*", OBJECT, { "name", "mountPath" } },
    { BOX "/volumeMounts/*/name", TEXT, { 0 } },
    { BOX "/volumeMounts/*/mountPath", TEXT, { 0 } },
    { POD "/volumes", LIST, { 0 } },
    { VOLUME, OBJECT, { "name" } },
    { VOLUME "/name", TEXT, { 0 } },
    { VOLUME "/persistentVolumeClaim", OBJECT, { "claimName" } },
    { VOLUME "/persistentVolumeClaim/claimName", TEXT, { 0 } },
    { VOLUME "/emptyDir", OBJECT, { 0 } },
};

static char complaint[400]; /* the first; "": none */

static void complain(const char *path, const char *what)
{
    if (!complaint[0]) snprintf(complaint, sizeof complaint, "%s: %s", path, what);
}

static const struct field *field_of(const char *path)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fnmatch(fields[i].path, path, FNM_PATHNAME) == 0) return &fields[i];
    return NULL;
}

static const char *words(const yaml_node_t *n)
{
    return (const char *)n->data.scalar.value;
}

/* As YAML 1.1 reads a scalar, which Kubernetes does. */
static enum kind kind_of(const yaml_node_t *n)
{
    static const char *const yes_or_no[] = { "true", "false", "yes", "no", "on", "off", "y", "n" };
    if (n->type == YAML_MAPPING_NODE) return OBJECT;
    if (n->type == YAML_SEQUENCE_NODE) return LIST;
    if (n->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return TEXT;
    for (size_t i = 0; i < sizeof yes_or_no / sizeof *yes_or_no; i++)
        if (strcasecmp(words(n), yes_or_no[i]) == 0) return BOOLEAN;
    return words(n)[0] && strspn(words(n), "0123456789") == strlen(words(n)) ? WHOLE : TEXT;
}

/* 512Mi, 2, 500m */
static bool is_quantity(const char *s)
{
    static const char *const suffix[] = { "", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti" };
    const size_t digits = strspn(s, "0123456789.");
    for (size_t i = 0; digits > 0 && i < sizeof suffix / sizeof *suffix; i++)
        if (strcmp(s + digits, suffix[i]) == 0) return true;
    return false;
}

static bool fits(const yaml_node_t *n, enum kind want)
{
    const enum kind found = kind_of(n);
    if (want == QUANTITY) return (found == TEXT || found == WHOLE) && is_quantity(words(n));
    return found == want;
}

static void check(yaml_document_t *d, const yaml_node_t *n, const char *path)
{
    const struct field *f = field_of(path);
    if (!f) {
        complain(path, "no such field");
        return;
    }
    if (!fits(n, f->kind)) {
        complain(path, kind_names[f->kind]);
        return;
    }
    if (n->type == YAML_SEQUENCE_NODE)
        for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top;
             i++) {
            char *at = xasprintf("%s/%td", path, i - n->data.sequence.items.start);
            check(d, yaml_document_get_node(d, *i), at);
            free(at);
        }
    if (n->type != YAML_MAPPING_NODE) return;
    bool have[3] = { false };
    for (yaml_node_pair_t *i = n->data.mapping.pairs.start; i < n->data.mapping.pairs.top; i++) {
        const char *key = words(yaml_document_get_node(d, i->key));
        char *at = xasprintf("%s/%s", path, key);
        for (size_t k = 0; k < 3; k++) have[k] |= f->must[k] && strcmp(f->must[k], key) == 0;
        check(d, yaml_document_get_node(d, i->value), at);
        free(at);
    }
    for (size_t k = 0; k < 3; k++)
        if (f->must[k] && !have[k]) complain(path, f->must[k]);
}

static const char *problem_of(const char *text)
{
    yaml_parser_t parser;
    yaml_document_t d;
    complaint[0] = '\0';
    assert_true(yaml_parser_initialize(&parser));
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (!yaml_parser_load(&parser, &d)) {
        complain("", "no YAML");
    } else {
        check(&d, yaml_document_get_root_node(&d), "");
        yaml_document_delete(&d);
    }
    yaml_parser_delete(&parser);
    return complaint;
}

static char *manifest(void)
{
    return read_file("scenarios/cluster/kubernetes-job.yaml");
}

static void the_manifest(void **state)
{
    char *text = manifest();
    (void)state;
    assert_string_equal(problem_of(text), "");
    free(text);
}

/* What the API would refuse is seen here. */
static void mistakes(void **state)
{
    static const struct {
        const char *from, *to, *problem;
    } t[] = {
        { "value: \"8\"", "value: 8", BOX "/env/*/value: text" },
        { "completions: 8", "completions: \"8\"", "/spec/completions: a whole number" },
        { "status: \"True\"", "status: True", RULE "/onPodConditions/*/status: text" },
        { "            status: \"True\"", "#", RULE "/onPodConditions/*: status" },
        { "runAsNonRoot: true", "runAsNonRoot: \"true\"",
          POD "/securityContext/runAsNonRoot: a boolean" },
        { "backoffLimitPerIndex", "backofLimitPerIndex",
          "/spec/backofLimitPerIndex: no such field" },
        { "values: [1, 2, 3]", "values: 1", RULE "/onExitCodes/values: a list" },
        { "memory: 512Mi", "memory: 512 MiB", BOX "/resources/requests/memory: a quantity" },
        { "mountPath: /tmp", "path: /tmp", BOX "/volumeMounts/*/path: no such field" },
        { "emptyDir: {}", "emptyDir:", VOLUME "/emptyDir: an object" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char *text = manifest(), *at = strstr(text, t[i].from);
        if (!at) fail_msg("the manifest has no \"%s\"", t[i].from);
        char *bad = xasprintf("%.*s%s%s", (int)(at - text), text, t[i].to, at + strlen(t[i].from));
        if (fnmatch(t[i].problem, problem_of(bad), 0) != 0)
            fail_msg("expected \"%s\", found \"%s\"", t[i].problem, complaint);
        free(bad);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manifest),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests_name("cluster schema", tests, NULL, NULL);
}
