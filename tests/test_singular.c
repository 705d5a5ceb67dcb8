/* test_singular.c - what cannot be solved is told in the names of the model, whatever method meets it: dependent bonds, coordinates that
 * nothing determines, forces that are not numbers, iterations that do not converge. */
#include "drive.h"

/* Of each model, known by its equations: the name that is to blame, and what the sentence says of it. */
typedef struct failure {
    const char *what, *model, *options, *methods;
    int code;
    const char *says[2];
} failure;

static const failure rows[] = {
    {"a rod written twice",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1\ncopy = x^2 + y^2 - 1\n[start]\nx = 1\n",
     "motion=full until=1",
     "radau1 radau5 radau5:tensor radau5:stage dop8 rk4 rattle",
     TAUT_ERROR_SINGULAR,
     {"'copy' depends on", "'rod'"}},
    {"springs beside it",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nfirst = x stiffness 3\nsecond = y stiffness 4\nrod = x - y\n"
     "third = x + y - 1 stiffness 5\nagain = 2*y - 2*x\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8 rattle",
     TAUT_ERROR_SINGULAR,
     {"'again' depends on", "'rod'"}},
    {"a bond without direction",
     "[coordinates]\nx, y\n[potential]\ny\n[bonds]\ns = x^2 + y^2\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8 rattle",
     TAUT_ERROR_SINGULAR,
     {"'s' has a zero gradient", "another form"}},
    {"no mass, no bond",
     "[coordinates]\nx, y, z\n[mass]\nz = 0\n[potential]\nx^2 + y\n[bonds]\ns = x - y/10\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8",
     TAUT_ERROR_SINGULAR,
     {"'z' has no mass", "no bond"}},
    {"no mass, in a matrix",
     "[coordinates]\nx, y, z\n[mass]\nx = 2, z = 0\nM[x,y] = 1\n[potential]\nx^2 + y\n[bonds]\ns = x - y/10\n",
     "motion=full until=1",
     "radau5 radau5:tensor dop8",
     TAUT_ERROR_SINGULAR,
     {"'z' has no mass", "no bond"}},
    /* x = t; the rows are (z, 1, x) with z = 0 and (0, 1, 1) */
    {"on the way",
     "[coordinates]\nx, y, z\n[bonds]\nfirst = y + z*x\nsecond = y + z\n[start]\nx = 0, x' = 1\n",
     "motion=full until=3 step=0.5",
     "rk4 rattle",
     TAUT_ERROR_SINGULAR,
     {"at t = 1 ", "'second' depends on others such as 'first'"}},
    {"a force that is no number",
     "[coordinates]\nx, y\n[forces]\nx = -1\ny = if(x > 0.5, 1, sqrt(x - 0.6))\n[bonds]\ns = y - 0.1*x\n[start]\nx = 1, y = 0.1\n",
     "motion=full until=5",
     "radau5 radau5:tensor radau9 dop8",
     TAUT_ERROR_EVALUATE,
     {"force on y is not a number", "steps down to"}},
    {"no solution in a step",
     "[coordinates]\nx, y\n[potential]\n1e6*sin(1e3*x)*cos(900*y)\n[bonds]\ns = x^2 + y^2 - 1\n[start]\nx = 1, y' = 1\n",
     "motion=full until=5 step=0.1",
     "radau5 radau9",
     TAUT_ERROR_CONVERGE,
     {"does not converge", "smaller --step"}},
    {"a variable that acts on nothing",
     "[state]\nx\n[algebraic]\ny\n[rates]\nx' = -x + 0*y\n[constraints]\nc = x - 1\n[start]\nx = 1\n",
     "until=1 step=0.1",
     "radau5 radau1",
     TAUT_ERROR_SINGULAR,
     {"'y' moves no constraint", "index"}},
    {"a constraint that nothing moves",
     "[state]\na, b\n[algebraic]\ny, z\n[rates]\na' = y + z\nb' = -b\n[constraints]\nheld = a\nloose = b - 1\n[start]\nb = 1\n",
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
    snprintf(options, size, "method=%.*s%s%.*s", (int)name, list, *form ? " newton=" : "", *form ? (int)(length - name - 1) : 0,
             form);
    return list + length + (list[length] == ' ');
}

static int fail(const failure *x, const char *method, const taut_allocator *allocator, driven *d)
{
    char options[200];
    bool equal = strstr(method, "rk4") || strstr(method, "rattle"); /* without error control */
    snprintf(options, sizeof options, "%s %s%s", x->options, method, equal && !strstr(x->options, "step=") ? " step=0.01" : "");
    *d = driven_create(x->model, options, allocator);
    int code = d->code;
    if (code == 0)
        code = taut_solver_advance(d->solver, strtod(strstr(x->options, "until=") + 6, NULL), &d->error);
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
            check_row(code == x->code && strstr(d.error.message, x->says[0]) && strstr(d.error.message, x->says[1]),
                      "%s, %s: %s: %s", x->what, method, taut_code_name(code), d.error.message);
            check_row(strlen(d.error.message) < 300, "%s, %s: %zu characters", x->what, method, strlen(d.error.message));
            driven_destroy(&d);
        }
    }
}

/* Naming needs memory: where there is none, that is what is told, and nothing leaks. */
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
            wrong += (code != TAUT_ERROR_MEMORY && f.failed > 0 && code != rows[k].code) || f.live != 0;
            if (f.failed == 0)
                break;
        }
        check_row(wrong == 0 && told > 10, "%s: %d times out of memory, %d wrong", rows[k].what, told, wrong);
    }
}

int main(void)
{
    test_names();
    test_memory();
    return check_done();
}
