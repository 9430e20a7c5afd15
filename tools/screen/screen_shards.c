/* SPDX-License-Identifier: MIT */
/* screen_shards.c: what ranks tell each other before and after they screen their parts.
 */
#include "screen_shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_ranks.h"
#include "screen_world.h"

/* Objects that come lower than this may end within days. */
static const double low_perigee_km = 300.0;

static int fail(const struct screen_options *o, weft_result result)
{
    const char *text = o->ranks->error()->text;
    return weft_cli_fail("screen", "%s", text[0] ? text : weft_result_text(result));
}

/* The status of this rank, or a failure where another one failed. */
static int agree(const struct screen_options *o, int status)
{
    const weft_result mine = status == WEFT_CLI_OK ? WEFT_OK : WEFT_IO;
    const weft_result all = o->ranks->agree(mine);
    if (status != WEFT_CLI_OK || all == WEFT_OK) return status;
    return WEFT_CLI_FAILED; /* the rank that failed has said why */
}

static int broadcast(const struct screen_options *o, void *bytes, uint64_t count)
{
    const weft_result result = o->ranks->broadcast(bytes, count);
    return result == WEFT_OK ? WEFT_CLI_OK : fail(o, result);
}

/* ---- begin ---- */

/* What rank 0 read, but the objects. */
struct front {
    struct tle_catalogue catalogue;
    struct approach_window window;
    uint32_t stale_count;
    int32_t status;
};

static int take_objects(const struct screen_options *o, struct screen_result *r)
{
    const size_t bytes = r->catalogue.count * sizeof *r->catalogue.objects;
    if (o->ranks->rank != 0) r->catalogue.objects = malloc(bytes);
    int status = r->catalogue.objects ? WEFT_CLI_OK : weft_cli_fail("screen", "out of memory");
    status = agree(o, status);
    return status == WEFT_CLI_OK ? broadcast(o, r->catalogue.objects, bytes) : status;
}

/* Batches [rank * all / ranks, (rank + 1) * all / ranks). */
static void set_part(const struct screen_options *o, struct screen_result *r)
{
    const uint32_t steps = screen_batch_steps(r->catalogue.count), all = r->window.step_count;
    const uint64_t batches = (all + (uint64_t)steps - 1) / steps;
    const uint64_t first = batches * o->ranks->rank / o->ranks->count * steps;
    const uint64_t end = batches * (o->ranks->rank + 1u) / o->ranks->count * steps;
    r->first_step = (uint32_t)(first < all ? first : all);
    r->end_step = (uint32_t)(end < all ? end : all);
}

int screen_shards_begin(const struct screen_options *o, int status, struct screen_result *r)
{
    struct front front = {
        .catalogue = r->catalogue,
        .window = r->window,
        .stale_count = r->stale_count,
        .status = status,
    };
    const int sent = broadcast(o, &front, sizeof front);
    if (sent != WEFT_CLI_OK || front.status != WEFT_CLI_OK)
        return sent != WEFT_CLI_OK ? sent : front.status;
    if (o->ranks->rank != 0) {
        r->catalogue = front.catalogue;
        r->catalogue.objects = NULL;
        r->catalogue.capacity = r->catalogue.count;
        r->window = front.window;
        r->stale_count = front.stale_count;
    }
    status = take_objects(o, r);
    if (status != WEFT_CLI_OK) return status;
    set_part(o, r);
    r->is_gone = calloc((size_t)r->catalogue.count + 1, 1);
    return agree(o, r->is_gone ? WEFT_CLI_OK : weft_cli_fail("screen", "out of memory"));
}

/* ---- objects that end ---- */

static bool is_low(const struct sgp4_elements *e)
{
    const double n = e->mean_motion / 60.0, axis = cbrt(398600.8 / (n * n)); /* rad/s, km */
    return axis * (1.0 - e->eccentricity) < 6378.135 + low_perigee_km;
}

/* Low near-earth objects, ready to be propagated. `objects` are their places in the catalogue. */
struct low_rows {
    struct sgp4_near *rows;
    struct ephemeris_fate *fates;
    uint32_t *objects;
    uint32_t count;
};

static int low_rows_init(struct low_rows *low, const struct screen_result *r)
{
    const uint32_t all = r->catalogue.count;
    *low = (struct low_rows){.rows = calloc((size_t)all + 1, sizeof *low->rows)};
    low->fates = calloc((size_t)all + 1, sizeof *low->fates);
    low->objects = calloc((size_t)all + 1, sizeof *low->objects);
    if (!low->rows || !low->fates || !low->objects) return -1;
    for (uint32_t i = 0; i < all; i++) {
        const struct sgp4_elements *e = &r->catalogue.objects[i].elements;
        if (sgp4_is_deep(e) || !is_low(e)) continue;
        sgp4_near_init(e, &low->rows[low->count]);
        low->objects[low->count++] = i;
    }
    return 0;
}

static void low_rows_fini(struct low_rows *low)
{
    free(low->rows);
    free(low->fates);
    free(low->objects);
}

static int look_ahead(struct screen_result *r, struct low_rows *low)
{
    struct ephemeris e;
    const uint32_t steps = 64;
    if (ephemeris_init(&e, steps, low->count)) return -1;
    e.kernels = sgp4_kernels_best();
    e.sky_kernels = sky_kernels_best();
    e.window = &r->window;
    for (uint32_t step = 0; step < r->first_step; step += steps) {
        const uint32_t left = r->first_step - step;
        e.first_step = step;
        e.step_count = left < steps ? left : steps;
        ephemeris_near(&e, low->rows, low->count, 0, low->fates);
        for (uint32_t i = 0; i < low->count; i++)
            if (low->fates[i].error != 0) r->is_gone[low->objects[i]] = 1;
    }
    ephemeris_fini(&e);
    return 0;
}

int screen_shards_look_ahead(const struct screen_options *o, struct screen_result *r)
{
    struct low_rows low;
    const bool is_whole = low_rows_init(&low, r) == 0 && look_ahead(r, &low) == 0;
    low_rows_fini(&low);
    return agree(o, is_whole ? WEFT_CLI_OK : weft_cli_fail("screen", "out of memory"));
}

/* All losses of all ranks, in the order of ranks, on all ranks. */
static int share_losses(const struct screen_options *o, const struct screen_result *r,
                        struct screen_loss **out, uint64_t *count)
{
    void *bytes = NULL;
    const weft_result result =
        o->ranks->gather(r->losses, r->loss_count * sizeof *r->losses, &bytes, count);
    if (result != WEFT_OK) return fail(o, result);
    int status = broadcast(o, count, sizeof *count);
    if (status == WEFT_CLI_OK && o->ranks->rank != 0) {
        bytes = malloc(*count + 1);
        if (!bytes) status = weft_cli_fail("screen", "out of memory");
    }
    status = agree(o, status);
    if (status == WEFT_CLI_OK) status = broadcast(o, bytes, *count);
    *count /= sizeof **out;
    *out = bytes;
    return status;
}

int screen_shards_settle(const struct screen_options *o, int status, struct screen_result *r,
                         bool *again)
{
    struct screen_loss *losses = NULL;
    uint64_t count = 0;
    *again = false;
    status = agree(o, status);
    if (status == WEFT_CLI_OK) status = share_losses(o, r, &losses, &count);
    for (uint64_t i = 0; status == WEFT_CLI_OK && i < count; i++) {
        if (losses[i].step >= r->first_step || r->is_gone[losses[i].object]) continue;
        r->is_gone[losses[i].object] = 1;
        *again = r->first_step < r->end_step;
    }
    free(losses);
    return status;
}

/* ---- join ---- */

static int gather(const struct screen_options *o, const void *mine, size_t size, uint64_t count,
                  void **out, uint64_t *out_count)
{
    const weft_result result = o->ranks->gather(mine, count * size, out, out_count);
    *out_count /= size;
    return result == WEFT_OK ? WEFT_CLI_OK : fail(o, result);
}

static int join_counts(const struct screen_options *o, struct screen_result *r)
{
    void *bytes = NULL;
    uint64_t count;
    const int status = gather(o, &r->counts, sizeof r->counts, 1, &bytes, &count);
    const struct screen_counts *all = bytes;
    for (uint64_t i = 1; status == WEFT_CLI_OK && o->ranks->rank == 0 && i < count; i++) {
        r->counts.states += all[i].states;
        r->counts.propagations += all[i].propagations;
        r->counts.pairs_compared += all[i].pairs_compared;
        r->counts.suspects += all[i].suspects;
        r->counts.workers += all[i].workers;
        r->counts.screen_s = fmax(r->counts.screen_s, all[i].screen_s);
    }
    free(bytes);
    return status;
}

int screen_shards_join(const struct screen_options *o, int status, struct screen_result *r)
{
    void *approaches = NULL, *losses = NULL;
    uint64_t approach_count = 0, loss_count = 0;
    status = agree(o, status);
    if (status == WEFT_CLI_OK)
        status = gather(o, r->approaches, sizeof *r->approaches, r->approach_count, &approaches,
                        &approach_count);
    if (status == WEFT_CLI_OK)
        status = gather(o, r->losses, sizeof *r->losses, r->loss_count, &losses, &loss_count);
    if (status == WEFT_CLI_OK) status = join_counts(o, r);
    if (status == WEFT_CLI_OK && o->ranks->rank == 0) {
        free(r->approaches);
        free(r->losses);
        r->approaches = approaches;
        r->approach_count = (uint32_t)approach_count;
        r->losses = losses;
        r->loss_count = (uint32_t)loss_count;
        approaches = losses = NULL;
        screen_result_sort(r);
    }
    free(approaches);
    free(losses);
    return status;
}
