/* SPDX-License-Identifier: MIT */
/* test_live.c: a running world follows its documents, field by field: what the run has changed
 * stays or is taken as the policy says; random scripts of edits and writes end in what a model
 * says, which is a full bake with the writes of the run replayed.
 */
#include "scene_fixture.h"

#include "invariant.h"

#include <weft/live.h>
#include <weft/snapshot.h>

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* A world, its link and its document in memory. */
typedef struct stage {
    shelf files;
    cast cast;
    weft_world *world;
    weft_live *live;
    weft_scene_desc scene;
    uint32_t told;
    weft_live_conflict last;
    char last_text[128];
    bool takes, meddles;
} stage;

static void told(const weft_live_conflict *conflict, void *user)
{
    stage *s = user;
    s->told++;
    s->last = *conflict;
    snprintf(s->last_text, sizeof s->last_text, "%s.%s.%s", conflict->path,
             conflict->component == NULL ? "" : conflict->component,
             conflict->field == NULL ? "" : conflict->field);
    if (!s->meddles) return;
    const weft_result wrong = WEFT_WRONG_PHASE;
    CHECK_RESULT(weft_world_destroy(s->world), wrong);
    CHECK_RESULT(weft_entity_destroy(s->world, conflict->entity), wrong);
    CHECK_RESULT(weft_world_step(s->world, 0), wrong);
    CHECK_RESULT(weft_live_apply(s->live, 0, NULL, 0), wrong);
    CHECK_RESULT(weft_live_refresh(s->live), wrong);
    CHECK_RESULT(weft_live_edit(s->live, "a", "Spin.speed", "9"), wrong);
    CHECK_RESULT(weft_live_undo(s->live), wrong);
    weft_live_stop(s->live); /* ignored */
    CHECK_RESULT(weft_world_error(s->world)->code, wrong);
}

static bool asked(const weft_live_conflict *conflict, void *user)
{
    (void)conflict;
    return ((const stage *)user)->takes;
}

static void begin(stage *s, const char *text, weft_live_policy policy)
{
    memset(s, 0, sizeof *s);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &s->world));
    CHECK_OK(weft_transform_create(s->world, NULL, &s->cast.transform));
    weft_transform transform = s->cast.transform;
    s->cast = cast_register(s->world);
    s->cast.transform = transform;
    shelf_put(&s->files, "a.weft", text);
    s->scene = (weft_scene_desc){.read = shelf_read, .user = &s->files};
    const weft_live_desc desc = {.scene = &s->scene,
                                 .paths = (const char *[]){"a.weft"},
                                 .path_count = 1,
                                 .policy = policy,
                                 .ask = asked,
                                 .conflict = told,
                                 .user = s,
                                 .without_thread = true};
    CHECK_OK(weft_live_start(s->world, &desc, &s->live));
}

static void end(stage *s)
{
    if (s->live != NULL) {
        CHECK_RESULT(weft_world_destroy(s->world), WEFT_BUSY);
        CHECK(strstr(weft_world_error(s->world)->text, "live link (weft_live_stop)") != NULL);
    }
    weft_live_stop(s->live);
    CHECK_OK(weft_world_validate(s->world));
    CHECK_OK(weft_world_destroy(s->world));
}

static weft_live_report edit(stage *s, const char *text)
{
    weft_live_report report;
    shelf_put(&s->files, "a.weft", text);
    CHECK_OK(weft_live_refresh(s->live));
    CHECK_OK(weft_live_apply(s->live, 0, &report, sizeof report));
    CHECK_OK(weft_world_validate(s->world));
    return report;
}

static const Spin *spin_of(const stage *s, const char *path)
{
    return weft_entity_read(s->world, weft_live_entity(s->live, path), s->cast.spin);
}

static void spin_write(const stage *s, const char *path, float speed)
{
    Spin *spin = weft_entity_write(s->world, weft_live_entity(s->live, path), s->cast.spin);
    spin->speed = speed;
}

static const char two[] = "{\"weft\": 1, \"objects\": {"
                          "\"a\": {\"Spin\": {\"speed\": 2}}, \"b\": {\"Spin\": {\"speed\": 3}}}}";

PLAIN_TEST(what_the_run_has_not_changed_follows_the_file)
{
    stage s;
    begin(&s, two, WEFT_LIVE_KEEP);
    CHECK_F64((double)spin_of(&s, "a")->speed, 2, 0);
    weft_entity a = weft_live_entity(s.live, "a"), b = weft_live_entity(s.live, "b");
    CHECK_TEXT(weft_live_path(s.live, a), "a");
    uint32_t before = weft_world_advance_change_version(s.world);
    weft_live_report report =
        edit(&s, "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 5}}, "
                 "\"b\": {\"Spin\": {\"speed\": 3}}}}");
    CHECK_U64(report.changed, 1);
    CHECK_U64(report.values, 1);
    CHECK_U64(report.conflicts, 0);
    CHECK_F64((double)spin_of(&s, "a")->speed, 5, 0);
    CHECK(weft_entity_equal(a, weft_live_entity(s.live, "a")));
    CHECK(weft_entity_change_version(s.world, a, s.cast.spin) > before);
    (void)b;
    end(&s);
}

PLAIN_TEST(a_field_that_both_changed_is_a_conflict)
{
    for (int policy = 0; policy < 4; policy++) {
        stage s;
        begin(&s, two, policy == 3 ? WEFT_LIVE_ASK : (weft_live_policy)policy);
        s.takes = policy == 3;
        s.meddles = true;
        spin_write(&s, "a", 9);
        weft_live_report report = edit(
            &s, "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 5, \"axis\": [1, 0, "
                "0]}}, \"b\": {\"Spin\": {\"speed\": 3}}}}");
        bool is_taken = policy == WEFT_LIVE_TAKE || policy == 3;
        CHECK_U64(report.conflicts, 1);
        CHECK_U64(s.told, 1);
        CHECK_TEXT(s.last_text, "a.Spin.speed");
        CHECK_F64((double)spin_of(&s, "a")->speed, is_taken ? 5 : 9, 0);
        CHECK_F64((double)spin_of(&s, "a")->axis[0], 1, 0); /* the other field follows */
        end(&s);
    }
}

PLAIN_TEST(tools_find_the_links_of_a_world_and_what_they_tell)
{
    stage s, other;
    weft_live *links[2] = {NULL, NULL};
    char text[512];
    begin(&s, two, WEFT_LIVE_KEEP);
    begin(&other, two, WEFT_LIVE_KEEP);
    CHECK_U64(weft_live_list(s.world, links, 2), 1);
    CHECK(links[0] == s.live && links[1] == NULL);
    CHECK_TEXT(weft_live_document_at(s.live, 0), "a.weft");
    CHECK(weft_live_document_at(s.live, 1) == NULL && weft_live_conflict_at(s.live, 0) == NULL);
    CHECK(weft_live_explain(s.live, "b", false, text, sizeof text) != 0);
    CHECK(strstr(text, "a.weft:1") != NULL);
    CHECK_U64(weft_live_explain(s.live, "none", false, text, sizeof text), 0);
    for (int i = 0; i < 20; i++) { /* more than are kept */
        char document[128];
        spin_write(&s, "a", 100.0f + (float)i);
        snprintf(document, sizeof document,
                 "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": %d}}}}", 10 + i);
        edit(&s, document);
    }
    CHECK_TEXT(weft_live_conflict_at(s.live, 0),
               "a.Spin.speed: the run and the document have changed it; the world stays as it is");
    CHECK(weft_live_conflict_at(s.live, 15) != NULL);
    CHECK(weft_live_conflict_at(s.live, 16) == NULL);
    weft_live_stop(s.live);
    s.live = NULL;
    CHECK_U64(weft_live_list(s.world, NULL, 0), 0);
    CHECK_U64(weft_live_list(other.world, NULL, 0), 1);
    end(&s);
    end(&other);
}

PLAIN_TEST(objects_and_components_come_and_go)
{
    stage s;
    begin(&s, two, WEFT_LIVE_KEEP);
    weft_live_report report =
        edit(&s, "{\"weft\": 1, \"objects\": {\"a\": {\"Team\": {\"number\": 4}, \"Alive\": true}, "
                 "\"c\": {\"Spawner\": {\"what\": \"/a\", \"every\": 1}}}}");
    CHECK_U64(report.added, 1);
    CHECK_U64(report.removed, 1);
    weft_entity a = weft_live_entity(s.live, "a"), c = weft_live_entity(s.live, "c");
    CHECK(!weft_entity_has(s.world, a, s.cast.spin));
    CHECK(weft_entity_has(s.world, a, s.cast.alive));
    CHECK_U64(((const Team *)weft_entity_read_shared(s.world, a, s.cast.team))->number, 4);
    const Spawner *spawner = weft_entity_read(s.world, c, s.cast.spawner);
    CHECK(weft_entity_equal(spawner->what, a));
    CHECK_U64(weft_live_entity(s.live, "b").version, 0);
    report = edit(&s, two);
    CHECK_U64(report.added, 1);
    CHECK(weft_entity_has(s.world, a, s.cast.spin));
    CHECK(!weft_entity_has(s.world, a, s.cast.alive));
    CHECK(!weft_entity_is_alive(s.world, c));
    end(&s);
}

PLAIN_TEST(an_object_below_another_one_gets_another_parent)
{
    stage s;
    begin(&s,
          "{\"weft\": 1, \"objects\": {\"a\": {\"transform\": {}, \"children\": {\"x\": "
          "{\"transform\": {}}}}, \"b\": {\"transform\": {}}}}",
          WEFT_LIVE_KEEP);
    weft_component parent = weft_component_parent(s.world);
    weft_entity x = weft_live_entity(s.live, "a/x");
    CHECK(weft_entity_equal(((const weft_target *)weft_entity_read(s.world, x, parent))->entity,
                            weft_live_entity(s.live, "a")));
    edit(&s, "{\"weft\": 1, \"objects\": {\"a\": {\"transform\": {}}, \"b\": {\"transform\": {}, "
             "\"children\": {\"x\": {\"transform\": {}}}}}}");
    x = weft_live_entity(s.live, "b/x");
    CHECK(weft_entity_equal(((const weft_target *)weft_entity_read(s.world, x, parent))->entity,
                            weft_live_entity(s.live, "b")));
    CHECK_U64(weft_live_entity(s.live, "a/x").version, 0);
    end(&s);
}

PLAIN_TEST(what_the_run_destroyed_or_removed_stays_so_unless_the_file_is_taken)
{
    const char *changed = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 5}}, "
                          "\"b\": {\"Spin\": {\"speed\": 6}}}}";
    for (int takes = 0; takes < 2; takes++) {
        stage s;
        begin(&s, two, takes ? WEFT_LIVE_TAKE : WEFT_LIVE_KEEP);
        CHECK_OK(weft_entity_destroy(s.world, weft_live_entity(s.live, "a")));
        CHECK_OK(weft_entity_remove(s.world, weft_live_entity(s.live, "b"), s.cast.spin));
        weft_live_report report = edit(&s, changed);
        CHECK_U64(report.conflicts, 2);
        CHECK_U64(weft_entity_is_alive(s.world, weft_live_entity(s.live, "a")), takes);
        CHECK_U64(weft_entity_has(s.world, weft_live_entity(s.live, "b"), s.cast.spin), takes);
        if (takes) CHECK_F64((double)spin_of(&s, "a")->speed, 5, 0);
        end(&s);
    }
}

static void edit_speed(stage *s, const char *path, uint32_t speed)
{
    char text[128];
    snprintf(text, sizeof text, "{\"weft\": 1, \"objects\": {\"%s\": {\"Spin\": {\"speed\": %u}}}}",
             path, speed);
    edit(s, text);
}

/* More often than the tables of an object have places. */
PLAIN_TEST(an_object_that_the_run_destroys_comes_back_for_ever)
{
    stage s;
    begin(&s, two, WEFT_LIVE_TAKE);
    for (uint32_t i = 0; i < 600; i++) {
        CHECK_OK(weft_entity_destroy(s.world, weft_live_entity(s.live, "a")));
        edit_speed(&s, "a", 1 + i % 9);
        CHECK_F64((double)spin_of(&s, "a")->speed, 1 + i % 9, 0);
    }
    end(&s);
}

/* 0 under AddressSanitizer. */
static size_t bytes_in_use(void)
{
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

PLAIN_TEST(objects_that_are_gone_leave_no_memory)
{
    stage s;
    char path[16];
    size_t before = 0;
    begin(&s, two, WEFT_LIVE_KEEP);
    for (uint32_t i = 0; i < 4000; i++) {
        if (i == 500) before = bytes_in_use();
        snprintf(path, sizeof path, "n%u", i);
        edit_speed(&s, path, 1);
    }
    CHECK(bytes_in_use() < before + 20000); /* slots of 3,500 objects: 140 KB and more */
    end(&s);
}

PLAIN_TEST(an_edited_prefab_reaches_instances_of_the_run)
{
    const char *text = "{\"weft\": 1, \"prefabs\": {\"gun\": {\"Spin\": {\"speed\": %s}}}, "
                       "\"objects\": {\"a\": {\"Spawner\": {\"what\": \"#gun\"}}, "
                       "\"b\": {\"prefab\": \"#gun\"}}}";
    char first[512], second[512];
    snprintf(first, sizeof first, text, "2");
    snprintf(second, sizeof second, text, "4");
    stage s;
    begin(&s, first, WEFT_LIVE_KEEP);
    const Spawner *spawner =
        weft_entity_read(s.world, weft_live_entity(s.live, "a"), s.cast.spawner);
    weft_entity copies[3];
    CHECK_OK(weft_entity_instantiate(s.world, spawner->what, 3, copies));
    Spin *own = weft_entity_write(s.world, copies[1], s.cast.spin);
    own->speed = 7;
    weft_live_report report = edit(&s, second);
    CHECK_U64(report.instances, 2);
    for (int i = 0; i < 3; i++)
        CHECK_F64((double)((const Spin *)weft_entity_read(s.world, copies[i], s.cast.spin))->speed,
                  i == 1 ? 7 : 4, 0);
    CHECK_F64((double)spin_of(&s, "b")->speed, 4, 0);
    end(&s);
}

PLAIN_TEST(a_broken_document_keeps_the_world_and_tells)
{
    stage s;
    begin(&s, two, WEFT_LIVE_KEEP);
    weft_live_report report = edit(&s, "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": ");
    CHECK(report.errors != 0);
    weft_error mistake;
    CHECK_U64(weft_live_mistakes(s.live, &mistake, 1), report.errors);
    CHECK_RESULT(mistake.code, WEFT_INVALID_ARGUMENT);
    CHECK_TEXT(mistake.file, "a.weft");
    CHECK_U64(mistake.line, 1);
    CHECK(mistake.column > 30 && strstr(mistake.text, ":1:") != NULL);
    CHECK_F64((double)spin_of(&s, "a")->speed, 2, 0);
    report = edit(&s, two);
    CHECK_U64(report.errors, 0);
    CHECK_U64(report.values, 0);
    end(&s);
}

PLAIN_TEST(a_link_touches_nothing_after_a_restore_to_before_its_last_change)
{
    static const char three[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2}}, "
                                "\"b\": {\"Spin\": {\"speed\": 3}}, \"c\": {\"Spin\": {}}}}";
    stage s;
    weft_snapshot *before, *after;
    begin(&s, two, WEFT_LIVE_KEEP);
    CHECK_OK(weft_snapshot_take(s.world, NULL, &before));
    CHECK_OK(weft_snapshot_restore(s.world, before)); /* the link has changed nothing since */
    CHECK_U64(edit(&s, three).added, 1);
    weft_entity c = weft_live_entity(s.live, "c");
    CHECK_OK(weft_snapshot_take(s.world, NULL, &after));
    CHECK_OK(weft_snapshot_restore(s.world, before));
    weft_entity other = weft_entity_create(s.world, WEFT_ARCHETYPE(s.world, s.cast.spin));
    CHECK(weft_entity_equal(other, c)); /* the handle of the undone object */
    shelf_put(&s.files, "a.weft", two);
    CHECK_OK(weft_live_refresh(s.live));
    weft_live_report report;
    CHECK_RESULT(weft_live_apply(s.live, 0, &report, sizeof report), WEFT_UNSUPPORTED);
    CHECK_U64(report.errors, 1);
    weft_error mistake;
    CHECK_U64(weft_live_mistakes(s.live, &mistake, 1), 1);
    CHECK_RESULT(mistake.code, WEFT_UNSUPPORTED);
    CHECK(strstr(mistake.text, "put back by a snapshot") != NULL);
    CHECK(weft_entity_is_alive(s.world, other));
    CHECK(weft_entity_is_null(weft_live_entity(s.live, "a")));
    CHECK(weft_live_path(s.live, other) == NULL);
    CHECK_OK(weft_snapshot_restore(s.world, after)); /* the link goes on */
    CHECK(weft_entity_equal(weft_live_entity(s.live, "c"), c));
    CHECK_OK(weft_live_apply(s.live, 0, &report, sizeof report));
    CHECK_U64(report.removed, 1);
    CHECK(!weft_entity_is_alive(s.world, c));
    weft_snapshot_destroy(before);
    weft_snapshot_destroy(after);
    end(&s);
}

PLAIN_TEST(a_budget_is_kept_and_the_rest_comes_later)
{
    static char many[40000];
    stage s;
    begin(&s, "{\"weft\": 1, \"objects\": {}}", WEFT_LIVE_KEEP);
    size_t at = (size_t)snprintf(many, sizeof many, "{\"weft\": 1, \"objects\": {");
    for (int i = 0; i < 300; i++)
        at += (size_t)snprintf(many + at, sizeof many - at, "\"o%d\": {\"Spin\": {\"speed\": 1}},",
                               i);
    snprintf(many + at, sizeof many - at, "}}");
    shelf_put(&s.files, "a.weft", many);
    CHECK_OK(weft_live_refresh(s.live));
    weft_live_report report;
    uint32_t calls = 0, added = 0;
    do {
        CHECK_OK(weft_live_apply(s.live, 1, &report, sizeof report));
        added += report.added;
        calls++;
    } while (report.bakes == 0);
    CHECK(calls > 100);
    CHECK_U64(added, 300);
    CHECK_F64((double)spin_of(&s, "o299")->speed, 1, 0);
    end(&s);
}

/* ---- random scripts ---- */

enum { OBJECTS = 4, FIELDS = 2 };

/* What a field should be. */
typedef struct model {
    bool is_there; /* in the file */
    bool is_dead;  /* destroyed by the run */
    bool has_spin; /* in the file */
    bool has_now;  /* in the world */
    int file[FIELDS], now[FIELDS];
} model;

static uint32_t below(test_random *random, uint32_t bound)
{
    return (uint32_t)test_random_below(random, bound);
}

static void text_make(const model *m, char *text, size_t bytes)
{
    size_t at = (size_t)snprintf(text, bytes, "{\"weft\": 1, \"objects\": {");
    for (int i = 0; i < OBJECTS; i++) {
        if (!m[i].is_there) continue;
        at += (size_t)snprintf(text + at, bytes - at, "\"o%d\": {\"Alive\": true,", i);
        if (m[i].has_spin)
            at += (size_t)snprintf(text + at, bytes - at,
                                   "\"Spin\": {\"speed\": %d, \"axis\": [%d, 0, 0]}", m[i].file[0],
                                   m[i].file[1]);
        at += (size_t)snprintf(text + at, bytes - at, "},");
    }
    snprintf(text + at, bytes - at, "}}");
}

/* The rule of KEEP for one object whose file changed from `was` to `m`. */
static void model_apply(model *m, const model *was)
{
    if (!m->is_there) {
        m->has_now = m->is_dead = false;
        return;
    }
    if (!was->is_there) {
        m->is_dead = false;
        m->has_now = m->has_spin;
        memcpy(m->now, m->file, sizeof m->now);
        return;
    }
    if (m->is_dead) return;
    bool is_base = memcmp(m->now, was->file, sizeof m->now) == 0;
    if (m->has_spin && !was->has_spin) {
        if (!m->has_now) memcpy(m->now, m->file, sizeof m->now);
        m->has_now = true;
    } else if (!m->has_spin && was->has_spin) {
        if (is_base) m->has_now = false;
    } else if (m->has_spin && m->has_now) {
        for (int f = 0; f < FIELDS; f++)
            if (m->now[f] == was->file[f]) m->now[f] = m->file[f];
    }
}

static void model_check(const stage *s, const model *m)
{
    for (int i = 0; i < OBJECTS; i++) {
        char path[16];
        snprintf(path, sizeof path, "o%d", i);
        weft_entity e = weft_live_entity(s->live, path);
        CHECK_U64(e.version != 0, m[i].is_there);
        if (!m[i].is_there) continue;
        CHECK_U64(weft_entity_is_alive(s->world, e), !m[i].is_dead);
        if (m[i].is_dead) continue;
        const Spin *spin = weft_entity_read(s->world, e, s->cast.spin);
        CHECK_U64(spin != NULL, m[i].has_now);
        if (spin == NULL) continue;
        CHECK_F64((double)spin->speed, m[i].now[0], 0);
        CHECK_F64((double)spin->axis[0], m[i].now[1], 0);
    }
}

static void run_write(const stage *s, model *m, test_random *random)
{
    int i = (int)below(random, OBJECTS);
    char path[16];
    snprintf(path, sizeof path, "o%d", i);
    weft_entity e = weft_live_entity(s->live, path);
    if (!m[i].is_there || m[i].is_dead) return;
    uint32_t what = below(random, 8);
    if (what == 0) {
        CHECK_OK(weft_entity_destroy(s->world, e));
        m[i].is_dead = true;
    } else if (what == 1 && m[i].has_now) {
        CHECK_OK(weft_entity_remove(s->world, e, s->cast.spin));
        m[i].has_now = false;
    } else if (what == 2 && !m[i].has_now) {
        Spin own = {.speed = 50, .axis = {50}};
        CHECK_OK(weft_entity_add(s->world, e, s->cast.spin));
        CHECK_OK(weft_entity_set(s->world, e, s->cast.spin, &own, sizeof own));
        m[i].has_now = true;
        m[i].now[0] = m[i].now[1] = 50;
    } else if (m[i].has_now) {
        Spin *spin = weft_entity_write(s->world, e, s->cast.spin);
        int value = (int)below(random, 4);
        if (what % 2 == 0)
            spin->speed = (float)(m[i].now[0] = value);
        else
            spin->axis[0] = (float)(m[i].now[1] = value);
    }
}

static void file_edit(stage *s, model *m, test_random *random, char *text, size_t bytes)
{
    model was[OBJECTS];
    memcpy(was, m, sizeof was);
    for (uint32_t n = 1 + below(random, 3); n != 0; n--) {
        model *o = &m[below(random, OBJECTS)];
        uint32_t what = below(random, 6);
        if (what == 0)
            o->is_there = !o->is_there;
        else if (what == 1)
            o->has_spin = !o->has_spin;
        else
            o->file[what % 2] = (int)below(random, 4);
    }
    text_make(m, text, bytes);
    edit(s, text);
    for (int i = 0; i < OBJECTS; i++) model_apply(&m[i], &was[i]);
}

PLAIN_TEST(random_scripts_of_edits_and_writes_end_as_the_model_says)
{
    const uint32_t scripts = getenv("WEFT_DEEP") != NULL ? 10000 : 60, steps = 10;
    test_random random = test_random_init(19);
    for (uint32_t k = 0; k < scripts; k++) {
        static char texts[2][2048];
        model m[OBJECTS] = {{.is_there = true, .has_spin = true, .has_now = true}};
        stage s;
        text_make(m, texts[0], sizeof texts[0]);
        begin(&s, texts[0], WEFT_LIVE_KEEP);
        for (uint32_t i = 0; i < steps; i++) {
            if (below(&random, 2) == 0)
                run_write(&s, m, &random);
            else
                file_edit(&s, m, &random, texts[(i + 1) % 2], sizeof texts[0]);
            model_check(&s, m);
        }
        end(&s);
    }
}

/* ---- files, the thread, ways of saving ---- */

static const char file_path[] = "live.weft";

static void file_put(const char *path, const char *text, size_t bytes, int flags)
{
    int file = open(path, O_WRONLY | O_CREAT | flags, 0644);
    CHECK(file >= 0);
    CHECK_U64((uint64_t)write(file, text, bytes), bytes);
    close(file);
}

/* A link to the file as it is. */
static void file_link(stage *s)
{
    memset(s, 0, sizeof *s);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &s->world));
    CHECK_OK(weft_transform_create(s->world, NULL, &s->cast.transform));
    s->cast = cast_register(s->world);
    const weft_live_desc desc = {.paths = (const char *[]){file_path}, .path_count = 1};
    CHECK_OK(weft_live_start(s->world, &desc, &s->live));
}

static weft_live *file_live(stage *s, const char *text)
{
    file_put(file_path, text, strlen(text), O_TRUNC);
    file_link(s);
    return s->live;
}

/* Until the speed of "a" is this. */
static void speed_await(stage *s, float speed)
{
    while (spin_of(s, "a") == NULL || spin_of(s, "a")->speed != speed) {
        CHECK_OK(weft_live_apply(s->live, 0, NULL, 0));
        poll(NULL, 0, 1);
    }
}

static const char plain_text[] = "// the ship\n{ \"weft\": 1,\n  \"objects\": {\n    \"a\": { "
                                 "\"Spin\": {\"speed\": 2 /* slow */, }, },\n  }}\n";

PLAIN_TEST(all_ways_in_which_editors_save_are_seen)
{
    stage s;
    char other[80], text[256];
    file_live(&s, plain_text);
    CHECK_F64((double)spin_of(&s, "a")->speed, 2, 0);
    snprintf(other, sizeof other, "%s~", file_path);
    for (int way = 0; way < 5; way++) {
        float speed = (float)(10 + way);
        int bytes =
            snprintf(text, sizeof text,
                     "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": %d}}}}", 10 + way);
        if (way == 0) file_put(file_path, text, (size_t)bytes, O_TRUNC); /* in place */
        if (way == 1) { /* a new file over the old one: vim, sed -i, git */
            file_put(other, text, (size_t)bytes, O_TRUNC);
            CHECK(rename(other, file_path) == 0);
        }
        if (way == 2) { /* the old one aside, then a new one */
            CHECK(rename(file_path, other) == 0);
            file_put(file_path, text, (size_t)bytes, O_TRUNC);
            unlink(other);
        }
        if (way == 3) { /* in two halves */
            file_put(file_path, text, 20, O_TRUNC);
            file_put(file_path, text + 20, (size_t)bytes - 20, O_APPEND);
        }
        if (way == 4) { /* in place, with the size and the time of before */
            struct stat was;
            CHECK(stat(file_path, &was) == 0);
            CHECK_U64((uint64_t)was.st_size, (uint64_t)bytes);
            const struct timespec times[2] = {was.st_atim, was.st_mtim};
            int file = open(file_path, O_WRONLY);
            CHECK_U64((uint64_t)write(file, text, (size_t)bytes), (uint64_t)bytes);
            CHECK(futimens(file, times) == 0);
            close(file);
        }
        speed_await(&s, speed);
    }
    unlink(file_path);
    end(&s);
}

/* Half a document that is a good one: a writer pauses in the middle. */
PLAIN_TEST(a_document_that_is_being_written_is_left_alone)
{
    static const char half[] = "{\"weft\": 1, \"objects\": {\"b\": {}}}                        ";
    static const char whole[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 9}}}}";
    stage s;
    file_live(&s, plain_text);
    weft_entity a = weft_live_entity(s.live, "a");
    int file = open(file_path, O_WRONLY | O_TRUNC);
    CHECK_U64((uint64_t)write(file, half, sizeof half - 1), sizeof half - 1);
    for (int i = 0; i < 120; i++) { /* six looks */
        CHECK_OK(weft_live_apply(s.live, 0, NULL, 0));
        poll(NULL, 0, 10);
    }
    CHECK(weft_entity_equal(weft_live_entity(s.live, "a"), a));
    CHECK(weft_entity_is_null(weft_live_entity(s.live, "b")));
    CHECK(ftruncate(file, 0) == 0);
    CHECK_U64((uint64_t)pwrite(file, whole, sizeof whole - 1, 0), sizeof whole - 1);
    close(file);
    speed_await(&s, 9);
    CHECK(weft_entity_equal(weft_live_entity(s.live, "a"), a));
    unlink(file_path);
    end(&s);
}

static void *rest_write(void *argument)
{
    static const char whole[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 9}}}}";
    int file = *(int *)argument;
    poll(NULL, 0, 300);
    CHECK(ftruncate(file, 0) == 0);
    CHECK_U64((uint64_t)pwrite(file, whole, sizeof whole - 1, 0), sizeof whole - 1);
    close(file);
    return NULL;
}

PLAIN_TEST(a_link_begins_with_whole_documents)
{
    static const char half[] = "{\"weft\": 1, \"objects\": {\"a\": {}, \"b\": {}}}";
    stage s;
    pthread_t writer;
    file_put(file_path, half, sizeof half - 1, O_TRUNC);
    int file = open(file_path, O_WRONLY);
    CHECK(pthread_create(&writer, NULL, rest_write, &file) == 0);
    file_link(&s);
    CHECK(!weft_entity_is_null(weft_live_entity(s.live, "a")));
    CHECK(weft_entity_is_null(weft_live_entity(s.live, "b")));
    pthread_join(writer, NULL);
    unlink(file_path);
    end(&s);
}

static uint32_t worlds_told;

static void world_told(weft_world *world)
{
    (void)world;
    worlds_told++;
}

PLAIN_TEST(the_world_in_which_a_link_bakes_is_nobodys_to_look_at)
{
    stage s;
    worlds_told = 0;
    weft_world_watch_created(world_told);
    file_live(&s, plain_text);
    weft_world_watch_created(NULL);
    CHECK_U64(worlds_told, 1);
    unlink(file_path);
    end(&s);
}

static void text_put(const char *text)
{
    file_put(file_path, text, strlen(text), O_TRUNC);
}

static void file_is(const char *text)
{
    char now[512] = {0};
    int file = open(file_path, O_RDONLY);
    CHECK(file >= 0 && read(file, now, sizeof now - 1) >= 0);
    close(file);
    CHECK_TEXT(now, text);
}

PLAIN_TEST(edits_write_one_value_and_undo_takes_it_back)
{
    stage s;
    file_live(&s, plain_text);
    CHECK_OK(weft_live_edit(s.live, "a", "Spin.speed", "2.5"));
    file_is("// the ship\n{ \"weft\": 1,\n  \"objects\": {\n    \"a\": { "
            "\"Spin\": {\"speed\": 2.5 /* slow */, }, },\n  }}\n");
    speed_await(&s, 2.5f);
    CHECK_OK(weft_live_edit(s.live, "a", "Spin.axis", "[1, 0, 0]"));
    CHECK_OK(weft_live_edit(s.live, "a", "Shield.strength", "3"));
    file_is("// the ship\n{ \"weft\": 1,\n  \"objects\": {\n    \"a\": {\"Shield\": {\"strength\": "
            "3},  \"Spin\": {\"axis\": [1, 0, 0], \"speed\": 2.5 /* slow */, }, },\n  }}\n");
    CHECK_RESULT(weft_live_edit(s.live, "b", "Spin.speed", "1"), WEFT_NOT_FOUND);
    CHECK_RESULT(weft_live_edit(s.live, "a", "Spin.speed", "1 2"), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_live_edit(s.live, "a", "Spin.speed.x", "1"), WEFT_INVALID_ARGUMENT);
    for (int i = 0; i < 3; i++) CHECK_OK(weft_live_undo(s.live));
    file_is(plain_text);
    CHECK_RESULT(weft_live_undo(s.live), WEFT_NOT_FOUND);
    speed_await(&s, 2);
    CHECK_OK(weft_live_edit(s.live, "a", "Spin.speed", "4"));
    file_put(file_path, "{}", 2, O_TRUNC);
    CHECK_RESULT(weft_live_undo(s.live), WEFT_BUSY);
    unlink(file_path);
    end(&s);
}

PLAIN_TEST(the_last_1024_edits_are_taken_back)
{
    stage s;
    char value[16];
    file_live(&s, plain_text);
    for (int i = 0; i < 1030; i++) {
        snprintf(value, sizeof value, "%d", i % 90);
        CHECK_OK(weft_live_edit(s.live, "a", "Spin.speed", value));
    }
    for (int i = 0; i < 1024; i++) CHECK_OK(weft_live_undo(s.live));
    CHECK_RESULT(weft_live_undo(s.live), WEFT_NOT_FOUND);
    speed_await(&s, 5);
    unlink(file_path);
    end(&s);
}

/* An edit or undo failed with a text of its own, in which this is said. */
static void refusal_check(const stage *s, weft_result result, weft_result as, const char *what)
{
    const weft_error *error = weft_world_error(s->world);
    CHECK_RESULT(result, as);
    CHECK_RESULT(error->code, as);
    if (strstr(error->text, what) == NULL) CHECK_TEXT(error->text, what);
    weft_world_error_clear(s->world);
}

PLAIN_TEST(edits_write_the_value_alone)
{
    static const char line[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2}}}}";
    static const struct {
        const char *json, *kept; /* NULL: refused */
    } cases[] = {
        {"4", "4"},
        {" 4", "4"},
        {"\t4\r\n", "4"},
        {" \"3 rad/s\" ", "\"3 rad/s\""},
        {"4 // four", NULL},
        {"4 /* four */", NULL},
        {"// c\n 4", NULL},
        {"/**/4", NULL},
        {"4, 5", NULL},
        {"4}", NULL},
        {"4 5", NULL},
        {"\xef\xbb\xbf"
         "4",
         NULL},
        {"", NULL},
        {" ", NULL},
        {"]", NULL},
        {"}", NULL},
        {"four", NULL},
        {"\"four", NULL},
        {"{\"speed\": 4", NULL},
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        stage s;
        char then[160];
        const char *json = cases[i / 2].json, *kept = cases[i / 2].kept;
        const char *field = i % 2 == 0 ? "Spin.speed" : "Shield.strength";
        if (i % 2 != 0 && json[0] == ' ' && json[1] == '"') continue; /* has no unit */
        file_live(&s, line);
        weft_result result = weft_live_edit(s.live, "a", field, json);
        if (kept == NULL) {
            refusal_check(&s, result, WEFT_INVALID_ARGUMENT, "`json`");
            file_is(line);
        } else {
            CHECK_OK(result);
            snprintf(then, sizeof then,
                     i % 2 == 0 ? "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": %s}}}}"
                                : "{\"weft\": 1, \"objects\": {\"a\": {\"Shield\": {\"strength\": "
                                  "%s}, \"Spin\": {\"speed\": 2}}}}",
                     kept);
            file_is(then);
            CHECK_OK(weft_live_undo(s.live));
            file_is(line);
        }
        refusal_check(&s, weft_live_undo(s.live), WEFT_NOT_FOUND, "no edit is left");
        unlink(file_path);
        end(&s);
    }
}

PLAIN_TEST(edits_that_cannot_be_say_why)
{
    stage s;
    file_live(&s, plain_text);
    refusal_check(&s, weft_live_edit(s.live, NULL, "Spin.speed", "1"), WEFT_INVALID_ARGUMENT,
                  "NULL");
    refusal_check(&s, weft_live_edit(s.live, "a", NULL, "1"), WEFT_INVALID_ARGUMENT, "NULL");
    refusal_check(&s, weft_live_edit(s.live, "a", "Spin.speed", NULL), WEFT_INVALID_ARGUMENT,
                  "NULL");
    refusal_check(&s, weft_live_edit(s.live, "a", "", "1"), WEFT_INVALID_ARGUMENT, "name");
    refusal_check(&s, weft_live_edit(s.live, "a", ".speed", "1"), WEFT_INVALID_ARGUMENT, "name");
    refusal_check(&s, weft_live_edit(s.live, "a", "Spin.", "1"), WEFT_INVALID_ARGUMENT,
                  "path of fields");
    refusal_check(&s, weft_live_edit(s.live, "a", "Spin.speed.x", "1"), WEFT_INVALID_ARGUMENT,
                  "Spin.speed is no object");
    refusal_check(&s, weft_live_edit(s.live, "b", "Spin.speed", "1"), WEFT_NOT_FOUND,
                  "live.weft has no object \"b\"");
    refusal_check(&s, weft_live_edit(s.live, "", "Spin.speed", "1"), WEFT_NOT_FOUND,
                  "no object \"\"");
    text_put("{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": ");
    refusal_check(&s, weft_live_edit(s.live, "a", "Spin.speed", "1"), WEFT_NOT_FOUND, "is no JSON");
    unlink(file_path);
    refusal_check(&s, weft_live_edit(s.live, "a", "Spin.speed", "1"), WEFT_NOT_FOUND, "live.weft");
    CHECK_RESULT(weft_live_edit(NULL, "a", "Spin.speed", "1"), WEFT_INVALID_ARGUMENT);
    CHECK_RESULT(weft_live_undo(NULL), WEFT_INVALID_ARGUMENT);
    end(&s);
}

static weft_result doubled_bake(weft_bake *bake, const weft_object *object, void *user)
{
    Shield shield = {0};
    (void)user;
    weft_result result = weft_bake_parse(bake, object, "doubled", &shield_type, &shield, NULL);
    if (result == WEFT_OK && shield.strength < 0)
        weft_bake_fail(bake, object, NULL, "nothing is doubled below 0");
    shield.strength *= 2;
    weft_component component = weft_bake_component(bake, "Shield");
    return result == WEFT_OK ? weft_bake_set(bake, weft_bake_entity(bake, NULL), component, &shield,
                                             sizeof shield)
                             : result;
}

/* A link with a baker that has a property of its own. */
static void baker_live(stage *s, const char *text)
{
    static const weft_baker_desc baker = {
        .name = "doubler", .property = "doubled", .bake = doubled_bake};
    memset(s, 0, sizeof *s);
    text_put(text);
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &s->world));
    s->cast = cast_register(s->world);
    s->scene = (weft_scene_desc){.bakers = &baker, .baker_count = 1};
    const weft_live_desc desc = {.scene = &s->scene,
                                 .paths = (const char *[]){file_path},
                                 .path_count = 1,
                                 .without_thread = true};
    CHECK_OK(weft_live_start(s->world, &desc, &s->live));
}

static const char places_text[] =
    "{\"weft\": 1, \"prefabs\": {\"p\": {\"Shield\": {\"strength\": 4}, \"children\": {\"q\": "
    "{}}}},\n"
    "\"objects\": {\"a\": {\"Spin\": {\"speed\": 2, \"axis\": [0, 1, 0]},\n"
    "\"Links\": [{\"to\": \"/b\"}, {\"weight\": 3}], \"transform\": {\"position\": [1, 2, 3]}},\n"
    "\"b\": {\"prefab\": \"#p\"}, \"c\": {\"Spin\": {\"speed\": 1000, \"axis\": [0, 1, 0]}}}}";

static const struct {
    const char *path, *field, *json, *why; /* why NULL: taken */
} place_cases[] = {
    {"a", "Spin.speed", "\"90 deg/s\"", NULL},
    {"a", "Spin.speed", "\"fast\"", "a.Spin.speed: no number"},
    {"a", "Spin.speed", "\"3 kg\"", "kg"},
    {"a", "Spin.speed", "101", "range"},
    {"a", "Spin.speed", "[1]", "a.Spin.speed"},
    {"a", "Spin.spede", "1", "speed"},
    {"a", "Spin.speed.x", "1", "nothing is below it"},
    {"a", "Spin", "{\"speed\": 7}", NULL},
    {"a", "Spin", "null", NULL},
    {"a", "Spin", "7", "a.Spin"},
    {"a", "Spni.speed", "1", "Spin"},
    {"a", "Nope.x", "1", "no component"},
    {"a", "Nope", "{}", "no component"},
    {"a", "Spin.axis", "[1, 0, 0]", NULL},
    {"a", "Spin.axis", "[1, 0, 0, 0]", "Spin.axis"},
    {"a", "Spin.axis[1]", "0.5", NULL},
    {"a", "Spin.axis[1]", "\"x\"", "Spin.axis[1]"},
    {"a", "Spin.axis[3]", "1", "no element 3"},
    {"a", "Spin.axis[-1]", "1", "path of fields"},
    {"a", "Spin.axis[1", "1", "path of fields"},
    {"a", "Spin.axis[1]x", "1", "path of fields"},
    {"a", "Spin.speed[0]", "1", "no element 0"},
    {"b", "Spin.axis[1]", "1", "no element 1"},
    {"b", "Spin.axis", "[1, 2, 3]", NULL},
    {"b", "Shield.strength", "8", NULL},
    {"a", "Links[1].weight", "4", NULL},
    {"a", "Links[0].weight", "4", NULL},
    {"a", "Links[0].nope", "4", "no field \"nope\" in Link"},
    {"a", "Links[0]", "{\"to\": \"/a\"}", NULL},
    {"a", "Links[0].to", "\"/absent\"", "no object has this path"},
    {"a", "Links[2].weight", "4", "no element 2"},
    {"a", "Links.weight", "4", "nothing is below it"},
    {"a", "Links", "[]", NULL},
    {"a", "Links", "{}", "buffer"},
    {"a", "Alive", "true", NULL},
    {"a", "Alive", "5", "tag"},
    {"a", "Alive.x", "5", "tag"},
    {"a", "Opaque", "{}", "not described"},
    {"a", "Team.number", "5", NULL},
    {"a", "Team.number", "-5", "Team.number"},
    {"a", "transform.position[2]", "\"3 km\"", NULL},
    {"a", "transform.position", "[1, 2]", "position"},
    {"a", "transform.rotation", "[0, 0, 0, 0]", "rotation"},
    {"a", "static", "\"x\"", "a.static"},
    {"a", "name", "\"hull\"", NULL},
    {"a", "name", "7", "name"},
    {"b", "disabled", "[\"Shield\"]", NULL},
    {"a", "disabled", "[\"Shield\"]", "a: "},
    {"a", "disabled", "\"Shield\"", "names of components"},
    {"a", "doubled.strength", "5", NULL},
    {"a", "doubled.strength", "\"x\"", "doubled.strength"},
    {"a", "doubled.strength", "-5", "nothing is doubled below 0"},
    {"a", "baker", "\"absent\"", "absent"},
    {"a", "prefab", "\"#p\"", NULL},
    {"a", "prefab", "\"#nothing\"", "no object of this name"},
    {"b", "without", "[\"q\"]", NULL},
    {"b", "without", "[\"r\"]", "\"r\""},
    {"a", "children.b", "{}", "has objects"},
    {"a", "with", "{}", "has objects"},
    {"a", "Spin\": {}, \"Team.number", "1", "path of fields"},
    {"c", "Spin.axis", "[1, 0, 0]", "c.Spin.speed"}, /* its component has a mistake */
    {"c", "Spin.axis[0]", "1", "c.Spin.speed"},
    {"c", "Spin.nope", "1", "c.Spin"},
    {"c", "Team.number", "1", NULL}, /* another one has */
    {"c", "Spin.speed", "10", NULL},
    {"c", "Spin.speed", "200", "range"},
};

PLAIN_TEST(edits_are_taken_where_the_bakers_take_them)
{
    for (size_t i = 0; i < sizeof place_cases / sizeof place_cases[0]; i++) {
        stage s;
        baker_live(&s, places_text);
        uint64_t before = weft_world_hash(s.world, WEFT_HASH_CONTENT);
        weft_result result =
            weft_live_edit(s.live, place_cases[i].path, place_cases[i].field, place_cases[i].json);
        if (place_cases[i].why != NULL) {
            refusal_check(&s, result, WEFT_INVALID_ARGUMENT, place_cases[i].why);
            file_is(places_text);
            CHECK_RESULT(weft_live_undo(s.live), WEFT_NOT_FOUND);
        } else {
            if (result != WEFT_OK)
                CHECK_TEXT(weft_world_error(s.world)->text, place_cases[i].field);
            CHECK_OK(weft_live_refresh(s.live));
            CHECK_OK(weft_live_apply(s.live, 0, NULL, 0));
            bool mends = strcmp(place_cases[i].path, "c") == 0 &&
                         strcmp(place_cases[i].field, "Spin.speed") == 0;
            CHECK_U64(weft_live_mistakes(s.live, NULL, 0) == 0, mends);
            CHECK_OK(weft_live_undo(s.live));
            file_is(places_text);
        }
        CHECK_OK(weft_live_refresh(s.live));
        CHECK_OK(weft_live_apply(s.live, 0, NULL, 0));
        CHECK(weft_live_mistakes(s.live, NULL, 0) == 1);
        if (place_cases[i].why != NULL)
            CHECK_U64(weft_world_hash(s.world, WEFT_HASH_CONTENT), before);
        unlink(file_path);
        end(&s);
    }
}

PLAIN_TEST(edits_of_one_of_several_documents_are_tried_in_it)
{
    static const char *const paths[] = {"live.one.weft", "live.weft", "live.two.weft"};
    static const char text[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 2}}}}";
    static const char then[] = "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 7}}}}";
    static const char *const objects[] = {"live.one/a", "live/a", "live.two/a"};
    for (uint32_t edited = 0; edited < 3; edited++) {
        stage s;
        memset(&s, 0, sizeof s);
        for (uint32_t i = 0; i < 3; i++) file_put(paths[i], text, strlen(text), O_TRUNC);
        CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &s.world));
        s.cast = cast_register(s.world);
        const weft_live_desc desc = {.paths = paths, .path_count = 3};
        CHECK_OK(weft_live_start(s.world, &desc, &s.live));
        CHECK_RESULT(weft_live_edit(s.live, objects[edited], "Spin.sped", "7"),
                     WEFT_INVALID_ARGUMENT);
        CHECK(strstr(weft_world_error(s.world)->text, paths[edited]) != NULL);
        CHECK_OK(weft_live_edit(s.live, objects[edited], "Spin.speed", "7"));
        for (uint32_t i = 0; i < 3; i++) {
            char now[128] = {0};
            int file = open(paths[i], O_RDONLY);
            CHECK(file >= 0 && read(file, now, sizeof now - 1) > 0);
            close(file);
            CHECK_TEXT(now, i == edited ? then : text);
        }
        refusal_check(&s, weft_live_edit(s.live, "live.", "Spin.speed", "7"), WEFT_NOT_FOUND,
                      "no document");
        refusal_check(&s, weft_live_edit(s.live, "live.three/a", "Spin.speed", "7"), WEFT_NOT_FOUND,
                      "no document");
        while (spin_of(&s, objects[edited])->speed != 7) {
            CHECK_OK(weft_live_apply(s.live, 0, NULL, 0));
            poll(NULL, 0, 1);
        }
        for (uint32_t i = 0; i < 3; i++) unlink(paths[i]);
        end(&s);
    }
}

PLAIN_TEST(edits_before_the_bake_of_the_last_one_are_tried_on_its_text)
{
    stage s;
    baker_live(&s, "{\"weft\": 1, \"objects\": {\"a\": {}}}");
    text_put("{\"weft\": 1, \"objects\": {\"n\": {\"Spin\": {}}, \"a\": {}}}");
    CHECK_OK(weft_live_edit(s.live, "n", "Spin.speed", "3")); /* the link has not seen it */
    refusal_check(&s, weft_live_edit(s.live, "n", "Spin.speed", "300"), WEFT_INVALID_ARGUMENT,
                  "range");
    file_is("{\"weft\": 1, \"objects\": {\"n\": {\"Spin\": {\"speed\": 3}}, \"a\": {}}}");
    text_put("{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {}, \"Spin\": {}}}}");
    refusal_check(&s, weft_live_edit(s.live, "a", "Spin.speed", "3"), WEFT_INVALID_ARGUMENT,
                  "stands twice");
    text_put("{\"weft\": 2, \"objects\": {\"a\": {}}}");
    refusal_check(&s, weft_live_edit(s.live, "a", "Spin.speed", "3"), WEFT_INVALID_ARGUMENT,
                  "version");
    unlink(file_path);
    end(&s);
}

PLAIN_TEST(undo_changes_the_object_that_the_edit_has_changed_or_nothing)
{
#define HEAD "{\"weft\": 1, \"objects\": {\n"
#define ONE(name, speed) "\"" name "\": {\"Spin\": {\"speed\": " speed "}}"
    static const struct {
        const char *before, *field, *value, *meanwhile, *after; /* after NULL: BUSY */
    } cases[] = {
        /* a line of the same length above */
        {HEAD ONE("a", "5") "}}", "Spin.speed", "7", HEAD ONE("n", "7") ",\n" ONE("a", "7") "}}",
         HEAD ONE("n", "7") ",\n" ONE("a", "5") "}}"},
        /* the same, and the object says something else */
        {HEAD ONE("a", "5") "}}", "Spin.speed", "7", HEAD ONE("n", "7") ",\n" ONE("a", "8") "}}",
         NULL},
        /* the object is gone, another one is in its place */
        {HEAD ONE("a", "5") "}}", "Spin.speed", "7", HEAD ONE("n", "7") "}}", NULL},
        /* another component in its place */
        {HEAD "\"a\": {\"Team\": {\"number\": 5}}}}", "Team.number", "7",
         HEAD "\"a\": {\"Link\": {\"number\": 7}}}}", NULL},
        /* it moves within its object */
        {HEAD "\"a\": {\"Team\": {\"number\": 5}}}}", "Team.number", "7",
         HEAD "\"a\": {\"Alive\": true, \"Team\": {\"number\": 7}}}}",
         HEAD "\"a\": {\"Alive\": true, \"Team\": {\"number\": 5}}}}"},
        /* members that were added */
        {HEAD ONE("a", "5") "}}", "Shield.strength", "7",
         HEAD "\"n\": {\"Shield\": {\"strength\": 7}, },\n\"a\": {\"Shield\": {\"strength\": 7}, "
              "\"Spin\": {\"speed\": 5}}}}",
         HEAD "\"n\": {\"Shield\": {\"strength\": 7}, },\n" ONE("a", "5") "}}"},
        {HEAD ONE("a", "5") "}}", "Shield.strength", "7", HEAD ONE("a", "5") "}}", NULL},
        {HEAD "\"a\": {}}}", "Shield.strength", "7", HEAD "\"a\": {}}}", NULL},
        /* an object below another */
        {HEAD "\"b\": {}, " ONE("a", "5") "}}", "Spin.axis", "[1, 0, 0]", "{}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stage s;
        file_live(&s, cases[i].before);
        CHECK_OK(weft_live_edit(s.live, "a", cases[i].field, cases[i].value));
        text_put(cases[i].meanwhile);
        CHECK_RESULT(weft_live_undo(s.live), cases[i].after == NULL ? WEFT_BUSY : WEFT_OK);
        file_is(cases[i].after == NULL ? cases[i].meanwhile : cases[i].after);
        if (cases[i].after == NULL) { /* the edit is not forgotten */
            refusal_check(&s, weft_live_undo(s.live), WEFT_BUSY, "the edit stays");
            text_put(cases[i].before);
            CHECK_OK(weft_live_edit(s.live, "a", cases[i].field, cases[i].value));
            CHECK_OK(weft_live_undo(s.live));
            CHECK_RESULT(weft_live_undo(s.live), WEFT_BUSY);
            file_is(cases[i].before);
        } else {
            CHECK_RESULT(weft_live_undo(s.live), WEFT_NOT_FOUND);
        }
        unlink(file_path);
        end(&s);
    }
}

/* Half of the objects stay, the others have new names. */
static void crowd_text(char *text, size_t bytes, uint32_t round)
{
    enum { CROWD = 100 };
    size_t at =
        (size_t)snprintf(text, bytes,
                         "{\"weft\": 1, \"prefabs\": {\"top\": {\"Spin\": {\"speed\": 1}}}, "
                         "\"objects\": {");
    for (uint32_t i = 0; i < CROWD; i++)
        at += (size_t)snprintf(text + at, bytes - at, "%s\"%u\": {\"prefab\": \"#top\"}",
                               i == 0 ? "" : ", ", i < CROWD / 2 ? i : round * CROWD + i);
    snprintf(text + at, bytes - at, "}}");
}

/* Entities leave in one order, so those that come next have the same ids. */
PLAIN_TEST(ids_do_not_depend_on_the_folder_of_the_documents)
{
    enum { FOLDERS = 60, ROUNDS = 8 };
    static char text[8192];
    uint64_t first[ROUNDS];
    for (uint32_t f = 0; f < FOLDERS; f++) {
        stage s;
        char path[32];
        begin(&s, two, WEFT_LIVE_KEEP);
        weft_live_stop(s.live);
        snprintf(path, sizeof path, "folder %u/a.weft", f);
        crowd_text(text, sizeof text, 0);
        shelf_put(&s.files, path, text);
        const weft_live_desc desc = {.scene = &s.scene,
                                     .paths = (const char *[]){path},
                                     .path_count = 1,
                                     .without_thread = true};
        CHECK_OK(weft_live_start(s.world, &desc, &s.live));
        for (uint32_t r = 0; r < ROUNDS; r++) {
            crowd_text(text, sizeof text, r + 1);
            shelf_put(&s.files, path, text);
            CHECK_OK(weft_live_refresh(s.live));
            CHECK_OK(weft_live_apply(s.live, 0, NULL, 0));
            const uint64_t hash = weft_world_hash(s.world, WEFT_HASH_LAYOUT);
            if (f == 0) first[r] = hash;
            CHECK_U64(hash, first[r]);
        }
        end(&s);
    }
}

typedef struct early {
    stage *stage;
    weft_scene *scene;
    weft_result applied, filled;
} early;

static void system_applies(weft_slice *slice, void *user)
{
    early *e = user;
    (void)slice;
    e->applied = weft_live_apply(e->stage->live, 0, NULL, 0);
    e->filled = weft_scene_fill(e->scene, e->stage->world);
}

/* Neither a change nor a fill is lost by a call that comes too early. */
PLAIN_TEST(a_system_applies_and_fills_nothing)
{
    stage s;
    begin(&s, two, WEFT_LIVE_KEEP);
    early e = {.stage = &s};
    CHECK_OK(weft_scene_create(s.world, &s.scene, &e.scene));
    CHECK_OK(weft_scene_bake(e.scene, (const char *[]){"a.weft"}, 1));
    weft_system_desc desc = {.name = "early", .run = system_applies, .user = &e};
    weft_system system = weft_system_create(s.world, &desc);
    CHECK(system.id != 0);
    shelf_put(&s.files, "a.weft",
              "{\"weft\": 1, \"objects\": {\"c\": {\"Spin\": {\"speed\": 5}}}}");
    CHECK_OK(weft_live_refresh(s.live));
    CHECK_RESULT(weft_world_step(s.world, 0), WEFT_IS_CHECKED ? WEFT_WRONG_PHASE : WEFT_OK);
    CHECK_RESULT(e.applied, WEFT_WRONG_PHASE);
    CHECK_RESULT(e.filled, WEFT_WRONG_PHASE);
    CHECK_OK(weft_system_destroy(s.world, system));
    CHECK_OK(weft_live_apply(s.live, 0, NULL, 0));
    CHECK_F64((double)spin_of(&s, "c")->speed, 5, 0);
    CHECK_OK(weft_scene_fill(e.scene, s.world));
    weft_scene_destroy(e.scene);
    end(&s);
}
