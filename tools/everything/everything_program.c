/* SPDX-License-Identifier: MIT */
/* everything_program.c: the C program that a script becomes when e->out is set: what operations
 * say stands in main, one block a call; here are the texts of values and lists, and what stands
 * around. */
#include "everything_program.h"
#include "everything.h"
#include "systems.h"
#include "walk.h"

#include <stdarg.h>
#include <string.h>

void everything_says(everything *e, const char *format, ...)
{
    va_list list;
    if (e->out == NULL) return;
    fputs("        ", e->out);
    va_start(list, format);
    vfprintf(e->out, format, list);
    va_end(list);
    fputc('\n', e->out);
    fflush(e->out);
}

static uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* "e[7]"; of a deferred one "d[7]". */
static int entity_text(uint64_t number, char *out, size_t room)
{
    bool is_deferred = number >= EVERYTHING_DEFERRED;
    return snprintf(out, room, "%c[%llu]", is_deferred ? 'd' : 'e',
                    (unsigned long long)(is_deferred ? number - EVERYTHING_DEFERRED : number));
}

/* One value without the braces' type: "{e[3], 7}". Returns its length. */
static size_t one_text(uint32_t kind, const uint8_t *bytes, char *out, size_t room)
{
    const model_kind *of = &kinds_of_model()[kind];
    uint64_t links[MODEL_LINKS] = {0};
    char texts[MODEL_LINKS][24];
    for (uint32_t k = 0; k < of->link_count; k++)
        memcpy(&links[k], bytes + of->links[k], sizeof links[k]);
    switch (kind_shape_of(kind)) {
    case SHAPE_BARE:
        break;
    case SHAPE_WORD:
        return (size_t)snprintf(out, room, "%u", word_at(bytes));
    case SHAPE_WIDE:
        return (size_t)snprintf(out, room, "{{%u, %u}}", word_at(bytes), word_at(bytes + 4));
    case SHAPE_LINE:
    case SHAPE_LARGE:
        return (size_t)snprintf(out, room, "%s_of(%u)", kind_c_type(kind), word_at(bytes));
    case SHAPE_OWNING:
        return (size_t)snprintf(out, room, "{0x51a7e, %u}", word_at(bytes + 4));
    case SHAPE_LINKED:
        entity_text(links[0], texts[0], sizeof texts[0]);
        return (size_t)snprintf(out, room, "{%s, %u}", texts[0], word_at(bytes + 8));
    case SHAPE_TWIN:
        entity_text(links[0], texts[0], sizeof texts[0]);
        entity_text(links[1], texts[1], sizeof texts[1]);
        return (size_t)snprintf(out, room, "{%u, %s, %s}", word_at(bytes), texts[0], texts[1]);
    case SHAPE_TARGET:
        return (size_t)entity_text(links[0], out, room);
    }
    return 0;
}

const char *everything_c_value(everything *e, uint32_t kind, const void *bytes, uint32_t count)
{
    enum { ONE_BYTES = 96 };
    if (e->out == NULL) return "";
    if (bytes == NULL || kinds_of_model()[kind].size == 0 || count == 0) return "NULL";
    size_t room = 64 + (size_t)count * ONE_BYTES, at = 0;
    char *text = model_memory(&e->here->m, room);
    at = (size_t)snprintf(text, room, "(%s[]){", kind_c_type(kind));
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0) at += (size_t)snprintf(text + at, room - at, ", ");
        at += one_text(kind, (const uint8_t *)bytes + (size_t)i * kinds_of_model()[kind].size,
                       text + at, room - at);
    }
    snprintf(text + at, room - at, "}");
    return text;
}

const char *everything_c_set(everything *e, uint64_t set)
{
    if (e->out == NULL) return "";
    size_t room = 32 * KINDS, at = 0;
    char *text = model_memory(&e->here->m, room);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if ((set >> kind & 1) != 0)
            at += (size_t)snprintf(text + at, room - at, "%sof[%s]", at == 0 ? "" : ", ",
                                   kinds_of_model()[kind].name);
    return text;
}

const char *everything_c_archetype(everything *e, uint64_t set)
{
    if (e->out == NULL) return "";
    if (set == 0) return "weft_archetype_create(world, NULL, 0)";
    size_t room = 32 * KINDS + 64;
    char *text = model_memory(&e->here->m, room);
    snprintf(text, room, "WEFT_ARCHETYPE(world, %s)", everything_c_set(e, set));
    return text;
}

const char *everything_c_entity(everything *e, uint32_t number)
{
    if (e->out == NULL) return "";
    if (number == EVERYTHING_FOREIGN) return "foreign()";
    char *text = model_memory(&e->here->m, 32);
    entity_text(number, text, 32);
    return text;
}

void everything_says_list(everything *e, const char *name, const uint32_t *numbers, uint32_t count)
{
    if (e->out == NULL) return;
    fprintf(e->out, "        weft_entity %s[%u];\n", name, count + 1);
    for (uint32_t i = 0, end; i < count; i = end) {
        end = i + 1;
        if (numbers[i] == EVERYTHING_FOREIGN) {
            fprintf(e->out, "        %s[%u] = foreign();\n", name, i);
            continue;
        }
        while (end < count && numbers[end] == numbers[i] + (end - i)) end++;
        if (end == i + 1)
            fprintf(e->out, "        %s[%u] = e[%u];\n", name, i, numbers[i]);
        else
            fprintf(e->out, "        for (uint32_t i = 0; i < %u; i++) %s[%u + i] = e[%u + i];\n",
                    end - i, name, i, numbers[i]);
    }
    fflush(e->out);
}

void everything_program_begin(FILE *out, const char *command, const char *failure, const char *text)
{
    fprintf(out, "/* %s: %s\n * %s\n *\n", command, failure, text);
    fputs(" * cc -std=gnu17 this.c -lweft-scene -lweft && ./a.out\n *\n"
          " * Comments in blocks say what only the command can repeat. */\n"
          "#include <weft/blob.h>\n#include <weft/live.h>\n"
          "#include <weft/observer.h>\n#include <weft/scene.h>\n#include <weft/scene_gltf.h>\n"
          "#include <weft/snapshot.h>\n#include <weft/state_log.h>\n#include <weft/stream.h>\n"
          "#include <weft/transfer.h>\n#include <weft/transform.h>\n#include <weft/type.h>\n"
          "#include <weft/value.h>\n#include <weft/weft.h>\n#include <weft/world_text.h>\n\n"
          "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
          "/* Ends the program where an answer differs. */\n"
          "#define CHECK(is_so) \\\n"
          "    do { \\\n"
          "        if (!(is_so)) printf(\"line %d: is false: %s\\n\", __LINE__, #is_so), exit(1); "
          "\\\n"
          "    } while (0)\n"
          "#define IS(expected, call) is(expected, call, __LINE__, #call)\n"
          "\nstatic weft_world *world;\n\n",
          out);
    fputs("static void is(weft_result expected, weft_result result, int line, const char *call)\n"
          "{\n"
          "    if (result == expected) return;\n"
          "    printf(\"line %d: %s: is %s, should be %s\\n%s\\n\", line, call,\n"
          "           weft_result_name(result), weft_result_name(expected),\n"
          "           world == NULL ? \"\" : weft_world_error(world)->text);\n"
          "    exit(1);\n"
          "}\n\n",
          out);
    kinds_print(out);
    walk_print_rows(out);
    systems_print(out);
    observers_print(out);
}

void everything_program_main(FILE *out, uint32_t entity_count)
{
    fprintf(out,
            "static weft_entity e[%u], d[4096];\nstatic weft_query q[%d];\n"
            "static weft_recorder *recorder;\n\n",
            entity_count + 1, EVERYTHING_QUERIES);
    fprintf(out,
            "static weft_entity kept[%d][sizeof e / sizeof *e];\n"
            "static weft_snapshot *snapshots[%d];\n"
            "static char *stream;\nstatic size_t taken;\n\n",
            EVERYTHING_SNAPSHOTS, EVERYTHING_SNAPSHOTS);
    fputs("static void tag_all(uint32_t tag)\n{\n"
          "    for (size_t i = 0; i < sizeof e / sizeof *e; i++)\n"
          "        if (e[i].version != 0) e[i].index = weft_entity_index(e[i]) | tag;\n}\n\n"
          "static weft_result take(void *user, const void *bytes, size_t count)\n{\n"
          "    (void)user;\n"
          "    stream = realloc(stream, taken + count);\n"
          "    memcpy(stream + taken, bytes, count);\n"
          "    taken += count;\n"
          "    return WEFT_OK;\n}\n\n",
          out);
    fputs("static weft_entity foreign(void)\n{\n"
          "    weft_entity entity = {e[1].index >> 28 << 28 ^ 9u << 28, 1};\n"
          "    return entity;\n}\n\n"
          "static uint64_t entity_count(weft_world *of_world)\n{\n"
          "    weft_world_stats stats;\n"
          "    weft_world_stats_get(of_world, &stats, sizeof stats);\n"
          "    return stats.entities;\n}\n\n"
          "static uint32_t LENGTH(weft_entity entity, weft_component component)\n{\n"
          "    const weft_buffer *buffer = weft_entity_read(world, entity, component);\n"
          "    return buffer == NULL ? UINT32_MAX : buffer->count;\n}\n\n"
          "static const void *ELEMENTS(weft_world *of_world, weft_entity entity,\n"
          "                            weft_component component)\n{\n"
          "    const weft_buffer *buffer = weft_entity_read(of_world, entity, component);\n"
          "    return buffer == NULL ? NULL : weft_buffer_read(buffer);\n}\n\n"
          "static const void *RESOURCE(weft_world *of_world, weft_entity none,\n"
          "                            weft_component component)\n{\n"
          "    const weft_component_desc *desc = weft_component_info(of_world, component);\n"
          "    const void *value = weft_resource_read(of_world, component);\n"
          "    (void)none;\n"
          "    return desc->flags & WEFT_BUFFER ? weft_buffer_read(value) : value;\n}\n\n"
          "static const linked *LINKED_AT(weft_entity entity, weft_component component, "
          "uint32_t i)\n{\n"
          "    return (const linked *)ELEMENTS(world, entity, component) + i;\n}\n\n"
          "static weft_entity registrar_find(uint32_t count)\n{\n"
          "    weft_query all = weft_query_create(world, &(weft_query_desc){.terms = "
          "{{of[LINKS]}}});\n"
          "    static weft_entity them[4096];\n"
          "    for (uint64_t i = weft_query_entities(world, all, them, 4096); i-- != 0;) {\n"
          "        weft_entity one = them[i];\n"
          "        uint32_t k = 0, length = LENGTH(one, of[LINKS]);\n"
          "        while (k < length && LINKED_AT(one, of[LINKS], k)->value == k) k++;\n"
          "        if (k == count && length == count) return weft_query_destroy(world, all), one;\n"
          "    }\n    exit(1);\n}\n\n",
          out);
}
