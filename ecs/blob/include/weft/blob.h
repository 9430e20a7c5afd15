/* SPDX-License-Identifier: MIT */
/* blob.h: blob assets: immutable, relocatable trees of data that any thread reads freely.
 *
 * Public, and independent of worlds. A blob is one block of memory: a header, a root struct, and
 * the arrays, strings and objects that it refers to by self-relative offsets, so it is valid
 * wherever it lies (at a multiple of 64 bytes): copied, sent, mapped from a file. Its type
 * (weft_blob_type) lists the fields that are references: the builder refuses others, and
 * untrusted bytes are checked against it before use. Blobs live in a store, which counts
 * references and keeps one copy of equal content; components hold a weft_blob_ref. Examples:
 * docs/guide/blobs.md. Unless a function says otherwise: Threads: any; who reads a blob has a
 * reference to it.
 *
 * Code compiled with WEFT_CHECKED checks bounds, whatever the library was compiled with. */
#ifndef WEFT_BLOB_H
#define WEFT_BLOB_H

#include <weft/load_report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- limits ---- */
#define WEFT_BLOB_ALIGNMENT_MAX 64 /* largest alignment in a blob, and that of the block */
#define WEFT_BLOB_HEADER_BYTES 64  /* offset of the root in the block, in bytes */
#define WEFT_BLOB_DEPTH_MAX 256    /* most arrays within arrays */

/* ---- references inside a blob ----
 *
 * Never copy these by value: an offset counts from where the reference is (from its second byte, so
 * that 0 can mean "nothing" and a struct can still point to itself). */

/* An array of `count` elements. Invariant: offset == 0 exactly when count == 0. */
typedef struct weft_blob_array {
    int64_t offset;
    uint64_t count;
} weft_blob_array;

/* UTF-8 text of `bytes` bytes, and a NUL behind it that is not counted. The text may contain
 * NULs. */
typedef struct weft_blob_string {
    int64_t offset;
    uint64_t bytes;
} weft_blob_string;

/* One object of the same blob, or none (offset 0). */
typedef struct weft_blob_pointer {
    int64_t offset;
} weft_blob_pointer;

/* A field of a struct that refers to elements or to an object of a type. Only `untyped` holds a
 * value; `typed` carries the type. Example: WEFT_BLOB_ARRAY(float) prices; */
#define WEFT_BLOB_ARRAY(type)                                                                      \
    union {                                                                                        \
        weft_blob_array untyped;                                                                   \
        type *typed;                                                                               \
    }
#define WEFT_BLOB_POINTER(type)                                                                    \
    union {                                                                                        \
        weft_blob_pointer untyped;                                                                 \
        type *typed;                                                                               \
    }

/* ---- types ----
 *
 * Which fields of a struct are references. Constant data of the program. */

/* The kind of a reference. */
typedef enum weft_blob_kind {
    WEFT_BLOB_KIND_ARRAY = 1,
    WEFT_BLOB_KIND_STRING = 2,
    WEFT_BLOB_KIND_POINTER = 3,
} weft_blob_kind;

typedef struct weft_blob_type weft_blob_type;

/* One reference inside a struct. In nested structs the member is named by its path,
 * `.stats.values`. */
typedef struct weft_blob_field {
    uint32_t offset;           /* bytes from the start of the struct; multiple of 8 */
    uint32_t kind;             /* weft_blob_kind */
    uint32_t bytes, alignment; /* of an element or of the target */
    const weft_blob_type
        *type; /* of an element or of the target; NULL: plain data, no references */
} weft_blob_field;

/* The type of a struct. Everything it points to must outlive the stores and builders that use
 * it. */
struct weft_blob_type {
    const char *name; /* part of the type hash */
    uint32_t bytes, alignment;
    const weft_blob_field *fields; /* in order of offset */
    uint32_t field_count;
};

/* Initialisers of types and their fields.
 *   static const weft_blob_field market_fields[] = {WEFT_BLOB_FIELD_STRING(Market, symbol), ...};
 *   static const weft_blob_type market_type = WEFT_BLOB_TYPE(Market, market_fields);
 *   static const weft_blob_type plain_type = WEFT_BLOB_TYPE_PLAIN(Plain); */
#define WEFT_BLOB_FIELD_REFERENCE_(struct_type, member, kind, target)                              \
    {                                                                                              \
        offsetof(struct_type, member), kind, sizeof *((struct_type *)0)->member.typed,             \
            __alignof__(*((struct_type *)0)->member.typed), target                                 \
    }
#define WEFT_BLOB_FIELD_ARRAY(struct_type, member, element)                                        \
    WEFT_BLOB_FIELD_REFERENCE_(struct_type, member, WEFT_BLOB_KIND_ARRAY, element)
#define WEFT_BLOB_FIELD_POINTER(struct_type, member, target)                                       \
    WEFT_BLOB_FIELD_REFERENCE_(struct_type, member, WEFT_BLOB_KIND_POINTER, target)
#define WEFT_BLOB_FIELD_STRING(struct_type, member)                                                \
    {                                                                                              \
        offsetof(struct_type, member), WEFT_BLOB_KIND_STRING, 1, 1, NULL                           \
    }
#define WEFT_BLOB_TYPE(struct_type, fields)                                                        \
    {                                                                                              \
#struct_type, sizeof(struct_type), __alignof__(struct_type), fields,                       \
            sizeof(fields) / sizeof((fields)[0])                                                   \
    }
#define WEFT_BLOB_TYPE_PLAIN(struct_type)                                                          \
    {                                                                                              \
#struct_type, sizeof(struct_type), __alignof__(struct_type), NULL, 0                       \
    }

/* The type of one weft_blob_string: for arrays of strings and pointers to strings. Threads:
 * any (constant). */
WEFT_API_DATA extern const weft_blob_type weft_blob_string_type;

/* ---- reading ----
 *
 * Inline; unchecked code costs an addition. Pointers are valid as long as the blob. */

/* Private: prints the mistake and aborts, in checked programs: an index beyond an array, or access
 * through an unfinished array or a null reference. Threads: any. */
WEFT_API __attribute__((noreturn, cold)) void weft_blob_access_failed(const weft_blob_array *array,
                                                                      uint64_t index);

/* Element `index` of an array; index == count is allowed in unchecked code only. */
static inline const void *weft_blob_array_at(const weft_blob_array *array, uint64_t index,
                                             size_t element_bytes)
{
#ifdef WEFT_CHECKED
    if (index >= array->count) weft_blob_access_failed(array, index);
#endif
    return (const void *)((uintptr_t)array + 1u + (uintptr_t)array->offset + index * element_bytes);
}

/* The text, NUL-terminated; "" for an empty string. */
static inline const char *weft_blob_string_text(const weft_blob_string *string)
{
    return string->bytes == 0 ? ""
                              : (const char *)((uintptr_t)string + 1u + (uintptr_t)string->offset);
}

/* The target, or NULL. */
static inline const void *weft_blob_pointer_target(const weft_blob_pointer *pointer)
{
    return pointer->offset == 0
               ? NULL
               : (const void *)((uintptr_t)pointer + 1u + (uintptr_t)pointer->offset);
}

/* Typed reading: `array` and `pointer` are addresses of WEFT_BLOB_ARRAY and WEFT_BLOB_POINTER
 * fields.
 */
#define WEFT_BLOB_COUNT(array) ((array)->untyped.count)
#define WEFT_BLOB_AT(array, index)                                                                 \
    ((const __typeof__(*(array)->typed) *)weft_blob_array_at(&(array)->untyped, (index),           \
                                                             sizeof *(array)->typed))
/* All elements as a plain array (no checks); NULL when empty. Evaluates `array` twice. */
#define WEFT_BLOB_DATA(array)                                                                      \
    ((const __typeof__(*(array)->typed) *)(WEFT_BLOB_COUNT(array) == 0                             \
                                               ? NULL                                              \
                                               : weft_blob_array_at(&(array)->untyped, 0, 0)))

/* The target of a WEFT_BLOB_POINTER field, or NULL; `pointer` is the address of the field. */
#define WEFT_BLOB_TARGET(pointer)                                                                  \
    ((const __typeof__(*(pointer)->typed) *)weft_blob_pointer_target(&(pointer)->untyped))

/* ---- stores ---- */

/* Owns blobs, counts references, and keeps one copy of equal content. */
typedef struct weft_blob_store weft_blob_store;

/* A reference to a blob, fit for components: 8 bytes, zero is null. Copies are not counted. It
 * holds a slot, its generation and the number of its store, not an address: stale references and
 * those of another store are refused (numbers of stores repeat after 65,535). Its bits differ
 * from store to store: describe the field (WEFT_FIELD_BLOB), and hashes and files use the blob
 * instead. */
typedef struct weft_blob_ref {
    uint64_t id;
} weft_blob_ref;

/* Whether the pages of blobs are read-only. */
typedef enum weft_blob_protection {
    WEFT_BLOB_PROTECT_CHECKED = 0, /* read-only pages when the library is a checked build */
    WEFT_BLOB_PROTECT_ALWAYS = 1,  /* a write to a blob is a SIGSEGV; costs whole pages per blob */
    WEFT_BLOB_PROTECT_NEVER = 2,
} weft_blob_protection;

/* Describes a store. Zero means default. Copied. */
typedef struct weft_blob_store_desc {
    weft_allocator allocator;
    const weft_os *os;
    uint32_t protection; /* weft_blob_protection */
} weft_blob_store_desc;

/* Counts of a store. */
typedef struct weft_blob_store_stats {
    uint64_t blob_count, block_bytes; /* alive now */
    uint64_t shared_count;            /* insertions that found equal content already there */
    uint32_t builders;                /* not destroyed yet */
} weft_blob_store_stats;

/* What a store knows of a blob. */
typedef struct weft_blob_info {
    const void *block;     /* the whole blob; its bytes may be copied anywhere */
    uint64_t block_bytes;  /* its size */
    uint64_t type_hash;    /* of the whole type description */
    uint64_t content_hash; /* of all other bytes */
    uint32_t reference_count;
    bool is_mapped; /* lies in a mapped file */
} weft_blob_info;

/* Creates a store, which the caller destroys. `desc` may be NULL (all defaults). Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY, LIMIT (65,535 stores are alive in the process, or that many
 * had 65,535 blobs in one slot, one after the other). Threads: any. */
WEFT_API weft_result weft_blob_store_create(const weft_blob_store_desc *desc,
                                            weft_blob_store **out);

/* Frees the store and every blob in it, referenced or not. NULL is fine. BUSY, and nothing happens,
 * while it has builders, and for the store of a world (weft_world_blobs), which ends with the
 * world; weft_blob_store_error says which. Threads: holder. */
WEFT_API weft_result weft_blob_store_destroy(weft_blob_store *store);

/* Counts of a store. `out_bytes`: sizeof *out. Threads: any. */
WEFT_API weft_result weft_blob_store_stats_get(weft_blob_store *store, weft_blob_store_stats *out,
                                               size_t out_bytes);

/* The last failure of the store in any thread, and so a copy: why it refused a type or a blob of a
 * builder, why weft_blob_save failed, why it was BUSY. Code WEFT_OK when nothing failed. Loads have
 * a report of their own (weft_blob_load_desc). Threads: any. */
WEFT_API void weft_blob_store_error(weft_blob_store *store, weft_error *out);

/* Adds a reference. Errors: BAD_HANDLE (stale), LIMIT (2^32 - 1 references). The caller has
 * one. Threads: any. */
WEFT_API weft_result weft_blob_acquire(weft_blob_store *store, weft_blob_ref ref);

/* Gives a reference back; the last one frees the blob (unmaps its file). Readers must hold a
 * reference of their own, or have finished. Errors: BAD_HANDLE (already freed). Threads: any. */
WEFT_API weft_result weft_blob_release(weft_blob_store *store, weft_blob_ref ref);

/* The root of a blob. NULL for a null, released or forged reference, one of another store, or a
 * type other than `type` (NULL: any type). Threads: any. Cost: 4 ns, more when `type` is an
 * equal description at another address: resolve once per slice or entity, not per element. */
WEFT_API const void *weft_blob_read(const weft_blob_store *store, weft_blob_ref ref,
                                    const weft_blob_type *type);

/* Size, hashes and references of a blob. `out_bytes`: sizeof *out. Errors: BAD_HANDLE (stale).
 * Threads: any. */
WEFT_API weft_result weft_blob_info_get(const weft_blob_store *store, weft_blob_ref ref,
                                        weft_blob_info *out, size_t out_bytes);

/* ---- building ----
 *
 * A builder makes one blob. Any threads may fill memory that it has handed out until
 * weft_blob_builder_finish. The first error is kept and returned by every later call. A finished
 * builder builds no more (WRONG_PHASE). */

/* Builds one blob. */
typedef struct weft_blob_builder weft_blob_builder;

/* Begins a blob. `root_type` must outlive the store. With `capacity_bytes` (0: unknown) of the
 * final size (block_bytes), or up to a tenth more, a blob of 16 KiB or more is made in place,
 * without a copy; in a store with read-only pages never. INVALID_ARGUMENT (also a type that
 * cannot be: weft_blob_store_error says what is wrong with which field), LIMIT, OUT_OF_MEMORY.
 * Threads: any; the builder belongs to one thread at a time. */
WEFT_API weft_result weft_blob_builder_create(weft_blob_store *store,
                                              const weft_blob_type *root_type,
                                              uint64_t capacity_bytes, weft_blob_builder **out);

/* Frees the builder; a finished blob stays. NULL is ignored. Threads: holder. */
WEFT_API void weft_blob_builder_destroy(weft_blob_builder *builder);

/* The root struct, zeroed; NULL after finish. Threads: holder. */
WEFT_API void *weft_blob_builder_root(weft_blob_builder *builder);

/* The error that is kept, the first one: never NULL; code WEFT_OK without one. Threads: holder. */
WEFT_API const weft_error *weft_blob_builder_error(const weft_blob_builder *builder);

/* Gives an array field `count` elements, zeroed, and returns them: the handle through which nested
 * fields are reached until finish (the field itself reads as empty until then). `array` must lie in
 * memory of this builder, at an array field of its type: copies on the stack and reaching through
 * an unfinished field are refused. NULL on error: INVALID_ARGUMENT, ALREADY_EXISTS (given before),
 * LIMIT (2^62 bytes, depth 256), OUT_OF_MEMORY. count 0 is fine: it leaves the array empty, and the
 * result may not be dereferenced. Threads: holder. */
WEFT_API void *weft_blob_builder_array(weft_blob_builder *builder, weft_blob_array *array,
                                       uint64_t count);

/* As weft_blob_builder_array, filled with a copy of `values` (plain data only): the fastest form.
 * Threads: holder. */
WEFT_API weft_result weft_blob_builder_copy(weft_blob_builder *builder, weft_blob_array *array,
                                            const void *values, uint64_t count);

/* Sets a string field to a copy of UTF-8 text of any length. INVALID_ARGUMENT also when it is not
 * UTF-8. Threads: holder. */
WEFT_API weft_result weft_blob_builder_string(weft_blob_builder *builder, weft_blob_string *string,
                                              const char *text, uint64_t bytes);

/* Makes a zeroed object, sets the pointer field to it, and returns it. Threads: holder. */
WEFT_API void *weft_blob_builder_object(weft_blob_builder *builder, weft_blob_pointer *pointer);

/* Sets a pointer field to a target in this blob: itself, the root, an element or a member of the
 * right type; NULL makes it null. Pointers may share a target. A later call replaces the target.
 * Threads: holder. */
WEFT_API weft_result weft_blob_builder_point(weft_blob_builder *builder, weft_blob_pointer *pointer,
                                             const void *target);

/* Ends building: `out` gets a reference (to the equal blob that exists already, if there is
 * one). Memory handed out is gone. Equal calls make equal bytes, whatever the capacity or the
 * addresses; padding is zero unless you wrote it. INVALID_ARGUMENT also when a reference holds
 * what the caller wrote there (weft_blob_builder_error says which, and where). On failure
 * nothing changes and it can be called again, unless an error was kept. Cost: the bytes once
 * (hash), twice without capacity, and every reference once. Threads: holder. */
WEFT_API weft_result weft_blob_builder_finish(weft_blob_builder *builder, weft_blob_ref *out);

/* Typed building: `array` and `pointer` are addresses of WEFT_BLOB_ARRAY and WEFT_BLOB_POINTER
 * fields. */
#define WEFT_BLOB_BUILD_ARRAY(builder, array, count)                                               \
    ((__typeof__((array)->typed))weft_blob_builder_array((builder), &(array)->untyped, (count)))
#define WEFT_BLOB_BUILD_COPY(builder, array, values, count)                                        \
    weft_blob_builder_copy((builder), &(array)->untyped, true ? (values) : (array)->typed, (count))
#define WEFT_BLOB_BUILD_OBJECT(builder, pointer)                                                   \
    ((__typeof__((pointer)->typed))weft_blob_builder_object((builder), &(pointer)->untyped))
#define WEFT_BLOB_BUILD_POINT(builder, pointer, target)                                            \
    weft_blob_builder_point((builder), &(pointer)->untyped, true ? (target) : (pointer)->typed)

/* ---- bytes and files ----
 *
 * The file form is the block itself (little-endian). */

/* How a file is loaded. */
typedef enum weft_blob_load_mode {
    WEFT_BLOB_LOAD = 0, /* reads the file into memory and validates */
    /* Maps the file read-only and validates. The file must not be shortened while mapped (SIGBUS);
     * weft_blob_save never does: it replaces the file. */
    WEFT_BLOB_MAP = 1,
    /* Maps without validating the content, in microseconds: only for files that you wrote
     * yourself. */
    WEFT_BLOB_MAP_TRUSTED = 2,
} weft_blob_load_mode;

/* Writes the blob to a new file, syncs it and renames it over `path`: after a crash or an error
 * the file is the old or the new one, complete. Only regular files are replaced; others are
 * refused with IO. A symbolic link stays; the file it leads to is replaced (IO when it leads
 * nowhere). weft_blob_info_get gives the bytes for other destinations; weft_blob_adopt reads
 * them. Errors: INVALID_ARGUMENT, BAD_HANDLE, IO, BUSY (16 others write to this path now);
 * weft_blob_store_error says why. Threads: any. */
WEFT_API weft_result weft_blob_save(weft_blob_store *store, weft_blob_ref ref, const char *path);

/* What is loaded, and how. `type` is required; zero means default for the others. */
typedef struct weft_blob_load_desc {
    const weft_blob_type *type; /* must outlive the store */
    uint32_t mode;              /* weft_blob_load_mode; weft_blob_adopt always copies and checks */
    weft_load_report *report;   /* NULL: not wanted; filled by every call */
    size_t report_bytes;        /* sizeof *report */
} weft_blob_load_desc;

/* Loads a blob of a type from a file. Errors (desc->report says which check, and where):
 * INVALID_ARGUMENT (also an invalid type), NOT_FOUND, IO, CORRUPT, UNSUPPORTED (other version or
 * byte order), TYPE_MISMATCH, LIMIT, OUT_OF_MEMORY. Threads: any. */
WEFT_API weft_result weft_blob_load(weft_blob_store *store, const char *path,
                                    const weft_blob_load_desc *desc, weft_blob_ref *out);

/* Makes a blob from a copy of `bytes` untrusted bytes at any address. Errors: as weft_blob_load,
 * except NOT_FOUND and IO. Threads: any. */
WEFT_API weft_result weft_blob_adopt(weft_blob_store *store, const void *block, uint64_t bytes,
                                     const weft_blob_load_desc *desc, weft_blob_ref *out);

/* Checks bytes at a multiple of 64: header, content hash, and that every reference that `type`
 * can reach stays inside, aligned, at data of its type; arrays are a tree (no cycles, no
 * sharing, bounded depth); text is UTF-8. Cycles of pointers are legal. When it returns WEFT_OK
 * the root at block + WEFT_BLOB_HEADER_BYTES may be used. Iterative, no allocation. `report` may
 * be NULL; `report_bytes`: sizeof *report. Errors: as weft_blob_adopt. Threads: any. Cost: in
 * proportion to the bytes. */
WEFT_API weft_result weft_blob_validate(const void *block, uint64_t bytes,
                                        const weft_blob_type *type, weft_load_report *report,
                                        size_t report_bytes);

#ifdef __cplusplus
}
#endif
#endif
