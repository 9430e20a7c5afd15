/* SPDX-License-Identifier: MIT */
/* screen_filter.c: names to places in the catalogue, once; then a few compares per pair.
 */
#include "screen_filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

enum { GROUPS_SHOWN = 8 };

/* ---- names ---- */

static bool contains(const char *name, const char *part, size_t length)
{
    for (; strlen(name) >= length; name++)
        if (strncasecmp(name, part, length) == 0) return true;
    return false;
}

/* One item of --object: a catalogue number, or a part of a name. Returns how many it names. */
static uint32_t name_objects(const struct screen_filter *f, const struct tle_catalogue *c,
                             const char *item, size_t length)
{
    const bool is_number = strspn(item, "0123456789") >= length;
    const unsigned long number = is_number ? strtoul(item, NULL, 10) : 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const bool is_it =
            is_number ? c->objects[i].number == number : contains(c->objects[i].name, item, length);
        if (!is_it) continue;
        f->is_named[i] = 1;
        count++;
    }
    return count;
}

static int take_objects(struct screen_filter *f, const char *list, const struct tle_catalogue *c)
{
    f->is_named = calloc((size_t)c->count + 1, 1);
    if (!f->is_named) return weft_cli_fail("screen", "out of memory");
    while (*list) {
        list += strspn(list, " ");
        size_t length = strcspn(list, ",");
        const size_t whole = length;
        while (length > 0 && list[length - 1] == ' ') length--;
        if (length > 0 && name_objects(f, c, list, length) == 0) {
            return weft_cli_find("screen",
                                 "--object: '%.*s' is neither the number nor part of the name of "
                                 "an object of this catalogue near the window",
                                 (int)length, list);
        }
        list += whole + (list[whole] == ',');
    }
    return WEFT_CLI_OK;
}

static int unknown_group(const char *option, const char *name, const struct constellations *all)
{
    char known[GROUPS_SHOWN * (TLE_NAME_BYTES + 2)] = "";
    for (uint32_t g = 1; g < all->count && g <= GROUPS_SHOWN; g++) {
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", g > 1 ? ", " : "",
                 all->groups[g].name);
    }
    if (all->count == 1)
        return weft_cli_find("screen", "--%s %s: this catalogue has no groups", option, name);
    return weft_cli_find("screen", "--%s: no group '%s'; the largest are %s", option, name, known);
}

static int take_group(const char *option, const char *name, const struct constellations *all,
                      uint32_t *group)
{
    if (name == NULL) return WEFT_CLI_OK;
    for (uint32_t g = 1; g < all->count; g++) {
        if (strcasecmp(all->groups[g].name, name) != 0) continue;
        *group = g;
        return WEFT_CLI_OK;
    }
    return unknown_group(option, name, all);
}

int screen_filter_init(struct screen_filter *f, const struct screen_options *o,
                       const struct screen_result *r)
{
    *f = (struct screen_filter){.max_km = o->max_km, .group_of = r->groups.group_of};
    int status = o->objects ? take_objects(f, o->objects, &r->catalogue) : WEFT_CLI_OK;
    if (status == WEFT_CLI_OK) status = take_group("group", o->group, &r->groups, &f->group);
    if (status == WEFT_CLI_OK)
        status = take_group("exclude-group", o->without_group, &r->groups, &f->without_group);
    return status;
}

void screen_filter_fini(struct screen_filter *f)
{
    free(f->is_named);
    *f = (struct screen_filter){.is_named = NULL};
}

bool screen_filter_takes(const struct screen_filter *f, uint32_t a, uint32_t b, double km)
{
    if (f->max_km != 0.0 && km >= f->max_km) return false;
    if (f->is_named && !f->is_named[a] && !f->is_named[b]) return false;
    if (f->group == 0 && f->without_group == 0) return true;
    const uint32_t group_a = f->group_of[a], group_b = f->group_of[b];
    if (f->group != 0 && group_a != f->group && group_b != f->group) return false;
    return f->without_group == 0 || (group_a != f->without_group && group_b != f->without_group);
}

void screen_filter_apply(const struct screen_filter *f, struct screen_result *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->approach_count; i++) {
        const struct screen_approach *p = &r->approaches[i];
        if (screen_filter_takes(f, p->object_a, p->object_b, p->miss_km))
            r->approaches[kept++] = *p;
    }
    r->hidden_count = r->approach_count - kept;
    r->approach_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < r->together_count; i++) {
        const struct screen_together *p = &r->togethers[i];
        if (screen_filter_takes(f, p->object_a, p->object_b, p->nearest_km))
            r->togethers[kept++] = *p;
    }
    r->together_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < r->edge_count; i++) {
        const struct screen_edge *p = &r->edges[i];
        if (screen_filter_takes(f, p->object_a, p->object_b, p->distance_km)) r->edges[kept++] = *p;
    }
    r->edge_count = kept;
}
