/* SPDX-License-Identifier: MIT */
/* shard_model.c: a small sharded world for tests, run under mpirun by run_shard.py: points that
 * follow their neighbours, give birth, die, and refer to each other. Prints the hash.
 *
 *     shard_model [--steps N] [--points N] [--workers N] [--load FILE] [--save FILE] [--at STEP]
 *         [--still] [--balance N] [--uneven] [--component] [--full] [--die STEP] [--verbose]
 *         [--endless] [--sparse] [--grown] [--seed N]
 *         [--dump] [--asked] [--leak] */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <weft/buffers.h>
#include <weft/random.h>
#include <weft/shard.h>
#include <weft/snapshot.h>
#include <weft/type.h>

#include "ranks_leaks.h"

typedef struct Position {
    float x, y;
} Position;
typedef struct Velocity {
    float x, y;
} Velocity;
typedef struct Pull {
    float x, y;
    uint32_t count, ghosts;
} Pull;
typedef struct Friend {
    weft_entity who;
} Friend;
typedef struct Trail {
    uint64_t tick;
} Trail;

typedef struct Grown { /* a later Friend */
    uint16_t since;
    weft_entity who;
} Grown;

static const weft_field friend_fields[] = {{.name = "who", .kind = WEFT_FIELD_ENTITY, .offset = 0}};
static const weft_field grown_fields[] = {WEFT_FIELD(Grown, since), WEFT_FIELD(Grown, who)};

static struct {
    long steps, points, workers, at, balance, die, idle, seed;
    const char *load, *save;
    bool is_still, is_uneven, has_other, is_sparse, is_full, is_verbose, dumps, is_asked, leaks,
        is_endless, is_grown;
} options = {
    .steps = 50, .points = 2000, .workers = 1, .at = -1, .balance = 8, .die = -1, .seed = 7};

static struct {
    weft_world *world;
    weft_shard *shard;
    weft_shard_info info;
    weft_component position, velocity, pull, friend, trail, shy, mark;
    weft_query points;
} model;

static void check(weft_result result, const char *what)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "rank %u: %s: %s: %s\n", weft_ranks_rank(), what, weft_result_name(result),
            weft_ranks_error()->text);
    if (strstr(what, "refused") != NULL) { /* every rank has the error */
        printf("refused %s\n", weft_result_name(result));
        fflush(stdout);
        weft_ranks_stop();
        _Exit(3);
    }
    weft_ranks_abort(2);
}

/* ---- systems ---- */

static void move(weft_slice *slice, void *user)
{
    Position *p = WEFT_WRITE_COLUMN(slice, 0, Position);
    Velocity *v = WEFT_WRITE_COLUMN(slice, 1, Velocity);
    const Pull *pull = WEFT_READ_COLUMN(slice, 2, Pull);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) {
        if (pull[i].count != 0) {
            v[i].x = 0.9f * v[i].x + 0.1f * pull[i].x / (float)pull[i].count;
            v[i].y = 0.9f * v[i].y + 0.1f * pull[i].y / (float)pull[i].count;
        }
        p[i].x += v[i].x;
        p[i].y += v[i].y;
        if (p[i].x < 0 || p[i].x > 100) v[i].x = -v[i].x;
        if (p[i].y < 0 || p[i].y > 100) v[i].y = -v[i].y;
    }
}

/* The sum of floats over neighbours: depends on their order. */
static void look(weft_slice *slice, void *user)
{
    const Position *p = WEFT_READ_COLUMN(slice, 0, Position);
    Pull *pull = WEFT_WRITE_COLUMN(slice, 1, Pull);
    const uint64_t *gids = weft_slice_read(slice, 2);
    const uint32_t *near;
    const uint32_t sector = weft_shard_slice_sector(model.shard, slice);
    const uint32_t near_count = weft_shard_near(model.shard, sector, &near);
    (void)user;
    memset(pull, 0, slice->count * sizeof *pull);
    for (uint32_t k = 0; k < near_count; k++) {
        weft_shard_rows rows;
        if (!weft_shard_rows_get(model.shard, near[k], &rows)) abort();
        const Position *q = rows.columns[0];
        const Velocity *w = rows.columns[1];
        for (uint32_t i = 0; i < slice->count; i++)
            for (uint32_t j = 0; j < rows.count; j++) {
                const float dx = q[j].x - p[i].x, dy = q[j].y - p[i].y;
                if (dx * dx + dy * dy > 9 || rows.gids[j] == gids[i]) continue;
                if ((rows.present[j] & 2) == 0) continue;
                pull[i].x += w[j].x;
                pull[i].y += w[j].y;
                pull[i].count++;
                pull[i].ghosts += 1;
            }
    }
}

static void live(weft_slice *slice, void *user)
{
    const Position *p = WEFT_READ_COLUMN(slice, 0, Position);
    const uint64_t *gids = weft_slice_read(slice, 1);
    const weft_archetype archetype = *(const weft_archetype *)user;
    const uint32_t tick = (uint32_t)weft_shard_tick(model.shard);
    weft_recorder *recorder = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < slice->count; i++) {
        if (gids[i] == 0) continue;
        weft_random random = weft_random_of(7, gids[i], tick, 1);
        const float chance = weft_random_float(&random);
        if (chance < 0.01f) {
            weft_recorder_destroy_entity(recorder, slice->entities[i]);
        } else if (chance < 0.02f) {
            const weft_entity child = weft_recorder_create_entity(recorder, archetype);
            const Position at = {p[i].x + 20 * weft_random_float(&random) - 10,
                                 p[i].y + 20 * weft_random_float(&random) - 10};
            const Velocity v = {weft_random_float(&random) - 0.5f, weft_random_float(&random)};
            const Friend parent = {slice->entities[i]};
            const Trail trail = {tick};
            weft_recorder_set(recorder, child, model.position, &at, sizeof at);
            weft_recorder_set(recorder, child, model.velocity, &v, sizeof v);
            weft_recorder_set(recorder, child, model.friend, &parent, sizeof parent);
            weft_recorder_append(recorder, child, model.trail, &trail, 1);
        } else if (chance < 0.03f) {
            const Trail trail = {tick};
            weft_recorder_append(recorder, slice->entities[i], model.trail, &trail, 1);
        } else if (chance < 0.035f) {
            weft_recorder_add(recorder, slice->entities[i], model.shy);
        }
    }
}

/* ---- the world ---- */

static void create_world(void)
{
    const weft_world_desc desc = {.workers = (uint32_t)options.workers};
    check(weft_world_create(&desc, &model.world), "weft_world_create");
    weft_world *world = model.world;
    model.position = WEFT_COMPONENT(world, Position);
    model.velocity = WEFT_COMPONENT(world, Velocity);
    model.pull = WEFT_COMPONENT(world, Pull);
    weft_component_desc friend = {.name = "Friend",
                                  .size = sizeof(Friend),
                                  .alignment = _Alignof(Friend),
                                  .fields = friend_fields,
                                  .field_count = 1};
    if (options.is_grown) {
        friend.size = sizeof(Grown);
        friend.fields = grown_fields;
        friend.field_count = 2;
    }
    model.friend = weft_component_create(world, &friend);
    model.trail =
        weft_component_create_plain(world, "Trail", sizeof(Trail), _Alignof(Trail), WEFT_BUFFER);
    model.mark = weft_component_create(world, &(weft_component_desc){.name = "Mark",
                                                                     .size = sizeof(Friend),
                                                                     .alignment = 4,
                                                                     .flags = WEFT_SPARSE,
                                                                     .fields = friend_fields,
                                                                     .field_count = 1});
    model.shy = weft_component_create_plain(world, "Shy", 0, 1, 0);
    if (options.has_other && weft_ranks_rank() == 1)
        (void)weft_component_create_plain(world, "Other", 4, 4, 0);
    const weft_shard_desc shard = {
        .key = model.position,
        .grid = {.dimensions = 2, .cells = {8, 8}, .least = {0, 0}, .most = {100, 100}},
        .halo = {model.position, model.velocity},
        .balance_every = options.balance != 0 ? (uint32_t)options.balance : UINT32_MAX,
        .balance_above = options.is_endless ? (double)NAN : 0,
        .seed = (uint64_t)options.seed};
    check(weft_shard_create(world, &shard, &model.shard), "refused by weft_shard_create");
    weft_shard_info_get(model.shard, &model.info, sizeof model.info);
}

static void create_points(void)
{
    const weft_archetype archetype =
        WEFT_ARCHETYPE(model.world, model.info.gid, model.position, model.velocity, model.pull);
    const weft_archetype slow =
        WEFT_ARCHETYPE(model.world, model.info.gid, model.position, model.pull);
    for (long i = 0; i < options.points; i++) {
        weft_random random = weft_random_of(7, (uint64_t)i, 0, 0);
        const float scale = options.is_uneven ? 30 : 100;
        const Position at = {scale * weft_random_float(&random),
                             scale * weft_random_float(&random)};
        const Velocity v = {weft_random_float(&random) - 0.5f, weft_random_float(&random) - 0.5f};
        if (!weft_shard_is_mine(model.shard, &at)) continue;
        const weft_entity e = weft_entity_create(model.world, i % 10 != 0 ? archetype : slow);
        WEFT_SET(model.world, e, model.position, Position, {at.x, at.y});
        if (i % 10 != 0) WEFT_SET(model.world, e, model.velocity, Velocity, {v.x, v.y});
        if (!options.is_sparse) continue;
        const Friend self = {e}; /* SPARSE, with a reference that follows its row */
        char name[32];
        snprintf(name, sizeof name, "point %ld", i);
        if (i % 3 == 0) weft_entity_set(model.world, e, model.mark, &self, sizeof self);
        if (i % 5 == 0) weft_entity_set_name(model.world, e, name);
    }
}

/* What is in no archetype, by gid: a sum for all ranks. Stubs have none of it. */
static uint64_t sum_beside(void)
{
    uint64_t sum = 0;
    const weft_query_desc desc = {.terms = {{model.info.gid}, {model.position}},
                                  .with_inactive = true};
    const weft_query query = weft_query_create(model.world, &desc);
    weft_cursor c = weft_query_begin(model.world, query);
    while (weft_query_next(&c)) {
        const uint64_t *gids = weft_slice_read(&c.slice, 0);
        for (uint32_t i = 0; i < c.slice.count; i++) {
            const weft_entity e = c.slice.entities[i];
            const Friend *mark = weft_entity_read(model.world, e, model.mark);
            const char *name = weft_entity_name(model.world, e);
            if (mark != NULL && !weft_entity_equal(mark->who, e)) abort();
            if (mark != NULL) sum += gids[i] * 3;
            if (name[0] != '\0') sum += gids[i] * (uint64_t)strlen(name) * 1000;
        }
    }
    weft_query_end(&c);
    (void)weft_query_destroy(model.world, query);
    const weft_query_desc left = {.terms = {{model.info.stub}}, .with_inactive = true};
    const weft_query stubs = weft_query_create(model.world, &left);
    c = weft_query_begin(model.world, stubs);
    while (weft_query_next(&c))
        for (uint32_t i = 0; i < c.slice.count; i++) {
            const weft_entity e = c.slice.entities[i];
            if (weft_entity_has(model.world, e, model.mark)) abort();
            if (weft_entity_name(model.world, e)[0] != '\0') abort();
        }
    weft_query_end(&c);
    (void)weft_query_destroy(model.world, stubs);
    return sum;
}

static void rest(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static void create_systems(weft_archetype *children)
{
    for (long i = 0; i < options.idle; i++) {
        char name[32];
        snprintf(name, sizeof name, "idle %ld", i);
        if (weft_system_create(model.world, &(weft_system_desc){.name = name, .run = rest}).id == 0)
            abort();
    }
    *children = WEFT_ARCHETYPE(model.world, model.info.gid, model.position, model.velocity,
                               model.pull, model.friend, model.trail);
    const weft_system_desc mover = {
        .name = "move",
        .run = move,
        .over.rows = {
            .terms = {{model.position, WEFT_WRITE}, {model.velocity, WEFT_WRITE}, {model.pull}}}};
    const weft_system_desc looker = {
        .name = "look",
        .run = look,
        .over.rows = {.terms = {{model.position}, {model.pull, WEFT_WRITE}, {model.info.gid}}}};
    const weft_system_desc liver = {.name = "live",
                                    .run = live,
                                    .user = children,
                                    .over.rows = {.terms = {{model.position}, {model.info.gid}}},
                                    .effects = WEFT_RECORDS_ANY};
    if (!options.is_still && weft_system_create(model.world, &mover).id == 0) abort();
    check(weft_shard_system_create(model.shard, &looker), "look");
    if (!options.is_still && weft_system_create(model.world, &liver).id == 0) abort();
}

/* Exact sums over all rows of all ranks; their bits together. The shares of ranks are so large that
 * a double has no place for the rows beside them; together they are zero. */
static uint64_t sum_positions(void)
{
    enum { SUMS = 8 };
    weft_sum sums[SUMS] = {0};
    uint64_t all = 0;
    const weft_query_desc desc = {.terms = {{model.info.gid}, {model.position}}};
    const weft_query query = weft_query_create(model.world, &desc);
    weft_cursor c = weft_query_begin(model.world, query);
    while (weft_query_next(&c)) {
        const Position *p = WEFT_READ_COLUMN(&c.slice, 1, Position);
        for (uint32_t i = 0; i < c.slice.count; i++)
            for (int k = 0; k < SUMS; k++)
                weft_sum_add(&sums[k], (double)p[i].x * (double)p[i].y / (3 + k));
    }
    weft_query_end(&c);
    (void)weft_query_destroy(model.world, query);
    const double others = (double)(weft_ranks_count() - 1);
    for (int k = 0; k < SUMS; k++)
        weft_sum_add(&sums[k], weft_ranks_rank() == 0 ? 0x1p90 * others : -0x1p90);
    check(weft_ranks_sum_exact(sums, SUMS), "weft_ranks_sum_exact");
    for (int k = 0; k < SUMS; k++) {
        const double value = weft_sum_value(&sums[k]);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        all = all * 31 + bits;
    }
    return all;
}

static void print_state(const char *what)
{
    uint64_t hash[2];
    check(weft_shard_hash(model.shard, hash), "weft_shard_hash");
    check(weft_world_validate(model.world), "weft_world_validate");
    weft_shard_stats stats;
    weft_shard_stats_get(model.shard, &stats, sizeof stats);
    uint64_t totals[] = {stats.rows,   stats.rows_left, stats.value_bytes, stats.sectors_moved,
                         stats.ghosts, stats.stubs,     sum_beside()};
    check(weft_ranks_sum(totals, 7), "weft_ranks_sum");
    const uint64_t sum = sum_positions();
    if (weft_ranks_rank() != 0) return;
    printf("%s %016llx%016llx%016llx tick %llu rows %llu left %llu bytes %llu sectors %llu ghosts "
           "%llu "
           "stubs %llu beside %llu\n",
           what, (unsigned long long)hash[0], (unsigned long long)hash[1], (unsigned long long)sum,
           (unsigned long long)weft_shard_tick(model.shard), (unsigned long long)totals[0],
           (unsigned long long)totals[1], (unsigned long long)totals[2],
           (unsigned long long)totals[3], (unsigned long long)totals[4],
           (unsigned long long)totals[5], (unsigned long long)totals[6]);
    fflush(stdout);
}

/* One line for each row, for people who look for a difference. */
static void dump_rows(void)
{
    const weft_query_desc desc = {.terms = {{model.info.gid},
                                            {model.position},
                                            {model.velocity, .match = WEFT_OPTIONAL},
                                            {model.pull},
                                            {model.friend, .match = WEFT_OPTIONAL},
                                            {model.trail, .match = WEFT_OPTIONAL},
                                            {model.shy, .match = WEFT_OPTIONAL}}};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    const weft_query query = weft_query_create(model.world, &desc);
    weft_cursor c = weft_query_begin(model.world, query);
    while (weft_query_next(&c)) {
        const uint64_t *gids = weft_slice_read(&c.slice, 0);
        const Position *p = weft_slice_read(&c.slice, 1);
        const Velocity *v = weft_slice_read(&c.slice, 2);
        const Pull *pull = weft_slice_read(&c.slice, 3);
        const char *f = weft_slice_read(&c.slice, 4);
        const size_t stride = options.is_grown ? sizeof(Grown) : sizeof(Friend);
        const weft_buffers trails = weft_slice_read_buffers(&c.slice, 5);
        for (uint32_t i = 0; i < c.slice.count; i++) {
            Friend to = {0};
            if (f != NULL)
                memcpy(&to, f + i * stride + (options.is_grown ? offsetof(Grown, who) : 0),
                       sizeof to);
            fprintf(out, "row %llx p %a %a v %a %a pull %a %a %u friend %llx trail %u\n",
                    (unsigned long long)gids[i], (double)p[i].x, (double)p[i].y,
                    v != NULL ? (double)v[i].x : 0, v != NULL ? (double)v[i].y : 0,
                    (double)pull[i].x, (double)pull[i].y, pull[i].count,
                    (unsigned long long)weft_shard_gid(model.shard, to.who),
                    weft_buffers_length(&trails, i));
        }
    }
    weft_query_end(&c);
    (void)weft_query_destroy(model.world, query);
    fclose(out);
    void *all;
    uint64_t all_bytes;
    check(weft_ranks_gather(text, bytes, &all, &all_bytes), "weft_ranks_gather");
    if (all != NULL) fwrite(all, 1, all_bytes, stdout);
    free(all);
    free(text);
}

/* Limits the size of files to less than a checkpoint: as a full disk. */
static void fill_disk(void)
{
    const struct rlimit limit = {4096, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void read_options(int argc, char **argv)
{
    const struct {
        const char *name;
        long *number;
        const char **text;
        bool *flag;
    } list[] = {
        {"--steps", .number = &options.steps},       {"--points", .number = &options.points},
        {"--workers", .number = &options.workers},   {"--at", .number = &options.at},
        {"--balance", .number = &options.balance},   {"--die", .number = &options.die},
        {"--idle", .number = &options.idle},         {"--seed", .number = &options.seed},
        {"--load", .text = &options.load},           {"--save", .text = &options.save},
        {"--still", .flag = &options.is_still},      {"--uneven", .flag = &options.is_uneven},
        {"--component", .flag = &options.has_other}, {"--sparse", .flag = &options.is_sparse},
        {"--full", .flag = &options.is_full},        {"--verbose", .flag = &options.is_verbose},
        {"--dump", .flag = &options.dumps},          {"--asked", .flag = &options.is_asked},
        {"--leak", .flag = &options.leaks},          {"--endless", .flag = &options.is_endless},
        {"--grown", .flag = &options.is_grown}};
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            if (strcmp(argv[i], list[k].name) != 0) continue;
            if (list[k].flag != NULL)
                *list[k].flag = true;
            else if (i + 1 < argc && list[k].number != NULL)
                *list[k].number = atol(argv[++i]);
            else if (i + 1 < argc)
                *list[k].text = argv[++i];
        }
}

/* What a tool on the last rank would see: asked in each step, printed at the end. */
static void ask_figures(bool is_last)
{
    const weft_world_hook *hook = weft_world_hook_find(model.world, "shards");
    if (!options.is_asked || weft_ranks_rank() != weft_ranks_count() - 1) return;
    const size_t bytes = hook->tell(NULL, 0, hook->user) + 1;
    char *text = malloc(bytes);
    if (text == NULL || hook->tell(text, bytes, hook->user) + 1 != bytes) abort();
    if (is_last) printf("told {%s}\n", text);
    free(text);
}

/* Loses 40 bytes on the last rank: the test of the filter that knows the leaks of PMIx. */
static void leak(void)
{
    fprintf(stderr, "lost: %p\n", malloc(40));
}

static void run_steps(void)
{
    if (options.leaks && weft_ranks_rank() == weft_ranks_count() - 1) leak();
    for (long step = 0; step < options.steps; step++) {
        ask_figures(false);
        check(weft_shard_step(model.shard, 0.1f), "weft_shard_step");
        if (options.is_verbose) print_state("step");
        if (options.save != NULL && step + 1 == options.at) {
            if (options.is_full) fill_disk();
            check(weft_shard_save(model.shard, options.save), "refused by weft_shard_save");
        }
        if (step + 1 == options.die && weft_ranks_rank() == weft_ranks_count() - 1) raise(SIGKILL);
    }
    ask_figures(true);
}

/* A gid names one entity: instances have none. */
static void check_instances(void)
{
    weft_entity copy;
    const weft_entity first = weft_shard_find(model.shard, 1);
    if (!weft_entity_has(model.world, first, model.info.gid)) return;
    check(weft_entity_instantiate(model.world, first, 1, &copy), "weft_entity_instantiate");
    if (weft_entity_has(model.world, copy, model.info.gid)) abort();
    check(weft_entity_destroy(model.world, copy), "weft_entity_destroy");
}

/* A float at the lower side of a cell, or one of those beside it; out of the box, or none. */
static float side_of_cell(uint64_t number)
{
    const float side = 12.5f * (float)(number % 10); /* cells 0 to 7; 8 and 9 are beyond */
    switch (number / 10 % 8) {
    case 0:
        return side;
    case 1:
        return nextafterf(side, INFINITY);
    case 2:
        return nextafterf(side, -INFINITY);
    case 3:
        return side + 1e-5f;
    case 4:
        return side - 1e-5f;
    case 5:
        return side + 6;
    case 6:
        return -side;
    default:
        return number % 10 < 3 ? NAN : INFINITY;
    }
}

/* Every row is in the sector of its key, also of keys at the sides of cells. The end of a run: the
 * model is spoiled. */
static void check_sides(void)
{
    const weft_query_desc desc = {
        .terms = {{model.info.gid}, {model.info.sector}, {model.position, WEFT_WRITE}}};
    const weft_query query = weft_query_create(model.world, &desc);
    for (uint64_t round = 0; round < 8; round++) {
        weft_cursor c = weft_query_begin(model.world, query);
        while (weft_query_next(&c)) {
            const uint64_t *gids = weft_slice_read(&c.slice, 0);
            const uint32_t *stored = weft_slice_read_shared(&c.slice, 1);
            Position *p = WEFT_WRITE_COLUMN(&c.slice, 2, Position);
            for (uint32_t i = 0; i < c.slice.count; i++) {
                if (*stored != weft_shard_sector_of(model.shard, &p[i]) + 1) {
                    fprintf(stderr, "a row at %a, %a is in sector %u\n", (double)p[i].x,
                            (double)p[i].y, *stored - 1);
                    weft_ranks_abort(2);
                }
                const uint64_t mixed = (gids[i] + round) * UINT64_C(0x9E3779B97F4A7C15);
                p[i].x = side_of_cell(mixed >> 32);
                if (round % 2 == 0) p[i].y = side_of_cell(mixed >> 48);
            }
        }
        weft_query_end(&c);
        check(weft_shard_sync(model.shard), "weft_shard_sync at the sides of cells");
    }
    (void)weft_query_destroy(model.world, query);
}

/* Gids and other ranks do not go back: a snapshot from before the last step is refused. */
static void check_restore(void)
{
    weft_snapshot *before, *after;
    check(weft_snapshot_take(model.world, NULL, &before), "weft_snapshot_take");
    check(weft_shard_step(model.shard, 0.1f), "weft_shard_step");
    if (weft_snapshot_restore(model.world, before) != WEFT_UNSUPPORTED) weft_ranks_abort(2);
    check(weft_snapshot_take(model.world, NULL, &after), "weft_snapshot_take");
    check(weft_snapshot_restore(model.world, after), "weft_snapshot_restore");
    weft_snapshot_destroy(before);
    weft_snapshot_destroy(after);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    if (start_ranks(&argc, &argv) != WEFT_OK) {
        printf("refused on rank %u of %u: %s\n", weft_ranks_rank(), weft_ranks_count(),
               weft_ranks_error()->text);
        fflush(stdout);
        _Exit(3);
    }
    weft_archetype children;
    create_world();
    if (options.load != NULL)
        check(weft_shard_load(model.shard, options.load), "refused by weft_shard_load");
    else
        create_points();
    create_systems(&children);
    check(weft_shard_sync(model.shard), "refused by weft_shard_sync");
    check_instances();
    run_steps();
    print_state("hash");
    if (options.dumps) dump_rows();
    if (!options.leaks) check_restore();
    check_sides();
    if (weft_world_destroy(model.world) != WEFT_BUSY ||
        strstr(weft_world_error(model.world)->text, "shard (weft_shard_destroy)") == NULL)
        return 2;
    weft_shard_destroy(model.shard);
    if (weft_world_destroy(model.world) != WEFT_OK) return 2;
    stop_ranks();
    return 0;
}
