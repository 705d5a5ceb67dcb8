/* sweep_picture.c - kept values against varied ones: a panel for each kept value. One varied name
 * with several values gives points along it; of more, the one with most values is the axis, and
 * each combination of the others is a curve; two that both have many values make a map. Failed runs
 * are crosses, at the lower edge of curves and at their place in a map. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/panels.h"
#include "verbs/sweep.h"

enum { WIDTH = 1000, HEIGHT = 720, MOST_CURVES = 8, NAME = 200 };
static const double WIDE = 100; /* ratio of values that a logarithmic axis shows */

typedef struct picture {
    const taut_sweep *sweep;
    taut_arena arena;
    int x, y;         /* varied names on the axes; y of a map, else -1 */
    int64_t curves;   /* besides the crosses */
    char **name;      /* of curves */
    int64_t *of;      /* [rows]: curve of each run */
    double *at[2];    /* [rows] on the axes */
    const char **tic; /* words on the x axis, or NULL */
    int tics;
} picture;

/* Names with more than one value, the one with most first; their number. */
static int rank(const taut_vary_plan *plan, int order[2])
{
    int count = 0;
    order[0] = order[1] = -1;
    for (int j = 0; j < plan->count; j++) {
        const taut_varied *v = &plan->varied[j];
        if (v->count < 2 && !(plan->random && v->item[0].from != v->item[0].to))
            continue;
        count++;
        bool first = order[0] < 0 || (!plan->zip && !plan->random &&
                                      v->count > plan->varied[order[0]].count && !v->words);
        if (first) {
            order[1] = order[0];
            order[0] = j;
        } else if (order[1] < 0 || v->count > plan->varied[order[1]].count) {
            order[1] = j;
        }
    }
    order[0] = order[0] < 0 ? 0 : order[0];
    return count;
}

/* Where value j of run k is on an axis: words have places 1, 2, ... */
static double place(const picture *p, int64_t k, int j)
{
    const taut_vary_plan *plan = &p->sweep->plan;
    double value = p->sweep->varied[k * plan->count + j];
    char text[TAUT_VARIED_TEXT], other[TAUT_VARIED_TEXT];
    if (!plan->varied[j].words)
        return value;
    taut_vary_value(plan, k, j, text);
    for (int i = 0; i < plan->varied[j].items; i++) {
        const taut_vary_item *item = &plan->varied[j].item[i];
        if (!item->word)
            taut_number_format(item->from, 17, other);
        if (strcmp(text, item->word ? item->word : other) == 0)
            return i + 1;
    }
    return NAN;
}

/* "gravity = 9.81, method = dop8": all that is not on the axis. */
static void curve_name(const picture *p, int64_t k, char name[NAME])
{
    const taut_vary_plan *plan = &p->sweep->plan;
    char text[TAUT_VARIED_TEXT];
    int used = 0;
    name[0] = '\0';
    for (int j = 0; j < plan->count && used < NAME; j++) {
        if (j == p->x || plan->varied[j].count < 2)
            continue;
        double value = taut_vary_value(plan, k, j, text);
        if (!isnan(value))
            taut_number_format(value, 6, text);
        used += snprintf(name + used, (size_t)(NAME - used), "%s%s = %s", used ? ", " : "",
                         plan->varied[j].name, text);
    }
}

/* Which curve each run belongs to. */
static int find_curves(picture *p, taut_error *error)
{
    const taut_sweep *sweep = p->sweep;
    bool single = sweep->plan.zip || sweep->plan.random || p->y >= 0;
    char text[NAME];
    int64_t capacity = 0;
    for (int64_t k = 0; k < sweep->rows; k++) {
        text[0] = '\0';
        if (!single)
            curve_name(p, k, text);
        int64_t c = 0;
        while (c < p->curves && strcmp(p->name[c], text) != 0)
            c++;
        p->of[k] = c;
        if (c < p->curves)
            continue;
        p->name = taut_arena_grow(&p->arena, p->name, p->curves, &capacity, sizeof *p->name);
        TAUT_NEED(error, p->name);
        p->name[p->curves] = taut_arena_text(&p->arena, text, strlen(text));
        TAUT_NEED(error, p->name[p->curves]);
        p->curves++;
    }
    return TAUT_OK;
}

static int prepare(picture *p, taut_error *error)
{
    const taut_sweep *sweep = p->sweep;
    const taut_vary_plan *plan = &sweep->plan;
    int order[2], several = rank(plan, order);
    bool map = several == 2 &&
               (plan->random || (!plan->zip && plan->varied[order[1]].count > MOST_CURVES));
    p->x = order[0];
    p->y = map ? order[1] : -1;
    p->of = TAUT_NEW(&p->arena, int64_t, sweep->rows);
    TAUT_NEED(error, p->of);
    TAUT_TRY(TAUT_RESERVE(&p->arena, sweep->rows, error, &p->at[0], &p->at[1]));
    for (int64_t k = 0; k < sweep->rows; k++) {
        p->at[0][k] = place(p, k, p->x);
        p->at[1][k] = map ? place(p, k, p->y) : NAN;
    }
    const taut_varied *v = &plan->varied[p->x];
    if (v->words) {
        p->tic = TAUT_NEW(&p->arena, const char *, v->items);
        TAUT_NEED(error, p->tic);
        for (p->tics = 0; p->tics < v->items; p->tics++)
            p->tic[p->tics] = v->item[p->tics].word ? v->item[p->tics].word : "number";
    }
    return find_curves(p, error);
}

/* Where the box of run k ends on an axis: half-way to the next value, or mirrored from the other
 * side; in logarithms on such an axis. */
static double edge_of(const picture *p, int64_t k, int axis, int way, bool logarithmic)
{
    const double *at = p->at[axis], own = at[k];
    double next[2] = {INFINITY, INFINITY}; /* distance to the values below and above */
    const taut_vary_plan *plan = &p->sweep->plan;
    int name = axis == 0 ? p->x : p->y;
    int64_t stride = 1; /* to the run with the next value */
    for (int j = name + 1; j < plan->count; j++)
        stride *= plan->varied[j].count;
    for (int64_t i = 0; i < plan->varied[name].count * stride && i < p->sweep->rows; i += stride) {
        double off = logarithmic ? log(at[i] / own) : at[i] - own;
        if (off != 0)
            next[off > 0] = fmin(next[off > 0], fabs(off));
    }
    double half = (isfinite(next[way > 0]) ? next[way > 0] : next[way < 0]) / 2;
    half = isfinite(half) ? way * half : 0.5 * way;
    return logarithmic ? own * exp(half) : own + half;
}

static int make_edges(picture *p, taut_panel *panel, taut_error *error)
{
    const int64_t rows = p->sweep->rows;
    double *edge[4];
    int64_t count = 0;
    TAUT_TRY(TAUT_RESERVE(&p->arena, rows, error, &edge[0], &edge[1], &edge[2], &edge[3]));
    for (int64_t k = 0; k < rows; k++) {
        if (p->sweep->record[k].status < 0)
            continue;
        for (int j = 0; j < 4; j++)
            edge[j][count] =
                edge_of(p, k, j / 2, j % 2 ? 1 : -1, j < 2 ? panel->log_x : panel->log_y);
        count++;
    }
    for (int j = 0; j < 4; j++)
        panel->edge[j] = edge[j];
    return TAUT_OK;
}

/* The points of curve c of kept value j; c == curves: failed runs, at the height `low`. */
static int take_points(picture *p, int j, int64_t c, double low, taut_panel *panel,
                       taut_curve *curve, taut_error *error)
{
    const taut_sweep *sweep = p->sweep;
    double *x, *y, *z;
    int64_t count = 0;
    TAUT_TRY(TAUT_RESERVE(&p->arena, sweep->rows, error, &x, &y, &z));
    for (int64_t k = 0; k < sweep->rows; k++) {
        bool failed = sweep->record[k].status < 0;
        if (c == p->curves ? !failed : failed || p->of[k] != c)
            continue;
        x[count] = p->at[0][k];
        z[count] = sweep->kept[k * sweep->keeps + j];
        y[count] = p->y >= 0 ? p->at[1][k] : failed ? low : z[count];
        count++;
    }
    curve->x = x;
    curve->y = y;
    if (c < p->curves && p->y >= 0)
        panel->z = z;
    curve->count = count;
    return TAUT_OK;
}

/* Least and most of kept value j; false: there is none. */
static bool range(const taut_sweep *sweep, int j, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (int64_t k = 0; k < sweep->rows; k++) {
        double value = sweep->kept[k * sweep->keeps + j];
        if (isfinite(value)) {
            *least = fmin(*least, value);
            *most = fmax(*most, value);
        }
    }
    return *least <= *most;
}

static int make_panel(picture *p, int j, taut_panel *panel, taut_error *error)
{
    const taut_sweep *sweep = p->sweep;
    const taut_vary_plan *plan = &sweep->plan;
    const taut_varied *x = &plan->varied[p->x], *y = p->y >= 0 ? &plan->varied[p->y] : NULL;
    double least, most;
    bool any = range(sweep, j, &least, &most), ordered = !plan->random && !x->words;
    taut_curve *curve = TAUT_NEW(&p->arena, taut_curve, p->curves + 1);
    TAUT_NEED(error, curve);
    *panel = (taut_panel){.x = x->name,
                          .y = y ? y->name : sweep->keep[j],
                          .title = y ? sweep->keep[j] : NULL,
                          .log_x = x->logarithmic && !x->words,
                          .log_y = y ? y->logarithmic && !y->words
                                     : any && least > 0 && most > WIDE * least,
                          .curve = curve,
                          .tic = p->tic,
                          .tics = p->tics};
    double low = !any ? 1 : panel->log_y ? least / 1.5 : least - 0.06 * (most - least);
    for (int64_t c = 0; c <= p->curves; c++) {
        taut_curve *now = &curve[panel->curves];
        *now = (taut_curve){.style = c == p->curves                 ? TAUT_CURVE_CROSSES
                                     : y                            ? TAUT_CURVE_MAP
                                     : !ordered                     ? TAUT_CURVE_POINTS
                                     : sweep->rows / p->curves > 60 ? TAUT_CURVE_LINE
                                                                    : TAUT_CURVE_SHAPES,
                            .name = c == p->curves ? "failed" : p->name[c],
                            .colour = c == p->curves ? 7 : (int)(c % MOST_CURVES) + 1};
        TAUT_TRY(take_points(p, j, c, low, panel, now, error));
        panel->curves += now->count > 0;
    }
    return y && !plan->random ? make_edges(p, panel, error) : TAUT_OK;
}

int taut_sweep_plot(const taut_sweep *sweep, const char *path, const char *title, taut_error *error)
{
    taut_panel panel[TAUT_PANELS];
    taut_error_clear(error);
    TAUT_REQUIRE(sweep && path);
    if (sweep->rows == 0)
        return taut_fail(error, TAUT_ERROR_USAGE, "the sweep has no rows to draw");
    int panels = sweep->keeps < TAUT_PANELS ? sweep->keeps : TAUT_PANELS, status = TAUT_OK;
    picture p = {.sweep = sweep};
    taut_arena_init(&p.arena, &sweep->arena.allocator);
    status = prepare(&p, error);
    for (int j = 0; j < panels && status == 0; j++)
        status = make_panel(&p, j, &panel[j], error);
    if (status == 0)
        status = taut_panels_draw(path, title, panel, panels, WIDTH, HEIGHT, error);
    taut_arena_clear(&p.arena);
    return status;
}
