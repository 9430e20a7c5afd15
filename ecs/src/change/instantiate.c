/* SPDX-License-Identifier: MIT */
/* instantiate.c: copies of an entity and of its linked group, with the groups of members. Every
 * member's rows are reserved and their values replicated (deep for buffers) before any id is
 * given, so that a failure leaves nothing behind; then references inside the group are
 * redirected to the copies of the same instance, and roots of prefabs are told what they are
 * instances of. Many rows are cut into pieces, which workers replicate, name and redirect: no two
 * have a row in common, and the result is the same. */
#include "instantiate.h"
#include "archetype.h"
#include "entity_list.h"
#include "entity_sparse.h"
#include "entity_value.h"
#include "filter.h"
#include "host.h"
#include "name_table.h"

/* ---- linked groups ----
 *
 * Linked groups nest: a member that has a group of its own brings its members. Most do not, and
 * are walked without memory; groups of members are listed and walked in turn, so that no depth
 * needs a stack, and groups that hold each other end. Owner. */

/* Owner: the stack of weft__group_each. */
typedef struct group_walk {
    weft_world *world;
    weft__entity_list roots; /* of groups of members, each once */
    weft__group_visit *visit;
    void *user;
} group_walk;

static const weft_buffer *group_of(const weft_world *world, const weft__chunk *chunk, uint32_t row)
{
    if (!weft__chunk_has_groups(chunk)) return NULL;
    const weft__type_slot *slot =
        weft__archetype_slot(chunk->archetype, world->builtin.linked_group.id);
    return (const weft_buffer *)(const void *)weft__chunk_value(chunk, slot->column, row);
}

static bool is_same(weft_entity a, weft_entity b)
{
    return a.index == b.index && a.version == b.version;
}

static bool root_add(group_walk *walk, weft_entity root)
{
    for (uint32_t i = 0; i < walk->roots.count; i++)
        if (is_same(walk->roots.at[i], root)) return true;
    return weft__entity_list_push(walk->world, &walk->roots, root);
}

/* `first`: the entity whose group the walk began with. */
static bool group_walk_one(group_walk *walk, weft_entity first, weft_entity self,
                           const weft_buffer *group)
{
    const weft_entity *members = weft_buffer_read(group);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t row;
        weft__chunk *chunk = weft__entity_chunk(walk->world, members[i], &row);
        if (chunk == NULL) continue;
        if (!walk->visit(walk->user, members[i], chunk, row)) return false;
        bool is_known = is_same(members[i], self) || is_same(members[i], first);
        if (weft__chunk_has_groups(chunk) && !is_known && !root_add(walk, members[i])) return false;
    }
    return true;
}

bool weft__group_each(weft_world *world, const weft__chunk *chunk, uint32_t row,
                      weft__group_visit *visit, void *user)
{
    group_walk walk = {.world = world, .visit = visit, .user = user};
    const weft_buffer *group = group_of(world, chunk, row);
    weft_entity first = weft__chunk_entities(chunk)[row];
    if (group == NULL) return true;
    bool is_done = group_walk_one(&walk, first, first, group);
    for (uint32_t i = 0; i < walk.roots.count && is_done; i++) {
        weft_entity root = walk.roots.at[i];
        uint32_t at;
        const weft__chunk *found = weft__entity_chunk(world, root, &at);
        is_done = group_walk_one(&walk, first, root, group_of(world, found, at));
    }
    weft__entity_list_fini(world, &walk.roots);
    return is_done;
}

#define PIECE_ROWS 2048u /* rows of a piece at most */

/* One member of the group. Owner: the operation. */
typedef struct member {
    weft_entity entity;
    const weft__chunk *chunk;
    uint32_t row;
    const weft__plan *plan;
    weft__tuple *to;     /* held */
    uint32_t span_end;   /* spans before it are of its copies, or of those of earlier members */
    weft_entity *copies; /* [instance] */
    weft__sparse_copies sparse;
    uint32_t first_reference;
    uint32_t reference_count;
} member;

/* A reference of a member to a member: in each instance it is to the copy. Where it is in the
 * member's copies is found in the member, as they are alike. A value. */
typedef struct inner_reference {
    uint32_t column; /* of the copies */
    uint32_t target; /* member */
    uint64_t offset; /* in the value, or in the elements of the buffer */
} inner_reference;

/* Neighbouring rows of copies of a member: those of ids[this]. Owner: the operation; in parallel
 * steps the one task that has it. */
typedef struct piece {
    uint32_t member;
    uint32_t first;   /* instance */
    uint32_t columns; /* replicated */
} piece;

/* One operation. Owner: the calling function's stack. */
typedef struct instantiation {
    weft_world *world;
    weft__pile pile; /* of members, pieces and runs */
    member *members;
    uint32_t member_count;
    uint32_t count;    /* instances */
    weft__table table; /* of members, from 1, by entity */
    weft__spans spans;
    piece *pieces;      /* member after member, instance after instance */
    weft__id_run *runs; /* [piece] its rows */
    uint32_t piece_count;
    weft__row_ids ids;
    weft_entity *copies;                    /* [member * count + instance] */
    weft_entity *roots;                     /* [instance] in place of those of member 0; or NULL */
    bool are_named;                         /* the roots have their ids */
    WEFT__LIST(inner_reference) references; /* member after member, column after column */
    weft_job_context *job;
    weft_a32 x_failed; /* some piece had no memory */
} instantiation;

static uint32_t index_hash(weft_entity entity)
{
    return (uint32_t)hash_fold(entity.index ^ HASH_K0, HASH_K1);
}

/* The number of a member, from 1; 0: it is none. */
static uint32_t member_of(const instantiation *op, weft_entity entity)
{
    uint32_t step = 0, number;
    while ((number = weft__table_next(&op->table, index_hash(entity), &step)) != 0) {
        weft_entity found = op->members[number - 1].entity;
        if (found.index == entity.index && found.version == entity.version) break;
    }
    return number;
}

/* ---- collection ---- */

static bool member_count(void *user, weft_entity entity, weft__chunk *chunk, uint32_t row)
{
    uint32_t *count = user;
    (void)entity, (void)chunk, (void)row;
    ++*count;
    return true;
}

static bool member_add(void *user, weft_entity entity, weft__chunk *chunk, uint32_t row)
{
    instantiation *op = user;
    if ((chunk->archetype->flags & WEFT__IS_RESIDUE) != 0) return true;
    if (member_of(op, entity) != 0) return true;
    op->members[op->member_count++] = (member){.entity = entity, .chunk = chunk, .row = row};
    weft__table_put(&op->table, index_hash(entity), op->member_count);
    return true;
}

static weft_result members_collect(instantiation *op, weft_entity source)
{
    weft_world *world = op->world;
    uint32_t row, count = 0;
    weft__chunk *chunk = weft__entity_chunk(world, source, &row);
    const weft_buffer *group = group_of(world, chunk, row);
    const weft_entity *listed =
        group == NULL || group->count == 0 ? &source : weft_buffer_read(group);
    if (listed[0].index != source.index || listed[0].version != source.version)
        return weft__error(world, WEFT_INVALID_ARGUMENT, source, world->builtin.linked_group,
                           "weft_entity_instantiate: element 0 of the linked group of %s is "
                           "not the entity itself: put the root first",
                           weft__entity_say(world, source).text);
    bool is_counted = weft__group_each(world, chunk, row, member_count, &count);
    if (count == 0) count = 1;
    op->members = weft__pile_take(&op->pile, count, sizeof *op->members);
    if (!is_counted || op->members == NULL ||
        !weft__table_room(&world->memory, WEFT__MEMORY_COMMANDS, &op->table, count))
        return weft__error_memory(world, "weft_entity_instantiate");
    member_add(op, source, chunk, row);
    bool is_added = weft__group_each(world, chunk, row, member_add, op);
    return is_added ? WEFT_OK : weft__error_memory(world, "weft_entity_instantiate");
}

/* ---- everything that can fail ---- */

/* Copies of the root of a prefab have InstanceOf, in worlds where it is registered. */
static bool root_has_prefab(const weft_world *world, const weft__chunk *chunk)
{
    return world->builtin.instance_of.id != 0 && (chunk->archetype->flags & WEFT__IS_PREFAB) != 0;
}

static bool is_told_its_prefab(const instantiation *op, const member *m)
{
    return m == op->members && root_has_prefab(op->world, m->chunk);
}

/* The archetype of copies; NULL: error set. */
static weft__archetype *target_of(weft_world *world, const weft__chunk *chunk, bool is_told)
{
    weft__archetype *to = weft__archetype_instance(world, chunk->archetype);
    if (to == NULL || !is_told) return to;
    const weft__plan *plan = weft__archetype_edge(world, to, world->builtin.instance_of.id, false);
    return plan == NULL ? NULL : plan->to;
}

/* Whether a value, or an element of a buffer, refers to a member. */
static bool value_refers(const instantiation *op, const weft__type *type, const void *value)
{
    for (uint32_t k = 0; k < type->entity_offset_count; k++) {
        weft_entity to;
        memcpy(&to, (const char *)value + type->entity_offsets[k], sizeof to);
        if (to.version != 0 && member_of(op, to) != 0) return true;
    }
    return false;
}

/* The next SHARED type of a tuple, from type *next on, whose value refers to a member; NULL: none.
 */
static const weft__type_ref *next_referring(const instantiation *op, const weft__tuple *tuple,
                                            uint32_t *next)
{
    const weft__archetype *archetype = tuple->archetype;
    if (archetype->shared_count == 0 || (archetype->flags & WEFT__HAS_ENTITY_FIELDS) == 0)
        return NULL;
    while (*next < archetype->type_count) {
        const weft__type_ref *ref = &archetype->types[(*next)++];
        if (ref->shared == WEFT__NO_PLACE || ref->type->entity_offset_count == 0) continue;
        if (value_refers(
                op, ref->type,
                weft__shared_value(&op->world->shared, ref->component, tuple->values[ref->shared])))
            return ref;
    }
    return NULL;
}

static bool member_refers(const instantiation *op, const member *m)
{
    uint32_t next = 0;
    return next_referring(op, m->chunk->tuple, &next) != NULL;
}

/* What references are redirected by: in the copies of one instance. A value. */
typedef struct redirecting {
    const instantiation *op;
    uint32_t instance;
} redirecting;

static bool reference_redirect(void *user, weft__reference *reference)
{
    const redirecting *r = user;
    if (reference->is_blob || reference->entity.version == 0) return true;
    uint32_t found = member_of(r->op, reference->entity);
    if (found != 0) reference->entity = r->op->members[found - 1].copies[r->instance];
    return true;
}

/* A tuple with one SHARED value redirected; takes the hold on `from` over. NULL: error set. */
static weft__tuple *tuple_redirect(redirecting *r, weft__tuple *from, const weft__type_ref *ref)
{
    weft_world *world = r->op->world;
    const size_t bytes = ref->type->desc.size;
    weft__tuple *to = NULL;
    uint32_t index;
    void *own = weft__alloc(&world->memory, WEFT__MEMORY_COMMANDS, 1, bytes, 16);
    if (own != NULL) {
        memcpy(own, weft__shared_value(&world->shared, ref->component, from->values[ref->shared]),
               bytes);
        weft__elements_references(ref->type, own, 1, reference_redirect, r);
    }
    if (own == NULL ||
        weft__shared_intern(&world->shared, ref->component, own, &index) != WEFT_OK) {
        weft__error_memory(world, "weft_entity_instantiate");
    } else {
        to = weft__tuple_with_value(world, from, from->archetype, ref->component, index);
        weft__shared_release(&world->shared, ref->component, index, 1);
    }
    weft__free(&world->memory, WEFT__MEMORY_COMMANDS, own, 1, bytes, 16);
    weft__tuple_release(world, from);
    return to;
}

/* A row for each copy of a member that has SHARED values of its own. */
static weft_result rows_reserve_apart(instantiation *op, const member *m)
{
    weft_result result = WEFT_OK;
    for (redirecting r = {op, 0}; r.instance < op->count && result == WEFT_OK; r.instance++) {
        weft__tuple *tuple = m->to;
        const weft__type_ref *ref;
        tuple->holders++;
        for (uint32_t k = 0; tuple != NULL && (ref = next_referring(op, m->to, &k)) != NULL;)
            tuple = tuple_redirect(&r, tuple, ref);
        if (tuple == NULL) return op->world->error->code;
        result = weft__rows_reserve(op->world, tuple, 1, &op->spans);
        weft__tuple_release(op->world, tuple);
    }
    return result;
}

static weft_result values_check(const instantiation *op, const member *m)
{
    const weft__type *bad = NULL;
    for (uint32_t c = 0; c < m->plan->copy_count && bad == NULL; c++) {
        const weft__type *type = m->chunk->archetype->format->types[m->plan->copies[c].from];
        if (type->is_uncopyable) bad = type;
    }
    const weft__type *sparse = op->world->types.sparse;
    for (uint32_t row; sparse != NULL && bad == NULL; sparse = sparse->sparse->next)
        if (sparse->is_uncopyable && weft__sparse_find(op->world, sparse, m->entity, &row) != NULL)
            bad = sparse;
    if (bad == NULL) return WEFT_OK;
    return weft__error_uncopyable(op->world, m->entity, bad->id, "weft_entity_instantiate");
}

static weft_result member_reserve(instantiation *op, member *m)
{
    weft_world *world = op->world;
    weft__archetype *archetype = m->chunk->archetype;
    weft__archetype *to = target_of(world, m->chunk, is_told_its_prefab(op, m));
    if (to != NULL) m->plan = weft__plan_obtain(world, archetype, to);
    if (m->plan != NULL) m->to = weft__tuple_follow(world, m->chunk->tuple, to);
    if (m->to == NULL) return world->error->code;
    weft_result result = values_check(op, m);
    if (result != WEFT_OK) return result;
    result = member_refers(op, m) ? rows_reserve_apart(op, m)
                                  : weft__rows_reserve(world, m->to, op->count, &op->spans);
    m->span_end = op->spans.count;
    return result;
}

static weft_result values_replicate(weft_world *world, const weft__type *type, char *to,
                                    const char *from, uint32_t count)
{
    if (type->needs_copy) return weft__type_replicate(&world->memory, type, to, from, count);
    weft__values_copy(to, from, 0, type->value_bytes, count);
    return WEFT_OK;
}

/* Replicates the columns of a piece, until one has no memory. */
static weft_result piece_copy(const instantiation *op, piece *p, const weft__id_run *rows)
{
    const member *m = &op->members[p->member];
    for (p->columns = 0; p->columns < m->plan->copy_count; p->columns++) {
        const weft__column_copy *copy = &m->plan->copies[p->columns];
        weft_result result =
            values_replicate(op->world, rows->chunk->archetype->format->types[copy->to],
                             weft__chunk_value(rows->chunk, copy->to, rows->row),
                             weft__chunk_value(m->chunk, copy->from, m->row), rows->count);
        if (result != WEFT_OK) return result;
    }
    return WEFT_OK;
}

static int pieces_copy(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    instantiation *op = user;
    for (uint32_t i = begin; i < end; i++)
        if (piece_copy(op, &op->pieces[i], &op->runs[i]) != WEFT_OK)
            at_store_rlx(&op->x_failed, 1); /* relaxed: read after the loop */
    return 0;                               /* the others go on: each knows how far it came */
}

/* Destructs what piece_copy made. */
static void piece_undo(const instantiation *op, const piece *p, const weft__id_run *rows)
{
    const weft__plan *plan = op->members[p->member].plan;
    for (uint32_t c = 0; c < p->columns; c++) {
        uint32_t to = plan->copies[c].to;
        weft__type_destruct(&op->world->memory, rows->chunk->archetype->format->types[to],
                            weft__chunk_value(rows->chunk, to, rows->row), rows->count);
    }
    weft__chunk_soil(rows->chunk); /* the rows go back used */
}

/* Hooks are never called at once for the same value: those that copy have one source. */
static bool has_copy_hooks(const instantiation *op)
{
    for (uint32_t i = 0; i < op->member_count; i++) {
        const weft__format *format = op->members[i].chunk->archetype->format;
        for (uint32_t c = 1; c < format->column_count; c++)
            if (format->types[c]->desc.hooks.copy != NULL) return true;
    }
    return false;
}

/* Runs a function over all pieces. */
static void for_pieces(instantiation *op, weft_job_for_fn fn, bool is_serial)
{
    weft_job_for_desc loop = {
        .fn = fn, .argument = op, .count = op->piece_count, .grain = 1, .name = "instances"};
    weft__host_for(op->world, is_serial ? NULL : op->job, &loop);
}

static weft_result members_copy(instantiation *op)
{
    for_pieces(op, pieces_copy, has_copy_hooks(op));
    if (at_load_rlx(&op->x_failed) == 0) return WEFT_OK; /* relaxed: the loop has ended */
    for (uint32_t i = 0; i < op->piece_count; i++) piece_undo(op, &op->pieces[i], &op->runs[i]);
    return weft__error_memory(op->world, "weft_entity_instantiate");
}

/* Cuts the spans into pieces. */
static weft_result pieces_cut(instantiation *op)
{
    uint64_t rows = (uint64_t)op->member_count * op->count;
    uint32_t most = op->spans.count + (uint32_t)(rows / PIECE_ROWS);
    op->pieces = weft__pile_take(&op->pile, most, sizeof *op->pieces);
    op->runs = weft__pile_take(&op->pile, most, sizeof *op->runs);
    if (op->pile.is_refused) return weft__error_memory(op->world, "weft_entity_instantiate");
    const uint32_t named = op->are_named ? op->count : 0; /* the first ones */
    uint32_t all = 0;
    op->ids.runs = op->runs;
    for (uint32_t i = 0, m = 0; i < op->spans.count; i++) {
        weft__span span = op->spans.at[i];
        while (i >= op->members[m].span_end) m++;
        for (uint32_t done = 0, n; done < span.count; done += n, all += n) {
            n = span.count - done < PIECE_ROWS ? span.count - done : PIECE_ROWS;
            uint32_t row = span.row + done;
            op->runs[op->piece_count] =
                (weft__id_run){span.chunk, row, n, all - named, weft__location(span.chunk, row)};
            op->pieces[op->piece_count++] = (piece){m, all - m * op->count, 0};
            if (all < named) op->ids.runs = &op->runs[op->piece_count];
        }
    }
    op->ids.run_count = op->piece_count - (uint32_t)(op->ids.runs - op->runs);
    return WEFT_OK;
}

static bool reference_add(instantiation *op, inner_reference one)
{
    return WEFT__LIST_APPEND(&op->world->memory, WEFT__MEMORY_COMMANDS, &op->references, &one, 1);
}

/* Copies made by a hook need not be alike: each is asked for its references. */
static bool is_alike(const weft__type *type)
{
    return type->desc.hooks.copy == NULL;
}

/* Lists the references of a member's value to members. False: no memory. */
static bool column_list(instantiation *op, const member *m, const weft__column_copy *copy)
{
    const weft__type *type = m->chunk->archetype->format->types[copy->from];
    if (type->entity_offset_count == 0 || !is_alike(type)) return true;
    const char *value = weft__chunk_value(m->chunk, copy->from, m->row);
    uint32_t count = 1;
    if ((type->desc.flags & WEFT_BUFFER) != 0) {
        count = ((const weft_buffer *)(const void *)value)->count;
        value = weft_buffer_read((const weft_buffer *)(const void *)value);
    }
    for (uint64_t i = 0; i < (uint64_t)count * type->entity_offset_count; i++) {
        uint64_t offset = i / type->entity_offset_count * type->desc.size +
                          type->entity_offsets[i % type->entity_offset_count];
        weft_entity to;
        memcpy(&to, value + offset, sizeof to);
        uint32_t found = to.version == 0 ? 0 : member_of(op, to);
        if (found != 0 && !reference_add(op, (inner_reference){copy->to, found - 1, offset}))
            return false;
    }
    return true;
}

static weft_result references_list(instantiation *op)
{
    for (uint32_t i = 0; i < op->member_count; i++) {
        member *m = &op->members[i];
        m->first_reference = op->references.count;
        for (uint32_t c = 0; c < m->plan->copy_count; c++)
            if (!column_list(op, m, &m->plan->copies[c]))
                return weft__error_memory(op->world, "weft_entity_instantiate");
        m->reference_count = op->references.count - m->first_reference;
    }
    return WEFT_OK;
}

/* Copies have the names of their originals: room for them. */
static weft_result names_reserve(const instantiation *op)
{
    weft_world *world = op->world;
    uint64_t named = 0;
    for (uint32_t i = 0; i < op->member_count; i++)
        named += weft_entity_name(world, op->members[i].entity)[0] != '\0';
    if (named == 0) return WEFT_OK;
    return weft__names_reserve(world, (uint32_t)(named * op->count), 0); /* no more than entities */
}

/* Where the handles of the copies will be. They are there already where SHARED values, which decide
 * where rows go, refer to them. */
static void copies_foresee(instantiation *op, uint32_t unnamed)
{
    bool is_needed = false;
    for (uint32_t i = 0; i < op->member_count; i++) {
        op->members[i].copies = op->copies + (size_t)i * op->count;
        is_needed |= member_refers(op, &op->members[i]);
    }
    if (op->roots != NULL) op->members[0].copies = op->roots;
    if (!is_needed) return;
    weft__directory_foresee_owner(&op->world->directory, unnamed,
                                  op->copies + (op->are_named ? op->count : 0));
    if (!op->are_named && op->roots != NULL)
        memcpy(op->roots, op->copies, op->count * sizeof *op->roots);
}

static weft_result prepare(instantiation *op, weft_entity source)
{
    weft_world *world = op->world;
    weft_result result = members_collect(op, source);
    if (result != WEFT_OK) return result;
    uint64_t total = (uint64_t)op->member_count * op->count;
    uint64_t unnamed = total - (op->are_named ? op->count : 0);
    result = weft__row_ids_prepare(&op->ids, world, unnamed, "weft_entity_instantiate");
    if (result != WEFT_OK) return result;
    op->copies = WEFT__NEW(&world->memory, WEFT__MEMORY_COMMANDS, total, *op->copies);
    if (op->copies == NULL || names_reserve(op) != WEFT_OK)
        return weft__error_memory(world, "weft_entity_instantiate");
    copies_foresee(op, (uint32_t)unnamed);
    for (uint32_t i = 0; i < op->member_count && result == WEFT_OK; i++)
        result = member_reserve(op, &op->members[i]);
    if (result == WEFT_OK) result = references_list(op);
    if (result == WEFT_OK) result = pieces_cut(op);
    for (uint32_t i = 0; i < op->member_count && result == WEFT_OK; i++) {
        member *m = &op->members[i];
        const weft_entity *named = op->are_named && i == 0 ? m->copies : NULL;
        result =
            weft__sparse_copies_prepare(world, m->entity, op->count, named, &op->ids, &m->sparse);
    }
    if (result == WEFT_OK) result = members_copy(op);
    if (result == WEFT_OK) return WEFT_OK;
    for (uint32_t i = op->member_count; i-- > 0;)
        weft__sparse_copies_cancel(world, &op->members[i].sparse);
    weft__rows_unreserve(world, &op->spans, 0);
    return result;
}

/* ---- what cannot fail ---- */

/* Pieces share words of bits: one after the other. */
static void piece_bits(const instantiation *op, const piece *p, const weft__id_run *rows)
{
    const member *m = &op->members[p->member];
    const weft__plan *plan = m->plan;
    for (uint32_t i = 0; i < plan->kept_count; i++) {
        uint32_t from = plan->from->types[plan->kept[2 * i]].enableable;
        uint32_t to = plan->to->types[plan->kept[2 * i + 1]].enableable;
        if (from == WEFT__NO_PLACE) continue;
        const weft_a64 *x_words = weft__chunk_disabled(m->chunk, from);
        /* relaxed: the world is idle */
        if ((at_load_rlx(&x_words[m->row / 64]) >> m->row % 64 & 1) == 0) continue;
        for (uint32_t r = 0; r < rows->count; r++)
            weft__chunk_enable(rows->chunk, to, rows->row + r, false);
    }
}

/* Rows get the ids that were given before. */
static void piece_place(const instantiation *op, const weft__id_run *rows, const weft_entity *ids)
{
    memcpy(weft__chunk_entities(rows->chunk) + rows->row, ids, rows->count * sizeof *ids);
    for (uint32_t i = 0; i < rows->count; i++)
        weft__directory_place(&op->world->directory, ids[i], rows->location + i);
}

/* Rows have their ids: all members' copies are known. */
static int pieces_note(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const instantiation *op = user;
    for (uint32_t i = begin; i < end; i++) {
        const weft__id_run *rows = &op->runs[i];
        for (uint32_t type = 0; type < rows->chunk->archetype->type_count; type++)
            weft__rows_stamp(rows->chunk, type, rows->row, rows->count, op->world->front.version);
        weft_entity *copies = op->members[op->pieces[i].member].copies + op->pieces[i].first;
        if (op->are_named && op->pieces[i].member == 0)
            piece_place(op, rows, copies);
        else
            memcpy(copies, weft__chunk_entities(rows->chunk) + rows->row,
                   rows->count * sizeof *copies);
    }
    return 0;
}

/* After all members have their ids. */
static void member_name(const instantiation *op, const member *m)
{
    if (weft_entity_name(op->world, m->entity)[0] == '\0') return;
    for (uint32_t i = 0; i < op->count; i++) {
        const char *name = weft_entity_name(op->world, m->entity);
        weft_result result = weft_entity_set_name(op->world, m->copies[i], name);
        WEFT_ASSERT(result == WEFT_OK); /* reserved */
        (void)result;
    }
}

/* The listed references of one column, at `references`. Returns how many there are. */
static uint32_t column_refer(const instantiation *op, const piece *p, const weft__id_run *rows,
                             const inner_reference *references, uint32_t most)
{
    const uint32_t column = references[0].column;
    const weft__type *type = rows->chunk->archetype->format->types[column];
    const bool is_buffer = (type->desc.flags & WEFT_BUFFER) != 0;
    char *value = weft__chunk_value(rows->chunk, column, rows->row);
    uint32_t count = 1;
    while (count < most && references[count].column == column) count++;
    for (uint32_t i = 0; i < rows->count; i++, value += type->value_bytes) {
        char *at = is_buffer ? weft__buffer_data((weft_buffer *)(void *)value) : value;
        for (uint32_t k = 0; k < count; k++)
            memcpy(at + references[k].offset,
                   &op->members[references[k].target].copies[p->first + i], sizeof(weft_entity));
    }
    return count;
}

/* References in values that a hook copied. */
static void column_redirect(const instantiation *op, const piece *p, const weft__id_run *rows,
                            uint32_t column)
{
    const weft__type *type = rows->chunk->archetype->format->types[column];
    if (type->entity_offset_count == 0 || is_alike(type)) return;
    redirecting r = {op, p->first};
    for (uint32_t i = 0; i < rows->count; i++, r.instance++)
        weft__type_references(type, weft__chunk_value(rows->chunk, column, rows->row + i), 1,
                              reference_redirect, &r);
}

/* Copies of the root get their prefab, which redirection would have made the copy itself. */
static void piece_tell(const instantiation *op, const piece *p, const weft__id_run *rows)
{
    const member *m = &op->members[p->member];
    if (!is_told_its_prefab(op, m)) return;
    uint32_t type = weft__archetype_find(m->plan->to, op->world->builtin.instance_of.id);
    uint32_t column = rows->chunk->archetype->types[type].column;
    weft_entity *targets = (weft_entity *)weft__chunk_value(rows->chunk, column, rows->row);
    for (uint32_t r = 0; r < rows->count; r++) targets[r] = m->entity;
}

static int pieces_redirect(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    (void)job;
    const instantiation *op = user;
    for (uint32_t i = begin; i < end; i++) {
        const weft__archetype *to = op->runs[i].chunk->archetype;
        if ((to->flags & WEFT__HAS_ENTITY_FIELDS) == 0) continue;
        const member *m = &op->members[op->pieces[i].member];
        for (uint32_t k = 0; k < m->reference_count;)
            k += column_refer(op, &op->pieces[i], &op->runs[i],
                              op->references.at + m->first_reference + k, m->reference_count - k);
        for (uint32_t c = 1; c < to->format->column_count; c++)
            column_redirect(op, &op->pieces[i], &op->runs[i], c);
        piece_tell(op, &op->pieces[i], &op->runs[i]);
    }
    return 0;
}

/* Cannot fail. */
static void commit(instantiation *op)
{
    weft__row_ids_give(&op->ids, op->job, NULL);
    for (uint32_t i = 0; i < op->piece_count; i++) piece_bits(op, &op->pieces[i], &op->runs[i]);
    for_pieces(op, pieces_note, false);
    for_pieces(op, pieces_redirect, false);
}

/* The SPARSE components of all members. */
static void sparse_copy(instantiation *op)
{
    weft_world *world = op->world;
    for (uint32_t i = 0; i < op->member_count; i++) {
        member *m = &op->members[i];
        weft__sparse_copies_commit(world, &m->sparse, m->entity, m->copies, op->count);
    }
    for (const weft__type *type = world->types.sparse; type != NULL; type = type->sparse->next)
        for (uint32_t i = 0; i < op->member_count && type->entity_offset_count != 0; i++) {
            /* References in the SPARSE values of the copies. */
            for (redirecting r = {op, 0}; r.instance < op->count; r.instance++) {
                uint32_t row;
                const weft__chunk *chunk =
                    weft__sparse_find(op->world, type, op->members[i].copies[r.instance], &row);
                if (chunk != NULL)
                    weft__type_references(type, weft__chunk_value(chunk, 1, row), 1,
                                          reference_redirect, &r);
            }
        }
}

static void finish(instantiation *op)
{
    weft__memory *memory = &op->world->memory;
    for (uint32_t i = 0; i < op->member_count; i++)
        if (op->members[i].to != NULL) weft__tuple_release(op->world, op->members[i].to);
    WEFT__FREE(memory, WEFT__MEMORY_COMMANDS, op->copies, (size_t)op->member_count * op->count);
    weft__pile_free(&op->pile);
    weft__table_free(memory, WEFT__MEMORY_COMMANDS, &op->table);
    WEFT__LIST_FREE(memory, WEFT__MEMORY_COMMANDS, &op->references);
    weft__row_ids_fini(&op->ids);
    weft__spans_fini(op->world, &op->spans);
}

weft_result weft__instantiate(weft_world *world, weft_job_context *job, weft_entity source,
                              uint32_t count, weft_entity *roots, bool are_named)
{
    instantiation op = {.world = world,
                        .job = job,
                        .count = count,
                        .roots = roots,
                        .are_named = are_named,
                        .pile = {&world->memory, WEFT__MEMORY_COMMANDS},
                        .ids = {.world = world}};
    weft_result result = prepare(&op, source);
    if (result == WEFT_OK) commit(&op);
    if (result == WEFT_OK) sparse_copy(&op);
    for (uint32_t i = 0; i < op.member_count && result == WEFT_OK; i++)
        member_name(&op, &op.members[i]);
    finish(&op);
    return result;
}

/* ---- one copy ---- */

/* The plan of a copy that is a row created and bytes copied; NULL: it is more, or there is no
 * memory. */
static const weft__plan *plan_alone(weft_world *world, weft__chunk *chunk, uint32_t row)
{
    const uint32_t flags = chunk->archetype->flags;
    const weft_entity source = weft__chunk_entities(chunk)[row];
    if ((flags & (WEFT__IS_SPECIAL | WEFT__HAS_ENTITY_FIELDS)) != 0) return NULL;
    if ((flags & WEFT__HAS_BITS) != 0 && weft__row_has_bits(chunk, row)) return NULL;
    if (weft_entity_name(world, source)[0] != '\0') return NULL;
    const weft__type *sparse = world->types.sparse;
    for (uint32_t at; sparse != NULL; sparse = sparse->sparse->next)
        if (weft__sparse_find(world, sparse, source, &at) != NULL) return NULL;
    weft__archetype *to = target_of(world, chunk, root_has_prefab(world, chunk));
    const weft__plan *plan = to == NULL ? NULL : weft__plan_obtain(world, chunk->archetype, to);
    for (uint32_t i = 0; plan != NULL && i < plan->copy_count; i++) {
        const weft__type *type = chunk->archetype->format->types[plan->copies[i].from];
        if (type->needs_copy || type->is_uncopyable) plan = NULL;
    }
    return plan;
}

/* Null: the general way does it, and nothing was done. */
static weft_entity copy_alone(weft_world *world, weft__chunk *chunk, uint32_t row)
{
    const weft_entity source = weft__chunk_entities(chunk)[row];
    const weft__plan *plan = plan_alone(world, chunk, row);
    if (plan == NULL) return WEFT__NO_ENTITY;
    weft_entity made = weft_entity_create(world, weft__archetype_give(world, plan->to));
    if (made.version == 0) return made;
    uint32_t to_row;
    const weft__chunk *to = weft__entity_chunk(world, made, &to_row);
    chunk = weft__entity_chunk(world, source, &row); /* it may have grown */
    for (uint32_t i = 0; i < plan->copy_count; i++)
        weft__value_copy(weft__chunk_value(to, plan->copies[i].to, to_row),
                         weft__chunk_value(chunk, plan->copies[i].from, row),
                         plan->copies[i].bytes);
    if (root_has_prefab(world, chunk)) {
        uint32_t type = weft__archetype_find(plan->to, world->builtin.instance_of.id);
        memcpy(weft__chunk_value(to, plan->to->types[type].column, to_row), &source, sizeof source);
    }
    return made;
}

weft_result weft_entity_instantiate(weft_world *world, weft_entity source, uint32_t count,
                                    weft_entity *out)
{
    weft_result result = weft__idle(world, "weft_entity_instantiate");
    if (result != WEFT_OK) return result;
    uint32_t row;
    weft__chunk *chunk = weft__living_chunk(world, source, &row);
    if (chunk == NULL) return weft__error_stale(world, source);
    if (count == 0) return WEFT_OK;
    weft_entity made = count == 1 ? copy_alone(world, chunk, row) : WEFT__NO_ENTITY;
    if (made.version != 0) {
        if (out != NULL) *out = made;
        return WEFT_OK;
    }
    return weft__instantiate(world, NULL, source, count, out, false);
}
