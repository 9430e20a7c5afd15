/* SPDX-License-Identifier: MIT */
/* inventory.c: a buffer: an array per entity that grows. */
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int kind, count;
} Item;

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component items = weft_component_create(
        world, &(weft_component_desc){.name = "items",
                                      .size = sizeof(Item),
                                      .alignment = _Alignof(Item),
                                      .flags = WEFT_BUFFER,
                                      .buffer_capacity =
                                          4}); /* four beside the entity, more on the heap */
    weft_entity bag = weft_entity_create(world, WEFT_ARCHETYPE(world, items));

    weft_buffers write = weft_entity_write_buffer(world, bag, items);
    for (int i = 0; i < 6; i++) weft_buffers_append(&write, 0, &(Item){i, 10 * i}, 1);

    weft_buffers read = weft_entity_read_buffer(world, bag, items);
    const Item *item = weft_buffers_read(&read, 0);
    int sum = 0;
    for (uint32_t i = 0; i < weft_buffers_length(&read, 0); i++) sum += item[i].count;
    printf("%d kinds, %d things\n", (int)weft_buffers_length(&read, 0), sum);
    weft_world_destroy(world);
}

/* prints:
 * 6 kinds, 150 things
 */
