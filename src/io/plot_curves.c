/* plot_curves.c - a picture of curves through points: error against work, results and
 * published ones. */
#include "io/panels.h"

/* points of a curve that is drawn as a line alone */
enum { WIDTH = 1000, HEIGHT = 720, MANY = 40 };

int taut_plot(const char *path, const char *const *labels, const char *const *names, int curves,
              const int *start, const double *x, const double *y, bool logarithmic,
              taut_error *error)
{
    taut_arena arena;
    taut_error_clear(error);
    TAUT_REQUIRE(path && labels && curves >= 0 && (curves == 0 || (names && start && x && y)));
    taut_arena_init(&arena, NULL);
    taut_curve *curve = TAUT_NEW(&arena, taut_curve, curves < 1 ? 0 : curves);
    TAUT_NEED(error, curve);
    for (int c = 0; c < curves; c++)
        curve[c] = (taut_curve){.name = names[c],
                                .x = x + start[c],
                                .y = y + start[c],
                                .count = start[c + 1] - start[c],
                                .style = start[c + 1] - start[c] > MANY ? TAUT_CURVE_LINE
                                                                        : TAUT_CURVE_SHAPES,
                                .colour = c + 1};
    taut_panel panel = {.x = labels[1],
                        .y = labels[2],
                        .log_x = logarithmic,
                        .log_y = logarithmic,
                        .curves = curves,
                        .curve = curve};
    int status = taut_panels_draw(path, labels[0], &panel, 1, WIDTH, HEIGHT, error);
    taut_arena_clear(&arena);
    return status;
}
