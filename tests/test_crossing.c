/* test_crossing.c - models/crossing.taut: two frequencies meet along the path. The time is that of
 * the closed form, effective and impulse runs warn of it, and in full motion the actions jump by
 * the formula of Landau and Zener.
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

int main(void)
{
    test_warning();
    test_jump();
    return check_done();
}
