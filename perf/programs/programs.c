/* SPDX-License-Identifier: MIT */
/* programs.c: the list of the whole programs, with the sizes of the benchmark and of the tests.
 * What a program is: program.h. */
#include "program.h"

#include <stddef.h>

extern const program_side colony_weft, colony_raw;
extern const program_side defence_weft, defence_raw, defence_cpp;
extern const program_side epidemic_weft, epidemic_raw, epidemic_cpp;
extern const program_side flock_weft, flock_raw, flock_cpp;
extern const program_side game_weft, game_raw;
extern const program_side market_weft, market_raw;
extern const program_side sheep_weft, sheep_raw;
extern const program_side traffic_weft, traffic_raw, traffic_cpp;
#ifdef WEFT_PROGRAMS_CPP
#define CPP(side) &(side)
#else
#define CPP(side) NULL
#endif

const program programs[] = {
    {"colony", 200000, 5000, &colony_weft, &colony_raw, NULL},
    {"defence", 50000, 5000, &defence_weft, &defence_raw, CPP(defence_cpp)},
    {"epidemic", 300000, 10000, &epidemic_weft, &epidemic_raw, CPP(epidemic_cpp)},
    {"flock", 100000, 3000, &flock_weft, &flock_raw, CPP(flock_cpp)},
    {"game", 50000, 5000, &game_weft, &game_raw, NULL},
    {"market", 10000, 2000, &market_weft, &market_raw, NULL},
    {"sheep", 100000, 5000, &sheep_weft, &sheep_raw, NULL},
    {"traffic", 100000, 40000, &traffic_weft, &traffic_raw, CPP(traffic_cpp)},
    {NULL, 0, 0, NULL, NULL, NULL},
};
