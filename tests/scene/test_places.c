/* SPDX-License-Identifier: MIT */
/* test_places.c: where entities stand, as baked, is where they stand after a step: trees of objects
 * drawn at random, placed in every usage or not at all, with further entities, against products of
 * matrices of this file in double precision. The same of live links, after edits, too. */
#include "scene_fixture.h"

#include <weft/live.h>

#include <math.h>

enum { OBJECTS = 14 };

/* The property that test's baker reads. */
typedef struct Stand {
    uint32_t usage, extra_usage; /* weft_transform_usage; extra_usage 9: no further entity */
    float position[3], rotation[4], scale[3], extra[3];
} Stand;
static const weft_field stand_fields[] = {
    WEFT_FIELD(Stand, usage),    WEFT_FIELD(Stand, extra_usage), WEFT_FIELD(Stand, position),
    WEFT_FIELD(Stand, rotation), WEFT_FIELD(Stand, scale),       WEFT_FIELD(Stand, extra)};
static const weft_type stand_type = WEFT_TYPE(Stand, stand_fields);

static weft_result bake_stand(weft_bake *bake, const weft_object *object, void *user)
{
    Stand s;
    char name[64];
    (void)user;
    weft_result result = weft_bake_parse(bake, object, "Stand", &stand_type, &s, NULL);
    if (result != WEFT_OK) return result;
    weft_bake_transform(bake, weft_bake_entity(bake, NULL), s.position, s.rotation, s.scale,
                        (weft_transform_usage)s.usage);
    if (s.extra_usage == 9) return WEFT_OK;
    weft_entity extra = weft_bake_entity(bake, "extra");
    snprintf(name, sizeof name, "x%s", weft_bake_name_of(bake, object));
    weft_bake_name(bake, extra, name);
    const float scale[3] = {2, s.extra_usage == WEFT_TRANSFORM_DYNAMIC ? 2 : 3, 2};
    return weft_bake_transform(bake, extra, s.extra, NULL, scale,
                               (weft_transform_usage)s.extra_usage);
}

/* ---- what is expected ---- */

typedef struct matrix {
    double at[4][4];
} matrix;

static matrix times(const matrix *a, const matrix *b)
{
    matrix out = {0};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            for (int m = 0; m < 4; m++) out.at[i][k] += a->at[i][m] * b->at[m][k];
    return out;
}

/* v + 2 w (q x v) + 2 q x (q x v), of each axis. */
static matrix place(const float position[3], const float rotation[4], const float scale[3])
{
    matrix out = {0};
    out.at[3][3] = 1;
    for (int k = 0; k < 3; k++) {
        double v[3] = {0}, t[3], q[3] = {0}, w = (double)rotation[3];
        for (int i = 0; i < 3; i++) q[i] = (double)rotation[i];
        v[k] = (double)scale[k];
        for (int i = 0; i < 3; i++)
            t[i] = 2 * (q[(i + 1) % 3] * v[(i + 2) % 3] - q[(i + 2) % 3] * v[(i + 1) % 3]);
        for (int i = 0; i < 3; i++)
            out.at[i][k] =
                v[i] + w * t[i] + q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3];
        out.at[k][3] = (double)position[k];
    }
    return out;
}

/* An object of the document. */
typedef struct object {
    int above; /* -1: none */
    bool has_stand;
    Stand stand;
    char path[256];
    matrix world;
    weft_transform_usage usage;  /* in effect; that of above without a place */
    bool is_shifted, has_placed; /* it, or what it stands on, moves with its root; there is one */
} object;

static void compute(object *all)
{
    static const matrix unit = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    for (int i = 0; i < OBJECTS; i++) {
        object *o = &all[i];
        const object *above = o->above < 0 ? NULL : &all[o->above];
        o->world = above == NULL ? unit : above->world;
        o->usage = above == NULL ? WEFT_TRANSFORM_NONE : above->usage;
        o->is_shifted = above != NULL && above->is_shifted;
        o->has_placed = above != NULL && above->has_placed;
        if (!o->has_stand) continue;
        matrix own = place(o->stand.position, o->stand.rotation, o->stand.scale);
        o->world = times(&o->world, &own);
        if (o->stand.usage == WEFT_TRANSFORM_NONE) continue;
        if (o->usage != WEFT_TRANSFORM_DYNAMIC) o->usage = (weft_transform_usage)o->stand.usage;
        if (o->usage == WEFT_TRANSFORM_STATIC) o->is_shifted = false;
        if (o->usage == WEFT_TRANSFORM_DYNAMIC && !o->has_placed) o->is_shifted = true;
        o->has_placed = true;
    }
}

/* ---- documents ---- */

static float draw(test_random *random, double least, double most)
{
    return (float)(least + (most - least) * test_random_unit(random));
}

static Stand stand_draw(test_random *random)
{
    Stand s = {.usage = (uint32_t)test_random_below(random, 3), .extra_usage = 9};
    double length = 0;
    for (int i = 0; i < 3; i++)
        s.position[i] = draw(random, -4, 4), s.extra[i] = draw(random, -4, 4);
    for (int i = 0; i < 4; i++) s.rotation[i] = draw(random, -1, 1) + 0.01f;
    for (int i = 0; i < 4; i++) length += (double)s.rotation[i] * (double)s.rotation[i];
    for (int i = 0; i < 4; i++) s.rotation[i] /= (float)sqrt(length);
    for (int i = 0; i < 3; i++) s.scale[i] = draw(random, 0.5, 2);
    if (s.usage == WEFT_TRANSFORM_DYNAMIC) s.scale[1] = s.scale[2] = s.scale[0];
    if (test_random_below(random, 4) == 0) s.extra_usage = (uint32_t)test_random_below(random, 3);
    return s;
}

static void objects_draw(test_random *random, object *all)
{
    for (int i = 0; i < OBJECTS; i++) {
        object *o = &all[i];
        o->above = test_random_below(random, 4) == 0
                       ? -1
                       : (int)test_random_below(random, (uint64_t)i + 1) - 1;
        o->has_stand = test_random_below(random, 5) != 0;
        o->stand = stand_draw(random);
        snprintf(o->path, sizeof o->path, "%.200s%so%d", o->above < 0 ? "" : all[o->above].path,
                 o->above < 0 ? "" : "/", i);
    }
}

static size_t write_children(const object *all, int above, char *text, size_t at)
{
    bool is_first = true;
    for (int i = 0; i < OBJECTS; i++) {
        const Stand *s = &all[i].stand;
        if (all[i].above != above) continue;
        at += (size_t)sprintf(text + at, "%s\"o%d\": {\"Alive\": true", is_first ? "" : ", ", i);
        is_first = false;
        if (all[i].has_stand) {
            at += (size_t)sprintf(text + at, ", \"Stand\": {\"usage\": %u, \"extra_usage\": %u",
                                  s->usage, s->extra_usage);
            const float *values[] = {s->position, s->rotation, s->scale, s->extra};
            static const char *const names[] = {"position", "rotation", "scale", "extra"};
            for (int n = 0; n < 4; n++) {
                at += (size_t)sprintf(text + at, ", \"%s\": [", names[n]);
                for (int k = 0; k < (n == 1 ? 4 : 3); k++)
                    at += (size_t)sprintf(text + at, "%s%.9g", k == 0 ? "" : ", ",
                                          (double)values[n][k]);
                at += (size_t)sprintf(text + at, "]");
            }
            at += (size_t)sprintf(text + at, "}");
        }
        at += (size_t)sprintf(text + at, ", \"children\": {");
        at = write_children(all, i, text, at);
        at += (size_t)sprintf(text + at, "}}");
    }
    return at;
}

static const char *document(const object *all)
{
    static char text[1 << 16];
    size_t at = (size_t)sprintf(text, "{\"weft\": 1, \"objects\": {");
    at = write_children(all, -1, text, at);
    sprintf(text + at, "}}");
    return text;
}

/* ---- checks ---- */

/* A world with what has filled it. */
typedef struct bed {
    weft_world *world;
    cast cast;
    shelf files;
    weft_scene *scene;
    weft_live *live;
} bed;

static void place_check(const bed *b, weft_entity entity, const matrix *want, double shift)
{
    const weft_world_transform *is = weft_entity_read(b->world, entity, b->cast.transform.world);
    CHECK(is != NULL);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            CHECK_F64((double)is->rows[i][k], want->at[i][k] + (k == 3 ? shift : 0), 3e-3);
}

static void bed_check(const bed *b, const object *all, bool is_shifted)
{
    for (int i = 0; i < OBJECTS; i++) {
        const object *o = &all[i];
        weft_entity entity = b->live != NULL ? weft_live_entity(b->live, o->path)
                                             : weft_scene_entity(b->scene, o->path);
        bool is_placed = o->has_stand && o->stand.usage != WEFT_TRANSFORM_NONE;
        CHECK_U64(weft_entity_has(b->world, entity, b->cast.transform.world), is_placed);
        if (is_placed) place_check(b, entity, &o->world, is_shifted && o->is_shifted ? 7 : 0);
        if (!o->has_stand || o->stand.extra_usage % 9 == 0) continue;
        char name[16];
        snprintf(name, sizeof name, "xo%d", i);
        static const float none[4] = {0, 0, 0, 1};
        bool is_moving = o->stand.extra_usage == WEFT_TRANSFORM_DYNAMIC;
        const float scale[3] = {2, is_moving ? 2 : 3, 2};
        matrix extra = place(o->stand.extra, none, scale);
        extra = times(&o->world, &extra);
        is_moving = is_moving || o->usage == WEFT_TRANSFORM_DYNAMIC;
        bool is_own = is_moving && !o->has_placed; /* stands on nothing */
        place_check(b, weft_entity_find(b->world, name), &extra,
                    is_shifted && is_moving && (o->is_shifted || is_own) ? 7 : 0);
    }
    CHECK_OK(weft_world_validate(b->world));
}

/* Moves by 7, 7, 7 what stands on nothing that has a place. */
static void root_move(const bed *b, weft_entity entity)
{
    const weft_target *above = weft_entity_read(b->world, entity, weft_component_parent(b->world));
    if (above != NULL && weft_entity_has(b->world, above->entity, b->cast.transform.world)) return;
    weft_local_transform *at = weft_entity_write(b->world, entity, b->cast.transform.local);
    for (int k = 0; at != NULL && k < 3; k++) at->position[k] += 7;
}

static void roots_move(const bed *b, const object *all)
{
    for (int i = 0; i < OBJECTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "xo%d", i);
        root_move(b, weft_scene_entity(b->scene, all[i].path));
        weft_entity extra = weft_entity_find(b->world, name);
        if (!weft_entity_is_null(extra)) root_move(b, extra);
    }
}

static weft_scene_desc bed_begin(bed *b)
{
    static const weft_baker_desc baker = {.name = "stand", .property = "Stand", .bake = bake_stand};
    memset(b, 0, sizeof *b);
    b->world = cast_world(1, &b->cast);
    return (weft_scene_desc){
        .bakers = &baker, .baker_count = 1, .read = shelf_read, .user = &b->files};
}

static void bed_end(bed *b)
{
    weft_live_stop(b->live);
    weft_scene_destroy(b->scene);
    CHECK_OK(weft_world_destroy(b->world));
}

PLAIN_TEST(entities_of_a_scene_stand_after_a_step_where_they_were_baked)
{
    test_random random = test_random_init(14);
    for (int round = 0; round < 150; round++) {
        static object all[OBJECTS];
        bed b;
        const weft_scene_desc desc = bed_begin(&b);
        objects_draw(&random, all);
        compute(all);
        shelf_put(&b.files, "a.weft", document(all));
        CHECK_OK(weft_scene_create(b.world, &desc, &b.scene));
        CHECK_BAKES(b.scene, "a.weft");
        CHECK_OK(weft_scene_fill(b.scene, b.world));
        bed_check(&b, all, false);
        CHECK_OK(weft_world_step(b.world, 0));
        bed_check(&b, all, false);
        roots_move(&b, all);
        CHECK_OK(weft_world_step(b.world, 0));
        bed_check(&b, all, true);
        bed_end(&b);
    }
}

PLAIN_TEST(entities_of_a_live_link_stand_after_a_step_where_edits_put_them)
{
    test_random random = test_random_init(15);
    for (int round = 0; round < 60; round++) {
        static object all[OBJECTS];
        bed b;
        const weft_scene_desc scene = bed_begin(&b);
        const weft_live_desc desc = {.scene = &scene,
                                     .paths = (const char *[]){"a.weft"},
                                     .path_count = 1,
                                     .without_thread = true};
        objects_draw(&random, all);
        for (int edit = 0; edit < 8; edit++) {
            object *o = &all[test_random_below(&random, OBJECTS)];
            if (edit != 0) o->has_stand = test_random_below(&random, 5) != 0;
            if (edit != 0) o->stand = stand_draw(&random);
            compute(all);
            shelf_put(&b.files, "a.weft", document(all));
            if (edit == 0) CHECK_OK(weft_live_start(b.world, &desc, &b.live));
            CHECK_OK(weft_live_refresh(b.live));
            CHECK_OK(weft_live_apply(b.live, 0, NULL, 0));
            CHECK_OK(weft_world_step(b.world, 0));
            bed_check(&b, all, false);
        }
        bed_end(&b);
    }
}
