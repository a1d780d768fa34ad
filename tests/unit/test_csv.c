#include "base/csv.h"
#include "tests/support/textfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct csv_format comma = { .delimiter = ',', .quotes = true };
static const struct csv_format blanks = { .delimiter = ' ', .comment = ';' };

/* Every field in angle brackets, a bar after each row; the error text at the end if there is one.
 */
static const char *dump(const struct csv_format *fmt, const char *data, size_t len)
{
    static char out[4096];
    struct textfile f = textfile_bytes(data, len);
    struct csv *c;
    struct csv_row r;
    struct err e = { 0 };
    size_t n = 0;
    int rc;
    out[0] = '\0';
    assert_int_equal(csv_open(&c, f.path, fmt, &e), 0);
    while ((rc = csv_next(c, &r, &e)) > 0) {
        for (size_t i = 0; i < r.n; i++)
            n += (size_t)snprintf(out + n, sizeof out - n, "<%.*s>", (int)r.f[i].len, r.f[i].s);
        n += (size_t)snprintf(out + n, sizeof out - n, "|");
    }
    if (rc < 0) {
        const char *place = strrchr(e.where, ':');
        snprintf(out + n, sizeof out - n, "! %s [%s]", e.msg, place ? place : "");
        assert_true(csv_failed(c));
        assert_int_equal(csv_next(c, &r, NULL), rc);
    } else {
        assert_int_equal(csv_bytes(c), len);
    }
    csv_close(c);
    textfile_close(&f);
    return out;
}

static const struct {
    const char *name, *in, *out;
} cases[] = {
    { "plain", "a,b\n1,2\n", "<a><b>|<1><2>|" },
    { "no last newline", "a,b\n1,2", "<a><b>|<1><2>|" },
    { "crlf", "a,b\r\n1,2\r\n", "<a><b>|<1><2>|" },
    { "crlf without a last newline", "a,b\r\n1,2\r", "<a><b>|<1><2>|" },
    { "empty fields", ",\n,,\n", "<><>|<><><>|" },
    { "trailing comma at the end", "a,", "<a><>|" },
    { "empty lines", "\n\na\n\n\r\nb\n\n", "<a>|<b>|" },
    { "byte-order mark",
      "\xef\xbb\xbf"
      "a,b\n",
      "<a><b>|" },
    { "quotes", "\"a,b\",c\n", "<a,b><c>|" },
    { "doubled quotes", "\"say \"\"hi\"\"\",\"\"\"\"\n", "<say \"hi\"><\">|" },
    { "quoted newline", "\"a\nb\",c\nd,e\n", "<a\nb><c>|<d><e>|" },
    { "quoted at the end", "a,\"b\"", "<a><b>|" },
    { "quoted crlf", "\"a\"\r\n\"b\"\r\n", "<a>|<b>|" },
    { "empty quoted", "\"\",\"\"\n", "<><>|" },
    { "quote inside an unquoted field", "5\" disk,x\n", "<5\" disk><x>|" },
    { "utf-8", "\xc3\xbc,\xe4\xb8\xad\n", "<\xc3\xbc><\xe4\xb8\xad>|" },
    { "empty file", "", "" },
    { "unclosed", "a\nb,\"c\nd\n", "<a>|! a quoted field starts here and is never closed [:3]" },
    { "after the closing quote", "\"a\"b\n",
      "! expected a delimiter after the closing quote [:4]" },
};

static void scripted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("  %s\n", cases[i].name);
        assert_string_equal(dump(&comma, cases[i].in, strlen(cases[i].in)), cases[i].out);
    }
}

static void blank_separated(void **state)
{
    (void)state;
    const char *in = "; head\n  1  2\t3 \n;x\n \t\n4 5\r\n 6 \r\n  ; indented comment\n7";
    assert_string_equal(dump(&blanks, in, strlen(in)), "<1><2><3>|<4><5>|<6>|<7>|");
}

static void binary_is_refused(void **state)
{
    (void)state;
    assert_non_null(strstr(dump(&comma, "a,b\n1,\0002\n", 9), "looks binary [:3]"));
    assert_non_null(strstr(dump(&comma, "\"a\0b\"\n", 6), "looks binary"));
    assert_non_null(strstr(dump(&comma,
                                "\xff\xfe"
                                "a\0",
                                4),
                           "UTF-16"));
}

/* Rows meet the buffer's edge at every offset: quotes, CR and LF split by a refill. */
static void buffer_edges(void **state)
{
    (void)state;
    enum { BUF = 1 << 18 };
    static const char row[] = "\"x\"\"y\",\"p\nq\",z\r\n";
    const size_t row_len = sizeof row - 1;
    char *text = malloc(BUF + 3 * row_len + 64);
    for (size_t shift = 0; shift < 2 * row_len; shift++) {
        size_t n = 0;
        memset(text, 'a', shift);
        n = shift;
        if (shift > 0) text[n++] = '\n';
        size_t rows = 0;
        while (n < BUF + row_len) memcpy(text + n, row, row_len), n += row_len, rows++;
        struct textfile f = textfile_bytes(text, n);
        struct csv *c;
        struct csv_row r;
        assert_int_equal(csv_open(&c, f.path, &comma, NULL), 0);
        if (shift > 0) assert_int_equal(csv_next(c, &r, NULL), 1);
        for (size_t i = 0; i < rows; i++) {
            assert_int_equal(csv_next(c, &r, NULL), 1);
            assert_int_equal(r.n, 3);
            assert_true(csv_is(&r.f[0], "x\"y") && csv_is(&r.f[1], "p\nq") && csv_is(&r.f[2], "z"));
            assert_int_equal(r.line, (int)(2 * i) + 1 + (shift > 0));
            assert_int_equal(r.f[2].line, r.line + 1);
            assert_int_equal(r.f[2].col, 4);
            assert_int_equal(r.len, row_len - 2);
        }
        assert_int_equal(csv_next(c, &r, NULL), 0);
        csv_close(c);
        textfile_close(&f);
    }
    free(text);
}

static void long_rows(void **state)
{
    (void)state;
    size_t n = (1u << 20) + 17;
    char *text = malloc(n + 2);
    memset(text, 'x', n);
    memcpy(text + n, "\n", 2);
    struct textfile f = textfile_bytes(text, n + 1);
    struct csv *c;
    struct csv_row r;
    struct err e = { 0 };
    assert_int_equal(csv_open(&c, f.path, &comma, &e), 0);
    assert_int_equal(csv_next(c, &r, &e), 1);
    assert_int_equal(r.f[0].len, n);
    csv_close(c);
    textfile_close(&f);
    free(text);

    n = (1u << 24) + 5;
    text = malloc(n);
    memset(text, 'x', n);
    f = textfile_bytes(text, n);
    assert_int_equal(csv_open(&c, f.path, &comma, &e), 0);
    assert_int_equal(csv_next(c, &r, &e), ERR_INPUT);
    assert_non_null(strstr(e.msg, "16 MiB"));
    csv_close(c);
    textfile_close(&f);
    memset(text, ',', 70000);
    f = textfile_bytes(text, 70000);
    struct err e2 = { 0 };
    assert_int_equal(csv_open(&c, f.path, &comma, &e2), 0);
    assert_int_equal(csv_next(c, &r, &e2), ERR_INPUT);
    assert_non_null(strstr(e2.msg, "65536 fields"));
    csv_close(c);
    textfile_close(&f);
    free(text);
}

static void note(void *ctx, const char *line, size_t len, int line_no)
{
    char *out = ctx;
    sprintf(out + strlen(out), "%d:%.*s;", line_no, (int)len, line);
}

static void comments(void **state)
{
    (void)state;
    char seen[100] = "";
    struct csv_format f = {
        .delimiter = ',', .comment = '#', .comment_head_only = true, .on_comment = note, .ctx = seen
    };
    assert_string_equal(dump(&f, "# one\r\n\n#two\na\n#b\n", 18), "<a>|<#b>|");
    assert_string_equal(seen, "1:# one;3:#two;");
    f.comment_head_only = false;
    f.on_comment = NULL;
    assert_string_equal(dump(&f, "a\n#b\n", 5), "<a>|");
}

static void errors_show_the_line(void **state)
{
    (void)state;
    struct textfile f = textfile_of("a,b\n\"p\nq\",bad\n");
    struct csv *c;
    struct csv_row r;
    struct err e = { 0 };
    assert_int_equal(csv_open(&c, f.path, &comma, &e), 0);
    assert_int_equal(csv_next(c, &r, &e), 1);
    assert_int_equal(csv_next(c, &r, &e), 1);
    assert_int_equal(csv_error(c, &r, &r.f[1], &e, "expected %s", "good"), ERR_INPUT);
    assert_string_equal(e.msg, "expected good");
    assert_int_equal(e.line, 3);
    assert_non_null(strstr(e.where, ":3:4"));
    assert_string_equal(e.excerpt, "q\",bad");
    csv_close(c);
    textfile_close(&f);
}

static void peek_leaves_the_rows(void **state)
{
    (void)state;
    struct textfile f = textfile_of("\xef\xbb\xbf"
                                    "a,b\n");
    struct csv *c;
    struct csv_row r;
    const char *s;
    size_t n;
    assert_int_equal(csv_open(&c, f.path, &comma, NULL), 0);
    assert_int_equal(csv_peek(c, &s, &n, NULL), 0);
    assert_int_equal(n, 4);
    assert_memory_equal(s, "a,b\n", 4);
    assert_int_equal(csv_next(c, &r, NULL), 1);
    assert_int_equal(r.n, 2);
    csv_close(c);
    textfile_close(&f);
}

static void writing(void **state)
{
    (void)state;
    static const char *const cells[] = { "plain", "a,b",    "say \"hi\"", "two\nlines",
                                         "",      " blank", "#x",         "cr\r" };
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    for (size_t i = 0; i < 8; i++) {
        if (i) putc(',', to);
        csv_put(to, cells[i], strlen(cells[i]));
    }
    fclose(to);
    assert_string_equal(
        text, "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",,\" blank\",\"#x\",\"cr\r\"");
    struct textfile f = textfile_of(text);
    struct csv *c;
    struct csv_row r;
    assert_int_equal(csv_open(&c, f.path, &comma, NULL), 0);
    assert_int_equal(csv_next(c, &r, NULL), 1);
    assert_int_equal(r.n, 8);
    for (size_t i = 0; i < 8; i++) assert_true(csv_is(&r.f[i], cells[i]));
    csv_close(c);
    textfile_close(&f);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripted),
        cmocka_unit_test(blank_separated),
        cmocka_unit_test(binary_is_refused),
        cmocka_unit_test(buffer_edges),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(comments),
        cmocka_unit_test(errors_show_the_line),
        cmocka_unit_test(peek_leaves_the_rows),
        cmocka_unit_test(writing),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
