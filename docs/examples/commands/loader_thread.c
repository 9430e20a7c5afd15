/* SPDX-License-Identifier: MIT */
/* loader_thread.c: a thread of your own prepares changes; the owner of the world plays them
 * between steps. */
#include <pthread.h>
#include <stdio.h>
#include <weft/weft.h>

typedef struct {
    int size;
} Tree;

typedef struct {
    weft_recorder *commands;
    weft_archetype trees;
    weft_component tree;
} Loader;

static void *load(void *argument) /* may take as long as it likes */
{
    Loader *loader = argument;
    for (int i = 0; i < 500; i++) {
        weft_entity e = weft_recorder_create_entity(loader->commands, loader->trees);
        weft_recorder_set(loader->commands, e, loader->tree, &(Tree){i}, sizeof(Tree));
    }
    return NULL;
}

int main(void)
{
    weft_world *world;
    if (weft_world_create(NULL, &world) != WEFT_OK) return 1;
    Loader loader = {.tree = WEFT_COMPONENT(world, Tree)};
    loader.trees = WEFT_ARCHETYPE(world, loader.tree);
    if (weft_recorder_create(world, &loader.commands) != WEFT_OK) return 1;

    pthread_t thread;
    pthread_create(&thread, NULL, load, &loader);
    weft_world_step(world, 1); /* the world goes on meanwhile */
    pthread_join(thread, NULL);

    if (weft_recorder_play(loader.commands) != WEFT_OK) puts(weft_world_error(world)->text);
    weft_recorder_destroy(loader.commands);
    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = {{loader.tree}}});
    printf("%d trees\n", (int)weft_query_count(world, all));
    weft_world_destroy(world);
}

/* prints:
 * 500 trees
 */
