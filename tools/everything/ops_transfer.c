/* SPDX-License-Identifier: MIT */
/* ops_transfer.c: entities that move to another world.
 *
 * In the other world they keep their numbers: what they referred to and did not move is null there,
 * so that no other number is asked for. All of them: that world goes on in place of the first. Some
 * of them come back, with new numbers, because what did not move knows the old handles. */
#include "everything.h"

#include <string.h>
#include <weft/transfer.h>

/* Who moves. Owner: one call. */
typedef struct moving {
    uint32_t *numbers, count;
    uint32_t *renamed;    /* [m.count] */
    weft_entity *tracked; /* [m.count] */
    uint32_t tracked_count;
} moving;

static moving moving_begin(model *m, uint32_t count)
{
    return (moving){.numbers = model_memory(m, count * sizeof(uint32_t)),
                    .renamed = model_memory(m, count * sizeof(uint32_t)),
                    .tracked = model_memory(m, count * sizeof(weft_entity)),
                    .tracked_count = count};
}

/* A value of a kind with a release hook that would be in both worlds: one that a moving entity and
 * something that stays have. The default value has no owner; what refers to one that stays becomes
 * null. */
static bool is_shared_by(const model *m, const moving *x, const void *bytes)
{
    uint64_t number;
    uint32_t word;
    memcpy(&number, bytes, sizeof number);
    memcpy(&word, (const uint8_t *)bytes + sizeof number, sizeof word);
    if (word == 0 && (number >= m->count || x->renamed[number] == 0)) return false;
    for (uint32_t i = 0; i < x->count; i++) {
        const model_value *of = model_read(m, x->numbers[i], OWNED_SHARE);
        if (of != NULL && memcmp(of->bytes, bytes, m->kinds[OWNED_SHARE].size) == 0) return true;
    }
    return false;
}

static bool is_busy(const everything *e, const moving *x)
{
    const model *m = &e->here->m;
    for (uint32_t n = 1; n < m->count; n++) {
        const model_value *value = model_read(m, n, OWNED_SHARE);
        if (value != NULL && x->renamed[n] == 0 && is_shared_by(m, x, value->bytes)) return true;
    }
    for (uint32_t i = 0; i < EVERYTHING_QUERIES; i++) {
        const model_query *asks = &e->queries[i].asks;
        for (uint32_t k = 0; e->queries[i].query.id != 0 && k < asks->shared_count; k++)
            if (asks->shared_kind == OWNED_SHARE &&
                is_shared_by(m, x, (const uint8_t *)asks->shared + k * m->kinds[OWNED_SHARE].size))
                return true;
    }
    return false;
}

/* Moves x from `from` to `to` and tells the models; false: it failed, or is BUSY. */
static bool transfer(everything *e, everything_place *to, everything_place *from, moving *x,
                     weft_query query, weft_result expected)
{
    weft_transfer_report report;
    for (uint32_t n = 1; n < x->tracked_count; n++) x->tracked[n] = everything_handle(from, n);
    weft_transfer_desc desc = {
        .query = query, .tracked = x->tracked + 1, .tracked_count = x->tracked_count - 1};
    weft_result result = weft_world_transfer(to->world, from->world, &desc, &report, sizeof report);
    if (result != expected) {
        everything_fails(e, "weft_world_transfer", "is %s, should be %s (%s)",
                         weft_result_name(result), weft_result_name(expected),
                         weft_world_error(to->world)->text);
        return false;
    }
    if (result != WEFT_OK) return false;
    to->m.version = weft_world_change_version(to->world);
    uint64_t cleared = model_move(&to->m, &from->m, x->numbers, x->count, x->renamed);
    if (!everything_equal(e, "entities that moved", report.entities, x->count)) return false;
    /* a shared value is one, however many have it: not counted here */
    if (report.references_cleared > cleared)
        everything_equal(e, "references that were cleared", report.references_cleared, cleared);
    for (uint32_t i = 0; i < x->count && !everything_has_failed(e); i++)
        everything_learn(e, to, x->renamed[x->numbers[i]], x->tracked[x->numbers[i]]);
    return !everything_has_failed(e);
}

static void says_transfer(everything *e, const moving *x, const char *from, const char *query,
                          weft_result expected)
{
    everything_says(e,
                    "IS(%s, weft_world_transfer(world, %s, &(weft_transfer_desc){.query = %s, "
                    ".tracked = e + 1, .tracked_count = %u}, NULL, 0));",
                    weft_result_name(expected), from, query, x->tracked_count - 1);
}

/* What came is back, with the next numbers. */
static void come_back(everything *e, everything_place *there, const moving *went)
{
    everything_place *here = e->here;
    moving x = moving_begin(&here->m, here->m.count);
    uint32_t next = here->m.count;
    for (uint32_t i = 0; i < went->count; i++) {
        x.numbers[i] = went->numbers[i];
        x.renamed[x.numbers[i]] = next++;
    }
    x.count = went->count;
    everything_says(e, "weft_world *there = world;\n        world = old;\n"
                       "        kinds_register(world);");
    says_transfer(e, &x, "there", "(weft_query){0}", WEFT_OK);
    if (!transfer(e, here, there, &x, (weft_query){0}, WEFT_OK)) return;
    for (uint32_t i = 0; i < x.count; i++)
        everything_says(e, "e[%u] = e[%u];", x.renamed[x.numbers[i]], x.numbers[i]);
    everything_says(e, "memcpy(e, all, %u * sizeof *e);", x.tracked_count);
    there->c_name = "there";
    everything_compare(e, here);
    if (!everything_has_failed(e)) everything_close(e, there);
}

/* The entities that move: all, or what a query of the world selects. */
static weft_query moving_select(everything *e, const everything_call *c, moving *x, uint32_t *slot)
{
    const model *m = &e->here->m;
    *slot = c->a % EVERYTHING_QUERIES;
    for (uint32_t i = 0; i < EVERYTHING_QUERIES && e->queries[*slot].query.id == 0; i++)
        *slot = (*slot + 1) % EVERYTHING_QUERIES;
    const everything_query *q = &e->queries[*slot];
    bool is_all = c->way == 0 || q->query.id == 0;
    for (uint32_t n = 1; n < m->count; n++) {
        model_life life = m->entities[n].life;
        bool is_there = life == MODEL_ALIVE || life == MODEL_RESIDUE;
        if (is_all ? !is_there : !model_selects(m, &q->asks, n)) continue;
        x->numbers[x->count++] = n;
        x->renamed[n] = n;
    }
    return is_all ? (weft_query){0} : q->query;
}

static void run_transfer(everything *e, const everything_call *c)
{
    everything_place *here = e->here, *there = &e->places[1];
    uint32_t slot;
    moving x = moving_begin(&here->m, here->m.count);
    everything_snapshots_drop(e); /* they hold shared values */
    everything_commands_drop(e, here);
    weft_query query = moving_select(e, c, &x, &slot);
    if (query.id != 0 && everything_room(e, x.count) < x.count) return;
    weft_result expected = is_busy(e, &x) ? WEFT_BUSY : WEFT_OK;
    char text[16];
    snprintf(text, sizeof text, query.id == 0 ? "(weft_query){0}" : "q[%u]", slot);
    everything_says(e,
                    "weft_world *old = world;\n        weft_entity all[%u];\n"
                    "        memcpy(all, e, sizeof all);",
                    here->m.count);
    if (!everything_open(e, there, "world")) return;
    there->m.version = weft_world_change_version(there->world);
    says_transfer(e, &x, "old", text, expected);
    if (transfer(e, there, here, &x, query, expected)) {
        everything_compare(e, there);
        if (query.id != 0) {
            come_back(e, there, &x);
        } else {
            everything_replace(e, there);
            memset(e->kept_rests, 0, sizeof e->kept_rests); /* a transfer takes no rates along */
        }
        return;
    }
    if (everything_has_failed(e)) return;
    everything_close(e, there);
    everything_says(e, "world = old;\n        kinds_register(world);");
}

static const char *const transfer_ways[] = {"all", "some", NULL};

const everything_op everything_ops_transfer[] = {
    {.name = "transfer",
     .functions = "weft_world_transfer",
     .weight = 2,
     .ways = transfer_ways,
     .run = run_transfer},
    {0},
};
