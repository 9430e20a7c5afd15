/* SPDX-License-Identifier: MIT */
/* ops_edit.c: a live link on a document in a file: values are written into the document and taken
 * back, the run writes, removes, adds and destroys meanwhile, and what an apply brings is worked
 * out field by field: base, file, world, and the policy.
 *
 * An edit that is refused leaves the file as it is; one that is taken back leaves the bytes that
 * were there. Others may have written the file: then nothing is taken back until it is as before.
 * The C program says only that it was done. */
#include "document.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/live.h>
#include <weft/snapshot.h>

enum { FILE_BYTES = 1 << 13, STEPS = 12, EDITS_MOST = STEPS, PATH_BYTES = 64 };
enum { FIELD_A, FIELD_B, FIELD_C, FIELDS, ENTITY };

/* What an object is for the link. */
typedef struct linked_object {
    document_tally base, file, world;
    bool has_b; /* the document says b */
    bool has_world, is_dead;
} linked_object;

/* The file before an edit. */
typedef struct edit {
    uint32_t object;
    document_tally file;
    bool has_b;
    char *bytes;
} edit;

typedef struct editing {
    everything *e;
    everything_place *there;
    weft_live *live;
    weft_component tally;
    uint64_t drawn;
    weft_live_policy policy;
    uint32_t count, edit_count, told, conflicts; /* conflicts: of all applies, that the model saw */
    bool is_told_wrong;
    document_object tree[DOCUMENT_OBJECTS];
    linked_object objects[DOCUMENT_OBJECTS];
    edit edits[EDITS_MOST];
    uint32_t values; /* that the last apply wrote */
    char path[PATH_BYTES];
    char other[PATH_BYTES + 8];                   /* a second document; "": none */
    char paths[DOCUMENT_OBJECTS][2 * PATH_BYTES]; /* of the objects in the scene */
} editing;

static bool field_is_equal(uint32_t field, const document_tally *x, const document_tally *y)
{
    return field == FIELD_A   ? x->a == y->a
           : field == FIELD_C ? x->c == y->c
                              : memcmp(x->b, y->b, sizeof x->b) == 0;
}

static void field_copy(uint32_t field, document_tally *to, const document_tally *from)
{
    if (field == FIELD_A) to->a = from->a;
    if (field == FIELD_B) memcpy(to->b, from->b, sizeof to->b);
    if (field == FIELD_C) to->c = from->c;
}

/* ---- the policy ---- */

/* Of the object, and a field, FIELDS: of the whole component, ENTITY: of all of it. */
static bool is_taken(const editing *d, uint32_t object, uint32_t field)
{
    if (d->policy != WEFT_LIVE_ASK) return d->policy == WEFT_LIVE_TAKE;
    return everything_mix(d->drawn, 1000 + object * 8 + field) % 2 != 0;
}

/* The number of the object and the field that a conflict is about; false: of none. */
static bool conflict_of(const editing *d, const weft_live_conflict *conflict, uint32_t *object,
                        uint32_t *field)
{
    *object = 0;
    while (*object < d->count && strcmp(d->paths[*object], conflict->path) != 0) ++*object;
    *field = conflict->field == NULL ? (uint32_t)FIELDS : (uint32_t)(conflict->field[0] - 'a');
    if (conflict->component == NULL) *field = ENTITY;
    if (*object == d->count) return false;
    if (*field == ENTITY) return conflict->kind == WEFT_LIVE_DESTROYED;
    return *field <= FIELDS && strcmp(conflict->component, "tally") == 0 &&
           conflict->kind == (*field == FIELDS ? WEFT_LIVE_REMOVED : WEFT_LIVE_FIELD);
}

static bool policy_ask(const weft_live_conflict *conflict, void *user)
{
    uint32_t object, field;
    return conflict_of(user, conflict, &object, &field) && is_taken(user, object, field);
}

static void conflict_told(const weft_live_conflict *conflict, void *user)
{
    editing *d = user;
    uint32_t object, field;
    d->told++;
    if (!conflict_of(d, conflict, &object, &field) ||
        conflict->is_taken != is_taken(d, object, field))
        d->is_told_wrong = true;
}

/* ---- the file ---- */

static char *file_bytes(editing *d)
{
    char *bytes = model_memory(&d->e->here->m, FILE_BYTES);
    FILE *file = fopen(d->path, "rb");
    size_t count = file == NULL ? 0 : fread(bytes, 1, FILE_BYTES - 1, file);
    if (file != NULL) fclose(file);
    everything_equal(d->e, "the document has bytes", count != 0, true);
    return bytes;
}

static void objects_write(const editing *d, document_text *out, int above)
{
    bool is_first = true;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->tree[i].above != above) continue;
        document_write(out, "%s\n\"o%u\": { /* %u */ \"tally\": ", is_first ? "" : ",", i, i);
        document_tally_write(out, &d->tree[i]);
        document_write(out, ", \"children\": {");
        objects_write(d, out, (int)i);
        document_write(out, "}}");
        is_first = false;
    }
}

static bool text_write(editing *d, const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    bool is_written = file != NULL && fwrite(text, 1, strlen(text), file) == strlen(text);
    if (file != NULL && fclose(file) != 0) is_written = false;
    return everything_equal(d->e, "a document is written", is_written, true);
}

static bool file_write(editing *d)
{
    document_text out = {.text = model_memory(&d->e->here->m, FILE_BYTES), .room = FILE_BYTES};
    document_write(&out, "{\"weft\": 1, \"objects\": {");
    objects_write(d, &out, -1);
    document_write(&out, "}}\n");
    everything_equal(d->e, "a document has room", out.at < FILE_BYTES, true);
    return text_write(d, d->path, out.text) &&
           (d->other[0] == '\0' ||
            text_write(d, d->other, "{\"weft\": 1, \"objects\": {\"o0\": {\"tally\": {}}}}"));
}

/* With several documents objects have the names of theirs in front. */
static void paths_draw(editing *d)
{
    const char *name = strrchr(d->path, '/') + 1;
    bool is_one = d->other[0] == '\0';
    for (uint32_t i = 0; i < d->count; i++) {
        char own[DOCUMENT_PATH];
        memcpy(own, d->tree[i].path, sizeof own);
        snprintf(d->paths[i], sizeof d->paths[i], "%.*s%s%s",
                 is_one ? 0 : (int)(strlen(name) - strlen(".weft")), name, is_one ? "" : "/", own);
    }
}

/* ---- edits ---- */

/* A value for a field, and the file with it. */
typedef struct change {
    char field[24], json[48];
    document_tally file;
    bool has_b;
    weft_result expected;
} change;

static change change_draw(const editing *d, uint32_t object, uint64_t r)
{
    const linked_object *o = &d->objects[object];
    change c = {.file = o->file, .has_b = o->has_b};
    uint32_t number = (uint32_t)(r >> 8) % 6, k = (uint32_t)(r >> 12) % 3;
    snprintf(c.json, sizeof c.json, "%u", number);
    switch (r % 5) {
    case 0:
        snprintf(c.field, sizeof c.field, "tally.a");
        c.file.a = number;
        return c;
    case 1:
        snprintf(c.field, sizeof c.field, "tally.c");
        c.file.c = number;
        return c;
    case 2:
        snprintf(c.field, sizeof c.field, "tally.b");
        snprintf(c.json, sizeof c.json, "[%u, -%u, 7]", number, number);
        c.file.b[0] = (int32_t)number, c.file.b[1] = -(int32_t)number, c.file.b[2] = 7;
        c.has_b = true;
        return c;
    case 3:
        snprintf(c.field, sizeof c.field, "tally.b[%u]", k);
        if (o->has_b)
            c.file.b[k] = (int32_t)number;
        else
            c.expected = WEFT_INVALID_ARGUMENT;
        return c;
    default:
        snprintf(c.field, sizeof c.field, "tally");
        snprintf(c.json, sizeof c.json, "{\"a\": %u}", number);
        c.file = (document_tally){.a = number};
        c.has_b = false;
        return c;
    }
}

static change wrong_draw(uint64_t r)
{
    static const char *const fields[] = {"tally.none", "tally.a", "tally.a",    "tally.b[3]",
                                         "tally.a[1]", "tally",   "tally.a..b", "tally.c",
                                         "tally.a",    "tally.a"};
    static const char *const values[] = {"1",   "\"x\"", "{",  "1",           "1",
                                         "[1]", "1",     "-1", "1 /* one */", "1, 2"};
    change c = {.expected = WEFT_INVALID_ARGUMENT};
    snprintf(c.field, sizeof c.field, "%s", fields[r % 10]);
    snprintf(c.json, sizeof c.json, "%s", values[r % 10]);
    return c;
}

static void edit_run(editing *d, uint64_t r)
{
    uint32_t object = (uint32_t)(r >> 20) % d->count;
    bool is_wrong = (r >> 30) % 4 == 0, is_none = !is_wrong && (r >> 32) % 16 == 0;
    change c = is_wrong ? wrong_draw(r >> 3) : change_draw(d, object, r);
    char *before = file_bytes(d);
    if (is_none) c.expected = WEFT_NOT_FOUND;
    weft_result result =
        weft_live_edit(d->live, is_none ? "o0/none" : d->paths[object], c.field, c.json);
    if (result != c.expected) {
        everything_fails(d->e, "weft_live_edit", "%s of %s = %s: is %s, should be %s", c.field,
                         d->tree[object].path, c.json, weft_result_name(result),
                         weft_result_name(c.expected));
        return;
    }
    if (result != WEFT_OK) {
        everything_equal(d->e, "the file of an edit that is refused",
                         strcmp(before, file_bytes(d)) == 0, true);
        return;
    }
    linked_object *o = &d->objects[object];
    d->edits[d->edit_count++] = (edit){object, o->file, o->has_b, before};
    o->file = c.file;
    o->has_b = c.has_b;
}

/* Another program changes all digits of all tallies, or takes all objects away: no edit is taken
 * back then. It puts the file back. */
static void undo_refused(editing *d, bool has_objects)
{
    char *before = file_bytes(d), *bytes = file_bytes(d);
    bool is_inside = false;
    for (char *at = bytes; *at != '\0' && has_objects; at++) {
        if (strncmp(at, "\"tally\": {", 10) == 0) is_inside = true;
        if (*at == '}') is_inside = false;
        if (is_inside && *at >= '0' && *at <= '9') *at = *at == '9' ? '0' : (char)(*at + 1);
    }
    if (!text_write(d, d->path, has_objects ? bytes : "{\"weft\": 1, \"objects\": {}}")) return;
    everything_result(d->e, "weft_live_undo of what others wrote", weft_live_undo(d->live),
                      d->edit_count == 0 ? WEFT_NOT_FOUND : WEFT_BUSY);
    text_write(d, d->path, before);
}

static void undo_run(editing *d)
{
    weft_result expected = d->edit_count == 0 ? WEFT_NOT_FOUND : WEFT_OK;
    if (!everything_result(d->e, "weft_live_undo", weft_live_undo(d->live), expected)) return;
    if (expected != WEFT_OK) return;
    const edit *last = &d->edits[--d->edit_count];
    d->objects[last->object].file = last->file;
    d->objects[last->object].has_b = last->has_b;
    everything_equal(d->e, "the bytes behind weft_live_undo",
                     strcmp(last->bytes, file_bytes(d)) == 0, true);
}

static bool is_leaf(const editing *d, uint32_t object)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->tree[i].above == (int)object) return false;
    return true;
}

/* Writes a field, or the component goes or comes, or the entity dies. */
static void run_meddle(editing *d, uint64_t r)
{
    uint32_t object = (uint32_t)(r >> 20) % d->count;
    linked_object *o = &d->objects[object];
    weft_world *world = d->there->world;
    weft_entity entity = weft_live_entity(d->live, d->paths[object]);
    if (o->is_dead) return;
    if (r >> 40 & 1 && r >> 41 & 1 && is_leaf(d, object)) {
        o->is_dead = true;
        o->has_world = false;
        everything_result(d->e, "weft_entity_destroy", weft_entity_destroy(world, entity), WEFT_OK);
        return;
    }
    if (r % 4 == 0 && o->has_world) {
        o->has_world = false;
        everything_result(d->e, "weft_entity_remove", weft_entity_remove(world, entity, d->tally),
                          WEFT_OK);
        return;
    }
    if (!o->has_world) o->world = (document_tally){0};
    o->has_world = true;
    if (r / 4 % 3 == 0) o->world.a = (uint32_t)(r >> 8) % 6;
    if (r / 4 % 3 == 1) o->world.b[0] = (int32_t)(r >> 8) % 6;
    if (r / 4 % 3 == 2) o->world.c = (uint32_t)(r >> 8) % 6;
    everything_result(d->e, "weft_entity_set",
                      weft_entity_set(world, entity, d->tally, &o->world, sizeof o->world),
                      WEFT_OK);
}

/* ---- applying ---- */

/* What comes of one object; returns conflicts. */
static uint32_t model_apply(const editing *d, uint32_t object, linked_object *o)
{
    uint32_t conflicts = 0;
    bool is_same = memcmp(&o->base, &o->file, sizeof o->base) == 0;
    if (!is_same && !o->has_world) {
        conflicts = 1;
        o->has_world = is_taken(d, object, o->is_dead ? ENTITY : FIELDS);
        if (o->has_world) o->is_dead = false;
        if (o->has_world) o->world = o->file;
    } else if (!is_same) {
        for (uint32_t f = 0; f < FIELDS; f++) {
            if (field_is_equal(f, &o->base, &o->file) || field_is_equal(f, &o->world, &o->file))
                continue;
            bool is_conflict = !field_is_equal(f, &o->world, &o->base);
            conflicts += is_conflict;
            if (!is_conflict || is_taken(d, object, f)) field_copy(f, &o->world, &o->file);
        }
    }
    o->base = o->file;
    return conflicts;
}

static void objects_check(editing *d)
{
    for (uint32_t i = 0; i < d->count && !everything_has_failed(d->e); i++) {
        const linked_object *o = &d->objects[i];
        weft_entity entity = weft_live_entity(d->live, d->paths[i]);
        const document_tally *tally = weft_entity_read(d->there->world, entity, d->tally);
        everything_equal(d->e, "an entity of a live link",
                         weft_entity_is_alive(d->there->world, entity), !o->is_dead);
        if (!everything_equal(d->e, "a tally of a live link", tally != NULL, o->has_world)) return;
        if (tally == NULL || memcmp(tally, &o->world, sizeof *tally) == 0) continue;
        everything_fails(d->e, "a tally of a live link: value",
                         "%s: is %u [%d ...] %u, should be %u [%d ...] %u", d->tree[i].path,
                         tally->a, tally->b[0], tally->c, o->world.a, o->world.b[0], o->world.c);
    }
}

static void apply_run(editing *d)
{
    weft_live_report report = {0};
    uint32_t conflicts = 0;
    char text[64];
    d->told = 0;
    everything_result(d->e, "weft_live_refresh", weft_live_refresh(d->live), WEFT_OK);
    weft_result result = weft_live_apply(d->live, 0, &report, sizeof report);
    if (!everything_result(d->e, "weft_live_apply", result, WEFT_OK)) return;
    for (uint32_t i = 0; i < d->count; i++) conflicts += model_apply(d, i, &d->objects[i]);
    d->conflicts += conflicts;
    d->values = report.values;
    everything_equal(d->e, "weft_live_report: conflicts", report.conflicts, conflicts);
    everything_equal(d->e, "weft_live_report: errors", report.errors, 0);
    everything_equal(d->e, "conflicts that are told", d->told, conflicts);
    everything_equal(d->e, "a conflict that is told is another", d->is_told_wrong, false);
    everything_equal(d->e, "weft_live_conflict_at", weft_live_conflict_at(d->live, 0) != NULL,
                     d->conflicts != 0);
    everything_equal(d->e, "weft_live_explain",
                     weft_live_explain(d->live, d->paths[0], false, text, sizeof text) != 0, true);
    objects_check(d);
}

/* To a moment before what the link has changed: it waits for one behind that. */
static void undone_apply(editing *d)
{
    weft_world *world = d->there->world;
    weft_snapshot *before = NULL, *behind = NULL;
    weft_result result = weft_snapshot_take(world, NULL, &before);
    if (!everything_result(d->e, "weft_snapshot_take", result, WEFT_OK)) return;
    d->values = 0;
    apply_run(d);
    if (d->values != 0 && !everything_has_failed(d->e)) {
        result = weft_snapshot_take(world, before, &behind);
        everything_result(d->e, "weft_snapshot_take", result, WEFT_OK);
        result = weft_snapshot_restore(world, before);
        everything_result(d->e, "weft_snapshot_restore", result, WEFT_OK);
        everything_result(d->e, "weft_live_apply of what was undone",
                          weft_live_apply(d->live, 0, NULL, 0), WEFT_UNSUPPORTED);
        result = weft_snapshot_restore(world, behind);
        everything_result(d->e, "weft_snapshot_restore", result, WEFT_OK);
        everything_result(d->e, "weft_live_apply of what is there again",
                          weft_live_apply(d->live, 0, NULL, 0), WEFT_OK);
        objects_check(d);
        weft_snapshot_destroy(behind);
    }
    weft_snapshot_destroy(before);
}

static void steps_run(editing *d)
{
    for (uint32_t i = 0; i < STEPS && !everything_has_failed(d->e); i++) {
        uint64_t r = everything_mix(d->drawn, 500 + i);
        switch (r % 8) {
        case 0:
            if (r >> 40 & 1)
                apply_run(d);
            else
                undone_apply(d);
            break;
        case 1:
            if ((r >> 40) % 4 == 0) undo_refused(d, r >> 42 & 1);
            if (!everything_has_failed(d->e)) undo_run(d);
            break;
        case 2:
        case 3:
            run_meddle(d, r >> 3);
            break;
        default:
            edit_run(d, r >> 3);
        }
    }
    if (!everything_has_failed(d->e)) apply_run(d);
}

static void link_run(editing *d)
{
    const char *const paths[] = {d->path, d->other};
    const weft_live_desc desc = {.paths = paths,
                                 .path_count = d->other[0] == '\0' ? 1 : 2,
                                 .policy = d->policy,
                                 .ask = policy_ask,
                                 .conflict = conflict_told,
                                 .user = d,
                                 .without_thread = true};
    weft_result result = weft_live_start(d->there->world, &desc, &d->live);
    if (!everything_result(d->e, "weft_live_start", result, WEFT_OK)) return;
    objects_check(d);
    if (!everything_has_failed(d->e)) steps_run(d);
    weft_live_stop(d->live);
}

static void run_edit(everything *e, const everything_call *c)
{
    FILE *out = e->out;
    editing *d = model_memory(&e->here->m, sizeof *d);
    *d = (editing){.e = e, .there = &e->places[1], .drawn = everything_mix(c->value, c->a)};
    d->policy = (weft_live_policy)c->way;
    d->count = 1 + (uint32_t)(d->drawn >> 40) % 6;
    document_tree(d->tree, d->count, d->drawn);
    document_draw(d->tree, d->count, d->drawn, false, false);
    for (uint32_t i = 0; i < d->count; i++) {
        const document_tally *tally = &d->tree[i].tally;
        d->objects[i] = (linked_object){*tally, *tally, *tally, true, true};
    }
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* no disk waits */
    snprintf(d->path, sizeof d->path, "%s/we.%ld-%lx.weft", folder, (long)getpid(),
             (unsigned long)(uintptr_t)e);
    if (d->drawn >> 50 & 1)
        snprintf(d->other, sizeof d->other, "%.*s.b.weft", (int)(strlen(d->path) - 5), d->path);
    paths_draw(d);
    everything_says(e, "/* a live link followed a document that was edited */");
    e->out = NULL;
    if (everything_open(e, d->there, "there") && file_write(d)) {
        d->tally = document_tally_register(d->there->world);
        link_run(d);
    }
    unlink(d->path);
    if (d->other[0] != '\0') unlink(d->other);
    if (!everything_has_failed(e)) everything_close(e, d->there);
    e->out = out;
}

static const char *const edit_ways[] = {"keep", "take", "ask", NULL};

const everything_op everything_ops_edit[] = {
    {.name = "live_edit",
     .functions = "weft_live_edit weft_live_undo weft_live_refresh weft_live_apply "
                  "weft_live_conflict_at weft_live_explain weft_live_start weft_live_stop",
     .weight = 1,
     .ways = edit_ways,
     .run = run_edit},
    {0},
};
