/* SPDX-License-Identifier: MIT */
/* order.c: who runs before whom, and why: before and after, and the schedule's own explanation. */
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

typedef struct {
    int value;
} Number;

static void add(weft_slice *slice, void *user)
{
    (void)user;
    Number *n = WEFT_WRITE_COLUMN(slice, 0, Number);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) n[i].value += 3;
}

static void twice(weft_slice *slice, void *user)
{
    (void)user;
    Number *n = WEFT_WRITE_COLUMN(slice, 0, Number);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) n[i].value *= 2;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component number = WEFT_COMPONENT(world, Number);
    weft_entity e = weft_entity_create(world, WEFT_ARCHETYPE(world, number));

    weft_system a = weft_system_create(
        world, &(weft_system_desc){.name = "add",
                                   .run = add,
                                   .over.rows.terms = {{number, WEFT_WRITE}},
                                   .after = {"twice"}}); /* else: as registered */
    weft_system t = weft_system_create(
        world, &(weft_system_desc){
                   .name = "twice", .run = twice, .over.rows.terms = {{number, WEFT_WRITE}}});
    weft_world_step(world, 1);
    weft_world_step(world, 1);
    printf("(0 * 2 + 3) * 2 + 3 = %d\n",
           ((const Number *)weft_entity_read(world, e, number))->value);

    char why[1000];
    weft_schedule_explain(world, t, a, why, sizeof why);
    printf("%.*s\n", (int)strcspn(why, "\n"), why); /* more lines follow */
    weft_world_destroy(world);
}

/* prints:
 * (0 * 2 + 3) * 2 + 3 = 9
 * 'twice' runs before 'add'
 */
