/* SPDX-License-Identifier: MIT */
/* sgp4_block.c: blocks: rows turned into one array per quantity, and the resonance node of a
 * lane moved in place.
 *
 * A row is a struct of doubles, so it is an array; a block of SGP4_LANES rows is the transpose
 * of that array.
 */
#include <string.h>

#include "sgp4.h"
#include "sgp4_block.h"

enum { near_columns = sizeof(struct sgp4_near) / sizeof(double) };
enum { deep_columns = sizeof(struct sgp4_deep) / sizeof(double) };

static_assert(sizeof(struct sgp4_near_block) == (near_columns + 1) * SGP4_LANES * sizeof(double),
              "no padding");
static_assert(sizeof(struct sgp4_deep_block) == (deep_columns + 1) * SGP4_LANES * sizeof(double),
              "no padding");

static_assert((int)deep_columns >= (int)near_columns, "a deep row is the larger");

static void load_lane(double *block, const void *row, uint32_t columns, uint32_t lane)
{
    double value[deep_columns]; /* the larger of the two */
    memcpy(value, row, columns * sizeof(double));
    for (uint32_t c = 0; c < columns; c++) block[c * SGP4_LANES + lane] = value[c];
}

/* Minutes from each lane's epoch to the moment: days and fractions are subtracted apart. */
static void load_offsets(const double *epoch_day, const double *epoch_fraction, double *offset,
                         const double moment[2])
{
    for (uint32_t i = 0; i < SGP4_LANES; i++) {
        offset[i] = (moment[0] - epoch_day[i]) * 1440.0 + (moment[1] - epoch_fraction[i]) * 1440.0;
    }
}

void sgp4_near_block_load(struct sgp4_near_block *block, const struct sgp4_near *const *rows,
                          uint32_t count, double day, double fraction)
{
    for (uint32_t i = 0; i < SGP4_LANES; i++) {
        load_lane((double *)block, rows[i < count ? i : 0], near_columns, i);
    }
    load_offsets(block->epoch_day, block->epoch_fraction, block->offset,
                 (double[2]){day, fraction});
}

void sgp4_deep_block_load(struct sgp4_deep_block *block, const struct sgp4_deep *const *rows,
                          uint32_t count, double day, double fraction)
{
    for (uint32_t i = 0; i < SGP4_LANES; i++) {
        load_lane((double *)block, rows[i < count ? i : 0], deep_columns, i);
    }
    load_offsets(block->epoch_day, block->epoch_fraction, block->offset,
                 (double[2]){day, fraction});
}

void sgp4_deep_block_keep(const struct sgp4_deep_block *block, struct sgp4_deep *const *rows,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rows[i]->atime = block->atime[i];
        rows[i]->xli = block->xli[i];
        rows[i]->xni = block->xni[i];
        rows[i]->xldot = block->xldot[i];
        rows[i]->xndt = block->xndt[i];
        rows[i]->xnddt = block->xnddt[i];
    }
}

void sgp4_deep_block_seek(struct sgp4_deep_block *block, uint32_t lane, double t)
{
    double value[deep_columns];
    const double *columns = (const double *)block;
    for (uint32_t c = 0; c < deep_columns; c++) value[c] = columns[c * SGP4_LANES + lane];
    struct sgp4_deep row;
    memcpy(&row, value, sizeof row);
    sgp4_deep_seek(&row, t);
    load_lane((double *)block, &row, deep_columns, lane);
}
