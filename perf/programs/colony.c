/* SPDX-License-Identifier: MIT */
/* colony.c: the colony on weft. What an ant carries is a sparse component, as it changes all the
 * time; the trails of this step and of the next one are resources. */
#include "colony.h"

#include <stdlib.h>
#include <weft/type.h>
#include <weft/weft.h>

static const weft_field ant_fields[] = {WEFT_FIELD(Ant, x), WEFT_FIELD(Ant, y),
                                        WEFT_FIELD(Ant, way), WEFT_FIELD(Ant, far)};
static const weft_type ant_type = WEFT_TYPE(Ant, ant_fields);
static const weft_field load_fields[] = {WEFT_FIELD(Load, from)};
static const weft_type load_type = WEFT_TYPE(Load, load_fields);

typedef struct Colony {
    weft_world *world;
    weft_component ant, load;
    weft_component now, next; /* resources: the trails, which are in `ground` */
    weft_component delivered; /* a resource: how many loads came home */
    weft_query ants;
    terrain ground;
} Colony;

static void fade(weft_slice *s, void *user) /* called for each row of cells */
{
    const Colony *c = user;
    colony_fade(&c->ground, (uint32_t)weft_slice_frame(s).number, (uint32_t)s->index);
}

/* Ants of other slices come to the same cell. */
static void leave(uint32_t *scent, const Ant *ant)
{
    __atomic_fetch_add(scent, colony_scent(ant), __ATOMIC_RELAXED);
}

static void search(weft_slice *s, void *user) /* those that carry nothing */
{
    const Colony *c = user;
    const terrain *t = &c->ground;
    Ant *ants = WEFT_WRITE_COLUMN(s, 0, Ant);
    const weft_entity *e = weft_slice_entities(s);
    weft_recorder *r = weft_slice_recorder(s);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    const trails *now = colony_now(t, tick), *next = colony_next(t, tick);
    weft_slice_walk walk = {0};
    while (weft_slice_next_row(s, &walk)) {
        Ant *ant = &ants[walk.row];
        uint32_t number = weft_entity_index(e[walk.row]);
        size_t cell = colony_go(t, now->food, number, tick, ant);
        leave(&next->home[cell], ant);
        uint8_t what = t->what[cell];
        if (what > 1) {
            weft_recorder_set(r, e[walk.row], c->load, &(Load){what}, sizeof(Load));
            colony_turn(ant);
        } else if (what == 1) {
            ant->far = 0;
        }
    }
}

static void carry(weft_slice *s, void *user) /* those that carry something */
{
    const Colony *c = user;
    const terrain *t = &c->ground;
    Ant *ants = WEFT_WRITE_COLUMN(s, 0, Ant);
    const weft_entity *e = weft_slice_entities(s);
    uint64_t *delivered = weft_slice_write_resource(s, c->delivered);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    const trails *now = colony_now(t, tick), *next = colony_next(t, tick);
    weft_slice_walk walk = {0};
    while (weft_slice_next_row(s, &walk)) {
        Ant *ant = &ants[walk.row];
        uint32_t number = weft_entity_index(e[walk.row]);
        size_t cell = colony_go(t, now->home, number, tick, ant);
        leave(&next->food[cell], ant);
        if (t->what[cell] != 1) continue;
        weft_recorder_remove(weft_slice_recorder(s), e[walk.row], c->load);
        __atomic_fetch_add(delivered, 1, __ATOMIC_RELAXED);
        colony_turn(ant);
    }
}

static void add_systems(Colony *c)
{
    weft_lookup read_now = {c->now, WEFT_READ}, write_next = {c->next, WEFT_WRITE};
    weft_system_create(
        c->world, &(weft_system_desc){.name = "fade",
                                      .run = fade,
                                      .user = c,
                                      .over = {.kind = WEFT_OVER_COUNT, .count = c->ground.side},
                                      .resources = {read_now, write_next}});
    weft_system_create(c->world,
                       &(weft_system_desc){
                           .name = "search",
                           .run = search,
                           .user = c,
                           .over.rows.terms = {{c->ant, WEFT_WRITE}, {c->load, .match = WEFT_NONE}},
                           .resources = {read_now, write_next},
                           .effects = WEFT_RECORDS_ADD,
                           .records = {c->load}});
    weft_system_create(
        c->world,
        &(weft_system_desc){.name = "carry",
                            .run = carry,
                            .user = c,
                            .over.rows.terms = {{c->ant, WEFT_WRITE}, {c->load}},
                            .resources = {read_now, write_next, {c->delivered, WEFT_WRITE}},
                            .effects = WEFT_RECORDS_REMOVE,
                            .records = {c->load}});
}

static void colony_close(void *side)
{
    Colony *c = side;
    weft_world_destroy(c->world);
    colony_free_terrain(&c->ground);
    free(c);
}

static void *colony_open(uint32_t size, uint32_t workers)
{
    Colony *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    if (!colony_make_terrain(&c->ground, size) ||
        weft_world_create(&(weft_world_desc){.workers = workers}, &c->world) != WEFT_OK) {
        colony_close(c);
        return NULL;
    }
    c->ant = weft_component_create(c->world, &(weft_component_desc){.type = &ant_type});
    c->load = weft_component_create(
        c->world, &(weft_component_desc){.type = &load_type, .flags = WEFT_SPARSE});
    c->now = weft_component_create_plain(c->world, "now", 1, 1, WEFT_RESOURCE);
    c->next = weft_component_create_plain(c->world, "next", 1, 1, WEFT_RESOURCE);
    c->delivered = weft_component_create_plain(c->world, "delivered", 8, 8, WEFT_RESOURCE);
    c->ants = weft_query_create(c->world, &(weft_query_desc){.terms = {{c->ant}}});
    for (uint32_t i = 0; i < size; i++) {
        Ant ant = colony_begin(&c->ground, i);
        weft_entity e = weft_entity_create(c->world, WEFT_ARCHETYPE(c->world, c->ant));
        weft_entity_set(c->world, e, c->ant, &ant, sizeof ant);
    }
    add_systems(c);
    return c;
}

static void colony_step(void *side)
{
    weft_world_step(((Colony *)side)->world, 1);
}

static uint64_t colony_content(void *side)
{
    const Colony *c = side;
    const uint64_t *delivered = weft_resource_read(c->world, c->delivered);
    uint64_t sum = colony_sum_trails(&c->ground) + *delivered;
    weft_cursor cursor = weft_query_begin(c->world, c->ants);
    while (weft_query_next(&cursor)) {
        const Ant *ants = WEFT_READ_COLUMN(&cursor.slice, 0, Ant);
        const weft_entity *e = weft_slice_entities(&cursor.slice);
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++) {
            const Load *load = weft_entity_read(c->world, e[i], c->load);
            uint32_t from = load != NULL ? load->from : 0;
            sum += colony_sum(weft_entity_index(e[i]), &ants[i], from);
        }
    }
    return sum;
}

static uint64_t colony_hash(void *side)
{
    return weft_world_hash(((Colony *)side)->world, WEFT_HASH_CONTENT);
}

const program_side colony_weft = {colony_open, colony_step, colony_content, colony_hash,
                                  colony_close};
