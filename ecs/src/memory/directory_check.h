/* SPDX-License-Identifier: MIT */
/* directory_check.h: the directory is looked at, and set, by statistics, snapshots, files, checks.
 *
 * World idle, unless said otherwise. */
#ifndef WEFT_DIRECTORY_CHECK_H
#define WEFT_DIRECTORY_CHECK_H

#include "directory.h"

/* Alive entities. Threads: any; exact while no thread allocates. */
uint64_t weft__directory_alive(const weft__directory *directory);
/* Sets the version of an index (both parities; one that is retired comes back): snapshots,
 * files, and tests of the wrap. World idle. The bit and count follow the parity. */
weft_result weft__directory_force(weft__directory *directory, uint32_t index, uint32_t version,
                                  uint32_t location);
/* Back to the beginning: no index was ever alive. World idle and without rows. */
void weft__directory_forget(weft__directory *directory);
/* Whether no index was ever alive. O(indices made). */
bool weft__directory_is_new(const weft__directory *directory);
/* Indices made so far: 0..end-1. */
uint32_t weft__directory_end(const weft__directory *directory);
/* Version of an index below the end. */
uint32_t weft__directory_version(const weft__directory *directory, uint32_t index);
/* Every invariant that holds while no thread allocates or frees. */
bool weft__directory_check(const weft__directory *directory, char *text, size_t text_bytes);

#endif
