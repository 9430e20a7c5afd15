/* SPDX-License-Identifier: MIT */
/* contacts.c: which circles touch: a grid finds the pairs, each once. */
#include <stdio.h>
#include <weft/grid.h>
#include <weft/random.h>

enum { COUNT = 5000 };

static const weft_grid *grid;
static float at[COUNT][2];

static int touch(uint32_t a, uint32_t b)
{
    float x = at[a][0] - at[b][0], y = at[a][1] - at[b][1];
    return x * x + y * y < 1;
}

static int count_of_cell(const weft_grid_view *view, uint32_t cell)
{
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    uint32_t run_count = weft_grid_runs_half(grid, cell, runs);
    int count = 0;
    for (uint32_t k = view->cell_begin[cell]; k < view->cell_begin[cell + 1]; k++) {
        for (uint32_t j = k + 1; j < view->cell_begin[cell + 1]; j++) /* in the cell */
            count += touch(view->points[k], view->points[j]);
        for (uint32_t r = 0; r < run_count; r++) /* in the cells behind it */
            for (uint32_t j = runs[r].begin; j < runs[r].end; j++)
                count += touch(view->points[k], view->points[j]);
    }
    return count;
}

int main(void)
{
    weft_grid *made;
    weft_grid_desc box = {
        .dimensions = 2, .most = {100, 100}, .reach = 1}; /* circles of radius 1/2 */
    if (weft_grid_create(&box, &made) != WEFT_OK) return 1;
    grid = made;
    for (uint32_t i = 0; i < COUNT; i++) {
        weft_random random = weft_random_of(1, i, 0, 0);
        for (int axis = 0; axis < 2; axis++) at[i][axis] = weft_random_float(&random) * 100;
    }
    weft_grid_build(made, NULL,
                    &(weft_grid_points){.positions = at, .stride = sizeof *at, .count = COUNT});
    weft_grid_view view;
    weft_grid_view_get(made, &view, sizeof view);

    int found = 0, expected = 0;
    for (uint32_t cell = 0; cell < view.cell_count; cell++) found += count_of_cell(&view, cell);
    for (uint32_t a = 0; a < COUNT; a++)
        for (uint32_t b = a + 1; b < COUNT; b++) expected += touch(a, b);
    printf("contacts: %s\n", found == expected && found > 0 ? "as all pairs say" : "wrong");
    weft_grid_destroy(made);
}

/* prints:
 * contacts: as all pairs say
 */
