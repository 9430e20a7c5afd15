/* SPDX-License-Identifier: MIT */
/* constellation.c: groups by first word: sort the words, count the runs, keep the long ones, sort
 * these by size.
 */
#include "constellation.h"

#include <stdlib.h>
#include <string.h>

/* The first word of one object's name. */
struct word {
    char text[TLE_NAME_BYTES];
    uint32_t object;
};

/* Rocket bodies and debris are named after what they come from: no constellation. */
static int is_remains(const char *name)
{
    return strstr(name, "R/B") != NULL || strstr(name, " DEB") != NULL;
}

/* Letters from the beginning of the name on: numbers and separators end the word. */
static void first_word(const char *name, char *word)
{
    uint32_t n = 0;
    if (is_remains(name)) name = "";
    while ((name[n] >= 'A' && name[n] <= 'Z') || (name[n] >= 'a' && name[n] <= 'z')) n++;
    memset(word, 0, TLE_NAME_BYTES);
    memcpy(word, name, n);
}

static int compare_words(const void *left, const void *right)
{
    const struct word *a = left, *b = right;
    const int order = strcmp(a->text, b->text);
    return order != 0 ? order : (a->object < b->object ? -1 : 1);
}

static int compare_groups(const void *left, const void *right)
{
    const struct constellation *a = left, *b = right;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* End of the run of equal words that begins at `begin`. */
static uint32_t run_end(const struct word *words, uint32_t count, uint32_t begin)
{
    uint32_t end = begin + 1;
    while (end < count && strcmp(words[end].text, words[begin].text) == 0) end++;
    return end;
}

static int is_group(const struct word *words, uint32_t begin, uint32_t end)
{
    return words[begin].text[0] != '\0' && end - begin >= CONSTELLATION_MEMBERS;
}

static void find_groups(struct constellations *all, const struct word *words, uint32_t count)
{
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        end = run_end(words, count, begin);
        struct constellation *group = &all->groups[0];
        if (is_group(words, begin, end)) {
            group = &all->groups[all->count++];
            memcpy(group->name, words[begin].text, sizeof group->name);
        }
        group->count += end - begin;
    }
    qsort(all->groups + 1, all->count - 1, sizeof *all->groups, compare_groups);
}

static void assign_groups(struct constellations *all, const struct word *words, uint32_t count)
{
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        end = run_end(words, count, begin);
        uint32_t group = is_group(words, begin, end) ? 1 : 0;
        while (group && strcmp(all->groups[group].name, words[begin].text) != 0) group++;
        for (uint32_t i = begin; i < end; i++) all->group_of[words[i].object] = group;
    }
}

int constellations_init(struct constellations *all, const struct tle_catalogue *catalogue)
{
    const uint32_t count = catalogue->count;
    struct word *words = calloc((size_t)count + 1, sizeof *words);
    *all = (struct constellations){.count = 1};
    all->groups = calloc((size_t)count / CONSTELLATION_MEMBERS + 1, sizeof *all->groups);
    all->group_of = calloc((size_t)count + 1, sizeof *all->group_of);
    if (!words || !all->groups || !all->group_of) {
        free(words);
        constellations_fini(all);
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        first_word(catalogue->objects[i].name, words[i].text);
        words[i].object = i;
    }
    qsort(words, count, sizeof *words, compare_words);
    find_groups(all, words, count);
    assign_groups(all, words, count);
    free(words);
    return 0;
}

void constellations_fini(struct constellations *all)
{
    free(all->groups);
    free(all->group_of);
    *all = (struct constellations){.groups = NULL};
}
