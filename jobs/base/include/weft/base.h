/* SPDX-License-Identifier: MIT */
/* base.h: what every weft header needs: version, result codes, errors, memory hook, log.
 *
 * Public. Included by <weft/jobs.h>, <weft/ecs.h> and <weft/weft.h>. The library keeps no mutable
 * state per process, except the counters that number worlds and blob stores and count entity tags.
 * Functions that can fail return a weft_result, or a null handle, NULL, 0 or false where their
 * comment says so. */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

/* In front of all other headers, which may fail first. */
#if __SIZEOF_POINTER__ != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "weft needs a 64-bit little-endian machine: x86-64, arm64, riscv64 or ppc64el"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---- */

/* The version of this header. */
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

/* Marks what the library exports: functions, which let no exception through, and data. */
#define WEFT_API __attribute__((visibility("default"), nothrow))
#define WEFT_API_DATA __attribute__((visibility("default")))

/* A version as one number, which can be compared. */
#define WEFT_VERSION_NUMBER(major, minor, patch) ((major)*1000000u + (minor)*1000u + (patch))
#define WEFT_VERSION WEFT_VERSION_NUMBER(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)

/* WEFT_VERSION of the library that runs. Until 1.0 a program needs a library of the same minor
 * version; the loader ensures this (SONAME libweft.so.0.MINOR). Threads: any. */
WEFT_API uint32_t weft_version(void);

/* ---- results ---- */

/* The result of a call that can fail. The value is the number of the error page:
 * WEFT_STALE_ENTITY is E0005. New codes are added at the end; values never change once released.
 *
 * Structs that the library fills (statistics, reports) come with their size, `sizeof *out` as the
 * caller was compiled. They grow at their end within a minor version: the library writes at most
 * that many bytes, and zeroes what it does not know. */
typedef enum weft_result {
    WEFT_OK = 0,
    WEFT_INVALID_ARGUMENT = 1,   /* an invalid pointer, size, name or flag */
    WEFT_OUT_OF_MEMORY = 2,      /* the allocator or the OS refused; nothing changed */
    WEFT_LIMIT = 3,              /* a limit (fixed, or of a descriptor); nothing changed */
    WEFT_NOT_FOUND = 4,          /* no such name, component on the entity, command, ... */
    WEFT_STALE_ENTITY = 5,       /* null, destroyed or forged entity handle */
    WEFT_BAD_HANDLE = 6,         /* null, stale or foreign handle; an entity of another world */
    WEFT_ALREADY_EXISTS = 7,     /* the name is taken by something different */
    WEFT_TYPE_MISMATCH = 8,      /* wrong size, alignment or kind of component for this call */
    WEFT_WRONG_THREAD = 9,       /* see the function's Threads: line */
    WEFT_WRONG_PHASE = 10,       /* e.g. a structural change while systems run: record a command */
    WEFT_UNDECLARED_ACCESS = 11, /* a system touched what it did not declare */
    WEFT_CYCLE = 12,             /* ordering constraints contradict each other */
    WEFT_CORRUPT = 13,           /* untrusted bytes failed validation; nothing was loaded */
    WEFT_IO = 14,                /* the operating system refused a file operation */
    WEFT_UNSUPPORTED = 15,       /* not available in this build or on this machine */
    WEFT_POOL_FULL = 16,         /* job pool exhausted; the job was not submitted */
    WEFT_WOULD_NEST = 17,        /* a wait inside a job for something not its descendant */
    WEFT_FORKED = 18,            /* the pool belongs to the parent process */
    WEFT_CANCELLED = 19,         /* the job was cancelled before it completed */
    WEFT_THREAD_FAILED = 20,     /* the OS refused a thread */
    WEFT_BUSY = 21,              /* still in use: jobs pending, world stepping, blob referenced */
    WEFT_JOB_FAILED = 22,        /* a job function returned an error of its own */
    WEFT_RESULT_COUNT
} weft_result;

/* The name of a code as written in C ("WEFT_STALE_ENTITY"). Never NULL; static storage. Threads:
 * any.
 */
WEFT_API const char *weft_result_name(weft_result result);

/* One line that says what happened. Never NULL; static storage. Threads: any. */
WEFT_API const char *weft_result_text(weft_result result);

/* The page of a code: causes and what to do; several lines, without a newline at the end. `weft
 * explain CODE` prints it. Never NULL; static storage. Threads: any. */
WEFT_API const char *weft_result_explain(weft_result result);

/* ---- errors ---- */

/* An entity: 32-bit index and 32-bit version; {0, 0} is null. A version is odd while the entity
 * lives and never comes back for an index. Compare both fields; never order versions. Functions:
 * <weft/world.h>, <weft/entity.h>. */
typedef struct weft_entity {
    uint32_t index;
    uint32_t version;
} weft_entity;

/* A component type of one world; ids count from 1. The same name and layout give the same handle.
 * Functions: <weft/component.h>. */
typedef struct weft_component {
    uint32_t id;
    uint32_t world; /* private: number of the world */
} weft_component;

/* Why something failed. What an error is not about is zero: a null handle, "", 0. It is a value:
 * texts are in it, and cut where they are longer.
 *
 * The last failure of an object: weft_world_error, weft_job_pool_error, weft_blob_builder_error,
 * weft_ranks_error: never NULL, WEFT_OK when nothing failed. What is wrong with a text, or with
 * systems, can be many: weft_scene_mistakes, weft_live_mistakes, weft_schedule_mistakes. Calls that
 * have no object to ask fill a weft_error of the caller: weft_value_parse, and creation, which has
 * `error` in its descriptor. */
typedef struct weft_error {
    weft_result code;
    weft_entity entity;
    weft_component component;
    uint64_t number; /* failures so far of the object that is asked, this one included */
    uint32_t line;   /* of the place in `file`, from 1; 0: not about a place */
    uint32_t column; /* from 1, in characters */
    char file[256];  /* the file, or the name of the text (weft_text.file) */
    char path[256];  /* of a value, "Orbit.drag[2]"; of an object of a scene, "ship/dock" */
    /* What is wrong, and what to do. About a place: "orbit.weft:3:14: Orbit.drag[2]: 's' is a
     * time, ...", the line of the text, and a caret. */
    char text[640];
} weft_error;

/* ---- hooks ---- */

/* The memory hook. All memory of a world or a pool goes through it, except what is mapped:
 * component storage, entity blocks and look-up tables of large worlds, read-only and mapped
 * blobs, and what the capacities of a pool size: workers, jobs, children, dependencies. Both
 * functions are called from any thread. `allocate` returns `bytes` bytes aligned to `alignment`
 * (a power of two, at most 64) or NULL; `release` gets the same bytes and alignment back. A
 * zero-initialised hook means malloc and free. */
typedef struct weft_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory, size_t bytes, size_t alignment);
    void *user;
} weft_allocator;

/* The kind of a logged text. */
typedef enum weft_log_level {
    WEFT_LOG_WARNING, /* something that was requested does not happen */
    WEFT_LOG_MISTAKE, /* checked builds: a mistake of the program, as the world's error says it,
                         with the system and the component */
    WEFT_LOG_REPORT,  /* figures that the environment requested; several lines */
} weft_log_level;

/* The log: receives what no return value can carry. Zero-initialised: warnings and reports go to
 * stderr, and only when an environment variable (WEFT_TRACE, WEFT_COUNTERS) or a trace file
 * requests something; mistakes are not written, because they are errors of the step. The text is
 * valid until `write` returns; `write` must not call the world or pool that logs. It is called
 * on the owner's thread and on the thread that creates or destroys the world or pool, never at
 * once for one of them. A broken invariant of a checked build is not logged: the process ends. */
typedef struct weft_log {
    void (*write)(void *user, weft_log_level level, const char *text);
    void *user;
} weft_log;

/* The interface to the operating system (memory mapping, threads, futex, clock). Opaque: NULL in
 * descriptors means the real one; tests inject faults here. */
typedef struct weft_os weft_os;

/* ---- threads ----
 *
 * Each function follows one of these rules. Its comment names it ("Threads: any."), else the
 * heading above it, else the beginning of its header. docs/reference/threads.md lists the functions
 * of each rule, and what a call against it gives.
 *
 *   any: each thread, at any time, also beside other calls of the same object.
 *   any while unchanged: each thread, while no call changes what it reads: of a world its structure
 *       and descriptions (systems that run change values only), of a grid or a shard the object.
 *   setup: before a second thread uses the library.
 *   owner: the thread that has the world, or the object that belongs to one, outside of its
 *       systems. One at a time; a hand-over to another thread must synchronise.
 *   owner, world idle: as owner, while no system runs, and no query is iterated.
 *       An exclusive system and a hook of the world may call it.
 *   owner, between steps: as owner, world idle, but not in an exclusive system. A hook may call it.
 *   owner, outside of hooks: as owner, between steps, but not in a hook of the world.
 *   owner or system: the owner, and while systems run those that declare what it reads.
 *   callback: the thread that was given the argument by a callback of the library (a slice in a
 *       system, a source, a baker), or by the owner's loop, until that ends.
 *   holder: the one thread that has the object now (a recorder, a builder, a grid), whatever its
 *       world does. A hand-over to another thread must synchronise.
 *   pool owner: the thread that created the pool, outside of jobs.
 *   context: the thread that the context belongs to: of the pool's owner, a job or a guest.
 *   ranks: the thread that called weft_ranks_start, which owns the world of a shard; the world is
 *       idle. */

#ifdef __cplusplus
}
#endif
#endif
