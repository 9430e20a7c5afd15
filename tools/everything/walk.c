/* SPDX-License-Identifier: MIT */
/* walk.c: walks over rows (walk.h): which ones are drawn, and the same arithmetic on values of the
 * model, entity after entity. What weft's side does with a slice is in walk_rows.h. */
#include "walk.h"

#include <stdlib.h>

static_assert((int)WALK_TARGET == (int)SHAPE_TARGET && (int)WALK_LARGE == (int)SHAPE_LARGE,
              "walk_shape is kind_shape");
static_assert((int)WALK_TERMS >= (int)MODEL_TERMS, "all terms of a query");

static void rows_count(void *user, uint32_t rows)
{
    walk_plan *p = user;
    at_add_rlx(&p->x_rows, rows); /* relaxed: a count, read after the walk */
}

static void row_wrong(void *user, const char *what)
{
    const walk_plan *p = user;
    everything_fails(p->e, what, "in a walk");
}

/* ---- drawing ---- */

/* What the walk does with a term. */
static uint32_t term_flags(const everything_query *q, uint32_t t, uint32_t driver, bool is_sure,
                           uint32_t may)
{
    const model_term *term = &q->asks.terms[t];
    const model_kind *kind = &kinds_of_model()[term->kind];
    uint32_t flags = 0;
    bool is_there = term->match != MODEL_NONE && term->match != MODEL_ABSENT;
    if (!is_there || q->access[t] == WEFT_NO_ACCESS) return 0;
    bool is_written = q->access[t] == WEFT_WRITE;
    if ((kind->flags & MODEL_CHUNK) != 0 && (may & WALK_MAY_CHUNK) == 0) is_written = false;
    flags |= is_written ? WALK_WRITES : WALK_READS;
    if ((kind->flags & MODEL_SHARED) != 0) flags |= WALK_SHARED;
    if ((kind->flags & MODEL_BUFFER) != 0) flags |= WALK_BUFFER;
    if ((kind->flags & MODEL_CHUNK) != 0) flags |= WALK_CHUNK;
    if ((kind->flags & MODEL_SPARSE) != 0 && t != driver) flags |= WALK_BY_ROW;
    if ((kind->flags & (MODEL_RELATION | MODEL_GROUP)) != 0) flags |= WALK_KEEPS;
    if ((kind->flags & MODEL_SIGNED) != 0) flags |= WALK_SIGNED;
    bool has_bit = is_sure && is_written && (kind->flags & MODEL_SWITCH) != 0;
    if (has_bit && term->match != MODEL_OPTIONAL && term->match != MODEL_ANY) flags |= WALK_SWITCH;
    return flags;
}

bool walk_writes(const walk_plan *p, uint32_t kind)
{
    for (uint32_t t = 0; t < p->w.term_count; t++)
        if (p->kinds[t] == kind && (p->w.terms[t].flags & WALK_WRITES) != 0) return true;
    return (p->w.lookup_flags & WALK_WRITES) != 0 && p->lookup_kind == kind;
}

static bool walk_names(const walk_plan *p, uint32_t kind)
{
    for (uint32_t t = 0; t < p->w.term_count; t++)
        if (p->kinds[t] == kind) return true;
    return false;
}

uint32_t walk_lookup_kind(const everything *e, uint32_t n, uint64_t drawn)
{
    uint32_t from = drawn >> 42 & 1 ? SPARSE : (uint32_t)drawn % KINDS;
    for (uint32_t i = 0; i < KINDS && n != 0 && drawn >> 40 & 3; i++) {
        uint32_t kind = (from + i) % KINDS;
        bool is_value = kind_has_value(kind) || kind_is_buffer(kind);
        if (is_value && model_has(&e->here->m, n, kind)) return kind;
    }
    return (uint32_t)drawn % KINDS;
}

/* Whom one of the living leads to by a kind. */
static uint32_t linked_pick(const everything *e, uint32_t kind, uint64_t drawn)
{
    const model *m = &e->here->m;
    uint32_t first = everything_pick_living(e, (uint32_t)(drawn >> 8));
    for (uint32_t i = 0; i < m->count; i++) {
        const model_value *value = model_read(m, (first + i) % m->count, kind);
        uint64_t target = 0;
        if (value != NULL)
            memcpy(&target, value->bytes + kinds_of_model()[kind].links[0], sizeof target);
        if (target != 0 && target < m->count && model_is_alive(m, (uint32_t)target))
            return (uint32_t)target;
    }
    return first;
}

/* A link of the rows, and a component of whom it leads to. */
static void look_up_draw(walk_plan *p, uint64_t drawn, uint32_t may)
{
    uint32_t link = p->w.term_count;
    for (uint32_t t = 0; t < p->w.term_count; t++) {
        const walk_term *term = &p->w.terms[t];
        bool is_plain = (term->flags & (WALK_SHARED | WALK_BUFFER | WALK_CHUNK)) == 0;
        bool has_link = kinds_of_model()[p->kinds[t]].link_count != 0;
        if (!is_plain || !has_link || (term->flags & (WALK_READS | WALK_WRITES)) == 0) continue;
        if ((may & WALK_BY_DEPTH) == 0 || p->kinds[t] == PARENT) link = t;
    }
    if (link == p->w.term_count || drawn % 4 == 0) return;
    bool is_written = (may & WALK_MAY_ADD) != 0 && (drawn & 64) != 0;
    uint32_t near = linked_pick(p->e, p->kinds[link], drawn);
    uint32_t from = walk_lookup_kind(p->e, near, drawn / 128);
    for (uint32_t i = 0; i < KINDS; i++) {
        uint32_t kind = (from + i) % KINDS;
        bool is_buffer = kind_is_buffer(kind);
        if (!kind_has_value(kind) && !is_buffer) continue;
        if (kind_is_relation(kind) && is_written) continue;
        if (is_written ? walk_names(p, kind) : walk_writes(p, kind) && !p->is_by_depth) continue;
        p->w.link_term = link;
        p->w.lookup = p->e->here->of[kind];
        p->w.lookup_shape = kind_shape_of(kind);
        p->w.lookup_flags =
            (is_written ? WALK_WRITES : WALK_READS) | (is_buffer ? (uint32_t)WALK_BUFFER : 0);
        p->lookup_kind = kind;
        return;
    }
}

static bool is_recorded(uint32_t record, uint32_t kind)
{
    if (!kind_is_any(kind) || kind_is_relation(kind) || kind == GROUP) return false;
    switch (record) {
    case WALK_RECORDS_SET:
        return kind_is_set(kind);
    case WALK_RECORDS_SHARED:
        return kind_is_shared(kind);
    case WALK_RECORDS_ENABLE:
        return kind_is_switch(kind);
    case WALK_RECORDS_APPEND:
    case WALK_RECORDS_SET_BUFFER:
        return kind_is_buffer(kind);
    case WALK_RECORDS_CREATE:
    case WALK_RECORDS_ROWS:
        return kind_is_of_rows(kind) && kind != PREFAB && kinds_of_model()[kind].needs == 0 &&
               (kinds_of_model()[kind].flags & MODEL_CLEANUP) == 0;
    default:
        return true;
    }
}

/* A query of which only commands change what it selects: they take effect later than they are
 * recorded. */
static uint32_t query_draw(const everything *e, uint64_t drawn)
{
    for (uint32_t i = 0; i < EVERYTHING_QUERIES; i++) {
        uint32_t slot = (uint32_t)(drawn + i) % EVERYTHING_QUERIES;
        const model_query *asks = &e->queries[slot].asks;
        bool has_bits = false;
        for (uint32_t t = 0; t < asks->term_count; t++)
            has_bits = has_bits || kind_is_switch(asks->terms[t].kind);
        if (e->queries[slot].query.id != 0 && !has_bits) return slot;
    }
    return EVERYTHING_QUERIES;
}

/* The archetype of new entities: LINK, and the kind that was drawn. */
static void made_draw(walk_plan *p)
{
    everything *e = p->e;
    weft_component list[2] = {e->here->of[LINK], e->here->of[p->record_kind]};
    p->made_set = KIND_BIT(LINK) | KIND_BIT(p->record_kind);
    p->w.made = weft_archetype_create(e->here->world, list, p->record_kind == LINK ? 1 : 2);
    p->w.made_link = list[0];
    weft_archetype_components(e->here->world, p->w.made, list, 2);
    p->w.made_term = list[0].id == p->w.made_link.id ? 0 : 1;
}

static void record_draw(walk_plan *p, uint64_t drawn)
{
    everything *e = p->e;
    uint32_t record = (uint32_t)(drawn % WALK_RECORDS), kind = PLAIN;
    if (record == WALK_RECORDS_QUERY_ADD || record == WALK_RECORDS_QUERY_REMOVE) {
        p->record_slot = query_draw(e, drawn >> 16);
        if (p->record_slot == EVERYTHING_QUERIES)
            record = WALK_RECORDS_ADD;
        else
            p->w.record_query = e->queries[p->record_slot].query;
    }
    for (uint32_t i = 0; i < KINDS; i++) {
        kind = (uint32_t)(drawn / 16 + i) % KINDS;
        if (is_recorded(record, kind)) break;
    }
    p->w.record = record;
    p->record_kind = kind;
    p->w.record_component = e->here->of[kind];
    p->w.record_bytes = kinds_of_model()[kind].size;
    p->w.record_is_signed = model_is(&e->here->m, kind, MODEL_SIGNED);
    const uint32_t null = UINT32_MAX << 26; /* a handle that is kept outlives restored worlds */
    p->record_bytes = everything_value(e, kind, drawn >> 24, null, 1);
    p->w.record_value = everything_weft_value(e, e->here, kind, p->record_bytes, 1);
    if (record >= WALK_RECORDS_CREATE) made_draw(p);
}

void walk_draw(everything *e, walk_plan *p, const everything_query *q, uint64_t drawn, uint32_t may)
{
    const model_query *asks = &q->asks;
    uint32_t driver = selection_driver(asks);
    bool is_sure = true;
    *p = (walk_plan){
        .e = e, .asks = *asks, .stamps_asked = q->stamps_asked, .record_slot = EVERYTHING_QUERIES};
    p->is_by_depth = (may & WALK_BY_DEPTH) != 0;
    for (uint32_t t = 0; t < asks->term_count; t++)
        is_sure = is_sure && asks->terms[t].alternative == asks->terms[0].alternative;
    p->w = (walk){.term_count = asks->term_count,
                  .link_term = asks->term_count,
                  .style = (uint32_t)(drawn % 3),
                  .delta = (uint32_t)(drawn >> 8) % 1000,
                  .count = rows_count,
                  .wrong = row_wrong,
                  .own = kind_construct,
                  .user = p,
                  .own_user = &e->x_owned};
    for (uint32_t t = 0; t < asks->term_count; t++) {
        p->kinds[t] = asks->terms[t].kind;
        p->w.terms[t] =
            (walk_term){kind_shape_of(p->kinds[t]), term_flags(q, t, driver, is_sure, may),
                        kinds_of_model()[p->kinds[t]].size};
    }
    if ((may & WALK_MAY_LOOK_UP) != 0) look_up_draw(p, everything_mix(drawn, 1), may);
    if ((may & WALK_MAY_RECORD) != 0) record_draw(p, everything_mix(drawn, 2));
    if ((may & WALK_MAY_USE) == 0 || (drawn >> 32 & 3) != 0) return;
    walk_draw_resource(p, drawn >> 34 & 1,
                       (may & WALK_MAY_ADD) != 0 && (drawn >> 35 & 1) != 0 ? WALK_WRITES
                                                                           : WALK_READS);
}

void walk_draw_resource(walk_plan *p, bool is_list, uint32_t flags)
{
    p->resource_kind = is_list ? SOLE_LIST : SOLE;
    p->w.resource = p->e->here->of[p->resource_kind];
    p->w.resource_flags = flags | (is_list ? (uint32_t)WALK_BUFFER : 0);
}

/* ---- the model ---- */

/* One entity. */
static uint32_t model_sum(const walk_plan *p, uint32_t n)
{
    model *m = &p->e->here->m;
    uint32_t sum = p->w.delta;
    if ((p->w.resource_flags & WALK_READS) != 0) {
        const model_value *resource = model_resource(m, p->resource_kind);
        sum += p->resource_kind == SOLE ? walk_get(resource->bytes, 0) : resource->count;
    }
    for (uint32_t t = 0; t < p->w.term_count; t++) {
        const walk_term *term = &p->w.terms[t];
        uint32_t word = 0;
        if ((term->flags & (WALK_READS | WALK_WRITES)) == 0 || (term->flags & WALK_CHUNK) != 0)
            continue;
        const model_value *value = model_read(m, n, p->kinds[t]);
        if (value != NULL && (term->flags & WALK_BUFFER) != 0)
            word = walk_elements(term->shape, value->bytes, value->count, term->bytes);
        else if (value != NULL)
            word = walk_word(term->shape, value->bytes);
        sum = sum * 5 + word;
    }
    return sum;
}

static uint32_t model_look_up(const walk_plan *p, uint32_t n, uint32_t sum)
{
    model *m = &p->e->here->m;
    if (p->w.link_term == p->w.term_count) return sum;
    const model_value *link = model_read(m, n, p->kinds[p->w.link_term]);
    if (link == NULL) return sum;
    uint64_t target;
    memcpy(&target, link->bytes + kinds_of_model()[link->kind].links[0], sizeof target);
    return target < m->count ? walk_model_look(p, (uint32_t)target, sum) : sum;
}

uint32_t walk_model_look(const walk_plan *p, uint32_t target, uint32_t sum)
{
    model *m = &p->e->here->m;
    model_value *value = model_read(m, target, p->lookup_kind);
    if (value == NULL) return sum;
    bool is_buffer = (p->w.lookup_flags & WALK_BUFFER) != 0;
    if ((p->w.lookup_flags & WALK_WRITES) == 0)
        return sum + (is_buffer ? value->count : walk_word(p->w.lookup_shape, value->bytes));
    if (!is_buffer || value->count != 0) walk_add(p->w.lookup_shape, value->bytes, sum);
    model_touch(m, target, KIND_BIT(p->lookup_kind));
    return sum;
}

static void model_buffer(const walk_plan *p, uint32_t n, uint32_t t, uint32_t sum)
{
    model *m = &p->e->here->m;
    const walk_term *term = &p->w.terms[t];
    const model_value *value = model_read(m, n, p->kinds[t]);
    uint8_t element[WALK_ELEMENT_BYTES] = {0};
    if (value == NULL || (term->flags & WALK_KEEPS) != 0) return;
    if (sum % 4 == 0 && value->count < WALK_LENGTH_MOST) {
        uint32_t sign = MODEL_SIGN;
        if ((term->flags & WALK_SIGNED) != 0) memcpy(element, &sign, sizeof sign);
        walk_change(term->shape, element, sum, NULL);
        model_append(m, n, p->kinds[t], element, 1);
    }
    if (sum % 4 == 1) model_resize(m, n, p->kinds[t], value->count / 2);
    if (sum % 4 == 3 && value->count != 0) walk_change(term->shape, value->bytes, sum, NULL);
}

static void model_row(const walk_plan *p, uint32_t n, uint32_t sum)
{
    model *m = &p->e->here->m;
    uint64_t self = n, written = 0;
    for (uint32_t t = 0; t < p->w.term_count; t++) {
        const walk_term *term = &p->w.terms[t];
        uint64_t bit = KIND_BIT(p->kinds[t]);
        if ((term->flags & WALK_WRITES) == 0) continue;
        written |= bit;
        if ((term->flags & WALK_SWITCH) != 0)
            m->entities[n].disabled = (m->entities[n].disabled & ~bit) | (sum % 3 != 0 ? 0 : bit);
        if ((term->flags & WALK_BUFFER) != 0) {
            model_buffer(p, n, t, sum);
            continue;
        }
        const model_value *value = model_read(m, n, p->kinds[t]);
        if (value != NULL && (term->flags & (WALK_SHARED | WALK_CHUNK)) == 0)
            walk_change(term->shape, value->bytes, sum,
                        (term->flags & WALK_KEEPS) != 0 ? NULL : &self);
    }
    if (written != 0) model_touch(m, n, written);
    if ((p->w.resource_flags & WALK_WRITES) == 0) return;
    model_value *resource = model_resource(m, p->resource_kind);
    if (resource->count != 0) walk_add(kind_shape_of(p->resource_kind), resource->bytes, sum);
}

static void model_make(walk_plan *p, uint32_t self, uint32_t sum)
{
    model *m = &p->e->here->m;
    uint32_t count = p->w.record == WALK_RECORDS_CREATE ? 1 : WALK_MADE_ROWS;
    for (uint32_t i = 0; i < count; i++) {
        if (p->made_count == p->made_room) {
            walk_made_entry *old = p->made;
            p->made_room = 2 * p->made_room + 16;
            p->made = model_memory(m, p->made_room * sizeof *p->made);
            if (old != NULL) memcpy(p->made, old, p->made_count * sizeof *old);
        }
        uint32_t n = model_create(m, p->made_set), value = sum % 1000;
        uint64_t other = self;
        model_value *link = model_read(m, n, LINK);
        memcpy(link->bytes, &other, sizeof other);
        memcpy(link->bytes + sizeof other, &value, sizeof value);
        p->made[p->made_count++] = (walk_made_entry){self, i, n};
    }
}

void walk_model_end(walk_plan *p)
{
    model *m = &p->e->here->m;
    if (!p->is_query_recorded) return;
    p->is_query_recorded = false;
    uint32_t *numbers = model_memory(m, m->count * sizeof *numbers);
    uint32_t count = model_selected(m, &p->e->queries[p->record_slot].asks, numbers);
    uint64_t bit = KIND_BIT(p->record_kind);
    bool adds = p->w.record == WALK_RECORDS_QUERY_ADD;
    for (uint32_t i = 0; i < count; i++)
        model_change(m, numbers[i], adds ? bit : 0, adds ? 0 : bit);
}

void walk_model_record(walk_plan *p, uint32_t n, uint32_t sum)
{
    model *m = &p->e->here->m;
    uint32_t kind = p->record_kind;
    if (p->w.record >= WALK_RECORDS_CREATE && walk_makes(sum)) model_make(p, n, sum);
    if (p->w.record >= WALK_RECORDS_CREATE || !walk_records(sum)) return;
    switch (p->w.record) {
    case WALK_RECORDS_NOTHING:
        return;
    case WALK_RECORDS_DESTROY:
        model_destroy(m, n);
        return;
    case WALK_RECORDS_ADD:
        model_change(m, n, KIND_BIT(kind), 0);
        return;
    case WALK_RECORDS_REMOVE:
        model_change(m, n, 0, KIND_BIT(kind));
        return;
    case WALK_RECORDS_ENABLE:
        model_enable(m, n, kind, sum % 2 != 0);
        return;
    case WALK_RECORDS_APPEND:
        model_append(m, n, kind, p->record_bytes, 1);
        return;
    case WALK_RECORDS_QUERY_ADD:
    case WALK_RECORDS_QUERY_REMOVE:
        p->is_query_recorded = true;
        return;
    default:
        model_set(m, n, kind, p->record_bytes, 1);
    }
}

void walk_model_visit(const walk_plan *p)
{
    bool is_written = false;
    for (uint32_t t = 0; t < p->w.term_count; t++)
        is_written = is_written || (p->w.terms[t].flags & WALK_WRITES) != 0;
    if (is_written) model_visit(&p->e->here->m, &p->asks);
}

static uint32_t depth_of(const model *m, uint32_t n)
{
    const model_value *value = model_read(m, n, DEPTH);
    return value == NULL ? 0 : walk_get(value->bytes, 0);
}

void walk_model(walk_plan *p, const uint32_t *numbers, uint32_t count)
{
    model *m = &p->e->here->m;
    uint32_t *sums = model_memory(m, (count + 1) * sizeof *sums), deepest = 0;
    for (uint32_t i = 0; i < count && p->is_by_depth; i++)
        deepest = depth_of(m, numbers[i]) > deepest ? depth_of(m, numbers[i]) : deepest;
    for (uint32_t depth = 0; depth <= deepest; depth++)
        for (uint32_t i = 0; i < count; i++) {
            if (p->is_by_depth && depth_of(m, numbers[i]) != depth) continue;
            sums[i] = model_look_up(p, numbers[i], model_sum(p, numbers[i]));
            model_row(p, numbers[i], sums[i]);
        }
    for (uint32_t i = 0; i < count; i++) walk_model_record(p, numbers[i], sums[i]);
    walk_model_end(p);
    walk_model_visit(p);
}

/* ---- what was made ---- */

/* The run that made an entity, by its name. */
static uint32_t since_of(const everything *e, weft_entity entity)
{
    const char *name = weft_entity_name(e->here->world, entity), *last = strrchr(name, ' ');
    return last == NULL ? 0 : (uint32_t)strtoul(last + 1, NULL, 10);
}

/* Entities with no number that an entry's row made, by run; returns how many. */
static uint32_t made_find(const everything *e, const walk_plan *p, const walk_made_entry *entry,
                          weft_entity *out, uint32_t most)
{
    char part[WALK_NAME];
    weft_entity self = everything_handle(e->here, entry->self), found[64];
    uint32_t count = 0;
    snprintf(part, sizeof part, "made %u %u.%u %u ", p->w.serial, self.index, self.version,
             entry->i);
    uint32_t all = weft_entity_search(e->here->world, part, found, 64);
    for (uint32_t i = 0; i < all && i < 64 && count < most; i++) {
        if (everything_number(e->here, found[i]) != EVERYTHING_FOREIGN) continue;
        uint32_t at = count++;
        for (; at > 0 && since_of(e, out[at - 1]) > since_of(e, found[i]); at--)
            out[at] = out[at - 1];
        out[at] = found[i];
    }
    return count;
}

/* All that one row made as its i-th, in all runs. */
static void made_learn(everything *e, walk_plan *p, uint32_t first)
{
    enum { RUNS_MOST = 16 };
    walk_made_entry one = p->made[first];
    weft_entity found[RUNS_MOST];
    uint32_t count = made_find(e, p, &one, found, RUNS_MOST), at = 0;
    for (uint32_t k = first; k < p->made_count; k++) {
        walk_made_entry *entry = &p->made[k];
        if (entry->self != one.self || entry->i != one.i || entry->number == 0) continue;
        uint32_t n = entry->number;
        entry->number = 0;
        if (!model_is_alive(&e->here->m, n)) continue;
        if (at == count) {
            everything_fails(e, "what a system made", "entity %u is not there", n);
            return;
        }
        everything_says(e, "weft_entity_search(world, \"%s\", &e[%u], 1);",
                        weft_entity_name(e->here->world, found[at]), n);
        everything_says(e, "IS(WEFT_OK, weft_entity_set_name(world, e[%u], NULL));", n);
        everything_learn(e, e->here, n, found[at]);
        weft_result result = weft_entity_set_name(e->here->world, found[at++], NULL);
        everything_result(e, "weft_entity_set_name of none", result, WEFT_OK);
    }
    everything_equal(e, "what a system made: how many", count, at);
}

uint32_t walk_learn(walk_plan *p)
{
    everything *e = p->e;
    uint32_t left = 0;
    for (uint32_t k = 0; k < p->made_count && !everything_has_failed(e); k++) {
        const walk_made_entry *entry = &p->made[k];
        if (entry->number == 0) continue;
        if (!weft_entity_is_null(everything_handle(e->here, entry->self)))
            made_learn(e, p, k);
        else if (model_is_alive(&e->here->m, entry->number))
            left++;
    }
    if (left == 0) p->made_count = 0;
    return left;
}

void walk_says(walk_plan *p, const char *type, const char *name)
{
    everything *e = p->e;
    const walk *w = &p->w;
    if (e->out == NULL) return;
    if (w->record != WALK_RECORDS_NOTHING && w->record_bytes != 0) {
        everything_says(e, "static _Alignas(64) char recorded[%u];", w->record_bytes);
        everything_says(e, "memcpy(recorded, %s, %u);",
                        everything_c_value(e, p->record_kind, p->record_bytes, 1), w->record_bytes);
    }
    everything_says(e, "%s%s = (walk){", type, name);
    everything_says(e, "    .term_count = %u, .terms = {", w->term_count);
    for (uint32_t t = 0; t < w->term_count; t++)
        everything_says(e, "        {%u, %u, %u}, /* %s */", w->terms[t].shape, w->terms[t].flags,
                        w->terms[t].bytes, kinds_of_model()[p->kinds[t]].name);
    everything_says(e, "    }, .style = %u, .delta = %u, .link_term = %u,", w->style, w->delta,
                    w->link_term);
    if (w->link_term != w->term_count)
        everything_says(e, "    .lookup_shape = %u, .lookup_flags = %u, .lookup = of[%s],",
                        w->lookup_shape, w->lookup_flags, kinds_of_model()[p->lookup_kind].name);
    if (w->resource_flags != 0)
        everything_says(e, "    .resource_flags = %u, .resource = of[%s],", w->resource_flags,
                        kinds_of_model()[p->resource_kind].name);
    if (w->record != WALK_RECORDS_NOTHING)
        everything_says(e,
                        "    .record = %u, .record_bytes = %u, .record_is_signed = %d, "
                        ".record_component = of[%s], .record_value = %s,",
                        w->record, w->record_bytes, w->record_is_signed,
                        kinds_of_model()[p->record_kind].name,
                        w->record_bytes != 0 ? "recorded" : "NULL");
    if (p->record_slot != EVERYTHING_QUERIES)
        everything_says(e, "    .record_query = q[%u],", p->record_slot);
    if (w->record >= WALK_RECORDS_CREATE)
        everything_says(e, "    .serial = %u, .made_term = %u, .made_link = of[LINK], .made = %s,",
                        w->serial, w->made_term, everything_c_archetype(e, p->made_set));
    everything_says(e, "    .count = rows_count, .wrong = row_wrong, .own = own_construct};");
}

extern const unsigned char walk_rows_text[]; /* walk_rows.h, made by CMake */
extern const unsigned walk_rows_text_bytes;

void walk_print_rows(FILE *out)
{
    fputs("/* ---- rows ---- */\n\n", out);
    fwrite(walk_rows_text, 1, walk_rows_text_bytes, out);
    fputs("\nstatic int64_t rows;\n\n"
          "static void rows_count(void *user, uint32_t count)\n{\n"
          "    (void)user;\n    __atomic_fetch_add(&rows, count, __ATOMIC_RELAXED);\n}\n\n"
          "static void row_wrong(void *user, const char *what)\n{\n"
          "    (void)user;\n    printf(\"%s\\n\", what);\n    exit(1);\n}\n\n",
          out);
}
