/* SPDX-License-Identifier: MIT */
/* error.h: the last error of a world: setting it, and the checks of phase that set it.
 *
 * Every function returns the code that it set, so that callers return it in turn. Texts say what to
 * do. Threads: owner, and callbacks whose errors are diverted. */
#pragma once

#include "world_front.h"

/* The error of callbacks on one worker: the one of the lowest slice. Its worker writes it, the
 * owner reads it when the loop has ended. */
typedef struct weft__callback_error {
    _Alignas(64) weft_error error; /* `number` 0: none */
    uint32_t slice;                /* of the error */
    const weft_world *world;
    const uint32_t *current; /* slice */
} weft__callback_error;

/* Errors of `record->world` go to `record` while the calling thread is in callbacks of a loop;
 * NULL: they do no more. Returns what it replaces. */
weft__callback_error *weft__error_divert(weft__callback_error *record);
/* Checked builds: keeps what a thread that may not write the world's error has to say. Any. */
__attribute__((format(printf, 2, 3))) void weft__mistake_keep(const weft_world *world,
                                                              const char *format, ...);
/* What was kept first becomes the world's error: WRONG_PHASE; OK: nothing was. Owner. */
weft_result weft__mistake_report(const weft_world *world);
/* Whether errors of the world are diverted on the calling thread. */
bool weft__error_is_diverted(const weft_world *world);
/* Sets the last error and returns `code`. Owner, and callbacks whose errors are diverted. */
WEFT__DOOR __attribute__((format(printf, 5, 6))) weft_result
weft__error(const weft_world *world, weft_result code, weft_entity entity, weft_component component,
            const char *format, ...);
/* The same with what is wrong with a value: code, place and, behind `what`, the text of `found`. */
weft_result weft__error_found(const weft_world *world, weft_component component, const char *what,
                              const weft_error *found);
/* Ready-made ones: the text names the function. */
/* UNSUPPORTED: values of a type that is_uncopyable would be copied. */
weft_result weft__error_uncopyable(const weft_world *world, weft_entity entity, uint32_t component,
                                   const char *what);
WEFT__DOOR weft_result weft__error_memory(const weft_world *world, const char *what);
/* TYPE_MISMATCH: only destruction puts the tag of residues on and takes it off. */
weft_result weft__error_residue_tag(const weft_world *world, const char *what);
weft_result weft__error_stale(const weft_world *world, weft_entity entity);
weft_result weft__error_component(const weft_world *world, weft_component component);
/* A call `what` that cannot be made for this component. Of a system it is reported by the step of
 * checked builds (any thread), else it is the world's error. `problem` is a literal and follows the
 * name. */
weft_result weft__error_use(const weft_world *world, weft_result code, const char *what,
                            weft_component component, const char *problem);
/* The same for entry `i` of a list. */
weft_result weft__error_listed(const weft_world *world, const char *what, const char *list,
                               uint32_t i, weft_component component);
/* WEFT_OK when all entries are components of the world; else weft__error_listed of the first. */
weft_result weft__check_listed(const weft_world *world, const char *what, const char *list,
                               const weft_component *components, uint32_t count);
WEFT__DOOR weft_result weft__error_busy(const weft_world *world, const char *what);
weft_result weft__error_step(const weft_world *world, const char *what);
/* OK while no systems run; else WRONG_PHASE, and `advice` says what to do instead. For calls that
 * an open cursor does not mind. */
WEFT__DOOR weft_result weft__refuse_systems(const weft_world *world, const char *what,
                                            const char *advice);
/* weft__idle and weft__between_steps for the libraries beside. */
WEFT__DOOR weft_result weft__refuse_busy(const weft_world *world, const char *what);
WEFT__DOOR weft_result weft__refuse_steps(const weft_world *world, const char *what);
/* `problem` says which argument and what to give instead. */
weft_result weft__error_argument(const weft_world *world, const char *what, const char *problem);
/* What X_get refuses: no world, or no `out` for a struct X. */
weft_result weft__error_out(const weft_world *world, const void *out, const char *what);
/* OUT_OF_MEMORY or LIMIT of an allocator. */
weft_result weft__error_limit(const weft_world *world, weft_result code, const char *what);
weft_result weft__error_absent(const weft_world *world, weft_entity entity,
                               weft_component component);

/* Checked builds: whether another thread is in the world, and the caller is neither a callback of
 * its loop nor told apart by what watches systems and observers. Such a call gets BUSY without a
 * text; a step reports it, unless `what` is NULL. */
bool weft__is_held(const weft_world *world, const char *what);

/* Whether weft__idle would be WEFT_OK: for ways that leave it to others to say why not. */
static inline bool weft__is_idle(const weft_world *world)
{
    bool is_held = WEFT_IS_CHECKED && weft__is_held(world, NULL);
    return __builtin_expect(weft__front(world)->busy == 0 && !is_held, 1);
}

/* WEFT_OK when structure may change now. Of this and the others: INVALID_ARGUMENT without a
 * world. */
static inline weft_result weft__idle(const weft_world *world, const char *what)
{
    if (__builtin_expect(world == NULL, 0)) return WEFT_INVALID_ARGUMENT;
    if (WEFT_IS_CHECKED && weft__is_held(world, what)) return WEFT_BUSY;
    return __builtin_expect(weft__front(world)->busy == 0, 1) ? WEFT_OK
                                                              : weft__error_busy(world, what);
}

/* WEFT_OK when the owner may write values: while it iterates, too. */
static inline weft_result weft__may_write(const weft_world *world, const char *what)
{
    if (__builtin_expect(world == NULL, 0)) return WEFT_INVALID_ARGUMENT;
    if (WEFT_IS_CHECKED && weft__is_held(world, what)) return WEFT_BUSY;
    bool may = (weft__front(world)->busy & WEFT__BUSY_WRITING) == 0;
    return __builtin_expect(may, 1) ? WEFT_OK : weft__error_busy(world, what);
}

/* WEFT_OK when no step is going on either: an exclusive system may change structure, but neither
 * systems nor the schedule, and it must not end the world. */
static inline weft_result weft__between_steps(const weft_world *world, const char *what)
{
    if (__builtin_expect(world == NULL, 0)) return WEFT_INVALID_ARGUMENT;
    const weft__world_front *front = weft__front(world);
    if (WEFT_IS_CHECKED && weft__is_held(world, what)) return WEFT_BUSY;
    return __builtin_expect((front->busy | front->frame) == 0, 1) ? WEFT_OK
                                                                  : weft__error_step(world, what);
}

weft_result weft__error_told(const weft_world *world, const char *what);
/* WEFT_OK when the world may step, or end: not in its hooks either, nor while it ends. */
static inline weft_result weft__outside_hooks(const weft_world *world, const char *what)
{
    if (__builtin_expect(weft__front(world)->is_told, 0)) return weft__error_told(world, what);
    return weft__between_steps(world, what);
}

/* A hook of a component that runs: what would change, step or end its world is refused meanwhile.
 * On the stack. */
typedef struct weft__hook {
    const weft_world *world; /* NULL: of none */
    bool closes;             /* the world was open, and it is the thread of its pool's owner */
    /* checked builds: errors of the thread, which are the mistakes of the hook */
    weft__callback_error record, *before;
} weft__hook;

static inline void weft__hook_begin(weft__hook *hook, const weft_world *world)
{
    static const uint32_t slice = 0;
    hook->world = world;
    if (world == NULL) return;
    const weft__world_front *front = weft__front(world);
    /* others do not read `busy`, which the owner may write now */
    const weft_job_context *owner = front->host.owner;
    bool is_owner = owner == NULL || weft__context_is_owners(owner, weft__thread_self());
    hook->closes = is_owner && (front->busy & (WEFT__BUSY_STEPPING | WEFT__BUSY_CALLBACK)) == 0;
    if (hook->closes) weft__callback_begin(world);
    if (!WEFT_IS_CHECKED) return;
    hook->record = (weft__callback_error){.world = world, .current = &slice};
    hook->before = weft__error_divert(&hook->record);
}

static inline void weft__hook_end(weft__hook *hook, const char *name, const char *component)
{
    if (hook->world == NULL) return;
    if (hook->closes) weft__callback_end(hook->world);
    if (!WEFT_IS_CHECKED) return;
    weft__error_divert(hook->before);
    if (hook->record.error.number == 0) return;
    weft__mistake_keep(hook->world, "the %s hook of component \"%s\" used the world: %s", name,
                       component, hook->record.error.text);
    /* in a loop or step of the world, where that ends; relaxed: no other's value counts */
    if (hook->closes && at_load_rlx(&weft__front(hook->world)->host.x_thread) == 0)
        weft__mistake_report(hook->world);
}

/* An entity for error texts: index:version, and the name that this handle had last, if any. A
 * value. */
typedef struct weft__entity_words {
    char text[96];
} weft__entity_words;
weft__entity_words weft__entity_say(const weft_world *world, weft_entity entity);

/* Name for error texts, never NULL. */
const char *weft__type_name(const weft_world *world, uint32_t component);

/* ---- lists of descriptors ---- */

/* A few entries inline, up to the first that is all zero, and more behind a pointer with a count.
 * An entry whose handle is null is a mistake wherever something else says that it was meant: fields
 * beside the handle, entries behind it, or the count. */

/* A list as the caller gave it; on the stack of the call. */
typedef struct weft__given {
    const char *name; /* of the inline array, for error texts; the other is more_<name> */
    const void *few;  /* NULL: there is no inline array */
    const void *more;
    uint32_t few_limit;  /* entries of the inline array */
    uint32_t more_count; /* as given */
    uint32_t bytes;      /* of an entry; no padding */
    uint32_t key_bytes;  /* the handle or pointer that it begins with */
    uint32_t few_count;  /* entries in use; filled by weft__given_check */
    uint32_t count;      /* with those behind the pointer; filled by weft__given_check */
} weft__given;

/* Counts the entries. Errors name the list and the position: BAD_HANDLE (a null entry),
 * INVALID_ARGUMENT (a count without a pointer). `what` is the function. */
weft_result weft__given_check(const weft_world *world, const char *what, weft__given *list);

/* Entry i < count of a list that was checked. */
static inline const void *weft__given_at(const weft__given *list, uint32_t i)
{
    const char *at = i < list->few_count ? list->few : list->more;
    return at + (size_t)(i < list->few_count ? i : i - list->few_count) * list->bytes;
}

/* ---- memory that stands in ---- */

/* Checked builds answer a mistake with it, in place of NULL: the program goes on to where the
 * mistake is reported. Unchecked builds have none. What is written to it is lost. It is taken from
 * one block of a world after another, each twice as large, up to 16 MiB; then the last block is
 * used from its beginning again. Blocks stay until the world ends, because pointers into them may
 * be kept. Threads: any. */

/* Owner: the world. Guarded by `lock`; used <= size. */
typedef struct weft__stand_in {
    pthread_mutex_t lock;
    char *block; /* NULL: none; begins with its size and the block before it */
    size_t size, used;
} weft__stand_in;

/* Zeroed memory of at least `bytes`. NULL: an unchecked build, or no memory. */
void *weft__stand_in_bytes(const weft_world *world, size_t bytes);
/* Room for `rows` values of a component; of any other id, of the largest component there is. */
void *weft__stand_in_values(const weft_world *world, uint32_t component, uint32_t rows);
/* In place of a value for writing that the world refuses now: for the callbacks of systems and
 * observers, which are reported. NULL: the owner called, who has the error. */
void *weft__stand_in_refused(const weft_world *world, uint32_t component);
/* Whether `at` is in such memory. */
bool weft__stand_in_holds(const weft_world *world, const void *at);
void weft__stand_in_init(weft_world *world);
void weft__stand_in_fini(weft_world *world);

/* ---- what waits until the threads of streams have given back what they have of the world ---- */

/* BUSY (error set) while sections are read or taken out; else WEFT_OK. */
weft_result weft__lent_refuse(const weft_world *world, const char *what);
/* Recorders outside of systems hold no ids, and get none until weft__ids_open: versions may be
 * changed. Errors: WRONG_PHASE, and nothing is closed. */
weft_result weft__ids_close(weft_world *world, const char *what);
void weft__ids_open(weft_world *world);
