// SPDX-License-Identifier: MIT
/* epidemic.cpp: the epidemic by weft.hpp. What only needs its row is a function of a row; what asks
 * for the day, a finder or the grid once a slice takes the slice, as in C. */
#include "epidemic.h"

#include <memory>
#include <vector>
#include <weft/grid.h>
#include <weft/weft.hpp>

struct Home {
    weft::entity house;
};
WEFT_DESCRIBE(Place, x, y);
WEFT_DESCRIBE(Person, number, age, immune);
WEFT_DESCRIBE(Sick, days);
WEFT_DESCRIBE(House, number, sick, built);
WEFT_DESCRIBE(Home, house);

namespace
{

struct Epidemic {
    weft::world world;
    weft_component home, place, person, sick, house;
    weft_archetype people, houses;
    weft_query all_sick;
    epidemic_counts counts = {0, 0, 0};
    std::unique_ptr<weft_grid, decltype(&weft_grid_destroy)> grid{nullptr, weft_grid_destroy};
    weft_grid_view view = {};
    float side;
    std::vector<Place> at, sorted;

    Epidemic(const weft_world_desc &desc, uint32_t size);
    void settle(uint32_t size);
    void observe();
    void add_spread();
    void add_lives();
    uint32_t meet(Place of) const;
    void infect(weft_slice &s) const;
    void recover(weft_slice &s) const;
    void live(weft_slice &s) const;
    void end_houses(weft_slice &s) const;
};

uint32_t day_of(const weft_slice &s)
{
    return static_cast<uint32_t>(weft_slice_frame(&s).number);
}

Epidemic::Epidemic(const weft_world_desc &desc, uint32_t size)
    : world(desc), side(epidemic_side(size)), at(std::size_t{size} * 2),
      sorted(std::size_t{size} * 2)
{
    weft_grid_desc box = {};
    weft_grid *made = nullptr;
    box.dimensions = 2;
    box.most[0] = box.most[1] = static_cast<double>(side);
    box.reach = 1;
    if (weft_grid_create(&box, &made) != WEFT_OK) throw std::bad_alloc();
    grid.reset(made);
    place = world.component<Place>();
    person = world.component<Person>();
    sick = world.component<Sick>();
    house = world.component<House>();
    home = world.relation<Home>(WEFT_ON_TARGET_CLEAR);
    people = world.archetype<Place, Person, Home>();
    houses = world.archetype<House>();
    weft_query_desc both = {};
    both.terms[0].component = place;
    both.terms[1].component = sick;
    all_sick = weft_query_create(world.get(), &both);
    settle(size);
    observe();
    add_spread();
    add_lives();
}

void Epidemic::settle(uint32_t size)
{
    weft::entity of = {};
    for (uint32_t i = 0; i < size; i++) {
        Place here;
        Person one;
        uint32_t days = epidemic_begin(i, side, &here, &one);
        if (i % HOUSEHOLD == 0) of = world.create(House{epidemic_house(i, 0), 0, 0});
        weft::entity made = world.create(here, one, Home{of});
        if (days > 0) world.set(made, Sick{days});
    }
}

void Epidemic::observe()
{
    world.observe<Person>("births").created([this](weft::entity) { counts.born++; });
    world.observe<Sick>("infections").added([this](weft::entity) { counts.infected++; });
    world.observe<Person>("deaths").destroyed([this](weft::entity) { counts.dead++; });
}

uint32_t Epidemic::meet(Place of) const
{
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    double where[] = {static_cast<double>(of.x), static_cast<double>(of.y)};
    uint32_t met = 0, count = weft_grid_runs(grid.get(), weft_grid_cell_at(grid.get(), where), runs);
    const Place *places = sorted.data();
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = runs[r].begin; k < runs[r].end; k++)
            met += epidemic_is_near(places[k], of);
    return met;
}

void Epidemic::infect(weft_slice &s) const
{
    auto *p = static_cast<const Person *>(weft_slice_read(&s, 0));
    auto *here = static_cast<const Place *>(weft_slice_read(&s, 1));
    auto *of = static_cast<const Home *>(weft_slice_read(&s, 2));
    weft_finder find = weft_slice_finder(&s, house);
    uint32_t day = day_of(s);
    Sick caught = {SICK_DAYS};
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        if (p[i].immune > 0) continue;
        auto *with = static_cast<const House *>(weft_finder_read(&find, of[i].house));
        if (epidemic_catches(&p[i], meet(here[i]), with != nullptr ? with->sick : 0, day))
            weft_recorder_set(weft_slice_recorder(&s), weft_slice_entities(&s)[i], sick, &caught,
                              sizeof caught);
    }
}

void Epidemic::add_spread()
{
    world.system("walk").over<Place, const Person>().run([this](weft_slice &s) {
        auto *here = static_cast<Place *>(weft_slice_write(&s, 0));
        auto *p = static_cast<const Person *>(weft_slice_read(&s, 1));
        uint32_t day = day_of(s);
        for (uint32_t i = 0; i < weft_slice_count(&s); i++)
            epidemic_walk(&here[i], p[i].number, day, side);
    });
    world.system("reset houses").each([](House &one) { one.sick = 0; });
    world.system("count at home").flags(WEFT_SYSTEM_SERIAL).with<Sick>().each(
        [](const Home &of, weft::lookup<House> find) {
            if (House *with = find[of.house]) with->sick++;
        });
    world.system("collect").over<const Place>().with<Sick>().run([this](weft_slice &s) {
        auto *here = static_cast<const Place *>(weft_slice_read(&s, 0));
        Place *to = at.data();
        std::size_t capacity = at.size();
        for (uint32_t i = 0; i < weft_slice_count(&s) && s.first + i < capacity; i++)
            to[s.first + i] = here[i];
    });
    world.system("sort").flags(WEFT_SYSTEM_JOBS).queries(all_sick).after("collect").run(
        [this](weft_slice &s) {
            std::size_t count = 0;
            weft_cursor c = weft_slice_query(&s, all_sick); // counts them
            while (weft_query_next(&c)) count += weft_slice_count(&c.slice);
            count = count < at.size() ? count : at.size();
            weft_grid_points points = {at.data(), sizeof(Place), static_cast<uint32_t>(count),
                                       false, sorted.data()};
            weft_grid_build(grid.get(), weft_slice_job(&s), &points);
            weft_grid_view_get(grid.get(), &view, sizeof view);
        });
    world.system("infect")
        .over<const Person, const Place, const Home>()
        .without<Sick>()
        .reads<House>()
        .records<Sick>(WEFT_RECORDS_ADD)
        .after("sort")
        .run([this](weft_slice &s) { infect(s); });
}

void Epidemic::recover(weft_slice &s) const
{
    auto *left = static_cast<Sick *>(weft_slice_write(&s, 0));
    auto *p = static_cast<Person *>(weft_slice_write(&s, 1));
    weft_recorder *r = weft_slice_recorder(&s);
    uint32_t day = day_of(s);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        if (--left[i].days > 0) continue;
        if (epidemic_dies_of_it(&p[i], day)) {
            weft_recorder_destroy_entity(r, weft_slice_entities(&s)[i]);
        } else {
            p[i].immune = IMMUNE_DAYS;
            weft_recorder_remove(r, weft_slice_entities(&s)[i], sick);
        }
    }
}

void Epidemic::end_houses(weft_slice &s) const
{
    auto *of = static_cast<const House *>(weft_slice_read(&s, 0));
    const weft::entity *entities = weft_slice_entities(&s);
    uint32_t day = day_of(s);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++)
        if (world.sources(home, entities[i]).size() == 0 || epidemic_burns(&of[i], day))
            weft_recorder_destroy_entity(weft_slice_recorder(&s), entities[i]);
}

void Epidemic::live(weft_slice &s) const
{
    auto *p = static_cast<Person *>(weft_slice_write(&s, 0));
    auto *here = static_cast<const Place *>(weft_slice_read(&s, 1));
    auto *of = static_cast<const Home *>(weft_slice_read(&s, 2));
    const weft::entity *entities = weft_slice_entities(&s);
    weft_recorder *r = weft_slice_recorder(&s);
    uint32_t day = day_of(s);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        epidemic_fate fate = epidemic_live(&p[i], !weft_entity_is_null(of[i].house), day);
        if (fate.gives_birth) {
            weft::entity child = weft_recorder_create_entity(r, people);
            Person born = {epidemic_child(p[i].number, day), 0, 0};
            weft_recorder_set(r, child, place, &here[i], sizeof(Place));
            weft_recorder_set(r, child, person, &born, sizeof born);
            weft_recorder_set(r, child, home, &of[i], sizeof(Home));
        }
        if (fate.moves) {
            Home to = {weft_recorder_create_entity(r, houses)};
            House built = {epidemic_house(p[i].number, day), 0, day};
            weft_recorder_set(r, to.house, house, &built, sizeof built);
            weft_recorder_set(r, entities[i], home, &to, sizeof to);
        }
        if (fate.dies) weft_recorder_destroy_entity(r, entities[i]);
    }
}

void Epidemic::add_lives()
{
    world.system("recover")
        .records<Sick>(WEFT_RECORDS_REMOVE)
        .destroys<Place, Person, Home, Sick>()
        .over<Sick, Person>()
        .run([this](weft_slice &s) { recover(s); });
    world.system("live")
        .over<Person, const Place, const Home>()
        .records<Place, Person, Home, House>(WEFT_RECORDS_CREATE | WEFT_RECORDS_ADD)
        .destroys<Place, Person, Home, Sick>()
        .run([this](weft_slice &s) { live(s); });
    world.system("end houses")
        .reads<Home>()
        .destroys<House>()
        .over<const House>()
        .run([this](weft_slice &s) { end_houses(s); });
}

void *epidemic_open(uint32_t size, uint32_t workers)
{
    weft_world_desc desc = {};
    desc.workers = workers;
    return new Epidemic(desc, size);
}

void epidemic_step(void *side)
{
    static_cast<Epidemic *>(side)->world.step(1);
}

uint64_t epidemic_content(void *side)
{
    auto *e = static_cast<Epidemic *>(side);
    uint64_t sum = epidemic_sum_counts(&e->counts);
    e->world.each([&](const Place &at, const Person &p, const Home &of, const Sick *sick) {
        const House *house = e->world.read<House>(of.house);
        sum += epidemic_sum(at, &p, sick != nullptr ? sick->days : 0,
                            house != nullptr ? house->number : 0);
    });
    e->world.each([&](const House &house, weft::entity at) {
        sum += epidemic_sum_house(&house, e->world.sources(e->home, at).size());
    });
    return sum;
}

uint64_t epidemic_hash(void *side)
{
    return static_cast<Epidemic *>(side)->world.hash(WEFT_HASH_CONTENT);
}

void epidemic_close(void *side)
{
    delete static_cast<Epidemic *>(side);
}

} // namespace

extern "C" const program_side epidemic_cpp;
const program_side epidemic_cpp = {epidemic_open, epidemic_step, epidemic_content, epidemic_hash,
                                   epidemic_close};
