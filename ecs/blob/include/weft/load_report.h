/* SPDX-License-Identifier: MIT */
/* load_report.h: why the load of a world or a blob was refused.
 *
 * Public. One form for weft_world_load, weft_blob_load, their forms for memory and streams
 * (weft_load_desc.report, weft_blob_load_desc.report) and weft_blob_validate. */
#ifndef WEFT_LOAD_REPORT_H
#define WEFT_LOAD_REPORT_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reports of loads ---- */

/* Why a load was refused. */
typedef enum weft_load_reason {
    WEFT_LOAD_NOT_REFUSED = 0,
    WEFT_LOAD_CALL,         /* an argument, or the state of the world; nothing was read */
    WEFT_LOAD_SOURCE,       /* the file cannot be opened or read */
    WEFT_LOAD_NOT_WEFT,     /* the first bytes are not those of a world, or of a blob */
    WEFT_LOAD_BYTE_ORDER,   /* written on a machine of the other byte order */
    WEFT_LOAD_VERSION,      /* format version `found`; this library reads `expected` */
    WEFT_LOAD_TRUNCATED,    /* `found` bytes of `expected` */
    WEFT_LOAD_CHECKSUM,     /* the hash of the content is `found`, in the header `expected` */
    WEFT_LOAD_MALFORMED,    /* right by its checksum, but no valid world or blob */
    WEFT_LOAD_TYPE_UNKNOWN, /* a blob type, or a component with hooks, that the caller must give */
    WEFT_LOAD_TYPE_SIZE,    /* `type` has `found` bytes in the file, `expected` in this program */
    WEFT_LOAD_TYPE_LAYOUT,  /* `type` has the same size, but another alignment, kind, fields or
                               hooks; of a blob, whose file holds only a hash: any difference */
    WEFT_LOAD_LIMIT,        /* `found` bytes, bytes_max is `expected`; or a limit of the world */
    WEFT_LOAD_MEMORY,       /* out of memory */
} weft_load_reason;

/* What a load reports. Filled by every load; all zero when it succeeds. */
typedef struct weft_load_report {
    weft_result result;      /* what the call returned */
    weft_load_reason reason; /* decides what the other fields mean */
    uint64_t offset;         /* first byte that was refused, or where the bytes end: from the start
                                of the file, stream or block */
    uint64_t found;          /* as the reason says, else 0 */
    uint64_t expected;
    const char *check; /* what was looked at when bytes were refused: static text, else NULL */
    char type[256];    /* the component or blob type concerned, or "" */
    char text[640];    /* a sentence that says what is wrong and what to do */
} weft_load_report;

#ifdef __cplusplus
}
#endif
#endif
