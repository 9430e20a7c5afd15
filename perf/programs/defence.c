/* SPDX-License-Identifier: MIT */
/* defence.c: the defence on weft. Ships and raiders are copies of prefabs, turrets are children of
 * their ships, and what hits is told by entities that live for one frame. */
#include "defence.h"

#include <stddef.h>
#include <stdlib.h>
#include <weft/finder.h>
#include <weft/grid.h>
#include <weft/relation.h>
#include <weft/type.h>
#include <weft/weft.h>

static const weft_field spot_fields[] = {WEFT_FIELD(Spot, x), WEFT_FIELD(Spot, y)};
static const weft_type spot_type = WEFT_TYPE(Spot, spot_fields);
static const weft_field course_fields[] = {WEFT_FIELD(Course, x), WEFT_FIELD(Course, y)};
static const weft_type course_type = WEFT_TYPE(Course, course_fields);
static const weft_field badge_fields[] = {WEFT_FIELD(Badge, number)};
static const weft_type badge_type = WEFT_TYPE(Badge, badge_fields);
static const weft_field hull_fields[] = {WEFT_FIELD(Hull, points)};
static const weft_type hull_type = WEFT_TYPE(Hull, hull_fields);
static const weft_field mount_fields[] = {WEFT_FIELD(Mount, x), WEFT_FIELD(Mount, y),
                                          WEFT_FIELD(Mount, slot)};
static const weft_type mount_type = WEFT_TYPE(Mount, mount_fields);
static const weft_field muzzle_fields[] = {WEFT_FIELD(Muzzle, x), WEFT_FIELD(Muzzle, y)};
static const weft_type muzzle_type = WEFT_TYPE(Muzzle, muzzle_fields);

typedef struct Gun {
    weft_entity target;
    uint32_t reload, shots;
} Gun;
static const weft_field gun_fields[] = {WEFT_FIELD(Gun, target), WEFT_FIELD(Gun, reload),
                                        WEFT_FIELD(Gun, shots)};
static const weft_type gun_type = WEFT_TYPE(Gun, gun_fields);
typedef struct Aim { /* of a shell */
    weft_entity target;
    uint32_t life, damage;
} Aim;
static const weft_field aim_fields[] = {WEFT_FIELD(Aim, target), WEFT_FIELD(Aim, life),
                                        WEFT_FIELD(Aim, damage)};
static const weft_type aim_type = WEFT_TYPE(Aim, aim_fields);
typedef struct Hit { /* an event */
    weft_entity target;
    uint32_t damage, kind;
} Hit;
static const weft_field hit_fields[] = {WEFT_FIELD(Hit, target), WEFT_FIELD(Hit, damage),
                                        WEFT_FIELD(Hit, kind)};
static const weft_type hit_type = WEFT_TYPE(Hit, hit_fields);

typedef struct Defence {
    weft_world *world;
    weft_component spot, course, badge, hull, mount, muzzle, gun, aim, hit, ship, raider, parent;
    weft_archetype shells, hits;
    weft_entity ship_prefab, raider_prefab;
    weft_query all_hits, all_raiders, all_ships, all_turrets, all_shells;
    weft_grid *grid;
    weft_grid_view view;
    uint32_t raider_count;
    float side;
    Spot *at; /* of raiders, with their numbers and handles */
    uint64_t *number;
    weft_entity *who;
} Defence;

/* ---- shells, and all that moves ---- */

static void steer(weft_slice *s, void *user)
{
    const Defence *d = user;
    Course *course = WEFT_WRITE_COLUMN(s, 0, Course);
    const Spot *at = WEFT_READ_COLUMN(s, 1, Spot);
    const Aim *aim = WEFT_READ_COLUMN(s, 2, Aim);
    weft_finder spots = weft_slice_finder(s, d->spot);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        const Spot *target = weft_finder_read(&spots, aim[i].target);
        if (target != NULL) defence_steer(at[i], *target, &course[i]);
    }
}

static void move(weft_slice *s, void *user)
{
    (void)user;
    Spot *at = WEFT_WRITE_COLUMN(s, 0, Spot);
    const Course *course = WEFT_READ_COLUMN(s, 1, Course);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) defence_move(&at[i], course[i]);
}

static void bounce(weft_slice *s, void *user)
{
    const Defence *d = user;
    Spot *at = WEFT_WRITE_COLUMN(s, 0, Spot);
    Course *course = WEFT_WRITE_COLUMN(s, 1, Course);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        defence_bounce(&at[i].x, &course[i].x, d->side);
        defence_bounce(&at[i].y, &course[i].y, d->side);
    }
}

static void strike(weft_slice *s, void *user)
{
    const Defence *d = user;
    Aim *aim = WEFT_WRITE_COLUMN(s, 0, Aim);
    const Spot *at = WEFT_READ_COLUMN(s, 1, Spot);
    weft_finder spots = weft_slice_finder(s, d->spot);
    weft_recorder *r = weft_slice_recorder(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        const Spot *target = weft_finder_read(&spots, aim[i].target);
        bool is_hit = target != NULL && defence_is_hit(at[i], *target);
        if (is_hit) {
            weft_entity hit = weft_recorder_create_entity(r, d->hits);
            weft_recorder_set(r, hit, d->hit, &(Hit){aim[i].target, aim[i].damage, 0}, sizeof(Hit));
        }
        if (--aim[i].life == 0 || is_hit)
            weft_recorder_destroy_entity(r, weft_slice_entities(s)[i]);
    }
}

/* ---- turrets ---- */

static void carry(weft_slice *s, void *user)
{
    const Defence *d = user;
    Muzzle *muzzle = WEFT_WRITE_COLUMN(s, 0, Muzzle);
    const Mount *mount = WEFT_READ_COLUMN(s, 1, Mount);
    const weft_target *parent = WEFT_READ_COLUMN(s, 2, weft_target);
    weft_finder spots = weft_slice_finder(s, d->spot);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        const Spot *ship = weft_finder_read(&spots, parent[i].entity);
        if (ship != NULL) muzzle[i] = (Muzzle){ship->x + mount[i].x, ship->y + mount[i].y};
    }
}

static void collect(weft_slice *s, void *user)
{
    Defence *d = user;
    const Spot *at = WEFT_READ_COLUMN(s, 0, Spot);
    const Badge *badge = WEFT_READ_COLUMN(s, 1, Badge);
    const weft_entity *e = weft_slice_entities(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        d->at[s->first + i] = at[i];
        d->number[s->first + i] = badge[i].number;
        d->who[s->first + i] = e[i];
    }
}

static void sort(weft_slice *s, void *user)
{
    Defence *d = user;
    weft_grid_points points = {
        .positions = d->at, .stride = sizeof(Spot), .count = d->raider_count};
    weft_grid_build(d->grid, weft_slice_job(s), &points);
    weft_grid_view_get(d->grid, &d->view, sizeof d->view);
}

static weft_entity choose(const Defence *d, Muzzle muzzle)
{
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    double at[2] = {(double)muzzle.x, (double)muzzle.y};
    uint32_t count = weft_grid_runs(d->grid, weft_grid_cell_at(d->grid, at), runs);
    defence_choice best = {REACH * REACH, 0, UINT32_MAX};
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = runs[r].begin; k < runs[r].end; k++) {
            uint32_t i = d->view.points[k];
            defence_consider(&best, muzzle, d->at[i], d->number[i], i);
        }
    return best.index == UINT32_MAX ? (weft_entity){0, 0} : d->who[best.index];
}

static void aim_guns(weft_slice *s, void *user)
{
    const Defence *d = user;
    Gun *gun = WEFT_WRITE_COLUMN(s, 0, Gun);
    const Muzzle *muzzle = WEFT_READ_COLUMN(s, 1, Muzzle);
    weft_finder spots = weft_slice_finder(s, d->spot);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        const Spot *at = weft_finder_read(&spots, gun[i].target);
        if (at == NULL || defence_square(muzzle[i].x, muzzle[i].y, at->x, at->y) > REACH * REACH)
            gun[i].target = choose(d, muzzle[i]);
    }
}

static void fire(weft_slice *s, void *user)
{
    const Defence *d = user;
    Gun *gun = WEFT_WRITE_COLUMN(s, 0, Gun);
    const Muzzle *muzzle = WEFT_READ_COLUMN(s, 1, Muzzle);
    weft_recorder *r = weft_slice_recorder(s);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        if (gun[i].reload > 0) {
            gun[i].reload--;
        } else if (!weft_entity_is_null(gun[i].target)) {
            Spot from = {muzzle[i].x, muzzle[i].y};
            Aim aim = {gun[i].target, SHELL_LIFE, DAMAGE};
            weft_entity shell = weft_recorder_create_entity(r, d->shells);
            weft_recorder_set(r, shell, d->spot, &from, sizeof from);
            weft_recorder_set(r, shell, d->aim, &aim, sizeof aim);
            gun[i].reload = RELOAD;
            gun[i].shots++;
        }
    }
}

/* ---- who is gone, and who comes ---- */

static void damage(weft_slice *s, void *user) /* SERIAL: two hits may have one target */
{
    const Defence *d = user;
    const Hit *hit = WEFT_READ_COLUMN(s, 0, Hit);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        Hull *hull = weft_slice_write_entity(s, hit[i].target, d->hull);
        if (hull != NULL)
            hull->points -= hull->points < hit[i].damage ? hull->points : hit[i].damage;
    }
}

static void forget(weft_slice *s, void *user)
{
    const Defence *d = user;
    weft_recorder_query_destroy_entities(weft_slice_recorder(s), d->all_hits);
}

static void replace(weft_slice *s, const Defence *d, uint32_t row, uint64_t old, weft_entity prefab)
{
    weft_recorder *r = weft_slice_recorder(s);
    Badge badge = {defence_next(old, (uint32_t)weft_slice_frame(s).number)};
    Spot at;
    Course course;
    defence_begin(badge.number, d->side, &at, &course);
    weft_recorder_destroy_entity(r, weft_slice_entities(s)[row]);
    weft_entity new = weft_recorder_instantiate(r, prefab);
    weft_recorder_set(r, new, d->spot, &at, sizeof at);
    weft_recorder_set(r, new, d->course, &course, sizeof course);
    weft_recorder_set(r, new, d->badge, &badge, sizeof badge);
}

static void sink(weft_slice *s, void *user)
{
    const Defence *d = user;
    const Hull *hull = WEFT_READ_COLUMN(s, 0, Hull);
    const Badge *badge = WEFT_READ_COLUMN(s, 1, Badge);
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        if (hull[i].points == 0) replace(s, d, i, badge[i].number, d->raider_prefab);
}

static void lose(weft_slice *s, void *user) /* a ship, with its turrets */
{
    const Defence *d = user;
    const Badge *badge = WEFT_READ_COLUMN(s, 0, Badge);
    uint32_t tick = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        if (defence_is_lost(badge[i].number, tick))
            replace(s, d, i, badge[i].number, d->ship_prefab);
}

/* ---- the world ---- */

static void add_types(Defence *d)
{
    weft_world *world = d->world;
    d->spot = weft_component_create(world, &(weft_component_desc){.type = &spot_type});
    d->course = weft_component_create(world, &(weft_component_desc){.type = &course_type});
    d->badge = weft_component_create(world, &(weft_component_desc){.type = &badge_type});
    d->hull = weft_component_create(world, &(weft_component_desc){.type = &hull_type});
    d->mount = weft_component_create(world, &(weft_component_desc){.type = &mount_type});
    d->muzzle = weft_component_create(world, &(weft_component_desc){.type = &muzzle_type});
    d->ship = WEFT_TAG(world, Ship);
    d->raider = WEFT_TAG(world, Raider);
    d->parent = weft_component_parent(world);
    d->gun = weft_component_create(world, &(weft_component_desc){.type = &gun_type});
    d->aim = weft_component_create(world, &(weft_component_desc){.type = &aim_type});
    d->hit = weft_component_create(world, &(weft_component_desc){.type = &hit_type});
    d->shells = WEFT_ARCHETYPE(world, d->spot, d->course, d->aim);
    d->hits = WEFT_ARCHETYPE(world, d->hit);
}

static void add_queries(Defence *d)
{
    d->all_hits = weft_query_create(d->world, &(weft_query_desc){.terms = {{d->hit}}});
    d->all_raiders = weft_query_create(
        d->world,
        &(weft_query_desc){.terms = {{d->badge}, {d->spot}, {d->course}, {d->hull}, {d->raider}}});
    d->all_ships = weft_query_create(
        d->world, &(weft_query_desc){.terms = {{d->badge}, {d->spot}, {d->course}, {d->ship}}});
    d->all_turrets = weft_query_create(
        d->world, &(weft_query_desc){.terms = {{d->gun}, {d->mount}, {d->muzzle}, {d->parent}}});
    d->all_shells = weft_query_create(
        d->world, &(weft_query_desc){.terms = {{d->aim}, {d->spot}, {d->course}}});
}

/* A ship with its turrets, and a raider: entities to copy. */
static void add_prefabs(Defence *d)
{
    weft_world *world = d->world;
    weft_component group = weft_component_linked_group(world),
                   prefab = weft_component_prefab(world);
    weft_entity parts[1 + TURRETS];
    parts[0] = weft_entity_create(
        world, WEFT_ARCHETYPE(world, d->spot, d->course, d->badge, d->ship, group, prefab));
    for (uint32_t i = 0; i < TURRETS; i++) {
        Mount mount = defence_mount(i);
        parts[1 + i] =
            weft_entity_create(world, WEFT_ARCHETYPE(world, d->mount, d->muzzle, d->gun, prefab));
        weft_entity_set(world, parts[1 + i], d->mount, &mount, sizeof mount);
        WEFT_SET(world, parts[1 + i], d->gun, Gun, {{0, 0}, i % RELOAD, 0});
    }
    weft_relation_set_many(world, &parts[1], TURRETS, d->parent, parts[0]);
    weft_buffers list = weft_entity_write_buffer(world, parts[0], group);
    weft_buffers_append(&list, 0, parts, 1 + TURRETS);
    d->ship_prefab = parts[0];
    d->raider_prefab = weft_entity_create(
        world, WEFT_ARCHETYPE(world, d->spot, d->course, d->badge, d->hull, d->raider, prefab));
    WEFT_SET(world, d->raider_prefab, d->hull, Hull, {HULL});
    weft_relation_settle(world);
}

static void place(Defence *d, weft_entity e, uint64_t number)
{
    Spot at;
    Course course;
    defence_begin(number, d->side, &at, &course);
    weft_entity_set(d->world, e, d->spot, &at, sizeof at);
    weft_entity_set(d->world, e, d->course, &course, sizeof course);
    WEFT_SET(d->world, e, d->badge, Badge, {number});
}

static void add_all(Defence *d, uint32_t ships)
{
    for (uint32_t i = 0; i < ships; i++) {
        weft_entity ship;
        weft_entity_instantiate(d->world, d->ship_prefab, 1, &ship);
        place(d, ship, defence_ship(i));
    }
    weft_entity_instantiate(d->world, d->raider_prefab, d->raider_count, d->who);
    for (uint32_t i = 0; i < d->raider_count; i++) place(d, d->who[i], defence_raider(i));
}

static void add_flight(Defence *d)
{
    weft_world *world = d->world;
    weft_lookup spots = {d->spot, WEFT_READ};
    weft_system_create(world, &(weft_system_desc){
                                  .name = "steer",
                                  .run = steer,
                                  .user = d,
                                  .over.rows.terms = {{d->course, WEFT_WRITE}, {d->spot}, {d->aim}},
                                  .lookups = {spots}});
    weft_system_create(
        world, &(weft_system_desc){.name = "move",
                                   .run = move,
                                   .over.rows.terms = {{d->spot, WEFT_WRITE}, {d->course}}});
    weft_system_create(world, &(weft_system_desc){.name = "bounce",
                                                  .run = bounce,
                                                  .user = d,
                                                  .over.rows.terms = {{d->spot, WEFT_WRITE},
                                                                      {d->course, WEFT_WRITE},
                                                                      {d->badge, WEFT_NO_ACCESS}}});
    weft_system_create(world,
                       &(weft_system_desc){.name = "strike",
                                           .run = strike,
                                           .user = d,
                                           .over.rows.terms = {{d->aim, WEFT_WRITE}, {d->spot}},
                                           .lookups = {spots},
                                           .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY,
                                           .records = {d->hit},
                                           .destroys = {d->spot, d->course, d->aim}});
}

static void add_turrets(Defence *d)
{
    weft_world *world = d->world;
    weft_lookup spots = {d->spot, WEFT_READ};
    weft_system_create(
        world,
        &(weft_system_desc){.name = "carry",
                            .run = carry,
                            .user = d,
                            .over.rows.terms = {{d->muzzle, WEFT_WRITE}, {d->mount}, {d->parent}},
                            .lookups = {spots}});
    weft_system_create(
        world, &(weft_system_desc){
                   .name = "collect",
                   .run = collect,
                   .user = d,
                   .over.rows.terms = {{d->spot}, {d->badge}, {d->raider, WEFT_NO_ACCESS}}});
    weft_system_create(world, &(weft_system_desc){.name = "sort",
                                                  .run = sort,
                                                  .user = d,
                                                  .flags = WEFT_SYSTEM_JOBS,
                                                  .after = {"collect"}});
    weft_system_create(world,
                       &(weft_system_desc){.name = "aim",
                                           .run = aim_guns,
                                           .user = d,
                                           .over.rows.terms = {{d->gun, WEFT_WRITE}, {d->muzzle}},
                                           .lookups = {spots},
                                           .after = {"sort"}});
    weft_system_create(world,
                       &(weft_system_desc){.name = "fire",
                                           .run = fire,
                                           .user = d,
                                           .over.rows.terms = {{d->gun, WEFT_WRITE}, {d->muzzle}},
                                           .effects = WEFT_RECORDS_CREATE,
                                           .records = {d->spot, d->course, d->aim}});
}

static void add_ends(Defence *d)
{
    weft_world *world = d->world;
    weft_system_create(world, &(weft_system_desc){.name = "damage",
                                                  .run = damage,
                                                  .user = d,
                                                  .flags = WEFT_SYSTEM_SERIAL,
                                                  .over.rows.terms = {{d->hit}},
                                                  .lookups = {{d->hull, WEFT_WRITE}}});
    weft_system_create(world, &(weft_system_desc){.name = "forget",
                                                  .run = forget,
                                                  .user = d,
                                                  .effects = WEFT_RECORDS_DESTROY,
                                                  .destroys = {d->hit},
                                                  .after = {"damage"}});
    weft_system_create(
        world,
        &(weft_system_desc){.name = "sink",
                            .run = sink,
                            .user = d,
                            .over.rows.terms = {{d->hull}, {d->badge}, {d->raider, WEFT_NO_ACCESS}},
                            .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY,
                            .records = {d->spot, d->course, d->badge, d->hull, d->raider},
                            .destroys = {d->spot, d->course, d->badge, d->hull, d->raider}});
    weft_system_create(
        world, &(weft_system_desc){.name = "lose",
                                   .run = lose,
                                   .user = d,
                                   .over.rows.terms = {{d->badge}, {d->ship, WEFT_NO_ACCESS}},
                                   .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY});
}

static void defence_close(void *side)
{
    Defence *d = side;
    weft_world_destroy(d->world);
    weft_grid_destroy(d->grid);
    free(d->at);
    free(d->number);
    free(d->who);
    free(d);
}

static void *defence_open(uint32_t size, uint32_t workers)
{
    Defence *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->side = defence_side(size);
    d->raider_count = defence_raiders(size);
    d->at = calloc(d->raider_count, sizeof *d->at);
    d->number = calloc(d->raider_count, sizeof *d->number);
    d->who = calloc(d->raider_count, sizeof *d->who);
    double side = (double)d->side;
    weft_grid_desc box = {.dimensions = 2, .most = {side, side}, .reach = (double)REACH};
    if (weft_grid_create(&box, &d->grid) != WEFT_OK ||
        weft_world_create(&(weft_world_desc){.workers = workers}, &d->world) != WEFT_OK) {
        defence_close(d);
        return NULL;
    }
    add_types(d);
    add_queries(d);
    add_prefabs(d);
    add_all(d, defence_ships(size));
    add_flight(d);
    add_turrets(d);
    add_ends(d);
    return d;
}

static void defence_step(void *side)
{
    weft_world_step(((Defence *)side)->world, 1);
}

static uint64_t number_of(const Defence *d, weft_entity e)
{
    const Badge *badge = weft_entity_read(d->world, e, d->badge);
    return badge != NULL ? badge->number : 0;
}

static uint64_t sum_moving(const Defence *d, weft_query query, bool has_hull)
{
    uint64_t sum = 0;
    weft_cursor c = weft_query_begin(d->world, query);
    while (weft_query_next(&c)) {
        const Badge *badge = WEFT_READ_COLUMN(&c.slice, 0, Badge);
        const Spot *at = WEFT_READ_COLUMN(&c.slice, 1, Spot);
        const Course *course = WEFT_READ_COLUMN(&c.slice, 2, Course);
        const Hull *hull = has_hull ? WEFT_READ_COLUMN(&c.slice, 3, Hull) : NULL;
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += defence_sum(badge[i].number, at[i], course[i], has_hull ? hull[i].points : 0);
    }
    return sum;
}

static uint64_t sum_shells(const Defence *d)
{
    uint64_t sum = 0;
    weft_cursor c = weft_query_begin(d->world, d->all_shells);
    while (weft_query_next(&c)) {
        const Aim *aim = WEFT_READ_COLUMN(&c.slice, 0, Aim);
        const Spot *at = WEFT_READ_COLUMN(&c.slice, 1, Spot);
        const Course *course = WEFT_READ_COLUMN(&c.slice, 2, Course);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += defence_sum(number_of(d, aim[i].target), at[i], course[i], aim[i].life);
    }
    return sum;
}

static uint64_t defence_content(void *side)
{
    Defence *d = side;
    uint64_t sum = sum_moving(d, d->all_raiders, true) + sum_moving(d, d->all_ships, false);
    weft_cursor c = weft_query_begin(d->world, d->all_turrets);
    while (weft_query_next(&c)) {
        const Gun *gun = WEFT_READ_COLUMN(&c.slice, 0, Gun);
        const Mount *mount = WEFT_READ_COLUMN(&c.slice, 1, Mount);
        const Muzzle *muzzle = WEFT_READ_COLUMN(&c.slice, 2, Muzzle);
        const weft_target *parent = WEFT_READ_COLUMN(&c.slice, 3, weft_target);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            sum += defence_sum_turret(number_of(d, parent[i].entity), &mount[i], muzzle[i],
                                      gun[i].reload, number_of(d, gun[i].target));
    }
    return sum + sum_shells(d);
}

static uint64_t defence_hash(void *side)
{
    return weft_world_hash(((Defence *)side)->world, WEFT_HASH_CONTENT);
}

const program_side defence_weft = {defence_open, defence_step, defence_content, defence_hash,
                                   defence_close};
