/* SPDX-License-Identifier: MIT */
/* thresholds.c: the sizes at which the sources of the library change their way, by the names of
 * their constants; tests/everything/thresholds.py finds each of them in its file, with this
 * value. Chunks' capacities are asked of the world (ops_entity.c, "fill a chunk"). */
#include "everything.h"

typedef struct threshold {
    const char *name, *file;
    uint32_t value;
} threshold;

/* clang-format off */
static const threshold thresholds[] = {
    {"WEFT__FOLD_LEAST", "ecs/src/commands/fold_rows.h", 48},
    {"WEFT__FOLD_STATES", "ecs/src/commands/fold_rows.h", 16},
    {"WEFT__FOLD_WIDTH", "ecs/src/commands/fold_rows.h", 16},
    {"WEFT__FOLD_VALUES", "ecs/src/commands/fold_rows.h", 16},
    {"WEFT__TASK_ROWS", "ecs/src/change/row_moves.h", 4096},
    {"WEFT__FOLD_BLOCK_ROWS", "ecs/src/commands/fold_rows.h", 8192},
    {"KNOWN_TYPES", "ecs/src/commands/fold_rows.c", 4},
    {"BLOCK_ROWS", "ecs/src/commands/fold_rows.c", 64},
    {"FREE_BATCH", "ecs/src/change/row_moves.c", 256},
    {"DEAD_FEW", "ecs/src/change/row_moves.c", 8192},
    {"WORKERS_LEAST", "ecs/src/change/row_moves.c", 8192},
    {"SOURCES_MOST", "ecs/src/commands/playback_one.c", 16},
    {"MEMBERS_MOST", "ecs/src/commands/playback_one.c", 64},
    {"WEFT__MERGE_MOST", "ecs/src/commands/playback.c", 64},
    {"COMPARED_MOST", "ecs/src/commands/playback.c", 16384},
    {"CHANGED_MOST", "ecs/src/commands/playback.c", 64},
    {"WEFT__BATCH_SHORT", "ecs/src/change/destroy.c", 2048},
    {"WEFT__BATCH_FETCHED", "ecs/src/change/destroy.c", 8},
    {"WEFT__CHANGE_FEW", "ecs/src/change/row_moves.h", 32},
    {"PIECE_ROWS", "ecs/src/change/instantiate.c", 2048},
    {"WEFT__BLOCK_SLOTS", "ecs/src/memory/directory.h", 4096},
    {"WEFT__PREFETCH_AHEAD", "ecs/src/memory/directory.h", 16},
    {"WEFT__MEGACHUNK_UNITS", "ecs/src/memory/units.h", 64},
    {"GROUP", "ecs/src/memory/directory.c", 32},
    {"RUN_SHORT", "ecs/src/memory/directory.c", 8},
    {"EDGE_COUNTING_FROM", "ecs/src/relation/relation_state.c", 256},
    {"RUN", "ecs/src/relation/relation_state.c", 12},
    {"WEFT__PIECE_ROWS", "ecs/engine/row_diff.h", 8192},
    {"WEFT__READY_ROWS", "ecs/src/storage/structure.h", 16},
    {"NEAR_ROWS", "ecs/src/storage/structure.c", 32},
    {"PAIRS", "ecs/src/storage/structure.c", 64},
    {"RUN_LONG", "ecs/src/storage/structure.c", 16},
    {"HOLES_FEW", "ecs/src/storage/structure.c", 16},
    {"AHEAD", "ecs/src/storage/structure.c", 8},
    {"AHEAD", "ecs/src/storage/sparse.h", 16},
    {"FEW_TYPES", "ecs/src/storage/archetype.c", 4},
    {"WEFT__SPARES", "ecs/src/core/world_state.h", 16},
    {"TRIM_FROM", "ecs/src/storage/archetype.c", 64},
    {"PLANS_PER_BUCKET", "ecs/src/storage/archetype.c", 8},
    {"GATHER_BATCH", "ecs/src/storage/entity_value.c", 32},
    {"WEFT__SPARSE_NEAR", "ecs/src/core/world_state.h", 8},
    {"FEW", "ecs/src/query/query_state.c", 16},
    {"RARE", "ecs/src/query/query_state.c", 16},
    {"BLOCK", "ecs/src/query/filter.c", 8},
    {"DEAD_IN_LINE", "ecs/src/io/world_text_write.c", 64},
    {"PART_ROWS", "ecs/src/world/world_hash.c", 512},
    {"BLOCKS_WITHOUT_MENTION", "ecs/src/io/world_file_read.c", 512},
    {"WEFT__PAYLOAD_WORDS_MOST", "ecs/engine/recorder.h", 252},
    {"WEFT__BUFFER_INLINE_BYTES", "ecs/engine/component_type.h", 128},
    {"EDGES_MOST", "scheduler/src/compile/segment_graph.c", 64},
    {"WEFT__OBSERVER_ROUNDS", "scheduler/src/observe/observers.h", 8},
    {"WEFT__OBSERVER_BATCH", "scheduler/src/observe/observers.h", 4096},
};
/* clang-format on */

enum { THRESHOLDS = sizeof thresholds / sizeof thresholds[0] };

/* Uniform in the number of bits. */
static uint32_t log_uniform(uint64_t drawn, uint32_t most)
{
    uint32_t bits = 33 - (uint32_t)__builtin_clz(most | 1);
    uint32_t size = (uint32_t)(drawn >> 32) & ((1u << (drawn % bits)) - 1);
    return size < most ? size : most;
}

/* One of four beside a threshold, two small, one anything: a script has many sizes, and shall be
 * done in milliseconds. */
uint32_t everything_size(uint64_t drawn, uint32_t most)
{
    uint64_t inner = everything_mix(drawn, 1);
    if (drawn % 4 != 0)
        return drawn % 4 == 1 ? log_uniform(inner, most) : log_uniform(inner, most < 8 ? most : 8);
    const threshold *t = &thresholds[inner % THRESHOLDS];
    uint32_t size = t->value - 1 + (uint32_t)(inner >> 32) % 3;
    return size <= most ? size : log_uniform(inner >> 8, most);
}
