/* bench_large.c - large systems: memory a link of a chain, growth of time and memory, the program's
 * `check` and `run` of a million links, slow points, and a net against CHOLMOD's supernodal
 * factorisation of the same matrix in the same run.
 *
 * Rows: name | limit | value | verdict. Memory is the peak of the resident memory of a process that
 * makes a solver from the model text and takes two steps, less that of the same with 100 links,
 * divided by the links. Times are the best of several, in turn. The net takes a whole evaluation of
 * the index-1 field; CHOLMOD (GPL; Debian's libsuitesparse-dev, for this bench alone) factors and
 * solves with A = G M^-1 G^T as the values are there. With the argument "net" nothing else is done.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runs.h"
#include "system/system.h"
#include "wrap/fields.h"

#ifdef TAUT_HAVE_CHOLMOD
#include <cholmod.h>
#endif

static const char CHAIN[] =
    "[parameters]\nN = 20\n[particles]\ndimension = 2\nbob[i] for i in 1..N mass 1\n"
    "[potential]\nsum(bob[i].y for i in 1..N)\n[bonds]\n"
    "link[1] = length(bob[1]) - 1 stiffness 1e14\n"
    "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..N stiffness 1e14\n"
    "[start]\nbob[i] = (i, 0) for i in 1..N\n[run]\nuntil = 1000\n";

static const char NET[] =
    "[parameters]\nN = 20\n[particles]\ndimension = 3\nnode[i,j] for i in 1..N, j in 1..N mass 1\n"
    "[potential]\nsum(node[i,j].z for i in 1..N, j in 1..N)\n[bonds]\n"
    "along[i,j] = length(node[i+1,j] - node[i,j]) - 1 for i in 1..N-1, j in 1..N\n"
    "across[i,j] = length(node[i,j+1] - node[i,j]) - 1 for i in 1..N, j in 1..N-1\n"
    "tie[1] = length(node[1,N] - (1, N+1, 0)) - 1\ntie[2] = length(node[N,N] - (N, N+1, 0)) - 1\n"
    "[start]\nnode[i,j] = (i, j, 0) for i in 1..N, j in 1..N\n[run]\nuntil = 10\n";

/* Processor time, which other load disturbs less. */
static double spent(void)
{
    return bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

typedef struct cost {
    double seconds, bytes; /* NaN: it failed */
} cost;

/* ---- a process of its own */

static int run_chain(const char *settings, int links)
{
    bench b = make(CHAIN, links, settings);
    if (b.code == 0)
        b.code = taut_solver_advance(b.solver, 2 * taut_options_real(b.options, "step"), &b.error);
    return done(&b);
}

static int find_slow_point(const char *settings, int links)
{
    bench b = prepare(CHAIN, links, settings, false);
    taut_projection *projection = NULL;
    if (b.code == 0)
        b.code = taut_project(b.system, b.options, NULL, &projection, &b.error);
    taut_projection_destroy(projection);
    return done(&b);
}

/* The program with these arguments, words of `settings`, for a chain of so many links. */
static int run_program(const char *settings, int links)
{
    char copy[200], set[40];
    char *words[20] = {getenv("TAUT")};
    int count = 1;
    snprintf(copy, sizeof copy, "%s", settings);
    snprintf(set, sizeof set, "N=%d", links);
    for (char *word = strtok(copy, " "); word && count < 16; word = strtok(NULL, " "))
        words[count++] = word;
    words[count++] = "--set";
    words[count] = set;
    if (!words[0] || !freopen("/dev/null", "w", stdout))
        return 1;
    execv(words[0], words);
    return 1;
}

/* Processor time and peak memory of `act` in a process of its own. */
static cost measure(int (*act)(const char *settings, int links), const char *settings, int links)
{
    struct rusage use;
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(act(settings, links) == 0 ? 0 : 1);
    if (child < 0 || wait4(child, &status, 0, &use) < 0 || status != 0)
        return (cost){NAN, NAN};
    return (cost){(double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                      1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec),
                  1024.0 * (double)use.ru_maxrss};
}

static void memory_of(const char *method, const char *settings, double limit)
{
    enum { SMALL = 100, LARGE = 100000, LARGEST = 1000000 };
    char name[120];
    const cost least = measure(run_chain, settings, SMALL),
               large = measure(run_chain, settings, LARGE),
               largest = measure(run_chain, settings, LARGEST);
    printf("%s: %.3g MB for 1e5 links, %.3g MB for 1e6\n", method, large.bytes / 1e6,
           largest.bytes / 1e6);
    snprintf(name, sizeof name, "%s, chain of 1e6: kB a link", method);
    row(name, limit, (largest.bytes - least.bytes) / LARGEST / 1e3);
    snprintf(name, sizeof name, "%s, exponent of time, 1e5 to 1e6 links", method);
    row(name, 0, log10((largest.seconds - least.seconds) / (large.seconds - least.seconds)));
    snprintf(name, sizeof name, "%s, exponent of memory, 1e5 to 1e6 links", method);
    row(name, 0, log10((largest.bytes - least.bytes) / (large.bytes - least.bytes)));
}

static void memory_of_program(const char *settings)
{
    enum { LINKS = 1000000 };
    char name[200];
    if (!getenv("TAUT")) {
        printf("taut %s | skipped | the variable TAUT is the path of the program\n", settings);
        return;
    }
    snprintf(name, sizeof name, "taut %s, 1e6 links: MB", settings);
    row(name, 600, measure(run_program, settings, LINKS).bytes / 1e6);
}

/* ---- the net */

#ifdef TAUT_HAVE_CHOLMOD
typedef struct peer {
    cholmod_common common;
    cholmod_sparse *a;
    cholmod_factor *factor;
    cholmod_dense *one;
} peer;

/* G^T with unit masses, from which CHOLMOD forms A once; only its factorisation is timed. */
static bool peer_create(peer *p, const taut_pattern *g, const double *value)
{
    cholmod_common *c = &p->common;
    cholmod_start(c);
    c->supernodal = CHOLMOD_SUPERNODAL;
    const size_t rows = (size_t)g->rows, entries = (size_t)g->start[g->rows];
    cholmod_triplet *t =
        cholmod_allocate_triplet(rows, (size_t)g->columns, entries, 0, CHOLMOD_REAL, c);
    if (!t)
        return false;
    for (taut_index i = 0; i < g->rows; i++)
        for (taut_index e = g->start[i]; e < g->start[i + 1]; e++) {
            ((int *)t->i)[e] = i;
            ((int *)t->j)[e] = g->column[e];
            ((double *)t->x)[e] = value[e];
        }
    t->nnz = entries;
    cholmod_sparse *rows_of_g = cholmod_triplet_to_sparse(t, entries, c),
                   *square = cholmod_aat(rows_of_g, NULL, 0, 1, c);
    p->a = square ? cholmod_copy(square, -1, 1, c) : NULL;
    p->factor = p->a ? cholmod_analyze(p->a, c) : NULL;
    p->one = cholmod_ones(rows, 1, CHOLMOD_REAL, c);
    cholmod_free_triplet(&t, c);
    cholmod_free_sparse(&rows_of_g, c);
    cholmod_free_sparse(&square, c);
    return p->factor && p->one;
}

static double peer_seconds(peer *p)
{
    double begin = spent();
    cholmod_factorize(p->a, p->factor, &p->common);
    cholmod_dense *y = cholmod_solve(CHOLMOD_A, p->factor, p->one, &p->common);
    double seconds = y && p->common.status == CHOLMOD_OK ? spent() - begin : NAN;
    cholmod_free_dense(&y, &p->common);
    return seconds;
}

static void peer_destroy(peer *p)
{
    cholmod_free_dense(&p->one, &p->common);
    cholmod_free_factor(&p->factor, &p->common);
    cholmod_free_sparse(&p->a, &p->common);
    cholmod_finish(&p->common);
}
#endif

/* A state that has swung down a little: no entry of A vanishes by accident. */
static int evaluate_net(taut_field *field, taut_context *context, double *q, double *v, double *a,
                        taut_error *error)
{
    enum { ROUNDS = 5 };
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes(taut_context_system(context), &sizes);
    for (taut_index i = 0; i < sizes.coordinates; i++) {
        q[i] += 0.1 * sin(0.7 * i);
        v[i] = 0.1 * cos(0.3 * i);
    }
    double best = INFINITY, other = INFINITY;
    int status = TAUT_OK;
#ifdef TAUT_HAVE_CHOLMOD
    taut_pattern g;
    peer p = {0};
    double *jacobian = malloc((size_t)sizes.jacobian_entries * sizeof *jacobian);
    double *bond_dt = calloc((size_t)sizes.bonds, sizeof *bond_dt);
    taut_values values = {.size = sizeof values, .jacobian = jacobian, .bond_dt = bond_dt};
    if (!jacobian || !bond_dt)
        return TAUT_ERROR_MEMORY;
    status = taut_system_pattern(taut_context_system(context), TAUT_PATTERN_JACOBIAN, &g, error);
    if (status == 0)
        status = taut_evaluate(context, 0, q, v, TAUT_WANT_JACOBIAN, &values, error);
    if (status == 0 && !peer_create(&p, &g, jacobian))
        status = TAUT_ERROR_MEMORY;
#endif
    for (int k = 0; k < ROUNDS && status == 0; k++) {
        double begin = spent();
        status = field->evaluate(field, 0, q, v, a, NULL, error);
        best = fmin(best, spent() - begin);
#ifdef TAUT_HAVE_CHOLMOD
        other = fmin(other, peer_seconds(&p));
#endif
    }
    printf("net of 300 x 300, an evaluation: %.3g s\n", best);
    if (isfinite(other)) {
        printf("CHOLMOD, factor and solve: %.3g s\n", other);
        row("net of 300 x 300, an evaluation / CHOLMOD's factor and solve", 1.3, best / other);
    } else {
        printf("net against CHOLMOD | skipped | libsuitesparse-dev is not there\n");
    }
#ifdef TAUT_HAVE_CHOLMOD
    peer_destroy(&p);
    free(jacobian);
    free(bond_dt);
#endif
    return status;
}

static int net(void)
{
    bench b = prepare(NET, 300, "motion=rigid method=dop8 step=0.01", false);
    taut_context *context = NULL;
    taut_field *field = NULL;
    taut_arena arena;
    taut_statistics statistics = {0};
    double *q, *v, *a, begin = spent();
    taut_arena_init(&arena, NULL);
    if (b.code == 0)
        b.code = taut_solver_create(b.system, b.options, NULL, &b.solver, &b.error);
    row("net of 300 x 300, rigid: processor seconds to create a run", 1.5, spent() - begin);
    taut_solver_destroy(b.solver);
    b.solver = NULL;
    if (b.code == 0)
        b.code = taut_context_create(b.system, NULL, &context, &b.error);
    if (b.code == 0)
        b.code = taut_field_index1(context, &arena, &statistics, 0, 0, &field, &b.error);
    taut_sizes sizes;
    taut_system_sizes(b.system, &sizes);
    if (b.code == 0)
        b.code = TAUT_RESERVE(&arena, sizes.coordinates, &b.error, &q, &v, &a);
    if (b.code == 0)
        b.code = taut_context_start(context, 0, q, v, &b.error);
    if (b.code == 0)
        b.code = evaluate_net(field, context, q, v, a, &b.error);
    if (field)
        field->destroy(field);
    taut_arena_clear(&arena);
    taut_context_destroy(context);
    return done(&b);
}

int main(int count, char **arguments)
{
    taut_blas_threads(1);
    if (count > 1 && strcmp(arguments[1], "net") == 0)
        return net();
    memory_of("dop8", "motion=rigid method=dop8 step=0.05", 1);
    memory_of("rattle", "motion=rigid method=rattle step=0.01", 0.5);
    memory_of("radau5", "motion=rigid method=radau5 step=0.01", 2);
    memory_of("verlet", "motion=full method=verlet step=1e-8", 0.3);
    memory_of_program("check chain");
    memory_of_program(
        "run chain --motion rigid --method rattle --step 0.001 --until 0.01 --out none");
    memory_of_program("run chain --until 0.01 --out none");
    const cost slow = measure(find_slow_point, "method=series", 100000);
    row("series, chain of 1e5: seconds", 0.5, slow.seconds);
    row("series, chain of 1e5: MB", 200, slow.bytes / 1e6);
    return net();
}
