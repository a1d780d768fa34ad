#include "cli/card.h"

#include <string.h>
#include <strings.h>

int card_find(const struct gpu_catalogue *c, const char *name, const struct gpu_spec **out,
              struct err *e)
{
    const char *nearest, *like[32];
    char list[200];
    size_t n = 0;

    *out = gpu_find(c, name, &nearest);
    if (*out) return 0;
    for (size_t i = 0; *name && i < gpu_catalogue_count(c) && n < sizeof like / sizeof *like; i++) {
        const char *card = gpu_catalogue_at(c, i)->name;
        if (strncasecmp(card, name, strlen(name)) == 0) like[n++] = card;
    }
    const int rc = err_set(e, ERR_USAGE, NULL, "unknown card \"%s\"", name);
    if (n > 1)
        err_hint(e, "which of %s?", str_list(list, sizeof list, like, n));
    else if (nearest)
        err_hint(e, "did you mean \"%s\"?", nearest);
    else
        err_hint(e, "\"gpusim list gpus\" names them");
    return rc;
}

void json_print(json_t *answer)
{
    struct strbuf out = { 0 };
    json_write(answer, &out);
    fputs(out.s, stdout);
    strbuf_fini(&out);
    json_decref(answer);
}
