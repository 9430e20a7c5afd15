/* SPDX-License-Identifier: MIT */
/* load_twice.c: three copies of weft in one process: the one linked into this program, the shared
 * library named on the command line, and a copy of its file. Worlds of all of them live and step at
 * once and agree; a library that is closed is gone, and can be loaded again. */
#include <weft/weft.h>

#include "check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 20000, STEPS = 3 };

/* The functions of one copy. */
typedef struct library {
    void *handle; /* NULL: linked */
    weft_result (*world_create)(const weft_world_desc *, weft_world **);
    weft_result (*world_destroy)(weft_world *);
    weft_result (*world_step)(weft_world *, float);
    uint64_t (*world_hash)(weft_world *, weft_hash_kind);
    weft_component (*component_create)(weft_world *, const char *, size_t, size_t, uint32_t);
    weft_archetype (*archetype_create)(weft_world *, const weft_component *, uint32_t);
    weft_result (*entity_create_many)(weft_world *, weft_archetype, uint32_t, weft_entity *);
    weft_system (*system_create)(weft_world *, const weft_system_desc *);
} library;

static const library linked = {.world_create = weft_world_create,
                               .world_destroy = weft_world_destroy,
                               .world_step = weft_world_step,
                               .world_hash = weft_world_hash,
                               .component_create = weft_component_create_plain,
                               .archetype_create = weft_archetype_create,
                               .entity_create_many = weft_entity_create_many,
                               .system_create = weft_system_create};

static void find(void *handle, const char *name, void *function, size_t bytes)
{
    void *symbol = dlsym(handle, name);
    CHECK(symbol != NULL && bytes == sizeof symbol);
    memcpy(function, &symbol, bytes);
}

#define FIND(to, member) find((to)->handle, "weft_" #member, &(to)->member, sizeof(to)->member)

static library load(const char *path)
{
    library l = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (l.handle == NULL) fprintf(stderr, "%s\n", dlerror());
    CHECK(l.handle != NULL);
    FIND(&l, world_create);
    FIND(&l, world_destroy);
    FIND(&l, world_step);
    FIND(&l, world_hash);
    find(l.handle, "weft_component_create_plain", &l.component_create, sizeof l.component_create);
    FIND(&l, archetype_create);
    FIND(&l, entity_create_many);
    FIND(&l, system_create);
    return l;
}

static void advance(weft_slice *s, void *user)
{
    uint64_t *values = weft_slice_write(s, 0);
    (void)user;
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        values[i] = values[i] * 3 + weft_slice_entities(s)[i].index;
}

static weft_world *open_world(const library *l)
{
    weft_world *world;
    CHECK_OK(l->world_create(&(weft_world_desc){.workers = 2, .entity_tag = 1}, &world));
    weft_component value = l->component_create(world, "value", 8, 8, 0);
    CHECK_OK(l->entity_create_many(world, l->archetype_create(world, &value, 1), ROWS, NULL));
    weft_system_desc desc = {.name = "advance", .run = advance};
    desc.over.rows.terms[0] = (weft_term){.component = value, .access = WEFT_WRITE};
    CHECK(l->system_create(world, &desc).id != 0);
    return world;
}

static uint64_t run_together(const library *libraries, uint32_t count)
{
    weft_world *worlds[3];
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++) worlds[i] = open_world(&libraries[i]);
    for (uint32_t step = 0; step < STEPS; step++)
        for (uint32_t i = 0; i < count; i++) CHECK_OK(libraries[i].world_step(worlds[i], 1));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t own = libraries[i].world_hash(worlds[i], WEFT_HASH_LAYOUT);
        if (i == 0) hash = own;
        CHECK_U64(own, hash);
        CHECK_OK(libraries[i].world_destroy(worlds[i]));
    }
    return hash;
}

static void copy_file(const char *from, const char *to)
{
    char buffer[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in != NULL && out != NULL);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) != 0;)
        CHECK_U64(fwrite(buffer, 1, n, out), n);
    fclose(in);
    CHECK(fclose(out) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    char folder[] = "/tmp/weft-load-XXXXXX", copy[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(copy, sizeof copy, "%s/copy.so", folder);
    copy_file(argv[1], copy);
    uint64_t alone = run_together(&linked, 1);
    for (uint32_t round = 0; round < 3; round++) {
        library all[3] = {linked, load(argv[1]), load(copy)};
        CHECK(all[1].world_create != all[0].world_create);
        CHECK(all[2].world_create != all[1].world_create);
        CHECK_U64(run_together(all, 3), alone);
        CHECK(dlclose(all[1].handle) == 0 && dlclose(all[2].handle) == 0);
        CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
        CHECK(dlopen(copy, RTLD_NOW | RTLD_NOLOAD) == NULL);
    }
    CHECK(unlink(copy) == 0 && rmdir(folder) == 0);
    puts("three copies in one process agree");
    return 0;
}
