/* SPDX-License-Identifier: MIT */
/* everything_table.h: the lists of all ops_*.c.
 *
 * Made by CMake from the names of the files: everything_table.c. */
#ifndef WEFT_TOOLS_EVERYTHING_TABLE_H
#define WEFT_TOOLS_EVERYTHING_TABLE_H

#include "everything.h"

extern const everything_op *const everything_table[];

#endif
