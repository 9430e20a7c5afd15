/* SPDX-License-Identifier: MIT */
/* test_system_limit.c: what is said when handles of systems are used up. A slot gives 65,536
 * handles and is never reused after that; the test uses slots up by their counts. */
#include "plain.h"
#include "registry.h"

#include <string.h>

static void run(weft_slice *slice, void *user)
{
    (void)slice, (void)user;
}

static weft_system create(weft_world *world, uint32_t number)
{
    char name[16] = "system ";
    name[7] = (char)('a' + number % 26);
    return weft_system_create(world, &(weft_system_desc){.name = name, .run = run});
}

/* The handles of all slots that are free now. */
static void use_up(weft__scheduler *scheduler)
{
    scheduler->retired_count = 0;
    for (uint32_t i = 0; i < scheduler->system_capacity; i++)
        if (scheduler->systems[i] == NULL) {
            scheduler->generations[i] = UINT16_MAX + 1;
            scheduler->retired_count++;
        }
}

PLAIN_TEST(handles_of_systems_that_are_used_up_are_a_limit)
{
    weft_world *world;
    uint32_t count = 0;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    while (create(world, count).id != 0) {
        use_up(weft__scheduler_of(world));
        count++;
        CHECK(count < 26);
    }
    CHECK_U64(weft__scheduler_of(world)->system_capacity, WEFT__SLOT_LIMIT);
    CHECK_RESULT(weft_world_error(world)->code, WEFT_LIMIT);
    CHECK(strstr(weft_world_error(world)->text, "destroy systems") != NULL);
    CHECK_OK(weft_world_step(world, 0)); /* those that are there go on */
    CHECK_OK(weft_world_destroy(world));
}
