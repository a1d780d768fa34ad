#include "cli/command.h"

#include <stdint.h>
#include <string.h>

const char *const command_langs[] = { "en", "zh", NULL };

int command_draw(const char *name, const char *dir, int lang, struct err *e)
{
    static const char option[] = "--lang";
    for (size_t i = 0; cmd_all[i]; i++) {
        if (strcmp(cmd_all[i]->name, name) != 0) continue;
        const char *argv[] = { name, dir, option, command_langs[lang], NULL };
        return cmd_all[i]->run(cmd_all[i], 4, (char **)(uintptr_t)argv, e);
    }
    return 0;
}
