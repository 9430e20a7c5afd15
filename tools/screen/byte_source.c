/* SPDX-License-Identifier: MIT */
/* byte_source.c: blocks of a file, and the CRC of POSIX `cksum` (polynomial 0x04C11DB7, the length
 * appended, complemented) over them.
 */
#include "byte_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint32_t crc_of_byte(uint32_t crc, uint8_t byte)
{
    static uint32_t table[256];
    if (table[1] == 0) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i << 24;
            for (int bit = 0; bit < 8; bit++) c = c & 0x80000000u ? c << 1 ^ 0x04C11DB7u : c << 1;
            table[i] = c;
        }
    }
    return crc << 8 ^ table[(crc >> 24 ^ byte) & 0xff];
}

uint32_t byte_source_cksum(const struct byte_source *source)
{
    uint32_t crc = source->crc;
    for (uint64_t rest = source->bytes; rest != 0; rest >>= 8)
        crc = crc_of_byte(crc, (uint8_t)(rest & 0xff));
    return ~crc;
}

int byte_source_open(struct byte_source *source, const char *path)
{
    struct stat status;
    *source = (struct byte_source){.is_after_newline = 1};
    source->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    if (!source->file) return -1;
    source->block = malloc(BYTE_SOURCE_BLOCK);
    int reason = source->block ? 0 : ENOMEM;
    if (fstat(fileno(source->file), &status) == 0 && S_ISDIR(status.st_mode)) reason = EISDIR;
    if (reason == 0) {
        if (byte_source_fill(source) && source->end - source->at >= 3 &&
            memcmp(source->at, "\xef\xbb\xbf", 3) == 0)
            source->at += 3;
        return 0;
    }
    byte_source_close(source);
    errno = reason;
    return -1;
}

void byte_source_memory(struct byte_source *source, const char *text, size_t size)
{
    *source = (struct byte_source){.at = text, .end = text + size, .is_after_newline = 1};
}

int byte_source_is_utf16(const struct byte_source *source)
{
    return source->end - source->at >= 2 &&
           (memcmp(source->at, "\xff\xfe", 2) == 0 || memcmp(source->at, "\xfe\xff", 2) == 0);
}

int byte_source_close(struct byte_source *source)
{
    int reason = 0;
    if (source->file && ferror(source->file)) reason = EIO;
    if (source->file && source->file != stdin) fclose(source->file);
    free(source->block);
    source->file = NULL;
    source->block = NULL;
    source->at = source->end = NULL;
    return reason;
}

int byte_source_fill(struct byte_source *source)
{
    if (!source->file) return 0;
    const size_t count = fread(source->block, 1, BYTE_SOURCE_BLOCK, source->file);
    for (size_t i = 0; i < count; i++)
        source->crc = crc_of_byte(source->crc, (uint8_t)source->block[i]);
    source->bytes += count;
    source->at = source->block;
    source->end = source->block + count;
    return count > 0;
}
