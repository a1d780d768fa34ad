/* Output files: whole or not at all, nothing left behind, errors with the reason. */
#include "base/mem.h"
#include "base/outfile.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int files_in(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static void assert_file(const char *path, const char *want)
{
    char *text = read_file(path);

    assert_string_equal(text, want);
    free(text);
}

static void appears_on_commit(void **state)
{
    const char *dir = temp_dir();
    char *path = xasprintf("%s/a.csv", dir);
    struct outfile o;
    struct err e = { 0 };

    (void)state;
    assert_int_equal(outfile_open(&o, path, &e), 0);
    fputs("one\n", o.f);
    assert_int_not_equal(access(path, F_OK), 0); /* not yet */
    assert_int_equal(outfile_commit(&o, &e), 0);
    assert_file(path, "one\n");
    assert_int_equal(files_in(dir), 1);
    outfile_abandon(&o); /* harmless */

    assert_int_equal(outfile_write(path, "two", 3, &e), 0);
    assert_file(path, "two");
    free(path);
}

static void abandoned_leaves_the_old_file(void **state)
{
    const char *dir = temp_dir();
    char *path = xasprintf("%s/a.csv", dir);
    struct outfile o, p;
    struct err e = { 0 };

    (void)state;
    assert_int_equal(outfile_write(path, "old", 3, &e), 0);
    assert_int_equal(outfile_open(&o, path, &e), 0);
    assert_int_equal(outfile_open(&p, path, &e), 0); /* two writers do not share a temporary file */
    fputs("new", o.f);
    outfile_abandon(&o);
    outfile_abandon(&p);
    outfile_abandon(&o);
    assert_file(path, "old");
    assert_int_equal(files_in(dir), 1);
    free(path);
}

static void mode_follows_umask(void **state)
{
    char *path = xasprintf("%s/a", temp_dir());
    struct err e = { 0 };
    struct stat st;
    const mode_t old = umask(027);

    (void)state;
    assert_int_equal(outfile_write(path, "x", 1, &e), 0);
    umask(old);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    free(path);
}

static void full_disk_is_an_error(void **state)
{
    struct outfile o;
    struct err e = { 0 };

    (void)state;
    if (access("/dev/full", W_OK) != 0) skip_without("/dev/full");
    assert_int_equal(outfile_open(&o, "/dev/full", &e), 0); /* a device is written, not replaced */
    fputs("x", o.f);
    assert_int_equal(outfile_commit(&o, &e), ERR_IO);
    assert_string_equal(e.where, "/dev/full");
    assert_contains(e.msg, "No space left");
    assert_int_equal(access("/dev/full", F_OK), 0);
}

static void open_errors_have_reasons(void **state)
{
    struct outfile o;
    struct err e = { 0 };

    (void)state;
    assert_int_equal(outfile_open(&o, "/nonexistent/x", &e), ERR_IO);
    assert_contains(e.msg, "No such file");
    assert_string_equal(e.where, "/nonexistent/x");
    assert_null(o.f);
    e = (struct err){ 0 };
    assert_int_equal(outfile_open(&o, temp_dir(), &e), ERR_IO);
    assert_contains(e.msg, "directory");
    outfile_abandon(&o);
}

static void links_keep_pointing(void **state)
{
    const char *dir = temp_dir();
    char *file = xasprintf("%s/file", dir), *link = xasprintf("%s/link", dir);
    struct err e = { 0 };
    struct stat st;

    (void)state;
    assert_int_equal(outfile_write(file, "old", 3, &e), 0);
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(outfile_write(link, "new", 3, &e), 0);
    assert_file(file, "new");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    free(file);
    free(link);
}

static void dash_is_standard_output(void **state)
{
    struct outfile o;
    struct err e = { 0 };

    (void)state;
    assert_int_equal(outfile_open(&o, "-", &e), 0);
    assert_ptr_equal(o.f, stdout);
    assert_int_equal(outfile_commit(&o, &e), 0);
    assert_int_equal(puts(""), 1); /* still open */
}

static void folders_are_made(void **state)
{
    char *deep = xasprintf("%s/a/b//c/", temp_dir()), *blocked = NULL;
    struct err e = { 0 };
    struct stat st;

    (void)state;
    assert_int_equal(outfile_mkdirs(deep, &e), 0);
    assert_int_equal(outfile_mkdirs(deep, &e), 0); /* again */
    assert_int_equal(stat(deep, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    blocked = xasprintf("%s/x", temp_file(".txt", ""));
    assert_int_equal(outfile_mkdirs(blocked, &e), ERR_IO);
    assert_contains(e.msg, "Not a directory");
    assert_int_equal(outfile_mkdirs("", &e), 0);
    assert_int_equal(outfile_mkdirs_for("-", &e), 0);
    assert_int_equal(outfile_mkdirs_for("/x", &e), 0);
    char *file = xasprintf("%s/further/down/x.csv", deep);
    assert_int_equal(outfile_mkdirs_for(file, &e), 0);
    *strrchr(file, '/') = '\0';
    assert_int_equal(access(file, W_OK), 0);
    free(file);
    free(deep);
    free(blocked);
}

int main(void)
{
    const struct CMUnitTest t[] = {
        cmocka_unit_test(appears_on_commit),        cmocka_unit_test(abandoned_leaves_the_old_file),
        cmocka_unit_test(mode_follows_umask),       cmocka_unit_test(full_disk_is_an_error),
        cmocka_unit_test(open_errors_have_reasons), cmocka_unit_test(links_keep_pointing),
        cmocka_unit_test(dash_is_standard_output),  cmocka_unit_test(folders_are_made),
    };

    return cmocka_run_group_tests_name("outfile", t, NULL, NULL);
}
