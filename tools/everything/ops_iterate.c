/* SPDX-License-Identifier: MIT */
/* ops_iterate.c: loops of the owner over a query: slice after slice, left early, by several
 * workers, and by index.
 *
 * What is done with rows: walk.h. The order of rows is that of weft_query_entities. */
#include "walk.h"

static const char *const loop_ways[] = {"loop", "leave", "parallel", NULL};
enum { LOOP, LEAVE, PARALLEL };

/* Rows of the query's archetypes: the range of slice->first. */
static uint64_t rows_of(everything *e, const selection *s)
{
    weft_query_info info = {0};
    everything_result(e, "weft_query_info_get",
                      weft_query_info_get(e->here->world, s->q->query, &info, sizeof info),
                      WEFT_OK);
    return info.rows;
}

/* The rows that were seen, closed up; returns how many. */
static uint32_t seen_close(const walk *w, weft_entity *out)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < w->seen_room; i++)
        if (!weft_entity_is_null(w->seen[i])) out[count++] = w->seen[i];
    return count;
}

/* Whether these are the first rows of the query, all of them if `is_all`. */
static bool seen_check(everything *e, const selection *s, const weft_entity *order,
                       const weft_entity *seen, uint32_t count, bool is_all)
{
    if (is_all && !everything_equal(e, "rows of a loop", count, s->count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (i < s->count && weft_entity_equal(order[i], seen[i])) continue;
        everything_fails(e, "order of a loop", "row %u is entity %u, should be %u", i,
                         everything_number(e->here, seen[i]),
                         i < s->count ? everything_number(e->here, order[i]) : 0);
        return false;
    }
    return true;
}

static void loop_run(everything *e, const everything_call *c, const selection *s, walk_plan *p)
{
    uint32_t left = c->way == LEAVE ? 1 + c->b % 3 : UINT32_MAX;
    if (c->way == PARALLEL) {
        everything_says(e, "IS(WEFT_OK, weft_query_each_parallel(world, q[%u], walk_slice, &w));",
                        s->slot);
        everything_result(e, "weft_query_each_parallel",
                          weft_query_each_parallel(e->here->world, s->q->query, walk_slice, &p->w),
                          WEFT_OK);
        return;
    }
    everything_says(e,
                    "uint32_t left = %uu;\n        weft_cursor cursor = weft_query_begin(world, "
                    "q[%u]);\n        while (left-- != 0 && weft_query_next(&cursor)) "
                    "walk_slice(&cursor.slice, &w);\n        weft_query_end(&cursor);",
                    left, s->slot);
    weft_cursor cursor = weft_query_begin(e->here->world, s->q->query);
    while (left-- != 0 && weft_query_next(&cursor)) walk_slice(&cursor.slice, &p->w);
    weft_query_end(&cursor);
}

static void run_loop(everything *e, const everything_call *c)
{
    selection s;
    if (!selection_of(e, c, &s)) return;
    model *m = &e->here->m;
    const weft_entity *order = selection_entities(e, &s);
    uint32_t may = WALK_MAY_LOOK_UP | (c->way == PARALLEL ? 0 : WALK_MAY_ADD | WALK_MAY_CHUNK);
    walk_plan *p = model_memory(m, sizeof *p);
    if (order == NULL) return;
    walk_draw(e, p, s.q, c->value, may);
    p->w.seen_room = rows_of(e, &s);
    p->w.seen = model_memory(m, (p->w.seen_room + 1) * sizeof *p->w.seen);
    walk_says(p, "walk ", "w");
    loop_run(e, c, &s, p);
    weft_entity *seen = model_memory(m, (p->w.seen_room + 1) * sizeof *seen);
    uint32_t count = seen_close(&p->w, seen);
    if (everything_has_failed(e)) return;
    if (!everything_equal(e, "rows of slices", at_plain(&p->x_rows), count)) return;
    if (!seen_check(e, &s, order, seen, count, c->way != LEAVE)) return;
    for (uint32_t i = 0; i < count; i++) s.numbers[i] = everything_number(e->here, seen[i]);
    walk_model(p, s.numbers, count);
}

/* ---- by index ---- */

/* As one array bits do not count, nor what hides SPARSE rows: who is selected then. */
static void bits_ignore(model_query *asks)
{
    bool is_sparse = selection_driver(asks) != asks->term_count;
    asks->with_prefabs = asks->with_prefabs || is_sparse;
    asks->with_inactive = asks->with_inactive || is_sparse;
    for (uint32_t t = 0; t < asks->term_count && !asks->ignores_enabled; t++) {
        model_term *term = &asks->terms[t];
        if (!kind_is_switch(term->kind)) continue;
        if (term->match == MODEL_ALL || term->match == MODEL_DISABLED) term->match = MODEL_PRESENT;
        if (term->match == MODEL_NONE) term->match = MODEL_OPTIONAL;
    }
    asks->ignores_enabled = true;
}

/* A term with a column; the count: none, or rows are asked one by one. */
static uint32_t column_term(const selection *s, uint32_t from)
{
    const model_query *asks = &s->q->asks;
    uint32_t found = asks->term_count;
    for (uint32_t i = 0; i < asks->term_count; i++) {
        uint32_t t = (from + i) % asks->term_count;
        if (kind_is_sparse(asks->terms[t].kind) && t != s->driver) return asks->term_count;
        if (kind_has_value(asks->terms[t].kind) && asks->terms[t].match != MODEL_ABSENT) found = t;
    }
    return found;
}

/* Element i, which is of entity n. */
static void element_run(everything *e, weft_indexed *at, uint64_t i, uint32_t n, uint32_t kind,
                        uint32_t sum)
{
    model_value *value = model_read(&e->here->m, n, kind);
    const void *read = weft_indexed_read(at, i);
    if (!everything_equal(e, "weft_indexed_read", read != NULL, value != NULL) || value == NULL)
        return;
    const void *expected = everything_weft_value(e, e->here, kind, value->bytes, 1);
    everything_equal(e, "value of weft_indexed_read",
                     memcmp(read, expected, e->here->m.kinds[kind].size) == 0, true);
    if (!at->is_writable || everything_has_failed(e)) return;
    uint64_t self = n;
    weft_entity handle = everything_handle(e->here, n);
    bool keeps = kind_is_relation(kind);
    walk_change(kind_shape_of(kind), weft_indexed_write(at, i), sum, keeps ? NULL : &handle);
    walk_change(kind_shape_of(kind), value->bytes, sum, keeps ? NULL : &self);
    model_touch(&e->here->m, n, KIND_BIT(kind));
}

static void run_indexed(everything *e, const everything_call *c)
{
    selection s;
    weft_indexed at;
    if (!selection_of(e, c, &s)) return;
    uint32_t t = column_term(&s, c->b),
             kind = t == s.q->asks.term_count ? 0 : s.q->asks.terms[t].kind;
    if (t == s.q->asks.term_count) return;
    model_query asks = s.q->asks;
    bits_ignore(&asks);
    s.count = model_selected(&e->here->m, &asks, s.numbers);
    everything_says(e,
                    "weft_indexed at;\n        IS(WEFT_OK, weft_indexed_open(world, q[%u], %u, "
                    "&at));\n        CHECK(at.count == %u);",
                    s.slot, t, s.count);
    weft_result result = weft_indexed_open(e->here->world, s.q->query, t, &at);
    if (!everything_result(e, "weft_indexed_open", result, WEFT_OK)) return;
    everything_equal(e, "weft_indexed: count", at.count, s.count);
    uint64_t step = c->value % 2 == 0 ? 1 : 7; /* in sequence, or here and there */
    for (uint64_t k = 0, i = 0; k < at.count && !everything_has_failed(e); k++, i += step) {
        uint64_t index = i % at.count;
        weft_entity entity = weft_indexed_entity(&at, index);
        uint32_t n = everything_number(e->here, entity);
        if (!model_selects(&e->here->m, &asks, n == EVERYTHING_FOREIGN ? 0 : n))
            everything_fails(e, "weft_indexed_entity",
                             "element %u is entity %u, which is not selected", (uint32_t)index, n);
        else
            element_run(e, &at, index, n, kind, (uint32_t)(c->value + index) % 1000);
    }
    if (s.q->access[t] == WEFT_WRITE) {
        everything_says(e, "for (uint64_t k = 0, i = 0; k < at.count; k++, i += %u) {",
                        (uint32_t)step);
        everything_says(e, "    weft_entity self = weft_indexed_entity(&at, i %% at.count);");
        everything_says(e, "    void *value = weft_indexed_write(&at, i %% at.count);");
        everything_says(e,
                        "    if (value != NULL) walk_change(%u, value, (uint32_t)(%llu + i %% "
                        "at.count) %% 1000, %s);\n        }",
                        kind_shape_of(kind), (unsigned long long)c->value,
                        kind_is_relation(kind) ? "NULL" : "&self");
        model_visit(&e->here->m, &s.q->asks);
    }
    everything_says(e, "weft_indexed_close(&at);");
    weft_indexed_close(&at);
}

const everything_op everything_ops_iterate[] = {
    {.name = "loop",
     .functions = "weft_query_begin weft_query_next weft_query_end weft_query_each_parallel "
                  "weft_slice_read weft_slice_write weft_slice_read_row weft_slice_write_row "
                  "weft_slice_next_run weft_slice_next_row weft_slice_enable "
                  "weft_slice_read_shared weft_slice_read_chunk weft_slice_write_chunk "
                  "weft_slice_read_buffers weft_slice_write_buffers weft_slice_read_entity "
                  "weft_slice_write_entity weft_slice_read_entity_buffer "
                  "weft_slice_write_entity_buffer weft_slice_entities",
     .weight = 8,
     .ways = loop_ways,
     .run = run_loop},
    {.name = "indexed",
     .functions = "weft_indexed_open weft_indexed_read weft_indexed_write weft_indexed_entity "
                  "weft_indexed_close",
     .weight = 4,
     .run = run_indexed},
    {0},
};
