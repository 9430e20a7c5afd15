/* SPDX-License-Identifier: MIT */
/* own_memory.c: a component that owns memory: hooks free and copy it when entities die, move or
 * are copied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

typedef struct {
    char *text;
} Note;

static int alive;

static char *note_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    alive++;
    return copy == NULL ? NULL : strcpy(copy, text);
}

static void note_end(void *values, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) {
        if (((Note *)values)[i].text != NULL) alive--;
        free(((Note *)values)[i].text);
    }
}

static void note_copy(void *to, const void *from, uint32_t count, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = ((const Note *)from)[i].text;
        ((Note *)to)[i].text = text == NULL ? NULL : note_text(text);
    }
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component note = weft_component_create(
        world, &(weft_component_desc){.name = "Note",
                                      .size = sizeof(Note),
                                      .hooks = {.destruct = note_end, .copy = note_copy}});

    weft_entity page = weft_entity_create(world, WEFT_ARCHETYPE(world, note));
    WEFT_SET(world, page, note, Note, {note_text("buy milk")}); /* the world owns it now */
    weft_entity copies[2];
    weft_entity_instantiate(world, page, 2, copies);
    printf("%d texts\n", alive);

    weft_entity_destroy(world, copies[0]);
    WEFT_SET(world, page, note, Note, {note_text("buy tea")}); /* ends the old one */
    printf("%d texts\n", alive);

    weft_world_destroy(world);
    printf("%d texts\n", alive);
}

/* prints:
 * 3 texts
 * 2 texts
 * 0 texts
 */
