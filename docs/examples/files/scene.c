/* SPDX-License-Identifier: MIT */
/* scene.c: a document with a prefab becomes entities; a component's name is all that is needed. */
#include <stdio.h>
#include <weft/scene.h>
#include <weft/weft.h>

typedef struct {
    double radius;
    int32_t moons;
} Planet;
static const weft_field planet_fields[] = {WEFT_FIELD_WITH(Planet, radius, .unit = "m"),
                                           WEFT_FIELD(Planet, moons)};
static const weft_type planet_type = WEFT_TYPE(Planet, planet_fields);

static const char document[] =
    "{\"weft\": 1,\n"
    " \"prefabs\": {\"rock\": {\"Planet\": {\"radius\": \"6371 km\"}}},\n"
    " \"objects\": {\n"
    "    \"earth\": {\"prefab\": \"#rock\", \"Planet\": {\"moons\": 1}}, // the radius is the "
    "prefab's\n"
    "    \"mars\": {\"prefab\": \"#rock\", \"Planet\": {\"radius\": \"3390 km\", \"moons\": "
    "2}}}}\n";

int main(void)
{
    FILE *file = fopen("planets.weft", "w");
    if (file == NULL) return 1;
    fputs(document, file);
    fclose(file);

    weft_world *world;
    weft_scene *scene;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component planet =
        weft_component_create(world, &(weft_component_desc){.type = &planet_type});
    if (weft_scene_create(world, NULL, &scene) != WEFT_OK) return 1;
    weft_error mistakes[8];
    weft_scene_bake(scene, (const char *[]){"planets.weft"}, 1);
    uint32_t count = weft_scene_mistakes(scene, mistakes, 8);
    for (uint32_t i = 0; i < count && i < 8; i++) puts(mistakes[i].text);
    if (weft_scene_fill(scene, world) != WEFT_OK) puts(weft_world_error(world)->text);

    const char *names[] = {"earth", "mars"};
    for (int i = 0; i < 2; i++) {
        const Planet *p = weft_entity_read(world, weft_scene_entity(scene, names[i]), planet);
        if (p != NULL) printf("%s: %g m, %d moons\n", names[i], p->radius, p->moons);
    }
    weft_scene_destroy(scene);
    weft_world_destroy(world);
    remove("planets.weft");
}

/* prints:
 * earth: 6.371e+06 m, 1 moons
 * mars: 3.39e+06 m, 2 moons
 */
