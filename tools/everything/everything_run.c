/* SPDX-License-Identifier: MIT */
/* everything_run.c: draws scripts, runs them, counts what was drawn. What a script is:
 * everything.h.
 *
 * A seed has a palette, a few kinds that half of its calls are about: so that calls meet. */
#include "everything.h"
#include "everything_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS_LEAST = 20,
    PALETTE = 7,
    FIRST = 3,
    WAYS = 8,
    CLASSES = 9,
    COMPARED = 4,
    OPS_MOST = 512
};
enum { SIZES_SUM = 2500, SIZES_SUM_RARE = 15000 };

const everything_op *everything_op_at(uint32_t index)
{
    static const everything_op *ops[OPS_MOST + 1]; /* [OPS_MOST] stays NULL */
    uint32_t count = 0;
    for (uint32_t i = 0; ops[0] == NULL && everything_table[i] != NULL; i++)
        for (const everything_op *op = everything_table[i]; op->name != NULL; op++)
            if (count + 1 < OPS_MOST) ops[1 + count++] = op;
    if (ops[0] == NULL) ops[0] = ops[1];
    return index < OPS_MOST ? ops[index + 1] : NULL;
}

/* ---- drawing ---- */

/* What a seed draws from. Owner: everything_draw. */
typedef struct drawing {
    uint64_t state;
    uint64_t palette; /* a set of kinds */
    uint32_t weights, left;
} drawing;

static uint64_t draw(drawing *d)
{
    d->state += 0x9e3779b97f4a7c15u;
    return everything_mix(d->state, 3);
}

static uint64_t kinds_taken(const everything_op *op)
{
    uint64_t set = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if (op->takes == NULL ? kind_is_any(kind) : op->takes(kind)) set |= KIND_BIT(kind);
    return set;
}

/* One of a set that is not empty. */
static uint32_t kind_draw(uint64_t set, uint64_t drawn)
{
    uint32_t skip = (uint32_t)(drawn % (uint32_t)__builtin_popcountll(set));
    while (skip-- != 0) set &= set - 1;
    return (uint32_t)__builtin_ctzll(set);
}

static uint32_t kind_of(drawing *d, uint64_t taken)
{
    uint64_t drawn = draw(d);
    bool is_near = (drawn & 1) != 0 && (taken & d->palette) != 0;
    return kind_draw(is_near ? taken & d->palette : taken, drawn >> 1);
}

static uint64_t set_of(drawing *d, uint64_t taken)
{
    uint64_t set = 0;
    for (uint64_t count = draw(d) % 6; count != 0; count--) set |= KIND_BIT(kind_of(d, taken));
    return set;
}

static uint32_t ways_of(const everything_op *op)
{
    uint32_t count = 0;
    while (op->ways != NULL && op->ways[count] != NULL) count++;
    return count == 0 ? 1 : count;
}

static uint32_t op_draw(drawing *d, bool is_first)
{
    for (;;) {
        uint32_t at = (uint32_t)(draw(d) % d->weights), i = 0;
        const everything_op *op = everything_op_at(0);
        for (; at >= op->weight; op = everything_op_at(++i)) at -= op->weight;
        if (!is_first || (op->draws & DRAWS_FIRST) != 0) return i;
    }
}

static everything_call call_draw(drawing *d, bool is_first)
{
    uint32_t index = op_draw(d, is_first);
    const everything_op *op = everything_op_at(index);
    everything_call c = {.op = (uint16_t)index};
    uint64_t taken = kinds_taken(op);
    if ((op->draws & DRAWS_KIND) != 0) c.kind = (uint8_t)kind_of(d, taken);
    c.way = (uint8_t)(draw(d) % ways_of(op));
    c.a = (uint32_t)draw(d);
    c.b = (uint32_t)draw(d);
    c.value = (op->draws & DRAWS_SET) != 0 ? set_of(d, taken) : draw(d) >> 16;
    if ((op->draws & DRAWS_SIZE) != 0) {
        c.size = everything_size(draw(d), op->most == 0 ? 600 : op->most);
        if (c.size > d->left) c.size %= 8;
        d->left -= c.size < d->left ? c.size : d->left;
    }
    return c;
}

uint32_t everything_draw(uint64_t seed, everything_call out[EVERYTHING_CALLS])
{
    drawing d = {.state = seed};
    uint64_t all = 0;
    const everything_op *op;
    for (uint32_t i = 0; (op = everything_op_at(i)) != NULL; i++) d.weights += op->weight;
    for (uint32_t kind = 0; kind < KINDS; kind++) all |= kind_is_any(kind) ? KIND_BIT(kind) : 0;
    for (uint32_t i = 0; i < PALETTE; i++) d.palette |= KIND_BIT(kind_draw(all, draw(&d)));
    d.left = draw(&d) % 16 == 0 ? SIZES_SUM_RARE : SIZES_SUM;
    uint32_t count = CALLS_LEAST + (uint32_t)(draw(&d) % (EVERYTHING_CALLS - CALLS_LEAST + 1));
    for (uint32_t i = 0; i < count; i++) out[i] = call_draw(&d, i < FIRST);
    return count;
}

/* ---- counting ---- */

/* [operation][kind, or KINDS: none][size][way]. */
static uint32_t (*counts)[KINDS + 1][CLASSES][WAYS];

static const char *const class_names[CLASSES] = {
    "none", "0", "1", "2..7", "8..31", "32..127", "128..511", "512..2047", "2048.."};

static uint32_t class_of(const everything_op *op, uint32_t size)
{
    if ((op->draws & DRAWS_SIZE) == 0) return 0;
    if (size < 2) return 1 + size;
    return size < 8 ? 3 : size < 32 ? 4 : size < 128 ? 5 : size < 512 ? 6 : size < 2048 ? 7 : 8;
}

static void count(const everything_op *op, const everything_call *c)
{
    uint32_t ops = 0;
    while (everything_op_at(ops) != NULL) ops++;
    if (counts == NULL) counts = calloc(ops, sizeof *counts);
    if (counts == NULL) return;
    uint32_t kind = (op->draws & DRAWS_KIND) != 0 ? c->kind : KINDS;
    counts[c->op][kind][class_of(op, c->size)][c->way % WAYS]++;
}

/* Prints the cells of an operation that can be drawn and were not; returns how many there are. */
static uint32_t cells_print(FILE *out, uint32_t index, bool is_json, bool are_cells,
                            uint32_t *empty)
{
    const everything_op *op = everything_op_at(index);
    uint32_t cells = 0, most = class_of(op, op->most == 0 ? 600 : op->most);
    uint64_t taken = kinds_taken(op);
    bool has_kind = (op->draws & DRAWS_KIND) != 0;
    for (uint32_t kind = 0; kind <= KINDS; kind++) {
        if (has_kind ? kind == KINDS || (taken >> kind & 1) == 0 : kind != KINDS) continue;
        for (uint32_t k = most == 0 ? 0 : 1; k <= most; k++)
            for (uint32_t way = 0; way < ways_of(op); way++) {
                cells++;
                if (counts[index][kind][k][way] != 0) continue;
                ++*empty;
                if (are_cells)
                    fprintf(out,
                            is_json ? "{\"empty\":\"%s\",\"functions\":\"%s\",\"kind\":\"%s\","
                                      "\"size\":\"%s\",\"way\":\"%s\"}\n"
                                    : "0: %s (%s), kind %s, size %s, way %s\n",
                            op->name, op->functions,
                            kind == KINDS ? "-" : kinds_of_model()[kind].name, class_names[k],
                            op->ways == NULL ? "-" : op->ways[way]);
            }
    }
    return cells;
}

void everything_print_counts(FILE *out, bool is_json, bool are_cells)
{
    const everything_op *op;
    uint32_t cells = 0, empty = 0;
    uint64_t calls = 0;
    for (uint32_t i = 0; counts != NULL && (op = everything_op_at(i)) != NULL; i++) {
        uint64_t total = 0;
        const uint32_t *of = &counts[i][0][0][0];
        for (uint32_t k = 0; k < sizeof counts[0] / sizeof(uint32_t); k++) total += of[k];
        calls += total;
        uint32_t missing = 0, all = cells_print(out, i, is_json, are_cells, &missing);
        cells += all;
        empty += missing;
        if (is_json && are_cells)
            fprintf(out,
                    "{\"operation\":\"%s\",\"functions\":\"%s\",\"calls\":%" PRIu64
                    ",\"cells\":%u,\"empty\":%u}\n",
                    op->name, op->functions, total, all, missing);
        else if (are_cells)
            fprintf(out, "%-28s %10" PRIu64 " calls, %5u cells, %5u empty\n", op->name, total, all,
                    missing);
    }
    fprintf(out,
            is_json ? "{\"calls\":%" PRIu64 ",\"cells\":%u,\"empty\":%u}\n"
                    : "%" PRIu64 " calls, %u cells (function, kind, size, way), %u empty\n",
            calls, cells, empty);
}

/* ---- running ---- */

/* Versions that were noted during a call are at most those that the world has after it. */
static void stamps_raise(model *m, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < m->stamp_count; i++)
        if (m->stamps[i].version >= from) m->stamps[i].version = to;
}

static void call_run(everything *e, const everything_call *c)
{
    everything_place *p = e->here;
    const everything_op *op = everything_op_at(c->op);
    e->running = op;
    p->m.version = weft_world_change_version(p->world);
    if (!e->is_one_of_many) count(op, c);
    if (e->out != NULL) fprintf(e->out, "    { /* %u: %s */\n", e->call, op->name);
    op->run(e, c);
    stamps_raise(&e->here->m, e->here->m.version, weft_world_change_version(e->here->world));
    if (everything_has_failed(e) || e->is_over) return;
    if (e->is_close)
        everything_compare(e, e->here);
    else if (e->call % COMPARED == 0)
        everything_compare_touched(e);
    if (e->out != NULL && !everything_has_failed(e)) fputs("    }\n", e->out);
}

static void world_end(everything *e, uint64_t *hash)
{
    everything_place *p = e->here;
    e->running = NULL;
    if (e->out != NULL && !everything_has_failed(e)) fputs("    {\n", e->out);
    if (!everything_has_failed(e) && !e->is_over) everything_compare(e, p);
    if (!everything_has_failed(e))
        *hash = weft_world_hash(p->world, WEFT_HASH_LAYOUT) * 3 +
                weft_world_hash(p->world, WEFT_HASH_CONTENT);
    everything_snapshots_drop(e);
    for (uint32_t i = 0; i < EVERYTHING_PLACES; i++)
        if (e->places[i].world != NULL && !everything_has_failed(e))
            everything_close(e, &e->places[i]);
    if (!everything_has_failed(e) && at_plain(&e->x_owned) != 0) {
        everything_says(e, "CHECK(owned == 0);");
        everything_equal(e, "values with hooks that live", at_plain(&e->x_owned), 0);
    }
}

bool everything_run(everything *e, const everything_call *script, uint32_t count_of_calls,
                    uint64_t *hash)
{
    e->here = &e->places[0];
    e->workers = 1 + (uint32_t)(everything_mix(e->seed, 11) & 1);
    *hash = 0;
    if (e->out != NULL) fputs("    {\n", e->out);
    bool is_open = everything_open(e, e->here, "world");
    if (e->out != NULL) fputs("    }\n", e->out);
    for (e->call = 0;
         is_open && e->call < count_of_calls && !e->is_over && !everything_has_failed(e);
         e->call++) {
        call_run(e, &script[e->call]);
        if (everything_has_failed(e)) break;
    }
    if (e->here->m.count > e->numbers) e->numbers = e->here->m.count;
    world_end(e, hash);
    return !everything_has_failed(e);
}
