/* SPDX-License-Identifier: MIT */
/* recorder.h: recorders: who records, into which memory.
 *
 * Recorded values with a destruct hook are the recorder's until an entity takes them; those that
 * none took (skipped, removed again, dropped) are destructed when the recorder is emptied. Shared
 * values with a release hook are held in the store meanwhile (command_shared.h). */
#pragma once

#include "bits.h"
#include "world_front.h"

#include <assert.h>
#include <weft/commands.h>

/* ---- the format of commands ---- */

/* A recorder appends commands to pages of its own; nothing is shared while recording. Inside
 * systems there is one recorder per worker, and the commands of one (system, slice) form a
 * *segment*: a key and the place of its first command. A slice runs on one thread, so a segment
 * lies in one recorder, and sorting segments by key gives the order of effect whatever thread
 * ran what.
 *
 * A deferred entity is a handle with an even version, which no look-up accepts: index = number
 * of the creation in its recorder since the last playback, version = epoch: a number that no
 * other recorder has, and this one only until it is played. Playback gives ids in key order, to
 * copies too, before it does anything else, and replaces deferred handles in targets and in ENTITY
 * fields of values. Rows made in place are numbered apart (WEFT__ROW_HANDLE in the index): they are
 * in the world before the first command is played, and their handles are kept only where they were
 * asked for. */

/* What is known of each command, once: the operation, words, traits and effects, what recording
 * checks and which function plays it follow from its row. New ones come last: logs hold the number.
 *   on       whose rows: NEW ones, those of one ENTITY or of a QUERY (entity.index)
 *   subject  NOTHING, an ARCHETYPE or a COMPONENT; PLAIN, SHARED, BUFFER, ENABLEABLE: one of that
 *            kind, else recording refuses it
 *   payload  NOTHING, one VALUE, a COMMON value (shared), ELEMENTS (their number in a word, then
 *            they), ROWS (weft__command_rows), a SOURCE (an entity), TEXT with its NUL or none;
 *            what is switched by: flags
 *   way      how folding takes it: MADE, LINKED (before all), COPIED, DIES, GAINS, LOSES, SHARES or
 *            SWITCHES its component; ALONE: never folded
 *   effect   what a system declares for it (weft_system_effects)
 *   play     of playback_one.c: a RUN of them, or ONE; ALL: the immediate call of a query and a
 *            component */
#define WEFT__COMMANDS(X)                                                                          \
    X(CREATE, create, NEW, ARCHETYPE, NOTHING, MADE, CREATE, ONE(create))                          \
    X(ROWS, create_rows, NEW, ARCHETYPE, ROWS, LINKED, CREATE, ONE(rows))                          \
    X(INSTANTIATE, instantiate, NEW, NOTHING, SOURCE, COPIED, CREATE, RUN(instances))              \
    X(DESTROY, destroy, ENTITY, NOTHING, NOTHING, DIES, DESTROY, ONE(death))                       \
    X(ADD, add, ENTITY, COMPONENT, NOTHING, GAINS, ADD, ONE(add))                                  \
    X(REMOVE, remove, ENTITY, COMPONENT, NOTHING, LOSES, REMOVE, ONE(remove))                      \
    X(SET, set, ENTITY, PLAIN, VALUE, GAINS, ADD, ONE(set))                                        \
    X(SET_SHARED, set_shared, ENTITY, SHARED, COMMON, SHARES, ADD, ONE(shared))                    \
    X(ENABLE, enable, ENTITY, ENABLEABLE, NOTHING, SWITCHES, ADD, ONE(enable))                     \
    X(APPEND, append, ENTITY, BUFFER, ELEMENTS, GAINS, ADD, ONE(elements))                         \
    X(SET_BUFFER, set_buffer, ENTITY, BUFFER, ELEMENTS, GAINS, ADD, ONE(elements))                 \
    X(SET_NAME, set_name, ENTITY, NOTHING, TEXT, ALONE, ADD, ONE(name))                            \
    X(QUERY_ADD, query_add, QUERY, COMPONENT, NOTHING, ALONE, ADD, ALL(weft_query_add))            \
    X(QUERY_REMOVE, query_remove, QUERY, COMPONENT, NOTHING, ALONE, REMOVE,                        \
      ALL(weft_query_remove))                                                                      \
    X(QUERY_SET_SHARED, query_set_shared, QUERY, SHARED, COMMON, ALONE, ADD, ONE(query_share))     \
    X(QUERY_ENABLE, query_enable, QUERY, ENABLEABLE, NOTHING, ALONE, ADD, ONE(query_enable))       \
    X(QUERY_DESTROY, query_destroy, QUERY, NOTHING, NOTHING, ALONE, DESTROY, ONE(query_destroy))

#define WEFT__OP(id, ...) WEFT__COMMAND_##id,
typedef enum weft__command_op { WEFT__COMMANDS(WEFT__OP) WEFT__COMMAND_OP_COUNT } weft__command_op;
#undef WEFT__OP

typedef enum weft__command_on { WEFT__ON_NEW, WEFT__ON_ENTITY, WEFT__ON_QUERY } weft__command_on;

typedef enum weft__command_subject {
    WEFT__SUBJECT_NOTHING,
    WEFT__SUBJECT_ARCHETYPE,
    WEFT__SUBJECT_COMPONENT, /* from here on */
    WEFT__SUBJECT_PLAIN,
    WEFT__SUBJECT_SHARED,
    WEFT__SUBJECT_BUFFER,
    WEFT__SUBJECT_ENABLEABLE,
} weft__command_subject;

typedef enum weft__command_payload_kind {
    WEFT__PAYLOAD_NOTHING,
    WEFT__PAYLOAD_VALUE,
    WEFT__PAYLOAD_ELEMENTS,
    WEFT__PAYLOAD_COMMON,
    WEFT__PAYLOAD_ROWS,
    WEFT__PAYLOAD_SOURCE,
    WEFT__PAYLOAD_TEXT,
} weft__command_payload_kind;

typedef enum weft__command_way {
    WEFT__WAY_MADE,
    WEFT__WAY_LINKED,
    WEFT__WAY_COPIED,
    WEFT__WAY_DIES,
    WEFT__WAY_GAINS,
    WEFT__WAY_LOSES,
    WEFT__WAY_SHARES,
    WEFT__WAY_SWITCHES,
    WEFT__WAY_ALONE,
} weft__command_way;

#define WEFT__PAYLOAD_APART UINT16_MAX /* the payload is one word: a weft__command_block pointer */
/* Flag of SET, APPEND and SET_BUFFER, at least where there is a destruct hook: the values belong
 * to an entity now. */
#define WEFT__VALUE_IS_TAKEN 1
/* Flag of SET_SHARED, QUERY_SET_SHARED and ROWS: see command_shared.h. */
#define WEFT__VALUE_IS_READY 2
/* Flag of INSTANTIATE: it was played before the commands around it, see playback_one.c. */
#define WEFT__INSTANCE_IS_MADE 4
/* From this bit on, flags of SET_SHARED hold a number while it is folded: see fold.c. */
#define WEFT__FOLD_VALUE_SHIFT 4

/* Header of a command; `words` 8-byte words of payload follow, one for WEFT__PAYLOAD_APART.
 * Owner: the page; changed by playback only (flags, payloads). */
typedef struct weft__command {
    weft_entity entity; /* target; for creations the deferred handle */
    uint32_t subject;   /* component, archetype */
    uint16_t words;
    uint8_t op; /* weft__command_op */
    uint8_t flags;
} weft__command;
static_assert(sizeof(weft__command) == 16, "commands are multiples of 8 bytes");

/* In the index of a deferred handle: of a row made in place. */
#define WEFT__ROW_HANDLE (UINT32_C(1) << 31)

/* Rows made in place by one call: the payload of a ROWS command. Behind the columns, when
 * `shared_bytes` is not 0: the shared values of the piece (weft__command_shared one after the
 * other). A piece is what a slice made in a chunk one call after the other, with the same archetype
 * and the same shared values. Owner: the page. Always:
 *   first + count <= chunk->count; piece->chunk == chunk; begins_piece == (piece is these rows);
 *   brings_chunk implies begins_piece, and is the same unless in_nursery;
 *   shared_bytes and piece_rows are 0 unless begins_piece; a piece is without gaps:
 *   the rows of its calls are [piece->first, piece->first + piece->piece_rows). */
typedef struct weft__command_rows {
    weft__chunk *chunk;
    uint32_t first; /* rows [first, first + count) of it */
    uint32_t count;
    uint32_t number; /* of the first one among the rows of the recorder, for its handle */
    uint32_t shared_bytes;
    uint32_t piece_rows; /* of all calls */
    bool brings_chunk;   /* the chunk's first rows */
    bool begins_piece;
    bool in_nursery; /* the chunk holds pieces of several slices */
    bool is_asked;   /* handles were asked for */
    struct weft__command_rows *piece;
    void *columns[]; /* [type of the archetype] */
} weft__command_rows;

/* A shared value of rows: `bytes` in all, a multiple of 8. Owner: the page. */
typedef struct weft__command_shared {
    uint32_t component;
    uint32_t bytes;
    uint64_t value[];
} weft__command_shared;

/* A payload too large for a page. Owner: the recorder, until it is emptied. */
typedef struct weft__command_block {
    struct weft__command_block *next; /* of the same recorder */
    size_t bytes;
    uint64_t data[];
} weft__command_block;

/* Owner: the recorder, until it ends. Always: used <= bytes; those after the one being filled have
 * used == 0. */
typedef struct weft__command_page {
    struct weft__command_page *next; /* later commands; kept for the next frame when unused */
    uint32_t bytes;                  /* of `data` */
    uint32_t used;                   /* of the page being filled: see weft__recorder_seal */
    uint64_t data[];
} weft__command_page;

enum {
    WEFT__SEGMENT_HAS_ROWS = 1 << 0,
    WEFT__SEGMENT_HAS_CREATES = 1 << 1,
    WEFT__SEGMENT_HAS_INSTANCES = 1 << 2, /* folded only after they were made */
    WEFT__SEGMENT_HAS_ADDS = 1 << 3,
    WEFT__SEGMENT_HAS_REMOVES = 1 << 4,
    WEFT__SEGMENT_HAS_VALUES = 1 << 5,  /* set, append, enable */
    WEFT__SEGMENT_HAS_ALONE = 1 << 6,   /* commands that are never folded */
    WEFT__SEGMENT_HAS_ENABLES = 1 << 7, /* enable bits may change */
    WEFT__SEGMENT_HAS_OWNED = 1 << 8,   /* values with a destruct hook */
    WEFT__SEGMENT_HAS_READIED = 1 << 9, /* shared values that are made ready: command_shared.h */
    WEFT__SEGMENT_HAS_SHARED = 1 << 10, /* shared values of single entities */
};

/* What a way to fold means for the segment; WEFT__SEGMENT_HAS_VALUES comes from payloads. */
#define WEFT__TRAITS_MADE WEFT__SEGMENT_HAS_CREATES
#define WEFT__TRAITS_LINKED WEFT__SEGMENT_HAS_ROWS
#define WEFT__TRAITS_COPIED WEFT__SEGMENT_HAS_INSTANCES
#define WEFT__TRAITS_DIES 0
#define WEFT__TRAITS_GAINS WEFT__SEGMENT_HAS_ADDS
#define WEFT__TRAITS_LOSES WEFT__SEGMENT_HAS_REMOVES
#define WEFT__TRAITS_SHARES (WEFT__SEGMENT_HAS_ADDS | WEFT__SEGMENT_HAS_SHARED)
#define WEFT__TRAITS_SWITCHES (WEFT__SEGMENT_HAS_VALUES | WEFT__SEGMENT_HAS_ENABLES)
#define WEFT__TRAITS_ALONE WEFT__SEGMENT_HAS_ALONE

/* Flags of the component that a subject looks at, and what they must be. */
#define WEFT__FLAGS_NOTHING 0, 0
#define WEFT__FLAGS_ARCHETYPE 0, 0
#define WEFT__FLAGS_COMPONENT 0, 0
#define WEFT__FLAGS_PLAIN WEFT_BUFFER | WEFT_SHARED | WEFT_CHUNK, 0
#define WEFT__FLAGS_SHARED WEFT_SHARED, WEFT_SHARED
#define WEFT__FLAGS_BUFFER WEFT_BUFFER, WEFT_BUFFER
#define WEFT__FLAGS_ENABLEABLE WEFT_ENABLEABLE, WEFT_ENABLEABLE

/* A row of WEFT__COMMANDS. Constant. */
typedef struct weft__command_kind {
    uint32_t flags_asked, flags_needed; /* of its component */
    uint16_t traits;                    /* WEFT__SEGMENT_HAS_* */
    uint8_t on, subject, payload, way;
    bool has_values;  /* a value, or elements, with hooks and references of their own */
    bool is_in_a_row; /* folded, it does something to a row that is in its place already */
} weft__command_kind;

#define WEFT__KIND(id, name, whose, about, what, how, effect, play)                                \
    [WEFT__COMMAND_##                                                                              \
        id] = {WEFT__FLAGS_##about,                                                                \
               WEFT__TRAITS_##how | (WEFT__HOLDS_VALUES(what) ? WEFT__SEGMENT_HAS_VALUES : 0),     \
               WEFT__ON_##whose,                                                                   \
               WEFT__SUBJECT_##about,                                                              \
               WEFT__PAYLOAD_##what,                                                               \
               WEFT__WAY_##how,                                                                    \
               WEFT__HOLDS_VALUES(what),                                                           \
               WEFT__HOLDS_VALUES(what) || WEFT__WAY_##how == WEFT__WAY_LOSES ||                   \
                   WEFT__WAY_##how == WEFT__WAY_SWITCHES},
#define WEFT__HOLDS_VALUES(what)                                                                   \
    (WEFT__PAYLOAD_##what == WEFT__PAYLOAD_VALUE || WEFT__PAYLOAD_##what == WEFT__PAYLOAD_ELEMENTS)
static const weft__command_kind weft__command_kinds[] = {WEFT__COMMANDS(WEFT__KIND)};
#undef WEFT__KIND

/* "create_rows": by operation. */
extern const char *const weft__command_words[WEFT__COMMAND_OP_COUNT];

/* Consecutive commands of one recorder with one key. Owner: the recorder; playback sorts copies.
 * Always: created_first = sum of created_count of the recorder's segments before it. */
typedef struct weft__command_segment {
    uint64_t key; /* position of the system << 32 | slice */
    weft__command_page *page;
    uint32_t offset; /* of the first command in the page */
    uint32_t count;
    uint32_t recorder;      /* weft_recorder.id */
    uint32_t created_first; /* deferred handles made in it */
    uint32_t created_count;
    uint32_t traits;
} weft__command_segment;

/* Cursor over the commands of a segment. A value; valid until something is recorded. */
typedef struct weft__command_cursor {
    const weft__command_page *page;
    uint32_t offset;
    uint32_t left;
} weft__command_cursor;

static inline weft__command_cursor weft__command_begin(const weft__command_segment *segment)
{
    return (weft__command_cursor){segment->page, segment->offset, segment->count};
}

static inline size_t weft__command_bytes(const weft__command *command)
{
    uint32_t words = command->words == WEFT__PAYLOAD_APART ? 1 : command->words;
    return sizeof *command + (size_t)words * 8;
}

/* The next command, or NULL. */
static inline weft__command *weft__command_next(weft__command_cursor *cursor)
{
    if (cursor->left == 0) return NULL;
    cursor->left--;
    if (cursor->offset == cursor->page->used) {
        cursor->page = cursor->page->next;
        cursor->offset = 0;
    }
    weft__command *command =
        (weft__command *)(void *)((char *)(uintptr_t)cursor->page->data + cursor->offset);
    cursor->offset += (uint32_t)weft__command_bytes(command);
    return command;
}

static inline void *weft__command_payload(const weft__command *command)
{
    uint64_t *words = (uint64_t *)(uintptr_t)(command + 1);
    if (command->words != WEFT__PAYLOAD_APART) return words;
    weft__command_block *block = (weft__command_block *)(uintptr_t)words[0];
    return block->data;
}

/* Played already: it is passed over. */
static inline bool weft__command_is_made(const weft__command *command)
{
    return command->op == WEFT__COMMAND_INSTANTIATE &&
           (command->flags & WEFT__INSTANCE_IS_MADE) != 0;
}

/* Of a ROWS command that begins a piece: its rows, else NULL. */
static inline weft__command_rows *weft__command_piece(const weft__command *command)
{
    weft__command_rows *rows = weft__command_payload(command);
    return rows->begins_piece ? rows : NULL;
}

/* Commands with elements of a buffer. */
static inline bool weft__command_has_elements(uint32_t op)
{
    return weft__command_kinds[op].payload == WEFT__PAYLOAD_ELEMENTS;
}

/* Commands for the rows of a query. */
static inline bool weft__command_is_wide(uint32_t op)
{
    return weft__command_kinds[op].on == WEFT__ON_QUERY;
}

/* Commands whose subject is a component. */
static inline bool weft__command_has_component(uint32_t op)
{
    return weft__command_kinds[op].subject >= WEFT__SUBJECT_COMPONENT;
}

static inline bool weft__entity_is_deferred(weft_entity entity)
{
    return (entity.version & 1) == 0 && entity.version != 0;
}

/* ---- recorders ---- */

#define WEFT__NURSERIES 4u /* archetypes that few rows at a time are made of, in turn */

/* The first thing that went wrong while recording; code WEFT_OK: nothing did. A value. */
typedef struct weft__command_failure {
    weft_result code;
    uint64_t key;
    weft_entity entity;
    uint32_t component;
    uint8_t op;
} weft__command_failure;

/* A recorder. Owned by its creator; one thread at a time records, the owner of the world
 * plays. Always (checked builds: when it is played):
 *   open == NULL or open == &segments[segment_count - 1]; segment_count <= segment_capacity;
 *   page == NULL or page->data <= at <= end == page->data + page->bytes;
 *   created = sum of created_count of its segments; rows_first <= rows while open != NULL;
 *   piece == NULL or piece->begins_piece, recorded by the open segment;
 *   epoch is even and not 0. */
struct weft_recorder {
    weft_world *world;
    /* hot while recording */
    char *at;                    /* next free byte of `page` */
    char *end;                   /* its end */
    weft__command_segment *open; /* segment of `key`, NULL until its first command */
    uint64_t key;
    uint32_t created;    /* deferred handles since the last playback */
    uint32_t rows;       /* rows made in place since then ... */
    uint32_t rows_first; /* ... before the open segment */
    uint32_t epoch;      /* even version of the deferred handles of this recorder, now */
    uint32_t id;         /* number of the recorder in its set */
    uint32_t worker;
    uint32_t home; /* block hint for ids given at once */
    /* cold */
    weft__command_page *first;
    weft__command_page *page;
    weft__command_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
    weft__command_block *blocks;
    weft_entity *resolved; /* [created] during playback */
    uint32_t resolved_capacity;
    uint32_t row_capacity;
    weft_entity *row_entities; /* [rows] during playback, when handles were asked for */
    weft__command_rows *piece; /* rows that the open segment makes; NULL: none yet */
    uint32_t run_rows;         /* of it and of those before that differ in their chunk only */
    uint32_t next_nursery;     /* the place that is given up when one is needed */
    weft__chunk *nurseries[WEFT__NURSERIES]; /* private chunks for few rows of many slices */
    bool rows_asked;                         /* handles of some rows were asked for */
    bool is_closed;  /* checked builds: of a system whose callback has returned */
    uint32_t in_set; /* belongs to the scheduler: weft_recorder_play and _destroy refuse it */
    weft__command_failure failure;
    weft_slice_context rows_context; /* of the rows it gives; constant */
};

#define WEFT__PAYLOAD_WORDS_MOST 252u /* larger payloads are blocks */

/* Starts an empty recorder; allocates nothing. `id` < 4096 is its number in the set it is played
 * with. */
void weft__recorder_init(weft_recorder *commands, weft_world *world, uint32_t id, uint32_t worker);
void weft__recorder_fini(weft_recorder *commands);

/* Notes how far the page being filled is used, which recording does not: before the commands are
 * walked over. Recording may go on after it. */
void weft__recorder_seal(weft_recorder *commands);
/* Drops everything recorded (private chunks too when `with_rows`) and keeps the memory. */
void weft__recorder_reset(weft_recorder *commands, bool with_rows);
/* Following commands belong to `key`. */
static inline void weft__recorder_key(weft_recorder *commands, uint64_t key)
{
    if (WEFT_IS_CHECKED) commands->is_closed = false;
    if (commands->key == key) return;
    commands->key = key;
    commands->open = NULL;
    commands->piece = NULL;
}
