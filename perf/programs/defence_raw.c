/* SPDX-License-Identifier: MIT */
/* defence_raw.c: the defence in plain C: ships with their turrets in place, raiders in slots with
 * versions, shells that the last one fills up, a list of hits. */
#include "defence.h"

#include <stdlib.h>

/* A raider, if its slot still has this version; version 0: none. */
typedef struct raider_handle {
    uint32_t slot, version;
} raider_handle;

typedef struct turret {
    Mount mount;
    Muzzle muzzle;
    raider_handle target;
    uint32_t reload, shots;
} turret;

typedef struct shell {
    Spot at;
    Course course;
    raider_handle target;
    uint32_t life, damage;
} shell;

typedef struct hit {
    raider_handle target;
    uint32_t damage;
} hit;

typedef struct plain_defence {
    uint32_t tick, ships, raiders;
    float side;
    Spot *ship_at;
    Course *ship_course;
    uint64_t *ship_number;
    turret *turrets; /* TURRETS of each ship */
    Spot *at;        /* of raiders, by slot */
    Course *course;
    uint64_t *number;
    uint32_t *points, *version;
    shell *shells;
    uint32_t shell_count, shell_capacity;
    hit *hits;
    uint32_t hit_count, hit_capacity;
    uint32_t cells; /* along each axis, of REACH or more */
    float per_cell;
    uint32_t *begin, *sorted; /* slots of raiders by cell */
} plain_defence;

static void *grown(void *array, size_t count, size_t bytes)
{
    array = reallocarray(array, count, bytes);
    if (array == NULL) abort();
    return array;
}

static bool is_alive(const plain_defence *d, raider_handle handle)
{
    return d->version[handle.slot] == handle.version;
}

static void move_all(plain_defence *d)
{
    for (uint32_t i = 0; i < d->shell_count; i++) {
        shell *s = &d->shells[i];
        if (is_alive(d, s->target)) defence_steer(s->at, d->at[s->target.slot], &s->course);
        defence_move(&s->at, s->course);
    }
    for (uint32_t i = 0; i < d->ships; i++) {
        defence_move(&d->ship_at[i], d->ship_course[i]);
        defence_bounce(&d->ship_at[i].x, &d->ship_course[i].x, d->side);
        defence_bounce(&d->ship_at[i].y, &d->ship_course[i].y, d->side);
    }
    for (uint32_t i = 0; i < d->raiders; i++) {
        defence_move(&d->at[i], d->course[i]);
        defence_bounce(&d->at[i].x, &d->course[i].x, d->side);
        defence_bounce(&d->at[i].y, &d->course[i].y, d->side);
    }
}

static void strike(plain_defence *d)
{
    for (uint32_t i = 0; i < d->shell_count;) {
        shell *s = &d->shells[i];
        bool is_hit = is_alive(d, s->target) && defence_is_hit(s->at, d->at[s->target.slot]);
        if (is_hit) {
            if (d->hit_count == d->hit_capacity) {
                d->hit_capacity = d->hit_capacity * 2 + 64;
                d->hits = grown(d->hits, d->hit_capacity, sizeof *d->hits);
            }
            d->hits[d->hit_count++] = (hit){s->target, s->damage};
        }
        if (--s->life == 0 || is_hit)
            *s = d->shells[--d->shell_count];
        else
            i++;
    }
}

/* ---- turrets ---- */

static uint32_t cell_along(const plain_defence *d, float at)
{
    if (!(at > 0)) return 0; /* the muzzle of a turret may be outside */
    uint32_t cell = (uint32_t)(at * d->per_cell);
    return cell < d->cells ? cell : d->cells - 1;
}

static void sort_raiders(plain_defence *d)
{
    uint32_t cells = d->cells * d->cells;
    memset(d->begin, 0, (cells + 2) * sizeof *d->begin);
    for (uint32_t i = 0; i < d->raiders; i++)
        d->begin[cell_along(d, d->at[i].y) * d->cells + cell_along(d, d->at[i].x) + 2]++;
    for (uint32_t c = 2; c < cells + 2; c++) d->begin[c] += d->begin[c - 1];
    for (uint32_t i = 0; i < d->raiders; i++) {
        uint32_t cell = cell_along(d, d->at[i].y) * d->cells + cell_along(d, d->at[i].x);
        d->sorted[d->begin[cell + 1]++] = i;
    }
}

static raider_handle choose(const plain_defence *d, Muzzle muzzle)
{
    uint32_t x = cell_along(d, muzzle.x), y = cell_along(d, muzzle.y);
    uint32_t left = x > 0 ? x - 1 : 0, right = x + 1 < d->cells ? x + 1 : x;
    uint32_t last = y + 1 < d->cells ? y + 1 : y;
    defence_choice best = {REACH * REACH, 0, UINT32_MAX};
    for (uint32_t row = y > 0 ? y - 1 : 0; row <= last; row++) {
        const uint32_t *begin = d->begin + (size_t)row * d->cells;
        for (uint32_t k = begin[left]; k < begin[right + 1]; k++) {
            uint32_t i = d->sorted[k];
            defence_consider(&best, muzzle, d->at[i], d->number[i], i);
        }
    }
    if (best.index == UINT32_MAX) return (raider_handle){0, 0};
    return (raider_handle){best.index, d->version[best.index]};
}

static void fire(plain_defence *d, turret *t)
{
    if (t->reload > 0) {
        t->reload--;
    } else if (t->target.version != 0) {
        if (d->shell_count == d->shell_capacity) {
            d->shell_capacity = d->shell_capacity * 2 + 64;
            d->shells = grown(d->shells, d->shell_capacity, sizeof *d->shells);
        }
        d->shells[d->shell_count++] =
            (shell){{t->muzzle.x, t->muzzle.y}, {0, 0}, t->target, SHELL_LIFE, DAMAGE};
        t->reload = RELOAD;
        t->shots++;
    }
}

static void aim_and_fire(plain_defence *d)
{
    for (uint32_t i = 0; i < d->ships * TURRETS; i++) {
        turret *t = &d->turrets[i];
        Spot ship = d->ship_at[i / TURRETS];
        t->muzzle = (Muzzle){ship.x + t->mount.x, ship.y + t->mount.y};
        Spot at = d->at[t->target.slot];
        if (!is_alive(d, t->target) ||
            defence_square(t->muzzle.x, t->muzzle.y, at.x, at.y) > REACH * REACH)
            t->target = choose(d, t->muzzle);
        fire(d, t);
    }
}

/* ---- who is gone, and who comes ---- */

static void begin_ship(plain_defence *d, uint32_t i, uint64_t number)
{
    d->ship_number[i] = number;
    defence_begin(number, d->side, &d->ship_at[i], &d->ship_course[i]);
    for (uint32_t slot = 0; slot < TURRETS; slot++)
        d->turrets[i * TURRETS + slot] =
            (turret){defence_mount(slot), {0, 0}, {0, 0}, slot % RELOAD, 0};
}

static void begin_raider(plain_defence *d, uint32_t i, uint64_t number)
{
    d->number[i] = number;
    d->points[i] = HULL;
    d->version[i]++;
    defence_begin(number, d->side, &d->at[i], &d->course[i]);
}

static void replace_lost(plain_defence *d)
{
    for (uint32_t i = 0; i < d->hit_count; i++) {
        const hit *h = &d->hits[i];
        uint32_t *points = &d->points[h->target.slot];
        if (is_alive(d, h->target)) *points -= *points < h->damage ? *points : h->damage;
    }
    d->hit_count = 0;
    for (uint32_t i = 0; i < d->raiders; i++) /* the slot of one that is gone is the next one's */
        if (d->points[i] == 0) begin_raider(d, i, defence_next(d->number[i], d->tick));
    for (uint32_t i = 0; i < d->ships; i++)
        if (defence_is_lost(d->ship_number[i], d->tick))
            begin_ship(d, i, defence_next(d->ship_number[i], d->tick));
}

static void defence_step(void *side)
{
    plain_defence *d = side;
    d->tick++;
    move_all(d);
    strike(d);
    sort_raiders(d);
    aim_and_fire(d);
    replace_lost(d);
}

/* ---- begin and end ---- */

static void defence_close(void *side)
{
    plain_defence *d = side;
    free(d->ship_at);
    free(d->ship_course);
    free(d->ship_number);
    free(d->turrets);
    free(d->at);
    free(d->course);
    free(d->number);
    free(d->points);
    free(d->version);
    free(d->shells);
    free(d->hits);
    free(d->begin);
    free(d->sorted);
    free(d);
}

static void *defence_open(uint32_t size, uint32_t workers)
{
    (void)workers;
    plain_defence *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->ships = defence_ships(size);
    d->raiders = defence_raiders(size);
    d->side = defence_side(size);
    d->cells = (uint32_t)(d->side / REACH * 0.999f);
    d->per_cell = (float)d->cells / d->side;
    d->ship_at = grown(NULL, d->ships, sizeof *d->ship_at);
    d->ship_course = grown(NULL, d->ships, sizeof *d->ship_course);
    d->ship_number = grown(NULL, d->ships, sizeof *d->ship_number);
    d->turrets = grown(NULL, (size_t)d->ships * TURRETS, sizeof *d->turrets);
    d->at = grown(NULL, d->raiders, sizeof *d->at);
    d->course = grown(NULL, d->raiders, sizeof *d->course);
    d->number = grown(NULL, d->raiders, sizeof *d->number);
    d->points = grown(NULL, d->raiders, sizeof *d->points);
    d->version = grown(NULL, d->raiders, sizeof *d->version);
    d->begin = grown(NULL, (size_t)d->cells * d->cells + 2, sizeof *d->begin);
    d->sorted = grown(NULL, d->raiders, sizeof *d->sorted);
    memset(d->version, 0, d->raiders * sizeof *d->version);
    for (uint32_t i = 0; i < d->ships; i++) begin_ship(d, i, defence_ship(i));
    for (uint32_t i = 0; i < d->raiders; i++) begin_raider(d, i, defence_raider(i));
    return d;
}

static uint64_t number_of(const plain_defence *d, raider_handle handle)
{
    return is_alive(d, handle) ? d->number[handle.slot] : 0;
}

static uint64_t defence_content(void *side)
{
    const plain_defence *d = side;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d->raiders; i++)
        sum += defence_sum(d->number[i], d->at[i], d->course[i], d->points[i]);
    for (uint32_t i = 0; i < d->ships; i++)
        sum += defence_sum(d->ship_number[i], d->ship_at[i], d->ship_course[i], 0);
    for (uint32_t i = 0; i < d->ships * TURRETS; i++) {
        const turret *t = &d->turrets[i];
        sum += defence_sum_turret(d->ship_number[i / TURRETS], &t->mount, t->muzzle, t->reload,
                                  number_of(d, t->target));
    }
    for (uint32_t i = 0; i < d->shell_count; i++) {
        const shell *s = &d->shells[i];
        sum += defence_sum(number_of(d, s->target), s->at, s->course, s->life);
    }
    return sum;
}

const program_side defence_raw = {defence_open, defence_step, defence_content, NULL, defence_close};
