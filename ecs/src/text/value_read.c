/* SPDX-License-Identifier: MIT */
/* value_read.c: text into described values. See weft/value.h. A value is read into a copy, which
 * takes its place when all of it was right. Tokens come from json_pull.c; each (numbers with units,
 * integers, names of constants, references, text and bytes) is checked in full before anything is
 * stored. */
#include "value_read.h"
#include "field.h"
#include "text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

#define LINE_BYTES 120 /* of the text that are shown */

static void write_trail(weft_error *error, const weft__trail *trail)
{
    weft__text t = {error->path, sizeof error->path, 0};
    weft__text_add(&t, "%s", trail->root == NULL ? "value" : trail->root->name);
    for (uint32_t i = 0; i < trail->count; i++) {
        const char *name = trail->steps[i].field->name;
        if (name[0] != '\0') weft__text_add(&t, ".%s", name);
        if (trail->steps[i].index != UINT32_MAX) weft__text_add(&t, "[%u]", trail->steps[i].index);
    }
}

static bool is_lead(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

uint64_t weft__text_place(const weft_text *text, const char *at)
{
    uint64_t line = 1, column = 1;
    for (const char *c = text->bytes; c < at; c++) {
        column += is_lead(*c);
        if (*c != '\n') continue;
        line++;
        column = 1;
    }
    return line << 32 | column;
}

/* The line of the text, cut where it is long, and a caret under the place. */
static void add_line(weft__text *t, const weft_text *text, const char *at)
{
    const char *end = text->bytes + text->count, *begin = at;
    while (begin > text->bytes && begin[-1] != '\n' && at - begin < LINE_BYTES / 2) begin--;
    while (begin < at && !is_lead(*begin)) begin++;
    const char *stop = at;
    while (stop < end && *stop != '\n' && *stop != '\r' && stop - begin < LINE_BYTES) stop++;
    while (stop < end && stop > at && !is_lead(*stop)) stop--;
    weft__text_add(t, "\n    ");
    for (const char *c = begin; c < stop; c++)
        weft__text_add(t, "%c", (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c);
    weft__text_add(t, "\n    ");
    for (const char *c = begin; c < at; c++)
        if (is_lead(*c)) weft__text_add(t, " ");
    weft__text_add(t, "^");
}

void weft__value_error(weft_error *error, const weft_text *text, const char *at,
                       const weft__trail *trail, const char *format, ...)
{
    char what[256];
    if (error == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    *error = (weft_error){.code = WEFT_INVALID_ARGUMENT};
    write_trail(error, trail);
    weft__text t = {error->text, sizeof error->text, 0};
    const char *file = text == NULL ? "" : text->file == NULL ? "text" : text->file;
    weft__error_name(error->file, sizeof error->file, file);
    bool has_place = text != NULL && at != NULL;
    if (has_place) {
        uint64_t place = weft__text_place(text, at);
        error->line = (uint32_t)(place >> 32);
        error->column = (uint32_t)place;
        weft__text_add(&t, "%.160s:%u:%u: ", file, error->line, error->column);
    }
    weft__text_add(&t, "%s: %s", error->path, what);
    if (has_place) add_line(&t, text, at);
}

/* Levenshtein's distance (1966) of two short words, 3 when it is more than 2. */
static uint32_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    enum { MOST = 32 };
    uint32_t row[MOST + 1];
    size_t difference = a_length > b_length ? a_length - b_length : b_length - a_length;
    if (a_length > MOST || b_length > MOST || difference > 2) return 3;
    for (uint32_t k = 0; k <= b_length; k++) row[k] = k;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t k = 1; k <= b_length; k++) {
            uint32_t change = diagonal + (a[i - 1] != b[k - 1]);
            uint32_t least = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
            diagonal = row[k];
            row[k] = change < least ? change : least;
        }
    }
    return row[b_length] > 2 ? 3 : row[b_length];
}

const char *weft__name_like(const char *const *names, size_t stride, uint32_t count,
                            const char *word, size_t length)
{
    const char *best = NULL;
    uint32_t least = 3;
    for (uint32_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride, sizeof name);
        uint32_t found = distance(name, strlen(name), word, length);
        if (found < least && found < length) {
            least = found;
            best = name;
        }
    }
    return best;
}

/* ---- what a type allows ---- */

static bool in_range(const weft_field *field, double value)
{
    double bounds[] = {field->least, field->most};
    if (!(bounds[0] < bounds[1])) return true;
    for (uint32_t i = 0; i < 2 && weft__class_of(field->kind) == WEFT__CLASS_REAL; i++) {
        uint64_t bits = 0; /* the float 0.1 is above the double 0.1 */
        const weft__scalar n = {.real = bounds[i], .is_real = true};
        if (weft__scalar_store(field->kind, n, &bits))
            bounds[i] = weft__scalar_load(field->kind, &bits).real;
    }
    return value >= bounds[0] && value <= bounds[1];
}

static bool type_allows(weft__trail *trail, weft_error *error, const weft_type *type,
                        const char *value);

static bool field_allows(weft__trail *trail, weft_error *error, const weft_field *field,
                         const char *at)
{
    uint32_t count = weft__field_count(field);
    size_t size = weft__field_size(field);
    bool is_bool = field->kind == WEFT_FIELD_BOOL;
    bool has_range = is_bool || (weft__kind_is_number(field->kind) && field->least < field->most);
    if (!has_range && field->kind != WEFT_FIELD_STRUCT) return true;
    trail->steps[trail->count].field = field;
    trail->count++;
    for (uint32_t k = 0; k < count; k++) {
        trail->steps[trail->count - 1].index = count > 1 ? k : UINT32_MAX;
        if (!has_range) {
            if (!type_allows(trail, error, field->type, at + k * size)) return false;
            continue;
        }
        double number = weft__scalar_real(weft__scalar_load(field->kind, at + k * size));
        if (is_bool ? number <= 1 : in_range(field, number)) continue;
        weft__value_error(error, NULL, NULL, trail, "%g is not in the range %g to %g", number,
                          is_bool ? 0 : field->least, is_bool ? 1 : field->most);
        return false;
    }
    trail->count--;
    return true;
}

/* Depth: WEFT_TYPE_DEPTH. */
static bool type_allows(weft__trail *trail, weft_error *error, const weft_type *type,
                        const char *value)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!field_allows(trail, error, &type->fields[i], value + type->fields[i].offset))
            return false;
    const char *refusal = type->check == NULL ? NULL : type->check(value);
    if (refusal == NULL) return true;
    weft__value_error(error, NULL, NULL, trail, "%s", refusal);
    return false;
}

weft_result weft_value_check(const weft_type *type, const void *value, weft_error *error)
{
    weft__trail trail = {.root = type};
    if (error != NULL) *error = (weft_error){0};
    if (type == NULL || value == NULL)
        return weft__error_fill(error, WEFT_INVALID_ARGUMENT,
                                "weft_value_check: type or value is NULL: give both");
    return type_allows(&trail, error, type, value) ? WEFT_OK : WEFT_INVALID_ARGUMENT;
}

/* ---- words ---- */

bool weft__reading_name(weft__reading *r, const weft__json_token *token, weft__reading_names *seen)
{
    if (token->kind != WEFT__JSON_NAME) return false;
    const int bytes = (int)(token->end - token->at);
    for (uint32_t i = 0; i < seen->count; i++)
        if (strncmp(seen->at[i], token->at, (size_t)bytes + 1) == 0) /* with the quote behind it */
            return weft__reading_fail(r, token->at - 1, "\"%.*s\" stands here twice: remove one",
                                      bytes, token->at);
    if (seen->count < 16) seen->at[seen->count++] = token->at;
    return true;
}

static bool is_plain_string(const weft__json_token *token)
{
    return token->kind == WEFT__JSON_STRING && !token->has_escapes;
}

/* The kind of fields that a token names. False: there is none. */
static bool word_kind(const weft__json_token *token, weft_field_kind *kind)
{
    uint32_t k = 0;
    if (token->kind != WEFT__JSON_STRING) return false;
    while (k < WEFT__KIND_COUNT && !weft__json_is(token, weft__kinds[k].word)) k++;
    *kind = (weft_field_kind)k;
    return k < WEFT__KIND_COUNT;
}

/* Whether an exact integer fits the kind; stores it. */
static bool store_integer(weft_field_kind kind, const weft__number *number, void *at)
{
    weft__scalar n = {.is_negative = number->is_negative && number->magnitude != 0};
    n.bits = n.is_negative ? 0 - number->magnitude : number->magnitude;
    return weft__scalar_store(kind, n, at);
}

/* The exact integer that a number is, also one like 1e3; false: it has a fraction, or is beyond
 * what doubles count exactly. */
static bool make_exact(weft__number *number)
{
    double value = number->value;
    if (number->is_exact) return true;
    if (!weft__number_is_whole(value)) return false;
    number->is_negative = value < 0;
    number->magnitude = (uint64_t)fabs(value);
    number->is_exact = true;
    return true;
}

/* ---- numbers ---- */

static bool store_special(weft__reading *r, const weft_field *field, const weft__json_token *token,
                          void *at)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"nan", (double)NAN}, {"inf", (double)INFINITY}, {"-inf", -(double)INFINITY}};
    const uint64_t all = UINT64_MAX >> (65 - 8 * weft__field_size(field)); /* but for the sign */
    for (size_t i = 0; i < 3; i++)
        if (weft__json_is(token, words[i].word)) {
            const weft__scalar n = {.real = words[i].value, .is_real = true};
            return weft__scalar_store(field->kind, n, at);
        }
    weft__number number;
    bool is_number = token->end - token->at > 4 && memcmp(token->at, "nan ", 4) == 0 &&
                     weft__number_parse(token->at + 4, token->end, &number) == token->end &&
                     number.is_exact && !number.is_negative;
    if (!is_number || number.magnitude >> 1 > all ||
        (number.magnitude & all) <= weft__scalar_bits(field->kind, (double)INFINITY))
        return weft__reading_fail(r, token->at,
                                  "no number: write 1.5, \"400 km\", \"nan\", "
                                  "\"inf\" or \"-inf\"");
    weft__integer_store(at, weft__field_size(field), number.magnitude);
    return true;
}

/* "400 km": the number in the unit of the field. */
static bool convert(weft__reading *r, const weft_field *field, const char *at, const char *end,
                    weft__number *number)
{
    weft__unit given, own;
    char is[64], must[64];
    const char *problem = at;
    if (field->unit == NULL)
        return weft__reading_fail(r, at, "the field has no unit: write the number alone");
    if (!weft__unit_parse(at, end, &given, &problem))
        return weft__reading_fail(r, problem, "\"%.*s\" is no unit: the field is in %s",
                                  (int)(end - problem), problem, field->unit);
    weft__unit_parse(field->unit, field->unit + strlen(field->unit), &own, NULL);
    if (!weft__unit_is_alike(&given, &own)) {
        weft__unit_describe(&given, is, sizeof is);
        weft__unit_describe(&own, must, sizeof must);
        return weft__reading_fail(r, at, "\"%.*s\" is %s, the field %s (%s)", (int)(end - at), at,
                                  is, must, field->unit);
    }
    if (given.factor == own.factor) return true;
    number->value = number->value * (given.factor / own.factor);
    number->is_exact = false;
    if (fabs(number->value) < 1e15) { /* 0.4 km is 400 m, not 400.00000000000006 */
        double half = number->value < 0 ? -0.5 : 0.5;
        double nearest = (double)(int64_t)(number->value + half);
        if (fabs(number->value - nearest) <= 1e-14 * fabs(nearest)) number->value = nearest;
    }
    return true;
}

/* The number of a token, converted. */
static bool read_number(weft__reading *r, const weft_field *field, const weft__json_token *token,
                        weft__number *number)
{
    if (token->kind == WEFT__JSON_NUMBER) {
        *number = token->number;
        return true;
    }
    if (!is_plain_string(token)) return weft__reading_fail(r, token->at, "a number should be here");
    const char *end = weft__number_parse(token->at, token->end, number);
    if (end == NULL)
        return weft__reading_fail(r, token->at, "no number: write 1.5, or \"400 km\" with a unit");
    while (end < token->end && *end == ' ') end++;
    return end == token->end || convert(r, field, end, token->end, number);
}

static bool store_float(weft__reading *r, const weft_field *field, const weft__json_token *token,
                        const weft__number *number, void *at)
{
    weft__scalar n = {.real = number->value, .is_real = true};
    if (token->kind == WEFT__JSON_NUMBER && weft__kinds[field->kind].bytes <= sizeof(float))
        n.real = (double)weft__number_float(number, token->at, token->end);
    if (!isinf(n.real) && weft__scalar_store(field->kind, n, at)) return true;
    return weft__reading_fail(r, token->at, "beyond the range of %s",
                              weft__kinds[field->kind].word);
}

static bool is_in_range(weft__reading *r, const weft_field *field, const weft__json_token *token,
                        double value)
{
    return in_range(field, value) ||
           weft__reading_fail(r, token->at, "%g is not in the range %g to %g", value, field->least,
                              field->most);
}

static bool word_number(weft__reading *r, const weft_field *field, const weft__json_token *token,
                        void *at)
{
    weft__number number;
    char real[8]; /* a float or double is in its range as it will stand */
    size_t bytes = weft__kinds[field->kind].bytes;
    bool is_float = weft__class_of(field->kind) == WEFT__CLASS_REAL;
    bool is_word = is_plain_string(token) && is_float && token->at < token->end &&
                   (token->at[0] == 'n' || token->end[-1] == 'f');
    if (is_word ? !store_special(r, field, token, real) : !read_number(r, field, token, &number))
        return false;
    if (is_float) {
        if ((!is_word && !store_float(r, field, token, &number, real)) ||
            !is_in_range(r, field, token, weft__scalar_real(weft__scalar_load(field->kind, real))))
            return false;
        memcpy(at, real, bytes);
        return true;
    }
    if (!is_in_range(r, field, token, number.value)) return false;
    if (!make_exact(&number)) return weft__reading_fail(r, token->at, "an integer should be here");
    if (store_integer(field->kind, &number, at)) return true;
    return weft__reading_fail(r, token->at, "does not fit %s of %zu bits",
                              weft__class_of(field->kind) == WEFT__CLASS_SIGNED
                                  ? "a signed integer"
                                  : "an unsigned integer",
                              8 * bytes);
}

bool weft__word_bool(weft__reading *r, const weft__json_token *token, void *at)
{
    bool is_bit = token->kind == WEFT__JSON_NUMBER && token->number.is_exact &&
                  !token->number.is_negative && token->number.magnitude <= 1;
    if (token->kind != WEFT__JSON_TRUE && token->kind != WEFT__JSON_FALSE && !is_bit)
        return weft__reading_fail(r, token->at, "true or false should be here");
    weft__integer_store(at, 1, is_bit ? token->number.magnitude : token->kind == WEFT__JSON_TRUE);
    return true;
}

/* ---- constants ---- */

static bool find_constant(const weft_type *type, const char *at, const char *end, uint64_t *bits)
{
    size_t length = (size_t)(end - at);
    for (uint32_t i = 0; i < type->constant_count; i++)
        if (strlen(type->constants[i].name) == length &&
            memcmp(type->constants[i].name, at, length) == 0) {
            *bits = (uint64_t)type->constants[i].value;
            return true;
        }
    return false;
}

static bool unknown_constant(weft__reading *r, const weft_type *type, const char *at,
                             const char *end)
{
    const char *like = weft__name_like(&type->constants->name, sizeof type->constants[0],
                                       type->constant_count, at, (size_t)(end - at));
    return weft__reading_fail(r, at, "\"%.*s\" is none of %s%s%s%s", (int)(end - at), at,
                              type->name, like == NULL ? ", e.g. \"" : ": is \"",
                              like == NULL ? type->constants[0].name : like,
                              like == NULL ? "\"" : "\" meant?");
}

static bool store_number_of(weft__reading *r, const weft_type *type, const weft__json_token *token,
                            void *at)
{
    weft__number number = token->number;
    weft_field_kind kind;
    bool is_there = weft__kind_of_class(
        number.is_negative ? WEFT__CLASS_SIGNED : WEFT__CLASS_UNSIGNED, type->size, &kind);
    if (is_there && make_exact(&number) && store_integer(kind, &number, at)) return true;
    return weft__reading_fail(r, token->at, "does not fit an integer of %zu bits", 8 * type->size);
}

static bool word_enum(weft__reading *r, const weft_field *field, const weft__json_token *token,
                      void *at)
{
    uint64_t bits;
    if (token->kind == WEFT__JSON_NUMBER) return store_number_of(r, field->type, token, at);
    if (!is_plain_string(token))
        return weft__reading_fail(r, token->at, "a name of %s should be here, e.g. \"%s\"",
                                  field->type->name, field->type->constants[0].name);
    if (!find_constant(field->type, token->at, token->end, &bits))
        return unknown_constant(r, field->type, token->at, token->end);
    weft__integer_store(at, field->type->size, bits);
    return true;
}

/* "a | b | 0x40" */
static bool word_bits(weft__reading *r, const weft_field *field, const weft__json_token *token,
                      void *at)
{
    const weft_type *type = field->type;
    uint64_t all = 0, most = type->size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * type->size) - 1;
    if (token->kind == WEFT__JSON_NUMBER) return store_number_of(r, type, token, at);
    if (!is_plain_string(token))
        return weft__reading_fail(r, token->at, "names of %s should be here, e.g. \"%s\"",
                                  type->name, type->constants[0].name);
    for (const char *word = token->at; word < token->end;) {
        while (word < token->end && (*word == ' ' || *word == '|')) word++;
        const char *end = word;
        while (end < token->end && *end != ' ' && *end != '|') end++;
        if (end == word) break;
        uint64_t bits;
        weft__number number;
        if (find_constant(type, word, end, &bits)) {
            all |= bits & most;
        } else if (weft__number_parse(word, end, &number) == end && number.is_exact &&
                   !number.is_negative && number.magnitude <= most) {
            all |= number.magnitude;
        } else {
            return unknown_constant(r, type, word, end);
        }
        word = end;
    }
    weft__integer_store(at, type->size, all);
    return true;
}

/* ---- references ---- */

/* "index:version" */
const char *weft__word_parse_entity(const char *word, size_t length, weft_entity *out)
{
    const char *end = word + length, *colon = memchr(word, ':', length);
    weft__number index, version;
    if (colon == NULL || weft__number_parse(word, colon, &index) != colon ||
        weft__number_parse(colon + 1, end, &version) != end || !index.is_exact ||
        !version.is_exact || index.is_negative || version.is_negative ||
        index.magnitude > UINT32_MAX || version.magnitude > UINT32_MAX)
        return "no entity: write \"index:version\", or null";
    *out = (weft_entity){(uint32_t)index.magnitude, (uint32_t)version.magnitude};
    return NULL;
}

static const char *parse_blob(const char *word, size_t length, weft_blob_ref *out)
{
    weft__number number;
    if (weft__number_parse(word, word + length, &number) != word + length || !number.is_exact ||
        number.is_negative)
        return "no blob: write the number of its handle, or null";
    out->id = number.magnitude;
    return NULL;
}

/* A word in quotes, or null, into a reference of 8 bytes. */
static bool word_reference(weft__reading *r, const weft__json_token *token, bool is_blob, void *at)
{
    char word[WEFT__WORD_BYTES];
    const char *problem = NULL;
    weft_entity entity = {0, 0};
    weft_blob_ref blob = {0};
    if (token->kind != WEFT__JSON_NULL) {
        if (token->kind != WEFT__JSON_STRING)
            return weft__reading_fail(r, token->at,
                                      "%s should be here, as a word in quotes, or null",
                                      is_blob ? "a blob" : "an entity");
        size_t length = weft__json_string(token, word, sizeof word);
        if (length >= WEFT__WORD_BYTES)
            return weft__reading_fail(r, token->at, "the word is longer than %d bytes",
                                      WEFT__WORD_BYTES - 1);
        if (is_blob)
            problem = r->io->read_blob != NULL ? r->io->read_blob(word, length, &blob, r->io->user)
                                               : parse_blob(word, length, &blob);
        else
            problem = r->io->read_entity != NULL
                          ? r->io->read_entity(word, length, &entity, r->io->user)
                          : weft__word_parse_entity(word, length, &entity);
        if (problem != NULL) return weft__reading_fail(r, token->at, "%s", problem);
    }
    memcpy(at, is_blob ? (const void *)&blob : &entity, sizeof entity);
    return true;
}

bool weft__word_entity(weft__reading *r, const weft__json_token *token, void *at)
{
    return word_reference(r, token, false, at);
}

static bool word_text(weft__reading *r, const weft__json_token *token, char *at, size_t size)
{
    if (token->kind != WEFT__JSON_STRING)
        return weft__reading_fail(r, token->at, "text in quotes should be here");
    size_t length = weft__json_string(token, NULL, 0);
    if (length > size)
        return weft__reading_fail(r, token->at, "the text has %zu bytes, the field room for %zu",
                                  length, size);
    weft__json_string(token, at, size);
    memset(at + length, 0, size - length);
    if (memchr(at, 0, length) != NULL)
        return weft__reading_fail(r, token->at, "text of a field ends at its first NUL (\\u0000)");
    return true;
}

bool weft__word_bytes(weft__reading *r, const weft__json_token *token, char *at, size_t size)
{
    bool is_hex = is_plain_string(token) && (size_t)(token->end - token->at) == 2 + 2 * size &&
                  memcmp(token->at, "0x", 2) == 0;
    for (size_t i = 0; is_hex && i < size; i++) {
        int high = weft__hex_digit(token->at[2 + 2 * i]),
            low = weft__hex_digit(token->at[3 + 2 * i]);
        is_hex = high >= 0 && low >= 0;
        if (is_hex) at[i] = (char)(high << 4 | low);
    }
    return is_hex || weft__reading_fail(r, token->at,
                                        "%zu bytes should be here, as \"0x\" and %zu "
                                        "digits",
                                        size, 2 * size);
}

#define SMALL_BYTES 1024

/* ---- tokens ---- */

weft__json_token weft__reading_next(weft__reading *r)
{
    weft__json_token token = weft__json_next(&r->json);
    if (token.kind == WEFT__JSON_ERROR)
        (void)weft__reading_fail(r, token.at, "%s", r->json.problem);
    return token;
}

bool weft__reading_skip(weft__reading *r)
{
    weft__json_token token = weft__reading_next(r);
    if (token.kind == WEFT__JSON_ERROR) return false;
    return weft__json_skip(&r->json, &token) ||
           weft__reading_fail(r, token.at, "%s", r->json.problem);
}

bool weft__reading_open(weft__reading *r, weft__json_kind kind, const char *what)
{
    weft__json_token token = weft__reading_next(r);
    if (token.kind == kind) return true;
    return token.kind != WEFT__JSON_ERROR &&
           weft__reading_fail(r, token.at, "%s should be here", what);
}

bool weft__reading_keep(weft__reading *r, weft__json_kind kind, const char *what, weft__json *out)
{
    if (!weft__reading_open(r, kind, what)) return false;
    *out = r->json;
    weft__json_token end = {.kind = kind};
    return weft__json_skip(&r->json, &end) || weft__reading_fail(r, end.at, "%s", r->json.problem);
}

bool weft__reading_string(weft__reading *r, char *out, size_t capacity, const char *what)
{
    weft__json_token token = weft__reading_next(r);
    if (token.kind == WEFT__JSON_ERROR) return false;
    if (token.kind != WEFT__JSON_STRING)
        return weft__reading_fail(r, token.at, "%s should be here: \"...\"", what);
    size_t length = weft__json_string(&token, out, capacity);
    if (length < capacity && memchr(out, 0, length) == NULL) return true;
    return weft__reading_fail(r, token.at, "%s of at most %zu bytes, without NULs, should be here",
                              what, capacity - 1);
}

bool weft__reading_number(weft__reading *r, weft_field_kind kind, void *out)
{
    const weft_field field = {.name = "", .kind = kind, .count = 1};
    weft__json_token token = weft__reading_next(r);
    return token.kind != WEFT__JSON_ERROR && word_number(r, &field, &token, out);
}

bool weft__reading_words(weft__reading *r, const char *const *words, uint32_t count,
                         const char *refusal, uint32_t *bits)
{
    if (!weft__reading_open(r, WEFT__JSON_ARRAY, "an array of words")) return false;
    for (;;) {
        weft__json_token token = weft__reading_next(r);
        if (token.kind == WEFT__JSON_ARRAY_END) return true;
        if (token.kind == WEFT__JSON_ERROR) return false;
        uint32_t bit = token.kind == WEFT__JSON_STRING ? 0 : count;
        while (bit < count && !weft__json_is(&token, words[bit])) bit++;
        if (bit == count) return weft__reading_fail(r, token.at, "%s", refusal);
        *bits |= 1u << bit;
    }
}

/* ---- one value ---- */

/* {"bytes": "0x..."}, maybe with a size: what is not described, or no text. */
static bool read_bytes_object(weft__reading *r, char *at, size_t size)
{
    for (weft__json_token token = weft__reading_next(r); token.kind != WEFT__JSON_OBJECT_END;
         token = weft__reading_next(r)) {
        if (token.kind != WEFT__JSON_NAME) return false;
        weft__json_token value = weft__reading_next(r);
        if (value.kind == WEFT__JSON_ERROR) return false;
        if (weft__json_is(&token, "bytes")) {
            if (!weft__word_bytes(r, &value, at, size)) return false;
        } else if (!weft__json_is(&token, "size") || value.kind != WEFT__JSON_NUMBER) {
            return weft__reading_fail(r, token.at, "here are only \"bytes\" and \"size\"");
        }
    }
    return true;
}

static bool read_one(weft__reading *r, const weft_field *field, char *at,
                     const weft__json_token *token)
{
    switch (weft__class_of(field->kind)) {
    case WEFT__CLASS_BOOL:
        return weft__word_bool(r, token, at);
    case WEFT__CLASS_SIGNED:
    case WEFT__CLASS_UNSIGNED:
    case WEFT__CLASS_REAL:
        return word_number(r, field, token, at);
    case WEFT__CLASS_ENTITY:
        return word_reference(r, token, false, at);
    case WEFT__CLASS_BLOB:
        return word_reference(r, token, true, at);
    case WEFT__CLASS_STRUCT:
        return weft__reading_value(r, field->type, at, token);
    case WEFT__CLASS_ENUM:
        return word_enum(r, field, token, at);
    case WEFT__CLASS_BITS:
        return word_bits(r, field, token, at);
    case WEFT__CLASS_TEXT:
        return token->kind == WEFT__JSON_OBJECT ? read_bytes_object(r, at, weft__field_size(field))
                                                : word_text(r, token, at, weft__field_size(field));
    case WEFT__CLASS_BYTES:
        return weft__word_bytes(r, token, at, weft__field_size(field));
    case WEFT__CLASS_IN_BLOB:
        break;
    }
    return weft__reading_fail(r, token->at,
                              "a field inside a blob: build the blob (weft_blob_builder_create)");
}

/* Arrays have all their elements: which ones a shorter list means, it does not say. */
static bool read_array(weft__reading *r, const weft_field *field, char *at, uint32_t count,
                       const weft__json_token *token)
{
    size_t size = weft__field_size(field);
    uint32_t *index = &r->trail.steps[r->trail.count - 1].index;
    if (token->kind != WEFT__JSON_ARRAY)
        return weft__reading_fail(r, token->at, "an array of %u should be here: [...]", count);
    weft__json_token element = weft__reading_next(r);
    for (uint32_t k = 0; k < count; k++, element = weft__reading_next(r)) {
        if (element.kind == WEFT__JSON_ERROR) return false;
        *index = k;
        if (element.kind == WEFT__JSON_ARRAY_END)
            return weft__reading_fail(r, element.at,
                                      "the array has %u elements, this is the end "
                                      "after %u",
                                      count, k);
        if (!read_one(r, field, at + k * size, &element)) return false;
    }
    *index = UINT32_MAX;
    if (element.kind == WEFT__JSON_ERROR) return false;
    if (element.kind == WEFT__JSON_ARRAY_END) return true;
    return weft__reading_fail(r, element.at, "the array has only %u elements", count);
}

static bool read_elements(weft__reading *r, const weft_field *field, char *at, uint32_t count,
                          const weft__json_token *token)
{
    weft__trail *trail = &r->trail;
    trail->steps[trail->count].field = field;
    trail->steps[trail->count].index = UINT32_MAX;
    trail->count++;
    bool is_read =
        count == 1 ? read_one(r, field, at, token) : read_array(r, field, at, count, token);
    if (is_read) trail->count--;
    return is_read;
}

/* ---- structs ---- */

static bool unknown_field(weft__reading *r, const weft_type *type, const weft__json_token *token)
{
    const char *like =
        weft__name_like(&type->fields->name, sizeof type->fields[0], type->field_count, token->at,
                        (size_t)(token->end - token->at));
    return weft__reading_fail(r, token->at - 1, "no field \"%.*s\" in %s%s%s%s",
                              (int)(token->end - token->at), token->at, type->name,
                              like == NULL ? "" : ": is \"", like == NULL ? "" : like,
                              like == NULL ? "" : "\" meant?");
}

static uint32_t field_of(const weft_type *type, const weft__json_token *token, uint32_t hint)
{
    char name[256];
    if (!token->has_escapes)
        return weft__field_find(type, token->at, (size_t)(token->end - token->at), hint);
    size_t length = weft__json_string(token, name, sizeof name);
    return length < sizeof name ? weft__field_find(type, name, length, hint) : UINT32_MAX;
}

static bool read_members(weft__reading *r, const weft_type *type, char *value)
{
    uint64_t seen[WEFT_TYPE_FIELDS / 64] = {0};
    uint32_t hint = 0;
    for (weft__json_token token = weft__reading_next(r); token.kind != WEFT__JSON_OBJECT_END;
         token = weft__reading_next(r)) {
        if (token.kind != WEFT__JSON_NAME) return false;
        uint32_t found = field_of(type, &token, hint);
        if (found == UINT32_MAX) return unknown_field(r, type, &token);
        if ((seen[found / 64] >> found % 64 & 1) != 0)
            return weft__reading_fail(r, token.at - 1, "\"%s\" stands here twice: remove one",
                                      type->fields[found].name);
        seen[found / 64] |= UINT64_C(1) << found % 64;
        hint = found + 1;
        const weft_field *field = &type->fields[found];
        token = weft__reading_next(r);
        if (token.kind == WEFT__JSON_ERROR ||
            !read_elements(r, field, value + field->offset, weft__field_count(field), &token))
            return false;
    }
    return true;
}

bool weft__reading_value(weft__reading *r, const weft_type *type, char *value,
                         const weft__json_token *token)
{
    const char *at = token->at;
    const weft_field *sole = weft__type_sole(type);
    bool is_read;
    if (sole != NULL)
        is_read = read_elements(r, sole, value + sole->offset, weft__field_count(sole), token);
    else if (token->kind != WEFT__JSON_OBJECT)
        is_read = weft__reading_fail(r, at, "an object should be here: {\"%s\": ...}",
                                     type->field_count == 0 ? "bytes" : type->fields[0].name);
    else if (type->field_count == 0 && type->size != 0)
        is_read = read_bytes_object(r, value, type->size);
    else
        is_read = read_members(r, type, value);
    const char *refusal = is_read && type->check != NULL ? type->check(value) : NULL;
    return refusal == NULL ? is_read : weft__reading_fail(r, at, "%s", refusal);
}

/* ---- the whole text ---- */

static weft_result read_copy(weft__reading *r, const weft_type *type, const weft_path *path,
                             char *value, size_t bytes)
{
    _Alignas(64) char small[SMALL_BYTES];
    char *copy = small, *large = NULL;
    if (bytes > sizeof small) {
        large = malloc(bytes + 64); /* checks of the program may want the alignment */
        if (large == NULL) return WEFT_OUT_OF_MEMORY;
        copy = large + (64 - (uintptr_t)large % 64) % 64;
    }
    memcpy(copy, value, bytes);
    weft__json_open(&r->json, r->text->bytes, r->text->count);
    weft__json_token token = weft__reading_next(r);
    bool is_read = token.kind != WEFT__JSON_ERROR;
    if (is_read && path == NULL) is_read = weft__reading_value(r, type, copy, &token);
    if (is_read && path != NULL) is_read = read_elements(r, path->field, copy, path->count, &token);
    if (is_read) is_read = weft__reading_next(r).kind == WEFT__JSON_END;
    weft_result result = is_read ? WEFT_OK : r->result;
    if (result == WEFT_OK) memcpy(value, copy, bytes);
    free(large);
    return result;
}

/* One reading of a text into a value, or with a path into one within it. */
static weft_result read_text(const weft_value_io *io, const weft_text *text, const weft_type *type,
                             const weft_path *path, void *value, weft_error *error)
{
    static const weft_value_io plain = {.indent = 0};
    const char *what = path == NULL ? "weft_value_parse" : "weft_path_value_parse";
    if (error != NULL) *error = (weft_error){0};
    if (text == NULL || type == NULL || value == NULL || text->bytes == NULL ||
        (path != NULL && path->field == NULL))
        return weft__error_fill(error, WEFT_INVALID_ARGUMENT,
                                "%s: text, type, path or value is NULL: give them", what);
    weft__reading r = {.io = io == NULL ? &plain : io,
                       .text = text,
                       .error = error,
                       .result = WEFT_INVALID_ARGUMENT,
                       .trail.root = type};
    weft_result result = path == NULL ? read_copy(&r, type, NULL, value, type->size)
                                      : read_copy(&r, type, path, (char *)value + path->offset,
                                                  (size_t)path->bytes * path->count);
    if (result == WEFT_OUT_OF_MEMORY) weft__error_fill(error, result, "%s: out of memory", what);
    return result;
}

weft_result weft_value_parse(const weft_value_io *io, const weft_text *text, const weft_type *type,
                             void *value, weft_error *error)
{
    return read_text(io, text, type, NULL, value, error);
}

weft_result weft_path_value_parse(const weft_value_io *io, const weft_text *text,
                                  const weft_type *type, const weft_path *path, void *value,
                                  weft_error *error)
{
    static const weft_path none = {0};
    return read_text(io, text, type, path == NULL ? &none : path, value, error);
}

void weft_value_initial(const weft_type *type, void *value)
{
    if (type == NULL || value == NULL) return;
    if (type->initial != NULL)
        memcpy(value, type->initial, type->size);
    else
        memset(value, 0, type->size);
}

/* ---- descriptions as text and back ----
 */

static const char *const flag_words[] = {"read only", "hidden", "colour"};
enum { FLAG_WORDS = sizeof flag_words / sizeof flag_words[0] };

/* ---- writing ---- */

static void put_string(weft__text *t, const char *name, const char *string)
{
    if (string == NULL) return;
    weft__text_add(t, ", \"%s\": ", name);
    weft__text_add_quoted(t, string);
}

static void put_limit(weft__text *t, const char *name, double value)
{
    char number[WEFT__NUMBER_BYTES];
    if (!isfinite(value)) {
        put_string(t, name, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    weft__number_write(value, false, number);
    weft__text_add(t, ", \"%s\": %s", name, number);
}

static void put_flags(weft__text *t, uint32_t flags)
{
    bool is_first = true;
    if (flags == 0) return;
    weft__text_add(t, ", \"flags\": [");
    for (uint32_t i = 0; i < FLAG_WORDS; i++) {
        if ((flags >> i & 1) == 0) continue;
        weft__text_add(t, "%s\"%s\"", is_first ? "" : ", ", flag_words[i]);
        is_first = false;
    }
    weft__text_add(t, "]");
}

static void put_type(weft__text *t, const weft_type *type);

static void put_field(weft__text *t, const weft_field *field)
{
    weft__text_add(t, "{\"name\": ");
    weft__text_add_quoted(t, field->name);
    weft__text_add(t, ", \"kind\": \"%s\", \"offset\": %u, \"count\": %u",
                   weft__kinds[field->kind].word, field->offset, weft__field_length(field));
    put_string(t, "unit", field->unit);
    put_string(t, "text", field->text);
    if (field->least < field->most || field->least > field->most) {
        put_limit(t, "least", field->least);
        put_limit(t, "most", field->most);
    }
    put_flags(t, field->flags);
    if (field->type != NULL) {
        weft__text_add(t, ", \"type\": ");
        put_type(t, field->type);
    }
    weft__text_add(t, "}");
}

static void put_type(weft__text *t, const weft_type *type)
{
    weft__text_add(t, "{\"name\": ");
    weft__text_add_quoted(t, type->name);
    weft__text_add(t, ", \"size\": %zu, \"alignment\": %zu", type->size, type->alignment);
    if (type->initial != NULL) {
        weft__text_add(t, ", \"initial\": ");
        weft__text_add_hexadecimal(t, type->initial, type->size);
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        weft__text_add(t, i == 0 ? ", \"fields\": [" : ", ");
        put_field(t, &type->fields[i]);
    }
    if (type->field_count != 0) weft__text_add(t, "]");
    for (uint32_t i = 0; i < type->constant_count; i++) {
        weft__text_add(t, i == 0 ? ", \"constants\": [{\"name\": " : "}, {\"name\": ");
        weft__text_add_quoted(t, type->constants[i].name);
        weft__text_add(t, ", \"value\": %" PRId64, type->constants[i].value);
    }
    if (type->constant_count != 0) weft__text_add(t, "}]");
    weft__text_add(t, "}");
}

size_t weft__type_write(const weft_type *type, char *text, size_t capacity)
{
    weft__text t = {text, capacity, 0};
    put_type(&t, type);
    return t.length;
}

/* On the stack of weft__type_read. */
typedef struct builder {
    weft__reading *r;
    weft__pile *pile;
} builder;

static bool read_text_member(builder *b, void *to)
{
    const char **out = to;
    weft__json_token token = weft__reading_next(b->r);
    if (token.kind != WEFT__JSON_STRING)
        return token.kind != WEFT__JSON_ERROR &&
               weft__reading_fail(b->r, token.at, "a string should be here");
    size_t bytes = weft__json_string(&token, NULL, 0);
    char *string = weft__pile_take(b->pile, bytes + 1, 1);
    if (string == NULL) return false;
    weft__json_string(&token, string, bytes + 1);
    *out = string;
    return memchr(string, 0, bytes) == NULL ||
           weft__reading_fail(b->r, token.at, "a string without NULs should be here");
}

/* The elements of an array, behind its opening bracket, counted; the parser stays there. */
static bool count_elements(builder *b, uint32_t *count)
{
    weft__json first = b->r->json;
    for (*count = 0;; ++*count) {
        weft__json_token token = weft__reading_next(b->r);
        if (token.kind == WEFT__JSON_ARRAY_END) break;
        if (token.kind == WEFT__JSON_ERROR) return false;
        if (!weft__json_skip(&b->r->json, &token))
            return weft__reading_fail(b->r, token.at, "%s", b->r->json.problem);
    }
    b->r->json = first;
    return true;
}

/* ---- reading: descriptions ---- */

/* A member of an object of a description, and where its value goes. Constant. */
typedef struct member {
    const char *name;
    size_t offset;
    bool (*read)(builder *b, void *to); /* NULL: a number of `kind` */
    weft_field_kind kind;
} member;

/* The members of an object, behind its opening bracket, each once. */
static bool type_members(builder *b, const member *all, uint32_t count, const char *what, void *to)
{
    for (weft__reading_names seen = {.count = 0};;) {
        weft__json_token name = weft__reading_next(b->r);
        uint32_t i = 0;
        if (name.kind == WEFT__JSON_OBJECT_END) return true;
        if (!weft__reading_name(b->r, &name, &seen)) return false;
        while (i < count && !weft__json_is(&name, all[i].name)) i++;
        if (i == count) return weft__reading_fail(b->r, name.at - 1, "%s has no such member", what);
        void *at = (char *)to + all[i].offset;
        if (all[i].read == NULL ? !weft__reading_number(b->r, all[i].kind, at)
                                : !all[i].read(b, at))
            return false;
    }
}

static bool read_flags(builder *b, void *to)
{
    return weft__reading_words(b->r, flag_words, FLAG_WORDS, "no such word: \"read only\", ...",
                               to);
}

static bool read_kind(builder *b, void *to)
{
    weft_field_kind *kind = to;
    weft__json_token token = weft__reading_next(b->r);
    if (token.kind == WEFT__JSON_ERROR) return false;
    return (word_kind(&token, kind) && weft__class_of(*kind) != WEFT__CLASS_IN_BLOB) ||
           weft__reading_fail(b->r, token.at, "no kind of fields: \"f32\", \"u8\", ...");
}

static bool read_type(builder *b, weft_type *type);

static bool read_inner(builder *b, void *to)
{
    weft_type *inner = weft__pile_take(b->pile, 1, sizeof *inner);
    *(const weft_type **)to = inner;
    return inner != NULL && weft__reading_open(b->r, WEFT__JSON_OBJECT, "a description") &&
           read_type(b, inner);
}

static const member field_members[] = {
    {"name", offsetof(weft_field, name), read_text_member, 0},
    {"kind", offsetof(weft_field, kind), read_kind, 0},
    {"offset", offsetof(weft_field, offset), NULL, WEFT_FIELD_U32},
    {"count", offsetof(weft_field, count), NULL, WEFT_FIELD_U32},
    {"unit", offsetof(weft_field, unit), read_text_member, 0},
    {"text", offsetof(weft_field, text), read_text_member, 0},
    {"least", offsetof(weft_field, least), NULL, WEFT_FIELD_F64},
    {"most", offsetof(weft_field, most), NULL, WEFT_FIELD_F64},
    {"flags", offsetof(weft_field, flags), read_flags, 0},
    {"type", offsetof(weft_field, type), read_inner, 0},
};
static const member constant_members[] = {
    {"name", offsetof(weft_constant, name), read_text_member, 0},
    {"value", offsetof(weft_constant, value), NULL, WEFT_FIELD_I64},
};

/* Objects of `size` bytes that begin with their name, behind the opening bracket; NULL: failed. */
static void *read_list(builder *b, const member *members, uint32_t member_count, const char *what,
                       size_t size, uint32_t *count)
{
    if (!count_elements(b, count)) return NULL;
    char *all = weft__pile_take(b->pile, *count, size);
    for (uint32_t i = 0; i < *count && all != NULL; i++) {
        *(const char **)(void *)(all + i * size) = "";
        if (!weft__reading_open(b->r, WEFT__JSON_OBJECT, what) ||
            !type_members(b, members, member_count, what, all + i * size))
            return NULL;
    }
    return weft__reading_open(b->r, WEFT__JSON_ARRAY_END, "the end of the array") ? all : NULL;
}

/* Behind the opening bracket. */
static bool read_fields(builder *b, weft_type *type)
{
    type->fields = read_list(b, field_members, sizeof field_members / sizeof *field_members,
                             "a field", sizeof *type->fields, &type->field_count);
    return type->fields != NULL;
}

static bool read_field_array(builder *b, void *type)
{
    return weft__reading_open(b->r, WEFT__JSON_ARRAY, "an array") && read_fields(b, type);
}

static bool read_constants(builder *b, void *to)
{
    weft_type *type = to;
    if (!weft__reading_open(b->r, WEFT__JSON_ARRAY, "an array")) return false;
    type->constants = read_list(b, constant_members, 2, "a constant", sizeof *type->constants,
                                &type->constant_count);
    return type->constants != NULL;
}

static bool read_initial(builder *b, void *to)
{
    weft_type *type = to;
    weft__json_token token = weft__reading_next(b->r);
    if (token.kind == WEFT__JSON_ERROR) return false;
    if (token.kind != WEFT__JSON_STRING || (size_t)(token.end - token.at) / 2 < type->size)
        return weft__reading_fail(b->r, token.at,
                                  "the bytes of the whole value should be here, behind its size: "
                                  "\"0x00...\"");
    char *initial = weft__pile_take(b->pile, type->size, 1);
    type->initial = initial;
    return initial != NULL && weft__word_bytes(b->r, &token, initial, type->size);
}

static bool read_type(builder *b, weft_type *type)
{
    static const member members[] = {
        {"name", offsetof(weft_type, name), read_text_member, 0},
        {"size", offsetof(weft_type, size), NULL, WEFT_FIELD_U64},
        {"alignment", offsetof(weft_type, alignment), NULL, WEFT_FIELD_U64},
        {"fields", 0, read_field_array, 0},
        {"constants", 0, read_constants, 0},
        {"initial", 0, read_initial, 0},
    };
    static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes are read as u64");
    *type = (weft_type){.name = ""};
    return type_members(b, members, sizeof members / sizeof *members, "a description", type);
}

bool weft__type_read(weft__reading *r, weft__pile *pile, weft_type *out)
{
    return read_type(&(builder){r, pile}, out);
}

bool weft__type_read_fields(weft__reading *r, weft__pile *pile, weft_type *out)
{
    return read_fields(&(builder){r, pile}, out);
}
