/* SPDX-License-Identifier: MIT */
/* ops_document.c: a tree of objects that a call draws, told as a document, as the file of a source,
 * and as glTF: baked, filled into a world, changed and baked again. Where its entities stand is
 * worked out by matrices in double precision; what bakers read must be what was drawn.
 *
 * Objects with a mistake, and all objects of a file that is broken, are what they were in the bake
 * before; a file that was never whole shows what comes before its mistake. Callbacks run on workers
 * and read what the call has drawn. The C program says only that it was done. */
#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/scene_gltf.h>

enum { FILE_BYTES = 1 << 15, SIDE_VALUES = 9, BAKES = 2, GUN = 77, TIP = 78 };
enum { AS_DOCUMENT, AS_SOURCE, AS_GLTF };

static const char *const file_names[] = {"tree.weft", "tree.tree", "tree.gltf"};
static const char *const side_names[] = {"side.bin", "side.bin", "side.bin"};

/* What the property "stand" says, for the baker; "mark" is what it gives. */
typedef struct stand {
    uint32_t usage, number;
    float position[3], rotation[4], scale[3];
    uint8_t is_wrong;
} stand;

typedef struct mark {
    weft_entity other;
    weft_blob_ref blob;
    uint32_t number, word;
} mark;

typedef struct numbered {
    uint32_t number;
} numbered;

static const weft_field stand_fields[] = {
    WEFT_FIELD(stand, usage),
    WEFT_FIELD(stand, number),
    WEFT_FIELD(stand, position),
    WEFT_FIELD(stand, rotation),
    WEFT_FIELD(stand, scale),
    {.name = "is_wrong", .kind = WEFT_FIELD_BOOL, .offset = offsetof(stand, is_wrong)}};
static const weft_type stand_type = WEFT_TYPE(stand, stand_fields);
static const weft_field mark_fields[] = {WEFT_FIELD(mark, other), WEFT_FIELD(mark, blob),
                                         WEFT_FIELD(mark, number), WEFT_FIELD(mark, word)};
static const weft_type mark_type = WEFT_TYPE(mark, mark_fields);
static const weft_blob_type numbered_type = WEFT_BLOB_TYPE_PLAIN(numbered);

/* One call: what was drawn, and the scene. Callbacks read it. */
typedef struct telling {
    everything *e;
    everything_place *there;
    weft_scene *scene;
    weft_component tally, mark;
    weft_transform places;
    weft_gltf_components gltf;
    uint32_t way, count, bake;
    document_object drawn[DOCUMENT_OBJECTS], shown[DOCUMENT_OBJECTS]; /* told, and what is there */
    bool is_broken;
    char *text;
    float side[SIDE_VALUES], shown_side[SIDE_VALUES]; /* of the file as it was last whole */
} telling;

/* ---- texts ---- */

static void numbers_write(document_text *out, const char *name, const float *values, uint32_t count)
{
    document_write(out, ", \"%s\": [", name);
    for (uint32_t i = 0; i < count; i++)
        document_write(out, "%s%.9g", i == 0 ? "" : ", ", (double)values[i]);
    document_write(out, "]");
}

static void stand_write(document_text *out, const document_object *o)
{
    document_write(out, "{\"usage\": %u, \"number\": %u, \"is_wrong\": %s", (unsigned)o->usage,
                   o->number, o->is_wrong ? "true" : "false");
    numbers_write(out, "position", o->position, 3);
    numbers_write(out, "rotation", o->rotation, 4);
    numbers_write(out, "scale", o->scale, 3);
    document_write(out, "}");
}

static void objects_write(const telling *t, document_text *out, int above)
{
    bool is_first = true;
    for (uint32_t i = 0; i < t->count; i++) {
        const document_object *o = &t->drawn[i];
        if (o->above != above) continue;
        document_write(out, "%s\n\"o%u\": {\"tally\": ", is_first ? "" : ",", i);
        document_tally_write(out, o);
        if (o->has_stand) {
            document_write(out, ", \"stand\": ");
            stand_write(out, o);
        }
        document_write(out, ", \"children\": {");
        objects_write(t, out, (int)i);
        document_write(out, "}}");
        is_first = false;
    }
}

static void document_tell(const telling *t, document_text *out)
{
    document_write(out,
                   "{\"weft\": 1, \"prefabs\": {\"gun\": {\"tally\": {\"a\": %d}, \"children\": "
                   "{\"tip\": {\"tally\": {\"a\": %d}}}}}, \"objects\": {",
                   GUN, TIP);
    objects_write(t, out, -1);
    document_write(out, t->is_broken ? "}" : "}}");
}

/* An object a line: that above, then the values of its properties. */
static void source_tell(const telling *t, document_text *out)
{
    document_write(out, t->is_broken ? "!\n" : ".\n");
    for (uint32_t i = 0; i < t->count; i++) {
        document_write(out, "%d\t", t->drawn[i].above);
        document_tally_write(out, &t->drawn[i]);
        document_write(out, "\t");
        if (t->drawn[i].has_stand) stand_write(out, &t->drawn[i]);
        document_write(out, "\n");
    }
}

static void gltf_nodes(const telling *t, document_text *out, int above, const char *name)
{
    bool is_any = false;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->drawn[i].above != above) continue;
        document_write(out, is_any ? ", %u" : name, i);
        is_any = true;
    }
    if (is_any) document_write(out, "]");
}

static void gltf_tell(const telling *t, document_text *out)
{
    document_write(out, "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{");
    gltf_nodes(t, out, -1, "\"nodes\": [%u");
    document_write(out, "}], \"nodes\": [");
    for (uint32_t i = 0; i < t->count; i++) {
        const document_object *o = &t->drawn[i];
        document_write(out, "%s{\"name\": \"o%u\"", i == 0 ? "" : ", ", i);
        numbers_write(out, "translation", o->position, 3);
        numbers_write(out, "rotation", o->rotation, 4);
        numbers_write(out, "scale", o->scale, 3);
        gltf_nodes(t, out, (int)i, ", \"children\": [%u");
        if (o->number % 3 == 0) document_write(out, ", \"mesh\": 0");
        document_write(out, ", \"extras\": {\"weft\": {\"tally\": ");
        document_tally_write(out, o);
        document_write(out, "}}}");
    }
    document_write(out,
                   "], \"buffers\": [{\"uri\": \"side.bin\", \"byteLength\": 36}], "
                   "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": %d}], ",
                   t->is_broken ? 40 : 36);
    document_write(out, "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3,"
                        " \"type\": \"VEC3\"}], \"meshes\": [{\"primitives\": [{\"attributes\": "
                        "{\"POSITION\": 0}}]}]}");
}

static void tell(telling *t)
{
    document_text out = {.text = t->text, .room = FILE_BYTES};
    if (t->way == AS_DOCUMENT) document_tell(t, &out);
    if (t->way == AS_SOURCE) source_tell(t, &out);
    if (t->way == AS_GLTF) gltf_tell(t, &out);
    everything_equal(t->e, "a document has room", out.at < FILE_BYTES, true);
}

/* ---- files and sources ---- */

static weft_result file_read(const char *path, uint64_t known, uint64_t *stamp, weft_text *out,
                             const weft_allocator *allocator, void *user)
{
    const telling *t = user;
    bool is_side = strcmp(path, side_names[t->way]) == 0;
    if (!is_side && strcmp(path, file_names[t->way]) != 0) return WEFT_NOT_FOUND;
    size_t count = is_side ? sizeof t->side : strlen(t->text);
    *out = (weft_text){0};
    *stamp = 1 + t->bake;
    if (known == *stamp) return WEFT_OK; /* as before */
    char *bytes = allocator->allocate(allocator->user, count + 1, 16);
    if (bytes == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(bytes, is_side ? (const char *)t->side : t->text, count);
    bytes[count] = '\0';
    *out = (weft_text){.bytes = bytes, .count = count};
    return WEFT_OK;
}

static weft_result line_add(weft_source *out, const char *line, const char *end, uint32_t i)
{
    const char *tally = memchr(line, '\t', (size_t)(end - line));
    const char *stands = tally == NULL ? NULL : memchr(tally + 1, '\t', (size_t)(end - tally - 1));
    char *name = weft_source_memory(out, 16);
    if (name == NULL || stands == NULL) return WEFT_OUT_OF_MEMORY;
    snprintf(name, 16, "o%u", i);
    int above = atoi(line);
    weft_source_object object = {.name = name,
                                 .name_bytes = strlen(name),
                                 .parent = above < 0 ? WEFT_SOURCE_ROOT : (uint32_t)above,
                                 .value = line,
                                 .value_bytes = (size_t)(end - line)};
    uint32_t number = weft_source_add(out, &object);
    if (number != i) return WEFT_INVALID_ARGUMENT;
    weft_source_property(out, number, "tally", 5, tally + 1, (size_t)(stands - tally - 1));
    if (stands + 1 < end)
        weft_source_property(out, number, "stand", 5, stands + 1, (size_t)(end - stands - 1));
    return WEFT_OK;
}

static weft_result tree_open(weft_source *out, const weft_text *file, void *user)
{
    const telling *t = user;
    weft_text side, none;
    weft_result result = weft_source_file(out, side_names[t->way], &side);
    if (result != WEFT_OK || side.count != sizeof t->side) return WEFT_CORRUPT;
    if (memcmp(side.bytes, t->side, sizeof t->side) != 0) return WEFT_CORRUPT;
    if (weft_source_file(out, "none.bin", &none) != WEFT_NOT_FOUND) return WEFT_CORRUPT;
    if (file->bytes[0] == '!') {
        weft_source_fail(out, file->bytes, "the file is broken in bake %u", t->bake);
        return WEFT_OK;
    }
    uint32_t i = 0;
    const char *end = file->bytes + file->count, *line = memchr(file->bytes, '\n', file->count);
    while (line != NULL && ++line < end && result == WEFT_OK) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        result = line_add(out, line, next == NULL ? end : next, i++);
        line = next;
    }
    return result;
}

/* ---- the baker ---- */

static bool is_drawn(const document_object *o, const stand *s)
{
    return s->usage == (uint32_t)o->usage && s->number == o->number &&
           (s->is_wrong != 0) == o->is_wrong &&
           memcmp(s->position, o->position, sizeof s->position) == 0 &&
           memcmp(s->rotation, o->rotation, sizeof s->rotation) == 0 &&
           memcmp(s->scale, o->scale, sizeof s->scale) == 0;
}

/* Names, paths, children and files are those of the tree. */
static bool sees_tree(const telling *t, weft_bake *bake, const weft_object *object, uint32_t i)
{
    const document_object *o = &t->drawn[i];
    char path[DOCUMENT_PATH + 1];
    weft_property property;
    weft_text side;
    const weft_object *child = NULL;
    snprintf(path, sizeof path, "/%s", o->path);
    bool is_so = strcmp(weft_bake_path_of(bake, object), o->path) == 0 &&
                 weft_bake_object(bake, path) == object &&
                 weft_bake_property(bake, object, "stand", &property, 1) == 1 &&
                 property.layer == 0 && property.json.count > 20;
    for (uint32_t k = 0; k < t->count && is_so; k++) {
        if (t->drawn[k].above != (int)i) continue;
        child = weft_bake_child(bake, object, child);
        is_so = child != NULL && strcmp(weft_bake_path_of(bake, child), t->drawn[k].path) == 0;
    }
    is_so = is_so && weft_bake_child(bake, object, child) == NULL;
    if (weft_bake_file(bake, side_names[t->way], &side) != WEFT_OK) return false;
    return is_so && side.count == sizeof t->side &&
           memcmp(side.bytes, t->side, sizeof t->side) == 0 &&
           weft_bake_file(bake, "none.bin", &side) == WEFT_NOT_FOUND;
}

static weft_result blob_bake(weft_bake *bake, uint32_t number, weft_blob_ref *out)
{
    weft_blob_builder *builder = NULL;
    weft_result result =
        weft_blob_builder_create(weft_bake_blobs(bake), &numbered_type, 0, &builder);
    if (result != WEFT_OK) return result;
    ((numbered *)weft_blob_builder_root(builder))->number = number;
    result = weft_blob_builder_finish(builder, out);
    weft_blob_builder_destroy(builder);
    return result == WEFT_OK ? weft_bake_blob(bake, *out, &numbered_type) : result;
}

static weft_result stand_bake(weft_bake *bake, const weft_object *object, void *user)
{
    const telling *t = user;
    uint32_t i = (uint32_t)atoi(weft_bake_name_of(bake, object) + 1);
    if (i >= t->count) return WEFT_CORRUPT;
    const document_object *o = &t->drawn[i];
    stand s = {0};
    bool is_there = false;
    weft_result result = weft_bake_parse(bake, object, "stand", &stand_type, &s, &is_there);
    if (result != WEFT_OK) return result;
    if (!is_there || !is_drawn(o, &s) || !sees_tree(t, bake, object, i)) return WEFT_CORRUPT;
    if (s.is_wrong) {
        weft_bake_fail(bake, object, NULL, "object %u is wrong", i);
        return WEFT_INVALID_ARGUMENT;
    }
    char other[DOCUMENT_PATH + 1];
    mark m = {.number = o->number, .word = (uint32_t)t->side[0]};
    if (o->other >= 0) snprintf(other, sizeof other, "/%s", t->drawn[o->other].path);
    if (o->other >= 0) m.other = weft_bake_entity_of(bake, other);
    if (o->other == DOCUMENT_PREFAB && t->way == AS_DOCUMENT)
        m.other = weft_bake_prefab(bake, "#gun");
    result = blob_bake(bake, document_blob_of(o), &m.blob);
    if (result != WEFT_OK) return result;
    weft_entity entity = weft_bake_entity(bake, NULL);
    result = weft_bake_transform(bake, entity, s.position, s.rotation, s.scale,
                                 (weft_transform_usage)s.usage);
    if (result != WEFT_OK) return result;
    return weft_bake_set(bake, entity, weft_bake_component(bake, "mark"), &m, sizeof m);
}

/* ---- what is there ---- */

static void prefab_check(telling *t, weft_entity gun)
{
    everything_place *p = t->there;
    const document_tally *tally = weft_entity_read(p->world, gun, t->tally);
    weft_buffers group = weft_entity_read_buffer(p->world, gun, p->of[GROUP]);
    everything_equal(t->e, "a prefab's tally", tally == NULL ? 0 : tally->a, GUN);
    everything_equal(t->e, "a prefab's tag", weft_entity_has(p->world, gun, p->of[PREFAB]), true);
    if (!everything_equal(t->e, "a prefab's group", weft_buffers_length(&group, 0), 2)) return;
    const weft_entity *members = weft_buffers_read(&group, 0);
    tally = weft_entity_read(p->world, members[1], t->tally);
    everything_equal(t->e, "a prefab's child", tally == NULL ? 0 : tally->a, TIP);
}

static void mark_check(telling *t, weft_entity entity, const document_object *o)
{
    const mark *m = weft_entity_read(t->there->world, entity, t->mark);
    bool has_mark = o->has_stand && t->way != AS_GLTF;
    if (!everything_equal(t->e, "a mark", m != NULL, has_mark) || !has_mark) return;
    everything_equal(t->e, "a mark's number", m->number, o->number);
    everything_equal(t->e, "a mark's word", m->word, o->word);
    const numbered *blob =
        weft_blob_read(weft_world_blobs(t->there->world), m->blob, &numbered_type);
    everything_equal(t->e, "a mark's blob", blob == NULL ? UINT32_MAX : blob->number,
                     document_blob_of(o));
    if (o->other == DOCUMENT_PREFAB && t->way == AS_DOCUMENT)
        prefab_check(t, m->other);
    else if (o->other >= 0)
        everything_equal(
            t->e, "a mark's entity",
            weft_entity_equal(m->other, weft_scene_entity(t->scene, t->drawn[o->other].path)),
            true);
}

static void mesh_check(telling *t, weft_entity entity, const document_object *o)
{
    const GltfMesh *of = weft_entity_read(t->there->world, entity, t->gltf.mesh);
    bool has_mesh = o->number % 3 == 0;
    if (!everything_equal(t->e, "a mesh", of != NULL, has_mesh) || !has_mesh) return;
    const weft_gltf_mesh *mesh =
        weft_blob_read(weft_world_blobs(t->there->world), of->mesh, &weft_gltf_mesh_type);
    if (!everything_equal(t->e, "a mesh's blob", mesh != NULL, true)) return;
    if (!everything_equal(t->e, "primitives", WEFT_BLOB_COUNT(&mesh->primitives), 1)) return;
    const weft_gltf_primitive *part = WEFT_BLOB_AT(&mesh->primitives, 0);
    everything_equal(t->e, "vertices", part->vertex_count, 3);
    if (part->vertex_count != 3) return;
    const weft_gltf_vec3 *last = WEFT_BLOB_AT(&part->positions, 2);
    everything_equal(t->e, "a vertex", last->x == t->shown_side[6] && last->z == t->shown_side[8],
                     true);
}

static void place_check(telling *t, weft_entity entity, const document_object *o, double shift)
{
    const weft_world_transform *is = weft_entity_read(t->there->world, entity, t->places.world);
    if (!everything_equal(t->e, "a place", is != NULL, document_is_placed(o)) || is == NULL) return;
    for (uint32_t i = 0; i < 12; i++) {
        double should = o->world.at[i / 4][i % 4] + (i % 4 == 3 && o->is_shifted ? shift : 0);
        if (fabs((double)is->rows[i / 4][i % 4] - should) <= 1e-3) continue;
        everything_fails(t->e, "where an entity stands", "%s: number %u is %g, should be %g",
                         o->path, i, (double)is->rows[i / 4][i % 4], should);
        return;
    }
}

static void shown_check(telling *t, double shift)
{
    for (uint32_t i = 0; i < t->count && !everything_has_failed(t->e); i++) {
        const document_object *o = &t->shown[i];
        weft_entity entity = weft_scene_entity(t->scene, o->path);
        if (!everything_equal(t->e, "weft_scene_entity", !weft_entity_is_null(entity), o->is_there))
            return;
        if (!o->is_there) continue;
        const document_tally *tally = weft_entity_read(t->there->world, entity, t->tally);
        bool is_so = tally != NULL && memcmp(tally, &o->tally, sizeof *tally) == 0;
        everything_equal(t->e, "a property that bakes itself", is_so, true);
        place_check(t, entity, o, shift);
        mark_check(t, entity, o);
        if (t->way == AS_GLTF) mesh_check(t, entity, o);
    }
    everything_result(t->e, "weft_world_validate", weft_world_validate(t->there->world), WEFT_OK);
}

/* What moves and stands on nothing. */
static void roots_move(telling *t, float shift)
{
    weft_world *world = t->there->world;
    for (uint32_t i = 0; i < t->count; i++) {
        const document_object *o = &t->shown[i];
        if (!o->is_there || !o->is_root) continue;
        weft_entity entity = weft_scene_entity(t->scene, o->path);
        weft_local_transform *at = weft_entity_write(world, entity, t->places.local);
        const weft_local_transform none = weft_local_transform_none();
        if (!everything_equal(t->e, "a local place", at != NULL, true)) return;
        bool is_none = memcmp(at, &none, sizeof none) == 0; /* below others it is a product */
        if (o->above < 0)
            everything_equal(t->e, "weft_local_transform_none", is_none, document_is_none(o));
        for (uint32_t k = 0; k < 3; k++) at->position[k] += shift;
    }
}

/* ---- bakes ---- */

static void errors_check(telling *t, weft_result result)
{
    uint32_t wrong = 0, blobs = 0;
    for (uint32_t i = 0; i < t->count; i++) wrong += t->drawn[i].is_there && t->drawn[i].is_wrong;
    wrong += t->is_broken;
    everything_result(t->e, "weft_scene_bake", result,
                      wrong == 0 ? WEFT_OK : WEFT_INVALID_ARGUMENT);
    weft_error mistakes[16]; /* the first ones are enough */
    if (!everything_equal(t->e, "weft_scene_mistakes", weft_scene_mistakes(t->scene, mistakes, 16),
                          wrong))
        return;
    for (uint32_t i = 0; i < wrong && i < 16; i++) {
        uint32_t k = 0;
        if (mistakes[i].path[0] == '\0' && t->is_broken) continue; /* of the file */
        while (k < t->count && strcmp(t->drawn[k].path, mistakes[i].path) != 0) k++;
        everything_equal(t->e, "weft_scene_mistakes: path", k < t->count && t->drawn[k].is_wrong,
                         true);
        everything_equal(t->e, "weft_scene_mistakes: text",
                         strstr(mistakes[i].text, "is wrong") != NULL, true);
    }
    weft_scene_stats stats;
    weft_scene_stats_get(t->scene, &stats, sizeof stats);
    for (uint32_t number = 0; number < DOCUMENT_BLOBS; number++)
        for (uint32_t i = 0; i < t->count; i++)
            if (t->shown[i].is_there && t->shown[i].has_stand &&
                document_blob_of(&t->shown[i]) == number) {
                blobs++;
                break;
            }
    if (t->way != AS_GLTF)
        everything_equal(t->e, "weft_scene_stats: blobs", stats.blob_count, blobs);
}

static void bake_run(telling *t)
{
    const char *const paths[] = {file_names[t->way]};
    for (uint32_t i = 0; i < t->count; i++)
        if (t->drawn[i].is_there && !t->drawn[i].is_wrong) t->shown[i] = t->drawn[i];
    document_places(t->shown, t->count);
    weft_result result = weft_scene_bake(t->scene, paths, 1);
    errors_check(t, result);
    if (everything_has_failed(t->e)) return;
    result = weft_scene_fill(t->scene, t->there->world);
    if (!everything_result(t->e, "weft_scene_fill", result, WEFT_OK)) return;
    shown_check(t, 0);
    weft_world *world = t->there->world;
    everything_result(t->e, "weft_world_step", weft_world_step(world, 0.25f), WEFT_OK);
    if (!everything_has_failed(t->e)) shown_check(t, 0);
    if (!everything_has_failed(t->e)) roots_move(t, 5);
    everything_result(t->e, "weft_world_step", weft_world_step(world, 0.25f), WEFT_OK);
    if (!everything_has_failed(t->e)) shown_check(t, 5);
}

/* What is told this time, and what bakers will see of it. */
static void bake_draw(telling *t, uint64_t drawn)
{
    document_object *kept = model_memory(&t->e->here->m, sizeof t->drawn);
    memcpy(kept, t->drawn, sizeof t->drawn);
    t->is_broken = drawn % 8 == 0 && (t->bake != 0 || t->way == AS_SOURCE);
    for (uint32_t i = 0; i < SIDE_VALUES; i++) t->side[i] = (float)(drawn >> (8 + i) & 15);
    document_draw(t->drawn, t->count, drawn, t->bake != 0, t->way == AS_GLTF);
    tell(t);
    if (t->is_broken)
        memcpy(t->drawn, kept, sizeof t->drawn);
    else
        memcpy(t->shown_side, t->side, sizeof t->side);
    for (uint32_t i = 0; i < t->count; i++) t->drawn[i].word = (uint32_t)t->side[0];
}

static bool world_open(telling *t)
{
    if (!everything_open(t->e, t->there, "there")) return false;
    weft_world *world = t->there->world;
    weft_transform again;
    weft_result result = weft_transform_create(world, NULL, &t->places);
    if (!everything_result(t->e, "weft_transform_create", result, WEFT_OK)) return false;
    result = weft_transform_create(world, NULL, &again);
    everything_equal(t->e, "weft_transform_create again",
                     result == WEFT_OK && again.local.id == t->places.local.id &&
                         again.world.id == t->places.world.id,
                     true);
    result = weft_scene_gltf_register(world, &t->gltf);
    everything_result(t->e, "weft_scene_gltf_register", result, WEFT_OK);
    t->tally = document_tally_register(world);
    t->mark = weft_component_create(world, &(weft_component_desc){.type = &mark_type});
    return everything_equal(t->e, "described components", t->tally.id != 0 && t->mark.id != 0,
                            true);
}

static void scene_run(telling *t, uint64_t drawn)
{
    const weft_source_desc sources[] = {
        {.kind = "tree", .suffixes = ".tree", .open = tree_open, .user = t}, weft_source_gltf()};
    const weft_baker_desc bakers[] = {
        {.name = "stand", .property = "stand", .version = 1, .bake = stand_bake, .user = t},
        weft_baker_gltf(&t->gltf)};
    const weft_scene_desc desc = {.bakers = bakers,
                                  .baker_count = 2,
                                  .sources = sources,
                                  .source_count = 2,
                                  .read = file_read,
                                  .user = t};
    weft_result result = weft_scene_create(t->there->world, &desc, &t->scene);
    if (!everything_result(t->e, "weft_scene_create", result, WEFT_OK)) return;
    for (t->bake = 0; t->bake < BAKES && !everything_has_failed(t->e); t->bake++) {
        bake_draw(t, everything_mix(drawn, t->bake));
        bake_run(t);
    }
    weft_scene_destroy(t->scene);
}

static void run_document(everything *e, const everything_call *c)
{
    FILE *out = e->out;
    uint64_t drawn = everything_mix(c->value, c->a);
    telling *t = model_memory(&e->here->m, sizeof *t);
    *t = (telling){.e = e, .there = &e->places[1], .way = c->way};
    t->count = 1 + (uint32_t)(drawn >> 40) % DOCUMENT_OBJECTS;
    t->text = model_memory(&e->here->m, FILE_BYTES);
    document_tree(t->drawn, t->count, drawn);
    memcpy(t->shown, t->drawn, sizeof t->shown);
    everything_says(e, "/* a document was baked, and filled another world */");
    e->out = NULL;
    if (world_open(t)) scene_run(t, drawn);
    if (!everything_has_failed(e)) everything_close(e, t->there);
    e->out = out;
}

static const char *const document_ways[] = {"document", "source", "gltf", NULL};

const everything_op everything_ops_document[] = {
    {.name = "document",
     .functions = "weft_bake_blob weft_bake_blobs weft_bake_fail weft_bake_file weft_bake_prefab "
                  "weft_bake_parse weft_bake_transform weft_source_fail weft_source_file "
                  "weft_source_property weft_source_add weft_baker_gltf weft_scene_gltf_register "
                  "weft_source_gltf weft_transform_create weft_local_transform_none",
     .weight = 1,
     .ways = document_ways,
     .run = run_document},
    {0},
};
