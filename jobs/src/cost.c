/* cost.c: the learning side of cost.h: the moving average and the penalty of splits that did not
 * gain. Plain arithmetic on relaxed words: two threads that learn at once lose one sample, which
 * does no harm. */
#include "cost.h"

#define PENALTY_MAX 6u   /* 64 times the normal pay-off */
#define PENALTY_RUNS 32u /* runs, times the penalty, between two steps down */

void weft__cost_learn(weft__cost_state *cost, uint64_t ticks, uint32_t count)
{
    if (count == 0) return;
    uint64_t item = (uint64_t)(((weft__ticks_wide)ticks << WEFT__COST_FRACTION_BITS) / count);
    if (item == 0) item = 1;
    uint64_t known = at_load_rlx(&cost->x_item); /* relaxed: an estimate */
    /* One interrupted run must not make the loop look huge: rise at most fourfold at a time. */
    if (known != 0 && item / 4 > known) item = known * 4;
    if (item > WEFT__COST_ITEM_MAX) item = WEFT__COST_ITEM_MAX;
    /* Fast down, slow up: an interrupt can only make a run look longer. */
    uint64_t next = known == 0     ? item
                    : item < known ? known - (known - item) / 2
                                   : known + (item - known + 7) / 8;
    at_store_rlx(&cost->x_item, next); /* relaxed: an estimate */
}

bool weft__cost_pays(weft__cost_state *cost, uint64_t predicted, uint64_t pay_off)
{
    if (predicted < pay_off) return false;
    uint64_t history = at_load_rlx(&cost->x_history); /* relaxed: an estimate */
    uint32_t runs = (uint32_t)history, penalty = (uint32_t)(history >> 32);
    if (penalty == 0) return true;
    runs++;
    if (runs % (PENALTY_RUNS << penalty) == 0) penalty--;
    at_store_rlx(&cost->x_history, (uint64_t)penalty << 32 | runs); /* relaxed: an estimate */
    return predicted >> penalty >= pay_off;
}

void weft__cost_judge_split(weft__cost_state *cost, uint64_t alone, uint64_t wall)
{
    uint64_t history = at_load_rlx(&cost->x_history); /* relaxed: an estimate */
    uint32_t runs = (uint32_t)history + 1, penalty = (uint32_t)(history >> 32);
    bool has_gained = wall < alone - alone / 16;
    if (!has_gained && penalty < PENALTY_MAX) penalty++;
    if (has_gained && penalty > 0) penalty--;
    at_store_rlx(&cost->x_history, (uint64_t)penalty << 32 | runs); /* relaxed: an estimate */
}
