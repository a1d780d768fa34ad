/* tests/fuzz/replay.c - run a fuzz target on the files of its corpus, without a fuzzer, so that
 * every build and every compiler replays what fuzzing once found. With no operand:
 * tests/fuzz/corpus/NAME for a program NAME_replay called fuzz_NAME_replay. TAP on stdout. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, room = 0;
    int rc = 1;
    if (!f) goto out;
    for (;;) {
        if (size == room) {
            uint8_t *more = realloc(data, room = room * 2 + 4096);
            if (!more) goto out;
            data = more;
        }
        size_t got = fread(data + size, 1, room - size, f);
        if (!got) break;
        size += got;
    }
    if (ferror(f)) goto out;
    /* Exactly `size` bytes on the heap, so that a read past the end is seen. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) goto out;
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    rc = 0;
out:
    if (f) fclose(f);
    free(data);
    printf("%sok %s\n", rc ? "not " : "", path);
    fflush(stdout);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc; i++) rc |= replay(argv[i]);
    if (argc > 1) return rc;

    const char *base = strrchr(argv[0], '/');
    base = base ? base + 1 : argv[0];
    if (!strncmp(base, "fuzz_", 5)) base += 5;
    const char *suffix = strstr(base, "_replay");
    char dir[512];
    snprintf(dir, sizeof dir, "tests/fuzz/corpus/%.*s",
             (int)(suffix ? (size_t)(suffix - base) : strlen(base)), base);

    /* Sorted, so that two runs print the same. */
    char **paths = NULL;
    size_t n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        char **more = realloc(paths, (n + 1) * sizeof *paths);
        if (!more) abort();
        paths = more;
        if (!(paths[n] = strdup(path))) abort();
        n++;
    }
    if (d) closedir(d);
    if (n) qsort(paths, n, sizeof *paths, by_name);
    for (size_t i = 0; i < n; i++) {
        rc |= replay(paths[i]);
        free(paths[i]);
    }
    free(paths);
    if (!n) printf("ok %s # SKIP no corpus in %s\n", base, dir);
    return rc;
}
