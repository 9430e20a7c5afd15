/* SPDX-License-Identifier: MIT */
/* live_edit.c: one value of a document is replaced in its text, or added to it; nothing else of the
 * text changes. The document is read again for each edit, so the place is that of the file as it is
 * now. Undo looks for the field of the object again, wherever it stands by then, and puts back the
 * bytes that were there, if it holds those that were written. */
#include "error.h"
#include "file_replace.h"
#include "hash.h"
#include "live_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MOST (UINT64_C(1) << 30)
#define EDITS_KEPT 1024 /* for undo */

/* A part of a text. A value. */
typedef struct span {
    const char *at, *end;
} span;

/* A document that is edited. On the stack. */
typedef struct editing {
    weft_live *live;
    const char *path; /* of the file */
    char *text;
    size_t bytes;
    weft__file_problem problem; /* why it failed; "": the result says it */
} editing;

/* Says why it failed, and is `result`. */
#define refuse(e, result, ...)                                                                     \
    (snprintf((e)->problem.text, sizeof(e)->problem.text, __VA_ARGS__), (weft_result)(result))

/* The result of a call; the world's error says why it failed. */
static weft_result told(const editing *e, weft_result result, const char *call)
{
    if (result == WEFT_OK) return WEFT_OK;
    const char *why = e->problem.text[0] != '\0' ? e->problem.text : weft_result_text(result);
    return weft__error(e->live->world, result, WEFT__NO_ENTITY, WEFT__NO_COMPONENT, "%s: %s", call,
                       why);
}

/* ---- files ---- */

static weft_result text_read(editing *e)
{
    weft__file_source source;
    weft_result result = weft__file_open(weft__os_default(), e->path, &source);
    e->problem = source.problem;
    if (result != WEFT_OK) return result;
    e->bytes = source.bytes;
    e->text = source.bytes > FILE_BYTES_MOST
                  ? NULL
                  : weft__alloc(&e->live->memory, WEFT__MEMORY_OTHER, e->bytes + 1, 1, 16);
    result = e->text == NULL ? WEFT_OUT_OF_MEMORY : weft__file_read(&source, e->text, e->bytes, 0);
    e->problem = source.problem;
    weft__file_close(&source);
    return result;
}

static void text_free(editing *e)
{
    weft__free(&e->live->memory, WEFT__MEMORY_OTHER, e->text, e->bytes + 1, 1, 16);
}

/* The text with another one in the place of a part of it goes to the file, whole or not at all. */
static weft_result text_write(editing *e, span part, span text)
{
    const weft__file_piece pieces[3] = {{e->text, (size_t)(part.at - e->text)},
                                        {text.at, (size_t)(text.end - text.at)},
                                        {part.end, (size_t)(e->text + e->bytes - part.end)}};
    return weft__file_replace(weft__os_default(), e->path, pieces, 3, &e->problem);
}

/* ---- places in a document ---- */

/* The value that comes next; false: there is none. */
static bool value_span(weft__json *json, span *out)
{
    weft__json_token token = weft__json_next(json);
    out->at = token.kind == WEFT__JSON_STRING ? token.at - 1 : token.at;
    if (token.kind == WEFT__JSON_ERROR || token.kind == WEFT__JSON_END ||
        token.kind == WEFT__JSON_ARRAY_END || !weft__json_skip(json, &token))
        return false;
    out->end = json->at;
    return true;
}

/* The value of a member of an object. */
static bool member_find(span object, const char *name, size_t bytes, span *out)
{
    weft__json json;
    char text[256];
    weft__json_open(&json, object.at, (size_t)(object.end - object.at));
    if (weft__json_next(&json).kind != WEFT__JSON_OBJECT) return false;
    for (;;) {
        weft__json_token token = weft__json_next(&json);
        if (token.kind != WEFT__JSON_NAME) return false;
        size_t length = weft__json_string(&token, text, sizeof text);
        if (!value_span(&json, out)) return false;
        if (length == bytes && bytes <= sizeof text && memcmp(text, name, bytes) == 0) return true;
    }
}

/* An element of an array. */
static bool element_find(span array, size_t index, span *out)
{
    weft__json json;
    weft__json_open(&json, array.at, (size_t)(array.end - array.at));
    if (weft__json_next(&json).kind != WEFT__JSON_ARRAY) return false;
    while (value_span(&json, out))
        if (index-- == 0) return true;
    return false;
}

static bool is_object(span value)
{
    return value.at < value.end && *value.at == '{';
}

/* A step of a path of fields: "Orbit", ".drag", "[2]". A value. */
typedef struct step {
    const char *name;
    size_t bytes; /* of the name; 0: an element */
    size_t index;
} step;

/* Reads the step that *at begins with, and passes by it; false: it is none. */
static bool step_read(const char **at, step *out)
{
    const char *begin = *at + (**at == '.');
    char *end;
    *out = (step){.name = begin, .bytes = strcspn(begin, ".[")};
    *at = begin + out->bytes;
    if (out->bytes != 0 || *begin != '[')
        return out->bytes != 0 && strcspn(begin, "\"\\") >= out->bytes;
    out->index = strtoul(begin + 1, &end, 10);
    *at = end + (*end == ']');
    return begin[1] >= '0' && begin[1] <= '9' && *end == ']' && strchr(".[", end[1]) != NULL;
}

static bool step_find(span value, const step *s, span *out)
{
    return s->bytes != 0 ? member_find(value, s->name, s->bytes, out)
                         : element_find(value, s->index, out);
}

/* The object of a path, in the document. */
static weft_result object_find(editing *e, const char *path, span *out)
{
    weft__json json;
    const char *group = "objects", *rest = path;
    weft__json_open(&json, e->text, e->bytes);
    if (!value_span(&json, out))
        return refuse(e, WEFT_NOT_FOUND, "%s is no JSON (%s): mend it first", e->path,
                      json.problem == NULL ? "it is empty" : json.problem);
    bool is_there = *path != '\0';
    while (*rest != '\0' && is_there) {
        size_t bytes = strcspn(rest, "/");
        is_there =
            member_find(*out, group, strlen(group), out) && member_find(*out, rest, bytes, out);
        rest += bytes + (rest[bytes] == '/' ? 1 : 0);
        group = "children";
    }
    if (is_there && is_object(*out)) return WEFT_OK;
    return refuse(e, WEFT_NOT_FOUND,
                  "%s has no object \"%s\": look at the path; what comes from a prefab or a "
                  "catalogue is edited where it stands",
                  e->path, path);
}

/* The file and the path in it: with several roots paths begin with the name of one. */
static bool file_find(editing *e, const char **path)
{
    const weft_live *live = e->live;
    e->path = live->paths[0];
    if (live->desc.path_count == 1) return true;
    size_t bytes = strcspn(*path, "/");
    for (uint32_t i = 0; i < live->desc.path_count; i++) {
        size_t stem;
        const char *name = weft__path_stem(live->paths[i], &stem);
        if (stem != bytes || memcmp(name, *path, bytes) != 0) continue;
        e->path = live->paths[i];
        *path += bytes + ((*path)[bytes] == '/' ? 1 : 0);
        return true;
    }
    return false;
}

/* ---- edits ---- */

/* The one value of a text, without the blanks around it. */
static weft_result value_of(editing *e, const char *json, span *out)
{
    static const char blanks[] = " \t\r\n";
    weft__json parser;
    const char *begin = json + strspn(json, blanks);
    weft__json_open(&parser, begin, strlen(begin));
    if (!value_span(&parser, out))
        return refuse(e, WEFT_INVALID_ARGUMENT, "`json` is no value: %s",
                      parser.problem == NULL ? "give one" : parser.problem);
    if (out->at == begin && out->end[strspn(out->end, blanks)] == '\0') return WEFT_OK;
    return refuse(e, WEFT_INVALID_ARGUMENT,
                  "`json` has a comment or more text beside its value: give the value alone");
}

/* What is written in the place of what, and the part of `field` that is added with it (NULL: none):
 * the value, or members around it that are missing. */
typedef struct splice {
    span part, text;
    span property; /* of the object: `part` is in it */
    const char *added;
} splice;

/* The members that `field` names, within each other, and the value in the innermost; a comma behind
 * them, if more follows. */
static weft_result members_make(editing *e, const char *field, span value, bool has_more,
                                weft__pile *pile, span *out)
{
    const size_t value_bytes = (size_t)(value.end - value.at);
    char *made = weft__pile_take(pile, 1, value_bytes + 8 * strlen(field) + 8);
    size_t at = 0, depth = 0;
    if (made == NULL) return WEFT_OUT_OF_MEMORY;
    for (step s; *field != '\0'; depth++) {
        if (!step_read(&field, &s))
            return refuse(e, WEFT_INVALID_ARGUMENT,
                          "no path of fields at \"%s\": write it as \"Orbit.drag[2]\"", s.name);
        if (s.bytes == 0)
            return refuse(e, WEFT_INVALID_ARGUMENT,
                          "the document has no element %zu there: write the whole array", s.index);
        if (depth != 0) made[at++] = '{';
        made[at++] = '"';
        memcpy(made + at, s.name, s.bytes);
        memcpy(made + at + s.bytes, "\": ", 3);
        at += s.bytes + 3;
    }
    memcpy(made + at, value.at, value_bytes);
    at += value_bytes;
    while (depth-- > 1) made[at++] = '}';
    if (has_more) memcpy(made + at, ", ", 2);
    *out = (span){made, made + at + (has_more ? 2 : 0)};
    return WEFT_OK;
}

static weft_result splice_find(editing *e, span object, const char *field, span value,
                               weft__pile *pile, splice *out)
{
    const char *rest = field, *next = field;
    weft__json parser;
    step s;
    size_t bytes = strcspn(field, ".[");
    if ((bytes == 8 && memcmp(field, "children", 8) == 0) ||
        (bytes == 4 && memcmp(field, "with", 4) == 0))
        return refuse(e, WEFT_INVALID_ARGUMENT,
                      "\"%.*s\" has objects, not a value: give the path of the object, or write "
                      "the document",
                      (int)bytes, field);
    *out = (splice){.property = {object.at + 1, object.at + 1}};
    for (span found; step_read(&next, &s) && step_find(object, &s, &found); rest = next) {
        if (rest == field) out->property = found;
        out->part = found;
        out->text = value;
        if (*next == '\0') return WEFT_OK;
        object = found;
    }
    weft__json_open(&parser, object.at, (size_t)(object.end - object.at));
    bool is_parent = weft__json_next(&parser).kind == WEFT__JSON_OBJECT;
    bool has_more = is_parent && weft__json_next(&parser).kind != WEFT__JSON_OBJECT_END;
    out->part = (span){object.at + 1, object.at + 1};
    out->added = rest;
    weft_result result = members_make(e, rest, value, has_more, pile, &out->text);
    if (result != WEFT_OK || is_parent) return result;
    return refuse(e, WEFT_INVALID_ARGUMENT,
                  "%.*s is no object in the document: nothing is below it", (int)(rest - field),
                  field);
}

/* What the bakers say of the object (its path in the scene) in the text as it would be. */
static weft_result splice_try(editing *e, const char *object, const splice *made, weft__pile *pile)
{
    weft_live *live = e->live;
    const size_t before = (size_t)(made->part.at - e->text);
    const size_t behind = (size_t)(e->text + e->bytes - made->part.end);
    const size_t middle = (size_t)(made->text.end - made->text.at);
    char *text = weft__pile_take(pile, 1, before + middle + behind);
    if (text == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(text, e->text, before);
    memcpy(text + before, made->text.at, middle);
    memcpy(text + before + middle, made->part.end, behind);
    const weft__trial trial = {.paths = (const char *const *)live->paths,
                               .path_count = live->desc.path_count,
                               .file = e->path,
                               .object = object,
                               .text = text,
                               .bytes = before + middle + behind,
                               .begin = (size_t)(made->property.at - e->text),
                               .end =
                                   before + middle + (size_t)(made->property.end - made->part.end)};
    pthread_mutex_lock(&live->lock); /* the scene bakes with it */
    weft_result result =
        weft__scene_try(live->scene, &trial, e->problem.text, sizeof e->problem.text);
    pthread_mutex_unlock(&live->lock);
    return result;
}

/* Remembers what an edit of a field of an object replaces; the oldest makes room. */
static weft_result edit_keep(const editing *e, const char *object, const char *field,
                             const splice *made)
{
    weft_live *live = e->live;
    const size_t old_bytes = (size_t)(made->part.end - made->part.at);
    const size_t new = (size_t)(made->text.end - made->text.at);
    weft__live_edit edit = {.pile = WEFT__SCENE_PILE(&live->memory),
                            .old_bytes = old_bytes,
                            .new_bytes = new,
                            .new_hash = hash_bytes(HASH_K0, made->text.at, new)};
    edit.path = weft__pile_text(&edit.pile, e->path, strlen(e->path));
    edit.object = weft__pile_text(&edit.pile, object, strlen(object));
    edit.field = weft__pile_text(&edit.pile, field, strlen(field));
    edit.old_text = weft__pile_text(&edit.pile, made->part.at, old_bytes);
    if (!edit.pile.is_refused && live->edits.count == EDITS_KEPT) {
        weft__pile_free(&live->edits.at[0].pile);
        memmove(live->edits.at, live->edits.at + 1, --live->edits.count * sizeof edit);
    }
    if (made->added != NULL) edit.added = edit.field + (made->added - field);
    if (!edit.pile.is_refused && WEFT__SCENE_APPEND(&live->memory, &live->edits, &edit))
        return WEFT_OK;
    weft__pile_free(&edit.pile);
    return WEFT_OUT_OF_MEMORY;
}

/* Where the text of an edit is now; false: that object does not have it, or says something else. */
static bool edit_find(editing *e, const weft__live_edit *edit, span *part)
{
    span value;
    step s;
    if (object_find(e, edit->object, &value) != WEFT_OK) return false;
    for (const char *at = edit->field; at != edit->added && *at != '\0';)
        if (!step_read(&at, &s) || !step_find(value, &s, &value)) return false;
    *part = value;
    if (edit->added != NULL) { /* behind the brace */
        if (!is_object(value) || (size_t)(value.end - value.at) <= edit->new_bytes) return false;
        *part = (span){value.at + 1, value.at + 1 + edit->new_bytes};
    }
    return (size_t)(part->end - part->at) == edit->new_bytes &&
           hash_bytes(HASH_K0, part->at, edit->new_bytes) == edit->new_hash;
}

weft_result weft_live_edit(weft_live *live, const char *path, const char *field, const char *json)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__live_refuse(live, "weft_live_edit");
    if (result != WEFT_OK) return result;
    editing e = {.live = live};
    const char *object_path = path;
    weft__pile pile = WEFT__SCENE_PILE(&live->memory);
    span value = {0}, object = {0};
    splice made = {0};
    bool is_given = path != NULL && field != NULL && json != NULL && strchr(".[", field[0]) == NULL;
    result = is_given
                 ? value_of(&e, json, &value)
                 : refuse(&e, WEFT_INVALID_ARGUMENT,
                          "an argument is NULL, or `field` does not begin with a name: give an "
                          "object, \"Orbit.drag\" and a value");
    if (result == WEFT_OK && !file_find(&e, &path))
        result = refuse(&e, WEFT_NOT_FOUND,
                        "no document is named as \"%s\" begins: with several documents a path "
                        "has the name of its one in front",
                        path);
    if (result == WEFT_OK) result = text_read(&e);
    if (result == WEFT_OK) result = object_find(&e, path, &object);
    if (result == WEFT_OK) result = splice_find(&e, object, field, value, &pile, &made);
    if (result == WEFT_OK) result = splice_try(&e, object_path, &made, &pile);
    if (result == WEFT_OK) result = edit_keep(&e, path, field, &made);
    if (result == WEFT_OK) {
        result = text_write(&e, made.part, made.text);
        if (result != WEFT_OK) weft__pile_free(&live->edits.at[--live->edits.count].pile);
    }
    weft__pile_free(&pile);
    text_free(&e);
    return told(&e, result, "weft_live_edit");
}

weft_result weft_live_undo(weft_live *live)
{
    if (live == NULL) return WEFT_INVALID_ARGUMENT;
    weft_result result = weft__live_refuse(live, "weft_live_undo");
    if (result != WEFT_OK) return result;
    editing e = {.live = live};
    if (live->edits.count == 0)
        return told(&e, refuse(&e, WEFT_NOT_FOUND, "no edit is left to take back"),
                    "weft_live_undo");
    weft__live_edit edit = live->edits.at[live->edits.count - 1];
    e.path = edit.path;
    result = text_read(&e);
    span part = {0};
    if (result == WEFT_OK && !edit_find(&e, &edit, &part))
        result = refuse(&e, WEFT_BUSY,
                        "%s of \"%s\" in %s does not say what the edit wrote: the edit stays the "
                        "last one, and is taken back when it says that again",
                        edit.field, edit.object, edit.path);
    const span old = {edit.old_text, edit.old_text + edit.old_bytes};
    if (result == WEFT_OK) result = text_write(&e, part, old);
    text_free(&e);
    if (result == WEFT_OK) {
        live->edits.count--;
        weft__pile_free(&edit.pile);
    }
    return told(&e, result, "weft_live_undo");
}
