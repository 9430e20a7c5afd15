/* SPDX-License-Identifier: MIT */
/* test_utf8.c: which bytes are UTF-8, and what becomes of text in JSON. */
#include "check.h"
#include "utf8.h"

#include <criterion/criterion.h>
#include <string.h>

/* The bytes of a code point, whether it may be encoded or not. */
static uint64_t encode(uint32_t code, unsigned char out[4])
{
    const uint32_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (uint32_t i = bytes; i-- > 1; code >>= 6) out[i] = (unsigned char)(0x80 | (code & 0x3F));
    out[0] = (unsigned char)(lead[bytes] | code);
    return bytes;
}

Test(utf8, every_code_point_but_surrogates_and_those_too_high_is_a_sequence)
{
    for (uint32_t code = 0; code < 0x120000; code++) {
        unsigned char text[4] = {0};
        const uint64_t bytes = encode(code, text);
        const bool is_one = code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
        CHECK_U64(weft__utf8_sequence(text, bytes), is_one ? bytes : 0);
        for (uint64_t left = 1; left < bytes; left++) CHECK_U64(weft__utf8_sequence(text, left), 0);
    }
}

Test(utf8, longer_forms_than_needed_and_stray_bytes_are_none)
{
    static const char *const wrong[] = {
        "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xE0\x9F\xBF",
        "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF5\x80\x80\x80", "\xFF",
        "\xC3(",        "\xE2\x82("};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_U64(weft__utf8_sequence((const unsigned char *)wrong[i], strlen(wrong[i])), 0);
}

Test(utf8, a_text_is_cut_between_characters)
{
    const char text[] = "a\xC3\xA9\xF0\x9F\x9B\xB0z"; /* 1, 2, 4 and 1 bytes */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 3, 7, 8, 8};
    for (size_t most = 0; most < 10; most++) CHECK_U64(weft__utf8_cut(text, 8, most), kept[most]);
}

static void check_json(const char *text, const char *expected)
{
    char all[256] = "", piece[WEFT__JSON_PIECE_BYTES];
    while (*text) {
        text = weft__json_piece(text, piece);
        strcat(all, piece);
    }
    CHECK_TEXT(all, expected);
}

Test(utf8, text_in_json_is_escaped_and_never_anything_but_utf8)
{
    check_json("a\"b\\c\n\x7f", "a\\\"b\\\\c\\u000a\\u007f");
    check_json("\xC3\xA9 \xF0\x9F\x8C\x8D", "\xC3\xA9 \xF0\x9F\x8C\x8D");
    check_json("caf\xE9", "caf\\ufffd");
    check_json("\xE2\x82", "\\ufffd\\ufffd");
    check_json("\xFF\xC3\xA9", "\\ufffd\xC3\xA9");
}
