/* SPDX-License-Identifier: MIT */
/* screen.h: the job of `weft screen`: what goes in, what comes out, and its stages.
 *
 *   read the catalogue (tle.h) -> over ranks: take a part of the window (screen_shards.h) -> make
 *   the world (screen_world.h) -> step it, one batch of time steps per frame (screen_systems.c) ->
 *   collect the approaches -> check some steps by brute force (screen_check.c) -> pairs at the
 *   ends of the window (screen_edges.c) -> what was asked for (screen_filter.c) -> files
 *   (screen_files.c, screen_page.c) and the summary (screen_report.c, screen_json.c)
 *
 * docs/reference/screen.md defines the result; this is also the example of how a program embeds
 * weft.
 */
#ifndef WEFT_SCREEN_SCREEN_H
#define WEFT_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "approach.h"
#include "constellation.h"
#include "tle.h"

/* Elements older than this are told of: places are off by tens of kilometres by then. */
#define SCREEN_STALE_DAYS 7.0

/* What the command line asks for. Text belongs to the caller. */
struct screen_options {
    const char *path;
    bool is_scene;   /* `path` is a world file that `weft bake` made */
    const char *out; /* directory; NULL: write no file */
    double hours, step_s, threshold_km;
    double max_age_days; /* elements farther from the window are left out */
    bool has_start;
    struct moment start;
    uint32_t workers;
    uint32_t verify; /* steps to check by brute force */
    uint64_t seed;   /* which steps */
    /* what of the result is told (screen_filter.h); NULL, 0: no limit */
    const char *objects, *group, *without_group;
    double max_km;
    uint32_t top;  /* pairs in tables */
    bool is_top;   /* asked for: --json writes these only */
    bool has_page; /* index.html in `out`, too */
    bool is_strict, is_json, is_quiet;
    const struct weft_cli_ranks *ranks; /* NULL: this process alone; cli_ranks.h */
};

/* A reported approach: a component, and a line of the result. Objects are places in the catalogue,
 * which is sorted by number: a < b in both. */
struct screen_approach {
    double tca_s; /* from the start of the window */
    double miss_km;
    double vrel_km_s;
    uint32_t object_a, object_b;
    uint32_t step;
    uint32_t padding; /* always 0: components are hashed byte by byte */
};

/* An object that ended in the window: below ground, or elements that make no sense any more. */
struct screen_loss {
    uint32_t object;
    uint32_t step;  /* the first without a valid state */
    uint32_t error; /* enum sgp4_error */
};

/* A pair within the threshold all the time; distances at the begins of steps. */
struct screen_together {
    uint32_t object_a, object_b;
    double nearest_km, farthest_km;
};

/* A pair within the threshold at an end of the window, with its minimum beyond. */
struct screen_edge {
    uint32_t object_a, object_b;
    bool is_start;                 /* of the window; else its end */
    double distance_km, vrel_km_s; /* there */
};

struct screen_filter;

/* Work done, for the summary. */
struct screen_counts {
    uint64_t states, propagations, pairs_compared,
        suspects;                     /* propagations: states that are not interpolated */
    double load_s, screen_s, check_s; /* wall time */
    uint32_t workers;                 /* threads that were used */
    const char *kernels;              /* the build of the kernels */
};

/* What the brute force found. */
struct screen_check {
    uint32_t steps;
    uint64_t pairs;             /* compared by brute force */
    uint32_t expected, matched; /* approaches of these steps; brute force; equal in both */
    uint32_t found;             /* by the search */
    bool is_identical;
};

/* Everything a run leaves. Owns its arrays. */
struct screen_result {
    struct tle_catalogue catalogue;
    struct constellations groups;
    uint32_t near_count, deep_count;
    uint32_t stale_count; /* left out: their elements are too far from the window */
    struct approach_window window;
    struct screen_approach *approaches; /* by time, then by numbers */
    uint32_t approach_count;
    struct screen_loss *losses;
    uint32_t loss_count;
    struct screen_together *togethers; /* screen_edges.h */
    uint32_t together_count;
    struct screen_edge *edges;
    uint32_t edge_count;
    uint32_t hidden_count;              /* approaches that the filter left out */
    const struct screen_filter *filter; /* with --json: approaches are printed as they are found */
    struct screen_counts counts;
    struct screen_check check;
    uint32_t first_step, end_step; /* what this process screens */
    uint8_t *is_gone; /* [objects] or NULL: ended before first_step; they take part in nothing */
};

/* Runs the whole job, file and summary included. Returns the exit status of the command; what is
 * wrong was said on stderr. Threads: the caller's becomes worker 0 of a world that lives during the
 * call. */
int screen_run(const struct screen_options *options);

/* The parts of it. They return WEFT_CLI_OK or the exit status after saying what is wrong;
 * screen_result_fini in any case. screen_load reads the catalogue and sets the window;
 * screen_search makes a world, steps it through the window and, if asked, checks by brute force. */
int screen_load(const struct screen_options *options, struct screen_result *result);
int screen_search(const struct screen_options *options, struct screen_result *result);
void screen_result_fini(struct screen_result *result);

/* The shipped catalogue: in the source tree, beside an installed program, or above a build folder.
 * `path` is returned when one of the last two can be read. */
const char *screen_default_catalogue(char *path, size_t capacity);

/* Days from an object's epoch to a moment of the window, in seconds from its start; negative when
 * the epoch is later. */
double screen_age_days(const struct screen_result *result, uint32_t object, double seconds);

/* Puts approaches and losses into the order of the result. */
void screen_result_sort(struct screen_result *result);

#endif
