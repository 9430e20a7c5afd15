/* SPDX-License-Identifier: MIT */
/* simulate_ranks.c: a frame on many ranks, by a law: interior sectors run while ghosts are under
 * way, sectors at the border after them. What one rank takes alone comes from the simulated
 * machine (simulate_run.c); this adds the network and the geometry.
 *
 *     T(P) = max(W_i, m a + B / b) + W_b + i W
 *
 * W: work of a rank on its workers, W_i + W_b; a, b: latency and bandwidth; m: neighbours, at most
 * 26; B: ghosts of a cube of side L seen to a reach h, ((1 + 2 h / L)^3 - 1) of its rows; W_b / W:
 * 1 - (1 - 2 h / L)^3, about 6 h / L; i: how much longer the slowest rank takes than the mean.
 */
#include "simulate.h"

#include <math.h>

double sim_costs_widest(const sim_costs *costs)
{
    double widest = 0;
    for (uint32_t s = 0; s < costs->stage_count; s++) {
        double bytes = 0;
        const sim_stage *stage = &costs->stages[s];
        for (uint32_t i = 0; i < stage->count; i++) bytes += costs->items[stage->first + i].bytes;
        widest = fmax(widest, bytes);
    }
    return widest;
}

void sim_ranks(const sim_network *network, double frame_ns, uint32_t ranks, sim_rank_result *out)
{
    const double part = network->is_weak ? 1.0 : 1.0 / ranks;
    const double reach = network->reach / cbrt(part); /* of a rank's side */
    const double inside = fmax(0.0, 1.0 - 2.0 * reach), outside = 1.0 + 2.0 * reach;
    const double work = frame_ns * part;
    const double messages = ranks - 1 < 26 ? ranks - 1 : 26;
    const double bytes = (pow(outside, 3) - 1.0) * network->halo_bytes * part;
    const double border = ranks == 1 ? 0.0 : 1.0 - pow(inside, 3);
    const double interior_ns = work * (1.0 - border);
    out->ranks = ranks;
    out->border = border;
    out->exchange_ns = ranks == 1 ? 0.0 : messages * network->latency_ns;
    if (ranks > 1 && network->bandwidth > 0)
        out->exchange_ns += bytes / network->bandwidth * 1000.0;
    out->hidden = out->exchange_ns > interior_ns ? interior_ns / out->exchange_ns : 1.0;
    out->frame_ns = fmax(interior_ns, out->exchange_ns) + work * border;
    if (ranks > 1) out->frame_ns += network->imbalance * work;
    out->speedup = (network->is_weak ? ranks : 1.0) * frame_ns / out->frame_ns;
}
