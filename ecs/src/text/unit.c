/* SPDX-License-Identifier: MIT */
/* unit.c: units of measurement as a factor and exponents. Base and derived units of the SI (BIPM,
 * The International System of Units, 9th edition, tables 2, 4, 7 and 8); angles and turns are
 * numbers (1 rev = 2 pi rad). A name is looked for first as it is, then behind a prefix. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

/* A unit with a name. Constant. */
typedef struct named_unit {
    const char *name;
    double factor;
    int8_t exponents[WEFT__UNIT_BASES];
    bool has_prefixes;
} named_unit;

static const named_unit units[] = {
    {"m", 1, {1}, true},
    {"g", 1e-3, {0, 1}, true},
    {"s", 1, {0, 0, 1}, true},
    {"A", 1, {0, 0, 0, 1}, true},
    {"K", 1, {0, 0, 0, 0, 1}, true},
    {"mol", 1, {0, 0, 0, 0, 0, 1}, true},
    {"cd", 1, {0, 0, 0, 0, 0, 0, 1}, true},
    {"Hz", 1, {0, 0, -1}, true},
    {"N", 1, {1, 1, -2}, true},
    {"Pa", 1, {-1, 1, -2}, true},
    {"J", 1, {2, 1, -2}, true},
    {"W", 1, {2, 1, -3}, true},
    {"C", 1, {0, 0, 1, 1}, true},
    {"V", 1, {2, 1, -3, -1}, true},
    {"F", 1, {-2, -1, 4, 2}, true},
    {"ohm", 1, {2, 1, -3, -2}, true},
    {"T", 1, {0, 1, -2, -1}, true},
    {"Wb", 1, {2, 1, -2, -1}, true},
    {"H", 1, {2, 1, -2, -2}, true},
    {"eV", 1.602176634e-19, {2, 1, -2}, true},
    {"l", 1e-3, {3}, true},
    {"t", 1e3, {0, 1}, true},
    {"bar", 1e5, {-1, 1, -2}, true},
    {"min", 60, {0, 0, 1}, false},
    {"h", 3600, {0, 0, 1}, false},
    {"day", 86400, {0, 0, 1}, false},
    {"d", 86400, {0, 0, 1}, false},
    {"year", 31557600, {0, 0, 1}, false}, /* Julian */
    {"au", 149597870700.0, {1}, false},
    {"ly", 9460730472580800.0, {1}, false},
    {"ft", 0.3048, {1}, false},
    {"mi", 1609.344, {1}, false},
    {"nmi", 1852, {1}, false},
    {"kn", 1852.0 / 3600, {1, 0, -1}, false},
    {"ha", 1e4, {2}, false},
    {"rad", 1, {0}, true},
    {"rev", 2 * PI, {0}, false},
    {"deg", PI / 180, {0}, false},
    {"arcmin", PI / 180 / 60, {0}, false},
    {"arcsec", PI / 180 / 3600, {0}, false},
    {"%", 0.01, {0}, false},
    {"1", 1, {0}, false},
};

/* A prefix. Constant. */
typedef struct prefix {
    const char *name;
    double factor;
} prefix;

static const prefix prefixes[] = {{"da", 1e1}, {"h", 1e2},  {"k", 1e3},   {"M", 1e6},  {"G", 1e9},
                                  {"T", 1e12}, {"P", 1e15}, {"d", 1e-1},  {"c", 1e-2}, {"m", 1e-3},
                                  {"u", 1e-6}, {"n", 1e-9}, {"p", 1e-12}, {"f", 1e-15}};

static const named_unit *find_unit(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return &units[i];
    return NULL;
}

/* A word: a unit, else a prefix and a unit. */
static const named_unit *find_word(const char *word, size_t length, double *factor)
{
    *factor = 1;
    const named_unit *found = find_unit(word, length);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0] && found == NULL; i++) {
        size_t used = strlen(prefixes[i].name);
        if (used >= length || memcmp(prefixes[i].name, word, used) != 0) continue;
        found = find_unit(word + used, length - used);
        if (found != NULL && !found->has_prefixes) found = NULL;
        *factor = prefixes[i].factor;
    }
    return found;
}

/* "^2", "^-1", or nothing. False: no power. */
static bool read_power(const char **at, const char *end, int32_t *power)
{
    *power = 1;
    if (*at == end || **at != '^') return true;
    (*at)++;
    bool is_negative = *at < end && **at == '-';
    if (is_negative) (*at)++;
    if (*at == end || **at < '1' || **at > '9') return false;
    *power = **at - '0';
    (*at)++;
    if (is_negative) *power = -*power;
    return *at == end || **at < '0' || **at > '9';
}

static bool multiply(weft__unit *unit, const named_unit *by, double factor, int32_t power)
{
    double each = power > 0 ? by->factor * factor : 1 / (by->factor * factor);
    for (int32_t i = power < 0 ? -power : power; i > 0; i--) unit->factor *= each;
    for (uint32_t i = 0; i < WEFT__UNIT_BASES; i++) {
        int32_t exponent = unit->exponents[i] + by->exponents[i] * power;
        if (exponent < -100 || exponent > 100) return false;
        unit->exponents[i] = (int8_t)exponent;
    }
    return true;
}

static bool is_between(char c)
{
    return c == ' ' || c == '*' || c == '/' || c == '^';
}

bool weft__unit_parse(const char *at, const char *end, weft__unit *out, const char **problem)
{
    *out = (weft__unit){.factor = 1};
    bool is_divided = false;
    const char *sign = NULL; /* the last * or /, while no unit has followed */
    while (at < end) {
        if (is_between(*at) && *at != '^') {
            is_divided = is_divided || *at == '/'; /* all that follows, as in "J/kg K" */
            if (*at != ' ' && sign != NULL) break;
            if (*at != ' ') sign = at;
            at++;
            continue;
        }
        const char *word = at;
        sign = NULL;
        while (at < end && !is_between(*at)) at++;
        double factor;
        int32_t power;
        const named_unit *found = find_word(word, (size_t)(at - word), &factor);
        if (found == NULL || !read_power(&at, end, &power) ||
            !multiply(out, found, factor, is_divided ? -power : power)) {
            if (problem != NULL) *problem = word;
            return false;
        }
    }
    if (sign != NULL && problem != NULL) *problem = sign;
    return sign == NULL;
}

bool weft__unit_is_alike(const weft__unit *a, const weft__unit *b)
{
    return memcmp(a->exponents, b->exponents, sizeof a->exponents) == 0;
}

void weft__unit_describe(const weft__unit *unit, char *text, size_t capacity)
{
    static const struct {
        int8_t exponents[WEFT__UNIT_BASES];
        const char *name;
    } known[] = {{{0}, "a number or an angle"},
                 {{1}, "a length"},
                 {{2}, "an area"},
                 {{3}, "a volume"},
                 {{0, 1}, "a mass"},
                 {{0, 0, 1}, "a time"},
                 {{0, 0, -1}, "a rate"},
                 {{1, 0, -1}, "a speed"},
                 {{1, 0, -2}, "an acceleration"},
                 {{1, 1, -2}, "a force"},
                 {{2, 1, -2}, "an energy"},
                 {{0, 0, 0, 0, 1}, "a temperature"}};
    static const char *const bases[WEFT__UNIT_BASES] = {"m", "kg", "s", "A", "K", "mol", "cd"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (memcmp(known[i].exponents, unit->exponents, sizeof unit->exponents) == 0) {
            snprintf(text, capacity, "%s", known[i].name);
            return;
        }
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < WEFT__UNIT_BASES && length < capacity; i++)
        if (unit->exponents[i] != 0)
            length += (size_t)snprintf(text + length, capacity - length, "%s%s^%d",
                                       length == 0 ? "" : " ", bases[i], unit->exponents[i]);
}
