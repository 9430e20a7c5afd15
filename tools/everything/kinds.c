/* SPDX-License-Identifier: MIT */
/* kinds.c: the table of kinds.h as what the model, weft and the C program need. The program gets
 * the same descriptions as text: what differs between kinds stands in component_make and, beside
 * it, in kind_print. */
#include "kinds.h"

#include <string.h>
#include <weft/type.h>

typedef struct linked {
    weft_entity other;
    uint32_t value;
} linked;

typedef struct twin {
    uint32_t value;
    weft_entity one, two;
} twin;

typedef struct owning {
    uint32_t sign, value;
} owning;

enum { LARGE_BYTES = 2400, NARROW_ROWS = 8 };

static const uint32_t shape_bytes[] = {
    0, 4, 8, 64, LARGE_BYTES, sizeof(linked), sizeof(twin), sizeof(owning), sizeof(weft_entity)};
static const char *const shape_types[] = {"",       "uint32_t", "wide",   "line",       "large",
                                          "linked", "twin",     "owning", "weft_entity"};

#define KIND_TEXT(name, shape, flags) #name,
#define KIND_SHAPE(name, shape, flags) SHAPE_##shape,
#define KIND_FLAGS(name, shape, flags) flags,
static const char *const kind_names[] = {KINDS_OF(KIND_TEXT)};
static const uint8_t kind_shapes[] = {KINDS_OF(KIND_SHAPE)};
static const uint32_t kind_flags[] = {KINDS_OF(KIND_FLAGS)};

/* What comes with a kind. */
static const uint64_t kind_needs[KINDS] = {
    [NEEDY] = KIND_BIT(SWITCH) | KIND_BIT(SHARE) | KIND_BIT(LIST) | KIND_BIT(HOOKED),
    [NEEDIER] = KIND_BIT(NEEDY) | KIND_BIT(CLEAN),
};

kind_shape kind_shape_of(uint32_t kind)
{
    return (kind_shape)kind_shapes[kind];
}

const char *kind_c_type(uint32_t kind)
{
    return shape_types[kind_shapes[kind]];
}

const model_kind *kinds_of_model(void)
{
    static model_kind kinds[KINDS];
    for (uint32_t i = 0; i < KINDS && kinds[KINDS - 1].name == NULL; i++) {
        kinds[i] = (model_kind){.name = kind_names[i],
                                .size = shape_bytes[kind_shapes[i]],
                                .flags = kind_flags[i],
                                .needs = kind_needs[i]};
        if (kind_shapes[i] == SHAPE_LINKED || kind_shapes[i] == SHAPE_TARGET)
            kinds[i].link_count = 1;
        if (kind_shapes[i] == SHAPE_TWIN) {
            kinds[i].link_count = 2;
            kinds[i].links[0] = offsetof(twin, one);
            kinds[i].links[1] = offsetof(twin, two);
        }
    }
    return kinds;
}

/* ---- predicates ---- */

static bool is(uint32_t kind, uint32_t flags)
{
    return (kind_flags[kind] & flags) != 0;
}

bool kind_is_any(uint32_t kind)
{
    return !is(kind, MODEL_RESOURCE | MODEL_DEPTH);
}

bool kind_is_of_rows(uint32_t kind)
{
    return kind_is_any(kind) && !is(kind, MODEL_SPARSE);
}

bool kind_is_set(uint32_t kind)
{
    return kind_is_any(kind) && !is(kind, MODEL_BUFFER | MODEL_SHARED | MODEL_CHUNK);
}

bool kind_has_value(uint32_t kind)
{
    return kind_is_set(kind) && kind_shapes[kind] != SHAPE_BARE;
}

bool kind_has_column(uint32_t kind)
{
    return kind_has_value(kind) && !is(kind, MODEL_SPARSE);
}

bool kind_is_buffer(uint32_t kind)
{
    return kind_is_any(kind) && is(kind, MODEL_BUFFER);
}

bool kind_is_shared(uint32_t kind)
{
    return kind_is_any(kind) && is(kind, MODEL_SHARED);
}

bool kind_is_switch(uint32_t kind)
{
    return is(kind, MODEL_SWITCH);
}

bool kind_is_tag(uint32_t kind)
{
    return kind_is_of_rows(kind) && kind_shapes[kind] == SHAPE_BARE;
}

bool kind_is_relation(uint32_t kind)
{
    return is(kind, MODEL_RELATION);
}

bool kind_is_chunk(uint32_t kind)
{
    return is(kind, MODEL_CHUNK);
}

bool kind_is_sparse(uint32_t kind)
{
    return is(kind, MODEL_SPARSE);
}

bool kind_is_resource(uint32_t kind)
{
    return is(kind, MODEL_RESOURCE);
}

bool kind_is_not(uint32_t kind)
{
    (void)kind;
    return false;
}

/* ---- registration ---- */

void kind_construct(void *values, uint32_t count, void *user)
{
    owning *of = values;
    for (uint32_t i = 0; i < count; i++) of[i].sign = MODEL_SIGN;
    at_add_rlx((weft_a64 *)user, (uint64_t)count); /* relaxed: a count */
}

/* A value that was not constructed, or ends twice, is counted as two. */
static void own_destruct(void *values, uint32_t count, void *user)
{
    owning *of = values;
    int64_t ended = 0;
    for (uint32_t i = 0; i < count; i++) {
        ended += of[i].sign == MODEL_SIGN ? 1 : 2;
        of[i].sign = 0;
    }
    at_sub_rlx((weft_a64 *)user, (uint64_t)ended); /* relaxed: a count */
}

static void own_copy(void *to, const void *from, uint32_t count, void *user)
{
    memcpy(to, from, count * sizeof(owning));
    at_add_rlx((weft_a64 *)user, (uint64_t)count); /* relaxed: a count */
}

static void share_release(void *value, void *user)
{
    (void)value, (void)user;
}

/* Files: the value without its sign. */
static size_t own_save(const void *value, void *out, size_t capacity, void *user)
{
    (void)user;
    if (capacity >= 4) memcpy(out, &((const owning *)value)->value, 4);
    return 4;
}

static bool own_load(void *value, const void *bytes, size_t count, void *user)
{
    (void)user;
    if (count != 4) return false;
    memcpy(&((owning *)value)->value, bytes, 4);
    return true;
}

void kind_own(uint32_t kind, weft_a64 *x_owned, int64_t count)
{
    if (is(kind, MODEL_SIGNED)) at_add_rlx(x_owned, (uint64_t)count); /* relaxed: a count */
}

static const weft_field linked_fields[] = {{"other", WEFT_FIELD_ENTITY, 0, 0},
                                           {"value", WEFT_FIELD_U32, offsetof(linked, value), 0}};
static const weft_field nameless_fields[] = {{"", WEFT_FIELD_U32, 0, 0}};
static const weft_field twin_fields[] = {{"value", WEFT_FIELD_U32, 0, 0},
                                         {"one", WEFT_FIELD_ENTITY, offsetof(twin, one), 0},
                                         {"two", WEFT_FIELD_ENTITY, offsetof(twin, two), 0}};

/* Flags that weft and the model have in common, in their order. */
static const uint32_t shared_flags[] = {WEFT_ENABLEABLE, WEFT_SHARED,  WEFT_BUFFER,
                                        WEFT_CHUNK,      WEFT_CLEANUP, WEFT_RESOURCE,
                                        WEFT_NOT_HASHED, WEFT_SPARSE,  WEFT_NOT_COPIED};
static const char *const shared_flag_names[] = {
    "WEFT_ENABLEABLE", "WEFT_SHARED",     "WEFT_BUFFER", "WEFT_CHUNK",     "WEFT_CLEANUP",
    "WEFT_RESOURCE",   "WEFT_NOT_HASHED", "WEFT_SPARSE", "WEFT_NOT_COPIED"};
enum { SHARED_FLAGS = sizeof shared_flags / sizeof shared_flags[0] };

static weft_component component_make(weft_world *world, weft_a64 *x_owned, uint32_t kind,
                                     const weft_component *of)
{
    weft_component needs[KINDS];
    weft_component_desc desc = {.name = kind_names[kind],
                                .size = shape_bytes[kind_shapes[kind]],
                                .alignment = kind_shapes[kind] == SHAPE_LINE   ? 64
                                             : kind_shapes[kind] == SHAPE_BARE ? 1
                                                                               : 4,
                                .required = needs};
    for (uint32_t i = 0; i < SHARED_FLAGS; i++)
        if (is(kind, 1u << i)) desc.flags |= shared_flags[i];
    for (uint32_t i = 0; i < KINDS; i++)
        if ((kind_needs[kind] >> i & 1) != 0) needs[desc.required_count++] = of[i];
    if (kind_shapes[kind] == SHAPE_LINKED) desc.fields = linked_fields, desc.field_count = 2;
    if (kind_shapes[kind] == SHAPE_TARGET) desc.fields = linked_fields, desc.field_count = 1;
    if (kind_shapes[kind] == SHAPE_TWIN) desc.fields = twin_fields, desc.field_count = 3;
    if (kind == SINGLE) desc.fields = nameless_fields, desc.field_count = 1;
    if (is(kind, MODEL_BUFFER)) desc.buffer_capacity = 2;
    if (is(kind, MODEL_SIGNED))
        desc.hooks = (weft_component_hooks){kind_construct, own_destruct, own_copy,
                                            x_owned,        own_save,     own_load};
    if (kind == OWNED_SHARE) desc.shared_release = share_release;
    if (kind == NARROW) desc.chunk_row_limit = NARROW_ROWS;
    return weft_component_create(world, &desc);
}

/* Components that the world makes itself. */
static weft_component built_in(weft_world *world, uint32_t kind, const weft_component *of)
{
    switch (kind) {
    case PARENT:
        return weft_component_parent(world);
    case DEPTH:
        return weft_relation_depth_component(world, of[PARENT]);
    case ORIGIN:
        return weft_component_instance_of(world);
    case GROUP:
        return weft_component_linked_group(world);
    case PREFAB:
        return weft_component_prefab(world);
    case INACTIVE:
        return weft_component_inactive(world);
    default:
        return (weft_component){0};
    }
}

bool kinds_register(weft_world *world, weft_a64 *x_owned, weft_component of[MODEL_KINDS])
{
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        of[kind] = built_in(world, kind, of);
        if (of[kind].id != 0) continue;
        of[kind] = component_make(world, x_owned, kind, of);
        if (of[kind].id == 0) return false;
        if (!is(kind, MODEL_RELATION)) continue;
        weft_relation_desc desc = {.component = of[kind], .is_acyclic = is(kind, MODEL_ACYCLIC)};
        if (is(kind, MODEL_DIES_WITH)) desc.on_target_death = WEFT_ON_TARGET_DESTROY;
        if (is(kind, MODEL_KEEPS_DEAD)) desc.on_target_death = WEFT_ON_TARGET_KEEP;
        if (weft_relation_declare(world, &desc) != WEFT_OK) return false;
    }
    return true;
}

/* ---- the C program ---- */

static const char program_types[] =
    "typedef struct wide {\n    uint32_t word[2];\n} wide;\n\n"
    "typedef struct line {\n    uint32_t word[16];\n} line;\n\n"
    "typedef struct large {\n    uint32_t word[600];\n} large;\n\n"
    "typedef struct linked {\n    weft_entity other;\n    uint32_t value;\n} linked;\n\n"
    "typedef struct twin {\n    uint32_t value;\n    weft_entity one, two;\n} twin;\n\n"
    "typedef struct owning {\n    uint32_t sign, value;\n} owning;\n\n"
    "static line line_of(uint32_t word)\n{\n    line result;\n"
    "    for (uint32_t i = 0; i < 16; i++) result.word[i] = word + i % 3;\n"
    "    return result;\n}\n\n"
    "static large large_of(uint32_t word)\n{\n    large result;\n"
    "    for (uint32_t i = 0; i < 600; i++) result.word[i] = word + i % 3;\n"
    "    return result;\n}\n\n"
    "static int64_t owned;\n\n"
    "static void own_construct(void *values, uint32_t count, void *user)\n{\n"
    "    (void)user;\n"
    "    for (uint32_t i = 0; i < count; i++) ((owning *)values)[i].sign = 0x51a7e;\n"
    "    __atomic_fetch_add(&owned, count, __ATOMIC_RELAXED);\n}\n\n"
    "static void own_destruct(void *values, uint32_t count, void *user)\n{\n"
    "    (void)user;\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        __atomic_fetch_sub(&owned, ((owning *)values)[i].sign == 0x51a7e ? 1 : 2,\n"
    "                           __ATOMIC_RELAXED);\n"
    "        ((owning *)values)[i].sign = 0;\n    }\n}\n\n"
    "static void own_copy(void *to, const void *from, uint32_t count, void *user)\n{\n"
    "    (void)user;\n"
    "    memcpy(to, from, count * sizeof(owning));\n"
    "    __atomic_fetch_add(&owned, count, __ATOMIC_RELAXED);\n}\n\n"
    "static size_t own_save(const void *value, void *out, size_t capacity, void *user)\n{\n"
    "    (void)user;\n"
    "    if (capacity >= 4) memcpy(out, &((const owning *)value)->value, 4);\n"
    "    return 4;\n}\n\n"
    "static bool own_load(void *value, const void *bytes, size_t count, void *user)\n{\n"
    "    (void)user;\n"
    "    if (count == 4) memcpy(&((owning *)value)->value, bytes, 4);\n"
    "    return count == 4;\n}\n\n"
    "static void share_release(void *value, void *user)\n{\n    (void)value, (void)user;\n}\n\n"
    "static const weft_field linked_fields[] = {{\"other\", WEFT_FIELD_ENTITY, 0, 0},\n"
    "                                           {\"value\", WEFT_FIELD_U32, 8, 0}};\n"
    "static const weft_field nameless_fields[] = {{\"\", WEFT_FIELD_U32, 0, 0}};\n"
    "static const weft_field twin_fields[] = {{\"value\", WEFT_FIELD_U32, 0, 0},\n"
    "                                         {\"one\", WEFT_FIELD_ENTITY, 4, 0},\n"
    "                                         {\"two\", WEFT_FIELD_ENTITY, 12, 0}};\n\n";

static void flags_print(FILE *out, uint32_t kind)
{
    const char *before = ", .flags = ";
    for (uint32_t i = 0; i < SHARED_FLAGS; i++) {
        if (!is(kind, 1u << i)) continue;
        fprintf(out, "%s%s", before, shared_flag_names[i]);
        before = " | ";
    }
}

static void list_print(FILE *out, const char *name, const char *count, uint64_t set)
{
    if (set == 0) return;
    fprintf(out, ", .%s = (weft_component[]){", name);
    for (uint32_t i = 0; i < KINDS; i++)
        if ((set >> i & 1) != 0) fprintf(out, "of[%s], ", kind_names[i]);
    fprintf(out, "}, .%s = %d", count, __builtin_popcountll(set));
}

/* As component_make. */
static void kind_print(FILE *out, uint32_t kind)
{
    kind_shape shape = kind_shape_of(kind);
    fprintf(out,
            "    of[%s] = weft_component_create(\n"
            "        world, &(weft_component_desc){.name = \"%s\", .size = %u, .alignment = %u",
            kind_names[kind], kind_names[kind], shape_bytes[shape],
            shape == SHAPE_LINE   ? 64
            : shape == SHAPE_BARE ? 1
                                  : 4);
    flags_print(out, kind);
    list_print(out, "required", "required_count", kind_needs[kind]);
    if (shape == SHAPE_LINKED) fprintf(out, ", .fields = linked_fields, .field_count = 2");
    if (shape == SHAPE_TARGET) fprintf(out, ", .fields = linked_fields, .field_count = 1");
    if (shape == SHAPE_TWIN) fprintf(out, ", .fields = twin_fields, .field_count = 3");
    if (kind == SINGLE) fprintf(out, ", .fields = nameless_fields, .field_count = 1");
    if (is(kind, MODEL_BUFFER)) fprintf(out, ", .buffer_capacity = 2");
    if (is(kind, MODEL_SIGNED))
        fprintf(out,
                ", .hooks = {own_construct, own_destruct, own_copy, NULL, own_save, own_load}");
    if (kind == OWNED_SHARE) fprintf(out, ", .shared_release = share_release");
    if (kind == NARROW) fprintf(out, ", .chunk_row_limit = %d", NARROW_ROWS);
    fprintf(out, "});\n");
    if (!is(kind, MODEL_RELATION)) return;
    fprintf(out,
            "    IS(WEFT_OK, weft_relation_declare(\n"
            "        world, &(weft_relation_desc){.component = of[%s], .on_target_death = %s,\n"
            "                                     .is_acyclic = %s}));\n",
            kind_names[kind],
            is(kind, MODEL_DIES_WITH)    ? "WEFT_ON_TARGET_DESTROY"
            : is(kind, MODEL_KEEPS_DEAD) ? "WEFT_ON_TARGET_KEEP"
                                         : "WEFT_ON_TARGET_CLEAR",
            is(kind, MODEL_ACYCLIC) ? "true" : "false");
}

static const char *built_in_text(uint32_t kind)
{
    return kind == PARENT     ? "weft_component_parent(world)"
           : kind == DEPTH    ? "weft_relation_depth_component(world, of[PARENT])"
           : kind == ORIGIN   ? "weft_component_instance_of(world)"
           : kind == GROUP    ? "weft_component_linked_group(world)"
           : kind == PREFAB   ? "weft_component_prefab(world)"
           : kind == INACTIVE ? "weft_component_inactive(world)"
                              : NULL;
}

void kinds_print(FILE *out)
{
    fprintf(out, "enum {");
    for (uint32_t kind = 0; kind < KINDS; kind++) fprintf(out, " %s,", kind_names[kind]);
    fprintf(out, " KINDS };\nstatic weft_component of[KINDS];\n\n%s", program_types);
    fprintf(out, "static void kinds_register(weft_world *world)\n{\n");
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        if (built_in_text(kind) != NULL)
            fprintf(out, "    of[%s] = %s;\n", kind_names[kind], built_in_text(kind));
        else
            kind_print(out, kind);
    }
    fprintf(out, "}\n\n");
}
