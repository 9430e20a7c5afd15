/* SPDX-License-Identifier: MIT */
/* model_carriers.c: the reference world (model.h) where worlds are carried: put back, saved without
 * some kinds, moved into another. */
#include "model.h"

#include <string.h>

void model_become(model *m, const model *from)
{
    model_copy_into(m, from, m->blocks);
}

void model_renew(model *m)
{
    for (uint32_t n = 1; n < m->count; n++)
        for (model_value *value = m->entities[n].values; value != NULL; value = value->next)
            value->written = m->version;
    for (uint32_t i = 0; i < m->stamp_count; i++) m->stamps[i].version = m->version;
}

void model_stir(model *m)
{
    for (uint32_t i = 0; i < m->stamp_count; i++) m->stamps[i].version = m->version;
}

void model_without(model *m, uint64_t without)
{
    for (uint32_t n = 1; n < m->count; n++) {
        model_entity *entity = &m->entities[n];
        if ((entity->set & without) != 0) model_lose(m, n, without);
    }
    for (uint32_t kind = 0; kind < m->kind_count; kind++)
        if ((without >> kind & 1) != 0) m->resources[kind] = NULL;
}

/* Numbers in a value become those of the other world; returns how many led to none. */
static uint64_t links_move(const model *m, model_value *value, const uint32_t *renamed)
{
    uint64_t cleared = 0;
    const model_kind *kind = &m->kinds[value->kind];
    for (uint32_t i = 0; i < value->count; i++)
        for (uint32_t k = 0; k < kind->link_count; k++) {
            uint64_t number;
            uint8_t *at = value->bytes + (size_t)i * kind->size + kind->links[k];
            memcpy(&number, at, sizeof number);
            if (number == 0) continue;
            number = renamed[number];
            cleared += number == 0;
            memcpy(at, &number, sizeof number);
        }
    return cleared;
}

uint64_t model_move(model *to, model *from, const uint32_t *numbers, uint32_t count,
                    const uint32_t *renamed)
{
    uint64_t cleared = 0;
    for (uint32_t i = 0; i < count; i++) {
        model_entity *entity = &from->entities[numbers[i]];
        model_arrive(to, renamed[numbers[i]], entity);
        model_value *value = to->entities[renamed[numbers[i]]].values;
        for (; value != NULL; value = value->next) cleared += links_move(to, value, renamed);
        model_leave(from, numbers[i]);
    }
    return cleared;
}
