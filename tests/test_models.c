/* test_models.c - every shipped model: loads without warnings, has its sizes, and equals the
 * oracle (tests/oracle/values.py) in its initial state, forces, bonds, Jacobian, second
 * derivatives, masses, energies and Taylor coefficients; derivatives by differences, jets by a
 * recurrence written out here. */
#include <dirent.h>

#include "oracle/values.h"
#include "support/table.h"
#include <taut/taut.h>

#ifndef TAUT_SOURCE_DIR
#define TAUT_SOURCE_DIR "."
#endif
#define FOLDER TAUT_SOURCE_DIR "/models/"

enum { SIZE_MOST = 64 }; /* coordinates and bonds of the models that are compared with the oracle */
static const double TOLERANCE = 1e-13;

typedef struct loaded {
    taut_system *system;
    taut_context *context;
    taut_sizes sizes;
    taut_error error;
} loaded;

static bool load(loaded *m, const char *name, const char *set, double from)
{
    char path[1024];
    *m = (loaded){0};
    snprintf(path, sizeof path, FOLDER "%s.taut", name);
    taut_load how = {.size = sizeof how, .set = &set, .set_count = *set != 0, .from = from};
    int status = taut_system_load(path, &how, &m->system, &m->error);
    if (status == 0)
        status = taut_context_create(m->system, NULL, &m->context, &m->error);
    if (status == 0) {
        taut_sizes_init(&m->sizes);
        taut_system_sizes_get(m->system, &m->sizes, NULL);
    }
    return check_row(status == 0, "%s %s: %d, %s:%d:%d: %s", name, set, status, m->error.file,
                     m->error.line, m->error.column, m->error.message);
}

static void unload(loaded *m)
{
    taut_context_destroy(m->context);
    taut_system_destroy(m->system);
}

/* ---- sizes */

typedef struct shape {
    const char *name;
    taut_kind kind;
    int coordinates, bonds, algebraic, constraints, invariants, observables, outputs;
    taut_mass_kind mass;
    /* these TAUT_HAS_ bits, and none of the others below (an angle in the plane has a kink where
     * it is 0) */
    unsigned has;
} shape;

enum {
    HAS_MASK = TAUT_HAS_RIGID | TAUT_HAS_SPRINGS | TAUT_HAS_DAMPING | TAUT_HAS_STIFF_POTENTIAL |
               TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_VARYING_MASS | TAUT_HAS_TIME |
               TAUT_HAS_MOVING_BONDS | TAUT_HAS_KINETIC | TAUT_HAS_ALGEBRAIC | TAUT_HAS_INVARIANTS |
               TAUT_HAS_STEPPER | TAUT_HAS_KINKS | TAUT_HAS_PAIRS,
    SPRINGS = TAUT_HAS_SPRINGS,
};

static const shape shapes[] = {
    {"double_pendulum", TAUT_MECHANICAL, 4, 2, 0, 0, 0, 0, 2, TAUT_MASS_DIAGONAL, SPRINGS},
    {"pendulum", TAUT_MECHANICAL, 2, 1, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL, SPRINGS},
    {"free_pendulum", TAUT_MECHANICAL, 2, 1, 0, 0, 0, 0, 2, TAUT_MASS_DIAGONAL, SPRINGS},
    {"forced_spring", TAUT_MECHANICAL, 1, 1, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL,
     SPRINGS | TAUT_HAS_MOVING_BONDS},
    {"double_pendulum_gravity", TAUT_MECHANICAL, 4, 2, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, SPRINGS},
    {"quartic_rod", TAUT_MECHANICAL, 2, 0, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL,
     TAUT_HAS_STIFF_POTENTIAL},
    {"chain", TAUT_MECHANICAL, 40, 20, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, SPRINGS},
    {"net", TAUT_MECHANICAL, 192, 114, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, SPRINGS},
    {"truss", TAUT_MECHANICAL, 26, 25, 0, 0, 0, 0, 3, TAUT_MASS_DIAGONAL, SPRINGS | TAUT_HAS_RIGID},
    {"rope_bending", TAUT_MECHANICAL, 40, 20, 0, 0, 0, 0, 2, TAUT_MASS_DIAGONAL, SPRINGS},
    {"slider_crank", TAUT_MECHANICAL, 4, 3, 0, 0, 0, 0, 4, TAUT_MASS_DIAGONAL,
     TAUT_HAS_RIGID | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_TIME},
    {"four_bar", TAUT_MECHANICAL, 5, 5, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL,
     TAUT_HAS_RIGID | TAUT_HAS_MOVING_BONDS},
    {"cart", TAUT_MECHANICAL, 3, 1, 0, 0, 0, 0, 1, TAUT_MASS_VARYING,
     SPRINGS | TAUT_HAS_KINETIC | TAUT_HAS_VARYING_MASS | TAUT_HAS_VELOCITY_FORCES},
    {"fpu", TAUT_MECHANICAL, 6, 3, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, SPRINGS},
    {"triatomic", TAUT_MECHANICAL, 6, 2, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL,
     SPRINGS | TAUT_HAS_KINKS},
    {"butane", TAUT_MECHANICAL, 12, 5, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL, SPRINGS},
    {"water_box", TAUT_MECHANICAL, 243, 81, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, SPRINGS},
    {"decane_melt", TAUT_MECHANICAL, 480, 144, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL,
     SPRINGS | TAUT_HAS_PAIRS},
    {"lj_fluid", TAUT_MECHANICAL, 375, 0, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, TAUT_HAS_PAIRS},
    {"index2", TAUT_FIRST_ORDER, 2, 1, 1, 1, 0, 0, 1, TAUT_MASS_DIAGONAL,
     TAUT_HAS_ALGEBRAIC | TAUT_HAS_TIME | TAUT_HAS_MOVING_BONDS | TAUT_HAS_VELOCITY_FORCES},
    {"kepler", TAUT_FIRST_ORDER, 4, 1, 0, 0, 1, 0, 1, TAUT_MASS_DIAGONAL, TAUT_HAS_INVARIANTS},
    {"michaelis_menten", TAUT_FIRST_ORDER, 2, 1, 0, 0, 0, 1, 0, TAUT_MASS_DIAGONAL,
     TAUT_HAS_STEPPER},
    {"michaelis_menten_mixed", TAUT_FIRST_ORDER, 2, 1, 0, 0, 0, 1, 2, TAUT_MASS_DIAGONAL,
     TAUT_HAS_STEPPER},
    {"hydrogen_oxygen", TAUT_FIRST_ORDER, 7, 3, 0, 0, 2, 1, 0, TAUT_MASS_DIAGONAL,
     TAUT_HAS_STEPPER | TAUT_HAS_INVARIANTS},
    {"five_dimensions", TAUT_FIRST_ORDER, 5, 2, 0, 0, 0, 2, 3, TAUT_MASS_DIAGONAL,
     TAUT_HAS_STEPPER},
    {"reaction_diffusion", TAUT_FIRST_ORDER, 400, 200, 0, 0, 0, 200, 0, TAUT_MASS_DIAGONAL, 0},
    {"robertson", TAUT_FIRST_ORDER, 3, 0, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL, 0},
    {"van_der_pol", TAUT_FIRST_ORDER, 2, 0, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, 0},
    {"bouncing_ball", TAUT_MECHANICAL, 2, 0, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, 0},
    {"half_car", TAUT_MECHANICAL, 2, 0, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL,
     TAUT_HAS_TIME | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_KINKS},
    {"foot_excitation", TAUT_MECHANICAL, 1, 0, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL,
     TAUT_HAS_TIME | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_KINKS},
    {"penalty_contact", TAUT_MECHANICAL, 1, 0, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL,
     TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_KINKS},
    {"stick_slip", TAUT_MECHANICAL, 2, 0, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL,
     TAUT_HAS_TIME | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_KINKS},
    {"cloth", TAUT_MECHANICAL, 2700, 3424, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL,
     SPRINGS | TAUT_HAS_DAMPING},
    {"crane", TAUT_MECHANICAL, 2, 1, 0, 0, 0, 0, 2, TAUT_MASS_DIAGONAL,
     SPRINGS | TAUT_HAS_DAMPING | TAUT_HAS_MOVING_BONDS},
    {"crane_cable", TAUT_MECHANICAL, 2, 1, 0, 0, 0, 0, 2, TAUT_MASS_DIAGONAL,
     SPRINGS | TAUT_HAS_MOVING_BONDS | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_TIME},
    {"robertson_dae", TAUT_FIRST_ORDER, 3, 1, 1, 1, 0, 0, 0, TAUT_MASS_DIAGONAL,
     TAUT_HAS_ALGEBRAIC | TAUT_HAS_VELOCITY_FORCES},
    {"crossing", TAUT_MECHANICAL, 3, 2, 0, 0, 0, 0, 2, TAUT_MASS_DIAGONAL, SPRINGS},
    {"spring_pendulum", TAUT_MECHANICAL, 2, 1, 0, 0, 0, 0, 2, TAUT_MASS_DIAGONAL, SPRINGS},
    {"squeezer", TAUT_MECHANICAL, 7, 6, 0, 0, 0, 0, 0, TAUT_MASS_VARYING,
     TAUT_HAS_RIGID | TAUT_HAS_KINETIC | TAUT_HAS_VARYING_MASS | TAUT_HAS_VELOCITY_FORCES},
    {"top", TAUT_MECHANICAL, 4, 1, 0, 0, 0, 0, 3, TAUT_MASS_VARYING,
     TAUT_HAS_RIGID | TAUT_HAS_KINETIC | TAUT_HAS_VARYING_MASS | TAUT_HAS_VELOCITY_FORCES},
    {"parallelogram", TAUT_MECHANICAL, 6, 6, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL, TAUT_HAS_RIGID},
    {"tensegrity", TAUT_MECHANICAL, 18, 15, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, TAUT_HAS_RIGID},
    {"bennett", TAUT_MECHANICAL, 12, 14, 0, 0, 0, 0, 0, TAUT_MASS_DIAGONAL, TAUT_HAS_RIGID},
    {"polymer", TAUT_MECHANICAL, 30, 9, 0, 0, 0, 0, 1, TAUT_MASS_DIAGONAL, SPRINGS},
    {"robot_arm", TAUT_MECHANICAL, 4, 2, 0, 0, 0, 0, 2, TAUT_MASS_VARYING,
     SPRINGS | TAUT_HAS_KINETIC | TAUT_HAS_VARYING_MASS | TAUT_HAS_VELOCITY_FORCES | TAUT_HAS_TIME},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void check_shape(const shape *want, const loaded *m)
{
    const taut_sizes *s = &m->sizes;
    check_row(s->kind == want->kind && s->coordinates == want->coordinates &&
                  s->bonds == want->bonds && s->algebraic == want->algebraic &&
                  s->constraints == want->constraints && s->invariants == want->invariants &&
                  s->observables == want->observables && s->outputs == want->outputs,
              "%s: kind %d, %d coordinates, %d bonds, %d algebraic, %d+%d+%d rows, %d outputs",
              want->name, (int)s->kind, (int)s->coordinates, (int)s->bonds, (int)s->algebraic,
              (int)s->constraints, (int)s->invariants, (int)s->observables, (int)s->outputs);
    if (want->kind == TAUT_MECHANICAL)
        check_equal("mass kind", (long long)s->mass, (long long)want->mass);
    check_row((s->can & HAS_MASK) == want->has, "%s: properties %x, expected %x", want->name,
              s->can & HAS_MASK, want->has);
    check_row((s->can & TAUT_CAN_DERIVATIVES && s->can & TAUT_CAN_JETS) ==
                  !(want->has & TAUT_HAS_PAIRS),
              "%s: lacks derivatives or jets", want->name);
    check_row(taut_system_title(m->system)[0] != 0, "%s: no title", want->name);
    check_row(s->settings > 0, "%s: no [run] settings", want->name);
    for (taut_index k = 0; k < s->warnings; k++)
        check_row(false, "%s: warning: %s", want->name, taut_system_warning(m->system, k));
}

/* Each model is in the table, and the table names nothing else. */
static void check_folder(void)
{
    int files = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".taut") != 0)
            continue;
        files++;
        bool known = false;
        for (int k = 0; k < SHAPES; k++)
            known |= strlen(shapes[k].name) == (size_t)(dot - entry->d_name) &&
                     strncmp(shapes[k].name, entry->d_name, (size_t)(dot - entry->d_name)) == 0;
        check_row(known, "%s is not in the table of this test", entry->d_name);
    }
    if (folder)
        closedir(folder);
    check_equal("number of models", files, SHAPES);
    /* that of lj_fluid, which has no jets, is in test_pairs.c */
    check_equal("number of oracle rows", (long long)(sizeof oracle_rows / sizeof *oracle_rows),
                SHAPES - 1);
}

/* ---- derivatives */

static void check_derivatives(const char *name, const loaded *m)
{
    static taut_check_report report = {.size = sizeof report};
    taut_error error = {0};
    taut_options *options = NULL;
    taut_options_create(NULL, &options, &error);
    int status = taut_check(m->system, options, &report, &error);
    taut_options_destroy(options);
    if (!check_row(status == 0, "%s: check: %d: %s", name, status, error.message))
        return;
    check_row(report.derivatives > 0, "%s: no derivative was checked", name);
    for (int k = 0; k < report.derivatives; k++) {
        const taut_derivative_check *d = &report.derivative[k];
        check_row(d->deviation <= (d->derivative == 1 ? 1e-8 : 1e-6),
                  "%s: %s deviates by %.3g at %s", name, d->name, d->deviation, d->where);
    }
    check_row(report.verdict == 0, "%s: verdict %d: %s %s", name, report.verdict,
              report.rank_message, report.advice);
}

/* The step of [run] resolves the fastest vibration of the start: h omega <= 0.35. Frequencies
 * are those of springs and stiff potentials; models with rigid bonds only have none. */
static void check_step(const char *name, loaded *m)
{
    enum { ASKED = 200 };
    static double q[512], v[512], frequency[2 * ASKED];
    double step = 0;
    for (taut_index k = 0; k < m->sizes.settings; k++) {
        const char *key = NULL, *value = NULL;
        if (taut_system_setting(m->system, k, &key, &value) && strcmp(key, "step") == 0)
            step = strtod(value, NULL);
    }
    if (step == 0 || !(m->sizes.can & (TAUT_HAS_SPRINGS | TAUT_HAS_STIFF_POTENTIAL)) ||
        m->sizes.coordinates > 512)
        return;
    int found = 0;
    bool complete = false;
    int status = taut_context_start(m->context, 0, q, v, &m->error);
    if (status == 0)
        status = taut_frequencies(m->context, 0, q, ASKED, frequency, &found, &complete, &m->error);
    if (!check_row(status == 0 && found > 0, "%s: frequencies: %d, %s", name, status,
                   m->error.message))
        return;
    double most = frequency[found - 1];
    check_row(most * step <= 0.35 && most * step >= 0.05, "%s: step %g times frequency %g is %g",
              name, step, most, step * most);
}

/* ---- oracle */

static double largest(const double *x, int n)
{
    double most = 0;
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

/* max |value - oracle| relative to the largest entry of the oracle's array (and to `scale`, when
 * that is larger). */
static void compare(const oracle_row *row, const char *what, const double *value,
                    const double *oracle, int n, double scale)
{
    double size = fmax(largest(oracle, n), scale), worst = 0;
    int where = 0;
    for (int k = 0; k < n; k++) {
        double off = fabs(value[k] - oracle[k]);
        if (!(off <= worst)) {
            worst = off;
            where = k;
        }
    }
    check_row(n == 0 || worst <= TOLERANCE * size,
              "%s: %s[%d] = %.17g, oracle %.17g, off by %.3g of %.3g", row->name, what, where,
              n ? value[where] : 0, n ? oracle[where] : 0, worst, size);
}

/* Entries on a pattern as a dense matrix; repeated columns add up. */
static void densify(const taut_pattern *pattern, const double *entry, double *dense)
{
    memset(dense, 0, sizeof(double) * (size_t)pattern->rows * (size_t)pattern->columns);
    for (taut_index i = 0; i < pattern->rows; i++)
        for (taut_index k = pattern->start[i]; k < pattern->start[i + 1]; k++)
            dense[i * pattern->columns + pattern->column[k]] += entry[k];
}

static void check_start(const oracle_row *row, loaded *m)
{
    double q[SIZE_MOST], v[SIZE_MOST];
    int status = taut_context_start(m->context, row->t, q, v, &m->error);
    if (!check_row(status == 0, "%s: start: %s", row->name, m->error.message))
        return;
    compare(row, "start q", q, row->start_q, row->n, 0);
    compare(row, "start v", v, row->start_v, row->mechanical ? row->n : row->algebraic, 0);
}

static void check_masses(const oracle_row *row, loaded *m)
{
    static double entry[SIZE_MOST * SIZE_MOST], dense[SIZE_MOST * SIZE_MOST];
    taut_values values = {.size = sizeof values, .mass = entry};
    int status =
        taut_evaluate(m->context, row->t, row->q, row->v, TAUT_WANT_MASS, &values, &m->error);
    if (!check_row(status == 0, "%s: mass: %s", row->name, m->error.message))
        return;
    if (!row->full_mass) {
        compare(row, "mass", entry, row->mass, row->n, 0);
        return;
    }
    taut_pattern pattern;
    status = taut_system_pattern_get(m->system, TAUT_PATTERN_TANGENT, &pattern, &m->error);
    if (!check_row(status == 0, "%s: tangent pattern: %s", row->name, m->error.message))
        return;
    densify(&pattern, entry, dense);
    compare(row, "mass", dense, row->mass, row->n * row->n, 0);
}

static void check_energies(const oracle_row *row, loaded *m)
{
    double stiff[SIZE_MOST];
    unsigned wanted =
        TAUT_WANT_ENERGY | (m->sizes.can & TAUT_HAS_STIFF_POTENTIAL ? TAUT_WANT_STIFF_FORCE : 0);
    taut_values values = {.size = sizeof values, .stiff_force = stiff};
    int status = taut_evaluate(m->context, row->t, row->q, row->v, wanted, &values, &m->error);
    if (!check_row(status == 0, "%s: energy: %s", row->name, m->error.message))
        return;
    const double energy[4] = {values.kinetic, values.potential, values.bond_energy,
                              values.stiff_energy};
    static const char *const what[4] = {"kinetic energy", "potential energy", "bond energy",
                                        "stiff energy"};
    for (int k = 0; k < 4; k++)
        compare(row, what[k], &energy[k], &row->energy[k], 1, 1e-3);
    if (wanted & TAUT_WANT_STIFF_FORCE)
        compare(row, "stiff force", stiff, row->stiff, row->n, 0);
}

static void check_values(const oracle_row *row, loaded *m)
{
    static double f[SIZE_MOST], g[SIZE_MOST], gt[SIZE_MOST], gamma[SIZE_MOST], G[16 * SIZE_MOST],
        dense[SIZE_MOST * SIZE_MOST];
    taut_pattern pattern;
    int status = taut_system_pattern_get(m->system, TAUT_PATTERN_JACOBIAN, &pattern, &m->error);
    if (!check_row(status == 0 && m->sizes.jacobian_entries <= 16 * SIZE_MOST,
                   "%s: pattern of G: %s", row->name, m->error.message))
        return;
    unsigned wanted = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN |
                      (row->mechanical ? TAUT_WANT_GAMMA : 0);
    taut_values values = {
        .size = sizeof values, .force = f, .bond = g, .jacobian = G, .bond_dt = gt, .gamma = gamma};
    status = taut_evaluate(m->context, row->t, row->q, row->v, wanted, &values, &m->error);
    if (!check_row(status == 0, "%s: evaluate: %s", row->name, m->error.message))
        return;
    compare(row, "f", f, row->f, row->n, row->size);
    compare(row, "g", g, row->g, row->m, 0);
    densify(&pattern, G, dense);
    compare(row, "G", dense, row->G, row->n * row->m, 0);
    compare(row, "g_t", gt, row->gt, row->m, 1);
    if (row->mechanical)
        compare(row, "gamma", gamma, row->gamma, row->m, 0);
}

static void check_jets(const oracle_row *row, loaded *m)
{
    double f[SIZE_MOST], g[SIZE_MOST], q[SIZE_MOST], v[SIZE_MOST];
    taut_jet *jet = NULL;
    taut_values values = {.size = sizeof values, .force = f, .bond = g};
    int status = taut_jet_create(m->context, ORACLE_JET_ORDER, TAUT_WANT_FORCE | TAUT_WANT_BOND,
                                 &jet, &m->error);
    double scale_f = 0, scale_g = 0;
    for (int j = 0; status == 0 && j <= ORACLE_JET_ORDER; j++) {
        /* q + w t + a t^2/2 with its velocity w + a t; first order: y + t/2 for the algebraic
         * variables */
        for (int k = 0; k < row->n; k++)
            q[k] = j == 0 ? row->q[k] : j == 1 ? row->w[k] : j == 2 ? row->a[k] / 2 : 0;
        for (int k = 0; k < (row->mechanical ? row->n : row->algebraic); k++)
            v[k] = j == 0 ? row->v[k] : j > 1 ? 0 : row->mechanical ? row->a[k] : 0.5;
        status = taut_jet_advance(jet, j, row->t, q, v, &values, &m->error);
        if (status != 0)
            break;
        char what[32];
        snprintf(what, sizeof what, "coefficient %d of f", j);
        scale_f = j ? scale_f : fmax(largest(row->jet_f, row->n) * 1e-3, row->size);
        scale_g = j ? scale_g : largest(row->jet_g, row->m) * 1e-3;
        compare(row, what, f, row->jet_f + j * row->n, row->n, scale_f);
        what[strlen(what) - 1] = 'g';
        compare(row, what, g, row->jet_g + j * row->m, row->m, scale_g);
    }
    check_row(status == 0, "%s: jet: %s", row->name, m->error.message);
    taut_jet_destroy(jet);
}

static void check_oracle(const oracle_row *row)
{
    loaded m;
    if (load(&m, row->name, row->set, row->t) &&
        check_row(m.sizes.coordinates == row->n && m.sizes.bonds == row->m && row->n <= SIZE_MOST &&
                      row->m <= SIZE_MOST,
                  "%s: %d coordinates, %d bonds", row->name, (int)m.sizes.coordinates,
                  (int)m.sizes.bonds)) {
        check_start(row, &m);
        check_values(row, &m);
        check_jets(row, &m);
        if (row->mechanical) {
            check_masses(row, &m);
            check_energies(row, &m);
        }
    }
    unload(&m);
}

/* ---- consistent starts */

/* |g| and |gdot| of the start, at a time of its own. */
static void check_consistent(const char *name, double t, int rows)
{
    loaded m;
    double q[SIZE_MOST], v[SIZE_MOST], g[SIZE_MOST], gt[SIZE_MOST], G[16 * SIZE_MOST];
    taut_values values = {.size = sizeof values, .bond = g, .jacobian = G, .bond_dt = gt};
    taut_pattern pattern;
    if (load(&m, name, "", t)) {
        int status = taut_context_start(m.context, t, q, v, &m.error);
        if (status == 0)
            status = taut_evaluate(m.context, t, q, v, TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, &values,
                                   &m.error);
        if (status == 0)
            status = taut_system_pattern_get(m.system, TAUT_PATTERN_JACOBIAN, &pattern, &m.error);
        check_row(status == 0, "%s: %s", name, m.error.message);
        for (int i = 0; status == 0 && i < rows; i++) {
            double rate = gt[i];
            for (taut_index k = pattern.start[i]; k < pattern.start[i + 1]; k++)
                rate += G[k] * v[pattern.column[k]];
            check_below(name, fabs(g[i]), 1e-12);
            if (m.sizes.kind == TAUT_MECHANICAL)
                check_below(name, fabs(rate), 1e-12);
        }
    }
    unload(&m);
}

/* ---- jets by a recurrence */

/* Taylor coefficients of r = sqrt(s) by r_k = (s_k - sum_{0<j<k} r_j r_{k-j}) / (2 r_0). */
static void root_series(const double *s, int order, double *r)
{
    r[0] = sqrt(s[0]);
    for (int k = 1; k <= order; k++) {
        double rest = s[k];
        for (int j = 1; j < k; j++)
            rest -= r[j] * r[k - j];
        r[k] = rest / (2 * r[0]);
    }
}

/* The double pendulum flies by its own stiff forces: x'' = -omega^2 (g1 G1 + g2 G2) / 1,
 * coefficient by coefficient, g and f of the library against the recurrence. 16 orders, omega =
 * 1: all coefficients of size one. */
static void check_recurrence(void)
{
    enum { ORDER = TAUT_JET_ORDER_MAX };
    loaded m;
    taut_jet *jet = NULL;
    double q[4][ORDER + 2] = {{1}, {0.25}, {2}, {0}}, v[4][ORDER + 2] = {{0}, {-0.5}, {0}, {0.5}};
    double u[4][ORDER + 1], s[2][ORDER + 1], r[2][ORDER + 1], w[2][ORDER + 1] = {{0}}, g[2] = {0};
    taut_values values = {.size = sizeof values, .bond = g};
    bool good = load(&m, "double_pendulum", "omega=1", 0) &&
                check_row(taut_jet_create(m.context, ORDER, TAUT_WANT_BOND, &jet, &m.error) == 0,
                          "jet: %s", m.error.message);
    for (int k = 0; good && k <= ORDER; k++) {
        /* u: the two links; s: their squares; r: lengths; w = 1 - 1/r, the force of a link is -w u
         */
        for (int c = 0; c < 2; c++) {
            u[c][k] = q[c][k];
            u[2 + c][k] = q[2 + c][k] - q[c][k];
        }
        for (int b = 0; b < 2; b++) {
            s[b][k] = 0;
            for (int j = 0; j <= k; j++)
                s[b][k] += u[2 * b][j] * u[2 * b][k - j] + u[2 * b + 1][j] * u[2 * b + 1][k - j];
            root_series(s[b], k, r[b]);
            double rest = k == 0; /* (1 - w) r = 1 */
            for (int j = 0; j < k; j++)
                rest -= ((j == 0) - w[b][j]) * r[b][k - j];
            w[b][k] = (k == 0) - rest / r[b][0];
        }
        double qk[4], vk[4];
        for (int c = 0; c < 4; c++) {
            qk[c] = q[c][k];
            vk[c] = v[c][k];
        }
        good = check_row(taut_jet_advance(jet, k, 0, qk, vk, &values, &m.error) == 0, "jet %d: %s",
                         k, m.error.message);
        for (int b = 0; good && b < 2; b++)
            check_row(fabs(g[b] - (r[b][k] - (k == 0))) <= 1e-13 * fmax(1, fabs(r[b][k])),
                      "coefficient %d of bond %d: %.17g, recurrence %.17g", k, b, g[b],
                      r[b][k] - (k == 0));
        for (int c = 0; c < 2; c++) {
            double inner = 0, outer = 0;
            for (int j = 0; j <= k; j++) {
                inner += w[0][j] * u[c][k - j];
                outer += w[1][j] * u[2 + c][k - j];
            }
            v[c][k + 1] = (outer - inner) / (k + 1);
            v[2 + c][k + 1] = -outer / (k + 1);
        }
        for (int c = 0; c < 4; c++)
            q[c][k + 1] = v[c][k] / (k + 1);
    }
    taut_jet_destroy(jet);
    unload(&m);
}

/* ---- long chain */

static void check_long_chain(void)
{
    bool long_run = getenv("TAUT_TEST_LONG") != NULL;
    int count = long_run ? 1000000 : 100000;
    loaded m;
    if (load(&m, "chain", long_run ? "N=1000000" : "N=100000", 0)) {
        check_equal("coordinates", m.sizes.coordinates, 2LL * count);
        check_equal("bonds", m.sizes.bonds, count);
        double *x = malloc(sizeof(double) * 7 * (size_t)count);
        taut_values values = {
            .size = sizeof values, .force = x + 4 * (size_t)count, .bond = x + 6 * (size_t)count};
        int status = x ? taut_context_start(m.context, 0, x, x + 2 * (size_t)count, &m.error)
                       : TAUT_ERROR_MEMORY;
        if (status == 0)
            status = taut_evaluate(m.context, 0, x, x + 2 * (size_t)count,
                                   TAUT_WANT_FORCE | TAUT_WANT_BOND, &values, &m.error);
        if (check_row(status == 0, "chain: %s", m.error.message)) {
            check_near("last bob", x[2 * (size_t)count - 2], count, 0);
            check_near("weight of the last bob", values.force[2 * (size_t)count - 1], -1, 0);
            check_below("stretch", largest(values.bond, count), 0);
        }
        free(x);
    }
    unload(&m);
}

int main(void)
{
    check_group("folder");
    check_folder();
    for (int k = 0; k < SHAPES; k++) {
        loaded m;
        check_group("shape");
        if (load(&m, shapes[k].name, "", 0)) {
            check_shape(&shapes[k], &m);
            check_group("derivatives");
            check_derivatives(shapes[k].name, &m);
            check_group("step");
            check_step(shapes[k].name, &m);
        }
        unload(&m);
    }
    check_group("oracle");
    for (size_t k = 0; k < sizeof oracle_rows / sizeof *oracle_rows; k++)
        check_oracle(&oracle_rows[k]);
    check_group("consistent start");
    check_consistent("slider_crank", 0, 3);
    check_consistent("four_bar", 0, 5);
    check_consistent("four_bar", 1.7, 5);
    check_consistent("index2", 0, 1);
    check_consistent("index2", 0.9, 1);
    check_consistent("kepler", 0, 1);
    check_group("recurrence");
    check_recurrence();
    check_group("long chain");
    check_long_chain();
    return check_done();
}
