/* SPDX-License-Identifier: MIT */
/* test_given_names.c: all names that come in by calls are UTF-8, or the call is refused with a
 * sentence; so what a text holds of them is read back to the same. */
#include "scene_fixture.h"

#include <weft/observer.h>
#include <weft/world_text.h>

/* What a name is given to. Owner: a test. */
typedef struct bed {
    weft_world *world;
    weft_component plain;
    weft_entity entity;
    const char *name; /* for sources and bakers */
    char said[512];   /* by a scene */
} bed;

static weft_result code_of(const bed *b, bool is_made)
{
    return is_made ? WEFT_OK : weft_world_error(b->world)->code;
}

/* ---- entities ---- */

static weft_result set_name(bed *b, const char *name)
{
    return weft_entity_set_name(b->world, b->entity, name);
}

static weft_result set_name_unique(bed *b, const char *name)
{
    return weft_entity_set_name_unique(b->world, b->entity, name);
}

static weft_result record_name(bed *b, const char *name)
{
    weft_recorder *recorder;
    CHECK_OK(weft_recorder_create(b->world, &recorder));
    weft_result recorded = weft_recorder_set_name(recorder, b->entity, name);
    weft_result result = weft_recorder_play(recorder);
    weft_recorder_destroy(recorder);
    CHECK_RESULT(recorded, result);
    return result;
}

/* ---- types ---- */

static weft_result component(bed *b, const char *name)
{
    return code_of(b, weft_component_create_plain(b->world, name, 4, 4, 0).id != 0);
}

static weft_result resource(bed *b, const char *name)
{
    return code_of(b, weft_component_create_plain(b->world, name, 4, 4, WEFT_RESOURCE).id != 0);
}

static weft_result fields_of(bed *b, const weft_field *field)
{
    const weft_component_desc desc = {
        .name = "fields", .size = 4, .alignment = 4, .fields = field, .field_count = 1};
    return code_of(b, weft_component_create(b->world, &desc).id != 0);
}

static weft_result plain_field(bed *b, const char *name)
{
    return fields_of(b, &(weft_field){.name = name, .kind = WEFT_FIELD_U32});
}

static weft_result type_of(bed *b, const weft_type *type)
{
    const weft_component_desc desc = {.name = "typed", .type = type};
    return code_of(b, weft_component_create(b->world, &desc).id != 0);
}

static weft_result type_name(bed *b, const char *name)
{
    weft_type type = team_type;
    type.name = name;
    return type_of(b, &type);
}

static weft_result type_field(bed *b, const char *name)
{
    const weft_field field = {.name = name, .kind = WEFT_FIELD_U32};
    weft_type type = team_type;
    type.fields = &field;
    return type_of(b, &type);
}

static weft_result type_constant(bed *b, const char *name)
{
    const weft_constant constant = {name, 1};
    const weft_type words = {
        .name = "words", .size = 4, .alignment = 4, .constants = &constant, .constant_count = 1};
    const weft_field field = {.name = "word", .kind = WEFT_FIELD_ENUM, .type = &words};
    weft_type type = team_type;
    type.fields = &field;
    return type_of(b, &type);
}

/* ---- systems ---- */

static void no_run(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static void no_observation(const weft_observation *observation, void *user)
{
    (void)observation, (void)user;
}

static weft_result system_of(bed *b, weft_system_desc desc)
{
    if (desc.name == NULL) desc.name = "system";
    desc.run = no_run;
    desc.flags = WEFT_SYSTEM_EXCLUSIVE;
    return code_of(b, weft_system_create(b->world, &desc).id != 0);
}

static weft_result system_name(bed *b, const char *name)
{
    return system_of(b, (weft_system_desc){.name = name});
}

static weft_result system_group(bed *b, const char *name)
{
    return system_of(b, (weft_system_desc){.group = name});
}

static weft_result system_before(bed *b, const char *name)
{
    return system_of(b, (weft_system_desc){.before = {name}});
}

static weft_result system_after(bed *b, const char *name)
{
    return system_of(b, (weft_system_desc){.more_after = &name, .more_after_count = 1});
}

static weft_result group_name(bed *b, const char *name)
{
    return weft_group_set(b->world, &(weft_group_desc){.name = name});
}

static weft_result group_before(bed *b, const char *name)
{
    return weft_group_set(b->world, &(weft_group_desc){.name = "group", .before = {name}});
}

static weft_result observer_name(bed *b, const char *name)
{
    const weft_observer_desc desc = {
        .name = name, .on = WEFT_ON_ADDED, .component = b->plain, .run = no_observation};
    return code_of(b, weft_observer_create(b->world, &desc).id != 0);
}

/* ---- worlds and scenes: no error of a world ---- */

static weft_result world_name(bed *b, const char *name)
{
    weft_world *world;
    weft_result result = weft_world_create(&(weft_world_desc){.name = name, .workers = 1}, &world);
    snprintf(b->said, sizeof b->said, "no world, no text; UTF-8");
    if (result == WEFT_OK) CHECK_OK(weft_world_destroy(world));
    return result;
}

static weft_result name_bake(weft_bake *bake, const weft_object *object, void *user)
{
    (void)object;
    return weft_bake_name(bake, weft_bake_entity(bake, NULL), ((const bed *)user)->name);
}

static weft_result name_open(weft_source *out, const weft_text *file, void *user)
{
    const char *name = ((const bed *)user)->name;
    const weft_source_object object = {
        .name = name, .name_bytes = strlen(name), .parent = WEFT_SOURCE_ROOT};
    (void)file;
    weft_source_add(out, &object);
    return WEFT_OK;
}

static weft_result property_open(weft_source *out, const weft_text *file, void *user)
{
    const weft_source_object object = {.name = "o", .name_bytes = 1, .parent = WEFT_SOURCE_ROOT};
    const char *name = ((const bed *)user)->name;
    uint32_t number = weft_source_add(out, &object);
    weft_source_property(out, number, name, strlen(name), file->bytes, 1);
    return WEFT_OK;
}

static weft_result scene_of(bed *b, const char *name, const weft_scene_desc *desc)
{
    shelf files = {0};
    weft_scene *scene;
    weft_scene_desc own = *desc;
    own.read = shelf_read;
    own.user = &files;
    b->name = name;
    shelf_put(&files, "a.weft", "{\"weft\": 1, \"objects\": {\"a\": {}}}");
    shelf_put(&files, "a.name", "{}");
    weft_result result = weft_scene_create(b->world, &own, &scene);
    if (result != WEFT_OK) return result;
    const char *path = desc->source_count == 0 ? "a.weft" : "a.name";
    result = weft_scene_bake(scene, &path, 1);
    weft_error mistake = {0};
    weft_scene_mistakes(scene, &mistake, 1);
    snprintf(b->said, sizeof b->said, "%.500s", mistake.text);
    if (strstr(b->said, "no component and no baker") != NULL) result = WEFT_OK; /* it was read */
    weft_scene_destroy(scene);
    return result;
}

static weft_result baked_name(bed *b, const char *name)
{
    const weft_baker_desc baker = {.name = "namer", .kind = "text", .bake = name_bake, .user = b};
    return scene_of(b, name, &(weft_scene_desc){.bakers = &baker, .baker_count = 1});
}

static weft_result source_of(bed *b, const char *name,
                             weft_result (*open)(weft_source *, const weft_text *, void *))
{
    const weft_source_desc source = {.kind = "names", .suffixes = ".name", .open = open, .user = b};
    return scene_of(b, name, &(weft_scene_desc){.sources = &source, .source_count = 1});
}

static weft_result object_name(bed *b, const char *name)
{
    return source_of(b, name, name_open);
}

static weft_result property_name(bed *b, const char *name)
{
    return source_of(b, name, property_open);
}

static weft_result baker_name(bed *b, const char *name)
{
    const weft_baker_desc baker = {.name = name, .kind = "none", .bake = name_bake, .user = b};
    snprintf(b->said, sizeof b->said, "no scene, no text; UTF-8");
    return scene_of(b, name, &(weft_scene_desc){.bakers = &baker, .baker_count = 1});
}

/* ---- all of them ---- */

static const struct {
    const char *what;
    weft_result (*give)(bed *b, const char *name);
    bool is_apart; /* `said` has the text */
} ways[] = {{"set_name", set_name, false},           {"set_name_unique", set_name_unique, false},
            {"record_name", record_name, false},     {"component", component, false},
            {"resource", resource, false},           {"plain_field", plain_field, false},
            {"type_name", type_name, false},         {"type_field", type_field, false},
            {"type_constant", type_constant, false}, {"system_name", system_name, false},
            {"system_group", system_group, false},   {"system_before", system_before, false},
            {"system_after", system_after, false},   {"group_name", group_name, false},
            {"group_before", group_before, false},   {"observer_name", observer_name, false},
            {"world_name", world_name, true},        {"baked_name", baked_name, true},
            {"object_name", object_name, true},      {"property_name", property_name, true},
            {"baker_name", baker_name, true}};

#define X63 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void bed_begin(bed *b)
{
    memset(b, 0, sizeof *b);
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &b->world));
    b->plain = weft_component_create_plain(b->world, "plain", 4, 4, 0);
    b->entity = weft_entity_create(b->world, weft_archetype_create(b->world, &b->plain, 1));
    CHECK_OK(weft_entity_set_name(b->world, b->entity, "before"));
}

PLAIN_TEST(names_that_are_not_utf8_are_refused_wherever_they_come_in)
{
    static const char *const bad[] = {"\xff",         "a\xc3",        "\xc3(",
                                      "\xed\xa0\x80", "\xc0\x80",     "\xf5\x80\x80\x80",
                                      "0123456\x80",  "01234567\xff", "\xe2\x82\xac\xe2\x82"};
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            bed b;
            bed_begin(&b);
            weft_world_stats was, is;
            weft_world_stats_get(b.world, &was, sizeof was);
            weft_result result = ways[w].give(&b, bad[i]);
            const char *said = ways[w].is_apart ? b.said : weft_world_error(b.world)->text;
            if (result != WEFT_INVALID_ARGUMENT || strstr(said, "UTF-8") == NULL)
                fprintf(stderr, "%s, name %zu: %s\n", ways[w].what, i, said);
            CHECK_RESULT(result, WEFT_INVALID_ARGUMENT);
            CHECK(strstr(said, "UTF-8") != NULL);
            weft_world_stats_get(b.world, &is, sizeof is);
            if (w < 16) CHECK_U64(is.component_types, was.component_types); /* a scene has Parent */
            CHECK_TEXT(weft_entity_name(b.world, b.entity), "before");
            CHECK_OK(weft_world_step(b.world, 0.1f));
            CHECK_OK(weft_world_destroy(b.world));
        }
}

PLAIN_TEST(names_of_any_characters_are_taken_wherever_they_come_in)
{
    static const char *const good[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x9b\xb0",
                                       "a123456\xc3\xa9z"};
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
            bed b;
            bed_begin(&b);
            weft_result result = ways[w].give(&b, good[i]);
            if (result != WEFT_OK)
                fprintf(stderr, "%s, name %zu: %s %s\n", ways[w].what, i, b.said,
                        weft_world_error(b.world)->text);
            CHECK_OK(result);
            CHECK_OK(weft_world_destroy(b.world));
        }
}

/* ---- round trips ---- */

/* A text that is written. */
typedef struct written {
    char bytes[4096];
    size_t count;
} written;

static weft_result keep(void *user, const void *bytes, size_t count)
{
    written *w = user;
    CHECK(w->count + count < sizeof w->bytes);
    memcpy(w->bytes + w->count, bytes, count);
    w->count += count;
    return WEFT_OK;
}

PLAIN_TEST(names_come_back_from_a_text_by_call_and_by_command)
{
    static const struct {
        const char *given, *kept;
    } names[] = {{"ship", "ship"},
                 {"q\"\\\n\x7f", "q\"\\\n\x7f"},
                 {"\xf0\x9f\x9b\xb0", "\xf0\x9f\x9b\xb0"},
                 {X63, X63},
                 {X63 "\xc3\xa9", X63},
                 {"\xc3\xa9" X63, NULL},
                 {"12" X63 "\xf0\x9f\x9b\xb0", NULL}};
    for (size_t i = 0; i < 2 * (sizeof names / sizeof names[0]); i++) {
        bed b;
        written text = {.count = 0};
        weft_world *other;
        bed_begin(&b);
        CHECK_OK((i % 2 == 0 ? set_name : record_name)(&b, names[i / 2].given));
        char kept[64];
        snprintf(kept, sizeof kept, "%s", weft_entity_name(b.world, b.entity));
        if (names[i / 2].kept != NULL) CHECK_TEXT(kept, names[i / 2].kept);
        CHECK(strncmp(kept, names[i / 2].given, strlen(kept)) == 0);
        CHECK_OK(weft_world_save_json(b.world, &(weft_writer){keep, &text}, NULL));
        CHECK_OK(weft_world_create(
            &(weft_world_desc){.workers = 1, .entity_tag = WEFT_WITHOUT_ENTITY_TAG}, &other));
        weft_component_create_plain(other, "plain", 4, 4, 0);
        CHECK_OK(
            weft_world_load_json(other, &(weft_text){text.bytes, text.count, "text"}, NULL, NULL));
        CHECK_TEXT(weft_entity_name(other, b.entity), kept);
        CHECK_OK(weft_world_destroy(other));
        CHECK_OK(weft_world_destroy(b.world));
    }
}

PLAIN_TEST(a_name_of_63_bytes_or_more_ends_with_a_whole_character)
{
    char name[80];
    for (int way = 0; way < 2; way++)
        for (int before = 56; before < 66; before++) {
            bed b;
            bed_begin(&b);
            snprintf(name, sizeof name, "%.*s\xf0\x9f\x9b\xb0\xe2\x82\xac", before, X63 "xxx");
            CHECK_OK((way == 0 ? set_name : record_name)(&b, name));
            int whole = before + 7 <= 63 ? before + 7 : before + 4 <= 63 ? before + 4 : before;
            CHECK_U64(strlen(weft_entity_name(b.world, b.entity)),
                      (uint64_t)(whole < 63 ? whole : 63));
            CHECK(strncmp(weft_entity_name(b.world, b.entity), name, 63 - 8) == 0);
            CHECK_OK(weft_world_destroy(b.world));
        }
}
