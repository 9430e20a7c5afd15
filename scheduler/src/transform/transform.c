/* SPDX-License-Identifier: MIT */
/* transform.c: the components LocalTransform, LocalStretch and WorldTransform, and the system
 * between them.
 *
 * Four entities at a time: their quaternions are transposed, turned into matrices, and transposed
 * back, so that every instruction works on four of them; then each is multiplied by the matrix of
 * its parent, row by row. Vectors of four floats are what every x86-64 and ARM64 has; sums are in a
 * fixed order and not contracted, so results are the same on all. */
#include "error.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <weft/relation.h>
#include <weft/transform.h>
#include <weft/type.h>

typedef float v4 __attribute__((vector_size(16)));
typedef int v4i __attribute__((vector_size(16)));

#if defined(__clang__)
#define PICK(a, b, i, j, k, l) __builtin_shufflevector((a), (b), i, j, k, l)
#else
#define PICK(a, b, i, j, k, l) __builtin_shuffle((a), (b), (v4i){i, j, k, l})
#endif

enum { LANES = 4, AHEAD = 8 };

static inline v4 load(const float *from)
{
    v4 value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void store(float *to, v4 value)
{
    memcpy(to, &value, sizeof value);
}

static inline v4 all(float value)
{
    return (v4){value, value, value, value};
}

/* Rows to columns. */
static inline void transpose(v4 *a, v4 *b, v4 *c, v4 *d)
{
    v4 ab0 = PICK(*a, *b, 0, 4, 1, 5), ab1 = PICK(*a, *b, 2, 6, 3, 7);
    v4 cd0 = PICK(*c, *d, 0, 4, 1, 5), cd1 = PICK(*c, *d, 2, 6, 3, 7);
    *a = PICK(ab0, cd0, 0, 1, 4, 5);
    *b = PICK(ab0, cd0, 2, 3, 6, 7);
    *c = PICK(ab1, cd1, 0, 1, 4, 5);
    *d = PICK(ab1, cd1, 2, 3, 6, 7);
}

/* The matrices of four transforms; rows of matrix i: out[i][0], [1], [2]. */
static inline void matrices(const weft_local_transform *from, v4 out[LANES][3])
{
    v4 x = load(from[0].rotation), y = load(from[1].rotation);
    v4 z = load(from[2].rotation), w = load(from[3].rotation);
    v4 px = load(from[0].position), py = load(from[1].position);
    v4 pz = load(from[2].position), scale = load(from[3].position);
    static_assert(offsetof(weft_local_transform, scale) == 3 * sizeof(float), "loaded together");
    transpose(&x, &y, &z, &w);
    transpose(&px, &py, &pz, &scale);
    v4 two = scale + scale;
    v4 xs = x * two, ys = y * two, zs = z * two;
    v4 xx = x * xs, yy = y * ys, zz = z * zs, xy = x * ys, xz = x * zs, yz = y * zs;
    v4 wx = w * xs, wy = w * ys, wz = w * zs;
    v4 row[3][LANES] = {{scale - (yy + zz), xy - wz, xz + wy, px},
                        {xy + wz, scale - (xx + zz), yz - wx, py},
                        {xz - wy, yz + wx, scale - (xx + yy), pz}};
    for (int i = 0; i < 3; i++) {
        transpose(&row[i][0], &row[i][1], &row[i][2], &row[i][3]);
        for (int k = 0; k < LANES; k++) out[k][i] = row[i][k];
    }
}

/* local * stretch. */
static inline void stretch_rows(const weft_local_stretch *by, v4 rows[3])
{
    const float(*m)[3] = by->rows;
    for (int i = 0; i < 3; i++) {
        v4 r = rows[i];
        rows[i] = (v4){0, 0, 0, r[3]};
        for (int k = 0; k < 3; k++) rows[i] += all(r[k]) * (v4){m[k][0], m[k][1], m[k][2], 0};
    }
}

static inline void write(const v4 rows[3], weft_world_transform *to)
{
    for (int i = 0; i < 3; i++) store(to->rows[i], rows[i]);
}

/* parent * local. */
static inline void write_below(const weft_world_transform *parent, const v4 rows[3],
                               weft_world_transform *to)
{
    for (int i = 0; i < 3; i++) {
        const float *p = parent->rows[i];
        v4 shift = {0, 0, 0, p[3]};
        store(to->rows[i], all(p[0]) * rows[0] + all(p[1]) * rows[1] + all(p[2]) * rows[2] + shift);
    }
}

/* The matrix of a parent; siblings that follow each other share the look-up. Owner: one slice. */
typedef struct parents {
    weft_finder finder;
    weft_entity known;
    const weft_world_transform *value;
} parents;

static inline const weft_world_transform *parent_of(parents *p, weft_entity parent)
{
    if (parent.version == 0) return NULL;
    if (parent.index != p->known.index || parent.version != p->known.version) {
        p->known = parent;
        p->value = weft_finder_read(&p->finder, parent);
    }
    return p->value;
}

static void update_rows(const weft_local_transform *from, const weft_local_stretch *stretch,
                        const weft_target *targets, parents *p, weft_world_transform *to,
                        uint32_t count)
{
    v4 rows[LANES][3];
    weft_local_transform last[LANES];
    for (uint32_t i = 0; i < count; i += LANES) {
        uint32_t here = count - i < LANES ? count - i : LANES;
        const weft_local_transform *four = from + i;
        if (here < LANES) {
            memset(last, 0, sizeof last);
            memcpy(last, four, here * sizeof *four);
            four = last;
        }
        matrices(four, rows);
        for (uint32_t k = 0; k < here; k++) {
            if (stretch != NULL) stretch_rows(&stretch[i + k], rows[k]);
            const weft_world_transform *parent =
                targets == NULL ? NULL : parent_of(p, targets[i + k].entity);
            if (parent == NULL)
                write(rows[k], &to[i + k]);
            else
                write_below(parent, rows[k], &to[i + k]);
        }
    }
}

/* The system's `user` is the component WorldTransform itself: it needs no memory in the world,
 * which would be in world files. */
static void *pack(weft_component component)
{
    return (void *)(uintptr_t)((uint64_t)component.world << 32 | component.id);
}

static weft_component unpack(const void *user)
{
    uint64_t bits = (uintptr_t)user;
    return (weft_component){(uint32_t)bits, (uint32_t)(bits >> 32)};
}

static void update(weft_slice *slice, void *user)
{
    const weft_local_transform *from = WEFT_READ_COLUMN(slice, 0, weft_local_transform);
    weft_world_transform *to = WEFT_WRITE_COLUMN(slice, 1, weft_world_transform);
    const weft_target *targets = weft_slice_read(slice, 2);
    const weft_local_stretch *stretch = weft_slice_read(slice, 3);
    parents p = {{NULL, NULL, NULL, {0, 0}}, {0, 0}, NULL};
    if (targets != NULL) p.finder = weft_slice_finder(slice, unpack(user));
    update_rows(from, stretch, targets, &p, to, weft_slice_count(slice));
}

static weft_result system_create(weft_world *world, const char *group, weft_component stretch,
                                 weft_transform *out)
{
    weft_component parent = weft_component_parent(world);
    if (parent.id == 0) return weft_world_error(world)->code;
    out->system = weft_system_create(
        world,
        &(weft_system_desc){.name = "transforms",
                            .group = group,
                            .run = update,
                            .user = pack(out->world),
                            .over.rows = {.terms = {{out->local, WEFT_READ},
                                                    {out->world, WEFT_WRITE},
                                                    {parent, WEFT_READ, .match = WEFT_OPTIONAL},
                                                    {stretch, WEFT_READ, .match = WEFT_OPTIONAL}}},
                            .lookups = {{out->world, WEFT_READ}},
                            .by_depth = parent});
    return out->system.id == 0 ? weft_world_error(world)->code : WEFT_OK;
}

weft_result weft_transform_create(weft_world *world, const char *group, weft_transform *out)
{
    static const weft_field local[] = {
        {"position", WEFT_FIELD_F32, offsetof(weft_local_transform, position), 3},
        {"scale", WEFT_FIELD_F32, offsetof(weft_local_transform, scale), 1},
        {"rotation", WEFT_FIELD_F32, offsetof(weft_local_transform, rotation), 4}};
    static const weft_field rows = {"rows", WEFT_FIELD_F32, 0, 12};
    static const weft_field stretch_rows_field = {"rows", WEFT_FIELD_F32, 0, 9};
    weft_transform unwanted;
    if (world == NULL) return WEFT_INVALID_ARGUMENT;
    if (out == NULL) out = &unwanted;
    *out = (weft_transform){{0, 0}, {0, 0}, {0, 0}};
    weft_result result = weft__between_steps(world, "weft_transform_create");
    if (result != WEFT_OK) return result;
    out->local = weft_component_create(
        world, &(weft_component_desc){.name = "LocalTransform",
                                      .size = sizeof(weft_local_transform),
                                      .alignment = _Alignof(weft_local_transform),
                                      .fields = local,
                                      .field_count = sizeof local / sizeof local[0]});
    if (out->local.id == 0) return weft_world_error(world)->code;
    out->world = weft_component_create(
        world, &(weft_component_desc){.name = "WorldTransform",
                                      .size = sizeof(weft_world_transform),
                                      .alignment = _Alignof(weft_world_transform),
                                      .fields = &rows,
                                      .field_count = 1});
    if (out->world.id == 0) return weft_world_error(world)->code;
    weft_component stretch = weft_component_create(
        world, &(weft_component_desc){.name = "LocalStretch",
                                      .size = sizeof(weft_local_stretch),
                                      .alignment = _Alignof(weft_local_stretch),
                                      .fields = &stretch_rows_field,
                                      .field_count = 1});
    if (stretch.id == 0) return weft_world_error(world)->code;
    out->system = weft_system_find(world, "transforms");
    return out->system.id != 0 ? WEFT_OK : system_create(world, group, stretch, out);
}
