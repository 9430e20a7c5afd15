/* SPDX-License-Identifier: MIT */
/* relation_check.c: the invariants of relations: of pages by themselves, and of lists against
 * mirrors, edge by edge. A relation that is to be built from nothing promises nothing. */
#include "relation_check.h"

#include "error.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4))) static bool wrong(char *text, size_t bytes,
                                                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, bytes, format, arguments);
    va_end(arguments);
    return false;
}

static bool list_check(const weft__target_page *page, const weft__target_slot *slot, char *text,
                       size_t bytes)
{
    const weft_entity *list = page->sources + slot->first;
    if (slot->count > slot->capacity || slot->first + slot->capacity > page->used)
        return wrong(text, bytes, "a list of sources is beyond its page");
    for (uint32_t i = 1; i < slot->count; i++)
        if (list[i].index <= list[i - 1].index)
            return wrong(text, bytes, "source %u of a target is not in order", i);
    return true;
}

static bool page_check(const weft__target_page *page, char *text, size_t bytes)
{
    uint64_t edges = 0, room = 0;
    if (page->used > page->capacity) return wrong(text, bytes, "a page of targets is too full");
    for (uint32_t i = 0; i < WEFT__BLOCK_SLOTS; i++) {
        const weft__target_slot *slot = &page->slots[i];
        bool has = (page->has[i / 64] >> i % 64 & 1) != 0;
        if (has != (slot->count != 0))
            return wrong(text, bytes, "the bit of target %u is wrong", i);
        if (slot->count != 0 && !list_check(page, slot, text, bytes)) return false;
        edges += slot->count;
        room += slot->capacity;
    }
    if (edges != page->edges || room + page->garbage != page->used)
        return wrong(text, bytes, "a page counts %u edges, its lists have %llu", page->edges,
                     (unsigned long long)edges);
    return true;
}

static bool is_listed(const weft__target_page *page, const weft__target_slot *slot,
                      weft_entity source)
{
    const weft_entity *list = page->sources + slot->first;
    uint32_t first = 0, end = slot->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (list[middle].index < source.index)
            first = middle + 1;
        else
            end = middle;
    }
    return first < slot->count && list[first].index == source.index &&
           list[first].version == source.version;
}

/* Every edge of a mirror whose target has a list is in it; *edges counts them. */
static bool mirror_check(const weft__relation *relation, const weft__mirror *mirror,
                         uint64_t *edges, char *text, size_t bytes)
{
    for (uint32_t row = 0; row < mirror->count; row++) {
        weft__target_page *page;
        weft_entity target = ((const weft_entity *)mirror->values)[row];
        if (target.version == 0) continue;
        const weft__target_slot *slot =
            weft__target_slot_at(relation, weft__bare_index(relation->world, target), &page);
        if (slot == NULL || slot->version != target.version) continue;
        ++*edges;
        if (!is_listed(page, slot, mirror->rows[row]))
            return wrong(text, bytes, "entity %s is not among the sources of its target %s",
                         weft__entity_say(relation->world, mirror->rows[row]).text,
                         weft__entity_say(relation->world, target).text);
    }
    return true;
}

static bool relation_check(const weft__relation *relation, char *text, size_t bytes)
{
    uint64_t listed = 0, edges = 0;
    if (relation->is_broken) return true;
    for (uint32_t i = 0; i < relation->pages.count; i++) {
        if (relation->pages.at[i] == NULL) continue;
        if (!page_check(relation->pages.at[i], text, bytes)) return false;
        listed += relation->pages.at[i]->edges;
    }
    for (uint32_t i = 0; i < relation->diff.mirrors.count; i++)
        if (relation->diff.mirrors.at[i] != NULL &&
            !mirror_check(relation, relation->diff.mirrors.at[i], &edges, text, bytes))
            return false;
    if (edges == listed) return true;
    return wrong(text, bytes, "relation %u: %llu sources are listed, rows have %llu",
                 relation->component, (unsigned long long)listed, (unsigned long long)edges);
}

bool weft__relations_check(const weft_world *world, char *text, size_t bytes)
{
    const weft__relations *relations = weft__relations_of(world);
    for (uint32_t i = 0; relations != NULL && i < relations->all.count; i++)
        if (!relation_check(relations->all.at[i], text, bytes)) return false;
    return true;
}
