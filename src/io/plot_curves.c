/* plot_curves.c - a picture of curves through points: error against work, results and published
 * ones; frequencies, actions and gaps along a run, in panels one below the other. */
#include "io/panels.h"

/* points of a curve that is drawn as a line alone */
enum { WIDTH = 1000, HEIGHT = 720, MANY = 40 };

int taut_plot_panels(const char *path, const char *const *labels, int panels, const int *first,
                     const char *const *names, const int *start, const double *x, const double *y,
                     bool logarithmic, taut_error *error)
{
    taut_arena arena;
    taut_panel panel[TAUT_PANELS];
    taut_error_clear(error);
    TAUT_REQUIRE(path && labels && panels >= 1 && panels <= TAUT_PANELS && first);
    int curves = first[panels];
    TAUT_REQUIRE(curves >= 0 && (curves == 0 || (names && start && x && y)));
    taut_arena_init(&arena, NULL);
    taut_curve *curve = TAUT_NEW(&arena, taut_curve, curves);
    TAUT_NEED(error, curve);
    for (int p = 0; p < panels; p++) {
        panel[p] = (taut_panel){.x = labels[1],
                                .y = labels[2 + p],
                                .log_x = logarithmic,
                                .log_y = logarithmic,
                                .curves = first[p + 1] - first[p],
                                .curve = curve + first[p]};
        for (int c = first[p]; c < first[p + 1]; c++) {
            int count = start[c + 1] - start[c];
            curve[c] = (taut_curve){.name = names[c],
                                    .x = x + start[c],
                                    .y = y + start[c],
                                    .count = count,
                                    .style = count > MANY ? TAUT_CURVE_LINE : TAUT_CURVE_SHAPES,
                                    .colour = c - first[p] + 1};
        }
    }
    int status = taut_panels_draw(path, labels[0], panel, panels, WIDTH, HEIGHT, error);
    taut_arena_clear(&arena);
    return status;
}

int taut_plot(const char *path, const char *const *labels, const char *const *names, int curves,
              const int *start, const double *x, const double *y, bool logarithmic,
              taut_error *error)
{
    const int first[] = {0, curves};
    return taut_plot_panels(path, labels, 1, first, names, start, x, y, logarithmic, error);
}
