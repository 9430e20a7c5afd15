/* SPDX-License-Identifier: MIT */
/* test_value.c: described values as text and back: what is written, what is understood, what is
 * refused and how, units, paths, differences. Random types and values: test_value_random.c. */
#include <weft/ecs.h>

#include "plain.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Phase { COAST, BURN, DOCKED = 7 } Phase;
static const weft_constant phases[] = {{"coast", COAST}, {"burn", BURN}, {"docked", DOCKED}};
static const weft_type phase_type = WEFT_TYPE_CONSTANTS(Phase, phases);

static const weft_constant abilities[] = {
    {"all", 7}, {"fly", 1}, {"dock", 2}, {"talk", 4}, {"none", 0}};
static const weft_type ability_type = WEFT_TYPE_CONSTANTS(uint16_t, abilities);

typedef struct Panel {
    float area;
    bool is_open;
} Panel;
static const weft_field panel_fields[] = {
    WEFT_FIELD_WITH(Panel, area, .unit = "m^2", .least = 0, .most = 100),
    WEFT_FIELD(Panel, is_open)};
static const weft_type panel_type = WEFT_TYPE(Panel, panel_fields);

typedef struct Craft {
    double rate;
    int32_t count;
    uint64_t serial;
    float drag[3];
    Phase phase;
    uint16_t abilities;
    char name[8];
    Panel panels[2];
    weft_entity parent;
    weft_blob_ref mesh;
    uint8_t raw[3];
    int *undescribed;
} Craft;

static const char *check_craft(const void *value)
{
    return ((const Craft *)value)->count == 13 ? "13 brings bad luck: take another count" : NULL;
}

static const Craft initial = {.rate = 1.5, .count = 2, .name = "new"};
static const weft_field craft_fields[] = {
    WEFT_FIELD_WITH(Craft, rate, .unit = "rad/min", .text = "How fast it turns"),
    WEFT_FIELD(Craft, count),
    WEFT_FIELD(Craft, serial),
    WEFT_FIELD(Craft, drag),
    WEFT_FIELD_OF(Craft, phase, WEFT_FIELD_ENUM, &phase_type),
    WEFT_FIELD_OF(Craft, abilities, WEFT_FIELD_BITS, &ability_type),
    WEFT_FIELD(Craft, name),
    WEFT_FIELD_OF(Craft, panels, WEFT_FIELD_STRUCT, &panel_type),
    WEFT_FIELD(Craft, parent),
    WEFT_FIELD(Craft, mesh),
    WEFT_FIELD_WITH(Craft, raw, .count = 3)};
static const weft_type craft_type = {"Craft",
                                     sizeof(Craft),
                                     _Alignof(Craft),
                                     craft_fields,
                                     sizeof craft_fields / sizeof(weft_field),
                                     NULL,
                                     0,
                                     &initial,
                                     check_craft};

#define SAT_FIELDS(S, FIELD, ARRAY) FIELD(S, double, mean_motion) ARRAY(S, float, drag, 3)
WEFT_STRUCT(Sat, SAT_FIELDS);

static char written[4096];

static const char *write_value(const weft_type *type, const void *value)
{
    size_t length = weft_value_format(NULL, type, value, written, sizeof written);
    CHECK_U64(length, strlen(written));
    return written;
}

static weft_result read_value(const weft_type *type, void *value, const char *text,
                              weft_error *error)
{
    return weft_value_parse(NULL, &(weft_text){text, strlen(text), "craft.weft"}, type, value,
                            error);
}

/* A field of each C type that has a kind of its own. */
typedef struct every_type {
    bool a;
    int8_t b;
    int16_t c;
    int32_t d;
    int64_t e;
    uint8_t f;
    uint16_t g;
    uint32_t h;
    uint64_t i;
    float j;
    double k;
    weft_entity l;
    weft_blob_ref m;
} every_type;

PLAIN_TEST(every_kind_that_files_have_is_that_of_a_c_type)
{
    static const weft_field fields[] = {
        WEFT_FIELD(every_type, a), WEFT_FIELD(every_type, b), WEFT_FIELD(every_type, c),
        WEFT_FIELD(every_type, d), WEFT_FIELD(every_type, e), WEFT_FIELD(every_type, f),
        WEFT_FIELD(every_type, g), WEFT_FIELD(every_type, h), WEFT_FIELD(every_type, i),
        WEFT_FIELD(every_type, j), WEFT_FIELD(every_type, k), WEFT_FIELD(every_type, l),
        WEFT_FIELD(every_type, m)};
#define NUMBER(name, word, number, bytes, ...) {#name, WEFT_FIELD_##name, number, bytes},
    static const struct {
        const char *name;
        weft_field_kind kind;
        uint32_t number, bytes;
    } kinds[] = {WEFT_FIELD_KINDS(NUMBER)};
    const uint32_t count = sizeof fields / sizeof fields[0];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        uint32_t i = 0;
        if (kinds[k].kind == WEFT_FIELD_BYTES || kinds[k].number == 255) continue;
        while (i < count && (fields[i].kind != kinds[k].kind || fields[i].bytes != kinds[k].bytes))
            i++;
        if (i == count) CHECK_TEXT(kinds[k].name, "the kind of a C type: WEFT_KIND_ROWS_");
    }
}

PLAIN_TEST(descriptions_know_kinds_sizes_and_counts)
{
    weft_error error;
    CHECK_OK(weft_type_check(&craft_type, &error));
    CHECK_TEXT(error.text, "");
    CHECK_U64(craft_fields[0].kind, WEFT_FIELD_F64);
    CHECK_U64(craft_fields[1].kind, WEFT_FIELD_I32);
    CHECK_U64(craft_fields[2].kind, WEFT_FIELD_U64);
    CHECK_U64(craft_fields[3].kind, WEFT_FIELD_F32);
    CHECK_U64(craft_fields[6].kind, WEFT_FIELD_TEXT);
    CHECK_U64(craft_fields[8].kind, WEFT_FIELD_ENTITY);
    CHECK_U64(craft_fields[9].kind, WEFT_FIELD_BLOB);
    CHECK_U64(((weft_field)WEFT_FIELD(Craft, undescribed)).kind, WEFT_FIELD_BYTES); /* a pointer */
    CHECK_U64(Sat_type.field_count, 2);
    CHECK_TEXT(Sat_type.name, "Sat");
    CHECK_U64(Sat_fields[1].offset, 8);
}

PLAIN_TEST(every_kind_is_written_and_read)
{
    Craft craft = {.rate = -0.1,
                   .count = -5,
                   .serial = UINT64_MAX,
                   .drag = {1e-3f, 16777216.0f, -0.0f},
                   .phase = DOCKED,
                   .abilities = 2 | 4 | 64,
                   .name = "h\xc3\xa9\"\n",
                   .panels = {{2.5f, true}, {0, false}},
                   .parent = {12, 3},
                   .mesh = {0xabc},
                   .raw = {1, 2, 255}};
    const char *expected =
        "{\"rate\": -0.1, \"count\": -5, \"serial\": 18446744073709551615, "
        "\"drag\": [0.001, 16777216, -0.0], \"phase\": \"docked\", "
        "\"abilities\": \"dock | talk | 0x40\", \"name\": \"h\xc3\xa9\\\"\\u000a\", "
        "\"panels\": [{\"area\": 2.5, \"is_open\": true}, {\"area\": 0, \"is_open\": false}], "
        "\"parent\": \"12:3\", \"mesh\": \"0xabc\", \"raw\": [1, 2, 255]}";
    Craft again = initial;
    const char *text = write_value(&craft_type, &craft);
    CHECK_TEXT(text, expected);
    weft_error error;
    weft_result result = read_value(&craft_type, &again, text, &error);
    if (result != WEFT_OK) test_fail(__FILE__, __LINE__, error.text);
    CHECK_U64(weft_value_diff(&craft_type, &craft, &again, NULL, 0), 0);
    CHECK(signbit(again.drag[2]));
}

PLAIN_TEST(reading_is_sparse_and_starts_from_the_initial_value)
{
    Craft craft;
    weft_value_initial(&craft_type, &craft);
    CHECK_OK(read_value(&craft_type, &craft,
                        "// what people write\n{ /* only */ \"count\": 4, \"phase\": \"burn\", }",
                        NULL));
    CHECK_U64(craft.count, 4);
    CHECK_U64(craft.phase, BURN);
    CHECK(craft.rate == 1.5 && strcmp(craft.name, "new") == 0);
}

PLAIN_TEST(units_are_converted_and_dimensions_compared)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"{\"rate\": \"15 rev/day\"}", 15 * 2 * 3.14159265358979323846 / 1440},
                 {"{\"rate\": \"2 rad/min\"}", 2},
                 {"{\"rate\": \"3\"}", 3},
                 {"{\"rate\": \"1 Hz\"}", 60},
                 {"{\"rate\": \"6 krad/h\"}", 100},
                 {"{\"rate\": \"360 deg/min\"}", 2 * 3.14159265358979323846}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Craft craft = initial;
        weft_error error;
        weft_result result = read_value(&craft_type, &craft, cases[i].text, &error);
        if (result != WEFT_OK) test_fail(__FILE__, __LINE__, error.text);
        CHECK(fabs(craft.rate - cases[i].value) <= 1e-14 * cases[i].value);
    }
    Panel panel = {0, false};
    CHECK_OK(read_value(&panel_type, &panel, "{\"area\": \"25000 cm^2\"}", NULL));
    CHECK(panel.area == 2.5f);
    CHECK_OK(read_value(&panel_type, &panel, "{\"area\": \"0.004 ha\"}", NULL));
    CHECK(panel.area == 40.0f);
}

/* The text, and what the message must say. */
typedef struct refusal {
    const char *text, *message;
} refusal;

static const refusal refusals[] = {
    {"{\"rate\": \"3 s\"}",
     "craft.weft:1:13: Craft.rate: \"s\" is a time, the field a rate (rad/min)\n"
     "    {\"rate\": \"3 s\"}\n                ^"},
    {"{\n  \"cuont\": 3}",
     "craft.weft:2:3: Craft: no field \"cuont\" in Craft: is \"count\" meant?\n"
     "      \"cuont\": 3}\n      ^"},
    {"{\"rate\": \"3 bananas\"}", "\"bananas\" is no unit: the field is in rad/min"},
    {"{\"count\": \"3 m\"}", "the field has no unit: write the number alone"},
    {"{\"drag\": [1, 2]}", "Craft.drag[2]: the array has 3 elements, this is the end after 2"},
    {"{\"drag\": [1, 2, 3, 4]}", "the array has only 3 elements"},
    {"{\"drag\": 1}", "an array of 3 should be here"},
    {"{\"panels\": [{}, {\"area\": 101}]}",
     "Craft.panels[1].area: 101 is not in the range 0 to 100"},
    {"{\"count\": 1.5}", "an integer should be here"},
    {"{\"count\": 3000000000}", "does not fit a signed integer of 32 bits"},
    {"{\"serial\": -1}", "does not fit an unsigned integer of 64 bits"},
    {"{\"serial\": 18446744073709551616}", "an integer should be here"},
    {"{\"rate\": 1e400}", "beyond the range of f64"},
    {"{\"drag\": [1e39, 0, 0]}", "beyond the range of f32"},
    {"{\"phase\": \"brun\"}", "\"brun\" is none of Phase: is \"burn\" meant?"},
    {"{\"phase\": true}", "a name of Phase should be here, e.g. \"coast\""},
    {"{\"abilities\": \"fly | swim\"}", "\"swim\" is none of uint16_t, e.g. \"all\""},
    {"{\"abilities\": 65536}", "does not fit an integer of 16 bits"},
    {"{\"name\": \"too long for it\"}", "the text has 15 bytes, the field room for 8"},
    {"{\"name\": \"a\\u0000b\"}", "ends at its first NUL"},
    {"{\"panels\": [{\"is_open\": \"yes\"}, {}]}", "true or false should be here"},
    {"{\"panels\": [{\"is_open\": 2}, {}]}", "true or false should be here"},
    {"{\"panels\": [{\"area\": \"inf\"}, {}]}", "area: inf is not in the range 0 to 100"},
    {"{\"panels\": [{\"area\": \"-inf\"}, {}]}", "area: -inf is not in the range 0 to 100"},
    {"{\"panels\": [{}, {\"area\": \"nan\"}]}", "area: nan is not in the range 0 to 100"},
    {"{\"panels\": [{}, {\"area\": \"nan 0x7fc00001\"}]}", "is not in the range 0 to 100"},
    {"{\"rate\": \"1 Hz/\"}", "\"/\" is no unit: the field is in rad/min"},
    {"{\"rate\": \"1 rad//min\"}", "\"//min\" is no unit"},
    {"{\"rate\": \"1 rad * / min\"}", "\"* / min\" is no unit"},
    {"{\"parent\": \"12\"}", "no entity: write \"index:version\", or null"},
    {"{\"mesh\": 7}", "a blob should be here"},
    {"{\"count\": 13}", "Craft: 13 brings bad luck: take another count"},
    {"{\"count\": 1, \"count\": 2}", "\"count\" stands here twice: remove one"},
    {"[1]", "an object should be here"},
    {"", "the text ends where a value should be"},
    {"{\"count\": }", "no value"},
    {"{\"count\" 1}", "a colon should be here"},
    {"{\"count\": 1 \"rate\": 2}", "a comma or the end of the object should be here"},
    {"{\"count\": 1", "a comma or the end of the object should be here"},
    {"{count: 1}", "a name in quotes should be here"},
    {"{\"count\": 1} 2", "something behind the end"},
    {"{\"count\": 1 /* }", "a comment without end"},
    {"{\"count\": 0x}", "no number"},
    {"{\"count\": 1.2.3}", "no number"},
    {"{\"name\": \"\xff\"}", "not UTF-8"},
    {"{\"name\": \"a\nb\"}", "a string ends in the line it begins in"},
    {"{\"name\": \"a", "a string without its closing quote"},
    {"{\"name\": \"\\q\"}", "no escape of JSON"},
    {"{\"name\": \"\\ud800\"}", "no escape of JSON"},
};

PLAIN_TEST(refusals_name_place_field_and_remedy_and_change_nothing)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        Craft craft = initial;
        weft_error error;
        CHECK_RESULT(read_value(&craft_type, &craft, refusals[i].text, &error),
                     WEFT_INVALID_ARGUMENT);
        if (strstr(error.text, refusals[i].message) == NULL)
            CHECK_TEXT(error.text, refusals[i].message);
        CHECK(error.line >= 1 && error.column >= 1 && error.code == WEFT_INVALID_ARGUMENT);
        CHECK(memcmp(&craft, &initial, sizeof craft) == 0);
        CHECK_RESULT(read_value(&craft_type, &craft, refusals[i].text, NULL),
                     WEFT_INVALID_ARGUMENT);
    }
}

PLAIN_TEST(text_is_nested_no_deeper_than_64)
{
    char text[300];
    memset(text, '[', sizeof text);
    Craft craft = initial;
    weft_error error;
    CHECK_RESULT(
        weft_value_parse(NULL, &(weft_text){text, sizeof text, NULL}, &craft_type, &craft, &error),
        WEFT_INVALID_ARGUMENT);
}

PLAIN_TEST(the_locale_of_the_program_does_not_count)
{
    const char *before = setlocale(LC_NUMERIC, NULL);
    char kept[64];
    snprintf(kept, sizeof kept, "%s", before);
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where it is missing nothing is tried */
    Sat sat = {0.1, {1.5f, 1e-30f, 0}}, again = {0};
    const char *text = write_value(&Sat_type, &sat);
    CHECK(strstr(text, "0.1") != NULL && strstr(text, "0,1") == NULL);
    CHECK_OK(read_value(&Sat_type, &again, text, NULL));
    CHECK_U64(weft_value_diff(&Sat_type, &sat, &again, NULL, 0), 0);
    setlocale(LC_NUMERIC, kept);
}

/* Just above the middle between two floats, and on it as a double: rounded twice it goes down. */
PLAIN_TEST(floats_are_rounded_once)
{
    Sat sat = {0};
    CHECK_OK(read_value(&Sat_type, &sat,
                        "{\"drag\": [1.000000059604644775390625000001, 16777217, 8388609.5]}",
                        NULL));
    CHECK(sat.drag[0] == 1.00000011920928955078125f);
    CHECK(sat.drag[1] == 16777216.0f && sat.drag[2] == 8388610.0f);
}

PLAIN_TEST(special_numbers_are_words)
{
    Sat sat = {.mean_motion = (double)NAN, .drag = {INFINITY, -INFINITY, 0}}, again = {0};
    uint32_t bits = 0xffc12345;
    memcpy(&sat.drag[2], &bits, sizeof bits);
    const char *text = write_value(&Sat_type, &sat);
    CHECK(strstr(text, "[\"inf\", \"-inf\", \"nan 0xffc12345\"]") != NULL);
    CHECK_OK(read_value(&Sat_type, &again, text, NULL));
    CHECK_U64(weft_value_diff(&Sat_type, &sat, &again, NULL, 0), 0);
}

PLAIN_TEST(what_is_not_described_is_shown_as_bytes)
{
    static const weft_type unknown = {.name = "Unknown", .size = 4, .alignment = 4};
    uint32_t value = 0x01020304, again = 0;
    const char *text = write_value(&unknown, &value);
    CHECK_TEXT(text, "{\"size\": 4, \"bytes\": \"0x04030201\"}");
    CHECK_OK(read_value(&unknown, &again, text, NULL));
    CHECK_U64(again, value);
}

PLAIN_TEST(paths_reach_values_within_values)
{
    char text[200];
    weft_error error;
    weft_path path;
    Craft craft = initial;
    CHECK_OK(weft_path_parse(&craft_type, "panels[1].area", &path, &error));
    CHECK_U64(path.offset, offsetof(Craft, panels[1].area));
    CHECK_U64(path.count, 1);
    CHECK_U64(weft_path_format(&craft_type, NULL, text, sizeof text), 0);
    CHECK_U64(weft_path_format(&craft_type, &path, text, sizeof text), 14);
    CHECK_TEXT(text, "panels[1].area");
    CHECK_OK(weft_path_value_parse(NULL, &(weft_text){"\"3 m^2\"", 7, NULL}, &craft_type, &path,
                                   &craft, NULL));
    CHECK(craft.panels[1].area == 3 && craft.panels[0].area == 0);
    CHECK_U64(weft_path_value_format(NULL, &craft_type, &path, &craft, text, sizeof text), 1);
    CHECK_TEXT(text, "3");
    CHECK_OK(weft_path_parse(&craft_type, "drag", &path, NULL));
    CHECK_U64(path.count, 3);
    CHECK_RESULT(weft_path_parse(&craft_type, "drag[3]", &path, &error), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_path_parse(&craft_type, "drog", &path, &error), WEFT_NOT_FOUND);
    CHECK(strstr(error.text, "in Craft, which has rate, count") != NULL);
    CHECK_RESULT(error.code, WEFT_NOT_FOUND);
    CHECK_TEXT(error.path, "drog");
    CHECK_RESULT(weft_path_parse(&craft_type, "panels.area", &path, &error), WEFT_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "path \"panels.area\": an array needs an index in front of .");
    CHECK_RESULT(weft_path_parse(&craft_type, "rate.x", &path, &error), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_path_parse(&craft_type, "drag[x]", &path, &error), WEFT_INVALID_ARGUMENT);
}

PLAIN_TEST(differences_are_paths)
{
    Craft a = initial, b = initial;
    weft_path found[4];
    char text[64];
    b.drag[1] = 2;
    b.panels[1].is_open = true;
    b.undescribed = &b.count;
    CHECK_U64(weft_value_diff(&craft_type, &a, &b, found, 4), 2);
    weft_path_format(&craft_type, &found[0], text, sizeof text);
    CHECK_TEXT(text, "drag[1]");
    weft_path_format(&craft_type, &found[1], text, sizeof text);
    CHECK_TEXT(text, "panels[1].is_open");
    CHECK_U64(found[1].offset, offsetof(Craft, panels[1].is_open));
}

PLAIN_TEST(values_are_checked_by_range_and_function)
{
    Craft craft = initial;
    weft_error error;
    CHECK_OK(weft_value_check(&craft_type, &craft, &error));
    craft.panels[1].area = -1;
    CHECK_RESULT(weft_value_check(&craft_type, &craft, &error), WEFT_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "Craft.panels[1].area: -1 is not in the range 0 to 100");
    CHECK_TEXT(error.path, "Craft.panels[1].area");
    CHECK_RESULT(error.code, WEFT_INVALID_ARGUMENT);
    CHECK_U64(error.line, 0);
    CHECK_RESULT(weft_value_check(NULL, &craft, &error), WEFT_INVALID_ARGUMENT);
    CHECK(strstr(error.text, "NULL") != NULL && error.path[0] == '\0');
    craft.panels[1].area = 0;
    craft.count = 13;
    CHECK_RESULT(weft_value_check(&craft_type, &craft, &error), WEFT_INVALID_ARGUMENT);
    craft.count = 0;
    memset(&craft.panels[0].is_open, 2, 1);
    CHECK_RESULT(weft_value_check(&craft_type, &craft, &error), WEFT_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "Craft.panels[0].is_open: 2 is not in the range 0 to 1");
    CHECK(strstr(write_value(&craft_type, &craft), "\"is_open\": true") != NULL);
}

/* The float 0.1 is above the double 0.1: reading and checking compare what stands there. */
PLAIN_TEST(ends_of_a_range_are_in_it_for_floats_too)
{
    typedef struct Share {
        float f;
        double d;
    } Share;
    static const weft_field fields[] = {WEFT_FIELD_WITH(Share, f, .least = -0.7, .most = 0.1),
                                        WEFT_FIELD_WITH(Share, d, .least = -0.7, .most = 0.1)};
    static const weft_type type = WEFT_TYPE(Share, fields);
    static const char *const good[] = {"{\"f\": 0.1, \"d\": 0.1}", "{\"f\": -0.7, \"d\": -0.7}"};
    static const char *const bad[] = {"{\"f\": 0.1000001}", "{\"d\": 0.10000000000000002}",
                                      "{\"f\": -0.7000001}"};
    Share share = {0};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(read_value(&type, &share, good[i], NULL));
        CHECK_OK(weft_value_check(&type, &share, NULL));
    }
    for (int i = 0; i < 3; i++)
        CHECK_RESULT(read_value(&type, &share, bad[i], NULL), WEFT_INVALID_ARGUMENT);
}

PLAIN_TEST(numbers_are_the_shortest_that_read_back)
{
    static const struct {
        double value;
        const char *text;
    } doubles[] = {{5e-324, "5e-324"},
                   {-1e-310, "-1e-310"},
                   {2.2250738585072014e-308, "2.2250738585072014e-308"},
                   {1e23, "1e+23"},
                   {0.1, "0.1"}};
    static const struct {
        float value;
        const char *text;
    } floats[] = {
        {1e-45f, "1e-45"}, {-1e-40f, "-1e-40"}, {1.1754944e-38f, "1.1754944e-38"}, {0.1f, "0.1"}};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        Sat sat = {.mean_motion = doubles[i].value}, again = {0};
        char wanted[64];
        snprintf(wanted, sizeof wanted, "{\"mean_motion\": %s, \"drag\": [0, 0, 0]}",
                 doubles[i].text);
        CHECK_TEXT(write_value(&Sat_type, &sat), wanted);
        CHECK_OK(read_value(&Sat_type, &again, wanted, NULL));
        CHECK(again.mean_motion == sat.mean_motion);
    }
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        Sat sat = {.drag[0] = floats[i].value}, again = {0};
        char wanted[64];
        snprintf(wanted, sizeof wanted, "{\"mean_motion\": 0, \"drag\": [%s, 0, 0]}",
                 floats[i].text);
        CHECK_TEXT(write_value(&Sat_type, &sat), wanted);
        CHECK_OK(read_value(&Sat_type, &again, wanted, NULL));
        CHECK(again.drag[0] == sat.drag[0]);
    }
}

/* At the middle of two doubles, or of two floats, with noughts behind it, and a one behind these;
 * with an exponent; with many noughts before it. */
PLAIN_TEST(numbers_of_any_length_are_rounded_once)
{
    static const char middle[] = "1.00000000000000011102230246251565404236316680908203125";
    static const char float_middle[] = "1.000000059604644775390625";
    static char text[20000], noughts[3000];
    for (size_t count = 0; count < sizeof noughts; count += 271) {
        memset(noughts, '0', count);
        noughts[count] = '\0';
        for (int way = 0; way < 4; way++) {
            const bool is_more = way % 2 != 0;
            const char *last = is_more ? "1" : "0", *exponent = way / 2 != 0 ? "e0" : "";
            const int power = (int)count;
            Sat again = {0};
            snprintf(text, sizeof text,
                     "{\"mean_motion\": %s%s%s%s, \"drag\": [-%s%s%s, 0.%s1e%d, 1%s.5e-%d]}",
                     middle, noughts, last, exponent, float_middle, noughts, last, noughts,
                     power + 1, noughts, power);
            CHECK_OK(read_value(&Sat_type, &again, text, NULL));
            CHECK(again.mean_motion == (is_more ? 1 + DBL_EPSILON : 1));
            CHECK(again.drag[0] == (is_more ? -1 - FLT_EPSILON : -1));
            CHECK(again.drag[1] == 1 && again.drag[2] >= 1 && again.drag[2] <= 1.5f);
        }
    }
}

static size_t write_long(weft_entity entity, char *text, size_t capacity, void *user)
{
    size_t length = *(const size_t *)user;
    for (size_t i = 0; i < length && i + 1 < capacity; i++) text[i] = i % 7 == 0 ? '"' : 'x';
    (void)entity;
    if (length < capacity) text[length] = '\0';
    return length;
}

static const char *read_long(const char *word, size_t length, weft_entity *out, void *user)
{
    if (length != *(const size_t *)user) return "a word of another length";
    for (size_t i = 0; i < length; i++)
        if (word[i] != (i % 7 == 0 ? '"' : 'x')) return "another word";
    *out = (weft_entity){7, 1};
    return NULL;
}

PLAIN_TEST(long_words_of_references_come_back)
{
    typedef struct Link {
        weft_entity to;
    } Link;
    static const weft_field fields[] = {WEFT_FIELD(Link, to)};
    static const weft_type type = WEFT_TYPE(Link, fields);
    static char text[1 << 14];
    for (size_t length = 250; length < 4096; length += length < 260 ? 1 : 1278) {
        weft_value_io io = {.write_entity = write_long, .read_entity = read_long, .user = &length};
        Link link = {{7, 1}}, again = {{0, 0}};
        size_t count = weft_value_format(&io, &type, &link, text, sizeof text);
        CHECK(count > length && count < sizeof text);
        CHECK_OK(weft_value_parse(&io, &(weft_text){text, count, NULL}, &type, &again, NULL));
        CHECK(again.to.index == 7 && again.to.version == 1);
    }
}

/* A description that cannot be, and a word of the reason. */
typedef struct bad_type {
    weft_type type;
    const char *word;
} bad_type;

PLAIN_TEST(descriptions_that_cannot_be_are_refused)
{
    static weft_type endless = {.name = "Endless", .size = 4, .field_count = 1};
    static const weft_field endless_fields[] = {{"again", WEFT_FIELD_STRUCT, .type = &endless}};
    static const weft_field twice[] = {{"a", WEFT_FIELD_I32}, {"a", WEFT_FIELD_I32, 4}};
    static const weft_field beyond[] = {{"a", WEFT_FIELD_I32, 2}};
    static const weft_field kind[] = {{"a", (weft_field_kind)99}};
    static const weft_field untyped[] = {{"a", WEFT_FIELD_ENUM}};
    static const weft_field odd[] = {{"a", WEFT_FIELD_I32, 0, .bytes = 3}};
    static const weft_field unit[] = {{"a", WEFT_FIELD_I32, .unit = "furlong"}};
    static const weft_field range[] = {{"a", WEFT_FIELD_I32, .least = 2, .most = 1}};
    static const weft_field endless_range[] = {
        {"a", WEFT_FIELD_F32, .least = (double)NAN, .most = 1}};
    static const weft_field dotted[] = {{"a.b", WEFT_FIELD_I32}};
    static const weft_field quoted[] = {{"a\"b", WEFT_FIELD_I32}};
    static const weft_field lined[] = {{"a\nb", WEFT_FIELD_I32}};
    static const weft_field latin[] = {{"caf\xe9", WEFT_FIELD_I32}};
    static const weft_constant spaced[] = {{"a b", 1}};
    static const weft_constant rung[] = {{"a\ab", 1}};
    static const weft_constant equal[] = {{"a", 1}, {"a", 2}};
    static const weft_type spaced_type = {"W", 4, 4, NULL, 0, spaced, 1};
    static const weft_type absent_type = {"W", 4, 4, NULL, 0, NULL, 1};
    static const weft_field spaced_field[] = {{"a", WEFT_FIELD_ENUM, .type = &spaced_type}};
    static const weft_field absent_field[] = {{"a", WEFT_FIELD_BITS, .type = &absent_type}};
    endless.fields = endless_fields;
    const bad_type types[] = {
        {endless, "within itself"},
        {{"T", 8, 4, twice, 2}, "two fields have this name"},
        {{"T", 4, 4, beyond, 1}, "reaches beyond"},
        {{"T", 4, 4, kind, 1}, "unknown kind"},
        {{"T", 4, 4, untyped, 1}, "needs a `type`"},
        {{"T", 4, 4, odd, 1}, "not a multiple"},
        {{"T", 4, 4, unit, 1}, "unknown unit"},
        {{"T", 4, 4, range, 1}, "exchange or set them"},
        {{"T", 4, 4, endless_range, 1}, "one is no number"},
        {{"T", 4, 4, dotted, 1}, "has one of . [ ]"},
        {{"T", 4, 4, NULL, 1}, "fields is NULL"},
        {{"T", 4, 3, NULL, 0}, "alignment cannot be"},
        {{"", 4, 4, NULL, 0}, "give it a name"},
        {{"T", 4, 4, quoted, 1}, "has one of . [ ]"},
        {{"T", 4, 4, lined, 1}, "control character"},
        {{"T", 4, 4, latin, 1}, "not UTF-8"},
        {{"T", 4, 4, NULL, 0, spaced, 1}, "without blanks"},
        {{"T", 4, 4, NULL, 0, rung, 1}, "of UTF-8"},
        {{"T", 4, 4, NULL, 0, equal, 2}, "two constants"},
        {{"T", 4, 4, spaced_field, 1}, "without blanks"},
        {{"T", 4, 4, absent_field, 1}, "constants is NULL"},
        {{"caf\xe9", 4, 4, kind, 1}, "of UTF-8"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        weft_error error;
        const weft_result result = weft_type_check(&types[i].type, &error);
        CHECK(result != WEFT_OK);
        CHECK_RESULT(error.code, result);
        if (strstr(error.text, types[i].word) == NULL) CHECK_TEXT(error.text, types[i].word);
    }
}

typedef struct Stop {
    weft_blob_string name;
    weft_blob_array heights;
    weft_blob_pointer next;
    double x;
} Stop;
static const weft_field height_fields[] = {{"", WEFT_FIELD_F32}};
static const weft_type height_type = {"height", 4, 4, height_fields, 1};
extern const weft_type stop_type;
static const weft_field stop_fields[] = {
    WEFT_FIELD(Stop, name), WEFT_FIELD_OF(Stop, heights, WEFT_FIELD_BLOB_ARRAY, &height_type),
    WEFT_FIELD_OF(Stop, next, WEFT_FIELD_BLOB_POINTER, &stop_type), WEFT_FIELD(Stop, x)};
const weft_type stop_type = WEFT_TYPE(Stop, stop_fields);

PLAIN_TEST(components_are_described_by_types)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    weft_component craft =
        weft_component_create(world, &(weft_component_desc){.type = &craft_type});
    const weft_component_desc *info = weft_component_info(world, craft);
    CHECK_TEXT(info->name, "Craft");
    CHECK_U64(info->size, sizeof(Craft));
    CHECK_U64(info->field_count, 14); /* the panels one by one */
    CHECK_TEXT(info->fields[9].name, "panels[1].area");
    CHECK_U64(info->fields[9].offset, offsetof(Craft, panels[1].area));
    CHECK_POINTER(weft_component_type(world, craft), &craft_type);
    weft_component again =
        weft_component_create(world, &(weft_component_desc){.type = &craft_type});
    CHECK_U64(again.id, craft.id);
    static const weft_type nameless = {.name = ""};
    static const struct {
        weft_component_desc desc;
        const char *word;
    } refused[] = {
        {{.type = &stop_type}, "is of a kind that is for blobs"},
        {{.type = &panel_type, .size = 4}, "`size` is not that of `type`"},
        {{.type = &panel_type, .fields = panel_fields, .field_count = 2}, "not both"},
        {{.name = "n", .type = &nameless}, "give it a name of 1 to 255 bytes"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        CHECK_U64(weft_component_create(world, &refused[i].desc).id, 0);
        if (strstr(weft_world_error(world)->text, refused[i].word) == NULL)
            CHECK_TEXT(weft_world_error(world)->text, refused[i].word);
    }
    CHECK_OK(weft_world_destroy(world));
}
