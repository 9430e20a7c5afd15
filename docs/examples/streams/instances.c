/* SPDX-License-Identifier: MIT */
/* instances.c: one file of a house, opened once for each place where one stands. */
#include <stdio.h>
#include <weft/stream.h>
#include <weft/weft.h>

typedef struct {
    float x, y;
} Brick;
static weft_component brick, section;

static void register_types(weft_world *world)
{
    brick = WEFT_COMPONENT(world, Brick);
    section = weft_component_section(world);
}

static int write_house(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    register_types(world);
    weft_archetype kind = WEFT_ARCHETYPE(world, brick, section);
    for (int i = 0; i < 4; i++) {
        weft_entity e = weft_entity_create(world, kind);
        WEFT_SET(world, e, brick, Brick, {(float)i, 0});
        weft_entity_set_shared(world, e, section, &(weft_section){.section = 1});
    }
    weft_result result = weft_sections_save(world, "house.wss", NULL);
    weft_world_destroy(world);
    return result != WEFT_OK;
}

/* Rows that were read, on a thread of the library, before the world knows them. */
static void move(const weft_stream_rows *rows, void *user)
{
    const Brick *by = user;
    Brick *at = weft_stream_column(rows, brick);
    for (uint32_t i = 0; at != NULL && i < rows->count; i++) at[i].x += by->x;
}

int main(void)
{
    weft_world *world;
    if (write_house() != 0 || weft_world_create(NULL, &world) != WEFT_OK) return 1;
    register_types(world);
    static Brick places[] = {{100, 0}, {200, 0}, {300, 0}};
    for (int i = 0; i < 3; i++) {
        weft_stream *house; /* found again by weft_stream_list */
        const weft_stream_desc desc = {.filled = move, .user = &places[i]};
        if (weft_stream_open(world, "house.wss", &desc, &house) != WEFT_OK) return 1;
        weft_stream_load(house, 1, 0);
    }
    weft_stream_wait(world);

    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{brick}}});
    int near[4] = {0};
    weft_cursor c = weft_query_begin(world, all);
    while (weft_query_next(&c)) {
        const Brick *b = WEFT_READ_COLUMN(&c.slice, 0, Brick);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) near[(int)b[i].x / 100]++;
    }
    for (int i = 1; i < 4; i++) printf("at %d: %d bricks\n", 100 * i, near[i]);
    weft_stream *house;
    while (weft_stream_list(world, &house, 1) != 0) weft_stream_close(house);
    weft_world_destroy(world);
    remove("house.wss");
}

/* prints:
 * at 100: 4 bricks
 * at 200: 4 bricks
 * at 300: 4 bricks
 */
