/* SPDX-License-Identifier: MIT */
/* value_error.c: what is wrong with a value: the place in the text as line and column, the path of
 * the field, the line with a caret, names that are nearly right; and what a type allows (ranges,
 * check functions). See value_error.h. */
#include "value_error.h"

#include "field.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 120 /* of the text that are shown */

static void write_trail(weft_value_error *error, const weft__trail *trail)
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

static void find_place(weft_value_error *error, const weft_text *text, const char *at)
{
    error->offset = (size_t)(at - text->bytes);
    error->line = error->column = 1;
    for (const char *c = text->bytes; c < at; c++) {
        error->column += is_lead(*c);
        if (*c != '\n') continue;
        error->line++;
        error->column = 1;
    }
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

void weft__value_error(weft_value_error *error, const weft_text *text, const char *at,
                       const weft__trail *trail, const char *format, ...)
{
    char what[256];
    if (error == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    *error = (weft_value_error){.offset = 0};
    write_trail(error, trail);
    weft__text t = {error->text, sizeof error->text, 0};
    bool has_place = text != NULL && at != NULL;
    if (has_place) {
        find_place(error, text, at);
        weft__text_add(&t, "%.160s:%u:%u: ", text->file == NULL ? "text" : text->file, error->line,
                       error->column);
    }
    weft__text_add(&t, "%s: %s", error->path, what);
    if (has_place) add_line(&t, text, at);
}

/* ---- names that are nearly right ---- */

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

bool weft__in_range(const weft_field *field, double value)
{
    double least = field->least, most = field->most;
    if (!(least < most)) return true;
    if (weft__class_of(field->kind) == WEFT__CLASS_REAL &&
        weft__field_size(field) == 4) { /* the float 0.1 is above the double 0.1 */
        least = (double)(float)least;
        most = (double)(float)most;
    }
    return value >= least && value <= most;
}

static bool is_number(weft_field_kind kind)
{
    weft__kind_class class = weft__class_of(kind);
    return class == WEFT__CLASS_SIGNED || class == WEFT__CLASS_UNSIGNED ||
           class == WEFT__CLASS_REAL;
}

/* One check of a value. On the stack of weft__value_allowed. */
typedef struct allowing {
    weft__trail *trail;
    const weft_text *text;
    const char *at;
    weft_value_error *error;
} allowing;

static bool type_allows(const allowing *a, const weft_type *type, const char *value);

static bool field_allows(const allowing *a, const weft_field *field, const char *at)
{
    uint32_t count = weft__field_count(field);
    size_t size = weft__field_size(field);
    bool is_bool = field->kind == WEFT_FIELD_BOOL;
    bool has_range = is_bool || (is_number(field->kind) && field->least < field->most);
    if (!has_range && field->kind != WEFT_FIELD_STRUCT) return true;
    weft__trail *trail = a->trail;
    trail->steps[trail->count].field = field;
    trail->count++;
    for (uint32_t k = 0; k < count; k++) {
        trail->steps[trail->count - 1].index = count > 1 ? k : UINT32_MAX;
        if (!has_range) {
            if (!type_allows(a, field->type, at + k * size)) return false;
            continue;
        }
        double number = weft__scalar_real(weft__scalar_load(field->kind, at + k * size));
        if (is_bool ? number <= 1 : weft__in_range(field, number)) continue;
        weft__value_error(a->error, a->text, a->at, trail, "%g is not in the range %g to %g",
                          number, is_bool ? 0 : field->least, is_bool ? 1 : field->most);
        return false;
    }
    trail->count--;
    return true;
}

/* Depth: WEFT_TYPE_DEPTH. */
static bool type_allows(const allowing *a, const weft_type *type, const char *value)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!field_allows(a, &type->fields[i], value + type->fields[i].offset)) return false;
    const char *refusal = type->check == NULL ? NULL : type->check(value);
    if (refusal == NULL) return true;
    weft__value_error(a->error, a->text, a->at, a->trail, "%s", refusal);
    return false;
}

bool weft__value_allowed(const weft_type *type, const char *value, weft__trail *trail,
                         const weft_text *text, const char *at, weft_value_error *error)
{
    allowing a = {trail, text, at, error};
    return type_allows(&a, type, value);
}

weft_result weft_value_check(const weft_type *type, const void *value, weft_value_error *error)
{
    weft__trail trail = {.root = type};
    if (type == NULL || value == NULL) return WEFT_INVALID_ARGUMENT;
    return weft__value_allowed(type, value, &trail, NULL, NULL, error) ? WEFT_OK
                                                                       : WEFT_INVALID_ARGUMENT;
}
