/* SPDX-License-Identifier: MIT */
/* epidemic_raw.c: the epidemic in plain C: arrays of people that the last one fills up, slots of
 * houses with versions and a list of the free ones, a grid of the sick. */
#include "epidemic.h"

#include <stdlib.h>

/* A house, if its slot still has this version. */
typedef struct house_handle {
    uint32_t slot, version; /* odd: alive; 0: none */
} house_handle;

typedef struct house_slot {
    House house;
    uint32_t version, people;
} house_slot;

typedef struct plain_epidemic {
    uint32_t day, count, capacity; /* people */
    Place *at;
    Person *person;
    house_handle *home;
    uint8_t *sick; /* days left; 0: well */
    uint32_t *dead;
    house_slot *slots;
    uint32_t slot_count, slot_capacity;
    uint32_t *free_slots, free_count;
    epidemic_counts counts;
    float side;
    uint32_t cells; /* along each axis */
    uint32_t *begin;
    Place *sorted; /* of the sick */
} plain_epidemic;

static void *grown(void *array, size_t count, size_t bytes)
{
    array = reallocarray(array, count, bytes);
    if (array == NULL) abort();
    return array;
}

/* ---- houses ---- */

static house_slot *slot_of(const plain_epidemic *e, house_handle handle)
{
    house_slot *slot = &e->slots[handle.slot];
    return slot->version == handle.version ? slot : NULL;
}

static house_handle build_house(plain_epidemic *e, uint64_t number)
{
    uint32_t slot;
    if (e->free_count > 0) {
        slot = e->free_slots[--e->free_count];
    } else {
        if (e->slot_count == e->slot_capacity) {
            e->slot_capacity = e->slot_capacity * 2 + 64;
            e->slots = grown(e->slots, e->slot_capacity, sizeof *e->slots);
            e->free_slots = grown(e->free_slots, e->slot_capacity, sizeof *e->free_slots);
        }
        slot = e->slot_count++;
        e->slots[slot].version = 0;
    }
    house_slot *new = &e->slots[slot];
    *new = (house_slot){{number, 0, e->day}, new->version + 1, 0};
    return (house_handle){slot, new->version};
}

static void leave_house(const plain_epidemic *e, uint32_t i)
{
    house_slot *slot = slot_of(e, e->home[i]);
    if (slot != NULL) slot->people--;
}

static void end_houses(plain_epidemic *e)
{
    for (uint32_t i = 0; i < e->slot_count; i++) {
        house_slot *slot = &e->slots[i];
        if (slot->version % 2 == 0) continue;
        if (slot->people > 0 && !epidemic_burns(&slot->house, e->day)) continue;
        slot->version++;
        e->free_slots[e->free_count++] = i;
    }
}

static void add_person(plain_epidemic *e, Place at, Person person, house_handle home)
{
    if (e->count == e->capacity) {
        e->capacity = e->capacity * 2 + 64;
        e->at = grown(e->at, e->capacity, sizeof *e->at);
        e->person = grown(e->person, e->capacity, sizeof *e->person);
        e->home = grown(e->home, e->capacity, sizeof *e->home);
        e->sick = grown(e->sick, e->capacity, sizeof *e->sick);
        e->dead = grown(e->dead, e->capacity, sizeof *e->dead);
        e->sorted = grown(e->sorted, e->capacity, sizeof *e->sorted);
    }
    house_slot *slot = slot_of(e, home);
    if (slot != NULL) slot->people++;
    e->at[e->count] = at;
    e->person[e->count] = person;
    e->home[e->count] = home;
    e->sick[e->count++] = 0;
    e->counts.born++;
}

static void bury(plain_epidemic *e, uint32_t dead)
{
    e->counts.dead += dead;
    while (dead > 0) { /* from behind: the last one is never among the dead */
        uint32_t i = e->dead[--dead], last = --e->count;
        leave_house(e, i);
        e->at[i] = e->at[last];
        e->person[i] = e->person[last];
        e->home[i] = e->home[last];
        e->sick[i] = e->sick[last];
    }
}

/* ---- a day ---- */

static uint32_t cell_along(const plain_epidemic *e, float at)
{
    uint32_t cell = (uint32_t)at;
    return cell < e->cells ? cell : e->cells - 1;
}

static uint32_t cell_of(const plain_epidemic *e, Place at)
{
    return cell_along(e, at.y) * e->cells + cell_along(e, at.x);
}

/* The sick into the grid, and to the houses. */
static void sort_sick(plain_epidemic *e)
{
    uint32_t cells = e->cells * e->cells;
    memset(e->begin, 0, (cells + 2) * sizeof *e->begin);
    for (uint32_t i = 0; i < e->slot_count; i++) e->slots[i].house.sick = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->sick[i] == 0) continue;
        e->begin[cell_of(e, e->at[i]) + 2]++;
        house_slot *slot = slot_of(e, e->home[i]);
        if (slot != NULL) slot->house.sick++;
    }
    for (uint32_t c = 2; c < cells + 2; c++) e->begin[c] += e->begin[c - 1];
    for (uint32_t i = 0; i < e->count; i++)
        if (e->sick[i] > 0) e->sorted[e->begin[cell_of(e, e->at[i]) + 1]++] = e->at[i];
}

static uint32_t meet(const plain_epidemic *e, Place at)
{
    uint32_t met = 0, x = cell_along(e, at.x), y = cell_along(e, at.y);
    uint32_t left = x > 0 ? x - 1 : 0, right = x + 1 < e->cells ? x + 1 : x;
    uint32_t last = y + 1 < e->cells ? y + 1 : y;
    for (uint32_t row = y > 0 ? y - 1 : 0; row <= last; row++) {
        const uint32_t *begin = e->begin + (size_t)row * e->cells;
        for (uint32_t k = begin[left]; k < begin[right + 1]; k++)
            met += epidemic_is_near(e->sorted[k], at);
    }
    return met;
}

static void infect(plain_epidemic *e)
{
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->sick[i] > 0 || e->person[i].immune > 0) continue;
        const house_slot *slot = slot_of(e, e->home[i]);
        uint32_t home = slot != NULL ? slot->house.sick : 0;
        if (!epidemic_catches(&e->person[i], meet(e, e->at[i]), home, e->day)) continue;
        e->sick[i] = SICK_DAYS;
        e->counts.infected++;
    }
}

static void recover(plain_epidemic *e)
{
    uint32_t dead = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->sick[i] == 0 || --e->sick[i] > 0) continue;
        if (epidemic_dies_of_it(&e->person[i], e->day))
            e->dead[dead++] = i;
        else
            e->person[i].immune = IMMUNE_DAYS;
    }
    bury(e, dead);
}

static void live(plain_epidemic *e)
{
    uint32_t dead = 0, count = e->count;
    for (uint32_t i = 0; i < count; i++) {
        bool has_home = slot_of(e, e->home[i]) != NULL;
        epidemic_fate fate = epidemic_live(&e->person[i], has_home, e->day);
        if (fate.gives_birth)
            add_person(e, e->at[i], (Person){epidemic_child(e->person[i].number, e->day), 0, 0},
                       e->home[i]);
        if (fate.moves) {
            leave_house(e, i);
            e->home[i] = build_house(e, epidemic_house(e->person[i].number, e->day));
            e->slots[e->home[i].slot].people = 1;
        }
        if (fate.dies) e->dead[dead++] = i;
    }
    bury(e, dead);
}

static void epidemic_step(void *side)
{
    plain_epidemic *e = side;
    e->day++;
    for (uint32_t i = 0; i < e->count; i++)
        epidemic_walk(&e->at[i], e->person[i].number, e->day, e->side);
    sort_sick(e);
    infect(e);
    recover(e);
    live(e);
    end_houses(e);
}

/* ---- begin and end ---- */

static void epidemic_close(void *side)
{
    plain_epidemic *e = side;
    free(e->at);
    free(e->person);
    free(e->home);
    free(e->sick);
    free(e->dead);
    free(e->sorted);
    free(e->slots);
    free(e->free_slots);
    free(e->begin);
    free(e);
}

static void *epidemic_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_epidemic *e = calloc(1, sizeof *e);
    if (e == NULL) return NULL;
    house_handle house = {0, 0};
    e->side = epidemic_side(size);
    e->cells = (uint32_t)e->side;
    e->begin = grown(NULL, (size_t)e->cells * e->cells + 2, sizeof *e->begin);
    for (uint32_t i = 0; i < size; i++) {
        Place at;
        Person person;
        uint32_t days = epidemic_begin(i, e->side, &at, &person);
        if (i % HOUSEHOLD == 0) house = build_house(e, epidemic_house(i, 0));
        add_person(e, at, person, house);
        e->sick[i] = (uint8_t)days;
    }
    e->counts = (epidemic_counts){0, 0, 0}; /* what happens from now on */
    return e;
}

static uint64_t epidemic_content(void *side)
{
    const plain_epidemic *e = side;
    uint64_t sum = epidemic_sum_counts(&e->counts);
    for (uint32_t i = 0; i < e->count; i++) {
        const house_slot *slot = slot_of(e, e->home[i]);
        sum += epidemic_sum(e->at[i], &e->person[i], e->sick[i],
                            slot != NULL ? slot->house.number : 0);
    }
    for (uint32_t i = 0; i < e->slot_count; i++)
        if (e->slots[i].version % 2 == 1)
            sum += epidemic_sum_house(&e->slots[i].house, e->slots[i].people);
    return sum;
}

const program_side epidemic_raw = {epidemic_open, epidemic_step, epidemic_content, NULL,
                                   epidemic_close};
