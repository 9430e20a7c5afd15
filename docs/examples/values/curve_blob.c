/* SPDX-License-Identifier: MIT */
/* curve_blob.c: a blob: immutable data that many entities and all systems share, found by a
 * reference. */
#include <stdio.h>
#include <weft/blob.h>
#include <weft/weft.h>

typedef struct {
    WEFT_BLOB_ARRAY(float) heights;
} Curve;
typedef struct {
    weft_blob_ref curve;
    float at, value;
} Follow;

static const weft_blob_field curve_fields[] = {WEFT_BLOB_FIELD_ARRAY(Curve, heights, NULL)};
static const weft_blob_type curve_type = WEFT_BLOB_TYPE(Curve, curve_fields);

static void follow(weft_slice *slice, void *user)
{
    Follow *f = WEFT_WRITE_COLUMN(slice, 0, Follow);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        const Curve *curve = weft_blob_read(user, f[i].curve, &curve_type); /* any thread */
        if (curve == NULL) continue;
        f[i].value =
            *WEFT_BLOB_AT(&curve->heights, (uint32_t)f[i].at % WEFT_BLOB_COUNT(&curve->heights));
        f[i].at += 1;
    }
}

static weft_blob_ref build(weft_blob_store *store)
{
    weft_blob_ref ref = {0};
    weft_blob_builder *builder;
    if (weft_blob_builder_create(store, &curve_type, 0, &builder) != WEFT_OK) return ref;
    Curve *curve = weft_blob_builder_root(builder);
    float *heights = WEFT_BLOB_BUILD_ARRAY(builder, &curve->heights, 4);
    for (int i = 0; heights != NULL && i < 4; i++) heights[i] = (float)(i * i);
    if (weft_blob_builder_finish(builder, &ref) != WEFT_OK)
        puts(weft_blob_builder_error(builder)->text);
    weft_blob_builder_destroy(builder);
    return ref;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component following = WEFT_COMPONENT(world, Follow);
    weft_blob_store *store = weft_world_blobs(world);
    weft_blob_ref squares = build(store);
    weft_entity dot = weft_entity_create(world, WEFT_ARCHETYPE(world, following));
    WEFT_SET(world, dot, following, Follow, {.curve = squares});
    weft_system_create(world, &(weft_system_desc){.name = "follow",
                                                  .run = follow,
                                                  .user = store,
                                                  .over.rows.terms = {{following, WEFT_WRITE}}});
    for (int i = 0; i < 4; i++) {
        weft_world_step(world, 1);
        printf("at %d: %g\n", i,
               (double)((const Follow *)weft_entity_read(world, dot, following))->value);
    }
    weft_blob_release(store, squares);
    weft_world_destroy(world);
}

/* prints:
 * at 0: 0
 * at 1: 1
 * at 2: 4
 * at 3: 9
 */
