/* SPDX-License-Identifier: MIT */
/* test_bytes.c: what a writer puts a reader gets; refused memory and a short input are kept. */
#include "bytes.h"
#include "memory_bed.h"

#include <criterion/criterion.h>

Test(bytes, a_reader_gets_what_a_writer_put)
{
    bed b;
    bed_open(&b);
    weft__out out = {.memory = &b.memory};
    const size_t later = weft__out_later(&out);
    for (uint32_t i = 0; i < 1000; i++) {
        weft__out_u8(&out, (uint8_t)i);
        weft__out_u64(&out, UINT64_C(0x100000001) * i);
    }
    weft__out_text(&out, "text");
    weft__out_put(&out, NULL, 0);
    weft__out_now(&out, later, 1000);
    CHECK(!out.is_refused);
    CHECK_U64(out.count, 4 + 9000 + 4 + 4);
    weft__in in = {.at = out.at, .end = out.at + out.count};
    CHECK_U64(weft__in_u32(&in), 1000);
    CHECK(weft__in_has(&in, 1000, 9));
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_U64(weft__in_u8(&in), (uint8_t)i);
        CHECK_U64(weft__in_u64(&in), UINT64_C(0x100000001) * i);
    }
    CHECK_U64(weft__in_u32(&in), 4);
    CHECK(memcmp(weft__in_take(&in, 4), "text", 4) == 0);
    CHECK(!in.is_short);
    CHECK(in.at == in.end);
    weft__out_free(&out);
    CHECK_U64(out.count + out.capacity, 0);
    test_memory_fini(&b.hook);
}

Test(bytes, refused_memory_keeps_what_was_written_and_is_kept)
{
    bed b;
    bed_open(&b);
    weft__out out = {.memory = &b.memory};
    weft__out_u32(&out, 7);
    test_memory_fail(&b.hook, 1, false);
    char *space = weft__out_space(&out, 100);
    CHECK_POINTER(space, NULL);
    CHECK(out.is_refused);
    weft__out_u8(&out, 1); /* there was memory again */
    CHECK_POINTER(weft__out_room(&out, 1), NULL);
    weft__out_now(&out, weft__out_later(&out), 9);
    CHECK_U64(out.count, 4);
    weft__in in = {.at = out.at, .end = out.at + out.count};
    CHECK_U64(weft__in_u32(&in), 7);
    weft__out_free(&out);
    test_memory_fini(&b.hook);
}

Test(bytes, what_is_short_reads_as_zero_for_good)
{
    const char bytes[] = {1, 2, 3, 4, 5};
    weft__in in = {.at = bytes, .end = bytes + sizeof bytes};
    CHECK(weft__in_has(&in, 5, 1) && weft__in_has(&in, 0, UINT64_MAX));
    CHECK_U64(weft__in_u8(&in), 1);
    CHECK_U64(weft__in_u64(&in), 0);
    CHECK(in.is_short);
    CHECK_U64(weft__in_u8(&in), 0);
    CHECK_POINTER(weft__in_take(&in, 0), NULL);
    in = (weft__in){.at = bytes, .end = bytes + sizeof bytes};
    CHECK(!weft__in_has(&in, UINT64_MAX / 2, 3));
    CHECK(in.is_short);
}
