/* SPDX-License-Identifier: MIT */
/* inspect_host.c: a program with an inspector, for tests: a world with every kind of component,
 * relations, systems that record commands, a scene with a mistake, sections.
 *
 *   inspect_host [--write] [--steps N] [--entities N] [--probes N] [--workers N] [--without]
 *                [--quick] [--live FOLDER]
 *
 * Prints "URL ..." and steps until its input ends, or N steps; then prints "HASH ...". --without:
 * no inspector; --quick: no pause between steps; --live: follows level.weft of the folder, and
 * opens a section file that it writes there. SIGUSR1: no step until the next one. */
#include <weft/blob.h>
#include <weft/buffers.h>
#include <weft/inspect.h>
#include <weft/live.h>
#include <weft/observer.h>
#include <weft/stream.h>
#include <weft/weft.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "check.h"

typedef struct Position {
    float x, y, z;
} Position;
typedef struct Velocity {
    float x, y, z;
} Velocity;
typedef struct Orbit {
    double mean_motion;
    float drag[3];
    uint8_t phase, marks;
    bool is_tracked;
    char label[13];
    uint32_t number;
} Orbit;
typedef struct Secret {
    unsigned char bytes[12];
} Secret;
typedef struct Colour {
    float rgb[3];
} Colour;
typedef struct Age {
    float seconds;
} Age;
typedef struct Wide {
    int64_t number;
    uint64_t pair[2];
} Wide;
typedef struct Shape {
    WEFT_BLOB_ARRAY(Position) corners;
} Shape;
typedef struct Gear {
    weft_entity target;
    weft_blob_ref shape;
    float paint[3];
} Gear;
typedef struct Gravity {
    float y;
    int64_t seed;
} Gravity;

static const weft_field position_fields[] = {WEFT_FIELD_WITH(Position, x, .unit = "m"),
                                             WEFT_FIELD_WITH(Position, y, .unit = "m"),
                                             WEFT_FIELD_WITH(Position, z, .unit = "m")};
static const weft_field velocity_fields[] = {WEFT_FIELD_WITH(Velocity, x, .unit = "m/s"),
                                             WEFT_FIELD_WITH(Velocity, y, .unit = "m/s"),
                                             WEFT_FIELD_WITH(Velocity, z, .unit = "m/s")};
static const weft_constant phases[] = {{"coast", 0}, {"burn", 1}, {"decay", 2}};
static const weft_type phase_type = WEFT_TYPE_CONSTANTS(uint8_t, phases);
static const weft_constant marks[] = {{"seen", 1}, {"lost", 2}};
static const weft_type marks_type = WEFT_TYPE_CONSTANTS(uint8_t, marks);
static const weft_field orbit_fields[] = {
    WEFT_FIELD_WITH(Orbit, mean_motion, .unit = "rad/min", .text = "Revolutions", .least = 0,
                    .most = 0.2),
    WEFT_FIELD_WITH(Orbit, drag, .unit = "1/m"),
    WEFT_FIELD_OF(Orbit, phase, WEFT_FIELD_ENUM, &phase_type),
    WEFT_FIELD_OF(Orbit, marks, WEFT_FIELD_BITS, &marks_type),
    WEFT_FIELD(Orbit, is_tracked),
    WEFT_FIELD(Orbit, label),
    WEFT_FIELD_WITH(Orbit, number, .flags = WEFT_FIELD_READ_ONLY)};
static const weft_field colour_fields[] = {
    WEFT_FIELD_WITH(Colour, rgb, .flags = WEFT_FIELD_COLOUR)};
static const weft_field age_fields[] = {WEFT_FIELD_WITH(Age, seconds, .unit = "s")};
static const weft_field wide_fields[] = {WEFT_FIELD(Wide, number), WEFT_FIELD(Wide, pair)};
static const weft_type wide_type = WEFT_TYPE(Wide, wide_fields);
static const weft_type position_type = WEFT_TYPE(Position, position_fields);
static const weft_field shape_fields[] = {
    WEFT_FIELD_OF(Shape, corners, WEFT_FIELD_BLOB_ARRAY, &position_type)};
static const weft_type shape_type = WEFT_TYPE(Shape, shape_fields);
static const weft_field gear_fields[] = {WEFT_FIELD(Gear, target),
                                         WEFT_FIELD_OF(Gear, shape, WEFT_FIELD_BLOB, &shape_type),
                                         WEFT_FIELD_WITH(Gear, paint, .flags = WEFT_FIELD_COLOUR)};
static const weft_type gear_type = WEFT_TYPE(Gear, gear_fields);
static const weft_field gravity_fields[] = {WEFT_FIELD_WITH(Gravity, y, .unit = "m/s^2"),
                                            WEFT_FIELD(Gravity, seed)};
static const weft_type gravity_type = WEFT_TYPE(Gravity, gravity_fields);
static const weft_type velocity_type = WEFT_TYPE(Velocity, velocity_fields);
static const weft_type orbit_type = WEFT_TYPE(Orbit, orbit_fields);
static const weft_type colour_type = WEFT_TYPE(Colour, colour_fields);
static const weft_type age_type = WEFT_TYPE(Age, age_fields);

static struct {
    weft_component position, velocity, orbit, secret, colour, age, frozen, trail, parent, spark,
        wide, gear;
} types;

static weft_component add_type(weft_world *world, const char *name, const weft_type *type,
                               uint32_t flags)
{
    weft_component made = weft_component_create(
        world, &(weft_component_desc){.name = name, .type = type, .flags = flags});
    CHECK(made.id != 0);
    return made;
}

static void add_types(weft_world *world)
{
    types.position = add_type(world, "Position", &position_type, 0);
    types.velocity = add_type(world, "Velocity", &velocity_type, 0);
    types.orbit = add_type(world, "Orbit", &orbit_type, 0);
    types.colour = add_type(world, "Colour", &colour_type, WEFT_SHARED);
    types.age = add_type(world, "Age", &age_type, 0);
    types.wide = add_type(world, "Wide", &wide_type, 0);
    types.gear = add_type(world, "Gear", &gear_type, 0);
    Gravity *gravity =
        weft_resource_write(world, add_type(world, "Gravity", &gravity_type, WEFT_RESOURCE));
    *gravity = (Gravity){.y = -9.81f, .seed = 7};
    types.secret = WEFT_COMPONENT(world, Secret);
    types.frozen = weft_component_create_plain(world, "Frozen", 0, 1, WEFT_ENABLEABLE);
    types.spark = WEFT_TAG(world, Spark);
    types.trail = weft_component_create(
        world,
        &(weft_component_desc){.name = "Trail", .type = &position_type, .flags = WEFT_BUFFER});
    types.parent = weft_component_parent(world);
    CHECK(types.trail.id != 0 && types.parent.id != 0);
}

/* ---- systems */

static void move(weft_slice *slice, void *user)
{
    Position *p = WEFT_WRITE_COLUMN(slice, 0, Position);
    const Velocity *v = WEFT_READ_COLUMN(slice, 1, Velocity);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) {
        p[i].x += v[i].x * slice->dt;
        p[i].y += v[i].y * slice->dt;
        p[i].z += v[i].z * slice->dt;
    }
}

static void bounce(weft_slice *slice, void *user)
{
    const Position *p = WEFT_READ_COLUMN(slice, 0, Position);
    Velocity *v = WEFT_WRITE_COLUMN(slice, 1, Velocity);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++)
        if (p[i].x * p[i].x > 1e4f) v[i].x = p[i].x > 0 ? -10.f : 10.f;
}

static void spark(weft_slice *slice, void *user)
{
    weft_recorder *commands = weft_slice_recorder(slice);
    for (uint32_t i = 0; i < 8; i++)
        weft_recorder_create_entity(commands, *(const weft_archetype *)user);
}

static void age(weft_slice *slice, void *user)
{
    Age *a = WEFT_WRITE_COLUMN(slice, 0, Age);
    weft_recorder *commands = weft_slice_recorder(slice);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++) {
        a[i].seconds += slice->dt;
        if (a[i].seconds > 0.5f) weft_recorder_destroy_entity(commands, slice->entities[i]);
    }
}

static void look(weft_slice *slice, void *user)
{
    const Position *p = WEFT_READ_COLUMN(slice, 0, Position);
    double *sum = user;
    for (uint32_t i = 0; i < slice->count; i++) *sum += (double)p[i].x;
}

static weft_archetype spark_archetype;
static double seen;

static void add_systems(weft_world *world)
{
    const weft_system_desc systems[] = {
        {.name = "move",
         .run = move,
         .over.rows.terms = {{types.position, WEFT_WRITE}, {types.velocity}}},
        {.name = "bounce",
         .run = bounce,
         .over.rows.terms = {{types.position}, {types.velocity, WEFT_WRITE}}},
        {.name = "spark",
         .run = spark,
         .user = &spark_archetype,
         .group = "effects",
         .effects = WEFT_RECORDS_CREATE,
         .records = {types.spark, types.age}},
        {.name = "age",
         .run = age,
         .group = "effects",
         .effects = WEFT_RECORDS_DESTROY,
         .over.rows.terms = {{types.age, WEFT_WRITE}, {types.spark}}},
        {.name = "look",
         .run = look,
         .user = &seen,
         .flags = WEFT_SYSTEM_MAIN_THREAD,
         .over.rows.terms = {{types.position}, {types.frozen, WEFT_READ, WEFT_NONE}}},
    };
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        CHECK(weft_system_create(world, &systems[i]).id != 0);
}

/* ---- entities */

/* A blob of five corners, and 20 elements in the buffer. */
static void add_gear(weft_world *world, weft_entity entity, weft_entity parent)
{
    static const weft_blob_field fields[] = {WEFT_BLOB_FIELD_ARRAY(Shape, corners, NULL)};
    static const weft_blob_type type = WEFT_BLOB_TYPE(Shape, fields);
    weft_blob_builder *builder;
    Gear gear = {.target = parent, .paint = {1, 0.5f, 0}};
    CHECK_OK(weft_blob_builder_create(weft_world_blobs(world), &type, 0, &builder));
    Shape *shape = weft_blob_builder_root(builder);
    Position *corners = WEFT_BLOB_BUILD_ARRAY(builder, &shape->corners, 5);
    for (int i = 0; i < 5; i++) corners[i].x = (float)i;
    CHECK_OK(weft_blob_builder_finish(builder, &gear.shape));
    weft_blob_builder_destroy(builder);
    CHECK_OK(weft_entity_set(world, entity, types.gear, &gear, sizeof gear));
    weft_buffers trail = weft_entity_write_buffer(world, entity, types.trail);
    for (int i = 0; i < 20; i++) {
        Position at = {(float)i, 0, 0};
        CHECK_OK(weft_buffers_append(&trail, 0, &at, 1));
    }
}

static weft_entity add_named(weft_world *world, const char *name, weft_entity parent)
{
    weft_entity entity;
    weft_archetype archetype =
        WEFT_ARCHETYPE(world, types.position, types.velocity, types.orbit, types.secret,
                       types.frozen, types.trail, types.wide, types.gear);
    CHECK_OK(weft_entity_create_many(world, archetype, 1, &entity));
    const Wide wide = {INT64_C(-9007199254740993), {UINT64_MAX, 1}};
    CHECK_OK(weft_entity_set(world, entity, types.wide, &wide, sizeof wide));
    CHECK_OK(weft_entity_set_name(world, entity, name));
    add_gear(world, entity, parent);
    const Orbit orbit = {.mean_motion = 0.0625,
                         .drag = {0.5f, 0, 0},
                         .phase = 1,
                         .marks = 3,
                         .label = "x",
                         .number = 25544};
    CHECK_OK(weft_entity_set(world, entity, types.orbit, &orbit, sizeof orbit));
    CHECK_OK(weft_entity_enable(world, entity, types.frozen, false));
    if (parent.version != 0) CHECK_OK(weft_relation_set(world, entity, types.parent, parent));
    return entity;
}

/* "probe 0", "probe 1", ...: more names than a page shows. */
static void add_probes(weft_world *world, uint32_t count)
{
    weft_entity probe;
    weft_archetype bare = WEFT_ARCHETYPE(world, types.position);
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "probe %u", i);
        CHECK_OK(weft_entity_create_many(world, bare, 1, &probe));
        CHECK_OK(weft_entity_set_name(world, probe, name));
    }
}

static void add_entities(weft_world *world, uint32_t count)
{
    spark_archetype = WEFT_ARCHETYPE(world, types.spark, types.age);
    weft_archetype moving = WEFT_ARCHETYPE(world, types.position, types.velocity);
    weft_archetype coloured = WEFT_ARCHETYPE(world, types.position, types.colour);
    weft_entity *made = malloc((count + 1) * sizeof *made), many[600];
    CHECK(made != NULL);
    CHECK_OK(weft_entity_create_many(world, moving, count, made));
    for (uint32_t i = 0; i < count; i++) {
        Velocity v = {(float)(i % 7) - 3, (float)(i % 5) - 2, 1};
        CHECK_OK(weft_entity_set(world, made[i], types.velocity, &v, sizeof v));
    }
    free(made);
    CHECK_OK(weft_entity_create_many(world, coloured, 600, many));
    for (uint32_t i = 0; i < 600; i++) { /* values that split chunks: the window gives advice */
        Colour colour = {{(float)(i % 300) / 300, 0.5f, 1}};
        CHECK_OK(weft_entity_set_shared(world, many[i], types.colour, &colour));
    }
    weft_entity sun = add_named(world, "sun", (weft_entity){0});
    weft_entity earth = add_named(world, "earth", sun);
    add_named(world, "moon", earth);
    add_named(world, "<script>alert(1)</script> \"quoted\" \x01", sun);
}

/* ---- scenes */

static bool is_loaded[2] = {true, false};

static size_t write_sections(char *text, size_t capacity, void *user)
{
    (void)user;
    return (size_t)snprintf(
        text, capacity,
        "\"sections\":[{\"name\":\"north\",\"state\":\"%s\",\"rows\":1000,\"bytes\":65536},"
        "{\"name\":\"south\",\"state\":\"%s\"}],"
        "\"requests\":[{\"section\":\"south\",\"state\":\"reading\",\"done\":0.4}]",
        is_loaded[0] ? "loaded" : "absent", is_loaded[1] ? "loaded" : "absent");
}

static size_t write_origin(weft_entity entity, char *text, size_t capacity, void *user)
{
    (void)user;
    return weft_entity_index(entity) % 2 == 0
               ? (size_t)snprintf(text, capacity, "level.weft:3:14 cube")
               : 0;
}

static weft_result request_section(const char *section, bool is_load, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < 2; i++)
        if (strcmp(section, i == 0 ? "north" : "south") == 0) {
            is_loaded[i] = is_load;
            return WEFT_OK;
        }
    return WEFT_NOT_FOUND;
}

/* ---- a panel of its own, and observers */

static uint32_t pressed;

static size_t write_panel(char *text, size_t capacity, void *user)
{
    (void)user;
    return (size_t)snprintf(text, capacity,
                            "\"text\":\"<b>as it flies</b>\",\"figures\":{\"Pressed\":%u},"
                            "\"rows\":[{\"stage\":1,\"fuel\":0.4},{\"stage\":2}]",
                            pressed);
}

static void press(weft_world *world, void *user)
{
    (void)world, (void)user;
    pressed++;
}

static void hear(const weft_observation *observation, void *user)
{
    *(uint64_t *)user += observation->count;
}

static void add_observers(weft_world *world)
{
    static uint64_t heard;
    const weft_observer_desc sparks = {.name = "sparks",
                                       .on = WEFT_ON_CREATED,
                                       .component = types.spark,
                                       .run = hear,
                                       .user = &heard};
    const weft_observer_desc ends = {
        .name = "ends", .on = WEFT_ON_DESTROYED, .run = hear, .user = &heard, .before = "sparks"};
    CHECK(weft_observer_create(world, &sparks).id != 0);
    CHECK(weft_observer_create(world, &ends).id != 0);
}

/* A document with a mistake. */
static weft_result read_document(const char *path, uint64_t known, uint64_t *stamp, weft_text *out,
                                 const weft_allocator *allocator, void *user)
{
    static const char text[] = "{ \"weft\": 1, \"objects\": {\n"
                               "  \"cube\": {\"Position\": {\"x\": \"3 m\"}},\n"
                               "  \"ball\": {\"Position\": {\"x\": \"3 s\"}}}}\n";
    (void)path, (void)known, (void)user, (void)allocator;
    char *copy = malloc(sizeof text);
    if (copy == NULL) return WEFT_OUT_OF_MEMORY;
    memcpy(copy, text, sizeof text);
    *stamp = 1;
    *out = (weft_text){copy, sizeof text - 1, "level.weft"};
    return WEFT_OK;
}

static weft_scene *add_scene(weft_world *world)
{
    weft_scene *scene;
    CHECK_OK(weft_scene_create(world, &(weft_scene_desc){.read = read_document}, &scene));
    CHECK_RESULT(weft_scene_bake(scene, (const char *[]){"level.weft"}, 1), WEFT_INVALID_ARGUMENT);
    return scene;
}

/* ---- a live link and a stream */

typedef struct followed {
    weft_live *live;
    weft_stream *stream;
} followed;

/* Two sections of 100 and 50 entities beside section 0. */
static void write_parts(const char *path)
{
    weft_world *world;
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &world));
    add_types(world);
    weft_component section = weft_component_section(world);
    weft_archetype archetype = WEFT_ARCHETYPE(world, types.position, section);
    for (uint32_t i = 0; i < 150; i++) {
        const weft_section of = {.section = i < 100 ? 1 : 2};
        weft_entity made = weft_entity_create(world, archetype);
        CHECK_OK(weft_entity_set_shared(world, made, section, &of));
    }
    CHECK_OK(weft_sections_save(world, path, NULL));
    CHECK_OK(weft_world_destroy(world));
}

static followed add_guests(weft_world *world, const char *folder)
{
    char document[512], parts[512];
    followed made = {0};
    const char *paths[] = {document};
    if (folder == NULL) return made;
    snprintf(document, sizeof document, "%s/level.weft", folder);
    snprintf(parts, sizeof parts, "%s/parts.wss", folder);
    write_parts(parts);
    add_types(world); /* the handles of this world again */
    CHECK_OK(weft_stream_open(world, parts, NULL, &made.stream));
    CHECK_OK(
        weft_live_start(world, &(weft_live_desc){.paths = paths, .path_count = 1}, &made.live));
    return made;
}

static void step_guests(weft_world *world, const followed *guests)
{
    if (guests->live == NULL) return;
    CHECK_OK(weft_live_apply(guests->live, 0, NULL, 0));
    CHECK_OK(weft_stream_step(world, 0));
}

/* ---- the program */

typedef struct settings {
    bool is_writable, is_without, is_quick, has_second;
    uint64_t steps;
    uint32_t entities, probes, workers;
    const char *folder; /* NULL: no live link */
} settings;

static settings read_settings(int argc, char **argv)
{
    settings s = {.entities = 3000, .workers = 2};
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "--write") == 0) s.is_writable = true;
        if (strcmp(argv[i], "--without") == 0) s.is_without = true;
        if (strcmp(argv[i], "--quick") == 0) s.is_quick = true;
        if (strcmp(argv[i], "--second") == 0) s.has_second = true;
        if (strcmp(argv[i], "--live") == 0) s.folder = next;
        if (strcmp(argv[i], "--steps") == 0) s.steps = strtoull(next, NULL, 10);
        if (strcmp(argv[i], "--entities") == 0) s.entities = (uint32_t)strtoul(next, NULL, 10);
        if (strcmp(argv[i], "--probes") == 0) s.probes = (uint32_t)strtoul(next, NULL, 10);
        if (strcmp(argv[i], "--workers") == 0) s.workers = (uint32_t)strtoul(next, NULL, 10);
    }
    return s;
}

/* A second world with a page of the same key, and a third with one of its own. */
typedef struct other_worlds {
    weft_world *worlds[2];
    weft_inspect *inspects[2];
} other_worlds;

static other_worlds add_worlds(weft_job_pool *pool, const char *url)
{
    static const char *const names[] = {"menu", "secret"};
    other_worlds made;
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_OK(
            weft_world_create(&(weft_world_desc){.pool = pool, .name = names[i]}, &made.worlds[i]));
        add_types(made.worlds[i]);
        weft_inspect_desc desc = {.port = WEFT_INSPECT_ANY_PORT};
        if (i == 0) desc.token = strchr(url, '#') + 1;
        CHECK_OK(weft_inspect_start(made.worlds[i], &desc, &made.inspects[i]));
    }
    return made;
}

static void end_worlds(const other_worlds *others)
{
    for (uint32_t i = 0; i < 2; i++) {
        weft_inspect_stop(others->inspects[i]);
        CHECK_OK(weft_world_destroy(others->worlds[i]));
    }
}

static weft_a32 x_stalls;

static void stall(int signal)
{
    (void)signal;
    at_store_rlx(&x_stalls, !at_load_rlx(&x_stalls)); /* relaxed: a signal of the same thread */
}

/* Whether to go on; waits a little between steps unless quick. */
static bool goes_on(const settings *s, uint64_t done)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    char bytes[256];
    if (s->steps != 0 && done >= s->steps) return false;
    while (at_load_rlx(&x_stalls) != 0) poll(NULL, 0, 10);
    if (poll(&input, 1, s->is_quick ? 0 : 4) <= 0) return true;
    return read(STDIN_FILENO, bytes, sizeof bytes) > 0;
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    signal(SIGUSR1, stall);
    weft_job_pool *pool;
    weft_world *world;
    weft_inspect *inspect = NULL;
    CHECK_OK(weft_job_pool_create(&(weft_job_pool_desc){.worker_count = s.workers,
                                                        .trace_capacity = 1 << 14,
                                                        .trace_is_paused = true},
                                  &pool));
    CHECK_OK(weft_world_create(&(weft_world_desc){.pool = pool}, &world));
    add_types(world);
    add_systems(world);
    add_entities(world, s.entities);
    add_probes(world, s.probes);
    add_observers(world);
    weft_scene *scene = add_scene(world);
    followed guests = add_guests(world, s.folder);
    if (!s.is_without) {
        CHECK_OK(weft_inspect_start(
            world,
            &(weft_inspect_desc){.port = WEFT_INSPECT_ANY_PORT, .is_writable = s.is_writable},
            &inspect));
        weft_inspect_scene(inspect, scene);
        const weft_inspect_source source = {write_sections, write_origin, request_section, NULL};
        if (s.folder == NULL) weft_inspect_sections(inspect, &source);
        CHECK_OK(weft_inspect_panel(inspect, &(weft_inspect_panel_desc){.name = "Flight",
                                                                        .write = write_panel,
                                                                        .press = press,
                                                                        .button = "Ignite"}));
        printf("URL %s\n", weft_inspect_url(inspect));
        fflush(stdout);
    }
    other_worlds others;
    if (s.has_second) others = add_worlds(pool, weft_inspect_url(inspect));
    if (s.has_second) add_types(world); /* the handles of this world again */
    for (uint64_t done = 0; goes_on(&s, done); done++) {
        step_guests(world, &guests);
        CHECK_OK(weft_world_step(world, 0.016f));
        for (uint32_t i = 0; s.has_second && i < 2; i++)
            CHECK_OK(weft_world_step(others.worlds[i], 0.016f));
    }
    if (s.has_second) end_worlds(&others);
    printf("HASH %016llx\n", (unsigned long long)weft_world_hash(world, WEFT_HASH_CONTENT));
    CHECK_OK(weft_world_validate(world));
    weft_inspect_stop(inspect);
    weft_live_stop(guests.live);
    weft_stream_close(guests.stream);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
    CHECK_OK(weft_job_pool_destroy(pool));
    return 0;
}
