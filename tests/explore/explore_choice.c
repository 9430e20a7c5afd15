/* SPDX-License-Identifier: MIT */
/* explore_choice.c: the stack of choices, the random strategies and the replay tokens.
 *
 * Every decision of an execution with more than one alternative is pushed on one stack. The
 * depth-first search increments the last entry that has an alternative left and runs again; random
 * strategies record what they picked. A token is the stack in text, so it replays any strategy:
 *
 *     scenario/model/strategy,bound,weak,faults,steps/choices
 *
 * with the choices as counts of zeros and letters (b = alternative 1, c = 2, ...): "12b3c". */
#include "explore_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t engine_random(void)
{
    engine.random += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    uint64_t z = engine.random;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

bool engine_odds(uint32_t one_in)
{
    return engine.strategy != EXPLORE_DFS && !engine.is_replay && engine_random() % one_in == 0;
}

uint32_t engine_choose(uint32_t count, uint32_t *budget, uint32_t suggestion)
{
    if (count < 2 || (budget && *budget == 0)) return 0;
    if (engine.depth == ENGINE_CHOICES) explore_fail("more than %d choices", ENGINE_CHOICES);
    engine_choice *choice = &engine.choices[engine.depth];
    if (engine.depth < engine.prefix) {
        if (choice->count && choice->count != count) {
            explore_fail("not deterministic: choice %u had %u alternatives, now %u", engine.depth,
                         choice->count, count);
        }
        if (choice->chosen >= count) explore_fail("the token does not fit this program");
    } else {
        bool is_free = engine.strategy == EXPLORE_DFS || engine.is_replay;
        choice->chosen = (uint16_t)(is_free ? 0 : suggestion);
    }
    choice->count = (uint16_t)count;
    engine.depth++;
    if (budget && choice->chosen && *budget != ENGINE_UNBOUNDED) --*budget;
    return choice->chosen;
}

uint32_t explore_choose(uint32_t count)
{
    uint32_t random = engine.strategy == EXPLORE_DFS ? 0 : (uint32_t)(engine_random() % count);
    return engine_choose(count, NULL, random);
}

void engine_choices_start(void)
{
    bool is_dfs = engine.strategy == EXPLORE_DFS;
    engine.depth = 0;
    if (!is_dfs && !engine.is_replay) engine.prefix = 0;
    engine.preemptions_left = is_dfs ? engine.bound : ENGINE_UNBOUNDED;
    engine.weak_left = is_dfs || !engine.weak ? engine.weak : ENGINE_UNBOUNDED;
    engine.faults_left = engine.faults;
    if (is_dfs) return;
    engine.random = engine.seed + engine.runs * UINT64_C(0xD1342543DE82EF95);
    engine.switch_shift = 1 + (uint32_t)(engine_random() % 4);
    uint64_t length = engine.steps_max ? engine.steps_max : 64;
    for (int i = 0; i < 16; i++) engine.change_points[i] = 1 + engine_random() % length;
}

bool engine_choices_next(void)
{
    uint32_t depth = engine.depth;
    while (depth && engine.choices[depth - 1].chosen + 1 >= engine.choices[depth - 1].count) {
        depth--;
    }
    engine.prefix = depth;
    if (!depth) return false;
    engine.choices[depth - 1].chosen++;
    return true;
}

void engine_token_print(char *text, size_t bytes)
{
    uint32_t zeros = 0, depth = engine.depth;
    while (depth && !engine.choices[depth - 1].chosen) depth--;
    size_t used = (size_t)snprintf(text, bytes, "%s/%s/%u,%u,%u,%u/", engine.scenario->name,
                                   engine_model_names[engine.model], (unsigned)engine.strategy,
                                   engine.bound, engine.weak, engine.faults);
    for (uint32_t i = 0; i < depth && used + 16 < bytes; i++) {
        uint32_t chosen = engine.choices[i].chosen;
        if (!chosen) {
            zeros++;
            continue;
        }
        if (zeros) used += (size_t)snprintf(text + used, bytes - used, "%u", zeros);
        zeros = 0;
        text[used++] = (char)('a' + chosen);
        text[used] = 0;
    }
    if (!depth) snprintf(text + used, bytes - used, "0");
}

static bool parse_model(const char *text, size_t length)
{
    for (uint32_t m = EXPLORE_SC; m <= EXPLORE_C11; m++) {
        if (strlen(engine_model_names[m]) == length &&
            memcmp(engine_model_names[m], text, length) == 0) {
            engine.model = (explore_model)m;
            return true;
        }
    }
    return false;
}

static bool parse_choices(const char *p)
{
    engine.prefix = 0;
    while (*p) {
        uint32_t zeros = 0;
        while (*p >= '0' && *p <= '9') zeros = zeros * 10 + (uint32_t)(*p++ - '0');
        if (engine.prefix + zeros + 1 > ENGINE_CHOICES) return false;
        for (uint32_t i = 0; i < zeros; i++) {
            engine.choices[engine.prefix++] = (engine_choice){0, 0};
        }
        if (!*p) return true;
        if (*p < 'b' || *p > 'z') return false;
        engine.choices[engine.prefix++] = (engine_choice){(uint16_t)(*p++ - 'a'), 0};
    }
    return true;
}

size_t engine_token_parse(const char *token)
{
    const char *model = strchr(token, '/');
    const char *numbers = model ? strchr(model + 1, '/') : NULL;
    const char *choices = numbers ? strchr(numbers + 1, '/') : NULL;
    unsigned strategy = 0;
    if (!choices || !parse_model(model + 1, (size_t)(numbers - model - 1))) return 0;
    if (sscanf(numbers + 1, "%u,%u,%u,%u", &strategy, &engine.bound, &engine.weak,
               &engine.faults) != 4) {
        return 0;
    }
    if (strategy > EXPLORE_RANDOM || !parse_choices(choices + 1)) return 0;
    engine.strategy = (explore_strategy)strategy;
    return (size_t)(model - token);
}
