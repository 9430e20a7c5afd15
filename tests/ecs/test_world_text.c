/* SPDX-License-Identifier: MIT */
/* test_world_text.c: worlds as text and back: every kind of component, handles, names, enable bits,
 * the clock; texts that are refused, with their places; refused memory; a text of many pieces. */
#include "buffer_append.h"
#include "memory_fault.h"
#include "plain.h"
#include "random.h"
#include "transfer_fixture.h"
#include "world_state.h"

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text in memory. Owner: one test. */
typedef struct page {
    char *text;
    size_t count, longest, calls;
    size_t fail_at; /* call; 0: never */
} page;

static weft_result page_write(void *user, const void *bytes, size_t count)
{
    page *p = user;
    if (++p->calls == p->fail_at) return WEFT_IO;
    p->text = realloc(p->text, p->count + count + 1);
    memcpy(p->text + p->count, bytes, count);
    p->count += count;
    p->text[p->count] = '\0';
    if (count > p->longest) p->longest = count;
    return WEFT_OK;
}

static page page_of(weft_world *world, const weft_world_text_desc *desc)
{
    page p = {.count = 0};
    CHECK_OK(weft_world_save_json(world, &(weft_writer){page_write, &p}, desc));
    return p;
}

static weft_result read_page(weft_world *world, const char *text, size_t count, weft_error *error)
{
    char *exact = malloc(count + 1); /* its exact size, for AddressSanitizer */
    memcpy(exact, text, count);
    weft_result result =
        weft_world_load_json(world, &(weft_text){exact, count, "a.json"}, NULL, error);
    free(exact);
    return result;
}

static const weft_world_desc plain_desc = {
    .workers = 1, .name = "plain", .entity_tag = WEFT_WITHOUT_ENTITY_TAG};

static weft_world *empty_world(uint32_t tag)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1, .entity_tag = tag}, &world));
    return world;
}

static uint64_t content_of(weft_world *world)
{
    return weft_world_hash(world, WEFT_HASH_CONTENT);
}

/* ---- there and back ---- */

static void fill_row(side *s, test_random *random, uint32_t i, weft_entity *made)
{
    weft_component all[7] = {s->value};
    uint32_t count = 1;
    const weft_component others[] = {s->link, s->lever, s->team, s->list, s->mark, s->clean};
    for (uint32_t k = 0; k < 6; k++)
        if ((test_random_next(random) & 1) != 0) all[count++] = others[k];
    weft_entity e = weft_entity_create(s->world, weft_archetype_create(s->world, all, count));
    made[i] = e;
    ((Value *)weft_entity_write(s->world, e, s->value))->number = test_random_next(random);
    weft_entity friend = made[test_random_next(random) % (i + 1)];
    if (weft_entity_has(s->world, e, s->link))
        *(Link *)weft_entity_write(s->world, e, s->link) = (Link){i, friend, {{0, 0}, friend}};
    if (weft_entity_has(s->world, e, s->team) && i % 3 != 0)
        set_team(s, e, s->team, (int32_t)(i % 7));
    if (weft_entity_has(s->world, e, s->list))
        for (uint32_t k = 0; k < i % 6; k++)
            CHECK_OK(test_buffer_append(s->world, s->list, e, &friend, 1));
    if (weft_entity_has(s->world, e, s->mark) && i % 4 == 0)
        CHECK_OK(weft_entity_enable(s->world, e, s->mark, false));
    if (weft_entity_has(s->world, e, s->lever) && i % 5 == 0)
        CHECK_OK(weft_entity_enable(s->world, e, s->lever, false));
    char name[32];
    snprintf(name, sizeof name, "row \"%u\"\n\xc3\xa9", i);
    if (i % 11 == 0) CHECK_OK(weft_entity_set_name(s->world, e, name));
}

/* Entities of many archetypes, some of them residues, with holes between their indices. */
static void fill(side *s, uint32_t count, uint64_t seed)
{
    static weft_entity made[20000];
    test_random random = test_random_init(seed);
    open_side(s, &(weft_world_desc){.name = "from", .entity_tag = 3}, false);
    weft_component sparse = weft_component_create_plain(s->world, "Fleeting", 4, 4, WEFT_SPARSE);
    weft_component clock = weft_component_create_plain(s->world, "Clock", 8, 8, WEFT_RESOURCE);
    uint64_t ticks = 99;
    memcpy(weft_resource_write(s->world, clock), &ticks, sizeof ticks);
    for (uint32_t i = 0; i < count; i++) {
        fill_row(s, &random, i, made);
        if (i % 9 == 0) CHECK_OK(weft_entity_set(s->world, made[i], sparse, &i, sizeof i));
    }
    for (uint32_t i = 0; i < count; i += 13) CHECK_OK(weft_entity_destroy(s->world, made[i]));
}

/* What the text is read into: the same components but `owned`, in another order. */
static void open_reader(side *s)
{
    open_side(s, &(weft_world_desc){.name = "to", .entity_tag = 4}, true);
}

/* The worlds go on with the same handles: what died does not come back. */
static void check_same_handles(weft_world *a, weft_world *b, weft_world *c)
{
    weft_world *worlds[] = {a, b, c};
    weft_entity made[3];
    for (uint32_t i = 0; i < 300; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            made[k] = weft_entity_create(worlds[k], weft_archetype_create(worlds[k], NULL, 0));
            made[k].index ^= worlds[k]->directory.tag_bits;
        }
        CHECK_U64(made[1].index, made[0].index);
        CHECK_U64(made[1].version, made[0].version);
        CHECK_U64(made[2].index, made[0].index);
        CHECK_U64(made[2].version, made[0].version);
    }
}

static void check_round(uint32_t count, uint64_t seed)
{
    side a, b;
    weft_error error;
    fill(&a, count, seed);
    weft_world_text_desc desc = {.without = &a.owned, .without_count = 1};
    page first = page_of(a.world, &desc);
    open_reader(&b);
    if (read_page(b.world, first.text, first.count, &error) != WEFT_OK)
        test_fail(__FILE__, __LINE__, error.text);
    CHECK_OK(weft_world_validate(b.world));
    CHECK_U64(content_of(b.world), content_of(a.world));
    weft_world *plain = empty_world(5); /* all types from the text */
    CHECK_OK(read_page(plain, first.text, first.count, NULL));
    CHECK_OK(weft_world_validate(plain));
    CHECK_U64(content_of(plain), content_of(a.world));
    page second = page_of(plain, NULL);
    CHECK(count < 12 || strstr(second.text, "row \\\"11\\\"") != NULL);
    check_same_handles(a.world, b.world, plain);
    CHECK_OK(weft_world_destroy(plain));
    free(first.text), free(second.text);
    close_side(&a);
    close_side(&b);
}

PLAIN_TEST(every_kind_of_component_comes_back)
{
    check_round(1, 1);
    for (uint64_t seed = 2; seed < 12; seed++) check_round(200 + (uint32_t)seed * 100, seed);
}

PLAIN_TEST(the_same_state_gives_the_same_text_in_pieces)
{
    side a;
    fill(&a, 20000, 7);
    weft_world_text_desc desc = {.without = &a.owned, .without_count = 1};
    page first = page_of(a.world, &desc), second = page_of(a.world, &desc);
    CHECK_U64(first.count, second.count);
    CHECK(memcmp(first.text, second.text, first.count) == 0);
    CHECK(first.calls > 10 && first.longest <= 1 << 20);
    page cut = {.fail_at = 2};
    CHECK_RESULT(weft_world_save_json(a.world, &(weft_writer){page_write, &cut}, &desc), WEFT_IO);
    CHECK_U64(cut.calls, 2);
    free(first.text), free(second.text), free(cut.text);
    close_side(&a);
}

/* A megabyte of text takes a few pieces of memory. */
PLAIN_TEST(writing_holds_pieces_only)
{
    test_memory memory;
    test_memory_init(&memory);
    weft_world *world;
    CHECK_OK(weft_world_create(
        &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&memory)}, &world));
    weft_component value = WEFT_COMPONENT(world, Value);
    CHECK_OK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, value), 50000, NULL));
    memory.peak_bytes = memory.live_bytes;
    uint64_t before = memory.live_bytes;
    page p = page_of(world, NULL);
    CHECK(p.count > 3000000);
    CHECK(memory.peak_bytes - before < 300000);
    free(p.text);
    CHECK_OK(weft_world_destroy(world));
    test_memory_fini(&memory);
}

typedef struct Position {
    float x, y;
} Position;
static const weft_field position_fields[] = {WEFT_FIELD(Position, x), WEFT_FIELD(Position, y)};
static const Position start = {.y = 7};
static const weft_type position_type = {.name = "Position",
                                        .size = sizeof(Position),
                                        .alignment = 4,
                                        .fields = position_fields,
                                        .field_count = 2,
                                        .initial = &start};

PLAIN_TEST(the_text_is_for_people)
{
    weft_world *world = empty_world(0);
    weft_component position =
        weft_component_create(world, &(weft_component_desc){.type = &position_type});
    weft_component mark = weft_component_create_plain(world, "Mark", 0, 1, WEFT_ENABLEABLE);
    weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, position, mark));
    CHECK_OK(weft_entity_set(world, e, position, &(Position){1, 2.5f}, sizeof(Position)));
    CHECK_OK(weft_entity_set_name(world, e, "iss"));
    CHECK_OK(weft_entity_enable(world, e, mark, false));
    page p = page_of(world, NULL);
    CHECK(strstr(p.text, "{\"entity\": \"0:1\", \"name\": \"iss\", \"components\": "
                         "{\"Position\": {\"x\": 1, \"y\": 2.5}, \"Mark\": true}, "
                         "\"disabled\": [\"Mark\"]}\n") != NULL);
    CHECK(strstr(p.text, "{\"type\": \"Position\", \"size\": 8, \"alignment\": 4, "
                         "\"description\": {\"name\": \"Position\", \"size\": 8, \"alignment\": 4, "
                         "\"initial\": \"0x") != NULL);
    free(p.text);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(people_may_write_it)
{
    static const char text[] =
        "// two of them\n"
        "{\"entity\": \"4:3\", \"components\": {\"Position\": {\"x\": 3,},},}\n"
        "{\"weft\": 1, \"steps\": 12}\n"
        "{\"entity\": \"0:1\",\n \"name\": \"b\"}";
    weft_world *world = empty_world(2);
    weft_component position =
        weft_component_create(world, &(weft_component_desc){.type = &position_type});
    weft_error error;
    if (read_page(world, text, sizeof text - 1, &error) != WEFT_OK)
        test_fail(__FILE__, __LINE__, error.text);
    weft_entity b = weft_entity_find(world, "b");
    CHECK(b.version == 1 && weft_entity_is_alive(world, b));
    weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{position}}});
    weft_cursor cursor = weft_query_begin(world, query);
    CHECK(weft_query_next(&cursor));
    CHECK_U64(weft_slice_count(&cursor.slice), 1);
    const Position *at = weft_slice_read(&cursor.slice, 0);
    CHECK(at->x == 3 && at->y == 7); /* the initial value */
    CHECK_U64(weft_slice_entities(&cursor.slice)[0].version, 3);
    CHECK(!weft_query_next(&cursor));
    CHECK_OK(weft_world_destroy(world));
}

/* ---- relations ---- */

static weft_world *related(weft_component *parent)
{
    weft_world *world = empty_world(WEFT_WITHOUT_ENTITY_TAG);
    *parent = weft_component_parent(world);
    return world;
}

PLAIN_TEST(trees_come_back_with_their_order_and_depths)
{
    enum { NODES = 400 };
    static weft_entity e[NODES];
    weft_component parent, again;
    weft_world *from = related(&parent), *to = related(&again);
    weft_component value = WEFT_COMPONENT(from, Value);
    for (uint32_t i = 0; i < NODES; i++) {
        e[i] = weft_entity_create(from, WEFT_ARCHETYPE(from, value));
        if (i != 0) CHECK_OK(weft_relation_set(from, e[i], parent, e[(i - 1) / 3]));
    }
    CHECK_OK(weft_relation_settle(from));
    page p = page_of(from, NULL);
    CHECK_OK(read_page(to, p.text, p.count, NULL));
    CHECK_OK(weft_relation_settle(to));
    CHECK_OK(weft_world_validate(to));
    CHECK_U64(content_of(to), content_of(from));
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t count = 0, count_again = 0;
        const weft_entity *sources = weft_relation_sources(from, parent, e[i], &count);
        const weft_entity *others = weft_relation_sources(to, again, e[i], &count_again);
        CHECK_U64(count_again, count);
        CHECK(count == 0 || memcmp(sources, others, count * sizeof *sources) == 0);
        CHECK_U64(weft_relation_depth(to, again, e[i]), weft_relation_depth(from, parent, e[i]));
    }
    free(p.text);
    CHECK_OK(weft_world_destroy(from));
    CHECK_OK(weft_world_destroy(to));
}

static void rest(weft_slice *slice, void *user)
{
    (void)slice;
    (void)user;
}

/* Into a world that has declared nothing: relations, timers and what a type requires. */
PLAIN_TEST(what_the_program_did_not_declare_comes_back)
{
    static const weft_field field = {"to", WEFT_FIELD_ENTITY, 0, 1};
    const weft_system_desc spawn = {.name = "spawn", .run = rest, .flags = WEFT_SYSTEM_TIMER};
    weft_component parent;
    weft_world *from = related(&parent), *to = empty_world(WEFT_WITHOUT_ENTITY_TAG);
    weft_component berth = weft_component_create(
        from,
        &(weft_component_desc){.name = "Berth", .size = 8, .fields = &field, .field_count = 1});
    CHECK_OK(
        weft_relation_declare(from, &(weft_relation_desc){.component = berth,
                                                          .on_target_death = WEFT_ON_TARGET_DESTROY,
                                                          .by_depth = true}));
    weft_entity e[3];
    CHECK_OK(weft_entity_create_many(from, weft_archetype_create(from, NULL, 0), 3, e));
    CHECK_OK(weft_relation_set(from, e[1], parent, e[0]));
    CHECK_OK(weft_relation_set(from, e[2], berth, e[0]));
    CHECK_OK(weft_timer_set(from, weft_system_create(from, &spawn), 2.5));
    page p = page_of(from, NULL), again;
    CHECK_OK(read_page(to, p.text, p.count, NULL));
    again = page_of(to, NULL);
    p.text[strcspn(p.text, "\n")] = again.text[strcspn(again.text, "\n")] = ' '; /* names */
    CHECK_TEXT(strchr(again.text, '\n'), strchr(p.text, '\n'));
    CHECK_F64(weft_timer_left(to, weft_system_create(to, &spawn)), 2.5, 0);
    CHECK_OK(weft_entity_destroy(to, e[0]));
    CHECK_OK(weft_relation_settle(to));
    CHECK(!weft_entity_is_alive(to, e[1]) && !weft_entity_is_alive(to, e[2]));
    free(p.text);
    free(again.text);
    CHECK_OK(weft_world_destroy(from));
    CHECK_OK(weft_world_destroy(to));
}

PLAIN_TEST(texts_without_words_for_relations_have_the_built_in_ones)
{
    static const char text[] =
        "{\"weft\": 1}\n{\"type\": \"Parent\", \"size\": 8, \"alignment\": 4, \"fields\": "
        "[{\"name\": \"entity\", \"kind\": \"entity\", \"offset\": 0, \"count\": 1}]}\n"
        "{\"entity\": \"0:1\"}\n"
        "{\"entity\": \"1:1\", \"components\": {\"Parent\": {\"entity\": \"0:1\"}}}";
    weft_world *world = empty_world(WEFT_WITHOUT_ENTITY_TAG);
    CHECK_OK(read_page(world, text, sizeof text - 1, NULL));
    CHECK_OK(weft_entity_destroy(world, (weft_entity){0, 1}));
    CHECK_OK(weft_relation_settle(world));
    CHECK(!weft_entity_is_alive(world, (weft_entity){1, 1}));
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(a_target_may_stand_behind_its_source)
{
    static const char text[] = "{\"entity\": \"1:1\", \"components\": {\"Parent\": {\"entity\": "
                               "\"0:1\"}}} {\"entity\": \"0:1\"}";
    weft_component parent;
    weft_world *world = related(&parent);
    uint32_t count;
    CHECK_OK(read_page(world, text, sizeof text - 1, NULL));
    CHECK_OK(weft_relation_settle(world));
    CHECK(weft_relation_sources(world, parent, (weft_entity){0, 1}, &count) != NULL && count == 1);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- hooks ---- */

static size_t save_text(const void *value, void *out, size_t capacity, void *user)
{
    (void)user;
    char *const *text = value;
    size_t count = *text == NULL ? 0 : strlen(*text);
    if (count <= capacity && count != 0) memcpy(out, *text, count);
    return count;
}

static bool load_text(void *value, const void *bytes, size_t count, void *user)
{
    (void)user;
    char **text = value;
    free(*text);
    *text = calloc(1, count + 1);
    memcpy(*text, bytes, count);
    return count == 0 || ((const char *)bytes)[0] != '!';
}

static void end_text(void *values, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) free(((char **)values)[i]);
}

static weft_component hooked(weft_world *world)
{
    return weft_component_create(
        world, &(weft_component_desc){
                   .name = "Text",
                   .size = sizeof(char *),
                   .hooks = {.save = save_text, .load = load_text, .destruct = end_text}});
}

PLAIN_TEST(values_of_hooks_are_bytes)
{
    enum { TAG = WEFT_WITHOUT_ENTITY_TAG };
    weft_world *from = empty_world(TAG), *to = empty_world(TAG), *plain = empty_world(TAG);
    weft_component text = hooked(from), again = hooked(to);
    char *words = calloc(1, 1001);
    memset(words, 'w', 1000);
    weft_entity e = weft_entity_create(from, WEFT_ARCHETYPE(from, text));
    *(char **)weft_entity_write(from, e, text) = words;
    page p = page_of(from, NULL);
    CHECK_OK(read_page(to, p.text, p.count, NULL));
    CHECK_TEXT(*(char *const *)weft_entity_read(to, e, again), words);
    weft_error error;
    CHECK_RESULT(read_page(plain, p.text, p.count, &error), WEFT_TYPE_MISMATCH);
    CHECK(strstr(error.text, "has hooks: register it before reading") != NULL);
    static const char refused[] = "{\"entity\": \"0:1\", \"components\": {\"Text\": \"0x2121\"}}";
    CHECK_OK(weft_world_destroy(to));
    to = empty_world(0);
    hooked(to);
    CHECK_RESULT(read_page(to, refused, sizeof refused - 1, &error), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(error.text, "load hook of \"Text\" refuses") != NULL);
    free(p.text);
    CHECK_OK(weft_world_destroy(from));
    CHECK_OK(weft_world_destroy(to));
    CHECK_OK(weft_world_destroy(plain));
}

/* ---- refusals ---- */

#define ENTITY(rest) "{\"entity\": \"0:1\", \"name\": \"kept?\"}\n{\"entity\": " rest
#define RESOURCE(rest)                                                                             \
    "{\"type\": \"R\", \"size\": 4, \"alignment\": 4, \"flags\": [\"resource\"], \"fields\": "     \
    "[{\"name\": \"g\", \"kind\": \"f32\"}]}\n{\"resource\": \"R\", \"value\": " rest
static const struct {
    const char *text, *message;
    uint32_t line;
} refusals[] = {
    {"{\"weft\": 3}", "this library reads versions up to 2", 1},
    {"{\"type\": \"R\", \"relation\": [\"destroys\"]}", "nothing that a relation does", 1},
    {"{\"type\": \"R\", \"relation\": [\"acyclic\"]}", "a relation has one of", 1},
    {"{\"system\": \"s\", \"elapsed\": -1}", "that is no time", 1},
    {"{\"group\": \"\", \"elapsed\": 0}", "without a name", 1},
    {"{\"group\": \"g\", \"dt\": 0}", "has \"elapsed\" and \"timer\"", 1},
    {"{\"weft\": 1}\n[1]", "an object that begins with", 2},
    {"{\"entity\": \"1:2\"}", "no living entity has an even version", 1},
    {"{\"entity\": null}", "no living entity has an even version", 1},
    {"{\"entity\": \"1\"}", "no entity: write \"index:version\"", 1},
    {"{\"entity\": \"4000000000:1\"}", "an index far beyond all others", 1},
    {ENTITY("\"0:3\"}"), "entity 0 is there twice", 2},
    {ENTITY("\"1:1\"}\n{\"dead\": [\"2:2\", \"0:4\"]}"), "entity 0 is there twice", 3},
    {"{\"dead\": [\"0:2\",\n\"1:3\"]}", "no dead entity has this version", 2},
    {"{\"dead\": [\"0:2\", \"4000000000:2\"]}", "an index far beyond all others", 1},
    {"{\"dead\": \"0:2\"}", "an array of handles should be here", 1},
    {ENTITY("\"1:1\", \"components\": {\"Missing\": true}}"), "no component \"Missing\"", 2},
    {ENTITY("\"1:1\", \"components\": {\"Value\": true}}"), "an object should be here", 2},
    {ENTITY("\"1:1\", \"components\": {\"Mark\": {}}}"), "has no value: write true", 2},
    {ENTITY("\"1:1\", \"components\": {\"Mark\": true, \"Mark\": true}}"), "stands here twice", 2},
    {ENTITY("\"1:1\", \"components\": {\"List\": 3}}"), "the elements of a buffer", 2},
    {ENTITY("\"1:1\", \"components\": {\"List\": [{\"entity\": \"1:1\"},\n{\"entity\": \"x\"}]}}"),
     "no entity: write", 3},
    {ENTITY("\"1:1\", \"components\": {\"Link\": {\"salt\": 5,\n\"pair\": [null]}}}"),
     "the array has 2 elements", 3},
    {ENTITY("\"1:1\", \"disabled\": [\"Mark\"]}"), "no \"Mark\" that can be disabled", 2},
    {ENTITY("\"1:1\", \"components\": {\"Mark\": true}, \"disabled\": [\"Mark\",\n\"Mark\"]}"),
     "\"Mark\" stands here twice", 3},
    {ENTITY("\"1:1\", \"parent\": \"0:1\"}"), "an entity has \"name\"", 2},
    {ENTITY("\"1:1\", \"name\": \"a\", \"name\": \"b\"}"), "\"name\" stands here twice", 2},
    {ENTITY("\"1:1\", \"components\": {}, \"components\": {}}"), "stands here twice", 2},
    {"{\"type\": \"T\", \"size\": 4, \"size\": 8}", "\"size\" stands here twice", 1},
    {"{\"weft\": 1, \"steps\": 1, \"steps\": 2}", "\"steps\" stands here twice", 1},
    {"{\"group\": \"g\", \"timer\": 1, \"timer\": 2}", "\"timer\" stands here twice", 1},
    {"{\"type\": \"T\", \"description\": {\"size\": 4, \"size\": 4}}", "\"size\" stands", 1},
    {"{\"type\": \"T\", \"description\": {\"fields\": [{\"unit\": \"m\", \"unit\": \"s\"}]}}",
     "\"unit\" stands here twice", 1},
    {ENTITY("\"1:1\""), "", 2},
    {"{\"resource\": \"Value\", \"value\": 1}", "\"Value\" is no resource", 1},
    {RESOURCE("{\"g\": \"abc\"}}"), "R.g: no number: write", 2},
    {RESOURCE("{\"g\": \"abc\"}"), "R.g: no number: write", 2},
    {RESOURCE("{\"g\": \"abc\"\n{\"entity\": \"0:1\"}"), "R.g: no number: write", 2},
    {RESOURCE("{\"entity\": \"3:1\"}\n{\"entity\": \"0:1\"}"), "no field \"entity\" in R", 2},
    {RESOURCE("{\"g\": 1}\n{\"entity\": \"0:1\"}"), "", 3},
    {"{\"type\": \"T\", \"flags\": [\"resource\"]}\n{\"resource\": \"T\", \"value\": yes}",
     "a word needs quotes", 2},
    {"{\"type\": \"New\", \"size\": 3000000000, \"flags\": [\"resource\"]}", "larger than the text",
     1},
    {"{\"type\": \"New\", \"size\": 4, \"flags\": [\"fast\"]}", "no kind of components", 1},
    {"{\"type\": \"New\", \"size\": 4, \"fields\": [{\"name\": \"a\", \"kind\": \"f16\"}]}",
     "no kind of fields", 1},
    {"{\"type\": \"New\", \"size\": 4, \"fields\": [{\"name\": \"a\", \"kind\": \"f64\"}]}", "New",
     1},
};

PLAIN_TEST(refusals_say_where_and_leave_nothing)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        side s;
        weft_error error;
        open_side(&s, &plain_desc, false);
        CHECK_RESULT(read_page(s.world, refusals[i].text, strlen(refusals[i].text), &error),
                     WEFT_INVALID_ARGUMENT);
        if (strstr(error.text, refusals[i].message) == NULL)
            CHECK_TEXT(error.text, refusals[i].message);
        CHECK_U64(error.line, refusals[i].line);
        CHECK_TEXT(error.file, "a.json");
        CHECK_U64(weft_world_error(s.world)->line, error.line);
        CHECK_TEXT(weft_world_error(s.world)->path, error.path);
        CHECK(strncmp(error.text, "a.json:", 7) == 0);
        CHECK(strstr(weft_world_error(s.world)->text, refusals[i].message) != NULL);
        CHECK_U64(entities_of(s.world), 0);
        CHECK_U64(weft_entity_find(s.world, "kept?").version, 0);
        CHECK_OK(read_page(s.world, "", 0, NULL)); /* still new */
        CHECK_OK(read_page(s.world, "{\"entity\": \"0:1\"}", 17, NULL));
        CHECK_TEXT(weft_entity_name(s.world, (weft_entity){0, 1}), "");
        CHECK_RESULT(read_page(s.world, "", 0, &error), WEFT_WRONG_PHASE);
        CHECK_RESULT(error.code, WEFT_WRONG_PHASE);
        CHECK_TEXT(error.text, weft_world_error(s.world)->text);
        close_side(&s);
    }
}

PLAIN_TEST(what_cannot_be_written_is_named)
{
    side s;
    page p = {.count = 0};
    open_side(&s, &plain_desc, false);
    CHECK_RESULT(weft_world_save_json(s.world, &(weft_writer){page_write, &p}, NULL),
                 WEFT_UNSUPPORTED);
    CHECK(strstr(weft_world_error(s.world)->text, "\"Owned\"") != NULL);
    CHECK_RESULT(weft_world_save_json(s.world, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_world_load_json(s.world, NULL, NULL, NULL), WEFT_INVALID_ARGUMENT);
    CHECK_U64(p.calls, 0);
    close_side(&s);
}

PLAIN_TEST(refused_memory_leaves_nothing)
{
    side a;
    fill(&a, 60, 3);
    weft_world_text_desc desc = {.without = &a.owned, .without_count = 1};
    page p = page_of(a.world, &desc);
    bool is_done = false;
    for (uint64_t k = 1; !is_done; k++) {
        test_memory memory;
        test_memory_init(&memory);
        weft_world *world;
        CHECK_OK(weft_world_create(
            &(weft_world_desc){.workers = 1, .allocator = test_memory_hook(&memory)}, &world));
        test_memory_fail(&memory, k, true);
        weft_result result = read_page(world, p.text, p.count, NULL);
        is_done = memory.failures == 0;
        test_memory_fail(&memory, 0, false);
        CHECK_RESULT(result, is_done ? WEFT_OK : WEFT_OUT_OF_MEMORY);
        CHECK_U64(entities_of(world), is_done ? entities_of(a.world) : 0);
        CHECK_OK(weft_world_validate(world));
        CHECK_OK(weft_world_destroy(world));
        test_memory_fini(&memory);
    }
    free(p.text);
    close_side(&a);
}
