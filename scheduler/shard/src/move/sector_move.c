/* SPDX-License-Identifier: MIT */
/* sector_move.c: which rows are new or belong elsewhere; gids for the new ones; what leaves and
 * comes.
 *
 * Movers: the owner lists chunks to look at, jobs compute the sectors of their rows and note the
 * rows that are elsewhere, the owner sorts those by rank, archetype and sector. Rows of a sector
 * are in the order of the walk over chunks, which is the same for any number of workers. So
 * movers that go the same way lie together, and are written, taken out and put in many at once.
 *
 * Gids: the rank that has the sector in which a row begins gives the gid: sector << 40 |
 * counter. Requests go there by mail; it sorts all of a sector by the hashes of their values and
 * answers. So a gid depends on neither ranks nor the places of rows. Where there are rows with
 * equal values, all ask again with what tells those apart (newborn_order.h). Counters are never
 * shared.
 *
 * All that can fail because of what rows are happens before they come and leave. */
#include "sector_move.h"
#include "archetype_state.h"
#include "arrival.h"
#include "messages.h"
#include "newborn_order.h"
#include "observe_engine.h"
#include "row_pack.h"

struct key_run;
struct key_row;

/* Memory that is used again by each sync. Zero-initialised it is empty. The arrays up to `sectors`
 * have `count` elements, one for each mover. Owner: one thread; places are valid until structure
 * changes. */
typedef struct mover_list {
    uint32_t count;
    weft__row_place *places;
    weft_entity *entities;
    uint64_t *gids;    /* 0: new */
    uint32_t *sectors; /* where they go */
    uint64_t capacity[4];
    /* of the walk */
    struct key_run *runs; /* chunks to look at */
    uint64_t run_capacity;
    struct key_row *rows; /* [row of all runs] */
    uint64_t row_capacity;
    struct weft__gid_pair *pairs;
    uint64_t pair_capacity;
} mover_list;

/* ---- movers ---- */

#define SECTOR_BITS 24 /* weft_shard_create refuses more sectors */
#define FIELD_BITS 20  /* of a rank, and of an archetype among those of movers */

/* Rows of a chunk whose keys are looked at. Borrowed from the world, for the time of a pass. */
typedef struct key_run {
    weft__row_place place; /* of its first row */
    const uint64_t *gids;
    const unsigned char *keys;
    uint32_t count, stored; /* value of ShardSector */
    uint64_t begin;         /* of its rows in list->rows */
    uint32_t found;         /* movers among them, from `begin` on */
} key_run;

/* A mover. */
typedef struct key_row {
    uint32_t row; /* of its chunk */
    uint32_t sector;
} key_row;

/* What the jobs share. */
typedef struct key_pass {
    weft_shard *shard;
    mover_list *list;
    uint32_t run_count;
    uint32_t key_bytes;
} key_pass;

/* Rows that got a component which cannot travel are refused now, not when they leave: on any number
 * of ranks. */
static weft_result check_archetype(const weft_shard *shard, const weft_slice *slice,
                                   weft_archetype *last)
{
    weft__row_component list[WEFT__ROW_COMPONENTS];
    uint32_t count;
    const weft_archetype archetype = weft_entity_archetype(shard->world, slice->entities[0]);
    if (archetype.id == last->id) return WEFT_OK;
    *last = archetype;
    return weft__row_components(shard, archetype, list, &count);
}

static weft_result collect_runs(key_pass *pass, uint64_t *rows)
{
    const weft_shard *shard = pass->shard;
    mover_list *list = pass->list;
    const uint32_t since = shard->keys_version;
    weft_archetype last = {0};
    weft_cursor cursor;
    const bool is_begun = weft__shard_loop_begin(shard, shard->key_query, &cursor);
    weft_result result = is_begun ? WEFT_OK : weft__ranks_no_memory();
    while (result == WEFT_OK && weft_query_next(&cursor)) {
        const weft_slice *slice = &cursor.slice;
        if (!weft_slice_changed_since(slice, 2, since) &&
            !weft_slice_order_changed_since(slice, since))
            continue;
        result = check_archetype(shard, slice, &last);
        if (result == WEFT_OK &&
            !weft__array_grow(&list->runs, &list->run_capacity, pass->run_count + UINT64_C(1),
                              sizeof *list->runs))
            result = weft__ranks_no_memory();
        if (result != WEFT_OK) break;
        key_run *run = &list->runs[pass->run_count++];
        *run = (key_run){.place = weft__slice_place(slice),
                         .gids = weft_slice_read(slice, 0),
                         .keys = weft_slice_read(slice, 2),
                         .count = slice->count,
                         .begin = *rows};
        memcpy(&run->stored, weft_slice_read_shared(slice, 1), sizeof run->stored);
        *rows += slice->count;
    }
    weft_query_end(&cursor);
    return result;
}

/* Notes which of the rows [begin, begin + count) of a run move. No branches: what moves is not to
 * be foreseen; so every row is written, which must not wait for memory. */
static void note_movers(const key_pass *pass, key_run *run, uint32_t begin, uint32_t count)
{
    const weft__sector_map *map = &pass->shard->map;
    const uint64_t *gids = run->gids + begin;
    uint32_t sectors[WEFT__KEYS_AT_ONCE], found = 0;
    key_row moving[WEFT__KEYS_AT_ONCE];
    const bool is_mine = run->stored != 0 && map->rank_of[run->stored - 1] == map->rank;
    const uint32_t home = is_mine ? run->stored - 1 : UINT32_MAX; /* all of the others move */
    weft__sectors_at(map, run->keys + (size_t)begin * pass->key_bytes, pass->key_bytes, count,
                     sectors);
    for (uint32_t i = 0; i < count; i++) {
        moving[found] = (key_row){run->place.row + begin + i, sectors[i]};
        found += (uint32_t)(sectors[i] != home) | (uint32_t)(gids[i] == 0);
    }
    if (found != 0)
        memcpy(pass->list->rows + run->begin + run->found, moving, found * sizeof *moving);
    run->found += found;
}

static int find_movers(weft_job_context *job, void *user, uint32_t begin, uint32_t end)
{
    const key_pass *pass = user;
    (void)job;
    for (uint32_t k = begin; k < end; k++) {
        key_run *run = &pass->list->runs[k];
        for (uint32_t done = 0, some; done < run->count; done += some) {
            some = run->count - done < WEFT__KEYS_AT_ONCE ? run->count - done : WEFT__KEYS_AT_ONCE;
            note_movers(pass, run, done, some);
        }
    }
    return 0;
}

/* ---- sorting ---- */

static bool reserve(mover_list *list, uint64_t count)
{
    return weft__array_grow(&list->places, &list->capacity[0], 2 * count, sizeof *list->places) &&
           weft__array_grow(&list->entities, &list->capacity[1], count, sizeof *list->entities) &&
           weft__array_grow(&list->gids, &list->capacity[2], count, sizeof *list->gids) &&
           weft__array_grow(&list->sectors, &list->capacity[3], count, sizeof *list->sectors) &&
           weft__array_grow(&list->pairs, &list->pair_capacity, 2 * count, sizeof *list->pairs);
}

/* Keys of all movers, in the order of the walk; their places behind those of the sorted ones. */
static bool make_pairs(const key_pass *pass)
{
    const weft__sector_map *map = &pass->shard->map;
    const weft__archetype *last = NULL;
    mover_list *list = pass->list;
    weft__row_place *places = list->places + list->count;
    uint64_t at = 0, archetypes = 0;
    for (uint32_t k = 0; k < pass->run_count; k++) {
        const key_run *run = &list->runs[k];
        if (run->found != 0 && run->place.chunk->archetype != last) archetypes++;
        if (run->found != 0) last = run->place.chunk->archetype;
        for (const key_row *row = list->rows + run->begin, *end = row + run->found; row < end;
             row++, at++) {
            const uint64_t rank = map->rank_of[row->sector];
            list->pairs[at].key =
                rank << (SECTOR_BITS + FIELD_BITS) | archetypes << SECTOR_BITS | row->sector;
            list->pairs[at].number = (uint32_t)at;
            places[at] = (weft__row_place){run->place.chunk, row->row};
        }
    }
    return archetypes >> FIELD_BITS == 0 && map->ranks >> FIELD_BITS == 0;
}

/* A row whose sector_of is out of range belongs nowhere. */
static weft_result check_sectors(const key_pass *pass)
{
    const weft__sector_map *map = &pass->shard->map;
    for (uint32_t k = 0; k < pass->run_count; k++) {
        const key_run *run = &pass->list->runs[k];
        for (uint32_t i = 0; i < run->found; i++) {
            const key_row *row = &pass->list->rows[run->begin + i];
            if (row->sector < map->count) continue;
            const uint32_t at = row->row - run->place.row;
            const uint32_t sector =
                map->sector_of(run->keys + (size_t)at * pass->key_bytes, map->user);
            return weft__ranks_fail(
                WEFT_INVALID_ARGUMENT,
                "sector_of gave %u for the key of a row, and there are %u sectors: "
                "it must give less for every key",
                sector, map->count);
        }
    }
    return WEFT_OK;
}

static weft_result sort_movers(const key_pass *pass)
{
    mover_list *list = pass->list;
    uint64_t count = 0;
    for (uint32_t k = 0; k < pass->run_count; k++) count += list->runs[k].found;
    if (count > UINT32_MAX / 2)
        return weft__ranks_fail(WEFT_LIMIT, "more than 2^31 rows of a rank move: use more ranks");
    list->count = (uint32_t)count;
    if (!reserve(list, count)) return weft__ranks_no_memory();
    if (!make_pairs(pass))
        return weft__ranks_fail(WEFT_LIMIT, "more than 2^20 ranks or archetypes of rows");
    const weft__gid_pair *sorted = weft__gid_sort(list->pairs, list->pairs + count, list->count);
    const weft__row_place *unsorted = list->places + count;
    const uint32_t gid = pass->shard->gid.id;
    const weft__chunk *chunk = NULL;
    const uint64_t *gids = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const weft__row_place place = unsorted[sorted[i].number];
        if (place.chunk != chunk) {
            chunk = place.chunk;
            const uint32_t column = weft__archetype_slot(chunk->archetype, gid)->column;
            gids = (const uint64_t *)(const void *)weft__chunk_column(chunk, column);
        }
        list->places[i] = place;
        list->entities[i] = weft__row_entity(place);
        list->gids[i] = gids[place.row];
        list->sectors[i] = (uint32_t)(sorted[i].key & ((UINT64_C(1) << SECTOR_BITS) - 1));
    }
    return WEFT_OK;
}

/* Lists them. Looked at are chunks whose keys or rows changed since the last time. Owner; jobs
 * of the pool share the work. Errors: OUT_OF_MEMORY, LIMIT. */
static weft_result movers_collect(weft_shard *shard, mover_list *list)
{
    key_pass pass = {.shard = shard,
                     .list = list,
                     .key_bytes = (uint32_t)weft_component_info(shard->world, shard->key)->size};
    uint64_t rows = 0;
    list->count = 0;
    weft_result result = collect_runs(&pass, &rows);
    if (result != WEFT_OK) return result;
    if (!weft__array_grow(&list->rows, &list->row_capacity, rows + 1, sizeof *list->rows))
        return weft__ranks_no_memory();
    const weft_job_for_desc loop = {
        .fn = find_movers, .argument = &pass, .count = pass.run_count, .name = "shard keys"};
    if (pass.run_count != 0)
        result = weft_job_for(weft__front(shard->world)->host.owner, &loop, NULL);
    if (result != WEFT_OK) return weft__ranks_fail(result, "finding sectors: weft_job_for failed");
    result = check_sectors(&pass);
    return result == WEFT_OK ? sort_movers(&pass) : result;
}

/* ---- what goes together ---- */

/* The end of the movers that go to the same rank as mover `begin`. */
static uint32_t movers_to_rank(const weft_shard *shard, const mover_list *list, uint32_t begin)
{
    const uint32_t *rank_of = shard->map.rank_of, rank = rank_of[list->sectors[begin]];
    uint32_t end = begin + 1;
    while (end < list->count && rank_of[list->sectors[end]] == rank) end++;
    return end;
}

/* The end of those of the same archetype as mover `begin`, at most `end`. */
static uint32_t movers_alike(const mover_list *list, uint32_t begin, uint32_t end)
{
    const weft__row_place *places = list->places;
    const weft__archetype *archetype = places[begin].chunk->archetype;
    uint32_t next = begin + 1;
    while (next < end && (places[next].chunk == places[next - 1].chunk ||
                          places[next].chunk->archetype == archetype))
        next++;
    return next;
}

/* Appends blocks of movers [begin, end), one for each archetype. Errors: as weft__block_write. */
static weft_result movers_write(const weft_shard *shard, const mover_list *list, uint32_t begin,
                                uint32_t end, weft__bytes *out)
{
    weft_result result = WEFT_OK;
    for (uint32_t next; begin < end && result == WEFT_OK; begin = next) {
        next = movers_alike(list, begin, end);
        const weft__row_list rows = {
            weft_entity_archetype(shard->world, list->entities[begin]),
            next - begin,
            list->places + begin,
            list->gids + begin,
            list->sectors + begin,
        };
        result = weft__block_write(shard, &rows, out);
    }
    return result;
}

/* ---- gids ---- */

#define COUNTER_BITS 40

/* A new row, here or on another rank. A value; sent as it is. */
typedef struct name_request {
    uint64_t hash; /* of its values */
    uint64_t key;  /* of its group, among equal hashes */
    uint32_t sector;
    uint32_t index; /* of the mover, in the list of the rank that asks */
    uint32_t rank;  /* that asks */
    uint32_t order; /* among those of one key of this rank */
    uint64_t gid;   /* the answer */
} name_request;

/* Memory of namings, used again by each. Owner: the shard. */
typedef struct weft__naming {
    mover_list *list; /* of the naming that runs */
    weft__newborns newborns;
    weft__bytes *out; /* [rank]: requests; those to this rank are answered there */
    weft__round asked, answered;
    name_request **requests; /* that this rank answers, where they lie */
    uint64_t capacity;
    uint32_t count;
    uint64_t failure; /* why it cannot; sent in place of answers */
} naming;

/* ---- what is asked ---- */

/* Asks for the gids of all new movers. */
static bool request_gids(const weft_shard *shard, const naming *n)
{
    const weft__sector_map *map = &shard->map;
    bool is_done = true;
    for (uint32_t rank = 0; rank < map->ranks; rank++) n->out[rank].count = 0;
    for (uint32_t i = 0; i < n->list->count && is_done; i++) {
        if (n->list->gids[i] != 0) continue;
        const uint32_t sector = n->list->sectors[i];
        const name_request request = {.hash = n->newborns.hashes[i],
                                      .key = n->newborns.keys[i],
                                      .sector = sector,
                                      .index = i,
                                      .rank = map->rank,
                                      .order = n->newborns.orders[i]};
        is_done = weft__bytes_put(&n->out[map->rank_of[sector]], &request, sizeof request);
    }
    return is_done;
}

/* The hashes of movers [begin, end), which are new and of one archetype. */
static weft_result hash_newborn(weft_shard *shard, uint32_t begin, uint32_t end)
{
    weft__bytes bytes = {0};
    weft__block block = {0};
    uint64_t(*hashes)[2] = calloc(end - begin, sizeof *hashes);
    if (hashes == NULL) return weft__ranks_no_memory();
    weft_result result = movers_write(shard, shard->naming->list, begin, end, &bytes);
    weft__reader in = {bytes.at, bytes.at + bytes.count};
    if (result == WEFT_OK) result = weft__block_read(shard, &in, NULL, &block);
    if (result == WEFT_OK) weft__block_hash(shard, &block, hashes);
    for (uint32_t i = begin; i < end && result == WEFT_OK; i++)
        shard->naming->newborns.hashes[i] = hashes[i - begin][0];
    weft__block_free(&block);
    weft__bytes_free(&bytes);
    free(hashes);
    return result;
}

/* The new ones among movers [begin, end), which are of one archetype: run by run. */
static weft_result hash_group(weft_shard *shard, uint32_t begin, uint32_t end)
{
    const uint64_t *gids = shard->naming->list->gids;
    weft_result result = WEFT_OK;
    for (uint32_t next; begin < end && result == WEFT_OK; begin = next) {
        for (next = begin + 1; next < end; next++)
            if ((gids[next] == 0) != (gids[begin] == 0)) break;
        if (gids[begin] == 0) result = hash_newborn(shard, begin, next);
    }
    return result;
}

/* Room for what comes back from other ranks: gids that are given and lost would be given away. */
static weft_result reserve_answers(const naming *n, uint32_t ranks, uint32_t mine)
{
    uint32_t at = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank == mine || n->out[rank].count == 0) continue;
        weft__bytes *bytes = &n->answered.letters[at++].bytes;
        if (!weft__array_grow(&bytes->at, &bytes->capacity, n->out[rank].count, 1))
            return weft__ranks_no_memory();
    }
    return WEFT_OK;
}

static weft_result hash_all(weft_shard *shard, naming *n)
{
    const mover_list *list = n->list;
    weft_result result = WEFT_OK;
    if (!weft__newborns_begin(&n->newborns, list->entities, list->gids, list->count))
        return weft__ranks_no_memory();
    for (uint32_t begin = 0, end; begin < list->count && result == WEFT_OK; begin = end) {
        end = movers_alike(list, begin, list->count);
        result = hash_group(shard, begin, end);
    }
    return result;
}

/* ---- answers ---- */

static int by_hash(const void *a, const void *b)
{
    const name_request *left = *(name_request *const *)a, *right = *(name_request *const *)b;
    if (left->sector != right->sector) return left->sector < right->sector ? -1 : 1;
    if (left->hash != right->hash) return left->hash < right->hash ? -1 : 1;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    if (left->rank != right->rank) return left->rank < right->rank ? -1 : 1;
    if (left->order != right->order) return left->order < right->order ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static bool list_requests(naming *n, const weft__bytes *bytes)
{
    const uint64_t count = bytes->count / sizeof(name_request);
    name_request *requests = (name_request *)(void *)bytes->at;
    if (!weft__array_grow(&n->requests, &n->capacity, n->count + count, sizeof *n->requests))
        return false;
    for (uint64_t i = 0; i < count; i++) n->requests[n->count++] = &requests[i];
    return true;
}

/* Lists what this rank was asked for, sorted. */
static weft_result collect(naming *n, uint32_t mine)
{
    n->count = 0;
    bool is_done = list_requests(n, &n->out[mine]);
    for (uint32_t i = 0; i < n->asked.letter_count && is_done; i++)
        is_done = list_requests(n, &n->asked.letters[i].bytes);
    if (n->count != 0) qsort(n->requests, n->count, sizeof *n->requests, by_hash);
    return is_done ? WEFT_OK : weft__ranks_no_memory();
}

/* Whether this rank was asked for two of equal values. */
static bool has_equal(const naming *n)
{
    for (uint32_t i = 1; i < n->count; i++)
        if (n->requests[i]->sector == n->requests[i - 1]->sector &&
            n->requests[i]->hash == n->requests[i - 1]->hash)
            return true;
    return false;
}

/* Asks for gids as rows are told apart now, and lists what this rank is asked for. Collective, and
 * so is what it returns, but for *own: what only this rank has met. */
static weft_result ask(weft_shard *shard, naming *n, weft_result result, weft_result *own)
{
    if (result == WEFT_OK && !request_gids(shard, n)) result = weft__ranks_no_memory();
    if (result == WEFT_OK) result = reserve_answers(n, shard->map.ranks, shard->map.rank);
    result = weft__mail_exchange(n->out, &n->asked, WEFT__TAG_NAMES, result);
    *own = result == WEFT_OK ? n->asked.failed : result;
    if (*own == WEFT_OK) *own = collect(n, shard->map.rank);
    return result;
}

/* Where any rank has rows of equal values, all ask again with what tells them apart. Collective,
 * and so is what it returns. */
static weft_result ask_again(weft_shard *shard, naming *n, weft_result *own)
{
    uint64_t equal[2] = {*own == WEFT_OK && has_equal(n)};
    weft_result result = weft__ranks_agree_on(*own, equal);
    if (result != WEFT_OK || equal[0] == 0) return result;
    return ask(shard, n, weft__newborns_tell_apart(shard, &n->newborns), own);
}

static weft_result give_gids(weft_shard *shard, const naming *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        name_request *request = n->requests[i];
        const uint64_t counter = ++shard->counters[request->sector];
        if (counter >> COUNTER_BITS != 0)
            return weft__ranks_fail(WEFT_LIMIT, "sector %u has given away all of its 2^40 gids",
                                    request->sector);
        request->gid = (uint64_t)request->sector << COUNTER_BITS | counter;
    }
    return WEFT_OK;
}

/* Into the world, and into the list. */
static weft_result take_gid(const weft_shard *shard, const name_request *request)
{
    mover_list *list = shard->naming->list;
    const weft_entity entity = list->entities[request->index];
    uint64_t *gid = weft_entity_write(shard->world, entity, shard->gid);
    if (gid == NULL)
        return weft__ranks_fail(WEFT_STALE_ENTITY, "a new row has ended: a hook changes the "
                                                   "world during weft_shard_sync");
    *gid = list->gids[request->index] = request->gid;
    return WEFT_OK;
}

/* Requests with their answers, or a word: the error of the rank that should have answered. */
static weft_result take_gids(const weft_shard *shard, uint32_t from, const weft__bytes *bytes)
{
    const name_request *requests = (const name_request *)(const void *)bytes->at;
    weft_result result = WEFT_OK;
    if (bytes->count == sizeof(uint64_t)) {
        uint64_t failure;
        memcpy(&failure, bytes->at, sizeof failure);
        return weft__ranks_other((weft_result)failure, from);
    }
    for (uint64_t i = 0; i < bytes->count / sizeof *requests && result == WEFT_OK; i++)
        result = take_gid(shard, &requests[i]);
    return result;
}

/* Sends each rank its requests with their answers; where there are none, the error in their place,
 * as it waits. Takes the answers of others, also then: they are given. */
static weft_result answer(const weft_shard *shard, naming *n, weft_result result)
{
    weft__round_open(&n->answered, WEFT__TAG_NAMED);
    for (uint32_t rank = 0; rank < shard->map.ranks; rank++)
        if (rank != shard->map.rank && n->out[rank].count != 0)
            weft__round_expect(&n->answered, rank);
    n->failure = (uint64_t)result;
    const weft__bytes failure = {.at = (unsigned char *)&n->failure, .count = sizeof n->failure};
    for (uint32_t i = 0; i < n->asked.letter_count; i++) {
        const weft__letter *letter = &n->asked.letters[i];
        weft__round_send(&n->answered, letter->from, result == WEFT_OK ? &letter->bytes : &failure);
    }
    const weft_result waited = weft__round_wait(&n->answered);
    if (result == WEFT_OK) result = take_gids(shard, shard->map.rank, &n->out[shard->map.rank]);
    for (uint32_t i = 0; i < n->answered.letter_count; i++) {
        const weft__letter *letter = &n->answered.letters[i];
        const weft_result taken = take_gids(shard, letter->from, &letter->bytes);
        if (result == WEFT_OK) result = taken;
    }
    return waited == WEFT_OK ? result : waited;
}

/* Gives gids to the new ones of the list: in the world and in the list. Collective. `result`: what
 * this rank has met so far. Where a rank has an error, all ask nothing and return the same one. A
 * rank that cannot answer says so to those that asked, which have its error then: not yet all.
 * Errors: UNSUPPORTED, OUT_OF_MEMORY, LIMIT, IO. */
static weft_result newborn_name(weft_shard *shard, mover_list *list, weft_result result)
{
    naming *n = shard->naming;
    weft_result own;
    n->list = list;
    if (result == WEFT_OK) result = hash_all(shard, n);
    result = ask(shard, n, result, &own);
    if (result == WEFT_OK && shard->has_references) result = ask_again(shard, n, &own);
    if (result != WEFT_OK) return result; /* of all ranks */
    if (own == WEFT_OK) own = give_gids(shard, n);
    return answer(shard, n, own);
}

/* ---- memory ---- */

/* The memory of namings, as long as the shard. False: it was refused. */
static bool naming_make(weft_shard *shard)
{
    naming *n = shard->naming = calloc(1, sizeof *n);
    if (n != NULL) n->out = calloc(shard->map.ranks, sizeof *n->out);
    return n != NULL && n->out != NULL && weft__round_make(&n->asked, shard->map.ranks - 1) &&
           weft__round_make(&n->answered, shard->map.ranks - 1);
}

/* Gives back what grows with the rows that are new. */
static void naming_shrink(weft_shard *shard)
{
    naming *n = shard->naming;
    for (uint32_t rank = 0; n->out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&n->out[rank]);
    free(n->requests);
    n->requests = NULL;
    n->capacity = 0;
    weft__newborns_free(&n->newborns);
    weft__round_shrink(&n->asked);
    weft__round_shrink(&n->answered);
}

static void naming_free(weft_shard *shard)
{
    naming *n = shard->naming;
    if (n == NULL) return;
    naming_shrink(shard);
    weft__round_free(&n->asked);
    weft__round_free(&n->answered);
    free(n->out);
    free(n);
    shard->naming = NULL;
}

/* ---- leaving and coming ---- */

#define KEPT_PAIRS 65536u /* memory for fewer movers is always kept */

/* Memory of syncs, used again by each. Owner: the shard. */
typedef struct weft__moving {
    mover_list list;
    weft__bytes *out; /* [rank] */
    weft__round round;
    weft__block *blocks;
    uint64_t block_capacity;
    uint32_t block_count;
    /* rows that came; after an error those that must leave, until they have */
    weft_entity *gone;
    uint64_t *gone_gids;
    uint64_t gone_capacity[2];
    uint32_t gone_count;
    bool is_back;     /* after an error: the rows of `out` must come back */
    bool has_failed;  /* the last sync, on all ranks */
    bool is_unpassed; /* observers have not passed what moved in it */
} moving;

/* ---- leaving ---- */

static weft_result write_movers(weft_shard *shard, moving *m)
{
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < m->list.count && result == WEFT_OK; begin = end) {
        const uint32_t rank = shard->map.rank_of[m->list.sectors[begin]];
        end = movers_to_rank(shard, &m->list, begin);
        if (rank == shard->map.rank) continue;
        result = movers_write(shard, &m->list, begin, end, &m->out[rank]);
        shard->stats.moved_bytes += m->out[rank].count;
    }
    return result;
}

/* Rows go to another rank: they leave the world. */
static weft_result take_leavers(weft_shard *shard, const weft_entity *entities,
                                const uint64_t *gids, uint32_t count)
{
    if (shard->has_references) return weft__stubs_leave(shard, entities, gids, count);
    const weft_result result = weft_entity_destroy_many(shard->world, entities, count);
    return result == WEFT_OK ? WEFT_OK : weft__ranks_fail(result, "rows cannot leave the world");
}

/* Rows [begin, end) stay on this rank and get their sector. */
static weft_result move_here(weft_shard *shard, const moving *m, uint32_t begin, uint32_t end)
{
    const mover_list *list = &m->list;
    weft_result result = WEFT_OK;
    shard->stats.rows_moved += end - begin;
    for (uint32_t next; begin < end && result == WEFT_OK; begin = next) {
        const uint32_t stored = weft__sector_stored(list->sectors[begin]);
        for (next = begin + 1; next < end; next++)
            if (list->sectors[next] != list->sectors[begin]) break;
        result = weft_entity_set_shared_many(shard->world, list->entities + begin, next - begin,
                                             shard->sector, &stored);
    }
    if (result == WEFT_OK) return WEFT_OK;
    return weft__ranks_fail(result, "rows cannot move: %s", weft_world_error(shard->world)->text);
}

static weft_result move_all(weft_shard *shard, const moving *m)
{
    const mover_list *list = &m->list;
    weft_result result = WEFT_OK;
    for (uint32_t begin = 0, end; begin < list->count && result == WEFT_OK; begin = end) {
        end = movers_to_rank(shard, list, begin);
        if (shard->map.rank_of[list->sectors[begin]] == shard->map.rank) {
            result = move_here(shard, m, begin, end);
            continue;
        }
        shard->stats.rows_left += end - begin;
        result = take_leavers(shard, list->entities + begin, list->gids + begin, end - begin);
    }
    return result;
}

/* ---- arriving ---- */

static weft_result read_blocks(weft_shard *shard, moving *m, const weft__bytes *bytes)
{
    weft__reader in = {bytes->at, bytes->at + bytes->count};
    weft_result result = WEFT_OK;
    while (in.at != in.end && result == WEFT_OK) {
        if (!weft__array_grow(&m->blocks, &m->block_capacity, m->block_count + UINT64_C(1),
                              sizeof *m->blocks))
            return weft__ranks_no_memory();
        result = weft__block_read(shard, &in, NULL, &m->blocks[m->block_count]);
        m->block_count += result == WEFT_OK;
    }
    return result;
}

static void free_blocks(moving *m)
{
    for (uint32_t i = 0; i < m->block_count; i++) weft__block_free(&m->blocks[i]);
    m->block_count = 0;
}

static bool reserve_gone(moving *m, uint64_t count)
{
    return weft__array_grow(&m->gone, &m->gone_capacity[0], count, sizeof *m->gone) &&
           weft__array_grow(&m->gone_gids, &m->gone_capacity[1], count, sizeof *m->gone_gids);
}

/* Reads what came: all that needs memory before a row moves, but for the world's. */
static weft_result read_letters(weft_shard *shard, moving *m)
{
    uint64_t rows = m->list.count;
    weft_result result = m->round.failed;
    for (uint32_t i = 0; i < m->round.letter_count && result == WEFT_OK; i++) {
        result = read_blocks(shard, m, &m->round.letters[i].bytes);
        shard->stats.received_bytes += m->round.letters[i].bytes.count;
    }
    for (uint32_t i = 0; i < m->block_count; i++) rows += m->blocks[i].count;
    if (result == WEFT_OK && !reserve_gone(m, rows)) result = weft__ranks_no_memory();
    return result;
}

/* Puts the rows of the blocks into the world, and notes them. */
static weft_result place_blocks(weft_shard *shard, moving *m)
{
    m->gone_count = 0;
    for (uint32_t i = 0; i < m->block_count; i++) {
        const weft__block *block = &m->blocks[i];
        if (block->count == 0) continue;
        memset(m->gone + m->gone_count, 0, block->count * sizeof *m->gone);
        memcpy(m->gone_gids + m->gone_count, block->gids, block->count * sizeof *m->gone_gids);
        m->gone_count += block->count;
    }
    if (m->gone_count == 0) return WEFT_OK;
    shard->stats.rows_arrived += m->gone_count;
    return weft__arrivals_place(shard, m->blocks, m->block_count, m->gone);
}

/* ---- after an error ---- */

/* What came goes, what left comes back. */
static void turn_back(const weft_shard *shard, moving *m)
{
    const mover_list *list = &m->list;
    m->is_back = true;
    for (uint32_t i = 0; i < list->count; i++) {
        if (shard->map.rank_of[list->sectors[i]] == shard->map.rank) continue;
        m->gone[m->gone_count] = list->entities[i];
        m->gone_gids[m->gone_count++] = list->gids[i];
    }
}

static weft_result take_out(weft_shard *shard, moving *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->gone_count; i++) {
        if (!weft_entity_is_alive(shard->world, m->gone[i])) continue;
        m->gone[count] = m->gone[i];
        m->gone_gids[count++] = m->gone_gids[i];
    }
    m->gone_count = count;
    const weft_result result =
        count != 0 ? take_leavers(shard, m->gone, m->gone_gids, count) : WEFT_OK;
    if (result == WEFT_OK) m->gone_count = 0;
    return result;
}

static weft_result settle(weft_shard *shard, moving *m)
{
    weft_result result = take_out(shard, m);
    for (uint32_t rank = 0; rank < shard->map.ranks && m->is_back && result == WEFT_OK; rank++)
        result = read_blocks(shard, m, &m->out[rank]);
    if (result == WEFT_OK && m->is_back) result = place_blocks(shard, m);
    free_blocks(m);
    if (result != WEFT_OK) return result;
    m->is_back = false;
    m->gone_count = 0;
    return WEFT_OK;
}

/* ---- memory ---- */

bool weft__moving_make(weft_shard *shard)
{
    moving *m = shard->moving = calloc(1, sizeof *m);
    if (m != NULL) m->out = calloc(shard->map.ranks, sizeof *m->out);
    return m != NULL && m->out != NULL && weft__round_make(&m->round, shard->map.ranks - 1) &&
           naming_make(shard);
}

/* Frees what grows with the rows that move. */
static void moving_shrink(const weft_shard *shard, moving *m)
{
    for (uint32_t rank = 0; m->out != NULL && rank < shard->map.ranks; rank++)
        weft__bytes_free(&m->out[rank]);
    free(m->blocks);
    free(m->gone);
    free(m->gone_gids);
    mover_list *list = &m->list;
    free(list->places);
    free(list->entities);
    free(list->gids);
    free(list->sectors);
    free(list->runs);
    free(list->rows);
    free(list->pairs);
    *list = (mover_list){0};
    weft__round_shrink(&m->round);
    *m = (moving){.out = m->out, .round = m->round, .has_failed = m->has_failed};
}

void weft__moving_free(weft_shard *shard)
{
    moving *m = shard->moving;
    if (m == NULL) return;
    moving_shrink(shard, m);
    naming_free(shard);
    weft__round_free(&m->round);
    free(m->out);
    free(m);
    shard->moving = NULL;
}

/* ---- deaths ----
 *
 * All ranks learn which rows died, in rounds: a death may make sources of relations die on other
 * ranks, whose deaths are the next round's. */

/* One round: this rank's residues end when all have ended their stubs. Collective. */
static weft_result deaths_tell(weft_shard *shard, moving *m, weft_result result)
{
    for (uint32_t rank = 0; rank < shard->map.ranks; rank++) {
        m->out[rank].count = 0;
        if (rank != shard->map.rank && !weft__deaths_list(shard, &m->out[rank]))
            result = weft__ranks_no_memory();
    }
    result = weft__mail_exchange(m->out, &m->round, WEFT__TAG_DEATHS, result);
    if (result == WEFT_OK) result = m->round.failed;
    for (uint32_t i = 0; i < m->round.letter_count && result == WEFT_OK; i++)
        result = weft__deaths_take(shard, &m->round.letters[i].bytes);
    result = weft_ranks_agree(result);
    return result == WEFT_OK ? weft__deaths_settle(shard) : result;
}

static uint64_t deaths_count(const weft_shard *shard)
{
    return shard->has_references ? weft_query_count(shard->world, shard->dead_query) : 0;
}

/* `count`: the deaths of the rank that has the most. Collective, and so is what it returns. */
static weft_result deaths_tell_all(weft_shard *shard, moving *m, uint64_t count)
{
    weft_result result = WEFT_OK;
    while (count != 0 && result == WEFT_OK) {
        result = deaths_tell(shard, m, result);
        uint64_t words[2] = {deaths_count(shard)};
        result = weft__ranks_agree_on(result, words);
        count = words[0];
    }
    return result;
}

/* ---- all of it ---- */

static weft_result observers_told(const weft_shard *shard, weft_result result)
{
    if (result == WEFT_OK) return WEFT_OK;
    return weft__ranks_fail(result, "observers: %s", weft_world_error(shard->world)->text);
}

/* What moved is no news to observers; where memory is refused the next sync begins with it. */
static weft_result pass_observed(const weft_shard *shard, moving *m)
{
    const weft_result result = weft__observers_pass(shard->world, shard->gid);
    m->is_unpassed = result != WEFT_OK;
    return observers_told(shard, result);
}

/* What was born and died until now is news to observers. */
static weft_result look_at_observed(const weft_shard *shard, moving *m)
{
    if (m->is_unpassed) return pass_observed(shard, m);
    return observers_told(shard, weft_observers_run(shard->world));
}

static uint64_t rows_exchanged(const weft_shard *shard)
{
    return shard->stats.rows_left + shard->stats.rows_arrived;
}

static weft_result sync(weft_shard *shard, moving *m, weft_result result)
{
    const bool is_observed = weft__observers_any(shard->world);
    if (result == WEFT_OK && is_observed) result = look_at_observed(shard, m);
    const uint64_t exchanged = rows_exchanged(shard);
    const weft_result settled = settle(shard, m);
    if (result == WEFT_OK) result = settled;
    for (uint32_t rank = 0; rank < shard->map.ranks && !m->is_back; rank++) m->out[rank].count = 0;
    m->list.count = 0;
    if (result == WEFT_OK) result = movers_collect(shard, &m->list);
    result = newborn_name(shard, &m->list, result);
    /* Errors that not all have go along with the counts of rows. */
    if (result == WEFT_OK) result = write_movers(shard, m);
    result = weft__mail_exchange(m->out, &m->round, WEFT__TAG_ROWS, result);
    if (result == WEFT_OK) result = read_letters(shard, m);
    const bool has_begun = result == WEFT_OK;
    if (result == WEFT_OK) result = move_all(shard, m);
    if (result == WEFT_OK) result = place_blocks(shard, m);
    if (result == WEFT_OK) result = weft__stubs_sweep(shard);
    free_blocks(m);
    const bool has_news = is_observed && exchanged != rows_exchanged(shard);
    if (result == WEFT_OK && has_news) result = pass_observed(shard, m);
    uint64_t words[2] = {shard->figures_asked, deaths_count(shard)};
    result = weft__ranks_agree_on(result, words);
    shard->figures_asked = words[0];
    if (has_begun && result != WEFT_OK) turn_back(shard, m);
    if (has_begun && result != WEFT_OK) (void)settle(shard, m);
    if (has_news && result != WEFT_OK) (void)pass_observed(shard, m); /* the error is told */
    if (result == WEFT_OK) m->gone_count = 0;
    return result == WEFT_OK ? deaths_tell_all(shard, m, words[1]) : result;
}

weft_result weft__rows_sync(weft_shard *shard, weft_result result)
{
    moving *m = shard->moving;
    result = sync(shard, m, result);
    m->has_failed = result != WEFT_OK;
    weft__shard_pin(shard);
    if (result != WEFT_OK) weft__packs_forget_sent(shard); /* what others have is not known */
    /* the first sync, in which all rows are new, needs far more memory than later ones */
    if (!m->is_back && m->list.pair_capacity > KEPT_PAIRS &&
        m->list.count < m->list.pair_capacity / 64)
        moving_shrink(shard, m), naming_shrink(shard);
    if (result == WEFT_OK) shard->keys_version = weft_world_advance_change_version(shard->world);
    return result;
}

weft_result weft__rows_resume(weft_shard *shard)
{
    return shard->moving->has_failed ? weft__rows_sync(shard, WEFT_OK) : WEFT_OK;
}
