/* SPDX-License-Identifier: MIT */
/* test_scene_random.c: random edits of documents: what is baked step by step is byte for byte
 * what is baked from nothing, for any number of workers. In the environment: WEFT_SCENE_SCRIPTS,
 * how many scripts (60), WEFT_SCENE_EDITS, bakes of each (25); a campaign: 100000 and 5. */
#include "scene_fixture.h"

#include <stdarg.h>

/* Few objects, so that edits meet: most of what one object reads is edited sooner or later. */
enum { DOCUMENTS = 3, OBJECTS = 6, PREFABS = 3, KINDS = 256, TEXT_BYTES = 1 << 16 };

/* What a document is made of: edits change numbers, the text follows. */
typedef struct thing {
    bool is_there, is_broken;
    uint32_t name, prefab, speed, reference, kind, child, without, override;
} thing;
typedef struct model {
    thing objects[DOCUMENTS][OBJECTS], prefabs[DOCUMENTS][PREFABS];
    bool is_missing[DOCUMENTS], is_torn[DOCUMENTS];
    uint32_t number[DOCUMENTS];
} model;

typedef struct writer {
    char *text;
    size_t count;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->count += (size_t)vsnprintf(w->text + w->count, TEXT_BYTES - w->count, format, arguments);
    va_end(arguments);
    CHECK(w->count < TEXT_BYTES);
}

static void put_object(writer *w, const model *m, uint32_t document, uint32_t index, bool is_prefab)
{
    const thing *o = is_prefab ? &m->prefabs[document][index] : &m->objects[document][index];
    put(w, "\"%s%u\": {", is_prefab ? "p" : "o", o->name);
    if (o->is_broken)
        put(w, "\"Spin\": {\"speed\": \"3 kg\"}, ");
    else if (o->kind & 1)
        put(w, "\"Spin\": {\"speed\": %u}, ", o->speed % 100);
    if (o->prefab != 0) {
        uint32_t other = (document + o->prefab) % DOCUMENTS;
        put(w, "\"prefab\": \"%s#p%u\", ",
            other == document ? ""
            : other == 0      ? "d0"
            : other == 1      ? "d1"
                              : "d2",
            o->prefab % PREFABS);
    }
    if ((o->kind & 2) && !is_prefab)
        put(w, "\"Spawner\": {\"what\": \"../o%u\"}, ", o->reference % (OBJECTS / 2));
    else if (o->kind & 4)
        put(w, "\"Spawner\": {\"what\": \"#p%u\"}, ", o->reference % PREFABS);
    if ((o->kind & 8) && !is_prefab)
        put(w, "\"Watch\": \"../o%u\", ", (o->reference + index + 1) % OBJECTS);
    if (o->kind & 16) put(w, "\"transform\": {\"position\": [%u, 0, 0]}, ", o->speed % 7);
    if ((o->kind & 32) && o->prefab == 0) /* else the prefab has the child */
        put(w,
            "\"Links\": [{\"to\": \"child\", \"weight\": %u}, {}], \"children\": {\"child\": "
            "{\"Team\": {\"number\": %u}}}, ",
            o->speed, o->child % 3);
    if (o->kind & 64)
        put(w, "\"Shield\": {\"strength\": %u}, \"disabled\": [\"Shield\"], ", o->speed);
    if (o->override != 0)
        put(w, "\"with\": {\"child\": {\"Alive\": %s}}, ", o->override == 1 ? "true" : "false");
    if (o->without != 0) put(w, "\"without\": [\"child\"], ");
    if (o->kind & 128) put(w, "\"Note\": {\"number\": %u}, ", o->speed % 5);
    put(w, "},\n");
}

static void write_document(const model *m, uint32_t document, writer *w)
{
    w->count = 0;
    put(w, "{\"weft\": 1, \"use\": {");
    for (uint32_t d = 0; d < DOCUMENTS; d++)
        if (d != document) put(w, "\"d%u\": \"d%u.weft\", ", d, d);
    put(w, "}, \"prefabs\": {\n");
    for (uint32_t i = 0; i < PREFABS; i++)
        if (m->prefabs[document][i].is_there) put_object(w, m, document, i, true);
    put(w, "}, \"objects\": {\n");
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (m->objects[document][i].is_there) put_object(w, m, document, i, false);
    put(w, "}%s\n", m->is_torn[document] ? "" : "}");
}

/* Each edit: add, remove, rename, change, move to another prefab, break, mend. */
static void edit(model *m, test_random *dice)
{
    uint32_t document = (uint32_t)test_random_below(dice, DOCUMENTS);
    bool is_prefab = test_random_below(dice, 4) == 0;
    uint32_t index = (uint32_t)test_random_below(dice, is_prefab ? PREFABS : OBJECTS);
    thing *o = is_prefab ? &m->prefabs[document][index] : &m->objects[document][index];
    switch (test_random_below(dice, 14)) {
    case 0:
        o->is_there = !o->is_there;
        break;
    case 1:
        o->name = (uint32_t)test_random_below(dice, is_prefab ? PREFABS : OBJECTS);
        break;
    case 2:
        o->prefab = (uint32_t)test_random_below(dice, 2 * PREFABS);
        break;
    case 3:
        o->reference++;
        break;
    case 4:
        o->kind ^= 1u << test_random_below(dice, 8);
        break;
    case 5:
        o->child++;
        break;
    case 6:
        o->override = (uint32_t)test_random_below(dice, 3);
        break;
    case 7:
        o->without = (uint32_t)test_random_below(dice, 3) == 0;
        break;
    case 8:
        o->is_broken = test_random_below(dice, 3) == 0;
        break;
    case 9:
        m->is_missing[document] = document != 0 && test_random_below(dice, 3) == 0;
        break;
    case 10:
        m->is_torn[document] = test_random_below(dice, 4) == 0;
        break;
    case 11:
        m->number[document]++;
        break;
    case 12: /* a child comes or goes */
        o->kind ^= 32;
        break;
    default:
        o->speed = (uint32_t)test_random_below(dice, 1000);
        break;
    }
}

/* What people do in the end: no mistake is left. */
static void mend(model *m)
{
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        m->is_missing[d] = m->is_torn[d] = false;
        for (uint32_t i = 0; i < OBJECTS; i++) {
            thing *o = &m->objects[d][i];
            o->is_broken = false;
            o->is_there = o->is_there || i < OBJECTS / 2; /* what others refer to */
            o->name = i;
            o->override = o->without = 0;
        }
        for (uint32_t i = 0; i < PREFABS; i++)
            m->prefabs[d][i] = (thing){.is_there = true,
                                       .name = i,
                                       .kind = m->prefabs[d][i].kind | 32,
                                       .speed = m->prefabs[d][i].speed,
                                       .child = m->prefabs[d][i].child};
    }
}

/* A baker that reads another object, its children and a file. */
static weft_result bake_watch(weft_bake *bake, const weft_object *object, void *user)
{
    const cast *c = user;
    char path[64];
    weft_property text;
    if (weft_bake_property(bake, object, "Watch", &text, 1) == 0) return WEFT_OK;
    snprintf(path, sizeof path, "%.*s", (int)text.json.count - 2, text.json.bytes + 1);
    const weft_object *other = weft_bake_object(bake, path);
    Team sum = {other != NULL};
    if (other != NULL) {
        Team note = {0};
        bool is_there;
        weft_bake_read(bake, other, "Note", &team_type, &note, &is_there);
        sum.number += note.number * 10;
        for (const weft_object *child = weft_bake_child(bake, other, NULL); child != NULL;
             child = weft_bake_child(bake, other, child))
            sum.number += 1000;
    }
    if (weft_bake_file(bake, "number", &text.json) == WEFT_OK)
        sum.number += 100000 * (uint32_t)text.json.bytes[0];
    return weft_bake_set(bake, weft_bake_entity(bake, "sum"), c->note, &sum, sizeof sum);
}

/* A scene with the world that it fills. */
typedef struct stage {
    weft_world *world;
    weft_scene *scene;
    cast c;
    weft_baker_desc baker;
} stage;

static void stage_begin(stage *s, uint32_t workers, shelf *files)
{
    s->world = cast_world(workers, &s->c);
    s->baker =
        (weft_baker_desc){.name = "watch", .property = "Watch", .bake = bake_watch, .user = &s->c};
    CHECK_OK(weft_scene_create(
        s->world,
        &(weft_scene_desc){
            .bakers = &s->baker, .baker_count = 1, .read = shelf_read, .user = files},
        &s->scene));
}

static void stage_end(stage *s)
{
    weft_scene_destroy(s->scene);
    CHECK_OK(weft_world_destroy(s->world));
}

static const char *const roots[] = {"d0.weft", "d1.weft"};

/* The bytes of a world that the scene fills. */
static weft_world_bytes bytes_of(stage *s, weft_world **world)
{
    cast c;
    weft_world_bytes bytes;
    *world = cast_world(1, &c);
    CHECK_OK(weft_scene_fill(s->scene, *world));
    CHECK_OK(weft_world_validate(*world));
    CHECK_OK(weft_world_save_memory(*world, &bytes, NULL));
    return bytes;
}

static void check_equal(stage *a, stage *b)
{
    weft_world *x, *y;
    weft_world_bytes first = bytes_of(a, &x), second = bytes_of(b, &y);
    CHECK_U64(first.count, second.count);
    CHECK(memcmp(first.bytes, second.bytes, first.count) == 0);
    weft_world_bytes_free(x, &first);
    weft_world_bytes_free(y, &second);
    CHECK_OK(weft_world_destroy(x));
    CHECK_OK(weft_world_destroy(y));
}

/* Every mistake of a bake from nothing is told by the bake step by step. (It may tell more: of
 * prefabs that only the last good state of an object refers to.) */
static void check_mistakes(const stage *live, const stage *whole)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < weft_scene_error_count(whole->scene); i++, k++) {
        const char *text = weft_scene_error(whole->scene, i)->text;
        while (k < weft_scene_error_count(live->scene) &&
               strcmp(weft_scene_error(live->scene, k)->text, text) != 0)
            k++;
        if (k == weft_scene_error_count(live->scene)) CHECK_TEXT("not told", text);
    }
}

/* One script; returns how many bakes were clean, and compared. */
static uint32_t run_script(test_random dice, uint64_t seed, uint32_t edits,
                           char texts[DOCUMENTS][TEXT_BYTES], uint32_t *kept)
{
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    model m = {0};
    shelf files = {0};
    stage live;
    char numbers[DOCUMENTS][8];
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        for (uint32_t i = 0; i < OBJECTS; i++) {
            m.objects[d][i].is_there = i <= OBJECTS / 2;
            m.objects[d][i].name = i;
            m.objects[d][i].kind = (uint32_t)test_random_below(&dice, KINDS);
            m.objects[d][i].prefab = (uint32_t)test_random_below(&dice, 2 * PREFABS);
        }
        for (uint32_t i = 0; i < PREFABS; i++) {
            m.prefabs[d][i].is_there = true;
            m.prefabs[d][i].name = i;
            m.prefabs[d][i].kind = 32 | (uint32_t)test_random_below(&dice, KINDS);
        }
    }
    stage_begin(&live, worker_counts[seed % 4], &files);
    uint32_t clean = 0;
    for (uint32_t e = 0; e < edits; e++) {
        for (uint64_t k = e == 0 ? 0 : 1 + test_random_below(&dice, 3); k > 0; k--) edit(&m, &dice);
        if (test_random_below(&dice, 3) == 0) mend(&m);
        for (uint32_t d = 0; d < DOCUMENTS; d++) {
            writer w = {texts[d], 0};
            char name[16];
            snprintf(name, sizeof name, "d%u.weft", d);
            write_document(&m, d, &w);
            shelf_put(&files, name, m.is_missing[d] ? NULL : w.text);
        }
        snprintf(numbers[0], sizeof numbers[0], "%u", m.number[0] % 10);
        shelf_put(&files, "number", numbers[0]);
        bool is_clean = weft_scene_bake(live.scene, roots, 2) == WEFT_OK;
        stage whole;
        stage_begin(&whole, worker_counts[(seed + e) % 4], &files);
        CHECK(is_clean == (weft_scene_bake(whole.scene, roots, 2) == WEFT_OK));
        if (is_clean) {
            check_equal(&live, &whole);
            clean++;
            weft_scene_stats stats, all;
            weft_scene_stats_get(live.scene, &stats, sizeof stats);
            weft_scene_stats_get(whole.scene, &all, sizeof all);
            CHECK_U64(stats.entities, all.entities);
            *kept += stats.baked < all.baked;
        } else if (!m.is_torn[0] && !m.is_torn[1] && !m.is_torn[2] && !m.is_missing[1] &&
                   !m.is_missing[2]) {
            check_mistakes(&live, &whole);
        }
        stage_end(&whole);
    }
    stage_end(&live);
    return clean;
}

static uint32_t number_of(const char *name, uint32_t otherwise)
{
    const char *asked = getenv(name);
    return asked == NULL ? otherwise : (uint32_t)strtoul(asked, NULL, 10);
}

PLAIN_TEST(a_bake_step_by_step_is_the_bake_from_nothing)
{
    static char texts[DOCUMENTS][TEXT_BYTES];
    uint32_t scripts = number_of("WEFT_SCENE_SCRIPTS", 60);
    uint32_t edits = number_of("WEFT_SCENE_EDITS", 25), clean = 0, kept = 0;
    const test_random dice = test_random_init(1);
    for (uint32_t i = 0; i < scripts; i++)
        clean += run_script(test_random_fork(&dice, i), i, edits, texts, &kept);
    printf("%u scripts, %u bakes compared, %u of them partial\n", scripts, clean, kept);
    CHECK(clean > scripts && kept > clean / 4);
}
