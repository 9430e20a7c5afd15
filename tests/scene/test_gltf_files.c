/* SPDX-License-Identifier: MIT */
/* test_gltf_files.c: what becomes of glTF files: entities, blobs, properties; mistakes say what is
 * wrong; every number out of range, every cut and every refused allocation ends well. */
#include "gltf_fixture.h"

#include <weft/live.h>

#include <math.h>

static const void *blob_at(const gltf_stage *s, weft_blob_ref ref, const weft_blob_type *type)
{
    const void *blob = weft_blob_read(weft_world_blobs(s->world), ref, type);
    CHECK(blob != NULL);
    return blob;
}

static void check_mesh(gltf_stage *s, const GltfMesh *value)
{
    const weft_gltf_mesh *mesh = blob_at(s, value->mesh, &weft_gltf_mesh_type);
    CHECK(strcmp(weft_blob_string_text(&mesh->name), "tri") == 0);
    CHECK(mesh->high.x == 2 && mesh->high.y == 3 && mesh->low.x == 0);
    CHECK_U64(WEFT_BLOB_COUNT(&mesh->primitives), 1);
    CHECK(*WEFT_BLOB_AT(&mesh->weights, 0) == 0.5f);
    const weft_gltf_primitive *p = WEFT_BLOB_AT(&mesh->primitives, 0);
    CHECK(strcmp(weft_blob_string_text(&p->material), "red") == 0);
    CHECK(p->base_colour[0] == 1 && p->base_colour[3] == 0.5f);
    CHECK_U64(p->mode, WEFT_GLTF_TRIANGLES);
    CHECK_U64(p->vertex_count, 3);
    CHECK(WEFT_BLOB_AT(&p->positions, 2)->y == 3);
    CHECK_U64(*WEFT_BLOB_AT(&p->indices, 0), 2);
    CHECK(WEFT_BLOB_AT(&p->weights, 2)->x == 0.2f);
    CHECK_U64(WEFT_BLOB_COUNT(&p->joints), 3);
    const weft_gltf_morph *morph = WEFT_BLOB_AT(&p->morphs, 0);
    CHECK(WEFT_BLOB_AT(&morph->positions, 0)->x == 0);
    CHECK(WEFT_BLOB_AT(&morph->positions, 1)->z == 7);
}

static void check_walk(gltf_stage *s, weft_entity root)
{
    const weft_buffer *buffer = weft_entity_read(s->world, root, s->gltf.animation);
    CHECK(buffer != NULL && buffer->count == 1);
    const GltfAnimation *all = weft_buffer_read(buffer);
    CHECK(strcmp(all->name, "walk") == 0);
    const weft_gltf_animation *walk = blob_at(s, all->animation, &weft_gltf_animation_type);
    const weft_gltf_channel *channel = WEFT_BLOB_AT(&walk->channels, 0);
    CHECK(walk->seconds == 1.5f);
    CHECK(strcmp(weft_blob_string_text(&channel->target), "root/part~2") == 0);
    CHECK_U64(WEFT_BLOB_COUNT(&channel->times), 2);
    CHECK_U64(WEFT_BLOB_COUNT(&channel->values), 6);
    CHECK(*WEFT_BLOB_AT(&channel->values, 5) == 3);
}

static void check_whole(gltf_stage *s)
{
    CHECK_OK(weft_scene_fill(s->scene, s->world));
    weft_entity root = weft_scene_entity(s->scene, "root");
    weft_entity part = weft_scene_entity(s->scene, "root/part");
    weft_entity other = weft_scene_entity(s->scene, "root/part~2");
    CHECK(!weft_entity_is_null(other) && !weft_entity_is_null(root));
    const GltfMesh *mesh = weft_entity_read(s->world, part, s->gltf.mesh);
    const GltfMesh *same = weft_entity_read(s->world, other, s->gltf.mesh);
    CHECK(mesh != NULL && same != NULL && mesh->mesh.id == same->mesh.id);
    check_mesh(s, mesh);
    const Shield *shield = weft_entity_read(s->world, part, s->cast.shield);
    const Spin *spin = weft_entity_read(s->world, part, s->cast.spin);
    CHECK(shield != NULL && shield->strength == 7);
    CHECK(spin != NULL && spin->speed == 3);
    const GltfSkin *skin = weft_entity_read(s->world, part, s->gltf.skin);
    const weft_gltf_skin *bones = blob_at(s, skin->skin, &weft_gltf_skin_type);
    CHECK(strcmp(weft_blob_string_text(WEFT_BLOB_AT(&bones->joints, 0)), "root") == 0);
    CHECK(WEFT_BLOB_AT(&bones->inverse_bind, 0)->at[13] == 5);
    CHECK(weft_entity_has(s->world, part, s->gltf.joint));
    CHECK(weft_entity_has(s->world, root, s->gltf.animation));
    CHECK(!weft_entity_has(s->world, other, s->gltf.animation));
    check_walk(s, root);
    CHECK_OK(weft_world_validate(s->world));
}

PLAIN_TEST(a_file_with_every_feature_becomes_entities_and_blobs)
{
    gltf_stage s;
    uint32_t count;
    weft_scene_stats stats;
    char *glb = gltf_glb(gltf_whole, &gltf_numbers, sizeof gltf_numbers, &count);
    gltf_begin(&s);
    shelf_put_bytes(&s.files, "a.glb", glb, count);
    CHECK_BAKES(s.scene, "a.glb");
    weft_scene_stats_get(s.scene, &stats, sizeof stats);
    CHECK_U64(stats.entities, 4);
    CHECK_U64(stats.blob_count, 3);
    check_whole(&s);
    CHECK(!weft_entity_is_null(weft_scene_entity(s.scene, "node3")));
    gltf_end(&s);
    free(glb);
}

#define HEAD "{\"asset\":{\"version\":\"2.0\"},"

/* A file that must be refused, with a mistake that contains `said`. */
static void check_refused(const char *json, const char *said)
{
    gltf_stage s;
    gltf_begin(&s);
    shelf_put(&s.files, "a.gltf", json);
    CHECK_RESULT(gltf_bake(&s, "a.gltf"), WEFT_INVALID_ARGUMENT);
    if (strstr(gltf_said(&s), said) == NULL) print_mistakes(s.scene);
    CHECK(strstr(gltf_said(&s), said) != NULL);
    gltf_end(&s);
}

PLAIN_TEST(mistakes_are_told)
{
    check_refused("", "the text ends");
    check_refused("[]", "one JSON object");
    check_refused("{}", "version");
    check_refused(HEAD "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}", "draco");
    check_refused(HEAD "\"nodes\":[{\"children\":[1]},{\"children\":[0]}]}", "below itself");
    check_refused(HEAD "\"nodes\":[{\"children\":[2]},{\"children\":[2]},{}]}", "two parents");
    check_refused(HEAD "\"nodes\":[{\"children\":[5]}]}", "not the number of a node");
    check_refused(HEAD "\"nodes\":[{\"mesh\":0}]}", "list that is empty");
    check_refused(HEAD "\"nodes\":[{\"matrix\":[1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,1]}]}", "shear");
    check_refused(HEAD "\"nodes\":[{\"rotation\":[1,1,1,1]}]}", "unit quaternion");
    check_refused(HEAD "\"nodes\":[{\"extras\":{\"weft\":3}}]}", "object of properties");
    check_refused(HEAD "\"nodes\":[{\"extras\":{\"Nothing.x\":3}}]}", "Nothing");
    check_refused(HEAD "\"buffers\":[{\"uri\":\"none.bin\",\"byteLength\":4}]}", "none.bin");
    check_refused(HEAD "\"buffers\":[{\"uri\":\"data:;base64,A!\",\"byteLength\":1}]}", "base64");
    check_refused(HEAD "\"accessors\":[{\"count\":1000000,\"componentType\":5126,\"type\":"
                       "\"VEC3\"}]}",
                  "without a \"bufferView\"");
}

/* gltf_whole with other bytes or another JSON must be refused, with a mistake that contains
 * `said`. */
static void check_refused_numbers(const gltf_binary *numbers, const char *json, const char *said)
{
    gltf_stage s;
    uint32_t count;
    char *glb = gltf_glb(json, numbers, sizeof *numbers, &count);
    gltf_begin(&s);
    shelf_put_bytes(&s.files, "a.glb", glb, count);
    CHECK_RESULT(gltf_bake(&s, "a.glb"), WEFT_INVALID_ARGUMENT);
    if (strstr(gltf_said(&s), said) == NULL) print_mistakes(s.scene);
    CHECK(strstr(gltf_said(&s), said) != NULL);
    gltf_end(&s);
    free(glb);
}

PLAIN_TEST(numbers_that_are_not_finite_and_joints_beyond_the_skin_are_refused)
{
    static const size_t floats[] = {
        offsetof(gltf_binary, positions) + 16, offsetof(gltf_binary, sparse_values) + 4,
        offsetof(gltf_binary, places) + 20, offsetof(gltf_binary, matrix) + 48};
    const float bad[] = {(float)NAN, INFINITY, -INFINITY};
    for (uint32_t i = 0; i < 12; i++) {
        gltf_binary numbers = gltf_numbers;
        memcpy((char *)&numbers + floats[i / 3], &bad[i % 3], sizeof(float));
        check_refused_numbers(&numbers, gltf_whole, "not finite");
    }
    gltf_binary numbers = gltf_numbers;
    numbers.times[1] = INFINITY;
    check_refused_numbers(&numbers, gltf_whole, "should ascend");
    numbers = gltf_numbers;
    numbers.joints[6] = 1;
    check_refused_numbers(&numbers, gltf_whole, "names a joint that the skin of the node lacks");
    static const char *const large[][2] = {{"[1,0,0,0.5]", "[1,0,0,1e39]"},
                                           {"\"weights\":[0.5]", "\"weights\":[1e39]"}};
    for (uint32_t i = 0; i < 2; i++) {
        char json[sizeof gltf_whole + 16];
        const char *at = strstr(gltf_whole, large[i][0]);
        CHECK(at != NULL);
        snprintf(json, sizeof json, "%.*s%s%s", (int)(at - gltf_whole), gltf_whole, large[i][1],
                 at + strlen(large[i][0]));
        check_refused_numbers(&gltf_numbers, json, "should fit into floats");
    }
}

PLAIN_TEST(buffers_come_from_files_and_data_uris_and_scenes_have_names)
{
    gltf_stage s;
    gltf_begin(&s);
    static const char json[] = HEAD
        "\"scenes\":[{\"name\":\"day\",\"nodes\":[0]},{\"nodes\":[1]}],\"nodes\":[{\"name\":"
        "\"a/b\",\"mesh\":0,\"scale\":[1,2,3]},{\"mesh\":1}],\"meshes\":[{\"primitives\":[{"
        "\"attributes\":{\"POSITION\":0}}]},{\"primitives\":[{\"attributes\":{\"POSITION\":1}}]}],"
        "\"buffers\":[{\"uri\":\"my%20b.bin\",\"byteLength\":12},{\"uri\":\"data:application/"
        "octet-stream;base64,AACAPwAAAEAAAEBA\",\"byteLength\":12}],\"bufferViews\":[{\"buffer\":"
        "0,\"byteLength\":12},{\"buffer\":1,\"byteLength\":12}],\"accessors\":[{\"bufferView\":0,"
        "\"componentType\":5126,\"type\":\"VEC3\",\"count\":1},{\"bufferView\":1,"
        "\"componentType\":5126,\"type\":\"VEC3\",\"count\":1}]}";
    static const float numbers[3] = {4, 5, 6};
    shelf_put(&s.files, "a.gltf", json);
    shelf_put_bytes(&s.files, "my b.bin", (const char *)numbers, sizeof numbers);
    CHECK_BAKES(s.scene, "a.gltf");
    CHECK_OK(weft_scene_fill(s.scene, s.world));
    const GltfMesh *a =
        weft_entity_read(s.world, weft_scene_entity(s.scene, "day/a_b"), s.gltf.mesh);
    const GltfMesh *b =
        weft_entity_read(s.world, weft_scene_entity(s.scene, "scene1/node1"), s.gltf.mesh);
    CHECK(a != NULL && b != NULL);
    CHECK(((const weft_gltf_mesh *)blob_at(&s, a->mesh, &weft_gltf_mesh_type))->high.z == 6);
    CHECK(((const weft_gltf_mesh *)blob_at(&s, b->mesh, &weft_gltf_mesh_type))->high.z == 3);
    gltf_end(&s);
}

PLAIN_TEST(a_live_link_bakes_models_in_its_own_schema)
{
    gltf_stage s;
    weft_live *live;
    uint32_t count;
    char *glb = gltf_glb(gltf_whole, &gltf_numbers, sizeof gltf_numbers, &count);
    gltf_begin(&s);
    shelf_put_bytes(&s.files, "a.glb", glb, count);
    const weft_baker_desc baker = weft_baker_gltf(&s.gltf);
    const weft_source_desc source = weft_source_gltf();
    const weft_scene_desc scene = {.bakers = &baker,
                                   .baker_count = 1,
                                   .sources = &source,
                                   .source_count = 1,
                                   .read = shelf_read,
                                   .user = &s.files};
    const weft_live_desc desc = {.scene = &scene,
                                 .paths = (const char *[]){"a.glb"},
                                 .path_count = 1,
                                 .without_thread = true};
    CHECK_OK(weft_live_start(s.world, &desc, &live));
    CHECK(weft_live_mistakes(live, NULL, 0) == 0);
    const GltfMesh *mesh =
        weft_entity_read(s.world, weft_live_entity(live, "root/part"), s.gltf.mesh);
    CHECK(mesh != NULL);
    check_mesh(&s, mesh);
    weft_live_stop(live);
    gltf_end(&s);
    free(glb);
}

/* ---- hostile files ---- */

/* Bakes bytes; whatever comes of it, the world is valid, and a refusal is told. */
static void try_bytes(gltf_stage *s, const char *glb, uint32_t count)
{
    char *copy = malloc(count + 1); /* its exact size, for AddressSanitizer */
    memcpy(copy, glb, count);
    shelf_put_bytes(&s->files, "a.glb", copy, count);
    weft_result result = gltf_bake(s, "a.glb");
    if (result != WEFT_OK) {
        CHECK_RESULT(result, WEFT_INVALID_ARGUMENT);
        CHECK(gltf_said(s)[0] != '\0');
    }
    shelf_put(&s->files, "a.glb", NULL);
    free(copy);
}

PLAIN_TEST(a_cut_file_is_refused_at_every_byte)
{
    gltf_stage s;
    uint32_t count;
    char *glb = gltf_glb(gltf_whole, &gltf_numbers, sizeof gltf_numbers, &count);
    gltf_begin(&s);
    for (uint32_t i = 0; i < count; i++) {
        try_bytes(&s, glb, i);
        CHECK(weft_scene_mistakes(s.scene, NULL, 0) != 0);
    }
    gltf_end(&s);
    free(glb);
}

PLAIN_TEST(every_number_out_of_range_ends_in_a_mistake_or_a_right_result)
{
    static const char *const numbers[] = {
        "-1", "999", "4294967295", "4294967296", "9007199254740993", "1e300", "0.5", "[]"};
    gltf_stage s;
    uint32_t count, tried = 0;
    char json[sizeof gltf_whole + 32];
    gltf_begin(&s);
    for (size_t i = 0; gltf_whole[i] != '\0'; i++) {
        bool is_number = gltf_whole[i] >= '0' && gltf_whole[i] <= '9' &&
                         strchr(":[,", gltf_whole[i - 1]) != NULL;
        size_t digits = is_number ? strspn(gltf_whole + i, "0123456789.") : 0;
        for (uint32_t k = 0; is_number && k < sizeof numbers / sizeof numbers[0]; k++, tried++) {
            snprintf(json, sizeof json, "%.*s%s%s", (int)i, gltf_whole, numbers[k],
                     gltf_whole + i + digits);
            char *glb = gltf_glb(json, &gltf_numbers, sizeof gltf_numbers, &count);
            try_bytes(&s, glb, count);
            free(glb);
        }
    }
    CHECK(tried > 500);
    gltf_end(&s);
}

PLAIN_TEST(refused_memory_leaves_nothing_behind)
{
    uint32_t count;
    weft_result result = WEFT_OUT_OF_MEMORY;
    uint64_t refused = 0;
    char *glb = gltf_glb(gltf_whole, &gltf_numbers, sizeof gltf_numbers, &count);
    for (uint64_t k = 1; result == WEFT_OUT_OF_MEMORY; k++, refused++) {
        gltf_stage s;
        gltf_begin(&s);
        shelf_put_bytes(&s.files, "a.glb", glb, count);
        test_memory_fail(&s.memory, k, false);
        result = gltf_bake(&s, "a.glb");
        test_memory_fail(&s.memory, 0, false);
        if (result == WEFT_OUT_OF_MEMORY) CHECK_BAKES(s.scene, "a.glb");
        gltf_end(&s);
    }
    CHECK_OK(result);
    CHECK(refused > 20);
    free(glb);
}

/* Counts as an independent reading of the JSON gives them: nodes of the scene, distinct meshes,
 * skins and animations. */
static void check_file(const char *name, uint32_t entities, uint32_t blobs)
{
    const char *sources = getenv("WEFT_SOURCE_DIR");
    char path[1024];
    weft_scene_stats stats;
    snprintf(path, sizeof path, "%s/../shared/data/gltf/%s", sources == NULL ? "." : sources, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        printf("skipped: no %s\n", path);
        return;
    }
    char *bytes = malloc(1 << 20);
    size_t count = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    gltf_stage s;
    gltf_begin(&s);
    shelf_put_bytes(&s.files, name, bytes, count);
    CHECK_BAKES(s.scene, name);
    weft_scene_stats_get(s.scene, &stats, sizeof stats);
    CHECK_U64(stats.entities, entities);
    CHECK_U64(stats.blob_count, blobs);
    CHECK_OK(weft_scene_fill(s.scene, s.world));
    CHECK_OK(weft_world_validate(s.world));
    gltf_end(&s);
    free(bytes);
}

PLAIN_TEST(shared_files_have_their_counts)
{
    check_file("Fox.glb", 26, 1 + 1 + 3);
    check_file("alien.glb", 8, 6);
    check_file("cakeBirthday.glb", 7, 2); /* node 0 is in no scene; 5 of 6 meshes are equal */
    check_file("gltf_extras.glb", 1, 1);
}
