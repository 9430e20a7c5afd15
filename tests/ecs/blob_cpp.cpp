/* SPDX-License-Identifier: MIT */
/* blob_cpp.cpp: the public headers from C++17: the typed interface of blobs (types, building,
 * reading, all macros), and the inline look-up of finders. */
#include <weft/blob.h>
#include <weft/finder.h>
#include <weft/weft.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

struct Track;

struct Station {
    WEFT_BLOB_POINTER(Track) track;
    weft_blob_string name;
    double height;
};

struct Track {
    WEFT_BLOB_ARRAY(Station) stations;
    WEFT_BLOB_ARRAY(float) profile;
};

extern const weft_blob_type track_type;
const weft_blob_field station_fields[] = {
    WEFT_BLOB_FIELD_POINTER(Station, track, &track_type),
    WEFT_BLOB_FIELD_STRING(Station, name),
};
const weft_blob_type station_type = WEFT_BLOB_TYPE(Station, station_fields);
const weft_blob_field track_fields[] = {
    WEFT_BLOB_FIELD_ARRAY(Track, stations, &station_type),
    WEFT_BLOB_FIELD_ARRAY(Track, profile, nullptr),
};
const weft_blob_type track_type = WEFT_BLOB_TYPE(Track, track_fields);

void check(bool condition, int line)
{
    if (condition) return;
    std::fprintf(stderr, "blob_cpp.cpp:%d: failed\n", line);
    std::exit(1);
}
#define CHECK(condition) check((condition), __LINE__)

weft_blob_ref build(weft_blob_store *store)
{
    weft_blob_builder *builder = nullptr;
    weft_blob_ref ref = {};
    CHECK(weft_blob_builder_create(store, &track_type, 0, &builder) == WEFT_OK);
    Track *track = static_cast<Track *>(weft_blob_builder_root(builder));
    Station *stations = WEFT_BLOB_BUILD_ARRAY(builder, &track->stations, 2);
    stations[1].height = 12.5;
    CHECK(weft_blob_builder_string(builder, &stations[1].name, "Nord", 4) == WEFT_OK);
    CHECK(WEFT_BLOB_BUILD_POINT(builder, &stations[1].track, track) == WEFT_OK);
    const float profile[] = {1, 2, 3};
    CHECK(WEFT_BLOB_BUILD_COPY(builder, &track->profile, profile, 3) == WEFT_OK);
    CHECK(weft_blob_builder_finish(builder, &ref) == WEFT_OK);
    weft_blob_builder_destroy(builder);
    return ref;
}

void find()
{
    weft_world *world = nullptr;
    weft_world_desc desc = {};
    desc.workers = 1;
    CHECK(weft_world_create(&desc, &world) == WEFT_OK);
    const weft_component component = weft_component_create_plain(world, "number", 4, 4, 0);
    weft_entity entities[2];
    CHECK(weft_entity_create_many(world, WEFT_ARCHETYPE(world, component), 2, entities) == WEFT_OK);
    const weft_finder finder = weft_finder_open(world, component);
    const void *value = weft_finder_read(&finder, entities[1]);
    CHECK(value != nullptr && value == weft_entity_read(world, entities[1], component));
    CHECK(weft_world_destroy(world) == WEFT_OK);
}

} // namespace

int main()
{
    weft_blob_store *store = nullptr;
    const weft_blob_store_desc desc = {};
    CHECK(weft_blob_store_create(&desc, &store) == WEFT_OK);
    weft_blob_ref ref = build(store);
    const Track *track = static_cast<const Track *>(weft_blob_read(store, ref, &track_type));
    CHECK(WEFT_BLOB_COUNT(&track->stations) == 2);
    const Station *station = WEFT_BLOB_AT(&track->stations, 1);
    CHECK(station->height == 12.5);
    CHECK(std::strcmp(weft_blob_string_text(&station->name), "Nord") == 0);
    CHECK(WEFT_BLOB_TARGET(&station->track) == track);
    CHECK(WEFT_BLOB_TARGET(&WEFT_BLOB_AT(&track->stations, 0)->track) == nullptr);
    CHECK(WEFT_BLOB_DATA(&track->profile)[2] == 3);
    weft_blob_store_destroy(store);
    find();
    return 0;
}
