/* SPDX-License-Identifier: MIT */
/* record.c: the end of records, and of outputs when the last record that has them ends. See
 * record.h. */
#include "record.h"

#include <math.h>

bool weft__scale_is_even(const float scale[3])
{
    const float most = 1e-5f * fabsf(scale[0]);
    return fabsf(scale[0] - scale[1]) <= most && fabsf(scale[0] - scale[2]) <= most;
}

void weft__output_release(weft__output *output, weft__memory *memory, weft_blob_store *blobs)
{
    if (output == NULL || --output->users != 0) return;
    for (uint32_t i = 0; i < output->blob_count; i++)
        weft_blob_release(blobs, output->blobs[i].ref);
    weft__free(memory, WEFT__MEMORY_OTHER, output, output->bytes, 1, 16);
}

void weft__record_free(weft__record *record, weft__memory *memory, weft_blob_store *blobs)
{
    weft__output_release(record->output, memory, blobs);
    weft__pile_free(&record->arena);
    weft__free(memory, WEFT__MEMORY_OTHER, record, 1, sizeof *record, 16);
}
