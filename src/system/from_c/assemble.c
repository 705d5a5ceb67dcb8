/* assemble.c - the kernels of particles and bonds stated in C: the same as those of a model file.
 *
 *     bonds       g = |p_i - p_j| - rest, or |p_i - anchor| - rest:
 *     one kernel each for the free and the pinned bonds of a family
 *     gravity     V = -m a . p
 *     angles
 *     V = k/2 (angle - rest)^2, angle = atan2(|u x w|, u . w), u = p_i - p_j, w = p_k - p_j
 *
 * In the plane a straight rest angle has a kernel of its own, V = k/2 atan2(u x w, -u . w)^2:
 * smooth where the three points are in a line. */
#include "system/from_c/builder.h"

#include <math.h>
#include <string.h>

enum { SLOT_MOST = 16, NODE_MOST = 100000 };

/* ---- one kernel in the making */

typedef struct maker {
    const taut_builder *b;
    taut_system *system;
    taut_graph *graph;
    taut_error *error;
    int64_t members;
    int32_t slots;
    taut_slot slot[3 * SLOT_MOST + 1];
    bool no_memory;
} maker;

static int begin(maker *m, int64_t members)
{
    m->graph = taut_graph_create(&m->system->arena.allocator, NODE_MOST);
    m->members = members;
    m->slots = 0;
    m->no_memory = false;
    memset(m->slot, 0, sizeof m->slot);
    return m->graph ? 0 : taut_fail_memory(m->error);
}

/* A number of each member; values are set by the caller. */
static double *data_slot(maker *m, int32_t *node)
{
    double *data = TAUT_NEW(&m->system->arena, double, m->members);
    m->slot[m->slots] = (taut_slot){.source = TAUT_FROM_DATA, .data = data};
    *node = taut_graph_input(m->graph, m->slots++);
    m->no_memory = m->no_memory || !data;
    return data;
}

/* The components of one particle of each member; the gather arrays are set by the caller. */
static void particle_slots(maker *m, taut_index **gather, int32_t *node)
{
    for (int c = 0; c < m->b->dimension; c++) {
        gather[c] = TAUT_NEW(&m->system->arena, taut_index, m->members);
        m->slot[m->slots] = (taut_slot){.source = TAUT_FROM_Q, .gather = gather[c]};
        node[c] = taut_graph_input(m->graph, m->slots++);
        m->no_memory = m->no_memory || !gather[c];
    }
}

static void set_particle(const maker *m, taut_index *const *gather, int64_t member,
                         taut_index particle)
{
    for (int c = 0; c < m->b->dimension; c++)
        gather[c][member] = particle * m->b->dimension + c;
}

/* Makes the kernel of what was built since `begin`; rows may be NULL. */
static int end(maker *m, taut_role role, int32_t root, const taut_index *row,
               taut_statement_kernel **kernel)
{
    taut_statement_kernel_plan plan = {.role = role,
                                       .graph = m->graph,
                                       .root = root,
                                       .members = m->members,
                                       .slots = m->slots,
                                       .slot = m->slot,
                                       .time_slot = -1,
                                       .row = row,
                                       .column = row,
                                       .branches =
                                           role == TAUT_ROLE_VALUE ? NULL : &m->system->branches};
    int status = m->no_memory ? taut_fail_memory(m->error) : taut_graph_status(m->graph, m->error);
    if (status == 0)
        status = taut_statement_kernel_create(&plan, &m->system->arena, kernel, m->error);
    taut_graph_destroy(m->graph);
    m->graph = NULL;
    if (status == 0 && (*kernel)->tape->kinks)
        m->system->sizes.can |= TAUT_HAS_KINKS;
    return status;
}

/* The same for one of the terms that taut_evaluate runs. */
static int end_term(maker *m, taut_role role, int32_t root, const taut_index *row)
{
    TAUT_TRY(end(m, role, root, row, &m->system->kernel[m->system->kernels]));
    m->system->kernels++;
    return 0;
}

static int32_t op(maker *m, taut_op which, int32_t a, int32_t b)
{
    return taut_graph_binary(m->graph, which, a, b);
}

static void subtract(maker *m, const int32_t *a, const int32_t *b, int32_t *difference)
{
    for (int c = 0; c < m->b->dimension; c++)
        difference[c] = op(m, TAUT_OP_SUB, a[c], b[c]);
}

static int32_t dot(maker *m, const int32_t *a, const int32_t *b, int n)
{
    int32_t sum = op(m, TAUT_OP_MUL, a[0], b[0]);
    for (int c = 1; c < n; c++)
        sum = op(m, TAUT_OP_ADD, sum, op(m, TAUT_OP_MUL, a[c], b[c]));
    return sum;
}

/* a x b, its component across two axes. */
static int32_t minor(maker *m, const int32_t *a, const int32_t *b, int first, int second)
{
    return op(m, TAUT_OP_SUB, op(m, TAUT_OP_MUL, a[first], b[second]),
              op(m, TAUT_OP_MUL, a[second], b[first]));
}

static int32_t length(maker *m, const int32_t *a, int n)
{
    return taut_graph_unary(m->graph, TAUT_OP_ROOT, dot(m, a, a, n));
}

/* ---- bonds */

static int64_t count_pinned(const taut_bond_family *f)
{
    int64_t pinned = 0;
    for (taut_index k = 0; k < f->count; k++)
        pinned += f->second[k] < 0;
    return pinned;
}

/* The free or the pinned bonds of a family; rows keep the caller's order. */
static int bond_kernel(maker *m, const taut_bond_family *f, bool pinned, int64_t members)
{
    int dimension = m->b->dimension;
    int32_t one[3], other[3], way[3], rest_node;
    taut_index *one_gather[3], *other_gather[3];
    double *anchor[3];
    TAUT_TRY(begin(m, members));
    particle_slots(m, one_gather, one);
    if (pinned)
        for (int c = 0; c < dimension; c++)
            anchor[c] = data_slot(m, &other[c]);
    else
        particle_slots(m, other_gather, other);
    double *rest = data_slot(m, &rest_node);
    taut_index *row = TAUT_NEW(&m->system->arena, taut_index, members);
    m->no_memory = m->no_memory || !row;
    int64_t to = 0;
    for (taut_index k = 0; k < f->count && !m->no_memory; k++) {
        if ((f->second[k] < 0) != pinned)
            continue;
        set_particle(m, one_gather, to, f->first[k]);
        if (!pinned)
            set_particle(m, other_gather, to, f->second[k]);
        for (int c = 0; c < dimension && pinned; c++)
            anchor[c][to] = f->anchor[(int64_t)k * dimension + c];
        rest[to] = f->rest[k];
        row[to++] = f->first_row + k;
    }
    subtract(m, one, other, way);
    return end_term(m, TAUT_ROLE_BOND, op(m, TAUT_OP_SUB, length(m, way, dimension), rest_node),
                    row);
}

/* Compliances of all bonds, as one kernel without formula. */
static int compliance_kernel(maker *m)
{
    taut_system *system = m->system;
    int32_t node;
    TAUT_TRY(begin(m, m->b->bonds));
    double *compliance = data_slot(m, &node);
    taut_index *row = TAUT_NEW(&system->arena, taut_index, m->b->bonds);
    system->compliance_kernel = TAUT_NEW(&system->arena, taut_statement_kernel *, 1);
    m->no_memory = m->no_memory || !row || !system->compliance_kernel;
    for (const taut_bond_family *f = m->b->families; f && !m->no_memory; f = f->next)
        for (taut_index k = 0; k < f->count; k++) {
            bool spring = f->stiffness && f->stiffness[k] > 0;
            row[f->first_row + k] = f->first_row + k;
            compliance[f->first_row + k] = spring ? 1 / f->stiffness[k] : 0;
            system->sizes.can |= spring ? TAUT_HAS_SPRINGS : TAUT_HAS_RIGID;
        }
    TAUT_TRY(
        end(m, TAUT_ROLE_VALUE, node, row, m->no_memory ? NULL : &system->compliance_kernel[0]));
    system->value_kernels[TAUT_LIST_COMPLIANCE] = 1;
    return 0;
}

static int make_bonds(maker *m)
{
    taut_system *system = m->system;
    for (const taut_bond_family *f = m->b->families; f; f = f->next) {
        taut_name_block block = {
            .dims = 1, .lo = {1}, .hi = {f->count}, .count = f->count, .components = 1};
        char *name = taut_arena_text(&system->arena, f->name, strlen(f->name));
        if (!name || taut_names_add(&system->bonds, &system->arena, name, &block))
            return taut_fail_memory(m->error);
        int64_t pinned = count_pinned(f);
        if (pinned > 0)
            TAUT_TRY(bond_kernel(m, f, true, pinned));
        if (pinned < f->count)
            TAUT_TRY(bond_kernel(m, f, false, f->count - pinned));
    }
    return m->b->bonds ? compliance_kernel(m) : 0;
}

/* ---- potentials */

static int gravity_kernel(maker *m)
{
    const taut_builder *b = m->b;
    int32_t p[3], mass_node, a[3];
    taut_index *gather[3];
    TAUT_TRY(begin(m, b->particles));
    particle_slots(m, gather, p);
    double *mass = data_slot(m, &mass_node);
    for (taut_index k = 0; k < b->particles && !m->no_memory; k++) {
        set_particle(m, gather, k, k);
        mass[k] = b->mass ? b->mass[k] : 1;
    }
    for (int c = 0; c < b->dimension; c++)
        a[c] = taut_graph_constant(m->graph, -b->gravity[c]);
    return end_term(m, TAUT_ROLE_POTENTIAL,
                    op(m, TAUT_OP_MUL, mass_node, dot(m, a, p, b->dimension)), NULL);
}

static bool is_straight(const maker *m, const taut_angles *a, taut_index k)
{
    return m->b->dimension == 2 && a->rest[k] == acos(-1);
}

/* How far an angle is from its rest: the formulas at the head of this file. */
static int32_t bend(maker *m, const int32_t *u, const int32_t *w, int32_t rest, bool straight)
{
    int dimension = m->b->dimension;
    int32_t along = dot(m, u, w, dimension), across[3];
    for (int c = 0; c < 3; c++)
        across[c] = dimension == 3 ? minor(m, u, w, (c + 1) % 3, (c + 2) % 3)
                    : c == 2       ? minor(m, u, w, 0, 1)
                                   : -1;
    if (straight)
        return op(m, TAUT_OP_ATAN2, across[2], taut_graph_unary(m->graph, TAUT_OP_NEG, along));
    int32_t size =
        dimension == 3 ? length(m, across, 3) : taut_graph_unary(m->graph, TAUT_OP_ABS, across[2]);
    return op(m, TAUT_OP_SUB, op(m, TAUT_OP_ATAN2, size, along), rest);
}

static int angle_kernel(maker *m, const taut_angles *a, bool straight, int64_t members)
{
    int32_t p[3][3], u[3] = {0}, w[3] = {0}, rest_node, stiffness_node;
    taut_index *gather[3][3];
    TAUT_TRY(begin(m, members));
    for (int e = 0; e < 3; e++)
        particle_slots(m, gather[e], p[e]);
    double *rest = data_slot(m, &rest_node), *stiffness = data_slot(m, &stiffness_node);
    int64_t to = 0;
    for (taut_index k = 0; k < a->count && !m->no_memory; k++) {
        if (is_straight(m, a, k) != straight)
            continue;
        for (int e = 0; e < 3; e++)
            set_particle(m, gather[e], to, a->triple[3 * (int64_t)k + e]);
        rest[to] = a->rest[k];
        stiffness[to++] = a->stiffness[k];
    }
    subtract(m, p[0], p[1], u);
    subtract(m, p[2], p[1], w);
    int32_t off = bend(m, u, w, rest_node, straight), half = taut_graph_constant(m->graph, 0.5);
    int32_t energy =
        op(m, TAUT_OP_MUL, op(m, TAUT_OP_MUL, half, stiffness_node), op(m, TAUT_OP_MUL, off, off));
    return end_term(m, TAUT_ROLE_POTENTIAL, energy, NULL);
}

static int make_potentials(maker *m)
{
    bool pulls = false;
    for (int c = 0; c < m->b->dimension && m->b->gravity; c++)
        pulls = pulls || m->b->gravity[c] != 0;
    if (pulls)
        TAUT_TRY(gravity_kernel(m));
    for (const taut_angles *a = m->b->angles; a; a = a->next) {
        int64_t straight = 0;
        for (taut_index k = 0; k < a->count; k++)
            straight += is_straight(m, a, k);
        if (straight > 0)
            TAUT_TRY(angle_kernel(m, a, true, straight));
        if (straight < a->count)
            TAUT_TRY(angle_kernel(m, a, false, a->count - straight));
    }
    return 0;
}

/* ---- the system */

typedef struct start_values {
    const double *q, *v; /* NULL: 0 */
} start_values;

static int start(taut_context *context, double t, double *q, double *v, taut_error *error)
{
    const start_values *s = context->system->extra;
    (void)t;
    (void)error;
    for (taut_index i = 0; i < context->system->sizes.coordinates; i++) {
        q[i] = s->q ? s->q[i] : 0;
        v[i] = s->v ? s->v[i] : 0;
    }
    taut_system_give(context->system, q, v);
    return 0;
}

static int make_start(maker *m)
{
    const taut_builder *b = m->b;
    size_t bytes = (size_t)b->particles * (size_t)b->dimension * sizeof(double);
    start_values *s = TAUT_NEW(&m->system->arena, start_values, 1);
    double *q = b->p ? taut_arena_get(&m->system->arena, 1, bytes) : NULL,
           *v = b->v ? taut_arena_get(&m->system->arena, 1, bytes) : NULL;
    if (!s || (b->p && !q) || (b->v && !v))
        return taut_fail_memory(m->error);
    if (q)
        memcpy(q, b->p, bytes);
    if (v)
        memcpy(v, b->v, bytes);
    *s = (start_values){q, v};
    m->system->extra = s;
    m->system->start = start;
    return 0;
}

static int make_particles(maker *m)
{
    const taut_builder *b = m->b;
    taut_system *system = m->system;
    taut_name_block block = {.dims = 1,
                             .lo = {1},
                             .hi = {b->particles},
                             .count = b->particles,
                             .components = b->dimension};
    system->mass_constant = TAUT_NEW(&system->arena, double, (int64_t)b->particles * b->dimension);
    if (!system->mass_constant || taut_names_add(&system->coordinates, &system->arena, "p", &block))
        return taut_fail_memory(m->error);
    for (taut_index i = 0; i < b->particles * b->dimension; i++) {
        system->mass_constant[i] = b->mass ? b->mass[i / b->dimension] : 1;
        if (system->mass_constant[i] == 0)
            system->sizes.can &= ~(unsigned)TAUT_CAN_INVERT_MASS;
    }
    return 0;
}

int taut_builder_assemble(const taut_builder *b, taut_system *system, taut_error *error)
{
    maker m = {.b = b, .system = system, .error = error};
    int64_t terms = 1;
    for (const taut_bond_family *f = b->families; f; f = f->next)
        terms += 2;
    for (const taut_angles *a = b->angles; a; a = a->next)
        terms += 2;
    if (!(system->kernel = TAUT_NEW(&system->arena, taut_statement_kernel *, terms)))
        return taut_fail_memory(error);
    system->sizes = (taut_sizes){.size = sizeof system->sizes,
                                 .kind = TAUT_MECHANICAL,
                                 .mass = TAUT_MASS_DIAGONAL,
                                 .can = TAUT_CAN_FORCE | TAUT_CAN_DERIVATIVES | TAUT_CAN_JETS |
                                        TAUT_CAN_INVERT_MASS,
                                 .coordinates = b->particles * b->dimension,
                                 .bonds = (taut_index)b->bonds,
                                 .dimension = b->dimension};
    TAUT_TRY(make_particles(&m));
    TAUT_TRY(make_bonds(&m));
    TAUT_TRY(make_potentials(&m));
    TAUT_TRY(make_start(&m));
    return taut_system_complete(system, error);
}
