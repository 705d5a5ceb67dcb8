/* fused_graph.c - see fused_graph.h. Matrices are dense arrays of nodes; zeros fold.
 *
 *     W = L^-1 G^T,  y = L^-1 f,  A = W^T D^-1 W,  A lambda = W^T D^-1 y + r,
 *     x = L^-T D^-1 (y - W lambda)
 *
 * L D L^T without pivoting [Golub, Van Loan, Matrix Computations, 4th ed., section 4.1.2]. */
#include "system/fused_graph.h"

#include <string.h>

/* ---- inputs: q, v, t, targets, parameters, compliances, damping times */

static int32_t input_q(const taut_fuser *f, taut_index i)
{
    return taut_graph_input(f->graph, i);
}

static int32_t input_v(const taut_fuser *f, taut_index i)
{
    return taut_graph_input(f->graph, f->n + i);
}

static int32_t input_parameter(const taut_fuser *f, taut_index k)
{
    return taut_graph_input(f->graph, f->fixed + k);
}

int32_t taut_fused_compliance(const taut_fuser *f, taut_index i)
{
    return input_parameter(f, f->system->sizes.parameters + i);
}

int32_t taut_fused_damping(const taut_fuser *f, taut_index i)
{
    return taut_fused_compliance(f, f->m + i);
}

/* ---- arithmetic */

int32_t taut_fused_sum(const taut_fuser *f, int32_t a, int32_t b)
{
    if (a == f->zero)
        return b;
    return b == f->zero ? a : taut_graph_binary(f->graph, TAUT_OP_ADD, a, b);
}

int32_t taut_fused_difference(const taut_fuser *f, int32_t a, int32_t b)
{
    return b == f->zero ? a : taut_graph_binary(f->graph, TAUT_OP_SUB, a, b);
}

int32_t taut_fused_product(const taut_fuser *f, int32_t a, int32_t b)
{
    return a == f->zero || b == f->zero ? f->zero : taut_graph_binary(f->graph, TAUT_OP_MUL, a, b);
}

static int32_t inverse(const taut_fuser *f, int32_t a)
{
    return taut_graph_binary(f->graph, TAUT_OP_DIV, taut_graph_constant(f->graph, 1), a);
}

/* ---- statements */

static int32_t slot_node(const taut_fuser *f, const taut_slot *slot, int64_t member)
{
    taut_index place = slot->gather ? slot->gather[member] : slot->one;
    switch (slot->source) {
    case TAUT_FROM_Q: return input_q(f, place);
    case TAUT_FROM_V: return input_v(f, place);
    case TAUT_FROM_PARAMETER: return input_parameter(f, place);
    case TAUT_FROM_TIME: return taut_graph_input(f->graph, 2 * f->n);
    case TAUT_FROM_DATA: return taut_graph_constant(f->graph, slot->data[member]);
    default: return f->zero; /* no derivative that is used here reads it */
    }
}

int32_t taut_fused_repeat(taut_graph *graph, taut_op op, const int32_t operand[3],
                          const taut_curve *curve, int derivative)
{
    switch (taut_op_table[op].arity) {
    case 1:
        return op == TAUT_OP_CURVE ? taut_graph_curve(graph, curve, derivative, operand[0])
                                   : taut_graph_unary(graph, op, operand[0]);
    case 2: return taut_graph_binary(graph, op, operand[0], operand[1]);
    default: return taut_graph_select(graph, operand[0], operand[1], operand[2]);
    }
}

/* One member up to a level: f->value has a node for each register. */
static void repeat_member(const taut_fuser *f, const taut_statement_kernel *kernel, int level,
                          int64_t member)
{
    const taut_tape *tape = kernel->tape;
    for (int32_t k = 0; k < tape->inputs; k++)
        f->value[k] = slot_node(f, &kernel->slot[k], member);
    for (int32_t k = 0; k < tape->constants; k++)
        f->value[tape->inputs + k] = taut_graph_constant(f->graph, tape->constant[k]);
    for (int32_t k = 0; k < tape->level_end[level]; k++) {
        const taut_instruction *in = &tape->code[k];
        const bool curve = in->op == TAUT_OP_CURVE;
        const int arity = taut_op_table[in->op].arity;
        const int32_t operand[3] = {f->value[in->a], arity > 1 ? f->value[in->b] : -1,
                                    arity > 2 ? f->value[in->c] : -1};
        f->value[in->to] = taut_fused_repeat(f->graph, (taut_op)in->op, operand,
                                             curve ? tape->curve[in->c] : NULL, curve ? in->b : 0);
    }
}

static int32_t output(const taut_fuser *f, const taut_statement_kernel *kernel, int32_t k)
{
    return f->value[kernel->tape->output[k]];
}

static taut_index place_of(const taut_statement_kernel *kernel, int32_t local, int64_t member)
{
    const taut_local *c = &kernel->local[local];
    return c->gather ? c->gather[member] : c->one;
}

static void add_to(const taut_fuser *f, int32_t *to, int32_t node)
{
    *to = taut_fused_sum(f, *to, node);
}

static void take_bond(const taut_fuser *f, const taut_statement_kernel *kernel, int64_t member)
{
    taut_index i = kernel->row[member];
    const int32_t nc = kernel->locals;
    repeat_member(f, kernel, 2, member);
    f->bond[i] = output(f, kernel, 0);
    for (int32_t c = 0; c < nc; c++) {
        f->entry[f->system->jacobian_start[i] + c] = output(f, kernel, 1 + c);
        add_to(f, &f->row[i * f->n + place_of(kernel, c, member)], output(f, kernel, 1 + c));
    }
    f->bond_dt[i] = output(f, kernel, 1 + nc);
    f->gamma[i] = output(f, kernel, 2 + nc);
}

static void take_kinetic(taut_fuser *f, const taut_statement_kernel *kernel, int64_t member)
{
    const int32_t nc = kernel->locals, triangle = nc * (nc + 1) / 2;
    int32_t next = 1 + nc;
    repeat_member(f, kernel, 2, member);
    add_to(f, &f->energy[TAUT_FUSED_KINETIC], output(f, kernel, 0));
    for (int32_t i = 0; i < nc; i++)
        for (int32_t j = 0; j <= i; j++, next++) {
            taut_index a = place_of(kernel, i, member), b = place_of(kernel, j, member);
            add_to(f, &f->mass[a * f->n + b], output(f, kernel, next));
            if (a != b)
                add_to(f, &f->mass[b * f->n + a], output(f, kernel, next));
        }
    for (int32_t c = 0; c < nc; c++)
        add_to(f, &f->force[place_of(kernel, c, member)], output(f, kernel, 1 + nc + triangle + c));
}

static void take_potential(taut_fuser *f, const taut_statement_kernel *kernel, int64_t member)
{
    const bool stiff = kernel->role == TAUT_ROLE_STIFF;
    repeat_member(f, kernel, 1, member);
    add_to(f, &f->energy[stiff ? TAUT_FUSED_STIFF : TAUT_FUSED_POTENTIAL], output(f, kernel, 0));
    if (kernel->uses_t && !stiff)
        add_to(f, &f->energy[TAUT_FUSED_DRIVING], output(f, kernel, 0));
    for (int32_t c = 0; c < kernel->locals; c++) {
        int32_t *to = &f->force[place_of(kernel, c, member)];
        *to = taut_fused_difference(f, *to, output(f, kernel, 1 + c));
    }
}

static void take_member(taut_fuser *f, const taut_statement_kernel *kernel, int64_t member)
{
    switch (kernel->role) {
    case TAUT_ROLE_BOND: take_bond(f, kernel, member); break;
    case TAUT_ROLE_KINETIC: take_kinetic(f, kernel, member); break;
    case TAUT_ROLE_POTENTIAL:
    case TAUT_ROLE_STIFF: take_potential(f, kernel, member); break;
    case TAUT_ROLE_FORCE:
        repeat_member(f, kernel, 0, member);
        add_to(f, &f->force[kernel->row[member]], output(f, kernel, 0));
        break;
    case TAUT_ROLE_MASS: {
        taut_index a = kernel->row[member], b = kernel->column[member];
        repeat_member(f, kernel, 0, member);
        add_to(f, &f->mass[a * f->n + b], output(f, kernel, 0));
        if (a != b)
            add_to(f, &f->mass[b * f->n + a], output(f, kernel, 0));
        break;
    }
    default: break;
    }
}

/* Every statement; masses that no statement gives; the forces of springs. */
static void take_statements(taut_fuser *f)
{
    const taut_system *system = f->system;
    const double *plain = system->mass_constant;
    const bool diagonal = system->sizes.mass == TAUT_MASS_DIAGONAL;
    for (taut_index i = 0; i < f->n && (plain || diagonal); i++)
        f->mass[i * f->n + i] = taut_graph_constant(f->graph, plain ? plain[i] : 1);
    for (int32_t k = 0; k < system->kernels; k++)
        for (int64_t member = 0; member < system->kernel[k]->members; member++)
            take_member(f, system->kernel[k], member);
}

/* G v + g_t of a bond. */
static int32_t rate_of(const taut_fuser *f, taut_index i)
{
    int32_t rate = f->bond_dt[i];
    for (taut_index k = 0; k < f->n; k++)
        rate = taut_fused_sum(f, rate, taut_fused_product(f, f->row[i * f->n + k], input_v(f, k)));
    return rate;
}

static void add_springs(const taut_fuser *f)
{
    const bool damped = f->system->sizes.can & TAUT_HAS_DAMPING;
    for (taut_index i = 0; i < f->m; i++) {
        if (f->fused->rigid[i])
            continue;
        int32_t stretch = f->bond[i];
        if (damped)
            stretch = taut_fused_sum(
                f, stretch, taut_fused_product(f, taut_fused_damping(f, i), rate_of(f, i)));
        f->lambda[i] = taut_fused_product(f, stretch, inverse(f, taut_fused_compliance(f, i)));
        for (taut_index k = 0; k < f->n; k++)
            f->force[k] = taut_fused_difference(
                f, f->force[k], taut_fused_product(f, f->row[i * f->n + k], f->lambda[i]));
    }
}

/* ---- matrices */

/* L D L^T in place: L below the diagonal, 1/D on it. */
static void factor(taut_fuser *f, taut_index rows, int32_t *a, bool definite)
{
    for (taut_index j = 0; j < rows; j++) {
        int32_t *pivot = &a[j * rows + j], column[TAUT_FUSED_COORDINATES];
        if (!definite) /* the diagonal entry itself was noted before the loop */
            f->pivot[2 * f->pivots++] = *pivot;
        *pivot = inverse(f, *pivot);
        for (taut_index i = j + 1; i < rows; i++)
            column[i] = a[i * rows + j];
        for (taut_index i = j + 1; i < rows; i++) {
            int32_t factor = a[i * rows + j] = taut_fused_product(f, column[i], *pivot);
            for (taut_index k = j + 1; factor != f->zero && k <= i; k++)
                a[i * rows + k] = taut_fused_difference(f, a[i * rows + k],
                                                        taut_fused_product(f, factor, column[k]));
        }
    }
}

static void factor_checked(taut_fuser *f, taut_index rows, int32_t *a)
{
    for (taut_index j = 0; j < rows; j++)
        f->pivot[2 * (f->pivots + j) + 1] = a[j * rows + j];
    factor(f, rows, a, false);
}

static void lower(const taut_fuser *f, taut_index rows, const int32_t *a, int32_t *x)
{
    for (taut_index i = 1; i < rows; i++)
        for (taut_index j = 0; j < i; j++)
            x[i] = taut_fused_difference(f, x[i], taut_fused_product(f, a[i * rows + j], x[j]));
}

static void upper(const taut_fuser *f, taut_index rows, const int32_t *a, int32_t *x)
{
    for (taut_index i = rows - 1; i >= 0; i--)
        for (taut_index j = i + 1; j < rows; j++)
            x[i] = taut_fused_difference(f, x[i], taut_fused_product(f, a[j * rows + i], x[j]));
}

/* r of a rigid bond. */
static int32_t residual(const taut_fuser *f, taut_index i)
{
    const int32_t target = taut_graph_input(f->graph, 2 * f->n + 1 + i);
    switch (f->fused->kind) {
    case TAUT_FUSED_ACCELERATION: return f->gamma[i];
    case TAUT_FUSED_POSITION: return taut_fused_difference(f, f->bond[i], target);
    default: return taut_fused_difference(f, rate_of(f, i), target);
    }
}

/* entry = +-u/sqrt(s): gives u, and s, or -1. Gradients of lengths are made of such entries. */
static int32_t direction(const taut_fuser *f, int32_t entry, int32_t *s)
{
    if (entry < 0) /* no memory */
        return -1;
    const taut_node *node = taut_graph_node(f->graph, entry);
    if (node->op == TAUT_OP_NEG)
        node = taut_graph_node(f->graph, node->a);
    for (int side = 0; node->op == TAUT_OP_MUL && side < 2; side++) {
        const taut_node *over = taut_graph_node(f->graph, side ? node->a : node->b);
        double one;
        if ((over->op != TAUT_OP_DIV && over->op != TAUT_OP_DIVZ) ||
            !taut_graph_is_constant(f->graph, over->a, &one) || one != 1)
            continue;
        const taut_node *root = taut_graph_node(f->graph, over->b);
        if (root->op != TAUT_OP_SQRT && root->op != TAUT_OP_ROOT)
            continue;
        *s = root->a;
        return side ? node->b : node->a;
    }
    return -1;
}

/* The entries from k on that are the components of a vector of length 1, with one weight, marked
 * in used[]: their squares add up to 1, which spares a division. At least one entry: k itself. */
static int32_t add_squares(taut_fuser *f, const int32_t *row, const int32_t *weight, taut_index k,
                           bool *used)
{
    int32_t s = -1, other, total = f->zero;
    taut_index member[TAUT_FUSED_COORDINATES], count = 0;
    if (direction(f, row[k], &s) >= 0 && f->pivots < TAUT_FUSED_LENGTHS)
        for (taut_index i = k; i < f->n; i++) {
            int32_t u = used[i] || weight[i] != weight[k] ? -1 : direction(f, row[i], &other);
            if (u < 0 || other != s)
                continue;
            total = taut_fused_sum(f, total, taut_fused_product(f, u, u));
            member[count++] = i;
            if (total == s)
                break;
        }
    if (total != s) {
        used[k] = true;
        return taut_fused_product(f, taut_fused_product(f, row[k], weight[k]), row[k]);
    }
    for (taut_index i = 0; i < count; i++)
        used[member[i]] = true;
    f->pivot[2 * f->pivots] = f->pivot[2 * f->pivots + 1] = s; /* must not be 0 */
    f->pivots++;
    return weight[k];
}

/* Sum of weight_k row_k^2. */
static int32_t square(taut_fuser *f, const int32_t *row, const int32_t *weight)
{
    bool used[TAUT_FUSED_COORDINATES] = {0};
    int32_t total = f->zero;
    for (taut_index k = 0; k < f->n; k++)
        if (!used[k] && row[k] != f->zero)
            total = taut_fused_sum(f, total, add_squares(f, row, weight, k, used));
    return total;
}

/* The lower triangle of u w^T, u = w D^-1; rows of w are those of G when L is 1. */
static void multiply(taut_fuser *f, const int32_t *u, const int32_t *w, const int32_t *inverse,
                     int32_t *a)
{
    const taut_index rods = f->fused->rods, n = f->n;
    for (taut_index r = 0; r < rods; r++)
        a[r * rods + r] = inverse ? square(f, w + r * n, inverse) : f->zero;
    for (taut_index r = 0; r < rods; r++)
        for (taut_index s = 0; s <= r - (inverse != NULL); s++) {
            int32_t total = f->zero;
            for (taut_index k = 0; k < n; k++)
                total = taut_fused_sum(f, total, taut_fused_product(f, u[r * n + k], w[s * n + k]));
            a[r * rods + s] = total;
        }
}

/* The derivative with velocities v, time running. */
static int32_t along_motion(const taut_fuser *f, int32_t node)
{
    int32_t slot[TAUT_FUSED_COORDINATES + 1], seed[TAUT_FUSED_COORDINATES + 1];
    for (taut_index i = 0; i < f->n; i++) {
        slot[i] = i;
        seed[i] = input_v(f, i);
    }
    slot[f->n] = 2 * f->n;
    seed[f->n] = taut_graph_constant(f->graph, 1);
    return taut_graph_derivative(f->graph, node, f->n + 1, slot, seed);
}

/* The squared distance of each rigid bond's gradient, of length 1, from the span of those before:
 * pivots of G G^T over its diagonal. */
static void measure_span(taut_fuser *f)
{
    const taut_index n = f->n;
    taut_index rods = 0;
    int32_t row[TAUT_FUSED_RODS * TAUT_FUSED_COORDINATES] = {0},
                                  a[TAUT_FUSED_RODS * TAUT_FUSED_RODS],
                                  ones[TAUT_FUSED_COORDINATES] = {0};
    for (taut_index i = 0; i < f->m; i++)
        if (f->fused->rigid[i])
            memcpy(row + n * rods++, f->row + i * n, (size_t)n * sizeof *row);
    for (taut_index k = 0; k < n; k++)
        ones[k] = taut_graph_constant(f->graph, 1);
    multiply(f, row, row, ones, a);
    taut_index first = f->pivots;
    factor_checked(f, rods, a);
    for (taut_index r = 0; r < rods; r++) {
        const int32_t *pivot = &f->pivot[2 * (first + r)];
        f->x[r] = taut_fused_product(f, pivot[0], inverse(f, pivot[1]));
        f->x[rods + r] = along_motion(f, f->x[r]);
    }
    f->results = 2 * rods;
}

static void measure_drift(taut_fuser *f)
{
    taut_index r = 0;
    for (taut_index i = 0; i < f->m; i++) {
        if (!f->fused->rigid[i])
            continue;
        f->x[r] = f->bond[i];
        f->x[f->fused->rods + r++] = rate_of(f, i);
    }
    f->results = 2 * f->fused->rods;
}

/* Springs and, unless a statement gives it, the kinetic energy v^T M v/2. */
static void add_energies(taut_fuser *f)
{
    const int32_t half = taut_graph_constant(f->graph, 0.5);
    for (taut_index i = 0; i < f->m; i++) {
        int32_t square = taut_fused_product(f, f->bond[i], f->bond[i]);
        if (!f->fused->rigid[i])
            add_to(f, &f->energy[TAUT_FUSED_SPRINGS],
                   taut_fused_product(f, taut_fused_product(f, half, square),
                                      inverse(f, taut_fused_compliance(f, i))));
    }
    for (taut_index i = 0; i < f->n && !(f->system->sizes.can & TAUT_HAS_KINETIC); i++) {
        int32_t momentum = f->zero;
        for (taut_index k = 0; k < f->n; k++)
            add_to(f, &momentum, taut_fused_product(f, f->mass[i * f->n + k], input_v(f, k)));
        add_to(f, &f->energy[TAUT_FUSED_KINETIC],
               taut_fused_product(f, half, taut_fused_product(f, momentum, input_v(f, i))));
    }
    memcpy(f->x, f->energy, sizeof f->energy);
    f->results = TAUT_FUSED_ENERGIES;
}

void taut_fused_factor(taut_fuser *f)
{
    const taut_index n = f->n;
    const bool diagonal = f->system->sizes.mass == TAUT_MASS_DIAGONAL;
    int32_t inverse_mass[TAUT_FUSED_COORDINATES];
    if (diagonal)
        factor(f, n, f->mass, true);
    else
        factor_checked(f, n, f->mass);
    for (taut_index k = 0; k < n; k++)
        inverse_mass[k] = f->mass[k * n + k];
    for (taut_index i = 0; i < f->m; i++) {
        if (!f->fused->rigid[i])
            continue;
        int32_t *w = f->w + f->rods * n, *u = f->u + f->rods * n;
        memcpy(w, f->row + i * n, (size_t)n * sizeof *w);
        lower(f, n, f->mass, w);
        for (taut_index k = 0; k < n; k++)
            u[k] = taut_fused_product(f, w[k], inverse_mass[k]);
        f->rod[f->rods++] = i;
    }
    multiply(f, f->u, f->w, diagonal ? inverse_mass : NULL, f->a);
    factor_checked(f, f->rods, f->a);
}

void taut_fused_solve(const taut_fuser *f, int32_t *force, const int32_t *r, int32_t *lambda,
                      int32_t *x)
{
    const taut_index n = f->n, rods = f->rods;
    lower(f, n, f->mass, force);
    for (taut_index i = 0; i < rods; i++) {
        lambda[i] = r[i];
        for (taut_index k = 0; k < n; k++)
            lambda[i] =
                taut_fused_sum(f, lambda[i], taut_fused_product(f, f->u[i * n + k], force[k]));
    }
    lower(f, rods, f->a, lambda);
    for (taut_index i = 0; i < rods; i++)
        lambda[i] = taut_fused_product(f, lambda[i], f->a[i * rods + i]);
    upper(f, rods, f->a, lambda);
    for (taut_index k = 0; x && k < n; k++) {
        x[k] = force[k];
        for (taut_index i = 0; i < rods; i++)
            x[k] =
                taut_fused_difference(f, x[k], taut_fused_product(f, f->w[i * n + k], lambda[i]));
        x[k] = taut_fused_product(f, x[k], f->mass[k * n + k]);
    }
    if (x)
        upper(f, n, f->mass, x);
}

static void solve(taut_fuser *f)
{
    int32_t r[TAUT_FUSED_RODS], lambda[TAUT_FUSED_RODS];
    taut_fused_factor(f);
    for (taut_index i = 0; i < f->rods; i++)
        r[i] = residual(f, f->rod[i]);
    taut_fused_solve(f, f->force, r, lambda, f->x);
    for (taut_index i = 0; i < f->rods; i++)
        f->lambda[f->rod[i]] = lambda[i];
}

int taut_fused_equations(taut_fuser *f)
{
    const taut_fused *fused = f->fused;
    const bool moves = fused->kind == TAUT_FUSED_ACCELERATION || fused->kind == TAUT_FUSED_MANIFOLD;
    for (int k = 0; k < TAUT_FUSED_ENERGIES; k++)
        f->energy[k] = f->zero;
    take_statements(f);
    if (moves)
        add_springs(f);
    else
        for (taut_index i = 0; i < f->n; i++)
            f->force[i] = f->zero;
    f->results = fused->kind == TAUT_FUSED_MANIFOLD ? 2 * f->m : f->n;
    if (fused->kind == TAUT_FUSED_SPAN)
        measure_span(f);
    else if (fused->kind == TAUT_FUSED_DRIFT)
        measure_drift(f);
    else if (fused->kind == TAUT_FUSED_ENERGY)
        add_energies(f);
    else if (fused->kind == TAUT_FUSED_MANIFOLD || fused->level > 0)
        return taut_fused_slow(f);
    else
        solve(f);
    return 0;
}
