/* SPDX-License-Identifier: MIT */
/* commands_state.h: recorded commands: their format, recorders, and playback.
 *
 * A recorder appends commands to pages of its own; nothing is shared while recording. Inside
 * systems there is one recorder per worker, and the commands of one (system, slice) form a
 * *segment*: a key and the place of its first command. A slice runs on one thread, so a segment
 * lies in one recorder, and sorting segments by key gives the order of effect whatever thread
 * ran what.
 *
 * Recorded values with a destruct hook are the recorder's until an entity takes them; those that
 * none took (skipped, removed again, dropped) are destructed when the recorder is emptied. Shared
 * values with a release hook are held in the store meanwhile (commands_shared.h).
 *
 * A deferred entity is a handle with an even version, which no look-up accepts: index = number
 * of the creation in its recorder since the last playback, version = epoch: a number that no
 * other recorder has, and this one only until it is played. Playback gives ids in key order and
 * replaces deferred handles in targets and in ENTITY fields of values. Rows made in place are
 * numbered apart (WEFT__ROW_HANDLE in the index): they are in the world before the first command is
 * played, and their handles are kept only where they were asked for. */
#ifndef WEFT_COMMANDS_STATE_H
#define WEFT_COMMANDS_STATE_H

#include <weft/commands.h>

#include "bits.h"
#include "world_front.h"

#include <assert.h>

typedef enum weft__command_op {
    WEFT__COMMAND_CREATE, /* subject: archetype */
    WEFT__COMMAND_ROWS,   /* payload: weft__command_rows; subject: archetype */
    WEFT__COMMAND_INSTANTIATE,
    WEFT__COMMAND_DESTROY,
    WEFT__COMMAND_ADD,
    WEFT__COMMAND_REMOVE,
    WEFT__COMMAND_SET,        /* payload: value */
    WEFT__COMMAND_SET_SHARED, /* payload: value */
    WEFT__COMMAND_ENABLE,     /* flags: new state */
    WEFT__COMMAND_APPEND,     /* payload: count (one word), elements */
    WEFT__COMMAND_SET_BUFFER, /* the same; what the buffer held ends */
    WEFT__COMMAND_SET_NAME,   /* payload: text with its NUL; none: no name */
    WEFT__COMMAND_QUERY_ADD,  /* subject: component, entity.index: query */
    WEFT__COMMAND_QUERY_REMOVE,
    WEFT__COMMAND_QUERY_SET_SHARED, /* payload: value */
    WEFT__COMMAND_QUERY_ENABLE,     /* flags: new state */
    WEFT__COMMAND_QUERY_DESTROY,
    WEFT__COMMAND_OP_COUNT
} weft__command_op;

#define WEFT__PAYLOAD_APART UINT16_MAX /* the payload is one word: a weft__command_block pointer */
/* Flag of SET, APPEND and SET_BUFFER, at least where there is a destruct hook: the values belong
 * to an entity now. */
#define WEFT__VALUE_IS_TAKEN 1
/* Flag of SET_SHARED, QUERY_SET_SHARED and ROWS: see commands_shared.h. */
#define WEFT__VALUE_IS_HELD 2

/* Header of a command; `words` 8-byte words of payload follow. */
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
 * `shared_bytes` is not 0: the shared values of the chunk (weft__command_shared one after the
 * other). */
typedef struct weft__command_rows {
    weft__chunk *chunk;
    uint32_t first; /* rows [first, first + count) of it */
    uint32_t count;
    uint32_t number; /* of the first one among the rows of the recorder, for its handle */
    uint32_t shared_bytes;
    bool brings_chunk;                           /* the chunk's first rows */
    bool is_asked;                               /* handles were asked for */
    const struct weft__command_rows *brought_by; /* the rows that brought the chunk: these or
                                                    earlier ones, whose shared values it has */
    void *columns[];                             /* [type of the archetype] */
} weft__command_rows;

/* A shared value of rows: `bytes` in all, a multiple of 8. */
typedef struct weft__command_shared {
    uint32_t component;
    uint32_t bytes;
    uint64_t value[];
} weft__command_shared;

/* A payload too large for a page. */
typedef struct weft__command_block {
    struct weft__command_block *next; /* of the same recorder */
    size_t bytes;
    uint64_t data[];
} weft__command_block;

typedef struct weft__command_page {
    struct weft__command_page *next; /* later commands; kept for the next frame when unused */
    uint32_t bytes;                  /* of `data` */
    uint32_t used;                   /* of the page being filled: see weft__commands_seal */
    uint64_t data[];
} weft__command_page;

enum {
    WEFT__SEGMENT_HAS_ROWS = 1 << 0,
    WEFT__SEGMENT_HAS_CREATES = 1 << 1,
    WEFT__SEGMENT_HAS_INSTANCES = 1 << 2,
    WEFT__SEGMENT_HAS_ADDS = 1 << 3,
    WEFT__SEGMENT_HAS_REMOVES = 1 << 4,
    WEFT__SEGMENT_HAS_VALUES = 1 << 5,   /* set, append, enable */
    WEFT__SEGMENT_HAS_ALONE = 1 << 6,    /* commands that are never folded */
    WEFT__SEGMENT_HAS_ENABLES = 1 << 7,  /* enable bits may change */
    WEFT__SEGMENT_HAS_OWNED = 1 << 8,    /* values with a destruct hook */
    WEFT__SEGMENT_HAS_RELEASED = 1 << 9, /* shared values with a release hook */
};

/* Consecutive commands of one recorder with one key. */
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

/* The first thing that went wrong while recording. */
typedef struct weft__command_failure {
    weft_result code;
    uint64_t key;
    weft_entity entity;
    uint32_t component;
    uint8_t op;
} weft__command_failure;

/* A recorder. Owned by its creator; one thread at a time records, the owner of the world
 * plays. Invariant: open == NULL or &segments[segment_count - 1]. */
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
    weft_entity *row_entities;  /* [rows] during playback, when handles were asked for */
    weft__chunk *private_chunk; /* being filled by the open segment */
    const weft__command_rows *private_rows; /* what brought it */
    bool rows_asked;                        /* handles of some rows were asked for */
    bool is_closed;  /* checked builds: of a system whose callback has returned */
    uint32_t in_set; /* belongs to the scheduler: weft_recorder_play and _destroy refuse it */
    weft__command_failure failure;
    weft_slice_context rows_context; /* of the rows it gives; constant */
};

/* Cursor over the commands of a segment. */
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

/* Of a ROWS command that brings a private chunk: its rows, else NULL. */
static inline weft__command_rows *weft__command_chunk(const weft__command *command)
{
    weft__command_rows *rows = weft__command_payload(command);
    return rows->brings_chunk ? rows : NULL;
}

/* Commands with elements of a buffer. */
static inline bool weft__command_has_elements(uint32_t op)
{
    return op == WEFT__COMMAND_APPEND || op == WEFT__COMMAND_SET_BUFFER;
}

/* weft_slice.calls of rows that a recorder makes now: others were made before a playback. */
static inline uint32_t weft__rows_calls(const weft_recorder *commands)
{
    return WEFT_SLICE_ROWS | commands->epoch >> 1 << 4;
}

static inline bool weft__entity_is_deferred(weft_entity entity)
{
    return (entity.version & 1) == 0 && entity.version != 0;
}

/* Starts an empty recorder; allocates nothing. `id` < 4096 is its number in the set it is played
 * with. */
void weft__commands_init(weft_recorder *commands, weft_world *world, uint32_t id, uint32_t worker);
void weft__commands_fini(weft_recorder *commands);
/* A command with `bytes` of payload, counted; NULL: out of memory (nothing was recorded). */
weft__command *weft__commands_append(weft_recorder *commands, weft__command_op op, size_t bytes);
/* Notes a refusal, to be reported by playback, and returns its code. */
weft_result weft__commands_fail(weft_recorder *commands, weft_result code, weft__command_op op,
                                weft_entity entity, uint32_t component);
/* Checked builds: WRONG_PHASE, noted, for a recorder of a system whose callback has returned. */
static inline weft_result weft__commands_check_open(weft_recorder *commands, weft__command_op op,
                                                    weft_entity entity, uint32_t component)
{
    if (!WEFT_IS_CHECKED || !commands->is_closed) return WEFT_OK;
    return weft__commands_fail(commands, WEFT_WRONG_PHASE, op, entity, component);
}
/* Notes how far the page being filled is used, which recording does not: before anybody walks over
 * the commands. Recording may go on after it. */
void weft__commands_seal(weft_recorder *commands);
/* Drops everything recorded (private chunks too when `with_rows`) and keeps the memory. */
void weft__commands_reset(weft_recorder *commands, bool with_rows);
/* Following commands belong to `key`. */
static inline void weft__commands_key(weft_recorder *commands, uint64_t key)
{
    if (WEFT_IS_CHECKED) commands->is_closed = false;
    if (commands->key == key) return;
    commands->key = key;
    commands->open = NULL;
    commands->private_chunk = NULL;
}

/* What one playback did. */
typedef struct weft__playback_result {
    uint64_t commands;
    uint64_t skipped; /* their entity had died */
} weft__playback_result;

/* What playback asks the owner of the recorders: the name behind a key, for errors. */
typedef const char *(*weft__recorder_name_fn)(const void *user, uint64_t key);

/* What to play. Borrowed for the call. */
typedef struct weft__playback_desc {
    weft_world *world;
    weft_job_context *job; /* the owner's context; NULL: serial */
    weft_recorder *const *recorders;
    uint32_t count;
    weft__recorder_name_fn name; /* may be NULL */
    const void *user;
} weft__playback_desc;

/* Plays the recorders' commands in key order and empties them. Owner, world idle (busy == 0). The
 * error names the command and its recorder; what came before it has taken effect, what comes after
 * it has not and is dropped. `out` may be NULL. */
weft_result weft__commands_playback(const weft__playback_desc *desc, weft__playback_result *out);

#endif
