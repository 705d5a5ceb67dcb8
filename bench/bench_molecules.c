/* bench_molecules.c - motions of many molecules.
 *
 * 1. Effective motion and the mollified impulse method on flexible water molecules that do not
 * touch: time per molecule and step as the box grows from 216 to 10,000. The slow forces are
 * springs that hold the molecules, so that what is measured are modes, actions and W. And an
 * evaluation of effective motion for one chain of 250 and of 1000 springs, which takes O(N^2).
 *
 * 2. The impulse method with kicks of order 4 against Verlet on water_box, with its bend as a fast
 * term, and on decane_melt: slow-force evaluations and time of both at equal accuracy of the
 * centres of mass, of which dop8 gives the exact ones. The outer step is 0.7 over the slow rate,
 * the largest on the way: 63 rad/ps in the melt, where states between 1 and 6 ps have 37 to 63 (16
 * in the initial state), and 213 in water. The error of Verlet is that of a short step, from which
 * the step of equal accuracy follows by order 2, at most 1.8 over the fastest frequency. Energy
 * errors, over the kinetic energy, are those of 100 outer steps; `bench_molecules long` makes
 * 10,000, and `bench_molecules large` 10,000 of 10,000 water molecules, which takes hours. Rows of
 * work compare 30 outer steps, from the initial state of the model and from a later one, in which
 * water is hot and the chains have melted; 20 of 10,000 water molecules. docs/vibration.md, "Work",
 * has kicks of order 2 too.
 *
 * Rows: name | limit | value | verdict; processor times, in 1. the best of several rounds. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 200112L
#endif
#include <stdlib.h>

#include "runs.h"

#define WATER                                                                                      \
    "[parameters]\nN = 216\nangle0 = 113.24*pi/180\n[particles]\ndimension = 3\n"                  \
    "O[i] for i in 1..N mass 15.9994\nA[i] for i in 1..N mass 1.008\nB[i] for i in 1..N mass "     \
    "1.008\n[definitions]\narm(a) = (cos(a), sin(a), 0)*0.1012\n"                                  \
    "place(i) = (mod(i, 7), mod(i, 11), mod(i, 13))*0.01\n[potential]\n"                           \
    "sum(25*dot(O[i], O[i]) for i in 1..N)\n[bonds]\n"                                             \
    "first[i] = length(A[i] - O[i]) - 0.1012 for i in 1..N stiffness 443153.4\n"                   \
    "second[i] = length(B[i] - O[i]) - 0.1012 for i in 1..N stiffness 443153.4\n"                  \
    "bend[i] = angle(A[i] - O[i], B[i] - O[i]) - angle0 for i in 1..N stiffness 317.5656\n"        \
    "[start]\nO[i] = place(i) for i in 1..N\nA[i] = place(i) + 1.02*arm(2.4*i) for i in 1..N\n"    \
    "B[i] = place(i) + arm(2.4*i + angle0) for i in 1..N\n[run]\nuntil = 1000\n"

/* Microseconds per molecule and step, or NaN. */
static double measure(const char *settings, double step, int molecules)
{
    enum { ROUNDS = 3 };
    double best = INFINITY;
    bench b = make(WATER, molecules, settings);
    int steps = molecules > 1000 ? 2 : 40;
    for (int k = 0; b.code == 0 && k < ROUNDS; k++) {
        double before = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        b.code = taut_solver_advance(b.solver, (k + 1) * steps * step, &b.error);
        best = fmin(best, bench_clock(CLOCK_PROCESS_CPUTIME_ID) - before);
    }
    return done(&b) == 0 ? 1e6 * best / steps / molecules : NAN;
}

static int touch_free(void)
{
    static const struct {
        const char *name, *settings;
    } rows[] = {{"effective", "motion=effective method=effective step=0.004"},
                {"mollified-impulse", "motion=effective method=mollified-impulse step=0.004"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char name[120];
        double few = measure(rows[k].settings, 0.004, 216),
               many = measure(rows[k].settings, 0.004, 10000);
        printf("%s: %.3g and %.3g microseconds per molecule and step\n", rows[k].name, few, many);
        snprintf(name, sizeof name, "%s, 10000 molecules over 216, time per molecule and step",
                 rows[k].name);
        row(name, 1.5, many / few);
    }
    return 0;
}

#define CHAIN                                                                                      \
    "[parameters]\nN = 250\nomega = 1e6\n[particles]\ndimension = 2\np[i] for i in 1..N\n"         \
    "[definitions]\np[0] = (0, 0)\n[potential]\nsum(p[i].y for i in 1..N)\n[bonds]\n"              \
    "link[i] = length(p[i] - p[i-1]) - 1 for i in 1..N stiffness omega^2\n[start]\n"               \
    "p[i] = (i + 2/omega*sin(1.3*i), 0) for i in 1..N\n"

/* Seconds of an evaluation, or NaN. */
static double measure_chain(int links)
{
    bench b = make(CHAIN, links, "motion=effective method=effective step=0.001 until=1");
    taut_result first, last;
    taut_result_init(&first);
    taut_result_init(&last);
    double seconds = 0;
    if (b.code == 0) {
        taut_solver_result_get(b.solver, &first, NULL);
        seconds = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        b.code = taut_solver_advance(b.solver, 0.002, &b.error);
        seconds = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - seconds;
        taut_solver_result_get(b.solver, &last, NULL);
    }
    const int64_t count = last.statistics.force_evaluations - first.statistics.force_evaluations;
    return done(&b) == 0 ? seconds / (double)count : NAN;
}

static void chains(void)
{
    double few = measure_chain(250), many = measure_chain(1000);
    printf("effective, chains of 250 and 1000 springs: %.3g and %.3g s an evaluation\n", few, many);
    row("effective, a chain of 1000 springs over one of 250, time an evaluation", 24, many / few);
}

/* ---- slow forces between molecules */

typedef struct liquid {
    const char *name, *file;
    double outer, inner; /* steps of the impulse method: 0.7 over the slow rate; of order 4 */
    double most;         /* step of Verlet */
    double later;        /* time of the other initial state */
    int molecules, atoms;
    bool together; /* the atoms of a molecule follow each other; else each kind of atom is a family
                    */
    double mass[10];
} liquid;

static const liquid liquids[] = {{"water_box",
                                  "models/water_box.taut",
                                  0.0032,
                                  0.001,
                                  0.0026,
                                  0.5,
                                  216,
                                  3,
                                  false,
                                  {15.9994, 1.008, 1.008}},
                                 {"decane_melt",
                                  "models/decane_melt.taut",
                                  0.0111,
                                  0.002,
                                  0.0072,
                                  2,
                                  50,
                                  10,
                                  true,
                                  {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}};

/* The model, its bend moved from [bonds] to the fast terms of [potential], with other sizes. */
static bool read_model(const liquid *of, char *text, size_t size)
{
    static const char bend[] = "sum(angle_stiffness/2*(angle(A[i] - O[i], B[i] - O[i]) - angle0)^2 "
                               "for i in 1..N)  fast\n";
    static char raw[8000];
    FILE *file = fopen(of->file, "r");
    size_t length = file ? fread(raw, 1, sizeof raw - 1, file) : 0;
    raw[length] = '\0';
    if (file)
        fclose(file);
    char *potential = strstr(raw, "[potential]\n"), *bond = strstr(raw, "bend[i] ="),
         *size_4 = strstr(raw, "across = 4"), *layer = strstr(raw, "layers = 1");
    if (size_4 && layer) {
        size_4[9] = '5';
        layer[9] = '2';
    }
    if (bond)
        *bond = '#'; /* a comment */
    if (!potential)
        return false;
    potential += strlen("[potential]\n");
    snprintf(text, size, "%.*s%s%s", (int)(potential - raw), raw, bond ? bend : "", potential);
    return true;
}

#define IMPULSE                                                                                    \
    "motion=effective method=%s raw=yes until=1e6 outer-order=4 inner-order=4 step=%g "            \
    "inner-step=%g"

/* The model with the state at a later time as its initial state. */
static bool read_later(const liquid *of, const char *text, char *more, size_t size)
{
    char settings[200];
    const char *start = strstr(text, "[start]"), *rest = strstr(text, "[shapes]");
    snprintf(settings, sizeof settings, IMPULSE, "impulse", of->outer, of->inner);
    bench b = make(text, of->together ? 0 : of->molecules, settings);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, of->later, &b.error);
    if (b.code == 0) {
        const double *q = taut_solver_position(b.solver), *v = taut_solver_velocity(b.solver);
        int used = snprintf(more, size, "%.*s[start]\n", (int)(start - text), text);
        for (int k = 0; k < of->molecules * of->atoms; k++, q += 3, v += 3) {
            char name[20];
            if (of->together)
                snprintf(name, sizeof name, "c[%d]", k + 1);
            else
                snprintf(name, sizeof name, "%c[%d]", "OAB"[k / of->molecules],
                         k % of->molecules + 1);
            used += snprintf(more + used, size - (size_t)used,
                             "%s = (%.17g, %.17g, %.17g)\n%s' = (%.17g, %.17g, %.17g)\n", name,
                             q[0], q[1], q[2], name, v[0], v[1], v[2]);
        }
        snprintf(more + used, size - (size_t)used, "%s", rest);
    }
    return done(&b) == 0;
}

/* What a run was: centres of mass at its end, time of the steps, evaluations, energies. */
typedef struct history {
    double *centre, seconds, kinetic, energy_error;
    int64_t evaluations;
} history;

static void find_centres(const liquid *of, int molecules, const double *q, double *centre)
{
    for (int i = 0; i < 3 * molecules; i++) {
        double sum = 0, mass = 0;
        for (int a = 0; a < of->atoms; a++) {
            int atom = of->together ? i / 3 * of->atoms + a : a * molecules + i / 3;
            sum += of->mass[a] * q[3 * atom + i % 3];
            mass += of->mass[a];
        }
        centre[i] = sum / mass;
    }
}

static int follow(const liquid *of, const char *text, int molecules, const char *settings,
                  double end, int looks, history *h)
{
    bench b = make(text, of->together ? 0 : molecules, settings);
    taut_context *context = NULL;
    taut_values values;
    taut_result result;
    double first = 0, sum = 0;
    taut_values_init(&values);
    taut_result_init(&result);
    *h = (history){.centre = calloc(3 * (size_t)molecules, sizeof(double))};
    if (b.code == 0)
        b.code = taut_context_create(b.system, NULL, &context, &b.error);
    for (int k = 0; k <= looks && b.code == 0; k++) {
        double before = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        if (k > 0)
            b.code = taut_solver_advance(b.solver, k * end / looks, &b.error);
        h->seconds += bench_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (b.code == 0)
            b.code =
                taut_evaluate(context, 0, taut_solver_position(b.solver),
                              taut_solver_velocity(b.solver), TAUT_WANT_ENERGY, &values, &b.error);
        double energy = values.kinetic + values.potential + values.bond_energy;
        first = k == 0 ? energy : first;
        sum += (energy - first) * (energy - first);
        h->kinetic += values.kinetic / (looks + 1);
    }
    if (b.code == 0) {
        find_centres(of, molecules, taut_solver_position(b.solver), h->centre);
        taut_solver_result_get(b.solver, &result, NULL);
        h->evaluations = result.statistics.force_evaluations;
        h->energy_error = sqrt(sum / looks) / h->kinetic;
    }
    taut_context_destroy(context);
    return done(&b);
}

static double apart(const history *a, const history *b, int molecules)
{
    double sum = 0;
    for (int i = 0; i < 3 * molecules; i++)
        sum += (a->centre[i] - b->centre[i]) * (a->centre[i] - b->centre[i]);
    return sqrt(sum / (3 * molecules));
}

static void compare(const liquid *of, const char *text, int molecules, int steps, const char *state)
{
    enum { EXACT, VERLET, KICKED, RUNS };
    const double step = of->outer / 8, end = steps * of->outer;
    char name[160], settings[RUNS][200];
    history h[RUNS];
    int failed = 0;
    snprintf(settings[EXACT], sizeof settings[EXACT],
             "motion=full method=dop8 until=1e6 rtol=1e-8");
    snprintf(settings[VERLET], sizeof settings[VERLET],
             "motion=full method=verlet until=1e6 step=%.17g", step);
    snprintf(settings[KICKED], sizeof settings[KICKED], IMPULSE, "impulse", of->outer, of->inner);
    for (int k = 0; k < RUNS; k++)
        failed += follow(of, text, molecules, settings[k], end, 1, &h[k]) != 0;
    double error = apart(&h[KICKED], &h[EXACT], molecules),
           verlet = apart(&h[VERLET], &h[EXACT], molecules),
           equal = fmin(step * sqrt(error / verlet), of->most);
    printf("%s: errors of centres of mass %.3g (impulse, step %g), %.3g (Verlet, %g); Verlet with "
           "the same error: step %.3g\n",
           of->name, error, of->outer, verlet, step, equal);
    snprintf(name, sizeof name, "%s, %d molecules, %s, slow forces of impulse over those of Verlet",
             of->name, molecules, state);
    row(name, 0.25, failed ? NAN : (double)h[KICKED].evaluations * equal / end);
    snprintf(name, sizeof name, "%s, %d molecules, %s, time of impulse over that of Verlet",
             of->name, molecules, state);
    row(name, 0.5, failed ? NAN : h[KICKED].seconds / (h[VERLET].seconds * step / equal));
    for (int k = 0; k < RUNS; k++)
        free(h[k].centre);
}

enum { FEW = 216, MANY = 10000 };

/* Energy, against that of the initial state. */
static void conserve(const liquid *of, const char *text, int molecules, const char *method,
                     int steps)
{
    char name[160], settings[200];
    history h;
    snprintf(settings, sizeof settings, IMPULSE "%s", method, of->outer, of->inner,
             molecules < MANY ? "" : " threads=2");
    int failed =
        follow(of, text, molecules, settings, steps * of->outer, steps < 1000 ? 20 : 200, &h);
    snprintf(name, sizeof name,
             "%s, %d molecules, energy error of %s over %d steps, of the kinetic energy", of->name,
             molecules, method, steps);
    /* in water the slow forces stretch the bonds as much as the vibration does: no limit for kicks
     * that are mollified (docs/vibration.md, "Work") */
    const bool stretched = !of->together && strcmp(method, "mollified-impulse") == 0;
    row(name, stretched ? 0 : 0.01, failed ? NAN : h.energy_error);
    free(h.centre);
}

/* Time per molecule and step of the impulse method, 10,000 molecules over 216. */
static void grow(const liquid *of, const char *text)
{
    history h[2];
    char settings[200];
    snprintf(settings, sizeof settings, IMPULSE, "impulse", of->outer, of->inner);
    int failed = follow(of, text, FEW, settings, 20 * of->outer, 1, &h[0]) |
                 follow(of, text, MANY, settings, 2 * of->outer, 1, &h[1]);
    double few = h[0].seconds / 20 / FEW, many = h[1].seconds / 2 / MANY;
    printf("water_box, impulse: %.3g and %.3g microseconds per molecule and step\n", 1e6 * few,
           1e6 * many);
    row("water_box, impulse, 10000 molecules over 216, time per molecule and step", 1.5,
        failed ? NAN : many / few);
    free(h[0].centre);
    free(h[1].centre);
}

/* The energy of many water molecules over a long time. */
static int large(void)
{
    static char text[10000];
    const liquid *water = &liquids[0];
    if (!read_model(water, text, sizeof text))
        return 1;
    conserve(water, text, MANY, "impulse", 10000);
    return 0;
}

int main(int count, char **word)
{
    static char text[10000], later[400000];
    const bool is_long = count > 1 && strcmp(word[1], "long") == 0;
    if (count > 1 && strcmp(word[1], "large") == 0)
        return large();
    touch_free();
    chains();
    for (size_t k = 0; k < sizeof liquids / sizeof liquids[0]; k++) {
        const liquid *of = &liquids[k];
        if (!read_model(of, text, sizeof text)) {
            printf("%s | failed | no model\n", of->file);
            continue;
        }
        compare(of, text, of->molecules, 30, "initial state");
        if (read_later(of, text, later, sizeof later))
            compare(of, later, of->molecules, 30, "later state");
        if (!of->together)
            compare(of, text, MANY, 20, "initial state");
        conserve(of, text, of->molecules, "impulse", is_long ? 10000 : 100);
        conserve(of, text, of->molecules, "mollified-impulse", is_long ? 10000 : 100);
        if (!of->together)
            grow(of, text);
    }
    return 0;
}
