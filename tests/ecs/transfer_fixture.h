/* SPDX-License-Identifier: MIT */
/* transfer_fixture.h: two worlds with components of every kind, registered in different orders, for
 * the tests of transfers. */
#ifndef WEFT_TESTS_TRANSFER_FIXTURE_H
#define WEFT_TESTS_TRANSFER_FIXTURE_H

#include "check.h"

#include <weft/ecs.h>

typedef struct Value {
    uint64_t number;
} Value;

typedef struct Link {
    uint32_t salt;
    weft_entity target; /* described */
    weft_entity pair[2];
} Link;

typedef struct Switch {
    uint32_t number;
} Switch;

typedef struct Team {
    int32_t number;
} Team;

/* A world with components of every kind, registered in an order of its own. Owner: one test. */
typedef struct side {
    weft_world *world;
    weft_component value, link, lever, team, list, mark, per_chunk, clean, owned;
    uint32_t released; /* calls of the release hook of `owned` */
} side;

static const weft_field link_fields[] = {{"salt", WEFT_FIELD_U32, 0, 1},
                                         {"target", WEFT_FIELD_ENTITY, offsetof(Link, target), 1},
                                         {"pair", WEFT_FIELD_ENTITY, offsetof(Link, pair), 2}};
static const weft_field list_field = {"entity", WEFT_FIELD_ENTITY, 0, 1};

static inline void count_release(void *value, void *user)
{
    CHECK(*(int32_t *)value != 0);
    ++*(uint32_t *)user;
}

static inline void register_all(side *s, bool is_reversed)
{
    for (int i = 0; i < 9; i++) {
        switch (is_reversed ? 8 - i : i) {
        case 0:
            s->value = WEFT_COMPONENT(s->world, Value);
            break;
        case 1:
            s->link = weft_component_create(s->world, &(weft_component_desc){.name = "Link",
                                                                             .size = sizeof(Link),
                                                                             .fields = link_fields,
                                                                             .field_count = 3});
            break;
        case 2:
            s->lever = WEFT_COMPONENT_FLAGS(s->world, Switch, WEFT_ENABLEABLE);
            break;
        case 3:
            s->team = WEFT_COMPONENT_FLAGS(s->world, Team, WEFT_SHARED);
            break;
        case 4:
            s->list =
                weft_component_create(s->world, &(weft_component_desc){.name = "List",
                                                                       .size = sizeof(weft_entity),
                                                                       .flags = WEFT_BUFFER,
                                                                       .buffer_capacity = 2,
                                                                       .fields = &list_field,
                                                                       .field_count = 1});
            break;
        case 5:
            s->mark = weft_component_create_plain(s->world, "Mark", 0, 1, WEFT_ENABLEABLE);
            break;
        case 6:
            s->per_chunk = weft_component_create_plain(s->world, "PerChunk", 8, 8, WEFT_CHUNK);
            break;
        case 7:
            s->clean = weft_component_create_plain(s->world, "Clean", 4, 4, WEFT_CLEANUP);
            break;
        default:
            s->owned = weft_component_create(s->world,
                                             &(weft_component_desc){.name = "Owned",
                                                                    .size = 4,
                                                                    .flags = WEFT_SHARED,
                                                                    .shared_release = count_release,
                                                                    .hooks.user = &s->released});
            break;
        }
    }
    CHECK(s->owned.id != 0 && s->value.id != 0);
}

static inline void open_side(side *s, const weft_world_desc *desc, bool is_reversed)
{
    weft_world_desc one = *desc;
    one.workers = 1;
    *s = (side){0};
    CHECK_OK(weft_world_create(&one, &s->world));
    register_all(s, is_reversed);
}

static inline void close_side(side *s)
{
    if (weft_world_validate(s->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(s->world)->text);
    CHECK_OK(weft_world_destroy(s->world));
}

static inline void open_pair(side *a, side *b)
{
    open_side(a, &(weft_world_desc){.name = "a", .entity_tag = 1}, false);
    open_side(b, &(weft_world_desc){.name = "b", .entity_tag = 2}, true);
}

static inline void close_pair(side *a, side *b)
{
    close_side(a);
    close_side(b);
}

/* The chunk value of the only chunk that has one. */
static inline uint64_t *chunk_value_of(side *s)
{
    weft_query query =
        weft_query_create(s->world, &(weft_query_desc){.terms = {{s->per_chunk, WEFT_WRITE}}});
    weft_cursor cursor = weft_query_begin(s->world, query);
    CHECK(weft_query_next(&cursor));
    uint64_t *value = weft_slice_write_chunk(&cursor.slice, 0);
    CHECK(value != NULL && !weft_query_next(&cursor));
    CHECK_OK(weft_query_destroy(s->world, query));
    return value;
}

static inline weft_entity make(side *s, uint64_t number)
{
    weft_entity e;
    CHECK_OK(weft_entity_create_many(s->world, WEFT_ARCHETYPE(s->world, s->value), 1, &e));
    ((Value *)weft_entity_write(s->world, e, s->value))->number = number;
    return e;
}

static inline uint64_t number_of(const side *s, weft_entity e)
{
    const Value *value = weft_entity_read(s->world, e, s->value);
    CHECK(value != NULL);
    return value->number;
}

static inline uint64_t entities_of(const weft_world *world)
{
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    return stats.entities;
}

static inline void move_all(side *to, side *from, weft_entity *tracked, uint32_t count)
{
    CHECK_OK(weft_world_transfer(to->world, from->world,
                                 &(weft_transfer_desc){.tracked = tracked, .tracked_count = count},
                                 NULL, 0));
    CHECK_OK(weft_world_validate(to->world));
    CHECK_OK(weft_world_validate(from->world));
}

static inline void set_team(side *s, weft_entity e, weft_component component, int32_t number)
{
    CHECK_OK(weft_entity_set_shared(s->world, e, component, &number));
}

#endif
