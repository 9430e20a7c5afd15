/* SPDX-License-Identifier: MIT */
/* app.c: the shortest program that needs the library: a world that is stepped once.
 *
 * Prints the name of the result, WEFT_OK. */
#include <stdio.h>
#include <weft/weft.h>

int main(void)
{
    weft_world *world;
    weft_result result = weft_world_create(NULL, &world);
    if (result == WEFT_OK) result = weft_world_step(world, 1);
    puts(weft_result_name(result));
    weft_world_destroy(world);
    return result != WEFT_OK;
}
