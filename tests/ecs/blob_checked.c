/* SPDX-License-Identifier: MIT */
/* blob_checked.c: bounds of blob arrays are checked in code compiled with WEFT_CHECKED, also when
 * the library was not; what is in bounds is not disturbed.
 */
#include "blob_fixture.h"
#include "plain.h"

#include <signal.h>
#include <sys/wait.h>

static weft_blob_store *store;

/* Runs `body` in a child; true when it was ended by abort(). */
static bool aborts(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) != NULL) body();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static const Scene *make_scene(void)
{
    weft_blob_ref ref;
    CHECK_OK(weft_blob_store_create(&(weft_blob_store_desc){0}, &store));
    CHECK_OK(blob_build_scene(store, 5, 0, &ref));
    return weft_blob_read(store, ref, &scene_type);
}

static void read_in_bounds(void)
{
    const Scene *scene = make_scene();
    if (WEFT_BLOB_AT(&scene->nodes, 4)->id != 4) abort();
    if (WEFT_BLOB_DATA(&WEFT_BLOB_AT(&scene->nodes, 0)->weights) != NULL) abort();
}

static void read_past_the_end(void)
{
    const Scene *scene = make_scene();
    _exit((int)WEFT_BLOB_AT(&scene->nodes, 5)->id);
}

static void read_an_empty_array(void)
{
    const Scene *scene = make_scene();
    _exit(*WEFT_BLOB_AT(&WEFT_BLOB_AT(&scene->nodes, 0)->weights, 0));
}

static void read_an_unfinished_array(void)
{
    weft_blob_builder *builder;
    make_scene();
    CHECK_OK(weft_blob_builder_create(store, &scene_type, 0, &builder));
    Scene *scene = weft_blob_builder_root(builder);
    WEFT_BLOB_BUILD_ARRAY(builder, &scene->nodes, 8);
    _exit((int)WEFT_BLOB_AT(&scene->nodes, 0)->id);
}

PLAIN_TEST(checked_code_ends_at_the_first_element_out_of_bounds)
{
    CHECK(!aborts(read_in_bounds));
    CHECK(aborts(read_past_the_end));
    CHECK(aborts(read_an_empty_array));
    CHECK(aborts(read_an_unfinished_array));
}
