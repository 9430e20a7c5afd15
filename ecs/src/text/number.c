/* SPDX-License-Identifier: MIT */
/* number.c: see number.h. Up to 20 digits fit an integer; if it is exact in a double and the power
 * of ten as well, one multiplication rounds right (Clinger, How to read floating point numbers
 * accurately, 1990). Everything else goes through the C library, in the locale "C". */
#include "number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_POWER 22
#define EXACT_DIGITS (UINT64_C(1) << 53)

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Costs nothing for "C": the C library has it ready. Freeing it is not needed. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static bool is_digit(char c)
{
    return (unsigned)(c - '0') < 10;
}

/* What has been read so far of a decimal number. On the stack of weft__number_parse. */
typedef struct reading {
    uint64_t digits; /* as many as fit */
    int32_t power;   /* of ten, for `digits` */
    bool has_digits;
    bool is_cut; /* digits were left out */
} reading;

static const char *read_digits(reading *r, const char *at, const char *end, bool is_fraction)
{
    for (; at < end && is_digit(*at); at++) {
        uint32_t digit = (uint32_t)(*at - '0');
        r->has_digits = true;
        if (!r->is_cut && r->digits <= (UINT64_MAX - digit) / 10) {
            r->digits = r->digits * 10 + digit;
            r->power -= is_fraction;
        } else {
            r->is_cut = true;
            r->power += !is_fraction;
        }
    }
    return at;
}

static const char *read_exponent(reading *r, const char *at, const char *end)
{
    int32_t exponent = 0;
    const char *begin = at++;
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || !is_digit(*at)) return begin; /* "1e" is 1 and something else */
    for (; at < end && is_digit(*at); at++)
        if (exponent < 100000) exponent = exponent * 10 + (*at - '0');
    r->power += is_negative ? -exponent : exponent;
    return at;
}

/* No double or float needs more significant digits to be rounded right: the rest only says whether
 * the number is a little more. */
enum { DIGITS = 800, NUMBER_MOST = 1024 };

/* A text that rounds as the unsigned decimal number at `at` does. */
static void shorten(const char *at, const char *end, char text[NUMBER_MOST])
{
    reading r = {.power = 0};
    size_t length = 0;
    bool is_fraction = false;
    for (; at < end && (is_digit(*at) || *at == '.'); at++) {
        if (*at == '.') {
            is_fraction = true;
        } else if (length < DIGITS) {
            if (length != 0 || *at != '0') text[length++] = *at;
            r.power -= is_fraction;
        } else {
            r.is_cut = r.is_cut || *at != '0';
            r.power += !is_fraction;
        }
    }
    if (at < end) read_exponent(&r, at, end);
    if (r.is_cut) text[length++] = '1';
    if (length == 0) text[length++] = '0';
    snprintf(text + length, NUMBER_MOST - length, "e%d", (int)(r.power - r.is_cut));
}

/* The C library reads what is not exact. */
static void text_of(const char *at, const char *end, char text[NUMBER_MOST])
{
    const size_t length = (size_t)(end - at);
    if (length >= NUMBER_MOST) {
        shorten(at, end, text);
        return;
    }
    memcpy(text, at, length);
    text[length] = '\0';
}

static double read_slowly(const char *at, const char *end)
{
    char text[NUMBER_MOST];
    text_of(at, end, text);
    return strtod_l(text, NULL, c_locale());
}

static const char *parse_hexadecimal(const char *at, const char *end, weft__number *out)
{
    const char *begin = at;
    for (; at < end; at++) {
        char c = *at;
        uint32_t digit = is_digit(c)              ? (uint32_t)(c - '0')
                         : (c >= 'a' && c <= 'f') ? (uint32_t)(c - 'a') + 10
                         : (c >= 'A' && c <= 'F') ? (uint32_t)(c - 'A') + 10
                                                  : 16;
        if (digit == 16) break;
        if (at - begin == 16) return NULL;
        out->magnitude = out->magnitude << 4 | digit;
    }
    out->is_exact = true;
    out->value = out->is_negative ? -(double)out->magnitude : (double)out->magnitude;
    return at == begin ? NULL : at;
}

const char *weft__number_parse(const char *at, const char *end, weft__number *out)
{
    *out = (weft__number){.is_negative = at < end && *at == '-'};
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *unsigned_part = at;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        return parse_hexadecimal(at + 2, end, out);
    reading r = {.power = 0};
    at = read_digits(&r, at, end, false);
    bool is_integer = !r.is_cut;
    if (at < end && *at == '.') {
        at = read_digits(&r, at + 1, end, true);
        is_integer = false;
    }
    if (!r.has_digits) return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) {
        const char *after = read_exponent(&r, at, end);
        is_integer = is_integer && after == at;
        at = after;
    }
    out->magnitude = r.digits;
    out->is_exact = is_integer;
    bool is_short = !r.is_cut && r.digits <= EXACT_DIGITS;
    if (is_short && r.power >= 0 && r.power <= EXACT_POWER)
        out->value = (double)r.digits * powers[r.power];
    else if (is_short && r.power < 0 && r.power >= -EXACT_POWER)
        out->value = (double)r.digits / powers[-r.power];
    else
        out->value = read_slowly(unsigned_part, at);
    if (out->is_negative) out->value = -out->value;
    return at;
}

float weft__number_float(const weft__number *number, const char *at, const char *end)
{
    uint64_t bits;
    memcpy(&bits, &number->value, sizeof bits);
    bool is_between = (bits & 0x1fffffff) == 0x10000000; /* rounded to it, or exactly there */
    double magnitude = fabs(number->value);
    bool is_normal = magnitude >= 1.2e-38 && magnitude <= 3.4e38;
    if ((is_normal && !is_between) || number->value == 0) return (float)number->value;
    char text[NUMBER_MOST];
    const bool has_sign = *at == '-' || *at == '+';
    text_of(at + has_sign, end, text);
    const float value = strtof_l(text, NULL, c_locale());
    return number->is_negative ? -value : value;
}

/* ---- writing ---- */

static size_t write_integer(double value, char out[WEFT__NUMBER_BYTES])
{
    if (value == 0) return (size_t)snprintf(out, WEFT__NUMBER_BYTES, signbit(value) ? "-0.0" : "0");
    return (size_t)snprintf(out, WEFT__NUMBER_BYTES, "%lld", (long long)value);
}

size_t weft__number_write(double value, char out[WEFT__NUMBER_BYTES])
{
    if (fabs(value) < 1e15 && weft__number_is_whole(value)) return write_integer(value, out);
    locale_t before = uselocale(c_locale());
    int length = 0;
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        length = snprintf(out, WEFT__NUMBER_BYTES, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    uselocale(before);
    return (size_t)length;
}

size_t weft__number_write_float(float value, char out[WEFT__NUMBER_BYTES])
{
    if (fabsf(value) < 1e7f && weft__number_is_whole((double)value))
        return write_integer((double)value, out);
    locale_t before = uselocale(c_locale());
    int length = 0;
    for (int digits = fabsf(value) < FLT_MIN ? 1 : 6; digits <= 9; digits++) {
        length = snprintf(out, WEFT__NUMBER_BYTES, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value) break;
    }
    uselocale(before);
    return (size_t)length;
}
