/* SPDX-License-Identifier: MIT */
/* rebake.c: a document is edited and baked again: only what the edit concerns is done. */
#include <stdio.h>
#include <weft/scene.h>
#include <weft/weft.h>

typedef struct {
    float strength;
} Hull;
static const weft_field hull_fields[] = {WEFT_FIELD(Hull, strength)};
static const weft_type hull_type = WEFT_TYPE(Hull, hull_fields);

static void save(int last)
{
    FILE *file = fopen("fleet.weft", "w");
    if (file == NULL) return;
    fputs("{\"weft\": 1, \"objects\": {\n", file);
    for (int i = 1; i <= 100; i++)
        fprintf(file, "  \"ship%d\": {\"Hull\": {\"strength\": %d}}%s\n", i, i < 100 ? 50 : last,
                i < 100 ? "," : "");
    fputs("}}\n", file);
    fclose(file);
}

static void bake(weft_scene *scene)
{
    weft_error mistake;
    weft_scene_bake(scene, (const char *[]){"fleet.weft"}, 1);
    if (weft_scene_mistakes(scene, &mistake, 1) != 0) puts(mistake.text);
    weft_scene_stats stats;
    weft_scene_stats_get(scene, &stats, sizeof stats);
    printf("%u objects, %u baked", stats.objects, stats.baked);
    weft_scene_change change;
    if (weft_scene_change_at(scene, 0, &change)) printf(", the first is %s", change.path);
    puts("");
}

int main(void)
{
    weft_world *world;
    weft_scene *scene;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component hull = weft_component_create(world, &(weft_component_desc){.type = &hull_type});
    if (weft_scene_create(world, NULL, &scene) != WEFT_OK) return 1;
    save(50);
    bake(scene);
    save(999); /* the hundredth ship */
    bake(scene);
    weft_scene_fill(scene, world);
    const Hull *h = weft_entity_read(world, weft_scene_entity(scene, "ship100"), hull);
    if (h != NULL) printf("strength %g\n", (double)h->strength);
    weft_scene_destroy(scene);
    weft_world_destroy(world);
    remove("fleet.weft");
}

/* prints:
 * 100 objects, 100 baked, the first is ship1
 * 100 objects, 1 baked, the first is ship100
 * strength 999
 */
