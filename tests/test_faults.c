/* test_faults.c - memory that runs out at the k-th allocation, for every k on the path of
 * `check`: a clean TAUT_ERROR_MEMORY, no block left, nothing created, and the same result as
 * before when memory is back. */
#include <taut/taut.h>

#include "support/faulty.h"
#include "support/table.h"

static const struct {
    const char *name, *text;
} models[] = {
    {"double pendulum",
     "# two stiff springs\n"
     "[parameters]\nomega = 100\nlift = 0.25\n"
     "[coordinates]\nx1, y1, x2, y2\n"
     "[bonds]\n"
     "inner = sqrt(x1^2 + y1^2) - 1             stiffness omega^2\n"
     "outer = sqrt((x1-x2)^2 + (y1-y2)^2) - 1   stiffness omega^2\n"
     "[start]\nx1 = 1, y1 = lift, x2 = 2, y2 = 0\nx1' = 0, y1' = -0.5, x2' = 0, y2' = 0.5\n"
     "[run]\nuntil = 10\n"},
    {"chain", "# particles, families, definitions, outputs, events\n"
              "[parameters]\nN = 12\nomega = 1000\n"
              "[definitions]\npull(y) = 9.81*y\n"
              "[particles]\ndimension = 2\nbob[i] for i in 1..N   mass 1 + i/N\n"
              "[potential]\nsum(pull(bob[i].y) for i in 1..N)\n"
              "[bonds]\n"
              "link[1] = length(bob[1]) - 1                              stiffness omega^2\n"
              "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N     stiffness omega^2\n"
              "[start]\nbob[i] = (i, 0) for i in 1..N\n"
              "[outputs]\ntop = bob[N].y\n"
              "[events]\nfloor = bob[N].y + 5   falling   stop\n"},
    {"rods", "# rigid bonds, a full mass matrix and forces\n"
             "[coordinates]\nx, y, a\n"
             "[mass]\nx = 2, y = 2, a = 0.5\nM[x, a] = 0.1*cos(a)\n"
             "[forces]\ny = -9.81 - 0.1*y'\n"
             "[bonds]\nrod = x^2 + y^2 - 1   rigid\ndrive = a - sin(t)   rigid\n"
             "[start]\nx = 1, y = 0, a = 0, a' = 1\n"},
    {"kepler", "# first order with an invariant\n"
               "[state]\nx, y, u, w\n"
               "[rates]\nx' = u\ny' = w\nu' = -x/(x^2 + y^2)^1.5\nw' = -y/(x^2 + y^2)^1.5\n"
               "[invariants]\nenergy = (u^2 + w^2)/2 - 1/sqrt(x^2 + y^2) + 0.5\n"
               "[start]\nx = 1, y = 0, u = 0, w = 1\n"},
    {"mixed index", "# constraints with and without algebraic variables\n"
                    "[state]\nx, w\n[algebraic]\ny, mu\n"
                    "[rates]\nx' = y*exp(t)*cos(t) + mu*x\nw' = -sin(t) + mu*w*(1 + y)\n"
                    "[constraints]\ncircle = x^2 + w^2 - 1\n"
                    "level = y*(1 + x) - exp(-t)*(1 + sin(t))\n"
                    "[start]\nx = sin(t), w = cos(t), y = 7\n"},
    {"conserved", "# invariants, and a stiffness that depends on t\n"
                  "[coordinates]\nx, y, z\n[potential]\ny\n"
                  "[bonds]\nrod = sqrt(x^2 + y^2) - 1\nspring = z  stiffness 100 + t\n"
                  "[invariants]\nenergy = (x'^2 + y'^2)/2 + y\n"
                  "[start]\nx = 1, z = 0.1\n"},
};
enum { MODELS = sizeof models / sizeof models[0] };

/* What a caller can see of one pass: the status of the call that failed first, and the message
 * with it. */
typedef struct outcome {
    int status;
    const char *stage;
    taut_error error;
    taut_check_report report;
    taut_sizes sizes;
} outcome;

/* The path of `taut check`: read, make a context, find the start, examine. Everything created is
 * destroyed, for every failure. */
static outcome one_pass(const char *text, const taut_allocator *allocator)
{
    outcome o = {.stage = "parse", .report = {.size = sizeof o.report}};
    taut_load how = {.size = sizeof how, .allocator = allocator};
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_options *options = NULL;
    o.status = taut_system_parse(text, strlen(text), "model", &how, &system, &o.error);
    if (o.status == 0) {
        o.stage = "context";
        o.status = taut_context_create(system, allocator, &context, &o.error);
    }
    if (o.status == 0) {
        o.stage = "options";
        o.status = taut_options_create(allocator, &options, &o.error);
    }
    if (o.status == 0) {
        o.stage = "check";
        o.status = taut_check(system, options, &o.report, &o.error);
    }
    if (o.status == 0)
        o.sizes = *o.report.sizes;
    taut_options_destroy(options);
    taut_context_destroy(context);
    taut_system_destroy(system);
    return o;
}

/* Equal reports, number for number: a failure must leave nothing behind that changes later
 * results. */
static bool same_report(const taut_check_report *a, const taut_check_report *b)
{
    bool same = a->rank == b->rank && a->verdict == b->verdict &&
                a->derivatives == b->derivatives && a->foot_distance == b->foot_distance &&
                a->frequency_least == b->frequency_least &&
                a->frequency_most == b->frequency_most && strcmp(a->advice, b->advice) == 0;
    for (int k = 0; same && k < a->derivatives; k++)
        same = a->derivative[k].deviation == b->derivative[k].deviation;
    return same;
}

static void fail_everywhere(int m, bool lasting)
{
    faulty none = {0};
    taut_allocator allocator = faulty_allocator(&none);
    outcome good = one_pass(models[m].text, &allocator);
    if (!check_row(good.status == 0, "%s without faults: %s: %s", models[m].name, good.stage,
                   good.error.message))
        return;
    check_equal("blocks left without faults", none.live, 0);

    for (int64_t k = 1; k <= none.calls; k = faulty_next(k)) {
        faulty f = {.fail = k, .lasting = lasting};
        allocator = faulty_allocator(&f);
        outcome o = one_pass(models[m].text, &allocator);
        check_row(f.failed > 0 && o.status == TAUT_ERROR_MEMORY &&
                      o.error.code == TAUT_ERROR_MEMORY && o.error.message[0] && f.live == 0,
                  "%s, call %lld of %lld fails%s: %s gives %s \"%s\", %lld blocks left",
                  models[m].name, (long long)k, (long long)none.calls,
                  lasting ? " and all after it" : "", o.stage, taut_code_name(o.status),
                  o.error.message, (long long)f.live);
    }

    faulty again = {.fail = none.calls + 1};
    allocator = faulty_allocator(&again);
    outcome o = one_pass(models[m].text, &allocator);
    check_row(o.status == 0 && same_report(&o.report, &good.report) &&
                  memcmp(&o.sizes, &good.sizes, sizeof o.sizes) == 0,
              "%s after the faults: %s", models[m].name, o.error.message);
    check_equal("calls are the same in every pass", again.calls, none.calls);
}

/* A wrong model is not a memory failure, and must release everything as well. */
static void wrong_models(void)
{
    check_group("cut models");
    for (int m = 0; m < MODELS; m++) {
        size_t length = strlen(models[m].text);
        for (size_t cut = 0; cut < length; cut++) {
            faulty f = {0};
            taut_allocator allocator = faulty_allocator(&f);
            taut_load how = {.size = sizeof how, .allocator = &allocator};
            taut_system *system = NULL;
            taut_error error = {0};
            int status = taut_system_parse(models[m].text, cut, "model", &how, &system, &error);
            bool clean =
                status == 0 ? system != NULL : !system && status < 0 && error.message[0] != 0;
            taut_system_destroy(system);
            check_row(clean && f.live == 0, "%s cut after %zu bytes: %s \"%s\", %lld blocks left",
                      models[m].name, cut, taut_code_name(status), error.message,
                      (long long)f.live);
        }
    }
}

int main(void)
{
    check_group("memory");
    for (int m = 0; m < MODELS; m++) {
        fail_everywhere(m, false);
        fail_everywhere(m, true);
    }
    wrong_models();
    return check_done();
}
