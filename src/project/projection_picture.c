/* projection_picture.c - how a projection found its point, as a picture.
 *
 * Where passes sample (ipa, kernel): the bonds within the first window and within the last, with
 * the filtered points; the weights; residuals against force evaluations. Where they do not
 * (series, constraint): residuals, multipliers, what moved. For difference: differences of every
 * iteration and of every order, what moved. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vectors.h"
#include "io/panels.h"
#include "point/record.h"

enum {
    WIDTH = 1080,
    HEIGHT = 720,
    NAME = 64,
    NAMED = 16,
    FEW_SAMPLES = 81,
    MOST_STEMS = 2000,
    CURVES = 2 * TAUT_RECORD_BONDS
};

typedef struct picture {
    const taut_projection *p;
    taut_arena arena;
    bool good; /* memory was there */
    int panels;
    taut_panel panel[TAUT_PANELS];
    taut_curve curve[TAUT_PANELS][CURVES];
} picture;

/* ---- pieces */

static double *new_numbers(picture *w, int64_t count)
{
    double *numbers = TAUT_NEW(&w->arena, double, count);
    w->good &= numbers != NULL;
    return numbers;
}

static const char *keep_text(picture *w, const char *text)
{
    const char *copy = taut_arena_text(&w->arena, text, strlen(text));
    w->good &= copy != NULL;
    return copy ? copy : "";
}

static const char *name_of(picture *w, taut_item item, taut_index k)
{
    char name[NAME];
    taut_system_name(w->p->in->system, item, k, name, sizeof name);
    return keep_text(w, name);
}

static taut_panel *add_panel(picture *w, const char *title, const char *x, const char *y)
{
    taut_panel *panel = &w->panel[w->panels];
    *panel = (taut_panel){.title = title, .x = x, .y = y, .curve = w->curve[w->panels]};
    w->panels++;
    return panel;
}

static void add_curve(picture *w, taut_panel *panel, taut_curve curve)
{
    w->curve[panel - w->panel][panel->curves++] = curve;
}

/* ---- windows and weights */

static void add_window(picture *w, const taut_projection_window *window)
{
    char title[120];
    bool bonds = window->item == TAUT_BOND;
    const char *what = bonds ? "bonds" : "coordinates";
    int64_t all = bonds ? w->p->in->sizes.bonds : w->p->in->sizes.coordinates;
    snprintf(title, sizeof title, "pass %lld: the %s within its window", (long long)window->pass,
             what);
    if (all > window->bonds)
        snprintf(title, sizeof title, "pass %lld: %d of %lld %s within its window",
                 (long long)window->pass, window->bonds, (long long)all, what);
    taut_panel *panel =
        add_panel(w, keep_text(w, title), "time from the initial state", bonds ? "g" : "q");
    double *centre = new_numbers(w, 1);
    for (int k = 0; w->good && k < window->bonds; k++)
        add_curve(w, panel,
                  (taut_curve){name_of(w, window->item, window->bond[k]), window->t,
                               window->g + (int64_t)k * window->count, window->count,
                               window->count <= FEW_SAMPLES ? TAUT_CURVE_BOTH : TAUT_CURVE_LINE,
                               k + 1});
    for (int k = 0; w->good && k < window->bonds; k++)
        add_curve(w, panel,
                  (taut_curve){k ? NULL : "filtered", centre, window->filtered + k, 1,
                               TAUT_CURVE_MARKS, k + 1});
}

static bool same_weights(const taut_projection_window *a, const taut_projection_window *b)
{
    size_t bytes = (size_t)a->count * sizeof(double);
    return a->count == b->count && memcmp(a->weight, b->weight, bytes) == 0 &&
           memcmp(a->t, b->t, bytes) == 0;
}

static void add_weights(picture *w, const taut_projection_window *windows, int count)
{
    taut_panel *panel =
        add_panel(w, "kernel: weights of the samples", "time from the initial state", "weight");
    bool one = count < 2 || same_weights(&windows[0], &windows[1]);
    for (int k = 0; k < (one ? 1 : count); k++) {
        const taut_projection_window *at = &windows[k];
        char name[40];
        snprintf(name, sizeof name, "pass %lld", (long long)at->pass);
        taut_curve_style style = at->count <= FEW_SAMPLES ? TAUT_CURVE_STEMS : TAUT_CURVE_LINE;
        add_curve(w, panel,
                  (taut_curve){one ? NULL : keep_text(w, name), at->t, at->weight, at->count, style,
                               k + 1});
        if (style == TAUT_CURVE_STEMS)
            add_curve(w, panel,
                      (taut_curve){NULL, at->t, at->weight, at->count, TAUT_CURVE_POINTS, k + 1});
    }
}

/* ---- passes */

/* Residuals of every pass and what it changed; against evaluations where these were counted,
 * else against passes. */
static void add_passes(picture *w)
{
    const taut_projection *p = w->p;
    taut_index m = p->in->sizes.bonds;
    int64_t count = p->passes + 1;
    double *x = new_numbers(w, count), *y[4];
    for (int k = 0; k < 4; k++)
        y[k] = new_numbers(w, count);
    double *step = new_numbers(w, m);
    if (!w->good)
        return;
    bool counted = p->pass[p->passes].force_evaluations > p->pass[0].force_evaluations;
    for (int64_t k = 0; k < count; k++) {
        const taut_pass *now = &p->pass[k];
        x[k] = counted ? (double)now->force_evaluations : (double)k;
        y[0][k] = taut_largest(m, now->g);
        y[1][k] = taut_largest(m, now->gdot);
        for (taut_index i = 0; i < m; i++)
            step[i] = k ? now->g[i] - now[-1].g[i] : NAN;
        y[2][k] = taut_largest(m, step);
        for (taut_index i = 0; i < m; i++)
            step[i] = k ? now->gdot[i] - now[-1].gdot[i] : NAN;
        y[3][k] = taut_largest(m, step);
    }
    taut_panel *panel = add_panel(w, "residuals after every pass",
                                  counted ? "force evaluations" : "pass", "largest over the bonds");
    panel->log_y = panel->whole = true;
    static const char *const names[4] = {"|g|", "|gdot|", "change of g", "change of gdot"};
    for (int k = 0; k < 4; k++)
        add_curve(w, panel,
                  (taut_curve){names[k], x, y[k], count,
                               k < 2 ? TAUT_CURVE_BOTH : TAUT_CURVE_DASHED, k % 2 + 1});
}

/* ---- numbers of things: one stem each with names below when there are few, else points */

static taut_panel *add_things(picture *w, const char *title, taut_item item, taut_index count,
                              const char *y)
{
    static const char *const kinds[] = {[TAUT_COORDINATE] = "coordinate", [TAUT_BOND] = "bond"};
    taut_panel *panel = add_panel(w, title, count <= NAMED ? "" : kinds[item], y);
    if (count > NAMED)
        return panel;
    const char **tic = TAUT_NEW(&w->arena, const char *, count);
    w->good &= tic != NULL;
    for (taut_index k = 0; tic && k < count; k++)
        tic[k] = name_of(w, item, k);
    panel->tic = tic;
    panel->tics = (int)count;
    return panel;
}

static void add_stems(picture *w, taut_panel *panel, const char *name, const double *y,
                      taut_index count, int colour, double shift)
{
    taut_index stride = count / MOST_STEMS + 1, shown = (count + stride - 1) / stride;
    double *x = new_numbers(w, shown), *thinned = new_numbers(w, shown);
    for (taut_index k = 0; w->good && k < shown; k++) {
        x[k] = k * stride + 1 + (panel->tic ? shift : 0);
        thinned[k] = y[k * stride];
    }
    if (panel->tic)
        add_curve(w, panel, (taut_curve){name, x, thinned, shown, TAUT_CURVE_STEMS, colour});
    add_curve(w, panel,
              (taut_curve){panel->tic ? NULL : name, x, thinned, shown, TAUT_CURVE_POINTS, colour});
}

static void add_multipliers(picture *w)
{
    taut_index m = w->p->in->sizes.bonds;
    taut_panel *panel = add_things(w, "multipliers", TAUT_BOND, m, "lambda");
    add_stems(w, panel, NULL, w->p->lambda, m, 3, 0);
}

static void add_moved(picture *w)
{
    const taut_projection *p = w->p;
    taut_index n = p->in->sizes.coordinates;
    bool mechanical = p->in->sizes.kind == TAUT_MECHANICAL;
    double *moved[2] = {new_numbers(w, n), new_numbers(w, n)};
    if (!w->good)
        return;
    for (taut_index i = 0; i < n; i++) {
        moved[0][i] = p->q[i] - p->in->q[i];
        moved[1][i] = mechanical ? p->v[i] - p->in->v[i] : 0;
    }
    taut_panel *panel = add_things(w, "how far the initial state was moved", TAUT_COORDINATE, n,
                                   "result - initial state");
    add_stems(w, panel, mechanical ? "position" : NULL, moved[0], n, 1, mechanical ? -0.1 : 0);
    if (mechanical)
        add_stems(w, panel, "velocity", moved[1], n, 2, 0.1);
}

/* ---- projection difference */

static void add_iterations(picture *w)
{
    const taut_record *record = w->p->record;
    taut_panel *panel =
        add_panel(w, "difference that is left, every iteration", "iteration", "|difference|");
    panel->log_y = panel->whole = true;
    double *x = new_numbers(w, record->iterations), *y = new_numbers(w, record->iterations);
    for (int64_t k = 0; w->good && k < record->iterations; k++) {
        x[k] = (double)(k + 1);
        y[k] = record->iteration[k].difference;
    }
    for (int64_t from = 0, to; w->good && from < record->iterations; from = to) {
        int order = record->iteration[from].order;
        char name[40];
        for (to = from; to < record->iterations && record->iteration[to].order == order;)
            to++;
        snprintf(name, sizeof name, "order %d", order);
        add_curve(w, panel,
                  (taut_curve){keep_text(w, name), x + from, y + from, to - from,
                               to - from <= FEW_SAMPLES ? TAUT_CURVE_BOTH : TAUT_CURVE_LINE,
                               order + 1});
    }
}

static void add_orders(picture *w)
{
    const taut_projection *p = w->p;
    taut_panel *panel =
        add_panel(w, "what every order left and moved", "order", "largest over the variables");
    panel->log_y = panel->whole = true;
    double *x = new_numbers(w, p->stages), *left = new_numbers(w, p->stages),
           *moved = new_numbers(w, p->stages);
    for (int k = 0; w->good && k < p->stages; k++) {
        x[k] = p->stage[k].order;
        left[k] = p->stage[k].difference;
        moved[k] = p->stage[k].moved;
    }
    add_curve(w, panel, (taut_curve){"difference", x, left, p->stages, TAUT_CURVE_BOTH, 1});
    add_curve(w, panel, (taut_curve){"moved", x, moved, p->stages, TAUT_CURVE_BOTH, 2});
}

/* ---- the picture */

static void compose(picture *w)
{
    const taut_projection *p = w->p;
    taut_projection_window window[2] = {{.size = sizeof window[0]}, {.size = sizeof window[0]}};
    int windows = 0;
    while (windows < 2 && taut_projection_window_get(p, windows, &window[windows], NULL) == 0 &&
           window[windows].pass <= p->passes)
        windows++;
    for (int k = 0; k < windows; k++)
        add_window(w, &window[k]);
    if (windows > 0)
        add_weights(w, window, windows);
    if (p->record && p->record->iterations > 0) {
        add_iterations(w);
        add_orders(w);
    } else if (p->pass && p->in->sizes.bonds > 0)
        add_passes(w);
    if (p->status != 0)
        return;
    if (windows == 0 && p->in->sizes.kind == TAUT_MECHANICAL && p->in->sizes.bonds > 0)
        add_multipliers(w);
    if (windows == 0 || p->in->sizes.bonds == 0)
        add_moved(w);
}

int taut_projection_plot(const taut_projection *p, const char *path, const char *title,
                         taut_error *error)
{
    char text[160];
    taut_error_clear(error);
    TAUT_REQUIRE(p && path);
    snprintf(text, sizeof text, "%.100s%sprojection %s%s", title ? title : "",
             title && title[0] ? ": " : "", p->method->name,
             p->status == 0 ? "" : ", not converged");
    picture w = {.p = p, .good = true};
    taut_arena_init(&w.arena, &p->arena.allocator);
    compose(&w);
    int status = w.good ? taut_panels_draw(path, text, w.panel, w.panels, WIDTH, HEIGHT, error)
                        : taut_fail_memory(error);
    taut_arena_clear(&w.arena);
    return status;
}
