/* test_crossing.c - models/crossing.taut: two frequencies meet along the path. The time is that of
 * the closed form, effective and impulse runs warn of it, and in full motion the actions jump by
 * the formula of Landau and Zener; the sink of modes finds both.
 *
 * Away from resonances actions are kept to O(eps), in full motion and by impulses.
 *
 *     H = v^2/2 + x^2/4 + J Omega(x), Omega = omega sqrt(1 + x/2): t = int dx/v from x = -1 to 0
 *     exp(-pi omega link^2/v) of the action stays in the spring of y, that is moves to mode 2 */
#include <math.h>

#include "drive/solver.h"
#include "support/run.h"

static const double OMEGA = 200, VIBRATION = 0.3;

static double speed(double x)
{
    double energy = 0.5 + 0.25 + VIBRATION,
           averaged = VIBRATION * sqrt(1 + x / 2) / sqrt(0.5); /* J Omega */
    return sqrt(2 * (energy - x * x / 4 - averaged));
}

static double meeting(void)
{
    enum { PARTS = 1000 };
    double t = 0;
    for (int k = 0; k < PARTS; k++)
        t += 1 / speed(-1 + (k + 0.5) / PARTS) / PARTS;
    return t;
}

static driven open_run(const char *link, const char *options)
{
    driven d = {0};
    taut_load how = {.size = sizeof how, .set = &link, .set_count = 1};
    d.code = taut_system_load(TAUT_SOURCE_DIR "/models/crossing.taut", &how, &d.system, &d.error);
    driven_equip(&d, options, NULL);
    driven_good(options, &d);
    return d;
}

/* Effective motion and impulses: one episode, with the time to 1 %, and a warning. */
static void test_warning(void)
{
    static const char *const methods[] = {"effective", "projected-impulse", "mollified-impulse",
                                          "transformed", "impulse"};
    const double t = meeting();
    check_group("the time at which the frequencies meet");
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
        char options[120];
        taut_result result = {.size = sizeof result};
        snprintf(options, sizeof options, "motion=effective verify=never until=1.8 method=%s",
                 methods[k]);
        driven d = open_run("link=0.035", options);
        if (d.code == 0) {
            int code = taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error);
            taut_solver_result_get(d.solver, &result, NULL);
            check_row(code == 0 && fabs(result.resonance_at / t - 1) < 0.01 &&
                          fabs(result.resonance_gap - 0.035) < 0.002,
                      "%s: %d, met at t = %.5g to %g, %.5g by the closed form", methods[k], code,
                      result.resonance_at, result.resonance_gap, t);
            check_row(result.resonance_modes[0] == 1 && result.resonance_modes[1] == 0 &&
                          result.resonance_modes[2] == -1 && result.caution &&
                          strstr(result.caution, k == 0 ? "neglects the resonance mode 2 ~ mode 1"
                                                        : "passes the resonance mode 2 ~ mode 1"),
                      "%s: %s", methods[k], result.caution ? result.caution : "no warning");
        }
        driven_destroy(&d);
    }
}

#define ADIABATIC                                                                                  \
    "motion=effective method=projected-impulse inner-method=adiabatic step=0.02 raw=yes"
/* Mean actions from t = 1.5 to 1.8, in full motion and by impulses, which follow it; of adiabatic
 * steps one is as long as half a period of the springs. */
static void test_jump(void)
{
    static const struct {
        const char *link, *options;
        double c, allowed;
    } rows[] = {{"link=0.02", ADIABATIC, 0.02, 0.04},
                {"link=0.035", ADIABATIC, 0.035, 0.04},
                {"link=0.05", ADIABATIC, 0.05, 0.04},
                {"link=0.02", "motion=full rtol=1e-8", 0.02, 0.03},
                {"link=0.035", "motion=full rtol=1e-8", 0.035, 0.03},
                {"link=0.05", "motion=full rtol=1e-8", 0.05, 0.03},
                {"link=0.035", "motion=effective method=mollified-impulse raw=yes", 0.035, 0.04}};
    check_group("the jump of the actions");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char options[160];
        snprintf(options, sizeof options, "%s verify=never until=1.8", rows[k].options);
        driven d = open_run(rows[k].link, options);
        taut_context *context = NULL;
        int code = d.code == 0 ? taut_context_create(d.system, NULL, &context, &d.error) : d.code;
        double upper = 0, all = 0,
               stays = exp(-acos(-1) * OMEGA * rows[k].c * rows[k].c / speed(0));
        for (int i = 0; i <= 60 && code == 0; i++) {
            taut_mode mode[2];
            taut_modes_report report = {.size = sizeof report};
            double t = 1.5 + 0.005 * i;
            code = taut_solver_advance(d.solver, t, &d.error);
            if (code == 0)
                code = taut_modes(context, t, taut_solver_position(d.solver),
                                  taut_solver_velocity(d.solver), 2, mode, &report, &d.error);
            upper += code == 0 ? mode[1].action : 0;
            all += code == 0 ? mode[0].action + mode[1].action : 0;
        }
        check_row(code == 0 && fabs(upper / all - stays) < rows[k].allowed,
                  "%s, %s: %.4f of the action is in mode 2, %.4f expected: %s", rows[k].link,
                  rows[k].options, upper / all, stays, d.error.message);
        taut_context_destroy(context);
        driven_destroy(&d);
    }
}

/* The sink of modes: one episode, its time, what it moves, and rows that are those of taut_modes.
 */
static void test_along(void)
{
    const double moves = 1 - exp(-acos(-1) * OMEGA * 0.035 * 0.035 / speed(0));
    driven d = open_run("link=0.035", "motion=full verify=never until=1.8"), rigid = {0};
    taut_modes_along *along = NULL;
    taut_modes_rows rows = {.size = sizeof rows};
    taut_modes_episode met = {.size = sizeof met};
    taut_sink sink;
    check_group("the modes of every row");
    int code = taut_modes_along_create(d.system, 9, NULL, &along, &sink, &d.error);
    code = code ? code : taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
    code = code ? code : taut_modes_along_get(along, &rows, &d.error);
    code = code ? code : taut_modes_episode_get(along, 0, &met, &d.error);
    check_row(code == 0 && rows.rows == 1001 && rows.modes == 2 && rows.missing == 0 &&
                  rows.episodes == 1 && rows.more == 0,
              "%d: %d rows, %d modes, %d episodes", code, (int)rows.rows, rows.modes,
              rows.episodes);
    if (code == 0) {
        check_near("time", met.t, meeting(), 0.001);
        check_near("gap", met.resonance.gap, 0.035, 0.001);
        check_near("share", met.share, moves, 0.03);
        check_near("what one mode loses", met.change[0] + met.change[1], 0, 1e-3 * met.change[1]);
        check_row(met.resonance.j == 1 && met.resonance.k == 0 && met.resonance.l == -1 &&
                      met.from < met.t && met.t < met.until,
                  "mode %d ~ mode %d", met.resonance.j, met.resonance.k);
        taut_context *context = NULL;
        taut_mode mode[2];
        taut_modes_report report = {.size = sizeof report};
        code = taut_context_create(d.system, NULL, &context, &d.error);
        code = code ? code
                    : taut_modes(context, 1.8, taut_solver_position(d.solver),
                                 taut_solver_velocity(d.solver), 2, mode, &report, &d.error);
        for (int k = 0; k < 2; k++)
            check_row(code == 0 && rows.frequency[2000 + k] == mode[k].frequency &&
                          rows.action[2000 + k] == mode[k].action,
                      "mode %d of the last row: %s", k, d.error.message);
        taut_context_destroy(context);
    }
    check_equal("no second episode", taut_modes_episode_get(along, 1, &met, &d.error),
                TAUT_ERROR_USAGE);
    rigid.code = taut_system_load(TAUT_SOURCE_DIR "/models/pendulum.taut", NULL, &rigid.system,
                                  &rigid.error);
    driven_equip(&rigid, "motion=rigid until=1 verify=never", NULL);
    check_equal("another system", taut_solver_run(rigid.solver, &sink, 1, NULL, NULL, &d.error),
                TAUT_ERROR_USAGE);
    driven_destroy(&rigid);
    taut_modes_along_destroy(along);
    driven_destroy(&d);
}

/* Three carriages that do not touch, of different weights: their frequencies pass each other, which
 * is no resonance, and each meets its own at the time of the closed form. Fewer modes are kept than
 * there are. */
static void test_groups(void)
{
    static const char model[] =
        "[coordinates]\nx[i] for i in 1..3\ny[i] for i in 1..3\nz[i] for i in 1..3\n[potential]\n"
        "sum(x[i]^2/4 - y[i] - z[i] for i in 1..3)\n[bonds]\n"
        "a[i] = sqrt(1 + x[i]/2)*y[i] for i in 1..3 stiffness 200^2\n"
        "b[i] = sqrt(1 - x[i]/2)*z[i] + (0.01 + 0.01*i)*y[i] for i in 1..3 stiffness 200^2\n"
        "[start]\nx[i] = -1 for i in 1..3\nx[i]' = 1 for i in 1..3\n"
        "y[i]' = sqrt(0.6) for i in 1..3\n";
    check_group("modes of several groups");
    for (int count = 2; count <= 6; count += 4) {
        driven d = driven_create(model, "motion=full verify=never until=1.8 every=0.0018", NULL);
        taut_modes_along *along = NULL;
        taut_modes_rows rows = {.size = sizeof rows};
        taut_sink sink;
        int code = d.code;
        code =
            code ? code : taut_modes_along_create(d.system, count, NULL, &along, &sink, &d.error);
        code = code ? code : taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
        code = code ? code : taut_modes_along_get(along, &rows, &d.error);
        check_row(code == 0 && rows.modes == count && rows.missing == 6 - count &&
                      rows.episodes == 3 && rows.more == 0,
                  "%d modes: code %d, %d modes, %d missing, %d episodes: %s", count, code,
                  rows.modes, (int)rows.missing, rows.episodes, d.error.message);
        /* past the weakest link most of an action remains in its spring, which is then mode 2 */
        for (int e = 0; code == 0 && e < rows.episodes; e++) {
            const double link = 0.02 + 0.01 * e, initial = 0.3 / (200 * sqrt(0.5));
            taut_modes_episode met = {.size = sizeof met};
            code = taut_modes_episode_get(along, e, &met, &d.error);
            const int group = met.resonance.j / 2;
            const double moves = exp(-acos(-1) * OMEGA * link * link / speed(0));
            check_row(code == 0 && met.resonance.j == 2 * group + 1 &&
                          met.resonance.k == 2 * group && met.resonance.l == -1 && group == e,
                      "episode %d: mode %d ~ mode %d", e, met.resonance.j, met.resonance.k);
            check_near("time", met.t, meeting(), 0.002);
            check_near("gap", met.resonance.gap, link, 0.002);
            check_near("share", met.share, moves / 3, 0.02);
            check_near("what mode 2 gains", met.moved[0], moves * initial, 0.05 * initial);
            check_near("mode 1 loses it", met.moved[1], -met.moved[0], 1e-2 * initial);
            check_row(isnan(met.moved[2]), "there is no third mode");
        }
        taut_modes_along_destroy(along);
        driven_destroy(&d);
    }
}

/* The largest change of I = J/eps of the double pendulum before its resonance [E (21),
 * Theorem 5.2]; micro-steps of order 4, so that they keep more than the method. */
static double largest_change(const char *options, double eps)
{
    char set[60], all[240];
    const char *value = set;
    taut_load how = {.size = sizeof how, .set = &value, .set_count = 1};
    driven d = {0};
    taut_modes_along *along = NULL;
    taut_modes_rows rows = {.size = sizeof rows};
    taut_sink sink;
    double most = 0;
    snprintf(set, sizeof set, "eps=%.17g", eps);
    snprintf(all, sizeof all, "%s verify=never until=1.5", options);
    if (strstr(options, "effective"))
        snprintf(all + strlen(all), sizeof all - strlen(all), " inner-step=%.17g", eps / 20);
    d.code = taut_system_load(TAUT_SOURCE_DIR "/models/double_pendulum_gravity.taut", &how,
                              &d.system, &d.error);
    driven_equip(&d, all, NULL);
    int code = d.code;
    code = code ? code : taut_modes_along_create(d.system, 2, NULL, &along, &sink, &d.error);
    code = code ? code : taut_solver_run(d.solver, &sink, 1, NULL, NULL, &d.error);
    code = code ? code : taut_modes_along_get(along, &rows, &d.error);
    check_row(code == 0 && rows.rows > 10, "%s, eps = %g: %s", options, eps, d.error.message);
    for (int64_t i = 0; i < 2 * rows.rows; i++)
        most = fmax(most, fabs(rows.action[i] - rows.action[i % 2]) / eps);
    taut_modes_along_destroy(along);
    driven_destroy(&d);
    return most;
}

static void test_slopes(void)
{
    static const char *const ways[] = {
        "motion=full method=dop8 rtol=1e-10",
        "motion=effective method=projected-impulse step=0.125 raw=yes inner-order=4",
        "motion=effective method=mollified-impulse step=0.125 raw=yes inner-order=4",
        "motion=effective method=transformed step=0.125 raw=yes inner-order=4"};
    check_group("actions are kept to O(eps)");
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        double coarse = largest_change(ways[k], 4e-3), fine = largest_change(ways[k], 5e-4),
               slope = log2(coarse / fine) / 3;
        check_row(fabs(slope - 1) < 0.15 && fine < 2 * 5e-4,
                  "%s: changes of I are %g and %g, slope %.3f", ways[k], coarse, fine, slope);
    }
}

/* A failed allocation at every place, and systems without modes. */
static void test_along_faults(void)
{
    driven d = open_run("link=0.035", "motion=full verify=never until=0.9 every=0.02"),
           index2 = {0};
    check_group("the sink of modes without memory");
    for (int64_t k = 1; k < 2000; k++) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        taut_modes_along *along = NULL;
        taut_modes_episode met = {.size = sizeof met};
        taut_sink sink;
        int code = taut_modes_along_create(d.system, 2, &allocator, &along, &sink, &d.error);
        for (int i = 0; i < 3 && code == 0; i++)
            code = sink.row(sink.user,
                            &(taut_row){.t = i,
                                        .q = taut_solver_position(d.solver),
                                        .v = taut_solver_velocity(d.solver)},
                            &d.error);
        /* the initial state is not in resonance: that of the meeting is */
        const double q[] = {0, 0, 0}, v[] = {1, 0.1, 0};
        for (int i = 3; i < 5 && code == 0; i++)
            code = sink.row(sink.user, &(taut_row){.t = i, .q = q, .v = v}, &d.error);
        code = code ? code : taut_modes_episode_get(along, 0, &met, &d.error);
        taut_modes_along_destroy(along);
        check_row(code == (f.failed ? TAUT_ERROR_MEMORY : 0) && f.live == 0,
                  "allocation %d: %d, %d left: %s", (int)k, code, (int)f.live, d.error.message);
        if (!f.failed)
            break;
    }
    index2.code = taut_system_load(TAUT_SOURCE_DIR "/models/index2.taut", NULL, &index2.system,
                                   &index2.error);
    taut_modes_along *along = NULL;
    taut_sink sink;
    check_equal("no springs",
                taut_modes_along_create(index2.system, 2, NULL, &along, &sink, &d.error),
                TAUT_ERROR_REFUSED);
    check_row(!along, "it is NULL");
    driven_destroy(&index2);
    driven_destroy(&d);
}

int main(void)
{
    test_warning();
    test_jump();
    test_along();
    test_groups();
    test_slopes();
    test_along_faults();
    return check_done();
}
