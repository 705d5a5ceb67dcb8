/* test_matrix_effective.c - W, the potential of vibration, in every shipped model that has an
 * effective motion [E (7)-(9)].
 *
 * test_matrix.c compares effective motion with the full one, as the models are shipped. Most of
 * them have negligible oscillation at their initial state, so that a W that is wrong by a tenth
 * shows in few. Here
 *   - W and its derivatives along random directions are those of frequencies and their differences,
 *   computed in effective.h;
 *   - every model is made to oscillate, with an energy in each mode,
 *   and the effective motion is that of the judge: from (9), with actions of its own
 *     and the force of differences; energy with W in it;
 *     and the mean tensions of the impulse methods;
 *   - with 1.1 W the value,
 *   the slopes and the motion would be off by ten times what is allowed: the judge says so,
 *   and it is a row.
 * Where Omega does not depend on the motion (one spring of constant direction, rigid molecules)
 * W has no force along it and is seen in the energy alone. */
#include "support/table.h"

#include <taut/taut.h>

#include "judge/effective.h"
#include "support/matrix_list.h"
#include "support/matrix_model.h"

/* What is allowed, before anything was measured. Differences of fourth order with steps of 1e-3
 * of the length on which bonds turn leave 1e-12 or, with frequencies 1 % apart, 1e-8; so W is
 * asked for to 1e-9 and its derivatives to 1e-6. Motions: 100 rtol as in test_matrix.c, with one
 * exception. */
static const double ALLOWED_W = 1e-9, ALLOWED_SLOPE = 1e-6, RTOL = 1e-9;
static const double STEP = 1e-3; /* of the length on which bonds turn */
/* relative distance of frequencies, so that each has its own action */
static const double DISTINCT = 1e-3;
static const double WRONG = 1.1; /* a W that must be seen */

/* The forces of water_box are cut off: steps across it are not of the order of the method, in
 * rigid motion either. */
static double rtol_of(const model *m)
{
    return strcmp(m->name, "water_box") == 0 ? 10 * RTOL : RTOL;
}

static double noise(int k) /* in [-1, 1], the same everywhere */
{
    double x = sin(12.9898 * k + 78.233) * 43758.5453;
    return 2 * (x - floor(x)) - 1;
}

/* Energy of the vibration: it moves the system visibly in one radian of the slow motion. */
static double ringing(const model *m, const vibration *v)
{
    double mass = 0, rate = m->slow > 0 ? m->slow : 1;
    for (taut_index i = 0; i < v->n; i++)
        mass += v->at.sizes.mass == TAUT_MASS_DIAGONAL ? v->at.values.mass[i] / v->n : 1. / v->n;
    return 0.05 * mass * m->size * m->size * rate * rate;
}

static bool distinct(const vibration *v)
{
    for (taut_index k = 1; k < v->springs; k++)
        if (v->root[k] - v->root[k - 1] < DISTINCT * v->root[k])
            return false;
    return true;
}

/* ---- W at a point */

static int evaluate(const taut_system *system, double t, const double *q, double *force,
                    double *potential, double *bonds)
{
    taut_context *context = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(system, &sizes, NULL);
    double *rest = calloc((size_t)sizes.coordinates, sizeof(double));
    taut_values values = {.size = sizeof values, .force = force};
    int status = taut_context_create(system, NULL, &context, NULL);
    if (status == 0)
        status =
            taut_evaluate(context, t, q, rest, TAUT_WANT_FORCE | TAUT_WANT_ENERGY, &values, NULL);
    *potential = values.potential;
    *bonds = values.bond_energy;
    taut_context_destroy(context);
    free(rest);
    return status;
}

/* At q, with actions that differ where the frequencies do. */
static void judge_point(const model *m, vibration *v, const double *q, const char *where)
{
    enum { DIRECTIONS = 4 };
    taut_index n = v->n;
    taut_system *effective = NULL;
    taut_error error = {0};
    double *with = calloc((size_t)n * 3, sizeof(double)), *without = with + n, *d = without + n,
           u0 = NAN, u1 = NAN, b0 = NAN, b1 = NAN;
    int status = vibration_find(v, 0, q, true);
    bool apart = distinct(v);
    double energy = ringing(m, v), most = 0, length = vibration_length(v, 0, q, m->size);
    for (taut_index k = 0; k < v->springs; k++)
        v->action[k] =
            (apart ? 1 + (double)k / v->springs : 1) * energy / v->springs / v->root[apart ? k : 0];
    status = status ? status
                    : taut_system_effective(m->system, v->action, v->springs, &effective, &error);
    status = status ? status : evaluate(m->system, 0, q, without, &u0, &b0);
    status = status ? status : evaluate(effective, 0, q, with, &u1, &b1);
    if (check_row(status == 0, "%s, %s: %s", m->name, where, error.message)) {
        vibration_find(v, 0, q, false);
        double W = vibration_energy(v), taut = 0; /* springs that are rigid now have no energy */
        for (taut_index i = 0; i < v->springs; i++)
            taut += v->at.values.bond[v->spring[i]] * v->at.values.bond[v->spring[i]] /
                    (2 * v->at.c[v->spring[i]]);
        check_row(fabs(b0 - b1 - taut) <= ALLOWED_W * b0,
                  "%s, %s: energy of bonds %.12g, with springs %.12g, of which %.12g", m->name,
                  where, b1, b0, taut);
        check_row(fabs(u1 - u0 - W) <= ALLOWED_W * (W + fabs(u0)), "%s, %s: W is %.12g, here %.12g",
                  m->name, where, u1 - u0, W);
        check_row((WRONG - 1) * W > 10 * ALLOWED_W * (W + fabs(u0)),
                  "%s: a wrong W = %.3g could not be seen compared with %.3g", m->name, W, u0);
        for (int k = 0; k < DIRECTIONS; k++) {
            double along = 0;
            for (taut_index i = 0; i < n; i++) {
                d[i] = noise((int)i + 1000 * k) * length;
                along += (without[i] - with[i]) * d[i];
            }
            double slope = vibration_slope(v, 0, q, d, STEP), other = 0;
            check_row(fabs(along - slope) <= ALLOWED_SLOPE * W,
                      "%s, %s: dW is %.12g, differences of frequencies say %.12g, W %.6g", m->name,
                      where, along, slope, W);
            if (vibration_gradient(v, 0, q, STEP * length) == 0)
                for (taut_index i = 0; i < n; i++)
                    other += v->gradient[i] * d[i];
            check_row(fabs(other - slope) <= ALLOWED_SLOPE * W,
                      "%s, %s: the judge's dW are %.12g and %.12g", m->name, where, other, slope);
            most = fmax(most, fabs(slope));
        }
        check_row((WRONG - 1) * most > 10 * ALLOWED_SLOPE * W || most < 1e-9 * W,
                  "%s, %s: a wrong dW = %.3g could not be seen compared with W = %.3g", m->name,
                  where, most, W);
    }
    taut_system_destroy(effective);
    free(with);
}

/* ---- a start that oscillates */

typedef struct ring {
    model model;     /* with a start that oscillates */
    vibration modes; /* its modes, with the actions of the start */
    judge rigid;     /* pushed by W */
    vibration_force force;
    double end, *start, *laid; /* (q, v) of the start, and on the bonds as in (9) */
    /* frequencies do not meet: each has its own action, and tensions are known */
    bool apart;
} ring;

/* A model whose start is (q, v). */
static int load_start(const char *name, taut_index n, const double *q, const double *v, model *m)
{
    char path[600], coordinate[80], *text = malloc((size_t)n * 240 + 1), *to = text;
    taut_error error = {0};
    for (taut_index i = 0; i < n; i++) {
        taut_system_name(m->system, TAUT_COORDINATE, i, coordinate, sizeof coordinate);
        to += sprintf(to, "%s = %.17g\n%s' = %.17g\n", coordinate, q[i], coordinate, v[i]);
    }
    taut_system_destroy(m->system);
    const char *few = fewer(name); /* as load() has it */
    taut_load how = {.size = sizeof how, .start_text = text, .set = &few, .set_count = few != NULL};
    snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, name);
    int status = taut_system_load(path, &how, &m->system, &error);
    check_row(status == 0, "%s: %s", name, error.message);
    free(text);
    return status;
}

/* From the bonds, with the same energy in every mode and another phase in each. */
static int strike(ring *r)
{
    vibration v;
    judge rigid;
    taut_index n = r->model.sizes.coordinates;
    double *q = r->start, *u = q + n;
    int status = vibration_create(&v, r->model.system);
    status |= judge_create(&rigid, JUDGE_RIGID, r->model.system);
    status = status ? status : taut_context_start(rigid.context, 0, q, u, NULL);
    status = status ? status : vibration_lay(&rigid, 0, q, u);
    status = status ? status : vibration_find(&v, 0, q, true);
    if (status == 0) {
        double rate = sqrt(2 * ringing(&r->model, &v) / v.springs);
        for (taut_index k = 0; k < v.springs; k++)
            for (taut_index i = 0; i < n; i++) {
                double e = v.shape[(int64_t)k * n + i] / v.root[k]; /* of M-length 1 */
                q[i] += rate * cos(k + 0.5) / v.root[k] * e;
                u[i] += rate * sin(k + 0.5) * e;
            }
        status = load_start(r->model.name, n, q, u, &r->model);
    }
    r->apart = distinct(&v);
    vibration_destroy(&v);
    judge_destroy(&rigid);
    return status;
}

static int ring_create(ring *r, const char *name)
{
    *r = (ring){0};
    if (load(name, NULL, 0, &r->model) != 0)
        return -1;
    taut_index n = r->model.sizes.coordinates;
    r->start = calloc((size_t)n * 4, sizeof(double));
    r->laid = r->start + 2 * (int64_t)n;
    r->end = end_of(&r->model, "effective", 2);
    int status = strike(r);
    if (status == 0)
        status = vibration_create(&r->modes, r->model.system) |
                 judge_create(&r->rigid, JUDGE_RIGID, r->model.system);
    status = status ? status : vibration_actions(&r->modes, 0, r->start, r->start + n);
    memcpy(r->laid, r->start, (size_t)n * 2 * sizeof(double));
    status = status ? status : vibration_lay(&r->rigid, 0, r->laid, r->laid + n);
    if (status == 0)
        r->force = (vibration_force){&r->modes,
                                     STEP * vibration_length(&r->modes, 0, r->laid, r->model.size)};
    r->rigid.more = vibration_push;
    r->rigid.user = &r->force;
    return status;
}

static void ring_destroy(ring *r)
{
    vibration_destroy(&r->modes);
    judge_destroy(&r->rigid);
    taut_system_destroy(r->model.system);
    free(r->start);
}

/* The judge's effective motion to the end, at `times` W. */
static int follow(ring *r, double times, double tolerance, double *y)
{
    taut_index n = r->model.sizes.coordinates;
    memcpy(y, r->laid, (size_t)n * 2 * sizeof(double));
    for (taut_index k = 0; k < r->modes.springs; k++)
        r->modes.action[k] *= times;
    int status = judge_march(&r->rigid, 0, r->end, tolerance, y);
    for (taut_index k = 0; k < r->modes.springs; k++)
        r->modes.action[k] /= times;
    return status;
}

static double apart(taut_index n, const double *a, const double *b)
{
    double off = 0;
    for (taut_index i = 0; i < n; i++)
        off = isfinite(a[i] - b[i]) ? fmax(off, fabs(a[i] - b[i])) : INFINITY;
    return off / largest(n, b);
}

/* ---- runs */

typedef struct ran {
    int status;
    double *y, *lambda; /* (q, v), multipliers */
    taut_result result;
    taut_error error;
} ran;

static ran run_ring(const ring *r, const char *method, bool adaptive, double end)
{
    ran o = {0};
    taut_index n = r->model.sizes.coordinates;
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    request how = {"effective", method, .end = end, .scale = r->model.size, .times = 1};
    if (adaptive)
        how.rtol = rtol_of(&r->model);
    else
        how.step = end;
    o.y = calloc((size_t)n * 2 + (size_t)r->model.sizes.bonds, sizeof(double));
    o.lambda = o.y + 2 * (int64_t)n;
    o.status = taut_options_create(NULL, &options, &o.error);
    o.status = o.status ? o.status : set_all(options, &how, &o.error);
    o.status =
        o.status ? o.status : taut_solver_create(r->model.system, options, NULL, &solver, &o.error);
    o.status = o.status ? o.status : taut_solver_run(solver, NULL, 0, NULL, NULL, &o.error);
    if (o.status == 0) {
        memcpy(o.y, taut_solver_position(solver), (size_t)n * sizeof(double));
        memcpy(o.y + n, taut_solver_velocity(solver), (size_t)n * sizeof(double));
        memcpy(o.lambda, taut_solver_multipliers(solver),
               (size_t)r->model.sizes.bonds * sizeof(double));
        taut_result_init(&o.result);
        taut_solver_result_get(solver, &o.result, NULL);
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return o;
}

/* Mean tensions at the state that a method shows: Lambda of the effective system there, of which
 * grad W is a part. */
static void judge_tensions(ring *r, const char *method, double t, const ran *o)
{
    taut_index n = r->model.sizes.coordinates;
    double *dy = calloc((size_t)n * 2, sizeof(double)), off[2] = {0, 0}, most = 0;
    int status = 0;
    for (int k = 1; k >= 0; k--) { /* without W, and with it */
        r->rigid.more = k ? NULL : vibration_push;
        status |= judge_rate(&r->rigid, t, o->y, dy);
        const double *lambda =
            r->rigid.sizes.mass == TAUT_MASS_DIAGONAL ? r->rigid.lambda : r->rigid.right + n;
        for (taut_index i = 0; i < r->rigid.rods; i++) {
            off[k] = fmax(off[k], fabs(o->lambda[r->rigid.rod[i]] - lambda[i]));
            most = fmax(most, fabs(lambda[i]));
        }
    }
    check_row(status == 0 && off[0] <= 1e-6 * most,
              "%s, %s: tensions off by %.3g of %.3g; without W by %.3g", r->model.name, method,
              off[0], most, off[1]);
    free(dy);
}

static void judge_energy(ring *r, double t, const ran *o)
{
    taut_index n = r->model.sizes.coordinates;
    double energy[2] = {o->result.energy_first, o->result.energy_last}, W = 0;
    for (int k = 0; k < 2; k++) {
        const double *y = k ? o->y : r->laid;
        taut_values values = {.size = sizeof values};
        double at = k ? t : 0;
        int status =
            taut_evaluate(r->modes.at.context, at, y, y + n, TAUT_WANT_ENERGY, &values, NULL);
        status = status ? status : vibration_find(&r->modes, at, y, false);
        W = vibration_energy(&r->modes);
        double sum = values.kinetic + values.potential + values.bond_energy + W;
        check_row(status == 0 && fabs(energy[k] - sum) <= 1e-6 * W + 1e-9 * fabs(sum),
                  "%s: energy at the %s is %.12g, expected %.12g, of which W %.6g", r->model.name,
                  k ? "end" : "start", energy[k], sum, W);
    }
}

/* The motion of method effective is the judge's, and would not be with 1.1 W. */
static void judge_motion(ring *r)
{
    taut_index n = r->model.sizes.coordinates;
    double *y = calloc((size_t)n * 6, sizeof(double)), *rough = y + 2 * (int64_t)n,
           *wrong = rough + 2 * (int64_t)n;
    ran o = run_ring(r, "effective", true, r->end);
    int status = follow(r, 1, 1e-10, y);
    status |= follow(r, 1, 1e-9, rough);
    status |= follow(r, WRONG, 1e-8, wrong);
    if (check_row(o.status == 0 && status == 0, "%s, effective: %s; judge %d", r->model.name,
                  o.error.message, status)) {
        double doubt = apart(n, rough, y),
               allowed =
                   rtol_of(&r->model) * fmax(100, (double)o.result.statistics.steps) + 10 * doubt;
        double off = apart(n, o.y, y), seen = apart(n, wrong, y);
        check_row(off <= allowed,
                  "%s: off by %.3g, allowed %.3g (judge %.1g, %lld steps); with 1.1 W %.3g",
                  r->model.name, off, allowed, doubt, (long long)o.result.statistics.steps, seen);
        if (r->apart)
            judge_tensions(r, "effective", r->end, &o);
        judge_energy(r, r->end, &o);
        /* a wrong W is seen, or has no force */
        vibration_find(&r->modes, 0, r->laid, false);
        double first = vibration_energy(&r->modes), change = 0;
        vibration_find(&r->modes, r->end, y, false);
        change = fabs(vibration_energy(&r->modes) / first - 1);
        check_row(seen > 10 * allowed || change < 1e-9,
                  "%s: with 1.1 W off by %.3g where %.3g is allowed, and W changes by %.3g",
                  r->model.name, seen, allowed, change);
    }
    free(o.y);
    free(y);
}

static void judge_ring(const char *name)
{
    static const char *const methods[] = {"projected-impulse", "mollified-impulse", "impulse"};
    ring r;
    int status = ring_create(&r, name);
    if (check_row(status == 0, "%s: no start that rings", name)) {
        judge_motion(&r);
        for (int k = 0; k < 3 && r.apart; k++) {
            double h = 0.3 / r.modes.root[r.modes.springs - 1];
            ran o = run_ring(&r, methods[k], false, h);
            if (o.status != TAUT_ERROR_REFUSED &&
                check_row(o.status == 0, "%s, %s: %s", name, methods[k], o.error.message))
                judge_tensions(&r, methods[k], h, &o);
            free(o.y);
        }
    }
    ring_destroy(&r);
}

/* Has it an effective motion? */
static bool effective(const taut_system *system)
{
    request how = {"effective", "effective", .end = 1e-6, .rtol = 1e-6, .scale = 1, .times = 1};
    outcome o = run(system, &how);
    bool has = o.status != TAUT_ERROR_REFUSED;
    release(&o);
    return has;
}

/* W at the initial state and near it, then the motion, where the frequencies are apart and the
 * judge is quick enough. */
static bool one(const char *name)
{
    model m;
    vibration v;
    if (load(name, NULL, 0, &m) != 0)
        return false;
    bool has = m.sizes.kind == TAUT_MECHANICAL && effective(m.system);
    if (has && check_row(vibration_create(&v, m.system) == 0, "%s: no judge", name)) {
        double *q = calloc((size_t)v.n * 2, sizeof(double));
        taut_context_start(v.at.context, 0, q, q + v.n, NULL);
        judge_point(&m, &v, q, "start");
        double length = vibration_length(&v, 0, q, m.size);
        for (taut_index i = 0; i < v.n; i++)
            q[i] += 0.05 * length * noise((int)i + 77);
        judge_point(&m, &v, q, "near the initial state");
        free(q);
        vibration_destroy(&v);
        if (m.sizes.coordinates <= 100)
            judge_ring(name);
    }
    taut_system_destroy(m.system);
    return has;
}

int main(void)
{
    char *name[100];
    int models = list_models(name, 100), seen = 0;
    const char *only = getenv("TAUT_MATRIX_MODEL");
    taut_blas_threads(1);
    check_group("effective");
    for (int k = 0; k < models; k++) {
        if (!only || strcmp(only, name[k]) == 0)
            seen += one(name[k]);
        free(name[k]);
    }
    check_row(seen >= 14 || only, "%d models with an effective motion", seen);
    return check_done();
}
