/* SPDX-License-Identifier: MIT */
/* byte_source.h: the bytes of a catalogue, one by one: from a file, standard input or memory, with
 * the place of the last one, and the checksum that the POSIX command `cksum` prints.
 */
#ifndef WEFT_SCREEN_BYTE_SOURCE_H
#define WEFT_SCREEN_BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { BYTE_SOURCE_BLOCK = 1 << 16 };

/* Owner: one reader. `line` and `column` are those of the last byte, from 1. */
struct byte_source {
    FILE *file; /* NULL: memory only */
    const char *at, *end;
    uint64_t line, bytes;
    uint32_t column, crc;
    int is_after_newline;
    char *block; /* [BYTE_SOURCE_BLOCK], owned; NULL: memory only */
};

/* Opens `path`; "-" is standard input. A byte order mark of UTF-8 is passed over. Returns 0, or
 * -1 with the reason in errno (EISDIR for a folder). */
int byte_source_open(struct byte_source *source, const char *path);
/* Reads `size` bytes of memory, which must stay. */
void byte_source_memory(struct byte_source *source, const char *text, size_t size);
/* Returns 0, or an errno when not all could be read. Standard input stays open. */
int byte_source_close(struct byte_source *source);

/* Whether there is a next byte; reads the next block when there is none left. */
int byte_source_fill(struct byte_source *source);

/* Whether the file begins with a byte order mark of UTF-16; before the first byte is taken. */
int byte_source_is_utf16(const struct byte_source *source);

/* The next byte, or EOF. */
static inline int byte_source_next(struct byte_source *source)
{
    if (source->at == source->end && !byte_source_fill(source)) return EOF;
    const unsigned char c = (unsigned char)*source->at++;
    source->line += source->is_after_newline ? 1 : 0;
    source->column = source->is_after_newline ? 1 : source->column + 1;
    source->is_after_newline = c == '\n';
    return c;
}

/* What `cksum` prints for the bytes read so far: the sum, and how many. */
uint32_t byte_source_cksum(const struct byte_source *source);

#endif
