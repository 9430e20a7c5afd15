/* SPDX-License-Identifier: MIT */
/* stress_host.c: the worlds of `weft stress threads`, and their models: a row is a number, which
 * each step changes; which rows die or have children follows from it. */
#include "stress_host.h"

#include <stdlib.h>
#include <string.h>
#include <weft/finder.h>

bool weft_stress_expect(host *h, weft_result result, const char *what)
{
    if (result == WEFT_OK) return true;
    weft_stress_error(h->round->stress, "host %u, %s: %s: %s", h->number,
                      (const char *)at_plain(&h->x_doing), weft_result_name(result), what);
    return false;
}

uint32_t weft_stress_below(host *h, uint32_t bound)
{
    return (uint32_t)((weft_stress_random(&h->random) >> 33) % bound);
}

/* ---- worlds and their models ---- */

static uint64_t mix(uint32_t value)
{
    uint64_t state = value;
    return weft_stress_random(&state);
}

static uint32_t next_value(uint32_t value)
{
    return value * 1664525u + 1013904223u;
}

void weft_stress_add(numbers *n, uint32_t value)
{
    if (n->count < ROWS_MOST) n->at[n->count++] = value;
}

uint64_t weft_stress_sum_of(const uint32_t *values, uint64_t count)
{
    uint64_t sum = count;
    for (uint64_t i = 0; i < count; i++) sum += mix(values[i]);
    return sum;
}

uint64_t weft_stress_sum(const numbers *n)
{
    return weft_stress_sum_of(n->at, n->count);
}

/* Of 64 rows one dies and one, as long as there is room, has a child. */
static bool dies(uint32_t value)
{
    return value >> 26 == 0;
}

static bool has_child(const place *p, uint32_t value)
{
    return value >> 26 == 1 && p->model.count < ROWS_MOST / 2;
}

static void grow(weft_slice *slice, void *user)
{
    const place *p = user;
    uint32_t *values = weft_slice_write(slice, 0);
    weft_recorder *commands = weft_slice_recorder(slice);
    const weft_entity *entities = weft_slice_entities(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        values[i] = next_value(values[i]);
        if (dies(values[i])) weft_recorder_destroy_entity(commands, entities[i]);
        if (!has_child(p, values[i])) continue;
        const uint32_t child = ~values[i];
        weft_entity made = weft_recorder_create_entity(commands, p->archetype);
        weft_recorder_set(commands, made, p->value, &child, sizeof child);
    }
}

void weft_stress_model_step(place *p)
{
    numbers *n = &p->model;
    uint32_t children[ROWS_MOST], child_count = 0, kept = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        const uint32_t value = next_value(n->at[i]);
        if (has_child(p, value)) children[child_count++] = ~value;
        if (!dies(value)) n->at[kept++] = value;
    }
    n->count = kept;
    for (uint32_t i = 0; i < child_count; i++) weft_stress_add(n, children[i]);
}

static void add_up(weft_slice *slice, void *user)
{
    place *p = user;
    const uint32_t *values = weft_slice_read(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) p->sum += mix(values[i]) + 1;
}

static int count_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    (void)job;
    for (uint32_t i = begin; i < end; i++) ((uint8_t *)argument)[i]++;
    return 0;
}

static void run_jobs_inside(weft_slice *slice, void *user)
{
    place *p = user;
    uint8_t cells[500] = {0};
    const weft_job_for_desc loop = {.fn = count_part, .argument = cells, .count = sizeof cells};
    weft_job_for(weft_slice_job(slice), &loop, NULL);
    for (uint32_t i = 0; i < sizeof cells; i++) p->scratch[slice->index] += cells[i];
}

/* One line a step, of what it finds: look-ups of what a loop of its own reads. */
static void write_note(weft_slice *slice, void *user)
{
    const place *p = user;
    uint32_t found = 0;
    const weft_finder finder = weft_slice_finder(slice, p->value);
    weft_cursor cursor = weft_slice_query(slice, p->all_read);
    while (weft_query_next(&cursor)) {
        const uint32_t *values = weft_slice_read(&cursor.slice, 0);
        const weft_entity *entities = weft_slice_entities(&cursor.slice);
        for (uint32_t i = 0; i < cursor.slice.count; i += 5)
            found += weft_finder_read(&finder, entities[i]) == &values[i];
    }
    const weft_buffers notes = weft_slice_write_resource_buffer(slice, p->notes);
    if (weft_buffers_length(&notes, 0) == 100) weft_buffers_resize(&notes, 0, 0);
    weft_buffers_append(&notes, 0, &found, 1);
}

static void read_note(weft_slice *slice, void *user)
{
    place *p = user;
    const weft_buffers notes = weft_slice_read_resource_buffer(slice, p->notes);
    const uint32_t length = weft_buffers_length(&notes, 0);
    const uint32_t *found = weft_buffers_read(&notes, 0);
    p->found = length == 0 ? UINT32_MAX : found[length - 1];
}

static void told(weft_world *world, void *user)
{
    place *p = user;
    p->told = weft_world_frame(world).number;
}

bool weft_stress_systems(place *p)
{
    const weft_term rows = {p->value, WEFT_READ, WEFT_ALL, 0};
    weft_system_desc desc = {.name = "grow", .run = grow, .user = p, .effects = WEFT_RECORDS_ANY};
    desc.over.rows.terms[0] = (weft_term){p->value, WEFT_WRITE, WEFT_ALL, 0};
    bool are_made = weft_system_create(p->world, &desc).id != 0;
    desc = (weft_system_desc){
        .name = "add up", .run = add_up, .user = p, .flags = WEFT_SYSTEM_MAIN_THREAD};
    desc.over.rows.terms[0] = rows;
    are_made &= weft_system_create(p->world, &desc).id != 0;
    desc = (weft_system_desc){.name = "jobs",
                              .run = run_jobs_inside,
                              .user = p,
                              .flags = WEFT_SYSTEM_JOBS,
                              .over = {.kind = WEFT_OVER_COUNT, .count = 4}};
    are_made &= weft_system_create(p->world, &desc).id != 0;
    desc = (weft_system_desc){.name = "write note",
                              .run = write_note,
                              .user = p,
                              .lookups = {{p->value, WEFT_READ}},
                              .queries = {p->all_read},
                              .resources = {{p->notes, WEFT_WRITE}}};
    are_made &= weft_system_create(p->world, &desc).id != 0;
    desc = (weft_system_desc){
        .name = "read note", .run = read_note, .user = p, .resources = {{p->notes, WEFT_READ}}};
    return are_made && weft_system_create(p->world, &desc).id != 0;
}

static weft_world_desc world_desc(const host_round *r)
{
    return (weft_world_desc){
        .pool = r->pool, .allocator = r->stress->allocator, .os = r->stress->os};
}

void weft_stress_open(host *h, place *p, uint32_t count, uint64_t seed)
{
    weft_world_desc desc = world_desc(h->round);
    if (!EXPECT_OK(h, weft_world_create(&desc, &p->world))) return;
    p->value = weft_component_create_plain(p->world, "value", 4, 4, 0);
    p->archetype = weft_archetype_create(p->world, &p->value, 1);
    p->all = weft_query_create(p->world,
                               &(weft_query_desc){.terms = {{p->value, WEFT_WRITE, WEFT_ALL, 0}}});
    p->mark = weft_component_create_plain(p->world, "mark", 0, 1, 0);
    p->lit = weft_component_create_plain(p->world, "lit", 4, 4, WEFT_ENABLEABLE);
    p->group = weft_component_create_plain(p->world, "group", 4, 4, WEFT_SHARED);
    p->list = weft_component_create_plain(p->world, "list", 4, 4, WEFT_BUFFER);
    p->notes = weft_component_create_plain(p->world, "notes", 4, 4, WEFT_BUFFER | WEFT_RESOURCE);
    p->all_read = weft_query_create(
        p->world, &(weft_query_desc){.terms = {{p->value, WEFT_READ, WEFT_ALL, 0}}});
    const weft_component no_row = weft_component_create_plain(p->world, "no row", 0, 1, 0);
    p->none = weft_query_create(p->world, &(weft_query_desc){.terms = {{p->value, 0, WEFT_ALL, 0},
                                                                       {no_row, 0, WEFT_ALL, 0}}});
    p->hook = (weft_world_hook){.stepped = told, .user = p};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = (uint32_t)weft_stress_random(&seed);
        weft_entity entity = weft_entity_create(p->world, p->archetype);
        EXPECT_OK(h, weft_entity_set(p->world, entity, p->value, &value, sizeof value));
        weft_stress_add(&p->model, value);
    }
}

uint64_t weft_stress_held(host *h, const place *p)
{
    static const uint32_t most = ROWS_MOST;
    uint32_t *values = malloc(most * sizeof *values);
    if (values == NULL) return 0;
    const uint64_t count = weft_query_read_values(p->world, p->all, p->value, values, most);
    EXPECT(h, count <= most);
    const uint64_t sum = weft_stress_sum_of(values, count < most ? count : most);
    free(values);
    return sum;
}
