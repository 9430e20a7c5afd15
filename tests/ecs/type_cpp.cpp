/* SPDX-License-Identifier: MIT */
/* type_cpp.cpp: descriptions of types from C++17: kinds by overloads, units and ranges, the list of
 * fields, and a component. */
#include <weft/type.h>
#include <weft/value.h>
#include <weft/weft.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace
{

enum class Phase : unsigned char { coast, burn };
const weft_constant phases[] = {{"coast", 0}, {"burn", 1}};
const weft_type phase_type = WEFT_TYPE_CONSTANTS(Phase, phases);

struct Plate {
    float area;
    double corners[2][2];
    char name[8];
    Phase phase;
    bool is_open;
    unsigned long long serial;
    weft_entity parent;
    int *undescribed;
};
const weft_field plate_fields[] = {
    weft_field_with(WEFT_FIELD(Plate, area)).with_unit("m^2").with_range(0, 100).with_text("Area"),
    WEFT_FIELD(Plate, corners),
    WEFT_FIELD(Plate, name),
    WEFT_FIELD_OF(Plate, phase, WEFT_FIELD_ENUM, &phase_type),
    WEFT_FIELD(Plate, is_open),
    WEFT_FIELD(Plate, serial),
    WEFT_FIELD(Plate, parent),
};
const weft_type plate_type = WEFT_TYPE(Plate, plate_fields);

#define SAT_FIELDS(S, FIELD, ARRAY) FIELD(S, double, mean_motion) ARRAY(S, float, drag, 3)
WEFT_STRUCT(Sat, SAT_FIELDS);

void check(bool condition, int line)
{
    if (condition) return;
    std::fprintf(stderr, "type_cpp.cpp:%d: failed\n", line);
    std::exit(1);
}
#define CHECK(condition) check((condition), __LINE__)

// Every kind that files have is that of a type of C++.
void check_every_kind()
{
    const weft_field_kind found[] = {
        weft_kind_of<bool>(),     weft_kind_of<std::int8_t>(),   weft_kind_of<std::int16_t>(),
        weft_kind_of<int>(),      weft_kind_of<std::int64_t>(),  weft_kind_of<std::uint8_t>(),
        weft_kind_of<unsigned>(), weft_kind_of<std::uint16_t>(), weft_kind_of<std::uint64_t>(),
        weft_kind_of<float>(),    weft_kind_of<double>(),        weft_kind_of<weft_entity>(),
        WEFT_FIELD_BYTES,         weft_kind_of<weft_blob_ref>()};
#define CHECK_KIND(name, word, number, ...)                                                        \
    CHECK(number == 255 ||                                                                         \
          std::find(std::begin(found), std::end(found), WEFT_FIELD_##name) != std::end(found));
    WEFT_FIELD_KINDS(CHECK_KIND)
}

} // namespace

int main()
{
    CHECK(weft_type_check(&plate_type, nullptr) == WEFT_OK);
    CHECK(plate_fields[0].kind == WEFT_FIELD_F32 && plate_fields[0].most == 100);
    CHECK(plate_fields[1].kind == WEFT_FIELD_F64 && plate_fields[2].kind == WEFT_FIELD_TEXT);
    CHECK(plate_fields[4].kind == WEFT_FIELD_BOOL && plate_fields[5].kind == WEFT_FIELD_U64);
    CHECK(plate_fields[6].kind == WEFT_FIELD_ENTITY);
    CHECK((weft_kind_of<decltype(Plate::undescribed)>()) == WEFT_FIELD_BYTES);
    check_every_kind();
    const char *text = "{\"area\": \"25000 cm^2\", \"corners\": [1, 2, 3, 4], \"phase\": \"burn\"}";
    Plate plate = {};
    weft_text source = {text, std::strlen(text), nullptr};
    CHECK(weft_value_parse(nullptr, &source, &plate_type, &plate, nullptr) == WEFT_OK);
    CHECK(plate.area == 2.5f && plate.corners[1][1] == 4 && plate.phase == Phase::burn);
    weft_world *world = nullptr;
    CHECK(weft_world_create(nullptr, &world) == WEFT_OK);
    weft_component_desc desc = {};
    desc.type = &Sat_type;
    weft_component sat = weft_component_create(world, &desc);
    CHECK(sat.id != 0 && weft_component_info(world, sat)->size == sizeof(Sat));
    CHECK(weft_world_destroy(world) == WEFT_OK);
    return 0;
}
