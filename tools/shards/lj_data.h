/* SPDX-License-Identifier: MIT */
/* lj_data.h: atoms of a data file as LAMMPS writes it (`write_data`): box, positions, velocities.
 */
#ifndef WEFT_SHARDS_LJ_DATA_H
#define WEFT_SHARDS_LJ_DATA_H

#include <stdint.h>

/* Atoms by number - 1. Owns its arrays. */
typedef struct lj_data {
    uint32_t count;
    double side; /* of the box, a cube from 0 */
    double (*positions)[3], (*velocities)[3];
} lj_data;

/* Reads a file. Returns 0, or -1 after saying on stderr what is wrong; lj_data_fini in any case. */
int lj_data_read(const char *path, lj_data *data);
void lj_data_fini(lj_data *data);

#endif
