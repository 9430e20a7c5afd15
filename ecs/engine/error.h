/* SPDX-License-Identifier: MIT */
/* error.h: the last error of a world: setting it, and the checks of phase that set it.
 *
 * Every function returns the code that it set, so that callers return it in turn. Texts say what to
 * do. Threads: owner, and callbacks whose errors are diverted. */
#ifndef WEFT_ERROR_H
#define WEFT_ERROR_H

#include "door.h"
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
/* Whether errors of the world are diverted on the calling thread. */
bool weft__error_is_diverted(const weft_world *world);
/* Sets the last error and returns `code`. Owner, and callbacks whose errors are diverted. */
WEFT__DOOR __attribute__((format(printf, 5, 6))) weft_result
weft__error(const weft_world *world, weft_result code, weft_entity entity, weft_component component,
            const char *format, ...);
/* Ready-made ones: the text names the function. */
WEFT__DOOR weft_result weft__error_memory(const weft_world *world, const char *what);
/* TYPE_MISMATCH: only destruction puts the tag of residues on and takes it off. */
weft_result weft__error_residue_tag(const weft_world *world, const char *what);
weft_result weft__error_stale(const weft_world *world, weft_entity entity);
weft_result weft__error_component(const weft_world *world, weft_component component);
/* The same for entry `i` of a list. */
weft_result weft__error_listed(const weft_world *world, const char *what, const char *list,
                               uint32_t i, weft_component component);
/* WEFT_OK when all entries are components of the world; else weft__error_listed of the first. */
weft_result weft__check_listed(const weft_world *world, const char *what, const char *list,
                               const weft_component *components, uint32_t count);
WEFT__DOOR weft_result weft__error_busy(const weft_world *world, const char *what);
weft_result weft__error_step(const weft_world *world, const char *what);
/* OK while no systems run; else WRONG_PHASE, and `advice` says what to do instead. For calls that
 * an open cursor or gather does not mind. */
weft_result weft__refuse_systems(const weft_world *world, const char *what, const char *advice);
/* `problem` says which argument and what to give instead. */
weft_result weft__error_argument(const weft_world *world, const char *what, const char *problem);
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

/* WEFT_OK when structure may change now. */
static inline weft_result weft__idle(const weft_world *world, const char *what)
{
    if (WEFT_IS_CHECKED && weft__is_held(world, what)) return WEFT_BUSY;
    return __builtin_expect(weft__front(world)->busy == 0, 1) ? WEFT_OK
                                                              : weft__error_busy(world, what);
}

/* WEFT_OK when the owner may write values: while it iterates, too. */
static inline weft_result weft__may_write(const weft_world *world, const char *what)
{
    if (WEFT_IS_CHECKED && weft__is_held(world, what)) return WEFT_BUSY;
    bool may = (weft__front(world)->busy & WEFT__BUSY_WRITING) == 0;
    return __builtin_expect(may, 1) ? WEFT_OK : weft__error_busy(world, what);
}

/* Whether weft__may_write would be WEFT_OK. */
static inline bool weft__is_writable(const weft_world *world)
{
    bool is_held = WEFT_IS_CHECKED && weft__is_held(world, NULL);
    bool may = (weft__front(world)->busy & WEFT__BUSY_WRITING) == 0;
    return __builtin_expect(may && !is_held, 1);
}

/* WEFT_OK when no step is going on either: an exclusive system may change structure, but neither
 * systems nor the schedule, and it must not end the world. */
static inline weft_result weft__between_steps(const weft_world *world, const char *what)
{
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

/* An entity for error texts: index:version, and the name that this handle had last, if any. A
 * value. */
typedef struct weft__entity_words {
    char text[96];
} weft__entity_words;
weft__entity_words weft__entity_say(const weft_world *world, weft_entity entity);

/* Name for error texts, never NULL. */
const char *weft__type_name(const weft_world *world, uint32_t component);

#endif
