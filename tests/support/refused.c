/* SPDX-License-Identifier: MIT */
/* refused.c: the sweep of refused.h. */
#include "refused.h"

#include "check.h"
#include "invariant.h"

#include <weft/entity.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_APPLICABLE UINT32_MAX

/* ThreadSanitizer looks for races only: it sees what has workers. */
#if defined(__SANITIZE_THREAD__)
enum { IS_SAMPLE = true };
#else
enum { IS_SAMPLE = false };
#endif

enum { SAMPLE_STRIDE = 7, ALL_UP_TO = 64, CHECKED_STRIDE = 3 };

/* What refuses. */
typedef enum source { HEAP, HEAP_FROM_THEN_ON, MAPPINGS, THREADS, LIBC, SOURCES } source;

static const char *const source_names[SOURCES] = {
    "allocation", "allocation and all after it: number", "mapping", "thread", "malloc"};

/* One bed that is open, and what refuses there. */
typedef struct stage {
    const refused_bed *bed;
    const refused_function *function;
    test_memory memory;
    test_os os;
    refused_place place;
    source source;
    uint64_t at;
    void *open;
} stage;

static weft_job_pool *pools[3]; /* by workers */
static uint32_t faults, how;
/* Left out: refusals of sweeps, kinds of functions, functions. */
static uint64_t refusals_left, kinds_left, functions_left;

bool refused_is_deep(void)
{
    return getenv("WEFT_DEEP") != NULL;
}

uint32_t refused_how(void)
{
    return how;
}

/* ---- looks ---- */

static void see(refused_look *look, const char *name, uint64_t value, bool is_soft)
{
    CHECK(look->count < REFUSED_WORDS);
    look->words[look->count].name = name;
    look->words[look->count].value = value;
    look->words[look->count].is_soft = is_soft;
    look->words[look->count++].is_cache = strcmp(name, "units") == 0;
}

void refused_see(refused_look *look, const char *name, uint64_t value)
{
    see(look, name, value, false);
}

void refused_see_soft(refused_look *look, const char *name, uint64_t value)
{
    see(look, name, value, true);
}

/* In no order. */
static uint64_t names_sum(weft_world *world)
{
    static weft_entity named[4096];
    const uint32_t count = weft_entity_search(world, "", named, 4096);
    uint64_t sum = count;
    CHECK(count <= 4096);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t one = named[i].index * UINT64_C(0x9e3779b97f4a7c15) + named[i].version;
        for (const char *c = weft_entity_name(world, named[i]); *c; c++)
            one = one * 31 + (unsigned char)*c;
        sum += one;
    }
    return sum;
}

/* Archetypes, bytes of objects and numbers of allocations are caches, or figures of the past. */
void refused_see_world(refused_look *look, weft_world *world)
{
    weft_world_stats s;
    weft_world_stats_get(world, &s, sizeof s);
    refused_see(look, "content", weft_world_hash(world, WEFT_HASH_CONTENT));
    refused_see_soft(look, "layout", weft_world_hash(world, WEFT_HASH_LAYOUT));
    refused_see(look, "entities", s.entities);
    refused_see_soft(look, "chunks", s.chunks);
    refused_see_soft(look, "slices", s.slices);
    refused_see_soft(look, "units", s.units_used);
    refused_see(look, "types", s.component_types);
    refused_see(look, "queries", s.queries);
    refused_see_soft(look, "bytes of buffers", s.bytes_buffers);
    refused_see_soft(look, "bytes of blobs", s.bytes_blobs);
    refused_see(look, "names", names_sum(world));
    refused_see(look, "validity", weft_world_validate(world));
}

/* ---- faults ---- */

static const char *kind_name(const stage *s)
{
    return s->bed->kinds == NULL ? "" : s->bed->kinds[s->place.kind];
}

static void fault(const stage *s, const char *what)
{
    printf("%s(%s), %u workers, refused at %s %llu: %s\n", s->function->name, kind_name(s),
           (unsigned)s->place.workers, source_names[s->source], (unsigned long long)s->at, what);
    faults++;
}

/* What two looks are compared for. */
typedef enum comparing { AS_BEFORE, AS_WHOLE, AS_CONTENT } comparing;

static bool counts(const stage *s, comparing as, const refused_look *look, uint32_t i)
{
    if (as == AS_CONTENT) return !look->words[i].is_soft;
    return as == AS_WHOLE || strcmp(look->words[i].name, "types") != 0 ||
           (s->function->flags & REFUSED_TYPES) == 0;
}

static bool is_alike(const refused_look *a, const refused_look *b, uint32_t i)
{
    const uint64_t x = a->words[i].value, y = b->words[i].value;
    return x == y || (a->words[i].is_cache && x <= y + 1);
}

static void compare(const stage *s, const char *what, const refused_look *got,
                    const refused_look *want, comparing as)
{
    CHECK_U64(got->count, want->count);
    bool is_told = false;
    for (uint32_t i = 0; i < want->count; i++) {
        if (is_alike(got, want, i) || !counts(s, as, want, i)) continue;
        if (!is_told) fault(s, what);
        is_told = true;
        printf("  %s: %llx, not %llx\n", want->words[i].name,
               (unsigned long long)got->words[i].value, (unsigned long long)want->words[i].value);
    }
}

/* ---- one run ---- */

static void stage_open(stage *s)
{
    test_memory_init(&s->memory);
    test_os_init(&s->os);
    s->place.heap = test_memory_hook(&s->memory);
    s->place.os = &s->os.table;
    s->place.pool = pools[s->place.workers];
    s->open = s->bed->open(&s->place);
}

static void stage_close(stage *s)
{
    s->bed->close(s->open);
    const uint64_t maps = at_load_rlx(&s->os.x_maps); /* rlx: alone */
    /* files are unmapped, too, and not counted when they are mapped; rlx: alone */
    if (maps > at_load_rlx(&s->os.x_unmaps)) fault(s, "mapped memory stays");
    if (s->memory.live_blocks != 0) fault(s, "memory stays");
    test_memory_fini(&s->memory);
}

static void arm(stage *s)
{
    if (s->source <= HEAP_FROM_THEN_ON)
        test_memory_fail(&s->memory, s->at, s->source == HEAP_FROM_THEN_ON);
    if (s->source == MAPPINGS) test_os_fail_map(&s->os, s->at);
    if (s->source == THREADS) test_os_fail_thread(&s->os, s->at);
    if (s->source == LIBC) s->bed->libc->fail(s->at);
}

/* Nothing is refused any more; whether something was. */
static bool disarm(stage *s)
{
    bool was_refused = s->memory.failures != 0;
    if (s->source == MAPPINGS)
        was_refused = at_load_rlx(&s->os.x_fail_map_at) == 0; /* rlx: alone */
    if (s->source == THREADS)
        was_refused = at_load_rlx(&s->os.x_fail_thread_at) == 0; /* rlx: alone */
    if (s->source == LIBC) was_refused = s->bed->libc->has_failed();
    if (s->bed->libc != NULL) s->bed->libc->fail(0);
    test_memory_fail(&s->memory, 0, false);
    test_os_fail_map(&s->os, 0);
    test_os_fail_thread(&s->os, 0);
    return was_refused;
}

static void look(const stage *s, refused_look *out)
{
    out->count = 0;
    s->bed->look(s->open, out);
}

/* What a refused call says. */
static void check_said(const stage *s, weft_result result, uint64_t errors)
{
    const weft_result wanted = s->source == THREADS ? WEFT_THREAD_FAILED : WEFT_OUT_OF_MEMORY;
    if (result != wanted) fault(s, weft_result_name(result));
    if (s->bed->world == NULL || (s->function->flags & REFUSED_SILENT) != 0) return;
    const weft_error *error = weft_world_error(s->bed->world(s->open));
    if (error->number == errors) fault(s, "the world has no error of it");
    if (error->number != errors && (error->code != result || error->text[0] == '\0'))
        fault(s, "the world has another error, or no text");
}

/* After a call that was refused something. */
static void check_refused(const stage *s, weft_result result, const refused_look *before,
                          const refused_look *whole)
{
    const uint32_t flags = s->function->flags;
    refused_look now;
    look(s, &now);
    if (result == WEFT_OK) {
        if ((flags & (REFUSED_LESS | REFUSED_PART)) == 0)
            compare(s, "done without the memory, and otherwise", &now, whole, AS_CONTENT);
        return;
    }
    const uint32_t were = faults;
    if ((flags & (REFUSED_LATER | REFUSED_PART)) == 0)
        compare(s, "not as before", &now, before,
                (flags & REFUSED_IDS) != 0 ? AS_CONTENT : AS_BEFORE);
    if (faults != were) return;
    const weft_result again = s->function->run(s->open);
    if (again != WEFT_OK) fault(s, "the same call again fails");
    if (again != WEFT_OK) printf("  %s\n", weft_result_name(again));
    look(s, &now);
    if (again == WEFT_OK && (flags & (REFUSED_PART | REFUSED_IDS)) == 0)
        compare(s, "the same call again gives another world", &now, whole,
                (flags & REFUSED_LATER) == 0 ? AS_WHOLE : AS_CONTENT);
}

/* From one k to the next. */
static uint64_t stride(uint64_t at)
{
    if (IS_SAMPLE) return SAMPLE_STRIDE;
    return WEFT_IS_CHECKED && at > ALL_UP_TO && !refused_is_deep() ? CHECKED_STRIDE : 1;
}

/* Refuses for every k that is due. How often; NOT_APPLICABLE: it does not go with the kind. */
static uint32_t sweep(stage *s, source from)
{
    refused_look whole, before;
    uint32_t refusals = 0;
    s->source = from;
    s->at = 0;
    stage_open(s);
    const weft_result expected = s->function->run(s->open);
    look(s, &whole);
    stage_close(s);
    if (expected != WEFT_OK) return NOT_APPLICABLE;
    for (s->at = 1;; s->at += stride(s->at)) {
        stage_open(s);
        look(s, &before);
        weft_world *world = s->bed->world == NULL ? NULL : s->bed->world(s->open);
        const uint64_t errors = world == NULL ? 0 : weft_world_error(world)->number;
        arm(s);
        const weft_result result = s->function->run(s->open);
        const bool was_refused = disarm(s);
        if (result != WEFT_OK) check_said(s, result, errors);
        if (was_refused || result != WEFT_OK) check_refused(s, result, &before, &whole);
        stage_close(s);
        if (!was_refused) return refusals;
        refusals_left += stride(s->at) - 1;
        refusals++;
    }
}

/* ---- the table ---- */

/* Every day some kinds of each function: half of them; of many kinds an eighth in builds with
 * checks. Of small beds all. */
static bool is_due(const refused_bed *bed, uint32_t function, uint32_t kind)
{
    const uint32_t one_of = WEFT_IS_CHECKED && bed->kind_count > 8 ? 8 : 2;
    return bed->is_small || refused_is_deep() || (function + kind) % one_of == 0;
}

static uint32_t sweep_all(stage *s, uint32_t workers)
{
    uint32_t total = 0;
    s->place.workers = workers;
    for (source from = HEAP; from < SOURCES; from++) {
        if (from == HEAP_FROM_THEN_ON && !refused_is_deep()) continue;
        if (from == LIBC && s->bed->libc == NULL) continue;
        const uint32_t count = sweep(s, from);
        if (count == NOT_APPLICABLE) return NOT_APPLICABLE;
        total += count;
    }
    return total;
}

static void print_head(const refused_bed *bed)
{
    printf("%s: refusals; kinds:", bed->name);
    for (uint32_t k = 0; k < bed->kind_count; k++) printf(" %u %s", (unsigned)k, bed->kinds[k]);
    printf("\n%-44s", "");
    for (uint32_t k = 0; k < bed->kind_count; k++) printf(" %3u", (unsigned)k);
    printf("\n");
}

static uint64_t sweep_function(stage *s, uint32_t number, uint32_t workers)
{
    uint64_t total = 0;
    char row[400] = "";
    const bool has_kinds = (s->function->flags & REFUSED_KINDS) != 0;
    how = s->function->how;
    for (uint32_t k = 0; k < (has_kinds ? s->bed->kind_count : 1); k++) {
        char *cell = row + strlen(row);
        const size_t room = sizeof row - strlen(row);
        s->place.kind = k;
        if (has_kinds && !is_due(s->bed, number, k)) {
            snprintf(cell, room, "    ");
            kinds_left++;
            continue;
        }
        const uint32_t count = sweep_all(s, workers);
        if (count == NOT_APPLICABLE && !has_kinds) fault(s, "does not work without a refusal");
        snprintf(cell, room, count == NOT_APPLICABLE ? "   -" : " %3u", (unsigned)count);
        if (count != NOT_APPLICABLE) total += count;
    }
    printf("%-40s x%u %s\n", s->function->name, (unsigned)workers, row);
    return total;
}

void refused_sweep(const refused_bed *bed)
{
    static stage s;
    uint64_t total = 0;
    s = (stage){.bed = bed};
    faults = 0;
    refusals_left = kinds_left = functions_left = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint32_t workers = 1; workers <= 2; workers++)
        CHECK_OK(weft_job_pool_create(
            &(weft_job_pool_desc){.worker_count = workers, .is_always_parallel = true},
            &pools[workers]));
    print_head(bed);
    for (uint32_t i = 0; i < bed->function_count; i++) {
        s.function = &bed->functions[i];
        const bool has_workers = (s.function->flags & REFUSED_WORKERS) != 0;
        if (!IS_SAMPLE || refused_is_deep()) total += sweep_function(&s, i, 1);
        if (has_workers || refused_is_deep()) total += sweep_function(&s, i, 2);
        functions_left += IS_SAMPLE && !has_workers && !refused_is_deep();
    }
    for (uint32_t workers = 1; workers <= 2; workers++)
        CHECK_OK(weft_job_pool_destroy(pools[workers]));
    printf("%s: %llu refusals, %u faults; left out: %llu refusals between those, "
           "%llu kinds of functions, %llu functions\n",
           bed->name, (unsigned long long)total, (unsigned)faults,
           (unsigned long long)refusals_left, (unsigned long long)kinds_left,
           (unsigned long long)functions_left);
    CHECK_U64(faults, 0);
    CHECK(total + refusals_left >= bed->fewest || IS_SAMPLE);
}

void refused_sweep_of(const refused_bed *bed, const char *name,
                      void *(*open)(const refused_place *place), const refused_function *functions,
                      size_t count)
{
    refused_bed swept = *bed;
    swept.name = name;
    swept.open = open;
    swept.functions = functions;
    swept.function_count = (uint32_t)count;
    refused_sweep(&swept);
}
