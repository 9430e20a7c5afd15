/* SPDX-License-Identifier: MIT */
/* simulate_costs.c: reads a recording (.slices, see jobs/src/trace/trace_slices.c) or makes an
 * artificial one. Lines are untrusted: what does not fit is an error with its line number. */
#include "simulate.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_MAX (UINT32_C(1) << 27)

static bool grow(void **array, uint32_t *room, uint32_t count, size_t size)
{
    if (count < *room) return true;
    if (count >= COUNT_MAX) return false;
    uint32_t more = *room == 0 ? 64 : 2 * *room;
    void *larger = realloc(*array, more * size);
    if (larger == NULL) return false;
    *array = larger;
    *room = more;
    return true;
}

static bool add_item(sim_costs *c, uint32_t ns, uint32_t bytes)
{
    if (!grow((void **)&c->items, &c->item_room, c->item_count, sizeof *c->items)) return false;
    c->items[c->item_count++] = (sim_item){ns, bytes};
    return true;
}

static bool add_stage(sim_costs *c, uint64_t serial_ns, uint32_t number)
{
    if (!grow((void **)&c->stages, &c->stage_room, c->stage_count, sizeof *c->stages)) return false;
    c->stages[c->stage_count++] =
        (sim_stage){.serial_ns = serial_ns, .number = number, .first = c->item_count};
    if (number >= c->number_end) c->number_end = number + 1;
    return true;
}

/* Ends the last frame, if any, and begins the next. */
static bool add_frame(sim_costs *c)
{
    if (!grow((void **)&c->frame_first, &c->frame_room, c->frame_count + 1, sizeof(uint32_t)))
        return false;
    c->frame_first[c->frame_count++] = c->stage_count;
    c->frame_first[c->frame_count] = c->stage_count;
    return true;
}

/* Where the reader is. Owner: sim_costs_read, on its stack. */
typedef struct reader {
    sim_costs *costs;
    uint32_t depth; /* 0 outside, 1 in a frame, 2 in a stage, 3 in a slice */
    bool is_serial; /* in depth 3: not a slice, the owner's own system */
    uint64_t last_ns;
    uint64_t serial_ns; /* not yet given to a stage */
} reader;

static const char *begin_span(reader *r, const char *name, uint64_t ns, uint32_t value)
{
    static const char *const names[] = {"frame", "stage", "slice"};
    bool is_serial = strcmp(name, "serial") == 0;
    if (r->depth >= 3 || (strcmp(name, names[r->depth]) != 0 && !(is_serial && r->depth == 2)))
        return "a span out of place";
    bool is_kept = true;
    if (r->depth == 0) {
        is_kept = add_frame(r->costs);
        r->serial_ns = 0;
    } else if (r->depth == 1) {
        if (value >= 65536) return "a stage with an impossible number";
        is_kept = add_stage(r->costs, r->serial_ns + (ns - r->last_ns), value);
        r->serial_ns = 0;
    } else if (!is_serial) {
        is_kept = add_item(r->costs, 0, value);
    }
    r->is_serial = is_serial;
    r->depth++;
    return is_kept ? NULL : "out of memory";
}

static const char *end_span(reader *r, const char *name, uint64_t ns)
{
    static const char *const names[] = {"", "frame", "stage", "slice"};
    sim_costs *c = r->costs;
    uint64_t passed = ns - r->last_ns;
    if (r->depth == 0 || strcmp(name, r->is_serial ? "serial" : names[r->depth]) != 0)
        return "an end out of place";
    if (r->depth == 3 && r->is_serial) r->serial_ns += passed;
    if (r->depth == 3 && !r->is_serial) {
        c->items[c->item_count - 1].ns = passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
        c->stages[c->stage_count - 1].count++;
    }
    if (r->depth == 1) {
        if (!add_stage(c, r->serial_ns + passed, 0)) return "out of memory";
        c->frame_first[c->frame_count] = c->stage_count;
    }
    r->is_serial = false;
    r->depth--;
    return NULL;
}

/* "N TEXT". */
static bool read_title(sim_costs *c, const char *text)
{
    unsigned number;
    int at = 0;
    if (sscanf(text, "%u %n", &number, &at) != 1 || at == 0 || number >= 65536) return false;
    while (c->title_room <= number) {
        uint32_t old = c->title_room;
        if (!grow((void **)&c->titles, &c->title_room, c->title_room, sizeof *c->titles))
            return false;
        memset(c->titles + old, 0, (c->title_room - old) * sizeof *c->titles);
    }
    snprintf(c->titles[number], SIM_TITLE_BYTES, "%.*s", (int)strcspn(text + at, "\n"), text + at);
    return true;
}

const char *sim_costs_title(const sim_costs *costs, uint32_t number)
{
    return number < costs->title_room ? costs->titles[number] : "";
}

const char *sim_costs_read(FILE *file, sim_costs *out, uint32_t *line)
{
    char text[256], what[16], name[16];
    unsigned long long ns;
    unsigned value;
    reader r = {.costs = out};
    *line = 1;
    *out = (sim_costs){0};
    if (fgets(text, sizeof text, file) == NULL || strcmp(text, "weft-slices 1\n") != 0)
        return "not a recording: make one with WEFT_TRACE=FILE.slices";
    while (fgets(text, sizeof text, file) != NULL) {
        ++*line;
        if (sscanf(text, "workers %u", &out->workers) == 1) continue;
        if (sscanf(text, "lost %llu", &ns) == 1) {
            out->lost = ns;
            continue;
        }
        if (strncmp(text, "title ", 6) == 0) {
            if (!read_title(out, text + 6)) return "a title that is none";
            continue;
        }
        if (sscanf(text, "%15s %15s %llu %u", what, name, &ns, &value) != 4)
            return "a line that is none";
        if (ns < r.last_ns) return "time goes back: record with one worker (--workers 1)";
        bool is_begin = strcmp(what, "begin") == 0;
        const char *problem = is_begin ? begin_span(&r, name, ns, value) : end_span(&r, name, ns);
        if (problem != NULL) return problem;
        r.last_ns = ns;
    }
    if (r.depth != 0) return "it ends inside of a frame";
    return out->frame_count == 0 ? "no frame in it" : NULL;
}

bool sim_costs_make(sim_costs *out, uint32_t frames, uint32_t count, uint32_t ns, uint32_t bytes)
{
    *out = (sim_costs){.workers = 1};
    for (uint32_t f = 0; f < frames; f++) {
        if (!add_frame(out) || !add_stage(out, 0, 0)) return false;
        for (uint32_t i = 0; i < count; i++)
            if (!add_item(out, ns, bytes)) return false;
        out->stages[out->stage_count - 1].count = count;
        out->frame_first[out->frame_count] = out->stage_count;
    }
    return true;
}

void sim_costs_free(sim_costs *costs)
{
    free(costs->items);
    free(costs->stages);
    free(costs->frame_first);
    free(costs->titles);
    *costs = (sim_costs){0};
}

uint64_t sim_costs_work(const sim_costs *costs)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < costs->stage_count; i++) ns += costs->stages[i].serial_ns;
    for (uint32_t i = 0; i < costs->item_count; i++) ns += costs->items[i].ns;
    return ns;
}

uint64_t sim_costs_span(const sim_costs *costs)
{
    uint64_t ns = 0;
    for (uint32_t s = 0; s < costs->stage_count; s++) {
        const sim_stage *stage = &costs->stages[s];
        uint32_t longest = 0;
        for (uint32_t i = 0; i < stage->count; i++)
            if (costs->items[stage->first + i].ns > longest)
                longest = costs->items[stage->first + i].ns;
        ns += stage->serial_ns + longest;
    }
    return ns;
}
