/* SPDX-License-Identifier: MIT */
/* simulate_report.c: the lines of `weft simulate` (simulate_report.h). Tables have 80 columns;
 * of the tasks of a graph those that take longest are shown, and all
 * of them in JSON. */
#include "simulate_report.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { NAME_WIDTH = 21, TASKS_SHOWN = 12 };

void sim_report_head(const sim_costs *c, const sim_machine *m, uint64_t span_ns)
{
    double frames = c->frame_count;
    printf("simulated machine: transfer %g ns, wake %g ns, bandwidth %g GB/s%s\n", m->transfer_ns,
           m->wake_ns, m->bandwidth / 1000, m->bandwidth > 0 ? "" : " (0: unlimited)");
    printf("simulated frame: work %.2f us, shortest possible %.2f us, mean of %u\n",
           (double)sim_costs_work(c) / 1000 / frames, (double)span_ns / 1000 / frames,
           c->frame_count);
    printf("%-9s %7s %11s %9s %7s %9s %8s %8s\n", "kind", "workers", "frame us", "speed-up",
           "in use", "of bound", "steals", "wakes");
}

static void print_json(const sim_result *r, double bound_ns)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "kind", "simulated");
    weft_json_count(&json, "workers", r->workers);
    weft_json_number(&json, "frame_us", r->frame_ns / 1000);
    weft_json_number(&json, "bound_us", bound_ns / 1000);
    weft_json_number(&json, "speedup", r->speedup);
    weft_json_number(&json, "utilisation", r->utilisation);
    weft_json_number(&json, "steals_per_frame", r->stolen);
    weft_json_number(&json, "parks_per_frame", r->parked);
    weft_json_number(&json, "wakes_per_frame", r->wakes);
    weft_json_end(&json);
}

void sim_report_result(const sim_result *r, double bound_ns, bool is_json)
{
    if (is_json) {
        print_json(r, bound_ns);
        return;
    }
    printf("simulated %7u %11.2f %9.2f %6.1f%% %8.1f%% %8.1f %8.1f\n", r->workers,
           r->frame_ns / 1000, r->speedup, 100 * r->utilisation, 100 * bound_ns / r->frame_ns,
           r->stolen, r->wakes);
}

/* ---- what limits the speed-up */

static void name_row(const sim_costs *costs, const sim_row *row, char name[SIM_TITLE_BYTES])
{
    const char *title = "(owner)";
    name[0] = '\0';
    if (row->kind == SIM_ROW_STAGE) title = sim_costs_title(costs, row->number);
    if (row->kind == SIM_ROW_TASK) title = costs->nodes[row->number].title;
    if (row->kind == SIM_ROW_GRAPH)
        snprintf(name, SIM_TITLE_BYTES, "graph %u of %u tasks", costs->graphs[row->number].number,
                 costs->graphs[row->number].node_count);
    else if (title[0] == '\0')
        snprintf(name, SIM_TITLE_BYTES, "stage %u", row->number);
    else
        snprintf(name, SIM_TITLE_BYTES, "%s", title);
}

static void print_limit_json(const sim_costs *costs, const sim_row *row, uint32_t workers)
{
    static const char *const kinds[] = {[SIM_ROW_STAGE] = "stage",
                                        [SIM_ROW_GRAPH] = "graph",
                                        [SIM_ROW_TASK] = "task",
                                        [SIM_ROW_OWNER] = "stage"};
    char name[SIM_TITLE_BYTES];
    name_row(costs, row, name);
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "kind", "simulated limit");
    weft_json_count(&json, "workers", workers);
    weft_json_text(&json, kinds[row->kind],
                   row->kind == SIM_ROW_STAGE ? sim_costs_title(costs, row->number) : name);
    if (row->kind == SIM_ROW_STAGE) weft_json_count(&json, "number", row->number);
    weft_json_number(&json, "work_us", row->work_us);
    weft_json_number(&json, "frame_us", row->frame_us);
    weft_json_number(&json, "slices", row->slices);
    weft_json_number(&json, "longest_us", row->longest_us);
    weft_json_text(&json, "limit", sim_limit_text(row->limit));
    weft_json_end(&json);
}

static void print_limit(const sim_costs *costs, const sim_row *row, double frame_us)
{
    char name[SIM_TITLE_BYTES], shown[NAME_WIDTH + 1];
    name_row(costs, row, name);
    int indent = row->kind == SIM_ROW_TASK ? 2 : 0, width = NAME_WIDTH - indent;
    if (strlen(name) > (size_t)width)
        snprintf(shown, sizeof shown, "%.*s...", width - 3, name);
    else
        snprintf(shown, sizeof shown, "%.*s", width, name);
    printf("%*s%-*s %8.1f %8.1f %3.0f%% %6.0f %7.1f %s\n", indent, "", width, shown, row->work_us,
           row->frame_us, 100 * row->frame_us / frame_us, row->slices, row->longest_us,
           sim_limit_text(row->limit));
}

/* The tasks of a graph that take longest; the others are counted. */
static void print_table(const sim_costs *costs, const sim_row *rows, uint32_t count,
                        double frame_us)
{
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < count; i++) {
        tasks = rows[i].kind == SIM_ROW_TASK ? tasks + 1 : 0;
        if (tasks <= TASKS_SHOWN) print_limit(costs, &rows[i], frame_us);
        bool is_last = i + 1 == count || rows[i + 1].kind != SIM_ROW_TASK;
        if (tasks > TASKS_SHOWN && is_last) printf("  and %u more\n", tasks - TASKS_SHOWN);
    }
}

bool sim_report_limits(const sim_costs *costs, const sim_result *result, bool is_json)
{
    uint32_t count;
    sim_row *rows = sim_limits_make(costs, result, &count);
    if (rows == NULL) return false;
    if (is_json) {
        for (uint32_t i = 0; i < count; i++) print_limit_json(costs, &rows[i], result->workers);
    } else {
        printf("\nwhat limits it on %u workers (simulated; us per frame)\n"
               "%-*s %8s %8s %4s %6s %7s %s\n",
               result->workers, NAME_WIDTH, "stage, graph or task", "1 worker", "now", "", "slices",
               "longest", "limit");
        print_table(costs, rows, count, result->frame_ns / 1000);
    }
    free(rows);
    return true;
}

/* ---- ranks */

void sim_report_rank(const sim_rank_result *r, uint32_t workers, bool is_json)
{
    const double efficiency = r->speedup / r->ranks;
    if (!is_json) {
        printf("simulated %7u %12.2f %9.2f %11.1f%% %8.1f%% %12.2f %8.1f%%\n", r->ranks,
               r->frame_ns / 1000, r->speedup, 100 * efficiency, 100 * r->border,
               r->exchange_ns / 1000, 100 * r->hidden);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "kind", "simulated ranks");
    weft_json_count(&json, "ranks", r->ranks);
    weft_json_count(&json, "workers", workers);
    weft_json_number(&json, "frame_us", r->frame_ns / 1000);
    weft_json_number(&json, "speedup", r->speedup);
    weft_json_number(&json, "efficiency", efficiency);
    weft_json_number(&json, "border", r->border);
    weft_json_number(&json, "exchange_us", r->exchange_ns / 1000);
    weft_json_number(&json, "hidden", r->hidden);
    weft_json_end(&json);
}

void sim_report_network(const sim_network *n, uint32_t workers)
{
    printf("simulated network: latency %g us, %g GB/s, reach %g of the side, imbalance %g, halo "
           "%.3g MB\n%s, %u worker%s each\n"
           "%-9s %7s %12s %9s %12s %9s %12s %9s\n",
           n->latency_ns / 1000, n->bandwidth / 1000, n->reach, n->imbalance, n->halo_bytes / 1e6,
           n->is_weak ? "each rank has the recorded world" : "the ranks share the recorded world",
           workers, workers == 1 ? "" : "s", "kind", "ranks", "frame us", "speed-up", "efficiency",
           "border", "exchange us", "hidden");
}
