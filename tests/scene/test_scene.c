/* SPDX-License-Identifier: MIT */
/* test_scene.c: documents become entities: components of every kind, references, places, prefabs
 * and what overrides them, records of other files, bakers; what a change bakes again; every
 * mistake with its place. */
#include "scene_fixture.h"

#include <weft/live.h>
#include <weft/snapshot.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static weft_scene *scene_of(weft_world *world, shelf *files, const weft_baker_desc *bakers,
                            uint32_t baker_count)
{
    weft_scene *scene;
    CHECK_OK(weft_scene_create(
        world,
        &(weft_scene_desc){
            .bakers = bakers, .baker_count = baker_count, .read = shelf_read, .user = files},
        &scene));
    return scene;
}

static const void *value(const weft_scene *scene, weft_world *world, const char *path,
                         weft_component component)
{
    return weft_entity_read(world, weft_scene_entity(scene, path), component);
}

static weft_scene_stats stats_of(const weft_scene *scene)
{
    weft_scene_stats stats;
    weft_scene_stats_get(scene, &stats, sizeof stats);
    return stats;
}

PLAIN_TEST(properties_named_like_components_bake_themselves)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    shelf_put(
        &files, "a.weft",
        "{\"weft\": 1, // a comment\n \"objects\": {\n"
        "  \"cube\": {\"Spin\": {\"speed\": \"180 deg/s\"}, \"Alive\": true, \"Team\": "
        "{\"number\": 7},\n"
        "    \"Links\": [{\"to\": \"../other\", \"weight\": 3}, {\"to\": \"\"}],\n"
        "    \"Shield\": {\"strength\": 2}, \"disabled\": [\"Shield\"], \"Note\": {\"number\": "
        "9}, \"name\": \"the cube\"},\n"
        "  \"other\": {\"Spawner\": {\"what\": \"/cube\", \"every\": \"500 ms\"}, \"Alive\": "
        "false},\n"
        "}}");
    CHECK_BAKES(scene, "a.weft");
    CHECK_OK(weft_scene_fill(scene, world));
    weft_entity cube = weft_scene_entity(scene, "cube"), other = weft_scene_entity(scene, "other");
    const Spin *spin = value(scene, world, "cube", c.spin);
    CHECK_F64((double)spin->speed, 3.14159265, 1e-6);
    CHECK_F64((double)spin->axis[1], 1, 0); /* what is left out is as the type begins */
    CHECK(weft_entity_has(world, cube, c.alive));
    CHECK(!weft_entity_has(world, other, c.alive));
    CHECK_U64(((const Team *)weft_entity_read_shared(world, cube, c.team))->number, 7);
    CHECK_U64(((const Team *)value(scene, world, "cube", c.note))->number, 9);
    weft_buffers links = weft_entity_read_buffer(world, cube, c.links);
    CHECK_U64(weft_buffers_length(&links, 0), 2);
    const Link *link = weft_buffers_read(&links, 0);
    CHECK(weft_entity_equal(link[0].to, other) && weft_entity_is_null(link[1].to));
    CHECK_U64(link[0].weight, 3);
    CHECK(!weft_entity_is_enabled(world, cube, c.shield));
    CHECK_TEXT(weft_entity_name(world, cube), "the cube");
    CHECK_TEXT(weft_entity_name(world, other), "other");
    const Spawner *spawner = value(scene, world, "other", c.spawner);
    CHECK(weft_entity_equal(spawner->what, cube));
    CHECK_F64((double)spawner->every, 0.5, 1e-7);
    CHECK_U64(stats_of(scene).entities, 2);
    CHECK_OK(weft_world_validate(world));
    CHECK_RESULT(weft_world_destroy(world), WEFT_BUSY);
    CHECK(strstr(weft_world_error(world)->text, "scene (weft_scene_destroy)") != NULL);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

static const char parts[] =
    "{\"weft\": 1, \"prefabs\": {\n"
    "  \"wheel\": {\"Spin\": {\"speed\": 2, \"axis\": [1, 0, 0]}, \"children\": {\"cap\": "
    "{\"Alive\": true}}},\n"
    "  \"cart\": {\"Shield\": {\"strength\": 5}, \"children\": {\n"
    "      \"left\": {\"prefab\": \"#wheel\"}, \"right\": {\"prefab\": \"#wheel\", \"Spin\": "
    "{\"speed\": 3}}}}}}";

PLAIN_TEST(prefabs_nest_and_are_overridden_where_that_is_written)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    shelf_put(&files, "lib/parts.weft", parts);
    shelf_put(&files, "lib/a.weft",
              "{\"weft\": 1, \"use\": {\"parts\": \"parts.weft\"}, \"objects\": {\n"
              "  \"one\": {\"prefab\": \"parts#cart\"},\n"
              "  \"two\": {\"prefab\": \"parts#cart\", \"Shield\": null, \"without\": "
              "[\"left/cap\"],\n"
              "     \"with\": {\"left\": {\"Spin\": {\"speed\": 4}}, \"right/cap\": {\"Alive\": "
              "false}},\n"
              "     \"children\": {\"box\": {}}}}}");
    CHECK_BAKES(scene, "lib/a.weft");
    CHECK_OK(weft_scene_fill(scene, world));
    CHECK_F64((double)((const Spin *)value(scene, world, "one/left", c.spin))->speed, 2, 0);
    CHECK_F64((double)((const Spin *)value(scene, world, "one/right", c.spin))->speed, 3, 0);
    CHECK_F64((double)((const Spin *)value(scene, world, "two/left", c.spin))->speed, 4, 0);
    CHECK_F64((double)((const Spin *)value(scene, world, "two/left", c.spin))->axis[0], 1, 0);
    CHECK(weft_entity_has(world, weft_scene_entity(scene, "one"), c.shield));
    CHECK(!weft_entity_has(world, weft_scene_entity(scene, "two"), c.shield));
    CHECK(weft_entity_is_null(weft_scene_entity(scene, "two/left/cap")));
    CHECK(weft_entity_has(world, weft_scene_entity(scene, "one/right/cap"), c.alive));
    CHECK(!weft_entity_has(world, weft_scene_entity(scene, "two/right/cap"), c.alive));
    /* instances know their prefab, and children their parents */
    weft_component of = weft_component_instance_of(world), parent = weft_component_parent(world);
    weft_entity cart = weft_scene_entity(scene, "lib/parts.weft#cart");
    weft_entity two = weft_scene_entity(scene, "two");
    CHECK(weft_entity_equal(weft_relation_target(world, two, of), cart));
    CHECK(weft_entity_equal(
        weft_relation_target(world, weft_scene_entity(scene, "two/box"), parent), two));
    /* the prefab is entities of its own: a copy has all of them */
    CHECK(weft_entity_has(world, cart, weft_component_prefab(world)));
    weft_entity copy;
    CHECK_OK(weft_entity_instantiate(world, cart, 1, &copy));
    weft_buffers group = weft_entity_read_buffer(world, copy, weft_component_linked_group(world));
    CHECK_U64(weft_buffers_length(&group, 0), 5);
    CHECK(weft_entity_equal(weft_relation_target(world, copy, of), cart));
    CHECK_OK(weft_world_validate(world));
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

/* `count` times the two bytes of an e with an accent. */
static const char *accents(uint32_t count)
{
    static char text[2][600];
    static uint32_t turn;
    char *out = text[turn++ % 2];
    for (uint32_t i = 0; i < count; i++) memcpy(out + 2 * i, "\xc3\xa9", 2);
    out[2 * count] = '\0';
    return out;
}

static const char *name_of_only(const char *object, const char *name)
{
    static char kept[128];
    cast c;
    shelf files = {0};
    weft_scene *scene;
    char text[1500], path[600];
    weft_world *world = cast_world(1, &c);
    snprintf(path, sizeof path, "%s", object);
    snprintf(text, sizeof text, "{\"weft\": 1, \"objects\": {\"%s\": {%s%s%s}}}", object,
             name == NULL ? "" : "\"name\": \"", name == NULL ? "" : name,
             name == NULL ? "" : "\"");
    shelf_put(&files, "a.weft", text);
    const weft_scene_desc desc = {.read = shelf_read, .user = &files};
    CHECK_OK(weft_scene_create(world, &desc, &scene));
    CHECK_BAKES(scene, "a.weft");
    CHECK_OK(weft_scene_fill(scene, world));
    snprintf(kept, sizeof kept, "%s", weft_entity_name(world, weft_scene_entity(scene, path)));
    weft_live *live;
    CHECK_OK(weft_live_start(world,
                             &(weft_live_desc){.scene = &desc,
                                               .paths = (const char *[]){"a.weft"},
                                               .path_count = 1,
                                               .without_thread = true},
                             &live));
    CHECK_TEXT(weft_entity_name(world, weft_live_entity(live, path)), kept);
    weft_live_stop(live);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
    return kept;
}

PLAIN_TEST(names_of_entities_are_cut_between_characters)
{
    char name[300];
    CHECK_TEXT(name_of_only(accents(40), NULL), accents(31));
    CHECK_TEXT(name_of_only("a", accents(40)), accents(31));
    for (uint32_t bytes = 61; bytes < 68; bytes++) { /* an accent behind so many */
        memset(name, 'x', bytes);
        snprintf(name + bytes, sizeof name - bytes, "\xc3\xa9");
        const char *kept = name_of_only("a", name);
        CHECK_U64(strlen(kept), bytes < 62 ? bytes + 2 : bytes < 63 ? 62 : 63);
        CHECK(memcmp(kept, name, strlen(kept)) == 0);
        CHECK_U64(strlen(name_of_only(name, NULL)), strlen(kept));
    }
    memset(name, 'y', 255), name[255] = '\0';
    CHECK_U64(strlen(name_of_only("a", name)), 63);
    CHECK_U64(strlen(name_of_only(name, NULL)), 63);
}

/* Escapes in every list and word of names; an object that "with" adds below one of the prefab. */
PLAIN_TEST(names_may_be_escaped_and_with_adds_below_what_is_there)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    shelf_put(&files, "lib/parts.weft", parts);
    shelf_put(&files, "lib/a.weft",
              "{\"weft\": 1, \"use\": {\"parts\": \"parts.weft\"}, \"objects\": {\n"
              "  \"one\": {\"prefab\": \"p\\u0061rts#c\\u0061rt\", \"without\": "
              "[\"l\\u0065ft\\/cap\"], \"disabled\": [\"Shi\\u0065ld\"],\n"
              "     \"with\": {\"right/cap/\\u00e9\": {\"Alive\": true}, \"left/new\": {\"Spin\": "
              "{\"speed\": 7}, \"children\": {\"inner\": {}}}}}}}");
    CHECK_BAKES(scene, "lib/a.weft");
    CHECK_OK(weft_scene_fill(scene, world));
    weft_component parent = weft_component_parent(world);
    weft_entity one = weft_scene_entity(scene, "one"), left = weft_scene_entity(scene, "one/left");
    CHECK(weft_entity_is_null(weft_scene_entity(scene, "one/left/cap")));
    CHECK(weft_entity_has(world, one, c.shield) && !weft_entity_is_enabled(world, one, c.shield));
    CHECK(weft_entity_has(world, weft_scene_entity(scene, "one/right/cap/\xc3\xa9"), c.alive));
    CHECK_F64((double)((const Spin *)value(scene, world, "one/left/new", c.spin))->speed, 7, 0);
    CHECK(weft_entity_equal(
        weft_relation_target(world, weft_scene_entity(scene, "one/left/new"), parent), left));
    CHECK(!weft_entity_is_null(weft_scene_entity(scene, "one/left/new/inner")));
    CHECK(weft_entity_is_null(weft_scene_entity(scene, "lib/parts.weft#cart/left/new")));
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(places_are_folded_where_nothing_moves)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    shelf_put(
        &files, "a.weft",
        "{\"weft\": 1, \"objects\": {\n"
        "  \"hill\": {\"static\": true, \"transform\": {\"position\": [\"1 km\", 0, 0], "
        "\"scale\": 2},\n"
        "    \"children\": {\"tree\": {\"static\": true, \"transform\": {\"position\": [0, 3, "
        "0]}}}},\n"
        "  \"ship\": {\"transform\": {\"position\": [0, 0, 5]}, \"children\": {\n"
        "    \"mast\": {\"static\": true, \"transform\": {\"position\": [0, 1, 0]}}}}}}");
    CHECK_BAKES(scene, "a.weft");
    CHECK_OK(weft_scene_fill(scene, world));
    weft_entity tree = weft_scene_entity(scene, "hill/tree");
    const weft_world_transform *place = value(scene, world, "hill/tree", c.transform.world);
    CHECK_F64((double)place->rows[0][3], 1000, 0);
    CHECK_F64((double)place->rows[1][3], 6, 0);
    CHECK_F64((double)place->rows[2][2], 2, 0);
    CHECK(!weft_entity_has(world, tree, c.transform.local));
    CHECK(!weft_entity_has(world, tree, weft_component_parent(world)));
    /* static below what moves moves with it */
    weft_entity mast = weft_scene_entity(scene, "ship/mast");
    CHECK(weft_entity_has(world, mast, c.transform.local));
    CHECK(weft_entity_has(world, mast, weft_component_parent(world)));
    float before[3][4];
    memcpy(before, value(scene, world, "ship/mast", c.transform.world), sizeof before);
    CHECK_OK(weft_world_step(world, 0.1f));
    CHECK(memcmp(before, value(scene, world, "ship/mast", c.transform.world), sizeof before) == 0);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- bakers ---- */

/* A spawner as people write it: what it spawns, and the mass of its neighbour. */
typedef struct Gun {
    weft_entity shell;
    float rate;
} Gun;
static const weft_field gun_fields[] = {WEFT_FIELD(Gun, shell),
                                        WEFT_FIELD_WITH(Gun, rate, .unit = "Hz")};
static const weft_type gun_type = WEFT_TYPE(Gun, gun_fields);

static weft_result bake_gun(weft_bake *bake, const weft_object *object, void *user)
{
    const cast *c = user;
    Gun gun;
    Team number = {0};
    bool is_there;
    if (weft_bake_parse(bake, object, "Gun", &gun_type, &gun, NULL) != WEFT_OK)
        return WEFT_INVALID_ARGUMENT;
    Spawner spawner = {gun.shell, 1 / gun.rate};
    weft_entity own = weft_bake_entity(bake, NULL), flash = weft_bake_entity(bake, "flash");
    weft_bake_set(bake, own, c->spawner, &spawner, sizeof spawner);
    weft_bake_set(bake, flash, c->alive, NULL, 0);
    weft_bake_transform(bake, flash, NULL, NULL, NULL, WEFT_TRANSFORM_STATIC);
    const weft_object *mate = weft_bake_object(bake, "../mate");
    if (mate != NULL &&
        weft_bake_parse(bake, mate, "Note", &team_type, &number, &is_there) == WEFT_OK)
        weft_bake_set(bake, flash, c->note, &number, sizeof number);
    weft_text csv;
    if (weft_bake_file(bake, "rates.csv", &csv) == WEFT_OK && csv.count == 0)
        weft_bake_fail(bake, object, NULL, "rates.csv is empty: write a number");
    return WEFT_OK;
}

static const char guns[] =
    "{\"weft\": 1, \"prefabs\": {\"shell\": {\"Alive\": true}}, \"objects\": {\n"
    "  \"gun\": {\"Gun\": {\"shell\": \"#shell\", \"rate\": \"4 Hz\"}},\n"
    "  \"mate\": {\"Note\": {\"number\": 3}},\n"
    "  \"rest\": {}}}";

/* Bakes a changed document; returns how many objects were baked. */
static uint32_t baked(weft_scene *scene, shelf *files, const char *name, const char *text)
{
    shelf_put(files, name, text);
    CHECK_BAKES(scene, "g.weft");
    return stats_of(scene).baked;
}

PLAIN_TEST(files_of_use_are_listed_behind_those_that_were_read)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    shelf_put(&files, "b.weft", "{\"weft\": 1, \"objects\": {\"b\": {}}}");
    shelf_put(&files, "a.weft",
              "{\"weft\": 1, \"use\": {\"lonely\": \"lonely.weft\", \"b\": \"b.weft\"}, "
              "\"objects\": {\"a\": {\"each\": \"b\"}}}");
    CHECK_OK(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1));
    static const char *const expected[] = {"b.weft", "a.weft", "lonely.weft", "b.weft"};
    CHECK_U64(stats_of(scene).files, 2);
    for (uint32_t i = 0; i < 4; i++) CHECK_TEXT(weft_scene_file_at(scene, i), expected[i]);
    CHECK_POINTER(weft_scene_file_at(scene, 4), NULL);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(what_a_baker_read_bakes_it_again)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    const weft_baker_desc bakers[] = {
        {.name = "gun", .property = "Gun", .bake = bake_gun, .user = &c}};
    weft_scene *scene = scene_of(world, &files, bakers, 1);
    CHECK_U64(baked(scene, &files, "g.weft", guns), 4);
    CHECK_U64(stats_of(scene).added, 4);
    CHECK_U64(stats_of(scene).entities, 5);
    CHECK_OK(weft_scene_fill(scene, world));
    const Spawner *spawner = value(scene, world, "gun", c.spawner);
    CHECK(weft_entity_equal(spawner->what, weft_scene_entity(scene, "g.weft#shell")));
    /* nothing changed; a comment; a neighbour that was read; one that was not; a file that was
     * missed; the neighbour vanishes */
    CHECK_BAKES(scene, "g.weft");
    CHECK_U64(stats_of(scene).baked, 0);
    CHECK_U64(files.reads, 1);
    char text[512];
    snprintf(text, sizeof text, "/* again */ %s", guns);
    CHECK_U64(baked(scene, &files, "g.weft", text), 0);
    char *number = strstr(text, "\"number\": 3");
    memcpy(number, "\"number\": 4", 11);
    CHECK_U64(baked(scene, &files, "g.weft", text), 2);
    CHECK_U64(stats_of(scene).changed, 2);
    char report[2048];
    CHECK(weft_scene_explain(scene, "gun", false, report, sizeof report) < sizeof report);
    CHECK(strstr(report, "property mate.Note") != NULL);
    char *rest = strstr(text, "\"rest\": {}");
    memcpy(rest, "\"sest\": {}", 10);
    CHECK_U64(baked(scene, &files, "g.weft", text), 1);
    CHECK_U64(stats_of(scene).added, 1);
    CHECK_U64(stats_of(scene).removed, 1);
    weft_scene_change change;
    CHECK(weft_scene_change_at(scene, 1, &change));
    CHECK_TEXT(change.path, "rest");
    shelf_put(&files, "rates.csv", "1");
    CHECK_BAKES(scene, "g.weft");
    CHECK_U64(stats_of(scene).baked, 1);
    CHECK_U64(stats_of(scene).changed, 0);
    memcpy(strstr(text, "\"mate\""), "\"nate\"", 6);
    CHECK_U64(baked(scene, &files, "g.weft", text), 2);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- mistakes ---- */

/* Bakes a document that has one mistake, and compares what is said of it. */
static void check_mistake(const char *text, const char *said)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    shelf_put(&files, "a.weft", text);
    CHECK_RESULT(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1), WEFT_INVALID_ARGUMENT);
    CHECK(weft_scene_mistakes(scene, NULL, 0) != 0);
    const char *found = mistake_of(scene, 0)->text;
    if (strncmp(found, said, strlen(said)) != 0) CHECK_TEXT(found, said);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(mistakes_are_told_with_their_places)
{
    check_mistake("{\"weft\": 1,\n \"objects\": {\"a\": {\"Spin\": {\"speed\": \"3 s\"}}}}",
                  "a.weft:2:41: a.Spin.speed: ");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"Spim\": {}}}}",
                  "a.weft:1:39: a: no component and no baker has the name \"Spim\": did you mean "
                  "\"Spin\"?");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"Unheard\": {}}}}",
                  "a.weft:1:42: a: no component and no baker has the name \"Unheard\": register it "
                  "before the scene is made");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"transfrom\": {}}}}",
                  "a.weft:1:44: a: no component and no baker has the name \"transfrom\": did you "
                  "mean \"transform\"?");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"Opaque\": {}}}}",
                  "a.weft:1:41: a: Opaque is not described");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"Spawner\": {\"what\": \"/b\"}}}}",
                  "a.weft:1:52: a.Spawner.what: no object has this path");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"prefab\": \"x#y\"}}}",
                  "a.weft:1:41: a: no file has this short name");
    check_mistake("{\"weft\": 1, \"prefabs\": {\"p\": {\"children\": {\"q\": {\"prefab\": "
                  "\"#p\"}}}}, \"objects\": {\"a\": {\"prefab\": \"#p\"}}}",
                  "a.weft:1:60: a.weft#p/q: a prefab that contains itself");
    check_mistake("{\"weft\": 1, \"prefabs\": {\"p\": {}}, \"objects\": {\"a\": {\"prefab\": "
                  "\"#p\", \"with\": {\"x/y\": {}}}}}",
                  "a.weft:1:78: a: no object \"x/y\" below this one");
    check_mistake("{\"weft\": 1, \"prefabs\": {\"p\": {}}, \"objects\": {\"a\": {\"prefab\": "
                  "\"#p\", \"with\": {\"x\": {}}}}}",
                  "a.weft:1:78: a: no object \"x\" below this one");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {}, \"a\": {}}}",
                  "a.weft:1:34: a: the name is taken");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"Alive\": 1}}}",
                  "a.weft:1:40: a: a tag has no value");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"Alive\": {\"x\": 1}}}}",
                  "a.weft:1:40: a: a tag has no value");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"disabled\": [\"Alive\"]}}}",
                  "a.weft:1:25: a: \"Alive\" cannot be disabled");
    check_mistake(
        "{\"weft\": 1, \"objects\": {\"a\": {\"Shield\": {}, \"disabled\": [\"Shiel\"]}}}",
        "a.weft:1:58: a: no component and no baker has the name \"Shiel\": did you mean "
        "\"Shield\"?");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"disabled\": [\"\\u0058yzzy\"]}}}",
                  "a.weft:1:44: a: no component and no baker has the name \"Xyzzy\": register it");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"Shield\": {}, \"disabled\": [\"Shield\", "
                  "\"Shield\"]}}}",
                  "a.weft:1:25: a: \"Shield\" is disabled twice: remove one");
    check_mistake("{\"weft\": 1, \"use\": {\"b\": \"b.weft\", \"b\": \"c.weft\"}, \"objects\": {}}",
                  "a.weft:1:36: document: this name stands twice");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"baker\": \"x\"}}}",
                  "a.weft:1:40: a: no baker \"x\" is registered");
    check_mistake("{\"weft\": 1, \"use\": {\"b\": \"b.weft\"}, \"objects\": {\"a\": {\"prefab\": "
                  "\"b#x\"}}}",
                  "b.weft: cannot be read: ");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"transform\": {\"rotation\": [0, 0, 0, "
                  "2]}}}}",
                  "a.weft:1:25: a: the rotation is no unit quaternion");
    check_mistake("{\"weft\": 2}", "a.weft:1:10: document: the version of the format");
    check_mistake("{\"objects\": {}}",
                  "a.weft:1:1: document: the version of the format is missing");
    check_mistake("{\"weft\": 1, \"weft\": 1}", "a.weft:1:13: document: this name stands twice");
    check_mistake("{\"weft\": 1, \"objects\": {}, \"objects\": {}}",
                  "a.weft:1:28: document: this name stands twice");
    check_mistake("{\"weft\": 1, \"objects\": {\"a\": {\"children\": {}, \"children\": {}}}}",
                  "a.weft:1:47: document: this name stands twice");
    check_mistake("{\"weft\": 1, \"objects\": {\"a/b\": {}}}",
                  "a.weft:1:25: document: an object needs");
    check_mistake("{\"weft\": 1, \"objects\": {\"\xff\": {}}}", "a.weft:1:26: document: not UTF-8");
    check_mistake("[", "a.weft:1:1: document: a document should be here");
}

PLAIN_TEST(all_mistakes_of_a_pass_are_told_and_good_objects_stay)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(2, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    shelf_put(
        &files, "a.weft",
        "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 5}}, \"b\": {}, \"c\": {}}}");
    CHECK_BAKES(scene, "a.weft");
    shelf_put(&files, "a.weft",
              "{\"weft\": 1, \"objects\": {\"a\": {\"Spin\": {\"speed\": 500}}, \"b\": {\"B\": 1}, "
              "\"c\": {\"Alive\": true}}}");
    CHECK_RESULT(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1), WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_scene_mistakes(scene, NULL, 0), 2);
    weft_error both[2];
    CHECK_U64(weft_scene_mistakes(scene, both, 2), 2);
    CHECK(both[0].line == 1 && both[0].column < both[1].column);
    CHECK_TEXT(both[0].file, "a.weft");
    CHECK_TEXT(both[0].path, "a");
    CHECK_TEXT(both[1].path, "b");
    CHECK_RESULT(both[1].code, WEFT_INVALID_ARGUMENT);
    CHECK_OK(weft_scene_fill(scene, world)); /* the last good state of a and b, the new one of c */
    CHECK_F64((double)((const Spin *)value(scene, world, "a", c.spin))->speed, 5, 0);
    CHECK(weft_entity_has(world, weft_scene_entity(scene, "c"), c.alive));
    CHECK_U64(stats_of(scene).entities, 3);
    /* the same mistakes again, without baking; then a broken file as a whole */
    CHECK_RESULT(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1), WEFT_INVALID_ARGUMENT);
    CHECK_U64(weft_scene_mistakes(scene, NULL, 0), 2);
    CHECK_U64(stats_of(scene).baked, 0);
    shelf_put(&files, "a.weft", "{\"weft\": 1, \"objects\": {\"a\": ");
    CHECK_RESULT(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1), WEFT_INVALID_ARGUMENT);
    CHECK_U64(stats_of(scene).entities, 3);
    shelf_put(&files, "a.weft", "{\"weft\": 1, \"objects\": {\"a\": {}}}");
    CHECK_BAKES(scene, "a.weft");
    CHECK_U64(stats_of(scene).entities, 1);
    CHECK_U64(stats_of(scene).removed, 2);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- texts ---- */

PLAIN_TEST(entities_of_a_fill_that_a_snapshot_put_back_are_none)
{
    cast c;
    shelf files = {0};
    weft_world *world = cast_world(1, &c);
    weft_scene *scene = scene_of(world, &files, NULL, 0);
    weft_snapshot *before, *after;
    shelf_put(&files, "a.weft", "{\"weft\": 1, \"objects\": {\"a\": {}}}");
    CHECK_OK(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1));
    CHECK_OK(weft_snapshot_take(world, NULL, &before));
    CHECK_OK(weft_scene_fill(scene, world));
    const weft_entity filled = weft_scene_entity(scene, "a");
    CHECK(weft_entity_is_alive(world, filled));
    CHECK_OK(weft_snapshot_take(world, NULL, &after));
    CHECK_OK(weft_snapshot_restore(world, before));
    CHECK(weft_entity_is_null(weft_scene_entity(scene, "a")));
    const weft_entity other = weft_entity_create(world, weft_archetype_create(world, NULL, 0));
    CHECK_U64(other.index, filled.index); /* what the scene may not name */
    CHECK(weft_entity_is_null(weft_scene_entity(scene, "a")));
    CHECK_OK(weft_snapshot_restore(world, after));
    CHECK_U64(weft_scene_entity(scene, "a").index, filled.index);
    weft_snapshot_destroy(before);
    weft_snapshot_destroy(after);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(a_fill_says_which_type_the_world_lacks)
{
    cast c;
    shelf files = {0};
    weft_scene *scene;
    weft_world *world = cast_world(1, &c), *other;
    shelf_put(&files, "a.weft",
              "{\"weft\": 1, \"objects\": {\"b\": {}, \"a\": {\"transform\": {}, \"Team\": "
              "{\"number\": 1}}}}");
    CHECK_OK(
        weft_scene_create(world, &(weft_scene_desc){.read = shelf_read, .user = &files}, &scene));
    CHECK_BAKES(scene, "a.weft");
    CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &other));
    static const char *const said[] = {"\"Team\"", "\"Team\" has another layout",
                                       "weft_transform_create"};
    for (int i = 0; i < 3; i++) {
        if (i == 1) weft_component_create_plain(other, "Team", 8, 8, WEFT_SHARED);
        if (i == 2) CHECK_OK(weft_world_destroy(other));
        if (i == 2) CHECK_OK(weft_world_create(&(weft_world_desc){.workers = 1}, &other));
        if (i == 2)
            weft_component_create(other,
                                  &(weft_component_desc){.type = &team_type, .flags = WEFT_SHARED});
        CHECK_RESULT(weft_scene_fill(scene, other), i == 1 ? WEFT_TYPE_MISMATCH : WEFT_NOT_FOUND);
        if (strstr(weft_world_error(other)->text, said[i]) == NULL)
            puts(weft_world_error(other)->text);
        CHECK(strstr(weft_world_error(other)->text, said[i]) != NULL);
        weft_world_stats stats;
        weft_world_stats_get(other, &stats, sizeof stats);
        CHECK_U64(stats.entities, 0);
    }
    CHECK_OK(weft_transform_create(other, NULL, NULL));
    CHECK_OK(weft_scene_fill(scene, other));
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(other));
    CHECK_OK(weft_world_destroy(world));
}

static weft_result bake_both(weft_bake *bake, const weft_object *object, void *user)
{
    weft_property text;
    (void)user;
    weft_bake_property(bake, object, "Both", &text, 1);
    if (text.json.bytes[2] == 'p')
        weft_bake_prefab(bake, "#nope");
    else
        weft_bake_entity_of(bake, "../nope");
    return WEFT_INVALID_ARGUMENT;
}

PLAIN_TEST(a_baker_s_reference_that_leads_nowhere_is_told_where_it_stands)
{
    cast c;
    shelf files = {0};
    weft_scene *scene;
    weft_world *world = cast_world(1, &c);
    const weft_baker_desc baker = {.name = "both", .property = "Both", .bake = bake_both};
    shelf_put(&files, "a.weft",
              "{\"weft\": 1, \"objects\": {\n"
              "  \"a\": {\"Both\": [\"p\", {\"x\": \"#nope\"}]},\n"
              "  \"b\": {\"Both\": [\"e\", \"../nope\"]},\n"
              "  \"c\": {\"Both\": [\"p\"]}}}");
    CHECK_OK(weft_scene_create(
        world,
        &(weft_scene_desc){.bakers = &baker, .baker_count = 1, .read = shelf_read, .user = &files},
        &scene));
    CHECK_RESULT(weft_scene_bake(scene, (const char *[]){"a.weft"}, 1), WEFT_INVALID_ARGUMENT);
    static const uint32_t places[][2] = {{2, 29}, {3, 23}, {4, 3}};
    CHECK_U64(weft_scene_mistakes(scene, NULL, 0), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const weft_error *told = mistake_of(scene, i);
        if (told->line != places[i][0] || told->column != places[i][1]) puts(told->text);
        CHECK_U64(told->line, places[i][0]);
        if (i < 2) CHECK_U64(told->column, places[i][1]); /* else the object */
    }
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

/* ---- files ---- */

/* What the library asks, on file systems whose clock ticks slowly: old ones, of old systems. */
static bool is_slow;

static void slow_down(struct stat *state)
{
    const long tick_ns = 50000000;
    if (!is_slow) return;
    state->st_mtim.tv_nsec -= state->st_mtim.tv_nsec % tick_ns;
    state->st_ctim.tv_nsec -= state->st_ctim.tv_nsec % tick_ns;
}

int stat(const char *restrict path, struct stat *restrict state)
{
    int result = fstatat(AT_FDCWD, path, state, 0);
    slow_down(state);
    return result;
}

int fstat(int file, struct stat *state)
{
    int result = fstatat(file, "", state, AT_EMPTY_PATH);
    slow_down(state);
    return result;
}

static void file_put(const char *path, uint32_t number, bool has_old_time)
{
    char text[128];
    struct stat was;
    bool is_there = stat(path, &was) == 0;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    int bytes =
        snprintf(text, sizeof text,
                 "{\"weft\": 1, \"objects\": {\"a\": {\"Team\": {\"number\": %4u}}}}", number);
    CHECK(file >= 0 && write(file, text, (size_t)bytes) == bytes);
    if (is_there && has_old_time)
        CHECK(futimens(file, (const struct timespec[2]){was.st_atim, was.st_mtim}) == 0);
    close(file);
}

static void write_often(void)
{
    cast c;
    weft_scene *scene;
    const char *path = "scene.weft";
    weft_world *world = cast_world(1, &c);
    CHECK_OK(weft_scene_create(world, NULL, &scene));
    for (uint32_t i = 0; i < 200; i++) { /* faster than clocks of file systems tick */
        file_put(path, i, i % 2 == 0);
        CHECK(weft_scene_is_stale(scene) || i == 0);
        CHECK_BAKES(scene, path);
        CHECK(!weft_scene_is_stale(scene));
        weft_scene_stats stats;
        weft_scene_stats_get(scene, &stats, sizeof stats);
        CHECK_U64(stats.added + stats.changed, 1);
        CHECK_BAKES(scene, path);
        weft_scene_stats_get(scene, &stats, sizeof stats);
        CHECK_U64(stats.changed + stats.files_read, 0);
    }
    unlink(path);
    weft_scene_destroy(scene);
    CHECK_OK(weft_world_destroy(world));
}

PLAIN_TEST(a_file_is_read_again_though_its_size_and_time_are_as_before)
{
    for (int turn = 0; turn < 2; turn++) {
        is_slow = turn == 1;
        write_often();
    }
    is_slow = false;
}

/* Owner: the test below. */
static struct {
    weft_scene *scene;
    weft_world *world;
    uint32_t calls;
} baking;

static void uses_its_scene(uint32_t done, uint32_t total, void *user)
{
    (void)done;
    (void)total;
    (void)user;
    baking.calls++;
    CHECK_RESULT(weft_scene_bake(baking.scene, (const char *[]){"a.weft"}, 1), WEFT_WRONG_PHASE);
    CHECK_RESULT(weft_scene_fill(baking.scene, baking.world), WEFT_WRONG_PHASE);
    weft_scene_destroy(baking.scene); /* ignored */
}

PLAIN_TEST(what_a_bake_calls_cannot_use_the_scene)
{
    cast c;
    shelf files = {0};
    baking.world = cast_world(1, &c);
    const weft_scene_desc desc = {.read = shelf_read, .progress = uses_its_scene, .user = &files};
    CHECK_OK(weft_scene_create(baking.world, &desc, &baking.scene));
    shelf_put(&files, "a.weft", "{\"weft\": 1, \"objects\": {\"a\": {\"Alive\": true}}}");
    CHECK_OK(weft_scene_bake(baking.scene, (const char *[]){"a.weft"}, 1));
    CHECK(baking.calls != 0);
    CHECK_OK(weft_scene_fill(baking.scene, baking.world));
    weft_scene_destroy(baking.scene);
    CHECK_OK(weft_world_destroy(baking.world));
}
