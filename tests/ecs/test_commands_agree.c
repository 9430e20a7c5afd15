/* SPDX-License-Identifier: MIT */
/* test_commands_agree.c: any list of commands gives what the same calls give, one by one. Lists are
 * drawn over all kinds of components and all operations of commands (command_ways.h), and each is
 * given to four worlds:
 *
 *   calls   one by one; a command that such a call refuses for good is left out of the list
 *   whole   one recorder, played once
 *   parts   three recorders, with a segment for every group of commands, played together
 *   pieces  one recorder after the other, each with fewer commands than a fold has
 *
 * After each list the worlds are compared entity by entity: who lives, names, components, values,
 * bits, buffers, references, sources of relations, and how many commands were skipped. Lengths are
 * drawn at the thresholds of playback as often as between them.
 *
 * The test prints how often each operation met each kind, and fails when one that it should draw
 * was not drawn. WEFT_TEST_SEEDS=10000 plays so many seeds, WEFT_TEST_SEEDS=FIRST-LAST those. A
 * list that differs is cut down before it is printed. */
#include "command_ways.h"
#include "fold_rows.h"
#include "host.h"
#include "order_watch.h"
#include "playback.h"

#include <stdio.h>

#if !defined(NDEBUG) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SEEDS = 60, DRAWS_ALL = false };
#else
enum { SEEDS = 320, DRAWS_ALL = true };
#endif

enum { LISTS = 3, COMMANDS = 5000, WAYS = 4, OPS = WEFT__COMMAND_OP_COUNT };
enum { CALLS, WHOLE, PARTS, PIECES, PIECE_MOST = WEFT__FOLD_LEAST - 1, RECORDERS = 3 };

/* Around these lengths and widths playback goes another way. */
static const uint32_t thresholds[] = {
    WEFT__FOLD_WIDTH,         /* commands of a row in one run, states, values, sources */
    WEFT__FOLD_LEAST,         /* commands of a fold */
    64,                       /* shared values of a run, members of groups, rows of a block */
    WEFT__PAYLOAD_WORDS_MOST, /* of a command in a page */
    256,                      /* ids given back together */
    1024,                     /* commands of a run */
    2048,                     /* rows of a piece of instances */
    WEFT__TASK_ROWS,
};

typedef struct list {
    command commands[COMMANDS + 1];
    uint32_t count;
} list;

/* Owner: the program. */
static struct {
    way ways[WAYS];
    order_watch
        watches[WAYS];     /* chunks whose rows differ after a list have an order version of it */
    list lists[LISTS + 1]; /* the first one makes the world */
    uint32_t numbers;      /* the next one */
    uint64_t seed;
    uint64_t drawn[OPS][KINDS], plain[OPS]; /* commands that met the kind; all that were kept */
    uint64_t left_out[OPS], lengths[4], moved;
} b;

/* ---- playing a list ---- */

static void play(way *w, weft_recorder **recorders, uint32_t count)
{
    weft__playback_result result;
    CHECK_OK(weft__host_begin(w->world, "test"));
    weft_result played =
        weft__playback_run(&(weft__playback_desc){.world = w->world,
                                                  .job = w->world->front.host.context,
                                                  .recorders = recorders,
                                                  .count = count},
                           &result);
    weft__host_end(w->world);
    w->skipped += result.skipped;
    if (played != WEFT_OK) {
        fprintf(stderr, "%s: %s\n", w->name, weft_world_error(w->world)->text);
        test_fail(__FILE__, __LINE__, "a playback failed");
    }
}

static bool makes_entities(uint32_t op)
{
    return op < OPS && weft__command_kinds[op].on == WEFT__ON_NEW;
}

/* Handles that commands made are real ones now. */
static void resolve(way *w, const command *commands, uint32_t count, weft_recorder **recorders,
                    const uint32_t *epochs)
{
    for (uint32_t i = 0; i < count; i++) {
        const command *c = &commands[i];
        uint32_t made = c->op == WEFT__COMMAND_ROWS ? c->rows : makes_entities(c->op);
        for (uint32_t k = 0; k < made; k++) {
            weft_entity deferred = w->entities[c->target + k];
            if (!weft__entity_is_deferred(deferred)) continue;
            uint32_t r = 0;
            while (epochs[r] != deferred.version) r++;
            uint32_t at = deferred.index & ~WEFT__ROW_HANDLE;
            learn(w, c->target + k,
                  at == deferred.index ? recorders[r]->resolved[at]
                                       : recorders[r]->row_entities[at]);
        }
    }
}

/* Rows whose handles were not asked for are found by their number. */
static void find_rows(way *w)
{
    static weft_entity rows[NUMBERS];
    uint64_t count = weft_query_entities(w->world, w->numbered, rows, NUMBERS);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t number = *(const uint32_t *)weft_entity_read(w->world, rows[i], w->of[NUMBER]);
        if (w->entities[number].version == 0) learn(w, number, rows[i]);
    }
}

/* Records and plays commands [first, end) of a list, group after group in a segment each. */
static void play_some(way *w, const list *l, uint32_t first, uint32_t end, uint32_t recorder_count)
{
    weft_recorder *recorders[RECORDERS];
    uint32_t epochs[RECORDERS];
    for (uint32_t i = 0; i < recorder_count; i++) {
        CHECK_OK(weft_recorder_create(w->world, &recorders[i]));
        epochs[i] = recorders[i]->epoch;
    }
    for (uint32_t i = first; i < end; i++) {
        const command *c = &l->commands[i];
        weft_recorder *r = recorders[c->group % recorder_count];
        if (recorder_count > 1) weft__recorder_key(r, c->group);
        CHECK_OK(record(w, r, c));
    }
    play(w, recorders, recorder_count);
    resolve(w, l->commands + first, end - first, recorders, epochs);
    for (uint32_t i = 0; i < recorder_count; i++) weft_recorder_destroy(recorders[i]);
}

static void play_list(way *w, uint32_t number, const list *l)
{
    w->skipped = 0;
    if (number == WHOLE) play_some(w, l, 0, l->count, 1);
    if (number == PARTS) play_some(w, l, 0, l->count, RECORDERS);
    for (uint32_t first = 0, end; number == PIECES && first < l->count; first = end) {
        end = first + 1 + (l->commands[first].value * 7 + first) % PIECE_MOST;
        if (end > l->count) end = l->count;
        play_some(w, l, first, end, 1);
    }
    find_rows(w);
}

/* ---- comparing ---- */

/* Copies of the members of a group have no number yet: they get one by their place in the group. */
static void adopt(void)
{
    for (uint32_t number = 1; number < b.numbers && b.numbers + 64 < NUMBERS; number++) {
        const weft_buffer *groups[WAYS];
        bool is_same = true;
        for (uint32_t i = 0; i < WAYS; i++) {
            way *w = &b.ways[i];
            groups[i] = weft_entity_read(w->world, w->entities[number], w->of[GROUP]);
            is_same &= groups[i] != NULL && groups[i]->count == groups[0]->count;
        }
        for (uint32_t k = 0; is_same && k < groups[0]->count && k < GROUP_MOST; k++) {
            const weft_entity *first = weft_buffer_read(groups[CALLS]);
            if (number_of(&b.ways[CALLS], first[k]) != UINT32_MAX) continue;
            for (uint32_t i = 0; i < WAYS; i++)
                learn(&b.ways[i], b.numbers, ((const weft_entity *)weft_buffer_read(groups[i]))[k]);
            b.numbers++;
        }
    }
}

static const char *const part_names[] = {"is alive", "has it", "value",  "reference", "enabled",
                                         "elements", "name",   "source", "depth"};

static bool is_told; /* what differs is printed */

static bool differs(const char *what, uint32_t number, const way *w, uint64_t is, uint64_t expected)
{
    if (is_told)
        fprintf(stderr, "seed %llu, %s, entity %u: %s is %llu, by calls %llu\n",
                (unsigned long long)b.seed, w->name, number, what, (unsigned long long)is,
                (unsigned long long)expected);
    return false;
}

static bool compare_entity(uint32_t number, way *w, const view *calls)
{
    static view other;
    const way *c = &b.ways[CALLS];
    if (w->entities[number].version == 0 &&
        !weft_entity_has(c->world, c->entities[number], c->of[NUMBER]))
        return true; /* a row made in place that became a residue before it was found */
    look(w, number, &other);
    if (other.count == calls->count &&
        memcmp(other.words, calls->words, other.count * sizeof other.words[0]) == 0)
        return true;
    uint32_t i = 0;
    while (i < other.count && i < calls->count && other.words[i] == calls->words[i]) i++;
    const view *longer = other.count > calls->count ? &other : calls;
    uint32_t label = longer->words[i & ~1u];
    char what[80];
    snprintf(what, sizeof what, "%s, %s", kind_names[label >> 8], part_names[label & 255]);
    return differs(what, number, w, other.words[i], calls->words[i]);
}

/* Half of the lists are played at a version of their own. */
static void orders_look(bool is_before)
{
    for (uint32_t i = 0; i < WAYS; i++) {
        if (is_before && b.seed % 2 == 0) weft_world_advance_change_version(b.ways[i].world);
        b.moved += order_watch_look(&b.watches[i], b.ways[i].world);
    }
}

static bool compare(void)
{
    static view calls;
    weft_world_stats expected, stats;
    for (uint32_t i = 0; i < WAYS; i++) {
        weft_result settled = weft_relation_settle(b.ways[i].world);
        CHECK(settled == WEFT_OK || settled == WEFT_CYCLE);
        if (weft_world_validate(b.ways[i].world) != WEFT_OK)
            test_fail(__FILE__, __LINE__, weft_world_error(b.ways[i].world)->text);
    }
    orders_look(false);
    adopt();
    for (uint32_t number = 1; number < b.numbers; number++) {
        look(&b.ways[CALLS], number, &calls);
        for (uint32_t i = WHOLE; i < WAYS; i++)
            if (!compare_entity(number, &b.ways[i], &calls)) return false;
    }
    weft_world_stats_get(b.ways[CALLS].world, &expected, sizeof expected);
    for (uint32_t i = WHOLE; i < WAYS; i++) {
        const way *w = &b.ways[i], *c = &b.ways[CALLS];
        weft_world_stats_get(w->world, &stats, sizeof stats);
        if (stats.entities != expected.entities)
            return differs("count", 0, w, stats.entities, expected.entities);
        uint64_t owned = at_load_rlx(&w->x_owned),
                 by_calls = at_load_rlx(&c->x_owned); /* relaxed: alone */
        if (owned != by_calls) return differs("hooked values", 0, w, owned, by_calls);
        if (w->skipped != c->skipped) return differs("skipped", 0, w, w->skipped, c->skipped);
    }
    return true;
}

/* ---- drawing ---- */

/* What a list is drawn from. On the stack of draw_list. */
typedef struct drawing {
    test_random random;
    list *to;
    uint32_t ops[OPS], op_count;
    uint32_t kinds[KINDS], kind_count;
    uint32_t old;        /* numbers below were made by lists before */
    uint32_t group;      /* its number ... */
    uint32_t made;       /* ... and the first number made in it */
    uint32_t from, span; /* targets are drawn from this many numbers */
    uint32_t values;     /* different ones */
    bool had_query;      /* rows come before all commands: not behind query-wide ones */
} drawing;

static uint32_t below(drawing *d, uint32_t bound)
{
    return (uint32_t)test_random_below(&d->random, bound);
}

static uint32_t draw_length(drawing *d, uint32_t most)
{
    uint32_t length = thresholds[below(d, sizeof thresholds / sizeof thresholds[0])];
    uint32_t choice = below(d, 8);
    if (choice < 4) length += below(d, 3) - 1;
    if (choice >= 4) length = 1 + below(d, 1u << (1 + below(d, 9)));
    if (choice == 7 && below(d, 6) == 0) length = 1 + below(d, most);
    if (length > 300 && below(d, 4) != 0) length = 1 + below(d, 100);
    return length < most ? length : most;
}

/* Whether an operation takes a component of this kind; of operations without one: whether an entity
 * with it can be met. */
static bool fits(uint32_t op, uint32_t kind)
{
    if (op >= OPS) return false;
    switch ((weft__command_subject)weft__command_kinds[op].subject) {
    case WEFT__SUBJECT_NOTHING:
        return true;
    case WEFT__SUBJECT_ARCHETYPE:
        return is_in_rows(kind) && (kind != NUMBER || op == WEFT__COMMAND_ROWS);
    case WEFT__SUBJECT_COMPONENT:
        return kind != NUMBER;
    case WEFT__SUBJECT_PLAIN:
        return kind != NUMBER && !is_kind(kind, WEFT_BUFFER | WEFT_SHARED | WEFT_CHUNK);
    case WEFT__SUBJECT_SHARED:
        return is_kind(kind, WEFT_SHARED);
    case WEFT__SUBJECT_ENABLEABLE:
        return is_kind(kind, WEFT_ENABLEABLE);
    case WEFT__SUBJECT_BUFFER: /* the first element of a group is its root */
        return is_kind(kind, WEFT_BUFFER) && (kind != GROUP || op == WEFT__COMMAND_SET_BUFFER);
    }
    return false;
}

static bool has_kind(uint32_t op)
{
    return op < OPS && weft__command_kinds[op].subject >= WEFT__SUBJECT_COMPONENT;
}

/* A number that commands of this group may name: made before the list, or in the group. */
static uint32_t draw_known(drawing *d)
{
    bool is_fresh = d->made < b.numbers && below(d, 3) == 0;
    uint32_t first = is_fresh ? d->made : d->from, end = is_fresh ? b.numbers : d->from + d->span;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t number = first + below(d, end - first);
        if (b.ways[CALLS].entities[number].version != 0 &&
            (i > 3 || below(d, 12) == 0 ||
             weft_entity_is_alive(b.ways[CALLS].world, b.ways[CALLS].entities[number])))
            return number;
    }
    return 0;
}

/* Shared values of rows do not refer to rows of the list. */
static bool is_of_rows(const drawing *d, uint32_t number)
{
    for (uint32_t i = d->to->count; number >= d->old && i-- > 0;) {
        const command *c = &d->to->commands[i];
        if (c->op == WEFT__COMMAND_ROWS && number - c->target < c->rows) return true;
    }
    return false;
}

/* Rows whose handles were not asked for have none in the list that makes them, and for ever when
 * they ended in it. */
static bool is_unknown(const drawing *d, uint32_t number)
{
    for (uint32_t i = WHOLE; number != 0 && number < d->old && i < WAYS; i++)
        if (b.ways[i].entities[number].version == 0) return true;
    for (uint32_t i = d->to->count; number >= d->old && i-- > 0;) {
        const command *c = &d->to->commands[i];
        if (c->op == WEFT__COMMAND_ROWS && number - c->target < c->rows) return !c->flag;
    }
    return false;
}

static uint32_t draw_set(drawing *d, uint32_t op)
{
    uint32_t set = op == WEFT__COMMAND_ROWS ? 1u << NUMBER : 0;
    for (uint32_t i = below(d, 5); i-- > 0;) {
        uint32_t kind = d->kinds[below(d, d->kind_count)];
        if (fits(op, kind)) set |= 1u << kind;
    }
    return set;
}

/* A command without its target; false: none that fits. */
static bool draw_command(drawing *d, command *c)
{
    *c = (command){.op = (uint8_t)d->ops[below(d, d->op_count)], .group = d->group};
    c->kind = (uint8_t)d->kinds[below(d, d->kind_count)];
    if (weft__command_is_wide(c->op) && below(d, 2) == 0) c->kind = (uint8_t)below(d, KINDS);
    for (uint32_t i = 0; has_kind(c->op) && !fits(c->op, c->kind); i++) {
        if (i == 20) return false;
        c->kind = (uint8_t)d->kinds[below(d, d->kind_count)];
    }
    c->value = below(d, d->values);
    c->flag = below(d, 2) == 0;
    c->other = draw_known(d);
    if (c->op == WEFT__COMMAND_CREATE || c->op == WEFT__COMMAND_ROWS) c->set = draw_set(d, c->op);
    c->rows = c->op == WEFT__COMMAND_ROWS ? 1 + below(d, 1u << (1 + below(d, 6))) : 0;
    if (c->op == WEFT__COMMAND_ROWS && below(d, 10) == 0) c->rows += below(d, 700);
    if (c->op == WEFT__COMMAND_ROWS && is_of_rows(d, c->other)) c->other = 0;
    return true;
}

/* The first of these relations must not have cycles: which edge is cut depends on the layout. */
static bool is_sound(const drawing *d, const command *c)
{
    bool makes = makes_entities(c->op), is_wide = weft__command_is_wide(c->op);
    if ((!makes && !is_wide && is_unknown(d, c->target)) || is_unknown(d, c->other)) return false;
    if (c->op == WEFT__COMMAND_INSTANTIATE) return c->other != 0;
    if (makes && (c->set >> PARENT & 1) != 0) return c->other < c->target;
    if (!has_kind(c->op) || weft__command_is_wide(c->op)) return true;
    if (c->kind == PARENT) return c->other < c->target;
    if (c->kind == GROUP && c->op == WEFT__COMMAND_SET_BUFFER)
        return c->other > c->target && (c->value % GROUP_MOST < 2 || c->other + 3 < d->old);
    return true;
}

static void count_kinds(const command *c)
{
    way *w = &b.ways[CALLS];
    static weft_entity met[NUMBERS];
    uint32_t number = c->op == WEFT__COMMAND_INSTANTIATE ? c->other : c->target;
    met[0] = w->entities[number];
    uint64_t count = 1;
    if (weft__command_is_wide(c->op))
        count = weft_query_entities(w->world, w->queries[c->target], met, NUMBERS);
    if (count == 0 || weft_entity_archetype(w->world, met[0]).id == 0) return;
    if (has_kind(c->op)) {
        b.drawn[c->op][c->kind]++;
        return;
    }
    for (uint64_t i = 0; i < count && i < 8; i++)
        for (uint32_t kind = 0; kind < KINDS; kind++)
            b.drawn[c->op][kind] += weft_entity_has(w->world, met[i], w->of[kind]);
}

/* Gives a command to the world of calls; it joins the list when it is not refused for good. */
static void try_command(drawing *d, command *c)
{
    if (d->to->count == COMMANDS || !is_sound(d, c)) return;
    bool makes = makes_entities(c->op);
    uint32_t made = c->op == WEFT__COMMAND_ROWS ? c->rows : makes;
    if (b.numbers + made + 64 >= NUMBERS) return;
    if (!makes || c->op == WEFT__COMMAND_INSTANTIATE) count_kinds(c);
    weft_result result = call(&b.ways[CALLS], c);
    if (result != WEFT_OK && !is_skipped(c, result)) {
        b.left_out[c->op]++;
        return;
    }
    if (result != WEFT_OK && c->op != WEFT__COMMAND_DESTROY) b.ways[CALLS].skipped++;
    b.numbers += made;
    b.plain[c->op]++;
    if (c->op == WEFT__COMMAND_CREATE || c->op == WEFT__COMMAND_ROWS) count_kinds(c);
    d->had_query |= weft__command_is_wide(c->op);
    d->to->commands[d->to->count++] = *c;
}

/* The target of a command: `number`, unless it makes one or is query-wide. */
static void aim(drawing *d, command *c, uint32_t number)
{
    c->target = number;
    if (makes_entities(c->op)) c->target = b.numbers;
    if (weft__command_is_wide(c->op)) c->target = below(d, QUERIES);
    if (c->kind == GROUP && c->op == WEFT__COMMAND_SET_BUFFER && c->other <= c->target &&
        c->target + 1 < d->from + d->span)
        c->other = c->target + 1 + below(d, d->from + d->span - c->target - 1);
}

/* Commands for targets drawn one by one. */
static void draw_scattered(drawing *d, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        command c;
        if (!draw_command(d, &c) || (c.op == WEFT__COMMAND_ROWS && d->had_query)) continue;
        aim(d, &c, draw_known(d));
        if (c.target != 0 || weft__command_is_wide(c.op)) try_command(d, &c);
    }
}

/* The same commands for one entity after the other; some get one more or one less. */
static void draw_swept(drawing *d, uint32_t count)
{
    command pattern[WEFT__FOLD_WIDTH + 4];
    uint32_t width = 1 + below(d, below(d, 3) == 0 ? WEFT__FOLD_WIDTH + 3 : 4), first = d->from;
    bool is_fresh = d->made < b.numbers && below(d, 2) == 0;
    for (uint32_t i = 0; i < width; i++)
        if (!draw_command(d, &pattern[i])) return;
    uint32_t end = d->from + d->span;
    if (is_fresh) first = d->made, end = b.numbers;
    bool makes = false;
    for (uint32_t i = 0; i < width; i++) {
        bool is_made = makes_entities(pattern[i].op);
        if (is_made && (i > 0 || pattern[i].op == WEFT__COMMAND_ROWS))
            pattern[i].op = WEFT__COMMAND_ADD;
        if (has_kind(pattern[i].op) && !fits(pattern[i].op, pattern[i].kind))
            pattern[i].kind = PLAIN;
        makes |= i == 0 && is_made && pattern[i].op != WEFT__COMMAND_ADD;
    }
    for (uint32_t number = first; number < end && count >= width; number++, count -= width) {
        uint32_t extra = below(d, 20) == 0 && width > 1 ? 1 : 0, target = number;
        if (makes) target = b.numbers, end++;
        if (!makes && b.ways[CALLS].entities[number].version == 0) continue;
        for (uint32_t i = 0; i < width - extra; i++) {
            command c = pattern[i];
            c.value = below(d, d->values);
            aim(d, &c, target);
            bool is_target = makes_entities(c.op) || weft__command_is_wide(c.op);
            if (is_target || c.target < b.numbers) try_command(d, &c);
        }
    }
}

/* Which operations and kinds a list has: segments with some of them are played otherwise. */
static void draw_palette(drawing *d)
{
    uint32_t alone[OPS], folded[OPS], alone_count = 0, folded_count = 0;
    for (uint32_t op = 0; op < OPS; op++) {
        const uint8_t how = weft__command_kinds[op].way;
        if (how == WEFT__WAY_ALONE || how == WEFT__WAY_COPIED) alone[alone_count++] = op;
        if (how != WEFT__WAY_ALONE) folded[folded_count++] = op;
    }
    d->op_count = d->kind_count = 0;
    for (uint32_t i = 2 + below(d, 7); i-- > 0;) {
        uint32_t op = folded[below(d, folded_count)];
        bool is_rare = op == WEFT__COMMAND_DESTROY || op == WEFT__COMMAND_ROWS ||
                       op == WEFT__COMMAND_INSTANTIATE;
        if (!is_rare || below(d, 2) == 0) d->ops[d->op_count++] = op;
    }
    if (below(d, 3) == 0) d->ops[d->op_count++] = alone[below(d, alone_count)];
    if (below(d, 12) == 0)
        for (uint32_t i = 0; i < alone_count; i++) d->ops[d->op_count++] = alone[i];
    if (d->op_count == 0) d->ops[d->op_count++] = WEFT__COMMAND_SET;
    bool is_folded = below(d, 2) == 0;
    for (uint32_t i = 1 + below(d, below(d, 3) == 0 ? 12 : 4); i-- > 0;) {
        uint32_t kind = 1 + below(d, KINDS - 1);
        if (!is_folded || !is_kind(kind, WEFT_SPARSE)) d->kinds[d->kind_count++] = kind;
    }
    if (d->kind_count == 0) d->kinds[d->kind_count++] = SHARE;
    d->values = 2 + below(d, below(d, 4) == 0 ? 100 : 8);
}

static void draw_list(drawing *d, list *to)
{
    to->count = 0;
    d->to = to;
    d->old = b.numbers;
    d->had_query = false;
    d->group = 0;
    b.ways[CALLS].skipped = 0;
    uint32_t length = draw_length(d, COMMANDS), groups = below(d, 2) == 0 ? 1 : 1 + below(d, 30);
    draw_palette(d);
    for (uint32_t g = 0; g < groups + 10 && to->count < length; g++) {
        d->group++;
        d->made = b.numbers;
        d->span = 1 + below(d, below(d, 3) == 0 ? 4 : d->old - 1);
        d->from = 1 + below(d, d->old - d->span);
        uint32_t rest = length - to->count,
                 count = 1 + (g + 1 >= groups ? rest - 1 : below(d, rest));
        if (below(d, 3) != 0) draw_palette(d);
        if (below(d, 2) == 0)
            draw_scattered(d, count);
        else
            draw_swept(d, count);
    }
}

/* The entities that a seed begins with. */
static void draw_world(drawing *d, list *to)
{
    to->count = 0;
    d->to = to;
    d->old = d->made = b.numbers = 1;
    d->group = 1;
    d->values = 10;
    d->from = 1;
    d->span = 0;
    uint32_t rows = 20 + below(d, below(d, 8) == 0 ? 3000 : 200), kinds = 1 + below(d, 6);
    for (uint32_t k = 0; k < kinds; k++) {
        draw_palette(d);
        command c = {.op = WEFT__COMMAND_ROWS, .group = 1, .value = below(d, 10), .flag = true};
        c.set = draw_set(d, c.op) | (below(d, 2) == 0 ? 1u << PLAIN : 0);
        c.rows = 1 + rows / kinds;
        c.target = b.numbers;
        try_command(d, &c);
    }
    CHECK(b.numbers > 2);
}

/* ---- a seed ---- */

static void worlds_open(void)
{
    static const char *const names[WAYS] = {"calls", "whole", "parts", "pieces"};
    for (uint32_t i = 0; i < WAYS; i++)
        way_open(&b.ways[i], names[i], i == PARTS && b.seed % 8 == 0 ? 2 : 1);
    b.numbers = 1;
}

static void worlds_close(void)
{
    for (uint32_t i = 0; i < WAYS; i++) {
        order_watch_fini(&b.watches[i]);
        way_close(&b.ways[i]);
    }
}

/* Plays the lists of a seed once more, without those commands of the last one that `left` lacks.
 * False: they differ. */
static bool replay(uint32_t lists, const bool *left)
{
    static list kept;
    bool is_equal = true;
    worlds_open();
    for (uint32_t l = 0; l < lists; l++) {
        uint32_t most = b.numbers;
        kept.count = 0;
        for (uint32_t i = 0; i < WAYS; i++) b.ways[i].skipped = 0;
        for (uint32_t i = 0; i < b.lists[l].count; i++) {
            const command *c = &b.lists[l].commands[i];
            if (l + 1 == lists && !left[i]) continue;
            bool makes = makes_entities(c->op), is_wide = weft__command_is_wide(c->op);
            bool is_known = makes || is_wide || b.ways[CALLS].entities[c->target].version != 0;
            bool is_there = c->op == WEFT__COMMAND_INSTANTIATE
                                ? b.ways[CALLS].entities[c->other].version != 0
                                : true;
            if (!is_known || !is_there) continue;
            weft_result result = call(&b.ways[CALLS], c);
            if (result != WEFT_OK && !is_skipped(c, result)) continue;
            if (result != WEFT_OK && c->op != WEFT__COMMAND_DESTROY) b.ways[CALLS].skipped++;
            uint32_t end = c->target + (c->op == WEFT__COMMAND_ROWS ? c->rows : 1);
            if (makes && end > most) most = end;
            kept.commands[kept.count++] = *c;
        }
        b.numbers = most;
        for (uint32_t i = WHOLE; i < WAYS; i++) play_list(&b.ways[i], i, &kept);
        is_equal = compare();
    }
    worlds_close();
    return is_equal;
}

/* The worlds differ after list `last`: leaves out what is not needed for it, and prints the
 * rest. */
_Noreturn static void report(uint32_t last)
{
    static bool left[COMMANDS];
    const list *l = &b.lists[last];
    memset(left, 1, sizeof left);
    is_told = false;
    for (uint32_t step = l->count; step > 0; step /= 2)
        for (uint32_t at = 0; at < l->count; at += step) {
            static bool before[COMMANDS];
            memcpy(before, left, sizeof left);
            for (uint32_t i = at; i < at + step && i < l->count; i++) left[i] = false;
            if (replay(last + 1, left)) memcpy(left, before, sizeof left);
        }
    static const char *const op_names[OPS] = {
        "create",    "rows",         "instantiate", "destroy",      "add",          "remove",
        "set",       "share",        "enable",      "append",       "replace",      "name",
        "query add", "query remove", "query share", "query enable", "query destroy"};
    for (uint32_t i = 0; i < l->count; i++) {
        const command *c = &l->commands[i];
        if (left[i])
            fprintf(stderr,
                    "  group %u: %s %s, target %u, other %u, value %u, flag %d, set %x, rows %u\n",
                    c->group, op_names[c->op], kind_names[c->kind], c->target, c->other, c->value,
                    c->flag, c->set, c->rows);
    }
    is_told = true;
    bool is_equal = replay(last + 1, left);
    test_fail(__FILE__, __LINE__, is_equal ? "differs only the first time" : "the ways differ");
}

static void run_seed(uint64_t seed)
{
    drawing d = {.random = test_random_init(seed)};
    b.seed = seed;
    worlds_open();
    for (uint32_t l = 0; l <= LISTS; l++) {
        for (uint32_t i = 0; i < WAYS; i++) b.ways[i].skipped = 0;
        orders_look(true);
        if (l == 0)
            draw_world(&d, &b.lists[l]);
        else
            draw_list(&d, &b.lists[l]);
        for (uint32_t i = WHOLE; i < WAYS; i++) play_list(&b.ways[i], i, &b.lists[l]);
        is_told = true;
        if (!compare()) report(l);
        uint32_t count = b.lists[l].count;
        b.lengths[(count >= WEFT__FOLD_LEAST) + (count >= 256) + (count >= 1024)]++;
    }
    worlds_close();
}

/* The table of operations and kinds. Returns how many cells that should be drawn are empty. */
static uint32_t print_table(void)
{
    uint32_t empty = 0;
    printf("%-12s", "");
    for (uint32_t op = 0; op < OPS; op++) {
        const char *word = weft__command_words[op];
        bool is_wide = weft__command_is_wide(op);
        printf(is_wide ? "  q.%-4.4s" : "  %-6.6s", is_wide ? word + strlen("query_") : word);
    }
    printf("\n");
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        printf("%-12s", kind_names[kind]);
        for (uint32_t op = 0; op < OPS; op++) {
            bool is_empty = fits(op, kind) && b.drawn[op][kind] == 0;
            empty += is_empty;
            if (fits(op, kind))
                printf(" %6llu%c", (unsigned long long)b.drawn[op][kind], is_empty ? '!' : ' ');
            else
                printf(" %7s", ".");
        }
        printf("\n");
    }
    printf("%-12s", "commands");
    for (uint32_t op = 0; op < OPS; op++) {
        bool is_empty = b.plain[op] <= b.left_out[op]; /* the call refuses it */
        empty += is_empty;
        printf(" %6llu%c", (unsigned long long)b.plain[op], is_empty ? '!' : ' ');
    }
    printf("\n%-12s", "left out");
    for (uint32_t op = 0; op < OPS; op++) printf(" %6llu ", (unsigned long long)b.left_out[op]);
    printf("\nlists by length: %llu below %u, %llu below 256, %llu below 1024, %llu longer\n",
           (unsigned long long)b.lengths[0], WEFT__FOLD_LEAST, (unsigned long long)b.lengths[1],
           (unsigned long long)b.lengths[2], (unsigned long long)b.lengths[3]);
    printf("cells that are empty: %u\n", empty);
    return empty;
}

PLAIN_TEST(lists_of_commands_give_what_the_same_calls_give)
{
    const char *text = getenv("WEFT_TEST_SEEDS"), *one = getenv("WEFT_TEST_SEED");
    uint64_t first = 1, last = SEEDS;
    char *rest = NULL;
    if (text != NULL) last = strtoull(text, &rest, 0);
    if (rest != NULL && *rest == '-') first = last, last = strtoull(rest + 1, NULL, 0);
    if (one != NULL) first = last = strtoull(one, NULL, 0);
    for (uint64_t seed = first; seed <= last; seed++) run_seed(seed);
    uint32_t empty = print_table();
    CHECK(b.moved != 0);
    if (DRAWS_ALL && one == NULL && text == NULL) CHECK_U64(empty, 0);
}
