/* SPDX-License-Identifier: MIT */
/* graph.c: the same steps every frame: a graph, compiled once, run without allocation. */
#include <stdio.h>
#include <weft/jobs.h>

static int input, physics, sound, picture;

static int read_input(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    input++;
    return 0;
}

static int simulate(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    physics = input * 10;
    return 0;
}

static int mix(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    sound = input * 100;
    return 0;
}

static int draw(weft_job_context *job, void *argument)
{
    (void)job, (void)argument;
    picture = physics + sound;
    return 0;
}

int main(void)
{
    weft_job_pool *pool;
    weft_job_graph *graph;
    if (weft_job_pool_create(NULL, &pool) != WEFT_OK) return 1;
    const weft_job_graph_node nodes[] = {{.fn = read_input, .name = "input"},
                                         {.fn = simulate, .name = "physics"},
                                         {.fn = mix, .name = "sound"},
                                         {.fn = draw, .name = "draw"}};
    const uint32_t edges[][2] = {
        {0, 1}, {0, 2}, {1, 3}, {2, 3}}; /* physics and sound side by side */
    if (weft_job_graph_create(pool,
                              &(weft_job_graph_desc){
                                  .nodes = nodes, .node_count = 4, .edges = edges, .edge_count = 4},
                              &graph) != WEFT_OK)
        return 1;
    for (int frame = 0; frame < 3; frame++) {
        weft_job_graph_run(weft_job_pool_owner(pool), graph, NULL);
        printf("picture %d\n", picture);
    }
    weft_job_graph_destroy(graph);
    weft_job_pool_destroy(pool);
}

/* prints:
 * picture 110
 * picture 220
 * picture 330
 */
