/* bench_effective_choice.c - effective motion where Taut chooses it by itself, against Verlet's
 * method at equal accuracy.
 *
 * For the shipped models, for systems of 1 to 100 groups of springs, with rigid bonds and in
 * chains, and for 50 random initial states of a bent triatomic molecule with
 * three frequencies each, Taut is asked for a motion until t = 1e6, which no full motion can
 * afford. Where it chooses `effective`, both run over twelve radians of the slow motion (two, where
 * there are many groups). Errors are those of the foot points [E (9)] at 8 times, against full
 * motion by dop8; that of effective motion is the error of averaging. Verlet's step of equal
 * accuracy follows from that of 30 steps in the fastest period by order 2, and is at most 1.8 over
 * the fastest frequency.
 *
 * Rows: name | limit | value | verdict; the values are processor times of effective motion over
 * those of Verlet's method, the best of several rounds. Runs that meet a resonance, of which they
 * warn, or end early are no comparison of equal accuracy: they have no limit. */
#if defined(__linux__)
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <stdlib.h>

#include "base/vectors.h"
#include "drive/solver.h"
#include "runs.h"
#include "vibration/effective.h"

enum { SAMPLES = 8, ROUNDS = 3, STATES = 50, MOST_TEXT = 40000 };

/* What is asked for, and what was found. */
typedef struct subject {
    const char *text;
    taut_index n;
    double end, fastest;
    double *exact, *point; /* [SAMPLES][n] foot points */
    bool rigid;            /* some bonds: Verlet's method is RATTLE then */
    bool warned;           /* by a run in effective motion */
} subject;

/* Foot points along a run, and the time of its steps. */
static int follow(subject *of, const char *settings, double *point, double *seconds)
{
    bench b = make(of->text, 0, settings);
    taut_system *rigid = NULL;
    taut_context *context = NULL;
    taut_projector *foot = NULL;
    taut_statistics counts = {0};
    taut_arena arena;
    const taut_allocator *allocator = b.solver ? &b.solver->arena.allocator : NULL;
    taut_arena_init(&arena, allocator);
    double *v = calloc((size_t)of->n, sizeof *v);
    if (b.code == 0)
        b.code = taut_system_rigid_in(b.system, allocator, &rigid, &b.error);
    if (b.code == 0)
        b.code = taut_context_create(rigid, allocator, &context, &b.error);
    if (b.code == 0)
        b.code = taut_effective_projector(context, &arena, &counts, &foot, &b.error);
    *seconds = 0;
    for (int k = 1; k <= SAMPLES && b.code == 0; k++, point += of->n) {
        const double t = k * of->end / SAMPLES, before = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        b.code = taut_solver_advance(b.solver, t, &b.error);
        *seconds += bench_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
        if (b.code != 0)
            break;
        taut_copy(of->n, taut_solver_position(b.solver), point);
        taut_copy(of->n, taut_solver_velocity(b.solver), v);
        if (!b.solver->stepper.method->averages)
            b.code = foot->apply(foot, t, point, v, &b.error);
    }
    taut_result result = {.size = sizeof result};
    if (b.solver && taut_solver_result_get(b.solver, &result, NULL) == 0)
        of->warned = of->warned || result.caution || b.code != 0;
    free(v);
    if (foot && foot->destroy)
        foot->destroy(foot);
    taut_context_destroy(context);
    taut_system_destroy(rigid);
    taut_arena_clear(&arena);
    return done(&b);
}

/* The error of a run with these settings, and its best time. */
static double measure(subject *of, const char *settings, double *seconds)
{
    double error = 0, one;
    *seconds = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        if (follow(of, settings, of->point, &one) != 0)
            return NAN;
        *seconds = fmin(*seconds, one);
    }
    for (int k = 0; k < SAMPLES; k++)
        error = fmax(error,
                     taut_largest_difference(of->n, of->point + k * of->n, of->exact + k * of->n));
    return error;
}

/* Time of effective motion over that of Verlet; NAN: a run failed. */
static double compare(subject *of, double *error)
{
    static const char always[] = "verify=never from=0 until=1e6";
    char settings[200];
    double seconds[2], exact, step = 0.2 / of->fastest, verlet;
    snprintf(settings, sizeof settings, "%s motion=full method=dop8 rtol=1e-9", always);
    if (follow(of, settings, of->exact, &exact) != 0)
        return NAN;
    snprintf(settings, sizeof settings, "%s motion=effective method=effective", always);
    *error = measure(of, settings, &seconds[0]);
    snprintf(settings, sizeof settings, "%s motion=full method=%s step=%.17g", always,
             of->rigid ? "rattle" : "verlet", step);
    verlet = measure(of, settings, &seconds[1]);
    if (isnan(verlet))
        return NAN;
    return seconds[0] / seconds[1] * (fmin(step * sqrt(*error / verlet), 1.8 / of->fastest) / step);
}

/* Whether Taut chooses effective motion for the text; then *ratio and *error over so many radians
 * of the slow motion. */
static bool judge(const char *text, double radians, double *ratio, double *error, bool *warned)
{
    subject of = {.text = text};
    unsigned motion = 0;
    bench b = make(text, 0, "motion=full from=0 until=1e6 verify=never");
    if (b.code == 0 && !(b.solver->sizes.can & TAUT_HAS_SPRINGS))
        b.code = TAUT_ERROR_REFUSED;
    if (b.code == 0)
        b.code = taut_motion_choose(b.solver, &motion, &b.error);
    if (b.code == 0) {
        of.n = b.solver->sizes.coordinates;
        of.rigid = b.solver->sizes.can & TAUT_HAS_RIGID;
        of.end = radians / b.solver->diagnosis.slow_rate;
        of.fastest = b.solver->diagnosis.most;
        of.exact = calloc(2 * SAMPLES * (size_t)of.n, sizeof(double));
        of.point = of.exact + SAMPLES * (size_t)of.n;
    }
    taut_solver_destroy(b.solver);
    taut_options_destroy(b.options);
    taut_system_destroy(b.system);
    const bool effective = b.code == 0 && motion == TAUT_MOTION_EFFECTIVE;
    if (effective)
        *ratio = compare(&of, error);
    *warned = of.warned;
    free(of.exact);
    return effective;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), more = strlen(end);
    return length > more && strcmp(name + length - more, end) == 0;
}

/* The model without [run], whose motion is a choice. */
static bool read_text(const char *name, char *text)
{
    char path[300];
    snprintf(path, sizeof path, "models/%s", name);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, MOST_TEXT - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    char *run = strstr(text, "[run]");
    if (run)
        *run = '\0';
    return length > 0;
}

static void judge_models(void)
{
    static char text[MOST_TEXT];
    DIR *folder = opendir("models");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char name[320];
        double ratio, error = 0;
        bool warned;
        if (!ends_with(entry->d_name, ".taut") || !read_text(entry->d_name, text) ||
            !judge(text, 12, &ratio, &error, &warned))
            continue;
        snprintf(name, sizeof name, "%s%s (error %.2g)", entry->d_name,
                 warned ? ", with a warning" : "", error);
        row(name, warned ? 0 : 1, ratio);
    }
    if (folder)
        closedir(folder);
}

#define PENDULUMS                                                                                  \
    "[particles]\ndimension = 2\np[i] for i in 1..N\n[potential]\nsum(p[i].y for i in 1..N)\n"     \
    "[bonds]\nrod[i] = length(p[i]) - 1 for i in 1..N stiffness omega^2\n[start]\n"                \
    "p[i] = (1 + 0.3/omega)*(sin(0.3 + 0.09*mod(7*i, 10)), -cos(0.3 + 0.09*mod(7*i, 10))) for i "  \
    "in 1..N\n"
#define MOLECULES                                                                                  \
    "[particles]\ndimension = 2\nO[i] for i in 1..N mass 16\nA[i] for i in 1..N mass 1\n"          \
    "B[i] for i in 1..N mass 1.5\n[definitions]\na(i) = 0.9 + 0.05*mod(3*i, 7)\n[potential]\n"     \
    "sum(5/2*(angle(A[i] - O[i], B[i] - O[i]) - 1.9106)^2 for i in 1..N)\n"                        \
    "sum(dot(O[i], O[i]) for i in 1..N)\n[bonds]\n"                                                \
    "f[i] = length(A[i] - O[i]) - 1 for i in 1..N stiffness omega^2\n"                             \
    "s[i] = length(B[i] - O[i]) - 1 for i in 1..N stiffness omega^2\n[start]\n"                    \
    "O[i] = (0, 0) for i in 1..N\nA[i] = (1 + 0.3/omega)*(cos(a(i)), sin(a(i))) for i in 1..N\n"   \
    "B[i] = (1 + 0.2/omega)*(cos(a(i)), -sin(a(i))) for i in 1..N\n"
#define HALF_RIGID                                                                                 \
    "[coordinates]\nx, y, u, w\n[potential]\ny + w\n[bonds]\ninner = sqrt(x^2 + y^2) - 1\n"        \
    "outer = sqrt((x-u)^2 + (y-w)^2) - 1 stiffness omega^2\n[start]\n"                             \
    "x = sqrt(0.5), y = -sqrt(0.5), u = sqrt(2), w = 1/omega\n"
#define CHAIN                                                                                      \
    "[particles]\ndimension = 2\np[i] for i in 1..N mass 1 + 0.6*i\n[definitions]\np[0] = (0, "    \
    "0)\n"                                                                                         \
    "[potential]\nsum(p[i].y*(1 + 0.6*i) for i in 1..N)\n[bonds]\n"                                \
    "l[i] = length(p[i] - p[i-1]) - 1 for i in 1..N stiffness (omega*1.37^i)^2\n[start]\n"         \
    "p[i] = (0.2*i, -i*sqrt(0.96)) for i in 1..N\np[N]' = (0, 0.7)\n"

static void judge_kinds(void)
{
    static const struct {
        const char *name, *text;
        int size;
        double omega, radians;
    } kinds[] = {{"pendulum", PENDULUMS, 1, 3000, 12},
                 {"10 pendulums", PENDULUMS, 10, 3000, 12},
                 {"100 pendulums", PENDULUMS, 100, 20000, 2},
                 {"molecule", MOLECULES, 1, 3000, 12},
                 {"10 molecules", MOLECULES, 10, 3000, 2},
                 {"100 molecules", MOLECULES, 100, 5000, 2},
                 {"a rigid bond and a spring", HALF_RIGID, 1, 3000, 12},
                 {"chain of 2", CHAIN, 2, 1000, 12},
                 {"chain of 3", CHAIN, 3, 1000, 12},
                 {"chain of 5", CHAIN, 5, 1000, 12}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char text[1400], name[160];
        double ratio = NAN, error = 0;
        bool warned = false;
        snprintf(text, sizeof text, "[parameters]\nN = %d\nomega = %g\n%s", kinds[k].size,
                 kinds[k].omega, kinds[k].text);
        bool chosen = judge(text, kinds[k].radians, &ratio, &error, &warned);
        snprintf(name, sizeof name, "%s, omega %g%s%s (error %.2g)", kinds[k].name, kinds[k].omega,
                 chosen ? "" : ", not chosen", warned ? ", with a warning" : "", error);
        row(name, warned || !chosen ? 0 : 1, ratio);
    }
}

/* In [-1, 1): minimal standard generator of Park and Miller. */
static double noise(long long *seed)
{
    *seed = *seed * 16807 % 2147483647;
    return 2 * (double)*seed / 2147483647 - 1;
}

static void judge_molecules(double omega)
{
    long long seed = 20240601;
    int chosen = 0, warnings = 0;
    double worst = 0, sum = 0;
    for (int k = 0; k < STATES; k++) {
        char text[1400];
        double z[5], ratio, error;
        bool warned;
        for (int i = 0; i < 5; i++)
            z[i] = noise(&seed);
        double a = 0.5 * (1.9106 + 0.45 * z[0]);
        snprintf(text, sizeof text,
                 "[particles]\ndimension = 2\nO mass 1\nH[i] for i in 1..2 mass 1\n[potential]\n"
                 "5/2*(angle(H[1] - O, H[2] - O) - 1.9106)^2\n[bonds]\n"
                 "arm[i] = length(H[i] - O) - 1 for i in 1..2 stiffness %.17g^2\n[start]\n"
                 "O = (0, 0)\nH[1] = (%.17g, %.17g), H[2] = (%.17g, %.17g)\n"
                 "H[1]' = (%.17g, %.17g), H[2]' = (%.17g, %.17g)\n",
                 omega, (1 + 0.3 * z[1] / omega) * cos(a), (1 + 0.3 * z[1] / omega) * sin(a),
                 (1 + 0.3 * z[2] / omega) * cos(a), -(1 + 0.3 * z[2] / omega) * sin(a),
                 -0.5 * z[3] * sin(a), 0.5 * z[3] * cos(a), 0.5 * z[4] * sin(a),
                 0.5 * z[4] * cos(a));
        if (!judge(text, 12, &ratio, &error, &warned))
            continue;
        chosen++;
        warnings += warned;
        sum += warned ? 0 : ratio;
        if (!warned)
            worst = isnan(ratio) || isnan(worst) ? NAN : fmax(worst, ratio);
    }
    char name[120];
    snprintf(name, sizeof name, "triatomic, omega %g, %d of %d states, %d warn, mean %.2g: largest",
             omega, chosen, STATES, warnings, sum / fmax(chosen - warnings, 1));
    row(name, 1, worst);
}

int main(void)
{
    judge_models();
    judge_kinds();
    judge_molecules(300);
    judge_molecules(1000);
    judge_molecules(3000);
    return 0;
}
