/* SPDX-License-Identifier: MIT */
/* test_declared.c: what checked builds say about commands, reads and declared queries that a system
 * did not declare, and about look-ups that meet the rows of other slices. Unchecked builds run the
 * same systems. More: test_diagnose.c. */
#include "mistakes_bed.h"

#include <string.h>

/* ---- commands against what was declared ---- */

/* What a system records, and how it must be told; see record_kind. */
typedef struct recording {
    uint32_t kind;
    uint32_t effects;
    bool lists_a;     /* `records` holds component a only */
    const char *word; /* of the report; NULL: nothing is wrong */
    uint32_t listed;  /* of a, b and beside, in `destroys`, for copies (13) in `records` */
} recording;

static weft_archetype only_a, grouped;
static weft_component list, shared, bit, beside;
static weft_query all;

static void record_kind(weft_slice *s, void *user)
{
    const recording *r = user;
    weft_recorder *commands = weft_slice_recorder(s);
    const weft_entity self = weft_slice_entities(s)[0];
    const weft_values team = {shared, &(uint32_t){1}};
    weft_entity made;
    weft_slice rows;
    switch (r->kind) {
    case 0:
    case 12: /* it has a SPARSE component, too */
        CHECK_OK(weft_recorder_destroy_entity(commands, self));
        break;
    case 1:
        CHECK_OK(weft_recorder_remove(commands, self, a));
        break;
    case 2:
        CHECK_OK(weft_recorder_set(commands, self, b, &(uint32_t){1}, 4));
        break;
    case 3:
        made = weft_recorder_create_entity(commands, only_a);
        CHECK_OK(weft_recorder_set(commands, made, b, &(uint32_t){1}, 4));
        break;
    case 4:
    case 13: /* copies get it, too */
        CHECK(weft_recorder_instantiate(commands, self).version != 0);
        break;
    case 6:
        CHECK_OK(weft_recorder_set_buffer(commands, self, list, &(uint32_t){1}, 1));
        break;
    case 7:
        CHECK_OK(weft_recorder_set_name(commands, self, "self"));
        break;
    case 8:
        CHECK_OK(weft_recorder_query_set_shared(commands, all, shared, &(uint32_t){1}));
        break;
    case 9:
        CHECK_OK(weft_recorder_query_enable(commands, all, bit, false));
        break;
    case 10:
        CHECK_OK(weft_recorder_create_rows_with(
            commands,
            &(weft_rows_desc){.archetype = grouped, .count = 1, .shared_count = 1, .shared = &team},
            &rows));
        made = weft_recorder_row_entity(commands, &rows, 0);
        CHECK_OK(weft_recorder_set(commands, made, a, &(uint32_t){1}, 4));
        break;
    case 11:
        CHECK_OK(weft_recorder_query_destroy_entities(commands, all));
        break;
    default:
        made = weft_recorder_create_entity(commands, only_a);
        CHECK_OK(weft_recorder_set(commands, made, a, &(uint32_t){1}, 4));
        break;
    }
}

PLAIN_TEST(commands_of_kinds_and_components_that_are_not_declared_are_named)
{
    static const recording cases[] = {
        {0, WEFT_RECORDS_ADD, false, "WEFT_RECORDS_DESTROY"},
        {0, WEFT_RECORDS_DESTROY, true, NULL},
        {0, WEFT_RECORDS_DESTROY, false, "component b", 1},
        {0, WEFT_RECORDS_DESTROY, false, NULL, 2},
        {11, WEFT_RECORDS_DESTROY, false, "`destroys`", 1},
        {11, WEFT_RECORDS_DESTROY, false, NULL, 2},
        {1, WEFT_RECORDS_ADD, false, "WEFT_RECORDS_REMOVE"},
        {1, WEFT_RECORDS_REMOVE, true, NULL},
        {2, WEFT_RECORDS_CREATE, false, "WEFT_RECORDS_ADD"},
        {2, WEFT_RECORDS_ADD, true, "`records`"},
        {2, WEFT_RECORDS_ADD, false, NULL},
        {3, WEFT_RECORDS_CREATE, true, "component b"},
        {3, WEFT_RECORDS_CREATE, false, NULL}, /* what it made itself it may fill */
        {3, WEFT_RECORDS_ADD, false, "WEFT_RECORDS_CREATE"},
        {4, WEFT_RECORDS_DESTROY, false, "WEFT_RECORDS_CREATE"},
        {4, WEFT_RECORDS_CREATE, true, "component b"},
        {4, WEFT_RECORDS_CREATE, false, NULL},
        {12, WEFT_RECORDS_DESTROY, false, "component beside", 2},
        {12, WEFT_RECORDS_DESTROY, false, NULL, 3},
        {13, WEFT_RECORDS_CREATE, false, "component beside", 2},
        {13, WEFT_RECORDS_CREATE, false, NULL, 3},
        {5, WEFT_RECORDS_CREATE, true, NULL},
        {5, WEFT_RECORDS_ANY, true, NULL},
        {6, WEFT_RECORDS_REMOVE, false, "component list"},
        {6, WEFT_RECORDS_ADD, true, "component list"},
        {6, WEFT_RECORDS_ADD, false, NULL},
        {7, WEFT_RECORDS_DESTROY, false, "named an entity"},
        {7, WEFT_RECORDS_ADD, true, NULL},
        {8, WEFT_RECORDS_DESTROY, false, "WEFT_RECORDS_ADD"},
        {8, WEFT_RECORDS_ADD, true, "component shared"},
        {8, WEFT_RECORDS_ADD, false, NULL},
        {9, WEFT_RECORDS_ADD, true, "component bit"},
        {9, WEFT_RECORDS_ADD, false, NULL},
        {10, WEFT_RECORDS_CREATE, true, "component shared"},
        {10, WEFT_RECORDS_ADD, false, "WEFT_RECORDS_CREATE"},
        {10, WEFT_RECORDS_CREATE, false, NULL},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const recording *r = &cases[i];
        begin();
        list = weft_component_create_plain(world, "list", 4, 4, WEFT_BUFFER);
        shared = weft_component_create_plain(world, "shared", 4, 4, WEFT_SHARED);
        bit = weft_component_create_plain(world, "bit", 0, 1, WEFT_ENABLEABLE);
        beside = weft_component_create_plain(world, "beside", 4, 4, WEFT_SPARSE);
        if (r->kind == 12 || r->kind == 13)
            CHECK_OK(weft_entity_set(world, first, beside, &(uint32_t){1}, 4));
        only_a = weft_archetype_create(world, &a, 1);
        grouped = weft_archetype_create(world, (weft_component[]){a, shared}, 2);
        all = weft_query_create(world, &(weft_query_desc){.terms = {{a, WEFT_READ, WEFT_ALL, 0}}});
        weft_system_desc desc = {.name = "recorder",
                                 .run = record_kind,
                                 .user = (void *)(uintptr_t)r,
                                 .effects = r->effects,
                                 .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
        if (r->lists_a) desc.records[0] = a;
        for (uint32_t k = 0; k < r->listed; k++)
            (r->kind == 13 ? desc.records : desc.destroys)[k] =
                (const weft_component[]){a, b, beside}[k];
        CHECK(weft_system_create(world, &desc).id != 0);
        if (r->word == NULL)
            CHECK_OK(weft_world_step(world, 0));
        else
            expect(WEFT_UNDECLARED_ACCESS, (const char *const[]){"'recorder'", r->word, NULL});
        end();
    }
}

static weft_recorder *kept;

static void keep_recorder(weft_slice *s, void *user)
{
    (void)user;
    kept = weft_slice_recorder(s);
}

static void check_all_late(void)
{
    weft_slice rows;
    weft_archetype archetype = weft_archetype_create(world, &a, 1);
    weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{a, 0, 0, 0}}});
    CHECK_U64(weft_recorder_create_entity(kept, archetype).version, 0);
    CHECK_U64(weft_recorder_instantiate(kept, first).version, 0);
    CHECK_RESULT(weft_recorder_create_rows(kept, archetype, 1, &rows), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_recorder_destroy_entity(kept, first), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_recorder_add(kept, first, b), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_recorder_query_add(kept, query, b), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_recorder_query_destroy_entities(kept, query), WEFT_WRONG_PHASE);
    expect(WEFT_WRONG_PHASE, (const char *const[]){"'keeper'", "create", "returned", NULL});
    CHECK(weft_entity_is_alive(world, first));
}

PLAIN_TEST(a_recorder_used_after_its_callback_is_named)
{
    begin();
    weft_system_desc desc = {.name = "keeper",
                             .run = keep_recorder,
                             .flags = WEFT_SYSTEM_SERIAL,
                             .effects = WEFT_RECORDS_ANY,
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0));
    CHECK_RESULT(weft_recorder_play(kept), WEFT_WRONG_PHASE); /* the step plays it */
    weft_recorder_destroy(kept);                              /* and owns it */
    weft_result result = weft_recorder_remove(kept, first, b);
    CHECK_RESULT(result, WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    expect(WEFT_WRONG_PHASE, (const char *const[]){"'keeper'", "remove", "returned", NULL});
    if (WEFT_IS_CHECKED) check_all_late();
    end();
}

PLAIN_TEST(what_is_recorded_for_a_system_that_has_gone_is_played)
{
    begin();
    const weft_system_desc desc = {.name = "keeper",
                                   .run = keep_recorder,
                                   .flags = WEFT_SYSTEM_SERIAL,
                                   .effects = WEFT_RECORDS_ANY,
                                   .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    const weft_system system = weft_system_create(world, &desc);
    CHECK_OK(weft_world_step(world, 0));
    CHECK_OK(weft_system_destroy(world, system));
    const weft_result result = WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK;
    CHECK_RESULT(weft_recorder_destroy_entity(kept, first), result);
    CHECK_RESULT(weft_world_step(world, 0), result);
    CHECK(weft_entity_is_alive(world, first) == WEFT_IS_CHECKED);
    end();
}

static weft_slice *kept_slice;

static void keep_slice(weft_slice *s, void *user)
{
    (void)user;
    kept_slice = s;
}

PLAIN_TEST(a_slice_used_after_its_callback_is_named)
{
    begin();
    weft_system_desc desc = {.name = "keeper",
                             .run = keep_slice,
                             .flags = WEFT_SYSTEM_SERIAL,
                             .over.rows.terms = {{a, WEFT_WRITE, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0));
    if (WEFT_IS_CHECKED) *(uint32_t *)weft_slice_write(kept_slice, 0) = 7; /* nothing is changed */
    expect(WEFT_UNDECLARED_ACCESS, (const char *const[]){"'keeper'", "callback", NULL});
    CHECK_U64(*(const uint32_t *)weft_entity_read(world, first, a), 0);
    CHECK_OK(weft_world_step(world, 0));
    end();
}

/* ---- reads ---- */

static void read_through_world(weft_slice *s, void *user)
{
    (void)user;
    weft_world *w = weft_slice_world(s);
    CHECK(weft_entity_read(w, first, b) !=
          NULL); /* it is there; whether it may be read is reported */
}

static void read_resource(weft_slice *s, void *user)
{
    (void)user;
    CHECK(weft_resource_read(weft_slice_world(s), resource) != NULL);
}

PLAIN_TEST(values_read_through_the_world_are_named_unless_declared)
{
    begin();
    weft_system system = add("reader", read_through_world, 0);
    expect(WEFT_UNDECLARED_ACCESS,
           (const char *const[]){"'reader'", "component b", "weft_entity_read", "lookups", NULL});
    CHECK_OK(weft_system_destroy(world, system));
    system = add("singler", read_resource, 0);
    expect(WEFT_UNDECLARED_ACCESS,
           (const char *const[]){"'singler'", "component res", "weft_resource_read", NULL});
    CHECK_OK(weft_system_destroy(world, system));
    weft_system_desc desc = {.name = "reader",
                             .run = read_through_world,
                             .lookups = {{b, WEFT_READ}},
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0));
    end();
}

static weft_query all_b;
static weft_indexed indexed_b;

static void gather_values(weft_slice *s, void *user)
{
    uint32_t value;
    (void)user;
    CHECK_U64(weft_query_read_values(weft_slice_world(s), all_b, b, &value, 1), 1);
}

static void ask_whether_enabled(weft_slice *s, void *user)
{
    (void)user;
    CHECK(weft_entity_is_enabled(weft_slice_world(s), first, b));
}

static void read_by_index(weft_slice *s, void *user)
{
    (void)s;
    (void)user;
    for (uint32_t i = 0; i < 3; i++) CHECK(weft_indexed_read(&indexed_b, 0) != NULL);
}

PLAIN_TEST(values_read_by_query_index_and_bit_are_named_unless_declared)
{
    static void (*const runs[])(weft_slice *, void *) = {gather_values, ask_whether_enabled,
                                                         read_by_index};
    static const char *const names[] = {"weft_query_read_values", "weft_entity_is_enabled",
                                        "weft_indexed_open"};
    begin();
    all_b = weft_query_create(world, &(weft_query_desc){.terms = {{b, WEFT_READ, 0, 0}}});
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(weft_indexed_open(world, all_b, 0, &indexed_b));
        CHECK(weft_indexed_read(&indexed_b, 0) != NULL); /* which is asked for again in the step */
        weft_system system = add("reader", runs[i], 0);
        expect(WEFT_UNDECLARED_ACCESS,
               (const char *const[]){"'reader'", "component b", names[i], "lookups", NULL});
        CHECK_OK(weft_system_destroy(world, system));
        weft_system_desc desc = {.name = "reader",
                                 .run = runs[i],
                                 .lookups = {{b, WEFT_READ}},
                                 .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
        system = weft_system_create(world, &desc);
        CHECK_OK(weft_world_step(world, 0));
        CHECK_OK(weft_system_destroy(world, system));
        desc.lookups[0].component = (weft_component){0};
        desc.queries[0] = all_b;
        system = weft_system_create(world, &desc);
        CHECK_OK(weft_world_step(world, 0));
        CHECK_OK(weft_system_destroy(world, system));
        weft_indexed_close(&indexed_b);
    }
    end();
}

PLAIN_TEST(an_index_for_writing_wants_a_look_up_for_writing)
{
    begin();
    all_b = weft_query_create(world, &(weft_query_desc){.terms = {{b, WEFT_WRITE, 0, 0}}});
    CHECK_OK(weft_indexed_open(world, all_b, 0, &indexed_b));
    weft_system_desc desc = {.name = "writer",
                             .run = read_by_index,
                             .lookups = {{b, WEFT_READ}},
                             .over.rows.terms = {{a, WEFT_READ, 0, 0}}};
    weft_system system = weft_system_create(world, &desc);
    expect(WEFT_UNDECLARED_ACCESS, (const char *const[]){"'writer'", "component b",
                                                         "weft_indexed_open", "WEFT_WRITE", NULL});
    CHECK_OK(weft_system_destroy(world, system));
    desc.lookups[0].access = WEFT_WRITE;
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0));
    weft_indexed_close(&indexed_b);
    end();
}

static void look_at_first(weft_slice *s, void *user)
{
    const bool *is_own = user;
    weft_entity target = *is_own ? weft_slice_entities(s)[0] : first;
    if (!WEFT_IS_CHECKED && !*is_own) return; /* a race */
    CHECK(weft_slice_read_entity(s, target, a) != NULL);
}

PLAIN_TEST(a_look_up_of_what_other_slices_write_is_named)
{
    static const bool yes = true, no = false;
    begin();
    CHECK_OK(weft_entity_create_many(
        world, weft_archetype_create(world, (weft_component[]){a, b}, 2), 3000, NULL));
    weft_system_desc desc = {.name = "own",
                             .run = look_at_first,
                             .user = (void *)(uintptr_t)&yes,
                             .lookups = {{a, WEFT_READ}},
                             .over.rows.terms = {{a, WEFT_WRITE, 0, 0}}};
    CHECK(weft_system_create(world, &desc).id != 0);
    desc.name = "serial";
    desc.user = (void *)(uintptr_t)&no;
    desc.flags = WEFT_SYSTEM_SERIAL;
    CHECK(weft_system_create(world, &desc).id != 0);
    CHECK_OK(weft_world_step(world, 0)); /* its own rows, or one slice after the other */
    desc.name = "racer";
    desc.flags = 0;
    CHECK(weft_system_create(world, &desc).id != 0);
    expect(WEFT_UNDECLARED_ACCESS,
           (const char *const[]){"'racer'", "slice 1:", "component a", "SERIAL", NULL});
    end();
}

static void iterate_declared(weft_slice *s, void *user)
{
    const weft_query *others = user;
    weft_cursor c = weft_slice_query(s, *others);
    while (weft_query_next(&c))
        if (weft_slice_world(s) == NULL) CHECK(weft_slice_write(&c.slice, 0) != NULL);
}

static void write_declared(weft_slice *s, void *user)
{
    const weft_query *others = user;
    weft_cursor c = weft_slice_query(s, *others);
    while (WEFT_IS_CHECKED && weft_query_next(&c)) weft_slice_write(&c.slice, 0);
    weft_query_end(&c);
}

PLAIN_TEST(declared_queries_that_meet_rows_written_meanwhile_and_undeclared_writes_are_named)
{
    begin();
    weft_query others =
        weft_query_create(world, &(weft_query_desc){.terms = {{a, WEFT_READ, 0, 0}}});
    weft_system_desc desc = {.name = "mixer",
                             .run = iterate_declared,
                             .user = &others,
                             .queries = {others},
                             .over.rows.terms = {{a, WEFT_WRITE, 0, 0}}};
    weft_system system = weft_system_create(world, &desc);
    CHECK(system.id != 0);
    expect(WEFT_UNDECLARED_ACCESS,
           (const char *const[]){"'mixer'", "component a", "declared query", "SERIAL", NULL});
    CHECK_OK(weft_system_destroy(world, system));
    desc = (weft_system_desc){
        .name = "writer", .run = write_declared, .user = &others, .queries = {others}};
    CHECK(weft_system_create(world, &desc).id != 0);
    expect(WEFT_UNDECLARED_ACCESS,
           (const char *const[]){"'writer'", "component a", "WEFT_WRITE", NULL});
    end();
}
