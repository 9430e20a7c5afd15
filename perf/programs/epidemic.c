/* SPDX-License-Identifier: MIT */
/* epidemic.c: the epidemic on weft. To be sick is a component that comes and goes, a home is a
 * relation, and observers count. Places of the sick are sorted into a grid each day. */
#include "epidemic.h"

#include <stddef.h>
#include <stdlib.h>
#include <weft/finder.h>
#include <weft/grid.h>
#include <weft/observer.h>
#include <weft/relation.h>
#include <weft/type.h>
#include <weft/weft.h>

static const weft_field place_fields[] = {WEFT_FIELD(Place, x), WEFT_FIELD(Place, y)};
static const weft_type place_type = WEFT_TYPE(Place, place_fields);
static const weft_field person_fields[] = {WEFT_FIELD(Person, number), WEFT_FIELD(Person, age),
                                           WEFT_FIELD(Person, immune)};
static const weft_type person_type = WEFT_TYPE(Person, person_fields);
static const weft_field sick_fields[] = {WEFT_FIELD(Sick, days)};
static const weft_type sick_type = WEFT_TYPE(Sick, sick_fields);
static const weft_field house_fields[] = {WEFT_FIELD(House, number), WEFT_FIELD(House, sick),
                                          WEFT_FIELD(House, built)};
static const weft_type house_type = WEFT_TYPE(House, house_fields);

typedef struct Home {
    weft_entity house;
} Home;
static const weft_field home_fields[] = {WEFT_FIELD(Home, house)};
static const weft_type home_type = WEFT_TYPE(Home, home_fields);

typedef struct Epidemic {
    weft_world *world;
    weft_component place, person, home, sick, house;
    weft_archetype people, houses;
    weft_query all_people, all_houses, all_sick;
    epidemic_counts counts;
    weft_grid *grid;
    weft_grid_view view;
    uint32_t capacity; /* of the arrays of places */
    float side;
    Place *at, *sorted;
} Epidemic;

/* ---- systems ---- */

static void walk(weft_slice *s, void *user)
{
    const Epidemic *e = user;
    Place *at = WEFT_WRITE_COLUMN(s, 0, Place);
    const Person *p = WEFT_READ_COLUMN(s, 1, Person);
    uint32_t day = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++)
        epidemic_walk(&at[i], p[i].number, day, e->side);
}

static void reset_houses(weft_slice *s, void *user)
{
    (void)user;
    House *houses = WEFT_WRITE_COLUMN(s, 0, House);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) houses[i].sick = 0;
}

static void count_at_home(weft_slice *s, void *user) /* SERIAL: two may be of one house */
{
    const Epidemic *e = user;
    const Home *home = WEFT_READ_COLUMN(s, 0, Home);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        House *house = weft_slice_write_entity(s, home[i].house, e->house);
        if (house != NULL) house->sick++;
    }
}

static void collect(weft_slice *s, void *user)
{
    Epidemic *e = user;
    const Place *at = WEFT_READ_COLUMN(s, 0, Place);
    for (uint32_t i = 0; i < weft_slice_count(s) && s->first + i < e->capacity; i++)
        e->at[s->first + i] = at[i];
}

static void sort(weft_slice *s, void *user)
{
    Epidemic *e = user;
    uint32_t count = 0;
    weft_cursor c = weft_slice_query(s, e->all_sick); /* counts them */
    while (weft_query_next(&c)) count += weft_slice_count(&c.slice);
    weft_grid_points points = {.positions = e->at,
                               .stride = sizeof(Place),
                               .count = count < e->capacity ? count : e->capacity,
                               .sorted = e->sorted};
    weft_grid_build(e->grid, weft_slice_job(s), &points);
    weft_grid_view_get(e->grid, &e->view, sizeof e->view);
}

static uint32_t meet(const Epidemic *e, Place at)
{
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    uint32_t cell = weft_grid_cell_at(e->grid, (double[]){(double)at.x, (double)at.y});
    uint32_t met = 0, count = weft_grid_runs(e->grid, cell, runs);
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = runs[r].begin; k < runs[r].end; k++)
            met += epidemic_is_near(e->sorted[k], at);
    return met;
}

static void infect(weft_slice *s, void *user) /* those who are not sick */
{
    const Epidemic *e = user;
    const Person *p = WEFT_READ_COLUMN(s, 0, Person);
    const Place *at = WEFT_READ_COLUMN(s, 1, Place);
    const Home *home = WEFT_READ_COLUMN(s, 2, Home);
    weft_finder houses = weft_slice_finder(s, e->house);
    uint32_t day = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        if (p[i].immune > 0) continue;
        const House *house = weft_finder_read(&houses, home[i].house);
        if (epidemic_catches(&p[i], meet(e, at[i]), house != NULL ? house->sick : 0, day))
            weft_recorder_set(weft_slice_recorder(s), weft_slice_entities(s)[i], e->sick,
                              &(Sick){SICK_DAYS}, sizeof(Sick));
    }
}

static void recover(weft_slice *s, void *user) /* or not */
{
    const Epidemic *e = user;
    Sick *sick = WEFT_WRITE_COLUMN(s, 0, Sick);
    Person *p = WEFT_WRITE_COLUMN(s, 1, Person);
    weft_recorder *r = weft_slice_recorder(s);
    uint32_t day = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        if (--sick[i].days > 0) continue;
        if (epidemic_dies_of_it(&p[i], day)) {
            weft_recorder_destroy_entity(r, weft_slice_entities(s)[i]);
        } else {
            p[i].immune = IMMUNE_DAYS;
            weft_recorder_remove(r, weft_slice_entities(s)[i], e->sick);
        }
    }
}

static void live(weft_slice *s, void *user)
{
    const Epidemic *e = user;
    Person *p = WEFT_WRITE_COLUMN(s, 0, Person);
    const Place *at = WEFT_READ_COLUMN(s, 1, Place);
    const Home *home = WEFT_READ_COLUMN(s, 2, Home);
    const weft_entity *entities = weft_slice_entities(s);
    weft_recorder *r = weft_slice_recorder(s);
    uint32_t day = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        epidemic_fate fate = epidemic_live(&p[i], !weft_entity_is_null(home[i].house), day);
        if (fate.gives_birth) {
            weft_entity child = weft_recorder_create_entity(r, e->people);
            Person born = {.number = epidemic_child(p[i].number, day)};
            weft_recorder_set(r, child, e->place, &at[i], sizeof(Place));
            weft_recorder_set(r, child, e->person, &born, sizeof born);
            weft_recorder_set(r, child, e->home, &home[i], sizeof(Home));
        }
        if (fate.moves) {
            weft_entity house = weft_recorder_create_entity(r, e->houses);
            House built = {.number = epidemic_house(p[i].number, day), .built = day};
            weft_recorder_set(r, house, e->house, &built, sizeof built);
            weft_recorder_set(r, entities[i], e->home, &(Home){house}, sizeof(Home));
        }
        if (fate.dies) weft_recorder_destroy_entity(r, entities[i]);
    }
}

static void end_houses(weft_slice *s, void *user) /* the empty, and those that burn */
{
    const Epidemic *e = user;
    const House *houses = WEFT_READ_COLUMN(s, 0, House);
    const weft_entity *entities = weft_slice_entities(s);
    uint32_t day = (uint32_t)weft_slice_frame(s).number;
    for (uint32_t i = 0; i < weft_slice_count(s); i++) {
        uint32_t people;
        weft_relation_sources(e->world, e->home, entities[i], &people);
        if (people == 0 || epidemic_burns(&houses[i], day))
            weft_recorder_destroy_entity(weft_slice_recorder(s), entities[i]);
    }
}

static void count(const weft_observation *o, void *user)
{
    *(uint64_t *)user += o->count;
}

static void add_observers(Epidemic *e)
{
    weft_observer_create(e->world, &(weft_observer_desc){.name = "births",
                                                         .on = WEFT_ON_CREATED,
                                                         .component = e->person,
                                                         .run = count,
                                                         .user = &e->counts.born});
    weft_observer_create(e->world, &(weft_observer_desc){.name = "infections",
                                                         .on = WEFT_ON_ADDED,
                                                         .component = e->sick,
                                                         .run = count,
                                                         .user = &e->counts.infected});
    weft_observer_create(e->world, &(weft_observer_desc){.name = "deaths",
                                                         .on = WEFT_ON_DESTROYED,
                                                         .component = e->person,
                                                         .run = count,
                                                         .user = &e->counts.dead});
}

/* ---- the world ---- */

static void add_types(Epidemic *e)
{
    weft_world *world = e->world;
    e->place = weft_component_create(world, &(weft_component_desc){.type = &place_type});
    e->person = weft_component_create(world, &(weft_component_desc){.type = &person_type});
    e->sick = weft_component_create(world, &(weft_component_desc){.type = &sick_type});
    e->house = weft_component_create(world, &(weft_component_desc){.type = &house_type});
    e->home = weft_component_create(world, &(weft_component_desc){.type = &home_type});
    weft_relation_declare(world, &(weft_relation_desc){.component = e->home,
                                                       .on_target_death = WEFT_ON_TARGET_CLEAR});
    e->people = WEFT_ARCHETYPE(world, e->place, e->person, e->home);
    e->houses = WEFT_ARCHETYPE(world, e->house);
    e->all_people = weft_query_create(
        world,
        &(weft_query_desc){
            .terms = {{e->place}, {e->person}, {e->home}, {e->sick, WEFT_READ, WEFT_OPTIONAL, 0}}});
    e->all_houses = weft_query_create(world, &(weft_query_desc){.terms = {{e->house}}});
    e->all_sick = weft_query_create(world, &(weft_query_desc){.terms = {{e->place}, {e->sick}}});
}

static void add_spread(Epidemic *e)
{
    weft_world *world = e->world;
    weft_lookup read_house = {e->house, WEFT_READ}, write_house = {e->house, WEFT_WRITE};
    weft_system_create(
        world, &(weft_system_desc){.name = "walk",
                                   .run = walk,
                                   .user = e,
                                   .over.rows.terms = {{e->place, WEFT_WRITE}, {e->person}}});
    weft_system_create(world, &(weft_system_desc){.name = "reset houses",
                                                  .run = reset_houses,
                                                  .over.rows.terms = {{e->house, WEFT_WRITE}}});
    weft_system_create(world, &(weft_system_desc){.name = "count at home",
                                                  .run = count_at_home,
                                                  .user = e,
                                                  .flags = WEFT_SYSTEM_SERIAL,
                                                  .over.rows.terms = {{e->home}, {e->sick}},
                                                  .lookups = {write_house}});
    weft_system_create(world, &(weft_system_desc){.name = "collect",
                                                  .run = collect,
                                                  .user = e,
                                                  .over.rows.terms = {{e->place}, {e->sick}}});
    weft_system_create(world, &(weft_system_desc){.name = "sort",
                                                  .run = sort,
                                                  .user = e,
                                                  .flags = WEFT_SYSTEM_JOBS,
                                                  .queries = {e->all_sick},
                                                  .after = {"collect"}});
    weft_system_create(
        world,
        &(weft_system_desc){
            .name = "infect",
            .run = infect,
            .user = e,
            .over.rows.terms = {{e->person}, {e->place}, {e->home}, {e->sick, .match = WEFT_NONE}},
            .lookups = {read_house},
            .effects = WEFT_RECORDS_ADD,
            .records = {e->sick},
            .after = {"sort"}});
}

static void add_lives(Epidemic *e)
{
    weft_world *world = e->world;
    weft_system_create(
        world,
        &(weft_system_desc){.name = "recover",
                            .run = recover,
                            .user = e,
                            .over.rows.terms = {{e->sick, WEFT_WRITE}, {e->person, WEFT_WRITE}},
                            .effects = WEFT_RECORDS_REMOVE | WEFT_RECORDS_DESTROY,
                            .records = {e->sick},
                            .destroys = {e->place, e->person, e->home, e->sick}});
    weft_system_create(world,
                       &(weft_system_desc){
                           .name = "live",
                           .run = live,
                           .user = e,
                           .over.rows.terms = {{e->person, WEFT_WRITE}, {e->place}, {e->home}},
                           .effects = WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD | WEFT_RECORDS_DESTROY,
                           .records = {e->place, e->person, e->home, e->house},
                           .destroys = {e->place, e->person, e->home, e->sick}});
    weft_system_create(world, &(weft_system_desc){.name = "end houses",
                                                  .run = end_houses,
                                                  .user = e,
                                                  .over.rows.terms = {{e->house}},
                                                  .lookups = {{e->home, WEFT_READ}},
                                                  .effects = WEFT_RECORDS_DESTROY,
                                                  .destroys = {e->house}});
}

static void settle(Epidemic *e, uint32_t people)
{
    weft_entity house = {0, 0};
    for (uint32_t i = 0; i < people; i++) {
        Place at;
        Person person;
        Sick sick = {epidemic_begin(i, e->side, &at, &person)};
        if (i % HOUSEHOLD == 0) {
            house = weft_entity_create(e->world, e->houses);
            WEFT_SET(e->world, house, e->house, House, {epidemic_house(i, 0), 0, 0});
        }
        weft_entity one = weft_entity_create(e->world, e->people);
        weft_entity_set(e->world, one, e->place, &at, sizeof at);
        weft_entity_set(e->world, one, e->person, &person, sizeof person);
        WEFT_SET(e->world, one, e->home, Home, {house});
        if (sick.days > 0) weft_entity_set(e->world, one, e->sick, &sick, sizeof sick);
    }
}

static void epidemic_close(void *side)
{
    Epidemic *e = side;
    weft_world_destroy(e->world);
    weft_grid_destroy(e->grid);
    free(e->at);
    free(e->sorted);
    free(e);
}

static void *epidemic_open(uint32_t size, uint32_t workers)
{
    Epidemic *e = calloc(1, sizeof *e);
    if (e == NULL) return NULL;
    e->side = epidemic_side(size);
    e->capacity = size * 2;
    e->at = calloc(e->capacity, sizeof *e->at);
    e->sorted = calloc(e->capacity, sizeof *e->sorted);
    double side = (double)e->side;
    weft_grid_desc box = {.dimensions = 2, .most = {side, side}, .reach = 1};
    if (weft_grid_create(&box, &e->grid) != WEFT_OK ||
        weft_world_create(&(weft_world_desc){.workers = workers}, &e->world) != WEFT_OK) {
        epidemic_close(e);
        return NULL;
    }
    add_types(e);
    settle(e, size);
    add_observers(e);
    add_spread(e);
    add_lives(e);
    return e;
}

static void epidemic_step(void *side)
{
    weft_world_step(((Epidemic *)side)->world, 1);
}

static uint64_t epidemic_content(void *side)
{
    Epidemic *e = side;
    uint64_t sum = epidemic_sum_counts(&e->counts);
    weft_cursor c = weft_query_begin(e->world, e->all_people);
    while (weft_query_next(&c)) {
        const Place *at = WEFT_READ_COLUMN(&c.slice, 0, Place);
        const Person *p = WEFT_READ_COLUMN(&c.slice, 1, Person);
        const Home *home = WEFT_READ_COLUMN(&c.slice, 2, Home);
        const Sick *sick = WEFT_READ_COLUMN(&c.slice, 3, Sick);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            const House *house = weft_entity_read(e->world, home[i].house, e->house);
            sum += epidemic_sum(at[i], &p[i], sick != NULL ? sick[i].days : 0,
                                house != NULL ? house->number : 0);
        }
    }
    c = weft_query_begin(e->world, e->all_houses);
    while (weft_query_next(&c)) {
        const House *houses = WEFT_READ_COLUMN(&c.slice, 0, House);
        const weft_entity *entities = weft_slice_entities(&c.slice);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            uint32_t people;
            weft_relation_sources(e->world, e->home, entities[i], &people);
            sum += epidemic_sum_house(&houses[i], people);
        }
    }
    return sum;
}

static uint64_t epidemic_hash(void *side)
{
    return weft_world_hash(((Epidemic *)side)->world, WEFT_HASH_CONTENT);
}

const program_side epidemic_weft = {epidemic_open, epidemic_step, epidemic_content, epidemic_hash,
                                    epidemic_close};
