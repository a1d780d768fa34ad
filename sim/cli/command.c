#include "cli/command.h"

#include <stdint.h>
#include <string.h>

int command_plot(const char *dir, struct err *e)
{
    for (size_t i = 0; cmd_all[i]; i++) {
        if (strcmp(cmd_all[i]->name, "plot") != 0) continue;
        char name[] = "plot";
        char *argv[] = { name, (char *)(uintptr_t)dir, NULL };
        return cmd_all[i]->run(cmd_all[i], 2, argv, e);
    }
    return 0;
}
