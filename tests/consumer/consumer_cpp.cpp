/* SPDX-License-Identifier: MIT */
/* consumer_cpp.cpp: a stranger's program in C++17: a world with a system, the sugar of the headers,
 * a blob. Prints WEFT_OK. */
#include <cstdio>
#include <weft/blob.h>
#include <weft/weft.h>

namespace
{

struct Position {
    float x, y;
};

struct alignas(16) Velocity {
    float x, y;
};

struct Curve {
    WEFT_BLOB_ARRAY(float) keys;
};
const weft_blob_field curve_fields[] = {WEFT_BLOB_FIELD_ARRAY(Curve, keys, nullptr)};
const weft_blob_type curve_type = WEFT_BLOB_TYPE(Curve, curve_fields);

void move(weft_slice *s, void *)
{
    auto *p = WEFT_WRITE_COLUMN(s, 0, Position);
    auto *v = WEFT_READ_COLUMN(s, 1, Velocity);
    for (uint32_t i = 0; i < weft_slice_count(s); i++) p[i].x += v[i].x * weft_slice_dt(s);
}

bool moves(weft_world *world)
{
    const weft_component types[] = {
        WEFT_COMPONENT(world, Position), WEFT_COMPONENT(world, Velocity),
        WEFT_COMPONENT_FLAGS(world, int, WEFT_SHARED), WEFT_TAG(world, Moving)};
    if (weft_component_info(world, types[1])->alignment != 16) return false;
    weft_entity entity;
    const Position start[] = {{0, 0}};
    if (weft_entity_create_filled(world,
                                  WEFT_ARCHETYPE(world, types[0], types[1], types[2], types[3]),
                                  WEFT_VALUES({types[0], start}), 1, &entity) != WEFT_OK)
        return false;
    if (WEFT_SET(world, entity, types[1], Velocity, {6, 0}) != WEFT_OK) return false;
    weft_system_desc desc{};
    desc.name = "move";
    desc.run = move;
    desc.over.rows.terms[0].component = types[0];
    desc.over.rows.terms[0].access = WEFT_WRITE;
    desc.over.rows.terms[1].component = types[1];
    if (weft_system_create(world, &desc).id == 0) return false;
    if (weft_world_step(world, 0.5f) != WEFT_OK) return false;
    auto *p = static_cast<const Position *>(weft_entity_read(world, entity, types[0]));
    return p != nullptr && p->x > 2.9f && p->x < 3.1f;
}

bool builds_a_blob(weft_world *world)
{
    weft_blob_store *store = weft_world_blobs(world);
    weft_blob_builder *builder;
    if (weft_blob_builder_create(store, &curve_type, 0, &builder) != WEFT_OK) return false;
    auto *curve = static_cast<Curve *>(weft_blob_builder_root(builder));
    float *keys = WEFT_BLOB_BUILD_ARRAY(builder, &curve->keys, 2);
    keys[1] = 7;
    weft_blob_ref ref;
    bool is_built = weft_blob_builder_finish(builder, &ref) == WEFT_OK;
    weft_blob_builder_destroy(builder);
    if (!is_built) return false;
    auto *read = static_cast<const Curve *>(weft_blob_read(store, ref, &curve_type));
    return *WEFT_BLOB_AT(&read->keys, 1) == 7;
}

} // namespace

int main()
{
    weft_world *world = nullptr;
    if (weft_world_create(nullptr, &world) != WEFT_OK) return 1;
    bool is_right = moves(world) && builds_a_blob(world);
    std::puts(is_right ? "WEFT_OK" : weft_world_error(world)->text);
    return weft_world_destroy(world) != WEFT_OK;
}
