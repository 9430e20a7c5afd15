/* SPDX-License-Identifier: MIT */
/* newer_struct.c: a save outlives its struct: fields are matched by name, and what changed is
 * reported. */
#include <stdio.h>
#include <weft/type.h>
#include <weft/weft.h>

typedef struct {
    int32_t hp;
    float old_armour;
} PlayerOne;
typedef struct {
    float speed;
    int64_t hp;
} PlayerTwo; /* a wider field, another place, one new, one gone */

static const weft_field one_fields[] = {WEFT_FIELD(PlayerOne, hp),
                                        WEFT_FIELD(PlayerOne, old_armour)};
static const weft_field two_fields[] = {WEFT_FIELD(PlayerTwo, speed), WEFT_FIELD(PlayerTwo, hp)};

static void tell(const weft_load_change *change, void *user)
{
    (void)user;
    printf("%s.%s differs\n", change->type, change->field);
}

int main(void)
{
    weft_world *old, *new_world;
    if (weft_world_create(NULL, &old) != WEFT_OK || weft_world_create(NULL, &new_world) != WEFT_OK)
        return 1;
    weft_component player =
        weft_component_create(old, &(weft_component_desc){.name = "Player",
                                                          .size = sizeof(PlayerOne),
                                                          .alignment = 4,
                                                          .fields = one_fields,
                                                          .field_count = 2});
    weft_entity e = weft_entity_create(old, WEFT_ARCHETYPE(old, player));
    WEFT_SET(old, e, player, PlayerOne, {90, 5});
    weft_world_bytes bytes;
    if (weft_world_save_memory(old, &bytes, NULL) != WEFT_OK) return 1;

    player = weft_component_create(new_world, &(weft_component_desc){.name = "Player",
                                                                     .size = sizeof(PlayerTwo),
                                                                     .alignment = 8,
                                                                     .fields = two_fields,
                                                                     .field_count = 2});
    if (weft_world_load_memory(new_world, bytes.bytes, bytes.count,
                               &(weft_load_desc){.changed = tell}) != WEFT_OK)
        puts(weft_world_error(new_world)->text);
    weft_query players = weft_query_create(new_world, &(weft_query_desc){.terms = {{player}}});
    const PlayerTwo *p = weft_entity_read(new_world, weft_query_single(new_world, players), player);
    printf("hp %d, speed %g\n", (int)p->hp, (double)p->speed);
    weft_world_bytes_free(old, &bytes);
    weft_world_destroy(new_world);
    weft_world_destroy(old);
}

/* prints:
 * Player.hp differs
 * Player.old_armour differs
 * Player.speed differs
 * hp 90, speed 0
 */
