/* SPDX-License-Identifier: MIT */
/* lj_data.c: of a data file only what a melt has: one type of atoms in a cube.
 */
#include "lj_data.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { atoms_max = 100000000, line_bytes = 256 };

void lj_data_fini(lj_data *data)
{
    free(data->positions);
    free(data->velocities);
    *data = (lj_data){.count = 0};
}

/* "32000 atoms" and "0 33.59 xlo xhi". */
static bool read_head(const char *line, lj_data *data)
{
    unsigned count;
    double low, high;
    char axis[4];
    int end = -1;
    if (sscanf(line, "%u atoms%n", &count, &end) == 1 && end > 0) {
        if (data->positions || count == 0 || count > atoms_max) return false;
        data->count = count;
        data->positions = calloc(count, sizeof *data->positions);
        data->velocities = calloc(count, sizeof *data->velocities);
        return data->positions && data->velocities;
    }
    if (sscanf(line, "%lf %lf %3s", &low, &high, axis) != 3) return true;
    if (strcmp(axis, "xlo") != 0 && strcmp(axis, "ylo") != 0 && strcmp(axis, "zlo") != 0)
        return true;
    if (data->side > 0 && (high < data->side || high > data->side)) return false;
    data->side = high;
    return (low <= 0 && low >= 0) && high > 0;
}

/* "1 1 0.0 0.0 0.0 0 0 0" below Atoms, "1 0.5 -0.5 0.1" below Velocities. */
static bool read_row(const char *line, lj_data *data, bool is_atom)
{
    unsigned number, type;
    double at[3];
    const int found =
        is_atom ? sscanf(line, "%u %u %lf %lf %lf", &number, &type, &at[0], &at[1], &at[2]) - 1
                : sscanf(line, "%u %lf %lf %lf", &number, &at[0], &at[1], &at[2]);
    if (found != 4 || number == 0 || number > data->count) return false;
    memcpy(is_atom ? data->positions[number - 1] : data->velocities[number - 1], at, sizeof at);
    return true;
}

int lj_data_read(const char *path, lj_data *data)
{
    *data = (lj_data){.count = 0};
    FILE *file = fopen(path, "r");
    if (!file) {
        weft_cli_fail("shard-demo", "%s: %s", path, strerror(errno));
        return -1;
    }
    char line[line_bytes];
    uint32_t at = 0, atoms = 0, velocities = 0;
    enum { HEAD, ATOMS, VELOCITIES, OTHER } part = HEAD;
    bool is_good = true;
    while (is_good && fgets(line, sizeof line, file)) {
        at++;
        if (at == 1 || line[strspn(line, " \t\r\n")] == '\0') continue; /* the first is a title */
        if (line[0] >= 'A' && line[0] <= 'Z') {
            part = strncmp(line, "Atoms", 5) == 0         ? ATOMS
                   : strncmp(line, "Velocities", 10) == 0 ? VELOCITIES
                                                          : OTHER;
            continue;
        }
        if (part == HEAD) is_good = read_head(line, data);
        if (part == ATOMS) is_good = read_row(line, data, true), atoms++;
        if (part == VELOCITIES) is_good = read_row(line, data, false), velocities++;
    }
    fclose(file);
    is_good =
        is_good && data->count > 0 && data->side > 0 && atoms == data->count && velocities == atoms;
    if (is_good) return 0;
    weft_cli_fail("shard-demo",
                  "%s:%u: not a data file of a melt: atoms of one type in a cube from 0, with "
                  "velocities, as `write_data` of LAMMPS makes it",
                  path, (unsigned)at);
    return -1;
}
