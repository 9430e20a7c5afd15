/* SPDX-License-Identifier: MIT */
/* baker.c: an object of a document that becomes many entities: a baker for its property "Fence". */
#include <stdio.h>
#include <weft/scene.h>
#include <weft/weft.h>

typedef struct {
    int32_t posts;
    float distance;
} Fence; /* only in documents */
static const weft_field fence_fields[] = {WEFT_FIELD(Fence, posts),
                                          WEFT_FIELD_WITH(Fence, distance, .unit = "m")};
static const weft_type fence_type = WEFT_TYPE(Fence, fence_fields);
typedef struct {
    float x;
} Post;

/* What it reads comes through `bake`, so the scene knows when it has to run again. */
static weft_result bake_fence(weft_bake *bake, const weft_object *object, void *user)
{
    (void)user;
    Fence fence;
    weft_result result = weft_bake_parse(bake, object, "Fence", &fence_type, &fence, NULL);
    if (result != WEFT_OK) return result;
    weft_component post = weft_bake_component(bake, "Post");
    for (int32_t i = 0; i < fence.posts && result == WEFT_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "post%d", (int)i);
        Post p = {fence.distance * (float)i};
        result = weft_bake_set(bake, weft_bake_entity(bake, name), post, &p, sizeof p);
    }
    return result;
}

int main(void)
{
    FILE *file = fopen("garden.weft", "w");
    if (file == NULL) return 1;
    fputs("{\"weft\": 1, \"objects\": {\"north\": {\"Fence\": {\"posts\": 4, \"distance\": \"250 "
          "cm\"}}}}\n",
          file);
    fclose(file);

    weft_world *world;
    weft_scene *scene;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    weft_component post = WEFT_COMPONENT(world, Post);
    const weft_baker_desc baker = {.name = "fence", .property = "Fence", .bake = bake_fence};
    if (weft_scene_create(world, &(weft_scene_desc){.bakers = &baker, .baker_count = 1}, &scene) !=
        WEFT_OK)
        return 1;
    weft_error mistake;
    weft_scene_bake(scene, (const char *[]){"garden.weft"}, 1);
    if (weft_scene_mistakes(scene, &mistake, 1) != 0) puts(mistake.text);
    weft_scene_fill(scene, world);

    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{post}}});
    Post posts[8];
    uint64_t count = weft_query_read_values(world, all, post, posts, 8);
    for (uint64_t i = 0; i < count; i++) printf("%s%g m", i > 0 ? ", " : "", (double)posts[i].x);
    puts("");
    weft_scene_destroy(scene);
    weft_world_destroy(world);
    remove("garden.weft");
}

/* prints:
 * 0 m, 2.5 m, 5 m, 7.5 m
 */
