/* SPDX-License-Identifier: MIT */
/* sections.c: a level is written in sections; they come into a running world and leave it. */
#include <stdio.h>
#include <weft/stream.h>
#include <weft/weft.h>

typedef struct {
    float x, y;
} Tree;

/* Two woods of 1,000 and 2,000 trees, each a section of the file. */
static int write_level(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component tree = WEFT_COMPONENT(world, Tree), section = weft_component_section(world);
    weft_archetype kind = WEFT_ARCHETYPE(world, tree, section);
    for (uint32_t wood = 1; wood <= 2; wood++)
        for (uint32_t i = 0; i < 1000 * wood; i++) {
            weft_entity e = weft_entity_create(world, kind);
            weft_entity_set_shared(world, e, section, &(weft_section){.section = wood});
        }
    weft_result result = weft_sections_save(world, "woods.wss", NULL);
    if (result != WEFT_OK) puts(weft_world_error(world)->text);
    weft_world_destroy(world);
    return result != WEFT_OK;
}

int main(void)
{
    weft_world *world;
    weft_stream *woods;
    if (write_level() != 0 || weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component tree = WEFT_COMPONENT(world, Tree); /* as in the file */
    weft_query trees = weft_query_create(world, &(weft_query_desc){.terms = {{tree}}});
    if (weft_stream_open(world, "woods.wss", NULL, &woods) != WEFT_OK) return 1;
    for (uint32_t i = 1; i < weft_stream_section_count(woods); i++) {
        weft_section_info info; /* known before anything is read */
        weft_stream_section_get(woods, i, &info, sizeof info);
        printf("section %u: %u trees\n", i, info.rows);
    }
    /* A game calls weft_stream_step(world, 500000) each frame instead of waiting. */
    weft_stream_load(woods, 1, 0);
    weft_stream_load(woods, 2, 1); /* first: its priority is higher */
    weft_stream_wait(world);
    printf("both: %d trees\n", (int)weft_query_count(world, trees));
    weft_stream_unload(woods, 1);
    weft_stream_wait(world);
    printf("the second: %d trees\n", (int)weft_query_count(world, trees));
    weft_stream_close(woods);
    printf("none: %d trees\n", (int)weft_query_count(world, trees));
    weft_world_destroy(world);
    remove("woods.wss");
}

/* prints:
 * section 1: 1000 trees
 * section 2: 2000 trees
 * both: 3000 trees
 * the second: 2000 trees
 * none: 0 trees
 */
