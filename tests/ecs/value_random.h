/* SPDX-License-Identifier: MIT */
/* value_random.h: random described types and values of them: any fields, arrays, structs within
 * structs, and any bits in the values that text can stand for. */
#ifndef WEFT_TESTS_VALUE_RANDOM_H
#define WEFT_TESTS_VALUE_RANDOM_H

#include <weft/value.h>

#include "random.h"

#include <stdio.h>
#include <string.h>

enum { RANDOM_TYPES = 24, RANDOM_FIELDS = 8, RANDOM_BYTES = 1 << 14 };

/* Types that a root is made of. Owner: the test; nothing moves. types[0] is the root. */
typedef struct random_types {
    weft_type types[RANDOM_TYPES];
    weft_field fields[RANDOM_TYPES][RANDOM_FIELDS];
    char names[RANDOM_TYPES][RANDOM_FIELDS][16];
    char type_names[RANDOM_TYPES][16];
    uint32_t count;
} random_types;

static const weft_constant random_constants[] = {
    {"many", 0x63}, {"one", 1}, {"two", 2}, {"last", -1}, {"none", 0}};
static const weft_type random_integers[] = {
    {"byte", 1, 1, NULL, 0, random_constants, 5},
    {"half", 2, 2, NULL, 0, random_constants, 5},
    {"word", 4, 4, NULL, 0, random_constants, 5},
    {"long", 8, 8, NULL, 0, random_constants, 5},
};

static uint32_t random_under(test_random *random, uint32_t bound)
{
    return (uint32_t)test_random_below(random, bound);
}

static const weft_type *random_type_make(random_types *t, test_random *random, uint32_t depth);

#define RANDOM_BYTES(name, word, number, bytes, class, numpy) bytes,
#define RANDOM_IS_OF(name, word, number, bytes, class, numpy) RANDOM_CLASS_##class,
enum random_class { /* whether a component may have it */
                    RANDOM_CLASS_BYTES = 1,
                    RANDOM_CLASS_BOOL = 1,
                    RANDOM_CLASS_SIGNED = 1,
                    RANDOM_CLASS_UNSIGNED = 1,
                    RANDOM_CLASS_REAL = 1,
                    RANDOM_CLASS_ENTITY = 1,
                    RANDOM_CLASS_BLOB = 1,
                    RANDOM_CLASS_STRUCT = 1,
                    RANDOM_CLASS_ENUM = 1,
                    RANDOM_CLASS_BITS = 1,
                    RANDOM_CLASS_TEXT = 1,
                    RANDOM_CLASS_IN_BLOB = 0,
};
static const uint8_t random_bytes[] = {WEFT_FIELD_KINDS(RANDOM_BYTES)};
static const uint8_t random_is_drawn[] = {WEFT_FIELD_KINDS(RANDOM_IS_OF)};

/* Any kind of the table, a new one too. */
static weft_field_kind random_kind_draw(test_random *random)
{
    uint32_t count = 0, kind = 0;
    for (uint32_t i = 0; i < sizeof random_is_drawn; i++) count += random_is_drawn[i];
    for (uint32_t left = random_under(random, count) + 1; left != 0; kind++)
        left -= random_is_drawn[kind];
    return (weft_field_kind)(kind - 1);
}

static void random_kind(random_types *t, test_random *random, uint32_t depth, weft_field *field)
{
    field->kind = random_kind_draw(random);
    bool is_deep = depth >= 4 || t->count >= RANDOM_TYPES - 1;
    if (field->kind == WEFT_FIELD_STRUCT && is_deep) field->kind = WEFT_FIELD_F32;
    if (field->kind == WEFT_FIELD_STRUCT) field->type = random_type_make(t, random, depth + 1);
    if (field->kind == WEFT_FIELD_ENUM || field->kind == WEFT_FIELD_BITS)
        field->type = &random_integers[random_under(random, 4)];
    bool is_many = random_under(random, 3) == 0;
    field->count = is_many ? 1 + random_under(random, 4) : 0;
    if (field->kind == WEFT_FIELD_TEXT || field->kind == WEFT_FIELD_BYTES)
        field->count = 1 + random_under(random, 20);
}

static uint32_t random_bytes_of(const weft_field *field)
{
    uint32_t each = field->type != NULL ? (uint32_t)field->type->size : random_bytes[field->kind];
    return each * (field->count == 0 ? 1 : field->count);
}

static const weft_type *random_type_make(random_types *t, test_random *random, uint32_t depth)
{
    uint32_t number = t->count++, count = 1 + random_under(random, RANDOM_FIELDS);
    uint32_t offset = 0;
    bool is_sole = random_under(random, 6) == 0;
    if (is_sole) count = 1;
    snprintf(t->type_names[number], sizeof t->type_names[number], "T%u", number);
    for (uint32_t i = 0; i < count; i++) {
        weft_field *field = &t->fields[number][i];
        *field = (weft_field){.name = t->names[number][i], .offset = 0};
        if (is_sole)
            t->names[number][i][0] = 0;
        else
            snprintf(t->names[number][i], sizeof t->names[number][i], "f%u", i);
        random_kind(t, random, depth, field);
        offset += random_under(random, 3); /* packed structs, padding */
        field->offset = offset;
        offset += random_bytes_of(field);
    }
    t->types[number] = (weft_type){.name = t->type_names[number],
                                   .size = offset + random_under(random, 4),
                                   .alignment = 1,
                                   .fields = t->fields[number],
                                   .field_count = count};
    return &t->types[number];
}

static void random_text(test_random *random, char *at, uint32_t size)
{
    static const char *const pieces[] = {"a", "\xc3\xa9", "\"", "\\", "\n", "\xe2\x82\xac", "\x7f"};
    uint32_t used = 0;
    memset(at, 0, size);
    if (random_under(random, 4) == 0) { /* any bytes */
        for (uint32_t i = 0; i < size; i++) at[i] = (char)test_random_next(random);
        return;
    }
    for (;;) {
        const char *piece = pieces[random_under(random, 7)];
        size_t length = strlen(piece);
        if (used + length > size || random_under(random, 8) == 0) return;
        memcpy(at + used, piece, length);
        used += (uint32_t)length;
    }
}

/* Any bits; sometimes small numbers, which have short texts. */
static void random_value(test_random *random, const weft_type *type, char *value);

static void random_field(test_random *random, const weft_field *field, char *at)
{
    uint32_t count = field->count == 0 ? 1 : field->count;
    uint32_t each = random_bytes_of(field) / count;
    if (field->kind == WEFT_FIELD_TEXT) {
        random_text(random, at, count);
        return;
    }
    for (uint32_t k = 0; k < count; k++, at += each) {
        uint64_t bits = test_random_next(random);
        float small = (float)(bits % 2000) * 0.125f - 100;
        double number = (double)(int64_t)bits * 1e-9;
        bool is_small = random_under(random, 2) == 0;
        if (field->kind == WEFT_FIELD_STRUCT)
            random_value(random, field->type, at);
        else if (field->kind == WEFT_FIELD_BOOL)
            at[0] = (char)(bits & 1);
        else if (field->kind == WEFT_FIELD_F32 && is_small)
            memcpy(at, &small, sizeof small);
        else if (field->kind == WEFT_FIELD_F64 && is_small)
            memcpy(at, &number, sizeof number);
        else
            for (uint32_t i = 0; i < each; i++)
                at[i] = (char)(is_small && i > 0 ? 0 : bits >> 8 * (i % 8));
    }
}

static void random_value(test_random *random, const weft_type *type, char *value)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        random_field(random, &type->fields[i], value + type->fields[i].offset);
}

#endif
