/* SPDX-License-Identifier: MIT */
/* shard_bench.c: what shards cost, under mpirun; rank 0 prints one JSON line for each figure.
 *
 *     mpirun -np 2 shard_bench ghosts|migration|overlap|scale [--entities N] [--steps N]
 *         [--workers N] [--ratio N] [--cells N]
 *
 * ghosts     every row is a ghost on the other rank and is written in every step: ns per row for
 *            packing it on one rank and taking it over on the other
 * migration  a share of the rows goes to the other rank in every step: ns of weft_shard_sync for
 *            each row that leaves or comes; ranks begin it together. `raw`: plain C that finds as
 *            many rows by their sectors, copies their columns into a message, and gives what comes
 *            their places: no ids, no directory, no order. `mpi`: the messages alone, with as many
 *            bytes each way from and to memory that is there
 * overlap    the part of the exchange that interior halves hide, where they take `--ratio` times as
 *            long
 * scale      seconds of a step, for 2 ranks x 1 worker against 1 rank x 2 workers */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/shard.h>

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;
typedef struct Force {
    float x, y, z;
} Force;

static struct {
    const char *mode;
    long entities, steps, workers, ratio, cells;
} options = {
    .mode = "ghosts", .entities = 1000000, .steps = 20, .workers = 1, .ratio = 4, .cells = 16};

static struct {
    weft_world *world;
    weft_shard *shard;
    weft_shard_info info;
    weft_component position, velocity, force;
    uint64_t work; /* rounds per row of the interior */
} bench;

static void check(weft_result result, const char *what)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "rank %u: %s: %s\n", weft_ranks_rank(), what, weft_ranks_error()->text);
    weft_ranks_abort(2);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Velocities are such that rows stay in their sector, but for `migration`. */
static void move(weft_slice *slice, void *user)
{
    Position *p = WEFT_WRITE_COLUMN(slice, 0, Position);
    Velocity *v = WEFT_WRITE_COLUMN(slice, 1, Velocity);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) {
        p[i].x += v[i].x;
        p[i].y += v[i].y;
        p[i].z += v[i].z;
        v[i] = (Velocity){-v[i].x, -v[i].y, -v[i].z};
    }
}

/* Each row with the rows at the same place of near sectors, `work` times. */
static void look(weft_slice *slice, void *user)
{
    const Position *p = WEFT_READ_COLUMN(slice, 0, Position);
    Force *force = WEFT_WRITE_COLUMN(slice, 1, Force);
    const uint32_t *near;
    const uint32_t count =
        weft_shard_near(bench.shard, weft_shard_slice_sector(bench.shard, slice), &near);
    (void)user;
    for (uint32_t k = 0; k < count; k++) {
        weft_shard_rows rows;
        if (!weft_shard_rows_get(bench.shard, near[k], &rows) || rows.count == 0) continue;
        const Position *q = rows.columns[0];
        for (uint64_t round = 0; round < bench.work; round++)
            for (uint32_t i = 0; i < slice->count; i++) {
                const Position *other = &q[(i + (uint32_t)round * 7) % rows.count];
                const float dx = other->x - p[i].x, dy = other->y - p[i].y;
                force[i].x += dx / (1 + dx * dx + dy * dy);
                force[i].y += dy / (1 + dx * dx + dy * dy);
            }
    }
}

static void create_world(void)
{
    const weft_world_desc desc = {.workers = (uint32_t)options.workers};
    check(weft_world_create(&desc, &bench.world), "weft_world_create");
    bench.position = WEFT_COMPONENT(bench.world, Position);
    bench.velocity = WEFT_COMPONENT(bench.world, Velocity);
    bench.force = WEFT_COMPONENT(bench.world, Force);
    /* for `ghosts` all sectors are near each other */
    const bool is_near = strcmp(options.mode, "ghosts") == 0;
    if (is_near) options.cells = 8;
    const uint32_t cells = (uint32_t)options.cells;
    const weft_shard_desc shard = {
        .key = bench.position,
        .grid = {.dimensions = 2, .cells = {cells, cells}, .most = {1, 1}, .reach = is_near},
        .halo = {bench.position, bench.velocity},
        .balance_every = UINT32_MAX};
    check(weft_shard_create(bench.world, &shard, &bench.shard), "weft_shard_create");
    weft_shard_info_get(bench.shard, &bench.info, sizeof bench.info);
}

/* Rows at the middles of small cells, as many in each sector; `jump`: every so manyth row goes to
 * the other half. */
static void create_rows(uint32_t jump)
{
    const weft_archetype archetype =
        WEFT_ARCHETYPE(bench.world, bench.info.gid, bench.position, bench.velocity, bench.force);
    const uint32_t cells = (uint32_t)options.cells;
    const uint32_t side =
        ((uint32_t)ceil(sqrt((double)options.entities)) + cells - 1) / cells * cells;
    for (uint32_t i = 0; i < (uint32_t)options.entities; i++) {
        const float small = 1.0f / (float)side;
        const Position at = {((float)(i % side) + 0.5f) * small, ((float)(i / side) + 0.5f) * small,
                             0};
        Velocity v = {small / 4, small / 4, 0};
        if (jump != 0 && i % jump == 0) v = (Velocity){0, at.y < 0.5f ? 0.5f : -0.5f, 0};
        if (!weft_shard_is_mine(bench.shard, &at)) continue;
        const weft_entity e = weft_entity_create(bench.world, archetype);
        WEFT_SET(bench.world, e, bench.position, Position, {at.x, at.y, at.z});
        WEFT_SET(bench.world, e, bench.velocity, Velocity, {v.x, v.y, v.z});
    }
    check(weft_shard_sync(bench.shard), "weft_shard_sync");
}

static void create_systems(bool reads_ghosts)
{
    const weft_system_desc mover = {
        .name = "move",
        .run = move,
        .over.rows = {.terms = {{bench.position, WEFT_WRITE}, {bench.velocity, WEFT_WRITE}}}};
    const weft_system_desc looker = {
        .name = "look",
        .run = look,
        .over.rows = {.terms = {{bench.position}, {bench.force, WEFT_WRITE}, {bench.info.gid}}}};
    if (weft_system_create(bench.world, &mover).id == 0) weft_ranks_abort(2);
    if (reads_ghosts) check(weft_shard_system_create(bench.shard, &looker), "look");
}

static weft_shard_stats stats_now(void)
{
    weft_shard_stats stats;
    weft_shard_stats_get(bench.shard, &stats, sizeof stats);
    return stats;
}

static double steps_timed(long steps)
{
    const double start = now();
    for (long i = 0; i < steps; i++) check(weft_shard_step(bench.shard, 0.1f), "weft_shard_step");
    return now() - start;
}

static void line(const char *what, const char *unit, double value)
{
    if (weft_ranks_rank() != 0) return;
    printf("{\"bench\":\"shard.%s\",\"ranks\":%u,\"workers\":%ld,\"entities\":%ld,\"unit\":\"%s\","
           "\"value\":%.4g}\n",
           what, weft_ranks_count(), options.workers, options.entities, unit, value);
    fflush(stdout);
}

/* The least of the steps, of the slowest rank: ns per row. Others share the machine. */
typedef struct least_step {
    double pack, send, apply;
} least_step;

static double per_row(uint64_t ns, uint64_t rows)
{
    return rows != 0 ? (double)ns / (double)rows : 0;
}

static void take_least(double *least, double value)
{
    if (value > 0 && (*least == 0 || value < *least)) *least = value;
}

static least_step step_by_step(void)
{
    least_step least = {0};
    for (long i = 0; i < options.steps; i++) {
        const weft_shard_stats a = stats_now();
        (void)steps_timed(1);
        const weft_shard_stats b = stats_now();
        const uint64_t sent = b.ghost_rows - a.ghost_rows;
        take_least(&least.pack, per_row(b.pack_ns - a.pack_ns, sent));
        take_least(&least.send, per_row(b.send_ns - a.send_ns, sent));
        take_least(&least.apply, per_row(b.apply_ns - a.apply_ns, sent));
    }
    return least;
}

static double slowest(double value)
{
    uint64_t scaled = (uint64_t)(value * 1000);
    check(weft_ranks_max(&scaled, 1), "weft_ranks_max");
    return (double)scaled / 1000;
}

static void run_ghosts(void)
{
    create_rows(0);
    create_systems(true);
    (void)steps_timed(3);
    const least_step least = step_by_step();
    const double pack = slowest(least.pack), send = slowest(least.send);
    const double apply = slowest(least.apply);
    line("ghosts/pack", "ns/row", pack);
    line("ghosts/send", "ns/row", send);
    line("ghosts/apply", "ns/row", apply);
    line("ghosts/row", "ns/row", pack + send + apply);
}

/* Rows move in a step of the world; ranks begin the sync together. */
static double least_sync(void)
{
    double least = 0;
    for (long i = 0; i < options.steps; i++) {
        check(weft_world_step(bench.world, 0.1f), "weft_world_step");
        check(weft_ranks_agree(WEFT_OK), "weft_ranks_agree");
        const weft_shard_stats a = stats_now();
        check(weft_shard_sync(bench.shard), "weft_shard_sync");
        const weft_shard_stats b = stats_now();
        const uint64_t moved = b.rows_left - a.rows_left + b.rows_arrived - a.rows_arrived +
                               b.rows_moved - a.rows_moved;
        take_least(&least, per_row(b.sync_ns - a.sync_ns, moved));
    }
    return least;
}

static void exchange_bytes(const void *from, void *to, size_t bytes)
{
    const int other = 1 - (int)weft_ranks_rank(), count = (int)bytes;
    MPI_Sendrecv(from, count, MPI_BYTE, other, 1, to, count, MPI_BYTE, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* The least time in ns in which MPI takes `bytes` from each of two ranks to the other. */
static double least_exchange(size_t bytes)
{
    void *from = calloc(bytes + 1, 1), *to = calloc(bytes + 1, 1);
    if (from == NULL || to == NULL) weft_ranks_abort(2);
    double least = 0;
    for (long i = 0; i < options.steps + 2; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = now();
        exchange_bytes(from, to, bytes);
        take_least(&least, (now() - start) * 1e9);
    }
    free(from);
    free(to);
    return least;
}

/* ---- migration in plain C ---- */

/* A table of as many rows in as many sectors as a rank has: of each sector the same number. */
typedef struct raw_table {
    uint32_t rows, sectors;
    uint64_t *gids;
    Position *position;
    Velocity *velocity;
    Force *force;
    uint32_t *leaving;       /* rows that leave */
    unsigned char *out, *in; /* messages */
} raw_table;

enum { RAW_ROW_BYTES = 4 + 8 + 3 * 12 };

static uint32_t raw_sector(const Position *at)
{
    return (uint32_t)(at->y * (float)options.cells) * (uint32_t)options.cells +
           (uint32_t)(at->x * (float)options.cells);
}

static void raw_gather(void *to, const void *column, size_t bytes, const uint32_t *rows,
                       uint32_t count)
{
    unsigned char *out = to;
    const unsigned char *in = column;
    if (bytes == 12)
        for (uint32_t i = 0; i < count; i++) memcpy(out + i * 12, in + rows[i] * (size_t)12, 12);
    else
        for (uint32_t i = 0; i < count; i++) memcpy(out + i * 8, in + rows[i] * (size_t)8, 8);
}

static void raw_scatter(void *column, const void *from, size_t bytes, const uint32_t *rows,
                        uint32_t count)
{
    unsigned char *out = column;
    const unsigned char *in = from;
    if (bytes == 12)
        for (uint32_t i = 0; i < count; i++) memcpy(out + rows[i] * (size_t)12, in + i * 12, 12);
    else
        for (uint32_t i = 0; i < count; i++) memcpy(out + rows[i] * (size_t)8, in + i * 8, 8);
}

static void raw_step(raw_table *t)
{
    const uint32_t mine = t->rows / t->sectors, first = weft_ranks_rank() * t->sectors;
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->rows; i++) {
        t->leaving[count] = i;
        count += raw_sector(&t->position[i]) != first + i / mine;
    }
    unsigned char *out = t->out;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t sector = raw_sector(&t->position[t->leaving[i]]);
        memcpy(out + i * 4, &sector, 4);
    }
    out += count * (size_t)4;
    raw_gather(out, t->gids, 8, t->leaving, count);
    raw_gather(out + count * (size_t)8, t->position, 12, t->leaving, count);
    raw_gather(out + count * (size_t)20, t->velocity, 12, t->leaving, count);
    raw_gather(out + count * (size_t)32, t->force, 12, t->leaving, count);
    exchange_bytes(t->out, t->in, count * (size_t)RAW_ROW_BYTES);
    const unsigned char *in = t->in + count * (size_t)4;
    raw_scatter(t->gids, in, 8, t->leaving, count);
    raw_scatter(t->position, in + count * (size_t)8, 12, t->leaving, count);
    raw_scatter(t->velocity, in + count * (size_t)20, 12, t->leaving, count);
    raw_scatter(t->force, in + count * (size_t)32, 12, t->leaving, count);
}

/* Every fourth row is in the other half, as after a step of `move`. */
static void raw_fill(raw_table *t)
{
    const uint32_t cells = (uint32_t)options.cells, mine = t->rows / t->sectors;
    const float side = 1.0f / (float)cells;
    for (uint32_t i = 0; i < t->rows; i++) {
        const uint32_t sector = weft_ranks_rank() * t->sectors + i / mine;
        const float y = ((float)(sector / cells) + 0.5f) * side;
        t->position[i] = (Position){((float)(sector % cells) + 0.5f) * side, y, 0};
        if (i % 4 == 0) t->position[i].y += y < 0.5f ? 0.5f : -0.5f;
        t->velocity[i] = (Velocity){0};
        t->force[i] = (Force){0};
    }
}

/* The least time in ns of a step of the table. */
static double raw_migration(void)
{
    const uint32_t sectors = (uint32_t)(options.cells * options.cells / 2);
    const uint32_t rows = (uint32_t)options.entities / 2 / sectors * sectors;
    const size_t message = (size_t)rows * RAW_ROW_BYTES + 1;
    raw_table t = {.rows = rows,
                   .sectors = sectors,
                   .gids = calloc(rows, sizeof *t.gids),
                   .position = calloc(rows, sizeof *t.position),
                   .velocity = calloc(rows, sizeof *t.velocity),
                   .force = calloc(rows, sizeof *t.force),
                   .leaving = calloc(rows, sizeof *t.leaving),
                   .out = calloc(message, 1),
                   .in = calloc(message, 1)};
    if (t.gids == NULL || t.position == NULL || t.velocity == NULL || t.force == NULL ||
        t.leaving == NULL || t.out == NULL || t.in == NULL)
        weft_ranks_abort(2);
    double least = 0;
    for (long i = 0; i < options.steps + 2; i++) {
        raw_fill(&t);
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = now();
        raw_step(&t);
        take_least(&least, (now() - start) * 1e9);
    }
    void *all[] = {t.gids, t.position, t.velocity, t.force, t.leaving, t.out, t.in};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return least / (2.0 * ((double)rows / 4));
}

static void run_migration(void)
{
    create_rows(4);
    create_systems(false);
    (void)steps_timed(2);
    const weft_shard_stats before = stats_now();
    const double least = least_sync();
    const weft_shard_stats after = stats_now();
    const uint64_t bytes = (after.moved_bytes - before.moved_bytes) / (uint64_t)options.steps;
    uint64_t left = after.rows_left - before.rows_left;
    const uint64_t rows =
        (left + after.rows_arrived - before.rows_arrived + after.rows_moved - before.rows_moved) /
        (uint64_t)options.steps;
    check(weft_ranks_sum(&left, 1), "weft_ranks_sum");
    line("migration/rows", "rows/step", (double)left / (double)options.steps);
    line("migration/row", "ns/row", slowest(least));
    if (weft_ranks_count() != 2 || rows == 0) return;
    line("migration/raw", "ns/row", slowest(raw_migration()));
    line("migration/mpi", "ns/row", slowest(least_exchange((size_t)bytes) / (double)rows));
}

static double exchange_seconds(void)
{
    const double start = now();
    for (long i = 0; i < options.steps; i++) {
        weft_query_desc desc = {.terms = {{bench.position, WEFT_WRITE}}};
        const weft_query query = weft_query_create(bench.world, &desc);
        weft_cursor c = weft_query_begin(bench.world, query);
        while (weft_query_next(&c)) {
        }
        (void)weft_query_destroy(bench.world, query);
        check(weft_shard_exchange(bench.shard), "weft_shard_exchange");
    }
    return (now() - start) / (double)options.steps;
}

static void run_overlap(void)
{
    create_rows(0);
    create_systems(true);
    bench.work = 1;
    (void)steps_timed(2);
    weft_shard_stats before = stats_now();
    const double whole = exchange_seconds();
    weft_shard_stats after = stats_now();
    const double pack = (double)(after.pack_ns - before.pack_ns) * 1e-9 / (double)options.steps;
    const double wait = (double)(after.wait_ns - before.wait_ns) * 1e-9 / (double)options.steps;
    const double one = steps_timed(3) / 3;
    bench.work = 1 + (uint64_t)(wait * (double)options.ratio / (one > 0 ? one : 1));
    before = stats_now();
    const double step = steps_timed(options.steps) / (double)options.steps;
    after = stats_now();
    const double left = (double)(after.wait_ns - before.wait_ns) * 1e-9 / (double)options.steps;
    line("overlap/exchange", "us", whole * 1e6);
    line("overlap/pack", "us", pack * 1e6);
    line("overlap/wait_alone", "us", wait * 1e6);
    line("overlap/step", "us", step * 1e6);
    line("overlap/wait_left", "us", left * 1e6);
    line("overlap/hidden", "share", wait > 0 ? 1 - left / wait : 0);
}

static void run_scale(void)
{
    create_rows(1000);
    create_systems(true);
    bench.work = 1;
    (void)steps_timed(2);
    line("scale/step", "ms", steps_timed(options.steps) / (double)options.steps * 1e3);
}

static void read_options(int argc, char **argv)
{
    const struct {
        const char *name;
        long *number;
    } list[] = {{"--entities", &options.entities},
                {"--steps", &options.steps},
                {"--workers", &options.workers},
                {"--ratio", &options.ratio},
                {"--cells", &options.cells}};
    if (argc > 1) options.mode = argv[1];
    for (int i = 2; i + 1 < argc; i += 2)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++)
            if (strcmp(argv[i], list[k].name) == 0) *list[k].number = atol(argv[i + 1]);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"ghosts", run_ghosts},
                 {"migration", run_migration},
                 {"overlap", run_overlap},
                 {"scale", run_scale}};
    read_options(argc, argv);
    if (weft_ranks_start(&argc, &argv) != WEFT_OK) {
        fprintf(stderr, "%s\n", weft_ranks_error()->text);
        return 2;
    }
    create_world();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(options.mode, modes[i].name) == 0) modes[i].run();
    weft_shard_destroy(bench.shard);
    if (weft_world_destroy(bench.world) != WEFT_OK) return 2;
    weft_ranks_stop();
    return 0;
}
