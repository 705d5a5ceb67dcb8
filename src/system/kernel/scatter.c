/* scatter.c - see scatter.h. The order of a kernel's outputs is in kernel.h. */
#include "system/kernel/scatter.h"

#include "base/vectors.h"
#include "system/rank_part.h"

typedef struct target {
    const taut_context *context;
    const taut_statement_kernel *kernel;
    unsigned wanted;
    int64_t first;
    int n, lanes;
    const double *regs;
    const int32_t *output; /* where the outputs are among them */
    const double *v;
    taut_values *values;
    const taut_clip *clip; /* NULL: everything */
} target;

int taut_statement_kernel_level(const taut_statement_kernel *kernel, unsigned w)
{
    switch (kernel->role) {
    case TAUT_ROLE_BOND:
        return w & TAUT_WANT_BOND_HESSIAN                  ? 3
               : w & TAUT_WANT_GAMMA                       ? 2
               : w & (TAUT_WANT_JACOBIAN | TAUT_WANT_PULL) ? 1
               : w & (TAUT_WANT_BOND | TAUT_WANT_ENERGY)   ? 0
                                                           : -1;
    case TAUT_ROLE_POTENTIAL:
        return w & TAUT_WANT_FORCE_DQ ? 2 : w & TAUT_WANT_FORCE ? 1 : w & TAUT_WANT_ENERGY ? 0 : -1;
    case TAUT_ROLE_STIFF:
        return w & TAUT_WANT_STIFF_HESSIAN ? 2
               : w & TAUT_WANT_STIFF_FORCE ? 1
               : w & TAUT_WANT_ENERGY      ? 0
                                           : -1;
    case TAUT_ROLE_FORCE:
        return w & (TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV) ? 1 : w & TAUT_WANT_FORCE ? 0 : -1;
    case TAUT_ROLE_KINETIC:
        return w & TAUT_WANT_MASS_DQ                           ? 4
               : w & (TAUT_WANT_FORCE_DQ | TAUT_WANT_FORCE_DV) ? 3
               : w & TAUT_WANT_FORCE                           ? 2
               : w & (TAUT_WANT_MASS | TAUT_WANT_MOMENTUM)     ? 1
               : w & TAUT_WANT_ENERGY                          ? 0
                                                               : -1;
    case TAUT_ROLE_MASS:
        return w & TAUT_WANT_MASS_DQ                                          ? 1
               : w & (TAUT_WANT_MASS | TAUT_WANT_ENERGY | TAUT_WANT_MOMENTUM) ? 0
                                                                              : -1;
    default: return -1;
    }
}

static void clear(double *x, int64_t count)
{
    if (x)
        taut_clear(count, x);
}

void taut_values_clear(const taut_system *system, unsigned w, taut_values *values)
{
    int64_t n = system->sizes.coordinates;
    const taut_patterns *patterns = taut_system_patterns(system);
    int64_t tangent = patterns->tangent.start ? patterns->tangent.start[n] : 0,
            control = patterns->control.start ? patterns->control.start[n] : 0;
    if (w & TAUT_WANT_FORCE)
        clear(values->force, n);
    if (w & TAUT_WANT_STIFF_FORCE)
        clear(values->stiff_force, n);
    if (w & TAUT_WANT_MOMENTUM)
        clear(values->momentum, n);
    if (w & TAUT_WANT_BOND_HESSIAN)
        clear(values->bond_hessian, tangent);
    if (w & TAUT_WANT_FORCE_DQ)
        clear(values->force_dq, tangent);
    if (w & TAUT_WANT_FORCE_DV)
        clear(values->force_dv, system->sizes.kind != TAUT_MECHANICAL ? control : tangent);
    if (w & TAUT_WANT_MASS)
        clear(values->mass, system->sizes.mass == TAUT_MASS_DIAGONAL ? n : tangent);
    if (w & TAUT_WANT_MASS_DQ)
        clear(values->mass_dq, tangent);
    if (w & TAUT_WANT_STIFF_HESSIAN)
        clear(values->stiff_hessian, tangent);
    if (w & TAUT_WANT_ENERGY)
        values->kinetic = values->potential = values->bond_energy = values->stiff_energy = 0;
}

static const double *out(const target *s, int32_t k)
{
    return s->regs + (int64_t)s->output[k] * s->lanes;
}

static taut_index index_of(const target *s, int32_t c, int l)
{
    const taut_local *local = &s->kernel->local[c];
    return local->gather ? local->gather[s->first + l] : local->one;
}

/* to[place] += sign x: of a clip member by member, with the same bits. */
static void add(const target *s, double *to, double sign, const double *x, taut_places at)
{
    if (!s->clip) {
        taut_lanes_add(to, sign, x, at, s->n);
        return;
    }
    for (int k = 0; k < s->n; k++) {
        const taut_index i = taut_place_of(&at, k);
        if (i >= s->clip->begin && i < s->clip->end)
            to[i] += sign * x[k];
    }
}

/* to[gather] += sign * outputs first_output .. first_output + locals - 1 */
static void add_locals(const target *s, int32_t first_output, double sign, double *to)
{
    for (int32_t c = 0; c < s->kernel->locals; c++)
        add(s, to, sign, out(s, first_output + c),
            taut_places_from(&s->kernel->local[c].places, s->first));
}

/* to[row] = output k */
static void store_rows(const target *s, int32_t k, double *to)
{
    taut_lanes_store(to, out(s, k), taut_places_from(&s->kernel->rows, s->first), s->n);
}

/* to += sign (entry x, of row a and column b of local matrices and of the same across) */
static void multiply(const target *s, int32_t a, int32_t b, double sign, const double *entry,
                     const double *weight, double *to)
{
    const double *x = s->context->along;
    const taut_places at = taut_places_from(&s->kernel->local[a].places, s->first),
                      from = taut_places_from(&s->kernel->local[b].places, s->first);
    for (int l = 0; l < s->n; l++) {
        const double value = weight ? entry[l] * weight[s->kernel->row[s->first + l]] : entry[l];
        to[taut_place_of(&at, l)] += sign * value * x[taut_place_of(&from, l)];
        if (a != b)
            to[taut_place_of(&from, l)] += sign * value * x[taut_place_of(&at, l)];
    }
}

/* Symmetric local matrix, stored as a lower triangle, into the tangent pattern; weight per
 * member may be NULL. */
static void add_triangle(const target *s, int32_t first_output, double sign, const double *weight,
                         double *to)
{
    int32_t nc = s->kernel->locals;
    const taut_index *map = s->kernel->map;
    for (int32_t a = 0; a < nc && s->context->along; a++)
        for (int32_t b = 0; b <= a; b++)
            multiply(s, a, b, sign, out(s, first_output + a * (a + 1) / 2 + b), weight, to);
    if (!map || s->context->along)
        return;
    for (int32_t a = 0; a < nc; a++)
        for (int32_t b = 0; b <= a; b++) {
            const double *x = out(s, first_output + a * (a + 1) / 2 + b);
            const taut_index *ab = map + ((int64_t)a * nc + b) * s->kernel->members + s->first;
            const taut_index *ba = map + ((int64_t)b * nc + a) * s->kernel->members + s->first;
            for (int l = 0; l < s->n; l++) {
                double value =
                    weight ? sign * x[l] * weight[s->kernel->row[s->first + l]] : sign * x[l];
                to[ab[l]] += value;
                if (a != b)
                    to[ba[l]] += value;
            }
        }
}

static void add_square(const target *s, int32_t first_output, double *to)
{
    int32_t nc = s->kernel->locals;
    for (int32_t k = 0; k < nc * nc; k++) {
        const double *x = out(s, first_output + k);
        const taut_index *map = s->kernel->map + (int64_t)k * s->kernel->members + s->first;
        for (int l = 0; l < s->n; l++)
            to[map[l]] += x[l];
    }
}

static double total(const target *s, int32_t k)
{
    const double *x = out(s, k);
    double sum = 0;
    for (int l = 0; l < s->n; l++)
        sum += x[l];
    return sum;
}

/* Rows of one kernel have the same length, so that consecutive ones are one block. */
static void scatter_jacobian(const target *s)
{
    const taut_statement_kernel *kernel = s->kernel;
    const taut_index *start = s->context->system->jacobian_start, *row = kernel->row + s->first;
    const int32_t *entry = kernel->tape->output + 1;
    if (!s->values->jacobian) {
        /* jets keep it */
    } else if (s->wanted & TAUT_WANT_COLUMNS) {
        double *to = s->values->jacobian + kernel->column_first + s->first;
        for (int32_t c = 0; c < kernel->locals; c++)
            taut_copy(s->n, out(s, 1 + c), to + (int64_t)c * kernel->column_step);
    } else if (!kernel->rows.gather && (kernel->rows.stride == 1 || s->n == 1)) {
        taut_lanes_rows(s->values->jacobian + start[row[0]], s->regs, entry, kernel->locals,
                        s->lanes, s->n);
    } else {
        for (int l = 0; l < s->n; l++)
            taut_lanes_rows(s->values->jacobian + start[row[l]], s->regs + l, entry, kernel->locals,
                            s->lanes, 1);
    }
    if (s->values->bond_dt)
        store_rows(s, 1 + kernel->locals, s->values->bond_dt);
}

enum { BATCH = 256 };

/* Whether locals c and c + 1 are both components of the same points in a plane. */
static bool are_pair(const taut_statement_kernel *kernel, int32_t c)
{
    const taut_places *at = &kernel->local[c].places, *next = at;
    if (c + 1 < kernel->locals)
        next = &kernel->local[c + 1].places;
    return !at->gather && !next->gather && at->stride == 2 && next->stride == 2 &&
           next->first == at->first + 1;
}

static void pull_clipped(const target *s, int begin, int n, const double *tension, double *force)
{
    for (int32_t c = 0; c < s->kernel->locals; c++) {
        const double *x = out(s, 1 + c) + begin;
        const taut_places at = taut_places_from(&s->kernel->local[c].places, s->first + begin);
        for (int k = 0; k < n; k++) {
            const taut_index i = taut_place_of(&at, k);
            if (i >= s->clip->begin && i < s->clip->end)
                force[i] -= tension[k] * x[k];
        }
    }
}

/* force -= G^T tension, for n members from first + begin on. */
static void pull(const target *s, int begin, int n, const double *tension, double *force)
{
    const taut_statement_kernel *kernel = s->kernel;
    if (s->clip) {
        pull_clipped(s, begin, n, tension, force);
        return;
    }
    for (int32_t c = 0; c < kernel->locals; c++) {
        const double *x = out(s, 1 + c) + begin;
        taut_places at = taut_places_from(&kernel->local[c].places, s->first + begin);
        if (are_pair(kernel, c))
            taut_lanes_pull_pairs(force + at.first, tension, x, out(s, 2 + c++) + begin, n);
        else
            taut_lanes_pull(force, tension, x, at, n);
    }
}

/* Tensions, a batch at a time, and what they add to the forces. */
static void scatter_pull(const target *s)
{
    double room[BATCH];
    for (int begin = 0; begin < s->n; begin += BATCH) {
        const int n = s->n - begin < BATCH ? s->n - begin : BATCH;
        taut_places rows = taut_places_from(&s->kernel->rows, s->first + begin);
        const bool wanted = !s->clip || s->clip->rows,
                   direct = wanted && !rows.gather && rows.stride == 1;
        double *tension = direct ? s->values->bond + rows.first : room;
        taut_lanes_weigh(tension, out(s, 0) + begin, s->context->stiffness, rows, n);
        if (wanted && !direct)
            taut_lanes_store(s->values->bond, tension, rows, n);
        pull(s, begin, n, tension, s->values->force);
    }
}

/* product -= G x, for n members from first + begin on. */
static void push(const target *s, int begin, int n, const double *x, double *product)
{
    const taut_statement_kernel *kernel = s->kernel;
    for (int32_t c = 0; c < kernel->locals; c++) {
        const double *g = out(s, 1 + c) + begin;
        taut_places at = taut_places_from(&kernel->local[c].places, s->first + begin);
        if (are_pair(kernel, c))
            taut_lanes_push_pairs(product, g, out(s, 2 + c++) + begin, x + at.first, n);
        else
            taut_lanes_push(product, g, x, at, n);
    }
}

/* One member. */
static void rows_of_one(const target *s, const double *x, const double *y, double *rows,
                        double *forces)
{
    const taut_index row = s->kernel->row[s->first];
    double sum = 0;
    for (int32_t c = 0; c < s->kernel->locals; c++) {
        const double g = *out(s, 1 + c);
        const taut_index at = index_of(s, c, 0);
        if (rows)
            sum += g * x[at];
        if (forces)
            forces[at] -= g * y[row];
    }
    if (rows)
        rows[row] -= sum;
}

void taut_statement_kernel_rows(const taut_statement_kernel *kernel, int64_t first, int count,
                                const double *regs, const int32_t *output, int lanes,
                                const double *x, const double *y, double *rows, double *forces)
{
    const target s = {.kernel = kernel,
                      .first = first,
                      .n = count,
                      .lanes = lanes,
                      .regs = regs,
                      .output = output ? output : kernel->tape->output};
    const bool next = !kernel->rows.gather && kernel->rows.stride == 1;
    double work[BATCH];
    if (count == 1) {
        rows_of_one(&s, x, y, rows, forces);
        return;
    }
    for (int begin = 0; begin < count; begin += BATCH) {
        const int n = count - begin < BATCH ? count - begin : BATCH;
        taut_places at = taut_places_from(&kernel->rows, first + begin);
        if (rows && next) {
            push(&s, begin, n, x, rows + at.first);
        } else if (rows) {
            taut_clear(n, work);
            push(&s, begin, n, x, work);
            taut_lanes_add(rows, 1, work, at, n);
        }
        if (forces && !next)
            taut_lanes_load(work, y, at, n);
        if (forces)
            pull(&s, begin, n, next ? y + at.first : work, forces);
    }
}

static void scatter_bond(const target *s)
{
    int32_t nc = s->kernel->locals;
    const taut_index *row = s->kernel->row + s->first;
    const double *g = out(s, 0);
    const taut_part *part = s->context->system->part;
    if (s->wanted & TAUT_WANT_PULL)
        scatter_pull(s);
    if (s->clip && !s->clip->rows)
        return;
    if (s->wanted & TAUT_WANT_BOND)
        store_rows(s, 0, s->values->bond);
    if (s->wanted & TAUT_WANT_ENERGY)
        for (int l = 0; l < s->n; l++) {
            double c = s->context->compliance[row[l]];
            if (c > 0 && !(part && part->ghost_bond[row[l]]))
                s->values->bond_energy += g[l] * g[l] / (2 * c);
        }
    if (s->wanted & TAUT_WANT_JACOBIAN)
        scatter_jacobian(s);
    if (s->wanted & TAUT_WANT_GAMMA)
        store_rows(s, 2 + nc, s->values->gamma);
    if (s->wanted & TAUT_WANT_BOND_HESSIAN)
        add_triangle(s, 3 + nc, 1, s->values->bond_weight, s->values->bond_hessian);
}

static void scatter_potential(const target *s, bool stiff)
{
    unsigned force = stiff ? TAUT_WANT_STIFF_FORCE : TAUT_WANT_FORCE;
    unsigned hessian = stiff ? TAUT_WANT_STIFF_HESSIAN : TAUT_WANT_FORCE_DQ;
    if (s->wanted & TAUT_WANT_ENERGY && !s->kernel->ghost)
        *(stiff ? &s->values->stiff_energy : &s->values->potential) += total(s, 0);
    if (s->wanted & force)
        add_locals(s, 1, -1, stiff ? s->values->stiff_force : s->values->force);
    if (s->wanted & hessian) /* df/dq = -Hess U, but the Hessian of the stiff potential itself */
        add_triangle(s, 1 + s->kernel->locals, stiff ? 1 : -1, NULL,
                     stiff ? s->values->stiff_hessian : s->values->force_dq);
}

static void add_force_dq(const target *s, int32_t c, const double *x)
{
    const double *along = s->context->along;
    double *to = s->values->force_dq;
    for (int l = 0; l < s->n && along; l++)
        to[s->kernel->row[s->first + l]] += x[l] * along[index_of(s, c, l)];
    const taut_index *map = along ? NULL : s->kernel->map + c * s->kernel->members + s->first;
    for (int l = 0; l < s->n && map; l++)
        to[map[l]] += x[l];
}

static void scatter_force(const target *s)
{
    int32_t nc = s->kernel->locals;
    if (s->wanted & TAUT_WANT_FORCE)
        add(s, s->values->force, 1, out(s, 0), taut_places_from(&s->kernel->rows, s->first));
    bool mechanical = s->context->system->sizes.kind == TAUT_MECHANICAL;
    for (int32_t c = 0; c < nc; c++) {
        if (s->wanted & TAUT_WANT_FORCE_DQ && s->kernel->local[c].q_slot >= 0) {
            add_force_dq(s, c, out(s, 1 + c));
        }
        if (s->wanted & TAUT_WANT_FORCE_DV && s->kernel->local[c].v_slot >= 0) {
            const double *x = out(s, 1 + nc + c);
            const taut_index *map = (mechanical ? s->kernel->map : s->kernel->control_map) +
                                    c * s->kernel->members + s->first;
            for (int l = 0; l < s->n; l++)
                s->values->force_dv[map[l]] += x[l];
        }
    }
}

static void scatter_kinetic(const target *s)
{
    int32_t nc = s->kernel->locals, tri = nc * (nc + 1) / 2;
    bool diagonal = s->context->system->sizes.mass == TAUT_MASS_DIAGONAL;
    if (s->wanted & TAUT_WANT_ENERGY)
        s->values->kinetic += total(s, 0);
    if (s->wanted & TAUT_WANT_MOMENTUM)
        add_locals(s, 1, 1, s->values->momentum);
    if (s->wanted & TAUT_WANT_MASS && !diagonal)
        add_triangle(s, 1 + nc, 1, NULL, s->values->mass);
    if (s->wanted & TAUT_WANT_MASS && diagonal)
        for (int32_t c = 0; c < nc; c++) {
            const double *x = out(s, 1 + nc + c * (c + 3) / 2);
            for (int l = 0; l < s->n; l++)
                s->values->mass[index_of(s, c, l)] += x[l];
        }
    if (s->wanted & TAUT_WANT_FORCE)
        add_locals(s, 1 + nc + tri, 1, s->values->force);
    if (s->wanted & TAUT_WANT_FORCE_DQ)
        add_square(s, 1 + 2 * nc + tri, s->values->force_dq);
    if (s->wanted & TAUT_WANT_FORCE_DV)
        add_square(s, 1 + 2 * nc + tri + nc * nc, s->values->force_dv);
    if (s->wanted & TAUT_WANT_MASS_DQ)
        add_square(s, 1 + 2 * nc + tri + 2 * nc * nc, s->values->mass_dq);
}

static void scatter_mass_dq(const target *s, taut_index a, taut_index b, int l)
{
    int32_t nc = s->kernel->locals;
    for (int32_t c = 0; c < nc; c++) {
        double x = out(s, 1 + c)[l];
        const taut_index *map = s->kernel->map + s->first + l;
        s->values->mass_dq[map[(2 + c) * s->kernel->members]] += x * s->values->mass_weight[b];
        if (a != b)
            s->values->mass_dq[map[(2 + nc + c) * s->kernel->members]] +=
                x * s->values->mass_weight[a];
    }
}

/* An entry M[a,b] of the literal mass matrix stands for both triangles. */
static void scatter_mass(const target *s)
{
    const double *m = out(s, 0), *v = s->v;
    bool diagonal = s->context->system->sizes.mass == TAUT_MASS_DIAGONAL;
    for (int l = 0; l < s->n; l++) {
        taut_index a = s->kernel->row[s->first + l], b = s->kernel->column[s->first + l];
        if (s->wanted & TAUT_WANT_MASS && diagonal) {
            s->values->mass[a] += m[l];
        } else if (s->wanted & TAUT_WANT_MASS) {
            s->values->mass[s->kernel->map[s->first + l]] += m[l];
            if (a != b)
                s->values->mass[s->kernel->map[s->kernel->members + s->first + l]] += m[l];
        }
        if (s->wanted & TAUT_WANT_ENERGY)
            s->values->kinetic += a == b ? m[l] * v[a] * v[a] / 2 : m[l] * v[a] * v[b];
        if (s->wanted & TAUT_WANT_MOMENTUM) {
            s->values->momentum[a] += m[l] * v[b];
            if (a != b)
                s->values->momentum[b] += m[l] * v[a];
        }
        if (s->wanted & TAUT_WANT_MASS_DQ)
            scatter_mass_dq(s, a, b, l);
    }
}

static void scatter(const target *s)
{
    switch (s->kernel->role) {
    case TAUT_ROLE_BOND: scatter_bond(s); break;
    case TAUT_ROLE_POTENTIAL: scatter_potential(s, false); break;
    case TAUT_ROLE_STIFF: scatter_potential(s, true); break;
    case TAUT_ROLE_FORCE: scatter_force(s); break;
    case TAUT_ROLE_KINETIC: scatter_kinetic(s); break;
    case TAUT_ROLE_MASS: scatter_mass(s); break;
    default: break;
    }
}

void taut_statement_kernel_scatter(const taut_context *context, const taut_statement_kernel *kernel,
                                   unsigned wanted, int64_t first, int n, const double *regs,
                                   int lanes, const double *v, taut_values *values)
{
    scatter(&(target){context, kernel, wanted, first, n, lanes, regs, kernel->tape->output, v,
                      values, NULL});
}

void taut_statement_kernel_scatter_clipped(const taut_context *context,
                                           const taut_statement_kernel *kernel, unsigned wanted,
                                           int64_t first, int n, const double *regs, int lanes,
                                           const taut_clip *clip, taut_values *values)
{
    scatter(&(target){context, kernel, wanted, first, n, lanes, regs, kernel->tape->output, NULL,
                      values, clip});
}
