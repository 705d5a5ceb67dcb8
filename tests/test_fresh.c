/* test_fresh.c - models that are not shipped, run with nothing specified but the tolerance, against
 * the rule of test_trust.c: a success is off by at most 100 tolerances in q and v, 1000 in lambda,
 * and by at most 5 times the error that it states. The constants of the error norm were chosen by
 * the shipped models; these were written afterwards. References: tests/trust/fresh.csv, from
 * equations written by hand and formulas (tests/trust/fresh.py). */
#include "support/run.h"

static const struct {
    const char *name, *options, *model;
} subjects[] = {
    /* at rest at 0, without any scale, until a force comes */
    {"suspension", "until=5",
     "[coordinates]\nbody, wheel\n[mass]\nbody = 300, wheel = 40\n[definitions]\n"
     "road = 0.08*exp(-((15*t - 60)/0.6)^2)\n[bonds]\n"
     "strut = body - wheel  stiffness 2e4 damping 1500 soft\n"
     "tyre = wheel - road  stiffness 2e5\n"},
    /* a push of 1/5000 of the run */
    {"pulse", "until=100",
     "[coordinates]\nx\n[potential]\nx^2/2\n[forces]\nx = 40*exp(-((t - 61.7)/0.02)^2)\n"},
    /* lambda vanishes at the initial state, lambda' does not: not a slow point */
    {"gears", "until=0.1",
     "[coordinates]\nmotor, pinion, wheel, load\n[mass]\n"
     "motor = 0.01, pinion = 0.002, wheel = 0.02, load = 0.5\n[bonds]\n"
     "shaft1 = motor - pinion  stiffness 3e4\nmesh = pinion + 3*wheel  rigid\n"
     "shaft2 = wheel - load  stiffness 8e4 damping 2\n[forces]\n"
     "motor = 5*(1 - exp(-t)) - 0.02*motor'\nload = -0.5*load'\n"},
    {"squares", "until=1 rtol=1e-8", /* here lambda'' */
     "[coordinates]\nx, y\n[potential]\n9.81*y\n[bonds]\n"
     "rod = (x^2 + y^2 - 1)/2  stiffness 1e5\n[start]\nx = 1\n"},
    /* errors grow by 1e5: tolerances down to the least */
    {"separatrix", "until=20 rtol=1e-8",
     "[coordinates]\nphi\n[potential]\n-9.81*cos(phi)\n[start]\nphi = 3.14\n"},
    {"electron", "until=1e-6", /* forces of velocities, SI units */
     "[particles]\ndimension = 3\np mass 9.1093837e-31\n[forces]\n"
     "p = -1.602176634e-19*((0, 100, 0) + cross(p', (0, 0, 1e-3)))\n[start]\n"
     "p' = (3e5, 0, 2e4)\n"},
    {"wire", "until=3", /* unstable, driven by a rigid bond */
     "[coordinates]\nx, y\n[bonds]\nwire = y*cos(3*t) - x*sin(3*t)  rigid\n[start]\n"
     "x = 0.1, y' = 0.3\n"},
    {"plate", "until=2e-5", /* micrometres and microseconds in SI units, from 0 */
     "[coordinates]\nz\n[mass]\nz = 1e-11\n[potential]\n-1.6e-18/(2e-6 - z)\n[bonds]\n"
     "beam = z  stiffness 4\n"},
};

typedef struct line {
    char model[40], variable[40];
    double value, scale, uncertainty;
} line;

static double find_value(const driven *d, char *name, int *kind)
{
    size_t length = strlen(name);
    bool force = strncmp(name, "lambda(", 7) == 0, rate = name[length - 1] == '\'';
    if (force || rate)
        name[length - 1] = '\0';
    taut_index i =
        taut_system_find(d->system, force ? TAUT_BOND : TAUT_COORDINATE, name + (force ? 7 : 0));
    *kind = force ? 2 : rate ? 1 : 0;
    const double *from = force  ? taut_solver_multipliers(d->solver)
                         : rate ? taut_solver_velocity(d->solver)
                                : taut_solver_position(d->solver);
    return i >= 0 ? from[i] : NAN;
}

static void judge(const driven *d, const line *reference)
{
    line l = *reference;
    int kind;
    taut_result result = {.size = sizeof result};
    taut_solver_result_get(d->solver, &result, NULL);
    double off = fabs(find_value(d, l.variable, &kind) - l.value),
           stated[] = {result.error_position, result.error_velocity, result.error_lambda},
           far = (kind == 2 ? 1000 : 100) * result.rtol * l.scale + 10 * l.uncertainty;
    check_row(off <= far, "%s: %s is off by %.3g, allowed %.3g", l.model, reference->variable, off,
              far);
    check_row(off <= 5 * stated[kind] * l.scale + 10 * l.uncertainty,
              "%s: %s is off by %.3g, stated %.3g of %.3g", l.model, reference->variable, off,
              stated[kind], l.scale);
}

/* Lines of the table that belong to a subject; how many. */
static int judge_all(FILE *table, const char *name, const driven *d)
{
    char text[200];
    int found = 0;
    line l;
    for (rewind(table); fgets(text, sizeof text, table);)
        if (sscanf(text, "%39[^,],%39[^,],%lf,%lf,%lf", l.model, l.variable, &l.value, &l.scale,
                   &l.uncertainty) == 5 &&
            strcmp(l.model, name) == 0) {
            judge(d, &l);
            found++;
        }
    return found;
}

int main(void)
{
    FILE *table = fopen(TAUT_SOURCE_DIR "/tests/trust/fresh.csv", "r");
    check_group("fresh models");
    for (size_t k = 0; k < sizeof subjects / sizeof subjects[0] && table; k++) {
        char options[120];
        snprintf(options, sizeof options, "%s verify=auto", subjects[k].options);
        driven d = driven_create(subjects[k].model, options, NULL);
        int code = d.solver ? taut_solver_run(d.solver, NULL, 0, NULL, NULL, &d.error) : d.code;
        if (check_row(code == TAUT_OK, "%s: %s: %s", subjects[k].name, taut_code_name(code),
                      d.error.message))
            check_row(judge_all(table, subjects[k].name, &d) > 1, "%s: not in the table",
                      subjects[k].name);
        driven_destroy(&d);
    }
    check_row(table != NULL, "tests/trust/fresh.csv is missing");
    if (table)
        fclose(table);
    return check_done();
}
