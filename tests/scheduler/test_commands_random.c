/* SPDX-License-Identifier: MIT */
/* test_commands_random.c: random commands recorded by systems, in parts and on several workers,
 * against a naive model that applies them one by one in order of effect: (system, part, sequence).
 * Rows made in jobs come first, as they are linked before anything is played. Every entity has a
 * number, by which the model finds it. Steps differ in what they record, so that every way of
 * playing is taken: one by one, folded with and without an order within a row, long runs of rows
 * with gaps and repeats, the same commands for row after row, query-wide commands.
 *
 * A second test lets the k-th allocation (or mapping) of a step fail, for every k, once and for
 * ever: the step then says so, the world is valid, the next step is a normal one, and nothing
 * leaks. */
#include "commands_model.h"

#include <stdlib.h>
#include <string.h>
#include <weft/type.h>

/* Seeds of a test: all in the fast builds. */
#if !defined(NDEBUG) || defined(__SANITIZE_THREAD__)
enum { STREAMS = 6, FAILING_STREAMS = 1 };
#else
enum { STREAMS = 24, FAILING_STREAMS = 3 };
#endif

/* ---- the systems ---- */

static const char *const labels[] = {"", "one", "two", "three", "four", "five", "six"};

/* Handles of entities made by the part that is being recorded, by number. */
typedef struct fresh {
    uint32_t first;
    weft_entity handles[OPS * 8];
} fresh;

static weft_entity handle_of(const fresh *f, uint32_t number)
{
    if (number >= f->first && number - f->first < OPS * 8 &&
        f->handles[number - f->first].version != 0)
        return f->handles[number - f->first];
    return b->model[number].handle;
}

static weft_result record_rows(weft_recorder *commands, const op *o, fresh *f)
{
    uint32_t share = shared_of(o);
    weft_rows_desc desc = {.archetype = share == 0 ? b->rows : b->grouped,
                           .shared_count = share == 0 ? 0 : 1,
                           .shared = &(weft_values){b->component[SHARE], &share}};
    weft_slice rows;
    for (uint32_t done = 0; done < o->value;) {
        desc.count = o->value - done;
        weft_result result = weft_recorder_create_rows_with(commands, &desc, &rows);
        if (result != WEFT_OK) return result;
        for (uint32_t i = 0; i < rows.count; i++, done++) {
            ((uint32_t *)rows.columns[0])[i] = o->target + done;
            if (o->component % 2 == 0) continue; /* the handles of some are not asked for */
            f->handles[o->target + done - f->first] = weft_recorder_row_entity(commands, &rows, i);
        }
    }
    return WEFT_OK;
}

static weft_result record_made(weft_recorder *commands, const op *o, fresh *f)
{
    weft_entity made = o->kind == OP_CREATE
                           ? weft_recorder_create_entity(commands, b->made)
                           : weft_recorder_instantiate(commands, handle_of(f, o->other));
    f->handles[o->target - f->first] = made;
    if (made.version == 0) return WEFT_OUT_OF_MEMORY;
    return weft_recorder_set(commands, made, b->component[NUMBER], &o->target, 4);
}

static weft_result record_value(weft_recorder *commands, const op *o, const fresh *f)
{
    weft_entity entity = handle_of(f, o->target);
    weft_component component = b->component[o->component];
    uint32_t words[3] = {o->value, o->value, o->value};
    link there = {{0, 0}, o->value};
    if (o->kind == OP_SET)
        return weft_recorder_set(commands, entity, component, words, sizes[o->component]);
    if (o->kind == OP_APPEND)
        return weft_recorder_append(commands, entity, b->component[LIST], words, 1 + o->value % 3);
    if (o->kind == OP_REPLACE)
        return weft_recorder_set_buffer(commands, entity, b->component[LIST], words,
                                        1 + o->value % 3);
    if (o->kind == OP_NAME)
        return weft_recorder_set_name(commands, entity, o->value == 0 ? NULL : labels[o->value]);
    if (o->kind == OP_SHARE)
        return weft_recorder_set_shared(commands, entity, b->component[SHARE], words);
    if (o->kind == OP_ENABLE)
        return weft_recorder_enable(commands, entity, b->component[SWITCH], o->value % 2 == 0);
    there.other = handle_of(f, o->other);
    return weft_recorder_set(commands, entity, b->component[LINK], &there, sizeof there);
}

static weft_result record(weft_recorder *commands, const op *o, fresh *f)
{
    weft_component component = b->component[o->component];
    if (o->kind == OP_ROWS) return record_rows(commands, o, f);
    if (o->kind == OP_CREATE || o->kind == OP_INSTANTIATE) return record_made(commands, o, f);
    if (o->kind == OP_QUERY_ADD) return weft_recorder_query_add(commands, b->wide, component);
    if (o->kind == OP_QUERY_REMOVE) return weft_recorder_query_remove(commands, b->wide, component);
    if (o->kind == OP_QUERY_SHARE)
        return weft_recorder_query_set_shared(commands, b->wide, b->component[SHARE], &o->value);
    if (o->kind == OP_QUERY_ENABLE)
        return weft_recorder_query_enable(commands, b->wide, b->component[SWITCH],
                                          o->value % 2 == 0);
    if (o->kind == OP_QUERY_DESTROY) return weft_recorder_query_destroy_entities(commands, b->wide);
    weft_entity entity = handle_of(f, o->target);
    if (o->kind == OP_DESTROY) return weft_recorder_destroy_entity(commands, entity);
    if (o->kind == OP_ADD) return weft_recorder_add(commands, entity, component);
    if (o->kind == OP_REMOVE) return weft_recorder_remove(commands, entity, component);
    return record_value(commands, o, f);
}

static void record_part(weft_slice *s, void *user)
{
    const part *p = &((const part *)user)[s->index];
    weft_recorder *commands = weft_slice_recorder(s);
    fresh f = {0};
    for (uint32_t i = 0; i < p->count && f.first == 0; i++)
        if (p->ops[i].kind >= OP_CREATE && p->ops[i].kind <= OP_INSTANTIATE)
            f.first = p->ops[i].target;
    for (uint32_t i = 0; i < p->count; i++) {
        weft_result result = record(commands, &p->ops[i], &f);
        if (result == WEFT_OK) continue;
        if (!b->may_fail) test_fail(__FILE__, __LINE__, "a command could not be recorded");
        return;
    }
}

/* ---- comparing ---- */

static uint32_t sum(const weft_buffer *list)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < list->count; i++)
        total += ((const uint32_t *)weft_buffer_read(list))[i];
    return total;
}

static void value_check(const model_entity *e, uint32_t k)
{
    const void *value = k == SHARE ? weft_entity_read_shared(b->world, e->handle, b->component[k])
                                   : weft_entity_read(b->world, e->handle, b->component[k]);
    CHECK(value != NULL);
    if (k == LIST) {
        CHECK_U64(sum(value), e->values[k]);
    } else if (k == LINK) {
        if (e->values[LINK] == unchecked) return;
        weft_entity other = b->model[e->values[LINK]].handle; /* of number 0: null */
        const link *there = value;
        if (e->values[LINK] != 0 && other.version == 0) return; /* made and gone at once */
        CHECK_U64(there->other.index, other.index);
        CHECK_U64(there->other.version, other.version);
    } else {
        for (size_t i = 0; i < sizes[k] / 4; i++)
            CHECK_U64(((const uint32_t *)value)[i], e->values[k]);
    }
}

static void entity_check(const model_entity *e)
{
    bool is_living = e->is_alive && !e->is_residue;
    CHECK(weft_entity_is_alive(b->world, e->handle) == is_living);
    CHECK((weft_entity_archetype(b->world, e->handle).id != 0) == e->is_alive);
    CHECK_TEXT(weft_entity_name(b->world, e->handle), is_living ? labels[e->name] : "");
    for (uint32_t k = 0; k < KINDS && e->is_alive; k++) {
        bool has = (e->set >> k & 1) != 0;
        CHECK(weft_entity_has(b->world, e->handle, b->component[k]) == has);
        if (has && sizes[k] != 0) value_check(e, k);
        if (has && k == SWITCH)
            CHECK(weft_entity_is_enabled(b->world, e->handle, b->component[k]) != e->is_disabled);
    }
}

/* Tells the model the handles of what the step made. */
static void learn_handles(void)
{
    static weft_entity handles[ENTITIES];
    static uint32_t numbers[ENTITIES];
    uint64_t count = weft_query_entities(b->world, b->all, handles, ENTITIES);
    CHECK(weft_query_read_values(b->world, b->all, b->component[NUMBER], numbers, ENTITIES) ==
          count);
    for (uint64_t i = 0; i < count; i++) {
        CHECK(numbers[i] != 0 && numbers[i] < b->numbers);
        model_entity *e = &b->model[numbers[i]];
        if (e->handle.version == 0) e->handle = handles[i];
        CHECK(e->handle.index == handles[i].index && e->handle.version == handles[i].version);
    }
    for (uint32_t i = 1; i < b->numbers; i++) /* residues have no number */
        count -= b->model[i].is_alive && !b->model[i].is_residue;
    CHECK_U64(count, 0);
}

static void check_valid(void)
{
    if (weft_world_validate(b->world) != WEFT_OK)
        test_fail(__FILE__, __LINE__, weft_world_error(b->world)->text);
}

static void check_all(void)
{
    check_valid();
    learn_handles();
    for (uint32_t i = 1; i < b->numbers; i++)
        if (b->model[i].handle.version != 0) entity_check(&b->model[i]);
}

/* ---- drawing ---- */

/* What a step may record. */
static const uint32_t menus[] = {
    1u << OP_DESTROY,
    1u << OP_ADD,
    1u << OP_REMOVE,
    1u << OP_DESTROY | 1u << OP_ADD,
    1u << OP_ROWS | 1u << OP_CREATE | 1u << OP_ADD,
    1u << OP_SET | 1u << OP_REMOVE | 1u << OP_ADD | 1u << OP_ENABLE | 1u << OP_APPEND,
    (1u << OP_INSTANTIATE) - 1,
    (1u << OP_COUNT) - 1,
};

/* Live entities in the order of their rows, which is what systems usually see, then residues. */
typedef struct living {
    uint32_t numbers[ENTITIES];
    uint32_t count;
} living;

static void list_living(living *list)
{
    list->count = (uint32_t)weft_query_read_values(b->world, b->all, b->component[NUMBER],
                                                   list->numbers, ENTITIES);
    for (uint32_t i = 1; i < b->numbers; i++)
        if (b->model[i].is_residue && b->model[i].is_alive && b->model[i].handle.version != 0)
            list->numbers[list->count++] = i;
}

static void draw_made(op *o, uint32_t limit)
{
    o->value = 1 + below(5);
    if (b->numbers + limit >= ENTITIES) o->kind = OP_DESTROY;
    if (o->kind != OP_CREATE && o->kind != OP_ROWS && o->kind != OP_INSTANTIATE) return;
    o->target = b->numbers;
    b->numbers += o->kind == OP_ROWS ? o->value : 1;
}

static uint32_t made_in(const part *p)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->ops[i].kind == OP_CREATE || p->ops[i].kind == OP_INSTANTIATE ||
            (p->ops[i].kind == OP_ROWS && p->ops[i].component % 2 != 0))
            if (below(3) == 0 || made == 0) made = p->ops[i].target;
    return made;
}

/* `at`: the row of the last target, so that runs with gaps and repeats come about. */
static op draw_op(const part *p, uint32_t menu, const living *list, uint32_t *at)
{
    op o = {.value = below(7), .component = 1 + below(DRAWN)};
    do o.kind = (op_kind)below(OP_COUNT);
    while ((menu >> o.kind & 1) == 0 || (o.kind >= OP_QUERY_ADD && below(20) != 0));
    uint32_t step = below(8);
    *at = step == 0 ? below(list->count) : (*at + (step < 6 ? 1 : step - 6)) % list->count;
    o.target = list->numbers[*at];
    o.other = list->numbers[below(list->count)];
    if (o.kind == OP_SET && o.component == TAG) o.component = DATA12;
    uint32_t made = below(4) == 0 ? made_in(p) : 0;
    if (made != 0 && below(2) == 0) o.other = made;
    if (made != 0 && below(2) == 0) o.target = made;
    if (o.kind >= OP_CREATE && o.kind <= OP_INSTANTIATE) draw_made(&o, 8);
    return o;
}

static void draw_step(uint32_t step)
{
    static living list;
    list_living(&list);
    uint32_t menu = menus[step % (sizeof menus / sizeof menus[0])];
    if (list.count < 50) menu = menus[4];
    if (list.count == 0) list.numbers[list.count++] = 1; /* dead: to be skipped */
    for (uint32_t i = 0; i < SYSTEMS * PARTS; i++) {
        part *p = &b->parts[i / PARTS][i % PARTS];
        uint32_t most = step % 3 == 2 ? 3 : OPS, at = below(list.count);
        uint32_t component = 1 + below(DRAWN);
        p->count = 0;
        for (uint32_t wanted = below(most + 1); p->count < wanted; p->count++) {
            op o = draw_op(p, menu, &list, &at);
            if (below(8) != 0 && o.kind <= OP_REMOVE) /* what folds into runs */
                o.component = component;
            p->ops[p->count] = o;
        }
    }
}

/* What a part does to each of its rows. */
typedef struct sweep {
    op ops[6];
    uint32_t count;
    bool is_making; /* rows are new ones, the first operation makes them */
} sweep;

static op draw_swept(void)
{
    static const op_kind kinds[] = {OP_ADD,    OP_REMOVE,  OP_SET,  OP_SET,    OP_SET,
                                    OP_APPEND, OP_REPLACE, OP_LINK, OP_DESTROY};
    static const uint32_t components[] = {DATA4, DATA12, CLEAN, TAG};
    op o = {.kind = kinds[below(sizeof kinds / sizeof kinds[0])]};
    if (o.kind == OP_DESTROY && below(3) != 0) o.kind = OP_SET;
    o.component = components[below(o.kind == OP_SET ? 3 : 4)];
    return o;
}

static sweep draw_sweep(const living *list)
{
    sweep s = {.is_making = below(4) == 0};
    if (s.is_making)
        s.ops[s.count++] = (op){.kind = below(2) == 0 ? OP_CREATE : OP_INSTANTIATE,
                                .other = list->numbers[below(list->count)]};
    uint32_t most = 1 + below(5);
    while (s.count < most) s.ops[s.count++] = draw_swept();
    return s;
}

/* The next row of a part; some have a command more or less than the others. */
static void draw_row(part *p, const sweep *s, const living *list, uint32_t row)
{
    bool is_odd = below(16) == 0;
    uint32_t target = s->is_making ? b->numbers : list->numbers[row];
    uint32_t count = is_odd && below(2) == 0 ? s->count - 1 : s->count;
    if (s->is_making) b->numbers++;
    for (uint32_t i = 0; i < count; i++) {
        op o = s->ops[i];
        o.target = target;
        o.value = below(7);
        if (o.kind == OP_LINK) o.other = list->numbers[below(list->count)];
        p->ops[p->count++] = o;
    }
    if (!is_odd || count < s->count) return;
    op o = draw_swept();
    o.target = target;
    o.value = below(7);
    if (o.kind == OP_LINK) o.other = 0;
    p->ops[p->count++] = o;
}

/* What most systems do: each part has rows of its own, in order, and does the same to each of them;
 * in some steps several systems do. */
static void draw_sweeps(void)
{
    static living list;
    list_living(&list);
    if (list.count == 0) list.numbers[list.count++] = 1; /* dead: to be skipped */
    uint32_t systems = below(3) == 0 ? SYSTEMS : 1, share = list.count / PARTS;
    for (uint32_t i = 0; i < SYSTEMS * PARTS; i++) {
        part *p = &b->parts[i / PARTS][i % PARTS];
        sweep s = draw_sweep(&list);
        uint32_t step = 1 + (below(4) == 0);
        p->count = 0;
        if (i / PARTS >= systems) continue;
        for (uint32_t k = 0; k < share && p->count + 8 < OPS; k += step)
            if (!s.is_making || b->numbers + 8 < ENTITIES)
                draw_row(p, &s, &list, i % PARTS * share + k);
    }
}

/* ---- the bed ---- */

static void make_kinds(void)
{
    static const weft_field field = {"other", WEFT_FIELD_ENTITY, offsetof(link, other), 0};
    static const char *const names[KINDS] = {"number", "data4", "data12", "tag", "switch",
                                             "clean",  "list",  "share",  "link"};
    for (uint32_t k = 0; k < KINDS; k++) {
        weft_component_desc desc = {.name = names[k], .size = sizes[k], .flags = flags[k]};
        if (k == LIST) desc.buffer_capacity = 2;
        if (k == LINK) desc.fields = &field, desc.field_count = 1, desc.alignment = 4;
        b->component[k] = weft_component_create(b->world, &desc);
        CHECK(b->component[k].id != 0);
    }
    b->made = weft_archetype_create(
        b->world, (weft_component[]){b->component[NUMBER], b->component[DATA4]}, 2);
    b->rows = weft_archetype_create(
        b->world, (weft_component[]){b->component[NUMBER], b->component[DATA12]}, 2);
    b->grouped = weft_archetype_create(
        b->world,
        (weft_component[]){b->component[NUMBER], b->component[DATA12], b->component[SHARE]}, 3);
    b->all = weft_query_create(
        b->world, &(weft_query_desc){.terms = {{b->component[NUMBER], WEFT_READ, WEFT_ALL, 0}}});
    b->wide = weft_query_create(
        b->world,
        &(weft_query_desc){.terms = {{b->component[DATA12], WEFT_NO_ACCESS, WEFT_ALL, 0},
                                     {b->component[TAG], WEFT_NO_ACCESS, WEFT_ABSENT, 0}}});
    CHECK(b->made.id != 0 && b->rows.id != 0 && b->grouped.id != 0 && b->all.id != 0 &&
          b->wide.id != 0);
}

static void bed_open(uint64_t seed, uint32_t workers)
{
    static const char *const names[SYSTEMS] = {"first", "second", "third"};
    b = calloc(1, sizeof *b);
    b->random = test_random_init(seed);
    b->numbers = 1;
    test_memory_init(&b->memory);
    test_os_init(&b->os);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = workers,
                                                  .allocator = test_memory_hook(&b->memory),
                                                  .os = &b->os.table},
                               &b->world));
    make_kinds();
    CHECK_OK(weft_schedule_set(b->world, &(weft_schedule_desc){.is_always_parallel = true}));
    for (uint32_t i = 0; i < SYSTEMS; i++)
        CHECK(weft_system_create(
                  b->world, &(weft_system_desc){.name = names[i],
                                                .run = record_part,
                                                .user = b->parts[i],
                                                .over = {.kind = WEFT_OVER_COUNT, .count = PARTS},
                                                .effects = WEFT_RECORDS_ANY})
                  .id != 0);
    for (uint32_t i = 0; i < 300; i++) { /* three archetypes, so that rows are many */
        uint32_t set =
            1u << NUMBER | 1u << (i % 3 == 0 ? DATA4 : DATA12) | (i % 5 == 4 ? 1u << SWITCH : 0);
        weft_component components[KINDS];
        uint32_t count = 0;
        for (uint32_t k = 0; k < KINDS; k++)
            if ((set >> k & 1) != 0) components[count++] = b->component[k];
        weft_archetype archetype = weft_archetype_create(b->world, components, count);
        model_entity *e = model_make(b->numbers, set);
        e->handle = weft_entity_create(b->world, archetype);
        CHECK_OK(weft_entity_set(b->world, e->handle, b->component[NUMBER], &b->numbers, 4));
        b->numbers++;
    }
}

static void bed_close(void)
{
    CHECK_OK(weft_world_destroy(b->world));
    test_memory_fini(&b->memory);
    CHECK_U64(at_load_rlx(&b->os.x_maps), at_load_rlx(&b->os.x_unmaps)); /* relaxed: alone */
    free(b);
    b = NULL;
}

/* ---- tests ---- */

static void run_stream(uint64_t seed, uint32_t workers)
{
    bed_open(seed, workers);
    check_all();
    for (uint32_t step = 0; step < STEPS; step++) {
        if (step % 3 == 1)
            draw_sweeps();
        else
            draw_step((uint32_t)(step + seed));
        if (weft_world_step(b->world, 0) != WEFT_OK)
            test_fail(__FILE__, __LINE__, weft_world_error(b->world)->text);
        model_step();
        check_all();
    }
    bed_close();
}

PLAIN_TEST(random_commands_agree_with_the_model_on_three_workers)
{
    spent = (spent_count){0};
    for (uint64_t seed = 101; seed <= 100 + STREAMS; seed++) run_stream(seed, 3);
    CHECK(spent.ended > STREAMS && spent.skipped > STREAMS);
}

/* The third step fails at its k-th allocation or mapping; false: it has fewer. In every other
 * stream it is one of sweeps. */
static bool fail_step(uint64_t seed, uint32_t workers, uint64_t k, bool is_map, bool forever)
{
    bed_open(seed, workers);
    for (uint32_t step = 0; step < 2; step++) {
        draw_step((uint32_t)seed + step);
        CHECK_OK(weft_world_step(b->world, 0));
        model_step();
        check_all();
    }
    if (seed % 2 == 0)
        draw_sweeps();
    else
        draw_step((uint32_t)seed + 2);
    b->may_fail = true;
    uint64_t refused = b->memory.failures;
    if (is_map)
        test_os_fail_map(&b->os, k);
    else
        test_memory_fail(&b->memory, k, forever);
    weft_result result = weft_world_step(b->world, 0);
    /* relaxed: the step has ended */
    bool has_failed =
        is_map ? at_load_rlx(&b->os.x_fail_map_at) == 0 : b->memory.failures != refused;
    test_memory_fail(&b->memory, 0, false);
    test_os_fail_map(&b->os, 0);
    if (result != WEFT_OK) CHECK_RESULT(result, WEFT_OUT_OF_MEMORY);
    check_valid();
    b->may_fail = false;
    CHECK_OK(weft_world_step(b->world, 0)); /* the same commands; some targets are gone */
    check_valid();
    bed_close();
    return has_failed;
}

static void fail_everywhere(uint64_t first_seed, uint32_t workers, bool is_map, bool forever)
{
    for (uint64_t seed = first_seed; seed < first_seed + FAILING_STREAMS; seed++) {
        uint64_t k = 1;
        while (fail_step(seed, workers, k, is_map, forever)) CHECK(k++ < 5000);
    }
}

PLAIN_TEST(a_step_of_three_workers_survives_that_memory_is_gone_for_good)
{
    fail_everywhere(400, 3, false, true);
}

#if !defined(__SANITIZE_THREAD__) /* which finds nothing in the work of one worker, in minutes */

PLAIN_TEST(random_commands_agree_with_the_model_on_one_worker)
{
    spent = (spent_count){0};
    for (uint64_t seed = 1; seed <= STREAMS; seed++) run_stream(seed, 1);
    CHECK(spent.ended > STREAMS && spent.skipped > STREAMS);
}

PLAIN_TEST(every_failed_allocation_of_a_step_is_reported_and_survived)
{
    fail_everywhere(200, 1, false, false);
}

PLAIN_TEST(a_step_survives_that_memory_is_gone_for_good)
{
    fail_everywhere(300, 1, false, true);
}

PLAIN_TEST(a_step_survives_refused_mappings)
{
    fail_everywhere(500, 1, true, false);
}

#endif
