/* SPDX-License-Identifier: MIT */
/* test_scene_random.c: random edits of documents: what is baked step by step is byte for byte
 * what is baked from nothing, for any number of workers. In the environment: WEFT_SCENE_SCRIPTS,
 * how many scripts (60; 15 under sanitizers), from number WEFT_SCENE_FIRST (0), WEFT_SCENE_EDITS,
 * bakes of each (25); a campaign: 100000 and 5. */
#include "scene_scripts.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SCRIPTS = 15 };
#else
enum { SCRIPTS = 60 };
#endif

/* The bytes of a world that the scene fills. */
static weft_world_bytes bytes_of(stage *s, weft_world **world)
{
    cast c;
    weft_world_bytes bytes;
    *world = cast_world(1, &c);
    CHECK_OK(weft_scene_fill(s->scene, *world));
    CHECK_OK(weft_world_validate(*world));
    CHECK_OK(weft_world_save_memory(*world, &bytes, NULL));
    return bytes;
}

static void check_equal(stage *a, stage *b)
{
    weft_world *x, *y;
    weft_world_bytes first = bytes_of(a, &x), second = bytes_of(b, &y);
    CHECK_U64(first.count, second.count);
    CHECK(memcmp(first.bytes, second.bytes, first.count) == 0);
    weft_world_bytes_free(x, &first);
    weft_world_bytes_free(y, &second);
    CHECK_OK(weft_world_destroy(x));
    CHECK_OK(weft_world_destroy(y));
}

/* What a mistake says behind the path of its object. */
static const char *message(const weft_error *p)
{
    const char *at = p->path[0] == '\0' ? NULL : strstr(p->text, p->path);
    return at == NULL ? p->text : at + strlen(p->path);
}

/* The same mistake: at one place of a file, it may be told of another object that has the
 * prefab. */
static bool is_same(const weft_error *a, const weft_error *b)
{
    if (strcmp(a->text, b->text) == 0) return true;
    return a->line != 0 && a->line == b->line && a->column == b->column &&
           strcmp(a->file, b->file) == 0 && strcmp(message(a), message(b)) == 0;
}

/* Every mistake of a bake from nothing is told by the bake step by step. (It may tell more: of
 * prefabs that only the last good state of an object refers to.) */
static void check_mistakes(const stage *live, const stage *whole)
{
    static weft_error told[200], expected[200];
    uint32_t k = 0, count = weft_scene_mistakes(live->scene, told, 200);
    uint32_t wanted = weft_scene_mistakes(whole->scene, expected, 200);
    CHECK(count <= 200 && wanted <= 200);
    for (uint32_t i = 0; i < wanted; i++, k++) {
        while (k < count && !is_same(&told[k], &expected[i])) k++;
        if (k == count) CHECK_TEXT("not told", expected[i].text);
    }
}

/* One script; returns how many bakes were clean, and compared. */
static uint32_t run_script(test_random dice, uint64_t seed, uint32_t edits,
                           char texts[DOCUMENTS][TEXT_BYTES], uint32_t *kept)
{
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    model m;
    shelf files = {0};
    stage live;
    char number[8];
    model_begin(&m, &dice);
    stage_begin(&live, worker_counts[seed % 4], &files);
    uint32_t clean = 0;
    for (uint32_t e = 0; e < edits; e++) {
        edit_some(&m, &dice, e == 0 ? 0 : 3, &files, texts, number);
        bool is_clean = weft_scene_bake(live.scene, roots, 2) == WEFT_OK;
        stage whole;
        stage_begin(&whole, worker_counts[(seed + e) % 4], &files);
        CHECK(is_clean == (weft_scene_bake(whole.scene, roots, 2) == WEFT_OK));
        if (is_clean) {
            check_equal(&live, &whole);
            clean++;
            weft_scene_stats stats, all;
            weft_scene_stats_get(live.scene, &stats, sizeof stats);
            weft_scene_stats_get(whole.scene, &all, sizeof all);
            CHECK_U64(stats.entities, all.entities);
            *kept += stats.baked < all.baked;
        } else if (!m.is_torn[0] && !m.is_torn[1] && !m.is_torn[2] && !m.is_missing[1] &&
                   !m.is_missing[2]) {
            check_mistakes(&live, &whole);
        }
        stage_end(&whole);
    }
    stage_end(&live);
    return clean;
}

PLAIN_TEST(a_bake_step_by_step_is_the_bake_from_nothing)
{
    static char texts[DOCUMENTS][TEXT_BYTES];
    uint32_t scripts = number_of("WEFT_SCENE_SCRIPTS", SCRIPTS);
    uint32_t edits = number_of("WEFT_SCENE_EDITS", 25), clean = 0, kept = 0;
    const test_random dice = test_random_init(1);
    const uint32_t first = number_of("WEFT_SCENE_FIRST", 0);
    for (uint32_t i = first; i < first + scripts; i++)
        clean += run_script(test_random_fork(&dice, i), i, edits, texts, &kept);
    printf("%u scripts, %u bakes compared, %u of them partial\n", scripts, clean, kept);
    CHECK(clean > scripts && kept > clean / 4);
}
