/* SPDX-License-Identifier: MIT */
/* ops_edit.c: a live link on a document in a file: values are written into the document and taken
 * back, the run writes, removes and adds components meanwhile, and what an apply brings is worked
 * out field by field: base, file, world, and the policy.
 *
 * An edit that is refused leaves the file as it is; one that is taken back leaves the bytes that
 * were there. The C program says only that it was done. */
#include "document.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/live.h>

enum { FILE_BYTES = 1 << 13, STEPS = 12, EDITS_MOST = STEPS };
enum { FIELD_A, FIELD_B, FIELD_C, FIELDS };

/* What an object is for the link. */
typedef struct linked_object {
    document_tally base, file, world;
    bool has_b; /* the document says b */
    bool has_world;
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
    char path[64];
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

/* Of the object, and a field, FIELDS: of the whole component. */
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
    while (*object < d->count && strcmp(d->tree[*object].path, conflict->path) != 0) ++*object;
    *field = conflict->field == NULL ? (uint32_t)FIELDS : (uint32_t)(conflict->field[0] - 'a');
    return *object < d->count && *field <= FIELDS && conflict->component != NULL &&
           strcmp(conflict->component, "tally") == 0 &&
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

static bool file_write(editing *d)
{
    document_text out = {.text = model_memory(&d->e->here->m, FILE_BYTES), .room = FILE_BYTES};
    document_write(&out, "{\"weft\": 1, \"objects\": {");
    objects_write(d, &out, -1);
    document_write(&out, "}}\n");
    FILE *file = fopen(d->path, "wb");
    bool is_written =
        file != NULL && out.at < FILE_BYTES && fwrite(out.text, 1, out.at, file) == out.at;
    if (file != NULL && fclose(file) != 0) is_written = false;
    return everything_equal(d->e, "a document is written", is_written, true);
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
                                         "tally.a[1]", "tally",   "tally.a..b", "tally.c"};
    static const char *const values[] = {"1", "\"x\"", "{", "1", "1", "[1]", "1", "-1"};
    change c = {.expected = WEFT_INVALID_ARGUMENT};
    snprintf(c.field, sizeof c.field, "%s", fields[r % 8]);
    snprintf(c.json, sizeof c.json, "%s", values[r % 8]);
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
        weft_live_edit(d->live, is_none ? "o0/none" : d->tree[object].path, c.field, c.json);
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

/* ---- the run ---- */

/* Writes a field, or the component goes or comes. */
static void run_meddle(editing *d, uint64_t r)
{
    uint32_t object = (uint32_t)(r >> 20) % d->count;
    linked_object *o = &d->objects[object];
    weft_world *world = d->there->world;
    weft_entity entity = weft_live_entity(d->live, d->tree[object].path);
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
        o->has_world = is_taken(d, object, FIELDS);
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
        weft_entity entity = weft_live_entity(d->live, d->tree[i].path);
        const document_tally *tally = weft_entity_read(d->there->world, entity, d->tally);
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
    everything_equal(d->e, "weft_live_report: conflicts", report.conflicts, conflicts);
    everything_equal(d->e, "weft_live_report: errors", report.errors, 0);
    everything_equal(d->e, "conflicts that are told", d->told, conflicts);
    everything_equal(d->e, "a conflict that is told is another", d->is_told_wrong, false);
    everything_equal(d->e, "weft_live_conflict_text", weft_live_conflict_text(d->live, 0) != NULL,
                     d->conflicts != 0);
    everything_equal(d->e, "weft_live_explain",
                     weft_live_explain(d->live, d->tree[0].path, false, text, sizeof text) != 0,
                     true);
    objects_check(d);
}

static void steps_run(editing *d)
{
    for (uint32_t i = 0; i < STEPS && !everything_has_failed(d->e); i++) {
        uint64_t r = everything_mix(d->drawn, 500 + i);
        switch (r % 8) {
        case 0:
            apply_run(d);
            break;
        case 1:
            undo_run(d);
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
    const char *const paths[] = {d->path};
    const weft_live_desc desc = {.paths = paths,
                                 .path_count = 1,
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
    snprintf(d->path, sizeof d->path, "%s/we-%ld-%lx.weft", folder, (long)getpid(),
             (unsigned long)(uintptr_t)e);
    everything_says(e, "/* a live link followed a document that was edited */");
    e->out = NULL;
    if (everything_open(e, d->there, "there") && file_write(d)) {
        d->tally = document_tally_register(d->there->world);
        link_run(d);
    }
    unlink(d->path);
    if (!everything_has_failed(e)) everything_close(e, d->there);
    e->out = out;
}

static const char *const edit_ways[] = {"keep", "take", "ask", NULL};

const everything_op everything_ops_edit[] = {
    {.name = "live_edit",
     .functions = "weft_live_edit weft_live_undo weft_live_refresh weft_live_apply "
                  "weft_live_conflict_text weft_live_explain weft_live_start weft_live_stop",
     .weight = 1,
     .ways = edit_ways,
     .run = run_edit},
    {0},
};
