/* SPDX-License-Identifier: MIT */
/* walk_rows.h: what loops and systems of `weft stress everything` do with the rows of a slice, by
 * columns, row by row or through look-ups. Of weft it knows the public headers only.
 *
 * It is compiled into the tool (walk.c) and printed into the C programs that --shrink makes. What
 * a row gets follows from its own values, those that it looks up and a number: the model does the
 * same with walk_word, walk_change and walk_add, entity after entity (walk.c), in the order of
 * systems. A link is 8 bytes: a handle here, a number there; of both only whether they are 0 is
 * read. */
#ifndef WALK_ROWS_H
#define WALK_ROWS_H

#include <weft/finder.h>
#include <weft/weft.h>

#include <stdio.h>
#include <string.h>

enum { WALK_TERMS = 8, WALK_MADE_ROWS = 2, WALK_NAME = 64 };

/* ---- values ---- */

/* As kind_shape of kinds.h. */
typedef enum walk_shape {
    WALK_BARE,
    WALK_WORD,
    WALK_WIDE,
    WALK_LINE,
    WALK_LARGE,
    WALK_LINKED,
    WALK_TWIN,
    WALK_OWNING,
    WALK_TARGET,
} walk_shape;

static inline uint32_t walk_get(const void *bytes, uint32_t at)
{
    uint32_t word;
    memcpy(&word, (const char *)bytes + 4 * at, sizeof word);
    return word;
}

static inline uint32_t walk_is_linked(const void *bytes, uint32_t at)
{
    return (walk_get(bytes, at) | walk_get(bytes, at + 1)) != 0;
}

/* Words of a value: the first one that is a number, and the last. */
static inline uint32_t walk_first(uint32_t shape)
{
    return shape == WALK_LINKED ? 2 : shape == WALK_OWNING ? 1 : 0;
}

static inline uint32_t walk_last(uint32_t shape)
{
    return shape == WALK_WIDE    ? 1
           : shape == WALK_LINE  ? 15
           : shape == WALK_LARGE ? 599
                                 : walk_first(shape);
}

/* One number out of a value. */
static inline uint32_t walk_word(uint32_t shape, const void *bytes)
{
    if (shape == WALK_BARE || bytes == NULL) return 0;
    if (shape == WALK_TARGET) return walk_is_linked(bytes, 0);
    uint32_t word = walk_get(bytes, walk_first(shape)) + 3 * walk_get(bytes, walk_last(shape));
    if (shape == WALK_LINKED) word += walk_is_linked(bytes, 0);
    if (shape == WALK_TWIN) word += 2 * walk_is_linked(bytes, 1);
    return word;
}

static inline void walk_put(void *bytes, uint32_t at, uint32_t word)
{
    memcpy((char *)bytes + 4 * at, &word, sizeof word);
}

/* Another value out of the old one and a number; links lead to `self` or nowhere, or stay. */
static inline void walk_change(uint32_t shape, void *bytes, uint32_t sum, const void *self)
{
    uint32_t first = walk_first(shape), last = walk_last(shape), at = shape == WALK_TWIN;
    if (shape == WALK_BARE) return;
    if (shape != WALK_TARGET) {
        walk_put(bytes, last, (walk_get(bytes, last) * 3 + sum) % 1000);
        if (first != last) walk_put(bytes, first, (walk_get(bytes, first) + sum) % 1000);
    }
    if (self == NULL || (shape != WALK_LINKED && shape != WALK_TWIN) || sum % 4 > 1) return;
    if (sum % 4 == 0) memcpy((char *)bytes + 4 * at, self, 8);
    if (sum % 4 == 1) memset((char *)bytes + 4 * at, 0, 8);
}

/* Such that the order does not matter. */
static inline void walk_add(uint32_t shape, void *bytes, uint32_t sum)
{
    uint32_t first = walk_first(shape);
    if (shape == WALK_BARE || shape == WALK_TARGET) return;
    walk_put(bytes, first, (walk_get(bytes, first) + sum % 1000) % 1000);
}

/* ---- what is done ---- */

typedef enum walk_flags {
    WALK_READS = 1 << 0,
    WALK_WRITES = 1 << 1,
    WALK_SHARED = 1 << 2,
    WALK_BUFFER = 1 << 3,
    WALK_CHUNK = 1 << 4,
    WALK_BY_ROW = 1 << 5, /* a SPARSE component of rows of others */
    WALK_SWITCH = 1 << 6, /* its enable bit is written, too: each row has it */
    WALK_KEEPS = 1 << 7,  /* its links stay as they are */
    WALK_SIGNED = 1 << 8, /* elements are constructed by `own` */
} walk_flags;

typedef struct walk_term {
    uint32_t shape, flags, bytes;
} walk_term;

typedef enum walk_style { WALK_RUNS, WALK_WALKS, WALK_ROWS, WALK_JOBS } walk_style;

/* What is recorded for a row, if anything. */
typedef enum walk_record {
    WALK_RECORDS_NOTHING,
    WALK_RECORDS_DESTROY,
    WALK_RECORDS_ADD,
    WALK_RECORDS_REMOVE,
    WALK_RECORDS_SET,
    WALK_RECORDS_SHARED,
    WALK_RECORDS_ENABLE,
    WALK_RECORDS_APPEND,
    WALK_RECORDS_SET_BUFFER,
    WALK_RECORDS_QUERY_ADD, /* to all rows of a query, as soon as one row records it */
    WALK_RECORDS_QUERY_REMOVE,
    WALK_RECORDS_CREATE, /* an entity that leads to that of the row, by an archetype with LINK */
    WALK_RECORDS_ROWS,   /* WALK_MADE_ROWS of them, filled in place */
    WALK_RECORDS,
} walk_record;

/* What LINK holds. */
typedef struct walk_link {
    weft_entity other;
    uint32_t value;
} walk_link;

typedef struct walk {
    walk_term terms[WALK_TERMS];
    uint32_t term_count;
    uint32_t style; /* walk_style */
    uint32_t delta;
    /* A value of whom a link leads to: read, or added to; link_term: of the term with the link;
     * term_count: none. */
    uint32_t link_term, lookup_shape, lookup_flags;
    weft_component lookup;
    /* A resource (uint32_t; with WALK_BUFFER a list of links): flags 0: none. */
    uint32_t resource_flags;
    weft_component resource;
    /* Of a system without rows: a query that it iterates itself, by these terms. */
    weft_query others;
    bool has_others;
    /* One command a row, where the sum of the row says so. */
    uint32_t record, record_bytes;
    bool record_is_signed; /* `own` constructs each value */
    weft_component record_component;
    const void *record_value;
    weft_query record_query;
    /* New entities have the name "made SERIAL INDEX.VERSION I SINCE" of the row that makes them:
     * by it their handles are found. */
    uint32_t serial, made_term;
    weft_archetype made;
    weft_component made_link;
    /* Without rows: for whom something is recorded, or done at once; index by index. */
    const weft_entity *targets;
    uint32_t target_count;
    /* Of a system: what it is told, and whether it asks for changes. */
    bool is_of_system, is_due, asks_changes;
    float dt;
    uint32_t since_least, since_most, since_now; /* weft_slice_since: in this range, or from now */
    uint32_t asked;                              /* how often is_due was: owner only */
    /* The rows that were visited go to seen[slice->first + row]; NULL: to nowhere. */
    weft_entity *seen;
    uint64_t seen_room;
    void (*count)(void *user, uint32_t rows);              /* any thread */
    void (*wrong)(void *user, const char *what);           /* any thread */
    void (*own)(void *values, uint32_t count, void *user); /* constructs */
    void *user, *own_user;
} walk;

/* Whether a row with this sum records its command. */
static inline bool walk_records(uint32_t sum)
{
    return sum % 3 == 0;
}

static inline bool walk_makes(uint32_t sum)
{
    return sum % 29 == 0;
}

/* ---- one slice ---- */

/* What the rows of a slice are reached by. */
typedef struct walk_slice_state {
    const walk *w;
    const weft_slice *slice;
    void *columns[WALK_TERMS];
    const void *shared[WALK_TERMS];
    weft_buffers buffers[WALK_TERMS];
    uint32_t resource; /* its value; 0: none */
} walk_slice_state;

static inline void walk_is(const walk *w, bool is_so, const char *what)
{
    if (!is_so) w->wrong(w->user, what);
}

static inline uint32_t walk_resource_read(const walk *w, const weft_slice *slice)
{
    if ((w->resource_flags & WALK_BUFFER) == 0)
        return walk_get(weft_slice_read_resource(slice, w->resource), 0);
    weft_buffers b = weft_slice_read_resource_buffer(slice, w->resource);
    walk_is(w, b.count == 1, "weft_slice_read_resource_buffer");
    return weft_buffers_length(&b, 0);
}

static inline void walk_resource_add(const walk *w, const weft_slice *slice, uint32_t sum)
{
    if ((w->resource_flags & WALK_BUFFER) == 0) {
        walk_add(WALK_WORD, weft_slice_write_resource(slice, w->resource), sum);
        return;
    }
    weft_buffers b = weft_slice_write_resource_buffer(slice, w->resource);
    if (weft_buffers_length(&b, 0) != 0) walk_add(WALK_LINKED, weft_buffers_write(&b, 0), sum);
}

static inline void walk_open(walk_slice_state *s)
{
    const walk *w = s->w;
    for (uint32_t t = 0; t < w->term_count; t++) {
        uint32_t flags = w->terms[t].flags;
        if ((flags & (WALK_READS | WALK_WRITES)) == 0) continue;
        if (flags & WALK_SHARED)
            s->shared[t] = weft_slice_read_shared(s->slice, t);
        else if (flags & WALK_BUFFER)
            s->buffers[t] = flags & WALK_WRITES ? weft_slice_write_buffers(s->slice, t)
                                                : weft_slice_read_buffers(s->slice, t);
        else if (flags & WALK_CHUNK) {
            if (flags & WALK_WRITES) {
                void *value = weft_slice_write_chunk(s->slice, t);
                if (value != NULL) walk_put(value, walk_first(w->terms[t].shape), w->delta);
                walk_is(w, value == weft_slice_read_chunk(s->slice, t), "weft_slice_read_chunk");
            }
        } else if (!(flags & WALK_BY_ROW) && w->style != WALK_ROWS)
            s->columns[t] = flags & WALK_WRITES ? weft_slice_write(s->slice, t)
                                                : (void *)(uintptr_t)weft_slice_read(s->slice, t);
    }
    if (w->resource_flags & WALK_READS) s->resource = walk_resource_read(w, s->slice);
}

/* The plain value of a term in a row; NULL: none. */
static inline void *walk_value(const walk_slice_state *s, uint32_t t, uint32_t row, bool is_written)
{
    const walk_term *term = &s->w->terms[t];
    if (term->flags & (WALK_SHARED | WALK_BUFFER | WALK_CHUNK)) return NULL;
    if (s->w->style == WALK_ROWS || (term->flags & WALK_BY_ROW))
        return is_written ? weft_slice_write_row(s->slice, t, row)
                          : (void *)(uintptr_t)weft_slice_read_row(s->slice, t, row);
    return s->columns[t] == NULL ? NULL : (char *)s->columns[t] + (size_t)row * term->bytes;
}

static inline uint32_t walk_elements(uint32_t shape, const void *elements, uint32_t count,
                                     uint32_t bytes)
{
    if (count == 0) return 0;
    return 7 * count + walk_word(shape, elements) +
           walk_word(shape, (const char *)elements + (size_t)(count - 1) * bytes);
}

/* What a row is in one number. */
static inline uint32_t walk_sum(const walk_slice_state *s, uint32_t row)
{
    const walk *w = s->w;
    uint32_t sum = w->delta + s->resource;
    for (uint32_t t = 0; t < w->term_count; t++) {
        const walk_term *term = &w->terms[t];
        uint32_t word = 0;
        if (!(term->flags & (WALK_READS | WALK_WRITES)) || (term->flags & WALK_CHUNK)) continue;
        if (term->flags & WALK_SHARED)
            word = walk_word(term->shape, s->shared[t]);
        else if (term->flags & WALK_BUFFER)
            word = walk_elements(term->shape, weft_buffers_read(&s->buffers[t], row),
                                 weft_buffers_length(&s->buffers[t], row), term->bytes);
        else
            word = walk_word(term->shape, walk_value(s, t, row, false));
        sum = sum * 5 + word;
    }
    return sum;
}

static inline void walk_other_add(const walk *w, const weft_slice *slice, weft_entity target,
                                  uint32_t sum)
{
    if (w->lookup_flags & WALK_BUFFER) {
        weft_buffers b = weft_slice_write_entity_buffer(slice, target, w->lookup);
        if (weft_buffers_length(&b, 0) != 0)
            walk_add(w->lookup_shape, weft_buffers_write(&b, 0), sum);
        return;
    }
    void *value = weft_slice_write_entity(slice, target, w->lookup);
    if (value != NULL) walk_add(w->lookup_shape, value, sum);
}

/* Adds what the link of the row leads to, or adds to that. */
static inline uint32_t walk_look_up(const walk_slice_state *s, uint32_t row, uint32_t sum)
{
    const walk *w = s->w;
    if (w->link_term == w->term_count) return sum;
    const char *link = walk_value(s, w->link_term, row, false);
    weft_entity target;
    if (link == NULL) return sum;
    memcpy(&target, link + (w->terms[w->link_term].shape == WALK_TWIN ? 4 : 0), sizeof target);
    if (w->lookup_flags & WALK_WRITES) {
        walk_other_add(w, s->slice, target, sum);
        return sum;
    }
    if (w->lookup_flags & WALK_BUFFER) {
        weft_buffers b = weft_slice_read_entity_buffer(s->slice, target, w->lookup);
        return sum + weft_buffers_length(&b, 0);
    }
    const void *value = weft_slice_read_entity(s->slice, target, w->lookup);
    if (w->style == WALK_ROWS) {
        weft_finder finder = weft_slice_finder(s->slice, w->lookup);
        const void *found =
            weft_finder_read(&finder, target); /* checked: rows of a loop are copies */
        walk_is(w,
                (found == NULL) == (value == NULL) &&
                    walk_word(w->lookup_shape, found) == walk_word(w->lookup_shape, value),
                "weft_slice_finder");
    }
    return sum + walk_word(w->lookup_shape, value);
}

enum { WALK_ELEMENT_BYTES = 64, WALK_LENGTH_MOST = 40 };

/* One of four things with a buffer. */
static inline void walk_buffer(const walk_slice_state *s, uint32_t t, uint32_t row, uint32_t sum)
{
    const walk *w = s->w;
    const walk_term *term = &w->terms[t];
    const weft_buffers *b = &s->buffers[t];
    uint32_t length = weft_buffers_length(b, row);
    char element[WALK_ELEMENT_BYTES] = {0};
    if ((term->flags & WALK_KEEPS) || row >= b->count) return;
    if (sum % 4 == 0 && length < WALK_LENGTH_MOST) {
        if (term->flags & WALK_SIGNED) w->own(element, 1, w->own_user);
        walk_change(term->shape, element, sum, NULL);
        walk_is(w, weft_buffers_append(b, row, element, 1) == WEFT_OK, "weft_buffers_append");
    }
    if (sum % 4 == 1)
        walk_is(w, weft_buffers_resize(b, row, length / 2) == WEFT_OK, "weft_buffers_resize");
    if (sum % 4 == 2)
        walk_is(w, weft_buffers_reserve(b, row, sum % 32) == WEFT_OK, "weft_buffers_reserve");
    if (sum % 4 == 3 && length != 0)
        walk_change(term->shape, weft_buffers_write(b, row), sum, NULL);
}

static inline void walk_made(const walk_slice_state *s, weft_entity made, weft_entity self,
                             uint32_t i)
{
    char name[WALK_NAME];
    snprintf(name, sizeof name, "made %u %u.%u %u %u", s->w->serial, self.index, self.version, i,
             weft_slice_since(s->slice));
    weft_result result = weft_recorder_set_name(weft_slice_recorder(s->slice), made, name);
    walk_is(s->w, result == WEFT_OK, "weft_recorder_set_name");
}

/* New entities. */
static inline void walk_row_make(const walk_slice_state *s, weft_entity self, uint32_t sum)
{
    const walk *w = s->w;
    weft_recorder *recorder = weft_slice_recorder(s->slice);
    walk_link link = {self, sum % 1000};
    if (w->record == WALK_RECORDS_CREATE) {
        weft_entity made = weft_recorder_create_entity(recorder, w->made);
        walk_is(w, weft_recorder_set(recorder, made, w->made_link, &link, sizeof link) == WEFT_OK,
                "weft_recorder_set of a new one");
        walk_made(s, made, self, 0);
        return;
    }
    for (uint32_t i = 0; i < WALK_MADE_ROWS;) {
        weft_slice rows;
        weft_rows_desc desc = {
            .archetype = w->made, .count = WALK_MADE_ROWS - i, .is_unordered = sum % 2 != 0};
        weft_result result = weft_recorder_create_rows_with(recorder, &desc, &rows);
        walk_is(w, result == WEFT_OK && rows.count != 0, "weft_recorder_create_rows_with");
        if (result != WEFT_OK) return;
        walk_link *links = weft_slice_write(&rows, w->made_term);
        for (uint32_t row = 0; row < rows.count; row++, i++) {
            links[row] = link;
            walk_made(s, weft_recorder_row_entity(recorder, &rows, row), self, i);
        }
    }
}

static inline void walk_row_record(const walk_slice_state *s, weft_entity entity, uint32_t sum)
{
    const walk *w = s->w;
    weft_component component = w->record_component;
    const void *value = w->record_value;
    char owned[8];
    if (w->record == WALK_RECORDS_NOTHING) return;
    if (w->record >= WALK_RECORDS_CREATE) {
        if (walk_makes(sum)) walk_row_make(s, entity, sum);
        return;
    }
    if (!walk_records(sum)) return;
    if (w->record_is_signed && (w->record == WALK_RECORDS_SET || w->record == WALK_RECORDS_APPEND ||
                                w->record == WALK_RECORDS_SET_BUFFER)) {
        w->own(owned, 1, w->own_user);
        walk_put(owned, 1, walk_get(value, 1));
        value = owned;
    }
    weft_recorder *recorder = weft_slice_recorder(s->slice);
    weft_result result = WEFT_OK;
    switch (w->record) {
    case WALK_RECORDS_DESTROY:
        result = weft_recorder_destroy_entity(recorder, entity);
        break;
    case WALK_RECORDS_ADD:
        result = weft_recorder_add(recorder, entity, component);
        break;
    case WALK_RECORDS_REMOVE:
        result = weft_recorder_remove(recorder, entity, component);
        break;
    case WALK_RECORDS_SET:
        result = weft_recorder_set(recorder, entity, component, value, w->record_bytes);
        break;
    case WALK_RECORDS_SHARED:
        result = weft_recorder_set_shared(recorder, entity, component, value);
        break;
    case WALK_RECORDS_ENABLE:
        result = weft_recorder_enable(recorder, entity, component, sum % 2 != 0);
        break;
    case WALK_RECORDS_SET_BUFFER:
        result = weft_recorder_set_buffer(recorder, entity, component, value, 1);
        break;
    case WALK_RECORDS_QUERY_ADD:
        result = weft_recorder_query_add(recorder, w->record_query, component);
        break;
    case WALK_RECORDS_QUERY_REMOVE:
        result = weft_recorder_query_remove(recorder, w->record_query, component);
        break;
    default:
        result = weft_recorder_append(recorder, entity, component, value, 1);
    }
    walk_is(w, result == WEFT_OK, "a command is refused");
}

static inline void walk_row(const walk_slice_state *s, uint32_t row)
{
    const walk *w = s->w;
    const weft_slice *slice = s->slice;
    weft_entity self = weft_slice_entities(slice)[row];
    uint32_t sum = walk_look_up(s, row, walk_sum(s, row));
    for (uint32_t t = 0; t < w->term_count; t++) {
        const walk_term *term = &w->terms[t];
        if (!(term->flags & WALK_WRITES)) continue;
        if (term->flags & WALK_SWITCH) weft_slice_enable(slice, t, row, sum % 3 != 0);
        if (term->flags & WALK_BUFFER) {
            walk_buffer(s, t, row, sum);
            continue;
        }
        void *value = walk_value(s, t, row, true);
        if (value != NULL)
            walk_change(term->shape, value, sum, term->flags & WALK_KEEPS ? NULL : &self);
    }
    if (w->resource_flags & WALK_WRITES) walk_resource_add(w, slice, sum);
    walk_row_record(s, self, sum);
    if (w->seen == NULL) return;
    walk_is(w, slice->first + row < w->seen_room, "slice->first");
    if (slice->first + row < w->seen_room) w->seen[slice->first + row] = self;
}

/* Rows of a slice for jobs inside a callback: columns only. */
typedef struct walk_run {
    const walk_slice_state *slice;
    uint32_t first;
} walk_run;

static inline int walk_part(weft_job_context *job, void *argument, uint32_t begin, uint32_t end)
{
    const walk_run *run = argument;
    (void)job;
    for (uint32_t i = begin; i < end; i++) walk_row(run->slice, run->first + i);
    return 0;
}

static inline uint32_t walk_jobs(const walk_slice_state *s)
{
    weft_job_context *job = weft_slice_job(s->slice);
    uint32_t rows = 0;
    walk_is(s->w, job != NULL, "weft_slice_job");
    for (uint32_t begin = 0, end = 0; weft_slice_next_run(s->slice, &begin, &end);) {
        walk_run run = {s, begin};
        weft_job_for_desc desc = {
            .fn = walk_part, .argument = &run, .count = end - begin, .grain = 16};
        walk_is(s->w, weft_job_for(job, &desc, NULL) == WEFT_OK, "weft_job_for");
        rows += end - begin;
    }
    return rows;
}

static inline void walk_since(const walk *w, const weft_slice *slice)
{
    uint32_t since = weft_slice_since(slice);
    bool is_last = since >= w->since_least && since <= w->since_most;
    walk_is(w, is_last || (since >= w->since_now && since != 0), "weft_slice_since");
}

/* What a system may ask of its slice. */
static inline void walk_ask(const walk_slice_state *s)
{
    const walk *w = s->w;
    walk_is(w, weft_slice_dt(s->slice) == w->dt, "weft_slice_dt");
    walk_is(w, weft_slice_frame(s->slice).dt == w->dt, "weft_slice_frame");
    walk_is(w, weft_slice_worker(s->slice) < 64, "weft_slice_worker");
    walk_since(w, s->slice);
    for (uint32_t t = 0; t < w->term_count && w->asks_changes; t++) {
        if (s->columns[t] == NULL) continue;
        uint32_t version = weft_slice_change_version(s->slice, t);
        walk_is(w, weft_slice_changed_since(s->slice, t, 0), "weft_slice_changed_since");
        walk_is(w, version != 0, "weft_slice_change_version");
    }
    walk_is(w, weft_slice_order_changed_since(s->slice, 0), "weft_slice_order_changed_since");
}

/* For systems, weft_query_each_parallel and loops. */
static inline void walk_slice(weft_slice *slice, void *user)
{
    walk_slice_state s = {.w = user, .slice = slice};
    const walk *w = s.w;
    uint32_t rows = 0;
    walk_open(&s);
    if (w->is_of_system && !w->has_others) walk_ask(&s);
    if (w->style == WALK_JOBS) {
        rows = walk_jobs(&s);
    } else if (w->style == WALK_RUNS) {
        for (uint32_t begin = 0, end = 0; weft_slice_next_run(slice, &begin, &end);)
            for (uint32_t row = begin; row < end; row++, rows++) walk_row(&s, row);
    } else {
        weft_slice_walk at = {0};
        for (; weft_slice_next_row(slice, &at); rows++) walk_row(&s, (uint32_t)at.row);
    }
    w->count(w->user, rows);
}

/* ---- systems ---- */

static inline bool walk_is_due(weft_world *world, void *user)
{
    walk *w = user;
    (void)world;
    w->asked++;
    return w->is_due;
}

static inline uint32_t walk_range(weft_world *world, void *user)
{
    const walk *w = user;
    (void)world;
    return w->target_count;
}

/* For systems over indices: one target is read or written, and records. */
static inline void walk_index(weft_slice *slice, void *user)
{
    walk_slice_state s = {.w = user, .slice = slice};
    const walk *w = s.w;
    weft_entity target = w->targets[slice->index];
    uint32_t sum = w->delta + slice->index;
    walk_is(w, slice->index < w->target_count, "slice->index");
    if (w->lookup_flags & WALK_WRITES) {
        walk_other_add(w, slice, target, sum);
    } else if (w->lookup_flags & WALK_BUFFER) {
        weft_buffers b = weft_slice_read_entity_buffer(slice, target, w->lookup);
        sum += weft_buffers_length(&b, 0);
    } else if (w->lookup_flags != 0) {
        sum += walk_word(w->lookup_shape, weft_slice_read_entity(slice, target, w->lookup));
    }
    walk_row_record(&s, target, sum);
    w->count(w->user, 1);
}

/* For EXCLUSIVE systems without terms: at once what others record. */
static inline void walk_at_once(weft_slice *slice, void *user)
{
    const walk *w = user;
    weft_world *world = weft_slice_world(slice);
    for (uint32_t i = 0; i < w->target_count; i++) {
        weft_entity target = w->targets[i];
        if (!walk_records(w->delta + i)) continue;
        switch (w->record) {
        case WALK_RECORDS_DESTROY:
            weft_entity_destroy(world, target);
            break;
        case WALK_RECORDS_ADD:
            weft_entity_add(world, target, w->record_component);
            break;
        case WALK_RECORDS_REMOVE:
            weft_entity_remove(world, target, w->record_component);
            break;
        case WALK_RECORDS_SHARED:
            weft_entity_set_shared(world, target, w->record_component, w->record_value);
            break;
        case WALK_RECORDS_ENABLE:
            weft_entity_enable(world, target, w->record_component, (w->delta + i) % 2 != 0);
            break;
        default:
            break;
        }
    }
    /* what changes at once makes no sync point */
    walk_is(w, weft_relation_settle(world) == WEFT_OK, "weft_relation_settle");
    w->count(w->user, 1);
}

/* A list of links becomes longer, or shorter by half. */
static inline void walk_list_change(const walk *w, const weft_slice *slice)
{
    walk_link element = {{0, 0}, w->delta};
    weft_buffers b = weft_slice_write_resource_buffer(slice, w->resource);
    uint32_t length = weft_buffers_length(&b, 0);
    walk_is(w, b.count == 1, "weft_slice_write_resource_buffer");
    weft_result result = w->delta % 3 != 0 && length < WALK_LENGTH_MOST
                             ? weft_buffers_append(&b, 0, &element, 1)
                             : weft_buffers_resize(&b, 0, length / 2);
    walk_is(w, result == WEFT_OK, "a change of a resource's buffer");
}

/* For systems without rows: a resource, or the rows of a query. */
static inline void walk_once(weft_slice *slice, void *user)
{
    const walk *w = user;
    if ((w->resource_flags & WALK_WRITES) && (w->resource_flags & WALK_BUFFER))
        walk_list_change(w, slice);
    else if (w->resource_flags & WALK_WRITES)
        walk_change(WALK_WORD, weft_slice_write_resource(slice, w->resource), w->delta, NULL);
    else if (w->resource_flags & WALK_READS)
        walk_resource_read(w, slice);
    if (w->has_others) {
        weft_cursor cursor = weft_slice_query(slice, w->others);
        while (weft_query_next(&cursor)) walk_slice(&cursor.slice, user);
        weft_query_end(&cursor);
    }
    walk_is(w, weft_slice_count(slice) == 0, "rows of a system without terms");
    walk_since(w, slice);
    walk_is(w, weft_slice_dt(slice) == w->dt, "weft_slice_dt");
    w->count(w->user, 1);
}

#endif
