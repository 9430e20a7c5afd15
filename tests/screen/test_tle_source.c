/* SPDX-License-Identifier: MIT */
/* test_tle_source.c: catalogues of two-line elements as objects: forms of records, and every
 * mistake with its place. */
#include "scene_fixture.h"
#include "tle_source.h"

#define ONE_1 "1 00900U 64063C   26223.12884670  .00000358  00000+0  35383-3 0  9999"
#define ONE_2 "2 00900  90.2185  73.0507 0027312 122.7691   3.4171 13.76674691 78989"
#define TWO_1 "1 00902U 64063E   26223.14482906  .00000045  00000+0  54577-4 0  9999"
#define TWO_2 "2 00902  90.2307  77.0982 0020539  69.9010  59.3937 13.52904287863690"

typedef struct Record {
    char text[200];
} Record;

static const weft_field record_fields[] = {WEFT_FIELD(Record, text)};
static const weft_type record_type = WEFT_TYPE(Record, record_fields);

static weft_result bake_record(weft_bake *bake, const weft_object *object, void *user)
{
    Record record = {""};
    weft_text text = weft_bake_bytes(bake, object);
    (void)user;
    CHECK(text.count < sizeof record.text);
    memcpy(record.text, text.bytes, text.count);
    return weft_bake_set(bake, weft_bake_entity(bake, NULL), weft_bake_component(bake, "Record"),
                         &record, sizeof record);
}

/* A world, a scene of one catalogue, and what became of it. */
typedef struct trial {
    shelf files;
    weft_world *world;
    weft_scene *scene;
    weft_component record;
} trial;

static trial *begin(const char *text)
{
    static const weft_baker_desc baker = {
        .name = "record", .kind = "tle", .version = 1, .bake = bake_record};
    trial *t = calloc(1, sizeof *t);
    shelf_put(&t->files, "sky.tle", text);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &t->world));
    t->record = weft_component_create(t->world, &(weft_component_desc){.type = &record_type});
    CHECK_OK(weft_scene_create(t->world,
                               &(weft_scene_desc){.read = shelf_read,
                                                  .user = &t->files,
                                                  .bakers = &baker,
                                                  .baker_count = 1,
                                                  .sources = &tle_source,
                                                  .source_count = 1},
                               &t->scene));
    return t;
}

static void finish(trial *t)
{
    weft_scene_destroy(t->scene);
    weft_world_destroy(t->world);
    free(t);
}

static const char *record_of(trial *t, const char *path)
{
    weft_entity entity = weft_scene_entity(t->scene, path);
    CHECK(!weft_entity_is_null(entity));
    const Record *record = weft_entity_read(t->world, entity, t->record);
    return record->text;
}

PLAIN_TEST(a_byte_order_mark_is_passed_over)
{
    trial *t = begin("\xef\xbb\xbf" ONE_1 "\n" ONE_2 "\nTWO\n" TWO_1 "\n" TWO_2 "\n");
    CHECK_BAKES(t->scene, "sky.tle");
    CHECK_OK(weft_scene_fill(t->scene, t->world));
    CHECK_TEXT(record_of(t, "900"), ONE_1 "\n" ONE_2);
    CHECK_TEXT(record_of(t, "902"), "TWO\n" TWO_1 "\n" TWO_2);
    finish(t);
}

PLAIN_TEST(records_with_and_without_names)
{
    trial *t = begin("# a comment\r\nCALSPHERE 1             \r\n" ONE_1 "\r\n" ONE_2
                     "\r\n\r\n" TWO_1 "\n" TWO_2);
    CHECK_OK(weft_scene_bake(t->scene, (const char *[]){"sky.tle"}, 1));
    CHECK_OK(weft_scene_fill(t->scene, t->world));
    CHECK_TEXT(record_of(t, "900"), "CALSPHERE 1             \r\n" ONE_1 "\r\n" ONE_2);
    CHECK_TEXT(record_of(t, "902"), TWO_1 "\n" TWO_2);
    weft_scene_stats stats;
    weft_scene_stats_get(t->scene, &stats, sizeof stats);
    CHECK_U64(stats.objects, 2);
    finish(t);
}

/* Of the day after, and of 1999. */
#define LATER_1 "1 00900U 64063C   26224.12884670  .00000358  00000+0  35383-3 0  9990"
#define OLDER_1 "1 00900U 64063C   99223.12884670  .00000358  00000+0  35383-3 0  9999"

PLAIN_TEST(of_two_sets_of_one_number_the_later_stands)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {ONE_1 "\n" ONE_2 "\nAGAIN\n" LATER_1 "\n" ONE_2 "\n", "AGAIN\n" LATER_1 "\n" ONE_2},
        {LATER_1 "\n" ONE_2 "\nAGAIN\n" ONE_1 "\n" ONE_2 "\n", LATER_1 "\n" ONE_2},
        {ONE_1 "\n" ONE_2 "\nAGAIN\n" ONE_1 "\n" ONE_2 "\n", "AGAIN\n" ONE_1 "\n" ONE_2},
        {ONE_1 "\n" ONE_2 "\n" TWO_1 "\n" TWO_2 "\nOLD\n" OLDER_1 "\n" ONE_2 "\n",
         ONE_1 "\n" ONE_2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trial *t = begin(cases[i].text);
        CHECK_BAKES(t->scene, "sky.tle");
        CHECK_OK(weft_scene_fill(t->scene, t->world));
        CHECK_TEXT(record_of(t, "900"), cases[i].wanted);
        weft_scene_stats stats;
        weft_scene_stats_get(t->scene, &stats, sizeof stats);
        CHECK_U64(stats.objects, i == 3 ? 2 : 1);
        finish(t);
    }
}

/* As weft screen reads them: padded in front or behind, otherwise on each line. */
PLAIN_TEST(numbers_may_be_padded)
{
    static const char *const texts[] = {
        "1   900U 64063C   26223.12884670  .00000358  00000+0  35383-3 0  9999\n" ONE_2,
        "1 900  U 64063C   26223.12884670  .00000358  00000+0  35383-3 0  9999\n" ONE_2,
        ONE_1 "\n2  0900  90.2185  73.0507 0027312 122.7691   3.4171 13.76674691 78989"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        trial *t = begin(texts[i]);
        CHECK_BAKES(t->scene, "sky.tle");
        CHECK_OK(weft_scene_fill(t->scene, t->world));
        CHECK_TEXT(record_of(t, "900"), texts[i]);
        finish(t);
    }
}

PLAIN_TEST(one_record_that_changed_is_baked_again)
{
    trial *t = begin(ONE_1 "\n" ONE_2 "\n" TWO_1 "\n" TWO_2 "\n");
    CHECK_OK(weft_scene_bake(t->scene, (const char *[]){"sky.tle"}, 1));
    CHECK(!weft_scene_is_stale(t->scene));
    shelf_put(&t->files, "sky.tle", "NEW NAME\n" ONE_1 "\n" ONE_2 "\n" TWO_1 "\n" TWO_2 "\n");
    CHECK(weft_scene_is_stale(t->scene));
    CHECK_OK(weft_scene_bake(t->scene, (const char *[]){"sky.tle"}, 1));
    CHECK(!weft_scene_is_stale(t->scene));
    weft_scene_stats stats;
    weft_scene_stats_get(t->scene, &stats, sizeof stats);
    CHECK_U64(stats.baked, 1);
    weft_scene_change change;
    CHECK(weft_scene_change_at(t->scene, 0, &change));
    CHECK_TEXT(change.path, "900");
    CHECK_U64(change.kind, WEFT_SCENE_CHANGED);
    CHECK(!weft_scene_change_at(t->scene, 1, &change));
    finish(t);
}

/* One mistake, where it is. */
static void expect(const char *text, uint32_t line, uint32_t column, const char *words)
{
    trial *t = begin(text);
    CHECK_RESULT(weft_scene_bake(t->scene, (const char *[]){"sky.tle"}, 1), WEFT_INVALID_ARGUMENT);
    weft_error mistake;
    CHECK_U64(weft_scene_mistakes(t->scene, &mistake, 1), 1);
    CHECK_U64(mistake.line, line);
    CHECK_U64(mistake.column, column);
    CHECK(strstr(mistake.text, words) != NULL);
    finish(t);
}

PLAIN_TEST(mistakes_have_their_places)
{
    expect("NAME\n1 00900U 64063C\n" TWO_2 "\n", 2, 16, "truncated: 15 of 69");
    expect("1 00900U 64063C   26223.12884670  .00000358  00000+0  35383-3 0  9990\n" ONE_2, 1, 69,
           "checksum is '0', the line adds up to 9");
    expect(ONE_1 "\n" TWO_2 "\n", 2, 3, "\"00902\" differs from \"00900\"");
    expect(ONE_1 "\n" TWO_1 "\n" TWO_2 "\n", 1, 1, "no line 2");
    expect(ONE_1, 1, 1, "no line 2");
    expect(ONE_2 "\n", 1, 1, "no line 1");
    expect("1      U 64063C   26223.12884670  .00000358  00000+0  35383-3 0  9990\n"
           "2        90.2185  73.0507 0027312 122.7691   3.4171 13.76674691 78980\n",
           1, 3, "the catalogue number is missing");
    expect("glTF\002 no catalogue", 1, 5, "byte 0x02 is not text");
    expect("1 00900U 64063C \xff 26223.12884670  .00000358  00000+0  35383-3 0  9999\n" ONE_2, 1,
           17, "byte 0xff is not text");
}

PLAIN_TEST(cut_anywhere_it_is_told_or_right)
{
    static const char whole[] = "CALSPHERE 1\n" ONE_1 "\n" ONE_2 "\n" TWO_1 "\n" TWO_2 "\n";
    uint32_t good = 0;
    for (size_t bytes = 0; bytes < sizeof whole; bytes++) {
        trial *t = begin("");
        shelf_put_bytes(&t->files, "sky.tle", whole, bytes);
        good += weft_scene_bake(t->scene, (const char *[]){"sky.tle"}, 1) == WEFT_OK;
        finish(t);
    }
    /* 13 begins of the name; "1" and "1 ", which could be names, behind it and behind a record;
     * each record with and without its last line end */
    CHECK_U64(good, 13 + 2 * 2 + 2 * 2);
}
