/* SPDX-License-Identifier: MIT */
/* screen_page_svg.c: axes, shades, bars, points.
 */
#include "screen_page_svg.h"

#include <math.h>

enum { WIDTH = 760, HEIGHT = 280, LEFT = 64, RIGHT = 16, TOP = 12, BOTTOM = 44 };
enum { PLOT_WIDTH = WIDTH - LEFT - RIGHT, PLOT_HEIGHT = HEIGHT - TOP - BOTTOM };

void svg_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default: /* not UTF-8: the page says it is */
            fputc((unsigned char)*text < 0x80 ? *text : '?', out);
        }
    }
}

double svg_tick(double span, double parts)
{
    if (!(span > 0.0)) return 1.0;
    const double most = span / parts, unit = pow(10.0, floor(log10(most)));
    return most >= 5.0 * unit ? 5.0 * unit : most >= 2.0 * unit ? 2.0 * unit : unit;
}

static double x_of(const struct svg_chart *c, double value)
{
    return LEFT + PLOT_WIDTH * (value - c->x.low) / (c->x.high - c->x.low);
}

static double y_of(const struct svg_chart *c, double value)
{
    return TOP + PLOT_HEIGHT * (c->y.high - value) / (c->y.high - c->y.low);
}

static const char *label_of(const struct svg_axis *axis, double value, char text[32])
{
    if (axis->label) return axis->label(value, text);
    snprintf(text, 32, "%.10g", fabs(value) < 1e-9 * axis->tick ? 0.0 : value);
    return text;
}

static void draw_ticks(const struct svg_chart *c)
{
    char text[32];
    const double slack = 1e-9;
    for (double k = ceil(c->x.low / c->x.tick - slack); k * c->x.tick <= c->x.high + slack; k++) {
        const double x = x_of(c, k * c->x.tick);
        fprintf(c->out,
                "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                x, TOP, x, TOP + PLOT_HEIGHT, x, TOP + PLOT_HEIGHT + 16,
                label_of(&c->x, k * c->x.tick, text));
    }
    for (double k = ceil(c->y.low / c->y.tick - slack); k * c->y.tick <= c->y.high + slack; k++) {
        const double y = y_of(c, k * c->y.tick);
        fprintf(c->out,
                "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT, y, LEFT + PLOT_WIDTH, y, LEFT - 6, y + 4,
                label_of(&c->y, k * c->y.tick, text));
    }
}

void svg_chart_begin(const struct svg_chart *c)
{
    fprintf(c->out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
            HEIGHT);
    svg_text(c->out, c->name);
    fputs("\">\n", c->out);
    draw_ticks(c);
    fprintf(c->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", LEFT + PLOT_WIDTH / 2,
            HEIGHT - 8);
    svg_text(c->out, c->x.title);
    fprintf(c->out,
            "</text><text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">",
            TOP + PLOT_HEIGHT / 2);
    svg_text(c->out, c->y.title);
    fputs("</text>\n", c->out);
}

void svg_chart_density(const struct svg_chart *c, const uint32_t *counts, uint32_t columns,
                       uint32_t rows)
{
    const double width = (double)PLOT_WIDTH / columns, height = (double)PLOT_HEIGHT / rows;
    uint32_t most = 1;
    for (uint32_t i = 0; i < columns * rows; i++) most = counts[i] > most ? counts[i] : most;
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            const uint32_t count = counts[row * columns + column];
            if (count == 0) continue;
            fprintf(c->out,
                    "<rect class=\"shade\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "fill-opacity=\"%.2f\"/>\n",
                    LEFT + column * width, TOP + PLOT_HEIGHT - (row + 1) * height, width + 0.1,
                    height + 0.1, 0.15 + 0.75 * log1p(count) / log1p(most));
        }
    }
}

void svg_chart_bars(const struct svg_chart *c, const uint32_t *counts, uint32_t count)
{
    const double width = (double)PLOT_WIDTH / count;
    for (uint32_t i = 0; i < count; i++) {
        if (counts[i] == 0) continue;
        const double top = y_of(c, log10(counts[i]));
        fprintf(c->out,
                "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                "<title>%u</title></rect>\n",
                LEFT + i * width + 0.5, top, fmax(width - 1.0, 0.5), TOP + PLOT_HEIGHT - top,
                counts[i]);
    }
}

void svg_chart_points(const struct svg_chart *c, const struct svg_point *points, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fprintf(c->out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>",
                x_of(c, points[i].x), y_of(c, points[i].y));
        svg_text(c->out, points[i].title);
        fputs("</title></circle>\n", c->out);
    }
}

void svg_chart_end(const struct svg_chart *c)
{
    fprintf(c->out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></svg>\n",
            LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT);
}
