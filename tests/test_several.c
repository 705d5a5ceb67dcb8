/* test_several.c - steps of a fixed size that the method makes one after another where nothing
 * looks at the state (taut_method.several, drive/loop.c). Judge: the same run step by step, to the
 * last bit and in every count; with rows, a limit of steps, backwards, and up to a failure. */
#include "drive/solver.h"
#include "support/families.h"
#include "support/run.h"

static const char model[] =
    "[parameters]\nk = 100\n[coordinates]\nx1, y1, x2, y2\n[bonds]\n"
    "inner = sqrt(x1^2 + y1^2) - 1\nouter = sqrt((x1-x2)^2 + (y1-y2)^2) - 1  stiffness k  soft\n"
    "[potential]\ny1 + y2\n[start]\nx1 = 1, x2 = 2, y2 = 0.1\ny1' = 0.1\n";
/* ends in a wall: the root of a negative number from t = 1 on */
static const char wall[] = "[coordinates]\nx\n[potential]\nx + 1e-3*sqrt(1 - x)\n"
                           "[start]\nx = 0.5, x' = 1\n";

static int64_t made; /* steps by `several` */
static int64_t (*inner)(taut_stepper *s, double begin, double h, int64_t first, int64_t last,
                        taut_projector *by);

static int64_t count(taut_stepper *s, double begin, double h, int64_t first, int64_t last,
                     taut_projector *by)
{
    int64_t some = inner(s, begin, h, first, last, by);
    made += some;
    return some;
}

typedef struct end {
    int code;
    double t, q[FAMILY_MOST], v[FAMILY_MOST];
    taut_statistics statistics;
    int64_t rows;
    double sum; /* of all numbers of the rows */
} end;

static int take_row(void *user, const taut_row *row, taut_error *error)
{
    end *e = user;
    (void)error;
    e->rows++;
    e->sum += row->t + row->q[0] + row->v[0] + row->energy;
    return 0;
}

/* One run; `several` or each step by the driver. */
static end run_once(const char *text, const char *settings, bool several, bool rows)
{
    end e = {0};
    driven d = {0};
    taut_method method;
    taut_sink sink = {.row = take_row, .user = &e};
    d.code = taut_system_parse(text, strlen(text), "model", NULL, &d.system, &d.error);
    driven_equip(&d, settings, NULL);
    if (!driven_good(settings, &d)) {
        driven_destroy(&d);
        return e;
    }
    taut_stepper *s = &d.solver->stepper;
    method = *s->method;
    inner = method.several;
    method.several = several ? count : NULL;
    s->method = &method;
    made = 0;
    e.code = taut_solver_run(d.solver, &sink, rows, NULL, NULL, &d.error);
    e.t = s->now.t;
    memcpy(e.q, s->now.q, (size_t)s->n * sizeof *e.q);
    memcpy(e.v, s->now.v, (size_t)s->n * sizeof *e.v);
    e.statistics = d.solver->statistics;
    driven_destroy(&d);
    return e;
}

typedef struct run_row {
    const char *text, *settings;
    bool rows;
    double part; /* of the steps, at least, by `several` */
    int code;
} run_row;

static const run_row table[] = {
    {model, "motion=rigid method=rk4 step=0.01 until=10", false, 0.9, 0},
    {model, "motion=rigid method=rk4 step=0.01 until=10 stabilize=none", false, 0.9, 0},
    {model, "motion=rigid method=rk4 step=0.01 until=10 stabilize=post-simple", false, 0.9, 0},
    {model, "motion=rigid method=rk4 step=0.01 until=10 stabilize=forward", false, 0, 0},
    {model, "motion=rigid method=rk4 step=0.01 until=-10", false, 0.9, 0},
    {model, "motion=full method=rk4 step=0.001 until=3.00005", false, 0.9, 0},
    {model, "motion=full method=dop8 step=0.01 until=10 every=0.5", true, 0.8, 0},
    {model, "motion=full method=dopri5 step=0.01 until=10 every=0.07", true, 0, 0},
    {model, "motion=full method=euler step=0.0001 until=0.5 every=step", true, 0, 0},
    {model, "motion=slow method=euler step=0.001 until=0.5", false, 0, 0},
    {model, "motion=full method=midpoint step=0.001 steps=777 until=5", false, 0.8, TAUT_LIMIT},
    {wall, "motion=full method=rk4 step=0.001 until=5", false, 0.5, TAUT_ERROR_EVALUATE},
    {wall, "motion=full method=verlet step=0.001 until=0.1", false, 0, 0},
    {family_plane, "motion=full method=verlet step=0.003 until=3", false, 0.9, 0},
    {family_plane, "motion=full method=verlet step=0.003 until=3 every=0.05", true, 0.7, 0},
    {family_plane, "motion=full method=verlet step=0.003 until=-3.0001", false, 0.9, 0},
    {family_space, "motion=full method=verlet step=0.003 until=3", false, 0.9, 0},
    {family_space, "motion=full method=verlet step=0.003 steps=777 until=9", false, 0.9,
     TAUT_LIMIT},
    {family_line, "motion=full method=verlet step=0.003 until=3", false, 0.9, 0},
    {family_torn, "motion=full method=verlet step=0.003 until=30", false, 0.5, TAUT_ERROR_EVALUATE},
};

static void compare(const run_row *row)
{
    const char *name = row->settings;
    end each = run_once(row->text, name, false, row->rows),
        some = run_once(row->text, name, true, row->rows);
    check_row(each.code == row->code && some.code == each.code, "%s: status %d, %d", name,
              each.code, some.code);
    check_row(each.t == some.t && memcmp(each.q, some.q, sizeof each.q) == 0 &&
                  memcmp(each.v, some.v, sizeof each.v) == 0,
              "%s: t = %.17g, %.17g, x = %.17g, %.17g", name, each.t, some.t, each.q[0], some.q[0]);
    check_row(each.rows == some.rows && each.sum == some.sum && (each.rows > 0) == row->rows,
              "%s: %lld rows, %lld", name, (long long)each.rows, (long long)some.rows);
    bool counts = memcmp(&each.statistics, &some.statistics, sizeof each.statistics) == 0;
    check_row(counts || row->code < 0, "%s: evaluations %lld, %lld, solves %lld, %lld", name,
              (long long)each.statistics.force_evaluations,
              (long long)some.statistics.force_evaluations, (long long)each.statistics.solves,
              (long long)some.statistics.solves);
    check_row(
        (double)made >= row->part * (double)some.statistics.steps && (row->part > 0 || made == 0),
        "%s: %lld of %lld steps at once", name, (long long)made, (long long)some.statistics.steps);
}

int main(void)
{
    check_group("several steps at once");
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        compare(&table[k]);
    return check_done();
}
