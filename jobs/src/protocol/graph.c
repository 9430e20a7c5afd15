/* SPDX-License-Identifier: MIT */
/* graph.c: the protocol of graph.h: arriving, publishing, claiming. Compiling graphs is in
 * graph_compile.c, the workers' side in worker.c. */
#include "graph.h"
#include "bits.h"
#include "invariant.h"

/* The lowest ready node of one word that is among `allowed`; NONE. */
static uint32_t claim_in(weft_job_graph *graph, uint32_t word, uint64_t allowed)
{
    /* the load and the CAS each acquire: one would do, but a CAS that fails loads again */
    uint64_t ready = at_load_acq(&graph->x_ready[word]); /* G2 */
    while ((ready & allowed) != 0) {
        uint32_t lowest = bits_lowest(ready & allowed);
        uint64_t bit = UINT64_C(1) << lowest;
        if (at_cas_ar(&graph->x_ready[word], &ready, ready & ~bit)) /* G2 */
            return word * 64 + lowest;
        at_stall();
    }
    return WEFT__GRAPH_NONE;
}

uint32_t weft__graph_claim_own(weft_job_graph *graph)
{
    uint32_t node = WEFT__GRAPH_NONE;
    for (uint32_t word = 0; word < weft__graph_word_count(graph) && node == WEFT__GRAPH_NONE;
         word++)
        if (graph->on_caller[word] != 0) node = claim_in(graph, word, graph->on_caller[word]);
    return node;
}

uint32_t weft__graph_claim(weft_job_graph *graph, bool is_opener)
{
    uint32_t node = is_opener && graph->has_own ? weft__graph_claim_own(graph) : WEFT__GRAPH_NONE;
    for (uint32_t word = 0; word < weft__graph_word_count(graph) && node == WEFT__GRAPH_NONE;
         word++)
        node = claim_in(graph, word, ~graph->on_caller[word]);
    return node;
}

bool weft__graph_has_ready(weft_job_graph *graph, bool is_opener)
{
    for (uint32_t word = 0; word < weft__graph_word_count(graph); word++) {
        /* among nodes for all, a miss would cost a helper, not a node: see wake_opener in
         * worker.c */
        uint64_t ready = at_load_sc(&graph->x_ready[word]); /* G3, G4, G6 */
        if ((is_opener ? ready : ready & ~graph->on_caller[word]) != 0) return true;
    }
    return false;
}

void weft__graph_publish(weft_job_graph *graph, uint32_t word, uint64_t mask)
{
    /* acq_rel would do for G2; sc for the helpers, as in has_ready */
    uint64_t old = at_or_sc(&graph->x_ready[word], mask); /* G2, G3, G4 */
    WEFT_ASSERT((old & mask) == 0);
    (void)old;
}

bool weft__graph_arrive(weft_job_graph *graph, uint32_t node)
{
    uint32_t indegree = graph->indegree[node];
    if (indegree == 1) return true;
    return at_add_ar(&graph->x_arrived[node], 1u) + 1 == graph->epoch * indegree; /* G1 */
}

void weft__graph_begin(weft_job_graph *graph, uint32_t done)
{
    graph->epoch++;
    for (uint32_t node = 0; node < done; node++)
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            uint32_t successor = graph->successors[i];
            if (graph->indegree[successor] == 1 && successor >= done)
                weft__graph_publish(graph, successor / 64, UINT64_C(1) << (successor % 64));
            if (graph->indegree[successor] == 1) continue;
            bool is_ready = weft__graph_arrive(graph, successor);
            if (is_ready && successor >= done)
                weft__graph_publish(graph, successor / 64, UINT64_C(1) << (successor % 64));
        }
    for (uint32_t node = done; node < graph->node_count; node++)
        if (graph->indegree[node] == 0)
            weft__graph_publish(graph, node / 64, UINT64_C(1) << (node % 64));
}
