/* SPDX-License-Identifier: MIT */
/* json_pull.c: numbers as text and back, and the pull parser. One pass over the bytes, nothing
 * copied: a token is two pointers into the text. What an object or array is, at each depth, is a
 * bit of a word; so nothing is allocated, and depth is bounded. See json_pull.h. */
#include "json_pull.h"
#include "utf8.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ----
 *
 * Up to 20 digits fit an integer; if it is exact in a double and the power of ten as well, one
 * multiplication rounds right (Clinger, How to read floating point numbers accurately, 1990).
 * Everything else goes through the C library, in the locale "C". */

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
        int digit = weft__hex_digit(*at);
        if (digit < 0) break;
        if (at - begin == 16) return NULL;
        out->magnitude = out->magnitude << 4 | (uint32_t)digit;
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

/* With `digits` at first, and as many more as it takes to read back the same. */
static size_t write_shortest(double value, bool is_float, int digits, char out[WEFT__NUMBER_BYTES])
{
    locale_t before = uselocale(c_locale());
    int length = 0;
    for (; digits <= (is_float ? 9 : 17); digits++) {
        length = snprintf(out, WEFT__NUMBER_BYTES, "%.*g", digits, value);
        if ((is_float ? (double)strtof(out, NULL) : strtod(out, NULL)) == value) break;
    }
    uselocale(before);
    return (size_t)length;
}

size_t weft__number_write(double value, bool is_float, char out[WEFT__NUMBER_BYTES])
{
    const double size = fabs(value), least_normal = is_float ? (double)FLT_MIN : DBL_MIN;
    const int digits = size < least_normal ? 1 : is_float ? 6 : 15;
    if (size >= (is_float ? 1e7 : 1e15) || !weft__number_is_whole(value))
        return write_shortest(value, is_float, digits, out);
    if (value == 0) return (size_t)snprintf(out, WEFT__NUMBER_BYTES, signbit(value) ? "-0.0" : "0");
    return (size_t)snprintf(out, WEFT__NUMBER_BYTES, "%lld", (long long)value);
}

/* ---- the parser ---- */

void weft__json_open(weft__json *json, const char *text, size_t count)
{
    *json = (weft__json){.start = text, .at = text, .end = text + count};
    if (count >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) json->at += 3; /* byte order mark */
}

static weft__json_token fail(weft__json *json, const char *at, const char *problem)
{
    if (json->problem == NULL) {
        json->problem = problem;
        json->at = at;
    }
    return (weft__json_token){.kind = WEFT__JSON_ERROR, .at = json->at, .end = json->at};
}

/* Blanks and comments. False: a comment without end. */
static bool skip_blanks(weft__json *json)
{
    const char *at = json->at, *end = json->end;
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) at++;
        json->at = at;
        if (end - at < 2 || *at != '/') return true;
        if (at[1] == '/') {
            const char *line = memchr(at, '\n', (size_t)(end - at));
            at = line == NULL ? end : line;
        } else if (at[1] == '*') {
            at += 2;
            while (end - at >= 2 && !(at[0] == '*' && at[1] == '/')) at++;
            if (end - at < 2) return false;
            at += 2;
        } else {
            return true;
        }
    }
}

bool weft__json_has_more(weft__json *json)
{
    return !skip_blanks(json) || json->at < json->end;
}

/* ---- strings ---- */

/* Four digits at `at`; -1: they are none. */
static int32_t hex_four(const char *at, const char *end)
{
    int32_t value = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = weft__hex_digit(at[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* The character of an escape that begins at `at` (the backslash), and where it ends; NULL: none. */
static const char *read_escape(const char *at, const char *end, uint32_t *character)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (end - at < 2) return NULL;
    const char *found = at[1] == '\0' ? NULL : strchr(names, at[1]);
    if (found != NULL) {
        *character = (unsigned char)values[found - names];
        return at + 2;
    }
    int32_t high = at[1] == 'u' ? hex_four(at + 2, end) : -1;
    if (high < 0 || (high >= 0xdc00 && high < 0xe000)) return NULL;
    *character = (uint32_t)high;
    if (high < 0xd800 || high >= 0xe000) return at + 6;
    int32_t low = end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? hex_four(at + 8, end) : -1;
    if (low < 0xdc00 || low >= 0xe000) return NULL;
    *character = 0x10000 + ((uint32_t)(high - 0xd800) << 10 | (uint32_t)(low - 0xdc00));
    return at + 12;
}

static uint32_t utf8_write(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    uint32_t bytes = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (uint32_t i = bytes - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(leads[bytes] | c);
    return bytes;
}

/* The token of a string whose first quote is at `at`. */
static weft__json_token read_string(weft__json *json, weft__json_kind kind)
{
    const char *at = json->at + 1, *end = json->end;
    weft__json_token token = {.kind = kind, .at = at};
    while (at < end && *at != '"') {
        unsigned char c = (unsigned char)*at;
        if (c == '\\') {
            uint32_t character;
            const char *after = read_escape(at, end, &character);
            if (after == NULL)
                return fail(json, at, "no escape of JSON: \\n, \\t, \\\", \\\\, \\u00e9 are some");
            token.has_escapes = true;
            at = after;
        } else if (c < 0x20) {
            return fail(json, at, "a string ends in the line it begins in: close it, or write \\n");
        } else if (c < 0x80) {
            at++;
        } else {
            uint64_t bytes = weft__utf8_sequence((const unsigned char *)at, (uint64_t)(end - at));
            if (bytes == 0) return fail(json, at, "not UTF-8: save the file as UTF-8");
            at += bytes;
        }
    }
    if (at == end) return fail(json, token.at - 1, "a string without its closing quote");
    token.end = at;
    json->at = at + 1;
    return token;
}

size_t weft__json_string(const weft__json_token *token, char *out, size_t capacity)
{
    size_t length = 0;
    for (const char *at = token->at; at < token->end;) {
        char piece[4] = {*at};
        uint32_t bytes = 1, character;
        if (*at == '\\') {
            at = read_escape(at, token->end, &character);
            bytes = utf8_write(character, piece);
        } else {
            at++;
        }
        for (uint32_t i = 0; i < bytes; i++, length++)
            if (length < capacity) out[length] = piece[i];
    }
    if (length < capacity) out[length] = '\0';
    return length;
}

bool weft__json_is(const weft__json_token *token, const char *string)
{
    size_t length = strlen(string), own = (size_t)(token->end - token->at);
    if (!token->has_escapes) return own == length && memcmp(token->at, string, length) == 0;
    char text[256];
    return weft__json_string(token, text, sizeof text) == length && length < sizeof text &&
           memcmp(text, string, length) == 0;
}

/* ---- tokens ---- */

static void value_ends(weft__json *json)
{
    json->state = json->depth == 0 ? WEFT__JSON_DONE : WEFT__JSON_COMMA;
}

static weft__json_token open_level(weft__json *json, bool is_object)
{
    weft__json_token token = {.kind = is_object ? WEFT__JSON_OBJECT : WEFT__JSON_ARRAY,
                              .at = json->at,
                              .end = json->at + 1};
    if (json->depth == WEFT_VALUE_DEPTH)
        return fail(json, json->at, "more than 64 objects and arrays within each other");
    uint64_t bit = UINT64_C(1) << json->depth++;
    json->is_object = is_object ? json->is_object | bit : json->is_object & ~bit;
    json->state = WEFT__JSON_FIRST;
    json->at++;
    return token;
}

static bool is_in_object(const weft__json *json)
{
    return json->depth != 0 && (json->is_object >> (json->depth - 1) & 1) != 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '+' || c == '-';
}

static weft__json_token read_word(weft__json *json)
{
    static const struct {
        const char *word;
        weft__json_kind kind;
    } words[] = {{"null", WEFT__JSON_NULL}, {"false", WEFT__JSON_FALSE}, {"true", WEFT__JSON_TRUE}};
    const char *at = json->at, *end = at;
    while (end < json->end && is_word(*end)) end++;
    weft__json_token token = {.at = at, .end = end};
    if (at < json->end && (*at == '-' || *at == '+' || *at == '.' || (*at >= '0' && *at <= '9'))) {
        token.kind = WEFT__JSON_NUMBER;
        if (weft__number_parse(at, end, &token.number) != end)
            return fail(json, at,
                        "no number: write 1, -2.5, 1e6, 0xff; with a unit in quotes: "
                        "\"400 km\"");
        json->at = end;
        value_ends(json);
        return token;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(end - at) != length || memcmp(at, words[i].word, length) != 0) continue;
        token.kind = words[i].kind;
        json->at = end;
        value_ends(json);
        return token;
    }
    if (at == json->end) return fail(json, at, "the text ends where a value should be");
    return fail(json, at, "no value: a word needs quotes, \"like this\"");
}

static weft__json_token read_value(weft__json *json)
{
    char c = json->at < json->end ? *json->at : '\0';
    if (c == '{' || c == '[') return open_level(json, c == '{');
    if (c != '"') return read_word(json);
    weft__json_token token = read_string(json, WEFT__JSON_STRING);
    if (token.kind == WEFT__JSON_STRING) value_ends(json);
    return token;
}

static weft__json_token read_name(weft__json *json)
{
    if (json->at == json->end || *json->at != '"')
        return fail(json, json->at, "a name in quotes should be here, or the end of the object: }");
    weft__json_token token = read_string(json, WEFT__JSON_NAME);
    if (token.kind == WEFT__JSON_ERROR) return token;
    if (!skip_blanks(json)) return fail(json, json->at, "a comment without end: */");
    if (json->at == json->end || *json->at != ':')
        return fail(json, json->at, "a colon should be here, between name and value");
    json->at++;
    json->state = WEFT__JSON_VALUE;
    return token;
}

weft__json_token weft__json_next(weft__json *json)
{
    if (json->problem != NULL) return fail(json, json->at, json->problem);
    if (!skip_blanks(json)) return fail(json, json->at, "a comment without end: */");
    char c = json->at < json->end ? *json->at : '\0';
    bool is_end = json->depth != 0 && c == (is_in_object(json) ? '}' : ']');
    if (json->state == WEFT__JSON_DONE) {
        if (json->at != json->end) return fail(json, json->at, "something behind the end");
        return (weft__json_token){.kind = WEFT__JSON_END, .at = json->at, .end = json->at};
    }
    if (json->state == WEFT__JSON_COMMA && !is_end) {
        if (c != ',')
            return fail(json, json->at,
                        is_in_object(json) ? "a comma or the end of the object should be here"
                                           : "a comma or the end of the array should be here");
        json->at++;
        json->state = WEFT__JSON_FIRST;
        return weft__json_next(json); /* one level: FIRST does not come back here */
    }
    if (json->state != WEFT__JSON_VALUE && is_end) {
        const weft__json_kind kind =
            is_in_object(json) ? WEFT__JSON_OBJECT_END : WEFT__JSON_ARRAY_END;
        json->depth--;
        json->at++;
        value_ends(json);
        return (weft__json_token){.kind = kind, .at = json->at - 1, .end = json->at};
    }
    if (json->state != WEFT__JSON_VALUE && is_in_object(json)) return read_name(json);
    return read_value(json);
}

bool weft__json_skip(weft__json *json, weft__json_token *token)
{
    if (token->kind == WEFT__JSON_ERROR) return false;
    if (token->kind != WEFT__JSON_OBJECT && token->kind != WEFT__JSON_ARRAY) return true;
    uint32_t depth = json->depth - 1;
    while (json->depth > depth) {
        *token = weft__json_next(json);
        if (token->kind == WEFT__JSON_ERROR) return false;
    }
    return true;
}
