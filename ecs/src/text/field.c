/* SPDX-License-Identifier: MIT */
/* field.c: sizes, numbers, units, names and leaves of described fields, and the check of a
 * description (weft_type_check). Nothing is kept: every question goes through the description
 * again, which is constant data of the program. See field.h. */
#include "field.h"
#include "bits.h"
#include "json_pull.h"
#include "text.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- kinds ---- */

#define KIND(name, word, number, bytes, class, numpy)                                              \
    [WEFT_FIELD_##name] = {word, number, bytes, WEFT__CLASS_##class},
const weft__kind weft__kinds[] = {WEFT_FIELD_KINDS(KIND)};

/* The compiler says which kind has no row. */
static __attribute__((unused)) void kinds_are_complete(weft_field_kind kind)
{
#define CASE(name, ...) case WEFT_FIELD_##name:
    switch (kind) {
        WEFT_FIELD_KINDS(CASE)
        break;
    }
}

bool weft__kind_is_number(weft_field_kind kind)
{
    weft__kind_class class = weft__class_of(kind);
    return class == WEFT__CLASS_SIGNED || class == WEFT__CLASS_UNSIGNED ||
           class == WEFT__CLASS_REAL;
}

bool weft__kind_of_number(uint32_t number, weft_field_kind *kind)
{
    uint32_t k = 0;
    while (k < WEFT__KIND_COUNT && weft__kinds[k].number != number) k++;
    *kind = (weft_field_kind)k;
    return k < WEFT__KIND_COUNT && number != WEFT__KIND_NONE;
}

bool weft__kind_of_class(weft__kind_class class, size_t bytes, weft_field_kind *kind)
{
    uint32_t k = 0;
    while (k < WEFT__KIND_COUNT && (weft__kinds[k].class != class || weft__kinds[k].bytes != bytes))
        k++;
    *kind = (weft_field_kind)k;
    return k < WEFT__KIND_COUNT;
}

/* ---- sizes ---- */

static bool is_whole(const weft_field *field)
{
    return field->kind == WEFT_FIELD_BYTES || field->kind == WEFT_FIELD_TEXT;
}

static size_t unit_size(const weft_field *field)
{
    size_t bytes = weft__kind_is(field->kind) ? weft__kinds[field->kind].bytes : 0;
    return bytes != 0 || field->type == NULL ? bytes : field->type->size;
}

static uint32_t unit_count(const weft_field *field)
{
    size_t size = unit_size(field);
    if (field->count != 0) return field->count;
    return field->bytes == 0 || size == 0 ? 1 : (uint32_t)(field->bytes / size);
}

size_t weft__field_size(const weft_field *field)
{
    return is_whole(field) ? unit_count(field) : unit_size(field);
}

uint32_t weft__field_count(const weft_field *field)
{
    return is_whole(field) ? 1 : unit_count(field);
}

uint32_t weft__field_length(const weft_field *field)
{
    return unit_count(field);
}

const weft_field *weft__type_sole(const weft_type *type)
{
    return type->field_count == 1 && type->fields[0].name[0] == '\0' ? &type->fields[0] : NULL;
}

/* Every supported machine is little-endian. */
uint64_t weft__integer_load(const void *at, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    return bits;
}

void weft__integer_store(void *at, size_t bytes, uint64_t bits)
{
    memcpy(at, &bits, bytes);
}

/* ---- numbers ---- */

weft__scalar weft__scalar_load(weft_field_kind kind, const void *at)
{
    const weft__kind *is = &weft__kinds[kind];
    weft__scalar n = {.is_real = is->class == WEFT__CLASS_REAL};
    if (n.is_real && is->bytes == 4) {
        float small;
        memcpy(&small, at, sizeof small);
        n.real = (double)small;
    } else if (n.is_real) {
        memcpy(&n.real, at, sizeof n.real);
    } else {
        uint32_t unused = 64 - 8u * is->bytes;
        bool is_signed = is->class == WEFT__CLASS_SIGNED;
        n.bits = weft__integer_load(at, is->bytes);
        if (is_signed) n.bits = (uint64_t)((int64_t)(n.bits << unused) >> unused);
        n.is_negative = is_signed && (int64_t)n.bits < 0;
    }
    return n;
}

/* A whole real number as an integer. */
static bool make_whole(weft__scalar *n)
{
    if (!n->is_real) return true;
    const double real = n->real;
    bool is_whole = fabs(real) >= 0x1p52 || weft__number_is_whole(real); /* no trunc: -lm */
    if (!is_whole || !(real >= -0x1p63 && real < 0x1p64)) return false;
    n->is_real = false;
    n->is_negative = real < 0;
    n->bits = n->is_negative ? (uint64_t)(int64_t)real : (uint64_t)real;
    return true;
}

static bool store_integer(const weft__kind *is, weft__scalar n, void *to)
{
    if (!make_whole(&n)) return false;
    bool is_signed = is->class == WEFT__CLASS_SIGNED;
    uint32_t bits = 8u * is->bytes - (is_signed ? 1 : 0);
    uint64_t most = is->class == WEFT__CLASS_BOOL ? 1 : UINT64_MAX >> (64 - bits);
    bool fits = n.is_negative ? is_signed && ~n.bits <= most : n.bits <= most;
    if (fits) weft__integer_store(to, is->bytes, n.bits);
    return fits;
}

bool weft__scalar_store(weft_field_kind kind, weft__scalar n, void *to)
{
    const weft__kind *is = &weft__kinds[kind];
    if (is->class != WEFT__CLASS_REAL) return store_integer(is, n, to);
    double real = weft__scalar_real(n);
    if (isnan(real)) real = (double)NAN; /* what a processor keeps of its bits differs */
    float small = (float)real;
    bool is_small = is->bytes == 4;
    if (n.is_real && is_small && isfinite(real) && !isfinite(small)) return false;
    weft__scalar back = {.real = is_small ? (double)small : real, .is_real = true};
    if (!n.is_real && (!make_whole(&back) || back.bits != n.bits)) return false;
    if (is_small)
        memcpy(to, &small, sizeof small);
    else
        memcpy(to, &real, sizeof real);
    return true;
}

/* ---- units ----
 *
 * A factor and exponents. Base and derived units of the SI (BIPM, The International System of
 * Units, 9th edition, tables 2, 4, 7 and 8); angles and turns are numbers (1 rev = 2 pi rad). A
 * name is looked for first as it is, then behind a prefix. */

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

/* ---- names ---- */

bool weft__name_is_plain(const char *name, const char *without)
{
    const char *c = name;
    unsigned char all = 0; /* bytes */
    for (; (unsigned char)*c >= 0x20 && *c != 0x7f; c++) all |= (unsigned char)*c;
    if (*c != '\0' || strpbrk(name, without) != NULL) return false;
    return all < 0x80 ? c - name <= 255 : weft__name_fits(name, 255);
}

static bool has_name(const weft_field *field, const char *name, size_t length)
{
    return strncmp(field->name, name, length) == 0 && field->name[length] == '\0';
}

uint32_t weft__field_find(const weft_type *type, const char *name, size_t length, uint32_t hint)
{
    if (hint < type->field_count && has_name(&type->fields[hint], name, length)) return hint;
    for (uint32_t i = 0; i < type->field_count; i++)
        if (has_name(&type->fields[i], name, length)) return i;
    return UINT32_MAX;
}

/* A visit in progress. On the stack of weft__type_leaves; the path grows and shrinks. */
typedef struct visiting {
    weft__leaf_visit *visit;
    void *user;
    char path[512];
} visiting;

/* Depth: WEFT_TYPE_DEPTH at most, as weft_type_check says. */
static bool visit_fields(visiting *v, const weft_type *type, uint32_t offset, size_t length)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *field = &type->fields[i];
        weft__text t = {v->path, sizeof v->path, length};
        if (length != 0 && field->name[0] != '\0') weft__text_add_bytes(&t, ".", 1);
        weft__text_add_bytes(&t, field->name, strlen(field->name));
        size_t named = t.length < sizeof v->path ? t.length : sizeof v->path - 1;
        bool is_struct = field->kind == WEFT_FIELD_STRUCT;
        if (!is_struct && !v->visit(field, offset + field->offset, v->path, v->user)) return false;
        uint32_t count = is_struct ? weft__field_count(field) : 0;
        for (uint32_t k = 0; k < count; k++) {
            weft__text element = {v->path, sizeof v->path, named};
            if (count > 1) weft__text_add(&element, "[%u]", k);
            size_t inner = element.length < sizeof v->path ? element.length : sizeof v->path - 1;
            uint32_t at = offset + field->offset + k * (uint32_t)field->type->size;
            if (!visit_fields(v, field->type, at, inner)) return false;
        }
    }
    return true;
}

bool weft__type_leaves(const weft_type *type, weft__leaf_visit *visit, void *user)
{
    visiting v = {.visit = visit, .user = user};
    return visit_fields(&v, type, 0, 0);
}

/* ---- checks ---- */

/* One check. On the stack of weft_type_check. */
typedef struct checking {
    weft_error *error; /* NULL: not asked for */
    uint64_t leaves;
} checking;

static weft_result refuse(checking *c, weft_result result, const weft_type *type,
                          const weft_field *field, const char *what)
{
    const char *name = field == NULL ? "" : field->name == NULL ? "without a name" : field->name;
    weft__error_fill(c->error, result, "type %s%s%s: %s",
                     type == NULL || type->name == NULL ? "without a name" : type->name,
                     field == NULL ? "" : ": field ", name, what);
    if (c->error != NULL && field != NULL)
        weft__error_name(c->error->path, sizeof c->error->path, name);
    return result;
}

static bool is_integer_size(size_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* What is wrong with the constants of a type; NULL: nothing. */
static const char *constants_problem(const weft_type *type)
{
    if (type->constant_count != 0 && type->constants == NULL)
        return "constant_count is not 0, but constants is NULL: set both";
    for (uint32_t i = 0; i < type->constant_count; i++) {
        const char *name = type->constants[i].name;
        if (name == NULL || name[0] == '\0' || !weft__name_is_plain(name, "| \"\\") ||
            (name[0] >= '0' && name[0] <= '9') || name[0] == '-')
            return "a constant needs a name of UTF-8, 1 to 255 bytes without blanks, quotes and "
                   "'|', no digit first";
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(type->constants[k].name, name) == 0) return "two constants have one name";
    }
    return NULL;
}

const char *weft__field_range_problem(const weft_field *field)
{
    const char *begin = field->unit;
    weft__unit unit;
    if (begin != NULL && !weft__unit_parse(begin, begin + strlen(begin), &unit, NULL))
        return "an unknown unit: use those of docs/guide/types.md, as in \"km\", \"kg m/s^2\"";
    if (!(field->least <= field->most))
        return "`least` is above `most`, or one is no number: exchange or set them";
    return NULL;
}

/* What is wrong with a field by itself; NULL: nothing. */
static const char *field_problem(const weft_type *type, const weft_field *field)
{
    if (!weft__kind_is(field->kind)) return "an unknown kind: use one of weft_field_kind";
    weft__kind_class class = weft__class_of(field->kind);
    bool is_named_integer = class == WEFT__CLASS_ENUM || class == WEFT__CLASS_BITS;
    bool needs_type = weft__kinds[field->kind].bytes == 0 ||
                      (class == WEFT__CLASS_IN_BLOB && field->kind != WEFT_FIELD_BLOB_STRING);
    if (needs_type && field->type == NULL) return "its kind needs a `type`: use WEFT_FIELD_OF";
    if (is_named_integer &&
        (field->type->constant_count == 0 || !is_integer_size(field->type->size)))
        return "its type must have constants and the size of an integer: use WEFT_TYPE_CONSTANTS";
    if (unit_size(field) == 0) return "its type has size 0: leave the field out";
    uint64_t bytes = (uint64_t)unit_size(field) * unit_count(field);
    if (unit_count(field) == 0 || (field->bytes != 0 && bytes != field->bytes))
        return "`bytes` is not a multiple of the size of its elements: check its kind and type";
    if (field->offset > type->size || bytes > type->size - field->offset)
        return "it reaches beyond the type: check offset, count and bytes";
    const char *problem = weft__field_range_problem(field);
    if (problem != NULL) return problem;
    return is_named_integer ? constants_problem(field->type) : NULL;
}

static const char *name_problem(const weft_type *type, uint32_t index)
{
    const char *name = type->fields[index].name;
    if (name == NULL) return "give it a name";
    if (!weft__name_is_plain(name, ".[]\"\\"))
        return "its name is longer than 255 bytes or not UTF-8, or has one of . [ ] \" \\ or a "
               "control character";
    if (name[0] == '\0' && type->field_count != 1)
        return "only the sole field of a type may be without a name";
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(type->fields[i].name, name) == 0) return "two fields have this name";
    return NULL;
}

static weft_result check_type(checking *c, const weft_type *type, uint32_t depth)
{
    if (type == NULL) return refuse(c, WEFT_INVALID_ARGUMENT, NULL, NULL, "the type is NULL");
    if (depth > WEFT_TYPE_DEPTH)
        return refuse(c, WEFT_LIMIT, type, NULL,
                      "more than 8 types within each other, or a type within itself");
    if (!weft__name_fits(type->name, 255))
        return refuse(c, WEFT_INVALID_ARGUMENT, type, NULL,
                      "give it a name of 1 to 255 bytes of UTF-8");
    if (type->size > UINT32_MAX || type->alignment > 64 ||
        (type->alignment != 0 && !bits_is_power_of_two(type->alignment)))
        return refuse(c, WEFT_INVALID_ARGUMENT, type, NULL,
                      "size or alignment cannot be: use WEFT_TYPE");
    if (type->field_count != 0 && type->fields == NULL)
        return refuse(c, WEFT_INVALID_ARGUMENT, type, NULL,
                      "field_count is not 0, but fields is NULL: set both");
    if (type->field_count > WEFT_TYPE_FIELDS)
        return refuse(c, WEFT_LIMIT, type, NULL, "more than 1,024 fields: nest them in structs");
    const char *problem = constants_problem(type);
    if (problem != NULL) return refuse(c, WEFT_INVALID_ARGUMENT, type, NULL, problem);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const weft_field *field = &type->fields[i];
        problem = name_problem(type, i);
        if (problem == NULL) problem = field_problem(type, field);
        if (problem != NULL) return refuse(c, WEFT_INVALID_ARGUMENT, type, field, problem);
        uint64_t before = c->leaves++;
        if (field->kind == WEFT_FIELD_STRUCT) {
            weft_result result = check_type(c, field->type, depth + 1);
            if (result != WEFT_OK) return result;
            c->leaves = before + (c->leaves - before) * weft__field_count(field);
        }
        if (c->leaves > WEFT_TYPE_LEAVES)
            return refuse(c, WEFT_LIMIT, type, field,
                          "the type has more than 65,536 values: describe arrays of numbers as one "
                          "field");
    }
    return WEFT_OK;
}

weft_result weft_type_check(const weft_type *type, weft_error *error)
{
    checking c = {.error = error};
    if (error != NULL) *error = (weft_error){0};
    return check_type(&c, type, 1);
}
