/* spectrum_along.c - what the modes do along a run: episodes in which frequencies are in resonance,
 * with the time at which they are closest and the actions that change there.
 *
 * An episode begins where a gap [E (11), (12)] is below NEAR and ends where it is above FAR. Near
 * the closest approach the square of the gap is a parabola in t, whether frequencies cross or avoid
 * each other: its vertex, by least squares over the rows, is the time that is stated, and little of
 * the vibration is left in it. An action changes by the difference of its means after and before,
 * over as many rows as the episode has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const double NEAR = 0.05, FAR = 0.06;
enum { SHOWN = 4, MOST_CURVES = 12 };

void cli_along_release(cli_along *w)
{
    free(w->row);
    *w = (cli_along){0};
}

static const double *row_of(const cli_along *w, int i)
{
    return w->row + (size_t)i * (size_t)(2 + 2 * w->modes);
}

double cli_along_action(const cli_along *w, int i, int k)
{
    return row_of(w, i)[2 + w->modes + k];
}

/* ---- rows */

static bool same(const taut_resonance *a, const taut_resonance *b)
{
    return a->j == b->j && a->k == b->k && a->l == b->l;
}

/* Continues or ends the episodes that are open, and begins others. */
static void follow(cli_along *w, const taut_modes_report *report)
{
    for (int e = 0; e < w->episodes; e++) {
        cli_episode *now = &w->episode[e];
        double gap = INFINITY;
        for (int k = 0; k < report->resonances; k++)
            if (same(&now->resonance, &report->resonance[k]))
                gap = report->resonance[k].gap;
        now->open = now->open && gap < FAR;
        if (now->open)
            now->last = w->rows;
    }
    for (int k = 0; k < report->resonances && report->resonance[k].gap < NEAR; k++) {
        bool known = false;
        for (int e = 0; e < w->episodes; e++)
            known |= w->episode[e].open && same(&w->episode[e].resonance, &report->resonance[k]);
        if (!known && w->episodes < CLI_EPISODES)
            w->episode[w->episodes++] = (cli_episode){
                .resonance = report->resonance[k], .first = w->rows, .last = w->rows, .open = true};
        else if (!known)
            w->more++;
    }
}

bool cli_along_add(cli_along *w, double t, const taut_mode *mode, const taut_modes_report *report)
{
    if (w->rows == w->room) {
        int room = 2 * w->room + 200;
        double *more = realloc(w->row, (size_t)room * (size_t)(2 + 2 * w->modes) * sizeof *w->row);
        if (!more)
            return false;
        w->row = more;
        w->room = room;
    }
    double *row = w->row + (size_t)w->rows * (size_t)(2 + 2 * w->modes);
    row[0] = t;
    row[1] = report->resonances > 0 ? report->resonance[0].gap : INFINITY;
    for (int k = 0; k < w->modes; k++) {
        row[2 + k] = mode[k].frequency;
        row[2 + w->modes + k] = mode[k].action;
    }
    follow(w, report);
    w->rows++;
    return true;
}

/* ---- episodes */

/* Mode p of all as a column, or -1: it is not among those that are computed. */
static int column(const cli_along *w, int p)
{
    int lower = w->modes - w->modes / 2;
    return p < lower ? p : p >= lower + w->missing ? (int)(p - w->missing) : -1;
}

/* The gap of a resonance in row i; NaN: unknown. */
static double gap_of(const cli_along *w, const taut_resonance *r, int i)
{
    const double *f = row_of(w, i) + 2;
    int j = column(w, r->j), k = column(w, r->k), l = r->l < 0 ? 0 : column(w, r->l);
    if (j < 0 || k < 0 || l < 0)
        return NAN;
    return fabs(f[j] - f[k] - (r->l < 0 ? 0 : f[l])) / f[j];
}

/* a + b s + c s^2 with least squares, s in [-1, 1], from moments; false: c is not positive. */
static bool fit(const double *s, const double *y, double *at, double *value)
{
    double m[3][4] = {{s[0], s[1], s[2], y[0]}, {s[1], s[2], s[3], y[1]}, {s[2], s[3], s[4], y[2]}};
    for (int p = 0; p < 3; p++)
        for (int r = p + 1; r < 3; r++) {
            double factor = m[r][p] / m[p][p];
            for (int c = p; c < 4; c++)
                m[r][c] -= factor * m[p][c];
        }
    double c = m[2][3] / m[2][2], b = (m[1][3] - m[1][2] * c) / m[1][1],
           a = (m[0][3] - m[0][1] * b - m[0][2] * c) / m[0][0];
    *at = -b / (2 * c);
    *value = a - b * b / (4 * c);
    return c > 0 && fabs(*at) <= 1;
}

/* Time and gap of the closest approach. */
static void find_closest(const cli_along *w, cli_episode *e)
{
    double s[5] = {0}, y[3] = {0}, at, value, from = row_of(w, e->first)[0],
           half = e->last > e->first ? (row_of(w, e->last)[0] - from) / 2 : 1;
    e->gap = INFINITY;
    for (int i = e->first; i <= e->last; i++) {
        double gap = gap_of(w, &e->resonance, i), x = (row_of(w, i)[0] - from) / half - 1;
        if (gap < e->gap) {
            e->gap = gap;
            e->t = row_of(w, i)[0];
        }
        for (int p = 0; p < 5; p++)
            s[p] += pow(x, p);
        for (int p = 0; p < 3; p++)
            y[p] += gap * gap * pow(x, p);
    }
    if (e->last - e->first >= 4 && fit(s, y, &at, &value)) {
        e->t = from + (at + 1) * half;
        e->gap = sqrt(fmax(value, 0));
    }
}

static double mean(const cli_along *w, int k, int from, int until)
{
    double sum = 0;
    for (int i = from; i < until; i++)
        sum += cli_along_action(w, i, k);
    return sum / (until - from);
}

double cli_along_change(const cli_along *w, const cli_episode *e, int k)
{
    int length = e->last - e->first + 1, from = e->first > length ? e->first - length : 0,
        until = e->last + 1 + length < w->rows ? e->last + 1 + length : w->rows;
    bool begins = e->first == 0, ends = e->last + 1 == w->rows;
    return mean(w, k, ends ? e->last : e->last + 1, until) -
           mean(w, k, from, begins ? 1 : e->first);
}

static int compare(const void *a, const void *b)
{
    const cli_episode *x = a, *y = b;
    return x->share != y->share ? (x->share < y->share) - (x->share > y->share)
                                : (x->t > y->t) - (x->t < y->t);
}

void cli_along_judge(cli_along *w)
{
    double all = 0;
    for (int k = 0; k < w->modes && w->rows > 0; k++)
        all += cli_along_action(w, 0, k);
    for (int e = 0; e < w->episodes; e++) {
        cli_episode *now = &w->episode[e];
        find_closest(w, now);
        for (int k = 0; k < w->modes; k++)
            now->share += fabs(cli_along_change(w, now, k)) / (2 * all);
    }
    qsort(w->episode, (size_t)w->episodes, sizeof *w->episode, compare);
}

/* ---- words */

/* Modes count from 1, among all. */
long long cli_along_number(const cli_along *w, int k)
{
    return k < w->modes - w->modes / 2 ? k + 1 : k + 1 + (long long)w->missing;
}

/* The modes of an episode by the size of their change: place s. */
static int largest(const cli_along *w, const cli_episode *e, int s)
{
    for (int k = 0; k < w->modes; k++) {
        double size = fabs(cli_along_change(w, e, k));
        int above = 0;
        for (int other = 0; other < w->modes; other++) {
            double theirs = fabs(cli_along_change(w, e, other));
            above += theirs > size || (theirs == size && other < k);
        }
        if (above == s)
            return k;
    }
    return -1;
}

void cli_along_print(const cli_along *w, FILE *to)
{
    if (w->episodes == 0) {
        fprintf(to, "  no resonance within %g%%\n", 100 * NEAR);
        return;
    }
    fprintf(to, "  resonances within %g%%, by the share of the actions that changes there\n",
            100 * NEAR);
    for (int e = 0; e < w->episodes; e++) {
        const cli_episode *now = &w->episode[e];
        fprintf(to, "    mode %d ~ mode %d", now->resonance.j + 1, now->resonance.k + 1);
        if (now->resonance.l >= 0)
            fprintf(to, " + mode %d", now->resonance.l + 1);
        fprintf(to, ", closest (%.2g%%) at t = %.5g, from t = %.4g to %.4g: %.2g%%", 100 * now->gap,
                now->t, row_of(w, now->first)[0], row_of(w, now->last)[0], 100 * now->share);
        for (int s = 0; s < SHOWN && s < w->modes; s++) {
            int k = largest(w, now, s);
            fprintf(to, "%s action %lld by %.3g", s ? "," : ";", cli_along_number(w, k),
                    cli_along_change(w, now, k));
        }
        fprintf(to, "\n");
    }
    if (w->more > 0)
        fprintf(to, "    and others\n");
}

void cli_along_json(const cli_along *w, cli_json *json)
{
    cli_json_open(json, "resonances", '[');
    for (int e = 0; e < w->episodes; e++) {
        const cli_episode *now = &w->episode[e];
        cli_json_open(json, NULL, '{');
        cli_json_integer(json, "mode", now->resonance.j + 1);
        cli_json_open_flat(json, "near", '[');
        cli_json_integer(json, NULL, now->resonance.k + 1);
        if (now->resonance.l >= 0)
            cli_json_integer(json, NULL, now->resonance.l + 1);
        cli_json_close(json, ']');
        cli_json_real(json, "t", now->t);
        cli_json_real(json, "gap", now->gap);
        cli_json_real(json, "from", row_of(w, now->first)[0]);
        cli_json_real(json, "until", row_of(w, now->last)[0]);
        cli_json_real(json, "share", now->share);
        cli_json_open_flat(json, "change", '[');
        for (int k = 0; k < w->modes; k++)
            cli_json_real(json, NULL, cli_along_change(w, now, k));
        cli_json_close(json, ']');
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
}

/* Frequencies, actions and the closest gap; of many modes those at both ends. */
int cli_along_draw(const cli_along *w, const char *title, const char *path, taut_error *error)
{
    const char *const labels[] = {title, "t", "frequency", "action", "closest gap, %"};
    int shown = w->modes < MOST_CURVES ? w->modes : MOST_CURVES, curves = 2 * shown + 1,
        start[2 * MOST_CURVES + 2] = {0}, at = 0;
    const int first[] = {0, shown, 2 * shown, 2 * shown + 1};
    char name[2 * MOST_CURVES + 1][24] = {""};
    const char *names[2 * MOST_CURVES + 1];
    double *x = calloc((size_t)curves * (size_t)w->rows + 1, sizeof *x),
           *y = calloc((size_t)curves * (size_t)w->rows + 1, sizeof *y);
    for (int c = 0; c < curves && x && y; c++) {
        int k = c % shown, from = k < shown - shown / 2 ? k : w->modes - shown + k,
            offset = c == 2 * shown ? 1
                     : c < shown    ? 2 + from
                                    : 2 + w->modes + from;
        if (c < 2 * shown)
            snprintf(name[c], sizeof name[c], "mode %lld", cli_along_number(w, from));
        names[c] = name[c];
        for (int i = 0; i < w->rows; i++) {
            double value = row_of(w, i)[offset] * (offset == 1 ? 100 : 1);
            if (isfinite(value)) {
                x[at] = row_of(w, i)[0];
                y[at++] = value;
            }
        }
        start[c + 1] = at;
    }
    int panels = start[curves] > start[curves - 1] ? 3 : 2; /* one mode has no gap */
    int code = x && y
                   ? taut_plot_panels(path, labels, panels, first, names, start, x, y, false, error)
                   : TAUT_ERROR_MEMORY;
    if (!x || !y)
        snprintf(error->message, sizeof error->message, "out of memory");
    free(x);
    free(y);
    return code;
}
