/* SPDX-License-Identifier: MIT */
/* serve.c: a page on this machine shows the running world: entities, systems, times. */
#include <stdio.h>
#include <string.h>
#include <weft/entity.h>
#include <weft/inspect.h>
#include <weft/slice.h>
#include <weft/system.h>

typedef struct {
    double metres;
} Height;

static void fall(weft_slice *slice, void *user)
{
    (void)user;
    Height *h = WEFT_WRITE_COLUMN(slice, 0, Height);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++)
        h[i].metres -= (double)weft_slice_dt(slice);
}

/* The Scenes window shows what the program says of its parts. */
static size_t write_parts(char *text, size_t capacity, void *user)
{
    (void)user;
    int length =
        snprintf(text, capacity, "\"sections\": [{\"name\": \"tower\", \"state\": \"loaded\"}]");
    return length < 0 ? 0 : (size_t)length;
}

int main(void)
{
    weft_world *world;
    weft_inspect *inspect;
    if (weft_world_create(&(weft_world_desc){.name = "tower"}, &world) != WEFT_OK) return 1;
    /* What fields mean, so that the page shows and edits them. */
    static const weft_field fields[] = {WEFT_FIELD_WITH(Height, metres, .unit = "m")};
    static const weft_type type = WEFT_TYPE(Height, fields);
    weft_component height = weft_component_create(world, &(weft_component_desc){.type = &type});
    weft_entity_create_many(world, WEFT_ARCHETYPE(world, height), 1000, NULL);
    weft_system_create(world, &(weft_system_desc){.name = "fall",
                                                  .run = fall,
                                                  .over.rows.terms = {{height, WEFT_WRITE}}});

    const weft_inspect_desc desc = {.port = WEFT_INSPECT_ANY_PORT, .is_writable = true};
    if (weft_inspect_start(world, &desc, &inspect) != WEFT_OK) {
        puts(weft_world_error(world)->text);
        return 1;
    }
    weft_inspect_sections(inspect, &(weft_inspect_source){.write = write_parts});
    const char *url = weft_inspect_url(inspect); /* open it in a browser; it holds the key */
    printf("%.*s..., a key of %d digits\n", 17, url, (int)strlen(strchr(url, '#') + 1));
    for (int frame = 0; frame < 60; frame++)
        weft_world_step(world, 1 / 60.0f); /* pages are answered here */
    printf("%d frames\n", (int)weft_world_frame(world).number);
    weft_inspect_stop(inspect);
    weft_world_destroy(world);
}

/* prints:
 * http://127.0.0.1:..., a key of 32 digits
 * 60 frames
 */
