/* SPDX-License-Identifier: MIT */
/* described.c: a described type: its values become text and back, with units, and errors that
 * show the place. */
#include <stdio.h>
#include <string.h>
#include <weft/type.h>
#include <weft/value.h>
#include <weft/weft.h>

typedef struct {
    double height;
    float spin[3];
} Craft;

static const weft_field craft_fields[] = {
    WEFT_FIELD_WITH(Craft, height, .unit = "m", .least = 0, .most = 1e9),
    WEFT_FIELD(Craft, spin),
};
static const weft_type craft_type = WEFT_TYPE(Craft, craft_fields);

static void read_craft(const char *text, Craft *craft)
{
    weft_error error;
    weft_text source = {text, strlen(text), "craft.weft"};
    if (weft_value_parse(NULL, &source, &craft_type, craft, &error) != WEFT_OK) puts(error.text);
}

int main(void)
{
    Craft craft = {0};
    char line[100];
    read_craft("{\"height\": \"400 km\", /* fields that are left out stay */}", &craft);
    weft_value_format(NULL, &craft_type, &craft, line, sizeof line);
    puts(line);
    read_craft("{\"height\": \"3 kg\"}", &craft);
}

/* prints:
 * {"height": 400000, "spin": [0, 0, 0]}
 * craft.weft:1:15: Craft.height: "kg" is a mass, the field a length (m)
 *     {"height": "3 kg"}
 *                   ^
 */
