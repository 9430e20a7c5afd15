/* SPDX-License-Identifier: MIT */
/* explore_memory.c: the hooks of the atomics door under the four memory models.
 *
 * SC reads and writes memory. TSO and PSO put stores that are not sequentially consistent into a
 * buffer of their thread; while the thread runs no other can look, so what leaves the buffer is
 * chosen when the thread is switched out, and now and then later. C11 keeps the last values of each
 * word with, for each, what its writer knew if the store released (a clock per thread and, per
 * word, the newest value known). A load may take any value not older than what its thread knows;
 * an acquire load learns what came with the value. A sequentially consistent load is never older
 * than the last sequentially consistent store. Not modelled: values out of thin air, load
 * buffering, stores placed into the middle of a word's history. */
#include "explore_engine.h"

#include <string.h>

#define WORDS 2048u
#define WORD_HASH_BITS 13
#define WORD_HASH (1u << WORD_HASH_BITS)
#define VALUES 6u

const char *const engine_order_names[] = {"rlx", "acq", "rel", "ar", "sc"};
const char *const engine_model_names[] = {"sc", "tso", "pso", "c11"};

typedef struct knowledge {
    uint32_t clock[ENGINE_THREADS];
    uint32_t count; /* words that `seen` covers */
    uint16_t seen[WORDS];
} knowledge;

typedef struct word_value {
    uint64_t value;
    bool is_release;
    knowledge known;
} word_value;

typedef struct word {
    const void *address;
    uint32_t width;
    uint32_t latest, oldest; /* times of the newest and the oldest kept value */
    uint32_t sc_time;        /* time of the last sequentially consistent store */
    word_value values[VALUES];
} word;

static word words[WORDS];
static uint32_t word_count;
static struct {
    uint32_t generation, index;
} word_hash[WORD_HASH];
static uint32_t generation;
static knowledge thread_known[ENGINE_THREADS];

static uint64_t raw_read(const void *p, uint32_t width)
{
    uint64_t v = 0;
    memcpy(&v, p, width);
    return v;
}

static void raw_write(void *p, uint32_t width, uint64_t v)
{
    if (width == 4) {
        uint32_t narrow = (uint32_t)v;
        memcpy(p, &narrow, 4);
    } else {
        memcpy(p, &v, 8);
    }
}

void engine_memory_reset(void)
{
    generation++;
    word_count = 0;
    memset(thread_known[0].clock, 0, sizeof thread_known[0].clock);
    thread_known[0].clock[0] = 1;
    thread_known[0].count = 0;
}

/* ---- store buffers ---- */

static bool has_buffer(void)
{
    return engine.model == EXPLORE_TSO || engine.model == EXPLORE_PSO;
}

static void apply_pending(uint32_t thread, uint32_t index)
{
    engine_thread *owner = &engine.threads[thread];
    engine_pending *entry = &owner->pending[index];
    engine_trace(NULL, entry->address, "becomes visible", entry->value);
    raw_write(entry->address, entry->width, entry->value);
    owner->pending_count--;
    memmove(entry, entry + 1, (owner->pending_count - index) * sizeof *entry);
    engine_wrote(thread);
}

bool engine_flush_one(uint32_t thread)
{
    if (!engine.threads[thread].pending_count) return false;
    apply_pending(thread, 0);
    return true;
}

void engine_drain(uint32_t thread)
{
    while (engine_flush_one(thread)) {
    }
}

void engine_meet(const void *p, uint32_t bytes)
{
    const engine_thread *self = &engine.threads[engine.current];
    for (uint32_t i = 0; i < self->pending_count; i++) {
        const char *begin = self->pending[i].address, *at = p;
        if (at >= begin + self->pending[i].width || begin >= at + bytes) continue;
        engine_drain(engine.current);
        return;
    }
}

void engine_hold(uint32_t thread)
{
    engine_thread *owner = &engine.threads[thread];
    uint32_t count = owner->pending_count;
    uint32_t random = engine_odds(2) ? 1 + (uint32_t)(engine_random() % count) : 0;
    uint32_t first = engine_choose(count + 1, &engine.weak_left, random);
    if (!first) {
        engine_drain(thread);
        return;
    }
    /* Everything before entry `first - 1` leaves; of the rest, what may pass the held ones. */
    for (uint32_t i = 1; i < first; i++) apply_pending(thread, 0);
    if (engine.model == EXPLORE_TSO) return;
    for (uint32_t i = 1; i < owner->pending_count;) {
        bool must_stay = owner->pending[i].is_release;
        for (uint32_t j = 0; j < i; j++) {
            must_stay |= owner->pending[j].address == owner->pending[i].address;
        }
        if (must_stay)
            i++;
        else
            apply_pending(thread, i);
    }
}

static uint64_t buffered_load(const void *p, uint32_t width)
{
    const engine_thread *self = &engine.threads[engine.current];
    for (uint32_t i = self->pending_count; i-- > 0;) {
        if (self->pending[i].address == p) return self->pending[i].value;
    }
    return raw_read(p, width);
}

/* Words on the thread's own stack are never delayed: their place may serve something else, which no
 * hook sees, before they leave. */
static bool is_on_own_stack(const engine_thread *self, const void *p)
{
    const char *begin = self->fibre.stack, *at = p;
    return begin != NULL && at >= begin && at < begin + FIBRE_STACK_BYTES;
}

static void buffered_store(void *p, uint32_t width, uint64_t v, weft__hook_order order)
{
    engine_thread *self = &engine.threads[engine.current];
    bool is_direct =
        order == HOOK_SC || engine.is_quiet || !engine.weak_left || is_on_own_stack(self, p);
    if (is_direct) {
        engine_drain(engine.current);
        raw_write(p, width, v);
        engine_wrote(engine.current);
        return;
    }
    if (self->pending_count == ENGINE_BUFFER) engine_flush_one(engine.current);
    self->pending[self->pending_count++] = (engine_pending){p, v, width, order != HOOK_RLX};
}

/* ---- histories (C11) ---- */

static uint32_t hash_address(const void *p)
{
    return (uint32_t)(((uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - WORD_HASH_BITS));
}

static bool is_on_any_stack(const void *p)
{
    bool is_on = false;
    for (uint32_t t = 0; t < ENGINE_THREADS && !is_on; t++)
        is_on = is_on_own_stack(&engine.threads[t], p);
    return is_on;
}

/* Where the width differs another variable lies on a stack now: a word of its own. */
static word *word_of(const void *p, uint32_t width)
{
    uint32_t h = hash_address(p);
    for (; word_hash[h].generation == generation; h = (h + 1) % WORD_HASH) {
        word *w = &words[word_hash[h].index];
        if (w->address != p) continue;
        if (w->width == width) return w;
        if (!is_on_any_stack(p)) explore_fail("one word used with two widths");
        w->address = NULL;
    }
    if (word_count == WORDS) explore_fail("more than %u shared words", WORDS);
    word_hash[h].generation = generation;
    word_hash[h].index = word_count;
    word *w = &words[word_count++];
    w->address = p;
    w->width = width;
    w->latest = w->oldest = w->sc_time = 0;
    w->values[0].value = raw_read(p, width);
    w->values[0].is_release = false;
    return w;
}

static word_value *value_at(word *w, uint32_t time)
{
    return &w->values[time % VALUES];
}

static uint32_t seen_time(const knowledge *known, const word *w)
{
    uint32_t index = (uint32_t)(w - words);
    return index < known->count ? known->seen[index] : 0;
}

static void see(knowledge *known, const word *w, uint32_t time)
{
    uint32_t index = (uint32_t)(w - words);
    while (known->count <= index) known->seen[known->count++] = 0;
    if (known->seen[index] < time) known->seen[index] = (uint16_t)time;
}

static void learn(knowledge *to, const knowledge *from)
{
    for (uint32_t t = 0; t < ENGINE_THREADS; t++) {
        if (to->clock[t] < from->clock[t]) to->clock[t] = from->clock[t];
    }
    while (to->count < from->count) to->seen[to->count++] = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        if (to->seen[i] < from->seen[i]) to->seen[i] = from->seen[i];
    }
}

static void copy_knowledge(knowledge *to, const knowledge *from)
{
    memcpy(to->clock, from->clock, sizeof to->clock);
    to->count = from->count;
    memcpy(to->seen, from->seen, from->count * sizeof to->seen[0]);
}

const uint32_t *engine_clock(uint32_t thread)
{
    return thread_known[thread].clock;
}

void engine_clock_tick(uint32_t thread)
{
    thread_known[thread].clock[thread]++;
}

void engine_memory_inherit(uint32_t child, uint32_t parent)
{
    if (engine.model != EXPLORE_C11) return;
    copy_knowledge(&thread_known[child], &thread_known[parent]);
    thread_known[child].clock[child]++;
    engine_clock_tick(parent);
}

void engine_memory_join(uint32_t parent, uint32_t child)
{
    if (engine.model == EXPLORE_C11) learn(&thread_known[parent], &thread_known[child]);
}

bool engine_memory_refresh(uint32_t thread)
{
    if (engine.model != EXPLORE_C11) return false;
    bool is_new = false;
    for (uint32_t i = 0; i < word_count; i++) {
        if (seen_time(&thread_known[thread], &words[i]) == words[i].latest) continue;
        see(&thread_known[thread], &words[i], words[i].latest);
        is_new = true;
    }
    return is_new;
}

static word_value *append_value(word *w, uint64_t v)
{
    if (++w->latest == UINT16_MAX) explore_fail("a word was written 65,535 times");
    if (w->latest - w->oldest >= VALUES) w->oldest = w->latest - VALUES + 1;
    word_value *value = value_at(w, w->latest);
    value->value = v;
    value->is_release = false;
    see(&thread_known[engine.current], w, w->latest);
    return value;
}

/* Memory may have been cleared or copied over by plain code since. */
static void resync(word *w)
{
    uint64_t now = raw_read(w->address, w->width);
    if (now == value_at(w, w->latest)->value) return;
    append_value(w, now);
    w->oldest = w->latest;
}

static bool acquires(weft__hook_order order)
{
    return order == HOOK_ACQ || order == HOOK_AR || order == HOOK_SC;
}

static bool releases(weft__hook_order order)
{
    return order == HOOK_REL || order == HOOK_AR || order == HOOK_SC;
}

static uint64_t history_load(const void *p, uint32_t width, weft__hook_order order)
{
    word *w = word_of(p, width);
    knowledge *known = &thread_known[engine.current];
    resync(w);
    engine_race_check(p, width, ENGINE_ATOMIC_READ);
    uint32_t from = seen_time(known, w);
    if (order == HOOK_SC && from < w->sc_time) from = w->sc_time;
    if (from < w->oldest) from = w->oldest;
    uint32_t choices = engine.is_quiet ? 1 : w->latest - from + 1, age = 0;
    if (choices > 1 && engine.weak_left) {
        uint32_t random = engine_odds(4) ? (uint32_t)(engine_random() % choices) : 0;
        age = engine_choose(choices, &engine.weak_left, random);
    }
    word_value *value = value_at(w, w->latest - age);
    see(known, w, w->latest - age);
    if (value->is_release && acquires(order)) learn(known, &value->known);
    return value->value;
}

static void history_publish(word *w, word_value *value, weft__hook_order order)
{
    knowledge *known = &thread_known[engine.current];
    if (releases(order)) {
        if (value->is_release)
            learn(&value->known, known);
        else
            copy_knowledge(&value->known, known);
        value->is_release = true;
        engine_clock_tick(engine.current);
    }
    if (order == HOOK_SC) w->sc_time = w->latest;
}

static void history_store(void *p, uint32_t width, uint64_t v, weft__hook_order order)
{
    word *w = word_of(p, width);
    resync(w);
    engine_race_check(p, width, ENGINE_ATOMIC_WRITE);
    history_publish(w, append_value(w, v), order);
    raw_write(p, width, v);
}

/* Reads the newest value and appends; a release sequence goes on through it. */
static void history_replace(void *p, uint32_t width, uint64_t v, weft__hook_order order)
{
    word *w = word_of(p, width);
    engine_race_check(p, width, ENGINE_ATOMIC_WRITE);
    const word_value *old = value_at(w, w->latest);
    if (old->is_release && acquires(order)) learn(&thread_known[engine.current], &old->known);
    word_value *value = append_value(w, v);
    if (old->is_release) {
        copy_knowledge(&value->known, &old->known);
        value->is_release = true;
    }
    history_publish(w, value, order);
    raw_write(p, width, v);
}

/* ---- the hooks ---- */

static weft__hook_order site_order(const char *site, weft__hook_order order, uint32_t is_rmw)
{
    if (__builtin_expect(engine.is_collecting, false)) engine_site_note(site, order, is_rmw);
    if (__builtin_expect(engine.mutant_site != NULL, false) &&
        engine_site_is(site, engine.mutant_site)) {
        return (weft__hook_order)engine.mutant_order;
    }
    return order;
}

void explore_ignore(const void *address, size_t bytes)
{
    if (engine.ignored_count == 16) explore_fail("more than 16 ignored ranges");
    engine.ignored[engine.ignored_count].begin = address;
    engine.ignored[engine.ignored_count++].end = (const char *)address + bytes;
}

static bool is_ignored(const void *p)
{
    const char *at = p;
    for (uint32_t i = 0; i < engine.ignored_count; i++) {
        if (at >= engine.ignored[i].begin && at < engine.ignored[i].end) return true;
    }
    return false;
}

static void enter(const void *p, const char *site)
{
    if (!engine.ignored_count || !is_ignored(p)) engine_point(site);
    engine_arena_check(p, site);
}

uint64_t engine_memory_latest(const void *address, uint32_t width)
{
    return raw_read(address, width);
}

uint64_t weft__hook_load(const void *p, uint32_t width, weft__hook_order order, const char *site)
{
    enter(p, site);
    order = site_order(site, order, 0);
    uint64_t v = engine.model == EXPLORE_C11 ? history_load(p, width, order)
                 : has_buffer()              ? buffered_load(p, width)
                                             : raw_read(p, width);
    engine_trace(site, p, "reads", v);
    return v;
}

void weft__hook_store(void *p, uint32_t width, weft__hook_order order, uint64_t v, const char *site)
{
    enter(p, site);
    order = site_order(site, order, 0);
    if (width == 4) v = (uint32_t)v;
    engine_trace(site, p, "writes", v);
    if (has_buffer()) {
        buffered_store(p, width, v, order);
        return;
    }
    if (engine.model == EXPLORE_C11)
        history_store(p, width, v, order);
    else
        raw_write(p, width, v);
    engine_wrote(engine.current);
}

static uint64_t replace(void *p, uint32_t width, uint64_t v, weft__hook_order order)
{
    uint64_t old = raw_read(p, width);
    if (engine.model == EXPLORE_C11)
        history_replace(p, width, v, order);
    else
        raw_write(p, width, v);
    engine_wrote(engine.current);
    return old;
}

uint64_t weft__hook_rmw_do(void *p, uint32_t width, uint32_t kind_and_order, uint64_t v,
                           const char *site)
{
    enter(p, site);
    weft__hook_order order = site_order(site, (weft__hook_order)(kind_and_order & 0xff), 1);
    engine_drain(engine.current);
    if (engine.model == EXPLORE_C11) resync(word_of(p, width));
    uint64_t old = raw_read(p, width);
    uint64_t next = hook_rmw_apply((weft__hook_rmw)(kind_and_order >> 8), old, v);
    if (width == 4) next = (uint32_t)next;
    replace(p, width, next, order);
    engine_trace(site, p, "reads", old);
    engine_trace(site, p, "writes", next);
    return old;
}

bool weft__hook_cas(void *p, uint32_t width, weft__hook_order order, uint64_t *expected, uint64_t v,
                    const char *site)
{
    enter(p, site);
    order = site_order(site, order, 1);
    engine_drain(engine.current);
    if (engine.model == EXPLORE_C11) resync(word_of(p, width));
    uint64_t old = raw_read(p, width);
    bool ok = old == *expected;
    if (ok) {
        replace(p, width, v, order);
    } else {
        if (engine.model == EXPLORE_C11) {
            uint32_t left = engine.weak_left; /* a failed exchange reads the newest value too */
            engine.weak_left = 0;
            history_load(p, width, order == HOOK_RLX ? HOOK_RLX : HOOK_ACQ);
            engine.weak_left = left;
        }
        *expected = old;
    }
    engine_trace(site, p, ok ? "exchanges for" : "fails to exchange, reads", ok ? v : old);
    return ok;
}

void weft__hook_init(void *p, uint32_t width, uint64_t v, const char *site)
{
    engine_arena_check(p, site);
    if (has_buffer()) engine_drain(engine.current);
    if (engine.model == EXPLORE_C11) {
        word *w = word_of(p, width);
        engine_race_check(p, width, ENGINE_WRITE);
        append_value(w, width == 4 ? (uint32_t)v : v);
        w->oldest = w->latest;
    }
    raw_write(p, width, v);
}

uint64_t weft__hook_plain(const void *p, uint32_t width, const char *site)
{
    engine_arena_check(p, site);
    if (has_buffer()) return buffered_load(p, width);
    if (engine.model == EXPLORE_C11) engine_race_check(p, width, ENGINE_READ);
    return raw_read(p, width);
}
