/* SPDX-License-Identifier: MIT */
/* evolution.c: from one layout of a component to another by the names of fields. Fields are the
 * flat lists of both sides, so that nested structs are paths; "plates[0].mass" and "plates.mass"
 * are the same, as a struct may become an array. Numbers go through 64 bits with a sign, or a
 * double, and must fit. See evolution.h. */
#include "evolution.h"
#include "component_type.h"
#include "field.h"

#include <stdio.h>

#define PATH_BYTES 512

/* ---- types ---- */

void weft__file_type_put(weft__out *out, const weft_component_desc *info)
{
    weft__out_text(out, info->name);
    weft__out_u64(out, weft__type_of(info)->hash);
    weft__out_u32(out, info->flags);
    weft__out_u32(out, (uint32_t)info->size);
    weft__out_u32(out, (uint32_t)info->alignment);
    weft__out_u32(out, info->buffer_capacity);
    weft__out_u32(out, info->chunk_row_limit);
    weft__out_u8(out, info->hooks.save != NULL);
    weft__out_u32(out, info->field_count);
    for (uint32_t i = 0; i < info->field_count; i++) {
        weft__out_text(out, info->fields[i].name);
        weft__out_u32(out, weft__kind_number(info->fields[i].kind));
        weft__out_u32(out, info->fields[i].offset);
        weft__out_u32(out, info->fields[i].count);
    }
}

bool weft__in_name(weft__in *in, char out[256], uint32_t least)
{
    uint32_t count = weft__in_u32(in);
    const char *bytes = count > 255 ? NULL : weft__in_take(in, count);
    out[0] = '\0';
    if (bytes == NULL || count < least || memchr(bytes, '\0', count) != NULL) return false;
    memcpy(out, bytes, count);
    out[count] = '\0';
    return true;
}

static const char *fields_get(weft__in *in, weft__file_type *out, weft_field *fields)
{
    for (uint32_t i = 0; i < out->desc.field_count; i++) {
        char *name = out->names + (size_t)i * 256;
        fields[i].name = name;
        if (!weft__in_name(in, name, 0)) /* a sole field may be the value itself */
            return "a name that cannot be one";
        uint32_t kind = weft__in_u32(in);
        fields[i].offset = weft__in_u32(in);
        fields[i].count = weft__in_u32(in);
        if (!weft__kind_of_number(kind, &fields[i].kind)) return "a field kind";
    }
    return NULL;
}

const char *weft__file_type_get(weft__in *in, weft__pile *pile, weft__file_type *out)
{
    *out = (weft__file_type){.desc = {.flags = 0}};
    weft_component_desc *desc = &out->desc;
    desc->name = out->name;
    if (!weft__in_name(in, out->name, 1)) return "a name that cannot be one";
    out->hash = weft__in_u64(in);
    desc->flags = weft__in_u32(in);
    desc->size = weft__in_u32(in);
    desc->alignment = weft__in_u32(in);
    desc->buffer_capacity = weft__in_u32(in);
    desc->chunk_row_limit = weft__in_u32(in);
    uint8_t is_hooked = weft__in_u8(in);
    uint32_t count = weft__in_u32(in);
    if (is_hooked > 1) return "a flag above 1";
    out->is_hooked = is_hooked != 0;
    if (!weft__in_has(in, count, 16)) return "a count larger than the file";
    if (count == 0) return NULL;
    desc->field_count = count;
    weft_field *fields = weft__pile_take(pile, count, sizeof *fields);
    desc->fields = fields;
    out->names = weft__pile_take(pile, count, 256);
    return fields == NULL || out->names == NULL ? "" : fields_get(in, out, fields);
}

/* ---- names ---- */

static bool is_same_path(const char *a, const char *b)
{
    for (;;) {
        if (*a != '[' && strncmp(b, "[0]", 3) == 0) b += 3;
        if (*b != '[' && strncmp(a, "[0]", 3) == 0) a += 3;
        if (*a != *b) return false;
        if (*a == '\0') return true;
        a++;
        b++;
    }
}

const char *weft__evolution_name(const weft_load_desc *desc, const char *name)
{
    for (uint32_t i = 0; i < desc->rename_count; i++)
        if (desc->renames[i].field == NULL && strcmp(desc->renames[i].type, name) == 0)
            return desc->renames[i].to;
    return name;
}

/* The path that a field of the file has now. Whether it is another. */
static bool path_now(const weft_load_desc *desc, const char *type, const char *path,
                     char out[PATH_BYTES])
{
    for (uint32_t i = 0; i < desc->rename_count; i++) {
        const weft_load_rename *rename = &desc->renames[i];
        if (rename->field == NULL || strcmp(rename->type, type) != 0) continue;
        size_t length = strlen(rename->field);
        bool is_it = strncmp(path, rename->field, length) == 0 &&
                     (path[length] == '\0' || path[length] == '.' || path[length] == '[');
        if (!is_it) continue;
        snprintf(out, PATH_BYTES, "%s%s", rename->to, path + length);
        return true;
    }
    snprintf(out, PATH_BYTES, "%s", path);
    return false;
}

/* ---- the plan ---- */

/* One plan in the making. On the stack of weft__evolution_init. */
typedef struct planning {
    const weft_load_desc *desc;
    const weft__evolution_ends *ends;
    weft__evolution *out;
    bool *is_found; /* [field of the world] */
    uint32_t hint;  /* field of the world that is looked at first */
    char *text;
} planning;

static void tell(const planning *p, weft_load_change_kind kind, const char *field)
{
    if (p->desc->changed == NULL) return;
    weft_load_change change = {.type = p->ends->to->name, .field = field, .kind = kind};
    p->desc->changed(&change, p->desc->changed_user);
}

/* A field of the description, by its number in the flat list. */
typedef struct leaf_search {
    uint32_t left;
    const weft_field *found;
} leaf_search;

static bool leaf_visit(const weft_field *field, uint32_t offset, const char *path, void *user)
{
    (void)offset;
    (void)path;
    leaf_search *search = user;
    search->found = field;
    return search->left-- != 0;
}

static const weft_field *leaf_of(const weft_component_desc *desc, uint32_t number)
{
    leaf_search search = {number, &desc->fields[number]};
    if (desc->type != NULL) weft__type_leaves(desc->type, leaf_visit, &search);
    return search.found;
}

static bool is_signed_enum(const weft_field *field)
{
    if (field->kind != WEFT_FIELD_ENUM) return false;
    for (uint32_t i = 0; i < field->type->constant_count; i++)
        if (field->type->constants[i].value < 0) return true;
    return false;
}

static bool is_number(weft_field_kind kind)
{
    return kind == WEFT_FIELD_BOOL || weft__kind_is_number(kind);
}

static weft_field_kind with_sign(weft_field_kind kind)
{
    weft_field_kind same;
    bool is_unsigned = weft__class_of(kind) == WEFT__CLASS_UNSIGNED;
    return is_unsigned && weft__kind_of_class(WEFT__CLASS_SIGNED, weft__kinds[kind].bytes, &same)
               ? same
               : kind;
}

static uint32_t find(const planning *p, const char *path)
{
    const weft_component_desc *to = p->ends->to;
    if (p->hint < to->field_count && is_same_path(to->fields[p->hint].name, path)) return p->hint;
    for (uint32_t i = 0; i < to->field_count; i++)
        if (is_same_path(to->fields[i].name, path)) return i;
    return UINT32_MAX;
}

/* The step between two fields of one name. False: there is none. */
static bool step_add(planning *p, const weft_field *a, uint32_t number)
{
    const weft_field *b = &p->ends->to->fields[number];
    uint64_t have = (uint64_t)weft__field_size(a) * weft__field_count(a);
    uint64_t want = (uint64_t)weft__field_size(b) * weft__field_count(b);
    weft__evolution_step step = {.from = a->offset, .to = b->offset, .name = b->name};
    step.from_kind = a->kind;
    step.to_kind = b->kind;
    step.is_number = a->kind != b->kind;
    if (step.is_number && !(is_number(a->kind) && is_number(b->kind))) return false;
    if (step.is_number && is_signed_enum(leaf_of(p->ends->to, number))) {
        step.from_kind = with_sign(a->kind);
        step.to_kind = with_sign(b->kind);
    }
    uint32_t counts[2] = {weft__field_count(a), weft__field_count(b)};
    step.count = step.is_number ? (counts[0] < counts[1] ? counts[0] : counts[1]) : 1;
    step.bytes = (uint32_t)(have < want ? have : want);
    if (a->kind == WEFT_FIELD_BYTES) {
        step.rest = have > want ? (uint32_t)(have - want) : 0;
        step.is_text = leaf_of(p->ends->to, number)->kind == WEFT_FIELD_TEXT;
        counts[0] = (uint32_t)have;
        counts[1] = (uint32_t)want;
    }
    if (a->kind != b->kind) tell(p, WEFT_LOAD_CONVERTED, b->name);
    if (counts[0] != counts[1])
        tell(p, counts[0] < counts[1] ? WEFT_LOAD_LONGER : WEFT_LOAD_SHORTER, b->name);
    p->out->is_needed = p->out->is_needed || step.is_number || have != want || step.from != step.to;
    p->out->steps[p->out->step_count++] = step;
    return true;
}

static bool fields_match(planning *p)
{
    const weft_component_desc *from = p->ends->from, *to = p->ends->to;
    for (uint32_t i = 0; i < from->field_count; i++) {
        const weft_field *field = &from->fields[i];
        char path[PATH_BYTES];
        bool is_renamed = path_now(p->desc, from->name, field->name, path);
        uint64_t bytes = (uint64_t)weft__field_size(field) * weft__field_count(field);
        if (field->offset > from->size || bytes > from->size - field->offset) {
            snprintf(p->text, 400, "has a field \"%.200s\" in the file that reaches beyond it",
                     field->name);
            return false;
        }
        uint32_t number = find(p, path);
        if (number == UINT32_MAX || p->is_found[number]) {
            tell(p, WEFT_LOAD_DROPPED, field->name);
            p->out->is_needed = true;
            continue;
        }
        p->hint = number + 1;
        p->is_found[number] = true;
        if (is_renamed) tell(p, WEFT_LOAD_RENAMED, to->fields[number].name);
        if (step_add(p, field, number)) continue;
        if (p->out->migration != NULL) continue;
        snprintf(p->text, 400,
                 "has a field \"%.200s\" of another kind in the file, and no conversion goes from "
                 "that to this: give it another name, or a migration in weft_load_desc",
                 field->name);
        return false;
    }
    for (uint32_t i = 0; i < to->field_count; i++) {
        if (p->is_found[i]) continue;
        tell(p, WEFT_LOAD_ADDED, to->fields[i].name);
        p->out->is_needed = true;
    }
    return true;
}

/* What can be said before fields are compared. False: `text` says what is wrong. */
static bool ends_check(const weft__evolution_ends *ends, weft__evolution *out, char *text)
{
    const weft_component_desc *from = ends->from, *to = ends->to;
    const char *why = NULL;
    bool is_described = from->field_count != 0 && to->field_count != 0;
    bool is_plain = from->field_count == 0 && to->field_count == 0 && from->size == to->size;
    bool is_tag = from->size == 0 || to->size == 0;
    if (from->flags != to->flags)
        why = "is of another kind (weft_component_flags) in the file: register the kind that was "
              "saved, or use another name";
    else if (is_tag && from->size != to->size && (to->flags & WEFT_BUFFER) != 0)
        why = "has elements without a size on one side: use another name";
    else if (!is_described && !is_plain && !is_tag && out->migration == NULL)
        why = from->size != to->size
                  ? "has another size in the file, and fields that are not described on one side: "
                    "register the layout that was saved, describe it in both, or give a migration "
                    "in weft_load_desc"
                  : "has other fields in the file, or none described on one side: register the "
                    "layout that was saved, or give a migration in weft_load_desc";
    if (why != NULL) snprintf(text, 400, "%s", why);
    return why == NULL;
}

static bool reference_null(void *user, weft__reference *r)
{
    (void)user;
    r->bits = 0;
    return true;
}

/* The value before the steps. */
static void start_make(const weft_component_desc *to, char *start)
{
    if (to->type != NULL && to->type->initial != NULL) memcpy(start, to->type->initial, to->size);
    weft__elements_references(weft__type_of(to), start, 1, reference_null, NULL);
}

static const weft_load_migration *migration_find(const weft_load_desc *desc,
                                                 const weft__evolution_ends *ends)
{
    for (uint32_t i = 0; i < desc->migration_count; i++) {
        const weft_load_migration *migration = &desc->migrations[i];
        bool is_from = migration->from == 0 || migration->from == ends->from_hash;
        if (is_from && strcmp(migration->type, ends->to->name) == 0) return migration;
    }
    return NULL;
}

bool weft__evolution_init(weft__pile *pile, const weft_load_desc *desc,
                          const weft__evolution_ends *ends, weft__evolution *out, char text[400])
{
    const weft_component_desc *to = ends->to;
    text[0] = '\0';
    *out = (weft__evolution){.from_bytes = ends->from->size, .to_bytes = to->size};
    out->migration = migration_find(desc, ends);
    out->is_needed = out->migration != NULL || ends->from->size != to->size;
    if (!ends_check(ends, out, text)) return false;
    planning p = {.desc = desc, .ends = ends, .out = out, .text = text};
    /* each field of the world is found once */
    p.is_found = weft__pile_take(pile, to->field_count, sizeof *p.is_found);
    out->steps = weft__pile_take(pile, to->field_count, sizeof *out->steps);
    out->start = weft__pile_take(pile, to->size, 1);
    if (pile->is_refused) return false;
    start_make(to, out->start);
    return fields_match(&p);
}

/* ---- values ---- */

static bool numbers_convert(const weft__evolution_step *step, const char *from, char *to)
{
    uint32_t from_bytes = weft__kinds[step->from_kind].bytes;
    uint32_t to_bytes = weft__kinds[step->to_kind].bytes;
    for (uint32_t i = 0; i < step->count; i++)
        if (!weft__scalar_store(step->to_kind,
                                weft__scalar_load(step->from_kind, from + (size_t)i * from_bytes),
                                to + (size_t)i * to_bytes))
            return false;
    return true;
}

/* Whether nothing is lost with the bytes that find no place. */
static bool rest_is_empty(const weft__evolution_step *step, const char *from)
{
    if (step->rest == 0) return true;
    if (step->is_text && memchr(from, '\0', step->bytes + 1) != NULL) return true;
    for (uint32_t i = 0; i < step->rest; i++)
        if (from[step->bytes + i] != 0) return false;
    return true;
}

bool weft__evolution_apply(const weft__evolution *evolution, const char *from, char *to,
                           char text[400])
{
    if (evolution->to_bytes != 0) memcpy(to, evolution->start, evolution->to_bytes);
    for (uint32_t i = 0; i < evolution->step_count; i++) {
        const weft__evolution_step *step = &evolution->steps[i];
        const char *at = from + step->from;
        if (!step->is_number) memcpy(to + step->to, at, step->bytes);
        bool fits =
            step->is_number ? numbers_convert(step, at, to + step->to) : rest_is_empty(step, at);
        if (fits) continue;
        snprintf(text, 400,
                 "has a value in the file that does not fit field \"%.200s\": make the field as "
                 "large as it was, or give it another name and a migration in weft_load_desc",
                 step->name);
        return false;
    }
    if (evolution->migration == NULL) return true;
    const char *why =
        evolution->migration->migrate(to, from, evolution->from_bytes, evolution->migration->user);
    if (why != NULL) snprintf(text, 400, "has a value that its migration refuses: %.300s", why);
    return why == NULL;
}
