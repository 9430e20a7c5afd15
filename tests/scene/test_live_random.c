/* SPDX-License-Identifier: MIT */
/* test_live_random.c: random edits of documents that a running world follows, with writes of the
 * run between them: after each the world is what a fill of a bake with the same history makes, with
 * the writes replayed. In the environment: WEFT_LIVE_SCRIPTS, how many scripts (40; with WEFT_DEEP
 * 100000), WEFT_LIVE_EDITS, edits of each (20; with WEFT_DEEP 5). */
#include "scene_scripts.h"

#include <weft/live.h>

/* Paths that objects can have. */
enum { PATHS = 2 * (2 * 2 * OBJECTS + 2 * DOCUMENTS * PREFABS), PATH_BYTES = 48 };

/* A link, and a scene that is baked from the same files. */
typedef struct follower {
    stage scene;
    weft_world *world; /* follows */
    cast c;
    weft_baker_desc baker;
    weft_live *live;
    char paths[PATHS][PATH_BYTES];
    float written[PATHS]; /* Spin.speed that the run wrote; 0: none */
    float next;
} follower;

static void paths_list(follower *f)
{
    uint32_t count = 0;
    for (uint32_t below = 0; below < 2; below++) {
        for (uint32_t d = 0; d < 2; d++)
            for (uint32_t i = 0; i < 2 * OBJECTS; i++)
                snprintf(f->paths[count++], PATH_BYTES, "d%u/o%u%s", d, i, below ? "/child" : "");
        for (uint32_t d = 0; d < DOCUMENTS; d++)
            for (uint32_t i = 0; i < 2 * PREFABS; i++)
                snprintf(f->paths[count++], PATH_BYTES, "d%u.weft#p%u%s", d, i,
                         below ? "/child" : "");
    }
    CHECK_U64(count, PATHS);
}

static void follower_begin(follower *f, uint32_t workers, shelf *files)
{
    memset(f, 0, sizeof *f);
    stage_begin(&f->scene, workers, files);
    f->world = cast_world(1, &f->c);
    f->baker = (weft_baker_desc){.name = "watch", .property = "Watch", .bake = bake_watch};
    const weft_scene_desc scene = {
        .bakers = &f->baker, .baker_count = 1, .read = shelf_read, .user = files};
    const weft_live_desc desc = {
        .scene = &scene, .paths = roots, .path_count = 2, .without_thread = true};
    CHECK_OK(weft_live_start(f->world, &desc, &f->live));
    weft_scene_bake(f->scene.scene, roots, 2);
    f->next = 1000;
    paths_list(f);
}

static void follower_end(follower *f)
{
    weft_live_stop(f->live);
    CHECK_OK(weft_world_validate(f->world));
    CHECK_OK(weft_world_destroy(f->world));
    stage_end(&f->scene);
}

/* ---- comparing ---- */

/* Two worlds with the same components, in which paths have entities. */
typedef struct pair {
    follower *f;
    weft_world *filled;
    cast c;
    weft_entity live[PATHS], fill[PATHS];
} pair;

/* The number of the path of an entity; PATHS: of none. */
static uint32_t path_of(const weft_entity *list, weft_entity entity)
{
    uint32_t i = 0;
    while (i < PATHS && !weft_entity_equal(list[i], entity)) i++;
    return i;
}

static void check_target(const pair *p, weft_entity live, weft_entity fill)
{
    CHECK_U64(live.version == 0, fill.version == 0);
    if (fill.version == 0) return;
    CHECK_U64(path_of(p->live, live), path_of(p->fill, fill));
}

/* A component of both or of neither; its bytes. */
static bool both_have(const pair *p, uint32_t i, weft_component live, weft_component fill)
{
    bool has_live = weft_entity_has(p->f->world, p->live[i], live);
    if (has_live != weft_entity_has(p->filled, p->fill[i], fill))
        CHECK_TEXT(p->f->paths[i], weft_component_info(p->filled, fill)->name);
    return has_live;
}

static void check_bytes(const pair *p, uint32_t i, weft_component live, weft_component fill,
                        size_t bytes)
{
    if (!both_have(p, i, live, fill)) return;
    const void *a = weft_entity_read(p->f->world, p->live[i], live);
    const void *b = weft_entity_read(p->filled, p->fill[i], fill);
    if (bytes != 0 && memcmp(a, b, bytes) != 0)
        CHECK_TEXT(p->f->paths[i], weft_component_info(p->filled, fill)->name);
}

static void check_relation(const pair *p, uint32_t i, weft_component live, weft_component fill)
{
    if (!both_have(p, i, live, fill)) return;
    check_target(p, ((const weft_target *)weft_entity_read(p->f->world, p->live[i], live))->entity,
                 ((const weft_target *)weft_entity_read(p->filled, p->fill[i], fill))->entity);
}

static void check_references(const pair *p, uint32_t i)
{
    const follower *f = p->f;
    if (both_have(p, i, f->c.spawner, p->c.spawner)) {
        const Spawner *a = weft_entity_read(f->world, p->live[i], f->c.spawner);
        const Spawner *b = weft_entity_read(p->filled, p->fill[i], p->c.spawner);
        check_target(p, a->what, b->what);
    }
    check_relation(p, i, weft_component_parent(f->world), weft_component_parent(p->filled));
    check_relation(p, i, weft_component_instance_of(f->world),
                   weft_component_instance_of(p->filled));
    if (both_have(p, i, f->c.links, p->c.links)) {
        const weft_buffer *a = weft_entity_read(f->world, p->live[i], f->c.links);
        const weft_buffer *b = weft_entity_read(p->filled, p->fill[i], p->c.links);
        CHECK_U64(a->count, b->count);
        const Link *x = weft_buffer_read(a), *y = weft_buffer_read(b);
        for (uint32_t k = 0; k < a->count; k++) {
            check_target(p, x[k].to, y[k].to);
            CHECK_U64(x[k].weight, y[k].weight);
        }
    }
    weft_component group = weft_component_linked_group(f->world);
    if (both_have(p, i, group, weft_component_linked_group(p->filled))) {
        const weft_buffer *a = weft_entity_read(f->world, p->live[i], group);
        const weft_buffer *b =
            weft_entity_read(p->filled, p->fill[i], weft_component_linked_group(p->filled));
        CHECK_U64(a->count, b->count);
        for (uint32_t k = 0; k < a->count; k++)
            check_target(p, ((const weft_entity *)weft_buffer_read(a))[k],
                         ((const weft_entity *)weft_buffer_read(b))[k]);
    }
}

static void check_spin(const pair *p, uint32_t i)
{
    const follower *f = p->f;
    if (f->written[i] == 0) {
        check_bytes(p, i, f->c.spin, p->c.spin, sizeof(Spin));
        return;
    }
    const Spin *spin = weft_entity_read(f->world, p->live[i], f->c.spin);
    CHECK(spin != NULL);
    CHECK_F64((double)spin->speed, (double)f->written[i], 0);
}

static void check_object(const pair *p, uint32_t i)
{
    const follower *f = p->f;
    const cast *a = &f->c, *b = &p->c;
    check_spin(p, i);
    check_references(p, i);
    check_bytes(p, i, a->shield, b->shield, sizeof(Shield));
    check_bytes(p, i, a->alive, b->alive, 0);
    check_bytes(p, i, a->note, b->note, sizeof(Team));
    check_bytes(p, i, weft_component_prefab(f->world), weft_component_prefab(p->filled), 0);
    check_bytes(p, i, a->transform.local, b->transform.local, sizeof(weft_local_transform));
    bool is_moving = weft_entity_has(f->world, p->live[i], a->transform.local);
    check_bytes(p, i, a->transform.world, b->transform.world,
                is_moving ? 0 : sizeof(weft_world_transform));
    if (both_have(p, i, a->shield, b->shield))
        CHECK_U64(weft_entity_is_enabled(f->world, p->live[i], a->shield),
                  weft_entity_is_enabled(p->filled, p->fill[i], b->shield));
    if (both_have(p, i, a->team, b->team)) {
        const Team *x = weft_entity_read_shared(f->world, p->live[i], a->team);
        const Team *y = weft_entity_read_shared(p->filled, p->fill[i], b->team);
        CHECK_U64(x->number, y->number);
    }
    CHECK_TEXT(weft_entity_name(f->world, p->live[i]), weft_entity_name(p->filled, p->fill[i]));
}

static void check_follows(follower *f)
{
    static pair p;
    weft_world_stats live, fill;
    p.f = f;
    p.filled = cast_world(1, &p.c);
    CHECK_OK(weft_scene_fill(f->scene.scene, p.filled));
    for (uint32_t i = 0; i < PATHS; i++) {
        p.live[i] = weft_live_entity(f->live, f->paths[i]);
        p.fill[i] = weft_scene_entity(f->scene.scene, f->paths[i]);
        if ((p.live[i].version == 0) != (p.fill[i].version == 0))
            CHECK_TEXT(f->paths[i], p.fill[i].version == 0 ? "only live" : "not live");
        if (p.fill[i].version == 0) f->written[i] = 0;
    }
    for (uint32_t i = 0; i < PATHS; i++)
        if (p.fill[i].version != 0) check_object(&p, i);
    weft_world_stats_get(f->world, &live, sizeof live);
    weft_world_stats_get(p.filled, &fill, sizeof fill);
    CHECK_U64(live.entities, fill.entities);
    CHECK_OK(weft_world_destroy(p.filled));
}

/* ---- scripts ---- */

/* The run writes a speed that no document has. */
static void run_write(follower *f, test_random *dice)
{
    uint32_t i = (uint32_t)test_random_below(dice, PATHS);
    weft_entity entity = weft_live_entity(f->live, f->paths[i]);
    if (entity.version == 0 || !weft_entity_has(f->world, entity, f->c.spin)) return;
    Spin *spin = weft_entity_write(f->world, entity, f->c.spin);
    spin->speed = f->written[i] = f->next++;
}

static void run_script(test_random dice, uint64_t seed, uint32_t edits,
                       char texts[DOCUMENTS][TEXT_BYTES])
{
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    static follower f;
    model m;
    shelf files = {0};
    char number[8];
    model_begin(&m, &dice);
    m.has_no_instances = seed % 2 == 1; /* then most edits leave the shape of the tree */
    edit_some(&m, &dice, 0, &files, texts, number);
    follower_begin(&f, worker_counts[seed % 4], &files);
    check_follows(&f);
    for (uint32_t e = 0; e < edits; e++) {
        for (uint32_t k = 0; k < 4; k++) run_write(&f, &dice);
        edit_some(&m, &dice, 3, &files, texts, number);
        weft_scene_bake(f.scene.scene, roots, 2);
        CHECK_OK(weft_live_refresh(f.live));
        CHECK_OK(weft_live_apply(f.live, 0, NULL, 0));
        check_follows(&f);
    }
    follower_end(&f);
}

PLAIN_TEST(a_world_that_follows_is_a_full_bake_with_its_writes_replayed)
{
    static char texts[DOCUMENTS][TEXT_BYTES];
    const bool is_deep = getenv("WEFT_DEEP") != NULL;
    uint32_t scripts = number_of("WEFT_LIVE_SCRIPTS", is_deep ? 100000 : 40);
    uint32_t edits = number_of("WEFT_LIVE_EDITS", is_deep ? 5 : 20);
    const test_random dice = test_random_init(19);
    for (uint32_t i = 0; i < scripts; i++) run_script(test_random_fork(&dice, i), i, edits, texts);
    printf("%u scripts of %u edits\n", scripts, edits);
}
