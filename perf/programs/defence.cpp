// SPDX-License-Identifier: MIT
/* defence.cpp: the defence by weft.hpp. Functions of a row where a row is enough; where a finder, the
 * grid or the tick is asked for once a slice, the slice, as in C. */
#include "defence.h"

#include <memory>
#include <vector>
#include <weft/grid.h>
#include <weft/weft.hpp>

struct Gun {
    weft::entity target;
    uint32_t reload, shots;
};
struct Aim { // of a shell
    weft::entity target;
    uint32_t life, damage;
};
struct Hit { // an event
    weft::entity target;
    uint32_t damage, kind;
};
struct Ship {
};
struct Raider {
};
WEFT_DESCRIBE(Spot, x, y);
WEFT_DESCRIBE(Course, x, y);
WEFT_DESCRIBE(Badge, number);
WEFT_DESCRIBE(Hull, points);
WEFT_DESCRIBE(Mount, x, y, slot);
WEFT_DESCRIBE(Muzzle, x, y);
WEFT_DESCRIBE(Gun, target, reload, shots);
WEFT_DESCRIBE(Aim, target, life, damage);
WEFT_DESCRIBE(Hit, target, damage, kind);

namespace
{

struct Defence {
    weft::world world;
    weft_component spot, course, badge, hull, parent, aim, hit;
    weft_archetype shells, hits;
    weft_query all_hits = {};
    weft::entity ship_prefab = {}, raider_prefab = {};
    std::unique_ptr<weft_grid, decltype(&weft_grid_destroy)> grid{nullptr, weft_grid_destroy};
    weft_grid_view view = {};
    float side;
    std::vector<Spot> at; // of raiders, with their numbers and handles
    std::vector<uint64_t> number;
    std::vector<weft::entity> who;

    Defence(const weft_world_desc &desc, uint32_t size);
    void add_prefabs();
    void add_all(uint32_t ships);
    void add_flight();
    void add_turrets();
    void add_ends();
    void strike(weft_slice &s) const;
    void aim_guns(weft_slice &s) const;
    void fire(weft_slice &s) const;
    weft::entity choose(Muzzle muzzle) const;
    void replace(weft_slice &s, uint32_t row, uint64_t old, weft::entity prefab) const;
};

template <class T> T *write(weft_slice &s, uint32_t term)
{
    return static_cast<T *>(weft_slice_write(&s, term));
}

template <class T> const T *read(const weft_slice &s, uint32_t term)
{
    return static_cast<const T *>(weft_slice_read(&s, term));
}

const Spot *find(const weft_finder &spots, weft::entity e)
{
    return static_cast<const Spot *>(weft_finder_read(&spots, e));
}

Defence::Defence(const weft_world_desc &desc, uint32_t size)
    : world(desc), side(defence_side(size)), at(defence_raiders(size)), number(at.size()),
      who(at.size())
{
    weft_grid_desc box = {};
    weft_grid *made = nullptr;
    box.dimensions = 2;
    box.most[0] = box.most[1] = static_cast<double>(side);
    box.reach = static_cast<double>(REACH);
    if (weft_grid_create(&box, &made) != WEFT_OK) throw std::bad_alloc();
    grid.reset(made);
    spot = world.component<Spot>();
    course = world.component<Course>();
    badge = world.component<Badge>();
    hull = world.component<Hull>();
    parent = world.parent();
    aim = world.component<Aim>();
    hit = world.component<Hit>();
    shells = world.archetype<Spot, Course, Aim>();
    hits = world.archetype<Hit>();
    weft_query_desc told = {};
    told.terms[0].component = hit;
    all_hits = weft_query_create(world.get(), &told);
    add_prefabs();
    add_all(defence_ships(size));
    add_flight();
    add_turrets();
    add_ends();
}

void Defence::add_prefabs()
{
    weft_component group = weft_component_linked_group(world.get());
    weft_component prefab = weft_component_prefab(world.get());
    std::vector<weft::entity> parts = {world.create(Spot{0, 0}, Course{0, 0}, Badge{0}, Ship{})};
    for (uint32_t i = 0; i < TURRETS; i++) {
        parts.push_back(world.create(defence_mount(i), Muzzle{0, 0}, Gun{{0, 0}, i % RELOAD, 0}));
        world.relate(parts.back(), parent, parts[0]);
    }
    raider_prefab = world.create(Spot{0, 0}, Course{0, 0}, Badge{0}, Hull{HULL}, Raider{});
    ship_prefab = parts[0];
    weft_entity_add(world.get(), ship_prefab, group);
    weft_buffers list = weft_entity_write_buffer(world.get(), ship_prefab, group);
    weft_buffers_append(&list, 0, parts.data(), static_cast<uint32_t>(parts.size()));
    for (weft::entity part : parts) weft_entity_add(world.get(), part, prefab);
    weft_entity_add(world.get(), raider_prefab, prefab);
    world.settle();
}

void Defence::add_all(uint32_t ships)
{
    auto place = [this](weft::entity e, uint64_t of) {
        Spot here;
        Course there;
        defence_begin(of, side, &here, &there);
        world.set(e, here);
        world.set(e, there);
        world.set(e, Badge{of});
    };
    for (uint32_t i = 0; i < ships; i++) place(world.instantiate(ship_prefab), defence_ship(i));
    uint32_t raiders = static_cast<uint32_t>(who.size());
    weft_entity_instantiate(world.get(), raider_prefab, raiders, who.data());
    for (uint32_t i = 0; i < raiders; i++) place(who[i], defence_raider(i));
}

void Defence::strike(weft_slice &s) const
{
    Aim *aims = write<Aim>(s, 0);
    const Spot *here = read<Spot>(s, 1);
    weft_finder spots = weft_slice_finder(&s, spot);
    weft_recorder *r = weft_slice_recorder(&s);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        const Spot *target = find(spots, aims[i].target);
        bool is_hit = target != nullptr && defence_is_hit(here[i], *target);
        if (is_hit) {
            Hit told = {aims[i].target, aims[i].damage, 0};
            weft_recorder_set(r, weft_recorder_create_entity(r, hits), hit, &told, sizeof told);
        }
        if (--aims[i].life == 0 || is_hit)
            weft_recorder_destroy_entity(r, weft_slice_entities(&s)[i]);
    }
}

void Defence::add_flight()
{
    world.system("steer").each(
        [](Course &to, const Spot &here, const Aim &aim, weft::lookup<const Spot> spots) {
            const Spot *target = spots[aim.target];
            if (target != nullptr) defence_steer(here, *target, &to);
        });
    world.system("move").each([](Spot &here, const Course &to) { defence_move(&here, to); });
    world.system("bounce").with<Badge>().each([this](Spot &here, Course &to) {
        defence_bounce(&here.x, &to.x, side);
        defence_bounce(&here.y, &to.y, side);
    });
    world.system("strike")
        .over<Aim, const Spot>()
        .reads<Spot>()
        .records<Hit>(WEFT_RECORDS_CREATE)
        .destroys<Spot, Course, Aim>()
        .run([this](weft_slice &s) { strike(s); });
}

weft::entity Defence::choose(Muzzle muzzle) const
{
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    double where[] = {static_cast<double>(muzzle.x), static_cast<double>(muzzle.y)};
    uint32_t count = weft_grid_runs(grid.get(), weft_grid_cell_at(grid.get(), where), runs);
    defence_choice best = {REACH * REACH, 0, UINT32_MAX};
    const uint32_t *points = view.points;
    const Spot *spots = at.data();
    const uint64_t *numbers = number.data();
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = runs[r].begin; k < runs[r].end; k++) {
            uint32_t i = points[k];
            defence_consider(&best, muzzle, spots[i], numbers[i], i);
        }
    return best.index == UINT32_MAX ? weft::entity{0, 0} : who[best.index];
}

void Defence::aim_guns(weft_slice &s) const
{
    Gun *guns = write<Gun>(s, 0);
    const Muzzle *muzzle = read<Muzzle>(s, 1);
    weft_finder spots = weft_slice_finder(&s, spot);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        const Spot *seen = find(spots, guns[i].target);
        if (seen == nullptr ||
            defence_square(muzzle[i].x, muzzle[i].y, seen->x, seen->y) > REACH * REACH)
            guns[i].target = choose(muzzle[i]);
    }
}

void Defence::fire(weft_slice &s) const
{
    Gun *guns = write<Gun>(s, 0);
    const Muzzle *muzzle = read<Muzzle>(s, 1);
    weft_recorder *r = weft_slice_recorder(&s);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        if (guns[i].reload > 0) {
            guns[i].reload--;
        } else if (!weft_entity_is_null(guns[i].target)) {
            Spot from = {muzzle[i].x, muzzle[i].y};
            Aim to = {guns[i].target, SHELL_LIFE, DAMAGE};
            weft::entity shell = weft_recorder_create_entity(r, shells);
            weft_recorder_set(r, shell, spot, &from, sizeof from);
            weft_recorder_set(r, shell, aim, &to, sizeof to);
            guns[i].reload = RELOAD;
            guns[i].shots++;
        }
    }
}

void Defence::add_turrets()
{
    world.system("carry").each([](Muzzle &muzzle, const Mount &mount, const weft::parent &above,
                                  weft::lookup<const Spot> spots) {
        const Spot *ship = spots[above.entity];
        if (ship != nullptr) muzzle = {ship->x + mount.x, ship->y + mount.y};
    });
    world.system("collect").over<const Spot, const Badge>().with<Raider>().run(
        [this](weft_slice &s) {
            const Spot *here = read<Spot>(s, 0);
            const Badge *badges = read<Badge>(s, 1);
            Spot *spots = &at[s.first];
            uint64_t *numbers = &number[s.first];
            weft::entity *handles = &who[s.first];
            for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
                spots[i] = here[i];
                numbers[i] = badges[i].number;
                handles[i] = weft_slice_entities(&s)[i];
            }
        });
    world.system("sort").flags(WEFT_SYSTEM_JOBS).after("collect").run([this](weft_slice &s) {
        weft_grid_points points = {at.data(), sizeof(Spot), static_cast<uint32_t>(at.size()),
                                   false, nullptr};
        weft_grid_build(grid.get(), weft_slice_job(&s), &points);
        weft_grid_view_get(grid.get(), &view, sizeof view);
    });
    world.system("aim").over<Gun, const Muzzle>().reads<Spot>().after("sort").run(
        [this](weft_slice &s) { aim_guns(s); });
    world.system("fire")
        .over<Gun, const Muzzle>()
        .records<Spot, Course, Aim>(WEFT_RECORDS_CREATE)
        .run([this](weft_slice &s) { fire(s); });
}

void Defence::replace(weft_slice &s, uint32_t row, uint64_t old, weft::entity prefab) const
{
    weft_recorder *r = weft_slice_recorder(&s);
    Badge next = {defence_next(old, static_cast<uint32_t>(weft_slice_frame(&s).number))};
    Spot here;
    Course there;
    defence_begin(next.number, side, &here, &there);
    weft_recorder_destroy_entity(r, weft_slice_entities(&s)[row]);
    weft::entity made = weft_recorder_instantiate(r, prefab);
    weft_recorder_set(r, made, spot, &here, sizeof here);
    weft_recorder_set(r, made, course, &there, sizeof there);
    weft_recorder_set(r, made, badge, &next, sizeof next);
}

void Defence::add_ends()
{
    world.system("damage").flags(WEFT_SYSTEM_SERIAL).each([](const Hit &h, weft::lookup<Hull> hulls) {
        if (Hull *of = hulls[h.target]) of->points -= of->points < h.damage ? of->points : h.damage;
    });
    world.system("forget").destroys<Hit>().after("damage").run([this](weft_slice &s) {
        weft_recorder_query_destroy_entities(weft_slice_recorder(&s), all_hits);
    });
    world.system("sink")
        .over<const Hull, const Badge>()
        .with<Raider>()
        .records<Spot, Course, Badge, Hull, Raider>(WEFT_RECORDS_CREATE)
        .destroys<Spot, Course, Badge, Hull, Raider>()
        .run([this](weft_slice &s) {
            const Hull *hulls = read<Hull>(s, 0);
            const Badge *badges = read<Badge>(s, 1);
            for (uint32_t i = 0; i < weft_slice_count(&s); i++)
                if (hulls[i].points == 0) replace(s, i, badges[i].number, raider_prefab);
        });
    world.system("lose")
        .over<const Badge>()
        .with<Ship>()
        .records<>(WEFT_RECORDS_CREATE | WEFT_RECORDS_DESTROY)
        .run([this](weft_slice &s) {
            const Badge *badges = read<Badge>(s, 0);
            uint32_t tick = static_cast<uint32_t>(weft_slice_frame(&s).number);
            for (uint32_t i = 0; i < weft_slice_count(&s); i++)
                if (defence_is_lost(badges[i].number, tick))
                    replace(s, i, badges[i].number, ship_prefab);
        });
}

void *defence_open(uint32_t size, uint32_t workers)
{
    weft_world_desc desc = {};
    desc.workers = workers;
    return new Defence(desc, size);
}

void defence_step(void *side)
{
    static_cast<Defence *>(side)->world.step(1);
}

uint64_t number_of(const Defence *d, weft::entity e)
{
    const Badge *badge = d->world.read<Badge>(e);
    return badge != nullptr ? badge->number : 0;
}

uint64_t defence_content(void *side)
{
    auto *d = static_cast<Defence *>(side);
    uint64_t sum = 0;
    d->world.each([&](const Badge &badge, const Spot &at, const Course &course, const Hull *hull) {
        sum += defence_sum(badge.number, at, course, hull != nullptr ? hull->points : 0);
    });
    d->world.each([&](const Aim &aim, const Spot &at, const Course &course) {
        sum += defence_sum(number_of(d, aim.target), at, course, aim.life);
    });
    d->world.each([&](weft::entity e, const Gun &gun, const Mount &mount, const Muzzle &muzzle) {
        weft::entity ship = weft_relation_target(d->world.get(), e, d->parent);
        sum += defence_sum_turret(number_of(d, ship), &mount, muzzle, gun.reload,
                                  number_of(d, gun.target));
    });
    return sum;
}

uint64_t defence_hash(void *side)
{
    return static_cast<Defence *>(side)->world.hash(WEFT_HASH_CONTENT);
}

void defence_close(void *side)
{
    delete static_cast<Defence *>(side);
}

} // namespace

extern "C" const program_side defence_cpp;
const program_side defence_cpp = {defence_open, defence_step, defence_content, defence_hash,
                                  defence_close};
