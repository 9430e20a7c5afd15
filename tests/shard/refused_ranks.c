/* SPDX-License-Identifier: MIT */
/* refused_ranks.c: memory that is refused on one of several ranks, under mpirun by run_shard.py:
 * for every k the collective call in which one rank has its k-th allocation refused, of the
 * library or of its world; then, so that what mends the first refusal is refused memory too, all
 * from the k-th to the end of the call, of both. All ranks end, with one error; the same call
 * again works; rows and hashes are those of a run without a refusal.
 *
 *     shard_refused [--stride N] [--only CALL]
 *
 * --stride: one refusal of N behind the 8th, but of the library's memory in some calls; of those
 * to the end one of 4 N. */
#include <weft/observer.h>
#include <weft/random.h>
#include <weft/shard.h>

#include "check.h"
#include "libc_fault.h"
#include "memory_fault.h"
#include "points.h"
#include "ranks_leaks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POINTS = 48, NEWS = 24, CELLS = 4, ALL_UP_TO = 8, HANG_SECONDS = 15 };

/* One run. The same on all ranks, but for entities. */
static struct {
    test_memory memory;
    weft_world *world;
    weft_shard *shard;
    weft_shard_info info;
    weft_component place, friend, trail, seen;
    weft_entity last; /* made on this rank */
    bool is_plain;    /* no component has references: ranks do not ask again */
    char path[64];
    uint64_t given; /* by the last call */
    uint64_t told;  /* to observers; has_observers */
    bool has_observers;
} bed;

/* ---- the bed ---- */

static weft_result shard_make(void)
{
    const weft_shard_desc desc = {
        .key = bed.place,
        .grid = {.dimensions = 2, .cells = {CELLS, CELLS}, .most = {100, 100}},
        .halo = {bed.place},
        .balance_every = UINT32_MAX,
        .balance_above = 1,
        .seed = 7};
    const weft_result result = weft_shard_create(bed.world, &desc, &bed.shard);
    if (result == WEFT_OK) weft_shard_info_get(bed.shard, &bed.info, sizeof bed.info);
    return result;
}

static void world_open(void)
{
    test_memory_init(&bed.memory);
    const weft_world_desc desc = {.workers = 1,
                                  .allocator = test_memory_hook(&bed.memory),
                                  .without_huge_pages = true,
                                  .entity_tag = WEFT_WITHOUT_ENTITY_TAG};
    CHECK_OK(weft_world_create(&desc, &bed.world));
    bed.place = WEFT_COMPONENT(bed.world, Place);
    bed.friend =
        weft_component_create(bed.world, &(weft_component_desc){.name = "Friend",
                                                                .size = sizeof(Friend),
                                                                .alignment = _Alignof(Friend),
                                                                .fields = friend_fields,
                                                                .field_count = !bed.is_plain});
    bed.trail = weft_component_create_plain(bed.world, "Trail", 8, 8, WEFT_BUFFER);
    bed.seen = weft_component_create_plain(bed.world, "Seen", 4, 4, 0);
    bed.last = (weft_entity){0};
}

/* Points [from, to), those of this rank: most in one corner. The last two are equal, so that ranks
 * ask each other again what tells new rows apart. */
static void points_make(uint32_t from, uint32_t to)
{
    const weft_archetype with =
        WEFT_ARCHETYPE(bed.world, bed.info.gid, bed.place, bed.friend, bed.trail, bed.seen);
    for (uint32_t i = from; i < to; i++) {
        const uint32_t k = i + 1 == to ? i - 1 : i;
        const float scale = k % 4 == 0 ? 100 : 60;
        const Place at = {scale * (float)(k * 37 % 101) / 101, scale * (float)(k * 61 % 101) / 101};
        const Friend friend = {bed.last};
        if (!weft_shard_is_mine(bed.shard, &at)) continue;
        bed.last = weft_entity_create(bed.world, with);
        CHECK_OK(weft_entity_set(bed.world, bed.last, bed.place, &at, sizeof at));
        if (i % 3 == 0 && !bed.is_plain)
            CHECK_OK(weft_entity_set(bed.world, bed.last, bed.friend, &friend, sizeof friend));
        const weft_buffers trail = weft_entity_write_buffer(bed.world, bed.last, bed.trail);
        CHECK_OK(weft_buffers_append(&trail, 0, &(uint64_t){k}, 1));
    }
}

/* Every point goes to the place opposite, most to another rank. */
static void points_move(void)
{
    const weft_query query = weft_query_create(
        bed.world, &(weft_query_desc){.terms = {{bed.info.gid}, {bed.place, WEFT_WRITE}}});
    weft_cursor cursor = weft_query_begin(bed.world, query);
    while (weft_query_next(&cursor)) {
        Place *at = WEFT_WRITE_COLUMN(&cursor.slice, 1, Place);
        for (uint32_t i = 0; i < cursor.slice.count; i++)
            at[i] = (Place){100 - at[i].x, 100 - at[i].y};
    }
    weft_query_end(&cursor);
    CHECK_OK(weft_query_destroy(bed.world, query));
}

static void shard_open(void)
{
    world_open();
    CHECK_OK(shard_make());
    points_make(0, POINTS);
    CHECK_OK(weft_shard_sync(bed.shard));
}

static void moved_open(void)
{
    shard_open();
    CHECK_OK(weft_shard_exchange(bed.shard));
    points_move();
    points_make(POINTS, POINTS + NEWS);
}

static void plain_moved_open(void)
{
    bed.is_plain = true;
    moved_open();
    bed.is_plain = false;
}

static void count_told(const weft_observation *o, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < o->count; i++) bed.told += UINT64_C(1) << 11 * o->event;
}

/* Births are news, changes of rank are none, also when memory is refused between them. */
static void observed_open(void)
{
    moved_open();
    bed.has_observers = true;
    const weft_observer_desc descs[] = {
        {.name = "added", .on = WEFT_ON_ADDED, .component = bed.seen},
        {.name = "removed", .on = WEFT_ON_REMOVED, .component = bed.seen},
        {.name = "created", .on = WEFT_ON_CREATED},
        {.name = "destroyed", .on = WEFT_ON_DESTROYED}};
    for (uint32_t i = 0; i < 4; i++) {
        weft_observer_desc desc = descs[i];
        desc.run = count_told;
        CHECK(weft_observer_create(bed.world, &desc).id != 0);
    }
    points_make(0, NEWS);
}

/* New rows wish to begin in sectors of other ranks. */
static void strays_open(void)
{
    shard_open();
    points_make(POINTS, POINTS + NEWS);
    points_move();
}

static void exchanged_open(void)
{
    shard_open();
    CHECK_OK(weft_shard_exchange(bed.shard));
}

static void saved_open(void)
{
    shard_open();
    CHECK_OK(weft_shard_save(bed.shard, bed.path));
    weft_shard_destroy(bed.shard);
    CHECK_OK(weft_world_destroy(bed.world));
    test_memory_fini(&bed.memory);
    world_open();
    CHECK_OK(shard_make());
}

static void look_around(weft_slice *slice, void *user)
{
    const uint32_t *near;
    uint32_t *seen = WEFT_WRITE_COLUMN(slice, 1, uint32_t), all = 0;
    const uint32_t count =
        weft_shard_near(bed.shard, weft_shard_slice_sector(bed.shard, slice), &near);
    (void)user;
    for (uint32_t k = 0; k < count; k++) {
        weft_shard_rows rows;
        CHECK(weft_shard_rows_get(bed.shard, near[k], &rows));
        all += rows.count;
    }
    for (uint32_t i = 0; i < slice->count; i++) seen[i] += all;
}

static void step_away(weft_slice *slice, void *user)
{
    Place *at = WEFT_WRITE_COLUMN(slice, 1, Place);
    (void)user;
    for (uint32_t i = 0; i < slice->count; i++)
        at[i] = (Place){at[i].x < 80 ? at[i].x + 20 : 5, at[i].y < 70 ? at[i].y + 30 : 5};
}

/* A step with two exchanges. */
static void systems_open(void)
{
    shard_open();
    const weft_system_desc first = {.name = "first",
                                    .run = look_around,
                                    .over.rows.terms = {{bed.info.gid}, {bed.seen, WEFT_WRITE}}};
    weft_system_desc second = first;
    second.name = "second";
    second.after[0] = "away";
    const weft_system_desc away = {.name = "away",
                                   .run = step_away,
                                   .over.rows.terms = {{bed.info.gid}, {bed.place, WEFT_WRITE}},
                                   .after = {"first", "first.border"}};
    CHECK_OK(weft_shard_system_create(bed.shard, &first));
    CHECK(weft_system_create(bed.world, &away).id != 0);
    CHECK_OK(weft_shard_system_create(bed.shard, &second));
}

/* A step that has its plan. */
static void stepped_open(void)
{
    systems_open();
    CHECK_OK(weft_shard_step(bed.shard, 0.1f));
}

static void bed_close(void)
{
    weft_shard_destroy(bed.shard);
    CHECK_OK(weft_world_destroy(bed.world));
    CHECK_U64(bed.memory.live_blocks, 0);
    test_memory_fini(&bed.memory);
    if (weft_ranks_rank() == 0) unlink(bed.path);
    bed.shard = NULL;
    bed.given = bed.told = 0;
    bed.has_observers = false;
}

/* ---- the calls ---- */

static weft_result do_sync(void)
{
    return weft_shard_sync(bed.shard);
}

static weft_result do_exchange(void)
{
    return weft_shard_exchange(bed.shard);
}

static weft_result do_step(void)
{
    return weft_shard_step(bed.shard, 0.1f);
}

static weft_result do_balance(void)
{
    bool moved;
    return weft_shard_balance(bed.shard, &moved);
}

static weft_result do_hash(void)
{
    uint64_t hash[2];
    const weft_result result = weft_shard_hash(bed.shard, hash);
    bed.given = hash[0];
    return result;
}

static weft_result do_save(void)
{
    struct stat status = {0};
    const weft_result result = weft_shard_save(bed.shard, bed.path);
    CHECK(result != WEFT_OK || stat(bed.path, &status) == 0);
    bed.given = (uint64_t)status.st_size;
    return result;
}

static weft_result do_load(void)
{
    return weft_shard_load(bed.shard, bed.path);
}

static weft_result do_gather(void)
{
    static const char bytes[5000] = "all";
    void *all;
    uint64_t count;
    const weft_result result = weft_ranks_gather(bytes, sizeof bytes, &all, &count);
    CHECK((all != NULL) == (result == WEFT_OK && weft_ranks_rank() == 0));
    CHECK(all == NULL || count == sizeof bytes * weft_ranks_count());
    free(all);
    return result;
}

static const struct call {
    const char *name;
    void (*open)(void);
    weft_result (*run)(void);
    bool goes_on;  /* called again, it does more */
    bool is_whole; /* each refusal of the library's memory: they are few, and each is another one */
} calls[] = {
    {"weft_shard_create", world_open, shard_make, false, false},
    {"weft_ranks_gather", world_open, do_gather, false, true},
    {"weft_shard_sync", moved_open, do_sync, false, true},
    {"weft_shard_sync, no reference", plain_moved_open, do_sync, false, true},
    {"weft_shard_sync, observed", observed_open, do_sync, false, true},
    {"weft_shard_sync of strays", strays_open, do_sync, false, true},
    {"weft_shard_exchange", shard_open, do_exchange, false, false},
    {"weft_shard_step, the first", systems_open, do_step, true, false},
    {"weft_shard_step", stepped_open, do_step, true, true},
    {"weft_shard_balance", exchanged_open, do_balance, false, true},
    {"weft_shard_hash", moved_open, do_hash, false, false},
    {"weft_shard_save", moved_open, do_save, false, false},
    {"weft_shard_load", saved_open, do_load, false, false},
};

/* ---- the sweep ---- */

/* Whose allocations are refused: one of the library's or of the world's, or all that follow. */
typedef enum source { LIBC, HEAP, LIBC_ON, HEAP_ON, SOURCES } source;

static const char *const source_words[] = {"malloc", "allocation", "malloc and all behind it",
                                           "allocation and all behind it"};

/* What runs, for a fault: that of a check, or a rank that hangs. */
static char doing[128];

static void tell(int signal_number)
{
    static const char hang[] = "a rank waits for ever: ";
    if (signal_number == SIGALRM) (void)!write(STDERR_FILENO, hang, sizeof hang - 1);
    (void)!write(STDERR_FILENO, doing, strlen(doing));
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* What all ranks see. */
typedef struct look {
    uint64_t hash[2], rows, given;
} look;

static look bed_look(void)
{
    look out = {.given = bed.given};
    if (bed.shard == NULL) return out;
    weft_shard_stats stats;
    if (bed.has_observers) {
        CHECK_OK(weft_observers_run(bed.world));
        out.given = bed.told;
        CHECK_OK(weft_ranks_sum(&out.given, 1));
        CHECK(out.given != 0);
    }
    CHECK_OK(weft_shard_hash(bed.shard, out.hash));
    weft_shard_stats_get(bed.shard, &stats, sizeof stats);
    out.rows = stats.rows;
    CHECK_OK(weft_ranks_sum(&out.rows, 1));
    CHECK_OK(weft_world_validate(bed.world));
    return out;
}

/* The call on all ranks; whether something was refused on `rank`. */
static bool run_refused(const struct call *call, source from, uint32_t rank, uint64_t at,
                        weft_result *out)
{
    const test_libc *libc = test_libc_faults();
    if (weft_ranks_rank() == rank && from == LIBC) libc->fail(at);
    if (weft_ranks_rank() == rank && from == LIBC_ON) libc->fail_from(at);
    if (weft_ranks_rank() == rank && (from == HEAP || from == HEAP_ON))
        test_memory_fail(&bed.memory, at, from == HEAP_ON);
    *out = call->run();
    uint64_t words[] = {libc->has_failed() || bed.memory.failures != 0, (uint64_t)*out,
                        UINT64_MAX - (uint64_t)*out};
    libc->fail(0);
    test_memory_fail(&bed.memory, 0, false);
    if (*out != WEFT_OK) CHECK(weft_ranks_error()->text[0] != '\0');
    CHECK_OK(weft_ranks_max(words, 3));
    CHECK_U64(words[1], UINT64_MAX - words[2]); /* one result on all ranks */
    return words[0] != 0;
}

/* Every k that is due; how many. */
static uint32_t sweep(const struct call *call, source from, uint32_t rank, uint32_t stride)
{
    const bool has_shard = call->run != shard_make;
    call->open();
    CHECK_OK(call->run());
    const look whole = bed_look();
    bed_close();
    for (uint32_t at = 1, count = 0;; at += at > ALL_UP_TO ? stride : 1, count++) {
        weft_result result;
        snprintf(doing, sizeof doing, "%s, refused on rank %u at %s %u\n", call->name,
                 (unsigned)rank, source_words[from], (unsigned)at);
        alarm(HANG_SECONDS); /* mpirun ends all ranks */
        call->open();
        const bool was_refused = run_refused(call, from, rank, at, &result);
        if (result != WEFT_OK) CHECK_U64(result, WEFT_OUT_OF_MEMORY);
        if (result != WEFT_OK && has_shard) CHECK_OK(weft_world_validate(bed.world));
        if (result != WEFT_OK) CHECK_OK(call->run());
        const look now = bed_look();
        CHECK_U64(now.rows, whole.rows);
        if (!call->goes_on)
            CHECK(now.hash[0] == whole.hash[0] && now.hash[1] == whole.hash[1] &&
                  now.given == whole.given);
        bed_close();
        if (!was_refused) return count;
    }
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    uint32_t stride = 1, total = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--stride") == 0 && i + 1 < argc) stride = (uint32_t)atoi(argv[++i]);
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
    }
    CHECK_OK(start_ranks(&argc, &argv));
    int process = (int)getpid();
    signal(SIGALRM, tell);
    signal(SIGABRT, tell);
    signal(SIGSEGV, tell);
    CHECK_OK(weft_ranks_broadcast(&process, sizeof process));
    snprintf(bed.path, sizeof bed.path, "refused-%d.shards", process);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        uint32_t refusals[SOURCES] = {0};
        if (only != NULL && strcmp(calls[i].name, only) != 0) continue;
        const uint32_t strides[SOURCES] = {calls[i].is_whole ? 1 : stride, stride,
                                           stride == 1 ? 1 : 4 * stride,
                                           stride == 1 ? 1 : 4 * stride};
        for (uint32_t rank = 0; rank < weft_ranks_count(); rank++)
            for (source from = LIBC; from < SOURCES; from++)
                refusals[from] += sweep(&calls[i], from, rank, strides[from]);
        for (source from = LIBC; from < SOURCES; from++) total += refusals[from];
        if (weft_ranks_rank() != 0) continue;
        printf("%-28s refusals: %4u of malloc, %4u of the world; to the end: %4u, %4u\n",
               calls[i].name, (unsigned)refusals[LIBC], (unsigned)refusals[HEAP],
               (unsigned)refusals[LIBC_ON], (unsigned)refusals[HEAP_ON]);
        fflush(stdout);
    }
    if (weft_ranks_rank() == 0) printf("%u refusals\n", (unsigned)total);
    fflush(stdout);
    stop_ranks();
    return 0;
}
