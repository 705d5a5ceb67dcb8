/* adiabatic.c - the springs alone by an adiabatic integrator: steps of the fast flow that the
 * frequencies do not limit [E 2.1, after Lorenz 2006; Hairer, Lubich, Wanner 2006, XIV.1-3].
 *
 * The vibrating state becomes the foot point X, a velocity V along the bonds, and for each mode
 * (modes.h) an amplitude
 *
 *     a_k = (Omega_k^1/2 p_k + i Omega_k^-1/2 pdot_k)/2^1/2,   J_k = |a_k|^2
 *
 * of the stretches g(x) = sum p_k u_k(X) and their rates. (X, V) moves by RATTLE with the force
 * -grad W(X), W = sum J_k Omega_k [E (7)-(8)], and the amplitudes by [E (25), (26)]
 *
 *     a <- D U^T D a,   D = diag exp(-i phi_k/2),   phi_k = h (Omega_k(X) + Omega_k(X+))/2
 *
 * U is the orthogonal factor of the overlaps z_j(X)^T B z_k(X+), each times sinc((phi_j -
 * phi_k)/2): the coupling W of (26) by exponential midpoint, its oscillating integrals exact. B is
 * M or, where M varies, the mean over the step of M + h/2 (N - N^T), N = d(M V)/dX with V held
 * fixed, from V^T (DM[xi]) xidot in the kinetic energy of X + xi. So modes exchange their actions
 * where frequencies come near one another, within a step or over many, and do not elsewhere. There
 * the force is that of all correlations of modes, -sum_jk R_jk z_j^T (dK) z_k/2, not of the actions
 * alone (correlate). Couplings of three modes and those by sums of frequencies are omitted;
 * away from the resonances (12) they are O(eps) at all times. The error is O(h^2) + O(eps),
 * whatever h Omega is; symmetric, so that the methods are time-reversible, not symplectic.
 *
 * To the vibrating state and back: x - X = M^-1 G(X)^T mu, V - v = M^-1 G(x)^T nu, which differ
 * from the canonical variables of [E (18)] by O(eps), the same both ways. */
#include "step/adiabatic.h"

#include <math.h>

#include "base/rows.h"
#include "base/vectors.h"
#include "step/impulse_foot.h"
#include "system/system.h"

typedef struct taut_adiabatic {
    taut_impulse_foot foot;
    taut_fast_flow slow;         /* all bonds rigid, with the force -grad W */
    double *q, *v;               /* (X, V) */
    double *re, *im;             /* [modes] a */
    double *action, *phase;      /* [modes] */
    double *frequency, *shape;   /* [modes], of all groups: Omega and z where the step began */
    double *vectors;             /* [springs][springs] of each group: of its correlations */
    double *overlap, *square;    /* [largest][largest]: of one group */
    double *value, *next, *more; /* [largest] */
    double *link;                /* B on the tangent pattern, where M varies */
    double *at, *u, *mass_dq;    /* X and velocity where the step began; N */
    int count;                   /* modes */
    double h;                    /* length of a step */
} adiabatic;

/* ---- amplitudes */

/* u_k times x, over all springs: g_i += c_i Omega_k w_ki x */
static void add_mode(const taut_modes_work *modes, int k, const double *compliance, double x,
                     double *bond)
{
    const taut_mode_group *g = &modes->group[modes->owner[k]];
    const double *weight = taut_modes_weight(modes, k);
    for (taut_index s = 0; s < g->springs; s++)
        bond[g->spring[s]] += compliance[g->spring[s]] * modes->frequency[k] * weight[s] * x;
}

/* w_k^T bond/Omega_k */
static double take_mode(const taut_modes_work *modes, int k, const double *bond)
{
    const taut_mode_group *g = &modes->group[modes->owner[k]];
    const double *weight = taut_modes_weight(modes, k);
    double sum = 0;
    for (taut_index s = 0; s < g->springs; s++)
        sum += weight[s] * bond[g->spring[s]];
    return sum / modes->frequency[k];
}

static void turn(adiabatic *a)
{
    for (int k = 0; k < a->count; k++) {
        double c = cos(a->phase[k] / 2), s = sin(a->phase[k] / 2), re = a->re[k];
        a->re[k] = c * re + s * a->im[k];
        a->im[k] = c * a->im[k] - s * re;
    }
}

static double sinc(double x)
{
    return fabs(x) < 1e-4 ? 1 - x * x / 6 : sin(x) / x;
}

/* link: B of a step of length h that ends at q. */
static int form_link(taut_impulse *w, double t, double h, const double *q, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    const taut_fast_flow *f = &a->slow;
    const taut_pattern *p = &f->tangent;
    const taut_index n = w->mechanics.n, entries = p->start[n];
    for (taut_index i = 0; i < n; i++) /* that of the step, before its end */
        a->u[i] = a->v[i] + f->d[i];
    for (taut_index e = 0; e < entries; e++)
        a->link[e] = (f->mass_q[e] + f->mechanics.mass[e]) / 2;
    for (int end = 0; end < 2; end++) {
        taut_values values = {.mass_dq = a->mass_dq, .mass_weight = end ? f->u : a->u};
        TAUT_TRY(taut_evaluate_inside(f->mechanics.context, end ? t : t - h, end ? q : a->at, NULL,
                                      TAUT_WANT_MASS_DQ, &values, error));
        for (taut_index i = 0; i < n; i++)
            for (taut_index e = p->start[i]; e < p->start[i + 1]; e++) {
                a->link[e] += h / 4 * a->mass_dq[e];
                a->link[taut_row_find(p, p->column[e], i)] -= h / 4 * a->mass_dq[e];
            }
    }
    return TAUT_OK;
}

/* z^T B y on the coordinates of a group */
static double product(const taut_impulse *w, const taut_mode_group *g, const double *z,
                      const double *y)
{
    const taut_mechanics *m = &w->mechanics;
    const double *b = m->varying ? w->adiabatic->link : m->mass;
    double sum = 0;
    for (taut_index k = 0; k < g->n; k++) {
        taut_index i = g->coordinate[k];
        double row = m->mass_start ? 0 : b[i] * y[k];
        for (taut_index e = m->mass_start ? m->mass_start[i] : 0;
             m->mass_start && e < m->mass_start[i + 1]; e++) {
            taut_index j = m->mass_column[e], local = w->modes.local[j];
            if (local < g->n && g->coordinate[local] == j) /* others do not vibrate with it */
                row += b[e] * y[local];
        }
        sum += z[k] * row;
    }
    return sum;
}

/* x <- U^T x for both parts of a, U the orthogonal factor B (B^T B)^-1/2 of B = overlap[c][c]. */
static int exchange(taut_impulse *w, double t, int first, int c, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    double *part[] = {a->re + first, a->im + first};
    for (int j = 0; j < c; j++)
        for (int k = 0; k < c; k++) {
            double sum = 0;
            for (int i = 0; i < c; i++)
                sum += a->overlap[i * c + j] * a->overlap[i * c + k];
            a->square[j * c + k] = sum;
        }
    TAUT_TRY(taut_eigen_symmetric(c, a->square, a->value, error, &w->modes.keep));
    if (!(a->value[0] > 1e-8))
        return taut_fail_option(error, TAUT_ERROR_CONVERGE, "inner-step",
                                "at t = %.9g the stiff modes change too much in one step of the "
                                "adiabatic integrator; set a shorter inner step",
                                t);
    for (int p = 0; p < 2; p++) {
        for (int k = 0; k < c; k++) {
            a->next[k] = 0;
            for (int i = 0; i < c; i++)
                a->next[k] += a->overlap[i * c + k] * part[p][i];
        }
        taut_clear(c, part[p]);
        for (int e = 0; e < c; e++)
            taut_add_scaled(c, taut_dot(c, a->square + e * c, a->next) / sqrt(a->value[e]),
                            a->square + e * c, part[p]);
    }
    return TAUT_OK;
}

/* From the modes where the step began to those of now, group by group. */
static int couple(taut_impulse *w, double t, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    const double *from = a->shape;
    for (taut_index number = 0; number < w->modes.groups; number++) {
        const taut_mode_group *g = &w->modes.group[number];
        const double *phase = a->phase + g->first;
        for (int j = 0; j < g->count; j++)
            for (int k = 0; k < g->count; k++)
                a->overlap[j * g->count + k] =
                    sinc((phase[j] - phase[k]) / 2) *
                    product(w, g, from + (int64_t)j * g->n, g->shape + (int64_t)k * g->n);
        from += (int64_t)g->springs * g->n;
        TAUT_TRY(exchange(w, t, g->first, g->count, error));
    }
    return TAUT_OK;
}

static void remember(adiabatic *a, const taut_modes_work *modes)
{
    double *to = a->shape;
    taut_copy(modes->count, modes->frequency, a->frequency);
    for (taut_index number = 0; number < modes->groups; number++) {
        const taut_mode_group *g = &modes->group[number];
        taut_copy((int64_t)g->count * g->n, g->shape, to);
        to += (int64_t)g->springs * g->n;
    }
}

/* ---- the force of the vibration */

/* x[c][n] <- E x, or E^T x. */
static void rotate(adiabatic *a, const double *e, int c, taut_index n, bool back, double *x)
{
    for (taut_index i = 0; i < n; i++) {
        for (int k = 0; k < c; k++) {
            a->next[k] = 0;
            for (int j = 0; j < c; j++)
                a->next[k] += e[back ? j * c + k : k * c + j] * x[(int64_t)j * n + i];
        }
        for (int k = 0; k < c; k++)
            x[(int64_t)k * n + i] = a->next[k];
    }
}

/* R_jk = Re(a_j conj a_k)/(Omega_j Omega_k)^1/2 sinc(h (Omega_j - Omega_k)/2), positive
 * semidefinite; its vectors go to e, and the actions that modes along them would have. */
static int correlate(taut_impulse *w, const taut_mode_group *g, double *e, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    const double *re = a->re + g->first, *im = a->im + g->first,
                 *frequency = w->modes.frequency + g->first;
    for (int j = 0; j < g->count; j++)
        for (int k = 0; k < g->count; k++)
            e[j * g->count + k] = (re[j] * re[k] + im[j] * im[k]) *
                                  sinc(a->h * (frequency[j] - frequency[k]) / 2) /
                                  sqrt(frequency[j] * frequency[k]);
    TAUT_TRY(taut_eigen_symmetric(g->count, e, a->value, error, &w->modes.keep));
    for (int k = 0; k < g->count; k++)
        a->action[g->first + k] = fmax(a->value[k], 0) * frequency[k];
    return TAUT_OK;
}

/* The force -sum_jk R_jk z_j^T (dK) z_k/2 is that of modes along the vectors of R: the work has
 * these in place of its own until unmix. */
static int mix(taut_impulse *w, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    double *e = a->vectors;
    for (taut_index number = 0; number < w->modes.groups; number++) {
        const taut_mode_group *g = &w->modes.group[number];
        TAUT_TRY(correlate(w, g, e, error));
        rotate(a, e, g->count, g->n, false, g->shape);
        rotate(a, e, g->count, g->springs + g->rigids, false, g->weight);
        e += (int64_t)g->springs * g->springs;
    }
    return TAUT_OK;
}

static void unmix(taut_impulse *w)
{
    adiabatic *a = w->adiabatic;
    const double *e = a->vectors;
    for (taut_index number = 0; number < w->modes.groups; number++) {
        const taut_mode_group *g = &w->modes.group[number];
        rotate(a, e, g->count, g->n, true, g->shape);
        rotate(a, e, g->count, g->springs + g->rigids, true, g->weight);
        e += (int64_t)g->springs * g->springs;
    }
}

/* What the slow flow has in place of springs; h is the step that ends here, 0 where the first one
 * begins, at the point of the modes. */
static int force(void *user, double t, double h, const double *q, double *f, taut_error *error)
{
    taut_impulse *w = user;
    adiabatic *a = w->adiabatic;
    if (h != 0) {
        remember(a, &w->modes);
        TAUT_TRY(taut_modes_find(&w->modes, t, q, error));
        if (w->modes.count != a->count)
            return taut_fail(error, TAUT_ERROR_EVALUATE,
                             "at t = %.9g there are %d stiff modes, but %d amplitudes: a mode has "
                             "vanished",
                             t, w->modes.count, a->count);
        for (int k = 0; k < a->count; k++)
            a->phase[k] = h * (a->frequency[k] + w->modes.frequency[k]) / 2;
        turn(a);
        if (w->mechanics.varying)
            TAUT_TRY(form_link(w, t, h, q, error));
        TAUT_TRY(couple(w, t, error));
        turn(a);
    }
    taut_copy(w->mechanics.n, q, a->at);
    TAUT_TRY(mix(w, error));
    TAUT_TRY(taut_modes_sum(&w->modes, t, q, a->action, w->gradient, error));
    unmix(w);
    taut_add_scaled(w->mechanics.n, -1, w->gradient, f);
    return TAUT_OK;
}

/* ---- to (X, V, a) and back */

/* v <- V: M(X) V = M(x) v + G(x)^T nu, G(X) V + g_t = 0; tie_1 is G(x), mass_1 M(x), the bonds at X
 * are evaluated. */
static int drop_velocity(taut_impulse *w, double t, double *v, taut_error *error)
{
    taut_mechanics *m = &w->mechanics;
    const taut_pattern masses = {m->n, m->n, m->mass_start, m->mass_column};
    taut_mechanics_rates(m, v, w->y);
    for (taut_index r = 0; r < m->rods; r++)
        w->y[r] = -w->y[r];
    taut_clear(m->n, w->r);
    if (m->varying) {
        taut_mass_add(&masses, m->n, w->mass_1, 1, v, w->r);
        taut_mass_add(&masses, m->n, m->mass, -1, v, w->r);
    }
    TAUT_TRY(taut_impulse_factor(w, t, m->mass, w->tie_1, m->rod_jacobian, error));
    TAUT_TRY(taut_impulse_solve(w, w->r, error));
    taut_add(m->n, w->r, v);
    return TAUT_OK;
}

static int drop(taut_impulse *w, double t, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    taut_mechanics *m = &w->mechanics;
    TAUT_TRY(taut_impulse_measure(w, t, w->next_x, w->next_v, error));
    taut_copy(m->rod_start[m->rods], m->rod_jacobian, w->tie_1);
    if (m->varying)
        taut_copy(m->mass_start[m->n], m->mass, w->mass_room);
    TAUT_TRY(taut_impulse_foot_find(w, &a->foot, t, w->next_x, error));
    taut_copy(m->n, a->foot.X, a->q);
    taut_copy(m->n, w->next_v, a->v);
    TAUT_TRY(taut_mechanics_bonds(m, t, a->q, NULL, 0, error));
    TAUT_TRY(drop_velocity(w, t, a->v, error));
    TAUT_TRY(taut_modes_find(&w->modes, t, a->q, error));
    a->count = w->modes.count;
    taut_clear(m->m, a->more);
    taut_clear(m->m, a->next);
    for (taut_index r = 0; r < m->rods; r++) {
        a->more[m->rod[r]] = w->g[r];
        a->next[m->rod[r]] = w->gdot[r];
    }
    for (int k = 0; k < a->count; k++) {
        double root = sqrt(w->modes.frequency[k]);
        a->re[k] = root * take_mode(&w->modes, k, a->more) / sqrt(2);
        a->im[k] = take_mode(&w->modes, k, a->next) / (root * sqrt(2));
    }
    return TAUT_OK;
}

static int lift(taut_impulse *w, double t, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    const taut_mechanics *m = &w->mechanics;
    taut_clear(m->m, a->more);
    taut_clear(m->m, a->next);
    for (int k = 0; k < a->count; k++) {
        double root = sqrt(w->modes.frequency[k]);
        add_mode(&w->modes, k, m->compliance, sqrt(2) / root * a->re[k], a->more);
        add_mode(&w->modes, k, m->compliance, sqrt(2) * root * a->im[k], a->next);
    }
    for (taut_index r = 0; r < m->rods; r++) {
        w->g[r] = a->more[m->rod[r]];
        w->gdot[r] = a->next[m->rod[r]];
    }
    return taut_impulse_lift(w, t, a->q, a->v, w->next_x, w->next_v, error);
}

int taut_adiabatic_advance(taut_impulse *w, double t, double h, int64_t steps, taut_error *error)
{
    adiabatic *a = w->adiabatic;
    a->h = h;
    TAUT_TRY(drop(w, t, error));
    TAUT_TRY(taut_fast_flow_advance(&a->slow, &w->composed, t, h, steps, a->q, a->v, error));
    return lift(w, t + (double)steps * h, error);
}

/* ---- making */

static int refuse(const taut_impulse *w, taut_error *error)
{
    const char *why = w->potential    ? "a stiff potential: write it as bonds with a stiffness"
                      : !w->has_modes ? "more than 400 springs that are connected"
                                      : NULL;
    return why ? taut_fail_option(error, TAUT_ERROR_REFUSED, "inner-method",
                                  "the adiabatic integrator does not support %s, or use verlet",
                                  why)
               : TAUT_OK;
}

int taut_adiabatic_create(taut_impulse *w, taut_error *error)
{
    taut_stepper *s = w->stepper;
    const taut_modes_work *modes = &w->modes;
    int64_t shapes = 0, squares = 0, largest = modes->largest;
    TAUT_TRY(refuse(w, error));
    adiabatic *a = w->adiabatic = TAUT_NEW(s->arena, adiabatic, 1);
    TAUT_NEED(error, a);
    TAUT_TRY(taut_impulse_foot_create(&a->foot, w, error));
    TAUT_TRY(taut_fast_flow_create(&a->slow, s->context, s->arena, s->statistics,
                                   TAUT_STIFF_AS_RODS, error));
    a->slow.force = force;
    a->slow.user = w;
    for (taut_index g = 0; g < modes->groups; g++) {
        shapes += (int64_t)modes->group[g].springs * modes->group[g].n;
        squares += (int64_t)modes->group[g].springs * modes->group[g].springs;
    }
    TAUT_TRY(TAUT_RESERVE(s->arena, squares, error, &a->vectors));
    TAUT_TRY(TAUT_RESERVE(s->arena, s->n, error, &a->q, &a->v, &a->at, &a->u));
    if (w->mechanics.varying)
        TAUT_TRY(TAUT_RESERVE(s->arena, a->slow.tangent.start[s->n], error, &a->link, &a->mass_dq));
    TAUT_TRY(TAUT_RESERVE(s->arena, modes->springs, error, &a->re, &a->im, &a->action, &a->phase,
                          &a->frequency));
    TAUT_TRY(TAUT_RESERVE(s->arena, shapes, error, &a->shape));
    TAUT_TRY(TAUT_RESERVE(s->arena, largest * largest, error, &a->overlap, &a->square));
    TAUT_TRY(TAUT_RESERVE(s->arena, largest, error, &a->value));
    return TAUT_RESERVE(s->arena, w->mechanics.m, error, &a->next, &a->more);
}

void taut_adiabatic_destroy(taut_impulse *w)
{
    if (!w->adiabatic)
        return;
    taut_impulse_foot_destroy(&w->adiabatic->foot);
    taut_fast_flow_destroy(&w->adiabatic->slow);
}
