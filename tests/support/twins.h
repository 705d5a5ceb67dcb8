/* twins.h - two systems that should be the same, compared at random states near the start:
 * everything a system answers, matrices as dense ones, since patterns may differ in order. */
#ifndef TAUT_TESTS_SUPPORT_TWINS_H
#define TAUT_TESTS_SUPPORT_TWINS_H

#include <taut/taut.h>

#include <stdlib.h>

#include "support/table.h"

/* Numbers in (-1, 1), the same in every run. */
static inline double twins_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

/* One system at a state, with room for everything. */
typedef struct twin {
    taut_system *system;
    taut_context *context;
    taut_sizes sizes;
    taut_pattern jacobian, tangent;
    taut_values values;
    taut_error error;
    double *dense[2]; /* longest x n each */
    int64_t longest;
} twin;

static inline double *twin_room(int64_t count)
{
    return calloc((size_t)(count > 0 ? count : 1), sizeof(double));
}

static inline bool twin_open(twin *a, taut_system *system)
{
    *a = (twin){.system = system};
    if (!system || taut_context_create(system, NULL, &a->context, &a->error) != 0)
        return check_row(false, "no context: %s", a->error.message);
    taut_sizes_init(&a->sizes);
    taut_system_sizes_get(system, &a->sizes, NULL);
    taut_values_init(&a->values);
    if (taut_system_pattern_get(system, TAUT_PATTERN_JACOBIAN, &a->jacobian, &a->error) ||
        taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &a->tangent, &a->error))
        return check_row(false, "no pattern: %s", a->error.message);
    int64_t n = a->sizes.coordinates, m = a->sizes.bonds, tangent = a->tangent.start[n];
    taut_values *v = &a->values;
    double **const vectors[] = {&v->force, &v->stiff_force, &v->momentum},
                   **const rows[] = {&v->bond, &v->bond_dt, &v->gamma},
                   **const matrices[] = {&v->bond_hessian, &v->force_dq, &v->force_dv,
                                         &v->mass,         &v->mass_dq,  &v->stiff_hessian};
    for (int k = 0; k < 3; k++) {
        *vectors[k] = twin_room(n);
        *rows[k] = twin_room(m);
    }
    for (int k = 0; k < 6; k++)
        *matrices[k] = twin_room(tangent > n ? tangent : n);
    v->jacobian = twin_room(a->sizes.jacobian_entries);
    a->longest = n > m ? n : m;
    a->dense[0] = twin_room(a->longest * n);
    a->dense[1] = twin_room(a->longest * n);
    return true;
}

static inline void twin_close(twin *a)
{
    taut_values *v = &a->values;
    double *const all[] = {v->force,   v->stiff_force,   v->momentum, v->bond,     v->bond_dt,
                           v->gamma,   v->bond_hessian,  v->force_dq, v->force_dv, v->mass,
                           v->mass_dq, v->stiff_hessian, v->jacobian, a->dense[0], a->dense[1]};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
    taut_context_destroy(a->context);
    a->context = NULL;
}

/* Entries on a pattern as a dense matrix; repeated columns add up. Without a pattern the
 * diagonal. */
static inline void twin_dense(const taut_pattern *p, int64_t n, const double *entries,
                              double *dense)
{
    memset(dense, 0, sizeof(double) * (size_t)((p ? p->rows : n) * n));
    for (taut_index i = 0; p && i < p->rows; i++)
        for (taut_index k = p->start[i]; k < p->start[i + 1]; k++)
            dense[i * n + p->column[k]] += entries[k];
    for (int64_t i = 0; !p && i < n; i++)
        dense[i * n + i] = entries[i];
}

/* max |x - y| over the larger of max |y| and `size`. */
static inline double twins_apart(const double *x, const double *y, int64_t count, double size)
{
    double most = size, apart = 0;
    for (int64_t k = 0; k < count; k++) {
        most = fmax(most, fabs(y[k]));
        apart = fmax(apart, isfinite(x[k]) ? fabs(x[k] - y[k]) : INFINITY);
    }
    return apart > 0 ? apart / most : 0;
}

/* Allowed relative deviations of quantities: values; first; second derivatives. */
typedef struct twins_limits {
    double value, first, second;
} twins_limits;

static inline void twins_vector(const char *what, const char *name, const double *x,
                                const double *y, int64_t count, double limit)
{
    double apart = twins_apart(x, y, count, 1e-3);
    check_row(apart <= limit, "%s: %s differ by %.3g, allowed %.3g", what, name, apart, limit);
}

static inline void twins_matrix(const char *what, const char *name, twin *a, const twin *b,
                                const double *x, const double *y, bool jacobian, bool diagonal,
                                double limit)
{
    int64_t n = a->sizes.coordinates, rows = jacobian ? a->sizes.bonds : n;
    twin_dense(diagonal ? NULL : jacobian ? &a->jacobian : &a->tangent, n, x, a->dense[0]);
    twin_dense(diagonal ? NULL : jacobian ? &b->jacobian : &b->tangent, n, y, a->dense[1]);
    twins_vector(what, name, a->dense[0], a->dense[1], rows * n, limit);
}

static inline void twins_at(const char *what, twin *a, twin *b, double t, const double *q,
                            const double *v, const double *weight, unsigned wanted,
                            twins_limits limits)
{
    int64_t n = a->sizes.coordinates, m = a->sizes.bonds;
    taut_values *x = &a->values, *y = &b->values;
    x->bond_weight = y->bond_weight = weight;
    x->mass_weight = y->mass_weight = v;
    int one = taut_evaluate(a->context, t, q, v, wanted, x, &a->error),
        other = taut_evaluate(b->context, t, q, v, wanted, y, &b->error);
    if (!check_row(one == 0 && other == 0, "%s: %d %s; %d %s", what, one, a->error.message, other,
                   b->error.message))
        return;
    bool diagonal = a->sizes.mass == TAUT_MASS_DIAGONAL;
    twins_vector(what, "forces", x->force, y->force, n, limits.value);
    twins_vector(what, "bonds", x->bond, y->bond, m, limits.value);
    twins_vector(what, "momenta", x->momentum, y->momentum, n, limits.value);
    twins_matrix(what, "masses", a, b, x->mass, y->mass, false, diagonal, limits.value);
    twins_matrix(what, "G", a, b, x->jacobian, y->jacobian, true, false, limits.first);
    /* often next to nothing: then the velocity 1 is the measure */
    double late = twins_apart(x->bond_dt, y->bond_dt, m, 1);
    check_row(late <= limits.first, "%s: dg/dt differ by %.3g, allowed %.3g", what, late,
              limits.first);
    twins_vector(what, "gamma", x->gamma, y->gamma, m, limits.second);
    twins_matrix(what, "Hess g", a, b, x->bond_hessian, y->bond_hessian, false, false,
                 limits.second);
    twins_matrix(what, "df/dq", a, b, x->force_dq, y->force_dq, false, false, limits.first);
    twins_matrix(what, "df/dv", a, b, x->force_dv, y->force_dv, false, false, limits.first);
    if (wanted & TAUT_WANT_MASS_DQ)
        twins_matrix(what, "dM/dq", a, b, x->mass_dq, y->mass_dq, false, false, limits.first);
    twins_vector(what, "stiff forces", x->stiff_force, y->stiff_force, n, limits.value);
    double energy[2][3] = {{x->kinetic, x->potential, x->bond_energy},
                           {y->kinetic, y->potential, y->bond_energy}};
    twins_vector(what, "energies", energy[0], energy[1], 3, limits.value);
}

/* Taylor coefficients 0..order of forces, bonds and G along random polynomials. */
static inline void twins_jets(const char *what, twin *a, twin *b, int order, const double *q,
                              uint64_t *seed, double limit)
{
    taut_jet *one = NULL, *other = NULL;
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA;
    int64_t n = a->sizes.coordinates, m = a->sizes.bonds;
    double *x = twin_room(n), *v = twin_room(n);
    int status = taut_jet_create(a->context, order, wanted, &one, &a->error);
    if (status == 0)
        status = taut_jet_create(b->context, order, wanted, &other, &b->error);
    for (int j = 0; j <= order && status == 0; j++) {
        for (int64_t i = 0; i < n; i++) {
            x[i] = j == 0 ? q[i] : 0.3 * twins_random(seed);
            v[i] = 0.3 * twins_random(seed);
        }
        status = taut_jet_advance(one, j, 0.5, x, v, &a->values, &a->error);
        if (status == 0)
            status = taut_jet_advance(other, j, 0.5, x, v, &b->values, &b->error);
        if (status)
            break;
        twins_vector(what, "jets of forces", a->values.force, b->values.force, n, limit);
        twins_vector(what, "jets of bonds", a->values.bond, b->values.bond, m, limit);
        twins_vector(what, "jets of gamma", a->values.gamma, b->values.gamma, m, limit);
        twins_matrix(what, "jets of G", a, b, a->values.jacobian, b->values.jacobian, true, false,
                     limit);
    }
    check_row(status == 0, "%s: jets: %s %s", what, a->error.message, b->error.message);
    taut_jet_destroy(one);
    taut_jet_destroy(other);
    free(x);
    free(v);
}

/* Compares `system` with the one it should equal. jets < 0: without. Wanted bits that both must
 * answer are chosen by themselves. */
static inline void twins_compare(const char *what, taut_system *system, taut_system *expected,
                                 int states, double scatter, twins_limits limits, int jets)
{
    twin a = {0}, b = {0};
    uint64_t seed = 7;
    double *q = NULL, *v = NULL, *weight = NULL;
    if (!twin_open(&a, system) || !twin_open(&b, expected))
        goto done;
    int64_t n = b.sizes.coordinates, m = b.sizes.bonds;
    if (!check_row(a.sizes.coordinates == n && a.sizes.bonds == m && a.sizes.mass == b.sizes.mass,
                   "%s: %d x %d, expected %d x %d", what, (int)a.sizes.coordinates,
                   (int)a.sizes.bonds, (int)n, (int)m))
        goto done;
    q = twin_room(2 * n);
    v = twin_room(2 * n);
    weight = twin_room(m);
    taut_context_start(a.context, 0, q + n, v + n, &a.error);
    taut_context_start(b.context, 0, q, v, &b.error);
    twins_vector(what, "start positions", q + n, q, n, 0);
    twins_vector(what, "start velocities", v + n, v, n, 0);
    twins_vector(what, "compliances", taut_context_compliance(a.context),
                 taut_context_compliance(b.context), m, 0);
    twins_vector(what, "damping times", taut_context_damping(a.context),
                 taut_context_damping(b.context), m, 1e-15);
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA |
                      TAUT_WANT_BOND_HESSIAN | TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV |
                      TAUT_WANT_MASS | TAUT_WANT_STIFF_FORCE | TAUT_WANT_ENERGY |
                      TAUT_WANT_MOMENTUM |
                      (b.sizes.mass == TAUT_MASS_VARYING ? TAUT_WANT_MASS_DQ : 0);
    for (int k = 0; k < states; k++) {
        for (int64_t i = 0; i < n; i++) {
            q[n + i] = q[i] + scatter * twins_random(&seed);
            v[n + i] = v[i] + twins_random(&seed);
        }
        for (int64_t i = 0; i < m; i++)
            weight[i] = twins_random(&seed);
        twins_at(what, &a, &b, 0.5 + k, q + n, v + n, weight, wanted, limits);
        if (jets >= 0)
            twins_jets(what, &a, &b, jets, q + n, &seed, limits.second);
    }
done:
    free(q);
    free(v);
    free(weight);
    twin_close(&a);
    twin_close(&b);
}

/* A system from text, or NULL with a failed row. */
static inline taut_system *twin_parse(const char *text, const taut_load *how)
{
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_parse(text, strlen(text), "model", how, &system, &error);
    check_row(status == 0, "model: %d:%d: %s", error.line, error.column, error.message);
    return system;
}

#endif
