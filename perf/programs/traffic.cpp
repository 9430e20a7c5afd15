// SPDX-License-Identifier: MIT
/* traffic.cpp: traffic by weft.hpp. The maps are resources by their types, the lane of a row is an
 * argument as any other, though it is a shared value. */
#include "traffic.h"

#include <vector>
#include <weft/weft.hpp>

WEFT_DESCRIBE(Car, cell, speed);
WEFT_DESCRIBE(Lane, number);

struct Before { // the map at the begin of a step
    road_map map;
};
struct Now { // after changes of lane
    road_map map;
};

namespace weft
{
template <> struct component_traits<Lane> : component_defaults<Lane> {
    static constexpr uint32_t flags = WEFT_SHARED;
};
template <> struct component_traits<Before> : component_defaults<Before> {
    static constexpr uint32_t flags = WEFT_RESOURCE | WEFT_NOT_HASHED; // a pointer
    static const char *name() { return "before"; }
};
template <> struct component_traits<Now> : component_defaults<Now> {
    static constexpr uint32_t flags = WEFT_RESOURCE | WEFT_NOT_HASHED;
    static const char *name() { return "now"; }
};
} // namespace weft

namespace
{

struct Traffic {
    weft::world world;
    weft_component lane_type, before_type, now_type;
    std::vector<uint8_t> cells[2];

    Traffic(const weft_world_desc &desc, uint32_t size);
    void add_systems();
    void change(weft_slice &s) const;
    void drive(weft_slice &s) const;
};

Traffic::Traffic(const weft_world_desc &desc, uint32_t size) : world(desc)
{
    uint32_t count = traffic_cells(size);
    for (auto &map : cells) map.resize(std::size_t{count} * LANES);
    world.component<Car>();
    lane_type = world.component<Lane>();
    before_type = world.component<Before>();
    now_type = world.component<Now>();
    world.resource<Before>().map = {cells[0].data(), count};
    world.resource<Now>().map = {cells[1].data(), count};
    for (uint32_t i = 0; i < size; i++) {
        Car car = traffic_start(i);
        Lane lane = {i % LANES};
        world.create(car, lane);
        traffic_lane(&world.resource<Before>().map, lane.number)[car.cell] = 1;
    }
    add_systems();
}

// The step is asked for once a slice, so these take slices.
void Traffic::change(weft_slice &s) const
{
    const road_map map = static_cast<const Before *>(weft_slice_read_resource(&s, before_type))->map;
    auto *cars = static_cast<const Car *>(weft_slice_read(&s, 0));
    uint32_t from = static_cast<const Lane *>(weft_slice_read_shared(&s, 1))->number;
    const weft::entity *e = weft_slice_entities(&s);
    weft_recorder *r = weft_slice_recorder(&s);
    uint32_t tick = static_cast<uint32_t>(weft_slice_frame(&s).number);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        Lane to = {traffic_choose(&map, &cars[i], from, weft_entity_index(e[i]), tick)};
        if (to.number != from) weft_recorder_set_shared(r, e[i], lane_type, &to);
    }
}

void Traffic::drive(weft_slice &s) const
{
    const road_map map = static_cast<const Now *>(weft_slice_read_resource(&s, now_type))->map;
    const road_map next = static_cast<const Before *>(weft_slice_read_resource(&s, before_type))->map;
    auto *cars = static_cast<Car *>(weft_slice_write(&s, 0));
    uint32_t in = static_cast<const Lane *>(weft_slice_read_shared(&s, 1))->number;
    const weft::entity *e = weft_slice_entities(&s);
    uint8_t *busy = traffic_lane(&next, in);
    uint32_t tick = static_cast<uint32_t>(weft_slice_frame(&s).number);
    for (uint32_t i = 0; i < weft_slice_count(&s); i++) {
        traffic_drive(&map, &cars[i], in, weft_entity_index(e[i]), tick);
        busy[cars[i].cell] = 1;
    }
}

void Traffic::add_systems()
{
    world.system("change")
        .over<const Car, const Lane>()
        .resources<const Before>()
        .records<Lane>(WEFT_RECORDS_ADD)
        .run([this](weft_slice &s) { change(s); });
    world.system("clear").each([](weft::resource<Before> before, weft::resource<Now> now) {
        memset(before->map.busy, 0, std::size_t{before->map.cells} * LANES);
        memset(now->map.busy, 0, std::size_t{now->map.cells} * LANES);
    });
    world.system("mark").each([](const Car &car, const Lane &lane, weft::resource<Now> now) {
        traffic_lane(&now->map, lane.number)[car.cell] = 1;
    });
    world.system("drive")
        .over<Car, const Lane>()
        .resources<const Now, Before>()
        .run([this](weft_slice &s) { drive(s); });
}

void *traffic_open(uint32_t size, uint32_t workers)
{
    weft_world_desc desc = {};
    desc.workers = workers;
    return new Traffic(desc, size);
}

void traffic_step(void *side)
{
    static_cast<Traffic *>(side)->world.step(1);
}

uint64_t traffic_content(void *side)
{
    uint64_t sum = 0;
    static_cast<Traffic *>(side)->world.each(
        [&sum](weft::entity e, const Car &car, const Lane &lane) {
            sum += traffic_sum(weft_entity_index(e), car, lane.number);
        });
    return sum;
}

uint64_t traffic_hash(void *side)
{
    return static_cast<Traffic *>(side)->world.hash(WEFT_HASH_CONTENT);
}

void traffic_close(void *side)
{
    delete static_cast<Traffic *>(side);
}

} // namespace

extern "C" const program_side traffic_cpp;
const program_side traffic_cpp = {traffic_open, traffic_step, traffic_content, traffic_hash,
                                  traffic_close};
