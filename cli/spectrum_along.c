/* spectrum_along.c - the modes along a run in words, as JSON and as a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const double NEAR = 5; /* %, of episodes */
enum { SHOWN = 10, MOST_CURVES = 12 };

static taut_modes_rows rows_of(const taut_modes_along *along)
{
    taut_modes_rows rows = {.size = sizeof rows};
    taut_modes_along_get(along, &rows, NULL);
    return rows;
}

long long cli_along_number(const taut_modes_rows *rows, int k)
{
    return k < rows->modes - rows->modes / 2 ? k + 1 : k + 1 + (long long)rows->missing;
}

/* The changes of the actions of the modes in resonance. */
static void print_changes(const taut_modes_episode *e, FILE *to)
{
    const int mode[] = {e->resonance.j, e->resonance.k, e->resonance.l};
    const char *before = ";";
    for (int s = 0; s < 3; s++)
        if (isfinite(e->moved[s]) && !(s == 2 && mode[2] == mode[1])) {
            fprintf(to, "%s action %d by %.3g", before, mode[s] + 1, e->moved[s]);
            before = ",";
        }
    fprintf(to, "\n");
}

void cli_along_print(taut_modes_along *along, FILE *to)
{
    taut_modes_rows rows = rows_of(along);
    taut_modes_episode now = {.size = sizeof now};
    if (rows.episodes == 0) {
        fprintf(to, "  no resonance within %g%%\n", NEAR);
        return;
    }
    fprintf(to, "  resonances within %g%%, by the share of the actions that changes there\n", NEAR);
    for (int e = 0; e < SHOWN && taut_modes_episode_get(along, e, &now, NULL) == 0; e++) {
        const taut_resonance *r = &now.resonance;
        fprintf(to, "    mode %d ~ mode %d", r->j + 1, r->k + 1);
        if (r->l >= 0)
            fprintf(to, " + mode %d", r->l + 1);
        fprintf(to, ", closest (%.2g%%) at t = %.5g, from t = %.4g to %.4g: %.2g%%", 100 * r->gap,
                now.t, now.from, now.until, 100 * now.share);
        print_changes(&now, to);
    }
    if (rows.more + rows.episodes > SHOWN)
        fprintf(to, "    and %lld others%s\n", (long long)rows.more + rows.episodes - SHOWN,
                rows.more > 0 ? "" : ", which --json contains");
}

void cli_along_json(taut_modes_along *along, cli_json *json)
{
    taut_modes_rows rows = rows_of(along);
    taut_modes_episode now = {.size = sizeof now};
    cli_json_open(json, "resonances", '[');
    for (int e = 0; taut_modes_episode_get(along, e, &now, NULL) == 0; e++) {
        cli_json_open(json, NULL, '{');
        cli_json_integer(json, "mode", now.resonance.j + 1);
        cli_json_open_flat(json, "near", '[');
        cli_json_integer(json, NULL, now.resonance.k + 1);
        if (now.resonance.l >= 0)
            cli_json_integer(json, NULL, now.resonance.l + 1);
        cli_json_close(json, ']');
        cli_json_real(json, "t", now.t);
        cli_json_real(json, "gap", now.resonance.gap);
        cli_json_real(json, "from", now.from);
        cli_json_real(json, "until", now.until);
        cli_json_real(json, "share", now.share);
        cli_json_reals(json, "change", now.change, rows.modes);
        cli_json_reals(json, "moved", now.moved, now.resonance.l >= 0 ? 3 : 2);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

/* One curve of `count` numbers, each `stride` from the next; those that are not finite are left
 * out. */
static int put_curve(const taut_modes_rows *rows, const double *value, int stride, double unit,
                     int at, double *x, double *y)
{
    for (int64_t i = 0; i < rows->rows; i++)
        if (isfinite(value[i * stride])) {
            x[at] = rows->t[i];
            y[at++] = unit * value[i * stride];
        }
    return at;
}

/* Frequencies, actions and the closest gap; of many modes those at both ends. */
int cli_along_draw(const taut_modes_along *along, const char *title, const char *path,
                   taut_error *error)
{
    const char *const labels[] = {title, "t", "frequency", "action", "closest gap, %"};
    taut_modes_rows rows = rows_of(along);
    int shown = rows.modes < MOST_CURVES ? rows.modes : MOST_CURVES, curves = 2 * shown + 1,
        start[2 * MOST_CURVES + 2] = {0};
    const int first[] = {0, shown, 2 * shown, curves};
    char name[2 * MOST_CURVES + 1][24] = {""};
    const char *names[2 * MOST_CURVES + 1];
    size_t points = (size_t)curves * (size_t)rows.rows;
    double *x = calloc(points + 1, sizeof *x), *y = calloc(points + 1, sizeof *y);
    for (int c = 0; c < curves && x && y; c++) {
        int k = c % shown, mode = k < shown - shown / 2 ? k : rows.modes - shown + k;
        bool gap = c == 2 * shown;
        const double *value = gap ? rows.gap : (c < shown ? rows.frequency : rows.action) + mode;
        if (!gap)
            snprintf(name[c], sizeof name[c], "mode %lld", cli_along_number(&rows, mode));
        names[c] = name[c];
        start[c + 1] = put_curve(&rows, value, gap ? 1 : rows.modes, gap ? 100 : 1, start[c], x, y);
    }
    /* one mode has no gap, and those at the ends of a large spectrum have no actions */
    int panels = start[curves] > start[curves - 1] ? 3 : start[2 * shown] > start[shown] ? 2 : 1;
    int code = x && y
                   ? taut_plot_panels(path, labels, panels, first, names, start, x, y, false, error)
                   : TAUT_ERROR_MEMORY;
    if (!x || !y)
        snprintf(error->message, sizeof error->message, "out of memory");
    free(x);
    free(y);
    return code;
}
