/* SPDX-License-Identifier: MIT */
/* write_back.c: an editor inside the program changes one value of a document; other bytes stay. */
#include <stdio.h>
#include <weft/live.h>
#include <weft/weft.h>

typedef struct {
    float radius;
} Lamp;
static const weft_field lamp_fields[] = {WEFT_FIELD_WITH(Lamp, radius, .unit = "m")};
static const weft_type lamp_type = WEFT_TYPE(Lamp, lamp_fields);

static void show(const char *what)
{
    char line[128];
    FILE *file = fopen("room.weft", "r");
    if (file == NULL) return;
    printf("%s:\n", what);
    while (fgets(line, sizeof line, file) != NULL) fputs(line, stdout);
    fclose(file);
}

int main(void)
{
    FILE *file = fopen("room.weft", "w");
    if (file == NULL) return 1;
    fputs("{ \"weft\": 1,\n  \"objects\": {\n"
          "    \"lamp\":   {\"Lamp\": {\"radius\": \"2 m\"}} // over the table\n  }}\n",
          file);
    fclose(file);

    weft_world *world;
    weft_live *live;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component type = weft_component_create(world, &(weft_component_desc){.type = &lamp_type});
    const weft_live_desc desc = {
        .paths = (const char *[]){"room.weft"}, .path_count = 1, .without_thread = true};
    if (weft_live_start(world, &desc, &live) != WEFT_OK) return 1;

    weft_live_edit(live, "lamp", "Lamp.radius", "\"350 cm\"");
    weft_live_refresh(live);
    weft_live_apply(live, 0, NULL, 0);
    const Lamp *lamp = weft_entity_read(world, weft_live_entity(live, "lamp"), type);
    if (lamp != NULL) printf("radius %g\n", (double)lamp->radius);
    show("edited");
    weft_live_undo(live);
    show("undone");
    weft_live_stop(live);
    weft_world_destroy(world);
    remove("room.weft");
}

/* prints:
 * radius 3.5
 * edited:
 * { "weft": 1,
 *   "objects": {
 *     "lamp":   {"Lamp": {"radius": "350 cm"}} // over the table
 *   }}
 * undone:
 * { "weft": 1,
 *   "objects": {
 *     "lamp":   {"Lamp": {"radius": "2 m"}} // over the table
 *   }}
 */
