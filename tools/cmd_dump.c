/* SPDX-License-Identifier: MIT */
/* cmd_dump.c: `weft dump WORLD`: a world file as text, one JSON object per line; `weft dump --read
 * TEXT --out WORLD`: the way back.
 *
 * Types come from the file, which knows fields as paths of plain numbers, or from --types, which
 * has the constants, texts and units of the program. Values without fields are shown as bytes.
 */
#include "cmd_dump.h"
#include "cli.h"
#include "cli_file.h"
#include "cli_ranks.h"

#include <weft/ecs.h>
#include <weft/scene_gltf.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static weft_result write_stream(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, user) == count ? WEFT_OK : WEFT_IO;
}

/* The text of the world to a stream; `name` is what errors call it. */
static int write_text(weft_world *world, FILE *file, const char *name)
{
    weft_result result = weft_world_save_json(world, &(weft_writer){write_stream, file}, NULL);
    if (result != WEFT_OK && result != WEFT_IO)
        return weft_cli_fail("dump", "%s", weft_world_error(world)->text);
    if (result == WEFT_OK && fflush(file) == 0 && !ferror(file)) return WEFT_CLI_OK;
    return weft_cli_fail("dump", "%s: %s", name, strerror(errno));
}

static int write_file(weft_world *world, const char *out)
{
    weft_cli_file file;
    if (weft_cli_file_begin(&file, "dump", NULL, out) != 0) return WEFT_CLI_FAILED;
    if (write_text(world, file.stream, out) == WEFT_CLI_OK)
        return weft_cli_file_end(&file) == 0 ? WEFT_CLI_OK : WEFT_CLI_FAILED;
    weft_cli_file_drop(&file);
    return WEFT_CLI_FAILED;
}

int weft_cli_dump_world(weft_world *world, const char *out)
{
    return out == NULL ? write_text(world, stdout, "stdout") : write_file(world, out);
}

/* Whether a file begins as checkpoints of shards do. */
static bool is_checkpoint(const char *path)
{
    char magic[8] = "";
    FILE *file = fopen(path, "rb");
    const bool is_one = file != NULL && fread(magic, sizeof magic, 1, file) == 1 &&
                        memcmp(magic, "wftshard", sizeof magic) == 0;
    if (file != NULL) fclose(file);
    return is_one;
}

/* World file to text. `out`: a path, or NULL for stdout. */
static int dump(weft_world *world, const char *path, const char *out)
{
    static const weft_blob_type *const blobs[] = {&weft_gltf_mesh_type, &weft_gltf_skin_type,
                                                  &weft_gltf_animation_type};
    const weft_load_desc desc = {.blob_types = blobs,
                                 .blob_type_count = sizeof blobs / sizeof blobs[0]};
    if (weft_world_load(world, path, &desc) != WEFT_OK)
        return weft_cli_fail("dump", "%s: %s", path, weft_world_error(world)->text);
    return weft_cli_dump_world(world, out);
}

static int read_text(weft_world *world, const char *path)
{
    struct stat state;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &state) != 0 || !S_ISREG(state.st_mode)) {
        const char *why = file < 0 ? strerror(errno) : "no regular file";
        if (file >= 0) close(file);
        return weft_cli_fail("dump", "%s: %s", path, why);
    }
    size_t count = (size_t)state.st_size;
    void *bytes = count == 0 ? NULL : mmap(NULL, count, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return weft_cli_fail("dump", "%s: %s", path, strerror(errno));
    weft_error error;
    weft_result result =
        weft_world_load_json(world, &(weft_text){bytes, count, path}, NULL, &error);
    if (bytes != NULL) munmap(bytes, count);
    if (result != WEFT_OK)
        return weft_cli_fail("dump", "%s",
                             error.text[0] != '\0' ? error.text : weft_world_error(world)->text);
    return WEFT_CLI_OK;
}

/* The descriptions of the program's types, before the file is loaded. */
static int read_types(weft_world *world, const char *path)
{
    weft_world_stats stats;
    int code = path == NULL ? WEFT_CLI_OK : read_text(world, path);
    weft_world_stats_get(world, &stats, sizeof stats);
    if (code != WEFT_CLI_OK || stats.entities == 0) return code;
    return weft_cli_fail("dump", "--types: %s has entities: it should hold types only", path);
}

/* Text to world file. */
static int read_back(weft_world *world, const char *path, const char *out)
{
    int code = read_text(world, path);
    if (code != WEFT_CLI_OK) return code;
    if (weft_world_save(world, out, NULL) != WEFT_OK)
        return weft_cli_fail("dump", "%s", weft_world_error(world)->text);
    return WEFT_CLI_OK;
}

static int run_dump(int argc, char **argv)
{
    bool is_json = false, is_read = false;
    const char *out = NULL, *types = NULL;
    const weft_cli_option options[] = {
        {"read", NULL, "FILE is text: read it, and save the world to --out", WEFT_CLI_FLAG,
         &is_read, 0, 0},
        {"out", "FILE", "write to this file instead of stdout", WEFT_CLI_TEXT, &out, 0, 0},
        {"types", "FILE", "constants, texts and units: a world without entities as text",
         WEFT_CLI_TEXT, &types, 0, 0},
        {"json", NULL, "one JSON object per line, which is what it prints anyway", WEFT_CLI_FLAG,
         &is_json, 0, 0},
        {0},
    };
    const weft_cli_usage usage = {
        "dump",
        "FILE",
        "Prints a world file (weft_world_save) or a checkpoint of a shard (weft_shard_save) as "
        "text, "
        "or reads the text of a world back.",
        options,
        "Lines: the world, its types, its resources, its entities; see docs/guide/saving.md.",
        "weft dump game.world | less\n"
        "weft dump game.world --types types.json\n"
        "weft dump --read game.json --out game.world"};
    int first;
    const int status = weft_cli_parse(&usage, argc, argv, &first);
    if (status != WEFT_CLI_CONTINUE) return status;
    if (first + 1 != argc) return weft_cli_misuse("dump", "name one file");
    if (out != NULL && weft_cli_file_apart("dump", out, argv[first]) != 0) return WEFT_CLI_USAGE;
    if (is_read && out == NULL) return weft_cli_misuse("dump", "--read needs --out WORLD");
    if (!is_read && is_checkpoint(argv[first])) {
        char name[] = "dump";
        return weft_cli_ranks_start((char *[]){name, argv[first], (char *)(uintptr_t)out, NULL});
    }
    weft_world *world;
    weft_result result = weft_world_create(
        &(weft_world_desc){.workers = 1, .name = "dump", .is_hidden = true}, &world);
    if (result != WEFT_OK) return weft_cli_fail("dump", "%s", weft_result_text(result));
    int code = read_types(world, types);
    if (code == WEFT_CLI_OK)
        code = is_read ? read_back(world, argv[first], out) : dump(world, argv[first], out);
    weft_world_destroy(world);
    return code;
}

const weft_cli_command weft_cli_commands_dump[] = {
    {"dump", "a world file as text, and back", run_dump},
    {0},
};
