#include "base/instream.h"
#include "tests/support/textfile.h"

#include <fcntl.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

enum { TEXT_LEN = 700001 };
static unsigned char *text; /* compressible, longer than any buffer inside */

static int make_text(void **state)
{
    (void)state;
    text = malloc(TEXT_LEN);
    for (size_t i = 0; i < TEXT_LEN; i++)
        text[i] = (unsigned char)("job,2.385\n"[i % 10] + (int)(i / 1000 % 3));
    return 0;
}

static int free_text(void **state)
{
    (void)state;
    free(text);
    return 0;
}

/* Compressed copies; returns length. `out` has room for 2 * TEXT_LEN. */
static size_t gzip(const void *in, size_t len, unsigned char *out)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)in;
    z.avail_in = (uInt)len;
    z.next_out = out;
    z.avail_out = 2 * TEXT_LEN;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = z.total_out;
    deflateEnd(&z);
    return n;
}

static size_t xz(const void *in, size_t len, unsigned char *out)
{
    size_t n = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, in, len, out, &n, 2 * TEXT_LEN),
        LZMA_OK);
    return n;
}

static size_t zstd(const void *in, size_t len, unsigned char *out)
{
    size_t n = ZSTD_compress(out, 2 * TEXT_LEN, in, len, 1);
    assert_false(ZSTD_isError(n));
    return n;
}

static size_t plain(const void *in, size_t len, unsigned char *out)
{
    memcpy(out, in, len);
    return len;
}

static const struct codec {
    const char *kind;
    size_t (*pack)(const void *in, size_t len, unsigned char *out);
} codecs[] = { { "plain", plain }, { "gzip", gzip }, { "xz", xz }, { "zstd", zstd } };

/* All bytes, read in odd steps. Length, or the negative code. */
static ssize_t slurp(const char *path, unsigned char *out, size_t size, const char *kind,
                     char hex[65], struct err *e)
{
    struct instream *s;
    int rc = instream_open(&s, path, e);
    if (rc < 0) return rc;
    if (kind) assert_string_equal(instream_kind(s), kind);
    instream_hash(s);
    size_t at = 0, step = 1;
    ssize_t n;
    while ((n = instream_read(s, out + at, step < size - at ? step : size - at, e)) > 0) {
        at += (size_t)n;
        step = step * 3 % 65537 + 1;
    }
    if (hex) instream_sha256(s, hex);
    if (n < 0) assert_int_equal(instream_read(s, out, 1, NULL), n); /* fails for ever */
    instream_close(s);
    return n < 0 ? n : (ssize_t)at;
}

static void round_trip(void **state)
{
    const struct codec *c = *state;
    unsigned char *packed = malloc(4 * TEXT_LEN), *back = malloc(2 * TEXT_LEN + 1);
    char hex[65], want[65], apart[65];
    struct err e = { 0 };

    size_t n = c->pack(text, TEXT_LEN, packed);
    struct textfile f = textfile_bytes(packed, n);
    assert_int_equal(slurp(f.path, back, 2 * TEXT_LEN + 1, c->kind, hex, &e), TEXT_LEN);
    assert_memory_equal(back, text, TEXT_LEN);
    sha256_hex(text, TEXT_LEN, want);
    assert_string_equal(hex, want);
    assert_int_equal(instream_file_sha256(f.path, apart, &e), 0);
    assert_string_equal(apart, want);
    textfile_close(&f);

    /* two members */
    size_t half = c->pack(text, TEXT_LEN / 2, packed);
    half += c->pack(text + TEXT_LEN / 2, TEXT_LEN - TEXT_LEN / 2, packed + half);
    f = textfile_bytes(packed, half);
    assert_int_equal(slurp(f.path, back, 2 * TEXT_LEN + 1, c->kind, NULL, &e), TEXT_LEN);
    assert_memory_equal(back, text, TEXT_LEN);
    textfile_close(&f);
    free(packed);
    free(back);
}

static void damage(void **state)
{
    const struct codec *c = *state;
    unsigned char *packed = malloc(4 * TEXT_LEN), *back = malloc(2 * TEXT_LEN);
    size_t n = c->pack(text, TEXT_LEN, packed);

    /* cut anywhere inside the only member */
    const size_t cuts[] = { 7, n / 2, n - 1 };
    for (size_t i = 0; i < 3; i++) {
        struct err e = { 0 };
        struct textfile f = textfile_bytes(packed, cuts[i]);
        assert_int_equal(slurp(f.path, back, 2 * TEXT_LEN, c->kind, NULL, &e), ERR_INPUT);
        assert_non_null(strstr(e.msg, "damaged"));
        textfile_close(&f);
    }
    /* a byte in the middle is wrong */
    struct err e = { 0 };
    packed[n / 2] ^= 0x55;
    packed[n / 2 + 1] ^= 0x55;
    struct textfile f = textfile_bytes(packed, n);
    ssize_t got = slurp(f.path, back, 2 * TEXT_LEN, c->kind, NULL, &e);
    if (strcmp(c->kind, "zstd") != 0 || got < 0)
        assert_int_equal(got, ERR_INPUT); /* zstd frames of this API carry no checksum */
    textfile_close(&f);
    packed[n / 2] ^= 0x55;
    packed[n / 2 + 1] ^= 0x55;

    /* other bytes behind the member */
    memcpy(packed + n, "garbage!garbage!", 16);
    struct err e2 = { 0 };
    f = textfile_bytes(packed, n + 16);
    assert_int_equal(slurp(f.path, back, 2 * TEXT_LEN, c->kind, NULL, &e2), ERR_INPUT);
    textfile_close(&f);
    free(packed);
    free(back);
}

static void gzip_padding(void **state)
{
    (void)state;
    unsigned char *packed = calloc(1, 4 * TEXT_LEN), back[32];
    size_t n = gzip("hello\n", 6, packed);
    struct err e = { 0 };
    struct textfile f = textfile_bytes(packed, n + 512); /* tapes pad with zeros */
    assert_int_equal(slurp(f.path, back, sizeof back, "gzip", NULL, &e), 6);
    textfile_close(&f);
    free(packed);
}

static void file_system_errors(void **state)
{
    (void)state;
    struct instream *s;
    struct err e = { 0 };
    assert_int_equal(instream_open(&s, "/nonexistent/trace.csv", &e), ERR_IO);
    assert_non_null(strstr(e.msg, "No such file"));
    assert_null(s);
    struct err e2 = { 0 };
    assert_int_equal(instream_open(&s, "/tmp", &e2), ERR_IO);
    assert_non_null(strstr(e2.msg, "folder"));
    char hex[65];
    assert_int_equal(instream_file_sha256("/nonexistent", hex, NULL), ERR_IO);
    instream_close(NULL);
}

/* A file of a few bytes asks for gigabytes: the window that its header names. */
static void windows(void **state)
{
    (void)state;
    /* "a,b\n1,2\n" by `xz --lzma2=dict=128MiB` and `dict=192MiB`; a frame of zstd with a window of
     * 128 MiB, and of 256 MiB (RFC 8878, 3.1.1.1.2: exponent 17 or 18 above 10) */
    static const unsigned char xz_128[] = {
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21,
        0x01, 0x1e, 0x00, 0x00, 0x00, 0x9b, 0x07, 0x51, 0x66, 0x01, 0x00, 0x07, 0x61, 0x2c, 0x62,
        0x0a, 0x31, 0x2c, 0x32, 0x0a, 0x00, 0x7b, 0x07, 0x97, 0x0a, 0x00, 0x01, 0x1c, 0x08, 0x44,
        0x60, 0x2a, 0xc8, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
    };
    static const unsigned char xz_192[] = {
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21,
        0x01, 0x1f, 0x00, 0x00, 0x00, 0xfe, 0x60, 0xed, 0xde, 0x01, 0x00, 0x07, 0x61, 0x2c, 0x62,
        0x0a, 0x31, 0x2c, 0x32, 0x0a, 0x00, 0x7b, 0x07, 0x97, 0x0a, 0x00, 0x01, 0x1c, 0x08, 0x44,
        0x60, 0x2a, 0xc8, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
    };
    static const unsigned char zstd_128[] = { 0x28, 0xb5, 0x2f, 0xfd, 0,   17 << 3, 0x41, 0,   0,
                                              'a',  ',',  'b',  '\n', '1', ',',     '2',  '\n' };
    static const unsigned char zstd_256[] = { 0x28, 0xb5, 0x2f, 0xfd, 0,   18 << 3, 0x41, 0,   0,
                                              'a',  ',',  'b',  '\n', '1', ',',     '2',  '\n' };
    const struct {
        const unsigned char *bytes;
        size_t len;
        int want;
        const char *hint;
    } file[] = { { xz_128, sizeof xz_128, 8, NULL },
                 { xz_192, sizeof xz_192, ERR_LIMIT, "xz -d" },
                 { zstd_128, sizeof zstd_128, 8, NULL },
                 { zstd_256, sizeof zstd_256, ERR_LIMIT, "zstd -d" } };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        unsigned char back[16];
        struct err e = { 0 };
        struct textfile f = textfile_bytes(file[i].bytes, file[i].len);
        assert_int_equal(slurp(f.path, back, sizeof back, NULL, NULL, &e), file[i].want);
        if (file[i].want == ERR_LIMIT) {
            assert_string_equal(e.msg, "unpacking it takes a window of more than 128 MiB");
            assert_non_null(strstr(e.hint, file[i].hint));
        }
        textfile_close(&f);
    }
}

static void short_files(void **state)
{
    (void)state;
    unsigned char back[16];
    char hex[65];
    struct textfile f = textfile_of("");
    struct err e = { 0 };
    assert_int_equal(slurp(f.path, back, sizeof back, "plain", hex, &e), 0);
    /* FIPS 180-4: the empty message */
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    textfile_close(&f);
    sha256_hex("abc", 3, hex); /* FIPS 180-4 example */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    f = textfile_of("x");
    assert_int_equal(slurp(f.path, back, sizeof back, "plain", NULL, &e), 1);
    textfile_close(&f);
}

/* So many MiB of line ends; returns the length. */
static size_t line_ends(int mib, void *packed, size_t room)
{
    static char part[1 << 20];
    ZSTD_CStream *z = ZSTD_createCStream();
    ZSTD_outBuffer to = { packed, room, 0 };
    memset(part, '\n', sizeof part);
    assert_false(ZSTD_isError(ZSTD_initCStream(z, 1)));
    for (int i = 0; i < mib; i++) {
        ZSTD_inBuffer from = { part, sizeof part, 0 };
        while (from.pos < from.size) assert_false(ZSTD_isError(ZSTD_compressStream(z, &to, &from)));
    }
    assert_int_equal(ZSTD_endStream(z, &to), 0);
    ZSTD_freeCStream(z);
    return to.pos;
}

/* 90 MiB in some 9 KB end after 64 MiB; so much of any file is read. */
static void bombs(void **state)
{
    static char packed[1 << 20], buf[1 << 16];
    (void)state;
    for (int mib = 60; mib <= 90; mib += 30) {
        struct textfile t = textfile_bytes(packed, line_ends(mib, packed, sizeof packed));
        struct instream *s;
        struct err e = { 0 };
        int64_t got = 0;
        ssize_t n;
        assert_int_equal(instream_open(&s, t.path, &e), 0);
        while ((n = instream_read(s, buf, sizeof buf, &e)) > 0) got += n;
        assert_int_equal(n, mib == 60 ? 0 : ERR_LIMIT);
        assert_int_equal(got, mib == 60 ? 60 << 20 : INSTREAM_FREE_BYTES);
        if (n < 0) {
            assert_non_null(strstr(e.msg, "more than 64 MiB and 500 times its size"));
            assert_int_equal(instream_read(s, buf, sizeof buf, &e), ERR_LIMIT);
        }
        instream_close(s);
        textfile_close(&t);
    }
}

int main(void)
{
#define WITH(fn, i)                                                                                \
    {                                                                                              \
        codecs[i].kind, fn, NULL, NULL, (void *)(uintptr_t)&codecs[i]                              \
    }
    const struct CMUnitTest tests[] = {
        WITH(round_trip, 0),
        WITH(round_trip, 1),
        WITH(round_trip, 2),
        WITH(round_trip, 3),
        WITH(damage, 1),
        WITH(damage, 2),
        WITH(damage, 3),
        cmocka_unit_test(gzip_padding),
        cmocka_unit_test(file_system_errors),
        cmocka_unit_test(short_files),
        cmocka_unit_test(windows),
        cmocka_unit_test(bombs),
    };
    return cmocka_run_group_tests_name("instream", tests, make_text, free_text);
}
