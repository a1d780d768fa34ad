#include "model/request_rows.h"
#include "tests/support/textfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HEAD "arrival_s,input_tokens,output_tokens\n"

static struct symtab *names;

static int setup(void **state)
{
    (void)state;
    names = symtab_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    symtab_destroy(names);
    return 0;
}

/* Reads all rows of a text; the number of rows, or the first error (in *e). */
static int read_all(const char *text, size_t len, struct request_row *rows, struct err *e)
{
    struct textfile f = textfile_bytes(text, len);
    struct requests_reader *t;
    struct request_row r;
    int rc = requests_open(&t, f.path, names, e), n = 0;
    while (rc == 0 && (rc = requests_next(t, &r, e)) > 0) {
        if (rows) rows[n] = r;
        n++;
        rc = 0;
    }
    requests_close(t);
    textfile_close(&f);
    return rc < 0 ? rc : n;
}

static void all_columns(void **state)
{
    (void)state;
    struct textfile f = textfile_of("# gpusim-trace/1 origin=hand time_zero_s=5\n"
                                    "session,output_tokens,service,arrival_s,input_tokens\r\n"
                                    "\"s,1\",44,chat,0.123456789,374\r\n"
                                    ",0,,9.2e9,2147483647.0");
    struct requests_reader *t;
    struct request_row r;
    struct err e = { 0 };
    assert_int_equal(requests_open(&t, f.path, names, &e), 0);
    assert_string_equal(requests_comment(t), "origin=hand time_zero_s=5");
    assert_int_equal(requests_columns(t),
                     REQUESTS_LLM | REQUESTS_COL(service) | REQUESTS_COL(session));
    assert_int_equal(requests_next(t, &r, &e), 1);
    assert_int_equal(requests_line(t), 3);
    assert_int_equal(r.arrival, 123456789);
    assert_int_equal(r.input_tokens, 374);
    assert_int_equal(r.output_tokens, 44);
    assert_true(r.size_nano == REQUEST_NONE);
    assert_string_equal(symtab_name(names, r.service), "chat");
    assert_string_equal(symtab_name(names, r.session), "s,1");
    assert_int_equal(requests_next(t, &r, &e), 1);
    size_t len;
    assert_memory_equal(requests_text(t, &len), ",0,,9.2e9,2147483647.0", 22);
    assert_int_equal(len, 22);
    assert_int_equal(r.arrival, INT64_C(9200000000000000000));
    assert_int_equal(r.input_tokens, REQUEST_MAX_TOKENS);
    assert_true(r.service == 0 && r.session == 0);
    assert_int_equal(requests_next(t, &r, &e), 0);
    assert_false(requests_failed(t));
    requests_close(t);
    textfile_close(&f);
}

static void sizes_are_exact(void **state)
{
    (void)state;
    struct request_row r[3];
    struct err e = { 0 };
    const char *text =
        "size,arrival_s\n0.000000001,0.0000000015\n57.154,3501.7219370\n0,3501.721937";
    assert_int_equal(read_all(text, strlen(text), r, &e), 3);
    assert_int_equal(r[0].size_nano, 1);
    assert_int_equal(r[0].arrival, 2); /* the tenth digit of a time rounds */
    assert_int_equal(r[1].arrival, INT64_C(3501721937000));
    assert_int_equal(r[1].size_nano, INT64_C(57154000000));
    assert_true(r[1].input_tokens == REQUEST_NONE && r[1].output_tokens == REQUEST_NONE);
}

#define IDS "arrival_s,input_tokens,output_tokens,hash_ids\n"

/* text, where, what the message and the hint hold */
static const struct {
    const char *text, *where, *message, *hint;
} bad[] = {
    { "", ":1", "empty file", "" },
    { "  \n", ":1", "empty file", "" },
    { "# only a comment\n", ":1", "only comments", "" },
    { "# gpusim-trace/99\n" HEAD "1,2,3\n", ":1", "found gpusim-trace/99", "version 1" },
    { "{\"timestamp\": 1}\n", ":1", "found JSON", "auto" },
    { "<html>", ":1", "XML or HTML", "auto" },
    { "job_id,submit_s,duration_s,gpus\n", ":1", "found a job trace", "" },
    { "arrival_s,input_tokens,outptu_tokens\n", ":1:24", "\"outptu_tokens\"", "output_tokens" },
    { "TIMESTAMP,ContextTokens,GeneratedTokens\n", ":1:1", "\"TIMESTAMP\"", "azure-llm" },
    { "Timestamp,Model,Request tokens\n", ":1:1", "\"Timestamp\"", "burstgpt" },
    { "arrival_s,size,size\n", ":1:16", "there twice", "" },
    { "arrival_s,input_tokens\n", ":1", "lacks output_tokens", "" },
    { "size\n", ":1", "lacks arrival_s", "" },
    { "arrival_s,size,input_tokens,output_tokens\n", ":1", "either tokens or", "" },
    { HEAD, "", "only a header", "" },
    { HEAD "1,2\n", ":2", "expected 3 fields", "quotes" },
    { HEAD "1,2,3,4\n", ":2:7", "expected 3 fields", "quotes" },
    { HEAD ",2,3\n", ":2:1", "arrival_s: expected a value", "" },
    { HEAD "1,,3\n", ":2:3", "input_tokens: expected a value", "" },
    { HEAD "-1,2,3\n", ":2:1", "negative", "" },
    { HEAD "9.3e9,2,3\n", ":2:1", "9.2e9", "" },
    { HEAD "nan,2,3\n", ":2:1", "not a number", "" },
    { HEAD "1,2.5,3\n", ":2:3", "a whole number of tokens", "" },
    { HEAD "1,2,-3\n", ":2:5", "negative", "" },
    { HEAD "1,2,2147483648\n", ":2:5", "out of range", "" },
    { HEAD "5,1,1\n4.5,1,1\n", ":3:1", "at least 5 (line 2), found 4.5", "import requests" },
    { "arrival_s,size\n1,0.0000000001\n", ":2:3", "finer than a billionth", "" },
    { "arrival_s,size\n1,-1\n", ":2:3", "negative", "" },
    { "arrival_s,size\n1,1e10\n", ":2:3", "9.2e9", "" },
    { "# gpusim-trace/1 block_tokens=0\n" HEAD "1,2,3\n", ":1", "from 1 to 1000000, found \"0\"",
      "" },
    { "# gpusim-trace/1 a=b block_tokens=16x c=d\n" HEAD "1,2,3\n", ":1", "found \"16x\"", "" },
    { IDS "1,2,3,4||5\n", ":2:7", "whole numbers with | between them", "" },
    { IDS "1,2,3,4|5|\n", ":2:7", "whole numbers with | between them", "" },
    { IDS "1,2,3,4;5\n", ":2:7", "whole numbers with | between them", "" },
    { IDS "1,2,3,4.5\n", ":2:7", "whole numbers with | between them", "" },
};

static void errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = { 0 };
        int rc = read_all(bad[i].text, strlen(bad[i].text), NULL, &e);
        if (rc != ERR_INPUT || !strstr(e.where, bad[i].where) || !strstr(e.msg, bad[i].message) ||
            !strstr(e.hint, bad[i].hint))
            fail_msg("%s: %d, %s: %s (%s)", bad[i].text, rc, e.where, e.msg, e.hint);
    }
    struct err e = { 0 };
    struct requests_reader *t;
    assert_int_equal(requests_open(&t, "/nonexistent", names, &e), ERR_IO);
    assert_null(t);
    struct err e2 = { 0 };
    assert_int_equal(read_all(HEAD "1,\0,3\n", sizeof HEAD "1,\0,3\n" - 1, NULL, &e2), ERR_INPUT);
}

static void goes_on_after_a_bad_row(void **state)
{
    (void)state;
    struct textfile f = textfile_of(HEAD "1,x,3\n2,2\n0.5,1,1\n0.25,1,1\n");
    struct requests_reader *t;
    struct request_row r;
    struct err e = { 0 };
    int good = 0, wrong = 0, rc;
    assert_int_equal(requests_open(&t, f.path, names, &e), 0);
    requests_allow_unsorted(t);
    while ((rc = requests_next(t, &r, &e)) != 0 && !requests_failed(t)) rc > 0 ? good++ : wrong++;
    assert_int_equal(good, 2);
    assert_int_equal(wrong, 2);
    requests_close(t);
    textfile_close(&f);
}

static void round_trip(void **state)
{
    (void)state;
    static const struct request_row rows[] = {
        { .arrival = 0, .input_tokens = 0, .output_tokens = 7, .size_nano = REQUEST_NONE },
        { .arrival = 123456789,
          .input_tokens = 5,
          .output_tokens = REQUEST_MAX_TOKENS,
          .size_nano = REQUEST_NONE },
    };
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    const unsigned columns =
        REQUESTS_LLM | REQUESTS_COL(service) | REQUESTS_COL(session) | REQUESTS_COL(hash_ids);
    struct request_row copy[2], got[2];
    requests_write_header(to, columns, "gpusim-trace/1 origin=test");
    for (int i = 0; i < 2; i++) {
        copy[i] = rows[i];
        copy[i].service = i ? symtab_addz(names, "with \"quotes\"\nand lines") : 0;
        copy[i].session = symtab_addz(names, i ? "#1" : "");
        if (i) copy[i].blocks = blocks_add(names, blocks_add(names, 0, INT64_MAX), -46080);
        assert_null(request_row_problem(&copy[i]));
        requests_write_row(to, columns, &copy[i], names);
    }
    fclose(to);
    struct err e = { 0 };
    assert_int_equal(read_all(text, len, got, &e), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(got[i].arrival, copy[i].arrival);
        assert_int_equal(got[i].input_tokens, copy[i].input_tokens);
        assert_int_equal(got[i].output_tokens, copy[i].output_tokens);
        assert_int_equal(got[i].service, copy[i].service);
        assert_int_equal(got[i].session, copy[i].session);
        assert_int_equal(got[i].blocks, copy[i].blocks);
    }
    free(text);
}

static void problems(void **state)
{
    (void)state;
    struct request_row r;
    request_row_init(&r);
    assert_non_null(strstr(request_row_problem(&r), "input_tokens"));
    r.size_nano = 0;
    assert_null(request_row_problem(&r));
    r.size_nano = -1;
    assert_non_null(strstr(request_row_problem(&r), "size"));
    r.size_nano = 1, r.output_tokens = 1;
    assert_non_null(strstr(request_row_problem(&r), "both"));
    r.size_nano = REQUEST_NONE, r.input_tokens = 1;
    assert_null(request_row_problem(&r));
    r.output_tokens = REQUEST_MAX_TOKENS + 1;
    assert_non_null(strstr(request_row_problem(&r), "output_tokens"));
    r.output_tokens = 1, r.arrival = -1;
    assert_non_null(strstr(request_row_problem(&r), "arrival_s"));
}

static void sniffs(void **state)
{
    (void)state;
    const char *yes[] = { HEAD, "# c\n\r\n\"size\",arrival_s\r\n1,2", "x,arrival_s,size" },
               *no[] = { "", "arrival_s\n", "arrival_s,input_tokens\n",
                         "job_id,submit_s,duration_s,gpus\n", "#arrival_s,size\n" };
    for (size_t i = 0; i < 3; i++) assert_int_equal(requests_sniff(yes[i], strlen(yes[i])), 100);
    for (size_t i = 0; i < 5; i++) assert_int_equal(requests_sniff(no[i], strlen(no[i])), 0);
}

/* ---- in memory ---- */

static const char tagged[] = "# gpusim-trace/1 block_tokens=16\n"
                             "session,arrival_s,input_tokens,output_tokens,service,hash_ids\n"
                             "s1,0,50,7,chat,3|4\ns2,0.25,60,8,code,3|5\n"
                             "s1,3,70,9,code,\n,3,80,10,chat,3|4|6\n";

/* What memory holds is what the file gives: rows, names and their order, and the line of a row. */
static void rows_in_memory(void **state)
{
    struct textfile f = textfile_bytes(tagged, strlen(tagged));
    struct symtab *own = symtab_create();
    struct requests_reader *reader;
    struct request_row a;
    struct err e = { 0 };
    (void)state;
    struct request_rows *rows = request_rows_load(f.path, SIZE_MAX);
    assert_non_null(rows);
    assert_int_equal(rows->n, 4);
    assert_int_equal(requests_open(&reader, f.path, own, &e), 0);
    assert_int_equal(rows->columns, requests_columns(reader));
    assert_int_equal(rows->block_tokens, 16);
    for (size_t i = 0; i < 4; i++) {
        const struct request_row *b = &rows->row[i];
        assert_int_equal(requests_next(reader, &a, &e), 1);
        assert_true(a.arrival == b->arrival && a.size_nano == b->size_nano);
        assert_true(a.input_tokens == b->input_tokens && a.output_tokens == b->output_tokens);
        assert_true(a.service == b->service && a.session == b->session && a.blocks == b->blocks);
        assert_int_equal(requests_line(reader), request_rows_line(rows, i));
    }
    assert_int_equal(requests_next(reader, &a, &e), 0);
    assert_int_equal(symtab_count(rows->names), symtab_count(own));
    for (sym s = 0; s < symtab_count(own); s++)
        assert_string_equal(symtab_name(rows->names, s), symtab_name(own, s));
    requests_close(reader);
    request_rows_free(rows);
    symtab_destroy(own);
    textfile_close(&f);
}

static void not_in_memory(void **state)
{
    static const char wrong[] = HEAD "0,1,1\n1,x,1\n", empty[] = HEAD;
    struct textfile f = textfile_bytes(tagged, strlen(tagged)),
                    g = textfile_bytes(wrong, strlen(wrong)),
                    h = textfile_bytes(empty, strlen(empty));
    (void)state;
    assert_null(request_rows_load(f.path, 1000)); /* the least block is larger */
    assert_null(request_rows_load(g.path, SIZE_MAX));
    assert_null(request_rows_load(h.path, SIZE_MAX));
    assert_null(request_rows_load("/nowhere/requests.csv", SIZE_MAX));
    request_rows_free(NULL);
    textfile_close(&f);
    textfile_close(&g);
    textfile_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_columns),   cmocka_unit_test(sizes_are_exact),
        cmocka_unit_test(errors),        cmocka_unit_test(goes_on_after_a_bad_row),
        cmocka_unit_test(round_trip),    cmocka_unit_test(problems),
        cmocka_unit_test(sniffs),        cmocka_unit_test(rows_in_memory),
        cmocka_unit_test(not_in_memory),
    };
    return cmocka_run_group_tests_name("requests", tests, setup, teardown);
}
