/* SPDX-License-Identifier: MIT */
/* scene_scripts.h: random scripts of edits: three documents that use each other, with prefabs,
 * references, places, children, mistakes, and a baker that reads other objects and a file. */
#ifndef WEFT_TESTS_SCENE_SCRIPTS_H
#define WEFT_TESTS_SCENE_SCRIPTS_H

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
    bool has_no_instances; /* constant in a script */
} model;

typedef struct writer {
    char *text;
    size_t count;
} writer;

__attribute__((format(printf, 2, 3))) static inline void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->count += (size_t)vsnprintf(w->text + w->count, TEXT_BYTES - w->count, format, arguments);
    va_end(arguments);
    CHECK(w->count < TEXT_BYTES);
}

static inline void put_object(writer *w, const model *m, uint32_t document, uint32_t index,
                              bool is_prefab)
{
    const thing *o = is_prefab ? &m->prefabs[document][index] : &m->objects[document][index];
    put(w, "\"%s%u\": {", is_prefab ? "p" : "o", o->name);
    if (o->is_broken)
        put(w, "\"Spin\": {\"speed\": \"3 kg\"}, ");
    else if (o->kind & 1)
        put(w, "\"Spin\": {\"speed\": %u}, ", o->speed % 100);
    if (o->prefab != 0 && !m->has_no_instances) {
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
    const char *rest = o->child % 2 == 0 ? "" : "\"static\": true, ";
    if (o->kind & 16) put(w, "\"transform\": {\"position\": [%u, 0, 0]}, %s", o->speed % 7, rest);
    if ((o->kind & 32) && o->prefab == 0) { /* else the prefab has the child */
        put(w,
            "\"Links\": [{\"to\": \"child\", \"weight\": %u}, {}], \"children\": {\"child\": "
            "{\"Team\": {\"number\": %u}, ",
            o->speed, o->child % 3);
        if (o->kind & 16) put(w, "\"transform\": {\"position\": [0, 1, 0]}, %s", rest);
        put(w, "}}, ");
    }
    if (o->kind & 64)
        put(w, "\"Shield\": {\"strength\": %u}, \"disabled\": [\"Shield\"], ", o->speed);
    if (o->override != 0)
        put(w, "\"with\": {\"child\": {\"Alive\": %s}}, ", o->override == 1 ? "true" : "false");
    if (o->without != 0) put(w, "\"without\": [\"child\"], ");
    if (o->kind & 128) put(w, "\"Note\": {\"number\": %u}, ", o->speed % 5);
    put(w, "},\n");
}

static inline void write_document(const model *m, uint32_t document, writer *w)
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
static inline void edit(model *m, test_random *dice)
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
static inline void mend(model *m)
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
static inline weft_result bake_watch(weft_bake *bake, const weft_object *object, void *user)
{
    (void)user;
    char path[64];
    weft_property text;
    if (weft_bake_property(bake, object, "Watch", &text, 1) == 0) return WEFT_OK;
    snprintf(path, sizeof path, "%.*s", (int)text.json.count - 2, text.json.bytes + 1);
    const weft_object *other = weft_bake_object(bake, path);
    Team sum = {other != NULL};
    if (other != NULL) {
        Team note = {0};
        bool is_there;
        weft_bake_parse(bake, other, "Note", &team_type, &note, &is_there);
        sum.number += note.number * 10;
        for (const weft_object *child = weft_bake_child(bake, other, NULL); child != NULL;
             child = weft_bake_child(bake, other, child))
            sum.number += 1000;
    }
    if (weft_bake_file(bake, "number", &text.json) == WEFT_OK)
        sum.number += 100000 * (uint32_t)text.json.bytes[0];
    return weft_bake_set(bake, weft_bake_entity(bake, "sum"), weft_bake_component(bake, "Note"),
                         &sum, sizeof sum);
}

/* A scene with the world that it fills. */
typedef struct stage {
    weft_world *world;
    weft_scene *scene;
    cast c;
    weft_baker_desc baker;
} stage;

static inline void stage_begin(stage *s, uint32_t workers, shelf *files)
{
    s->world = cast_world(workers, &s->c);
    s->baker = (weft_baker_desc){.name = "watch", .property = "Watch", .bake = bake_watch};
    CHECK_OK(weft_scene_create(
        s->world,
        &(weft_scene_desc){
            .bakers = &s->baker, .baker_count = 1, .read = shelf_read, .user = files},
        &s->scene));
}

static inline void stage_end(stage *s)
{
    weft_scene_destroy(s->scene);
    CHECK_OK(weft_world_destroy(s->world));
}

static const char *const roots[] = {"d0.weft", "d1.weft"};

/* Documents as scripts begin with them. */
static inline void model_begin(model *m, test_random *dice)
{
    memset(m, 0, sizeof *m);
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        for (uint32_t i = 0; i < OBJECTS; i++) {
            m->objects[d][i].is_there = i <= OBJECTS / 2;
            m->objects[d][i].name = i;
            m->objects[d][i].kind = (uint32_t)test_random_below(dice, KINDS);
            m->objects[d][i].prefab = (uint32_t)test_random_below(dice, 2 * PREFABS);
        }
        for (uint32_t i = 0; i < PREFABS; i++) {
            m->prefabs[d][i].is_there = true;
            m->prefabs[d][i].name = i;
            m->prefabs[d][i].kind = 32 | (uint32_t)test_random_below(dice, KINDS);
        }
    }
}

/* Some edits; `texts` and `number` hold what the files have then. */
static inline void edit_some(model *m, test_random *dice, uint32_t most, shelf *files,
                             char texts[DOCUMENTS][TEXT_BYTES], char number[8])
{
    for (uint64_t k = most == 0 ? 0 : 1 + test_random_below(dice, most); k > 0; k--) edit(m, dice);
    if (test_random_below(dice, 3) == 0) mend(m);
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        writer w = {texts[d], 0};
        char name[16];
        snprintf(name, sizeof name, "d%u.weft", d);
        write_document(m, d, &w);
        shelf_put(files, name, m->is_missing[d] ? NULL : w.text);
    }
    snprintf(number, 8, "%u", m->number[0] % 10);
    shelf_put(files, "number", number);
}

static inline uint32_t number_of(const char *name, uint32_t otherwise)
{
    const char *asked = getenv(name);
    return asked == NULL ? otherwise : (uint32_t)strtoul(asked, NULL, 10);
}

#endif
