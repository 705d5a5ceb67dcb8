/* test_lanes.c - the loops that evaluation goes through, against the plainest form of each; and
 * what evaluation makes of them: families of any length and stride, values that are not finite
 * at any member, forces that are evaluated once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/kernel/scatter.h"
#include "support/table.h"

enum { MOST = 300, LANES = 304, COLUMNS = 13 };

static double number(int k)
{
    return sin(1.3 * k) + 0.01 * k;
}

/* ---- loops */

static void test_places(void)
{
    check_group("places");
    const taut_index even[5] = {3, 5, 7, 9, 11}, back[4] = {9, 6, 3, 0}, wild[4] = {1, 2, 3, 5},
                     far[3] = {0, 2000000000, -1};
    taut_places p = taut_places_make(even, 0, 5);
    check_row(!p.gather && p.first == 3 && p.stride == 2, "stride 2 is found: first %d, stride %d",
              p.first, p.stride);
    p = taut_places_from(&p, 3);
    check_row(p.first == 9 && p.stride == 2, "the fourth of them: first %d, stride %d", p.first,
              p.stride);
    p = taut_places_make(back, 0, 4);
    check_row(!p.gather && p.first == 9 && p.stride == -3, "a falling stride: first %d, stride %d",
              p.first, p.stride);
    p = taut_places_make(wild, 0, 4);
    check_row(p.gather == wild, "no stride: gather %p", (const void *)p.gather);
    p = taut_places_from(&p, 2);
    check_row(p.gather == wild + 2, "the third of them: gather %p", (const void *)p.gather);
    p = taut_places_make(far, 0, 3);
    check_row(p.gather == far, "differences beyond 32 bits: stride %d", p.stride);
    p = taut_places_make(even, 0, 1);
    check_row(!p.gather && p.first == 3 && p.stride == 0, "one member: first %d, stride %d",
              p.first, p.stride);
    p = taut_places_make(NULL, 8, 1000);
    check_row(!p.gather && p.first == 8 && p.stride == 0, "the same for all: first %d, stride %d",
              p.first, p.stride);
}

static taut_index place(taut_places at, int k)
{
    return at.gather ? at.gather[k] : at.first + at.stride * k;
}

/* Every way to load, store and add, compared with one element at a time; what lies between the
 * places must stay. */
static int count_wrong(taut_places at, int n, const double *array, int size)
{
    double x[MOST], mine[MOST * 5], plain[MOST * 5];
    int wrong = 0;
    taut_lanes_load(x, array, at, n);
    for (int k = 0; k < n; k++)
        wrong += x[k] != array[place(at, k)];
    memcpy(mine, array, (size_t)size * sizeof *array);
    memcpy(plain, array, (size_t)size * sizeof *array);
    for (int k = 0; k < n; k++)
        x[k] = number(k + 7);
    taut_lanes_add(mine, -0.5, x, at, n);
    for (int k = 0; k < n; k++)
        plain[place(at, k)] += -0.5 * x[k];
    wrong += memcmp(mine, plain, (size_t)size * sizeof *array) != 0;
    taut_lanes_store(mine, x, at, n);
    for (int k = 0; k < n; k++)
        plain[place(at, k)] = x[k];
    return wrong + (memcmp(mine, plain, (size_t)size * sizeof *array) != 0);
}

static void test_strides(void)
{
    check_group("strides");
    static double array[MOST * 5];
    static taut_index gather[MOST];
    for (int k = 0; k < MOST * 5; k++)
        array[k] = number(k);
    for (int k = 0; k < MOST; k++)
        gather[k] = (k * 7 + 3) % (MOST * 5); /* all different */
    for (int stride = -2; stride <= 4; stride++) {
        int wrong = 0;
        for (int n = 1; n <= MOST; n++)
            if (stride != 0 || n == 1) /* stores to one place are not asked for */
                wrong += count_wrong(
                    (taut_places){.first = stride < 0 ? MOST * 5 - 1 : 2, .stride = stride}, n,
                    array, MOST * 5);
        check_row(wrong == 0, "load, add, store: stride %d: %d of the lengths 1..%d are wrong",
                  stride, wrong, MOST);
    }
    int wrong = 0;
    for (int n = 1; n <= MOST; n++)
        wrong += count_wrong((taut_places){.gather = gather}, n, array, MOST * 5);
    check_row(wrong == 0, "load, add, store by index: %d of the lengths 1..%d are wrong", wrong,
              MOST);
}

static void test_sums_in_one_place(void)
{
    check_group("sums in one place");
    double x[40], to[3] = {1, 2, 3}, sum = 2;
    for (int k = 0; k < 40; k++)
        sum += x[k] = number(k);
    taut_lanes_add(to, 1, x, (taut_places){.first = 1}, 40);
    check_row(to[0] == 1 && fabs(to[1] - sum) < 1e-13 && to[2] == 3,
              "forty members in one coordinate: %.17g, not %.17g", to[1], sum);
    static const taut_index gather[7] = {2, 2, 0, 1, 1, 1, 2};
    double few[3] = {0}, by_one[3] = {0};
    for (int k = 0; k < 7; k++)
        by_one[gather[k]] -= x[k];
    taut_lanes_add(few, -1, x, (taut_places){.gather = gather, .repeats = true}, 7);
    double apart = 0;
    for (int k = 0; k < 3; k++)
        apart = fmax(apart, fabs(few[k] - by_one[k]));
    check_row(apart < 1e-14, "members that share places: sums differ by %.3g", apart);
}

static void test_pairs(void)
{
    check_group("pairs");
    double from[2 * MOST], x[MOST + 1], y[MOST + 1];
    int wrong = 0;
    for (int k = 0; k < 2 * MOST; k++)
        from[k] = number(k);
    for (int n = 1; n <= MOST; n++) {
        x[n] = y[n] = -1;
        taut_lanes_load_pairs(x, y, from, n);
        for (int k = 0; k < n; k++)
            wrong += x[k] != from[2 * k] || y[k] != from[2 * k + 1];
        wrong += x[n] != -1 || y[n] != -1;
    }
    check_row(wrong == 0, "pairs: %d wrong", wrong);
}

static void test_rows(void)
{
    check_group("rows");
    static double x[COLUMNS * LANES], to[COLUMNS * MOST + 1];
    int32_t column[COLUMNS];
    for (int k = 0; k < COLUMNS * LANES; k++)
        x[k] = number(k);
    for (int c = 0; c < COLUMNS; c++)
        column[c] = (5 * c + 2) % COLUMNS;
    for (int columns = 0; columns <= COLUMNS; columns++) {
        int wrong = 0;
        for (int n = 1; n <= MOST; n++) {
            to[columns * n] = -1;
            taut_lanes_rows(to, x, column, columns, LANES, n);
            for (int k = 0; k < n; k++)
                for (int c = 0; c < columns; c++)
                    wrong += to[k * columns + c] != x[column[c] * LANES + k];
            wrong += to[columns * n] != -1;
        }
        check_row(wrong == 0, "rows: of length %d: %d wrong", columns, wrong);
    }
}

static void test_finite(void)
{
    check_group("finite");
    double x[MOST];
    int missed = 0, false_alarms = 0;
    const double odd[3] = {NAN, INFINITY, -INFINITY};
    for (int n = 1; n <= MOST; n++) {
        for (int k = 0; k < n; k++)
            x[k] = number(k) * 1e300;
        false_alarms += taut_lanes_test(x, n) != 0;
        for (int k = 0; k < n; k += 1 + n / 20)
            for (int j = 0; j < 3; j++) {
                double was = x[k];
                x[k] = odd[j];
                x[n - 1 - k] = odd[j]; /* infinities of one sign, or two of them, must not cancel */
                missed += taut_lanes_test(x, n) == 0;
                x[k] = -odd[j];
                missed += taut_lanes_test(x, n) == 0;
                x[k] = was;
                x[n - 1 - k] = number(n - 1 - k) * 1e300;
            }
    }
    check_row(missed == 0, "every value that is not finite is seen: %d missed", missed);
    check_row(false_alarms == 0, "large finite values raise no alarm: %d of %d", false_alarms,
              MOST);
    check_row(taut_lanes_test(x, 0) == 0, "nothing to test: %g", taut_lanes_test(x, 0));
}

/* ---- what evaluation makes of them */

typedef struct fixture {
    taut_system *system;
    taut_context *context;
    taut_sizes sizes;
    double *q, *v;
    taut_values values;
} fixture;

static double *numbers(int64_t count)
{
    double *x = calloc((size_t)count + 1, sizeof *x);
    if (!x)
        exit(2);
    return x;
}

static bool open_fixture(fixture *f, const char *text)
{
    taut_error error = {0};
    *f = (fixture){0};
    int status = taut_system_parse(text, strlen(text), "test", NULL, &f->system, &error);
    if (status == 0)
        status = taut_context_create(f->system, NULL, &f->context, &error);
    if (status) {
        check_row(false, "model: %s", error.message);
        return false;
    }
    taut_sizes_init(&f->sizes);
    taut_system_sizes_get(f->system, &f->sizes, NULL);
    f->q = numbers(f->sizes.coordinates);
    f->v = numbers(f->sizes.coordinates);
    taut_values_init(&f->values);
    f->values.force = numbers(f->sizes.coordinates);
    f->values.bond = numbers(f->sizes.bonds);
    f->values.bond_dt = numbers(f->sizes.bonds);
    f->values.gamma = numbers(f->sizes.bonds);
    f->values.jacobian = numbers(f->sizes.jacobian_entries);
    for (taut_index i = 0; i < f->sizes.coordinates; i++) {
        f->q[i] = number(i) + i;
        f->v[i] = number(2 * i);
    }
    return true;
}

static void close_fixture(fixture *f)
{
    double *const arrays[] = {f->q,
                              f->v,
                              f->values.force,
                              f->values.bond,
                              f->values.bond_dt,
                              f->values.gamma,
                              f->values.jacobian};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free(arrays[k]);
    taut_context_destroy(f->context);
    taut_system_destroy(f->system);
}

enum { ALL = TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_GAMMA };

/* The same bonds as one family and one by one: every number must be the same to the last bit. */
static void test_family(const char *name, const char *declaration, const char *bond, int members)
{
    static char one[200000], many[2000];
    char line[400];
    fixture a, b;
    snprintf(many, sizeof many, "%s\n[bonds]\ng[i] = %s for i in 1..%d rigid\n", declaration, bond,
             members);
    int length = snprintf(one, sizeof one, "%s\n[bonds]\n", declaration);
    for (int i = 1; i <= members; i++) {
        char *to = line;
        for (const char *c = bond; *c; c++) { /* $ stands for the member */
            if (c[0] == '$')
                to += sprintf(to, "%d", i);
            else
                *to++ = *c;
        }
        *to = 0;
        length +=
            snprintf(one + length, sizeof one - (size_t)length, "g[%d] = %s rigid\n", i, line);
    }
    for (char *c = many; *c; c++)
        if (*c == '$')
            *c = 'i';
    bool first = open_fixture(&a, many), second = open_fixture(&b, one);
    if (first && second) {
        taut_error error = {0};
        int status = taut_evaluate(a.context, 0.3, a.q, a.v, ALL, &a.values, &error);
        status |= taut_evaluate(b.context, 0.3, b.q, b.v, ALL, &b.values, &error);
        size_t m = (size_t)a.sizes.bonds * sizeof(double),
               n = (size_t)a.sizes.coordinates * sizeof(double);
        bool same = a.sizes.jacobian_entries == b.sizes.jacobian_entries &&
                    !memcmp(a.values.bond, b.values.bond, m) &&
                    !memcmp(a.values.bond_dt, b.values.bond_dt, m) &&
                    !memcmp(a.values.gamma, b.values.gamma, m) &&
                    !memcmp(a.values.force, b.values.force, n) &&
                    !memcmp(a.values.jacobian, b.values.jacobian,
                            (size_t)a.sizes.jacobian_entries * sizeof(double));
        check_row(status == 0 && same, "%s: %d members, %lld kernels against %lld; status %d %s",
                  name, members, (long long)a.sizes.kernels, (long long)b.sizes.kernels, status,
                  error.message);
        /* single.c takes f, g, G only: with gamma asked for, or without, it must give the same */
        double *before = numbers(a.sizes.jacobian_entries);
        memcpy(before, b.values.jacobian, (size_t)b.sizes.jacobian_entries * sizeof(double));
        status = taut_evaluate(b.context, 0.3, b.q, b.v, ALL & ~TAUT_WANT_GAMMA, &b.values, &error);
        check_row(status == 0 && !memcmp(before, b.values.jacobian,
                                         (size_t)b.sizes.jacobian_entries * sizeof(double)),
                  "without gamma: status %d", status);
        free(before);
    }
    if (first)
        close_fixture(&a);
    if (second)
        close_fixture(&b);
}

static void test_families(void)
{
    check_group("families");
    const char *plane = "[particles]\ndimension = 2\np[i] for i in 0..120 mass 1";
    const char *space = "[particles]\ndimension = 3\np[i] for i in 0..120 mass 1";
    const char *line = "[coordinates]\nx[i] for i in 0..480\n[mass]\nx[i] = 1 for i in 0..480";
    test_family("neighbours in a plane", plane, "length(p[$] - p[$-1]) - 1", 120);
    test_family("neighbours in space", space, "length(p[$] - p[$-1]) - 1", 120);
    test_family("two neighbours in a plane", plane, "length(p[$] - p[$-1]) + length(p[$+1] - p[$])",
                119);
    test_family("every second", plane, "length(p[2*$] - p[$])", 60);
    test_family("without a stride", plane, "length(p[mod(7*$, 121)] - p[$])*(1 + t*$)", 60);
    test_family("backwards", line, "x[480 - 3*$]^2 + x[$]*sin(t)", 110);
    test_family("all with one", line, "(x[$] - x[0])^2", 100);
    test_family("one coordinate each", line, "x[$]^2", 130);
    test_family("every second, not neighbours", line, "x[2*$]*sin(x[2*$+3])", 100);
    test_family("every second row is another form", line, "if(mod($, 2) == 0, x[$]^3, x[$]*x[$+1])",
                101);
    test_family("rows of two forms without order", line,
                "if(mod($*$, 7) < 3, x[$]^3, x[$]*x[$+1]*x[$+2])", 120);
    test_family("two members", line, "x[$]*x[$+2]", 2);
}

/* One member of a long family outside the domain is found and named, whichever it is. */
static void test_named(const char *bond, const char *named, unsigned wanted, int bad)
{
    char text[400], name[40];
    snprintf(text, sizeof text,
             "[coordinates]\nx[i] for i in 1..700\n[mass]\nx[i] = 1 for i in 1..700\n[bonds]\n%s\n",
             bond);
    snprintf(name, sizeof name, named, bad);
    fixture f;
    if (!open_fixture(&f, text))
        return;
    taut_error error = {0};
    for (taut_index i = 0; i < f.sizes.coordinates; i++)
        f.q[i] = 1 + i;
    int before = taut_evaluate(f.context, 0, f.q, f.v, wanted, &f.values, &error);
    f.q[bad - 1] = 0;
    int after = taut_evaluate(f.context, 0, f.q, f.v, wanted, &f.values, &error);
    check_row(before == 0 && after == TAUT_ERROR_EVALUATE && strstr(error.message, name),
              "%s: member %d: %d, then %d: %s", bond, bad, before, after, error.message);
    close_fixture(&f);
}

static void test_not_finite(void)
{
    check_group("not finite");
    static const int bad[] = {1, 2, 128, 129, 255, 256, 257, 699, 700};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        test_named("g[i] = log(x[i]) for i in 1..700 rigid", "bond g[%d] is infinite",
                   TAUT_WANT_BOND, bad[k]);
        test_named("g[i] = sqrt(x[i]) for i in 1..700 rigid", "gradient of bond g[%d] ",
                   TAUT_WANT_BOND | TAUT_WANT_JACOBIAN, bad[k]);
        test_named("g[i] = -sqrt(x[i]) for i in 1..700 rigid", "gradient of bond g[%d] ",
                   TAUT_WANT_JACOBIAN, bad[k]);
        test_named("g[i] = x[i]^1.5 for i in 1..700 rigid", "derivative of bond g[%d] ",
                   TAUT_WANT_GAMMA, bad[k]);
    }
    test_named("g = sqrt(x[5]) rigid", "gradient of bond g ", TAUT_WANT_BOND | TAUT_WANT_JACOBIAN,
               5);
    test_named("g = log(x[5]) rigid", "bond g is infinite", TAUT_WANT_BOND, 5);
}

/* Values whose sum overflows although each is finite are no error. */
static void test_large(void)
{
    check_group("large");
    fixture f;
    if (!open_fixture(
            &f, "[coordinates]\nx[i] for i in 1..200\n[mass]\nx[i] = 1 for i in 1..200\n[forces]\n"
                "x[i] = 1e308*x[i] for i in 1..200\n[bonds]\ng[i] = 1.5e308*x[i] for i in 1..200 "
                "rigid\n"))
        return;
    taut_error error = {0};
    for (taut_index i = 0; i < f.sizes.coordinates; i++)
        f.q[i] = 1;
    int status = taut_evaluate(f.context, 0, f.q, f.v, ALL, &f.values, &error);
    check_row(status == 0 && f.values.bond[199] == 1.5e308, "two hundred numbers of 1e308: %d %s",
              status, error.message);
    close_fixture(&f);
}

/* Gravity is computed once for each set of parameters: alone, with other forces, in energies,
 * derivatives and after a change. */
static void test_steady(void)
{
    check_group("steady");
    fixture f;
    taut_error error = {0};
    if (!open_fixture(&f, "[parameters]\nw = 2\n[coordinates]\nx[i] for i in 1..300\n[mass]\nx[i] "
                          "= 1 for i in 1..300\n"
                          "[potential]\nw*sum(x[i] for i in 1..300)\n-3*x[1] + x[2]\nsum(x[i]^2/2 "
                          "for i in 1..300)\n"))
        return;
    int32_t steady = 0;
    for (int32_t k = 0; k < f.system->kernels; k++)
        steady += f.system->kernel[k]->steady;
    check_row(steady == 2, "linear potentials are recognised: %d of 2", steady);
    for (int round = 0; round < 2; round++) {
        double w = round ? 5 : 2, worst = 0, energy = -3 * f.q[0] + f.q[1];
        int status =
            round ? taut_context_set_parameter(
                        f.context, taut_system_find(f.system, TAUT_PARAMETER, "w"), 5, &error)
                  : 0;
        status |= taut_evaluate(f.context, 0, f.q, f.v, TAUT_WANT_FORCE | TAUT_WANT_ENERGY,
                                &f.values, &error);
        for (taut_index i = 0; i < 300; i++) {
            double want = -w - f.q[i] + (i == 0 ? 3 : i == 1 ? -1 : 0);
            worst = fmax(worst, fabs(f.values.force[i] - want));
            energy += w * f.q[i] + f.q[i] * f.q[i] / 2;
        }
        check_row(status == 0 && worst < 1e-12, "its force: w = %g: off by %g", w, worst);
        check_row(fabs(f.values.potential - energy) < 1e-12 * fabs(energy),
                  "its energy: w = %g: %.17g, not %.17g", w, f.values.potential, energy);
    }
    close_fixture(&f);
}

/* ---- derivatives with respect to parameters make room once */

typedef struct purse {
    int64_t given, left; /* allocations so far; how many more are granted, negative: any number */
} purse;

static void *purse_give(void *user, size_t bytes)
{
    purse *p = user;
    if (p->left == 0)
        return NULL;
    p->left -= p->left > 0;
    p->given++;
    return malloc(bytes);
}

static void purse_take(void *user, void *block)
{
    (void)user;
    free(block);
}

static const char sensitive[] =
    "[parameters]\na = 2\nb = a^2\n[coordinates]\nx, y\n[potential]\na*x^2*y + 3*y^3\n[bonds]\n"
    "rod = a*sqrt(x^2 + y^2) - 1 stiffness b\n[start]\nx = 1\n";

/* At x = 0.6, y = 0.8, r = 1: U = a x^2 y + ..., spring energy a^2 (a r - 1)^2 / 2. */
static double sensitive_error(taut_context *context, unsigned wanted, int *status)
{
    static const double q[2] = {0.6, 0.8};
    double force[2] = {0}, bond[1] = {0}, jacobian[2] = {0}, dt[1];
    const double a = taut_context_parameter(context, 0), x = q[0], y = q[1],
                 right_force[2] = {-2 * x * y, -x * x};
    taut_values values = {
        .size = sizeof values, .force = force, .bond = bond, .jacobian = jacobian, .bond_dt = dt};
    taut_error error = {0};
    *status = taut_evaluate_parameter(context, 0, q, NULL, 0, wanted, &values, &error);
    double worst = 0;
    for (int i = 0; i < 2 && wanted & TAUT_WANT_FORCE; i++)
        worst = fmax(worst, fabs(force[i] - right_force[i]));
    for (int i = 0; i < 2 && wanted & TAUT_WANT_JACOBIAN; i++)
        worst = fmax(worst, fabs(jacobian[i] - q[i]));
    if (wanted & TAUT_WANT_BOND)
        worst = fmax(worst, fabs(bond[0] - 1));
    if (wanted & TAUT_WANT_ENERGY) {
        worst = fmax(worst, fabs(values.potential - x * x * y));
        worst = fmax(worst, fabs(values.bond_energy - (a * (a - 1) * (a - 1) + a * a * (a - 1))));
    }
    return worst;
}

static void test_parameters(void)
{
    check_group("parameters");
    static const unsigned wants[] = {
        TAUT_WANT_BOND, TAUT_WANT_ENERGY, TAUT_WANT_FORCE | TAUT_WANT_JACOBIAN,
        TAUT_WANT_FORCE | TAUT_WANT_BOND | TAUT_WANT_JACOBIAN | TAUT_WANT_ENERGY};
    enum { WANTS = sizeof wants / sizeof wants[0] };
    purse money = {.left = -1};
    const taut_allocator allocator = {purse_give, purse_take, &money};
    taut_system *system;
    taut_context *context;
    taut_error error = {0};
    int status = taut_system_parse(sensitive, strlen(sensitive), "test", NULL, &system, &error);
    if (!check_row(status == 0, "model: %s", error.message))
        return;
    /* memory ends at the first, second, ... allocation */
    for (int64_t grant = 0, done = 0; !done; grant++) {
        status = taut_context_create(system, &allocator, &context, &error);
        if (!check_row(status == 0, "context: %s", error.message))
            break;
        money.left = grant;
        sensitive_error(context, wants[WANTS - 1], &status);
        done = status == 0 || grant > 100;
        money.left = -1;
        check_row(status == 0 || status == TAUT_ERROR_MEMORY, "memory for %d allocations: %d",
                  (int)grant, status);
        check_below("and then enough", sensitive_error(context, wants[WANTS - 1], &status), 1e-14);
        const int64_t before = money.given;
        for (int k = 0; k < 3 * WANTS; k++)
            check_below("again",
                        sensitive_error(context, wants[k % WANTS], &status) + fabs((double)status),
                        1e-14);
        status = taut_context_set_parameter(context, 0, 3, &error);
        check_below("another value", sensitive_error(context, wants[WANTS - 1], &status), 1e-13);
        check_equal("allocations after the first call", money.given - before, 0);
        taut_context_destroy(context);
    }
    taut_system_destroy(system);
}

int main(void)
{
    test_parameters();
    test_places();
    test_strides();
    test_sums_in_one_place();
    test_pairs();
    test_rows();
    test_finite();
    test_families();
    test_not_finite();
    test_large();
    test_steady();
    return check_done();
}
