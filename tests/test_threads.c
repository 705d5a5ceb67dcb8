/* test_threads.c - one system in four threads at once: each derives systems from it, evaluates
 * (the first request for the tangent pattern among them), solves, finds frequencies, runs and
 * projects. Results are those of a single thread, bit for bit. CI runs this under ThreadSanitizer
 * too. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/saddle.h"
#include "support/table.h"
#include "system/system.h"

enum { THREADS = 4, JOBS = 7, MOST_ACTIONS = 40, MANY = 410 }; /* MANY: links for ARPACK */

typedef struct worker {
    const taut_system *system;
    atomic_int *waiting; /* threads that have not begun */
    int first;           /* the job to begin with */
    bool all;            /* not only the cheap ones */
    int status[JOBS];
    uint64_t digest[JOBS];
    taut_error error;
} worker;

static void add(uint64_t *sum, const double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        *sum = (*sum ^ bits) * 1099511628211u;
    }
}

/* ---- jobs: what one thread does with the shared system */

/* Forces and their derivatives at the initial state. */
static int evaluate(const taut_system *system, uint64_t *sum, taut_error *error)
{
    taut_context *context = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    taut_arena arena;
    taut_system_sizes_get(system, &sizes, NULL);
    taut_index n = sizes.coordinates;
    taut_values values = {.size = sizeof values};
    double *q, *v, *weight;
    taut_pattern tangent;
    taut_arena_init(&arena, NULL);
    int status = taut_context_create(system, NULL, &context, error);
    if (status == 0)
        status = TAUT_RESERVE(&arena, n, error, &q, &v, &values.force);
    if (status == 0)
        status = TAUT_RESERVE(&arena, sizes.bonds, error, &weight);
    if (status == 0)
        status = taut_context_start(context, 0, q, v, error);
    /* forces alone, while other threads form the pattern */
    if (status == 0)
        status = taut_evaluate(context, 0, q, v, TAUT_WANT_FORCE, &values, error);
    if (status == 0)
        status = taut_system_pattern_get(system, TAUT_PATTERN_TANGENT, &tangent, error);
    if (status == 0)
        status =
            TAUT_RESERVE(&arena, tangent.start[n], error, &values.force_dq, &values.bond_hessian);
    for (taut_index i = 0; status == 0 && i < sizes.bonds; i++)
        weight[i] = 1 + 0.1 * i;
    values.bond_weight = weight;
    if (status == 0)
        status = taut_evaluate(context, 0, q, v, TAUT_WANT_FORCE_DQ | TAUT_WANT_BOND_HESSIAN,
                               &values, error);
    if (status == 0) {
        add(sum, values.force, n);
        add(sum, values.force_dq, tangent.start[n]);
        add(sum, values.bond_hessian, tangent.start[n]);
        add(sum, taut_context_compliance(context), sizes.bonds);
    }
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return status;
}

static int evaluate_rigid(const taut_system *system, uint64_t *sum, taut_error *error)
{
    taut_system *rigid = NULL;
    int status = taut_system_rigid(system, &rigid, error);
    if (status == 0)
        status = evaluate(rigid, sum, error);
    taut_system_destroy(rigid);
    return status;
}

/* Derived from a derived system. */
static int evaluate_softer(const taut_system *system, uint64_t *sum, taut_error *error)
{
    taut_system *softer = NULL, *twice = NULL;
    int status = taut_system_softer(system, 2, &softer, error);
    if (status == 0)
        status = taut_system_softer(softer, 2, &twice, error);
    if (status == 0)
        status = evaluate(twice, sum, error);
    taut_system_destroy(twice);
    taut_system_destroy(softer);
    return status;
}

static int evaluate_effective(const taut_system *system, uint64_t *sum, taut_error *error)
{
    taut_system *effective = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    double action[MOST_ACTIONS];
    taut_system_sizes_get(system, &sizes, NULL);
    for (int k = 0; k < MOST_ACTIONS; k++)
        action[k] = 1e-3 / (k + 1);
    int modes = sizes.bonds < MOST_ACTIONS ? sizes.bonds : MOST_ACTIONS;
    int status = taut_system_effective(system, action, modes, &effective, error);
    if (status == 0)
        status = evaluate(effective, sum, error);
    taut_system_destroy(effective);
    return status;
}

static int set_options(taut_options **options, const char *const (*pairs)[2], taut_error *error)
{
    int status = taut_options_create(NULL, options, error);
    for (; status == 0 && (*pairs)[0]; pairs++)
        status = taut_options_set(*options, (*pairs)[0], (*pairs)[1], error);
    return status;
}

static int run(const taut_system *system, uint64_t *sum, taut_error *error)
{
    static const char *const given[][2] = {
        {"method", "radau5"}, {"motion", "slow"}, {"until", "0.02"}, {NULL, NULL}};
    taut_options *options = NULL;
    taut_solver *solver = NULL;
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(system, &sizes, NULL);
    int status = set_options(&options, given, error);
    if (status == 0)
        status = taut_solver_create(system, options, NULL, &solver, error);
    if (status == 0)
        status = taut_solver_advance(solver, 0.02, error);
    if (status == 0) {
        add(sum, taut_solver_position(solver), sizes.coordinates);
        add(sum, taut_solver_velocity(solver), sizes.coordinates);
    }
    taut_solver_destroy(solver);
    taut_options_destroy(options);
    return status;
}

static int project(const taut_system *system, uint64_t *sum, taut_error *error)
{
    static const char *const given[][2] = {{"method", "series"}, {NULL, NULL}};
    taut_options *options = NULL;
    taut_projection *projection = NULL;
    taut_projection_result result = {.size = sizeof result};
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(system, &sizes, NULL);
    int status = set_options(&options, given, error);
    if (status == 0)
        status = taut_project(system, options, NULL, &projection, error);
    if (status == 0) {
        taut_projection_result_get(projection, &result, NULL);
        add(sum, result.q, sizes.coordinates);
        add(sum, result.v, sizes.coordinates);
    }
    taut_projection_destroy(projection);
    taut_options_destroy(options);
    return status;
}

/* MUMPS and ARPACK, which keep state of their own (builds without them have Taut's solvers). */
static int solve(const taut_system *system, uint64_t *sum, taut_error *error)
{
    taut_sizes sizes = {.size = sizeof sizes};
    taut_pattern g;
    taut_arena arena;
    taut_context *context = NULL;
    taut_saddle *saddle = NULL;
    taut_system_sizes_get(system, &sizes, NULL);
    double *q, *v, *mass, *x, *y;
    taut_values values = {.size = sizeof values};
    taut_arena_init(&arena, NULL);
    int status = taut_system_pattern_get(system, TAUT_PATTERN_JACOBIAN, &g, error);
    if (status == 0)
        status = TAUT_RESERVE(&arena, sizes.coordinates, error, &q, &v, &mass, &x);
    if (status == 0)
        status = TAUT_RESERVE(&arena, sizes.bonds, error, &y, &values.bond_dt);
    if (status == 0)
        status = TAUT_RESERVE(&arena, sizes.jacobian_entries, error, &values.jacobian);
    if (status == 0)
        status = taut_context_create(system, NULL, &context, error);
    if (status == 0)
        status = taut_context_start(context, 0, q, v, error);
    if (status == 0)
        status = taut_evaluate(context, 0, q, v, TAUT_WANT_JACOBIAN, &values, error);
    taut_saddle_shape shape = {.n = sizes.coordinates,
                               .m = sizes.bonds,
                               .g_start = g.start,
                               .g_column = g.column,
                               .symmetric = true,
                               .positive = true};
    if (status == 0)
        status = taut_saddle_create(
            &shape, strstr(taut_features(), "mumps") ? TAUT_BACKEND_SPARSE : TAUT_BACKEND_AUTO,
            NULL, &saddle, error);
    for (taut_index i = 0; status == 0 && i < sizes.coordinates; i++)
        mass[i] = x[i] = 1 + 0.01 * i;
    for (int k = 0; k < 20 && status == 0; k++) {
        status = taut_saddle_factor(saddle, mass, values.jacobian, NULL, NULL, error);
        if (status == 0)
            status = taut_saddle_solve(saddle, 1, x, y, error);
    }
    if (status == 0)
        add(sum, x, sizes.coordinates);
    double frequency[2];
    int found;
    bool complete;
    if (status == 0)
        status = taut_frequencies(context, 0, q, 1, frequency, &found, &complete, error);
    if (status == 0)
        add(sum, frequency, found < 2 ? found : 2);
    taut_saddle_destroy(saddle);
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    return status;
}

static const struct {
    const char *name;
    int (*act)(const taut_system *system, uint64_t *sum, taut_error *error);
    bool cheap; /* for large systems too */
} jobs[JOBS] = {{"evaluate", evaluate, true},
                {"rigid", evaluate_rigid, true},
                {"softer", evaluate_softer, true},
                {"effective", evaluate_effective, false},
                {"run", run, false},
                {"project", project, false},
                {"solve", solve, true}};

/* ---- threads */

static void *work(void *data)
{
    worker *w = data;
    atomic_fetch_sub(w->waiting, 1);
    while (atomic_load(w->waiting) > 0) /* all begin together */
        ;
    for (int k = 0; k < JOBS; k++) {
        int job = (w->first + k) % JOBS;
        if (!w->all && !jobs[job].cheap)
            continue;
        w->digest[job] = 14695981039346656037u;
        w->status[job] = jobs[job].act(w->system, &w->digest[job], &w->error);
    }
    return NULL;
}

static taut_system *load(int links)
{
    char path[1200], value[40];
    taut_system *system = NULL;
    taut_error error = {0};
    snprintf(path, sizeof path, "%s/models/chain.taut", TAUT_SOURCE_DIR);
    snprintf(value, sizeof value, "N=%d", links);
    const char *sets[] = {value};
    taut_load how = {.size = sizeof how, .set = sets, .set_count = 1};
    int status = taut_system_load(path, &how, &system, &error);
    check_row(status == 0, "chain of %d: %s", links, error.message);
    return system;
}

static void test_shared(int links)
{
    taut_system *shared = load(links), *own = load(links);
    worker alone = {.system = own, .all = links < MANY}, workers[THREADS];
    pthread_t thread[THREADS];
    atomic_int waiting = THREADS, nobody = 1;
    alone.waiting = &nobody;
    int started = 0;
    if (shared && own) {
        for (int i = 0; i < THREADS; i++)
            workers[i] = (worker){
                .system = shared, .waiting = &waiting, .first = 2 * i % JOBS, .all = alone.all};
        while (started < THREADS &&
               pthread_create(&thread[started], NULL, work, &workers[started]) == 0)
            started++;
        atomic_fetch_sub(&waiting, THREADS - started);
        for (int i = 0; i < started; i++)
            pthread_join(thread[i], NULL);
        work(&alone);
    }
    for (int i = 0; i < started; i++)
        for (int k = 0; k < JOBS; k++)
            check_row(workers[i].status[k] == alone.status[k] && alone.status[k] == 0 &&
                          workers[i].digest[k] == alone.digest[k],
                      "chain of %d, thread %d, %s: status %d (alone %d), %llx (alone %llx): %s",
                      links, i, jobs[k].name, workers[i].status[k], alone.status[k],
                      (unsigned long long)workers[i].digest[k], (unsigned long long)alone.digest[k],
                      workers[i].error.message);
    check_row(started == THREADS, "%d threads", started);
    taut_system_destroy(shared);
    taut_system_destroy(own);
}

int main(void)
{
    check_group("one system, four threads");
    static const int links[] = {6, 6, 30, MANY};
    for (size_t k = 0; k < sizeof links / sizeof links[0]; k++)
        test_shared(links[k]);
    return check_done();
}
