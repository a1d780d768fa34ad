/* test_palette.c - the colours of policies: the same in pictures and on the page; each stands
 * out from the page in both modes (3 to 1, WCAG 2.1, 1.4.11), and any two are told apart, with
 * colour blindness too. */
#include "support/fake_result.h"
#include "support/support.h"

#include "base/datadir.h"
#include "plots/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLOURS = 8 };

/* 0..1, linear light */
static void linear(const char *hex, double rgb[3])
{
    for (int i = 0; i < 3; i++) {
        const char two[3] = { hex[1 + 2 * i], hex[2 + 2 * i], 0 };
        const double c = (double)strtol(two, NULL, 16) / 255;
        rgb[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
}

static double luminance(const char *hex)
{
    double c[3];
    linear(hex, c);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

static double contrast(const char *a, const char *b)
{
    const double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* What eyes without one kind of cones see: Machado, Oliveira and Fernandes, A Physiologically-based
 * Model for Simulation of Color Vision Deficiency, IEEE TVCG 15 (2009), severity 1. The first: all
 * three kinds. */
static const double eyes[][3][3] = {
    { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
    { { 0.152286, 1.052583, -0.204868 },
      { 0.114503, 0.786281, 0.099216 },
      { -0.003882, -0.048116, 1.051998 } },
    { { 0.367322, 0.860646, -0.227968 },
      { 0.280085, 0.672501, 0.047413 },
      { -0.011820, 0.042940, 0.968881 } },
    { { 1.255528, -0.076749, -0.178779 },
      { -0.078411, 0.930809, 0.147602 },
      { 0.004733, 0.691367, 0.303900 } },
};

/* sRGB to CIELAB, white D65. */
static void lab(const char *hex, const double eye[3][3], double out[3])
{
    static const double xyz[3][3] = { { 0.4124564, 0.3575761, 0.1804375 },
                                      { 0.2126729, 0.7151522, 0.0721750 },
                                      { 0.0193339, 0.1191920, 0.9503041 } };
    static const double white[3] = { 0.95047, 1, 1.08883 };
    double c[3], seen[3], f[3];
    linear(hex, c);
    for (int i = 0; i < 3; i++)
        seen[i] = fmin(1, fmax(0, eye[i][0] * c[0] + eye[i][1] * c[1] + eye[i][2] * c[2]));
    for (int i = 0; i < 3; i++) {
        const double t =
            (xyz[i][0] * seen[0] + xyz[i][1] * seen[1] + xyz[i][2] * seen[2]) / white[i];
        f[i] = t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    out[0] = 116 * f[1] - 16;
    out[1] = 500 * (f[0] - f[1]);
    out[2] = 200 * (f[1] - f[2]);
}

static double apart(const char *a, const char *b, const double eye[3][3])
{
    double p[3], q[3];
    lab(a, eye, p);
    lab(b, eye, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                (p[2] - q[2]) * (p[2] - q[2]));
}

static void read_palette(char colour[COLOURS][8])
{
    char path[4096];
    datadir_path(path, sizeof path, "../plots/templates/style.gp");
    char *text = read_file(path), *at = strstr(text, "array hue[8] = [");
    assert_non_null(at);
    for (int k = 0; k < COLOURS; k++) {
        at = strchr(at + 1, '#');
        assert_non_null(at);
        memcpy(colour[k], at, 7);
        colour[k][7] = '\0';
    }
    free(text);
}

/* Known: black on white is 21 to 1; white is (100, 0, 0). */
static void the_measures(void **state)
{
    double white[3];
    (void)state;
    assert_true(fabs(contrast("#000000", "#FFFFFF") - 21) < 1e-9);
    lab("#FFFFFF", eyes[0], white);
    assert_true(fabs(white[0] - 100) < 1e-3 && fabs(white[1]) < 0.02 && fabs(white[2]) < 0.02);
}

static void colours_stand_out(void **state)
{
    char colour[COLOURS][8];
    (void)state;
    read_palette(colour);
    for (int k = 0; k < COLOURS; k++) {
        if (contrast(colour[k], "#FFFFFF") < 3) fail_msg("%s on the white page", colour[k]);
        if (contrast(colour[k], "#16181B") < 3) fail_msg("%s on the dark page", colour[k]);
    }
}

static void colours_are_told_apart(void **state)
{
    char colour[COLOURS][8];
    (void)state;
    read_palette(colour);
    for (size_t e = 0; e < sizeof eyes / sizeof *eyes; e++)
        for (int i = 0; i < COLOURS; i++)
            for (int k = 0; k < i; k++) {
                const double d = apart(colour[i], colour[k], eyes[e]);
                if (d < 11) fail_msg("%s and %s: %.1f for eyes %zu", colour[i], colour[k], d, e);
            }
}

static void the_page_has_the_same(void **state)
{
    char colour[COLOURS][8];
    struct arena *a = arena_create();
    struct strbuf out = { 0 };
    struct result r;
    const struct report_look look = { .lang = LANG_EN };
    (void)state;
    read_palette(colour);
    fake_result(&r, a);
    report_page(&r, NULL, 0, &look, &out);
    assert_true(r.n_policies >= 2);
    for (size_t i = 0; i < r.n_policies && i < COLOURS; i++) {
        char chip[200];
        snprintf(chip, sizeof chip, "background-color:%s\">", colour[i]);
        assert_contains(out.s, chip);
    }
    strbuf_fini(&out);
    fake_result_fini(&r);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measures),
        cmocka_unit_test(colours_stand_out),
        cmocka_unit_test(colours_are_told_apart),
        cmocka_unit_test(the_page_has_the_same),
    };
    return cmocka_run_group_tests_name("palette", tests, NULL, NULL);
}
