/* SPDX-License-Identifier: MIT */
/* door.h: marks the private functions that libweft.so exports for the libraries beside it.
 *
 * libweft-scene, libweft-shard and libweft-inspect link libweft.so. A copy of the engine in one
 * of them would be a second engine in the process: its own hooks, its own thread-local state. So
 * what they call stands in libweft.so alone. These names begin with weft__ and are no part of
 * the interface: the libraries of one build belong together. The test platform.exports holds the
 * marks against what the libraries export. */
#pragma once

#ifndef WEFT__DOOR /* weft.c defines it as nothing: no other library calls into one file */
#define WEFT__DOOR __attribute__((visibility("default")))
#endif
