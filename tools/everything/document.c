/* SPDX-License-Identifier: MIT */
/* document.c: trees of objects (document.h): drawn, and where they stand, by products of matrices.
 *
 * Places are small whole numbers, rotations half turns, scales powers of two: exact. */
#include "document.h"

#include <stdarg.h>
#include <string.h>

/* ---- texts ---- */

void document_write(document_text *out, const char *format, ...)
{
    va_list list;
    if (out->at >= out->room) return;
    va_start(list, format);
    out->at += (size_t)vsnprintf(out->text + out->at, out->room - out->at, format, list);
    va_end(list);
}

static const weft_field tally_fields[] = {
    WEFT_FIELD(document_tally, a), WEFT_FIELD(document_tally, b), WEFT_FIELD(document_tally, c)};
static const weft_type tally_type = {.name = "tally",
                                     .size = sizeof(document_tally),
                                     .alignment = _Alignof(document_tally),
                                     .fields = tally_fields,
                                     .field_count = sizeof tally_fields / sizeof *tally_fields};

weft_component document_tally_register(weft_world *world)
{
    return weft_component_create(world, &(weft_component_desc){.type = &tally_type});
}

/* Zeros are left out now and then. */
void document_tally_write(document_text *out, const document_object *o)
{
    const document_tally *t = &o->tally;
    document_write(out, "{\"b\": [%d, %d, %d]", t->b[0], t->b[1], t->b[2]);
    if (t->a != 0 || o->number % 2 == 0) document_write(out, ", \"a\": %u", t->a);
    if (t->c != 0) document_write(out, ", \"c\": %u", t->c);
    document_write(out, "}");
}

/* ---- drawing ---- */

void document_tree(document_object *all, uint32_t count, uint64_t drawn)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t r = everything_mix(drawn, 100 + i);
        document_object *o = &all[i];
        *o = (document_object){.above = (int)(r % (i + 1)) - 1, .other = DOCUMENT_NOBODY};
        const document_object *above = o->above < 0 ? NULL : &all[o->above];
        snprintf(o->path, sizeof o->path, "%.50s%so%u", above == NULL ? "" : above->path,
                 above == NULL ? "" : "/", i);
    }
}

static bool is_even(const document_object *o)
{
    return (double)o->scale[0] == (double)o->scale[1] && (double)o->scale[1] == (double)o->scale[2];
}

static void place_draw(document_object *o, uint64_t r, bool is_gltf)
{
    static const float scales[] = {0.5f, 1, 1, 2};
    uint32_t turn = (uint32_t)(r >> 30) % 4;
    bool has_one_scale = (r >> 34) % 2 != 0;
    o->usage = (weft_transform_usage)(r >> 36 & 3) % 3;
    o->has_stand = is_gltf || r >> 38 & 3;
    for (uint32_t k = 0; k < 3; k++) {
        o->position[k] = (float)(r >> (40 + 3 * k) & 7) - 3;
        o->scale[k] = scales[r >> (50 + 2 * k) & 3];
        if (has_one_scale || o->usage == WEFT_TRANSFORM_DYNAMIC) o->scale[k] = o->scale[0];
    }
    for (uint32_t k = 0; k < 4; k++) o->rotation[k] = k == turn ? 1 : 0;
    if (r >> 57 == 0) {
        memset(o->position, 0, sizeof o->position);
        for (uint32_t k = 0; k < 3; k++) o->scale[k] = 1, o->rotation[k] = 0;
        o->rotation[3] = 1;
    }
    if (is_gltf) o->usage = is_even(o) ? WEFT_TRANSFORM_DYNAMIC : WEFT_TRANSFORM_STATIC;
}

/* No object stands below it, or refers to it. */
static bool is_leaf(const document_object *all, uint32_t count, uint32_t at)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].above == (int)at || all[i].other == (int)at) return false;
    return true;
}

void document_draw(document_object *all, uint32_t count, uint64_t drawn, bool has_values,
                   bool is_gltf)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t r = everything_mix(drawn, i), s = everything_mix(r, 1);
        document_object *o = &all[i];
        o->is_there = true;
        if (has_values && r % 2 == 0) continue;
        place_draw(o, s, is_gltf);
        o->number = (uint32_t)(r >> 4) % 50;
        o->tally = (document_tally){.a = (uint32_t)(r >> 10) % 5,
                                    .b = {(int32_t)(r >> 13) % 7 - 3, (int32_t)(r >> 17) % 9, -1},
                                    .c = (uint32_t)(r >> 22) % 3};
        int other = (int)(r >> 26) % ((int)count + 4);
        if (o->other == DOCUMENT_NOBODY) o->other = other < (int)count ? other : -(other % 2) - 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool may_be_wrong = all[i].has_stand && !is_gltf && is_leaf(all, count, i);
        all[i].is_wrong = may_be_wrong && everything_mix(drawn, 50 + i) % 4 == 0;
    }
}

uint32_t document_blob_of(const document_object *o)
{
    return o->number % DOCUMENT_BLOBS;
}

bool document_is_placed(const document_object *o)
{
    return o->has_stand && o->usage != WEFT_TRANSFORM_NONE;
}

bool document_is_none(const document_object *o)
{
    bool is_none = (double)o->rotation[3] == 1;
    for (uint32_t k = 0; k < 3; k++)
        is_none = is_none && (double)o->position[k] == 0 && (double)o->scale[k] == 1;
    return is_none;
}

/* ---- places ---- */

/* A half turn about an axis keeps that axis, and turns the others round. */
static document_matrix own_place(const document_object *o)
{
    document_matrix out = {{{0}}};
    for (uint32_t k = 0; k < 3; k++) {
        bool is_kept = (double)o->rotation[3] == 1 || (double)o->rotation[k] == 1;
        out.at[k][k] = is_kept ? (double)o->scale[k] : -(double)o->scale[k];
        out.at[k][3] = (double)o->position[k];
    }
    return out;
}

static document_matrix times(const document_matrix *a, const document_matrix *b)
{
    document_matrix out = {{{0}}};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 4; k++) {
            for (uint32_t m = 0; m < 3; m++) out.at[i][k] += a->at[i][m] * b->at[m][k];
            if (k == 3) out.at[i][k] += a->at[i][3];
        }
    return out;
}

void document_places(document_object *all, uint32_t count)
{
    static const document_matrix unit = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    for (uint32_t i = 0; i < count; i++) {
        document_object *o = &all[i];
        const document_object *above = o->above < 0 ? NULL : &all[o->above];
        o->world = above == NULL ? unit : above->world;
        o->effect = above == NULL ? WEFT_TRANSFORM_NONE : above->effect;
        o->is_shifted = above != NULL && above->is_shifted;
        o->has_placed = above != NULL && above->has_placed;
        o->is_root = false;
        if (!o->has_stand || !o->is_there) continue;
        document_matrix own = own_place(o);
        o->world = times(&o->world, &own);
        if (o->usage == WEFT_TRANSFORM_NONE) continue;
        if (o->effect != WEFT_TRANSFORM_DYNAMIC) o->effect = o->usage;
        if (o->effect == WEFT_TRANSFORM_STATIC) o->is_shifted = false;
        o->is_root = o->effect == WEFT_TRANSFORM_DYNAMIC && !o->has_placed;
        if (o->is_root) o->is_shifted = true;
        o->has_placed = true;
    }
}
