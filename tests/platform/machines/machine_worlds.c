/* SPDX-License-Identifier: MIT */
/* machine_worlds.c: random worlds by seed, which must be the same on every machine: bytes of the
 * files, hashes, texts. A stranger's program: only weft.h of tools/amalgamate, and -lm.
 *
 *   machine_worlds FIRST COUNT DIR
 *
 * prints one line for each of the seeds FIRST..FIRST+COUNT-1: seed, hashes of content and layout,
 * digests of the world file, of its text, and of the section file. DIR gets the files, SEED.world.
 * Where SEED.world is there already, made by another machine, it is loaded and must have the
 * hashes of this world and save to the same bytes.
 *
 * machines.py runs it on each machine and compares. What is drawn is where machines may differ:
 * floating point of the library (transforms, exact sums, grids, rates, numbers as text and back),
 * signs of char, layouts of structs, not-a-numbers, two workers, hashes of short and long runs. */
#include "weft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Body {
    float position[3];
    double mass;
    char mark[7]; /* a text */
    char sign;
    bool is_heavy;
    int16_t small;
    weft_entity friend;
} Body;

static const weft_field body_fields[] = {WEFT_FIELD_WITH(Body, position, .unit = "km"),
                                         WEFT_FIELD(Body, mass),
                                         WEFT_FIELD(Body, mark),
                                         WEFT_FIELD(Body, sign),
                                         WEFT_FIELD(Body, is_heavy),
                                         WEFT_FIELD(Body, small),
                                         WEFT_FIELD(Body, friend)};
static const weft_type body_type = WEFT_TYPE(Body, body_fields);

typedef struct Velocity {
    float at[3];
} Velocity;

typedef struct Wide {
    uint64_t words[8];
} Wide;

typedef struct Total {
    double sum, cells;
    uint64_t grid;
} Total;

enum { ENTITIES = 600, BODIES_MOST = 4000, STEPS = 6 };

/* The world of one seed. Owner: run(). */
typedef struct scene {
    weft_world *world;
    uint64_t random;
    weft_component body, velocity, wide, lever, team, spark, list, chunk, clean, parent, total;
    weft_transform transform;
    weft_archetype plain;
    weft_query bodies;
    weft_entity entities[ENTITIES];
    uint32_t count;
} scene;

_Noreturn static void fail(const char *what, const char *why)
{
    fprintf(stderr, "machine_worlds: %s: %s\n", what, why);
    exit(1);
}

#define OK(call) is_ok(s, #call, (call))
static void is_ok(const scene *s, const char *call, weft_result result)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "%s: %s: ", call, weft_result_name(result));
    fail(call, weft_world_error(s->world)->text);
}

static uint64_t draw_from(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t draw(scene *s, uint32_t limit)
{
    return (uint32_t)(draw_from(&s->random) % limit);
}

static double draw_real(scene *s)
{
    return (double)(int64_t)draw_from(&s->random) * 0x1p-63;
}

static uint64_t digest(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static weft_result digest_write(void *user, const void *bytes, size_t count)
{
    *(uint64_t *)user = digest(*(uint64_t *)user, bytes, count);
    return WEFT_OK;
}

/* ---- systems ---- */

static void move(weft_slice *slice, void *user)
{
    (void)user;
    Body *body = WEFT_WRITE_COLUMN(slice, 0, Body);
    const Velocity *velocity = WEFT_READ_COLUMN(slice, 1, Velocity);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        for (int k = 0; k < 3; k++)
            body[i].position[k] += velocity[i].at[k] * weft_slice_dt(slice) / 3.0f;
}

/* Transforms follow bodies; numbers of entities and frames, which hold on every machine. */
static void turn(weft_slice *slice, void *user)
{
    (void)user;
    weft_local_transform *local = WEFT_WRITE_COLUMN(slice, 0, weft_local_transform);
    const weft_entity *entities = weft_slice_entities(slice);
    const uint32_t tick = (uint32_t)weft_slice_frame(slice).number;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        weft_random random = weft_random_of(7, weft_entity_index(entities[i]), tick, 1);
        for (int k = 0; k < 3; k++) local[i].position[k] += weft_random_float(&random) - 0.5f;
        local[i].scale = 0.5f + weft_random_float(&random);
        const float x = weft_random_float(&random) * 0.6f;
        local[i].rotation[0] = x;
        local[i].rotation[3] = 1 - x * x / 2;
    }
}

/* Births, deaths and changes, recorded by whichever worker runs the slice. */
static void live(weft_slice *slice, void *user)
{
    const scene *s = user;
    const Body *body = WEFT_READ_COLUMN(slice, 0, Body);
    const weft_entity *entities = weft_slice_entities(slice);
    weft_recorder *to = weft_slice_recorder(slice);
    const uint64_t tick = weft_slice_frame(slice).number;
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        uint64_t state = digest(tick, &body[i].position, sizeof body[i].position);
        const uint64_t z = draw_from(&state);
        const uint32_t group = (uint32_t)(z >> 40) % 5;
        const Wide wide = {{z, ~z, [7] = 1}};
        const uint32_t what = z % 32;
        if (what == 0) weft_recorder_destroy_entity(to, entities[i]);
        if (what == 1) weft_recorder_set_shared(to, entities[i], s->team, &group);
        if (what == 2) weft_recorder_set(to, entities[i], s->wide, &wide, sizeof wide);
        if (what == 3) weft_recorder_remove(to, entities[i], s->wide);
        if (what == 4) weft_recorder_add(to, entities[i], s->clean);
        if (what == 5) weft_recorder_append(to, entities[i], s->list, &z, 1);
        if (what == 6) weft_recorder_set(to, entities[i], s->spark, &z, sizeof z);
        if (what < 7 || what > 8) continue;
        const weft_entity made = weft_recorder_create_entity(to, s->plain);
        weft_recorder_set(to, made, s->body, &body[i], sizeof body[i]);
    }
}

/* Between steps: the exact sum of masses, where a grid sorts the bodies, in the resource. */
static void add_up(scene *s)
{
    static Body bodies[BODIES_MOST];
    weft_sum sum = {0};
    const uint64_t all = weft_query_read_values(s->world, s->bodies, s->body, bodies, BODIES_MOST);
    if (all > BODIES_MOST) fail("bodies", "too many");
    for (uint64_t i = 0; i < all; i++) weft_sum_add(&sum, bodies[i].mass);
    weft_grid *grid;
    weft_grid_view view;
    OK(weft_grid_create(&(weft_grid_desc){.least = {-2, -2, -2},
                                          .most = {2.1, 2.3, 1.9},
                                          .reach = 0.3,
                                          .is_periodic = {true, false, true}},
                        &grid));
    OK(weft_grid_build(grid, NULL,
                       &(weft_grid_points){.positions = bodies[0].position,
                                           .stride = sizeof(Body),
                                           .count = (uint32_t)all}));
    weft_grid_view_get(grid, &view, sizeof view);
    Total *total = weft_resource_write(s->world, s->total);
    total->sum = weft_sum_value(&sum);
    total->cells += view.cell_size[0] + view.cell_size[1] / 3;
    total->grid = digest(total->grid, view.cell_of, view.count * sizeof view.cell_of[0]);
    weft_grid_destroy(grid);
}

/* ---- a world ---- */

static weft_world *world_new(void)
{
    weft_world *world;
    const weft_world_desc desc = {
        .workers = 2, .name = "machine", .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    if (weft_world_create(&desc, &world) != WEFT_OK) fail("world", "cannot be created");
    return world;
}

static void register_all(scene *s)
{
    weft_world *world = s->world;
    s->body = weft_component_create(world, &(weft_component_desc){.type = &body_type});
    s->velocity = WEFT_COMPONENT(world, Velocity);
    s->wide = weft_component_create(
        world, &(weft_component_desc){.name = "Wide", .size = sizeof(Wide), .alignment = 64});
    s->lever = weft_component_create_plain(world, "Lever", 4, 4, WEFT_ENABLEABLE);
    s->team = weft_component_create_plain(world, "Team", 4, 4, WEFT_SHARED);
    s->spark = weft_component_create_plain(world, "Spark", 8, 8, WEFT_SPARSE);
    s->list = weft_component_create_plain(world, "List", 8, 8, WEFT_BUFFER);
    s->chunk = weft_component_create_plain(world, "PerChunk", 8, 8, WEFT_CHUNK);
    s->clean = weft_component_create_plain(world, "Clean", 4, 4, WEFT_CLEANUP);
    s->total = weft_component_create_plain(world, "Total", sizeof(Total), 8, WEFT_RESOURCE);
    s->parent = weft_component_parent(world);
    OK(weft_transform_create(world, NULL, &s->transform));
}

static void make_systems(scene *s)
{
    const weft_system_desc systems[] = {
        {.name = "move",
         .run = move,
         .over.rows.terms = {{s->body, WEFT_WRITE}, {s->velocity, WEFT_READ}}},
        {.name = "turn",
         .run = turn,
         .before = {"transforms"},
         .over.rows.terms = {{s->transform.local, WEFT_WRITE}}},
        {.name = "live",
         .run = live,
         .user = s,
         .period = 0.02f,
         .effects = WEFT_RECORDS_ANY,
         .over.rows.terms = {{s->body, WEFT_READ}}}};
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        if (weft_system_create(s->world, &systems[i]).id == 0)
            fail("system", weft_world_error(s->world)->text);
    s->bodies = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->body, WEFT_READ}}});
}

/* A body of random numbers, some of them not a number, infinite, tiny, or negative zero. */
static void fill_body(scene *s, Body *body)
{
    static const uint64_t odd[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000000,
                                   0x8000000000000000, 0x0000000000000001, 0x7ff8000012345678};
    memset(body, 0, sizeof *body);
    for (int k = 0; k < 3; k++) body->position[k] = (float)(2 * draw_real(s));
    body->mass = draw_real(s) * (double)(UINT64_C(1) << draw(s, 40));
    if (draw(s, 40) == 0) memcpy(&body->mass, &odd[draw(s, 6)], sizeof body->mass);
    for (uint32_t k = draw(s, 6); k > 0; k--) body->mark[k - 1] = "az~"[k % 3];
    body->sign = (char)draw(s, 256);
    body->is_heavy = draw(s, 2) == 0;
    body->small = (int16_t)draw(s, 65536);
    if (s->count > 0) body->friend = s->entities[draw(s, s->count)];
}

static void add_some(scene *s, weft_entity e)
{
    const uint32_t number = draw(s, 7);
    const Wide wide = {{draw_from(&s->random), [5] = number}};
    const Velocity velocity = {{(float)draw_real(s), (float)draw_real(s), 0.1f}};
    if (draw(s, 2)) OK(weft_entity_set(s->world, e, s->velocity, &velocity, sizeof velocity));
    if (draw(s, 3) == 0) OK(weft_entity_set(s->world, e, s->wide, &wide, sizeof wide));
    if (draw(s, 3) == 0) OK(weft_entity_set(s->world, e, s->lever, &number, sizeof number));
    if (draw(s, 6) == 0 && weft_entity_has(s->world, e, s->lever))
        OK(weft_entity_enable(s->world, e, s->lever, false));
    if (draw(s, 4) == 0) OK(weft_entity_set_shared(s->world, e, s->team, &number));
    if (draw(s, 5) == 0) OK(weft_entity_set(s->world, e, s->spark, &wide, sizeof(uint64_t)));
    if (draw(s, 9) == 0) OK(weft_entity_set(s->world, e, s->clean, &number, sizeof number));
    if (draw(s, 9) == 0) OK(weft_entity_add(s->world, e, s->chunk));
    if (draw(s, 5) == 0) {
        OK(weft_entity_add(s->world, e, s->list));
        weft_buffers list = weft_entity_write_buffer(s->world, e, s->list);
        OK(weft_buffers_append(&list, 0, wide.words, draw(s, 9)));
    }
    const weft_entity other = s->entities[draw(s, s->count)];
    if (draw(s, 3) == 0 && !weft_entity_equal(other, e) && weft_entity_is_alive(s->world, other))
        OK(weft_relation_set(s->world, e, s->parent, other));
}

static void fill(scene *s)
{
    const weft_component bodily[] = {s->body, s->list};
    const weft_component placed[] = {s->body, s->transform.local, s->transform.world};
    const weft_archetype archetypes[] = {weft_archetype_create(s->world, bodily, 2),
                                         weft_archetype_create(s->world, placed, 3)};
    s->plain = archetypes[0];
    const uint32_t wanted = 1 + draw(s, draw(s, 4) == 0 ? ENTITIES : 60);
    while (s->count < wanted) {
        Body body;
        char name[16];
        fill_body(s, &body);
        const weft_entity e = weft_entity_create(s->world, archetypes[draw(s, 2)]);
        s->entities[s->count++] = e;
        OK(weft_entity_set(s->world, e, s->body, &body, sizeof body));
        weft_local_transform *local = weft_entity_write(s->world, e, s->transform.local);
        if (local != NULL) *local = weft_local_transform_none();
        add_some(s, e);
        snprintf(name, sizeof name, "n%u", draw(s, 1000));
        if (draw(s, 10) == 0) OK(weft_entity_set_name(s->world, e, name));
        const weft_entity other = s->entities[draw(s, s->count)];
        if (draw(s, 20) == 0 && weft_entity_is_alive(s->world, other))
            OK(weft_entity_destroy(s->world, other));
    }
}

/* ---- what is compared ---- */

/* The world file of another machine. NULL: there is none. */
static char *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *all = malloc(*bytes);
    if (all == NULL || fread(all, 1, *bytes, file) != *bytes) fail(path, "cannot be read");
    fclose(file);
    return all;
}

/* Bytes of the other machine: the same as of this one, and a world from them is the same, too. */
static void check_file(scene *s, const char *path, const weft_world_bytes *made)
{
    size_t bytes;
    char *other = file_read(path, &bytes);
    if (other == NULL) {
        OK(weft_world_save(s->world, path, NULL));
        return;
    }
    if (bytes != made->count || memcmp(other, made->bytes, bytes) != 0)
        fail(path, "this machine makes another file");
    scene loaded = {.world = world_new()};
    register_all(&loaded);
    is_ok(&loaded, "load", weft_world_load_memory(loaded.world, other, bytes, NULL));
    is_ok(&loaded, "validate", weft_world_validate(loaded.world));
    for (weft_hash_kind kind = WEFT_HASH_CONTENT; kind <= WEFT_HASH_LAYOUT; kind++)
        if (weft_world_hash(loaded.world, kind) != weft_world_hash(s->world, kind))
            fail(path, "the loaded world has another hash");
    weft_world_destroy(loaded.world);
    free(other);
}

static uint64_t section_digest(scene *s, const char *folder)
{
    char path[4096];
    size_t bytes;
    const weft_component without[] = {s->spark};
    const weft_sections_desc desc = {.scene = 1,
                                     .without = without,
                                     .without_count = 1,
                                     .place = s->body,
                                     .place_at = {0, 4, 8}};
    snprintf(path, sizeof path, "%s/%d.wss", folder, 0);
    OK(weft_sections_save(s->world, path, &desc));
    char *all = file_read(path, &bytes);
    const uint64_t hash = digest(0, all, bytes);
    free(all);
    remove(path);
    return hash;
}

static void run(uint64_t seed, const char *folder)
{
    static scene one;
    scene *s = &one;
    *s = (scene){.world = world_new(), .random = seed};
    register_all(s);
    make_systems(s);
    fill(s);
    for (int i = 0; i < STEPS; i++) {
        OK(weft_world_step(s->world, 0.011f));
        add_up(s);
    }
    OK(weft_world_validate(s->world));
    char path[4096];
    uint64_t text = 0;
    weft_world_bytes made;
    OK(weft_world_save_memory(s->world, &made, NULL));
    OK(weft_world_save_json(s->world, &(weft_writer){digest_write, &text}, NULL));
    snprintf(path, sizeof path, "%s/%" PRIu64 ".world", folder, seed);
    check_file(s, path, &made);
    printf("%" PRIu64 " content %016" PRIx64 " layout %016" PRIx64 " file %016" PRIx64
           " text %016" PRIx64 " sections %016" PRIx64 "\n",
           seed, weft_world_hash(s->world, WEFT_HASH_CONTENT),
           weft_world_hash(s->world, WEFT_HASH_LAYOUT), digest(0, made.bytes, made.count), text,
           section_digest(s, folder));
    weft_world_bytes_free(s->world, &made);
    if (weft_world_destroy(s->world) != WEFT_OK) fail("world", "cannot be destroyed");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: machine_worlds FIRST COUNT DIR\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    for (uint64_t i = 0; i < count; i++) run(first + i, argv[3]);
    return 0;
}
