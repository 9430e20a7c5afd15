/* SPDX-License-Identifier: MIT */
/* test_constellation.c: groups by the first word of names: which words make one, order, members.
 */
#include "constellation.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct tle_catalogue catalogue_of(uint32_t count)
{
    return (struct tle_catalogue){.objects = calloc(count, sizeof(struct tle_object)),
                                  .count = count};
}

static void name(struct tle_catalogue *c, uint32_t from, uint32_t to, const char *format)
{
    for (uint32_t i = from; i < to; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s%u", format, (unsigned)i);
        memcpy(c->objects[i].name, text, TLE_NAME_BYTES - 1);
    }
}

Test(constellation, words_shared_by_enough_satellites_are_groups_by_size)
{
    struct tle_catalogue c = catalogue_of(200);
    struct constellations all;
    name(&c, 0, 40, "SMALL-");
    name(&c, 40, 140, "LARGE ");
    name(&c, 140, 171, "FEW ");
    name(&c, 171, 200, "");
    CHECK(constellations_init(&all, &c) == 0);
    CHECK_U64(all.count, 3);
    CHECK_TEXT(all.groups[1].name, "LARGE");
    CHECK_TEXT(all.groups[2].name, "SMALL");
    CHECK_U64(all.groups[0].count, 60);
    CHECK_U64(all.groups[1].count, 100);
    CHECK_U64(all.group_of[0], 2);
    CHECK_U64(all.group_of[139], 1);
    CHECK_U64(all.group_of[140], 0);
    CHECK_U64(all.group_of[199], 0);
    constellations_fini(&all);
    tle_catalogue_fini(&c);
}

Test(constellation, names_without_a_word_make_no_group)
{
    struct tle_catalogue c = catalogue_of(50);
    struct constellations all;
    CHECK(constellations_init(&all, &c) == 0);
    CHECK_U64(all.count, 1);
    CHECK_U64(all.groups[0].count, 50);
    constellations_fini(&all);
    tle_catalogue_fini(&c);
}
