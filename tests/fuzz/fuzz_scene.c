/* SPDX-License-Identifier: MIT */
/* fuzz_scene.c: fuzz target of scenes (libFuzzer interface; replayed without it by fuzz_replay.c).
 *
 * The first byte says what the rest is: a document, a catalogue, a glTF file or a GLB file. It
 * replaces a good file of a scene that is baked already. What is refused must say why and leave
 * what was; what is accepted must become the same world, byte for byte, as baked from nothing. */
#include "../scene/gltf_fixture.h"
#include "fuzz.h"
#include "tle_source.h"

static const char *const names[] = {"a.weft", "a.tle", "a.gltf", "a.glb"};

#define ONE_1 "1 00900U 64063C   26223.12884670  .00000358  00000+0  35383-3 0  9999"
#define ONE_2 "2 00900  90.2185  73.0507 0027312 122.7691   3.4171 13.76674691 78989"

/* What documents may use. */
static const char parts[] =
    "{\"weft\": 1, \"prefabs\": {\"wheel\": {\"Spin\": {\"speed\": 2}, \"children\": {\"cap\": "
    "{\"Alive\": true}}}, \"cart\": {\"Shield\": {\"strength\": 5}, \"children\": {\"left\": "
    "{\"prefab\": \"#wheel\"}, \"right\": {\"prefab\": \"#wheel\", \"Spin\": {\"speed\": 3}}}}}}";
/* What stands in the place of the input before. */
static const char *const good[] = {
    "{\"weft\": 1, \"use\": {\"p\": \"p.weft\"}, \"objects\": {\"a\": {\"prefab\": \"p#cart\"}, "
    "\"b\": {\"Spawner\": {\"what\": \"p#wheel\"}}}}",
    ONE_1 "\n" ONE_2 "\n", "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"n\"}]}", NULL};

static const char rich[] =
    "{ \"weft\": 1, // all that documents have\n"
    "  \"use\": {\"p\": \"p.weft\", \"sky\": \"sky.tle\"},\n"
    "  \"prefabs\": {\"gun\": {\"Note\": {\"number\": 4}, \"children\": {\"tip\": {}}}},\n"
    "  \"objects\": {\n"
    "    \"a\": {\"prefab\": \"p#cart\", \"with\": {\"left\": {\"Spin\": {\"speed\": \"9 "
    "deg/s\"}}},\n"
    "          \"without\": [\"right/cap\"], \"Team\": {\"number\": 7}},\n"
    "    \"b\": {\"Spawner\": {\"what\": \"#gun\", \"every\": \"500 ms\"}, \"name\": \"B\", "
    "\"disabled\": [\"Shield\"],\n"
    "          \"Shield\": {}, \"Links\": [{\"to\": \"../a/left\", \"weight\": 3}, {}]},\n"
    "    \"all\": {\"each\": \"sky\", \"Alive\": true},\n"
    "    \"hill\": {\"static\": true, \"transform\": {\"position\": [0, \"1 km\", 0]},\n"
    "             \"children\": {\"tree\": {\"transform\": {\"scale\": 2}, \"Spawner\": {\"what\": "
    "\"/b\"}}}}}}";

/* A world with its scene. */
typedef struct bed {
    weft_world *world;
    weft_scene *scene;
    weft_gltf_components gltf;
} bed;

static weft_world *make_world(weft_gltf_components *gltf)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1,
                                                  .without_huge_pages = true,
                                                  .entity_block_limit = 8,
                                                  .megachunk_limit = 16,
                                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG,
                                                  .trace_file = ""},
                               &world));
    cast_register(world);
    CHECK_OK(weft_scene_gltf_register(world, gltf));
    return world;
}

static void open_bed(bed *b, shelf *files)
{
    b->world = make_world(&b->gltf);
    const weft_baker_desc baker = weft_baker_gltf(&b->gltf);
    const weft_source_desc sources[] = {tle_source, weft_source_gltf()};
    CHECK_OK(weft_scene_create(b->world,
                               &(weft_scene_desc){.bakers = &baker,
                                                  .baker_count = 1,
                                                  .sources = sources,
                                                  .source_count = 2,
                                                  .read = shelf_read,
                                                  .user = files,
                                                  .object_limit = 2000},
                               &b->scene));
}

static void close_bed(bed *b)
{
    weft_scene_destroy(b->scene);
    CHECK_OK(weft_world_destroy(b->world));
}

static weft_world_bytes fill(bed *b, weft_world **world)
{
    weft_gltf_components gltf;
    weft_world_bytes bytes;
    *world = make_world(&gltf);
    CHECK_OK(weft_scene_fill(b->scene, *world));
    CHECK_OK(weft_world_validate(*world));
    CHECK_OK(weft_world_save_memory(*world, &bytes, NULL));
    return bytes;
}

/* What was baked step by step is what is baked from nothing. */
static void check_whole(bed *live, shelf *files, const char *path)
{
    bed whole;
    weft_world *a, *b;
    open_bed(&whole, files);
    CHECK_OK(weft_scene_bake(whole.scene, &path, 1));
    weft_world_bytes first = fill(live, &a), second = fill(&whole, &b);
    CHECK_U64(first.count, second.count);
    CHECK(memcmp(first.bytes, second.bytes, first.count) == 0);
    weft_world_bytes_free(a, &first);
    weft_world_bytes_free(b, &second);
    CHECK_OK(weft_world_destroy(a));
    CHECK_OK(weft_world_destroy(b));
    close_bed(&whole);
}

static void check_refusal(bed *live)
{
    weft_world *world;
    static weft_error mistakes[100];
    uint32_t count = weft_scene_mistakes(live->scene, mistakes, 100);
    CHECK(count != 0);
    for (uint32_t i = 0; i < count && i < 100; i++)
        CHECK(mistakes[i].text[0] != '\0' && mistakes[i].code != WEFT_OK);
    weft_world_bytes bytes = fill(live, &world);
    weft_world_bytes_free(world, &bytes);
    CHECK_OK(weft_world_destroy(world));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const char *path = names[data[0] & 3];
    bed live;
    shelf files = {.count = 0};
    char *text = malloc(size); /* its exact size, for AddressSanitizer */
    CHECK(text != NULL);
    memcpy(text, data + 1, size - 1);
    shelf_put(&files, "p.weft", parts);
    shelf_put(&files, "sky.tle", ONE_1 "\n" ONE_2 "\n");
    shelf_put_bytes(&files, "a.bin", &gltf_numbers, sizeof gltf_numbers);
    shelf_put(&files, path, good[data[0] & 3]);
    open_bed(&live, &files);
    weft_scene_bake(live.scene, &path, 1);
    shelf_put_bytes(&files, path, text, size - 1);
    weft_result result = weft_scene_bake(live.scene, &path, 1);
    if (result == WEFT_OK) {
        check_whole(&live, &files, path);
    } else {
        CHECK_RESULT(result, WEFT_INVALID_ARGUMENT);
        check_refusal(&live);
    }
    close_bed(&live);
    free(text);
    return 0;
}

size_t fuzz_seed(uint32_t index, uint8_t *out, size_t capacity)
{
    static const struct {
        uint8_t kind;
        const char *text;
    } seeds[] = {
        {0, rich},
        {0, parts},
        {1, "NAME\n" ONE_1 "\n" ONE_2 "\n# a comment\n" ONE_1 "\r\n" ONE_2 "\r\n"},
        {2, "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{"
            "\"name\":\"n\",\"mesh\":0,\"children\":[1],\"extras\":{\"Spin.speed\":3,\"weft\":{"
            "\"Shield\":{}}}},{\"matrix\":[0,1,0,0,-1,0,0,0,0,0,1,0,7,8,9,1]}],\"meshes\":[{"
            "\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"buffers\":[{\"uri\":\"a.bin\","
            "\"byteLength\":36}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"accessors\":["
            "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]}"},
        {3, NULL}, /* gltf_whole */
    };
    if (index >= sizeof seeds / sizeof seeds[0]) return 0;
    const char *text = seeds[index].text;
    uint32_t count = text == NULL ? 0 : (uint32_t)strlen(text);
    char *glb =
        text == NULL ? gltf_glb(gltf_whole, &gltf_numbers, sizeof gltf_numbers, &count) : NULL;
    CHECK(count + 1 <= capacity);
    out[0] = seeds[index].kind;
    memcpy(out + 1, glb == NULL ? text : glb, count);
    free(glb);
    return count + 1;
}
