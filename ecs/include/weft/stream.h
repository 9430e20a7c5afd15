/* SPDX-License-Identifier: MIT */
/* stream.h: parts of a scene that come into a running world and leave it again, without a hitch.
 *
 * Public. A *section file* (".wss") holds the entities of a scene in numbered sections. A *stream*
 * is such a file, opened in a world. Threads of the library read sections into chunks of their own,
 * with ids and places reserved for them; the owner *publishes* a section that is complete: that
 * takes time per chunk, not per entity. So does taking a section out again.
 *
 *   weft_stream *stream;
 *   weft_stream_open(world, "city.wss", NULL, &stream);
 *   weft_stream_load(stream, 3, 1.0f);
 *   while (is_running) {
 *       weft_stream_step(world, 500000);  // at most about half a millisecond
 *       weft_world_step(world, dt);
 *   }
 *
 * Section 0 is loaded with the first other one and leaves with the last: what the sections have in
 * common, prefabs for example. Every entity of a section has the SHARED component Section, which
 * says where it comes from; one that gets another value, or loses it, stays when its section
 * leaves. Entities that come later with the value leave with the section.
 *
 * While a section is being read or taken away (weft_stream_stats.under_way), worlds cannot be
 * saved, snapshots not be made or restored, and transfers not be done (BUSY): weft_stream_wait
 * ends what is under way. A request that no step has begun yet is no hindrance. A restore keeps
 * what weft_stream_load and weft_stream_unload asked for last, and puts back entities with
 * SectionRequest; lockstep goes on counting. The guide is docs/guide/streaming.md. */
#ifndef WEFT_STREAM_H
#define WEFT_STREAM_H

#include <weft/component.h>
#include <weft/world_file.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- components ---- */

/* The section that an entity is of: a SHARED component, "Section". Entities without it are in
 * section 0 of a file. */
typedef struct weft_section {
    uint64_t scene;    /* id of the file; 0 while it is made */
    uint32_t instance; /* weft_stream_number of the stream; 0 while it is made */
    uint32_t section;
} weft_section;

/* Asks for a section, as long as there is an entity that has it: "SectionRequest". Entities that
 * ask for the same section are counted, beside weft_stream_load. */
typedef struct weft_section_request {
    uint32_t instance; /* weft_stream_number of the stream */
    uint32_t section;
    float priority; /* higher first; NaN counts as 0 */
} weft_section_request;

/* The component Section, registered when it is new. Null: OUT_OF_MEMORY, LIMIT, WRONG_PHASE.
 * Threads: owner; until it exists world idle. */
WEFT_API weft_component weft_component_section(weft_world *world);
/* The component SectionRequest. Threads: owner; until it exists world idle. */
WEFT_API weft_component weft_component_section_request(weft_world *world);

/* ---- section files ---- */

#define WEFT_SECTION_LIMIT 65536u /* sections of a file, at most */

/* What is written. Zero means default. */
typedef struct weft_sections_desc {
    uint64_t scene;                /* id of the scene; 0: a hash of what is written */
    const weft_component *without; /* components that are left out */
    uint32_t without_count;
    /* Where an entity is: three floats of this component, at these bytes of it. Null: sections have
     * no bounds. WorldTransform of <weft/transform.h>: {12, 28, 44}. */
    weft_component place;
    uint32_t place_at[3];
    bool with_names; /* names of entities, too: they cost the owner time per entity */
} weft_sections_desc;

/* Writes all entities of the world to a section file, each into the section that its component
 * Section says; as weft_world_save the file is the old or the new one, complete. The same state
 * gives the same bytes. References between sections are kept; those to entities of section 0 cost
 * nothing, others are filled in when the other section comes, and cleared when it leaves. Resources
 * are not written. The hooks `construct`, `load` and `destruct` of values in sections run on
 * threads of the library. `desc` may be NULL. Threads: owner, world idle. Errors:
 * INVALID_ARGUMENT, WRONG_PHASE, BUSY, BAD_HANDLE, UNSUPPORTED (a component is SPARSE, or has
 * references and is SHARED or saved by a hook: the text names it, desc->without leaves it out),
 * LIMIT (more than WEFT_SECTION_LIMIT), IO, OUT_OF_MEMORY. Cost: holds all bytes in memory
 * once. */
WEFT_API weft_result weft_sections_save(weft_world *world, const char *path,
                                        const weft_sections_desc *desc);

/* ---- streams ---- */

/* A section file that is open in a world. */
typedef struct weft_stream weft_stream;

/* Rows that were read and that the world does not know yet. Valid during the call. */
typedef struct weft_stream_rows {
    uint32_t section, count;
    const weft_entity *entities; /* [count] */
    const void *chunk;           /* private */
} weft_stream_rows;

/* Describes a stream. Zero means default. */
typedef struct weft_stream_desc {
    const weft_blob_type *const *blob_types; /* of the blobs that the file may hold */
    uint32_t blob_type_count;
    /* Called for rows that were read, before they are in the world: to place an instance, for
     * example. On a thread of the library, several at once for different rows; may only write the
     * values that weft_stream_column gives. */
    void (*filled)(const weft_stream_rows *rows, void *user);
    void *user;
    /* Threads that read, of all streams of the world: 1..16; the first stream decides. 0: 1. */
    uint32_t threads;
    /* Sections are visible, and gone, exactly as many calls of weft_stream_step after the first one
     * that sees the request, which wait where they must: runs can be repeated. Section 0 comes
     * before another one is read, and goes as many calls after the last other one. 0: as soon as
     * they are read. */
    uint32_t lockstep;
    /* Rows of all sections take at most so much memory. With a bound, sections that are no longer
     * asked for stay until another needs the room: those that were let go first leave first. 0: no
     * bound; they leave at once. */
    uint64_t bytes_max;
} weft_stream_desc;

/* Opens a section file: reads and checks what says what is in it, registers nothing. Components are
 * found by name and must have the layout that they were written with. `desc` may be NULL. Threads:
 * owner, world idle. Errors: INVALID_ARGUMENT, WRONG_PHASE, NOT_FOUND, IO, CORRUPT, UNSUPPORTED,
 * TYPE_MISMATCH (a component is missing or has another layout: register it, or write the file
 * again), THREAD_FAILED, OUT_OF_MEMORY. */
WEFT_API weft_result weft_stream_open(weft_world *world, const char *path,
                                      const weft_stream_desc *desc, weft_stream **out);
/* Takes all sections out and closes the file; NULL is ignored. The world cannot be destroyed before
 * (BUSY). Threads: owner, world idle. */
WEFT_API void weft_stream_close(weft_stream *stream);

/* What the stream is known by in components: 1.. in the order of opening. Threads: owner. */
WEFT_API uint32_t weft_stream_number(const weft_stream *stream);
/* The streams of a world in order of opening, up to `capacity`; returns how many there are.
 * Threads: owner. */
WEFT_API uint32_t weft_stream_list(const weft_world *world, weft_stream **out, uint32_t capacity);
/* Sections of the file, section 0 among them. Threads: owner. */
WEFT_API uint32_t weft_stream_section_count(const weft_stream *stream);

/* Asks for a section; those with a higher priority are read first. Asking again changes the
 * priority. Threads: owner. Errors: INVALID_ARGUMENT (also: a NaN). */
WEFT_API weft_result weft_stream_load(weft_stream *stream, uint32_t section, float priority);
/* Takes the request back: the section is taken out, or no longer read, unless a SectionRequest asks
 * for it. Threads: owner. Errors: INVALID_ARGUMENT. */
WEFT_API weft_result weft_stream_unload(weft_stream *stream, uint32_t section);
/* Asks for all sections whose bounds are nearer to `at` than `load`, the nearest first, and takes
 * the requests back for those that are farther than `unload` (at least `load`). Sections without
 * bounds are near, but for section 0 where there are others: it comes with them. Threads: owner.
 * Errors: INVALID_ARGUMENT (also: a place that is not finite; nothing is asked for then). Cost:
 * O(sections). */
WEFT_API weft_result weft_stream_near(weft_stream *stream, const float at[3], float load,
                                      float unload);

/* Goes on with all streams of the world, for about `budget_ns`: publishes sections that were read,
 * takes others out, begins to read. At least one piece of work is done by each call; 0: no bound.
 * Threads: owner, world idle. Errors: WRONG_PHASE, OUT_OF_MEMORY, LIMIT (what could not be begun is
 * tried again by the next call). What happened to a section, IO and CORRUPT among it,
 * weft_stream_section_get says. Cost: O(chunks and entity blocks) of what comes or leaves,
 * O(sections that are asked for). Entities that were created, destroyed or moved since their
 * section came cost some 5 ns each when it leaves. */
WEFT_API weft_result weft_stream_step(weft_world *world, uint64_t budget_ns);
/* Steps until everything that is asked for is there, and everything else has left. Errors: as
 * weft_stream_step. Threads: owner, world idle. */
WEFT_API weft_result weft_stream_wait(weft_world *world);

/* What a section is. */
typedef enum weft_section_state {
    WEFT_SECTION_ABSENT,
    WEFT_SECTION_WAITING, /* asked for; its turn or room for it has not come */
    WEFT_SECTION_READING, /* being read */
    WEFT_SECTION_LOADED,  /* in the world */
    WEFT_SECTION_LEAVING, /* out of the world, its memory is being given back */
    WEFT_SECTION_FAILED,  /* could not be read; asking again tries again */
} weft_section_state;

/* What is known of a section before it is loaded, and what became of it. */
typedef struct weft_section_info {
    weft_section_state state;
    weft_result result; /* FAILED: why; WAITING: why section 0 could not be read, else OK */
    bool is_asked_for;
    bool has_bounds;
    float least[3], most[3]; /* of the places of its entities */
    uint32_t rows, chunks;
    uint64_t bytes;   /* in the file */
    char text[160];   /* what is wrong, where result is not OK */
    const char *path; /* that the stream was opened with; valid until it is closed */
} weft_section_info;

/* `out_bytes`: sizeof *out. Threads: owner. Errors: INVALID_ARGUMENT. */
WEFT_API weft_result weft_stream_section_get(const weft_stream *stream, uint32_t section,
                                             weft_section_info *out, size_t out_bytes);

/* What the streams of a world did. Times are of the calls of weft_stream_step. */
typedef struct weft_stream_stats {
    uint32_t streams, loaded, under_way; /* sections in the world; being read or taken out */
    uint32_t waiting;                    /* asked for, not begun */
    uint64_t bytes;                      /* of rows of sections, in memory */
    uint64_t loads, unloads, failures, cancelled; /* since the first stream */
    uint64_t rows_loaded, bytes_read;
    uint64_t waits;                /* calls that waited for a thread, by lockstep */
    uint64_t step_ns, step_ns_max; /* of the last step; of all since the last question */
    uint64_t late_references;      /* of sections that are there, to ones that are not */
} weft_stream_stats;

/* `out_bytes`: sizeof *out. Threads: owner. */
WEFT_API void weft_stream_stats_get(weft_world *world, weft_stream_stats *out, size_t out_bytes);

/* The values of a component of rows that were read, in `filled`; NULL: they have none. Threads:
 * callback. */
WEFT_API void *weft_stream_column(const weft_stream_rows *rows, weft_component component);

#ifdef __cplusplus
}
#endif
#endif
