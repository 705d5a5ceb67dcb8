/* pair_sums.c - see pair_sums.h. An evaluation walks the rows of the list, collects the pairs
 * within the cut-off in batches, the second particle as the nearest image of the first one, and
 * runs the kernel of the term on each batch: the same loads, tape and scatter as for other
 * statements. */
#include "system/pair_sums.h"

#include <math.h>
#include <string.h>

#include "base/four.h"
#include "base/pool.h"
#include "base/rows.h"
#include "base/vectors.h"
#include "system/kernel/scatter.h"

/* The place of a local coordinate: side and component. */
static int side_of(const taut_pair_sum *sum, int32_t slot, int *component)
{
    const taut_slot *s = &sum->kernel->slot[slot];
    const int side = sum->side[slot];
    const taut_index at = s->gather ? s->gather[0] : s->one;
    *component = (int)(at - sum->families.first[side]);
    return side;
}

/* A copy of the term's kernel that reads and writes through the arrays of a batch. */
static int make_kernel(taut_pair_work *w, taut_arena *arena, taut_error *error)
{
    const taut_statement_kernel *from = w->sum->kernel;
    taut_statement_kernel *kernel = &w->kernel;
    const int lanes = w->regs.lanes, d = w->sum->families.dimension;
    taut_local *local = TAUT_NEW(arena, taut_local, from->locals);
    taut_fetch *fetch = TAUT_NEW(arena, taut_fetch, from->fetches);
    TAUT_NEED(error, local, fetch);
    memcpy(local, from->local, (size_t)from->locals * sizeof *local);
    memcpy(fetch, from->fetch, (size_t)from->fetches * sizeof *fetch);
    for (int32_t c = 0; c < from->locals; c++) {
        TAUT_NEED(error, w->gather[c] = TAUT_NEW(arena, taut_index, lanes));
        int component;
        local[c].gather = w->gather[c];
        local[c].places = (taut_places){
            .gather = w->gather[c], .repeats = side_of(w->sum, local[c].q_slot, &component) == 0};
    }
    for (int32_t k = 0; k < from->fetches; k++) {
        taut_fetch *f = &fetch[k];
        const int side = w->sum->side[f->to];
        int component;
        f->pair = false;
        if (f->source == TAUT_FROM_Q) {
            const int at = side_of(w->sum, f->to, &component) * d + component;
            f->places = (taut_places){.first = (taut_index)at * lanes, .stride = 1};
        } else if (f->source == TAUT_FROM_DATA && side >= 0) {
            TAUT_TRY(TAUT_RESERVE(arena, lanes, error, &w->data[f->to]));
            f->data = w->data[f->to];
        } else if (side >= 0) {
            taut_index *gather = TAUT_NEW(arena, taut_index, lanes);
            TAUT_NEED(error, gather);
            w->gather[from->locals + f->to] = gather;
            f->places = (taut_places){.gather = gather};
        }
    }
    kernel->local = local;
    kernel->fetch = fetch;
    return 0;
}

static int make_work(taut_pair_work *w, const taut_pair_sum *sum, taut_arena *arena,
                     taut_error *error)
{
    enum { MANY = 1 << 16 };
    w->sum = sum;
    w->kernel = *sum->kernel;
    w->kernel.members = MANY; /* for the number of lanes */
    TAUT_TRY(taut_pair_list_create(&w->list, &sum->families, arena, error));
    if (taut_statement_kernel_regs(&w->kernel, arena, &w->regs))
        return taut_fail_memory(error);
    const int32_t lanes = w->regs.lanes, nc = w->kernel.locals;
    w->kernel.members = lanes;
    w->gather = TAUT_NEW(arena, taut_index *, nc + w->kernel.slots);
    w->data = TAUT_NEW(arena, double *, w->kernel.slots);
    w->pair[0] = TAUT_NEW(arena, int32_t, lanes);
    w->pair[1] = TAUT_NEW(arena, int32_t, lanes);
    w->map =
        taut_pair_sum_dense(sum) ? TAUT_NEW(arena, taut_index, (int64_t)nc * nc * lanes) : NULL;
    TAUT_NEED(error, w->gather, w->data, w->pair[0], w->pair[1]);
    if (taut_pair_sum_dense(sum))
        TAUT_NEED(error, w->map);
    w->kernel.map = w->map;
    TAUT_TRY(TAUT_RESERVE(arena, 2 * (int64_t)sum->families.dimension * lanes, error, &w->q));
    return make_kernel(w, arena, error);
}

bool taut_pair_sum_dense(const taut_pair_sum *sum)
{
    return (double)sum->families.count[0] * sum->families.count[1] <= TAUT_PAIR_DENSE;
}

int taut_pair_sums_check(const taut_system *system, taut_error *error)
{
    for (int32_t k = 0; k < system->pair_sums; k++)
        if (!taut_pair_sum_dense(system->pair_sum[k]))
            return taut_fail(error, TAUT_ERROR_REFUSED,
                             "derivatives of forces that are sums over pairs exist for families "
                             "of at most %d particles: use an explicit method",
                             (int)sqrt(TAUT_PAIR_DENSE));
    return 0;
}

enum { SLICES = 8, LARGE = 1000 }; /* LARGE: particles from which the copies cost little */

typedef struct taut_pair_slices {
    int threads;
    taut_pair_work **work; /* [threads][pair_sums]; the first one's is context->pairs */
    double *force;         /* [n], of several threads [SLICES][n] */
} taut_pair_slices;

/* Room for one thread, where slices are to be made at all. */
static int make_slices(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    int32_t most = 0;
    for (int32_t k = 0; k < system->pair_sums; k++)
        if (system->pair_sum[k]->families.count[0] > most)
            most = system->pair_sum[k]->families.count[0];
    if (most < LARGE)
        return 0;
    taut_pair_slices *s = TAUT_NEW(&context->arena, taut_pair_slices, 1);
    TAUT_NEED(error, s);
    TAUT_NEED(error, s->work = TAUT_NEW(&context->arena, taut_pair_work *, 1));
    s->threads = 1;
    s->work[0] = context->pairs;
    context->slices = s;
    return TAUT_RESERVE(&context->arena, system->sizes.coordinates, error, &s->force);
}

int taut_pair_sums_share(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    taut_arena *arena = &context->arena;
    taut_pair_slices *s = context->slices;
    const int threads = taut_pool_size(context->pool);
    if (!s || threads < 2)
        return 0;
    taut_pair_work **work = TAUT_NEW(arena, taut_pair_work *, threads);
    TAUT_NEED(error, work);
    work[0] = context->pairs;
    for (int t = 1; t < threads; t++) {
        TAUT_NEED(error, work[t] = TAUT_NEW(arena, taut_pair_work, system->pair_sums));
        for (int32_t k = 0; k < system->pair_sums; k++) {
            TAUT_TRY(make_work(&work[t][k], system->pair_sum[k], arena, error));
            taut_statement_kernel_set_parameters(&work[t][k].kernel, context->parameter,
                                                 &work[t][k].regs);
        }
    }
    TAUT_TRY(TAUT_RESERVE(arena, SLICES * (int64_t)system->sizes.coordinates, error, &s->force));
    s->work = work;
    s->threads = threads;
    return 0;
}

int taut_pair_sums_create(taut_context *context, taut_error *error)
{
    const taut_system *system = context->system;
    const int32_t count = system->pair_sums;
    context->pairs = TAUT_NEW(&context->arena, taut_pair_work, count);
    TAUT_NEED(error, context->pairs);
    TAUT_TRY(TAUT_RESERVE(&context->arena, (int64_t)count * TAUT_PAIR_NUMBERS, error,
                          &context->pair_number));
    for (int32_t k = 0; k < count; k++) {
        taut_pair_work *w = &context->pairs[k];
        w->number = context->pair_number + (int64_t)k * TAUT_PAIR_NUMBERS;
        TAUT_TRY(make_work(w, system->pair_sum[k], &context->arena, error));
    }
    return make_slices(context, error);
}

/* ---- batches */

/* Maps and data of n pairs of particles. */
static void fill_maps(taut_pair_work *w, int n)
{
    const taut_statement_kernel *kernel = &w->kernel;
    const taut_pair_families *f = &w->sum->families;
    for (int32_t c = 0; c < kernel->locals; c++) {
        int component;
        const int side = side_of(w->sum, kernel->local[c].q_slot, &component);
        const taut_index first = f->first[side] + component;
        for (int l = 0; l < n; l++)
            w->gather[c][l] = first + f->dimension * w->pair[side][l];
    }
    for (int32_t s = 0; s < kernel->slots; s++) {
        const taut_slot *slot = &kernel->slot[s];
        taut_index *gather = w->gather[kernel->locals + s];
        for (int l = 0; w->data[s] && l < n; l++)
            w->data[s][l] = slot->data[w->pair[w->sum->side[s]][l]];
        for (int l = 0; gather && l < n; l++)
            gather[l] = slot->gather[w->pair[w->sum->side[s]][l]];
    }
}

/* Where their second derivatives are. */
static void fill_tangent(taut_pair_work *w, const taut_pattern *tangent, int n)
{
    const int32_t nc = w->kernel.locals;
    for (int32_t a = 0; a < nc; a++)
        for (int32_t b = 0; b < nc; b++)
            for (int l = 0; l < n; l++)
                w->map[((int64_t)a * nc + b) * w->regs.lanes + l] =
                    taut_row_find(tangent, w->gather[a][l], w->gather[b][l]);
}

static void fill(const taut_pair_visit *to, int n)
{
    fill_maps(to->work, n);
    if (to->wanted & TAUT_WANT_FORCE_DQ)
        fill_tangent(to->work, &taut_system_patterns(to->context->system)->tangent, n);
}

/* Partners of particle i from row[0 .. count-1] into the batch, behind the n pairs that are in it;
 * there is room for all. Returns how many there are then. */
TAUT_INLINED int collect(taut_pair_work *w, const double *q, int d, int32_t i, const int32_t *row,
                         int count, int n)
{
    const taut_pair_families *f = &w->sum->families;
    const taut_pair_list list = w->list;
    const int64_t lanes = w->regs.lanes;
    const double most = list.cut * list.cut, *from = q + f->first[1];
    double *const restrict to = w->q, x[3] = {0};
    int32_t *const restrict second = w->pair[1];
    const int before = n;
    for (int c = 0; c < d; c++)
        x[c] = q[f->first[0] + (int64_t)i * d + c];
    for (int k = 0; k < count; k++) {
        const double *y = from + (int64_t)row[k] * d;
        double square = 0;
        for (int c = 0; c < d; c++) {
            const double apart = x[c] - y[c],
                         shift = taut_pair_shift(apart, list.box[c], list.inverse[c]);
            square += (apart - shift) * (apart - shift);
            to[(d + c) * lanes + n] = y[c] + shift;
        }
        second[n] = row[k];
        n += square < most;
    }
    for (int k = before; k < n; k++)
        w->pair[0][k] = i;
    for (int c = 0; c < d; c++)
        for (int k = before; k < n; k++)
            to[c * lanes + k] = x[c];
    return n;
}

/* Hands the pairs within the cut-off of particles begin .. end-1 to `run`, as many at a time as
 * there are lanes. */
static void visit(const taut_pair_visit *to, const double *q, int32_t begin, int32_t end)
{
    taut_pair_work *w = to->work;
    const int32_t lanes = w->regs.lanes;
    int n = 0;
    for (int32_t i = begin; i < end; i++) {
        const int32_t *row;
        int32_t rest = taut_pair_list_row(&w->list, i, &row);
        while (rest > 0) {
            const int32_t count = rest < lanes - n ? rest : lanes - n;
            n = w->sum->families.dimension == 3 ? collect(w, q, 3, i, row, count, n)
                                                : collect(w, q, 2, i, row, count, n);
            row += count;
            rest -= count;
            if (n == lanes) {
                fill(to, n);
                to->run(to, n);
                n = 0;
            }
        }
    }
    if (n > 0) {
        fill(to, n);
        to->run(to, n);
    }
}

void taut_pair_sum_visit(const taut_pair_visit *to, const double *q)
{
    taut_values *values = to->values;
    if (to->work->list.valid) {
        visit(to, q, 0, to->work->sum->families.count[0]);
        return;
    }
    /* positions that are not finite have no neighbours */
    if (to->wanted & TAUT_WANT_ENERGY)
        values->potential = NAN;
    if (to->wanted & TAUT_WANT_FORCE)
        values->force[to->work->sum->families.first[0]] = NAN;
}

int taut_pair_sums_update(taut_context *context, const double *q, taut_error *error)
{
    for (int32_t k = 0; k < context->system->pair_sums; k++)
        TAUT_TRY(taut_pair_list_update(&context->pairs[k].list, q, &context->arena, error));
    return 0;
}

/* A batch of an evaluation. */
static void evaluate_batch(const taut_pair_visit *visit, int n)
{
    taut_pair_work *w = visit->work;
    taut_inputs own = *visit->inputs;
    own.q = w->q;
    taut_statement_kernel_run(&w->kernel, visit->level, 0, n, &own, &w->regs);
    taut_statement_kernel_scatter(visit->context, &w->kernel, visit->wanted, 0, n, w->regs.regs,
                                  w->regs.lanes, own.v, visit->values);
}

/* ---- slices */

/* Parameters, in the registers of all threads. */
static void renew_slices(taut_context *context)
{
    const taut_pair_slices *s = context->slices;
    for (int t = 1; s && t < s->threads; t++)
        for (int32_t k = 0; k < context->system->pair_sums; k++)
            taut_statement_kernel_set_parameters(&s->work[t][k].kernel, context->parameter,
                                                 &s->work[t][k].regs);
}

typedef struct slicing {
    taut_context *context;
    const taut_inputs *inputs;
    unsigned wanted, part;
    double *force; /* of the evaluation */
} slicing;

static bool takes_part(const taut_pair_work *w, unsigned wanted, unsigned part)
{
    return taut_statement_kernel_level(&w->kernel, wanted) >= 0 &&
           !(part && w->kernel.fast == (part == TAUT_WANT_SLOW));
}

/* One slice of all sums into `force`. */
static void run_slice(const slicing *x, int64_t slice, int thread, double *force)
{
    const taut_pair_slices *s = x->context->slices;
    taut_values values = {.force = force};
    taut_pair_visit to = {evaluate_batch, x->context, x->inputs, x->wanted, &values, NULL, 0, NULL};
    taut_clear(x->context->system->sizes.coordinates, force);
    for (int32_t k = 0; k < x->context->system->pair_sums; k++) {
        const int64_t count = x->context->pairs[k].sum->families.count[0];
        to.work = &s->work[thread][k];
        to.level = taut_statement_kernel_level(&to.work->kernel, x->wanted);
        if (takes_part(to.work, x->wanted, x->part))
            visit(&to, x->inputs->q, (int32_t)(count * slice / SLICES),
                  (int32_t)(count * (slice + 1) / SLICES));
    }
}

static void run_own_slice(void *context, int64_t slice, int thread)
{
    const slicing *x = context;
    const int64_t n = x->context->system->sizes.coordinates;
    run_slice(x, slice, thread, x->context->slices->force + slice * n);
}

static double add_slices(void *context, int64_t begin, int64_t end)
{
    const slicing *x = context;
    const int64_t n = x->context->system->sizes.coordinates;
    for (int slice = 0; slice < SLICES; slice++)
        taut_add((taut_index)(end - begin), x->context->slices->force + slice * n + begin,
                 x->force + begin);
    return 0;
}

static void add_sliced(slicing *x)
{
    const taut_index n = x->context->system->sizes.coordinates;
    const taut_pair_slices *s = x->context->slices;
    for (int t = 1; t < s->threads; t++)
        for (int32_t k = 0; k < x->context->system->pair_sums; k++)
            s->work[t][k].list = x->context->pairs[k].list;
    if (s->threads > 1) {
        taut_pool_run(x->context->pool, SLICES, run_own_slice, x);
        taut_pool_loop(x->context->pool, n, add_slices, x);
        return;
    }
    for (int slice = 0; slice < SLICES; slice++) {
        run_slice(x, slice, 0, s->force);
        taut_add(n, s->force, x->force);
    }
}

/* Are only forces wanted, and positions finite? */
static bool can_slice(const taut_context *context, unsigned wanted)
{
    bool can = context->slices && wanted & TAUT_WANT_FORCE &&
               !(wanted & (TAUT_WANT_ENERGY | TAUT_WANT_FORCE_DQ));
    for (int32_t k = 0; k < context->system->pair_sums; k++)
        can = can && context->pairs[k].list.valid;
    return can;
}

void taut_pair_sums_add(taut_context *context, const taut_inputs *inputs, unsigned wanted,
                        unsigned part, taut_values *values)
{
    if (can_slice(context, wanted)) {
        add_sliced(&(slicing){context, inputs, wanted, part, values->force});
        return;
    }
    taut_pair_visit to = {evaluate_batch, context, inputs, wanted, values, NULL, 0, NULL};
    for (int32_t k = 0; k < context->system->pair_sums; k++) {
        to.work = &context->pairs[k];
        to.level = taut_statement_kernel_level(&to.work->kernel, wanted);
        if (takes_part(to.work, wanted, part))
            taut_pair_sum_visit(&to, inputs->q);
    }
}

/* ---- numbers */

/* Points at the sum in its model file. */
static int at_place(const taut_pair_sum *sum, taut_error *error, int code)
{
    if (error) {
        memcpy(error->file, sum->place->file, sizeof error->file);
        memcpy(error->source, sum->place->source, sizeof error->source);
        error->line = sum->place->line;
        error->column = sum->place->column;
        error->source_column = sum->place->source_column;
    }
    return code;
}

/* Largest |term| of pairs at a distance, over particles of equal number. */
static double largest_at(taut_context *context, taut_pair_work *w, double distance)
{
    static const double direction[2][3] = {{0.6, 0.8, 0}, {0.48, 0.6, 0.64}};
    const taut_pair_families *f = &w->sum->families;
    const int d = f->dimension, lanes = w->regs.lanes;
    const int32_t most = f->count[0] > f->count[1] ? f->count[0] : f->count[1];
    const taut_inputs inputs = {.q = w->q, .v = context->scratch, .parameter = context->parameter};
    double largest = 0;
    for (int32_t first = 0; first < most; first += lanes) {
        const int n = most - first < lanes ? most - first : lanes;
        for (int l = 0; l < n; l++) {
            for (int s = 0; s < 2; s++)
                w->pair[s][l] = first + l < f->count[s] ? first + l : f->count[s] - 1;
            for (int c = 0; c < d; c++) {
                w->q[c * lanes + l] = 0;
                w->q[(d + c) * lanes + l] = distance * direction[d - 2][c];
            }
        }
        fill_maps(w, n);
        taut_statement_kernel_run(&w->kernel, 0, 0, n, &inputs, &w->regs);
        const double *u = w->regs.regs + (int64_t)w->kernel.tape->output[0] * lanes;
        for (int l = 0; l < n; l++)
            largest = !(fabs(u[l]) <= largest) ? fabs(u[l]) : largest;
    }
    return largest;
}

/* A term that jumps at the cut-off does not conserve energy. */
static int check_term(taut_context *context, taut_pair_work *w, taut_error *error)
{
    static const double rounding = 1e-9;
    const double cut = w->list.cut, at = largest_at(context, w, cut);
    double scale = 0;
    for (int k = 5; k < 10; k++)
        scale = fmax(scale, largest_at(context, w, cut * k / 10));
    if (at <= rounding * scale)
        return 0;
    return taut_fail(
        error, TAUT_ERROR_MODEL,
        "the term of this sum over pairs is %.3g at the cut-off %g: it must be 0 there; write "
        "'shift', which subtracts that value, or multiply the term by a function that ends "
        "smoothly, such as (1 - (r/rc)^2)^3",
        at, cut);
}

static int renew(taut_context *context, taut_pair_work *w, taut_error *error)
{
    static const double part = 0.12; /* default skin over the cut-off */
    const taut_pair_sum *sum = w->sum;
    const double *number = w->number;
    taut_statement_kernel_set_parameters(&w->kernel, context->parameter, &w->regs);
    w->list.valid = w->list.reserved = false;
    w->list.cut = number[TAUT_PAIR_CUT];
    w->list.skin = sum->skin ? number[TAUT_PAIR_SKIN_WIDTH] : part * w->list.cut;
    if (!(w->list.cut > 0 && w->list.skin > 0) || !isfinite(w->list.cut + w->list.skin))
        return taut_fail(error, TAUT_ERROR_MODEL,
                         "a sum over pairs has the cut-off %g and the skin %g: both must be "
                         "positive",
                         w->list.cut, w->list.skin);
    for (int c = 0; c < sum->families.dimension && sum->periodic; c++) {
        w->list.box[c] = number[TAUT_PAIR_BOX + c];
        w->list.inverse[c] = 1 / w->list.box[c];
        if (!(w->list.box[c] >= 2 * w->list.cut) || !isfinite(w->list.box[c]))
            return taut_fail(error, TAUT_ERROR_MODEL,
                             "the cut-off %g is more than half of the periodic box %g: a particle "
                             "would have two images within it; shorten the cut-off or enlarge the "
                             "box",
                             w->list.cut, w->list.box[c]);
    }
    return check_term(context, w, error);
}

int taut_pair_sums_renew(taut_context *context, taut_error *error)
{
    const taut_inputs inputs = {.q = context->scratch,
                                .v = context->scratch,
                                .parameter = context->parameter,
                                .t = context->system->from};
    if (context->system->pair_sums == 0)
        return 0;
    taut_run_list(context, TAUT_LIST_PAIR, &inputs, context->pair_number);
    for (int32_t k = 0; k < context->system->pair_sums; k++)
        if (renew(context, &context->pairs[k], error))
            return at_place(context->system->pair_sum[k], error, TAUT_ERROR_MODEL);
    renew_slices(context);
    return 0;
}
