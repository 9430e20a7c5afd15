/* SPDX-License-Identifier: MIT */
/* load_refusal.c: the result that each reason of a refused load stands for, and the texts of the
 * checks of blobs. Texts of worlds are made where worlds are read, since they are also the world's
 * last error. */
#include "load_refusal.h"

#include <stdio.h>

weft_result weft__load_result(weft_load_reason reason)
{
    switch (reason) {
    case WEFT_LOAD_NOT_REFUSED:
        return WEFT_OK;
    case WEFT_LOAD_CALL:
        return WEFT_INVALID_ARGUMENT;
    case WEFT_LOAD_SOURCE:
        return WEFT_IO;
    case WEFT_LOAD_BYTE_ORDER:
    case WEFT_LOAD_VERSION:
        return WEFT_UNSUPPORTED;
    case WEFT_LOAD_TYPE_UNKNOWN:
    case WEFT_LOAD_TYPE_SIZE:
    case WEFT_LOAD_TYPE_LAYOUT:
        return WEFT_TYPE_MISMATCH;
    case WEFT_LOAD_LIMIT:
        return WEFT_LIMIT;
    case WEFT_LOAD_MEMORY:
        return WEFT_OUT_OF_MEMORY;
    case WEFT_LOAD_NOT_WEFT:
    case WEFT_LOAD_TRUNCATED:
    case WEFT_LOAD_CHECKSUM:
    case WEFT_LOAD_MALFORMED:
        break;
    }
    return WEFT_CORRUPT;
}

weft_load_reason weft__load_reason(weft_result result)
{
    if (result == WEFT_OK) return WEFT_LOAD_NOT_REFUSED;
    if (result == WEFT_OUT_OF_MEMORY) return WEFT_LOAD_MEMORY;
    if (result == WEFT_LIMIT) return WEFT_LOAD_LIMIT;
    if (result == WEFT_NOT_FOUND || result == WEFT_IO) return WEFT_LOAD_SOURCE;
    if (result == WEFT_CORRUPT) return WEFT_LOAD_MALFORMED;
    if (result == WEFT_TYPE_MISMATCH) return WEFT_LOAD_TYPE_LAYOUT;
    return WEFT_LOAD_CALL;
}

/* What to do, by reason; "": nothing more than the check says. */
static const char *advice_of(weft_load_reason reason)
{
    if (reason == WEFT_LOAD_BYTE_ORDER) return ": save it on a machine of the same byte order";
    if (reason == WEFT_LOAD_VERSION) return ": save it again with this version";
    if (reason == WEFT_LOAD_TYPE_LAYOUT) return ": load it with the type that it was built with";
    if (reason == WEFT_LOAD_TRUNCATED || reason == WEFT_LOAD_CHECKSUM)
        return ": the bytes are damaged, take another copy";
    return "";
}

weft_result weft__load_refuse(weft_load_report *report, weft_load_reason reason, uint64_t offset,
                              const char *check)
{
    const weft_result result = weft__load_result(reason);
    if (report == NULL) return result;
    *report =
        (weft_load_report){.result = result, .reason = reason, .offset = offset, .check = check};
    snprintf(report->text, sizeof report->text, "%s, at byte %llu%s", check,
             (unsigned long long)offset, advice_of(reason));
    return result;
}
