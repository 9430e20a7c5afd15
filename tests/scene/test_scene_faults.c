/* SPDX-License-Identifier: MIT */
/* test_scene_faults.c: refused memory at every allocation of a bake leaves the scene as it was, and
 * nothing behind; documents made to hurt end in a mistake, soon. */
#include "memory_fault.h"
#include "scene_fixture.h"

static const char library[] =
    "{\"weft\": 1, \"prefabs\": {\"wheel\": {\"Spin\": {\"speed\": 2}, \"children\": {\"cap\": "
    "{\"Alive\": true}}}, \"cart\": {\"children\": {\"left\": {\"prefab\": \"#wheel\"}}}}}";
static const char before[] =
    "{\"weft\": 1, \"use\": {\"parts\": \"parts.weft\"}, \"objects\": {\"a\": {\"prefab\": "
    "\"parts#cart\", \"Spawner\": {\"what\": \"parts#wheel\"}}, \"b\": {\"Links\": [{\"to\": "
    "\"../a\"}], \"Team\": {\"number\": 3}, \"Bits\": 1}}}";
static const char after[] =
    "{\"weft\": 1, \"use\": {\"parts\": \"parts.weft\"}, \"objects\": {\"a\": {\"prefab\": "
    "\"parts#wheel\", \"Links\": [{}, {}]}, \"c\": {\"Shield\": {\"strength\": 1}, \"Bits\": 2, "
    "\"Spim\": 1}, \"d\": {\"transform\": {}}}}";

static weft_result bake_bits(weft_bake *bake, const weft_object *object, void *user)
{
    const weft_component *mesh = user;
    weft_blob_builder *builder;
    weft_property text;
    Mesh value;
    weft_bake_property(bake, object, "Bits", &text, 1);
    weft_bake_object(bake, "../b");
    weft_bake_file(bake, "bits.txt", &(weft_text){0});
    weft_result result = weft_blob_builder_create(weft_bake_blobs(bake), &bits_type, 0, &builder);
    if (result != WEFT_OK) return result;
    const uint32_t numbers[] = {(uint32_t)text.json.bytes[0], 7};
    WEFT_BLOB_BUILD_COPY(builder, &((Bits *)weft_blob_builder_root(builder))->numbers, numbers, 2);
    result = weft_blob_builder_finish(builder, &value.bits);
    weft_blob_builder_destroy(builder);
    if (result == WEFT_OK) result = weft_bake_blob(bake, value.bits, &bits_type);
    if (result != WEFT_OK) return result;
    return weft_bake_set(bake, weft_bake_entity(bake, NULL), *mesh, &value, sizeof value);
}

/* ---- refused memory ---- */

/* A scene whose memory is refused; the world's is not. */
typedef struct stage {
    test_memory memory;
    shelf files;
    weft_world *world;
    weft_component mesh;
    weft_baker_desc baker;
    weft_scene *scene;
} stage;

static weft_result stage_scene(stage *s)
{
    return weft_scene_create(s->world,
                             &(weft_scene_desc){.bakers = &s->baker,
                                                .baker_count = 1,
                                                .read = shelf_read,
                                                .user = &s->files,
                                                .allocator = test_memory_hook(&s->memory)},
                             &s->scene);
}

static void stage_begin(stage *s, uint32_t workers)
{
    cast c;
    memset(s, 0, sizeof *s);
    test_memory_init(&s->memory);
    s->world = cast_world(workers, &c);
    s->mesh = weft_component_create(s->world, &(weft_component_desc){.type = &mesh_type});
    s->baker =
        (weft_baker_desc){.name = "bits", .property = "Bits", .bake = bake_bits, .user = &s->mesh};
    shelf_put(&s->files, "parts.weft", library);
    shelf_put(&s->files, "a.weft", before);
}

static void stage_end(stage *s)
{
    weft_scene_destroy(s->scene);
    CHECK_OK(weft_world_destroy(s->world));
    test_memory_fini(&s->memory);
}

static weft_result bake(stage *s)
{
    return weft_scene_bake(s->scene, (const char *[]){"a.weft"}, 1);
}

static void sweep(uint32_t workers, bool is_forever)
{
    stage s;
    stage_begin(&s, workers);
    weft_result result = WEFT_OUT_OF_MEMORY;
    for (uint64_t k = 1; result == WEFT_OUT_OF_MEMORY; k++) { /* create */
        test_memory_fail(&s.memory, k, is_forever);
        result = stage_scene(&s);
        if (result != WEFT_OK) CHECK(s.scene == NULL && s.memory.live_blocks == 0);
    }
    test_memory_fail(&s.memory, 0, false);
    CHECK_OK(result);
    result = WEFT_OUT_OF_MEMORY;
    uint64_t refused = 0;
    for (uint64_t k = 1; result == WEFT_OUT_OF_MEMORY; k++, refused++) { /* the first bake */
        test_memory_fail(&s.memory, k, is_forever);
        result = bake(&s);
        if (result == WEFT_OUT_OF_MEMORY) CHECK_U64(weft_scene_mistakes(s.scene, NULL, 0), 0);
    }
    CHECK_OK(result);
    CHECK(refused > 20);
    weft_scene_stats was, is;
    weft_scene_stats_get(s.scene, &was, sizeof was);
    CHECK_U64(was.errors, 0);
    shelf_put(&s.files, "a.weft", after);
    result = WEFT_OUT_OF_MEMORY;
    for (uint64_t k = 1; result == WEFT_OUT_OF_MEMORY; k++) { /* a bake of a change */
        test_memory_fail(&s.memory, k, is_forever);
        result = bake(&s);
        weft_scene_stats_get(s.scene, &is, sizeof is);
        if (result == WEFT_OUT_OF_MEMORY) CHECK(memcmp(&was, &is, sizeof was) == 0);
    }
    CHECK_RESULT(result, WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_scene_mistakes(s.scene, NULL, 0), 1);
    result = WEFT_OUT_OF_MEMORY;
    weft_world_stats empty, left;
    weft_world_stats_get(s.world, &empty, sizeof empty);
    for (uint64_t k = 1; result == WEFT_OUT_OF_MEMORY; k++) { /* a fill */
        test_memory_fail(&s.memory, k, is_forever);
        result = weft_scene_fill(s.scene, s.world);
        weft_world_stats_get(s.world, &left, sizeof left);
        if (result == WEFT_OUT_OF_MEMORY) CHECK_U64(left.entities, empty.entities);
    }
    CHECK_OK(result);
    test_memory_fail(&s.memory, 0, false);
    CHECK_OK(weft_world_validate(s.world));
    stage_end(&s);
}

PLAIN_TEST(refused_memory_leaves_the_scene_as_it_was)
{
    sweep(1, false);
    sweep(1, true);
    sweep(2, false);
}

PLAIN_TEST(blobs_are_in_a_scene_once_and_go_with_their_objects)
{
    stage s;
    stage_begin(&s, 1);
    CHECK_OK(stage_scene(&s));
    shelf_put(&s.files, "a.weft",
              "{\"weft\": 1, \"objects\": {\"b\": {\"Bits\": 1}, \"c\": {\"Bits\": 1}, \"d\": "
              "{\"Bits\": 2}}}");
    weft_scene_stats stats;
    CHECK_OK(bake(&s));
    weft_scene_stats_get(s.scene, &stats, sizeof stats);
    CHECK_U64(stats.blob_count, 2);
    CHECK_OK(weft_scene_fill(s.scene, s.world));
    const Mesh *b = weft_entity_read(s.world, weft_scene_entity(s.scene, "b"), s.mesh);
    const Mesh *c = weft_entity_read(s.world, weft_scene_entity(s.scene, "c"), s.mesh);
    CHECK(b->bits.id == c->bits.id && b->bits.id != 0);
    const Bits *bits = weft_blob_read(weft_world_blobs(s.world), b->bits, &bits_type);
    CHECK(bits != NULL && *WEFT_BLOB_AT(&bits->numbers, 1) == 7);
    shelf_put(&s.files, "a.weft", "{\"weft\": 1, \"objects\": {\"d\": {\"Bits\": 2}}}");
    CHECK_OK(bake(&s));
    weft_scene_stats_get(s.scene, &stats, sizeof stats);
    CHECK_U64(stats.blob_count, 1);
    stage_end(&s);
}

/* ---- documents made to hurt ---- */

static char *repeat(const char *head, const char *part, uint32_t count, const char *tail)
{
    size_t bytes = strlen(head) + count * strlen(part) + strlen(tail) + 1, at = 0;
    char *text = malloc(bytes);
    at += (size_t)sprintf(text, "%s", head);
    for (uint32_t i = 0; i < count; i++) at += (size_t)sprintf(text + at, "%s", part);
    sprintf(text + at, "%s", tail);
    return text;
}

/* Bakes a document with 10,000 objects at most; the mistake must contain `said`. */
static void check_hostile(char *text, const char *said)
{
    cast c;
    shelf files = {0};
    weft_scene *scene;
    weft_world *world = cast_world(1, &c);
    CHECK_OK(weft_scene_create(
        world, &(weft_scene_desc){.read = shelf_read, .user = &files, .object_limit = 10000},
        &scene));
    shelf_put(&files, "a.weft", text);
    CHECK_RESULT(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1), WEFT_INVALID_ARGUMENT);
    bool is_said = false;
    for (uint32_t i = 0; mistake_of(scene, i) != NULL; i++)
        is_said |= strstr(mistake_of(scene, i)->text, said) != NULL;
    if (!is_said) print_mistakes(scene);
    CHECK(is_said);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
    free(text);
}

PLAIN_TEST(documents_made_to_hurt_end_in_a_mistake)
{
    check_hostile(repeat("{\"weft\": 1, \"objects\": ", "{\"a\": {\"children\": ", 1000, ""),
                  "more than 64 objects and arrays within each other");
    check_hostile(repeat("{\"weft\": 1, \"objects\": {\"a\": {", "\"x\":[],", 3, "}}}"),
                  "this name stands twice");
    /* prefabs that double: 2^40 objects */
    char *bombs = malloc(1 << 16);
    size_t at = (size_t)sprintf(bombs, "{\"weft\": 1, \"prefabs\": {\"p0\": {}");
    for (int i = 1; i < 30; i++)
        at += (size_t)sprintf(bombs + at,
                              ", \"p%d\": {\"children\": {\"a\": {\"prefab\": \"#p%d\"}, \"b\": "
                              "{\"prefab\": \"#p%d\"}}}",
                              i, i - 1, i - 1);
    sprintf(bombs + at, "}, \"objects\": {\"x\": {\"prefab\": \"#p29\"}}}");
    check_hostile(bombs, "more objects than");
    /* a chain of prefabs */
    char *chain = malloc(1 << 16);
    at = (size_t)sprintf(chain, "{\"weft\": 1, \"prefabs\": {\"p0\": {}");
    for (int i = 1; i < 60; i++)
        at += (size_t)sprintf(chain + at, ", \"p%d\": {\"prefab\": \"#p%d\"}", i, i - 1);
    sprintf(chain + at, "}, \"objects\": {\"x\": {\"prefab\": \"#p59\"}}}");
    check_hostile(chain, "more than 32 prefabs within each other");
    check_hostile(repeat("{\"weft\": 1, \"objects\": {\"a\": {\"Links\": [", "{},", 200000,
                         "{\"weight\": 99999999999}]}}}"),
                  "a.Links");
    check_hostile(repeat("{\"weft\": 1, \"objects\": {\"a\": {\"prefab\": \"", "#", 5000, "\"}}}"),
                  "the file has no object of this name");
    check_hostile(repeat("{\"weft\": 1, \"objects\": {\"a\": {\"Spawner\": {\"what\": \"", "../",
                         60, "\"}}}}"),
                  "no object has this path");
    check_hostile(repeat("{\"weft\": 1, \"use\": {\"x\": \"", "../", 5000, "\"}}"), "no path");
    check_hostile(repeat("{\"weft\": 1, \"objects\": {\"", "n", 300, "\": {}}}"), "1 to 255 bytes");
}

PLAIN_TEST(files_that_are_none_are_refused)
{
    cast c;
    weft_scene *scene;
    weft_world *world = cast_world(1, &c);
    CHECK_OK(weft_scene_create(world, NULL, &scene));
    const char *const paths[] = {"/dev/zero", "/", "/no/such/file.weft"};
    for (int i = 0; i < 3; i++) {
        CHECK_RESULT(weft_scene_bake(scene, &paths[i], 1), WEFT_INVALID_ARGUMENT);
        CHECK(strstr(mistake_of(scene, 0)->text, "cannot be read") != NULL);
        CHECK_RESULT(mistake_of(scene, 0)->code, i == 2 ? WEFT_NOT_FOUND : WEFT_IO);
        CHECK_TEXT(mistake_of(scene, 0)->file, paths[i]);
    }
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}
