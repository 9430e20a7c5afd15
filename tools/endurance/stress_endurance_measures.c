/* SPDX-License-Identifier: MIT */
/* stress_endurance_measures.c: what the process and the main world have, and the bounds: the
 * mean of each tenth of the run is within 5 % of the mean of the second one, or within a slack.
 *
 * Figures are taken between epochs, when no guest and no request of the stream is there, so that
 * they mean the same each time. For the same reason malloc first gives back the pages that hold
 * nothing: how many it keeps depends on the order in which guests came and went. The slacks: 4
 * descriptors, for the page has one or two sockets, each with its other end in this process; 2 MiB
 * of chunks, two megachunks, which stay while one chunk is in them; 64 KiB of lists, which grow by
 * doubling. A count that is drawn may be four standard deviations away. */
#include "endurance.h"

#include "json.h"

#include "registry.h"
#include "stress_report.h"

#include <dirent.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <weft/stream.h>

#define PART 0.05

/* Entries of a folder of /proc. */
static double entries(const char *path)
{
    uint32_t count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL) return -1;
    for (const struct dirent *d; (d = readdir(folder)) != NULL;) count += d->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void put_drawn(endurance_table *table, uint32_t *at, const char *name, double value,
                      double slack, bool is_drawn)
{
    endurance_figure *f = &table->figures[(*at)++];
    f->name = name;
    f->slack = slack;
    f->is_drawn = is_drawn;
    f->sum += value;
    f->squares += value * value;
}

static void put(endurance_table *table, uint32_t *at, const char *name, double value, double slack)
{
    put_drawn(table, at, name, value, slack, false);
}

static void put_count(endurance_table *table, uint32_t *at, const char *name, double value)
{
    put_drawn(table, at, name, value, 8, true);
}

void endurance_tenth_end(endurance_table *table)
{
    if (table->samples == 0) return;
    for (uint32_t i = 0; i < table->count; i++) {
        endurance_figure *f = &table->figures[i];
        const double mean = f->sum / table->samples;
        f->means[table->tenths] = mean;
        f->spread += f->squares - mean * f->sum;
        f->sum = f->squares = 0;
    }
    table->all += table->samples;
    if (table->tenths == 0 || table->samples < table->fewest) table->fewest = table->samples;
    table->samples = 0;
    table->tenths++;
}

static void measure_process(endurance_table *t, uint32_t *at)
{
#if defined(__GLIBC__)
    malloc_trim(0);
    const struct mallinfo2 heap = mallinfo2();
    put(t, at, "KiB in use by malloc", (double)(heap.uordblks + heap.hblkhd) / 1024, 0);
#endif
    put(t, at, "resident KiB", (double)weft_stress_memory() / 1024, 0);
    put(t, at, "descriptors", entries("/proc/self/fd"), 4);
    put(t, at, "threads", entries("/proc/self/task"), 0);
}

static void measure_bytes(endurance_table *t, uint32_t *at, const weft_world_stats *s)
{
    put(t, at, "KiB of entities", (double)s->bytes_entities / 1024, 64);
    put(t, at, "KiB of chunks", (double)s->bytes_chunks / 1024, 2048);
    put(t, at, "KiB of metadata", (double)s->bytes_metadata / 1024, 64);
    put(t, at, "KiB of types", (double)s->bytes_types / 1024, 16);
    put(t, at, "KiB of queries", (double)s->bytes_queries / 1024, 64);
    put(t, at, "KiB of shared values", (double)s->bytes_shared / 1024, 16);
    put(t, at, "KiB of buffers", (double)s->bytes_buffers / 1024, 64);
    put(t, at, "KiB of commands", (double)s->bytes_commands / 1024, 64);
    put(t, at, "KiB of systems", (double)s->bytes_systems / 1024, 64);
    put(t, at, "KiB of other", (double)s->bytes_other / 1024, 64);
    put(t, at, "KiB of blobs", (double)s->bytes_blobs / 1024, 16);
}

void endurance_measure(const endurance *e, endurance_table *table)
{
    weft_world_stats s;
    weft_blob_store_stats blobs = {0};
    weft_relation_stats parents = {0};
    weft_stream_stats streams = {0};
    uint32_t at = 0;
    weft_world_stats_get(e->world, &s, sizeof s);
    weft_blob_store_stats_get(weft_world_blobs(e->world), &blobs, sizeof blobs);
    weft_relation_stats_get(e->world, e->kinds.parent, &parents, sizeof parents);
    weft_stream_stats_get(e->world, &streams, sizeof streams);
    measure_process(table, &at);
    put_count(table, &at, "entities", (double)s.entities);
    put(table, &at, "archetypes", (double)s.archetypes, 8);
    put(table, &at, "chunks", (double)s.chunks, 16);
    put(table, &at, "component types", (double)s.component_types, 0);
    put(table, &at, "queries", (double)s.queries, 0);
    put_count(table, &at, "names", weft_entity_search(e->world, "", NULL, 0));
    put(table, &at, "groups of systems", weft__scheduler_of(e->world)->group_count, 0);
    put(table, &at, "systems", weft_system_list(e->world, NULL, 0), 0);
    put(table, &at, "shared values", weft_shared_values(e->world, e->kinds.share, NULL, 0), 8);
    put_count(table, &at, "children", (double)parents.sources);
    put(table, &at, "blobs", (double)blobs.blob_count, 0);
    measure_bytes(table, &at, &s);
    table->count = at;
    table->samples++;
}

/* The farthest that the mean of a tenth may be from that of the first one with samples. What is
 * drawn: four standard deviations of the difference of two such means, of the fewest samples. */
static double bound(const endurance_table *table, const endurance_figure *f)
{
    double slack = f->slack;
    if (f->is_drawn && table->all > table->tenths) {
        const double variance = f->spread / (table->all - table->tenths);
        slack += 4 * sqrt(2 * variance / table->fewest);
    }
    return fmax(slack, PART * f->means[0]);
}

/* Least and most of the means. */
static void range(const endurance_table *table, const endurance_figure *f, double *least,
                  double *most)
{
    *least = *most = f->means[0];
    for (uint32_t i = 1; i < table->tenths; i++) {
        *least = fmin(*least, f->means[i]);
        *most = fmax(*most, f->means[i]);
    }
}

static bool is_within(const endurance_table *table, const endurance_figure *f)
{
    double least, most;
    range(table, f, &least, &most);
    return f->means[0] - least <= bound(table, f) && most - f->means[0] <= bound(table, f);
}

static void print_json(const endurance_table *table, const endurance_figure *f)
{
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "figure", f->name);
    weft_json_numbers(&json, "tenths", f->means, table->tenths);
    weft_json_number(&json, "allowed", bound(table, f));
    weft_json_bool(&json, "within", is_within(table, f));
    weft_json_end(&json);
}

static void print_line(const endurance_table *table, const endurance_figure *f)
{
    double least, most;
    range(table, f, &least, &most);
    printf("%-20s %12.0f", f->name, f->means[0]);
    if (table->tenths > 1)
        printf(" %9.0f %9.0f %9.0f %4s%5.0f", least, most, f->means[table->tenths - 1], "+-",
               bound(table, f));
    putchar('\n');
}

void endurance_table_print(const endurance *e, const endurance_table *table)
{
    if (table->tenths == 0) return;
    if (!e->is_json && table->tenths > 1)
        printf("%-20s %12s %9s %9s %9s %9s\n", "means", "second tenth", "least", "most", "last",
               "allowed");
    for (uint32_t i = 0; i < table->count; i++) {
        if (e->is_json) {
            print_json(table, &table->figures[i]);
        } else {
            print_line(table, &table->figures[i]);
        }
    }
    fflush(stdout);
}

void endurance_table_judge(endurance *e, const endurance_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const endurance_figure *f = &table->figures[i];
        double least, most;
        range(table, f, &least, &most);
        if (!is_within(table, f))
            endurance_fail(e,
                           "%s: %.0f in the second tenth, %.0f to %.0f since: more than %.0f away",
                           f->name, f->means[0], least, most, bound(table, f));
    }
}
