/* test_kinsol.c - the difference condition of Gear, Kaper, Kevrekidis, Zagaris 2005 solved by
 * KINSOL (SUNDIALS), by Newton's method with GMRES and by Anderson's: the same states as those of
 * Taut's iterations `newton` and `anderson`. KINSOL sees the flow and the unknown variables only;
 * differences are taken here. Skipped where KINSOL was not found when Taut was built. */
#include <taut/taut.h>

#include "support/oxygen.h"
#include "support/project.h"

#ifdef TAUT_HAVE_KINSOL
#include <kinsol/kinsol.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include "blackbox/flows.h"

enum { MOST = 5, ORDERS = 3 };

typedef struct problem {
    const char *name, *model;
    double horizon;
    int observed; /* the variable that is kept; five dimensions: this and the next */
    double agree; /* of the largest variable */
} problem;

/* One order of a problem, as KINSOL sees it: unknowns in units of their sizes. */
typedef struct condition {
    taut_flow *flow;
    double horizon;
    int order, n, unknowns;
    int index[MOST]; /* [unknowns]: variables */
    double state[MOST], scale[MOST];
    bool fixed_point; /* u + delta, not delta */
    int64_t evaluations;
} condition;

static int evaluate(N_Vector u, N_Vector f, void *user)
{
    condition *c = user;
    double z[ORDERS + 1][MOST];
    taut_error error;
    c->evaluations++;
    memcpy(z[0], c->state, sizeof z[0]);
    for (int k = 0; k < c->unknowns; k++)
        z[0][c->index[k]] = NV_Ith_S(u, k) * c->scale[c->index[k]];
    for (int j = 0; j <= c->order; j++) {
        memcpy(z[j + 1], z[j], sizeof z[j]);
        if (c->flow->advance(c->flow, 0, c->horizon, z[j + 1], &error) != 0)
            return 1;
    }
    for (int level = 0; level <= c->order; level++)
        for (int j = 0; j <= c->order - level; j++)
            for (int i = 0; i < c->n; i++)
                z[j][i] = z[j + 1][i] - z[j][i];
    for (int k = 0; k < c->unknowns; k++)
        NV_Ith_S(f, k) = (c->order % 2 ? -1 : 1) * z[0][c->index[k]] / c->scale[c->index[k]] +
                         (c->fixed_point ? NV_Ith_S(u, k) : 0);
    return 0;
}

static void quiet(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code;
    (void)module;
    (void)function;
    (void)text;
    (void)user;
}

/* c->state becomes the solution, as far as KINSOL brings it: where it stops at rounding, its
 * status is a failure, and the state decides. */
static bool kinsol(condition *c)
{
    SUNContext context = NULL;
#if SUNDIALS_VERSION_MAJOR >= 7
    SUNContext_Create(SUN_COMM_NULL, &context);
#else
    SUNContext_Create(NULL, &context);
#endif
    void *memory = KINCreate(context);
    N_Vector u = N_VNew_Serial(c->unknowns, context), one = N_VNew_Serial(c->unknowns, context);
    SUNLinearSolver solver = SUNLinSol_SPGMR(u, SUN_PREC_NONE, c->unknowns, context);
    N_VConst(1, one);
    for (int k = 0; k < c->unknowns; k++)
        NV_Ith_S(u, k) = c->state[c->index[k]] / c->scale[c->index[k]];
    KINSetErrHandlerFn(memory, quiet, NULL);
    KINSetUserData(memory, c);
    KINSetMAA(memory, c->unknowns);
    KINSetDampingAA(memory, 0.3);
    KINSetNumMaxIters(memory, 200);
    bool made = KINInit(memory, evaluate, u) == KIN_SUCCESS;
    KINSetFuncNormTol(memory, 1e-15);
    KINSetScaledStepTol(memory, 1e-15);
    if (!c->fixed_point)
        made = made && KINSetLinearSolver(memory, solver, NULL) == KIN_SUCCESS;
    int status = made ? KINSol(memory, u, c->fixed_point ? KIN_FP : KIN_NONE, one, one) : -1;
    for (int k = 0; k < c->unknowns; k++)
        c->state[c->index[k]] = NV_Ith_S(u, k) * c->scale[c->index[k]];
    SUNLinSolFree(solver);
    N_VDestroy(u);
    N_VDestroy(one);
    KINFree(&memory);
    SUNContext_Free(&context);
    return status >= 0 || status == KIN_LINESEARCH_NONCONV || status == KIN_MAXITER_REACHED;
}

static void compare(const problem *p, bool fixed_point, const char *iterate)
{
    char options[100];
    projected own[ORDERS];
    condition c = {.horizon = p->horizon, .fixed_point = fixed_point};
    taut_context *context = NULL;
    taut_arena arena;
    taut_statistics cost = {0};
    const char *description;
    taut_arena_init(&arena, NULL);
    for (int m = 0; m < ORDERS; m++) {
        snprintf(options, sizeof options, "method=difference order=%d iterate=%s horizon=%.17g", m,
                 iterate, p->horizon);
        own[m] = project_model(p->model, NULL, options);
        projected_good(options, &own[m]);
    }
    taut_sizes sizes = {.size = sizeof sizes};
    taut_system_sizes_get(own[0].system, &sizes, NULL);
    c.n = sizes.coordinates;
    int observed = sizes.observables;
    for (int i = 0; i < c.n; i++) {
        c.state[i] = own[0].r.start_q[i];
        c.scale[i] = fmax(fabs(own[ORDERS - 1].r.q[i]), 1e-300);
        if (i < p->observed || i >= p->observed + observed)
            c.index[c.unknowns++] = i;
    }
    taut_error error;
    bool made =
        taut_context_create(own[0].system, NULL, &context, &error) == 0 &&
        taut_flow_create(context, &arena, &cost, p->horizon, 0, &c.flow, &description, &error) == 0;
    check_row(made, "%s: flow", p->name);
    for (int m = 0; m < ORDERS && made; m++) { /* each from the order before, as Taut does */
        double off = 0, size = 0;
        c.order = m;
        c.evaluations = 0;
        bool solved = kinsol(&c);
        for (int i = 0; i < c.n; i++) {
            off = fmax(off, fabs(c.state[i] - own[m].r.q[i]));
            size = fmax(size, fabs(c.state[i]));
        }
        printf("# %s, order %d, %s: %.1e apart; evaluations %lld, KINSOL %lld\n", p->name, m,
               iterate, off / size, (long long)own[m].stage[m].iterations,
               (long long)c.evaluations);
        check_row(solved && off <= p->agree * size,
                  "%s, order %d: %s and KINSOL differ by %.2g of %.2g", p->name, m, iterate, off,
                  size);
    }
    if (c.flow)
        c.flow->destroy(c.flow);
    taut_context_destroy(context);
    taut_arena_clear(&arena);
    for (int m = 0; m < ORDERS; m++)
        projected_drop(&own[m]);
}

static void problems(void)
{
    const problem rows[] = {{"Michaelis-Menten, H = 0.04", "michaelis_menten", 0.04, 0, 1e-11},
                            {"Michaelis-Menten, H = 0.001", "michaelis_menten", 0.001, 0, 1e-9},
                            {"five dimensions", "five_dimensions", 4e-4, 0, 1e-11},
                            {"hydrogen and oxygen", ho_reduced(), 2e-5, 2, 1e-11}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        check_group(rows[k].name);
        compare(&rows[k], false, "newton");
        compare(&rows[k], true, "anderson");
    }
}
#else
static void problems(void)
{
    check_group("KINSOL");
    check_skip("not found when this was built (Debian: libsundials-dev)");
}
#endif

int main(void)
{
    problems();
    return check_done();
}
