/* SPDX-License-Identifier: MIT */
/* screen_scene.c: records of a catalogue become components, and components a catalogue again. See
 * screen_scene.h.
 */
#include "screen_scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <weft/query.h>
#include <weft/slice.h>
#include <weft/world_file.h>

#include "cli.h"

typedef struct sgp4_elements elements;

static const weft_field element_fields[] = {
    WEFT_FIELD_WITH(elements, epoch_day, .unit = "day"),
    WEFT_FIELD_WITH(elements, epoch_fraction, .unit = "day"),
    WEFT_FIELD_WITH(elements, mean_motion, .unit = "rad/min"),
    WEFT_FIELD(elements, eccentricity),
    WEFT_FIELD_WITH(elements, inclination, .unit = "rad"),
    WEFT_FIELD_WITH(elements, node, .unit = "rad"),
    WEFT_FIELD_WITH(elements, perigee, .unit = "rad"),
    WEFT_FIELD_WITH(elements, mean_anomaly, .unit = "rad"),
    WEFT_FIELD(elements, bstar),
};
static const weft_type element_type = WEFT_TYPE(elements, element_fields);
static const weft_field satellite_fields[] = {
    WEFT_FIELD(Satellite, number),
    WEFT_FIELD(Satellite, name),
    WEFT_FIELD_OF(Satellite, elements, WEFT_FIELD_STRUCT, &element_type),
};
static const weft_type satellite_type = WEFT_TYPE(Satellite, satellite_fields);

weft_component screen_scene_register(weft_world *world)
{
    return weft_component_create(world, &(weft_component_desc){.type = &satellite_type});
}

struct baking {
    weft_bake *bake;
    const weft_object *object;
    weft_text record;
};

/* Says it at its place in the record. */
static void report_record(void *user, const struct tle_problem *problem)
{
    const struct baking *b = user;
    const char *at = b->record.bytes, *end = at + b->record.count;
    for (uint64_t line = 1; line < problem->line && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    if (problem->column) at += problem->column - 1;
    weft_bake_fail(b->bake, b->object, at < end ? at : NULL, "%s", problem->reason);
}

static weft_result bake_satellite(weft_bake *bake, const weft_object *object, void *user)
{
    (void)user;
    struct baking b = {bake, object, weft_bake_bytes(bake, object)};
    struct tle_object read;
    memset(&read, 0, sizeof read);
    if (tle_read_record(b.record.bytes, b.record.count, report_record, &b, &read))
        return WEFT_INVALID_ARGUMENT;
    Satellite satellite;
    memset(&satellite, 0, sizeof satellite);
    satellite.number = read.number;
    snprintf(satellite.name, sizeof satellite.name, "%s", read.name);
    satellite.elements = read.elements;
    const weft_component component = weft_bake_component(bake, "Satellite");
    return weft_bake_set(bake, weft_bake_entity(bake, NULL), component, &satellite,
                         sizeof satellite);
}

const weft_baker_desc screen_scene_baker = {
    .name = "satellite", .kind = "tle", .version = 1, .bake = bake_satellite};

/* ---- back to a catalogue ---- */

/* The satellites of a loaded world; TLE_FILE: there are none. */
static enum tle_result gather(weft_world *world, weft_component component,
                              struct tle_catalogue *catalogue)
{
    const weft_query query = weft_query_create(world, &(weft_query_desc){.terms = {{component}}});
    if (query.id == 0) return TLE_NO_MEMORY;
    weft_cursor c = weft_query_begin(world, query);
    while (weft_query_next(&c)) {
        const Satellite *satellites = WEFT_READ_COLUMN(&c.slice, 0, Satellite);
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++) {
            struct tle_object object = {.number = satellites[i].number,
                                        .elements = satellites[i].elements};
            tle_name_set(object.name, satellites[i].name,
                         strnlen(satellites[i].name, sizeof satellites[i].name));
            if (tle_append(catalogue, &object)) return TLE_NO_MEMORY;
        }
    }
    return catalogue->count > 0 ? TLE_OK : TLE_FILE;
}

/* Elements of a file may be anything: what the propagation needs must hold. */
static bool are_possible(const struct sgp4_elements *e)
{
    return e->epoch_day >= 2415018.5 && e->epoch_day <= 2500000.5 && e->epoch_fraction >= 0 &&
           e->epoch_fraction <= 1 && e->mean_motion > 0 && e->mean_motion < 0.1 &&
           e->eccentricity >= 0 && e->eccentricity < 1 && fabs(e->inclination) <= 4 &&
           fabs(e->node) <= 7 && fabs(e->perigee) <= 7 && fabs(e->mean_anomaly) <= 7 &&
           fabs(e->bstar) <= 1e9;
}

static void drop_impossible(struct tle_catalogue *catalogue, const char *path,
                            tle_report_fn *report, void *user)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < catalogue->count; i++) {
        if (are_possible(&catalogue->objects[i].elements)) {
            catalogue->objects[kept++] = catalogue->objects[i];
            continue;
        }
        char reason[96];
        snprintf(reason, sizeof reason, "satellite %u has impossible elements",
                 (unsigned)catalogue->objects[i].number);
        catalogue->bad_lines++;
        report(user, &(struct tle_problem){.path = path, .line = 1, .reason = reason});
    }
    catalogue->count = kept;
}

enum tle_result screen_scene_read(const char *path, tle_report_fn *report, void *user,
                                  struct tle_catalogue *catalogue)
{
    weft_world *world;
    *catalogue = (struct tle_catalogue){.objects = NULL};
    if (weft_world_create(&(weft_world_desc){.workers = 1, .name = "scene", .is_hidden = true},
                          &world) != WEFT_OK)
        return TLE_NO_MEMORY;
    const weft_component component = screen_scene_register(world);
    enum tle_result result = TLE_NO_MEMORY;
    if (component.id != 0) {
        const weft_result loaded = weft_world_load(world, path, NULL);
        result = loaded == WEFT_OK ? gather(world, component, catalogue) : TLE_FILE;
        if (loaded != WEFT_OK)
            weft_cli_fail("screen", "--scene: %s", weft_world_error(world)->text);
        else if (result == TLE_FILE)
            weft_cli_fail("screen", "--scene: %s has no entity with a Satellite", path);
    }
    weft_world_destroy(world);
    if (result == TLE_OK) {
        drop_impossible(catalogue, path, report, user);
        tle_drop_duplicates(catalogue, path, report, user);
    } else {
        tle_catalogue_fini(catalogue);
    }
    return result;
}
