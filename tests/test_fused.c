/* test_fused.c - accelerations, corrections, drift and energies of small systems by one tape
 * (system/fused.h), compiled and interpreted. Judge: the equations themselves, with forces, G,
 * gamma and M evaluated statement by statement, at random states near the initial one of every
 * shipped model that fits. Faults are those of the statements; parameters stay inputs; threads
 * share the code; runs have the counts of runs without it. */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <pthread.h>

#include "base/random.h"
#include "support/native_place.h"
#include "support/run.h"
#include "system/fused.h"
#include "wrap/fields.h"

enum { MOST = 64, STATES = 5 };

/* Everything at one state, evaluated statement by statement; matrices are dense. */
typedef struct judge {
    taut_index n, m, rods, rod[MOST];
    bool spring[MOST];
    double force[MOST], stiff[MOST], bond[MOST], dt[MOST], gamma[MOST], tension[MOST];
    double g[MOST][MOST], mass[MOST][MOST];
} judge;

static void spread(const taut_pattern *p, const double *x, double to[MOST][MOST])
{
    for (taut_index i = 0; i < p->rows; i++)
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++)
            to[i][p->column[k]] += x[k];
}

static int judge_at(judge *j, taut_context *context, double t, const double *q, const double *v,
                    taut_error *error)
{
    static double entries[MOST * MOST], matrix[MOST * MOST];
    const taut_system *system = taut_context_system(context);
    const double *c = taut_context_compliance(context), *tau = taut_context_damping(context);
    taut_sizes z;
    taut_pattern rows, tangent;
    taut_system_sizes(system, &z);
    memset(j, 0, sizeof *j);
    j->n = z.coordinates;
    j->m = z.bonds;
    taut_values values = {.size = sizeof values,
                          .force = j->force,
                          .stiff_force = j->stiff,
                          .bond = j->bond,
                          .bond_dt = j->dt,
                          .gamma = j->gamma,
                          .jacobian = entries,
                          .mass = matrix};
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_MASS;
    if (z.bonds > 0)
        wanted |= TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA;
    if (z.can & TAUT_HAS_STIFF_POTENTIAL)
        wanted |= TAUT_WANT_STIFF_FORCE;
    TAUT_TRY(taut_evaluate(context, t, q, v, wanted, &values, error));
    if (z.bonds > 0) {
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_JACOBIAN, &rows, error));
        spread(&rows, entries, j->g);
    }
    if (z.mass == TAUT_MASS_DIAGONAL)
        for (taut_index i = 0; i < j->n; i++)
            j->mass[i][i] = matrix[i];
    else {
        TAUT_TRY(taut_system_pattern(system, TAUT_PATTERN_TANGENT, &tangent, error));
        spread(&tangent, matrix, j->mass);
    }
    for (taut_index i = 0; i < j->m; i++) {
        double rate = j->dt[i];
        for (taut_index k = 0; k < j->n; k++)
            rate += j->g[i][k] * v[k];
        j->dt[i] = rate; /* from here on gdot */
        j->spring[i] = c[i] > 0;
        if (j->spring[i])
            j->tension[i] = (j->bond[i] + tau[i] * rate) / c[i];
        else
            j->rod[j->rods++] = i;
    }
    return TAUT_OK;
}

/* The worst relative residual of M x + G^T lambda = f, G x = -r; without forces of the second. */
static double residual(const judge *j, taut_fused_kind kind, const double *x, const double *lambda)
{
    const bool forces = kind == TAUT_FUSED_ACCELERATION;
    const double *r = forces ? j->gamma : kind == TAUT_FUSED_POSITION ? j->bond : j->dt;
    double worst = 0, most = 0;
    for (taut_index k = 0; k < j->n; k++)
        most = fmax(most, fabs(x[k]));
    for (taut_index i = 0; i < j->n && forces; i++) {
        double off = -j->force[i] - j->stiff[i], size = fabs(j->force[i]) + fabs(j->stiff[i]);
        for (taut_index k = 0; k < j->n; k++) {
            off += j->mass[i][k] * x[k];
            size += fabs(j->mass[i][k] * x[k]);
        }
        for (taut_index k = 0; k < j->m; k++) {
            off += j->g[k][i] * lambda[k];
            size += fabs(j->g[k][i] * lambda[k]);
        }
        worst = fmax(worst, off == 0 ? 0 : fabs(off) / size);
    }
    for (taut_index s = 0; s < j->rods; s++) {
        double off = r[j->rod[s]], size = fabs(off);
        for (taut_index k = 0; k < j->n; k++) {
            off += j->g[j->rod[s]][k] * x[k];
            size += fabs(j->g[j->rod[s]][k]) * most;
        }
        worst = fmax(worst, off == 0 ? 0 : fabs(off) / size);
    }
    for (taut_index i = 0; i < j->m && forces; i++)
        if (j->spring[i])
            worst = fmax(worst, fabs(lambda[i] - j->tension[i]) / fmax(fabs(j->tension[i]), 1e-8));
    return worst;
}

static void random_state(uint64_t *random, const judge *size, const double *q0, const double *v0,
                         double *q, double *v)
{
    for (taut_index i = 0; i < size->n; i++) {
        q[i] = q0[i] + 0.05 * (1 + fabs(q0[i])) * taut_random(random);
        v[i] = v0[i] + 0.5 * (1 + fabs(v0[i])) * taut_random(random);
    }
}

/* One tape at one state; how often it ran. */
static int try_kind(const char *name, taut_fused_work *work, const judge *j, double t,
                    const double *q, const double *v, double *x)
{
    double lambda[MOST] = {0}, entries[MOST * MOST];
    if (!taut_fused_run(work, t, q, v, x, lambda, entries))
        return 0;
    if (work->fused->kind <= TAUT_FUSED_VELOCITY)
        check_below(name, residual(j, work->fused->kind, x, lambda), 1e-12);
    return 1;
}

/* The distances by Gram and Schmidt. */
static void check_span(const char *name, const judge *j, const double *square)
{
    double unit[8][MOST];
    for (taut_index r = 0; r < j->rods; r++) {
        double length = 0, left = 0;
        for (taut_index k = 0; k < j->n; k++)
            length += j->g[j->rod[r]][k] * j->g[j->rod[r]][k];
        for (taut_index k = 0; k < j->n; k++)
            unit[r][k] = j->g[j->rod[r]][k] / sqrt(length);
        for (int twice = 0; twice < 2; twice++)
            for (taut_index s = 0; s < r; s++) {
                double part = 0;
                for (taut_index k = 0; k < j->n; k++)
                    part += unit[r][k] * unit[s][k];
                for (taut_index k = 0; k < j->n; k++)
                    unit[r][k] -= part * unit[s][k];
            }
        for (taut_index k = 0; k < j->n; k++)
            left += unit[r][k] * unit[r][k];
        check_near(name, square[r], left, 1e-12);
        for (taut_index k = 0; k < j->n; k++)
            unit[r][k] /= sqrt(left);
    }
}

/* The derivative along the motion, by central differences of the distances. */
static void check_rate(const char *name, taut_fused_work *work, const judge *j, double t,
                       const double *q, const double *v, const double *x)
{
    static const double SHORT = 1e-5;
    double side[2][MOST], moved[MOST];
    for (int k = 0; k < 2; k++) {
        for (taut_index i = 0; i < j->n; i++)
            moved[i] = q[i] + (k ? SHORT : -SHORT) * v[i];
        if (!taut_fused_run(work, t + (k ? SHORT : -SHORT), moved, v, side[k], NULL, NULL))
            return;
    }
    for (taut_index r = 0; r < j->rods; r++) {
        double rate = x[j->rods + r];
        check_near(name, rate, (side[1][r] - side[0][r]) / (2 * SHORT), 1e-7 * (1 + fabs(rate)));
    }
}

static void check_drift(const char *name, const judge *j, const double *x)
{
    for (taut_index r = 0; r < j->rods; r++) {
        check_near(name, x[r], j->bond[j->rod[r]], 1e-13);
        check_near(name, x[j->rods + r], j->dt[j->rod[r]], 1e-12);
    }
}

static void check_energies(const char *name, taut_context *context, double t, const double *q,
                           const double *v, const double *x)
{
    taut_values e = {.size = sizeof e};
    taut_error error;
    if (taut_evaluate(context, t, q, v, TAUT_WANT_ENERGY, &e, &error) != 0)
        return;
    const double found[] = {x[TAUT_FUSED_KINETIC], x[TAUT_FUSED_POTENTIAL], x[TAUT_FUSED_SPRINGS],
                            x[TAUT_FUSED_STIFF], x[TAUT_FUSED_DRIVING]};
    double is[] = {e.kinetic, e.potential, e.bond_energy, e.stiff_energy, 0};
    taut_evaluate_driving(context, t, q, v, NULL, &is[4], &error);
    for (int k = 0; k < 5; k++)
        check_near(name, found[k], is[k], 1e-12 * (1 + fabs(is[k])));
}

/* All kinds of a system, at random states; how many evaluations. */
static int try_system(const char *name, const taut_system *system, bool compiled)
{
    taut_context *context = NULL;
    taut_arena arena;
    taut_error error = {0};
    static judge j;
    double q0[MOST], v0[MOST], q[MOST], v[MOST], x[MOST];
    int done = 0;
    uint64_t random = 7;
    taut_arena_init(&arena, NULL);
    int status = taut_context_create(system, NULL, &context, &error);
    if (status == 0 && taut_context_start(context, 0, q0, v0, &error) == 0 &&
        judge_at(&j, context, 0, q0, v0, &error) == 0)
        for (int kind = 0; kind < TAUT_FUSED_MANIFOLD && j.rods <= 8; kind++) {
            taut_fused_work *work = NULL;
            char text[120];
            snprintf(text, sizeof text, "%s, kind %d, %s", name, kind,
                     compiled ? "compiled" : "interpreted");
            status = taut_fused_open(context, (taut_fused_kind)kind, 0, j.rods, j.rod, &arena,
                                     &work, &error);
            check_row(status == 0, "%s: %s", text, error.message);
            if (work && compiled)
                check_row(work->fused->each->native_bound != NULL, "%s: not compiled", text);
            for (int k = 0; work && k < STATES; k++) {
                random_state(&random, &j, q0, v0, q, v);
                if (judge_at(&j, context, 0.1 * k, q, v, &error) != 0)
                    continue;
                int ran = try_kind(text, work, &j, 0.1 * k, q, v, x);
                if (ran && kind == TAUT_FUSED_SPAN) {
                    check_span(text, &j, x);
                    check_rate(text, work, &j, 0.1 * k, q, v, x);
                } else if (ran && kind == TAUT_FUSED_DRIFT)
                    check_drift(text, &j, x);
                else if (ran && kind == TAUT_FUSED_ENERGY)
                    check_energies(text, context, 0.1 * k, q, v, x);
                done += ran;
            }
        }
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return done;
}

static int try_model(const char *file, bool compile)
{
    char path[400];
    taut_load how = {.size = sizeof how, .compile = compile};
    taut_system *system = NULL, *rigid = NULL;
    taut_error error = {0};
    taut_sizes z;
    int done = 0;
    snprintf(path, sizeof path, TAUT_SOURCE_DIR "/models/%s", file);
    if (!check_row(taut_system_load(path, &how, &system, &error) == 0, "%s: %s", file,
                   error.message))
        return 0;
    taut_system_sizes(system, &z);
    if (z.kind == TAUT_MECHANICAL && z.coordinates <= MOST && z.bonds <= MOST) {
        done = try_system(file, system, compile);
        if (z.bonds > 0 && taut_system_rigid(system, &rigid, &error) == 0)
            done += try_system(file, rigid, compile);
    }
    taut_system_destroy(rigid);
    taut_system_destroy(system);
    return done;
}

static void test_models(bool compiler)
{
    DIR *folder = opendir(TAUT_SOURCE_DIR "/models");
    int models = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".taut") != 0)
            continue;
        int done = try_model(entry->d_name, false);
        models += done > 0;
        if (done > 0 && compiler)
            check_row(try_model(entry->d_name, true) >= done, "%s: fewer states when compiled",
                      entry->d_name);
    }
    if (folder)
        closedir(folder);
    check_row(models >= 20, "%d models fit", models);
}

/* ---- faults, parameters, counts: one model, with and without a compiler */

static const char rods[] =
    "[parameters]\nk = 3\nm2 = 2\n[particles]\ndimension = 2\na mass 1\nb mass m2\n"
    "[forces]\na.x = log(1.5 + a.y)\n[potential]\nk*b.y\n[bonds]\n"
    "inner = length(a) - 1\nouter = length(b - a) - 1\n"
    "[start]\na = (0.6, 0.8)\nb = (1.6, 0.8)\n[run]\nuntil = 1\n";

typedef struct setup {
    taut_system *system;
    taut_context *context;
    taut_arena arena;
    taut_statistics statistics;
    taut_field *field;
    taut_error error;
} setup;

static bool set_up(setup *s, const char *model, bool compile)
{
    taut_load how = {.size = sizeof how, .compile = compile};
    *s = (setup){0};
    taut_arena_init(&s->arena, NULL);
    int status = taut_system_parse(model, strlen(model), "model", &how, &s->system, &s->error);
    if (status == 0)
        status = taut_context_create(s->system, NULL, &s->context, &s->error);
    if (status == 0)
        status =
            taut_field_index1(s->context, &s->arena, &s->statistics, 0, 0, &s->field, &s->error);
    return check_row(status == 0, "set up: %s", s->error.message);
}

static void tear_down(setup *s)
{
    if (s->field)
        s->field->destroy(s->field);
    taut_arena_clear(&s->arena);
    taut_context_destroy(s->context);
    taut_system_destroy(s->system);
}

static void check_point(setup *s, const char *what, double allowed)
{
    static const double q[4] = {0.6, 0.8, 1.5, 1.3}, v[4] = {0.4, -0.3, 0.1, 0.2};
    double a[4], lambda[2];
    static judge j;
    int64_t evaluations = s->statistics.force_evaluations, factors = s->statistics.factorisations,
            solves = s->statistics.solves;
    int status = s->field->evaluate(s->field, 0, q, v, a, lambda, &s->error);
    check_row(status == 0, "%s: %s", what, s->error.message);
    check_equal("evaluations", s->statistics.force_evaluations - evaluations, 1);
    check_equal("factorisations", s->statistics.factorisations - factors, 1);
    check_equal("solves", s->statistics.solves - solves, 1);
    check_equal(what, judge_at(&j, s->context, 0, q, v, &s->error), 0);
    check_below(what, residual(&j, TAUT_FUSED_ACCELERATION, a, lambda), allowed);
}

static void test_faults(bool compile)
{
    setup s;
    if (!set_up(&s, rods, compile))
        return;
    double a[4], lambda[2], v[4] = {0};
    check_point(&s, "a good state", 1e-14);
    static const double outside[4] = {0.6, -1.6, 1.5, 1.3}, broken[4] = {NAN, 0.8, 1.5, 1.3},
                        together[4] = {0.6, 0.8, 0.6, 0.8};
    check_equal("log of a negative number",
                s.field->evaluate(s.field, 0.5, outside, v, a, lambda, &s.error),
                TAUT_ERROR_EVALUATE);
    check_contains("log of a negative number", s.error.message, "the force on a.x is not a number");
    check_near("its time", s.error.t, 0.5, 0);
    check_equal("a position that is not a number",
                s.field->evaluate(s.field, 0, broken, v, a, lambda, &s.error), TAUT_ERROR_EVALUATE);
    check_row(s.field->evaluate(s.field, 0, together, v, a, lambda, &s.error) < 0,
              "a length of zero");
    check_point(&s, "a good state after bad ones", 1e-14);
    taut_index k = taut_system_find(s.system, TAUT_PARAMETER, "m2");
    check_equal("parameter", taut_context_set_parameter(s.context, k, 5, &s.error), 0);
    check_point(&s, "another mass", 1e-14);
    k = taut_system_find(s.system, TAUT_PARAMETER, "k");
    check_equal("parameter", taut_context_set_parameter(s.context, k, -2, &s.error), 0);
    check_point(&s, "another force", 1e-14);
    tear_down(&s);
}

/* Two bonds along one line: A is singular. */
static void test_singular(bool compile)
{
    static const char twins[] = "[coordinates]\nx, y\n[forces]\ny = -1\n[bonds]\n"
                                "one = sqrt(x^2 + y^2) - 1\ntwo = x^2 + y^2 - 1\n"
                                "[start]\nx = 1\n[run]\nuntil = 1\n";
    static const double q[2] = {0.6, 0.8}, v[2] = {0};
    double a[2], lambda[2];
    setup s;
    if (!set_up(&s, twins, compile))
        return;
    check_equal("bonds that depend on each other",
                s.field->evaluate(s.field, 0, q, v, a, lambda, &s.error), TAUT_ERROR_SINGULAR);
    check_contains("bonds that depend on each other", s.error.message, "rigid bonds");
    tear_down(&s);
}

/* ---- runs: counts and results do not depend on the compiler */

static void test_runs(void)
{
    static const char *const settings[] = {"method=dop8 rtol=1e-6", "method=rk4 step=0.01",
                                           "method=dopri5 rtol=1e-5"};
    for (size_t k = 0; k < 3; k++) {
        taut_result result[2];
        double q[2][4];
        for (int compile = 0; compile < 2; compile++) {
            taut_load how = {.size = sizeof how, .compile = compile};
            driven d = {0};
            d.code = taut_system_parse(rods, strlen(rods), "model", &how, &d.system, &d.error);
            driven_equip(&d, settings[k], NULL);
            if (d.code == 0)
                d.code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            if (driven_good(settings[k], &d)) {
                memcpy(q[compile], taut_solver_position(d.solver), sizeof q[0]);
                result[compile] = (taut_result){.size = sizeof result[0]};
                taut_solver_result_get(d.solver, &result[compile], &d.error);
            }
            driven_destroy(&d);
        }
        check_row(memcmp(q[0], q[1], sizeof q[0]) == 0, "%s: compiled off by %g", settings[k],
                  fabs(q[0][3] - q[1][3]));
        check_row(
            memcmp(&result[0].statistics, &result[1].statistics, sizeof result[0].statistics) == 0,
            "%s: other counts when compiled", settings[k]);
    }
}

/* ---- threads */

typedef struct worker {
    const taut_system *system;
    double first, sum;
} worker;

static void *work(void *data)
{
    worker *w = data;
    taut_context *context;
    taut_arena arena;
    taut_statistics statistics = {0};
    taut_field *field = NULL;
    taut_error error;
    double q[4] = {0.6, 0.8, 1.5, 1.3}, v[4] = {w->first, -0.3, 0.1, 0.2}, a[4], lambda[2];
    w->sum = NAN;
    taut_arena_init(&arena, NULL);
    if (taut_context_create(w->system, NULL, &context, &error) == 0) {
        if (taut_field_index1(context, &arena, &statistics, 0, 0, &field, &error) == 0) {
            w->sum = 0;
            for (int k = 0; k < 2000; k++) {
                q[1] = 0.8 + 1e-4 * k;
                if (field->evaluate(field, 0, q, v, a, lambda, &error))
                    w->sum = NAN;
                w->sum += a[0] + lambda[1];
            }
            field->destroy(field);
        }
        taut_context_destroy(context);
    }
    taut_arena_clear(&arena);
    return NULL;
}

static void test_threads(bool compile)
{
    enum { THREADS = 4 };
    taut_load how = {.size = sizeof how, .compile = compile};
    taut_system *system;
    taut_error error;
    pthread_t thread[THREADS];
    worker alone[THREADS], together[THREADS];
    if (!check_row(taut_system_parse(rods, strlen(rods), "model", &how, &system, &error) == 0, "%s",
                   error.message))
        return;
    for (int k = 0; k < THREADS; k++) {
        alone[k] = together[k] = (worker){.system = system, .first = 0.1 * k};
        work(&alone[k]);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_create(&thread[k], NULL, work, &together[k]);
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], NULL);
        check_row(alone[k].sum == together[k].sum, "thread %d: %.17g, alone %.17g", k,
                  together[k].sum, alone[k].sum);
    }
    taut_system_destroy(system);
}

int main(void)
{
    char compiler[400];
    check_group("fused, interpreted");
    test_faults(false);
    test_singular(false);
    test_threads(false);
    check_group("fused");
    bool there = place_open(compiler, sizeof compiler);
#ifdef TAUT_CORE
    there = false;
#endif
    if (there) {
        setenv("XDG_CACHE_HOME", in_place("fused"), 1);
        check_group("fused, compiled");
        test_faults(true);
        test_singular(true);
        test_threads(true);
        test_runs();
        check_group("fused, no compiler");
        setenv("PATH", "/nowhere", 1);
        test_faults(true);
        setenv("PATH", old_path, 1);
    }
    check_group("fused, shipped models");
    test_models(there);
    remove_tree(place);
    return check_done();
}
