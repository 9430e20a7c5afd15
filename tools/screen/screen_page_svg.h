/* SPDX-License-Identifier: MIT */
/* screen_page_svg.h: the pictures of the report page: inline SVG without scripts, in the colours of
 * the page (its CSS variables), so that they follow light and dark.
 */
#ifndef WEFT_SCREEN_SCREEN_PAGE_SVG_H
#define WEFT_SCREEN_SCREEN_PAGE_SVG_H

#include <stdint.h>
#include <stdio.h>

/* One axis: values [low, high], labelled every `tick` from the first multiple on. `labels` names
 * the ticks instead of numbers when it is given. */
struct svg_axis {
    double low, high, tick;
    const char *title;
    const char *(*label)(double value, char text[32]); /* NULL: as a number */
};

/* A point with a text that shows when the pointer is over it. */
struct svg_point {
    double x, y;
    char title[160];
};

struct svg_chart {
    FILE *out;
    const char *name; /* for readers that cannot see it */
    struct svg_axis x, y;
};

void svg_chart_begin(const struct svg_chart *chart);
/* Counts of a grid of columns x rows over the whole chart as shades, the logarithm of the count. */
void svg_chart_density(const struct svg_chart *chart, const uint32_t *counts, uint32_t columns,
                       uint32_t rows);
/* Bars of equal width over the whole x axis; y is the decimal logarithm of the count. */
void svg_chart_bars(const struct svg_chart *chart, const uint32_t *counts, uint32_t count);
void svg_chart_points(const struct svg_chart *chart, const struct svg_point *points,
                      uint32_t count);
void svg_chart_end(const struct svg_chart *chart);

/* The largest of 1, 2, 5 x 10^n that cuts `span` into at least `parts` pieces. */
double svg_tick(double span, double parts);

/* Text with the five characters of XML escaped. */
void svg_text(FILE *out, const char *text);

#endif
