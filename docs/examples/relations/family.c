/* SPDX-License-Identifier: MIT */
/* family.c: parents and children: children of a parent are a list, and die with it. */
#include <stdio.h>
#include <weft/relation.h>
#include <weft/weft.h>

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component parent = weft_component_parent(world);
    weft_archetype plain = weft_archetype_create(world, NULL, 0);
    weft_entity tree = weft_entity_create(world, plain), branch[2], leaf[3];
    weft_entity_create_many(world, plain, 2, branch);
    weft_entity_create_many(world, plain, 3, leaf);
    weft_relation_set_many(world, branch, 2, parent, tree);
    weft_relation_set_many(world, leaf, 3, parent, branch[0]);
    weft_relation_settle(world); /* a step does so, too */

    uint32_t count;
    weft_relation_sources(world, parent, tree, &count);
    printf("the tree has %u branches\n", count);
    weft_relation_sources(world, parent, branch[0], &count);
    printf("its first branch has %u leaves\n", count);

    weft_relation_set(world, leaf[0], parent, branch[1]); /* leaf 0 moves */
    weft_entity_destroy(world, branch[0]);
    weft_relation_settle(world);
    printf("leaf 0: %d, leaf 1: %d\n", weft_entity_is_alive(world, leaf[0]),
           weft_entity_is_alive(world, leaf[1]));
    weft_world_destroy(world);
}

/* prints:
 * the tree has 2 branches
 * its first branch has 3 leaves
 * leaf 0: 1, leaf 1: 0
 */
