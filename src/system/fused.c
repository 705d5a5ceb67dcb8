/* fused.c - see fused.h. Matrices are dense arrays of nodes; zeros fold.
 *
 *     W = L^-1 G^T,  y = L^-1 f,  A = W^T D^-1 W,  A lambda = W^T D^-1 y + r,
 *     x = L^-T D^-1 (y - W lambda)
 *
 * L D L^T without pivoting [Golub, Van Loan, Matrix Computations, 4th ed., section 4.1.2]; a pivot
 * that is not above TOLERANCE times its diagonal entry counts as singular. */
#include "system/fused.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vectors.h"

/* COMPILED: operations, beyond which compilers take too long; INTERPRETED: beyond which statements
 * of many members gain from being run in vectors. */
enum { MOST_RODS = 8, MOST_COORDINATES = 64, COMPILED = 4000, INTERPRETED = 600 };
enum { MOST_PIVOTS = 32 }; /* of lengths */
enum { FROM_Q, FROM_V, FROM_TIME, FROM_KNOWN };
enum { TO_X, TO_LAMBDA, TO_JACOBIAN, TO_COUNT };
static const double TOLERANCE = 64 * DBL_EPSILON; /* above that of the saddle solver */

typedef struct fuser {
    const taut_system *system;
    taut_arena *scratch, *arena; /* the result is in `arena` */
    taut_fused *fused;
    taut_graph *graph;
    taut_index n, m;
    int32_t zero;
    int32_t *value;                           /* node of each register of a tape */
    int32_t *force, *mass;                    /* [n], [n][n] */
    int32_t *bond, *bond_dt, *gamma;          /* [m] */
    int32_t *row, *entry;                     /* G: [m][n], and in the order of its pattern */
    int32_t *lambda, *x;                      /* [m], [results] */
    taut_index results;
    int32_t pivot[2 * (MOST_PIVOTS + MOST_RODS + MOST_COORDINATES)]; /* each with its diagonal entry */
    int32_t pivots, slot;                     /* numbers of these and of inputs */
} fuser;

/* ---- inputs: q, v, t, parameters, compliances, damping times */

static int32_t input_q(const fuser *f, taut_index i)
{
    return taut_graph_input(f->graph, i);
}

static int32_t input_v(const fuser *f, taut_index i)
{
    return taut_graph_input(f->graph, f->n + i);
}

static int32_t input_parameter(const fuser *f, taut_index k)
{
    return taut_graph_input(f->graph, 2 * f->n + 1 + k);
}

static int32_t input_compliance(const fuser *f, taut_index i)
{
    return input_parameter(f, f->system->sizes.parameters + i);
}

static int32_t input_damping(const fuser *f, taut_index i)
{
    return input_compliance(f, f->m + i);
}

/* ---- arithmetic */

static int32_t sum(const fuser *f, int32_t a, int32_t b)
{
    if (a == f->zero)
        return b;
    return b == f->zero ? a : taut_graph_binary(f->graph, TAUT_OP_ADD, a, b);
}

static int32_t difference(const fuser *f, int32_t a, int32_t b)
{
    return b == f->zero ? a : taut_graph_binary(f->graph, TAUT_OP_SUB, a, b);
}

static int32_t product(const fuser *f, int32_t a, int32_t b)
{
    return a == f->zero || b == f->zero ? f->zero : taut_graph_binary(f->graph, TAUT_OP_MUL, a, b);
}

static int32_t inverse(const fuser *f, int32_t a)
{
    return taut_graph_binary(f->graph, TAUT_OP_DIV, taut_graph_constant(f->graph, 1), a);
}

/* ---- statements */

static int32_t slot_node(const fuser *f, const taut_slot *slot, int64_t member)
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

/* One operation, in any graph. */
static int32_t repeat(taut_graph *graph, taut_op op, const int32_t operand[3],
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
static void repeat_member(const fuser *f, const taut_statement_kernel *kernel, int level,
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
        f->value[in->to] = repeat(f->graph, (taut_op)in->op, operand,
                                  curve ? tape->curve[in->c] : NULL, curve ? in->b : 0);
    }
}

static int32_t output(const fuser *f, const taut_statement_kernel *kernel, int32_t k)
{
    return f->value[kernel->tape->output[k]];
}

static taut_index place_of(const taut_statement_kernel *kernel, int32_t local, int64_t member)
{
    const taut_local *c = &kernel->local[local];
    return c->gather ? c->gather[member] : c->one;
}

static void add_to(const fuser *f, int32_t *to, int32_t node)
{
    *to = sum(f, *to, node);
}

static void take_bond(const fuser *f, const taut_statement_kernel *kernel, int64_t member)
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

static void take_kinetic(const fuser *f, const taut_statement_kernel *kernel, int64_t member)
{
    const int32_t nc = kernel->locals, triangle = nc * (nc + 1) / 2;
    int32_t next = 1 + nc;
    repeat_member(f, kernel, 2, member);
    for (int32_t i = 0; i < nc; i++)
        for (int32_t j = 0; j <= i; j++, next++) {
            taut_index a = place_of(kernel, i, member), b = place_of(kernel, j, member);
            add_to(f, &f->mass[a * f->n + b], output(f, kernel, next));
            if (a != b)
                add_to(f, &f->mass[b * f->n + a], output(f, kernel, next));
        }
    for (int32_t c = 0; c < nc; c++)
        add_to(f, &f->force[place_of(kernel, c, member)],
               output(f, kernel, 1 + nc + triangle + c));
}

static void take_member(const fuser *f, const taut_statement_kernel *kernel, int64_t member)
{
    switch (kernel->role) {
    case TAUT_ROLE_BOND: take_bond(f, kernel, member); break;
    case TAUT_ROLE_KINETIC: take_kinetic(f, kernel, member); break;
    case TAUT_ROLE_POTENTIAL:
    case TAUT_ROLE_STIFF:
        repeat_member(f, kernel, 1, member);
        for (int32_t c = 0; c < kernel->locals; c++) {
            int32_t *to = &f->force[place_of(kernel, c, member)];
            *to = difference(f, *to, output(f, kernel, 1 + c));
        }
        break;
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
static void take_statements(const fuser *f)
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
static int32_t rate_of(const fuser *f, taut_index i)
{
    int32_t rate = f->bond_dt[i];
    for (taut_index k = 0; k < f->n; k++)
        rate = sum(f, rate, product(f, f->row[i * f->n + k], input_v(f, k)));
    return rate;
}

static void add_springs(const fuser *f)
{
    const bool damped = f->system->sizes.can & TAUT_HAS_DAMPING;
    for (taut_index i = 0; i < f->m; i++) {
        if (f->fused->rigid[i])
            continue;
        int32_t stretch = f->bond[i];
        if (damped)
            stretch = sum(f, stretch, product(f, input_damping(f, i), rate_of(f, i)));
        f->lambda[i] = product(f, stretch, inverse(f, input_compliance(f, i)));
        for (taut_index k = 0; k < f->n; k++)
            f->force[k] =
                difference(f, f->force[k], product(f, f->row[i * f->n + k], f->lambda[i]));
    }
}

/* ---- matrices */

/* L D L^T in place: L below the diagonal, 1/D on it. */
static void factor(fuser *f, taut_index rows, int32_t *a, bool definite)
{
    for (taut_index j = 0; j < rows; j++) {
        int32_t *pivot = &a[j * rows + j], column[MOST_COORDINATES];
        if (!definite) /* the diagonal entry itself was noted before the loop */
            f->pivot[2 * f->pivots++] = *pivot;
        *pivot = inverse(f, *pivot);
        for (taut_index i = j + 1; i < rows; i++)
            column[i] = a[i * rows + j];
        for (taut_index i = j + 1; i < rows; i++) {
            int32_t factor = a[i * rows + j] = product(f, column[i], *pivot);
            for (taut_index k = j + 1; factor != f->zero && k <= i; k++)
                a[i * rows + k] = difference(f, a[i * rows + k], product(f, factor, column[k]));
        }
    }
}

static void factor_checked(fuser *f, taut_index rows, int32_t *a)
{
    for (taut_index j = 0; j < rows; j++)
        f->pivot[2 * (f->pivots + j) + 1] = a[j * rows + j];
    factor(f, rows, a, false);
}

static void lower(const fuser *f, taut_index rows, const int32_t *a, int32_t *x)
{
    for (taut_index i = 1; i < rows; i++)
        for (taut_index j = 0; j < i; j++)
            x[i] = difference(f, x[i], product(f, a[i * rows + j], x[j]));
}

static void upper(const fuser *f, taut_index rows, const int32_t *a, int32_t *x)
{
    for (taut_index i = rows - 1; i >= 0; i--)
        for (taut_index j = i + 1; j < rows; j++)
            x[i] = difference(f, x[i], product(f, a[j * rows + i], x[j]));
}

/* r of a rigid bond. */
static int32_t residual(const fuser *f, taut_index i)
{
    switch (f->fused->kind) {
    case TAUT_FUSED_ACCELERATION: return f->gamma[i];
    case TAUT_FUSED_POSITION: return f->bond[i];
    default: return rate_of(f, i);
    }
}

/* entry = +-u/sqrt(s): gives u, and s, or -1. Gradients of lengths are made of such entries. */
static int32_t direction(const fuser *f, int32_t entry, int32_t *s)
{
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
static int32_t add_squares(fuser *f, const int32_t *row, const int32_t *weight, taut_index k,
                           bool *used)
{
    int32_t s = -1, other, total = f->zero;
    taut_index member[MOST_COORDINATES], count = 0;
    if (direction(f, row[k], &s) >= 0 && f->pivots < MOST_PIVOTS)
        for (taut_index i = k; i < f->n; i++) {
            int32_t u = used[i] || weight[i] != weight[k] ? -1 : direction(f, row[i], &other);
            if (u < 0 || other != s)
                continue;
            total = sum(f, total, product(f, u, u));
            member[count++] = i;
            if (total == s)
                break;
        }
    if (total != s) {
        used[k] = true;
        return product(f, product(f, row[k], weight[k]), row[k]);
    }
    for (taut_index i = 0; i < count; i++)
        used[member[i]] = true;
    f->pivot[2 * f->pivots] = f->pivot[2 * f->pivots + 1] = s; /* must not be 0 */
    f->pivots++;
    return weight[k];
}

/* Sum of weight_k row_k^2. */
static int32_t square(fuser *f, const int32_t *row, const int32_t *weight)
{
    bool used[MOST_COORDINATES] = {0};
    int32_t total = f->zero;
    for (taut_index k = 0; k < f->n; k++)
        if (!used[k] && row[k] != f->zero)
            total = sum(f, total, add_squares(f, row, weight, k, used));
    return total;
}

/* The lower triangle of u w^T, u = w D^-1; rows of w are those of G when L is 1. */
static void multiply(fuser *f, const int32_t *u, const int32_t *w, const int32_t *inverse,
                     int32_t *a)
{
    const taut_index rods = f->fused->rods, n = f->n;
    for (taut_index r = 0; r < rods; r++)
        a[r * rods + r] = inverse ? square(f, w + r * n, inverse) : f->zero;
    for (taut_index r = 0; r < rods; r++)
        for (taut_index s = 0; s <= r - (inverse != NULL); s++) {
            int32_t total = f->zero;
            for (taut_index k = 0; k < n; k++)
                total = sum(f, total, product(f, u[r * n + k], w[s * n + k]));
            a[r * rods + s] = total;
        }
}

/* lambda of the rigid bonds, number rod[r]; w is W^T, u is W^T D^-1. */
static void solve_bonds(fuser *f, const taut_index *rod, const int32_t *w, const int32_t *u,
                        const int32_t *diagonal)
{
    const taut_index rods = f->fused->rods, n = f->n;
    int32_t a[MOST_RODS * MOST_RODS], y[MOST_RODS];
    multiply(f, u, w, diagonal, a);
    for (taut_index r = 0; r < rods; r++) {
        y[r] = residual(f, rod[r]);
        for (taut_index k = 0; k < n; k++)
            y[r] = sum(f, y[r], product(f, u[r * n + k], f->force[k]));
    }
    factor_checked(f, rods, a);
    lower(f, rods, a, y);
    for (taut_index r = 0; r < rods; r++)
        y[r] = product(f, y[r], a[r * rods + r]);
    upper(f, rods, a, y);
    for (taut_index r = 0; r < rods; r++)
        f->lambda[rod[r]] = y[r];
}

/* The squared distance of each rigid bond's gradient, of length 1, from the span of those before:
 * pivots of G G^T over its diagonal. */
static void measure_span(fuser *f)
{
    const taut_index n = f->n;
    taut_index rods = 0;
    int32_t row[MOST_RODS * MOST_COORDINATES] = {0}, a[MOST_RODS * MOST_RODS],
            ones[MOST_COORDINATES] = {0};
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
        f->x[r] = product(f, pivot[0], inverse(f, pivot[1]));
    }
    f->results = rods;
}

/* From here on f->force is y. */
static void solve(fuser *f)
{
    const taut_index n = f->n;
    taut_index rod[MOST_RODS], rods = 0;
    int32_t w[MOST_RODS * MOST_COORDINATES], u[MOST_RODS * MOST_COORDINATES],
        inverse_mass[MOST_COORDINATES];
    if (f->system->sizes.mass == TAUT_MASS_DIAGONAL)
        factor(f, n, f->mass, true);
    else
        factor_checked(f, n, f->mass);
    lower(f, n, f->mass, f->force);
    for (taut_index i = 0; i < f->m; i++) {
        if (!f->fused->rigid[i])
            continue;
        memcpy(w + rods * n, f->row + i * n, (size_t)n * sizeof *w);
        lower(f, n, f->mass, w + rods * n);
        for (taut_index k = 0; k < n; k++)
            u[rods * n + k] = product(f, w[rods * n + k], f->mass[k * n + k]);
        rod[rods++] = i;
    }
    for (taut_index k = 0; k < n; k++)
        inverse_mass[k] = f->mass[k * n + k];
    solve_bonds(f, rod, w, u,
                f->system->sizes.mass == TAUT_MASS_DIAGONAL ? inverse_mass : NULL);
    for (taut_index k = 0; k < n; k++) {
        f->x[k] = f->force[k];
        for (taut_index r = 0; r < rods; r++)
            f->x[k] = difference(f, f->x[k], product(f, w[r * n + k], f->lambda[rod[r]]));
        f->x[k] = product(f, f->x[k], f->mass[k * n + k]);
    }
    upper(f, n, f->mass, f->x);
}

/* ---- two tapes from the graph: what depends on parameters alone is an input of the second */

typedef struct splitter {
    taut_graph *graph; /* of the second tape */
    int32_t *node;     /* of each node: there, or -1 */
    bool *varies;
    int32_t *known; /* nodes of the first graph that are inputs of the second tape */
} splitter;

static int32_t known_input(fuser *f, splitter *s, int32_t node)
{
    if (s->node[node] < 0) {
        s->known[f->fused->known] = node;
        s->node[node] = taut_graph_input(s->graph, 2 * f->n + 1 + f->fused->known++);
    }
    return s->node[node];
}

/* The node in the second graph. */
static int32_t moved(fuser *f, splitter *s, int32_t node)
{
    double value;
    if (taut_graph_is_constant(f->graph, node, &value))
        return taut_graph_constant(s->graph, value);
    return s->varies[node] ? s->node[node] : known_input(f, s, node);
}

static void move_node(fuser *f, splitter *s, int32_t k)
{
    const taut_node *node = taut_graph_node(f->graph, k);
    const int arity = taut_op_table[node->op].arity;
    const int32_t from[3] = {node->a, node->b, node->c};
    int32_t operand[3] = {-1, -1, -1};
    s->node[k] = -1;
    for (int j = 0; j < arity; j++)
        s->varies[k] = s->varies[k] || s->varies[from[j]];
    if (node->op == TAUT_OP_INPUT) {
        s->varies[k] = node->a <= 2 * f->n;
        if (s->varies[k])
            s->node[k] = taut_graph_input(s->graph, node->a);
    } else if (s->varies[k]) {
        for (int j = 0; j < arity; j++)
            operand[j] = moved(f, s, from[j]);
        s->node[k] = repeat(s->graph, node->op, operand, node->curve, node->b);
    }
}

/* What is stored, then the pivots. */
typedef struct result_list {
    int32_t count, stored;
    int32_t *node;
    taut_bound_output *to;
} result_list;

static void add_result(result_list *list, int32_t node, int array, int32_t place)
{
    list->node[list->count] = node;
    list->to[list->count++] = (taut_bound_output){.array = array, .place = place, .how = '='};
}

static int list_results(fuser *f, result_list *list)
{
    const int64_t entries = f->system->sizes.jacobian_entries;
    const taut_fused *fused = f->fused;
    const int64_t room = f->n + f->m + entries + 2 * (int64_t)f->pivots;
    list->node = TAUT_NEW(f->scratch, int32_t, room);
    list->to = TAUT_NEW(f->arena, taut_bound_output, room);
    if (!list->node || !list->to)
        return TAUT_ERROR_MEMORY;
    for (taut_index i = 0; i < f->results; i++)
        add_result(list, f->x[i], TO_X, i);
    for (taut_index i = 0; i < f->m && fused->kind == TAUT_FUSED_ACCELERATION; i++)
        add_result(list, f->lambda[i], TO_LAMBDA, i);
    for (int32_t k = 0; fused->jacobian && k < entries; k++)
        add_result(list, f->entry[k], TO_JACOBIAN, k);
    list->stored = list->count;
    for (int32_t k = 0; k < 2 * f->pivots; k++)
        add_result(list, f->pivot[k], 0, 0);
    return 0;
}

/* Where the second tape reads and writes. */
static int bind(fuser *f, const result_list *list)
{
    taut_tape *tape = f->fused->each;
    taut_tape_binding *binding = TAUT_NEW(f->arena, taut_tape_binding, 1);
    taut_bound_input *input = TAUT_NEW(f->arena, taut_bound_input, tape->inputs);
    int32_t *watch = TAUT_NEW(f->arena, int32_t, f->results);
    if (!binding || !input || !watch)
        return TAUT_ERROR_MEMORY;
    for (int32_t k = 0; k < tape->inputs; k++) {
        int array = k < f->n ? FROM_Q : k < 2 * f->n ? FROM_V : k == 2 * f->n ? FROM_TIME : FROM_KNOWN;
        int32_t first[] = {0, f->n, 2 * f->n, 2 * f->n + 1};
        input[k] = (taut_bound_input){.array = array, .place = k - first[array]};
    }
    for (int32_t k = 0; k < list->count; k++)
        list->to[k].from = tape->output[k];
    for (taut_index i = 0; i < f->results; i++)
        watch[i] = tape->output[i];
    *binding = (taut_tape_binding){.input = input,
                                   .output = list->to,
                                   .watch = watch,
                                   .alone = true,
                                   .coordinates =
                                       f->fused->kind == TAUT_FUSED_ACCELERATION ? f->n : 0,
                                   .pivots = f->pivots,
                                   .pivot = tape->output + list->stored,
                                   .tolerance = TOLERANCE};
    for (int level = 0; level < TAUT_BOUND_LEVELS; level++) {
        binding->output_end[level] = list->stored;
        binding->watch_end[level] = f->results;
    }
    tape->binding = binding;
    return 0;
}

static int make_tapes(fuser *f, splitter *s, taut_error *error)
{
    result_list list = {0};
    const int32_t size = taut_graph_size(f->graph);
    TAUT_TRY(taut_graph_status(f->graph, error));
    if (list_results(f, &list))
        return taut_fail_memory(error);
    unsigned char *level = TAUT_NEW(f->scratch, unsigned char, list.count + size),
                  *used = TAUT_NEW(f->scratch, unsigned char, size);
    s->node = TAUT_NEW(f->scratch, int32_t, size);
    s->known = TAUT_NEW(f->scratch, int32_t, size);
    s->varies = TAUT_NEW(f->scratch, bool, size);
    TAUT_NEED(error, level, used, s->node, s->known, s->varies);
    taut_graph_mark(f->graph, list.node, list.count, used);
    for (int32_t k = 0; k < size; k++)
        if (used[k])
            move_node(f, s, k);
    for (int32_t k = 0; k < list.count; k++)
        list.node[k] = moved(f, s, list.node[k]);
    TAUT_TRY(taut_tape_create(f->graph, f->arena, f->slot, f->fused->known, s->known, level,
                              &f->fused->once, error));
    TAUT_TRY(taut_tape_create(s->graph, f->arena, 2 * f->n + 1 + f->fused->known, list.count,
                              list.node, level, &f->fused->each, error));
    return bind(f, &list) ? taut_fail_memory(error) : TAUT_OK;
}

/* ---- making */

static bool fits(const taut_system *system, const taut_fused *fused)
{
    const taut_sizes *z = &system->sizes;
    double work = 0;
    if (z->kind != TAUT_MECHANICAL || system->evaluate || system->muted || z->coordinates < 1 ||
        z->coordinates > MOST_COORDINATES || fused->rods > MOST_RODS ||
        !(z->can & TAUT_CAN_INVERT_MASS) || (fused->rods == 0 && fused->kind != TAUT_FUSED_ACCELERATION))
        return false;
    for (int32_t k = 0; k < system->kernels; k++)
        work += (double)system->kernel[k]->members * system->kernel[k]->tape->level_end[2];
    return work <= COMPILED;
}

static int reserve(fuser *f, taut_error *error)
{
    const int64_t n = f->n, m = f->m;
    int32_t longest = 0;
    for (int32_t k = 0; k < f->system->kernels; k++)
        if (f->system->kernel[k]->tape->registers > longest)
            longest = f->system->kernel[k]->tape->registers;
    int32_t **const array[] = {&f->value, &f->force,   &f->mass, &f->bond,   &f->bond_dt,
                               &f->gamma, &f->row,     &f->entry, &f->lambda, &f->x};
    const int64_t length[] = {longest, n, n * n, m, m, m, m * n, f->system->sizes.jacobian_entries, m, n > m ? n : m};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) {
        *array[k] = TAUT_NEW(f->scratch, int32_t, length[k]);
        TAUT_NEED(error, *array[k]);
        for (int64_t i = 0; i < length[k]; i++)
            (*array[k])[i] = f->zero;
    }
    return TAUT_OK;
}

static int make(fuser *f, splitter *s, taut_error *error)
{
    f->zero = taut_graph_constant(f->graph, 0);
    TAUT_TRY(reserve(f, error));
    take_statements(f);
    if (f->fused->kind == TAUT_FUSED_ACCELERATION)
        add_springs(f);
    else
        for (taut_index i = 0; i < f->n; i++)
            f->force[i] = f->zero;
    f->results = f->n;
    if (f->fused->kind == TAUT_FUSED_SPAN)
        measure_span(f);
    else
        solve(f);
    return make_tapes(f, s, error);
}

int taut_fused_create(const taut_system *system, taut_fused_kind kind, const unsigned char *rigid,
                      taut_arena *arena, taut_fused **result, taut_error *error)
{
    const taut_sizes *z = &system->sizes;
    taut_fused fused = {.kind = kind, .rigid = rigid};
    *result = NULL;
    for (taut_index i = 0; i < z->bonds; i++)
        fused.rods += rigid[i] != 0;
    fused.jacobian = kind == TAUT_FUSED_ACCELERATION && fused.rods < z->bonds;
    if (!fits(system, &fused))
        return TAUT_OK;
    taut_arena scratch;
    taut_arena_init(&scratch, &arena->allocator);
    fuser f = {.system = system, .scratch = &scratch, .arena = arena, .fused = &fused,
               .n = z->coordinates, .m = z->bonds,
               .slot = 2 * z->coordinates + 1 + z->parameters + 2 * z->bonds};
    splitter s = {.graph = taut_graph_create(&arena->allocator, 8 * COMPILED)};
    f.graph = taut_graph_create(&arena->allocator, 8 * COMPILED);
    int status = f.graph && s.graph ? make(&f, &s, error) : taut_fail_memory(error);
    taut_graph_destroy(f.graph);
    taut_graph_destroy(s.graph);
    taut_arena_clear(&scratch);
    if (status == TAUT_ERROR_SIZE) /* too many operations: as before */
        return TAUT_OK;
    TAUT_TRY(status);
    *result = TAUT_NEW(arena, taut_fused, 1);
    TAUT_NEED(error, *result);
    **result = fused;
    return TAUT_OK;
}

/* ---- compiled forms of a system */

static int prepare(taut_system *system, int variant, const unsigned char *rigid, taut_error *error)
{
    for (int kind = 0; kind < TAUT_FUSED_KINDS; kind++)
        TAUT_TRY(taut_fused_create(system, (taut_fused_kind)kind, rigid, &system->arena,
                                   &system->fused[variant][kind], error));
    return TAUT_OK;
}

int taut_fused_prepare(taut_system *system, taut_error *error)
{
    const taut_index m = system->sizes.bonds;
    taut_context *context;
    if (system->sizes.kind != TAUT_MECHANICAL)
        return TAUT_OK;
    unsigned char *stated = TAUT_NEW(&system->arena, unsigned char, m),
                  *rigid = TAUT_NEW(&system->arena, unsigned char, m);
    TAUT_NEED(error, stated, rigid);
    if (taut_context_create(system, NULL, &context, NULL) != 0)
        return TAUT_OK; /* whoever uses the system learns why */
    for (taut_index i = 0; i < m; i++) {
        stated[i] = !(context->compliance[i] > 0);
        rigid[i] = stated[i] || !(system->soft && system->soft[i]);
    }
    taut_context_destroy(context);
    TAUT_TRY(prepare(system, 0, stated, error));
    return memcmp(stated, rigid, (size_t)m) ? prepare(system, 1, rigid, error) : TAUT_OK;
}

static const taut_fused *find_compiled(const taut_system *system, taut_fused_kind kind,
                                       const unsigned char *rigid)
{
    for (int variant = 0; variant < 2; variant++) {
        const taut_fused *fused = system->fused[variant][kind];
        if (fused && !system->muted && fused->each->native_bound &&
            memcmp(fused->rigid, rigid, (size_t)system->sizes.bonds) == 0)
            return fused;
    }
    return NULL;
}

/* ---- in use */

int taut_fused_open(taut_context *context, taut_fused_kind kind, taut_index rods,
                    const taut_index *rod, taut_arena *arena, taut_fused_work **result,
                    taut_error *error)
{
    const taut_system *system = context->system;
    unsigned char *rigid = TAUT_NEW(arena, unsigned char, system->sizes.bonds);
    taut_fused *own;
    *result = NULL;
    TAUT_NEED(error, rigid);
    for (taut_index r = 0; r < rods; r++)
        rigid[rod[r]] = 1;
    const taut_fused *fused = find_compiled(system, kind, rigid);
    if (!fused) {
        TAUT_TRY(taut_fused_create(system, kind, rigid, arena, &own, error));
        if (!own || own->each->length > INTERPRETED)
            return TAUT_OK;
        fused = own;
    }
    taut_fused_work *work = TAUT_NEW(arena, taut_fused_work, 1);
    TAUT_NEED(error, work);
    *work = (taut_fused_work){.fused = fused, .context = context, .renewed = -1};
    TAUT_TRY(TAUT_RESERVE(arena, fused->known, error, &work->known));
    TAUT_TRY(TAUT_RESERVE(arena, system->sizes.bonds, error, &work->lambda));
    TAUT_TRY(TAUT_RESERVE(arena, fused->once->registers, error, &work->once));
    TAUT_TRY(TAUT_RESERVE(arena, fused->each->registers, error, &work->each));
    taut_tape_prepare(fused->once, 1, work->once);
    taut_tape_prepare(fused->each, 1, work->each);
    *result = work;
    return TAUT_OK;
}

/* What depends on parameters, after they have changed. */
static void renew(taut_fused_work *w)
{
    const taut_context *context = w->context;
    const taut_sizes *z = &context->system->sizes;
    const taut_tape *once = w->fused->once;
    double *to = w->once + 2 * (int64_t)z->coordinates + 1;
    taut_copy(z->parameters, context->parameter, to);
    taut_copy(z->bonds, context->compliance, to + z->parameters);
    taut_copy(z->bonds, context->damping, to + z->parameters + z->bonds);
    taut_tape_interpret(once, 0, 1, 1, w->once);
    double *known = w->each + 2 * (int64_t)z->coordinates + 1;
    for (int32_t k = 0; k < w->fused->known; k++)
        known[k] = w->known[k] = w->once[once->output[k]];
    w->renewed = context->renewals;
}

/* The interpreter, with q, v and t in their registers; returns what the compiled form does. */
static double interpret(const taut_fused_work *w, double *const *to)
{
    const taut_tape *tape = w->fused->each;
    const taut_tape_binding *binding = tape->binding;
    const int32_t *out = tape->output, results = binding->watch_end[0];
    double total = 0, *regs = w->each;
    taut_tape_interpret(tape, 0, 1, 1, regs);
    for (int32_t k = 0; k < results; k++)
        total += to[TO_X][k] = regs[out[k]];
    for (int32_t k = results; k < binding->output_end[0]; k++)
        to[binding->output[k].array][binding->output[k].place] = regs[out[k]];
    for (int32_t k = 0; k < binding->pivots; k++)
        if (!(regs[binding->pivot[2 * k]] > binding->tolerance * regs[binding->pivot[2 * k + 1]]))
            return NAN;
    return total - total;
}

static int interpret_stages(const taut_fused_work *w, const taut_stages *s, double *jacobian)
{
    const taut_index n = w->context->system->sizes.coordinates;
    double *q = w->each, *v = q + n;
    for (int i = 1; i < s->count; i++) {
        double *const to[TO_COUNT] = {s->kv[i], w->lambda, jacobian};
        taut_sum_form_pair(n, &s->row[i], s->kq, s->kv, s->h, s->q, s->v, q, v);
        taut_copy(n, v, s->kq[i]);
        v[n] = s->t + s->c[i] * s->h;
        if (interpret(w, to) != 0)
            return i;
    }
    return s->count;
}

/* False: guards are held. */
static inline bool ready(taut_fused_work *w)
{
    if (w->context->kernel != w->context->system->kernel)
        return false;
    if (w->renewed != w->context->renewals)
        renew(w);
    return true;
}

int taut_fused_stages(taut_fused_work *w, const taut_stages *s, double *jacobian)
{
    const taut_stages_function run = w->fused->each->native_stages;
    if (!ready(w))
        return 1;
    int end = run ? run(s->count, s->row, s->c, s->t, s->h, s->kq, s->kv, s->q, s->v, w->known,
                        w->lambda, jacobian)
                  : interpret_stages(w, s, jacobian);
    w->context->statistics.force_evaluations += end - 1;
    return end;
}

bool taut_fused_run(taut_fused_work *w, double t, const double *q, const double *v, double *x,
                    double *lambda, double *jacobian)
{
    const taut_tape *tape = w->fused->each;
    if (!ready(w))
        return false;
    const taut_index n = w->context->system->sizes.coordinates;
    double *const to[TO_COUNT] = {x, lambda ? lambda : w->lambda, jacobian};
    double odd;
    if (tape->native_bound) {
        odd = tape->native_bound[0]((const double *const[]){q, v, &t, w->known}, to, NULL);
    } else {
        taut_copy(n, q, w->each);
        taut_copy(n, v, w->each + n);
        w->each[2 * n] = t;
        odd = interpret(w, to);
    }
    if (odd != 0)
        return false;
    w->context->statistics.force_evaluations++;
    return true;
}
