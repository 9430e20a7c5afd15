/* SPDX-License-Identifier: MIT */
/* test_file_faults.c: every writer of files, of the library and of the command line, whose k-th
 * system call fails, is interrupted, cut short or never comes back: see file_faults.h. Checkpoints
 * of shards: tests/shard/test_shard_file_faults.c.
 */
#include "file_faults.h"
#include "plain.h"
#include "traced.h"

#include <weft/blob.h>
#include <weft/live.h>
#include <weft/state_log.h>
#include <weft/stream.h>
#include <weft/weft.h>
#include <weft/world_text.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- in the child ---- */

static weft_world *world_make(const weft_world_desc *desc, int variant)
{
    static weft_entity made[300];
    weft_world *world;
    CHECK_OK(weft_world_create(desc, &world));
    const weft_component at = weft_component_create_plain(world, "at", 8, 8, 0);
    const weft_archetype with = weft_archetype_create(world, &at, 1);
    const uint32_t count = variant == 0 ? 20 : 300;
    CHECK_OK(weft_entity_create_many(world, with, count, made));
    for (uint32_t i = 0; i < count; i++)
        CHECK_OK(weft_entity_set(world, made[i], at, &(uint64_t){i * 3 + 1}, 8));
    return world;
}

static int told(weft_result result, const char *text)
{
    traced_stop();
    if (result != WEFT_OK) traced_say(text[0] != '\0' ? text : "no text");
    return result == WEFT_OK ? 0 : 1;
}

static const weft_world_desc alone = {.workers = 1, .trace_file = ""};

static int write_world(const char *path, int variant)
{
    weft_world *world = world_make(&alone, variant);
    traced_begin();
    return told(weft_world_save(world, path, NULL), weft_world_error(world)->text);
}

static int write_sections(const char *path, int variant)
{
    weft_world *world = world_make(&alone, variant);
    traced_begin();
    return told(weft_sections_save(world, path, NULL), weft_world_error(world)->text);
}

typedef struct Numbers {
    WEFT_BLOB_ARRAY(uint32_t) list;
} Numbers;
static const weft_blob_field numbers_fields[] = {WEFT_BLOB_FIELD_ARRAY(Numbers, list, NULL)};
static const weft_blob_type numbers_type = WEFT_BLOB_TYPE(Numbers, numbers_fields);

static int write_blob(const char *path, int variant)
{
    weft_blob_store *store;
    weft_blob_builder *builder;
    weft_blob_ref ref;
    weft_error error;
    static const uint32_t values[100] = {1, 2, 3};
    CHECK_OK(weft_blob_store_create(NULL, &store));
    CHECK_OK(weft_blob_builder_create(store, &numbers_type, 0, &builder));
    Numbers *root = weft_blob_builder_root(builder);
    CHECK_OK(WEFT_BLOB_BUILD_COPY(builder, &root->list, values, variant == 0 ? 10 : 100));
    CHECK_OK(weft_blob_builder_finish(builder, &ref));
    traced_begin();
    const weft_result result = weft_blob_save(store, ref, path);
    weft_blob_store_error(store, &error);
    return told(result, error.text);
}

typedef struct Lamp {
    float radius;
} Lamp;
static const weft_field lamp_fields[] = {WEFT_FIELD(Lamp, radius)};
static const weft_type lamp_type = WEFT_TYPE(Lamp, lamp_fields);

static int write_document(const char *path, int variant)
{
    static const char text[] =
        "{\"weft\": 1, \"objects\": {\"lamp\": {\"Lamp\": {\"radius\": 2}}}}\n";
    if (variant == 0) {
        FILE *file = fopen(path, "we");
        CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
        return 0;
    }
    weft_world *world;
    weft_live *live;
    CHECK_OK(weft_world_create(&alone, &world));
    CHECK(weft_component_create(world, &(weft_component_desc){.type = &lamp_type}).id != 0);
    CHECK_OK(weft_live_start(
        world, &(weft_live_desc){.paths = &path, .path_count = 1, .without_thread = true}, &live));
    traced_begin();
    return told(weft_live_edit(live, "lamp", "Lamp.radius", "350"), weft_world_error(world)->text);
}

/* ---- logs, written in place ---- */

static void log_write(void *user, weft_log_level level, const char *text)
{
    (void)user, (void)level;
    traced_say(text);
}

static void count_up(weft_slice *slice, void *user)
{
    (void)user;
    uint64_t *at = weft_slice_write(slice, 0);
    for (uint32_t i = 0; i < slice->count; i++) at[i]++;
}

static int write_state_log(const char *path, int variant)
{
    const weft_world_desc desc = {.workers = 1, .trace_file = "", .log = {log_write, NULL}};
    CHECK(setenv("WEFT_STATE_LOG", path, 1) == 0);
    weft_world *world = world_make(&desc, variant);
    const weft_component at = weft_component_find(world, "at");
    const weft_system_desc system = {
        .name = "count", .run = count_up, .over.rows.terms = {{at, WEFT_WRITE, WEFT_ALL, 0}}};
    traced_begin();
    CHECK(weft_system_create(world, &system).id != 0);
    for (int i = 0; i < 3; i++) CHECK_OK(weft_world_step(world, 0.01f));
    CHECK_OK(weft_world_destroy(world));
    traced_stop();
    return 0;
}

static int write_trace(const char *path, int variant)
{
    weft_job_pool *pool;
    weft_error error;
    const weft_job_pool_desc desc = {.worker_count = 1,
                                     .spin_ns = 1000,
                                     .trace_file = path,
                                     .error = &error,
                                     .log = {log_write, NULL}};
    traced_begin();
    const weft_result result = weft_job_pool_create(&desc, &pool);
    if (result != WEFT_OK) return told(result, error.text);
    for (int i = 0; i < (variant == 0 ? 3 : 3000); i++)
        weft_job_trace_mark(weft_job_pool_owner(pool), "edge", (uint32_t)i);
    CHECK_OK(weft_job_pool_destroy(pool));
    traced_stop();
    return 0;
}

/* ---- programs ---- */

static const char *cli;
static int nowhere; /* stdout of programs */

static int execute(const char *const *words)
{
    CHECK(setenv("ASAN_OPTIONS", "detect_leaks=0", 1) == 0 && dup2(nowhere, STDOUT_FILENO) == 1);
    execv(cli, (char *const *)(uintptr_t)words);
    return 98;
}

/* A file beside the path: what the program reads. */
static void put_input(const char *path, int variant, const char *text, char out[192])
{
    snprintf(out, 192, "%.*s/in%d", (int)(strrchr(path, '/') - path), path, variant);
    FILE *file = fopen(out, "we");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *document(int variant)
{
    return variant == 0
               ? "{\"weft\": 1, \"objects\": {\"a\": {}}}"
               : "{\"weft\": 1, \"objects\": {\"a\": {}, \"b\": {\"children\": {\"c\": {}}}}}";
}

static int bake(const char *path, int variant)
{
    char in[192], named[208];
    put_input(path, variant, document(variant), in);
    snprintf(named, sizeof named, "%s.weft", in);
    CHECK(rename(in, named) == 0);
    return execute((const char *[]){"weft", "bake", named, "--workers", "1", "-o", path, NULL});
}

static int bake_depend(const char *path, int variant)
{
    char in[192], named[208], out[208];
    put_input(path, variant, document(variant), in);
    snprintf(named, sizeof named, "%s.weft", in);
    snprintf(out, sizeof out, "%s.world", in);
    CHECK(rename(in, named) == 0);
    return execute((const char *[]){"weft", "bake", named, "--workers", "1", "-o", out, "--depend",
                                    path, NULL});
}

static int dump(const char *path, int variant)
{
    char in[192];
    put_input(path, variant, "", in);
    weft_world *world = world_make(&alone, variant);
    CHECK_OK(weft_world_save(world, in, NULL));
    return execute((const char *[]){"weft", "dump", in, "--out", path, NULL});
}

static weft_result put_text(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, user) == count ? WEFT_OK : WEFT_IO;
}

static int dump_read(const char *path, int variant)
{
    char in[192];
    put_input(path, variant, "", in);
    weft_world *world = world_make(&alone, variant);
    FILE *file = fopen(in, "we");
    CHECK(file != NULL);
    CHECK_OK(weft_world_save_json(world, &(weft_writer){put_text, file}, NULL));
    CHECK(fclose(file) == 0);
    return execute((const char *[]){"weft", "dump", "--read", in, "--out", path, NULL});
}

static const file_writer writers[] = {
    {.name = "weft_world_save", .write = write_world, .left = ".new0"},
    {.name = "weft_sections_save", .write = write_sections, .left = ".new0"},
    {.name = "weft_blob_save", .write = write_blob, .left = ".new0"},
    {.name = "weft_live_edit", .write = write_document, .left = ".new0", .needs_old = true},
    {.name = "WEFT_STATE_LOG",
     .write = write_state_log,
     .left = "",
     .is_log = true,
     .is_mute = true},
    {.name = "trace file",
     .file = "file.slices",
     .write = write_trace,
     .left = ".raw",
     .is_log = true,
     .is_dated = true,
     .tail = "lost 0\n",
     .is_mute = true},
    {.name = "weft bake", .write = bake, .left = ".new0"},
    {.name = "weft bake --depend", .write = bake_depend, .left = ".part", .is_stdio = true},
    {.name = "weft dump", .write = dump, .left = ".part", .is_stdio = true},
    {.name = "weft dump --read", .write = dump_read, .left = ".new0"},
};

PLAIN_TEST(a_file_is_the_old_one_or_the_new_one_whichever_system_call_fails)
{
    unsigned total = 0;
    if (!traced_works()) {
        printf("skipped: needs ptrace on x86-64\n");
        return;
    }
    cli = WEFT_CLI_PATH;
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(nowhere >= 0);
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        total += file_faults_sweep(&writers[i]);
    printf("%u faults of system calls\n", total);
    CHECK(total > 500);
}
