/* SPDX-License-Identifier: MIT */
/* written.c: finds the value in the file, takes its unit, and tries the shortest numbers that read
 * as the value does. The file is read each time: documents change beside the program. */
#include "written.h"

#include "field.h"
#include "json_pull.h"

#include <weft/value.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT_BYTES = 64, NUMBER_BYTES = 32, FILE_BYTES_MOST = 64 << 20 };

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *text = size < 0 || size > FILE_BYTES_MOST ? NULL : malloc((size_t)size + 1);
    *bytes = text == NULL ? 0 : fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

/* Goes to the value of a member of the object that begins with the next token. */
static bool enter_member(weft__json *json, const char *name, size_t bytes)
{
    char text[256];
    if (weft__json_next(json).kind != WEFT__JSON_OBJECT) return false;
    for (;;) {
        weft__json_token token = weft__json_next(json);
        if (token.kind != WEFT__JSON_NAME) return false;
        if (weft__json_string(&token, text, sizeof text) == bytes && bytes <= sizeof text &&
            memcmp(text, name, bytes) == 0)
            return true;
        token = weft__json_next(json);
        if (!weft__json_skip(json, &token)) return false;
    }
}

/* To "children"/"planet" and so on, then to "Orbit.drag[1]". */
static bool enter(weft__json *json, const char *object, const char *field)
{
    const char *group = "objects";
    for (; *object != '\0'; group = "children") {
        const size_t bytes = strcspn(object, "/");
        if (!enter_member(json, group, strlen(group)) || !enter_member(json, object, bytes))
            return false;
        object += bytes + (object[bytes] == '/');
    }
    while (*field != '\0') {
        size_t bytes = strcspn(field, ".[");
        if (bytes != 0 && !enter_member(json, field, bytes)) return false;
        if (bytes == 0) {
            unsigned long index = strtoul(field + 1, NULL, 10);
            if (weft__json_next(json).kind != WEFT__JSON_ARRAY) return false;
            for (; index != 0; index--) {
                weft__json_token token = weft__json_next(json);
                if (!weft__json_skip(json, &token)) return false;
            }
            bytes = strcspn(field, "]") + (strchr(field, ']') != NULL);
        }
        field += bytes + (field[bytes] == '.');
    }
    return true;
}

/* The unit of the next value, or of the first element that has one; false: none. */
static bool read_unit(weft__json *json, char *unit)
{
    char text[UNIT_BYTES], *end;
    weft__json_token token = weft__json_next(json);
    if (token.kind == WEFT__JSON_ARRAY) do
            token = weft__json_next(json);
        while (token.kind == WEFT__JSON_NUMBER);
    if (token.kind != WEFT__JSON_STRING) return false;
    const size_t bytes = weft__json_string(&token, text, sizeof text);
    if (bytes >= sizeof text) return false;
    text[bytes] = '\0';
    strtod(text, &end);
    if (end == text) return false;
    end += strspn(end, " ");
    memcpy(unit, end, strlen(end) + 1);
    return *end != '\0' && strpbrk(end, "\"\\") == NULL;
}

/* How much one of the unit is in that of the field. */
static bool unit_factor(const weft_field *of, const char *unit, double *out)
{
    char json[UNIT_BYTES + 8];
    const weft_field field = {.name = "", .kind = WEFT_FIELD_F64, .unit = of->unit};
    const weft_type type = {.name = "number",
                            .size = sizeof *out,
                            .alignment = _Alignof(double),
                            .fields = &field,
                            .field_count = 1};
    snprintf(json, sizeof json, "\"1 %s\"", unit);
    *out = 0;
    return weft_value_parse(NULL, &(weft_text){.bytes = json, .count = strlen(json)}, &type, out,
                            NULL) == WEFT_OK &&
           *out != 0;
}

/* The numbers with so many digits. */
static void write_numbers(const weft_path *path, const void *value, double factor, int digits,
                          const char *unit, char *out)
{
    const bool is_list = path->count > 1;
    const char *at = (const char *)value + path->offset;
    const size_t one = path->bytes / path->count;
    if (is_list) *out++ = '[';
    for (uint32_t i = 0; i < path->count; i++)
        out += sprintf(
            out, "%s\"%.*g %s\"", i == 0 ? "" : ", ", digits,
            weft__scalar_real(weft__scalar_load(path->field->kind, at + i * one)) / factor, unit);
    memcpy(out, "]", is_list ? 2 : 0);
}

/* Whether the text reads as the value at the path. */
static bool is_same(const weft_type *type, const weft_path *path, const void *value,
                    const char *text, void *copy)
{
    const weft_text json = {.bytes = text, .count = strlen(text)};
    memcpy(copy, value, type->size);
    return weft_path_value_parse(NULL, &json, type, path, copy, NULL) == WEFT_OK &&
           memcmp((char *)copy + path->offset, (const char *)value + path->offset, path->bytes) ==
               0;
}

/* With several documents paths begin with the name of one. */
static const char *document_of(const weft_live *live, const char **object)
{
    const char *path, *only = weft_live_document_at(live, 0);
    if (weft_live_document_at(live, 1) == NULL) return only;
    const size_t bytes = strcspn(*object, "/");
    for (uint32_t i = 0; (path = weft_live_document_at(live, i)) != NULL; i++) {
        const char *name = strrchr(path, '/');
        name = name == NULL ? path : name + 1;
        const char *dot = strrchr(name, '.');
        const size_t stem = dot == NULL ? strlen(name) : (size_t)(dot - name);
        if (stem != bytes || memcmp(name, *object, bytes) != 0) continue;
        *object += bytes + ((*object)[bytes] == '/');
        return path;
    }
    return NULL;
}

static bool find_unit(const weft_live *live, const char *object, const char *field, char *unit)
{
    size_t bytes;
    weft__json json;
    const char *document = document_of(live, &object);
    char *text = document == NULL ? NULL : read_file(document, &bytes);
    if (text == NULL) return false;
    weft__json_open(&json, text, bytes);
    const bool is_there = enter(&json, object, field) && read_unit(&json, unit);
    free(text);
    return is_there;
}

char *weft__written_text(weft_live *live, const char *object, const char *field,
                         const weft_type *type, const weft_path *path, const void *value)
{
    char unit[UNIT_BYTES];
    double factor;
    const weft_field *of = path->field;
    if (of == NULL || of->unit == NULL || !weft__kind_is_number(of->kind) ||
        !find_unit(live, object, field, unit) || !unit_factor(of, unit, &factor))
        return NULL;
    char *text = malloc((size_t)path->count * (NUMBER_BYTES + UNIT_BYTES) + 4);
    void *copy = aligned_alloc(64, (type->size + 63) / 64 * 64);
    bool is_found = false;
    for (int digits = 1; text != NULL && copy != NULL && !is_found && digits <= 17; digits++) {
        write_numbers(path, value, factor, digits, unit, text);
        is_found = is_same(type, path, value, text, copy);
    }
    free(copy);
    if (is_found) return text;
    free(text);
    return NULL;
}
