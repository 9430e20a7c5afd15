/* SPDX-License-Identifier: MIT */
/* fault.c: a seeded fault: weft_entity_set_many forgets the last of more than 64 entities. Linked
 * with -Wl,--wrap=weft_entity_set_many into the generator (faulty_main.c) and into the program
 * that it prints (shrink.sh). */
#include <weft/weft.h>

weft_result __real_weft_entity_set_many(weft_world *world, const weft_entity *entities,
                                        uint32_t count, weft_component component,
                                        const void *values, size_t size);
weft_result __wrap_weft_entity_set_many(weft_world *world, const weft_entity *entities,
                                        uint32_t count, weft_component component,
                                        const void *values, size_t size);

weft_result __wrap_weft_entity_set_many(weft_world *world, const weft_entity *entities,
                                        uint32_t count, weft_component component,
                                        const void *values, size_t size)
{
    return __real_weft_entity_set_many(world, entities, count > 64 ? count - 1 : count, component,
                                       values, size);
}
