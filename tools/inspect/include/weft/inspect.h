/* SPDX-License-Identifier: MIT */
/* inspect.h: the inspector: windows on a running world, on a page that its process serves to a
 * browser on the same machine.
 *
 *   weft_inspect *inspect;
 *   weft_inspect_start(world, NULL, &inspect);
 *   puts(weft_inspect_url(inspect));                       http://127.0.0.1:27760/#4f1c...
 *   while (running) weft_world_step(world, dt);            answers between steps
 *   weft_inspect_stop(inspect);
 *
 * Public, in libweft-inspect; <weft/weft.h> does not include it. A thread of its own speaks HTTP
 * and never touches the world: requests wait in a mailbox until the owner of the world answers
 * them, at the end of a step (or in weft_inspect_pump). While no page is open that is one load a
 * step, and nothing is sampled. Looking changes no value, stamps nothing, and leaves hashes as
 * they are.
 *
 * Only programs on this machine reach it (127.0.0.1), and only with the token of the URL; for other
 * machines forward the port: ssh -L 27760:127.0.0.1:27760. Values can be changed and systems
 * switched only where is_writable says so.
 *
 * A program that is linked with the library needs no call: with WEFT_INSPECT=PORT in its
 * environment every world that it makes is inspected. The guide is docs/guide/inspector.md. */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include <weft/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the inspector ---- */

/* An inspector of one world. */
typedef struct weft_inspect weft_inspect;

#define WEFT_INSPECT_PORT 27760u                 /* the default */
#define WEFT_INSPECT_ANY_PORT UINT32_MAX         /* one that is free */
#define WEFT_INSPECT_BUDGET_NS UINT64_C(2000000) /* of a pump at the end of a step */

/* Describes an inspector. Zero means default. Everything is copied. */
typedef struct weft_inspect_desc {
    uint32_t port;        /* of 127.0.0.1; 0: WEFT_INSPECT_PORT; or WEFT_INSPECT_ANY_PORT */
    bool takes_next_port; /* where it is taken: the next free one of the 16 behind it */
    bool is_writable;     /* the page may change values and switch systems */
    bool is_pumped;       /* the program calls weft_inspect_pump: nothing happens in steps */
    bool is_paused;       /* after its first step the world waits until a page lets it go on */
    const char *token;    /* 32 hexadecimal digits; NULL: drawn at random */
    weft_log log;         /* warnings; zero: stderr */
} weft_inspect_desc;

/* Begins to serve. The world may have a pool of its own or a lent one; for the Timeline window
 * the pool needs traces (weft_job_pool_desc.trace_capacity, which may be paused; WEFT_INSPECT in
 * the environment gives every pool some). `desc` may be NULL. Until it is stopped
 * weft_world_destroy is BUSY. Errors: INVALID_ARGUMENT (the port, the token), ALREADY_EXISTS (the
 * port is taken), IO (sockets), THREAD_FAILED, OUT_OF_MEMORY, WRONG_PHASE: weft_world_error says
 * what to do. Threads: owner, world idle. */
WEFT_API weft_result weft_inspect_start(weft_world *world, const weft_inspect_desc *desc,
                                        weft_inspect **out);

/* Ends it: pages are told, the port is free afterwards. A paused world goes on. NULL is ignored.
 * Threads: owner, world idle. */
WEFT_API void weft_inspect_stop(weft_inspect *inspect);

/* Where the page is: "http://127.0.0.1:27760/#<token>". Keep it as secret as the world: it is the
 * key. Belongs to the inspector. Threads: owner. */
WEFT_API const char *weft_inspect_url(const weft_inspect *inspect);

/* The inspector of a world, also one that the environment or weft_inspect_all asked for; NULL: it
 * has none. Threads: owner. */
WEFT_API weft_inspect *weft_inspect_of(const weft_world *world);

/* Answers what pages have asked since, and sends the windows that are open what has changed, at
 * most ten times a second, and so rarely that an answer takes 1 % of the time (2 s apart at most);
 * returns after `budget_ns` at the latest that can be stopped between
 * two answers (0: WEFT_INSPECT_BUDGET_NS), the rest comes next time. While the page has paused
 * the world, it returns when the page says so. Called at the end of every step unless is_pumped.
 * Errors: INVALID_ARGUMENT, WRONG_PHASE. Threads: owner, world idle. Cost: a load while no page
 * is open. */
WEFT_API weft_result weft_inspect_pump(weft_inspect *inspect, uint64_t budget_ns);

/* ---- the Scenes window ---- */

/* What a part of the program that loads scenes shows and is asked. All may be NULL. Called by the
 * owner, in the pump. */
typedef struct weft_inspect_source {
    /* Writes members of the window as JSON, without braces, and returns their length like snprintf:
     *   "sections": [{"name": "north", "state": "loaded", "rows": 1000, "bytes": 65536}],
     *   "requests": [{"section": "south", "state": "reading", "done": 0.4}] */
    size_t (*write)(char *text, size_t capacity, void *user);
    /* Where an entity comes from: "level.weft:3:14 cube"; 0: from nothing that it knows. */
    size_t (*origin)(weft_entity entity, char *text, size_t capacity, void *user);
    /* The page asks to load or unload a section (is_writable only). */
    weft_result (*request)(const char *section, bool is_load, void *user);
    void *user;
} weft_inspect_source;

/* Shows a scene (scene.h): its files, what the last bake did and what is wrong with the documents;
 * and where entities come from. NULL: no scene. It must outlive the inspector, or be taken away.
 * Threads: owner. */
WEFT_API void weft_inspect_scene(weft_inspect *inspect, weft_scene *scene);

/* Gives the window sections and requests. Copied; NULL takes them away. Threads: owner. */
WEFT_API void weft_inspect_sections(weft_inspect *inspect, const weft_inspect_source *source);

/* ---- a host's own panels ---- */

/* A panel of the Program window. `name` is copied; all others may be zero. Called by the owner, in
 * the pump. */
typedef struct weft_inspect_panel_desc {
    const char *name; /* 1..63 bytes */
    /* Writes what it shows as members of JSON, without braces, and returns their length like
     * snprintf:
     *   "text": "...", "figures": {"Altitude": "412 km"}, "rows": [{"stage": 1, "fuel": 0.4}] */
    size_t (*write)(char *text, size_t capacity, void *user);
    /* The panel has a button, and a page that may write has pressed it. */
    void (*press)(weft_world *world, void *user);
    const char *button; /* its text, copied; NULL: the name */
    void *user;
} weft_inspect_panel_desc;

/* Adds a panel, or replaces that of the same name; with neither function takes it away. Errors:
 * INVALID_ARGUMENT (the name), OUT_OF_MEMORY. Threads: owner. */
WEFT_API weft_result weft_inspect_panel(weft_inspect *inspect, const weft_inspect_panel_desc *desc);

/* ---- command lines ---- */

/* For an option --inspect[=VALUE]: as if WEFT_INSPECT=VALUE were in the environment: every world
 * that the process makes from now on is inspected, and its URL written to stderr. VALUE is NULL or
 * "" (the default port), or words with commas between them: a port, "write" (the page may change
 * the world), "paused" (it waits after its first step). Several worlds at a time take the next
 * ports. Errors: INVALID_ARGUMENT (another value). Threads: setup. */
WEFT_API weft_result weft_inspect_all(const char *value);

#ifdef __cplusplus
}
#endif
#endif
