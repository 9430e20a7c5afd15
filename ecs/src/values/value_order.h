/* SPDX-License-Identifier: MIT */
/* value_order.h: the first of many values in the order of their bytes: one that does not tell when
 * they came, or where they are. */
#ifndef WEFT_VALUE_ORDER_H
#define WEFT_VALUE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Owner: the stack of one call. Until it is finished a heap, the last value first. */
typedef struct weft__value_order {
    size_t size; /* of a value */
    const void **items;
    uint32_t count;
    uint32_t capacity; /* of items */
} weft__value_order;

/* Takes a value in, unless there are as many before it as there is room for. O(log capacity). */
void weft__value_order_add(weft__value_order *order, const void *value);
/* The items are in order. O(n log n). */
void weft__value_order_finish(const weft__value_order *order);

#endif
