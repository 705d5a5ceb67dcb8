/* test_singular.c - what cannot be solved is reported in the names of the model, whatever method
 * meets it: dependent bonds, coordinates that nothing determines, forces that are not numbers,
 * iterations that do not converge. */
#include "support/run.h"
#include "support/project.h"
#include "point/hold/hold.h"

/* Of each model, known by its equations: the name that is to blame, and what the sentence says
 * of it. */
typedef struct failure {
    const char *what, *model, *options, *methods;
    int code;
    const char *says[2];
} failure;

static const failure rows[] = {
    {"a rod written twice, with two lengths",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\ncopy = x^2 + y^2 - "
     "1.1\n[start]\nx = 1\n",
     "motion=full until=1",
     "radau1 radau5 radau5:tensor radau5:stage dop8 rk4 rattle",
     TAUT_ERROR_CONVERGE,
     {"'copy' contradicts others such as 'rod'", "give it a stiffness"}},
    {"springs with it",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nfirst = x stiffness 3\nsecond = y stiffness "
     "4\nrod = x - y\n"
     "third = x + y - 1 stiffness 5\nagain = 2*y - 2*x + 1\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8 rattle",
     TAUT_ERROR_CONVERGE,
     {"'again' contradicts", "'rod'"}},
    {"a bond without direction",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = x^2 + y^2\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8 rattle",
     TAUT_ERROR_SINGULAR,
     {"bond 's' vanishes", "another form"}},
    {"no mass, no bond",
     "[coordinates]\nx, y, z\n[mass]\nz = 0\n[potential]\nx^2 + y\n[bonds]\ns = x - y/10\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8",
     TAUT_ERROR_SINGULAR,
     {"'z' has no mass", "bond holds it"}},
    {"no mass, in a matrix",
     "[coordinates]\nx, y, z\n[mass]\nx = 2, z = 0\nM[x,y] = 1\n[potential]\nx^2 + y\n[bonds]\ns = "
     "x - y/10\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8",
     TAUT_ERROR_SINGULAR,
     {"'z' has no mass", "bond holds it"}},
    {"a mass matrix of rank 1",
     "[coordinates]\nx, y\n[mass]\nx = 1, y = 1, M[x,y] = 1\n[potential]\nx^2 + y\n[start]\nx = "
     "1\n",
     "motion=full until=1 step=0.1",
     "verlet rk4 rattle",
     TAUT_ERROR_SINGULAR,
     {"at t = 0 accelerations cannot be determined", "the mass matrix cannot be inverted"}},
    /* x = t; the rows are (z, 1, x) with z = 0 and (0, 1, 1) */
    {"on the way",
     "[coordinates]\nx, y, z\n[bonds]\nfirst = y + z*x\nsecond = y + z\n[start]\nx = 0, x' = 1\n",
     "motion=full until=3 step=0.5",
     "rk4 rattle",
     TAUT_ERROR_SINGULAR,
     {"at t = 1 ", "'second' depends on others such as 'first'"}},
    {"springs that cannot all be rigid",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\n"
     "copy = x^2 + y^2 - 1.1 stiffness 1e6\n[start]\nx = 1\n",
     "motion=rigid until=1",
     "radau5 dop8 rattle",
     TAUT_ERROR_CONVERGE,
     {"'copy' contradicts others such as 'rod'", "cannot hold together"}},
    {"springs that cannot all be rigid, in effective motion",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\n"
     "copy = x^2 + y^2 - 1 stiffness 1e6\n[start]\nx = 1\n",
     "motion=effective until=1",
     "effective impulse projected-impulse mollified-impulse",
     TAUT_ERROR_SINGULAR,
     {"'copy' depends on others such as 'rod'; as a spring it may depend on others",
      "mark it `soft`"}},
    {"springs that depend on others where they are not stretched",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nfirst = x - 1 stiffness 1e6\nsecond = x - 1 + "
     "(x - 1)^2*y stiffness 1e6\n[start]\nx = 1.1, y' = 1\n",
     "motion=effective until=1",
     "effective",
     TAUT_ERROR_SINGULAR,
     {"'second' depends on others such as 'first'", "mark it `soft`"}},
    {"rigid bonds and a spring, in effective motion",
     "[coordinates]\nx, y, z\n[potential]\ny\n[bonds]\nrod = x - y\nspring = x + z stiffness "
     "1e6\ncopy = 3*x - 3*y + 1\n",
     "motion=effective until=1",
     "effective",
     TAUT_ERROR_CONVERGE,
     {"'copy' contradicts others such as 'rod'", "give it a stiffness"}},
    {"an invariant written twice",
     "[state]\nx, y, p\n[rates]\nx' = y\ny' = -x\np' = 0\n[invariants]\nenergy = x^2 + y^2\ntwice "
     "= 2*(x^2 + y^2)\n[start]\nx = 1\n",
     "until=1 stabilize=post",
     "rk4 dop8",
     TAUT_ERROR_SINGULAR,
     {"the state cannot be stabilised",
      "invariant 'twice' depends on others such as 'energy'; omit it"}},
    {"invariants that velocities do not move",
     "[state]\nx, y, p\n[rates]\nx' = y\ny' = -x\np' = 0\n[invariants]\nflat = p^2 + p\n[start]\nx "
     "= 1\n",
     "until=1 step=0.001 stabilize=post-velocity",
     "rk4",
     TAUT_ERROR_SINGULAR,
     {"velocities alone cannot keep", "invariant 'flat' has a zero gradient"}},
    {"a force that is no number",
     "[coordinates]\nx, y\n[forces]\nx = -1\ny = if(x > 0.5, 1, sqrt(x - 0.6))\n[bonds]\ns = y - "
     "0.1*x\n[start]\nx = 1, y = 0.1\n",
     "motion=full until=5",
     "radau5 radau5:tensor radau9 dop8",
     TAUT_ERROR_EVALUATE,
     {"force on y is not a number", "no step succeeded"}},
    {"no solution in a step",
     "[coordinates]\nx, y\n[potential]\n1e6*sin(1e3*x)*cos(900*y)\n[bonds]\ns = x^2 + y^2 - "
     "1\n[start]\nx = 1, y' = 1\n",
     "motion=full until=5 step=0.1",
     "radau5 radau9",
     TAUT_ERROR_CONVERGE,
     {"does not converge", "smaller step size"}},
    {"a variable that acts on nothing",
     "[state]\nx\n[algebraic]\ny\n[rates]\nx' = -x + 0*y\n[constraints]\nc = x - 1\n[start]\nx = "
     "1\n",
     "until=1 step=0.1",
     "radau5 radau1",
     TAUT_ERROR_SINGULAR,
     {"'y' moves no constraint", "index"}},
    {"a constraint that nothing moves",
     "[state]\na, b\n[algebraic]\ny, z\n[rates]\na' = y + z\nb' = -b\n[constraints]\nheld = "
     "a\nloose = b - 1\n[start]\nb = 1\n",
     "until=1 step=0.1",
     "radau5 radau3",
     TAUT_ERROR_SINGULAR,
     {"no algebraic variable moves", "'loose'"}},
};

/* One method of a list: "radau5:tensor" is method radau5 with that form of Newton's iteration. */
static const char *next_method(const char *list, char *options, size_t size)
{
    size_t length = strcspn(list, " "), name = strcspn(list, " :");
    const char *form = name < length ? list + name + 1 : "";
    snprintf(options, size, "method=%.*s%s%.*s", (int)name, list, *form ? " newton=" : "",
             *form ? (int)(length - name - 1) : 0, form);
    return list + length + (list[length] == ' ');
}

static int fail(const failure *x, const char *method, const taut_allocator *allocator, driven *d)
{
    char options[200];
    bool equal = strstr(method, "rk4") || strstr(method, "rattle"); /* without adaptive step size */
    snprintf(options, sizeof options, "%s %s%s", x->options, method,
             equal && !strstr(x->options, "step=") ? " step=0.01" : "");
    *d = driven_create(x->model, options, allocator);
    int code = d->code;
    if (code == 0)
        code = taut_solver_advance(d->solver, strtod(strstr(x->options, "until=") + 6, NULL),
                                   &d->error);
    return code;
}

static void test_names(void)
{
    check_group("failures in the names of the model");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char method[80];
        for (const char *list = rows[k].methods; *list;) {
            const failure *x = &rows[k];
            driven d;
            list = next_method(list, method, sizeof method);
            int code = fail(x, method, NULL, &d);
            check_row(code == x->code && strstr(d.error.message, x->says[0]) &&
                          strstr(d.error.message, x->says[1]),
                      "%s, %s: %s: %s", x->what, method, taut_code_name(code), d.error.message);
            check_row(strlen(d.error.message) < 300, "%s, %s: %zu characters", x->what, method,
                      strlen(d.error.message));
            driven_destroy(&d);
        }
    }
}

/* The same of projections; `hold` takes away what bonds could move. */
static const struct {
    const char *what, *model, *options, *says[2];
} projections[] = {
    {"springs, the foot point",
     "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\ncopy = x^2 + y^2 - 1 "
     "stiffness 1e6\n[start]\nx = 1\n",
     "method=series",
     {"the foot point cannot be determined: bond 'copy' depends on others such as 'rod'; as a "
      "spring",
      "mark it `soft`"}},
    {"springs, everything held",
     "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\ncopy = x^2 + y^2 - 1 "
     "stiffness 1e6\n[start]\nx = 1\n",
     "method=series hold=x,y,x',y'",
     {"slow multipliers cannot be determined: bond 'copy' depends on others such as 'rod'; as a "
      "spring",
      "mark it `soft`"}},
    {"held where the bond does not change",
     "[coordinates]\nx, y\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 stiffness 1e6\n[start]\nx = 1\n",
     "method=series hold=x,x'",
     {"bond 'rod' has a zero gradient there (with the held coordinates fixed)", "release one"}},
    {"no mass, no bond",
     "[coordinates]\nx, y, z\n[mass]\nz = 0\n[potential]\nx^2 + y\n[bonds]\ns = x - y/10 stiffness "
     "1e6\n",
     "method=series",
     {"coordinate 'z' has no mass, and no bond holds it", "give it one"}},
    {"a stiff potential, a mass matrix of rank 1",
     "[coordinates]\nw, x, y\n[mass]\nM[x,y] = 1\n[stiff potential]\n(x - 1)^2/2 scale "
     "1e6\n[start]\nx = 1.1\n",
     "method=series",
     {"at t = 0 the mass matrix is not positive definite", "increase the mass of 'y'"}},
    {"a stiff potential, no mass",
     "[coordinates]\nx, y\n[mass]\nx = 0\n[stiff potential]\n(y - 1)^2/2 scale 1e6\n[start]\ny = "
     "1.1\n",
     "method=series",
     {"at t = 0 the mass matrix is not positive definite", "increase the mass of 'x'"}},
    {"observables that depend on one another",
     "[state]\nx, y, z\n[rates]\nx' = -x\ny' = -y\nz' = -100*(z - x)\n[observables]\ntotal = x + "
     "y\nagain = 2*x + 2*y\n"
     "[start]\nx = 1, y = 2, z = 3\n",
     "method=difference horizon=0.1",
     {"observable 'again' depends on others such as 'total'", "omit it"}},
};

static void test_projections(void)
{
    check_group("projections, failures in the names of the model");
    for (size_t k = 0; k < sizeof projections / sizeof projections[0]; k++) {
        projected p = project_model(projections[k].model, NULL, projections[k].options);
        check_contains(projections[k].what, p.error.message, projections[k].says[1]);
        projected_refused(projections[k].what, &p, TAUT_ERROR_SINGULAR, projections[k].says[0]);
    }
}

/* Frequencies and modes: rows of rigid bonds among springs, and soft ones, which count as neither.
 */
static void test_spectra(void)
{
    check_group("spectra");
    static const struct {
        const char *model, *says;
    } spectra[] = {
        {"[coordinates]\nx, y, z\n[bonds]\nloose = y - z stiffness 1 soft\nspring = x + z "
         "stiffness 1e6\nrod = x - y\ncopy = 3*x - 3*y\n",
         ""},
        {"[coordinates]\nx, y, z\n[mass]\nz = 0\n[bonds]\nspring = x - y stiffness 1e6\n",
         "coordinate 'z' has no mass"},
    };
    for (size_t k = 0; k < sizeof spectra / sizeof spectra[0]; k++) {
        taut_system *system = NULL;
        taut_context *context = NULL;
        taut_error error = {0};
        taut_mode mode[3];
        taut_modes_report report = {.size = sizeof report};
        double q[3] = {0}, v[3] = {0}, frequency[6];
        int found;
        bool complete;
        int code = taut_system_parse(spectra[k].model, strlen(spectra[k].model), "model.taut", NULL,
                                     &system, &error);
        code = code ? code : taut_context_create(system, NULL, &context, &error);
        if (check_row(code == 0, "%s", error.message)) {
            check_equal("modes", taut_modes(context, 0, q, v, 3, mode, &report, &error),
                        k == 0 ? 0 : TAUT_ERROR_SINGULAR);
            check_contains("modes", error.message, k == 0 ? "" : spectra[k].says);
            /* nor modes: x = y and z, x + z = g, and A = 1/2 + 1 */
            if (k == 0)
                check_near("its frequency", mode[0].frequency, sqrt(1.5e6), 1e-9);
            /* frequencies need no independent rigid bonds, but a mass */
            code = taut_frequencies(context, 0, q, 3, frequency, &found, &complete, &error);
            check_row(k == 0
                          ? code == 0
                          : code == TAUT_ERROR_SINGULAR && strstr(error.message, spectra[k].says),
                      "frequencies: %s: %s", taut_code_name(code), error.message);
        }
        taut_context_destroy(context);
        taut_system_destroy(system);
    }
}

/* The matrix of a fibre, which a foot point with the same bonds guards in every projection. */
static void test_still(void)
{
    check_group("what stands still");
    const char *model = "[coordinates]\nx, y, z\n[bonds]\nfirst = x + y + z stiffness 9\nsecond = "
                        "x - y + z stiffness 9\n";
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_error error = {0};
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    int code = taut_system_parse(model, strlen(model), "model.taut", NULL, &system, &error);
    code = code ? code : taut_context_create(system, NULL, &context, &error);
    for (int held = 0; held < 2 && check_row(code == 0, "%s", error.message); held++) {
        const double mass[3] = {1, 1, 1}, regular[6] = {1, 1, 1, 1, -1, 1},
                     again[6] = {1, 1, 1, 2, 2, 2};
        const unsigned char hold[3] = {0, TAUT_HOLD_POSITION, 0};
        taut_masked_saddle still;
        code = taut_masked_saddle_create(&still, context, &arena, held ? hold : NULL,
                                         TAUT_HOLD_POSITION, NULL, &error);
        if (!held)
            check_equal("regular",
                        taut_masked_saddle_factor(&still, 2, mass, regular, NULL, 0, &error), 0);
        check_equal(
            "code",
            taut_masked_saddle_factor(&still, 2, mass, held ? regular : again, NULL, 0, &error),
            TAUT_ERROR_SINGULAR);
        check_contains(
            "bond", error.message,
            "at t = 2 the directions across the bonds cannot be determined: bond 'second' depends");
        check_contains("advice", error.message,
                       held ? "held coordinates fixed); release one" : "mark it `soft`");
        taut_masked_saddle_destroy(&still);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
    taut_arena_clear(&arena);
}

/* Naming needs memory: where there is none, that is what is reported, and nothing leaks. */
static void test_memory(void)
{
    check_group("failures, and memory that runs out");
    for (size_t k = 0; k < 4; k++) {
        int told = 0, wrong = 0;
        faulty f = {0};
        for (int64_t at = 1; wrong == 0; at = faulty_next(at)) {
            driven d;
            f = (faulty){.fail = at};
            taut_allocator allocator = faulty_allocator(&f);
            int code = fail(&rows[k], "method=radau5", &allocator, &d);
            driven_destroy(&d);
            told += code == TAUT_ERROR_MEMORY;
            wrong +=
                (code != TAUT_ERROR_MEMORY && f.failed > 0 && code != rows[k].code) || f.live != 0;
            if (f.failed == 0)
                break;
        }
        check_row(wrong == 0 && told > 10, "%s: %d times out of memory, %d wrong", rows[k].what,
                  told, wrong);
    }
}

static void test_projections_memory(void)
{
    check_group("projections that fail, and memory that runs out");
    for (size_t k = 0; k < sizeof projections / sizeof projections[0]; k++) {
        int told = 0, wrong = 0;
        faulty f = {0};
        for (int64_t at = 1; wrong == 0; at = faulty_next(at)) {
            f = (faulty){.fail = at};
            taut_allocator allocator = faulty_allocator(&f);
            projected p =
                project_model_with(projections[k].model, NULL, projections[k].options, &allocator);
            int code = p.code;
            projected_drop(&p);
            told += code == TAUT_ERROR_MEMORY;
            wrong +=
                code != (f.failed > 0 ? TAUT_ERROR_MEMORY : TAUT_ERROR_SINGULAR) || f.live != 0;
            if (f.failed == 0)
                break;
        }
        check_row(wrong == 0 && told > 5, "%s: %d times out of memory, %d wrong",
                  projections[k].what, told, wrong);
    }
}

int main(void)
{
    test_names();
    test_projections();
    test_spectra();
    test_still();
    test_memory();
    test_projections_memory();
    return check_done();
}
