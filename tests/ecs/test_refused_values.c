/* SPDX-License-Identifier: MIT */
/* test_refused_values.c: refused memory in the functions that read values without a world, which
 * ask the C library for it: see refused.h. */
#include "check.h"
#include "libc_fault.h"
#include "plain.h"
#include "refused.h"

#include <weft/value.h>

#include <string.h>

enum { ELEMENTS = 3000 };

typedef struct Table {
    uint32_t id;
    float elements[ELEMENTS];
} Table;
static const weft_field table_fields[] = {WEFT_FIELD(Table, id), WEFT_FIELD(Table, elements)};
static const weft_type table_type = WEFT_TYPE(Table, table_fields);

/* Owner: one run. */
typedef struct bed {
    Table table;
    char text[ELEMENTS * 4];
    weft_error error;
} bed;

static void *bed_open(const refused_place *place)
{
    static bed made;
    bed *b = &made;
    (void)place;
    memset(b, 0, sizeof *b);
    strcpy(b->text, "{\"id\": 7, \"elements\": [");
    for (uint32_t i = 0; i < ELEMENTS; i++) strcat(b->text, i == 0 ? "1" : ", 2");
    strcat(b->text, "]}");
    return b;
}

static void bed_close(void *open)
{
    (void)open;
}

static void bed_look(void *open, refused_look *out)
{
    const bed *b = open;
    refused_see(out, "id", b->table.id);
    refused_see(out, "first", b->table.elements[0] > 0);
    refused_see(out, "last", b->table.elements[ELEMENTS - 1] > 0);
}

static weft_result do_value(void *open)
{
    bed *b = open;
    return weft_value_parse(NULL, &(weft_text){b->text, strlen(b->text), NULL}, &table_type,
                            &b->table, &b->error);
}

static weft_result do_path(void *open)
{
    bed *b = open;
    weft_path path;
    const char *list = strchr(b->text, '[');
    CHECK_OK(weft_path_parse(&table_type, "elements", &path, NULL));
    return weft_path_value_parse(NULL, &(weft_text){list, strlen(list) - 1, NULL}, &table_type,
                                 &path, &b->table, &b->error);
}

static const refused_function functions[] = {
    {"weft_value_parse", do_value, 0, 0},
    {"weft_path_value_parse", do_path, 0, 0},
};

PLAIN_TEST(refused_texts_leave_the_value_as_before)
{
    const refused_bed swept = {.name = "a value",
                               .open = bed_open,
                               .close = bed_close,
                               .look = bed_look,
                               .functions = functions,
                               .function_count = 2,
                               .libc = test_libc_faults(),
                               .fewest = 2};
    refused_sweep(&swept);
}
