/* test_advice.c - the motion and method that taut_check reports are those that taut_solver_create
 * chooses with the same end time: for every shipped model, with its [run] and without what [run]
 * specifies about motion, method and step, and for models near the limits of each choice. The
 * tables state what is expected of the latter, so that they lie on the side that they are meant
 * for. Up to LONG motion full is too expensive. */
#include <taut/taut.h>

#include "support/matrix_list.h"
#include "support/table.h"

#define LONG "1e9"

typedef struct choice {
    int code; /* of the call; of taut_check: 0 also where no run can begin */
    char motion[20], method[40], text[1000];
} choice;

/* With an end time; NULL: that of [run]. */
static taut_options *options_until(const char *until)
{
    taut_options *options = NULL;
    if (taut_options_create(NULL, &options, NULL) == 0 && until)
        check_row(taut_options_set(options, "until", until, NULL) == 0, "until = %s", until);
    return options;
}

static choice advised(const taut_system *system, const char *until)
{
    taut_check_report r = {.size = sizeof r};
    taut_error error = {0};
    taut_options *options = options_until(until);
    choice c = {.code = taut_check(system, options, &r, &error)};
    if (c.code == 0) {
        snprintf(c.motion, sizeof c.motion, "%s", r.motion ? r.motion : "");
        snprintf(c.method, sizeof c.method, "%s", r.method ? r.method : "");
    }
    snprintf(c.text, sizeof c.text, "%s", c.code == 0 ? r.advice : error.message);
    taut_options_destroy(options);
    return c;
}

static choice chosen(const taut_system *system, const char *until)
{
    taut_solver *solver = NULL;
    taut_error error = {0};
    taut_sizes sizes = {.size = sizeof sizes};
    taut_options *options = options_until(until);
    choice c = {.code = taut_solver_create(system, options, NULL, &solver, &error)};
    snprintf(c.text, sizeof c.text, "%s",
             c.code == 0 ? taut_solver_explanation(solver) : error.message);
    if (c.code == 0) {
        taut_result result = {.size = sizeof result};
        taut_solver_result_get(solver, &result, NULL);
        taut_system_sizes_get(system, &sizes, NULL);
        snprintf(c.motion, sizeof c.motion, "%s",
                 sizes.kind == TAUT_MECHANICAL ? result.motion : "");
        snprintf(c.method, sizeof c.method, "%s", result.method);
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return c;
}

static bool agree(const choice *a, const choice *b)
{
    return a->code == 0 && strcmp(a->motion, b->motion) == 0 && strcmp(a->method, b->method) == 0 &&
           (b->code == 0) == (b->method[0] != '\0');
}

/* Compares both; *run receives what the solver chose. */
static void compare(const char *name, const taut_system *system, const char *until, choice *run)
{
    choice check = advised(system, until);
    *run = chosen(system, until);
    check_row(agree(&check, run), "%s: check reports '%s' '%s' (%s), run chooses '%s' '%s' (%s)",
              name, check.motion, check.method, check.text, run->motion, run->method, run->text);
}

/* ---- shipped models */

static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 100000);
    *length = file && text ? fread(text, 1, 99999, file) : 0;
    if (file)
        fclose(file);
    return text;
}

/* Turns lines of [run] that specify motion, method or step into comments. */
static void clear_run(char *text)
{
    static const char *const names[] = {"motion", "method", "step "};
    for (char *line = strstr(text, "\n[run]"); line; line = strchr(line + 1, '\n'))
        for (int k = 0; k < 3; k++)
            if (strncmp(line + 1, names[k], strlen(names[k])) == 0)
                line[1] = '#';
}

static void shipped(void)
{
    /* with [run] alone; without what it specifies, briefly and beyond the budget */
    static const char *const until[] = {NULL, "10", LONG};
    char *names[64];
    int count = list_models(names, 64), specified = 0, full = 0, other = 0;
    choice run;
    check_group("shipped models");
    check_row(count >= 20, "only %d models were found", count);
    for (int k = 0; k < count; k++) {
        char path[400], title[100];
        size_t length;
        snprintf(path, sizeof path, TAUT_SOURCE_DIR "/models/%s.taut", names[k]);
        char *text = read_text(path, &length);
        for (int way = 0; way < 3; way++) {
            taut_load how = {.size = sizeof how, .table_folder = TAUT_SOURCE_DIR "/models"};
            taut_system *system = NULL;
            taut_error error = {0};
            char *line = strstr(text, "\n[run]");
            specified += !way && line && strstr(line, "\nmotion");
            if (way == 1)
                clear_run(text);
            snprintf(title, sizeof title, "%s%s", names[k], way ? " without [run]" : "");
            if (check_row(taut_system_parse(text, length, names[k], &how, &system, &error) == 0,
                          "%s: %s", title, error.message)) {
                compare(title, system, until[way], &run);
                full += way == 1 && strcmp(run.motion, "full") == 0;
                other += way == 2 && strcmp(run.motion, "full") == 0;
            }
            taut_system_destroy(system);
        }
        free(text);
        free(names[k]);
    }
    check_row(specified >= 3, "[run] specifies the motion of %d models", specified);
    check_row(other < full, "%d models are full, %d until " LONG, full, other);
}

/* ---- models near the limits */

/* A pendulum in gravity, at rest where not stated otherwise: omega = sqrt(stiffness), slow rate 1
 * at the bottom, energy scale 1; a stretch d has the energy stiffness d^2/2. */
#define PENDULUM(bond, start)                                                                      \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 " bond "\n[start]\n"  \
    "x = 1\n" start "\n"
#define STIFF(start)                                                                               \
    "[coordinates]\nx, y\n[potential]\ny\n[stiff potential]\n(sqrt(x^2 + y^2) - 1)^2/2 "           \
    "scale 1e4\n[start]\n" start "\n"
/* a rigid bond to p, a spring from there to u */
#define ROD_AND_SPRING(start)                                                                      \
    "[particles]\ndimension = 2\np mass 1\nu mass 1\n[potential]\np.y + u.y\n[bonds]\n"            \
    "rod = length(p) - 1 rigid\nspring = length(u - p) - 1 stiffness 1e9\n[start]\np = (1, 0)\n"   \
    "u = " start "\n"
#define ALIKE(stretch)                                                                             \
    "[coordinates]\nx, y\n[bonds]\na = x - 1 stiffness 1e6\nb = 2*x - 2 stiffness 1e6\n"           \
    "[start]\nx = 1 + " stretch ", y' = 1\n"
#define KINETIC(stiffness, start)                                                                  \
    "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[potential]\n-r*cos(phi)\n"          \
    "[bonds]\nrod = r - 1 stiffness " stiffness "\n[start]\n" start ", phi = 1\n"
#define LONG_CHAIN                                                                                 \
    "[particles]\ndimension = 2\nb[i] for i in 1..250 mass 1\n[potential]\n"                       \
    "sum(b[i].y for i in 1..250)/1e6\n[bonds]\nlink[1] = length(b[1]) - 1 stiffness 1e6\n"         \
    "link[i] = length(b[i] - b[i-1]) - 1 for i in 2..250 stiffness 1e6\n[start]\n"                 \
    "b[i] = (i, 0) for i in 1..250\n"

/* At rest at the bottom, where the slow rate is 1: `beyond` is added to the slow length. */
#define BOTTOM(stiffness, beyond)                                                                  \
    PENDULUM("stiffness " stiffness, "x = 0, y = -1 - 1/" stiffness beyond)
/* The same with a mass: its oscillation and its forces scale alike. */
#define HEAVY(mass, start)                                                                         \
    "[coordinates]\nx, y\n[mass]\nx = " mass ", y = " mass "\n[potential]\n" mass "*y\n[bonds]\n"  \
    "rod = sqrt(x^2 + y^2) - 1 stiffness 1e4*" mass "\n[start]\ny = -1 - 1e-4, " start "\n"
/* Springs of the frequencies u, w and v across a slow coordinate of rate 1. */
#define FREQUENCIES(u, w, v)                                                                       \
    "[parameters]\nzero = 0\n[coordinates]\nx, y, u, z\n[potential]\nz^2/2\n[bonds]\na = x "       \
    "stiffness (" u ")^2\nb = y + zero*x stiffness (" w ")^2\nc = u + zero*x stiffness (" v        \
    ")^2\n[start]\nx = 10/(" u "), z = 1\n"
#define HIT "[events]\nhit = y + 0.5 falling then y' = -y'\n"
#define STOP "[events]\nhit = y - 2 rising stop\n"

typedef struct limit {
    const char *name, *text, *until, *motion, *method;
} limit;

/* Two neighbours each, on two sides of a limit. */
static const limit pairs[] = {
    {"separation 9.95, slow point", BOTTOM("99", ""), "10", "full", "dop8"},
    {"separation 10.05, slow point", BOTTOM("101", ""), "10", "slow", "dop8"},
    {"separation 9.95, long", BOTTOM("99", "- 0.001"), LONG, "full", "dop8"},
    {"separation 10.05, long", BOTTOM("101", "- 0.001"), LONG, "slow", "dop8"},
    {"separation 29.95, long", FREQUENCIES("29.95", "1e5", "3.31e5"), LONG, "full", "dop8"},
    {"separation 30.05, long", FREQUENCIES("30.05", "1e5", "3.31e5"), LONG, "effective",
     "effective"},
    {"stretch below the limit", PENDULUM("stiffness 1e8", "x = 1.0000044"), LONG, "slow", "dop8"},
    {"stretch above the limit", PENDULUM("stiffness 1e8", "x = 1.0000046"), LONG, "effective",
     "effective"},
    {"velocity below the limit", PENDULUM("stiffness 1e8", "x' = 0.0445"), LONG, "slow", "dop8"},
    {"velocity above the limit", PENDULUM("stiffness 1e8", "x' = 0.0449"), LONG, "effective",
     "effective"},
    {"oscillation, short", PENDULUM("stiffness 1e8", "x = 1.001"), "10", "full", "dop8"},
    {"oscillation, long", PENDULUM("stiffness 1e8", "x = 1.001"), LONG, "effective", "effective"},
    {"negligible oscillation, short", PENDULUM("stiffness 1e4", "x = 1.0001"), "10", "full",
     "dop8"},
    {"negligible oscillation, long", PENDULUM("stiffness 1e4", "x = 1.0001"), LONG, "slow", "dop8"},
    /* two frequencies, one and twice another, one and the sum of others: relative distance 5 % */
    {"1:1 within 4.9 %", FREQUENCIES("1e4", "100e2/(1 - 0.049)", "331e2"), LONG, "full", "dop8"},
    {"1:1 within 5.1 %", FREQUENCIES("1e4", "100e2/(1 - 0.051)", "331e2"), LONG, "effective",
     "effective"},
    {"1:2 within 4.9 %, below", FREQUENCIES("1e4", "200e2/(1 + 0.049)", "431e2"), LONG, "full",
     "dop8"},
    {"1:2 within 5.1 %, below", FREQUENCIES("1e4", "200e2/(1 + 0.051)", "431e2"), LONG, "effective",
     "effective"},
    {"1:2 within 4.9 %, above", FREQUENCIES("1e4", "200e2/(1 - 0.049)", "531e2"), LONG, "full",
     "dop8"},
    {"1:2 within 5.1 %, above", FREQUENCIES("1e4", "200e2/(1 - 0.051)", "531e2"), LONG, "effective",
     "effective"},
    {"a sum within 4.9 %", FREQUENCIES("1e4", "140e2", "240e2/(1 - 0.049)"), LONG, "full", "dop8"},
    {"a sum within 5.1 %", FREQUENCIES("1e4", "140e2", "240e2/(1 - 0.051)"), LONG, "effective",
     "effective"},
    /* a slow point within the tolerance: velocity of the oscillation 10 rtol of the slow one */
    {"a slow point within 9 rtol", HEAVY("1", "y' = 9e-6"), "10", "slow", "dop8"},
    {"a slow point within 11 rtol", HEAVY("1", "y' = 1.1e-5"), "10", "full", "dop8"},
    {"rtol 1e-6", HEAVY("1", "y' = 5e-6\n[run]\nrtol = 1e-6"), "10", "slow", "dop8"},
    {"rtol 1e-7", HEAVY("1", "y' = 5e-6\n[run]\nrtol = 1e-7"), "10", "full", "dop8"},
    {"heavy, within 9 rtol", HEAVY("1e6", "y' = 9e-6"), "10", "slow", "dop8"},
    {"heavy, within 11 rtol", HEAVY("1e6", "y' = 1.1e-5"), "10", "full", "dop8"},
    {"light, within 9 rtol", HEAVY("1e-6", "y' = 9e-6"), "10", "slow", "dop8"},
    {"light, within 11 rtol", HEAVY("1e-6", "y' = 1.1e-5"), "10", "full", "dop8"},
    {"a slow point", PENDULUM("stiffness 1e4", ""), "10", "slow", "dop8"},
    {"a slow point, an event", PENDULUM("stiffness 1e4", "") STOP, "10", "full", "dop8"},
    {"a slow point of a smooth force", PENDULUM("stiffness 1e4", "[forces]\nx = -y^2"), "10",
     "slow", "dop8"},
    {"a slow point of a force with a kink", PENDULUM("stiffness 1e4", "[forces]\nx = -y*abs(y)"),
     "10", "full", "dop8"},
    {"damped, below critical", PENDULUM("stiffness 1e4 damping 199", ""), "10", "slow", "dop8"},
    {"damped, above critical", PENDULUM("stiffness 1e4 damping 201", ""), "10", "full", "dop8"},
};

static const limit limits[] = {
    {"a step in [run]", PENDULUM("stiffness 1e8", "x = 1.001\n[run]\nstep = 0.01"), LONG,
     "effective", "effective"},
    {"a step in [run], short", PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nstep = 0.01"), "10",
     "full", "dop8"},
    {"motion and step in [run]",
     PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nmotion = full\nstep = 0.01"), "10", "full", "dop8"},
    {"damped, long", PENDULUM("stiffness 1e4 damping 0.001", ""), LONG, "slow", "dop8"},
    {"damped, oscillating", PENDULUM("stiffness 1e4 damping 0.001", "x = 1.1"), "10", "full",
     "dop8"},
    {"damped, oscillating, long", PENDULUM("stiffness 1e4 damping 0.001", "x = 1.1"), LONG, "full",
     "dop8"},
    {"overdamped", PENDULUM("stiffness 1e4 damping 1e3", "x = 1.1"), "10", "full", "dop8"},
    {"soft springs alone", PENDULUM("stiffness 1e4 soft", "x = 1.1"), "10", "full", "dop8"},
    {"soft springs alone, long", PENDULUM("stiffness 1e4 soft", "x = 1.1"), LONG, "full", "dop8"},
    {"rigid alone", PENDULUM("rigid", ""), "10", "rigid", "dop8"},
    {"rigid, violated", PENDULUM("rigid", "x = 1.1"), LONG, "rigid", "dop8"},
    {"rigid and soft", PENDULUM("rigid\nsoft = x - 1 stiffness 4 soft", ""), "10", "rigid", "dop8"},
    {"rigid and springs, a slow point", ROD_AND_SPRING("(2, 0)"), "10", "slow", "dop8"},
    {"rigid and springs, oscillating", ROD_AND_SPRING("(2.001, 0)"), "10", "full", "dop8"},
    {"rigid and springs, oscillating, long", ROD_AND_SPRING("(2.001, 0)"), LONG, "effective",
     "effective"},
    {"rigid and springs, violated", ROD_AND_SPRING("(2.1, 0)\np = (1.1, 0)"), "10", "slow", "dop8"},
    {"stiff potential, at rest", STIFF("x = 1"), "10", "full", "dop8"},
    {"stiff potential, at rest, long", STIFF("x = 1"), LONG, "slow", "radau5"},
    {"stiff potential, oscillating, long", STIFF("x = 1.1"), LONG, "full", "dop8"},
    {"stiff potential, an event that alters", STIFF("x = 1") HIT, LONG, "full", "dop8"},
    {"springs, an event that alters", PENDULUM("stiffness 1e4", "") HIT, LONG, "slow", "dop8"},
    {"no slow motion", "[coordinates]\nx\n[bonds]\na = x stiffness 1e4\n[start]\nx = 0.1\n", LONG,
     "full", "dop8"},
    {"two springs, two coordinates",
     "[coordinates]\nx, y\n[bonds]\na = x stiffness 1e4\nb = y stiffness 1e6\n[start]\nx = 0.1\n",
     LONG, "full", "dop8"},
    {"redundant springs", ALIKE("0"), "10", "full", "dop8"},
    {"redundant springs, long", ALIKE("0"), LONG, "slow", "radau5"},
    {"redundant springs, oscillating, long", ALIKE("0.001"), LONG, "full", "dop8"},
    {"a spring along a rigid bond",
     "[coordinates]\nx, y\n[bonds]\na = x - 1 rigid\nb = 2*x - 2 stiffness 1e6\n[start]\n"
     "x = 1, y' = 1\n",
     "10", "full", "dop8"},
    {"no bonds", "[coordinates]\nx\n[potential]\nx^4\n[start]\nx = 1\n", LONG, "full", "dop8"},
    {"drag", "[coordinates]\nx\n[forces]\nx = -x - x'\n[start]\nx = 1\n", LONG, "full", "dop8"},
    {"kinetic energy, negligible", KINETIC("1e4", "r = 1"), LONG, "slow", "dop8"},
    {"kinetic energy, oscillating", KINETIC("1e8", "r = 1.001"), LONG, "effective", "effective"},
    {"from = 5 in [run], negligible",
     PENDULUM("stiffness 1e4\nmoving = x - if(t > 1, 2, 1) stiffness 4 soft", "[run]\nfrom = 5"),
     LONG, "slow", "radau5"},
    {"an oscillation at t = 5 only",
     PENDULUM("stiffness 1e8", "x = 1 + if(t > 1, 0.001, 0)\n[run]\nfrom = 5"), LONG, "effective",
     "effective"},
    {"from = until - 1", PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nfrom = 1e9 - 1"), LONG, "full",
     "dop8"},
    {"motion in [run]", PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nmotion = full"), LONG, "full",
     "dop8"},
    {"method in [run]", PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nmethod = radau3"), LONG, NULL,
     "radau3"},
    {"more than 400 coordinates", LONG_CHAIN, "10", NULL, NULL},
    {"more than 400 coordinates, long", LONG_CHAIN, LONG, NULL, NULL},
    {"first order", "[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n", "10", "", "dop8"},
    {"first order, invariant",
     "[state]\nx, y\n[rates]\nx' = y\ny' = -x\n[invariants]\ni = x^2 + y^2\n[start]\nx = 1\n", "10",
     "", "dop8"},
    {"redundant rigid bonds: no run can begin",
     "[coordinates]\nx, y\n[bonds]\none = x\ntwo = 2*x\n", "10", NULL, NULL},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0], LIMITS = sizeof limits / sizeof limits[0] };

static void try_limit(const limit *l, choice *run)
{
    taut_system *system = NULL;
    taut_error error = {0};
    if (check_row(taut_system_parse(l->text, strlen(l->text), "model", NULL, &system, &error) == 0,
                  "%s: line %d: %s", l->name, error.line, error.message)) {
        compare(l->name, system, l->until, run);
        check_row((!l->motion || strcmp(run->motion, l->motion) == 0) &&
                      (!l->method || strcmp(run->method, l->method) == 0),
                  "%s: expected %s %s, found %s %s: %s", l->name, l->motion ? l->motion : "",
                  l->method, run->motion, run->method, run->text);
    }
    taut_system_destroy(system);
}

static void near_limits(void)
{
    static choice run[PAIRS], other;
    check_group("near the limits");
    for (int k = 0; k < PAIRS; k++)
        try_limit(&pairs[k], &run[k]);
    for (int k = 0; k < LIMITS; k++)
        try_limit(&limits[k], &other);
    /* the comparison itself: neighbours on two sides of a limit do not agree */
    for (int k = 0; k < PAIRS; k += 2)
        check_row(!agree(&run[k], &run[k + 1]) && agree(&run[k], &run[k]),
                  "%s and %s are taken for the same", pairs[k].name, pairs[k + 1].name);
}

/* ---- an end time that check does not know */

static void without_end(void)
{
    static const char clause[] = "no end time is given: with one, motion full is chosen";
    static const struct {
        const char *name, *text, *motion;
        bool depends;
    } rows[] = {
        {"oscillating", PENDULUM("stiffness 1e8", "x = 1.001"), "effective", true},
        {"negligible oscillation", PENDULUM("stiffness 1e4", "x = 1.0001"), "slow", true},
        {"an end in [run]", PENDULUM("stiffness 1e4", "x = 1.0001\n[run]\nuntil = 10"), "full",
         false},
        {"a late end in [run]", PENDULUM("stiffness 1e4", "x = 1.0001\n[run]\nuntil = " LONG),
         "slow", false},
        {"a slow point", PENDULUM("stiffness 1e4", ""), "slow", false},
        {"not separated", BOTTOM("99", "- 0.01"), "full", false},
        {"resonant", FREQUENCIES("1e4", "200e2", "531e2"), "full", false},
        {"rigid", PENDULUM("rigid", ""), "rigid", false},
        {"specified", PENDULUM("stiffness 1e4", "x = 1.0001\n[run]\nmotion = slow"), "slow", false},
    };
    check_group("without an end time");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_system *system = NULL;
        taut_error error = {0};
        if (check_row(taut_system_parse(rows[k].text, strlen(rows[k].text), "model", NULL, &system,
                                        &error) == 0,
                      "%s: line %d: %s", rows[k].name, error.line, error.message)) {
            choice c = advised(system, NULL);
            check_row(strcmp(c.motion, rows[k].motion) == 0 &&
                          (strstr(c.text, clause) != NULL) == rows[k].depends,
                      "%s: %s", rows[k].name, c.text);
        }
        taut_system_destroy(system);
    }
}

/* ---- a resonance that averaging misses: never effective */

static void never_effective(void)
{
    static const char *const ends[] = {"1", "50", "1e3", "1e6", LONG, "1e12"}, *const starts[] = {
                                                                                   "swing=0.3",
                                                                                   "swing=0.03",
                                                                                   "swing=0.003",
                                                                                   "lift=0.2",
                                                                                   "lift=0.001"};
    check_group("spring pendulum of ratio 2");
    for (int j = 0; j < 5; j++) {
        const char *set[] = {"ratio=2", starts[j]};
        taut_load how = {.size = sizeof how, .set = set, .set_count = 2};
        taut_system *system = NULL;
        taut_error error = {0};
        if (check_row(taut_system_load(TAUT_SOURCE_DIR "/models/spring_pendulum.taut", &how,
                                       &system, &error) == 0,
                      "%s", error.message))
            for (int k = 0; k < 6; k++) {
                choice run;
                compare(starts[j], system, ends[k], &run);
                check_row(strcmp(run.motion, "full") == 0 && strcmp(run.method, "dop8") == 0,
                          "%s, until %s: %s", starts[j], ends[k], run.text);
                check_contains(ends[k], run.text,
                               k < 3 ? "full because every oscillation can be resolved"
                                     : "full because the lowest stiff frequency (2) is less than "
                                       "10 times the rate of the slow motion (1.");
            }
        taut_system_destroy(system);
    }
}

int main(void)
{
    shipped();
    near_limits();
    without_end();
    never_effective();
    return check_done();
}
