/* SPDX-License-Identifier: MIT */
/* demo_lj.c: a Lennard-Jones melt, the benchmark in.lj of LAMMPS: a lattice that begins at
 * temperature 1.44, cut-off 2.5, skin 0.3, lists made every 20 steps of 0.005.
 *
 *   lj forces   rows   positions of near sectors -> Velocity: the end of one step of the velocity
 *                      Verlet method and the begin of the next
 *   lj drift    rows   Velocity -> Position
 *   lj anchor   rows   every 20 steps: Position, wrapped -> Anchor, the key of the sectors
 *
 * Atoms change sectors only when lists are made. What is printed of a step is summed exactly, so it
 * depends on neither ranks nor workers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/random.h>
#include <weft/sum.h>

#include "cli.h"
#include "demo.h"
#include "lj_data.h"
#include "lj_lists.h"

static const double density = 0.8442, temperature = 1.44, cut = 2.5, skin = 0.3;
static const double step = 0.005;

enum {
    list_every = 20,    /* steps */
    thermo_every = 100, /* steps */
    thermo_max = 128,
    atoms_per_sector = 64, /* about */
    halo_position = 0,
    halo_anchor = 1
};

/* Sums over the atoms of one step, of one worker. */
typedef struct lj_totals {
    weft_sum energy, virial, kinetic;
} lj_totals;

/* What is printed of a step. */
typedef struct lj_thermo {
    uint64_t tick;
    double temperature, energy, total, pressure; /* energies per atom */
} lj_thermo;

/* The model on one rank. Owner: the demo; systems read it, and write what their worker owns. */
typedef struct lj {
    demo *run;
    weft_component position, velocity, anchor;
    lj_data atoms; /* where they begin; empty when a checkpoint was loaded */
    lj_space space;
    lj_list *lists;    /* [sectors] */
    uint32_t *due;     /* [sectors] lists to make */
    weft_result *made; /* [sectors] how that went */
    lj_room *rooms;    /* [workers] */
    lj_totals *totals; /* [workers] */
    uint32_t due_count, workers;
    lj_thermo thermo[thermo_max];
    uint32_t thermo_count;
} lj;

/* ---- where atoms begin ---- */

/* Four atoms in each of cells^3 cubes; velocities of a normal distribution. */
static weft_result make_lattice(const demo *run, lj_data *atoms)
{
    static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    const uint32_t size = run->options->size;
    uint32_t cells = 6; /* three sectors along each axis, as wide as systems look */
    while (4 * (uint64_t)(cells + 1) * (cells + 1) * (cells + 1) <= size) cells++;
    const double edge = cbrt(4 / density);
    atoms->count = 4 * cells * cells * cells;
    atoms->side = cells * edge;
    atoms->positions = calloc(atoms->count, sizeof *atoms->positions);
    atoms->velocities = calloc(atoms->count, sizeof *atoms->velocities);
    if (!atoms->positions || !atoms->velocities) return WEFT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < atoms->count; i++) {
        const uint32_t cell[3] = {i / 4 % cells, i / 4 / cells % cells, i / 4 / cells / cells};
        weft_random random = weft_random_of(run->options->seed, i, 0, 0);
        for (int axis = 0; axis < 3; axis++) {
            atoms->positions[i][axis] = edge * (cell[axis] + corner[i % 4][axis]);
            atoms->velocities[i][axis] = weft_random_normal(&random);
        }
    }
    return WEFT_OK;
}

/* No momentum, and the temperature of the melt. Every rank adds the same numbers in the same
 * order. */
static void scale_velocities(lj_data *atoms)
{
    double mean[3] = {0, 0, 0}, square = 0;
    for (uint32_t i = 0; i < atoms->count; i++)
        for (int axis = 0; axis < 3; axis++) mean[axis] += atoms->velocities[i][axis];
    for (uint32_t i = 0; i < atoms->count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double *v = &atoms->velocities[i][axis];
            *v -= mean[axis] / atoms->count;
            square += *v * *v;
        }
    }
    const double factor = sqrt(temperature * (3.0 * atoms->count - 3.0) / square);
    for (uint32_t i = 0; i < atoms->count; i++)
        for (int axis = 0; axis < 3; axis++) atoms->velocities[i][axis] *= factor;
}

static weft_result place_atoms(const demo *run, lj_data *atoms)
{
    if (run->options->data)
        return lj_data_read(run->options->data, atoms) == 0 ? WEFT_OK : WEFT_CANCELLED;
    const weft_result result = make_lattice(run, atoms);
    if (result == WEFT_OK) scale_velocities(atoms);
    return result;
}

/* ---- systems ---- */

static void add_totals(lj_totals *totals, const lj_sums *sums, const lj_vector *velocity)
{
    const double *v = velocity->at;
    weft_sum_add(&totals->energy, sums->energy);
    weft_sum_add(&totals->virial, sums->virial);
    weft_sum_add(&totals->kinetic, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void kick(lj_vector *velocity, const double force[3])
{
    for (int axis = 0; axis < 3; axis++) velocity->at[axis] += 0.5 * step * force[axis];
}

/* The place of a gid, most often the one behind the last. */
static uint32_t find_row(const weft_shard_rows *rows, uint64_t gid, uint32_t guess)
{
    if (guess < rows->count && rows->gids[guess] == gid) return guess;
    return weft_shard_rows_find(rows, gid);
}

static void forces(weft_slice *slice, void *user)
{
    lj *m = user;
    const weft_shard *shard = m->space.shard;
    const uint32_t sector = weft_shard_slice_sector(shard, slice);
    const lj_list *list = &m->lists[sector];
    lj_room *room = &m->rooms[slice->worker];
    lj_vector *velocities = weft_slice_write(slice, 0);
    const uint64_t *gids = weft_slice_read(slice, 1);
    const bool with_energy = weft_shard_tick(shard) % thermo_every == 0;
    weft_shard_rows rows;
    if (list->made == 0 || !weft_shard_rows_get(shard, sector, &rows) ||
        lj_list_place(&m->space, sector, halo_position, list, room) != WEFT_OK) {
        m->made[sector] = WEFT_OUT_OF_MEMORY;
        return;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < slice->count; i++) {
        at = find_row(&rows, gids[i], at);
        lj_sums sums;
        const lj_atom atom = {room->places[at].at, list->neighbours + list->begin[at],
                              list->begin[at + 1] - list->begin[at]};
        m->space.forces->of_atom(room->places, &atom, cut * cut, with_energy, &sums);
        kick(&velocities[i], sums.force);
        if (with_energy) add_totals(&m->totals[slice->worker], &sums, &velocities[i]);
        kick(&velocities[i], sums.force);
        at++;
    }
}

static void drift(weft_slice *slice, void *user)
{
    (void)user;
    lj_vector *positions = weft_slice_write(slice, 0);
    const lj_vector *velocities = weft_slice_read(slice, 1);
    for (uint32_t i = 0; i < slice->count; i++)
        for (int axis = 0; axis < 3; axis++) positions[i].at[axis] += step * velocities[i].at[axis];
}

static bool is_list_step(weft_world *world, void *user)
{
    (void)world;
    return (weft_shard_tick(((const lj *)user)->space.shard) + 1) % list_every == 0;
}

static void anchor(weft_slice *slice, void *user)
{
    const double side = ((const lj *)user)->space.side;
    lj_vector *positions = weft_slice_write(slice, 0);
    lj_vector *anchors = weft_slice_write(slice, 1);
    for (uint32_t i = 0; i < slice->count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double *x = &positions[i].at[axis];
            if (*x < 0) *x += side;
            if (*x >= side) *x -= side;
        }
        anchors[i] = positions[i];
    }
}

static weft_result create_systems(demo *run)
{
    lj *m = run->state;
    const weft_component gid = run->info.gid;
    m->space.shard = run->shard;
    const weft_system_desc pull = {
        .name = "lj forces",
        .run = forces,
        .user = m,
        .over.rows.terms = {{.component = m->velocity, .access = WEFT_WRITE}, {.component = gid}},
    };
    const weft_system_desc rest[] = {
        {
            .name = "lj drift",
            .run = drift,
            .user = m,
            .over.rows.terms = {{.component = m->position, .access = WEFT_WRITE},
                                {.component = m->velocity}},
        },
        {
            .name = "lj anchor",
            .run = anchor,
            .user = m,
            .over.rows.terms = {{.component = m->position, .access = WEFT_WRITE},
                                {.component = m->anchor, .access = WEFT_WRITE}},
            .run_if = is_list_step,
        },
    };
    const weft_result result = weft_shard_system_create(run->shard, &pull);
    if (result != WEFT_OK) return result;
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (weft_system_create(run->world, &rest[i]).id == 0)
            return weft_world_error(run->world)->code;
    return WEFT_OK;
}

/* ---- the model ---- */

static void end(demo *run)
{
    lj *m = run->state;
    if (!m) return;
    for (uint32_t i = 0; m->lists && i < run->info.sectors; i++) lj_list_fini(&m->lists[i]);
    for (uint32_t i = 0; m->rooms && i < m->workers; i++) lj_room_fini(&m->rooms[i]);
    lj_data_fini(&m->atoms);
    free(m->lists);
    free(m->due);
    free(m->made);
    free(m->rooms);
    free(m->totals);
    free(m);
    run->state = NULL;
}

static weft_result reserve(lj *m, uint32_t sectors)
{
    m->lists = calloc(sectors, sizeof *m->lists);
    m->due = calloc(sectors, sizeof *m->due);
    m->made = calloc(sectors, sizeof *m->made);
    m->rooms = calloc(m->workers, sizeof *m->rooms);
    m->totals = calloc(m->workers, sizeof *m->totals);
    return m->lists && m->due && m->made && m->rooms && m->totals ? WEFT_OK : WEFT_OUT_OF_MEMORY;
}

static weft_result describe(demo *run, weft_shard_desc *desc)
{
    lj *m = run->state = calloc(1, sizeof *m);
    if (!m) return WEFT_OUT_OF_MEMORY;
    m->run = run;
    m->position = weft_component_create_plain(run->world, "Position", sizeof(lj_vector), 8, 0);
    m->velocity = weft_component_create_plain(run->world, "Velocity", sizeof(lj_vector), 8, 0);
    m->anchor = weft_component_create_plain(run->world, "Anchor", sizeof(lj_vector), 8, 0);
    weft_result result = place_atoms(run, &m->atoms);
    if (result != WEFT_OK) return result;
    const double side = m->atoms.side;
    const double most = floor(side / (cut + skin)), some = cbrt(m->atoms.count / atoms_per_sector);
    if (most < 3) {
        weft_cli_fail("shard-demo", "a box of %g is too small: at least %g", side,
                      3 * (cut + skin));
        return WEFT_CANCELLED;
    }
    m->space = (lj_space){.cells = (uint32_t)fmax(3, fmin(most, some)),
                          .side = side,
                          .cut = cut + skin,
                          .forces = lj_forces_best()};
    m->workers = weft_job_pool_worker_count(weft_world_pool(run->world));
    desc->key = m->anchor;
    desc->halo[halo_position] = m->position;
    desc->halo[halo_anchor] = m->anchor;
    desc->grid = (weft_shard_grid){.dimensions = 3, .is_double = true, .reach = cut + skin};
    for (int axis = 0; axis < 3; axis++) {
        desc->grid.cells[axis] = m->space.cells;
        desc->grid.most[axis] = side;
        desc->grid.is_periodic[axis] = true;
    }
    return reserve(m, m->space.cells * m->space.cells * m->space.cells);
}

static weft_result populate(demo *run)
{
    lj *m = run->state;
    uint32_t count = 0;
    lj_data *atoms = &m->atoms;
    for (uint32_t i = 0; i < atoms->count; i++) {
        if (!weft_shard_is_mine(run->shard, atoms->positions[i])) continue;
        memmove(atoms->positions[count], atoms->positions[i], sizeof *atoms->positions);
        memmove(atoms->velocities[count++], atoms->velocities[i], sizeof *atoms->velocities);
    }
    const weft_archetype archetype =
        WEFT_ARCHETYPE(run->world, run->info.gid, m->position, m->velocity, m->anchor);
    return weft_entity_create_filled(run->world, archetype,
                                     WEFT_VALUES({m->position, atoms->positions},
                                                 {m->velocity, atoms->velocities},
                                                 {m->anchor, atoms->positions}),
                                     count, NULL);
}

/* ---- after a step ---- */

static int make_lists(weft_job_context *job, void *user, uint32_t first, uint32_t last)
{
    lj *m = user;
    const uint64_t tick = weft_shard_tick(m->space.shard);
    lj_room *room = &m->rooms[weft_job_worker_index(job)];
    for (uint32_t i = first; i < last; i++)
        m->made[m->due[i]] =
            lj_list_make(&m->space, m->due[i], halo_anchor, tick / list_every * list_every + 1,
                         room, &m->lists[m->due[i]]);
    return 0;
}

/* The sectors of this rank whose lists are not of the anchors as they are; the worst of what
 * happened to the lists since. */
static weft_result find_due(lj *m)
{
    const uint64_t wanted = weft_shard_tick(m->space.shard) / list_every * list_every + 1;
    weft_result result = WEFT_OK;
    m->due_count = 0;
    for (uint32_t i = 0; i < m->run->info.sectors; i++) {
        if (weft_shard_rank_of(m->space.shard, i) != m->run->info.rank) continue;
        if (m->made[i] != WEFT_OK) result = m->made[i];
        if (m->lists[i].made != wanted) m->due[m->due_count++] = i;
    }
    return result;
}

static weft_result renew_lists(lj *m)
{
    weft_result result = weft_ranks_agree(find_due(m));
    uint64_t due = m->due_count;
    if (result == WEFT_OK) result = weft_ranks_max(&due, 1);
    if (result != WEFT_OK || due == 0) return result;
    result = weft_shard_exchange(m->run->shard);
    if (result != WEFT_OK) return result;
    const weft_job_for_desc loop = {.fn = make_lists, .argument = m, .count = m->due_count};
    result = weft_job_for(weft_job_pool_owner(weft_world_pool(m->run->world)), &loop, NULL);
    if (result == WEFT_OK) result = find_due(m);
    return weft_ranks_agree(result);
}

/* As LAMMPS defines them: degrees of freedom 3 N - 3, no correction for the cut-off. */
static weft_result note_thermo(lj *m, uint64_t tick)
{
    lj_totals all = {.energy = {{0}, 0}};
    for (uint32_t i = 0; i < m->workers; i++) {
        weft_sum_merge(&all.energy, &m->totals[i].energy);
        weft_sum_merge(&all.virial, &m->totals[i].virial);
        weft_sum_merge(&all.kinetic, &m->totals[i].kinetic);
        m->totals[i] = (lj_totals){.energy = {{0}, 0}};
    }
    weft_sum sums[3] = {all.energy, all.virial, all.kinetic};
    uint64_t count;
    weft_result result = weft_ranks_sum_exact(sums, 3);
    if (result == WEFT_OK) result = demo_count(m->run, &count);
    if (result != WEFT_OK || m->thermo_count == thermo_max) return result;
    const double n = (double)count, free_count = 3 * n - 3, volume = pow(m->space.side, 3);
    const double kinetic = weft_sum_value(&sums[2]);
    lj_thermo *t = &m->thermo[m->thermo_count++];
    t->tick = tick;
    t->temperature = kinetic / free_count;
    t->energy = weft_sum_value(&sums[0]) / 2 / n;
    t->total = t->energy + kinetic / 2 / n;
    t->pressure = (kinetic + weft_sum_value(&sums[1]) / 2) / (3 * volume);
    return WEFT_OK;
}

static weft_result after_step(demo *run)
{
    lj *m = run->state;
    const uint64_t tick = weft_shard_tick(run->shard);
    const weft_result result = renew_lists(m);
    if (result != WEFT_OK || tick == 0 || (tick - 1) % thermo_every != 0) return result;
    return run->has_stepped ? note_thermo(m, tick - 1) : WEFT_OK;
}

static weft_result report(demo *run)
{
    const lj *m = run->state;
    for (uint32_t i = 0; i < m->thermo_count && demo_is_first(); i++) {
        const lj_thermo *t = &m->thermo[i];
        if (run->options->is_json)
            printf("{\"type\":\"thermo\",\"step\":%llu,\"temperature\":%.15g,\"energy\":%.15g,"
                   "\"total\":%.15g,\"pressure\":%.15g}\n",
                   (unsigned long long)t->tick, t->temperature, t->energy, t->total, t->pressure);
        else
            printf("step %llu: temperature %.9g, energy %.9g, total %.9g, pressure %.9g\n",
                   (unsigned long long)t->tick, t->temperature, t->energy, t->total, t->pressure);
    }
    return WEFT_OK;
}

const demo_model demo_lj = {
    .name = "lj",
    .summary = "a Lennard-Jones melt: forces from lists of neighbours",
    .size = 4000,
    .describe = describe,
    .systems = create_systems,
    .populate = populate,
    .after_step = after_step,
    .report = report,
    .end = end,
};
