/* SPDX-License-Identifier: MIT */
/* stream_fixture.h: worlds with all kinds of components that section files hold, and files made of
 * them.
 */
#ifndef WEFT_TESTS_STREAM_FIXTURE_H
#define WEFT_TESTS_STREAM_FIXTURE_H

#include "buffer_append.h"
#include "plain.h"

#include <weft/ecs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct place {
    float at[3];
} place;

typedef struct cable {
    weft_entity to;
    uint32_t number, spare;
} cable;

typedef struct stage {
    weft_world *world;
    weft_component place, link, tag, lever, colour, lot, children, section;
    char path[64];
} stage;

static const weft_field link_fields[] = {{"to", WEFT_FIELD_ENTITY, offsetof(cable, to), 1},
                                         {"number", WEFT_FIELD_U32, offsetof(cable, number), 1}};
static const weft_field child_fields[] = {{"to", WEFT_FIELD_ENTITY, 0, 1}};

static inline stage stage_make_in(const weft_world_desc *desc)
{
    static uint32_t made;
    stage s = {0};
    weft_world_desc own = *desc;
    own.entity_tag = WEFT_WITHOUT_ENTITY_TAG;
    CHECK_OK(weft_world_create(&own, &s.world));
    s.place = WEFT_COMPONENT(s.world, place);
    s.link = weft_component_create(s.world, &(weft_component_desc){.name = "link",
                                                                   .size = sizeof(cable),
                                                                   .fields = link_fields,
                                                                   .field_count = 2});
    s.tag = WEFT_TAG(s.world, "tag");
    s.lever = weft_component_create_plain(s.world, "lever", 4, 4, WEFT_ENABLEABLE);
    s.colour = weft_component_create_plain(s.world, "colour", 4, 4, WEFT_SHARED);
    s.lot = weft_component_create_plain(s.world, "lot", 8, 8, WEFT_CHUNK);
    s.children = weft_component_create(s.world, &(weft_component_desc){.name = "children",
                                                                       .size = sizeof(weft_entity),
                                                                       .flags = WEFT_BUFFER,
                                                                       .buffer_capacity = 2,
                                                                       .fields = child_fields,
                                                                       .field_count = 1});
    s.section = weft_component_section(s.world);
    CHECK(s.section.id != 0 && s.children.id != 0);
    snprintf(s.path, sizeof s.path, "stream-%u.wss", made++);
    return s;
}

static inline stage stage_make(uint32_t workers)
{
    return stage_make_in(&(weft_world_desc){.workers = workers});
}

static inline void stage_end(stage *s)
{
    weft_stream *open;
    unlink(s->path);
    while (weft_stream_list(s->world, &open, 1) != 0) weft_stream_close(open);
    CHECK_OK(weft_world_destroy(s->world));
}

static inline void section_put(const stage *s, weft_entity e, uint32_t section)
{
    weft_section value = {.section = section};
    CHECK_OK(weft_entity_add(s->world, e, s->section));
    CHECK_OK(weft_entity_set_shared(s->world, e, s->section, &value));
}

/* `count` entities of a section, with all kinds of components; each links to the one `stride`
 * before it among `all`. */
static inline void section_fill(const stage *s, uint32_t section, uint32_t count, weft_entity *out)
{
    for (uint32_t i = 0; i < count; i++) {
        weft_component list[6] = {s->place, s->link};
        uint32_t n = 2;
        if (i % 3 == 0) list[n++] = s->tag;
        if (i % 5 == 0) list[n++] = s->lever;
        if (i % 7 == 0) list[n++] = s->children;
        if (i % 11 == 0) list[n++] = s->lot;
        weft_archetype archetype = weft_archetype_create(s->world, list, n);
        CHECK_OK(weft_entity_create_many(s->world, archetype, 1, &out[i]));
        place at = {{(float)(1000 * section), (float)i, 1}};
        CHECK_OK(weft_entity_set(s->world, out[i], s->place, &at, sizeof at));
        cable to = {.to = out[i / 2], .number = 100000 * section + i};
        CHECK_OK(weft_entity_set(s->world, out[i], s->link, &to, sizeof to));
        if (i % 5 == 0) {
            uint32_t value = i;
            CHECK_OK(weft_entity_set(s->world, out[i], s->lever, &value, sizeof value));
            if (i % 10 == 0) CHECK_OK(weft_entity_enable(s->world, out[i], s->lever, false));
        }
        if (i % 13 == 0) {
            uint32_t colour = i % 26 == 0 ? 7 : 9;
            CHECK_OK(weft_entity_add(s->world, out[i], s->colour));
            CHECK_OK(weft_entity_set_shared(s->world, out[i], s->colour, &colour));
        }
        for (uint32_t k = 0; i % 7 == 0 && k < i % 5; k++)
            CHECK_OK(test_buffer_append(s->world, s->children, out[i], &out[i / 3], 1));
        if (section != 0) section_put(s, out[i], section);
    }
}

static inline weft_stream *stream_open(stage *s, const stage *from, const weft_stream_desc *desc)
{
    weft_stream *stream;
    weft_result result = weft_stream_open(s->world, from->path, desc, &stream);
    if (result != WEFT_OK) fprintf(stderr, "%s\n", weft_world_error(s->world)->text);
    CHECK_OK(result);
    return stream;
}

static inline uint64_t entities_of(weft_world *world)
{
    weft_world_stats stats;
    weft_world_stats_get(world, &stats, sizeof stats);
    return stats.entities;
}

static inline weft_section_state state_of(const weft_stream *stream, uint32_t section)
{
    weft_section_info info;
    CHECK_OK(weft_stream_section_get(stream, section, &info, sizeof info));
    return info.state;
}

static inline void world_check(weft_world *world)
{
    weft_result result = weft_world_validate(world);
    if (result != WEFT_OK) fprintf(stderr, "%s\n", weft_world_error(world)->text);
    CHECK_OK(result);
}

#endif
