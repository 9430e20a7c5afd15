/* SPDX-License-Identifier: MIT */
/* model.c: the reference world (model.h): entities, their kinds and values, names, groups. Lists
 * that are walked, no index, no cache. Queries: model_query.c; relations: model_relation.c. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 18 };

struct model_block {
    struct model_block *next;
    size_t used, bytes;
};

/* ---- memory ---- */

void *model_memory(model *m, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    model_block *block = m->blocks;
    if (block == NULL || block->bytes - block->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = malloc(sizeof *block + 16 + room);
        if (block == NULL) abort();
        *block = (model_block){m->blocks, 0, room};
        m->blocks = block;
    }
    char *memory = (char *)(block + 1) + block->used;
    memory += -(uintptr_t)(block + 1) & 15;
    block->used += bytes;
    return memset(memory, 0, bytes);
}

/* Room for one more item. */
static void *grown(model *m, void *items, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room) return items;
    uint32_t more = *room == 0 ? 64 : 2 * *room;
    void *result = model_memory(m, more * bytes);
    if (count != 0) memcpy(result, items, count * bytes);
    *room = more;
    return result;
}

void model_open(model *m, const model_kind *kinds, uint32_t kind_count)
{
    *m = (model){.kinds = kinds, .kind_count = kind_count, .version = 1, .count = 1};
    m->entities = grown(m, NULL, 0, &m->room, sizeof *m->entities);
}

void model_close(model *m)
{
    for (model_block *block = m->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    *m = (model){0};
}

static model_value *value_copy(model *m, const model_value *from)
{
    model_value *to = model_memory(m, sizeof *to);
    size_t size = m->kinds[from->kind].size;
    *to = *from;
    to->room = from->count;
    to->bytes = model_memory(m, from->count * size);
    if (from->count * size != 0) memcpy(to->bytes, from->bytes, from->count * size);
    return to;
}

void model_copy(model *to, const model *from)
{
    model_copy_into(to, from, NULL);
}

void model_copy_into(model *to, const model *from, model_block *blocks)
{
    *to = *from;
    to->blocks = blocks;
    to->touched = NULL;
    to->touched_count = to->touched_room = 0;
    to->room = from->count;
    to->entities = model_memory(to, from->count * sizeof *to->entities);
    memcpy(to->entities, from->entities, from->count * sizeof *to->entities);
    for (uint32_t n = 0; n < to->count; n++) {
        to->entities[n].is_touched = false;
        if (to->entities[n].name != NULL) {
            to->entities[n].name = model_memory(to, MODEL_NAME);
            strcpy(to->entities[n].name, from->entities[n].name);
        }
        for (model_value **at = &to->entities[n].values; *at != NULL; at = &(*at)->next)
            *at = value_copy(to, *at);
    }
    for (uint32_t kind = 0; kind < to->kind_count; kind++)
        if (from->resources[kind] != NULL)
            to->resources[kind] = value_copy(to, from->resources[kind]);
    to->stamps = model_memory(to, from->stamp_count * sizeof *to->stamps);
    to->stamp_room = from->stamp_count;
    if (from->stamp_count != 0)
        memcpy(to->stamps, from->stamps, from->stamp_count * sizeof *to->stamps);
}

/* ---- questions ---- */

bool model_has(const model *m, uint32_t n, uint32_t kind)
{
    return n < m->count && (m->entities[n].set >> kind & 1) != 0;
}

bool model_is_enabled(const model *m, uint32_t n, uint32_t kind)
{
    return model_has(m, n, kind) && (m->entities[n].disabled >> kind & 1) == 0;
}

model_value *model_read(const model *m, uint32_t n, uint32_t kind)
{
    if (n >= m->count) return NULL;
    model_value *value = m->entities[n].values;
    while (value != NULL && value->kind != kind) value = value->next;
    return value;
}

const char *model_name(const model *m, uint32_t n)
{
    return model_is_alive(m, n) && m->entities[n].name != NULL ? m->entities[n].name : "";
}

uint64_t model_with_needs(const model *m, uint64_t set)
{
    for (uint64_t before = 0; before != set;) {
        before = set;
        for (uint32_t kind = 0; kind < m->kind_count; kind++)
            if ((set >> kind & 1) != 0) set |= m->kinds[kind].needs;
    }
    return set;
}

static uint64_t set_of(const model *m, uint32_t flags)
{
    uint64_t set = 0;
    for (uint32_t kind = 0; kind < m->kind_count; kind++)
        if (model_is(m, kind, flags)) set |= UINT64_C(1) << kind;
    return set;
}

uint64_t model_rows(const model *m, uint64_t set)
{
    return set & ~set_of(m, MODEL_SPARSE | MODEL_RESOURCE);
}

static model_value *group_of(const model *m, uint32_t n)
{
    model_value *value = n < m->count ? m->entities[n].values : NULL;
    while (value != NULL && !model_is(m, value->kind, MODEL_GROUP)) value = value->next;
    return value;
}

void model_group(const model *m, uint32_t n, bool *out)
{
    memset(out, 0, m->count * sizeof *out);
    out[n] = true;
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (uint32_t i = 1; i < m->count; i++) {
            const model_value *group = out[i] ? group_of(m, i) : NULL;
            for (uint32_t k = 0; group != NULL && k < group->count; k++) {
                uint64_t member = ((const uint64_t *)(const void *)group->bytes)[k];
                if (member >= m->count || out[member]) continue;
                if (m->entities[member].life != MODEL_ALIVE) continue;
                out[member] = is_more = true;
            }
        }
    }
}

/* Why nothing is done with this one. */
static model_result dead(uint32_t n)
{
    return n == MODEL_NOBODY ? MODEL_FOREIGN : MODEL_STALE;
}

/* ---- notes ---- */

uint32_t model_stamp_of(const model *m, uint64_t set)
{
    set = model_rows(m, set);
    for (uint32_t i = 0; i < m->stamp_count; i++)
        if (m->stamps[i].set == set) return m->stamps[i].version;
    return 0;
}

void model_note_rows(model *m, uint64_t set)
{
    set = model_rows(m, set);
    uint32_t i = 0;
    while (i < m->stamp_count && m->stamps[i].set != set) i++;
    if (i == m->stamp_count) {
        m->stamps = grown(m, m->stamps, m->stamp_count, &m->stamp_room, sizeof *m->stamps);
        m->stamp_count++;
    }
    m->stamps[i] = (model_stamp){set, m->version};
}

static void note(model *m, uint32_t n)
{
    model_note_rows(m, m->entities[n].set);
    if (m->entities[n].is_touched) return;
    m->touched = grown(m, m->touched, m->touched_count, &m->touched_room, sizeof *m->touched);
    m->touched[m->touched_count++] = n;
    m->entities[n].is_touched = true;
}

void model_touch(model *m, uint32_t n, uint64_t kinds)
{
    note(m, n);
    for (model_value *value = m->entities[n].values; value != NULL; value = value->next)
        if ((kinds >> value->kind & 1) != 0) value->written = m->version;
}

/* ---- values ---- */

/* `count` zeroed values, constructed. */
static void values_begin(const model *m, uint32_t kind, uint8_t *bytes, uint32_t count)
{
    size_t size = m->kinds[kind].size;
    uint32_t sign = MODEL_SIGN;
    memset(bytes, 0, count * size);
    for (uint32_t i = 0; i < count && model_is(m, kind, MODEL_SIGNED); i++)
        memcpy(bytes + i * size, &sign, sizeof sign);
}

static void value_room(model *m, model_value *value, uint32_t count)
{
    if (count <= value->room) return;
    uint8_t *bytes = model_memory(m, (size_t)2 * count * m->kinds[value->kind].size);
    if (value->count != 0)
        memcpy(bytes, value->bytes, (size_t)value->count * m->kinds[value->kind].size);
    value->bytes = bytes;
    value->room = 2 * count;
}

static model_value *value_new(model *m, uint32_t kind)
{
    model_value *value = model_memory(m, sizeof *value);
    *value = (model_value){.kind = kind, .written = m->version};
    if (model_is(m, kind, MODEL_BUFFER)) return value;
    value->bytes = model_memory(m, m->kinds[kind].size);
    value->count = value->room = 1;
    values_begin(m, kind, value->bytes, 1);
    return value;
}

/* What has a value that the model knows. */
static bool is_valued(const model *m, uint32_t kind)
{
    return m->kinds[kind].size != 0 && !model_is(m, kind, MODEL_CHUNK);
}

model_value *model_resource(model *m, uint32_t kind)
{
    if (m->resources[kind] == NULL) m->resources[kind] = value_new(m, kind);
    return m->resources[kind];
}

/* The entity has exactly this set from now on: new kinds are zero. */
static void set_become(model *m, uint32_t n, uint64_t set)
{
    model_entity *entity = &m->entities[n];
    uint64_t come = set & ~entity->set;
    note(m, n);
    for (model_value **at = &entity->values; *at != NULL;)
        if ((set >> (*at)->kind & 1) == 0)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    entity->set = set;
    entity->disabled &= set;
    for (uint32_t kind = 0; kind < m->kind_count; kind++) {
        if ((come >> kind & 1) == 0 || !is_valued(m, kind)) continue;
        model_value *value = value_new(m, kind);
        value->next = entity->values;
        entity->values = value;
    }
    model_note_rows(m, set);
}

/* ---- create and destroy ---- */

uint32_t model_reserve(model *m)
{
    m->entities = grown(m, m->entities, m->count, &m->room, sizeof *m->entities);
    m->entities[m->count] = (model_entity){.life = MODEL_NEVER};
    return m->count++;
}

uint32_t model_create(model *m, uint64_t set)
{
    uint32_t n = m->reserved != 0 ? m->reserved : model_reserve(m);
    m->reserved = 0;
    m->entities[n] = (model_entity){.life = MODEL_ALIVE};
    m->living++;
    set_become(m, n, model_with_needs(m, set));
    return n;
}

void model_destroy_alone(model *m, uint32_t n)
{
    model_entity *entity = &m->entities[n];
    if (entity->life != MODEL_ALIVE) return;
    set_become(m, n, entity->set & set_of(m, MODEL_CLEANUP));
    entity->name = NULL;
    entity->life = entity->set != 0 ? MODEL_RESIDUE : MODEL_DEAD;
    m->living--;
    if (entity->life == MODEL_RESIDUE) m->residues++;
}

model_result model_destroy(model *m, uint32_t n)
{
    if (!model_is_alive(m, n)) return dead(n);
    if (group_of(m, n) == NULL) {
        model_destroy_alone(m, n);
        return MODEL_OK;
    }
    bool *dies = model_memory(m, m->count * sizeof *dies);
    model_group(m, n, dies);
    for (uint32_t i = 1; i < m->count; i++)
        if (dies[i]) model_destroy_alone(m, i);
    return MODEL_OK;
}

/* ---- carried ---- */

void model_lose(model *m, uint32_t n, uint64_t without)
{
    model_entity *entity = &m->entities[n];
    set_become(m, n, entity->set & ~without);
    if (entity->life != MODEL_RESIDUE || entity->set != 0) return;
    entity->life = MODEL_DEAD;
    m->residues--;
}

void model_arrive(model *to, uint32_t n, const model_entity *from)
{
    while (to->count <= n) {
        to->entities = grown(to, to->entities, to->count, &to->room, sizeof *to->entities);
        to->entities[to->count++] = (model_entity){.life = MODEL_DEAD};
    }
    model_entity *entity = &to->entities[n];
    *entity = *from;
    entity->is_touched = false;
    if (entity->name != NULL) entity->name = strcpy(model_memory(to, MODEL_NAME), from->name);
    for (model_value **at = &entity->values; *at != NULL; at = &(*at)->next)
        *at = value_copy(to, *at);
    if (entity->life == MODEL_ALIVE) to->living++;
    if (entity->life == MODEL_RESIDUE) to->residues++;
    model_touch(to, n, ~UINT64_C(0));
}

void model_leave(model *from, uint32_t n)
{
    model_entity *entity = &from->entities[n];
    note(from, n);
    if (entity->life == MODEL_ALIVE) from->living--;
    if (entity->life == MODEL_RESIDUE) from->residues--;
    *entity = (model_entity){.life = MODEL_DEAD, .is_touched = entity->is_touched};
}

/* ---- add and remove ---- */

static bool is_residue(const model *m, uint32_t n)
{
    return n < m->count && m->entities[n].life == MODEL_RESIDUE;
}

model_result model_may_add(const model *m, uint32_t n, uint64_t set)
{
    if (model_is_alive(m, n)) return MODEL_OK;
    return is_residue(m, n) && (set & ~m->entities[n].set) == 0 ? MODEL_OK : dead(n);
}

model_result model_may_remove(const model *m, uint32_t n)
{
    return model_is_alive(m, n) || is_residue(m, n) ? MODEL_OK : dead(n);
}

/* The entity's set changes; its group follows where the Prefab tag comes or goes. */
static void set_change(model *m, uint32_t n, uint64_t set, bool has_prefab_asked)
{
    uint64_t prefab = set_of(m, MODEL_PREFAB);
    if (has_prefab_asked && group_of(m, n) != NULL) {
        bool *follows = model_memory(m, m->count * sizeof *follows);
        model_group(m, n, follows);
        for (uint32_t i = 1; i < m->count; i++)
            if (follows[i] && i != n)
                set_become(m, i, (m->entities[i].set & ~prefab) | (set & prefab));
    }
    set_become(m, n, set);
    if (is_residue(m, n) && set == 0) {
        m->entities[n].life = MODEL_DEAD;
        m->residues--;
    }
}

model_result model_change(model *m, uint32_t n, uint64_t add, uint64_t remove)
{
    model_result result = model_may_add(m, n, add & ~remove);
    if (result == MODEL_OK) result = model_may_remove(m, n);
    if (result != MODEL_OK) return result;
    uint64_t set = m->entities[n].set;
    bool has_prefab_asked = ((add | remove) & set_of(m, MODEL_PREFAB)) != 0;
    add = model_with_needs(m, add & ~remove & ~set);
    set_change(m, n, (set | add) & ~remove, has_prefab_asked);
    return MODEL_OK;
}

model_result model_set_rows(model *m, uint32_t n, uint64_t set)
{
    if (!model_is_alive(m, n)) return dead(n);
    uint64_t from = m->entities[n].set, rows = model_rows(m, from);
    if ((rows & ~set & set_of(m, MODEL_CLEANUP)) != 0) return MODEL_INVALID;
    set_change(m, n, (from & ~rows) | set, ((from ^ set) & set_of(m, MODEL_PREFAB)) != 0);
    return MODEL_OK;
}

/* ---- set ---- */

static model_result value_begin(model *m, uint32_t n, uint32_t kind, model_value **out)
{
    uint64_t bit = UINT64_C(1) << kind;
    model_result result = model_may_add(m, n, bit);
    if (result != MODEL_OK) return result;
    if (!model_has(m, n, kind) || model_is(m, kind, MODEL_PREFAB)) {
        uint64_t add = model_with_needs(m, bit & ~m->entities[n].set);
        set_change(m, n, m->entities[n].set | add, model_is(m, kind, MODEL_PREFAB));
    }
    model_touch(m, n, bit);
    *out = model_read(m, n, kind);
    return MODEL_OK;
}

/* Nothing is written then: a row with this shared value stays where it is. */
static bool has_shared(const model *m, uint32_t n, uint32_t kind, const void *bytes)
{
    const model_value *value = model_is(m, kind, MODEL_SHARED) ? model_read(m, n, kind) : NULL;
    return value != NULL && bytes != NULL && memcmp(value->bytes, bytes, m->kinds[kind].size) == 0;
}

model_result model_set(model *m, uint32_t n, uint32_t kind, const void *bytes, uint32_t count)
{
    model_value *value = NULL;
    if (has_shared(m, n, kind, bytes)) return model_may_add(m, n, UINT64_C(1) << kind);
    model_result result = value_begin(m, n, kind, &value);
    if (result != MODEL_OK || value == NULL) return result;
    value->count = 0;
    value_room(m, value, count);
    value->count = count;
    if (bytes == NULL)
        values_begin(m, kind, value->bytes, count);
    else if (count != 0)
        memcpy(value->bytes, bytes, (size_t)count * m->kinds[kind].size);
    return result;
}

model_result model_append(model *m, uint32_t n, uint32_t kind, const void *bytes, uint32_t count)
{
    model_value *value = NULL;
    model_result result = value_begin(m, n, kind, &value);
    if (result != MODEL_OK || count == 0) return result;
    size_t size = m->kinds[kind].size;
    value_room(m, value, value->count + count);
    memcpy(value->bytes + value->count * size, bytes, count * size);
    value->count += count;
    return result;
}

model_result model_resize(model *m, uint32_t n, uint32_t kind, uint32_t count)
{
    model_value *value = NULL;
    model_result result = value_begin(m, n, kind, &value);
    if (result != MODEL_OK) return result;
    size_t size = m->kinds[kind].size;
    value_room(m, value, count);
    if (count > value->count)
        values_begin(m, kind, value->bytes + value->count * size, count - value->count);
    value->count = count;
    return result;
}

model_result model_enable(model *m, uint32_t n, uint32_t kind, bool enabled)
{
    if (!model_is_alive(m, n)) return dead(n);
    if (!model_is(m, kind, MODEL_SWITCH)) return MODEL_MISMATCH;
    if (!model_has(m, n, kind)) return MODEL_NOT_FOUND;
    uint64_t bit = UINT64_C(1) << kind;
    m->entities[n].disabled = (m->entities[n].disabled & ~bit) | (enabled ? 0 : bit);
    model_touch(m, n, bit);
    return MODEL_OK;
}

uint32_t model_named(const model *m, const char *name, uint32_t *out, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t n = 1; n < m->count; n++) {
        if (!model_is_alive(m, n) || strcmp(model_name(m, n), name) != 0) continue;
        if (count < most) out[count] = n;
        count++;
    }
    return count;
}

model_result model_set_name(model *m, uint32_t n, const char *name, bool is_unique)
{
    char text[MODEL_NAME] = "";
    if (!model_is_alive(m, n)) return dead(n);
    if (name != NULL) strncat(text, name, MODEL_NAME - 1);
    uint32_t others[2], count = text[0] == '\0' ? 0 : model_named(m, text, others, 2);
    if (is_unique && (count > 1 || (count == 1 && others[0] != n))) return MODEL_EXISTS;
    m->entities[n].name = NULL;
    note(m, n);
    if (text[0] == '\0') return MODEL_OK;
    m->entities[n].name = model_memory(m, MODEL_NAME);
    strcpy(m->entities[n].name, text);
    return MODEL_OK;
}

/* ---- instances ---- */

uint32_t model_instance_members(const model *m, uint32_t n, uint32_t *out)
{
    const model_value *group = group_of(m, n);
    out[0] = n;
    if (group == NULL || group->count == 0) return 1;
    if (*(const uint64_t *)(const void *)group->bytes != n) return 0;
    uint32_t count = 1;
    bool *is_member = calloc(m->count, sizeof *is_member);
    if (is_member == NULL) abort();
    model_group(m, n, is_member);
    for (uint32_t i = 1; i < m->count; i++)
        if (is_member[i] && i != n) out[count++] = i;
    free(is_member);
    return count;
}

/* Numbers of members become those of their copies. */
static void links_redirect(const model *m, model_value *value, const uint32_t *members,
                           const uint32_t *copies, uint32_t count)
{
    const model_kind *kind = &m->kinds[value->kind];
    for (uint32_t i = 0; i < value->count; i++)
        for (uint32_t k = 0; k < kind->link_count; k++) {
            uint64_t number;
            uint8_t *at = value->bytes + (size_t)i * kind->size + kind->links[k];
            memcpy(&number, at, sizeof number);
            uint32_t member = 0;
            while (member < count && members[member] != number) member++;
            if (member == count || number == 0) continue;
            number = copies[member];
            memcpy(at, &number, sizeof number);
        }
}

/* One member into one new entity, links as they are. */
static void member_copy(model *m, uint32_t from, uint32_t to)
{
    uint64_t left = set_of(m, MODEL_CLEANUP | MODEL_NOT_COPIED | MODEL_PREFAB);
    set_become(m, to, m->entities[from].set & ~left);
    m->entities[to].disabled = m->entities[from].disabled & m->entities[to].set;
    m->entities[to].name = m->entities[from].name;
    for (model_value *value = m->entities[to].values; value != NULL; value = value->next) {
        const model_value *source = model_read(m, from, value->kind);
        value_room(m, value, source->count);
        value->count = source->count;
        if (source->count != 0)
            memcpy(value->bytes, source->bytes, source->count * (size_t)m->kinds[value->kind].size);
    }
}

/* The root of a copy of a prefab is told what it is a copy of. */
static void origin_tell(model *m, uint32_t source, uint32_t copy)
{
    uint64_t origin = set_of(m, MODEL_ORIGIN), number = source;
    if (origin == 0 || (m->entities[source].set & set_of(m, MODEL_PREFAB)) == 0) return;
    set_become(m, copy, m->entities[copy].set | origin);
    model_value *value = model_read(m, copy, (uint32_t)__builtin_ctzll(origin));
    memcpy(value->bytes, &number, sizeof number);
}

model_result model_instantiate(model *m, uint32_t n, uint32_t count, uint32_t *out)
{
    if (!model_is_alive(m, n)) return dead(n);
    uint32_t *members = model_memory(m, m->count * sizeof *members);
    uint32_t member_count = model_instance_members(m, n, members);
    if (member_count == 0) return count == 0 ? MODEL_OK : MODEL_INVALID;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *copies = out + (size_t)i * member_count;
        for (uint32_t k = 0; k < member_count; k++) copies[k] = model_create(m, 0);
        for (uint32_t k = 0; k < member_count; k++) {
            member_copy(m, members[k], copies[k]);
            for (model_value *v = m->entities[copies[k]].values; v != NULL; v = v->next)
                links_redirect(m, v, members, copies, member_count);
        }
        origin_tell(m, n, copies[0]);
    }
    return MODEL_OK;
}
