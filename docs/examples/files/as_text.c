/* SPDX-License-Identifier: MIT */
/* as_text.c: a world as text, one JSON object per line. */
#include <stdio.h>
#include <weft/type.h>
#include <weft/weft.h>
#include <weft/world_text.h>

typedef struct {
    float x, y;
} Position;
static const weft_field position_fields[] = {WEFT_FIELD(Position, x), WEFT_FIELD(Position, y)};
static const weft_type position_type = WEFT_TYPE(Position, position_fields);

static weft_result to_stdout(void *user, const void *bytes, size_t count)
{
    (void)user;
    const char *text = bytes;
    for (size_t i = 0; i < count; i++) { /* print the lines of entities only */
        size_t begin = i;
        while (i < count && text[i] != '\n') i++;
        if (text[begin + 2] == 'e') printf("%.*s\n", (int)(i - begin), text + begin);
    }
    return WEFT_OK;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component position =
        weft_component_create(world, &(weft_component_desc){.type = &position_type});
    weft_component lit = WEFT_TAG(world, Lit);
    weft_entity lamp = weft_entity_create(world, WEFT_ARCHETYPE(world, position, lit));
    WEFT_SET(world, lamp, position, Position, {1, 2});
    weft_entity_set_name(world, lamp, "lamp");
    weft_entity_create(world, WEFT_ARCHETYPE(world, position));
    if (weft_world_save_json(world, &(weft_writer){to_stdout, NULL}, NULL) != WEFT_OK)
        puts(weft_world_error(world)->text);
    weft_world_destroy(world);
}

/* prints:
 * {"entity": "0:1", "name": "lamp", "components": {"Position": {"x": 1, "y": 2}, "Lit": true}}
 * {"entity": "1:1", "components": {"Position": {"x": 0, "y": 0}}}
 */
