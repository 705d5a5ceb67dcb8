/* test_potential_modes.c - frequencies, modes and actions of stiff potentials, alone and with
 * springs and rigid bonds: closed forms, energies that must add up, and the same systems written
 * with bonds. */
#include <math.h>
#include <string.h>

#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"

enum { ROOM = 450, MODES = 8 };

typedef struct seen {
    taut_system *system;
    taut_context *context;
    double q[ROOM], v[ROOM];
    taut_mode mode[MODES];
    taut_modes_report report;
    taut_error error;
    int code;
} seen;

static seen look(const char *text, double t, const taut_allocator *allocator)
{
    seen s = {.report = {.size = sizeof s.report}};
    taut_load how = {.size = sizeof how, .from = t};
    s.code = taut_system_parse(text, strlen(text), "model.taut", &how, &s.system, &s.error);
    if (s.code == 0)
        s.code = taut_context_create(s.system, allocator, &s.context, &s.error);
    if (s.code == 0)
        s.code = taut_context_start(s.context, t, s.q, s.v, &s.error);
    if (s.code == 0)
        s.code = taut_modes(s.context, t, s.q, s.v, MODES, s.mode, &s.report, &s.error);
    return s;
}

static void drop(seen *s)
{
    taut_context_destroy(s->context);
    taut_system_destroy(s->system);
}

static bool good(const char *what, const seen *s)
{
    return check_row(s->code == 0, "%s: %s: %s", what, taut_code_name(s->code), s->error.message);
}

/* The straight double pendulum with unit masses: A = [1 -1; -1 2], Omega^2/omega^2 = (3 -+ sqrt
 * 5)/2; with one link rigid 1 or 1/2. */
static void test_straight(void)
{
    static const struct {
        const char *what, *stiff;
        int count;
        double square[2];
    } rows[] = {
        {"both",
         "[stiff potential]\n(inner^2 + outer^2)/2 scale omega^2\n",
         2,
         {0.38196601125010515, 2.6180339887498949}},
        {"outer",
         "[bonds]\na = inner stiffness omega^2\n[stiff potential]\nouter^2/2 scale omega^2\n",
         2,
         {0.38196601125010515, 2.6180339887498949}},
        {"inner",
         "[bonds]\na = outer stiffness omega^2\n[stiff potential]\ninner^2/2 scale omega^2\n",
         2,
         {0.38196601125010515, 2.6180339887498949}},
        {"inner rigid",
         "[bonds]\na = inner rigid\n[stiff potential]\nouter^2/2 scale omega^2\n",
         1,
         {1}},
        {"outer rigid",
         "[bonds]\na = outer rigid\n[stiff potential]\ninner^2/2 scale omega^2\n",
         1,
         {0.5}},
        {"inner soft",
         "[bonds]\na = inner stiffness 3 soft\n[stiff potential]\nouter^2/2 scale omega^2\n",
         1,
         {2}},
    };
    check_group("double pendulum");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char text[900];
        snprintf(text, sizeof text,
                 "[parameters]\nomega = 1000\n[coordinates]\nx1, y1, x2, y2\n[definitions]\ninner "
                 "= sqrt(x1^2 + y1^2) - 1\n"
                 "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1\n%s[start]\nx1 = 1, x2 = 2\n",
                 rows[k].stiff);
        seen s = look(text, 0, NULL);
        if (good(rows[k].what, &s)) {
            double frequency[8];
            int found = 0;
            bool complete = false;
            check_equal(rows[k].what, s.report.found, rows[k].count);
            check_row(s.report.complete && s.report.modes == rows[k].count, "%s: not complete",
                      rows[k].what);
            for (int j = 0; j < rows[k].count && j < s.report.found; j++) {
                double share = s.mode[j].potential;
                check_near("frequency", s.mode[j].frequency, 1000 * sqrt(rows[k].square[j]), 1e-9);
                for (int a = 0; a < 4 && s.mode[j].bond[a] >= 0; a++)
                    share += s.mode[j].share[a];
                check_near("shares", share, 1, 1e-12);
            }
            /* taut_frequencies gives the same, and both ends when asked for less */
            check_equal(
                "code",
                taut_frequencies(s.context, 0, s.q, 4, frequency, &found, &complete, &s.error), 0);
            check_equal("found", found, rows[k].count);
            for (int j = 0; j < found; j++)
                check_near("frequency", frequency[j], 1000 * sqrt(rows[k].square[j]), 1e-9);
        }
        drop(&s);
    }
}

/* Off its minimum every direction of a potential is curved; it has as many modes as on it.
 * V''(r) is known. */
static void test_beside(void)
{
    static const double radius[] = {0.97, 0.999, 1, 1.001, 1.02, 1.1};
    check_group("off the minimum");
    for (int k = 0; k < 6; k++) {
        char text[400];
        double r = radius[k], s = r * r - 1;
        double slope = (s / 4 + s * s / 4 + s * s * s / 8) * 2 * r;
        double second =
            2 * (s / 4 + s * s / 4 + s * s * s / 8) + 4 * r * r * (0.25 + s / 2 + 3 * s * s / 8);
        snprintf(text, sizeof text,
                 "[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - 1\n[stiff potential]\ns^2/8 "
                 "+ s^3/12 + s^4/32 scale 1e6\n"
                 "[start]\nx = 0.6*%.17g, y = 0.8*%.17g, x' = 0.6*2 - 0.8*3, y' = 0.8*2 + 0.6*3\n",
                 r, r);
        seen o = look(text, 0, NULL);
        if (good("radius", &o)) {
            check_equal("modes", o.report.found, 1);
            check_near("frequency", o.mode[0].frequency, 1000 * sqrt(second), 1e-9);
            check_near("stretch", fabs(o.mode[0].stretch), fabs(slope / second), 1e-12);
            check_near("rate", fabs(o.mode[0].rate), 2, 1e-10);
            check_near("energy", o.mode[0].energy, (4 + 1e6 * slope * slope / second) / 2, 1e-7);
            check_near("action", o.mode[0].action, o.mode[0].energy / o.mode[0].frequency, 1e-12);
        }
        drop(&o);
    }
}

/* Linear and everything stiff: the energies of the modes are all the energy there is, however it
 * is written. */
static void test_energy(void)
{
    static const struct {
        const char *what, *stiff;
    } rows[] = {
        {"potential",
         "[stiff potential]\nx^2/2 scale 300\n(y - x)^2/2 scale 500\n(z + 2*y)^2/2 scale 900\n"},
        {"one spring", "[bonds]\na = x stiffness 300\n[stiff potential]\n(y - x)^2/2 scale 500\n(z "
                       "+ 2*y)^2/2 scale 900\n"},
        {"two springs", "[bonds]\na = x stiffness 300\nb = z + 2*y stiffness 900\n[stiff "
                        "potential]\n(y - x)^2/2 scale 500\n"},
        {"springs",
         "[bonds]\na = x stiffness 300\nb = y - x stiffness 500\nc = z + 2*y stiffness 900\n"},
    };
    /* start and masses below */
    const double energy =
        (2 * 0.25 + 3 * 0.09 + 1 + 2 * 0.2 * -0.5 * 0.3) / 2 +
        (300 * 0.01 + 500 * 0.3 * 0.3 + 900 * 0.1 * 0.1) / 2; /* x = .1, y - x = -.3, z + 2y = .1 */
    double first[3] = {0};
    check_group("energies");
    for (int k = 0; k < 4; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "[coordinates]\nx, y, z\n[mass]\nx = 2, y = 3\nM[x,y] = 0.2\n%s[start]\nx = 0.1, "
                 "y = -0.2, z = 0.5, x' = -0.5, y' = 0.3, z' = 1\n",
                 rows[k].stiff);
        seen s = look(text, 0, NULL);
        if (good(rows[k].what, &s)) {
            taut_check_report report = {.size = sizeof report};
            check_equal("modes", s.report.found, 3);
            check_near(rows[k].what, s.report.energy, energy, 1e-12 * energy);
            /* nothing is slow: all of it oscillates */
            check_equal("check", taut_check(s.system, NULL, &report, &s.error), 0);
            check_near("oscillatory energy", report.oscillatory_energy, energy, 1e-9 * energy);
            check_equal("frequencies", report.frequencies, 3);
            for (int j = 0; j < 3; j++) {
                first[j] = k == 0 ? s.mode[j].action : first[j];
                check_near("action", s.mode[j].action, first[j], 1e-12 * energy);
            }
        }
        drop(&s);
    }
}

/* A minimum that moves: p = q - cos t, pdot = q' + sin t. */
static void test_moving(void)
{
    check_group("a moving minimum");
    seen s = look("[coordinates]\nq\n[stiff potential]\n(q - cos(t))^2/2 scale 1e4\n[start]\nq = "
                  "1.1, q' = 0.3\n",
                  0.7, NULL);
    if (good("potential", &s)) {
        double p = 1.1 - cos(0.7), rate = 0.3 + sin(0.7);
        check_near("energy", s.report.energy, (rate * rate + 1e4 * p * p) / 2, 1e-10);
        check_near("stretch", fabs(s.mode[0].stretch), fabs(p), 1e-14);
    }
    drop(&s);
}

/* 201 links in the plane, Omega = 101 .. 301, and a spring of 1e4: more than 400 coordinates,
 * frequencies from both ends. */
static void test_large(void)
{
    check_group("more than 400 coordinates");
    const char *rods =
        "[coordinates]\nx[i] for i in 1..201\ny[i] for i in 1..201\nu, w\n[stiff potential]\n"
        "sum((100+i)^2*(x[i]^2 + y[i]^2 - 1)^2/8 for i in 1..201) scale 1\n";
    char text[900];
    snprintf(text, sizeof text,
             "%s[bonds]\nb = sqrt(u^2 + w^2) - 1 stiffness 1e8\n[start]\nx[i] = 0.6 for i in "
             "1..201\ny[i] = 0.8 for i in 1..201\nu = 1\n",
             rods);
    seen s = look(text, 0, NULL);
    if (good("frequencies", &s)) {
        check_equal("found", s.report.found, MODES);
        check_row(!s.report.complete && isnan(s.mode[0].energy), "energies of a large system");
        for (int k = 0; k < 4; k++)
            check_near("lowest", s.mode[k].frequency, 101 + k, 1e-3);
        check_near("highest", s.mode[MODES - 1].frequency, 1e4, 1e-2);
        check_near("highest but one", s.mode[MODES - 2].frequency, 301, 1e-3);
    }
    drop(&s);
    snprintf(text, sizeof text,
             "%s[bonds]\nb = u - w stiffness 1e8\n[start]\nx[i] = 0.6 for i in 1..201\ny[i] = 0.8 "
             "for i in 1..201\nu = 1\n",
             rods);
    s = look(text, 0, NULL);
    check_equal("linear springs", s.code, TAUT_ERROR_REFUSED);
    check_contains("linear springs", s.error.message, "as part of the stiff potential");
    drop(&s);
    /* two stiff directions alone, fewer than are requested: all of them, and no others */
    s = look(
        "[coordinates]\nx[i] for i in 1..405\n[stiff potential]\n((x[1] - 1)^2 + 1.02^2*(x[2] - "
        "1)^2)/2 scale 1e4\n[start]\nx[1] = 1.01, x[2] = 1.01\n",
        0, NULL);
    if (good("two directions", &s)) {
        check_row(s.report.found == 2 && s.report.complete, "%d found", s.report.found);
        check_near("first", s.mode[0].frequency, 100, 1e-3);
        check_near("second", s.mode[1].frequency, 102, 1e-3);
    }
    drop(&s);
}

static void test_memory(void)
{
    check_group("memory");
    const char *text = "[coordinates]\nx, y, z\n[bonds]\na = z stiffness 1e4\n[stiff "
                       "potential]\n(x^2 + y^2 - 1)^2/8 scale 1e6\n[start]\nx = 1.01\n";
    int64_t k = 1;
    for (; k < 2000; k = faulty_next(k)) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        seen s = look(text, 0, &allocator);
        bool failed = f.failed > 0;
        check_row(s.code == (failed ? TAUT_ERROR_MEMORY : TAUT_OK), "call %lld: %s", (long long)k,
                  taut_code_name(s.code));
        drop(&s);
        check_row(f.live == 0, "call %lld: %lld blocks left", (long long)k, (long long)f.live);
        if (!failed)
            break;
    }
    check_row(k > 3, "only %lld allocations seen", (long long)k);
}

/* The distance of a state from its slow point: quartic_rod at rest and horizontal, 0.02 too long:
 * omega^2 0.02^2/2; the same with the slow displacement of a turning link, v^2/omega^2. */
static void test_ringing(void)
{
    static const struct {
        double x, rate, speed;
    } rows[] = {{1.02, 0, 0}, {1, 0, 0}, {0.99, 3, 0}, {1 + 2.25e-6, 0, 1.5}, {1.01, 0.1, 1.5}};
    check_group("oscillatory energy");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char text[400];
        taut_check_report report = {.size = sizeof report};
        double off = rows[k].x - 1 - rows[k].speed * rows[k].speed / 1e6;
        double energy = (rows[k].rate * rows[k].rate + 1e6 * off * off) / 2;
        snprintf(text, sizeof text,
                 "[coordinates]\nx, y\n[definitions]\ns = x^2 + y^2 - 1\n[stiff potential]\ns^2/8 "
                 "+ s^3/12 + s^4/32 scale 1e6\n"
                 "[start]\nx = %.17g, x' = %.17g, y' = %.17g\n",
                 rows[k].x, rows[k].rate, rows[k].speed);
        seen s = look(text, 0, NULL);
        if (good("start", &s)) {
            check_equal("check", taut_check(s.system, NULL, &report, &s.error), 0);
            check_near("energy", report.oscillatory_energy, energy, 1e-9 * fmax(energy, 1));
            check_equal("frequencies", report.frequencies, 1);
        }
        drop(&s);
    }
}

int main(void)
{
    test_straight();
    test_beside();
    test_energy();
    test_moving();
    test_ringing();
    test_large();
    test_memory();
    return check_done();
}
