/* SPDX-License-Identifier: MIT */
/* cmd_bake.c: `weft bake SOURCE...`: documents, glTF files and catalogues become entities of a
 * world file, once or each time when a file has changed.
 */
#include "cli.h"
#include "cli_file.h"
#include "screen/screen_scene.h"
#include "screen/tle_source.h"

#include <weft/scene_gltf.h>
#include <weft/stream.h>
#include <weft/transform.h>
#include <weft/weft.h>
#include <weft/world_text.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What the command line asks for. */
struct options {
    const char *const *sources;
    uint32_t source_count, workers;
    const char *out, *types, *explain, *depend;
    bool is_json, is_watching;
};

/* The text of --types, which every world of the command reads. */
struct types {
    char *bytes;
    size_t count;
    const char *path;
};

/* ---- worlds ---- */

static int read_types(const char *path, struct types *types)
{
    struct stat state;
    *types = (struct types){.path = path};
    if (path == NULL) return WEFT_CLI_OK;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_file = file >= 0 && fstat(file, &state) == 0 && S_ISREG(state.st_mode);
    if (is_file) types->bytes = malloc((size_t)state.st_size + 1);
    ssize_t got = 1;
    while (types->bytes != NULL && got > 0 && types->count < (size_t)state.st_size) {
        got = read(file, types->bytes + types->count, (size_t)state.st_size - types->count);
        if (got > 0) types->count += (size_t)got;
    }
    const char *why = file < 0   ? strerror(errno)
                      : !is_file ? "no regular file"
                      : got < 0  ? strerror(errno)
                                 : "out of memory";
    if (file >= 0) close(file);
    if (types->bytes != NULL && got >= 0) return WEFT_CLI_OK;
    return weft_cli_fail("bake", "--types %s: %s", path, why);
}

/* A world with every type that documents may name; `gltf` gets those of glTF files. */
static int make_world(const struct options *o, const struct types *types, weft_world **out,
                      weft_gltf_components *gltf)
{
    weft_error error;
    const weft_world_desc desc = {.workers = o->workers,
                                  .name = "bake",
                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG,
                                  .is_hidden = true,
                                  .error = &error};
    if (weft_world_create(&desc, out) != WEFT_OK) return weft_cli_fail("bake", "%s", error.text);
    weft_transform transform;
    weft_transform_create(*out, NULL, &transform);
    weft_scene_gltf_register(*out, gltf);
    screen_scene_register(*out);
    weft_component_section(*out);
    if (weft_world_error(*out)->code != WEFT_OK)
        return weft_cli_fail("bake", "%s", weft_world_error(*out)->text);
    if (types->path == NULL) return WEFT_CLI_OK;
    const weft_text text = {types->bytes, types->count, types->path};
    if (weft_world_load_json(*out, &text, NULL, &error) != WEFT_OK)
        return weft_cli_fail("bake", "--types: %s", error.text);
    weft_world_stats stats;
    weft_world_stats_get(*out, &stats, sizeof stats);
    if (stats.entities == 0) return WEFT_CLI_OK;
    return weft_cli_fail("bake", "--types: %s has entities: it should hold types only",
                         types->path);
}

/* Whether the file to be written is one of sections. */
static bool is_sections(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".wss") == 0;
}

/* Objects below one with a Section are of that section, unless they say another. */
static int sections_inherit(weft_world *world)
{
    const weft_component section = weft_component_section(world),
                         parent = weft_component_parent(world);
    const weft_query below = weft_query_create(
        world, &(weft_query_desc){.terms = {{parent}, {.component = section, .match = WEFT_NONE}}});
    const uint64_t count = weft_query_count(world, below);
    weft_entity *const all = malloc((count + 1) * sizeof *all);
    uint64_t found = 0;
    if (all == NULL) return weft_cli_fail("bake", "out of memory");
    weft_cursor cursor = weft_query_begin(world, below);
    while (weft_query_next(&cursor))
        for (uint32_t i = 0; i < weft_slice_count(&cursor.slice); i++)
            all[found++] = weft_slice_entities(&cursor.slice)[i];
    for (uint64_t i = 0; i < found; i++) {
        weft_entity at = all[i];
        const weft_section *own = NULL;
        while (own == NULL && (at = weft_relation_target(world, at, parent)).version != 0)
            own = weft_entity_read_shared(world, at, section);
        if (own == NULL) continue;
        const weft_section value = *own;
        weft_entity_set_shared(world, all[i], section, &value);
    }
    free(all);
    return WEFT_CLI_OK;
}

static weft_result sections_save(const char *path, weft_world *world)
{
    const weft_sections_desc desc = {.place = weft_component_find(world, "WorldTransform"),
                                     .place_at = {12, 28, 44},
                                     .with_names = true};
    return weft_sections_save(world, path, &desc);
}

/* The scene as a world file, or as a section file. */
static int write_world(const struct options *o, const struct types *types, weft_scene *scene)
{
    weft_world *world = NULL;
    weft_gltf_components gltf;
    int code = make_world(o, types, &world, &gltf);
    const bool has_sections = is_sections(o->out);
    if (code == WEFT_CLI_OK && weft_scene_fill(scene, world) != WEFT_OK)
        code = weft_cli_fail("bake", "%s", weft_world_error(world)->text);
    if (code == WEFT_CLI_OK && has_sections) code = sections_inherit(world);
    if (code == WEFT_CLI_OK && (has_sections ? sections_save(o->out, world)
                                             : weft_world_save(world, o->out, NULL)) != WEFT_OK)
        code = weft_cli_fail("bake", "%s", weft_world_error(world)->text);
    weft_world_destroy(world);
    return code;
}

/* A path as make and ninja read it. */
static void print_escaped(FILE *file, const char *path)
{
    for (; *path != '\0'; path++) {
        if (*path == ' ' || *path == '#' || *path == '\\') putc('\\', file);
        if (*path == '$') putc('$', file);
        putc(*path, file);
    }
}

/* What the output depends on, as a rule of make; and a rule for each file, so that one that is gone
 * makes no mistake. */
static int write_depend(const struct options *o, const weft_scene *scene, uint32_t files)
{
    if (weft_cli_file_apart("bake", o->depend, o->out) != 0) return WEFT_CLI_USAGE;
    weft_cli_file out;
    if (weft_cli_file_begin(&out, "bake", NULL, o->depend) != 0) return WEFT_CLI_FAILED;
    FILE *file = out.stream;
    print_escaped(file, o->out);
    fputs(o->types == NULL ? ":" : ": ", file);
    if (o->types != NULL) print_escaped(file, o->types);
    for (uint32_t i = 0; i < files; i++) {
        fputs(" \\\n  ", file);
        print_escaped(file, weft_scene_file_at(scene, i));
    }
    putc('\n', file);
    for (uint32_t i = 0; i < files; i++) {
        print_escaped(file, weft_scene_file_at(scene, i));
        fputs(":\n", file);
    }
    return weft_cli_file_end(&out) == 0 ? WEFT_CLI_OK : WEFT_CLI_FAILED;
}

/* ---- reports ---- */

static void show_progress(uint32_t done, uint32_t total, void *user)
{
    (void)user;
    char bar[41];
    const uint32_t filled = (uint32_t)((uint64_t)done * 40 / total);
    for (uint32_t i = 0; i < 40; i++) bar[i] = i < filled ? '#' : '.';
    bar[40] = '\0';
    weft_cli_progress("bake [%s] %u of %u objects", bar, (unsigned)done, (unsigned)total);
}

static void print_mistake(const struct options *o, const weft_error *mistake)
{
    if (!o->is_json) {
        fprintf(stderr, "%s\n", mistake->text);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "error", mistake->text);
    weft_json_text(&json, "file", mistake->file);
    weft_json_count(&json, "line", mistake->line);
    weft_json_count(&json, "column", mistake->column);
    weft_json_text(&json, "object", mistake->path);
    weft_json_end(&json);
}

static void print_stats(const struct options *o, const weft_scene_stats *s, bool is_written)
{
    if (!o->is_json) {
        printf("%u files, %u objects: %u baked, %u added, %u changed, %u removed; %u entities, "
               "%llu blobs, %u errors, %.1f ms%s%s\n",
               (unsigned)s->files, (unsigned)s->objects, (unsigned)s->baked, (unsigned)s->added,
               (unsigned)s->changed, (unsigned)s->removed, (unsigned)s->entities,
               (unsigned long long)s->blob_count, (unsigned)s->errors, 1e3 * s->seconds,
               is_written ? "; wrote " : "", is_written ? o->out : "");
        fflush(stdout);
        return;
    }
    weft_json json;
    weft_json_begin(&json, stdout);
    weft_json_text(&json, "bake", o->sources[0]);
    weft_json_count(&json, "files", s->files);
    weft_json_count(&json, "objects", s->objects);
    weft_json_count(&json, "baked", s->baked);
    weft_json_count(&json, "added", s->added);
    weft_json_count(&json, "changed", s->changed);
    weft_json_count(&json, "removed", s->removed);
    weft_json_count(&json, "entities", s->entities);
    weft_json_count(&json, "blobs", s->blob_count);
    weft_json_count(&json, "errors", s->errors);
    weft_json_number(&json, "ms", 1e3 * s->seconds);
    if (is_written) weft_json_text(&json, "out", o->out);
    weft_json_end(&json);
    fflush(stdout);
}

static int explain(const struct options *o, weft_scene *scene)
{
    const size_t length = weft_scene_explain(scene, o->explain, o->is_json, NULL, 0);
    if (length == 0)
        return weft_cli_fail("bake", "--explain: the scene has no object \"%s\"", o->explain);
    char *text = malloc(length + 1);
    if (text == NULL) return weft_cli_fail("bake", "out of memory");
    weft_scene_explain(scene, o->explain, o->is_json, text, length + 1);
    printf("%s%s", text, text[length - 1] == '\n' ? "" : "\n");
    free(text);
    fflush(stdout);
    return WEFT_CLI_OK;
}

/* ---- the job ---- */

/* Neither output is a file that the bake has read, or that a document names in "use". */
static bool are_apart(const struct options *o, const weft_scene *scene)
{
    const char *const outputs[] = {o->out, o->depend};
    for (uint32_t k = 0; k < 2 && outputs[k] != NULL; k++) {
        const char *read;
        if (weft_cli_file_apart("bake", outputs[k], o->types) != 0) return false;
        for (uint32_t i = 0; (read = weft_scene_file_at(scene, i)) != NULL; i++)
            if (weft_cli_file_apart("bake", outputs[k], read) != 0) return false;
    }
    return true;
}

/* Prints the mistakes of the last bake; returns how many there are. */
static uint32_t print_mistakes(const struct options *o, const weft_scene *scene)
{
    const uint32_t count = weft_scene_mistakes(scene, NULL, 0);
    weft_error *mistakes = calloc(count + 1, sizeof *mistakes);
    if (mistakes == NULL) return 0;
    weft_scene_mistakes(scene, mistakes, count);
    for (uint32_t i = 0; i < count; i++) print_mistake(o, &mistakes[i]);
    free(mistakes);
    return count;
}

/* One bake with its reports. A first bake with mistakes writes nothing; a later one writes objects
 * with mistakes as they were. */
static int bake_once(const struct options *o, const struct types *types, weft_scene *scene,
                     bool *was_good)
{
    const weft_result result = weft_scene_bake(scene, o->sources, o->source_count);
    weft_cli_progress_clear();
    if (print_mistakes(o, scene) == 0 && result != WEFT_OK)
        return weft_cli_fail("bake", "%s", weft_result_text(result));
    weft_scene_stats stats;
    weft_scene_stats_get(scene, &stats, sizeof stats);
    *was_good |= result == WEFT_OK;
    const bool is_written = o->out != NULL && *was_good;
    int code = !is_written || are_apart(o, scene) ? WEFT_CLI_OK : WEFT_CLI_USAGE;
    if (code == WEFT_CLI_OK && is_written) code = write_world(o, types, scene);
    if (code == WEFT_CLI_OK && is_written && o->depend != NULL)
        code = write_depend(o, scene, stats.files);
    if (code == WEFT_CLI_OK) print_stats(o, &stats, is_written);
    if (code == WEFT_CLI_OK && o->explain != NULL) code = explain(o, scene);
    return result == WEFT_OK ? code : WEFT_CLI_FOUND;
}

/* What ends a watch: blocked in all threads, so that it waits for the end of a bake. */
static sigset_t end_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static int watch(const struct options *o, const struct types *types, weft_scene *scene,
                 bool was_good)
{
    const struct timespec now = {0};
    const sigset_t ends = end_signals();
    while (sigtimedwait(&ends, NULL, &now) < 0)
        if (weft_scene_wait(scene, 100)) bake_once(o, types, scene, &was_good);
    return WEFT_CLI_OK;
}

/* A scene with all sources and bakers of the command line. `gltf` must outlive it. */
static int make_scene(weft_world *schema, weft_gltf_components *gltf, weft_scene **out)
{
    const weft_baker_desc bakers[] = {screen_scene_baker, weft_baker_gltf(gltf)};
    const weft_source_desc sources[] = {tle_source, weft_source_gltf()};
    const weft_scene_desc desc = {.bakers = bakers,
                                  .baker_count = sizeof bakers / sizeof *bakers,
                                  .sources = sources,
                                  .source_count = sizeof sources / sizeof *sources,
                                  .progress = show_progress};
    const weft_result result = weft_scene_create(schema, &desc, out);
    return result == WEFT_OK ? WEFT_CLI_OK : weft_cli_fail("bake", "%s", weft_result_text(result));
}

static int bake(const struct options *o)
{
    struct types types;
    weft_world *schema = NULL;
    weft_scene *scene = NULL;
    weft_gltf_components gltf;
    const sigset_t ends = end_signals();
    if (o->is_watching) pthread_sigmask(SIG_BLOCK, &ends, NULL);
    int code = read_types(o->types, &types);
    if (code == WEFT_CLI_OK) code = make_world(o, &types, &schema, &gltf);
    if (code == WEFT_CLI_OK) code = make_scene(schema, &gltf, &scene);
    if (code == WEFT_CLI_OK) {
        bool was_good = false;
        code = bake_once(o, &types, scene, &was_good);
        if (o->is_watching) code = watch(o, &types, scene, was_good);
    }
    weft_scene_destroy(scene);
    weft_world_destroy(schema);
    free(types.bytes);
    return code;
}

static int run_bake(int argc, char **argv)
{
    struct options o = {.workers = weft_cli_cpu_count()};
    uint64_t workers = o.workers;
    const weft_cli_option options[] = {
        {"out", "FILE", "write the entities to this world file, or section file (.wss)",
         WEFT_CLI_TEXT, &o.out, 0, 0, 'o'},
        {"types", "FILE", "components of the program: type lines of a world text", WEFT_CLI_TEXT,
         &o.types, 0, 0, 0},
        {"depend", "FILE", "write what the output depends on, for make and ninja", WEFT_CLI_TEXT,
         &o.depend, 0, 0, 0},
        {"explain", "OBJECT", "what this object read, and why it was baked", WEFT_CLI_TEXT,
         &o.explain, 0, 0, 0},
        {"watch", NULL, "go on: bake again when a file changes", WEFT_CLI_FLAG, &o.is_watching, 0,
         0, 0},
        {"workers", "N", "threads (default: CPUs)", WEFT_CLI_COUNT, &workers, 1, 256, 0},
        {"json", NULL, "one JSON object per mistake, bake and explanation", WEFT_CLI_FLAG,
         &o.is_json, 0, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "bake",
        "SOURCE...",
        "Bakes documents (.weft, .json), glTF files (.gltf, .glb) and satellite catalogues (.tle, "
        ".3le) into a world file.",
        options,
        "A program writes its types with weft_world_save_json of a world without entities.\n"
        "Mistakes are told with file, line and column; then nothing is written and the status is "
        "1.\nWith --watch objects with mistakes keep what they were, and Ctrl-C ends. See "
        "docs/guide/scenes.md.",
        "weft bake level.weft --types types.json -o level.world\n"
        "weft bake active.tle -o active.world && weft screen --scene active.world"};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (first == argc) return weft_cli_misuse("bake", "name at least one document");
    if (o.depend != NULL && o.out == NULL)
        return weft_cli_misuse("bake", "--depend needs --out: it says what that depends on");
    o.sources = (const char *const *)argv + first;
    o.source_count = (uint32_t)(argc - first);
    o.workers = (uint32_t)workers;
    return bake(&o);
}

const weft_cli_command weft_cli_commands_bake[] = {
    {"bake", "documents and glTF files become entities of a world file", run_bake},
    {0},
};
