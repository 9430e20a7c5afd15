/* SPDX-License-Identifier: MIT */
/* shard_worlds.c: checkpoints of random worlds (random_world.h) from one number of ranks to
 * another; run_shard.py runs it.
 *
 *     shard_worlds save FIRST COUNT FOLDER     a checkpoint of each seed, and what it was
 *     shard_worlds load FIRST COUNT FOLDER     every one again, compared
 *
 * Entities begin on any rank and go where they belong, so references lead to other ranks. Half of
 * the loads have a later layout of the structs or another order of types: then their digest is
 * compared, else also weft_shard_hash. */
#include "check.h"
#include "random_world.h"
#include "ranks_leaks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool takes(uint32_t kind)
{
    const random_content content = random_content_of(kind);
    return random_storage_of(kind) != STORED_CHUNK && random_flag_of(kind) != FLAG_CLEANUP &&
           content != HOLDS_BLOB && content != HOLDS_TEXT;
}

/* What all ranks have. */
typedef struct figures {
    uint64_t hash[2], rows, digest;
} figures;

static void check(weft_result result, const char *what, uint64_t seed)
{
    if (result == WEFT_OK) return;
    fprintf(stderr, "rank %u, seed %" PRIu64 ": %s: %s: %s\n", weft_ranks_rank(), seed, what,
            weft_result_name(result), weft_ranks_error()->text);
    weft_ranks_abort(2);
}

static figures figures_of(random_world *w, uint64_t seed)
{
    figures f;
    random_digest digest = random_digest_make(w, takes, false);
    f.rows = digest.count;
    f.digest = random_digest_sum(&digest);
    random_digest_free(&digest);
    check(weft_shard_hash(w->shard, f.hash), "weft_shard_hash", seed);
    check(weft_ranks_sum(&f.rows, 2), "weft_ranks_sum", seed);
    return f;
}

static void one_save(uint64_t seed, const char *path, figures *f)
{
    random_world w;
    random_world_open(&w, &(random_world_desc){.has_shard = true});
    random_world_fill(&w, seed, takes);
    *f = figures_of(&w, seed);
    check(weft_shard_save(w.shard, path), "weft_shard_save", seed);
    random_world_close(&w);
}

static void one_load(uint64_t seed, const char *path, const figures *was)
{
    random_world w;
    const random_world_desc desc = {
        .has_shard = true, .is_grown = seed % 2 != 0, .order = seed % 4 > 1 ? seed : 0};
    random_world_open(&w, &desc);
    check(weft_shard_load(w.shard, path), "weft_shard_load", seed);
    const figures is = figures_of(&w, seed);
    const bool has_hash = !desc.is_grown && desc.order == 0;
    if (is.rows != was->rows || is.digest != was->digest ||
        (has_hash && memcmp(is.hash, was->hash, sizeof is.hash) != 0)) {
        fprintf(stderr,
                "seed %" PRIu64 ": %" PRIu64 " rows, digest %" PRIx64 ", hash %" PRIx64
                "; saved: %" PRIu64 ", %" PRIx64 ", %" PRIx64 "\n",
                seed, is.rows, is.digest, is.hash[0], was->rows, was->digest, was->hash[0]);
        weft_ranks_abort(3);
    }
    check(weft_world_validate(w.world), "weft_world_validate", seed);
    random_world_close(&w);
}

int main(int argc, char **argv)
{
    char path[4096];
    check(start_ranks(&argc, &argv), "weft_ranks_start", 0);
    if (argc != 5) weft_ranks_abort(1);
    const bool is_save = strcmp(argv[1], "save") == 0;
    const uint64_t first = strtoull(argv[2], NULL, 0), count = strtoull(argv[3], NULL, 0);
    figures *all = calloc(count + 1, sizeof *all);
    CHECK(all != NULL);
    snprintf(path, sizeof path, "%s/figures", argv[4]);
    if (!is_save) {
        FILE *file = fopen(path, "rb");
        CHECK(file != NULL && fread(all, sizeof *all, count, file) == count);
        fclose(file);
    }
    for (uint64_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%" PRIu64, argv[4], first + i);
        test_note_seed(first + i);
        if (is_save)
            one_save(first + i, path, &all[i]);
        else
            one_load(first + i, path, &all[i]);
    }
    snprintf(path, sizeof path, "%s/figures", argv[4]);
    if (is_save && weft_ranks_rank() == 0) {
        FILE *file = fopen(path, "wb");
        CHECK(file != NULL && fwrite(all, sizeof *all, count, file) == count);
        CHECK(fclose(file) == 0);
    }
    uint64_t rows = 0;
    for (uint64_t i = 0; i < count; i++) rows += all[i].rows;
    if (weft_ranks_rank() == 0) printf("worlds %" PRIu64 " rows %" PRIu64 "\n", count, rows);
    free(all);
    stop_ranks();
    return 0;
}
