/* model/result_files.c - the files beside a result: what the run wrote, and whether they still are
 * that. */
#include "model/result_inside.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

json_t *result_files_json(const struct result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_files; i++) {
        char crc[9];
        json_t *one = json_object();
        snprintf(crc, sizeof crc, "%08lx", (unsigned long)r->file[i].sum.crc32);
        fields_put(one, "name", fields_text(r->file[i].name));
        fields_put(one, "bytes", fields_count(r->file[i].sum.bytes));
        fields_put(one, "crc32", json_string(crc));
        json_array_append_new(list, one);
    }
    return list;
}

void result_read_files(struct result *out, struct arena *a, const struct json_doc *doc,
                       struct diag *d)
{
    const struct field_reader r = { a, doc, d };
    char here[FIELDS_POINTER], one_at[FIELDS_POINTER];
    out->n_files = 0;
    if (!json_object_get(doc->root, "files")) return;
    json_t *list = fields_get_child(&r, doc->root, "", "files", JSON_ARRAY, here), *one;
    struct result_file *file = arena_array(a, json_array_size(list), sizeof *file);
    out->file = file;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!(one = fields_get_member(&r, list, here, i, one_at))) continue;
        struct result_file *f = &file[out->n_files++];
        *f = (struct result_file){ .name = fields_get_text(&r, one, one_at, "name"),
                                   .sum.bytes = fields_get_count(&r, one, one_at, "bytes") };
        const char *crc = fields_get_text(&r, one, one_at, "crc32");
        if (strlen(crc) != 8 || strspn(crc, "0123456789abcdef") != 8)
            fields_wrong(&r, one_at, "crc32", "8 digits of hexadecimal",
                         json_object_get(one, "crc32"));
        else
            f->sum.crc32 = (uint32_t)strtoul(crc, NULL, 16);
    }
}

static const struct result_file *find(const struct result *r, const char *name)
{
    for (size_t i = 0; i < r->n_files; i++)
        if (r->file[i].name && strcmp(r->file[i].name, name) == 0) return &r->file[i];
    return NULL;
}

int result_check_file(const struct result *r, const char *dir, const char *name, struct err *e)
{
    const struct result_file *f = find(r, name);
    struct filesum now;
    struct stat what;
    char *path = xasprintf("%s/%s", dir, name);
    int rc = 0;
    if (!f || stat(path, &what) != 0) goto out;
    if (!S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode)) {
        rc = err_set(
            e, ERR_IO, &(struct loc){ .file = path },
            "expected a plain file, as the run wrote it"); /* a pipe would keep us waiting */
        goto out;
    }
    if ((rc = filesum_of(path, &now, e)) != 0) goto out;
    if (now.bytes == f->sum.bytes && now.crc32 == f->sum.crc32) goto out;
    rc = err_set(e, ERR_INPUT, &(struct loc){ .file = path },
                 "expected %llu bytes, CRC-32 %08lx, as in result.json, found %llu bytes, CRC-32 "
                 "%08lx",
                 (unsigned long long)f->sum.bytes, (unsigned long)f->sum.crc32,
                 (unsigned long long)now.bytes, (unsigned long)now.crc32);
    err_hint(e, "the file was cut or changed, or is another run's: run the scenario again");
out:
    free(path);
    return rc;
}
