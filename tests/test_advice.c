/* test_advice.c - the motion and method that taut_check reports are those that taut_solver_create
 * chooses: for every shipped model, with its [run] and without what [run] specifies about motion,
 * method and step, and for models near the limits of each choice. The table states what is expected
 * of the latter, so that they lie on the side that they are meant for. */
#include <taut/taut.h>

#include "support/matrix_list.h"
#include "support/table.h"

typedef struct choice {
    int code; /* of the call; of taut_check: 0 also where no run can begin */
    char motion[20], method[40], text[1000];
} choice;

static choice advised(const taut_system *system)
{
    taut_check_report r = {.size = sizeof r};
    taut_error error = {0};
    choice c = {.code = taut_check(system, NULL, &r, &error)};
    if (c.code == 0) {
        snprintf(c.motion, sizeof c.motion, "%s", r.motion ? r.motion : "");
        snprintf(c.method, sizeof c.method, "%s", r.method ? r.method : "");
    }
    snprintf(c.text, sizeof c.text, "%s", c.code == 0 ? r.advice : error.message);
    return c;
}

static choice chosen(const taut_system *system)
{
    taut_solver *solver = NULL;
    taut_options *options = NULL;
    taut_error error = {0};
    taut_sizes sizes = {.size = sizeof sizes};
    choice c = {.code = taut_options_create(NULL, &options, &error)};
    if (c.code == 0)
        c.code = taut_options_set(options, "until", "10", &error);
    if (c.code == 0)
        c.code = taut_solver_create(system, options, NULL, &solver, &error);
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
static void compare(const char *name, const taut_system *system, choice *run)
{
    choice check = advised(system);
    *run = chosen(system);
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
    char *names[64];
    int count = list_models(names, 64), specified = 0;
    choice run;
    check_group("shipped models");
    check_row(count >= 20, "only %d models were found", count);
    for (int k = 0; k < count; k++) {
        char path[400], title[100];
        size_t length;
        snprintf(path, sizeof path, TAUT_SOURCE_DIR "/models/%s.taut", names[k]);
        char *text = read_text(path, &length);
        for (int cleared = 0; cleared < 2; cleared++) {
            taut_load how = {.size = sizeof how, .table_folder = TAUT_SOURCE_DIR "/models"};
            taut_system *system = NULL;
            taut_error error = {0};
            char *line = strstr(text, "\n[run]");
            specified += !cleared && line && strstr(line, "\nmotion");
            if (cleared)
                clear_run(text);
            snprintf(title, sizeof title, "%s%s", names[k], cleared ? " without [run]" : "");
            if (check_row(taut_system_parse(text, length, names[k], &how, &system, &error) == 0,
                          "%s: %s", title, error.message))
                compare(title, system, &run);
            taut_system_destroy(system);
        }
        free(text);
        free(names[k]);
    }
    check_row(specified >= 3, "[run] specifies the motion of %d models", specified);
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
    "rod = length(p) - 1 rigid\nspring = length(u - p) - 1 stiffness 1e4\n[start]\np = (1, 0)\n"   \
    "u = " start "\n"
#define ALIKE(stretch)                                                                             \
    "[coordinates]\nx, y\n[bonds]\na = x - 1 stiffness 1e6\nb = 2*x - 2 stiffness 1e6\n"           \
    "[start]\nx = 1 + " stretch ", y' = 1\n"
#define KINETIC(start)                                                                             \
    "[coordinates]\nr, phi\n[kinetic]\n(r'^2 + r^2*phi'^2)/2\n[potential]\n-r*cos(phi)\n"          \
    "[bonds]\nrod = r - 1 stiffness 1e4\n[start]\n" start ", phi = 1\n"
#define LONG_CHAIN                                                                                 \
    "[particles]\ndimension = 2\nb[i] for i in 1..250 mass 1\n[potential]\n"                       \
    "sum(b[i].y for i in 1..250)/1e6\n[bonds]\nlink[1] = length(b[1]) - 1 stiffness 1e6\n"         \
    "link[i] = length(b[i] - b[i-1]) - 1 for i in 2..250 stiffness 1e6\n[start]\n"                 \
    "b[i] = (i, 0) for i in 1..250\n"

static const struct {
    const char *name, *text, *motion, *method;
} limits[] = {
    {"separation 9.95", PENDULUM("stiffness 99", "x = 0, y = -1 - 1/99"), "full", "verlet"},
    {"separation 10.05", PENDULUM("stiffness 101", "x = 0, y = -1 - 1/101"), "slow", "radau5"},
    {"stretch below the limit", PENDULUM("stiffness 1e4", "x = 1.00044"), "slow", "radau5"},
    {"stretch above the limit", PENDULUM("stiffness 1e4", "x = 1.00046"), "effective", "effective"},
    {"velocity below the limit", PENDULUM("stiffness 1e4", "x' = 0.0445"), "slow", "radau5"},
    {"velocity above the limit", PENDULUM("stiffness 1e4", "x' = 0.0449"), "effective",
     "effective"},
    {"a step in [run]", PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nstep = 0.01"), "effective",
     "effective"},
    {"damped, calm", PENDULUM("stiffness 1e4 damping 0.001", ""), "slow", "radau5"},
    {"damped, oscillating", PENDULUM("stiffness 1e4 damping 0.001", "x = 1.1"), "full", "radau5"},
    {"overdamped", PENDULUM("stiffness 1e4 damping 1", "x = 1.1"), "full", "radau5"},
    {"soft springs alone", PENDULUM("stiffness 1e4 soft", "x = 1.1"), "full", "verlet"},
    {"rigid alone", PENDULUM("rigid", ""), "rigid", "dop8"},
    {"rigid, violated", PENDULUM("rigid", "x = 1.1"), "rigid", "dop8"},
    {"rigid and soft", PENDULUM("rigid\nsoft = x - 1 stiffness 4 soft", ""), "rigid", "dop8"},
    {"rigid and springs, calm", ROD_AND_SPRING("(2, 0)"), "slow", "radau5"},
    {"rigid and springs, oscillating", ROD_AND_SPRING("(2.1, 0)"), "effective", "effective"},
    {"rigid and springs, violated", ROD_AND_SPRING("(2.1, 0)\np = (1.1, 0)"), "slow", "radau5"},
    {"stiff potential, calm", STIFF("x = 1"), "slow", "radau5"},
    {"stiff potential, oscillating", STIFF("x = 1.1"), "full", "verlet"},
    {"stiff potential, an event that alters",
     STIFF("x = 1") "[events]\nhit = y + 0.5 falling then y' = -y'\n", "full", "verlet"},
    {"springs, an event that alters",
     PENDULUM("stiffness 1e4", "") "[events]\nhit = y + 0.5 falling then y' = -y'\n", "slow",
     "radau5"},
    {"no slow motion", "[coordinates]\nx\n[bonds]\na = x stiffness 1e4\n[start]\nx = 0.1\n", "full",
     "verlet"},
    {"two springs, two coordinates",
     "[coordinates]\nx, y\n[bonds]\na = x stiffness 1e4\nb = y stiffness 1e6\n[start]\nx = 0.1\n",
     "full", "verlet"},
    {"redundant springs, calm", ALIKE("0"), "slow", "radau5"},
    {"redundant springs, oscillating", ALIKE("0.001"), "full", "verlet"},
    {"a spring along a rigid bond",
     "[coordinates]\nx, y\n[bonds]\na = x - 1 rigid\nb = 2*x - 2 stiffness 1e6\n[start]\n"
     "x = 1, y' = 1\n",
     "full", "dop8"},
    {"no bonds", "[coordinates]\nx\n[potential]\nx^4\n[start]\nx = 1\n", "full", "dop8"},
    {"drag", "[coordinates]\nx\n[forces]\nx = -x - x'\n[start]\nx = 1\n", "full", "dop8"},
    {"kinetic energy, calm", KINETIC("r = 1"), "slow", "radau5"},
    {"kinetic energy, oscillating", KINETIC("r = 1.1"), "effective", "effective"},
    {"from = 5 in [run], calm at 0",
     PENDULUM("stiffness 1e4\nmoving = x - if(t > 1, 2, 1) stiffness 4 soft", "[run]\nfrom = 5"),
     "slow", "radau5"},
    {"an oscillation at t = 5 only",
     PENDULUM("stiffness 1e4", "x = 1 + if(t > 1, 0.1, 0)\n[run]\nfrom = 5"), "effective",
     "effective"},
    {"motion in [run]", PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nmotion = full"), "full",
     "verlet"},
    {"method in [run]", PENDULUM("stiffness 1e4", "x = 1.1\n[run]\nmethod = radau3"), NULL,
     "radau3"},
    {"more than 400 coordinates", LONG_CHAIN, NULL, NULL},
    {"first order", "[state]\nx\n[rates]\nx' = -x\n[start]\nx = 1\n", "", "dop8"},
    {"first order, invariant",
     "[state]\nx, y\n[rates]\nx' = y\ny' = -x\n[invariants]\ni = x^2 + y^2\n[start]\nx = 1\n", "",
     "dop8"},
    {"redundant rigid bonds: no run can begin",
     "[coordinates]\nx, y\n[bonds]\none = x\ntwo = 2*x\n", NULL, NULL},
};
enum { LIMITS = sizeof limits / sizeof limits[0] };

static void near_limits(void)
{
    static choice run[LIMITS];
    check_group("near the limits");
    for (int k = 0; k < LIMITS; k++) {
        taut_system *system = NULL;
        taut_error error = {0};
        if (check_row(taut_system_parse(limits[k].text, strlen(limits[k].text), "model", NULL,
                                        &system, &error) == 0,
                      "%s: line %d: %s", limits[k].name, error.line, error.message)) {
            compare(limits[k].name, system, &run[k]);
            check_row((!limits[k].motion || strcmp(run[k].motion, limits[k].motion) == 0) &&
                          (!limits[k].method || strcmp(run[k].method, limits[k].method) == 0),
                      "%s: expected %s %s, found %s %s: %s", limits[k].name,
                      limits[k].motion ? limits[k].motion : "", limits[k].method, run[k].motion,
                      run[k].method, run[k].text);
        }
        taut_system_destroy(system);
    }
    /* the comparison itself: neighbours on two sides of a limit do not agree */
    for (int k = 0; k < 6; k += 2)
        check_row(!agree(&run[k], &run[k + 1]) && agree(&run[k], &run[k]),
                  "%s and %s are taken for the same", limits[k].name, limits[k + 1].name);
}

int main(void)
{
    shipped();
    near_limits();
    return check_done();
}
