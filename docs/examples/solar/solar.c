/* SPDX-License-Identifier: MIT */
/* solar.c: the solar system of solar.weft, baked and moved: where every body is after some days.
 *
 *   solar                         where everything is at J2000
 *   solar my.weft 365             another document; after a year
 *   solar --types > types.json    the components, for `weft bake my.weft --types types.json`
 *
 * Components are described, so that documents may name their fields with units. Bodies move on
 * ellipses around others (Kepler's equation by Newton's method: R. H. Battin, An Introduction to
 * the Mathematics and Methods of Astrodynamics, 1999, section 4.3). Orbit is a relation by
 * depth: a planet is placed before its moons. */
#include <weft/finder.h>
#include <weft/scene.h>
#include <weft/transform.h>
#include <weft/weft.h>
#include <weft/world_text.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRAVITY 6.6743e-11 /* m^3/(kg s^2), CODATA 2018 */
#define AU 149597870700.0  /* m */
#define DAY 86400.0        /* s */
#define TURN 6.283185307179586

/* ---- components ---- */

typedef struct Body {
    double mass, radius;
    float albedo, colour[3];
} Body;
/* An ellipse around another body; null: it stands at the centre. */
typedef struct Orbit {
    weft_entity around;
    double axis, eccentricity, inclination, node, periapsis, anomaly;
} Orbit;
/* Where a body is: computed, never written by people. */
typedef struct Place {
    double position[3];
} Place;
typedef struct Spin {
    double period, tilt;
} Spin;
typedef struct Light {
    double power;
} Light;
typedef struct Ring {
    double inner, outer;
} Ring;
typedef struct Antenna {
    float dish, power;
} Antenna;
typedef struct Camera {
    float view;
} Camera;

static const Body body_initial = {.radius = 1, .albedo = 0.1f, .colour = {0.5f, 0.5f, 0.5f}};
static const weft_field body_fields[] = {
    WEFT_FIELD_WITH(Body, mass, .unit = "kg", .most = 1e32),
    WEFT_FIELD_WITH(Body, radius, .unit = "m", .most = 1e13),
    WEFT_FIELD_WITH(Body, albedo, .most = 1, .text = "Share of light that it reflects"),
    WEFT_FIELD_WITH(Body, colour, .most = 1, .flags = WEFT_FIELD_COLOUR)};
static const weft_type body_type = {.name = "Body",
                                    .size = sizeof(Body),
                                    .alignment = _Alignof(Body),
                                    .fields = body_fields,
                                    .field_count = 4,
                                    .initial = &body_initial};

static const weft_field orbit_fields[] = {
    WEFT_FIELD(Orbit, around),
    WEFT_FIELD_WITH(Orbit, axis, .unit = "m", .text = "Semi-major axis", .most = 1e15),
    WEFT_FIELD_WITH(Orbit, eccentricity, .most = 0.99),
    WEFT_FIELD_WITH(Orbit, inclination, .unit = "rad", .text = "To the ecliptic"),
    WEFT_FIELD_WITH(Orbit, node, .unit = "rad", .text = "Longitude of the ascending node"),
    WEFT_FIELD_WITH(Orbit, periapsis, .unit = "rad", .text = "From the node"),
    WEFT_FIELD_WITH(Orbit, anomaly, .unit = "rad", .text = "Mean anomaly at J2000")};
static const weft_type orbit_type = WEFT_TYPE(Orbit, orbit_fields);

static const weft_field place_fields[] = {
    WEFT_FIELD_WITH(Place, position, .unit = "m", .flags = WEFT_FIELD_READ_ONLY)};
static const weft_type place_type = WEFT_TYPE(Place, place_fields);

static const weft_field spin_fields[] = {WEFT_FIELD_WITH(Spin, period, .unit = "s"),
                                         WEFT_FIELD_WITH(Spin, tilt, .unit = "rad")};
static const weft_type spin_type = WEFT_TYPE(Spin, spin_fields);
static const weft_field light_fields[] = {WEFT_FIELD_WITH(Light, power, .unit = "W")};
static const weft_type light_type = WEFT_TYPE(Light, light_fields);
static const weft_field ring_fields[] = {WEFT_FIELD_WITH(Ring, inner, .unit = "m"),
                                         WEFT_FIELD_WITH(Ring, outer, .unit = "m")};
static const weft_type ring_type = WEFT_TYPE(Ring, ring_fields);
static const weft_field antenna_fields[] = {WEFT_FIELD_WITH(Antenna, dish, .unit = "m"),
                                            WEFT_FIELD_WITH(Antenna, power, .unit = "W")};
static const weft_type antenna_type = WEFT_TYPE(Antenna, antenna_fields);
static const weft_field camera_fields[] = {
    WEFT_FIELD_WITH(Camera, view, .unit = "rad", .most = 3.2)};
static const weft_type camera_type = WEFT_TYPE(Camera, camera_fields);

/* What the functions below share. Owner: main. */
typedef struct solar {
    weft_world *world;
    weft_component body, orbit, place;
} solar;

static bool solar_register(solar *s)
{
    const weft_type *const others[] = {&spin_type, &light_type, &ring_type, &antenna_type,
                                       &camera_type};
    s->place = weft_component_create(s->world, &(weft_component_desc){.type = &place_type});
    s->body = weft_component_create(
        s->world,
        &(weft_component_desc){.type = &body_type, .required = &s->place, .required_count = 1});
    s->orbit = weft_component_create(s->world, &(weft_component_desc){.type = &orbit_type});
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        weft_component_create(s->world, &(weft_component_desc){.type = others[i]});
    return weft_relation_declare(
               s->world, &(weft_relation_desc){.component = s->orbit, .by_depth = true}) == WEFT_OK;
}

/* ---- motion ---- */

/* Radians per second. */
static double mean_motion(const Orbit *orbit, double mass)
{
    return sqrt(GRAVITY * mass / (orbit->axis * orbit->axis * orbit->axis));
}

static double eccentric_anomaly(double mean, double e)
{
    double at = e < 0.8 ? mean : TURN / 2;
    for (int i = 0; i < 20; i++) {
        double step = (at - e * sin(at) - mean) / (1 - e * cos(at));
        at -= step;
        if (fabs(step) < 1e-14) break;
    }
    return at;
}

/* From the body that it goes around, which has `mass` together with its own; metres. */
static void orbit_position(const Orbit *o, double mass, double seconds, double out[3])
{
    double e = o->eccentricity;
    double mean = remainder(o->anomaly + mean_motion(o, mass) * seconds, TURN);
    double at = eccentric_anomaly(mean, e);
    double x = o->axis * (cos(at) - e), y = o->axis * sqrt(1 - e * e) * sin(at);
    double cw = cos(o->periapsis), sw = sin(o->periapsis);
    double cn = cos(o->node), sn = sin(o->node), ci = cos(o->inclination), si = sin(o->inclination);
    out[0] = (cw * cn - sw * sn * ci) * x + (-sw * cn - cw * sn * ci) * y;
    out[1] = (cw * sn + sw * cn * ci) * x + (-sw * sn + cw * cn * ci) * y;
    out[2] = sw * si * x + cw * si * y;
}

static void move(weft_slice *slice, void *user)
{
    const solar *s = user;
    double seconds = weft_slice_frame(slice).time; /* since J2000 */
    Place *places = WEFT_WRITE_COLUMN(slice, 0, Place);
    const Body *bodies = WEFT_READ_COLUMN(slice, 1, Body);
    const Orbit *orbits = weft_slice_read(slice, 2); /* NULL: rows without one */
    weft_finder find_place = weft_slice_finder(slice, s->place);
    weft_finder find_body = weft_slice_finder(slice, s->body);
    for (uint32_t i = 0; i < weft_slice_count(slice); i++) {
        places[i] = (Place){{0}};
        const Place *up = orbits == NULL ? NULL : weft_finder_read(&find_place, orbits[i].around);
        const Body *centre = orbits == NULL ? NULL : weft_finder_read(&find_body, orbits[i].around);
        if (up == NULL || centre == NULL || orbits[i].axis <= 0) continue;
        orbit_position(&orbits[i], centre->mass + bodies[i].mass, seconds, places[i].position);
        for (int k = 0; k < 3; k++) places[i].position[k] += up->position[k];
    }
}

/* ---- what is printed ---- */

static void print_body(const solar *s, weft_entity entity)
{
    const Orbit *orbit = weft_entity_read(s->world, entity, s->orbit);
    const Body *body = weft_entity_read(s->world, entity, s->body);
    const Body *centre = orbit == NULL ? NULL : weft_entity_read(s->world, orbit->around, s->body);
    if (centre == NULL) return;
    const Place *place = weft_entity_read(s->world, entity, s->place);
    const Place *up = weft_entity_read(s->world, orbit->around, s->place);
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double along = place->position[k] - up->position[k];
        square += along * along;
    }
    double days = TURN / mean_motion(orbit, centre->mass + body->mass) / DAY;
    printf("%-10s %-10s %12.4f %14.6f\n", weft_entity_name(s->world, entity),
           weft_entity_name(s->world, orbit->around), days, sqrt(square) / AU);
}

static void print_all(const solar *s)
{
    weft_query query = weft_query_create(s->world, &(weft_query_desc){.terms = {{s->orbit}}});
    weft_cursor c = weft_query_begin(s->world, query);
    printf("%-10s %-10s %12s %14s\n", "body", "around", "period (day)", "distance (au)");
    while (weft_query_next(&c))
        for (uint32_t i = 0; i < weft_slice_count(&c.slice); i++)
            print_body(s, weft_slice_entities(&c.slice)[i]);
}

static weft_result to_stdout(void *user, const void *bytes, size_t count)
{
    (void)user;
    return fwrite(bytes, 1, count, stdout) == count ? WEFT_OK : WEFT_IO;
}

/* ---- the whole ---- */

static weft_result bake(const solar *s, const char *path)
{
    weft_scene *scene;
    weft_result result = weft_scene_create(s->world, NULL, &scene);
    if (result != WEFT_OK) return result;
    result = weft_scene_bake(scene, &path, 1);
    weft_error mistakes[16];
    const uint32_t count = weft_scene_mistakes(scene, mistakes, 16);
    for (uint32_t i = 0; i < count && i < 16; i++) fprintf(stderr, "%s\n", mistakes[i].text);
    if (result == WEFT_OK) result = weft_scene_fill(scene, s->world);
    weft_scene_destroy(scene);
    return result;
}

static weft_result run(solar *s, const char *path, double days)
{
    weft_system_create(
        s->world, &(weft_system_desc){.name = "move",
                                      .run = move,
                                      .user = s,
                                      .over.rows.terms = {{s->place, WEFT_WRITE},
                                                          {s->body, WEFT_READ},
                                                          {s->orbit, WEFT_READ, WEFT_OPTIONAL, 0}},
                                      .lookups = {{s->place, WEFT_READ}, {s->body, WEFT_READ}},
                                      .by_depth = s->orbit});
    weft_result result = bake(s, path);
    if (result == WEFT_OK) result = weft_world_step(s->world, (float)(days * DAY));
    if (result == WEFT_OK) print_all(s);
    return result;
}

int main(int argc, char **argv)
{
    solar s;
    weft_transform transform;
    weft_result result = weft_world_create(NULL, &s.world);
    if (result == WEFT_OK) result = weft_transform_create(s.world, NULL, &transform);
    if (result == WEFT_OK && !solar_register(&s)) result = weft_world_error(s.world)->code;
    if (result == WEFT_OK && argc == 2 && strcmp(argv[1], "--types") == 0)
        result = weft_world_save_json(s.world, &(weft_writer){to_stdout, NULL}, NULL);
    else if (result == WEFT_OK)
        result = run(&s, argc > 1 ? argv[1] : "solar.weft", argc > 2 ? atof(argv[2]) : 0);
    if (result != WEFT_OK) fprintf(stderr, "solar: %s\n", weft_result_text(result));
    weft_world_destroy(s.world);
    return result == WEFT_OK ? 0 : 1;
}
