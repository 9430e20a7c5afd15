/* SPDX-License-Identifier: MIT */
/* session.h: what the windows share of one inspected world. The thread that owns the world makes,
 * reads and changes all of it, between steps.
 *
 * A window is a function: it gets a request and writes one JSON object. The same function answers a
 * single request and, ten times a second, what an open page watches. It changes nothing of the
 * world, and asks for what costs something (times of systems, events of the pool) by weft__need,
 * which lasts as long as it is asked. */
#ifndef WEFT_INSPECT_SESSION_H
#define WEFT_INSPECT_SESSION_H

#include "mailbox.h"
#include "request.h"
#include "worlds.h"

#include <weft/inspect.h>
#include <weft/live.h>
#include <weft/schedule.h>
#include <weft/stream.h>
#include <weft/system.h>

typedef struct weft__timeline weft__timeline;     /* timeline_store.h */
typedef struct weft__system_log weft__system_log; /* system_log.h */
typedef struct weft__condition weft__condition;   /* condition.h */
typedef struct weft__lists weft__lists;           /* window_list.h */
typedef struct weft__panel weft__panel;           /* window_program.h */
typedef struct weft__past weft__past;             /* past.h */
typedef struct weft__search weft__search;         /* window_entities.c */

/* Of requests and answers. A page compares it with its own and says when they differ: it grows when
 * a page of before could not read what it gets. */
enum { WEFT__PROTOCOL = 1 };

/* What a window needs of the engine while it is open. */
typedef enum weft__need {
    WEFT__NEED_TIMES,  /* weft_schedule_desc.is_measured */
    WEFT__NEED_EVENTS, /* weft_job_trace_enable */
    WEFT__NEED_COUNT
} weft__need;

/* Owner: the inspector. Always: is_measuring: `options` are what the program had set. */
typedef struct weft__session {
    weft_world *world;
    bool is_writable;
    weft__world_place place; /* among the inspected worlds of the process */
    weft__mailbox *mailbox;  /* for "watch" */
    /* pause, step, speed (clockwork.h) */
    bool is_paused;
    uint32_t steps_left; /* steps to run although it is paused */
    double speed;        /* steps a second at most; 0: as fast as they go */
    uint64_t next_step_ns;
    uint64_t steps_seen, rate_since_ns;
    double steps_per_second;
    weft__condition *condition; /* to pause by itself; NULL: none */
    /* needs: 0: not needed; else when it was last asked for */
    uint64_t needed_ns[WEFT__NEED_COUNT];
    bool is_measuring, is_tracing;
    weft_schedule_desc options;
    weft__timeline *timeline;     /* NULL: never looked at */
    weft__system_log *system_log; /* the same */
    weft__lists *lists;           /* NULL: none was asked for */
    weft__past *past;             /* NULL: no page was open */
    weft__search *search;         /* NULL: nothing was searched for */
    /* the Scenes window */
    weft_scene *scene;
    uint32_t edits; /* write-backs that pages can take back */
    weft_inspect_source source;
    weft__panel *panels; /* of the Program window */
    /* relations of the world, found again when types were registered */
    weft_component *relations;
    uint32_t relation_count;
    uint64_t relation_types;
} weft__session;

/* Writes the members of an answer; returns the HTTP status. */
typedef uint32_t weft__window(weft__session *session, const weft__request *request,
                              weft__wire *out);

/* Monotonic time. */
uint64_t weft__session_now(void);
/* An error as the answer: {"error": text}. Returns the status. */
uint32_t weft__window_fail(weft__wire *out, uint32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What a page that only reads is told of a change. */
uint32_t weft__window_read_only(weft__wire *out);
/* The same with the text of the world's last error. */
uint32_t weft__window_world_error(const weft__session *session, weft__wire *out);
void weft__session_need(weft__session *session, weft__need need);
/* The component with the number `id` of the world. */
weft_component weft__session_component(const weft__session *session, uint32_t id);
uint32_t weft__session_component_count(const weft__session *session);
/* All systems of the world, to be freed by the caller; NULL: none, or memory was refused, which
 * fails the answer. The same: the components of an archetype, live links, streams. */
weft_system *weft__session_systems(const weft__session *session, uint32_t *count, weft__wire *out);
weft_component *weft__session_components(const weft__session *session, weft_archetype archetype,
                                         uint32_t *count, weft__wire *out);
weft_live **weft__session_links(const weft__session *session, uint32_t *count, weft__wire *out);
weft_stream **weft__session_streams(const weft__session *session, uint32_t *count, weft__wire *out);
/* "data", "tag", "shared", ... */
const char *weft__session_kind(const weft_component_desc *info);
/* The name of a component, "?" for a bad handle. */
const char *weft__session_name(const weft__session *session, weft_component component);
/* "12:3" */
void weft__wire_entity(weft__wire *out, const char *name, weft_entity entity);
/* An object whose members `write` gives as text, with the length like snprintf. Left out where it
 * gives none. */
void weft__wire_told(weft__wire *out, const char *name,
                     size_t (*write)(char *text, size_t capacity, void *user), void *user);
/* An array of the components of an archetype, as names. */
void weft__wire_archetype(weft__wire *out, const char *name, const weft__session *session,
                          weft_archetype archetype);

#endif
