/* SPDX-License-Identifier: MIT */
/* test_refused_scenes.c: refused memory in the functions of scenes and live links, with all that
 * sources and bakers may do: see refused.h. Memory of the world and of the scene is refused. */
#include "gltf_fixture.h"
#include "refused.h"

#include <weft/live.h>

#include <fcntl.h>
#include <unistd.h>

/* What the documents are made of. */
typedef enum sort { DOCUMENTS, PREFABS, BAKERS, SOURCES, GLTF, MISTAKES, SORTS } sort;

static const char *const sort_names[SORTS] = {"documents", "prefabs", "bakers",
                                              "sources",   "gltf",    "mistakes"};

/* Roots by sort, before and after a change. */
static const char *const roots[SORTS] = {"a.weft", "a.weft", "a.weft", "a.rows", "a.glb", "a.weft"};
static const char *const before[SORTS] = {
    [DOCUMENTS] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2}, \"Links\": "
                  "[{\"to\": \"/b\"}, {}, {}, {}, {}, {}]}, \"b\": {\"Team\": {\"number\": 7}, "
                  "\"Note\": {\"number\": 1}, \"disabled\": [\"Shield\"], \"Shield\": "
                  "{\"strength\": 1}, \"name\": \"bee\", \"transform\": {}, \"children\": "
                  "{\"c\": {\"Alive\": true}}}}}",
    [PREFABS] = "{\"weft\": 1, \"use\": {\"parts\": \"parts.weft\"}, \"objects\": {\"a\": "
                "{\"prefab\": \"parts#cart\", \"Spawner\": {\"what\": \"parts#wheel\"}}, \"b\": "
                "{\"prefab\": \"parts#wheel\"}}}",
    [BAKERS] = "{\"weft\": 1, \"prefabs\": {\"p\": {\"Spin\": {\"speed\": 1}}}, \"objects\": "
               "{\"a\": {\"All\": 1, \"Spin\": {\"speed\": 3}, \"children\": {\"x\": {}, \"y\": "
               "{}}}, \"b\": {\"Shield\": {\"strength\": 2}}}}",
    [SOURCES] = "one\ntwo\nsix\n",
    [MISTAKES] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spim\": 1}, \"b\": {\"All\": 1}, \"c\": "
                 "{\"Spin\": {\"speed\": 2}}}}"};
static const char *const after[SORTS] = {
    [DOCUMENTS] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 43}, \"Alive\": "
                  "true}, \"d\": {\"Team\": {\"number\": 8}, \"transform\": {}}, \"b\": "
                  "{\"Team\": {\"number\": 8}}}}",
    [PREFABS] = "{\"weft\": 1, \"use\": {\"parts\": \"parts.weft\"}, \"objects\": {\"a\": "
                "{\"prefab\": \"parts#wheel\", \"Spawner\": {\"what\": \"parts#wheel\"}}, \"c\": "
                "{\"prefab\": \"parts#cart\"}}}",
    [BAKERS] = "{\"weft\": 1, \"prefabs\": {\"p\": {\"Spin\": {\"speed\": 1}}}, \"objects\": "
               "{\"a\": {\"All\": 2, \"Spin\": {\"speed\": 4}, \"children\": {\"x\": {}, \"z\": "
               "{}}}, \"b\": {\"Shield\": {\"strength\": 3}}}}",
    [SOURCES] = "one\ntwo more\nten\n",
    [MISTAKES] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2, \"sped\": 1}}, "
                 "\"b\": {\"All\": 1}, \"c\": {\"Spin\": {\"speed\": 9}}, \"d\": }"};
static const char parts[] =
    "{\"weft\": 1, \"prefabs\": {\"wheel\": {\"Spin\": {\"speed\": 2}, \"children\": {\"cap\": "
    "{\"Alive\": true}}}, \"cart\": {\"children\": {\"left\": {\"prefab\": \"#wheel\"}}}}}";
static const char other_parts[] =
    "{\"weft\": 1, \"prefabs\": {\"wheel\": {\"Spin\": {\"speed\": 3}, \"children\": {\"cap\": "
    "{\"Links\": [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}], \"Team\": "
    "{\"number\": 4}, \"Shield\": {\"strength\": 2}, \"disabled\": [\"Shield\"]}}}, \"cart\": "
    "{\"children\": {\"left\": {\"prefab\": \"#wheel\"}}}}}";

/* Owner: one run. */
typedef struct bed {
    sort sort;
    const refused_place *place;
    shelf files;
    cast cast;
    weft_world *world;
    weft_gltf_components gltf;
    weft_component mesh;
    weft_baker_desc bakers[3];
    weft_source_desc sources[2];
    weft_scene *scene;
    weft_live *live;
    char *glb;
    char path[64]; /* a document on disk, for edits */
} bed;

/* ---- a source and a baker that do all they may ---- */

static weft_result open_rows(weft_source *out, const weft_text *file, void *user)
{
    const char *at = file->bytes, *end = at + file->count;
    weft_text beside;
    (void)user;
    (void)weft_source_file(out, "a.txt", &beside);
    for (uint32_t row = 0; at < end; row++) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        char *name = weft_source_memory(out, 16);
        if (name == NULL) return WEFT_OUT_OF_MEMORY;
        snprintf(name, 16, "row %u", (unsigned)row);
        const uint32_t object =
            weft_source_add(out, &(weft_source_object){.name = name,
                                                       .name_bytes = strlen(name),
                                                       .parent = row == 0 ? WEFT_SOURCE_ROOT : 0,
                                                       .value = at,
                                                       .value_bytes = (size_t)(line - at),
                                                       .data = name});
        if (object == UINT32_MAX) return WEFT_OUT_OF_MEMORY;
        weft_source_property(out, object, "Shield", 6, "{\"strength\": 4}", 15);
        if (*at == 's') weft_source_fail(out, at, "%.3s is not wanted", at);
        at = line + 1;
    }
    return WEFT_OK;
}

static weft_result bits_give(weft_bake *bake, const Mesh *mesh, weft_component component)
{
    weft_blob_builder *builder;
    Mesh value = *mesh;
    weft_result result = weft_blob_builder_create(weft_bake_blobs(bake), &bits_type, 0, &builder);
    if (result != WEFT_OK) return result;
    Bits *bits = weft_blob_builder_root(builder);
    (void)WEFT_BLOB_BUILD_COPY(builder, &bits->numbers, ((uint32_t[]){1, 2}), 2);
    result = weft_blob_builder_finish(builder, &value.bits);
    weft_blob_builder_destroy(builder);
    if (result == WEFT_OK) result = weft_bake_blob(bake, value.bits, &bits_type);
    if (result != WEFT_OK) return result;
    return weft_bake_set(bake, weft_bake_entity(bake, NULL), component, &value, sizeof value);
}

static weft_result bake_all(weft_bake *bake, const weft_object *object, void *user)
{
    const bed *b = user;
    weft_property all;
    weft_text beside;
    Spin spin = {0};
    bool is_there;
    const weft_entity own = weft_bake_entity(bake, NULL), more = weft_bake_entity(bake, "more");
    (void)weft_bake_property(bake, object, "All", &all, 1);
    if (weft_bake_parse(bake, object, "Spin", &spin_type, &spin, &is_there) != WEFT_OK)
        return WEFT_OUT_OF_MEMORY;
    if (!is_there) {
        weft_bake_fail(bake, object, all.json.bytes, "an object with All has Spin, too");
        return WEFT_INVALID_ARGUMENT;
    }
    (void)weft_bake_bytes(bake, object);
    (void)weft_bake_data(bake, object, "rows");
    (void)weft_bake_object(bake, "../b");
    (void)weft_bake_file(bake, "a.txt", &beside);
    const Spawner spawner = {weft_bake_prefab(bake, "#p"), 2};
    const Link links[3] = {{weft_bake_entity_of(bake, "../b"), 1}, {own, 2}, {more, 3}};
    const weft_object *child = weft_bake_child(bake, object, NULL);
    for (; child != NULL; child = weft_bake_child(bake, object, child)) {
        (void)weft_bake_name_of(bake, child);
        (void)weft_bake_path_of(bake, child);
    }
    (void)weft_bake_set(bake, own, b->cast.spawner, &spawner, sizeof spawner);
    (void)weft_bake_set(bake, more, b->cast.shield, &(Shield){spin.speed}, sizeof(Shield));
    (void)weft_bake_disable(bake, more, b->cast.shield);
    (void)weft_bake_buffer(bake, more, b->cast.links, links, 3, sizeof links[0]);
    (void)weft_bake_name(bake, more, "more of it");
    (void)weft_bake_transform(bake, more, (float[]){1, 2, 3}, NULL, NULL, WEFT_TRANSFORM_DYNAMIC);
    return bits_give(bake, &(Mesh){{0}}, b->mesh);
}

static weft_result bake_row(weft_bake *bake, const weft_object *object, void *user)
{
    const bed *b = user;
    Shield shield = {0};
    const weft_text text = weft_bake_bytes(bake, object);
    const weft_result result = weft_bake_parse(bake, object, "Shield", &shield_type, &shield, NULL);
    if (result != WEFT_OK) return result;
    if (weft_bake_data(bake, object, "rows") != NULL) shield.strength += 1;
    shield.strength += (float)text.count;
    return weft_bake_set(bake, weft_bake_entity(bake, NULL), b->cast.shield, &shield,
                         sizeof shield);
}

/* ---- the bed ---- */

static void files_put(bed *b, const char *const *texts)
{
    uint32_t count;
    shelf_put(&b->files, "parts.weft", texts == before ? parts : other_parts);
    shelf_put(&b->files, "a.txt", "beside");
    if (b->sort != GLTF) {
        shelf_put(&b->files, roots[b->sort], texts[b->sort]);
        return;
    }
    gltf_binary numbers = gltf_numbers;
    if (texts == after) numbers.positions[0] = 7;
    free(b->glb);
    b->glb = gltf_glb(gltf_whole, &numbers, sizeof numbers, &count);
    shelf_put_bytes(&b->files, "a.glb", b->glb, count);
}

/* The store of the world has had a blob: its tables, which are kept, are there. */
static void blobs_warm(weft_world *world)
{
    weft_blob_store *store = weft_world_blobs(world);
    weft_blob_builder *builder;
    weft_blob_ref ref;
    CHECK_OK(weft_blob_builder_create(store, &bits_type, 0, &builder));
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    weft_blob_builder_destroy(builder);
    CHECK_OK(weft_blob_release(store, ref));
}

static void *bed_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    memset(b, 0, sizeof *b);
    b->sort = (sort)place->kind;
    b->place = place;
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = place->pool,
                                                  .allocator = place->heap,
                                                  .os = place->os,
                                                  .without_huge_pages = true,
                                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG},
                               &b->world));
    b->cast = cast_register(b->world);
    b->mesh = weft_component_create(b->world, &(weft_component_desc){.type = &mesh_type});
    CHECK(b->mesh.id != 0 && weft_component_parent(b->world).id != 0);
    CHECK(weft_component_instance_of(b->world).id != 0);
    CHECK_OK(weft_scene_gltf_register(b->world, &b->gltf));
    b->bakers[0] = (weft_baker_desc){.name = "all", .property = "All", .bake = bake_all, .user = b};
    b->bakers[1] = (weft_baker_desc){.name = "row", .kind = "rows", .bake = bake_row, .user = b};
    b->bakers[2] = weft_baker_gltf(&b->gltf);
    b->sources[0] = (weft_source_desc){.kind = "rows", .suffixes = ".rows", .open = open_rows};
    b->sources[1] = weft_source_gltf();
    blobs_warm(b->world);
    files_put(b, before);
    return b;
}

static weft_scene_desc scene_of(bed *b)
{
    return (weft_scene_desc){.bakers = b->bakers,
                             .baker_count = 3,
                             .sources = b->sources,
                             .source_count = 2,
                             .read = b->path[0] == '\0' ? shelf_read : NULL,
                             .user = &b->files,
                             .allocator = b->place->heap};
}

static weft_result scene_make(bed *b)
{
    const weft_scene_desc desc = scene_of(b);
    const weft_result result = weft_scene_create(b->world, &desc, &b->scene);
    CHECK(result == WEFT_OK || b->scene == NULL);
    return result;
}

/* Mistakes in documents are no failure here. */
static weft_result bake(bed *b)
{
    const weft_result result = weft_scene_bake(b->scene, &roots[b->sort], 1);
    CHECK(result != WEFT_INVALID_ARGUMENT || weft_scene_mistakes(b->scene, NULL, 0) != 0);
    return result == WEFT_INVALID_ARGUMENT && (b->sort == MISTAKES || b->sort == SOURCES) ? WEFT_OK
                                                                                          : result;
}

static void *scene_opened(const refused_place *place)
{
    bed *b = bed_open(place);
    CHECK_OK(scene_make(b));
    return b;
}

static void *scene_baked(const refused_place *place)
{
    bed *b = scene_opened(place);
    CHECK_OK(bake(b));
    return b;
}

static void *scene_changed(const refused_place *place)
{
    bed *b = scene_baked(place);
    files_put(b, after);
    return b;
}

static weft_result live_make(bed *b)
{
    const char *path = b->path;
    const weft_scene_desc scene = scene_of(b);
    const weft_live_desc desc = {.scene = &scene,
                                 .paths = b->path[0] == '\0' ? &roots[b->sort] : &path,
                                 .path_count = 1,
                                 .policy = b->sort == DOCUMENTS ? WEFT_LIVE_TAKE : 0,
                                 .without_thread = true};
    const weft_result result = weft_live_start(b->world, &desc, &b->live);
    CHECK(result == WEFT_OK || b->live == NULL);
    return result;
}

static void *live_opened(const refused_place *place)
{
    bed *b = bed_open(place);
    CHECK_OK(live_make(b));
    if (b->sort == DOCUMENTS) /* comes again */
        CHECK_OK(weft_entity_destroy(b->world, weft_live_entity(b->live, "b")));
    if (b->sort != PREFABS) return b;
    const Spawner *spawner =
        weft_entity_read(b->world, weft_live_entity(b->live, "a"), b->cast.spawner);
    CHECK_OK(weft_entity_instantiate(b->world, spawner->what, 3, NULL)); /* follow their prefab */
    return b;
}

static void *live_stale(const refused_place *place)
{
    bed *b = live_opened(place);
    files_put(b, after);
    return b;
}

static void *live_refreshed(const refused_place *place)
{
    bed *b = live_stale(place);
    CHECK_OK(weft_live_refresh(b->live));
    return b;
}

/* On disk, as edits are. */
static void *live_written(const refused_place *place)
{
    bed *b = bed_open(place);
    snprintf(b->path, sizeof b->path, "refused-%d.weft", (int)getpid());
    FILE *file = fopen(b->path, "we");
    CHECK(file != NULL && fputs(before[DOCUMENTS], file) >= 0 && fclose(file) == 0);
    CHECK_OK(live_make(b));
    return b;
}

static void *live_edited(const refused_place *place)
{
    bed *b = live_written(place);
    CHECK_OK(weft_live_edit(b->live, "a", "Spin.speed", "43"));
    return b;
}

static void bed_close(void *open)
{
    bed *b = open;
    weft_scene_destroy(b->scene);
    weft_live_stop(b->live);
    CHECK_OK(weft_world_destroy(b->world));
    free(b->glb);
    if (b->path[0] != '\0') unlink(b->path);
}

static uint64_t file_sum(const bed *b)
{
    char text[2000];
    uint64_t sum = 1;
    FILE *file = b->path[0] == '\0' ? NULL : fopen(b->path, "re");
    if (file == NULL) return 0;
    const size_t count = fread(text, 1, sizeof text, file);
    for (size_t i = 0; i < count; i++) sum = sum * 31 + (unsigned char)text[i];
    CHECK(fclose(file) == 0);
    return sum;
}

static void bed_look(void *open, refused_look *out)
{
    const bed *b = open;
    weft_scene_stats s = {0};
    refused_see_world(out, b->world);
    if (b->scene != NULL) weft_scene_stats_get(b->scene, &s, sizeof s);
    refused_see(out, "scene", b->scene != NULL);
    refused_see(out, "objects", s.objects);
    refused_see(out, "entities of the scene", s.entities);
    refused_see(out, "mistakes", s.errors);
    refused_see(out, "blobs of the scene", s.blob_count);
    refused_see(out, "bytes of records", s.record_bytes);
    refused_see(out, "link", b->live != NULL);
    refused_see(out, "file", file_sum(b));
}

static weft_world *bed_world(void *open)
{
    const bed *b = open;
    return b->world;
}

/* ---- the functions ---- */

static weft_result do_scene(void *open)
{
    return scene_make(open);
}

static weft_result do_bake(void *open)
{
    return bake(open);
}

static weft_result do_fill(void *open)
{
    bed *b = open;
    return weft_scene_fill(b->scene, b->world);
}

static weft_result do_explain(void *open)
{
    bed *b = open;
    char text[4000];
    const char *object = b->sort == SOURCES ? "row 0" : b->sort == GLTF ? "root" : "a";
    (void)weft_scene_explain(b->scene, object, false, text, sizeof text);
    (void)weft_scene_explain(b->scene, object, true, text, sizeof text);
    return WEFT_OK;
}

static weft_result do_stale(void *open)
{
    bed *b = open;
    (void)weft_scene_is_stale(b->scene);
    return WEFT_OK;
}

static weft_result do_wait(void *open)
{
    bed *b = open;
    (void)weft_scene_wait(b->scene, 0);
    return WEFT_OK;
}

static weft_result do_live(void *open)
{
    return live_make(open);
}

static weft_result do_refresh(void *open)
{
    bed *b = open;
    return weft_live_refresh(b->live);
}

static weft_result do_apply(void *open)
{
    bed *b = open;
    return weft_live_apply(b->live, 0, NULL, 0);
}

static weft_result do_live_explain(void *open)
{
    bed *b = open;
    char text[4000];
    (void)weft_live_explain(b->live, "a", true, text, sizeof text);
    return WEFT_OK;
}

static weft_result do_edit(void *open)
{
    bed *b = open;
    return weft_live_edit(b->live, "a", "Spin.speed", "43");
}

static weft_result do_undo(void *open)
{
    bed *b = open;
    return weft_live_undo(b->live);
}

static weft_result do_stop(void *open)
{
    bed *b = open;
    weft_live_stop(b->live);
    b->live = NULL;
    return WEFT_OK;
}

static weft_result do_register(void *open)
{
    bed *b = open;
    weft_gltf_components found;
    return weft_scene_gltf_register(b->world, &found);
}

/* ---- the tables ---- */

static const refused_function on_worlds[] = {
    {"weft_scene_create", do_scene, 0, 0},
    {"weft_live_start", do_live, REFUSED_KINDS | REFUSED_WORKERS, 0},
    {"weft_scene_gltf_register", do_register, REFUSED_TYPES, 0},
};
static const refused_function on_scenes[] = {
    {"weft_scene_bake", do_bake, REFUSED_KINDS | REFUSED_WORKERS, 0},
};
static const refused_function on_baked[] = {
    {"weft_scene_fill", do_fill, REFUSED_KINDS, 0},
    {"weft_scene_explain", do_explain, REFUSED_KINDS | REFUSED_LESS, 0},
};
static const refused_function on_changed[] = {
    {"weft_scene_bake changed", do_bake, REFUSED_KINDS | REFUSED_WORKERS, 0},
    {"weft_scene_is_stale", do_stale, REFUSED_KINDS | REFUSED_LESS, 0},
    {"weft_scene_wait", do_wait, REFUSED_KINDS | REFUSED_LESS, 0},
};
static const refused_function on_links[] = {
    {"weft_live_stop", do_stop, 0, 0},
    {"weft_live_explain", do_live_explain, REFUSED_LESS, 0},
};
static const refused_function on_stale[] = {
    {"weft_live_refresh", do_refresh, REFUSED_KINDS | REFUSED_WORKERS, 0},
};
static const refused_function on_refreshed[] = {
    {"weft_live_apply", do_apply, REFUSED_KINDS | REFUSED_LATER, 0},
};
static const refused_function on_written[] = {
    {"weft_live_edit", do_edit, 0, 0},
};
static const refused_function on_edited[] = {
    {"weft_live_undo", do_undo, 0, 0},
};

static const refused_bed bed_of_scenes = {.close = bed_close,
                                          .look = bed_look,
                                          .world = bed_world,
                                          .kinds = sort_names,
                                          .kind_count = SORTS,
                                          .fewest = 1,
                                          .is_small = true};

PLAIN_TEST(refused_scenes_and_links_are_not_there)
{
    refused_sweep_of(&bed_of_scenes, "a world", bed_open, REFUSED_LIST(on_worlds));
}

PLAIN_TEST(refused_bakes_leave_the_scene_as_before)
{
    refused_sweep_of(&bed_of_scenes, "a scene", scene_opened, REFUSED_LIST(on_scenes));
    refused_sweep_of(&bed_of_scenes, "a baked scene", scene_baked, REFUSED_LIST(on_baked));
    refused_sweep_of(&bed_of_scenes, "a baked scene, changed files", scene_changed,
                     REFUSED_LIST(on_changed));
}

PLAIN_TEST(refused_links_follow_later)
{
    refused_bed swept = bed_of_scenes;
    swept.fewest = 0; /* of calls on a link without news */
    refused_sweep_of(&swept, "a link", live_opened, REFUSED_LIST(on_links));
    refused_sweep_of(&bed_of_scenes, "a link, changed files", live_stale, REFUSED_LIST(on_stale));
    refused_sweep_of(&bed_of_scenes, "a link with news", live_refreshed,
                     REFUSED_LIST(on_refreshed));
}

PLAIN_TEST(refused_edits_leave_the_text_as_before)
{
    refused_sweep_of(&bed_of_scenes, "a link of a file", live_written, REFUSED_LIST(on_written));
    refused_sweep_of(&bed_of_scenes, "a link with an edit", live_edited, REFUSED_LIST(on_edited));
}
