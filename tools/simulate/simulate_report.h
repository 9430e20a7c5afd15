/* SPDX-License-Identifier: MIT */
/* simulate_report.h: what `weft simulate` prints: a table for people, an object per line for
 * machines. Each line says that it is simulated. */
#ifndef WEFT_SIMULATE_REPORT_H
#define WEFT_SIMULATE_REPORT_H

#include "simulate.h"

/* The machine and the frame, before a table of results. `span_ns`: sim_costs_span. */
void sim_report_head(const sim_costs *costs, const sim_machine *machine, uint64_t span_ns);
/* `bound_ns`: no schedule makes a frame shorter on so many workers. */
void sim_report_result(const sim_result *result, double bound_ns, bool is_json);
/* What limits each stage, graph and task. False: out of memory. */
bool sim_report_limits(const sim_costs *costs, const sim_result *result, bool is_json);
/* `workers`: of each rank. */
void sim_report_network(const sim_network *network, uint32_t workers);
void sim_report_rank(const sim_rank_result *result, uint32_t workers, bool is_json);

#endif
