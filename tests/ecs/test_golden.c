/* SPDX-License-Identifier: MIT */
/* test_golden.c: world files of each format version that was ever written, kept in
 * tests/ecs/golden: they load for ever, with the content that stands beside them as text.
 *
 *   NAME.4.world, NAME.5.world   the files; those of earlier versions are never written again
 *   NAME.json                    what is in both
 *
 * The functions fill_* make the worlds. WEFT_GOLDEN_WRITE=1 writes the files of the version that
 * this library writes, and the texts: after a new version, or when the engine lays rows out
 * otherwise; what the difference of the texts shows must be meant. */
#include "blob_fixture.h"
#include "field.h"
#include "plain.h"
#include "text_fixture.h"
#include "value_read.h"
#include "world_file_read.h"

#include <weft/weft.h>
#include <weft/world_text.h>

/* ---- every kind of field ---- */

typedef struct Inner {
    int16_t step;
    double range[2];
} Inner;

typedef struct Everything {
    unsigned char raw[3];
    bool is_on;
    int8_t a8;
    int16_t a16;
    int32_t a32;
    int64_t a64;
    uint8_t b8;
    uint16_t b16;
    uint32_t b32;
    uint64_t b64;
    float f32;
    double f64[2];
    weft_entity friend;
    Inner inner[2];
    int16_t mode;
    uint32_t marks;
    char text[8];
} Everything;

static const weft_constant modes[] = {{"idle", 0}, {"fall", -3}};
static const weft_type mode_type = {
    .name = "Mode", .size = 2, .alignment = 2, .constants = modes, .constant_count = 2};
static const weft_constant marks[] = {{"red", 1}, {"blue", 2}, {"high", INT64_C(1) << 31}};
static const weft_type marks_type = {
    .name = "Marks", .size = 4, .alignment = 4, .constants = marks, .constant_count = 3};
static const weft_field inner_fields[] = {WEFT_FIELD(Inner, step), WEFT_FIELD(Inner, range)};
static const weft_type inner_type = WEFT_TYPE(Inner, inner_fields);
static const weft_field everything_fields[] = {
    {.name = "raw", .kind = WEFT_FIELD_BYTES, .count = 3},
    WEFT_FIELD(Everything, is_on),
    WEFT_FIELD(Everything, a8),
    WEFT_FIELD(Everything, a16),
    WEFT_FIELD(Everything, a32),
    WEFT_FIELD(Everything, a64),
    WEFT_FIELD(Everything, b8),
    WEFT_FIELD(Everything, b16),
    WEFT_FIELD(Everything, b32),
    WEFT_FIELD(Everything, b64),
    WEFT_FIELD_WITH(Everything, f32, .unit = "km", .least = -10, .most = 10),
    WEFT_FIELD(Everything, f64),
    WEFT_FIELD(Everything, friend),
    WEFT_FIELD_OF(Everything, inner, WEFT_FIELD_STRUCT, &inner_type),
    WEFT_FIELD_OF(Everything, mode, WEFT_FIELD_ENUM, &mode_type),
    WEFT_FIELD_OF(Everything, marks, WEFT_FIELD_BITS, &marks_type),
    WEFT_FIELD(Everything, text)};
static const weft_type everything_type = WEFT_TYPE(Everything, everything_fields);

/* Static, so that its padding is zero. */
static const Everything extremes = {.raw = {1, 2, 255},
                                    .is_on = true,
                                    .a8 = INT8_MIN,
                                    .a16 = INT16_MIN,
                                    .a32 = INT32_MIN,
                                    .a64 = INT64_MIN,
                                    .b8 = UINT8_MAX,
                                    .b16 = UINT16_MAX,
                                    .b32 = UINT32_MAX,
                                    .b64 = UINT64_MAX,
                                    .f32 = 0.1f,
                                    .f64 = {-0.0, 1e300},
                                    .inner = {{1, {2, 3}}, {-4, {5.5, -6}}},
                                    .mode = -3,
                                    .marks = 1u | 1u << 31,
                                    .text = "weft"};

/* The same kinds once more as flat fields, from 0 on in steps of 8 bytes. */
static const weft_field flat_fields[] = {
    {"bytes", WEFT_FIELD_BYTES, 0, 5},    {"yes", WEFT_FIELD_BOOL, 8, 1},
    {"a8", WEFT_FIELD_I8, 16, 2},         {"a16", WEFT_FIELD_I16, 24, 1},
    {"a32", WEFT_FIELD_I32, 32, 1},       {"a64", WEFT_FIELD_I64, 40, 1},
    {"b8", WEFT_FIELD_U8, 48, 1},         {"b16", WEFT_FIELD_U16, 56, 1},
    {"b32", WEFT_FIELD_U32, 64, 1},       {"b64", WEFT_FIELD_U64, 72, 1},
    {"f32", WEFT_FIELD_F32, 80, 2},       {"f64", WEFT_FIELD_F64, 88, 1},
    {"entity", WEFT_FIELD_ENTITY, 96, 1}, {"blob", WEFT_FIELD_BLOB, 104, 1}};
enum { FLAT_FIELDS = sizeof flat_fields / sizeof flat_fields[0] };

static const weft_field sole_field = {.name = "", .kind = WEFT_FIELD_I32};
static const weft_type sole_type = {
    .name = "Score", .size = 4, .alignment = 4, .fields = &sole_field, .field_count = 1};

static void register_described(weft_world *world)
{
    weft_component_create(world, &(weft_component_desc){.type = &everything_type});
    weft_component_create(world, &(weft_component_desc){.type = &sole_type});
}

static void set(weft_world *world, weft_entity entity, weft_component component, const void *value)
{
    CHECK_OK(weft_entity_set(world, entity, component, value,
                             weft_component_info(world, component)->size));
}

static void fill_fields(weft_world *world)
{
    register_described(world);
    weft_component described = weft_component_find(world, "Everything");
    weft_component score = weft_component_find(world, "Score");
    weft_component flat = weft_component_create(
        world, &(weft_component_desc){
                   .name = "Flat", .size = 112, .fields = flat_fields, .field_count = FLAT_FIELDS});
    weft_entity e[3];
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, described), 3, e));
    for (int i = 0; i < 3; i++) {
        set(world, e[i], described, &extremes);
        Everything *made = weft_entity_write(world, e[i], described);
        made->friend = e[(i + 1) % 3];
    }
    char values[112] = {0};
    const float floats[2] = {1.5f, -2};
    const double real = 0.1;
    for (int i = 0; i < 10; i++) values[8 * i] = (char)(i == 1 ? 1 : -i);
    memcpy(values + 80, floats, sizeof floats);
    memcpy(values + 88, &real, sizeof real);
    memcpy(values + 96, &e[2], sizeof e[2]);
    set(world, e[0], flat, values);
    int32_t points = -42;
    set(world, e[1], score, &points);
}

/* ---- every kind of component ---- */

static const weft_component_hooks text_hooks = {
    .destruct = text_destruct, .save = text_save, .load = text_load};

static void register_hooked(weft_world *world)
{
    weft_component_create(
        world, &(weft_component_desc){.name = "Text", .size = sizeof(Text), .hooks = text_hooks});
}

static void fill_buffers(weft_world *world, const weft_entity e[8])
{
    static const weft_field field = {"entity", WEFT_FIELD_ENTITY, 0, 1};
    weft_component list =
        weft_component_create(world, &(weft_component_desc){.name = "List",
                                                            .size = sizeof(weft_entity),
                                                            .flags = WEFT_BUFFER,
                                                            .buffer_capacity = 2,
                                                            .fields = &field,
                                                            .field_count = 1});
    weft_component all =
        weft_component_create_plain(world, "Totals", 4, 4, WEFT_RESOURCE | WEFT_BUFFER);
    const uint32_t numbers[] = {1, 10, 100};
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(weft_entity_add(world, e[i], list));
        weft_buffers buffer = weft_entity_write_buffer(world, e[i], list);
        CHECK_OK(weft_buffers_append(&buffer, 0, e, 2 * i));
    }
    weft_buffers buffer = weft_resource_write_buffer(world, all);
    CHECK_OK(weft_buffers_append(&buffer, 0, numbers, 3));
}

static void fill_kinds(weft_world *world)
{
    register_hooked(world);
    weft_component value = weft_component_create_plain(world, "Value", 4, 4, 0);
    weft_component lever = weft_component_create_plain(world, "Lever", 4, 4, WEFT_ENABLEABLE);
    weft_component mark = weft_component_create_plain(world, "Mark", 0, 1, WEFT_ENABLEABLE);
    weft_component team = weft_component_create_plain(world, "Team", 4, 4, WEFT_SHARED);
    weft_component chunk = weft_component_create_plain(world, "PerChunk", 8, 8, WEFT_CHUNK);
    weft_component clean = weft_component_create_plain(world, "Clean", 4, 4, WEFT_CLEANUP);
    weft_component config = weft_component_create_plain(world, "Config", 8, 8, WEFT_RESOURCE);
    weft_component cache = weft_component_create_plain(world, "Cache", 8, 8, WEFT_NOT_HASHED);
    weft_component hit = weft_component_create_plain(world, "Hit", 4, 4, WEFT_SPARSE);
    weft_component id = weft_component_create_plain(world, "Serial", 4, 4, WEFT_NOT_COPIED);
    weft_component wide = weft_component_create(
        world,
        &(weft_component_desc){.name = "Wide", .size = 64, .alignment = 64, .chunk_row_limit = 2});
    weft_entity e[8];
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, value), 8, e));
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t number = 7 * i, colour = i % 3;
        const uint64_t number64 = i << 20;
        const uint64_t line[8] = {i, [7] = i};
        set(world, e[i], value, &number);
        if (i % 2 == 0) set(world, e[i], lever, &number);
        if (i % 4 == 0) CHECK_OK(weft_entity_enable(world, e[i], lever, false));
        if (i % 3 == 1) CHECK_OK(weft_entity_add(world, e[i], mark));
        if (i % 3 == 1) CHECK_OK(weft_entity_enable(world, e[i], mark, i != 7));
        if (i % 2 == 1) CHECK_OK(weft_entity_set_shared(world, e[i], team, &colour));
        if (i == 5 || i == 6) set(world, e[i], clean, &number);
        if (i < 3) set(world, e[i], cache, &number64);
        if (i > 3) set(world, e[i], hit, &number);
        if (i == 7) set(world, e[i], id, &number);
        if (i < 5) set(world, e[i], wide, line);
    }
    memcpy(weft_resource_write(world, config), "settings", 8);
    Text text = {strdup("a text")};
    set(world, e[2], weft_component_find(world, "Text"), &text);
    fill_buffers(world, e);
    CHECK_OK(weft_entity_add(world, e[1], chunk));
    weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{chunk, WEFT_WRITE}}});
    for (weft_cursor cursor = weft_query_begin(world, query); weft_query_next(&cursor);)
        *(uint64_t *)weft_slice_write_chunk(&cursor.slice, 0) = 99;
    CHECK_OK(weft_entity_set_name(world, e[5], "N\xC3\xA4me \"quoted\"\n"));
    CHECK_OK(weft_entity_set_name(world, e[0], "first"));
    CHECK_OK(weft_entity_add(world, e[0], weft_component_inactive(world)));
    CHECK_OK(weft_entity_destroy(world, e[6])); /* a residue */
    CHECK_OK(weft_entity_destroy(world, e[3]));
    CHECK_OK(weft_entity_destroy(world, e[4]));
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, value), 1, &e[4]));
}

/* ---- relations, prefabs, time ---- */

static weft_component relation_of(weft_world *world, const char *name)
{
    static const weft_field field = {"to", WEFT_FIELD_ENTITY, 0, 1};
    return weft_component_create(
        world, &(weft_component_desc){
                   .name = name, .size = 8, .alignment = 4, .fields = &field, .field_count = 1});
}

/* Files of version 4 have nothing of Berth, which is not built in. */
static void declare_relations(weft_world *world)
{
    weft_component parent = weft_component_parent(world);
    weft_component berth = relation_of(world, "Berth");
    weft_component plain = relation_of(world, "Plain"); /* is none */
    CHECK(parent.id != 0 && plain.id != 0 && weft_component_instance_of(world).id != 0);
    CHECK_OK(
        weft_relation_declare(world, &(weft_relation_desc){.component = berth,
                                                           .on_target_death = WEFT_ON_TARGET_KEEP,
                                                           .is_acyclic = true}));
}

/* Entities by name: ship > gun > barrel, dock, wheel (a prefab with a hub), its instance. */
static void fill_relations(weft_world *world)
{
    declare_relations(world);
    weft_component parent = weft_component_parent(world);
    weft_component berth = weft_component_find(world, "Berth");
    weft_component plain = weft_component_find(world, "Plain");
    static const char *const names[] = {"ship", "gun", "barrel", "dock", "wheel", "hub"};
    weft_archetype none = weft_archetype_create(world, NULL, 0);
    weft_entity e[6], instance[2];
    for (int i = 0; i < 6; i++) {
        e[i] = weft_entity_create(world, none);
        CHECK_OK(weft_entity_set_name(world, e[i], names[i]));
    }
    CHECK_OK(weft_relation_set(world, e[1], parent, e[0]));
    CHECK_OK(weft_relation_set(world, e[2], parent, e[1]));
    CHECK_OK(weft_relation_set(world, e[5], parent, e[4]));
    CHECK_OK(weft_relation_set(world, e[0], berth, e[3]));
    set(world, e[2], plain, &e[3]);
    CHECK_OK(weft_entity_add(world, e[4], weft_component_linked_group(world)));
    weft_buffers group = weft_entity_write_buffer(world, e[4], weft_component_linked_group(world));
    CHECK_OK(weft_buffers_append(&group, 0, e + 4, 2));
    CHECK_OK(weft_entity_add(world, e[4], weft_component_prefab(world)));
    for (int i = 0; i < 3; i++) CHECK_OK(weft_world_step(world, 0.25f));
    CHECK_OK(weft_entity_instantiate(world, e[4], 1, instance));
    CHECK_OK(weft_relation_settle(world));
}

typedef struct Model {
    weft_blob_ref scene;
    weft_blob_ref other[2];
} Model;

static void fill_blobs(weft_world *world)
{
    static const weft_field fields[] = {{"scene", WEFT_FIELD_BLOB, 0, 1},
                                        {"other", WEFT_FIELD_BLOB, offsetof(Model, other), 2}};
    weft_component model = weft_component_create(
        world, &(weft_component_desc){
                   .name = "Model", .size = sizeof(Model), .fields = fields, .field_count = 2});
    Model values[2] = {0};
    CHECK_OK(blob_build_scene(weft_world_blobs(world), 3, 0, &values[0].scene));
    CHECK_OK(blob_build_scene(weft_world_blobs(world), 1, 0, &values[1].other[1]));
    values[1].scene = values[0].scene;
    weft_entity e[2];
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, model), 2, e));
    CHECK_OK(weft_entity_set_many(world, e, 2, model, values, sizeof *values));
}

/* ---- what goes on ---- */

static uint32_t count_fast, count_slow, count_timer;

static void count_run(weft_slice *slice, void *user)
{
    (void)slice;
    ++*(uint32_t *)user;
}

/* A rate, a rate of a group, timers: of one that was saved, or of the one that loads it. */
static void make_systems(weft_world *world)
{
    CHECK_OK(weft_group_set(world, &(weft_group_desc){.name = "physics", .period = 0.25f}));
    weft_system_create(
        world, &(weft_system_desc){
                   .name = "fast", .run = count_run, .user = &count_fast, .period = 0.0625f});
    weft_system_create(
        world, &(weft_system_desc){
                   .name = "slow", .run = count_run, .user = &count_slow, .group = "physics"});
    weft_system_create(world, &(weft_system_desc){.name = "spawn",
                                                  .run = count_run,
                                                  .user = &count_timer,
                                                  .flags = WEFT_SYSTEM_TIMER});
    CHECK(weft_system_create(world, &(weft_system_desc){.name = "idle",
                                                        .run = count_run,
                                                        .user = &count_timer,
                                                        .flags = WEFT_SYSTEM_TIMER})
              .id != 0);
}

/* An entity of Needy, which requires Needed; a child that is not settled; 0.2 s of time; a relation
 * that no entity has. */
static void fill_runs(weft_world *world)
{
    make_systems(world);
    CHECK(weft_component_instance_of(world).id != 0);
    weft_component parent = weft_component_parent(world);
    weft_component needed = weft_component_create_plain(world, "Needed", 4, 4, 0);
    weft_component needy = weft_component_create(
        world, &(weft_component_desc){.name = "Needy", .required = &needed, .required_count = 1});
    CHECK_OK(weft_timer_set(world, weft_system_find(world, "spawn"), 1));
    CHECK_OK(weft_world_step(world, 0.1f));
    CHECK_OK(weft_world_step(world, 0.1f));
    weft_entity e[2];
    CHECK_OK(weft_entity_create_many(world, weft_archetype_create(world, NULL, 0), 2, e));
    CHECK_OK(weft_entity_add(world, e[1], needy));
    CHECK_OK(weft_entity_remove(world, e[1], needed));
    set(world, e[1], parent, &e[0]);
}

static const struct golden {
    const char *name;
    void (*fill)(weft_world *world);
    void (*prepare)(weft_world *world); /* what the file has not: hooks, descriptions */
    uint32_t since;                     /* version */
} worlds[] = {{"fields", fill_fields, register_described, 4},
              {"kinds", fill_kinds, register_hooked, 4},
              {"relations", fill_relations, declare_relations, 4},
              {"blobs", fill_blobs, NULL, 4},
              {"runs", fill_runs, NULL, 5}};
enum { WORLDS = sizeof worlds / sizeof worlds[0] };

static weft_world *world_new(void)
{
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .name = "golden", .entity_tag = WEFT_WITHOUT_ENTITY_TAG},
        &world));
    return world;
}

/* ---- files ---- */

typedef struct bytes {
    char *at;
    size_t count;
} bytes;

static FILE *golden_open(const char *name, const char *ending, const char *mode)
{
    char path[4096];
    const char *root = getenv("WEFT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/ecs/golden/%s.%s", root == NULL ? "." : root, name,
             ending);
    FILE *file = fopen(path, mode);
    if (file == NULL) test_fail(__FILE__, __LINE__, path);
    return file;
}

static bytes golden_read(const char *name, const char *ending)
{
    FILE *file = golden_open(name, ending, "rb");
    fseek(file, 0, SEEK_END);
    bytes all = {.count = (size_t)ftell(file)};
    rewind(file);
    all.at = malloc(all.count + 1);
    CHECK_U64(fread(all.at, 1, all.count, file), all.count);
    all.at[all.count] = '\0';
    fclose(file);
    return all;
}

static void golden_write(const char *name, const char *ending, const char *at, size_t count)
{
    FILE *file = golden_open(name, ending, "wb");
    CHECK_U64(fwrite(at, 1, count, file), count);
    CHECK(fclose(file) == 0);
}

static weft_result append(void *user, const void *from, size_t count)
{
    bytes *to = user;
    to->at = realloc(to->at, to->count + count + 1);
    memcpy(to->at + to->count, from, count);
    to->count += count;
    to->at[to->count] = '\0';
    return WEFT_OK;
}

static bytes text_of(weft_world *world)
{
    bytes all = {0};
    CHECK_OK(weft_world_save_json(world, &(weft_writer){append, &all}, NULL));
    return all;
}

/* Prints the first line that differs. */
static void check_text(const char *what, bytes got, bytes wanted)
{
    const char *a = got.at, *b = wanted.at;
    while (*a != '\0' && *b != '\0') {
        size_t left = strcspn(a, "\n"), right = strcspn(b, "\n");
        if (left != right || memcmp(a, b, left) != 0) {
            printf("%s\n   is %.*s\n must %.*s\n", what, (int)left, a, (int)right, b);
            test_fail(__FILE__, __LINE__, "a line differs");
        }
        a += left + (a[left] == '\n');
        b += right + (b[right] == '\n');
    }
    CHECK_TEXT(a, b);
}

static weft_world *golden_load(const struct golden *golden, const char *ending)
{
    static const weft_blob_type *const blob_types[] = {&scene_type};
    bytes file = golden_read(golden->name, ending);
    weft_world *world = world_new();
    if (golden->prepare != NULL) golden->prepare(world);
    const weft_load_desc desc = {.blob_types = blob_types, .blob_type_count = 1};
    if (weft_world_load_memory(world, file.at, file.count, &desc) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(world)->text);
    CHECK_OK(weft_world_validate(world));
    free(file.at);
    return world;
}

static void check_loads(const struct golden *golden, const char *ending)
{
    weft_world *made = world_new(), *loaded = golden_load(golden, ending);
    golden->fill(made);
    bytes text = text_of(loaded), wanted = golden_read(golden->name, "json");
    check_text(golden->name, text, wanted);
    for (weft_hash_kind kind = WEFT_HASH_CONTENT; kind <= WEFT_HASH_LAYOUT; kind++)
        CHECK_U64(weft_world_hash(loaded, kind), weft_world_hash(made, kind));
    free(text.at);
    free(wanted.at);
    CHECK_OK(weft_world_destroy(made));
    CHECK_OK(weft_world_destroy(loaded));
}

/* ---- tests ---- */

PLAIN_TEST(files_of_every_version_load_with_their_content)
{
    for (uint32_t version = WORLD_FILE_VERSION_LEAST; version <= WORLD_FILE_VERSION; version++)
        for (int i = 0; i < WORLDS; i++) {
            char ending[16];
            snprintf(ending, sizeof ending, "%u.world", version);
            if (worlds[i].since <= version) check_loads(&worlds[i], ending);
        }
}

/* A bit of each byte, behind the hash: an error, or at most another world. */
PLAIN_TEST(damaged_files_of_every_version_do_no_harm)
{
    static const weft_blob_type *const blob_types[] = {&scene_type};
    const weft_load_desc desc = {.blob_types = blob_types, .blob_type_count = 1};
    for (uint32_t i = 0; i < 2 * WORLDS; i++) {
        const struct golden *golden = &worlds[i / 2];
        const uint32_t version = i % 2 == 0 ? WORLD_FILE_VERSION_LEAST : WORLD_FILE_VERSION;
        char ending[16];
        snprintf(ending, sizeof ending, "%u.world", version);
        if (golden->since > version) continue;
        bytes file = golden_read(golden->name, ending);
        for (size_t k = 0; k < file.count; k++) {
            weft_world *world = world_new();
            if (golden->prepare != NULL) golden->prepare(world);
            file.at[k] = (char)(file.at[k] ^ 1 << k % 8);
            if (weft__world_read(world, file.at, file.count, &desc, false, NULL) == WEFT_OK)
                CHECK_OK(weft_world_validate(world));
            file.at[k] = (char)(file.at[k] ^ 1 << k % 8);
            CHECK(weft__world_read(world, file.at, k, &desc, false, NULL) != WEFT_OK); /* cut */
            CHECK_OK(weft_world_destroy(world));
        }
        free(file.at);
    }
}

static weft_entity named(weft_world *world, const char *name)
{
    weft_entity found = weft_entity_find(world, name);
    CHECK(weft_entity_is_alive(world, found));
    return found;
}

/* What Parent and InstanceOf do: children die with their parent, instances have their prefab. */
static void check_built_in(weft_world *world)
{
    weft_entity gun = named(world, "gun"), barrel = named(world, "barrel"), made;
    uint32_t count;
    CHECK_OK(weft_relation_settle(world));
    weft_component parent = weft_component_find(world, "Parent");
    CHECK_U64(weft_component_parent(world).id, parent.id);
    CHECK(weft_relation_sources(world, parent, named(world, "ship"), &count) != NULL);
    CHECK_U64(count, 1);
    CHECK_U64(weft_relation_depth(world, parent, barrel), 2);
    CHECK_OK(weft_entity_instantiate(world, weft_entity_find(world, "wheel"), 1, &made));
    CHECK(weft_entity_has(world, made, weft_component_find(world, "InstanceOf")));
    CHECK_OK(weft_entity_destroy(world, named(world, "ship")));
    CHECK_OK(weft_world_step(world, 1));
    CHECK(!weft_entity_is_alive(world, gun) && !weft_entity_is_alive(world, barrel));
}

PLAIN_TEST(relations_are_declared_by_the_load)
{
    struct golden undeclared = {"relations", NULL, NULL, 4};
    weft_world *old = golden_load(&undeclared, "4.world");
    check_built_in(old);
    CHECK(weft_relation_depth_component(old, weft_component_find(old, "Plain")).id == 0);
    CHECK_OK(weft_world_destroy(old));
    weft_world *now = golden_load(&undeclared, "5.world");
    weft_component berth = weft_component_find(now, "Berth"),
                   plain = weft_component_find(now, "Plain");
    CHECK_RESULT(weft_relation_set(now, named(now, "dock"), berth, named(now, "ship")), WEFT_CYCLE);
    CHECK_RESULT(weft_relation_set(now, named(now, "dock"), plain, named(now, "ship")),
                 WEFT_TYPE_MISMATCH);
    check_built_in(now);
    CHECK_OK(weft_world_destroy(now));
}

/* The runs of each system in each of 40 steps. */
static void note_steps(weft_world *world, uint32_t out[40][3])
{
    count_fast = count_slow = count_timer = 0;
    for (int i = 0; i < 40; i++) {
        CHECK_OK(weft_world_step(world, 0.03f));
        const uint32_t now[3] = {count_fast, count_slow, count_timer};
        memcpy(out[i], now, sizeof now);
    }
}

PLAIN_TEST(rates_and_timers_go_on_with_systems_made_before_and_after_the_load)
{
    struct golden early = {"runs", NULL, make_systems, 5}, late = {"runs", NULL, NULL, 5};
    uint32_t wanted[40][3], got[40][3];
    weft_world *made = world_new();
    fill_runs(made);
    note_steps(made, wanted);
    CHECK_U64(wanted[39][2], 1); /* the timer that was set */
    for (int i = 0; i < 2; i++) {
        weft_world *loaded = golden_load(i == 0 ? &early : &late, "5.world");
        if (i == 1) make_systems(loaded);
        CHECK_F64(weft_timer_left(loaded, weft_system_find(loaded, "spawn")), 0.8, 1e-6);
        CHECK_F64(weft_timer_left(loaded, weft_system_find(loaded, "idle")), -1, 0);
        note_steps(loaded, got);
        for (int k = 0; k < 40; k++)
            for (int n = 0; n < 3; n++) CHECK_U64(got[k][n], wanted[k][n]);
        CHECK_OK(weft_world_destroy(loaded));
    }
    CHECK_OK(weft_world_destroy(made));
}

PLAIN_TEST(a_relation_that_no_entity_has_and_what_a_type_requires_are_loaded)
{
    struct golden golden = {"runs", NULL, NULL, 5};
    weft_world *world = golden_load(&golden, "5.world");
    weft_component instance_of = weft_component_find(world, "InstanceOf");
    CHECK(instance_of.id != 0);
    CHECK_U64(weft_component_instance_of(world).id, instance_of.id);
    weft_entity made =
        weft_entity_create(world, WEFT_ARCHETYPE(world, weft_component_find(world, "Needy")));
    CHECK(weft_entity_has(world, made, weft_component_find(world, "Needed")));
    CHECK_OK(weft_world_destroy(world));
}

/* Systems of the step that have not run yet would miss theirs. */
static void save_and_load(weft_slice *slice, void *user)
{
    weft_world *world = user;
    weft_world_bytes made;
    bytes text = {0};
    (void)slice;
    CHECK_RESULT(weft_world_save_memory(world, &made, NULL), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_world_load_memory(world, "", 0, NULL), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_world_save_json(world, &(weft_writer){append, &text}, NULL),
                 WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_world_load_json(world, &(weft_text){"", 0, NULL}, NULL, NULL),
                 WEFT_WRONG_PHASE);
    count_fast++;
}

PLAIN_TEST(nothing_is_saved_or_loaded_inside_a_step)
{
    weft_world *world = world_new();
    count_fast = 0;
    weft_system_create(world, &(weft_system_desc){.name = "save",
                                                  .run = save_and_load,
                                                  .user = world,
                                                  .flags = WEFT_SYSTEM_EXCLUSIVE});
    CHECK_OK(weft_world_step(world, 1));
    CHECK_U64(count_fast, 1);
    CHECK_OK(weft_world_destroy(world));
}

/* However weft_field_kind is ordered. */
PLAIN_TEST(kinds_of_fields_have_the_numbers_that_files_have)
{
    static const weft_field_kind kinds[] = {
        WEFT_FIELD_BYTES, WEFT_FIELD_BOOL, WEFT_FIELD_I8,     WEFT_FIELD_I16, WEFT_FIELD_I32,
        WEFT_FIELD_I64,   WEFT_FIELD_U8,   WEFT_FIELD_U16,    WEFT_FIELD_U32, WEFT_FIELD_U64,
        WEFT_FIELD_F32,   WEFT_FIELD_F64,  WEFT_FIELD_ENTITY, WEFT_FIELD_BLOB};
    static const char *const words[] = {"bytes", "bool", "i8",  "i16", "i32", "i64",    "u8",
                                        "u16",   "u32",  "u64", "f32", "f64", "entity", "blob"};
    weft_field_kind kind;
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        CHECK_U64(weft__kind_number(kinds[i]), i);
        CHECK(weft__kind_of_number(i, &kind) && kind == kinds[i]);
        CHECK_TEXT(weft__kinds[kinds[i]].word, words[i]);
    }
    CHECK(!weft__kind_of_number(WEFT__KIND_NONE, &kind));
    for (uint32_t k = 0, flat = 0; k < WEFT__KIND_COUNT; k++) {
        flat += weft__kinds[k].number != WEFT__KIND_NONE;
        if (k + 1 == WEFT__KIND_COUNT) CHECK_U64(flat, sizeof kinds / sizeof kinds[0]);
    }
}

/* A kind of a new size that the codec does not know would touch other bytes. */
PLAIN_TEST(numbers_of_every_kind_come_back_and_touch_their_bytes_only)
{
    for (uint32_t k = 0; k < WEFT__KIND_COUNT; k++) {
        const weft_field_kind kind = (weft_field_kind)k;
        const weft__kind_class class = weft__class_of(kind);
        if (class != WEFT__CLASS_BOOL && class != WEFT__CLASS_SIGNED &&
            class != WEFT__CLASS_UNSIGNED && class != WEFT__CLASS_REAL)
            continue;
        unsigned char at[16];
        memset(at, 0xaa, sizeof at);
        CHECK(weft__scalar_store(kind, (weft__scalar){.bits = 1}, at));
        CHECK(weft__scalar_real(weft__scalar_load(kind, at)) == 1);
        for (uint32_t i = weft__kinds[k].bytes; i < sizeof at; i++) CHECK_U64(at[i], 0xaa);
    }
}

/* First of all: WEFT_GOLDEN_WRITE=1 writes what the others read. */
PLAIN_TEST(a_world_is_written_as_it_ever_was)
{
    char ending[16];
    snprintf(ending, sizeof ending, "%u.world", WORLD_FILE_VERSION);
    for (int i = 0; i < WORLDS; i++) {
        weft_world *world = world_new();
        worlds[i].fill(world);
        weft_world_bytes made;
        CHECK_OK(weft_world_save_memory(world, &made, NULL));
        bytes text = text_of(world);
        if (getenv("WEFT_GOLDEN_WRITE") != NULL) {
            golden_write(worlds[i].name, ending, made.bytes, made.count);
            golden_write(worlds[i].name, "json", text.at, text.count);
        }
        bytes file = golden_read(worlds[i].name, ending),
              wanted = golden_read(worlds[i].name, "json");
        check_text(worlds[i].name, text, wanted);
        CHECK_U64(made.count, file.count);
        for (size_t k = 0; k < made.count; k++)
            if (made.bytes[k] != file.at[k]) {
                printf("%s differs at byte %zu\n", worlds[i].name, k);
                test_fail(__FILE__, __LINE__, "the format changed: raise WORLD_FILE_VERSION");
            }
        free(file.at);
        free(wanted.at);
        free(text.at);
        weft_world_bytes_free(world, &made);
        CHECK_OK(weft_world_destroy(world));
    }
}
