/* test_modes.c - modes, actions and gradients of frequencies: analytic ones, those of
 * docs/sources.md, E, and independent residuals. */
#include "support/run.h"
#include "judge/pendulum_angles.h"
#include "system/modes/modes.h"

enum { MOST = 16, MOST_N = 122, MOST_SPRINGS = 66 };

typedef struct opened {
    taut_system *system;
    taut_context *context;
    taut_error error;
    double q[MOST_N], v[MOST_N];
    int n, m, code;
} opened;

static opened open_text(const char *model, const char *set)
{
    opened o = {0};
    const char *sets[] = {set};
    taut_load how = {.size = sizeof how, .set = sets, .set_count = set ? 1 : 0};
    o.code = taut_system_parse(model, strlen(model), "model.taut", &how, &o.system, &o.error);
    if (o.code == 0)
        o.code = taut_context_create(o.system, NULL, &o.context, &o.error);
    if (o.code == 0)
        o.code = taut_context_start(o.context, 0, o.q, o.v, &o.error);
    taut_sizes sizes = {.size = sizeof sizes};
    if (o.system)
        taut_system_sizes_get(o.system, &sizes, NULL);
    o.n = sizes.coordinates;
    o.m = sizes.bonds;
    check_row(o.code == 0, "model: %s", o.error.message);
    return o;
}

static void close_text(opened *o)
{
    taut_context_destroy(o->context);
    taut_system_destroy(o->system);
}

static char *read_model(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/models/%s", TAUT_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 20000);
    if (file && text)
        text[fread(text, 1, 19999, file)] = '\0';
    if (file)
        fclose(file);
    return text;
}

/* docs/sources.md, E: at eps = 1e-3 the actions of start (14) are I = J/eps = (7.78456513604e-5,
 * 4.4349321933). */
static void test_published_actions(void)
{
    check_group("modes, actions of the double pendulum");
    char *text = read_model("double_pendulum_gravity.taut");
    opened o = open_text(text, "eps=1e-3");
    taut_mode mode[MOST];
    taut_modes_report report = {.size = sizeof report};
    if (o.code == 0 &&
        check_equal("modes", taut_modes(o.context, 0, o.q, o.v, MOST, mode, &report, &o.error),
                    0)) {
        check_equal("found", report.found, 2);
        check_near("I1", mode[0].action / 1e-3, 7.78456513604e-5, 1e-10 * 7.8e-5);
        check_near("I2", mode[1].action / 1e-3, 4.4349321933, 1e-10 * 4.4);
        double elastic = pow(hypot(sqrt(2) - sqrt(.5), 5e-3 + sqrt(.5)) - 1, 2) / 2e-6;
        check_near("the energies are the elastic energy", report.energy, elastic, 1e-11 * elastic);
        check_near("W", report.correction, report.energy, 1e-12 * elastic);
        check_row(mode[0].bond[0] == 0 && mode[1].bond[0] == 1 && mode[0].bond[2] == -1,
                  "dominant springs");
        check_near("shares", mode[0].share[0] + mode[0].share[1], 1, 1e-14);
    }
    close_text(&o);
    free(text);
}

/* A = [1 -c; -c 2] for the double pendulum, c the cosine between the links: at every angle. */
static void test_angles(void)
{
    check_group("modes, frequencies in angles");
    char *text = read_model("double_pendulum_gravity.taut");
    opened o = open_text(text, "eps=1e-4");
    for (int k = 0; k < 12 && o.code == 0; k++) {
        angles x = {.3 * k, 1 - .2 * k * k, .5, -.7};
        double q[4], v[4], omega[2];
        taut_mode mode[MOST];
        taut_modes_report report = {.size = sizeof report};
        angle_state(x, q, v);
        angle_frequencies(1e-4, cos(x.a - x.b), omega);
        check_equal("modes", taut_modes(o.context, 0, q, v, MOST, mode, &report, &o.error), 0);
        for (int j = 0; j < 2; j++)
            check_near("Omega", mode[j].frequency, omega[j], 1e-13 * omega[j]);
        check_below("no vibration on the manifold", report.energy, 1e-20);
        check_near("separation", report.separation, 1 - omega[0] / omega[1], 1e-12);
    }
    close_text(&o);
    free(text);
}

/* docs/sources.md, E: the 1:2 resonance is where the cosine between the links is 0.748 (exactly: 3
 * - r = (3
 * + r)/4 with r^2 = 1 + 4 c^2). */
static void test_resonance(void)
{
    check_group("modes, resonance 1:2");
    char *text = read_model("double_pendulum_gravity.taut");
    opened o = open_text(text, "eps=1e-3");
    double q[4], v[4], cosine = sqrt((1.8 * 1.8 - 1) / 4);
    check_near("cosine", cosine, 0.748, 5e-4);
    taut_mode mode[MOST];
    taut_modes_report report = {.size = sizeof report};
    angle_state((angles){.3, .3 + acos(cosine), 0, 0}, q, v);
    if (o.code == 0 &&
        check_equal("modes", taut_modes(o.context, 0, q, NULL, MOST, mode, &report, &o.error), 0)) {
        const taut_resonance *r = report.resonance;
        check_row(report.resonances > 0 && r->j == 1 && r->k == 0 && r->l == 0,
                  "mode 2 ~ mode 1 + mode 1: %d %d %d", r->j, r->k, r->l);
        check_below("gap", r->gap, 1e-12);
    }
    close_text(&o);
    free(text);
}

static const struct {
    const char *name, *model;
    int modes;
    double frequency[4], energy[4];
    int nearest[3]; /* closest resonance; -2: do not look */
} known[] = {
    /* k = 200, m = 2, p = w g/Omega: x = 0.1, x' = 3 */
    {"one spring",
     "[coordinates]\nx\n[mass]\nx = 2\n[bonds]\ns = x stiffness 200\n[start]\nx = 0.1, x' = 3\n",
     1,
     {10},
     {10},
     {-2}},
    /* masses 1 and 3 and a spring: reduced mass 3/4; x2' = 1 gives relative kinetic energy 3/8;
     * centre of mass does not count */
    {"two masses",
     "[coordinates]\nx1, x2\n[mass]\nx2 = 3\n[bonds]\ns = x2 - x1 - 1 stiffness 75\n[start]\nx2 = "
     "1, x2' = 1\n",
     1,
     {10},
     {.375},
     {-2}},
    /* M = [2 1; 1 2], springs on x and y of stiffness 4: modes x + y and x - y of frequency
     * sqrt(4/3), 2 */
    {"mass matrix",
     "[coordinates]\nx, y\n[mass]\nx = 2, y = 2\nM[x,y] = 1\n[bonds]\na = x stiffness 4\nb = y "
     "stiffness 4\n[start]\nx = 1\n",
     2,
     {1.1547005383792515, 2},
     {1, 1},
     {-2}},
    /* a rigid bond ties x and y: together they have mass 2, and the spring on x alone moves both */
    {"spring with rod",
     "[coordinates]\nx, y\n[bonds]\ns = x stiffness 200\nr = x - y\n[start]\nx = .1, y = .1, x' = "
     "1, y' = 1\n",
     1,
     {10},
     {2},
     {-2}},
    /* y = 2 x by a rigid bond: mass 1 + 4 = 5 seen by x */
    {"rod with lever",
     "[coordinates]\nx, y\n[bonds]\ns = x stiffness 500\nr = y - 2*x\n[start]\nx = .1, y = .2\n",
     1,
     {10},
     {2.5},
     {-2}},
    /* soft bonds are slow forces */
    {"soft",
     "[coordinates]\nx, y\n[bonds]\ns = x stiffness 400\nw = y stiffness 1 soft\n[start]\ny = 1, "
     "x' = 1\n",
     1,
     {20},
     {.5},
     {-2}},
    /* a moving bond: gdot = x' - cos(t), at t = 0 x' = 3 oscillates with 2 */
    {"moving bond",
     "[coordinates]\nx\n[bonds]\ns = x - sin(t) stiffness 100\n[start]\nx' = 3\n",
     1,
     {10},
     {2},
     {-2}},
    /* springs that depend on each other add up: two of 50 side by side */
    {"doubled spring",
     "[coordinates]\nx\n[bonds]\na = x stiffness 50\nb = x stiffness 50\n[start]\nx = .2\n",
     1,
     {10},
     {2},
     {-2}},
    /* 3, 4, 7: a sum; 3 and 4 are closer in absolute terms. All touch x */
    {"sum",
     "[parameters]\nzero = 0\n[coordinates]\nx, y, z\n[bonds]\na = x stiffness 9\n"
     "b = y + zero*x stiffness 16\nc = z + zero*x stiffness 49\n",
     3,
     {3, 4, 7},
     {0, 0, 0},
     {2, 0, 1}},
    {"neighbours",
     "[parameters]\nzero = 0\n[coordinates]\nx, y\n[bonds]\na = x stiffness 100\n"
     "b = y + zero*x stiffness 101\n",
     2,
     {10, 10.04987562112089},
     {0, 0},
     {1, 0, -1}},
    /* kinetic energy (r'^2 + r^2 phi'^2)/2: only r vibrates */
    {"kinetic",
     "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[bonds]\nrod = r - 1 stiffness "
     "100\n[start]\nr = 1.1, phi' = 5\n",
     1,
     {10},
     {.5},
     {-2}},
};

static void test_known(void)
{
    check_group("modes, analytic");
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        opened o = open_text(known[k].model, NULL);
        taut_mode mode[MOST];
        taut_modes_report report = {.size = sizeof report};
        if (o.code == 0)
            o.code = taut_modes(o.context, 0, o.q, o.v, MOST, mode, &report, &o.error);
        check_row(o.code == 0 && report.found == known[k].modes && report.complete &&
                      report.modes == known[k].modes,
                  "%s: %d modes, %s", known[k].name, report.found, o.error.message);
        for (int j = 0; j < report.found && j < known[k].modes; j++) {
            check_near(known[k].name, mode[j].frequency, known[k].frequency[j],
                       1e-13 * known[k].frequency[j]);
            check_near(known[k].name, mode[j].energy, known[k].energy[j], 1e-12);
            check_near(known[k].name, mode[j].action * mode[j].frequency, mode[j].energy, 1e-14);
        }
        const taut_resonance *r = report.resonance;
        if (known[k].nearest[0] != -2)
            check_row(r->j == known[k].nearest[0] && r->k == known[k].nearest[1] &&
                          r->l == known[k].nearest[2],
                      "%s: resonance %d %d %d", known[k].name, r->j, r->k, r->l);
        close_text(&o);
    }
}

static const char *const gradient_models[] = {
    /* springs in three dimensions, different masses */
    "[particles]\ndimension = 3\np[i] for i in 1..3 mass 1 + i/2\n"
    "[bonds]\nb[i] = length(p[i+1] - p[i]) - 1 for i in 1..2 stiffness 1e4*i\nc = length(p[1] - "
    "(0, 0, 1)) - 1 stiffness 3e4\n"
    "[start]\np[1] = (0.1, 0.2, 0.1), p[2] = (0.9, 0.5, 0.3), p[3] = (1.1, 1.4, 0.6)\n",
    /* a rigid bond in addition to the springs */
    "[coordinates]\nx, y, z, w\n[bonds]\na = sqrt(x^2 + y^2) - 1 stiffness 1e4\nr = sqrt((z - x)^2 "
    "+ (w - y)^2) - 1\n"
    "b = z + w^2 - .4*x*y stiffness 2e4\n[start]\nx = .6, y = .8, z = 1.4, w = 1.3\n",
    /* mass matrix from a kinetic energy */
    "[coordinates]\nr, phi, s\n[kinetic]\n(r'^2 + r^2*phi'^2)/2 + (1 + r*s/4)*s'^2 + "
    "r'*s'*cos(phi)/2\n"
    "[bonds]\na = r - 1 + s*phi/5 stiffness 1e4\nb = s - .3 stiffness 2e4\n[start]\nr = 1.1, phi = "
    ".4, s = .35\n",
    /* a constant mass matrix */
    "[coordinates]\nx, y, z\n[mass]\nx = 2, y = 2, z = 3\nM[x,y] = 1\nM[y,z] = .5\n[bonds]\na = "
    "x*y - z stiffness 1e4\n"
    "b = x + sin(y) stiffness 1e4\n[start]\nx = .3, y = .4, z = .5\n",
    /* two groups, one with a rigid bond, whose bonds alternate; a third one moves by a soft bond */
    "[coordinates]\nx, u, y, s, w, z\n[bonds]\na = sqrt(x^2 + y^2) - 1 stiffness 1e4\nb = u^2 + "
    "w - 1 stiffness 2e4\nr = x*z - .3\nc = y*z + x stiffness 3e4\nd = u*w stiffness 1e4\n"
    "e = s*x*u stiffness 3 soft\n[start]\nx = .6, y = .8, z = .5, u = .7, w = .4, s = 1\n",
};

static double correction(taut_modes_work *work, const double *q, const double *action,
                         taut_error *error)
{
    double sum = 0;
    check_row(taut_modes_find(work, 0, q, error) == 0, "modes: %s", error->message);
    for (int k = 0; k < work->count; k++)
        sum += action[k] * work->frequency[k];
    return sum;
}

/* grad W against central differences with one extrapolation. */
static void test_gradient(void)
{
    static const double action[] = {.3, .01, .2, .15, .05};
    check_group("modes, gradient of W");
    for (size_t k = 0; k < sizeof gradient_models / sizeof gradient_models[0]; k++) {
        opened o = open_text(gradient_models[k], NULL);
        if (o.code)
            continue;
        taut_arena arena;
        taut_modes_work work;
        double gradient[16];
        taut_arena_init(&arena, NULL);
        check_equal("create",
                    taut_modes_create(&work, o.context, &arena, TAUT_MODES_GRADIENT,
                                      TAUT_SPECTRUM_DENSE_LIMIT, &o.error),
                    0);
        check_equal("find", taut_modes_find(&work, 0, o.q, &o.error), 0);
        check_equal("gradient", taut_modes_gradient(&work, 0, o.q, action, gradient, &o.error), 0);
        for (int i = 0; i < o.n; i++) {
            double difference[2], centre = o.q[i];
            for (int j = 0; j < 2; j++) {
                double h = 2e-3 / (1 << j);
                o.q[i] = centre + h;
                double up = correction(&work, o.q, action, &o.error);
                o.q[i] = centre - h;
                difference[j] = (up - correction(&work, o.q, action, &o.error)) / (2 * h);
                o.q[i] = centre;
            }
            double expected = (4 * difference[1] - difference[0]) / 3;
            check_near(work.rigids    ? "with rod"
                       : work.varying ? "varying mass"
                                      : "gradient",
                       gradient[i], expected, 2e-8 * (1 + fabs(expected)) * 10);
        }
        taut_modes_destroy(&work);
        taut_arena_clear(&arena);
        close_text(&o);
    }
}

/* w of mode k on a bond, z on a coordinate: 0 outside its group. */
static double weight_of(const taut_modes_work *w, int k, taut_index bond)
{
    const taut_mode_group *g = &w->group[w->owner[k]];
    for (taut_index i = 0; i < g->springs + g->rigids; i++)
        if ((i < g->springs ? g->spring[i] : g->rigid[i - g->springs]) == bond)
            return taut_modes_weight(w, k)[i];
    return 0;
}

static double shape_of(const taut_modes_work *w, int k, taut_index coordinate)
{
    const taut_mode_group *g = &w->group[w->owner[k]];
    double z = 0;
    for (taut_index i = 0; i < g->n && !w->direct; i++)
        if (g->coordinate[i] == coordinate)
            return g->shape[(k - g->first) * g->n + i];
    for (taut_index s = 0; s < g->springs && w->direct; s++) /* shapes are not kept: M^-1 G^T w */
        for (taut_index e = w->jacobian.start[g->spring[s]];
             e < w->jacobian.start[g->spring[s] + 1]; e++)
            if (w->jacobian.column[e] == coordinate)
                z +=
                    w->values.jacobian[e] * taut_modes_weight(w, k)[s] / w->values.mass[coordinate];
    return z;
}

/* Modes are what modes.h says: S w = Omega^2 C w through z, orthonormal in C. */
static void test_residuals(void)
{
    check_group("modes, residuals");
    for (size_t k = 0; k < sizeof gradient_models / sizeof gradient_models[0]; k++) {
        opened o = open_text(gradient_models[k], NULL);
        if (o.code)
            continue;
        taut_arena arena;
        taut_modes_work w;
        taut_arena_init(&arena, NULL);
        int code = taut_modes_create(&w, o.context, &arena, TAUT_MODES_ALONE,
                                     TAUT_SPECTRUM_DENSE_LIMIT, &o.error);
        check_row((code ? code : taut_modes_find(&w, 0, o.q, &o.error)) == 0, "find: %s",
                  o.error.message);
        const double *c = taut_context_compliance(o.context);
        for (int j = 0; j < w.count; j++)
            for (int i = 0; i < o.m; i++) {
                if (taut_context_soft(o.context, i))
                    continue;
                double gz = 0, square = w.frequency[j] * w.frequency[j],
                       size = w.frequency[j] * sqrt(c[i]);
                for (taut_index e = w.jacobian.start[i]; e < w.jacobian.start[i + 1]; e++)
                    gz += w.values.jacobian[e] * shape_of(&w, j, w.jacobian.column[e]);
                /* rigid bonds: G z = 0 */
                check_near("G z = Omega^2 C w", gz,
                           c[i] > 0 ? square * c[i] * weight_of(&w, j, i) : 0,
                           1e-11 * (c[i] > 0 ? size * w.frequency[j] : w.frequency[j]) + 1e-11);
            }
        for (int a = 0; a < w.count; a++)
            for (int b = 0; b <= a; b++) {
                double sum = 0;
                for (int i = 0; i < o.m; i++)
                    sum += c[i] * weight_of(&w, a, i) * weight_of(&w, b, i);
                check_near("w^T C w", sum, a == b, 1e-12);
            }
        taut_modes_destroy(&w);
        taut_arena_clear(&arena);
        close_text(&o);
    }
}

/* Groups with narrow bands, whose springs are numbered without order: along a direction, the
 * gradient of W is a difference; weights are orthonormal. */
static void test_chains(void)
{
    static const char *const models[] = {
        "link[k] = length(p[mod(7*k, 61)] - p[mod(7*k + 1, 61)]) - .1 for k in 0..59 stiffness "
        "1e4*(1 + k/50)\n",
        /* closed, with second neighbours here and there */
        "link[k] = length(p[mod(7*k, 61)] - p[mod(7*k + 1, 61)]) - .1 for k in 0..60 stiffness "
        "1e4\nnext[k] = length(p[10*k] - p[10*k + 2]) - .2 for k in 1..5 stiffness 2e4\n"};
    check_group("modes, chains");
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "[particles]\ndimension = 2\np[i] for i in 0..60 mass 1 + i/61\n[bonds]\n%s"
                 "[start]\np[i] = (cos(i*pi/30.5), sin(i*pi/30.5))*(1 + sin(3*i)/30) for i in "
                 "0..60\n",
                 models[k]);
        opened o = open_text(text, NULL);
        taut_arena arena;
        taut_modes_work w;
        double action[MOST_SPRINGS], gradient[MOST_N], along = 0, side[2];
        taut_arena_init(&arena, NULL);
        check_equal("create",
                    taut_modes_create(&w, o.context, &arena, TAUT_MODES_GRADIENT,
                                      TAUT_SPECTRUM_DENSE_LIMIT, &o.error),
                    0);
        check_row(w.groups == 1 && w.group[0].half_width <= 4, "half-width %d",
                  (int)w.group[0].half_width);
        for (int i = 0; i < o.m; i++)
            action[i] = 0.1 + sin(3 * i) * sin(3 * i);
        correction(&w, o.q, action, &o.error);
        const double *c = taut_context_compliance(o.context);
        double angle = 0;
        for (int a = 0; a < w.count; a++)
            for (int b = 0; b <= a; b++) {
                double sum = a == b ? -1 : 0;
                for (int i = 0; i < o.m; i++)
                    sum +=
                        c[w.spring[i]] * taut_modes_weight(&w, a)[i] * taut_modes_weight(&w, b)[i];
                angle = fmax(angle, fabs(sum));
            }
        check_below("w^T C w", angle, 1e-10);
        check_equal("gradient", taut_modes_gradient(&w, 0, o.q, action, gradient, &o.error), 0);
        for (int i = 0; i < o.n; i++)
            along += gradient[i] * cos(5 * i);
        for (int j = 0; j < 2; j++) {
            for (int i = 0; i < o.n; i++)
                o.q[i] += (j ? -2e-6 : 1e-6) * cos(5 * i);
            side[j] = correction(&w, o.q, action, &o.error);
        }
        check_near("gradient of W", along, (side[0] - side[1]) / 2e-6, 1e-6 * fabs(along));
        taut_modes_destroy(&w);
        taut_arena_clear(&arena);
        close_text(&o);
    }
}

/* Two modes of one frequency: their sum has a gradient when the actions are equal; else a
 * sentence. Where the springs do not touch, each mode has its own, and nothing is in resonance. */
static void test_meeting(void)
{
    check_group("modes, frequencies that meet");
    static const double equal[] = {.1, .1}, other[] = {.1, .2};
    for (int touch = 0; touch < 2; touch++) {
        char model[400];
        snprintf(model, sizeof model,
                 "[parameters]\nzero = 0\n[coordinates]\nx, y, u, w\n[bonds]\n"
                 "a = sqrt(x^2 + y^2) - 1 + x*y stiffness 1e4\nb = sqrt(u^2 + w^2) - 1 + u*w%s "
                 "stiffness 1e4\n"
                 "[start]\nx = 1, y = .2, u = 1, w = .2\n",
                 touch ? " + zero*x" : "");
        opened o = open_text(model, NULL);
        taut_arena arena;
        taut_modes_work w;
        taut_mode mode[2];
        taut_modes_report report = {.size = sizeof report};
        double gradient[4];
        taut_arena_init(&arena, NULL);
        check_equal("create",
                    taut_modes_create(&w, o.context, &arena, TAUT_MODES_GRADIENT,
                                      TAUT_SPECTRUM_DENSE_LIMIT, &o.error),
                    0);
        check_equal("groups", w.groups, 2 - touch);
        check_equal("find", taut_modes_find(&w, 0, o.q, &o.error), 0);
        check_equal("equal actions", taut_modes_gradient(&w, 0, o.q, equal, gradient, &o.error), 0);
        check_near("symmetric", gradient[0], gradient[2], 1e-9);
        check_equal("different actions", taut_modes_gradient(&w, 0, o.q, other, gradient, &o.error),
                    touch ? TAUT_ERROR_EVALUATE : TAUT_OK);
        if (touch)
            check_contains("message", o.error.message, "meet");
        else
            check_near("each its own", gradient[2], 2 * gradient[0], 1e-9);
        check_equal("modes", taut_modes(o.context, 0, o.q, NULL, 2, mode, &report, &o.error), 0);
        check_equal("resonances", report.resonances > 0, touch);
        taut_modes_destroy(&w);
        taut_arena_clear(&arena);
        close_text(&o);
    }
}

/* Finding modes and gradients again and again takes no memory. */
static void test_memory(void)
{
    check_group("modes, memory");
    opened o = open_text(gradient_models[0], NULL);
    static const double action[] = {.3, .01, .2};
    double gradient[16];
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    for (int64_t k = 1; k < 1000; k++) {
        taut_arena arena;
        taut_modes_work w = {0};
        f = (faulty){.fail = k};
        taut_arena_init(&arena, &allocator);
        int code = taut_modes_create(&w, o.context, &arena, TAUT_MODES_GRADIENT,
                                     TAUT_SPECTRUM_DENSE_LIMIT, &o.error);
        int64_t calls = f.calls;
        for (int j = 0; j < 3 && code == 0; j++) {
            code = taut_modes_find(&w, 0, o.q, &o.error);
            code = code ? code : taut_modes_gradient(&w, 0, o.q, action, gradient, &o.error);
        }
        check_equal("no call after create", f.calls, calls);
        taut_modes_destroy(&w);
        taut_arena_clear(&arena);
        check_row(f.live == 0 && code == (f.failed ? TAUT_ERROR_MEMORY : 0), "call %d: %s, %d live",
                  (int)k, taut_code_name(code), (int)f.live);
        if (!f.failed)
            break;
    }
    close_text(&o);
}

static void test_refusals(void)
{
    check_group("modes, refusals");
    taut_mode mode[2];
    taut_modes_report report = {.size = sizeof report};
    opened o = open_text("[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n", NULL);
    check_equal("first order", taut_modes(o.context, 0, o.q, o.v, 2, mode, &report, &o.error),
                TAUT_ERROR_REFUSED);
    close_text(&o);
    o = open_text("[coordinates]\nx\n[bonds]\nr = x\n", NULL);
    check_equal("rigid", taut_modes(o.context, 0, o.q, o.v, 2, mode, &report, &o.error), 0);
    check_equal("no modes", report.found, 0);
    check_equal("count", taut_modes(o.context, 0, o.q, o.v, 0, mode, &report, &o.error),
                TAUT_ERROR_USAGE);
    close_text(&o);
    /* soft springs are slow forces, unless there are no others */
    static const char *const soft[] = {"", " soft"};
    for (int k = 0; k < 2; k++) {
        char text[300];
        double frequency[4];
        int found = 0;
        bool complete;
        snprintf(text, sizeof text,
                 "[coordinates]\nx, y\n[bonds]\na = x stiffness 4 soft\nb = y stiffness 1e4%s\n",
                 soft[k]);
        o = open_text(text, NULL);
        check_equal("soft",
                    taut_frequencies(o.context, 0, o.q, 2, frequency, &found, &complete, &o.error),
                    0);
        check_equal("found", found, 1 + k);
        check_near("highest", frequency[found - 1], 100, 1e-10);
        close_text(&o);
    }
    /* a stiff potential (more in test_potential_modes.c) */
    o = open_text(
        "[coordinates]\nx, y\n[stiff potential]\n(x^2 + y^2 - 1)^2/8 scale 1e4\n[start]\nx = 1\n",
        NULL);
    check_equal("potential", taut_modes(o.context, 0, o.q, o.v, 2, mode, &report, &o.error), 0);
    check_near("frequency", mode[0].frequency, 100, 1e-9);
    check_near("energy", report.energy, 0, 0);
    close_text(&o);
    /* many springs: both ends; omega_k = 2 k sin(k pi/(2(N+1))) of a chain between walls */
    const char *many = "[parameters]\nN = 500\n[coordinates]\nx[i] for i in "
                       "1..N\n[definitions]\nx[0] = 0, x[N+1] = 0\n"
                       "[bonds]\ns[i] = x[i] - x[i-1] for i in 1..N+1 stiffness 100\n";
    taut_system *system = NULL;
    taut_context *context = NULL;
    double *q = calloc(500, sizeof *q);
    int code = taut_system_parse(many, strlen(many), "many.taut", NULL, &system, &o.error);
    if (code == 0)
        code = taut_context_create(system, NULL, &context, &o.error);
    if (code == 0)
        code = taut_modes(context, 0, q, NULL, 2, mode, &report, &o.error);
    if (check_row(code == 0 && report.found == 2 && !report.complete, "many: %s",
                  o.error.message)) {
        check_near("slowest", mode[0].frequency, 20 * sin(acos(-1) / 2 / 501), 1e-6);
        check_near("fastest", mode[1].frequency, 20 * sin(500 * acos(-1) / 2 / 501), 1e-4);
    }
    free(q);
    taut_context_destroy(context);
    taut_system_destroy(system);
}

int main(void)
{
    test_published_actions();
    test_angles();
    test_resonance();
    test_known();
    test_gradient();
    test_residuals();
    test_chains();
    test_meeting();
    test_memory();
    test_refusals();
    return check_done();
}
