/* SPDX-License-Identifier: MIT */
/* section_table.h: the table of a section: exports, late references, blobs, names.
 *
 * The thread of the crew that does piece 0 of a load, before the other pieces. */
#ifndef WEFT_SECTION_TABLE_H
#define WEFT_SECTION_TABLE_H

#include "stream_state.h"

/* Reads it into load->loaded, and makes the books of the lent blocks. */
void weft__section_table_fill(weft__load *load);

#endif
