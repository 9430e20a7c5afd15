/* SPDX-License-Identifier: MIT */
/* test_refused_jobs.c: refused memory and threads in the functions of pools, graphs, guests and
 * grids: see refused.h. A trace that is refused memory ends; what is traced goes on. */
#include "check.h"
#include "plain.h"
#include "refused.h"

#include <weft/grid.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { POINTS = 3000, NODES = 40, MARKS = 100 };

/* Kinds of pools, and of boxes of grids. */
typedef enum sort { PLAIN, RINGS, TRACED, HOST_DRIVEN, SORTS } sort;

static const char *const sort_names[SORTS] = {"plain", "rings", "traced", "host_driven"};
static const char *const box_names[] = {"flat", "deep", "periodic", "doubles"};

/* Owner: one run. */
typedef struct bed {
    const refused_place *place;
    sort sort;
    weft_job_pool *pool;
    weft_grid *grid;
    char path[64];
    uint64_t sum;
} bed;

static double positions[POINTS * 3];
static float singles[POINTS * 3];

/* ---- the bed ---- */

static void *bed_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    memset(b, 0, sizeof *b);
    b->place = place;
    b->sort = (sort)place->kind;
    snprintf(b->path, sizeof b->path, "refused-%d.pftrace", (int)getpid());
    return b;
}

static void ignore(void *user, weft_log_level level, const char *text)
{
    (void)user, (void)level, (void)text;
}

static weft_result pool_make(bed *b)
{
    const weft_job_pool_desc desc = {.worker_count = b->place->workers,
                                     .spin_ns = 1000,
                                     .trace_capacity = b->sort == RINGS ? 64 : 0,
                                     .is_host_driven = b->sort == HOST_DRIVEN,
                                     .is_always_parallel = true,
                                     .allocator = b->place->heap,
                                     .os = b->place->os,
                                     .trace_file = b->sort == TRACED ? b->path : "",
                                     .log = {ignore, NULL}};
    const weft_result result = weft_job_pool_create(&desc, &b->pool);
    CHECK(result == WEFT_OK || b->pool == NULL);
    return result;
}

static void *pool_open(const refused_place *place)
{
    bed *b = bed_open(place);
    CHECK_OK(pool_make(b));
    return b;
}

static weft_result grid_make(bed *b)
{
    const uint32_t kind = b->place->kind;
    const weft_result result = weft_grid_create(&(weft_grid_desc){.dimensions = kind == 0 ? 2 : 3,
                                                                  .most = {1, 1, 1},
                                                                  .reach = 0.1,
                                                                  .is_periodic = {kind == 2},
                                                                  .allocator = b->place->heap},
                                                &b->grid);
    CHECK(result == WEFT_OK || b->grid == NULL);
    return result;
}

static void *grid_open(const refused_place *place)
{
    bed *b = bed_open(place);
    for (uint32_t i = 0; i < POINTS * 3; i++)
        singles[i] = (float)(positions[i] = (double)(i * 7919u % 10007u) / 10007);
    CHECK_OK(grid_make(b));
    return b;
}

static void bed_close(void *open)
{
    bed *b = open;
    weft_grid_destroy(b->grid);
    CHECK_OK(weft_job_pool_destroy(b->pool));
    unlink(b->path);
}

static void bed_look(void *open, refused_look *out)
{
    const bed *b = open;
    const test_memory *memory = b->place->heap.user;
    refused_see(out, "pool", b->pool != NULL);
    refused_see(out, "grid", b->grid != NULL);
    refused_see(out, "sum", b->sum);
    refused_see_soft(out, "blocks", memory->live_blocks);
    if (b->grid == NULL) return;
    weft_grid_view view;
    weft_grid_view_get(b->grid, &view, sizeof view);
    refused_see(out, "points", view.count);
    refused_see(out, "places", view.cell_begin[view.cell_count]);
}

/* ---- pools ---- */

static weft_result do_create(void *open)
{
    return pool_make(open);
}

static weft_result do_destroy(void *open)
{
    bed *b = open;
    const weft_result result = weft_job_pool_destroy(b->pool);
    if (result == WEFT_OK) b->pool = NULL;
    return result;
}

static int count_up(weft_job_context *job, void *argument)
{
    (void)job;
    at_add_rlx((weft_a64 *)argument, 1); /* relaxed: a count */
    return 0;
}

static weft_result do_graph(void *open)
{
    bed *b = open;
    weft_job_graph_node nodes[NODES];
    uint32_t edges[NODES][2];
    weft_a64 x_count = {0};
    weft_job_graph *graph;
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = (weft_job_graph_node){.fn = count_up, .argument = &x_count, .cost_ns = i + 1};
        edges[i][0] = i / 2, edges[i][1] = i + (i == 0);
    }
    const weft_result result = weft_job_graph_create(
        b->pool, &(weft_job_graph_desc){nodes, NODES, NODES, (const uint32_t(*)[2])edges, true},
        &graph);
    if (result != WEFT_OK) return result;
    CHECK_OK(weft_job_graph_run(weft_job_pool_owner(b->pool), graph, NULL));
    CHECK_U64(at_load_rlx(&x_count), NODES); /* relaxed: alone */
    return weft_job_graph_destroy(graph);
}

static void *visit(void *argument)
{
    static weft_result result;
    bed *b = argument;
    weft_job_context *guest;
    weft_a64 x_count = {0};
    result = weft_job_pool_enter(b->pool, &guest);
    CHECK(result == WEFT_OK || guest == NULL);
    if (result != WEFT_OK) return &result;
    for (uint32_t i = 0; i < 9; i++) weft_job_child(guest, count_up, &x_count);
    CHECK_OK(weft_job_pool_leave(guest));
    CHECK_U64(at_load_rlx(&x_count), 9); /* relaxed: alone */
    return &result;
}

static weft_result do_enter(void *open)
{
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, visit, open) == 0 && pthread_join(thread, &result) == 0);
    return *(weft_result *)result;
}

static weft_result do_frame(void *open)
{
    bed *b = open;
    weft_job_frame_begin(b->pool);
    for (uint32_t i = 0; i < MARKS; i++) {
        weft_job_trace_mark(weft_job_pool_owner(b->pool), i % 2 == 0 ? "one" : "two", i);
    }
    weft_job_frame_end(b->pool);
    return WEFT_OK;
}

/* ---- grids ---- */

static weft_result do_grid(void *open)
{
    bed *b = open;
    weft_grid_destroy(b->grid);
    b->grid = NULL;
    return grid_make(b);
}

static weft_job_context *owner(const bed *b)
{
    return weft_job_pool_owner(b->place->pool);
}

static weft_result do_build(void *open)
{
    bed *b = open;
    const bool is_double = b->place->kind == 3;
    const uint32_t dimensions = b->place->kind == 0 ? 2 : 3;
    const weft_grid_points points = {
        .positions = is_double ? (void *)positions : (void *)singles,
        .stride = dimensions * (is_double ? sizeof positions[0] : sizeof singles[0]),
        .count = POINTS,
        .is_double = is_double};
    const weft_result result = weft_grid_build(b->grid, owner(b), &points);
    b->sum = 0;
    if (result != WEFT_OK) return result;
    weft_grid_view view;
    weft_grid_view_get(b->grid, &view, sizeof view);
    for (uint32_t i = 0; i < POINTS; i++) b->sum = b->sum * 31 + view.points[i];
    return result;
}

/* ---- the tables ---- */

static const refused_function on_nothing[] = {
    {"weft_job_pool_create", do_create, REFUSED_KINDS | REFUSED_WORKERS, 0},
};

static const refused_function on_pools[] = {
    {"weft_job_pool_destroy", do_destroy, REFUSED_KINDS | REFUSED_LESS | REFUSED_WORKERS, 0},
    {"weft_job_graph_create", do_graph, REFUSED_KINDS | REFUSED_LESS | REFUSED_WORKERS, 0},
    {"weft_job_pool_enter", do_enter, REFUSED_KINDS | REFUSED_WORKERS, 0},
    {"weft_job_frame_end", do_frame, REFUSED_KINDS | REFUSED_LESS | REFUSED_WORKERS, 0},
};

static const refused_function on_grids[] = {
    {"weft_grid_create", do_grid, REFUSED_KINDS | REFUSED_LATER, 0},
    {"weft_grid_build", do_build, REFUSED_KINDS | REFUSED_WORKERS, 0},
};

static const refused_bed bed_of_pools = {.close = bed_close,
                                         .look = bed_look,
                                         .kinds = sort_names,
                                         .kind_count = SORTS,
                                         .fewest = 10,
                                         .is_small = true};

PLAIN_TEST(refused_pools_leave_nothing)
{
    refused_sweep_of(&bed_of_pools, "nothing", bed_open, REFUSED_LIST(on_nothing));
}

PLAIN_TEST(refused_calls_on_pools_leave_them_as_before)
{
    refused_sweep_of(&bed_of_pools, "a pool", pool_open, REFUSED_LIST(on_pools));
}

PLAIN_TEST(refused_grids_are_empty)
{
    refused_bed swept = bed_of_pools;
    swept.kinds = box_names;
    swept.kind_count = 4;
    refused_sweep_of(&swept, "a grid", grid_open, REFUSED_LIST(on_grids));
}
