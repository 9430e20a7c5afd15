/* SPDX-License-Identifier: MIT */
/* random_world.h: random worlds with every kind of component at once, and what they hold, by which
 * two of them are compared wherever their rows and handles are.
 *
 * A component is a storage x a content x a flag. Values refer to entities, blobs and memory of
 * their own; entities have names, parents and a key, by which a digest knows them. A world may be
 * opened with other layouts of the structs (`is_grown`) and with its types in another order: what
 * a carrier brings there has the same digest. One thread. */
#ifndef WEFT_TESTS_RANDOM_WORLD_H
#define WEFT_TESTS_RANDOM_WORLD_H

#include "random.h"

#include <weft/blob.h>
#include <weft/shard.h>
#include <weft/weft.h>

typedef enum random_storage {
    STORED_PLAIN,
    STORED_SPARSE,
    STORED_SHARED,
    STORED_CHUNK,
    STORED_BUFFER,
    STORAGES
} random_storage;
typedef enum random_content {
    HOLDS_NOTHING,
    HOLDS_WORD,
    HOLDS_LINK,
    HOLDS_LINKS,
    HOLDS_BLOB,
    HOLDS_MIXED,
    HOLDS_TEXT,
    CONTENTS
} random_content;
typedef enum random_flag { FLAG_NONE, FLAG_BITS, FLAG_CLEANUP, FLAGS } random_flag;
enum { RANDOM_KINDS = STORAGES * CONTENTS * FLAGS, RANDOM_LEAVES = 6, RANDOM_ROWS = 800 };

/* How a world is opened. Zero: as the others. */
typedef struct random_world_desc {
    uint64_t order;  /* of its types: a seed; 0: as declared */
    bool is_grown;   /* structs have a later layout */
    bool has_shard;  /* of all ranks */
    bool is_program; /* with a shard: sectors move often, and checkpoints keep `tally` and `lamp` */
    bool keeps_nothing;         /* is_program: they do not */
    weft_target_death on_death; /* of what likes it; is_program */
} random_world_desc;

/* Owner: a test. */
typedef struct random_world {
    random_world_desc desc;
    weft_world *world;
    weft_shard *shard; /* NULL: none */
    weft_shard_info info;
    weft_component key, place, likes, parent, total, list;
    weft_component tally, lamp;      /* is_program: a resource, a mark: words */
    weft_component of[RANDOM_KINDS]; /* null: no such kind */
    weft_blob_ref leaves[RANDOM_LEAVES];
} random_world;

/* What one world holds, entity by entity, sorted by key. */
typedef struct random_record {
    uint64_t key, gid, name, likes, parent;
    uint64_t of[RANDOM_KINDS]; /* 0: it has none */
} random_record;
typedef struct random_digest {
    uint32_t count;
    uint64_t total, list; /* resources */
    random_record *records;
} random_digest;

static inline random_storage random_storage_of(uint32_t kind)
{
    return (random_storage)(kind / (CONTENTS * FLAGS));
}
static inline random_content random_content_of(uint32_t kind)
{
    return (random_content)(kind / FLAGS % CONTENTS);
}
static inline random_flag random_flag_of(uint32_t kind)
{
    return (random_flag)(kind % FLAGS);
}
const char *random_kind_name(uint32_t kind);

void random_world_open(random_world *w, const random_world_desc *desc);
void random_world_close(random_world *w);
/* Fills it with entities that have kinds which `takes` says, of which a seed has a few. With a
 * shard each rank makes some, wherever they belong. */
void random_world_fill(random_world *w, uint64_t seed, bool (*takes)(uint32_t kind));
/* Changes what there is: values, kinds, names, deaths. */
void random_world_change(random_world *w, uint64_t seed);

/* Whether there is such a kind. */
bool random_kind_is(uint32_t kind);
/* A value of a kind, whose references lead to some of `known`; its bytes. `out`: room for 128. */
size_t random_value_draw(random_world *w, uint32_t kind, test_random random, weft_entity *known,
                         uint32_t count, void *out);
/* What an entity has of a kind; 0: nothing. */
uint64_t random_kind_hash(const random_world *w, weft_entity entity, uint32_t kind);

/* `takes`: kinds that count; `with_resources`: these, too. With a shard references count as
 * gids, else as keys. */
random_digest random_digest_make(random_world *w, bool (*takes)(uint32_t kind),
                                 bool with_resources);
void random_digest_free(random_digest *digest);
/* Fails with what differs. */
void random_digest_compare(const char *carrier, const random_digest *is, const random_digest *was);
/* One number of it, which sums over ranks. */
uint64_t random_digest_sum(const random_digest *digest);

/* The content of the blob of a value in a text, and back: weft_value_io. `user`: a random_world. */
size_t random_blob_write(weft_blob_ref blob, char *text, size_t capacity, void *user);
const char *random_blob_read(const char *word, size_t length, weft_blob_ref *out, void *user);
extern const weft_blob_type *const random_blob_types[1];

#endif
