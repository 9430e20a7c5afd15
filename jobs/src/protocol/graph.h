/* SPDX-License-Identifier: MIT */
/* graph.h: static graphs: compiled once, run every frame without allocation.
 *
 * Compiling sorts the nodes by rank: the longest path from a node to an end, longest first. Rank
 * order is a topological order (so one worker can simply run the nodes in order) and it is
 * critical-path-first (so several workers claim the lowest ready number). Arrival counters are
 * never reset: in run e a node is ready when e * indegree predecessors have arrived, modulo
 * 2^32.
 *
 * A parallel run is an entry of the loop table (loop.h): workers join it, claim ready nodes from a
 * bitmap and go on with the first successor that their node made ready. The opener returns when all
 * nodes have run and all others have left.
 *
 *   who           arrive, publish, claim          open, wait
 *   participant   yes                             never
 *   opener        yes                             yes, one run at a time (x_running)
 *
 * Edges:
 *   G1  node: its writes, add of x_arrived (acq_rel) -> the add that completes the count, successor
 *   G2  publish: or of x_ready (release)             -> claim: and of x_ready (acquire)
 *   G3  publish: sc or of x_ready, load of open bits <-> hide: sc and of open bits, load of x_ready
 *   G4  publish: sc or of x_ready, load of x_left    <-> opener: or of WAITING, load of x_ready
 *   G5  run: CAS of x_running 0 -> 1                  -> end: release of x_running 0
 *   G6  publish of a node for the opener: sc or of x_ready, wake of worker 0, and end of the run:
 *       sc sub of x_left, wake of worker 0  <-> an opener that serves: its bit, then sc look (W1)
 * G3 loses no node (who published one claims it before it leaves): it sees to it that no worker
 * sleeps while a node is ready. Nodes that only the opener runs are claimed by no other worker:
 * that it gets them is G4, or G6 when it serves (an owner outside of jobs, which helps with
 * loops meanwhile). A participant that hid the graph and finds nodes shows it again and
 * notifies: workers may have looked in between. */
#pragma once

#include "cost.h"
#include "pile.h"

#define WEFT__GRAPH_NONE UINT32_MAX

/* Owner: who made it, and in the end the pool; the run's participants read it and touch the shared
 * fields. */
struct weft_job_graph {
    /* constant after create */
    weft_job_pool *pool;
    weft__pile pile; /* of all its arrays */
    uint32_t node_count;
    uint32_t edge_count;
    uint32_t longest;           /* nodes on the longest path */
    weft_job_graph_node *nodes; /* by rank */
    uint32_t *number;           /* [rank] the caller's node number */
    uint32_t *first;            /* [rank] first of its successors, and one more at the end */
    uint32_t *successors;       /* ranks, [edge_count] */
    uint32_t *indegree;         /* [rank] */
    uint64_t *on_caller;        /* bitmap by rank: nodes that only the opener claims */
    bool has_own;               /* on_caller has a bit */
    bool is_shared;             /* several workers, whatever the cost says */
    weft_job_graph *next;       /* list of the pool, under its lock */
    /* the run's opener only */
    uint32_t epoch; /* parallel runs so far */
    uint32_t run;   /* all runs so far, never 0 */
    weft__cost_state cost;
    /* shared atomic */
    weft_a32 *x_arrived;  /* [rank] */
    weft_a32 *x_poisoned; /* [rank] last run in which a predecessor failed */
    weft_a64 *x_ready;    /* bitmap by rank */
    _Alignas(64) weft_a32 x_running;
};

static inline uint32_t weft__graph_word_count(const weft_job_graph *graph)
{
    return (graph->node_count + 63) / 64;
}

/* Claims the ready node of the lowest rank, or NONE: the opener those that only it runs first, the
 * others none of them. */
uint32_t weft__graph_claim(weft_job_graph *graph, bool is_opener);
/* Claims a ready node that only the opener runs, or NONE. Opener. */
uint32_t weft__graph_claim_own(weft_job_graph *graph);
/* Whether a claim could succeed; sequentially consistent (G3, G4). */
bool weft__graph_has_ready(weft_job_graph *graph, bool is_opener);
static inline bool weft__graph_is_on_caller(const weft_job_graph *graph, uint32_t node)
{
    return (graph->on_caller[node / 64] >> node % 64 & 1) != 0;
}
/* Puts nodes of one word of the bitmap up for claiming. */
void weft__graph_publish(weft_job_graph *graph, uint32_t word, uint64_t mask);
/* Tells `node` that a predecessor has ended: true when it was the last. */
bool weft__graph_arrive(weft_job_graph *graph, uint32_t node);
/* Starts a parallel run of which the nodes below `done` have already run: counts their arrivals and
 * publishes what is ready. Before the entry is opened. */
void weft__graph_begin(weft_job_graph *graph, uint32_t done);
