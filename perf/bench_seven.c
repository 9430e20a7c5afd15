/* SPDX-License-Identifier: MIT */
/* bench_seven.c: the seven systems of abeimler's ecs_benchmark (2024), plain and mixed, 1 to 2 M
 * entities.
 *
 * Plain: every entity has all seven components. Mixed: of the entities n/2 .. 3n/4 every tenth
 * (all, below 100 entities) loses Position if its index divides by 7, Velocity by 11, Data by
 * 13: up to eight archetypes. Random numbers have fixed seeds. `raw` keeps the same rows in
 * plain arrays, one set per archetype, and runs system after system, as a hand-written program
 * would. Render writes into one frame buffer, so it is declared single; the other six look at
 * their own rows only.
 */
#include "bench.h"

#include <weft/weft.h>

#include <stdlib.h>
#include <string.h>

enum { POSITION, VELOCITY, DATA, PLAYER, HEALTH, DAMAGE, SPRITE, KINDS, MAX_TABLES = 8 };
enum { BUFFER_WIDTH = 320, BUFFER_HEIGHT = 240 };
enum status { ALIVE, DEAD, SPAWN };
enum role { NPC, HERO, MONSTER };

typedef struct position {
    float x, y;
} position;
typedef struct velocity {
    float x, y;
} velocity;
typedef struct data {
    int32_t thingy;
    double dingy;
    bool mingy;
    uint32_t seed, rng[4], numgy;
} data;
typedef struct player {
    uint32_t rng[4], role;
} player;
typedef struct health {
    int32_t hp, maxhp, status;
} health;
typedef struct damage {
    int32_t attack, defence;
} damage;
typedef struct sprite {
    char character;
} sprite;

static const size_t sizes[KINDS] = {sizeof(position), sizeof(velocity), sizeof(data),
                                    sizeof(player),   sizeof(health),   sizeof(damage),
                                    sizeof(sprite)};
static char frame_buffer[BUFFER_HEIGHT][BUFFER_WIDTH];

/* Rows of one archetype in plain arrays. columns[k] is NULL when component k is absent. */
typedef struct table {
    uint32_t kinds; /* bit k: has component k */
    uint32_t count;
    void *columns[KINDS];
} table;

/* One case. Owner: its benchmark. */
typedef struct game {
    weft_world *world;
    weft_component components[KINDS];
    table tables[MAX_TABLES];
    uint32_t table_count;
    float dt;
} game;

/* xoshiro128++ (Blackman, Vigna 2018). */
static uint32_t draw(uint32_t s[4])
{
    const uint32_t sum = s[0] + s[3], result = ((sum << 7) | (sum >> 25)) + s[0], t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 11) | (s[3] >> 21);
    return result;
}

static int32_t between(uint32_t rng[4], int32_t low, int32_t high)
{
    return low + (int32_t)(draw(rng) % (uint32_t)(high - low + 1));
}

/* The systems: each over `n` rows of its columns. Shared by weft and raw. */

static void movement(float dt, uint32_t n, position *restrict p, const velocity *restrict v)
{
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += v[i].x * dt;
        p[i].y += v[i].y * dt;
    }
}

static void more_data(float dt, uint32_t n, data *d)
{
    for (uint32_t i = 0; i < n; i++) {
        d[i].thingy = (d[i].thingy + 1) % 1000000;
        d[i].dingy += 0.0001 * (double)dt;
        d[i].mingy = !d[i].mingy;
        d[i].numgy = draw(d[i].rng);
    }
}

static void complex_motion(uint32_t n, const position *p, velocity *v, data *d)
{
    for (uint32_t i = 0; i < n; i++) {
        if (d[i].thingy % 10 != 0) continue;
        const float wide = (float)(between(d[i].rng, 3, 19) - 10),
                    small = (float)between(d[i].rng, 0, 5);
        v[i] = p[i].x > p[i].y ? (velocity){wide, small} : (velocity){small, wide};
    }
}

static void heal(uint32_t n, health *h)
{
    for (uint32_t i = 0; i < n; i++) {
        if (h[i].hp <= 0 && h[i].status != DEAD) {
            h[i].hp = 0;
            h[i].status = DEAD;
        } else if (h[i].status == DEAD) {
            h[i].hp = h[i].maxhp;
            h[i].status = SPAWN;
        } else if (h[i].hp >= h[i].maxhp && h[i].status != ALIVE) {
            h[i].hp = h[i].maxhp;
            h[i].status = ALIVE;
        } else {
            h[i].status = ALIVE;
        }
    }
}

static void hurt(uint32_t n, health *h, const damage *d)
{
    for (uint32_t i = 0; i < n; i++) {
        const int32_t total = d[i].attack - d[i].defence;
        if (h[i].hp > 0 && total > 0) h[i].hp = h[i].hp > total ? h[i].hp - total : 0;
    }
}

static void draw_sprite(uint32_t n, const player *p, const health *h, sprite *s)
{
    static const char roles[] = {'@', 'h', 'k'};
    for (uint32_t i = 0; i < n; i++) {
        s[i].character = h[i].status == ALIVE ? roles[p[i].role] : h[i].status == DEAD ? '|' : '_';
    }
}

static void render(uint32_t n, const position *p, const sprite *s)
{
    for (uint32_t i = 0; i < n; i++) {
        const int x = (int)p[i].x, y = (int)p[i].y;
        if (x >= 0 && x < BUFFER_WIDTH && y >= 0 && y < BUFFER_HEIGHT) {
            frame_buffer[y][x] = s[i].character;
        }
    }
}

/* The same seven as systems of a world. */

static void run_movement(weft_slice *s, void *user)
{
    (void)user;
    movement(weft_slice_dt(s), weft_slice_count(s), weft_slice_write(s, 0), weft_slice_read(s, 1));
}

static void run_data(weft_slice *s, void *user)
{
    (void)user;
    more_data(weft_slice_dt(s), weft_slice_count(s), weft_slice_write(s, 0));
}

static void run_complex(weft_slice *s, void *user)
{
    (void)user;
    complex_motion(weft_slice_count(s), weft_slice_read(s, 0), weft_slice_write(s, 1),
                   weft_slice_write(s, 2));
}

static void run_heal(weft_slice *s, void *user)
{
    (void)user;
    heal(weft_slice_count(s), weft_slice_write(s, 0));
}

static void run_hurt(weft_slice *s, void *user)
{
    (void)user;
    hurt(weft_slice_count(s), weft_slice_write(s, 0), weft_slice_read(s, 1));
}

static void run_sprite(weft_slice *s, void *user)
{
    (void)user;
    draw_sprite(weft_slice_count(s), weft_slice_read(s, 0), weft_slice_read(s, 1),
                weft_slice_write(s, 2));
}

static void run_render(weft_slice *s, void *user)
{
    (void)user;
    render(weft_slice_count(s), weft_slice_read(s, 0), weft_slice_read(s, 1));
}

/* A system: up to three components, those written as bits of `writes`. */
static const struct system_entry {
    const char *name;
    void (*run)(weft_slice *slice, void *user);
    int8_t kinds[3]; /* -1: none */
    uint8_t writes;
    uint32_t flags;
} systems[] = {
    {"movement", run_movement, {POSITION, VELOCITY, -1}, 1, 0},
    {"data", run_data, {DATA, -1, -1}, 1, 0},
    {"complex", run_complex, {POSITION, VELOCITY, DATA}, 6, 0},
    {"health", run_heal, {HEALTH, -1, -1}, 1, 0},
    {"damage", run_hurt, {HEALTH, DAMAGE, -1}, 1, 0},
    {"sprite", run_sprite, {PLAYER, HEALTH, SPRITE}, 4, 0},
    {"render", run_render, {POSITION, SPRITE, -1}, 0, WEFT_SYSTEM_SERIAL},
};

static void step_weft(void *user)
{
    const game *g = user;
    weft_world_step(g->world, g->dt);
}

static void run_raw_system(const game *g, const table *t, uint32_t k)
{
    void *const *c = t->columns;
    switch (k) {
    case 0:
        movement(g->dt, t->count, c[POSITION], c[VELOCITY]);
        break;
    case 1:
        more_data(g->dt, t->count, c[DATA]);
        break;
    case 2:
        complex_motion(t->count, c[POSITION], c[VELOCITY], c[DATA]);
        break;
    case 3:
        heal(t->count, c[HEALTH]);
        break;
    case 4:
        hurt(t->count, c[HEALTH], c[DAMAGE]);
        break;
    case 5:
        draw_sprite(t->count, c[PLAYER], c[HEALTH], c[SPRITE]);
        break;
    default:
        render(t->count, c[POSITION], c[SPRITE]);
        break;
    }
}

static void step_raw(void *user)
{
    const game *g = user;
    for (uint32_t k = 0; k < sizeof systems / sizeof systems[0]; k++) {
        uint32_t needed = 0;
        for (int i = 0; i < 3 && systems[k].kinds[i] >= 0; i++) needed |= 1u << systems[k].kinds[i];
        for (uint32_t t = 0; t < g->table_count; t++) {
            if ((g->tables[t].kinds & needed) == needed) run_raw_system(g, &g->tables[t], k);
        }
    }
    weft_bench_keep(frame_buffer);
}

/* Which components entity i of n has. */
static uint32_t kinds_of(uint32_t i, uint32_t n, bool is_mixed)
{
    uint32_t kinds = (1u << KINDS) - 1;
    if (!is_mixed || i < n / 2 || i > n / 4 * 3 || (n >= 100 && i % 10 != 0)) return kinds;
    if (i % 7 == 0) kinds &= ~(1u << POSITION);
    if (i % 11 == 0) kinds &= ~(1u << VELOCITY);
    if (i % 13 == 0) kinds &= ~(1u << DATA);
    return kinds;
}

static table *table_of(game *g, uint32_t kinds)
{
    for (uint32_t t = 0; t < g->table_count; t++) {
        if (g->tables[t].kinds == kinds) return &g->tables[t];
    }
    g->tables[g->table_count].kinds = kinds;
    return &g->tables[g->table_count++];
}

/* Values of one row: roles 3 % NPC, 27 % hero, 70 % monster, with their ranges. */
static void fill_row(table *t, uint32_t row, uint32_t seed)
{
    static const int32_t ranges[3][6] = {
        {6, 12, 0, 0, 3, 8}, {5, 15, 4, 10, 2, 6}, {4, 12, 3, 9, 2, 8}};
    uint32_t rng[4] = {seed * 2654435761u + 1, 0x9e3779b9, seed ^ 0x7f4a7c15, 0xbf58476d};
    for (int i = 0; i < 8; i++) draw(rng);
    const uint32_t dice = draw(rng) % 100, role = dice < 3 ? NPC : dice < 30 ? HERO : MONSTER;
    const int32_t *r = ranges[role], maxhp = between(rng, r[0], r[1]);
    void **c = t->columns;
    if (c[POSITION]) {
        ((position *)c[POSITION])[row] =
            (position){(float)between(rng, -100, 320), (float)between(rng, -100, 240)};
    }
    if (c[VELOCITY]) ((velocity *)c[VELOCITY])[row] = (velocity){1, 1};
    if (c[DATA]) {
        data *d = &((data *)c[DATA])[row];
        d->seed = seed;
        memcpy(d->rng, rng, sizeof rng);
    }
    player *p = &((player *)c[PLAYER])[row];
    memcpy(p->rng, rng, sizeof rng);
    p->role = role;
    ((health *)c[HEALTH])[row] = (health){maxhp, maxhp, SPAWN};
    ((damage *)c[DAMAGE])[row] = (damage){between(rng, r[2], r[3]), between(rng, r[4], r[5])};
    ((sprite *)c[SPRITE])[row].character = '_';
}

/* Builds the raw tables; false when memory is short. */
static bool fill_tables(game *g, uint32_t n, bool is_mixed)
{
    for (uint32_t i = 0; i < n; i++) table_of(g, kinds_of(i, n, is_mixed))->count++;
    for (uint32_t t = 0; t < g->table_count; t++) {
        for (int k = 0; k < KINDS; k++) {
            if (!(g->tables[t].kinds >> k & 1)) continue;
            g->tables[t].columns[k] = calloc(g->tables[t].count, sizes[k]);
            if (!g->tables[t].columns[k]) return false;
        }
        g->tables[t].count = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        table *t = table_of(g, kinds_of(i, n, is_mixed));
        fill_row(t, t->count++, i);
    }
    return true;
}

/* Creates the same rows in the world, and the systems. */
static bool fill_world(game *g)
{
    for (uint32_t t = 0; t < g->table_count; t++) {
        weft_component set[KINDS];
        weft_values values[KINDS];
        uint32_t count = 0;
        for (int k = 0; k < KINDS; k++) {
            if (!g->tables[t].columns[k]) continue;
            set[count] = g->components[k];
            values[count++] = (weft_values){g->components[k], g->tables[t].columns[k]};
        }
        if (weft_entity_create_filled(g->world, weft_archetype_create(g->world, set, count), values,
                                      count, g->tables[t].count, NULL))
            return false;
    }
    for (uint32_t k = 0; k < sizeof systems / sizeof systems[0]; k++) {
        weft_system_desc desc = {
            .name = systems[k].name, .run = systems[k].run, .flags = systems[k].flags};
        for (int i = 0; i < 3 && systems[k].kinds[i] >= 0; i++) {
            desc.over.rows.terms[i] =
                (weft_term){g->components[systems[k].kinds[i]],
                            systems[k].writes >> i & 1 ? WEFT_WRITE : WEFT_READ, 0, 0};
        }
        if (weft_system_create(g->world, &desc).id == 0) return false;
    }
    return true;
}

static void close_game(game *g)
{
    weft_world_destroy(g->world);
    for (uint32_t t = 0; t < g->table_count; t++) {
        for (int k = 0; k < KINDS; k++) free(g->tables[t].columns[k]);
    }
}

static void measure(weft_bench *bench, const char *name, uint32_t n, bool is_mixed,
                    uint32_t workers)
{
    static const char *const names[KINDS] = {"Position", "Velocity", "Data",  "Player",
                                             "Health",   "Damage",   "Sprite"};
    static const size_t alignments[KINDS] = {4, 4, 8, 4, 4, 4, 1};
    if (!weft_bench_wants(bench, name)) return;
    game g = {.dt = 1.0f / 60};
    if (weft_world_create(&(weft_world_desc){.workers = workers}, &g.world) != WEFT_OK) {
        weft_bench_fail(bench, "cannot create a world with %u workers", workers);
        return;
    }
    for (int k = 0; k < KINDS; k++) {
        g.components[k] =
            weft_component_create_plain(g.world, names[k], sizes[k], (uint32_t)alignments[k], 0);
    }
    if (fill_tables(&g, n, is_mixed) && fill_world(&g)) {
        weft_bench_run(bench, &(weft_bench_measure){.name = name,
                                                    .unit = "ns/entity",
                                                    .items = n,
                                                    .workers = workers,
                                                    .run = step_weft,
                                                    .raw = step_raw,
                                                    .data = &g});
    } else {
        weft_bench_fail(bench, "%s: %s", name, weft_world_error(g.world)->text);
    }
    close_game(&g);
}

static void measure_sizes(weft_bench *bench, bool is_mixed)
{
    static const struct {
        const char *name;
        uint32_t n;
    } cases[] = {{"1", 1},         {"64", 64},      {"4k", 4096},   {"16k", 16384},
                 {"262k", 262144}, {"1M", 1048576}, {"2M", 2097152}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        measure(bench, cases[i].name, cases[i].n, is_mixed, 1);
        if (weft_bench_workers(bench) > 1) {
            measure(bench, cases[i].name, cases[i].n, is_mixed, weft_bench_workers(bench));
        }
    }
}

static void plain(weft_bench *bench)
{
    measure_sizes(bench, false);
}

static void mixed(weft_bench *bench)
{
    measure_sizes(bench, true);
}

const weft_bench_entry weft_bench_seven[] = {
    {"seven.plain", "seven systems, every entity with all seven components, a frame", plain, 1},
    {"seven.mixed", "seven systems over up to eight archetypes, a frame", mixed, 1},
    {0},
};
