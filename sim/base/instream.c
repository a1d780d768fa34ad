#include "base/instream.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum kind { PLAIN, GZIP, XZ, ZSTD };
static const char *const kind_names[] = { "plain", "gzip", "xz", "zstd" };

enum { IN_BYTES = 1 << 17, XZ_OWN_BYTES = 1 << 20 /* liblzma takes less than 100 KiB */ };

struct instream {
    char *path; /* as the user named it */
    int fd;
    enum kind kind;
    bool in_eof;    /* the file has no more bytes */
    bool done;      /* the stream has no more bytes */
    int failed;     /* err_code of the failure, repeated for ever */
    bool in_member; /* inside a compressed member: an end here is a truncation */
    bool hash;
    unsigned char *in;
    size_t in_at, in_n;
    uint64_t in_bytes, out_bytes; /* read of the file, delivered */
    z_stream z;
    lzma_stream xz;
    ZSTD_DStream *zstd;
    SHA2_CTX sha;
};

/* One read(2) of the file. Bytes, 0 at the end, or a negative err_code. */
static ssize_t read_file(struct instream *s, void *buf, size_t size, struct err *e)
{
    for (;;) {
        ssize_t n = read(s->fd, buf, size);
        if (n >= 0) {
            if (n == 0) s->in_eof = true;
            s->in_bytes += (uint64_t)n;
            return n;
        }
        if (errno == EINTR) continue;
        const struct loc at = { .file = s->path };
        return s->failed = err_set(e, err_of_errno(errno), &at, "cannot read: %s", strerror(errno));
    }
}

/* At least one unread byte in s->in, or in_eof. */
static int refill(struct instream *s, struct err *e)
{
    if (s->in_at < s->in_n || s->in_eof) return 0;
    ssize_t n = read_file(s, s->in, IN_BYTES, e);
    if (n < 0) return (int)n;
    s->in_at = 0;
    s->in_n = (size_t)n;
    return 0;
}

static bool starts(const struct instream *s, const char *magic, size_t len)
{
    return s->in_n - s->in_at >= len && memcmp(s->in + s->in_at, magic, len) == 0;
}

/* What the first bytes say; reads until six are there or the file ends. */
static int sniff(struct instream *s, struct err *e)
{
    while (s->in_n < 6 && !s->in_eof) {
        ssize_t n = read_file(s, s->in + s->in_n, IN_BYTES - s->in_n, e);
        if (n < 0) return (int)n;
        s->in_n += (size_t)n;
    }
    if (starts(s, "\x1f\x8b", 2)) {
        s->kind = GZIP;
        /* 15 + 16: largest window, gzip wrapper only */
        if (inflateInit2(&s->z, 15 + 16) != Z_OK) out_of_memory();
    } else if (starts(s,
                      "\xfd"
                      "7zXZ\0",
                      6)) {
        s->kind = XZ;
        if (lzma_stream_decoder(&s->xz, (uint64_t)INSTREAM_WINDOW_BYTES + XZ_OWN_BYTES,
                                LZMA_CONCATENATED) != LZMA_OK)
            out_of_memory();
    } else if (starts(s, "\x28\xb5\x2f\xfd", 4)) {
        s->kind = ZSTD;
        s->zstd = ZSTD_createDStream();
        if (!s->zstd) out_of_memory();
        ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, INSTREAM_WINDOW_LOG);
    }
    return 0;
}

int instream_open(struct instream **out, const char *path, struct err *e)
{
    const struct loc at = { .file = path };
    struct stat st;
    *out = NULL;
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return err_set(e, err_of_errno(errno), &at, "cannot open: %s", strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (fd != STDIN_FILENO) close(fd);
        return err_set(e, ERR_IO, &at, "is a folder, expected a file");
    }
    struct instream *s = xcalloc(1, sizeof *s);
    s->path = xstrdup(strcmp(path, "-") == 0 ? "standard input" : path);
    s->fd = fd;
    s->in = xmalloc(IN_BYTES);
    s->xz = (lzma_stream)LZMA_STREAM_INIT;
    int rc = sniff(s, e);
    if (rc < 0) {
        instream_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void instream_close(struct instream *s)
{
    if (!s) return;
    if (s->kind == GZIP) inflateEnd(&s->z);
    lzma_end(&s->xz);
    ZSTD_freeDStream(s->zstd);
    if (s->fd != STDIN_FILENO) close(s->fd);
    free(s->in);
    free(s->path);
    free(s);
}

static int damaged(struct instream *s, const char *why, struct err *e)
{
    const struct loc at = { .file = s->path };
    s->failed = err_set(e, ERR_INPUT, &at, "damaged %s data: %s", kind_names[s->kind], why);
    err_hint(e, "is the download complete? `%s -t` tests a file", kind_names[s->kind]);
    return s->failed;
}

static int too_large(struct instream *s, struct err *e)
{
    const struct loc at = { .file = s->path };
    s->failed = err_set(e, ERR_LIMIT, &at, "unpacking it takes a window of more than %d MiB",
                        INSTREAM_WINDOW_BYTES >> 20);
    err_hint(e, "unpack it first: `%s`", s->kind == XZ ? "xz -d" : "zstd -d --long=31");
    return s->failed;
}

static int bomb(struct instream *s, struct err *e)
{
    const struct loc at = { .file = s->path };
    s->failed = err_set(e, ERR_LIMIT, &at, "it unpacks to more than %d MiB and %d times its size",
                        INSTREAM_FREE_BYTES >> 20, INSTREAM_MOST_RATIO);
    err_hint(e, "if it is what it should be, unpack it first: `%s -d`", kind_names[s->kind]);
    return s->failed;
}

static ssize_t read_plain(struct instream *s, void *buf, size_t size, struct err *e)
{
    if (s->in_at < s->in_n) { /* what was read to recognise the file */
        size_t n = s->in_n - s->in_at < size ? s->in_n - s->in_at : size;
        memcpy(buf, s->in + s->in_at, n);
        s->in_at += n;
        return (ssize_t)n;
    }
    return s->in_eof ? 0 : read_file(s, buf, size, e);
}

/* Between members: another member, zero padding, or the end. */
static int gzip_next_member(struct instream *s, struct err *e)
{
    for (;;) {
        int rc = refill(s, e);
        if (rc < 0) return rc;
        if (s->in_at == s->in_n) {
            s->done = true;
            return 0;
        }
        if (s->in[s->in_at] != 0) break;
        s->in_at++;
    }
    if (s->in[s->in_at] != 0x1f) return damaged(s, "other bytes follow the last member", e);
    if (inflateReset(&s->z) != Z_OK) BUG("inflateReset");
    s->in_member = true;
    return 0;
}

static ssize_t read_gzip(struct instream *s, void *buf, size_t size, struct err *e)
{
    s->z.next_out = buf;
    s->z.avail_out = size > 1u << 30 ? 1u << 30 : (uInt)size;
    const uInt want = s->z.avail_out;
    s->in_member = true;
    while (s->z.avail_out == want && !s->done) {
        int rc = refill(s, e);
        if (rc < 0) return rc;
        if (s->in_at == s->in_n) return damaged(s, "the file ends inside a member (truncated)", e);
        s->z.next_in = s->in + s->in_at;
        s->z.avail_in = (uInt)(s->in_n - s->in_at);
        rc = inflate(&s->z, Z_NO_FLUSH);
        s->in_at = s->in_n - s->z.avail_in;
        if (rc == Z_STREAM_END) {
            rc = gzip_next_member(s, e);
            if (rc < 0) return rc;
        } else if (rc == Z_MEM_ERROR) {
            out_of_memory();
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            return damaged(s, s->z.msg ? s->z.msg : "bad stream", e);
        }
    }
    return (ssize_t)(want - s->z.avail_out);
}

static const char *lzma_why(lzma_ret rc)
{
    switch (rc) {
    case LZMA_FORMAT_ERROR: return "other bytes follow the last member";
    case LZMA_BUF_ERROR: return "the file ends inside a member (truncated)";
    case LZMA_DATA_ERROR: return "checksum or structure is wrong";
    default: return "unsupported options";
    }
}

static ssize_t read_xz(struct instream *s, void *buf, size_t size, struct err *e)
{
    s->xz.next_out = buf;
    s->xz.avail_out = size;
    while (s->xz.avail_out == size && !s->done) {
        int rc = refill(s, e);
        if (rc < 0) return rc;
        s->xz.next_in = s->in + s->in_at;
        s->xz.avail_in = s->in_n - s->in_at;
        lzma_ret r = lzma_code(&s->xz, s->in_at == s->in_n ? LZMA_FINISH : LZMA_RUN);
        s->in_at = s->in_n - s->xz.avail_in;
        if (r == LZMA_STREAM_END)
            s->done = true;
        else if (r == LZMA_MEM_ERROR)
            out_of_memory();
        else if (r == LZMA_MEMLIMIT_ERROR)
            return too_large(s, e);
        else if (r != LZMA_OK)
            return damaged(s, lzma_why(r), e);
    }
    return (ssize_t)(size - s->xz.avail_out);
}

static ssize_t read_zstd(struct instream *s, void *buf, size_t size, struct err *e)
{
    ZSTD_outBuffer to = { .dst = buf, .size = size };
    while (to.pos == 0 && !s->done) {
        int rc = refill(s, e);
        if (rc < 0) return rc;
        bool at_end = s->in_at == s->in_n;
        if (at_end && !s->in_member) {
            s->done = true;
            break;
        }
        ZSTD_inBuffer from = { .src = s->in + s->in_at, .size = s->in_n - s->in_at };
        size_t left = ZSTD_decompressStream(s->zstd, &to, &from);
        s->in_at += from.pos;
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) out_of_memory();
        if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
            return too_large(s, e);
        if (ZSTD_isError(left)) return damaged(s, ZSTD_getErrorName(left), e);
        s->in_member = left != 0;
        if (at_end && to.pos == 0 && left != 0)
            return damaged(s, "the file ends inside a frame (truncated)", e);
    }
    return (ssize_t)to.pos;
}

ssize_t instream_read(struct instream *s, void *buf, size_t size, struct err *e)
{
    if (s->failed) {
        const struct loc at = { .file = s->path };
        return err_set(e, (enum err_code)s->failed, &at, "the stream failed before");
    }
    if (size == 0) return 0;
    ssize_t n = 0;
    switch (s->kind) {
    case PLAIN: n = read_plain(s, buf, size, e); break;
    case GZIP: n = read_gzip(s, buf, size, e); break;
    case XZ: n = read_xz(s, buf, size, e); break;
    case ZSTD: n = read_zstd(s, buf, size, e); break;
    }
    if (n > 0) s->out_bytes += (uint64_t)n;
    if (s->kind != PLAIN && s->out_bytes > INSTREAM_FREE_BYTES &&
        s->out_bytes > INSTREAM_MOST_RATIO * s->in_bytes)
        return bomb(s, e);
    if (n > 0 && s->hash) SHA256Update(&s->sha, buf, (size_t)n);
    return n;
}

const char *instream_kind(const struct instream *s)
{
    return kind_names[s->kind];
}

void instream_hash(struct instream *s)
{
    s->hash = true;
    SHA256Init(&s->sha);
}

static void hex_of(const uint8_t *digest, char hex[65])
{
    for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[64] = '\0';
}

void instream_sha256(const struct instream *s, char hex[65])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    BUG_ON(!s->hash);
    SHA2_CTX copy = s->sha; /* finishing spoils the state; more bytes may follow */
    SHA256Final(digest, &copy);
    hex_of(digest, hex);
}

int instream_file_sha256(const char *path, char hex[65], struct err *e)
{
    struct instream *s;
    int rc = instream_open(&s, path, e);
    if (rc < 0) return rc;
    enum { CHUNK = 1 << 18 };
    char *buf = xmalloc(CHUNK);
    ssize_t n;
    instream_hash(s);
    while ((n = instream_read(s, buf, CHUNK, e)) > 0) continue;
    if (n == 0) instream_sha256(s, hex);
    free(buf);
    instream_close(s);
    return n < 0 ? (int)n : 0;
}

void sha256_hex(const void *data, size_t len, char hex[65])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX ctx;
    SHA256Init(&ctx);
    SHA256Update(&ctx, data, len);
    SHA256Final(digest, &ctx);
    hex_of(digest, hex);
}
