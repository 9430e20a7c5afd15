/* SPDX-License-Identifier: MIT */
/* type.h: descriptions of types: their fields with kinds, units, ranges and texts; constants,
 * initial values, checks; paths to fields.
 *
 *   typedef struct Orbit { double mean_motion; float drag[3]; Phase phase; } Orbit;
 *   static const weft_field orbit_fields[] = {
 *       WEFT_FIELD_WITH(Orbit, mean_motion, .unit = "rad/min", .text = "Revolutions"),
 *       WEFT_FIELD(Orbit, drag),
 *       WEFT_FIELD_OF(Orbit, phase, WEFT_FIELD_ENUM, &phase_type)};
 *   static const weft_type orbit_type = WEFT_TYPE(Orbit, orbit_fields);
 *
 * Public. Constant data of the program, registered with a component (weft_component_desc.type) or
 * used alone; an entity has nothing more for it. Text, files, inspection and hashes read them
 * (value.h). Everything that a description points to must outlive what uses it. Threads: any. */
#ifndef WEFT_TYPE_H
#define WEFT_TYPE_H

#include <weft/blob.h>
#include <weft/component.h>

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif

/* ---- kinds ---- */

/* What a described field holds. */
typedef enum weft_field_kind {
    WEFT_FIELD_BYTES, /* not described: shown as its bytes */
    WEFT_FIELD_BOOL,
    WEFT_FIELD_I8,
    WEFT_FIELD_I16,
    WEFT_FIELD_I32,
    WEFT_FIELD_I64,
    WEFT_FIELD_U8,
    WEFT_FIELD_U16,
    WEFT_FIELD_U32,
    WEFT_FIELD_U64,
    WEFT_FIELD_F32,
    WEFT_FIELD_F64,
    WEFT_FIELD_ENTITY, /* patched when deferred handles become real and on instantiate; hashed and
                          saved without the tag of the world */
    WEFT_FIELD_BLOB,   /* a weft_blob_ref; hashed and saved by the content of the blob */
    /* The following need `type`, or are for weft_type only. */
    WEFT_FIELD_STRUCT,       /* `type` has the fields */
    WEFT_FIELD_ENUM,         /* an integer of 1, 2, 4 or 8 bytes; `type` has the constants */
    WEFT_FIELD_BITS,         /* the same, a union of constants */
    WEFT_FIELD_TEXT,         /* char[n]: UTF-8, ended by a NUL or by the array */
    WEFT_FIELD_BLOB_ARRAY,   /* weft_blob_array inside a blob; `type`: of the elements */
    WEFT_FIELD_BLOB_STRING,  /* weft_blob_string inside a blob */
    WEFT_FIELD_BLOB_POINTER, /* weft_blob_pointer inside a blob; `type`: of the target */
} weft_field_kind;

/* A row of each kind, in the order above: X(name, word, number, bytes, class, numpy). Everything
 * that goes by kind is made of it, in programs too. `word`: in texts; `number`: in files and
 * hashes of layouts, constant for ever, 255 for what components do not hold as it is; `bytes` of
 * one element, 0: those of its type; kinds of a class differ in size only; `numpy`: "": none. */
#define WEFT_FIELD_KINDS(X)                                                                        \
    X(BYTES, "bytes", 0, 1, BYTES, "")                                                             \
    X(BOOL, "bool", 1, 1, BOOL, "b1")                                                              \
    X(I8, "i8", 2, 1, SIGNED, "i1")                                                                \
    X(I16, "i16", 3, 2, SIGNED, "i2")                                                              \
    X(I32, "i32", 4, 4, SIGNED, "i4")                                                              \
    X(I64, "i64", 5, 8, SIGNED, "i8")                                                              \
    X(U8, "u8", 6, 1, UNSIGNED, "u1")                                                              \
    X(U16, "u16", 7, 2, UNSIGNED, "u2")                                                            \
    X(U32, "u32", 8, 4, UNSIGNED, "u4")                                                            \
    X(U64, "u64", 9, 8, UNSIGNED, "u8")                                                            \
    X(F32, "f32", 10, 4, REAL, "f4")                                                               \
    X(F64, "f64", 11, 8, REAL, "f8")                                                               \
    X(ENTITY, "entity", 12, 8, ENTITY, "")                                                         \
    X(BLOB, "blob", 13, 8, BLOB, "")                                                               \
    X(STRUCT, "struct", 255, 0, STRUCT, "")                                                        \
    X(ENUM, "enum", 255, 0, ENUM, "")                                                              \
    X(BITS, "bits", 255, 0, BITS, "")                                                              \
    X(TEXT, "text", 255, 1, TEXT, "")                                                              \
    X(BLOB_ARRAY, "blob array", 255, 16, IN_BLOB, "")                                              \
    X(BLOB_STRING, "blob string", 255, 16, IN_BLOB, "")                                            \
    X(BLOB_POINTER, "blob pointer", 255, 8, IN_BLOB, "")

/* What tools should know of a field. */
typedef enum weft_field_flags {
    WEFT_FIELD_READ_ONLY = 1 << 0, /* tools show it and do not edit it */
    WEFT_FIELD_HIDDEN = 1 << 1,    /* tools do not show it; text and files have it */
    WEFT_FIELD_COLOUR = 1 << 2,    /* 3 or 4 numbers, red first */
} weft_field_flags;

/* ---- descriptions ---- */

#define WEFT_TYPE_DEPTH 8       /* most types within types */
#define WEFT_TYPE_LEAVES 65536u /* most values that one type is made of */
#define WEFT_TYPE_FIELDS 1024   /* most fields of one struct */

typedef struct weft_type weft_type;

/* A field. Zero means absent. The only field of a type may have the name "": it is the value
 * itself, for components that are a number, and for elements of arrays. */
typedef struct weft_field {
    const char
        *name; /* UTF-8 up to 255 bytes, no . [ ] " \ and no control characters; unique in the
                         type. A component holds paths, of 255 bytes at most, too */
    weft_field_kind kind;
    uint32_t offset; /* bytes from the start of the struct */
    uint32_t count;  /* array length, of BYTES and TEXT in bytes; 0: `bytes` / size of one, or 1 */
    uint32_t bytes;  /* of the whole field; 0: what `count` says */
    const weft_type *type; /* STRUCT, ENUM, BITS, BLOB_ARRAY, BLOB_POINTER */
    const char *unit;      /* of numbers: "m", "rad/min", "kg m/s^2" */
    const char *text;      /* one sentence for people */
    double least, most;    /* the range of numbers, both included; equal: none */
    uint32_t flags;        /* weft_field_flags */
} weft_field;

/* A named value of an ENUM or of BITS. */
typedef struct weft_constant {
    const char *name; /* UTF-8, unique in the type; no '|', blank or quote, no digit first */
    int64_t value;
} weft_constant;

/* A struct (fields), or an integer with names (constants). */
struct weft_type {
    const char *name; /* 1..255 bytes of UTF-8 */
    size_t size, alignment;
    const weft_field *fields; /* of a struct, in any order */
    uint32_t field_count;
    const weft_constant *constants; /* of an ENUM or BITS; for BITS larger unions first */
    uint32_t constant_count;
    const void *initial; /* a value, for what a text or file leaves out; NULL: zero */
    /* Returns NULL, or why the value cannot be: "a must be below b". Called by any thread; it must
     * not touch a world. */
    const char *(*check)(const void *value);
};

/* Checks a description in full, nested types included. Errors: INVALID_ARGUMENT; LIMIT (deeper
 * than WEFT_TYPE_DEPTH, more than WEFT_TYPE_LEAVES or WEFT_TYPE_FIELDS); `error` (may be NULL)
 * names the field and says what to do. Cost: O(values that it is made of). */
WEFT_API weft_result weft_type_check(const weft_type *type, weft_error *error);

/* ---- paths ---- */

/* A value within a value: "drag[2]", "hull.plates[3].metal". Filled by the library; copies may be
 * kept. The fields that follow `private` are for reading. */
typedef struct weft_path {
    uint32_t step_count; /* private */
    struct {
        uint32_t field;
        uint32_t index;       /* UINT32_MAX: the field as a whole */
    } steps[WEFT_TYPE_DEPTH]; /* private */
    const weft_field *field;  /* the last one */
    uint32_t offset;          /* bytes from the start of the outermost value */
    uint32_t bytes;           /* of one element, or of the field as a whole */
    uint32_t count;           /* elements: 1, or those of an array named as a whole */
} weft_path;

/* Makes a path of its text. Errors: NOT_FOUND (no field of this name), INVALID_ARGUMENT (no path,
 * an index beyond the array, a field of what has none), LIMIT. `error` may be NULL. */
WEFT_API weft_result weft_path_parse(const weft_type *type, const char *path, weft_path *out,
                                     weft_error *error);

/* The text of a path; returns its length like snprintf; 0 when `type` or `path` is NULL. */
WEFT_API size_t weft_path_format(const weft_type *type, const weft_path *path, char *text,
                                 size_t capacity);

#ifdef __cplusplus
}
#endif

/* ---- short forms ---- */

#ifndef __cplusplus
/* Numbers by their C type; arrays decay to pointers, so these count as well, unless the field is a
 * pointer itself. Anything else is BYTES. */
#define WEFT_KIND_ROWS_(star, text)                                                                \
    _Bool star : WEFT_FIELD_BOOL,                                                                  \
                 signed char star : WEFT_FIELD_I8,                                                 \
                                    short star : WEFT_FIELD_I16,                                   \
                                                 int star : WEFT_FIELD_I32,                        \
                                                            long star : WEFT_KIND_LONG_(I),        \
                                                                        long long star             \
        : WEFT_FIELD_I64,                                                                          \
          unsigned char star : WEFT_FIELD_U8,                                                      \
                               unsigned short star : WEFT_FIELD_U16,                               \
                                                     unsigned star : WEFT_FIELD_U32,               \
                                                                     unsigned long star            \
        : WEFT_KIND_LONG_(U),                                                                      \
          unsigned long long star : WEFT_FIELD_U64,                                                \
                                    char star : text,                                              \
                                                float star : WEFT_FIELD_F32,                       \
                                                             double star : WEFT_FIELD_F64,         \
                                                                           weft_entity star        \
        : WEFT_FIELD_ENTITY,                                                                       \
          weft_blob_ref star : WEFT_FIELD_BLOB
#define WEFT_KIND_LONG_(sign) (sizeof(long) == 8 ? WEFT_FIELD_##sign##64 : WEFT_FIELD_##sign##32)
#define WEFT_KIND_POINTERS_                                                                        \
    _Bool ** : 1, signed char ** : 1, short ** : 1, int ** : 1, long ** : 1, long long ** : 1,     \
        unsigned char ** : 1, unsigned short ** : 1, unsigned ** : 1, unsigned long ** : 1,        \
        unsigned long long ** : 1, char ** : 1, float ** : 1, double ** : 1, weft_entity ** : 1,   \
        weft_blob_ref ** : 1
#define WEFT_KIND_(place)                                                                          \
    (_Generic(&(place), WEFT_KIND_POINTERS_, default : 0)                                          \
         ? WEFT_FIELD_BYTES                                                                        \
         : _Generic((place), WEFT_KIND_ROWS_(, WEFT_FIELD_I8),                                     \
                    WEFT_KIND_ROWS_(*, WEFT_FIELD_TEXT),                                           \
                    WEFT_KIND_MATRICES_(float, WEFT_FIELD_F32),                                    \
                    WEFT_KIND_MATRICES_(double, WEFT_FIELD_F64), weft_blob_string                  \
                    : WEFT_FIELD_BLOB_STRING, default                                              \
                    : WEFT_FIELD_BYTES))
#define WEFT_KIND_MATRICES_(number, kind)                                                          \
    number(*)[2] : kind, number(*)[3] : kind, number(*)[4] : kind
#define WEFT_KIND_OF_(struct_type, member) WEFT_KIND_(((struct_type *)0)->member)

/* A field with more than its kind: WEFT_FIELD_WITH(Orbit, mean_motion, .unit = "rad/min"). */
#define WEFT_FIELD_WITH(struct_type, member, ...)                                                  \
    {                                                                                              \
        .name = #member, .kind = WEFT_KIND_OF_(struct_type, member),                               \
        .offset = offsetof(struct_type, member), .bytes = sizeof(((struct_type *)0)->member),      \
        __VA_ARGS__                                                                                \
    }
#else
/* The same by overloads: numbers, and arrays of them. */
template <class T> constexpr weft_field_kind weft_kind_of_number()
{
    return std::is_same<T, bool>::value               ? WEFT_FIELD_BOOL
           : std::is_same<T, float>::value            ? WEFT_FIELD_F32
           : std::is_same<T, double>::value           ? WEFT_FIELD_F64
           : std::is_same<T, weft_entity>::value      ? WEFT_FIELD_ENTITY
           : std::is_same<T, weft_blob_ref>::value    ? WEFT_FIELD_BLOB
           : std::is_same<T, weft_blob_string>::value ? WEFT_FIELD_BLOB_STRING
           : std::is_same<T, char>::value             ? WEFT_FIELD_I8 // as in C, signed or not
           : !std::is_integral<T>::value              ? WEFT_FIELD_BYTES
           : std::is_signed<T>::value                 ? (sizeof(T) == 1   ? WEFT_FIELD_I8
                                                         : sizeof(T) == 2 ? WEFT_FIELD_I16
                                                         : sizeof(T) == 4 ? WEFT_FIELD_I32
                                                                          : WEFT_FIELD_I64)
           : sizeof(T) == 1                           ? WEFT_FIELD_U8
           : sizeof(T) == 2                           ? WEFT_FIELD_U16
           : sizeof(T) == 4                           ? WEFT_FIELD_U32
                                                      : WEFT_FIELD_U64;
}
template <class T> constexpr weft_field_kind weft_kind_of()
{
    using number = typename std::remove_cv<typename std::remove_all_extents<T>::type>::type;
    return std::is_array<T>::value && std::is_same<number, char>::value
               ? WEFT_FIELD_TEXT
               : weft_kind_of_number<number>();
}
#define WEFT_KIND_OF_(struct_type, member)                                                         \
    weft_kind_of<decltype(((struct_type *)nullptr)->member)>()

/* Adds to a field: weft_field_with(WEFT_FIELD(Orbit, drag)).unit("1/m").range(0, 1). */
struct weft_field_with : weft_field {
    constexpr explicit weft_field_with(const weft_field &field) : weft_field(field)
    {
    }
    constexpr weft_field_with with_unit(const char *value) const
    {
        weft_field_with copy = *this;
        copy.unit = value;
        return copy;
    }
    constexpr weft_field_with with_text(const char *value) const
    {
        weft_field_with copy = *this;
        copy.text = value;
        return copy;
    }
    constexpr weft_field_with with_range(double from, double to) const
    {
        weft_field_with copy = *this;
        copy.least = from;
        copy.most = to;
        return copy;
    }
};
#endif

/* A field with the kind that its C type says: numbers, entities, references to blobs, arrays of
 * them, text; anything else is BYTES. */
#define WEFT_FIELD(struct_type, member)                                                            \
    {                                                                                              \
#member, WEFT_KIND_OF_(struct_type, member), offsetof(struct_type, member), 0,             \
            sizeof(((struct_type *)0)->member), NULL, NULL, NULL, 0, 0, 0                          \
    }
/* A field of a described type: WEFT_FIELD_STRUCT, _ENUM, _BITS, _BLOB_ARRAY, _BLOB_POINTER. */
#define WEFT_FIELD_OF(struct_type, member, kind, described)                                        \
    {                                                                                              \
#member, kind, offsetof(struct_type, member), 0, sizeof(((struct_type *)0)->member),       \
            described, NULL, NULL, 0, 0, 0                                                         \
    }
#define WEFT_TYPE(struct_type, list)                                                               \
    {                                                                                              \
#struct_type, sizeof(struct_type), WEFT_ALIGNOF_(struct_type), list,                       \
            sizeof(list) / sizeof((list)[0]), NULL, 0, NULL, NULL                                  \
    }
#define WEFT_TYPE_CONSTANTS(integer_type, list)                                                    \
    {                                                                                              \
#integer_type, sizeof(integer_type), WEFT_ALIGNOF_(integer_type), NULL, 0, list,           \
            sizeof(list) / sizeof((list)[0]), NULL, NULL                                           \
    }

/* A struct and its description from one list:
 *   #define SAT_FIELDS(S, FIELD, ARRAY) FIELD(S, double, mean_motion) ARRAY(S, float, drag, 3)
 *   WEFT_STRUCT(Sat, SAT_FIELDS);
 * makes the struct Sat, Sat_fields and Sat_type. */
#define WEFT_STRUCT(name, list)                                                                    \
    typedef struct name {                                                                          \
        list(name, WEFT_STRUCT_FIELD_, WEFT_STRUCT_ARRAY_)                                         \
    } name;                                                                                        \
    static const weft_field name##_fields[] = {list(name, WEFT_STRUCT_ROW_, WEFT_STRUCT_ROWS_)};   \
    static const weft_type name##_type = WEFT_TYPE(name, name##_fields)
#define WEFT_STRUCT_FIELD_(name, type, member) type member;
#define WEFT_STRUCT_ARRAY_(name, type, member, length) type member[length];
#define WEFT_STRUCT_ROW_(name, type, member) WEFT_FIELD(name, member),
#define WEFT_STRUCT_ROWS_(name, type, member, length) WEFT_FIELD(name, member),

#endif
