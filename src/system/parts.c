/* parts.c - see parts.h. */
#include "system/parts.h"

#include "base/vectors.h"
#include "system/kernel/family.h"
#include "system/pair_sums.h"

enum { MOST_PARTS = 64, LEAST_PARTS = 8, LEAST_WORK = 40000, LITTLE = 32 };
static const double MOST_TWICE = 0.06; /* work that parts may do twice */

/* ---- once */

/* The coordinates that batch b acts on. */
static void find_range(const taut_statement_kernel *kernel, int lanes, int64_t b, taut_index *first,
                       taut_index *last)
{
    const int64_t begin = b * lanes,
                  end = kernel->members - begin < lanes ? kernel->members : begin + lanes;
    const bool force = kernel->role == TAUT_ROLE_FORCE;
    *first = INT32_MAX;
    *last = -1;
    for (int32_t c = 0; c < (force ? 1 : kernel->locals); c++) {
        const taut_places *at = force ? &kernel->rows : &kernel->local[c].places;
        const int64_t step = at->gather || end - begin < 2 ? 1 : end - begin - 1;
        for (int64_t k = begin; k < end; k += step) {
            const taut_index i = taut_place_of(at, k);
            *first = i < *first ? i : *first;
            *last = i > *last ? i : *last;
        }
    }
}

static int part_of(const taut_parts *p, taut_index i)
{
    int low = 0, high = p->count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (p->begin[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Which batches are run twice does not matter yet: how many are run. */
static int64_t find_spans(const taut_parts *p, const taut_statement_kernel *kernel, int lanes,
                          taut_span *span)
{
    const int32_t batches = (int32_t)((kernel->members - 1) / lanes + 1);
    int64_t all = 0;
    for (int k = 0; k < p->count; k++)
        span[k] = (taut_span){.run = batches, .clear_end = batches};
    for (int32_t b = 0; b < batches; b++) {
        taut_index first, last;
        find_range(kernel, lanes, b, &first, &last);
        for (int k = last < 0 ? p->count : part_of(p, first); k < p->count && p->begin[k] <= last;
             k++) {
            span[k].run = b < span[k].run ? b : span[k].run;
            span[k].run_end = b + 1;
        }
    }
    for (int k = 0; k < p->count; k++)
        for (int j = 0; j < p->count; j++)
            if (span[j].run_end > span[j].run && j != k) {
                taut_span *s = &span[k];
                if (j < k && span[j].run_end > s->clear)
                    s->clear = span[j].run_end;
                if (j > k && span[j].run < s->clear_end)
                    s->clear_end = span[j].run;
            }
    for (int k = 0; k < p->count; k++) {
        taut_span *s = &span[k];
        s->run = s->run_end > s->run ? s->run : s->run_end;
        all += s->run_end - s->run;
    }
    return all;
}

/* Each batch belongs to the first part that runs it; where the batches of a part are not all those
 * between, or there are none, to any one. */
static void give_rows(const taut_parts *p, int32_t batches, bool regular, taut_span *span)
{
    int32_t given = 0;
    for (int k = 0; k < p->count; k++) {
        const int32_t even = (int32_t)((int64_t)batches * (k + 1) / p->count);
        span[k].own = given;
        if (regular && span[k].run_end > given)
            given = span[k].run_end;
        given = regular && k < p->count - 1 ? given : even;
        span[k].own_end = given;
    }
}

static bool can_divide(const taut_statement_kernel *kernel)
{
    return kernel->role == TAUT_ROLE_BOND || kernel->role == TAUT_ROLE_POTENTIAL ||
           kernel->role == TAUT_ROLE_STIFF || kernel->role == TAUT_ROLE_FORCE;
}

static double cost_of(const taut_statement_kernel *kernel)
{
    return (double)kernel->members * kernel->tape->registers;
}

/* Divides into `count` parts; the share of work that is done twice, among the kernels that are
 * regular. */
static double divide(const taut_context *context, taut_parts *p, int count)
{
    const taut_system *system = context->system;
    const int64_t n = system->sizes.coordinates;
    double once = 0, twice = 0;
    p->count = count;
    for (int k = 0; k <= count; k++)
        p->begin[k] = k == count ? (taut_index)n : (taut_index)(n * k / count / 8 * 8);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        const int lanes = context->regs[k].lanes;
        const int32_t batches = (int32_t)((kernel->members - 1) / lanes + 1);
        if (!can_divide(kernel))
            continue;
        const int64_t more = find_spans(p, kernel, lanes, p->span[k]) - batches;
        p->regular[k] = more < batches / 2 || more * lanes < n / LITTLE;
        give_rows(p, batches, p->regular[k], p->span[k]);
        if (p->regular[k]) {
            once += cost_of(kernel);
            twice += cost_of(kernel) * (double)more / batches;
        }
    }
    return once > 0 ? twice / once : 0;
}

static int reserve(taut_context *context, taut_parts *p, taut_error *error)
{
    const taut_system *system = context->system;
    taut_arena *arena = &context->arena;
    p->begin = TAUT_NEW(arena, taut_index, MOST_PARTS + 1);
    p->regular = TAUT_NEW(arena, bool, system->kernels);
    p->span = TAUT_NEW(arena, taut_span *, system->kernels);
    p->regs = TAUT_NEW(arena, taut_block_regs *, p->threads);
    TAUT_NEED(error, p->begin, p->regular, p->span, p->regs);
    int64_t edge = 0;
    for (int32_t k = 0; k < system->kernels; k++) {
        TAUT_NEED(error, p->span[k] = TAUT_NEW(arena, taut_span, MOST_PARTS));
        const int64_t room =
            system->kernel[k]->family ? taut_family_edge(system->kernel[k]) * TAUT_FAMILY_PARTS : 0;
        edge = room > edge ? room : edge;
    }
    if (edge > 0)
        TAUT_TRY(TAUT_RESERVE(arena, edge, error, &p->edge));
    p->regs[0] = context->regs;
    for (int t = 1; t < p->threads; t++) {
        TAUT_NEED(error, p->regs[t] = TAUT_NEW(arena, taut_block_regs, system->kernels));
        for (int32_t k = 0; k < system->kernels; k++) {
            p->regs[t][k].lanes = context->regs[k].lanes;
            if (taut_statement_kernel_regs(system->kernel[k], arena, &p->regs[t][k]))
                return taut_fail_memory(error);
        }
    }
    return TAUT_OK;
}

int taut_context_share(taut_context *context, taut_pool *pool, taut_error *error)
{
    const taut_system *system = context->system;
    context->pool = pool;
    TAUT_TRY(taut_pair_sums_share(context, error));
    if (taut_pool_size(pool) < 2 || system->evaluate || system->kernels == 0 ||
        taut_system_work(system) < LEAST_WORK)
        return TAUT_OK;
    taut_parts *p = TAUT_NEW(&context->arena, taut_parts, 1);
    TAUT_NEED(error, p);
    p->threads = taut_pool_size(pool);
    TAUT_TRY(reserve(context, p, error));
    int count = MOST_PARTS;
    while (divide(context, p, count) > MOST_TWICE && count > LEAST_PARTS)
        count = count % 3 == 0 ? count / 3 * 2 : count / 4 * 3;
    context->parts = p;
    taut_parts_renew(context);
    return TAUT_OK;
}

void taut_parts_renew(taut_context *context)
{
    const taut_parts *p = context->parts;
    for (int t = 1; p && t < p->threads; t++)
        for (int32_t k = 0; k < context->system->kernels; k++)
            taut_statement_kernel_set_parameters(context->system->kernel[k], context->parameter,
                                                 &p->regs[t][k]);
}

/* ---- evaluation */

typedef struct work {
    taut_context *context;
    const taut_parts_task *task;
    taut_values *values;
    unsigned part, wanted; /* fast or slow forces alone; the other bits */
    unsigned steady_wanted;
    int32_t first, last; /* kernels */
    bool begin, test;
    double odd[MOST_PARTS], odd_force[MOST_PARTS];
} work;

static int level_of(const work *w, int32_t k, unsigned *asked)
{
    const taut_statement_kernel *kernel = w->context->system->kernel[k];
    *asked = kernel->steady ? w->steady_wanted : w->wanted;
    const bool apart =
        w->part && kernel->role != TAUT_ROLE_BOND && kernel->fast == (w->part == TAUT_WANT_SLOW);
    return k == w->task->left || apart || kernel->role == TAUT_ROLE_MASS
               ? -1
               : taut_statement_kernel_level(kernel, *asked);
}

/* Batches of a kernel that a part runs. */
static double run_batches(const work *w, int32_t k, int level, unsigned asked, int32_t part,
                          taut_block_regs *regs)
{
    taut_context *context = w->context;
    const taut_parts *p = context->parts;
    const taut_statement_kernel *kernel = context->system->kernel[k];
    const taut_span *s = &p->span[k][part];
    const bool bond = kernel->role == TAUT_ROLE_BOND, acts = !bond || asked & TAUT_WANT_PULL;
    taut_clip clip = {p->begin[part], p->begin[part + 1], false};
    double odd = 0;
    for (int32_t b = acts ? s->run : s->own, end = acts ? s->run_end : s->own_end; b < end; b++) {
        const int64_t first = (int64_t)b * regs->lanes;
        const int n =
            kernel->members - first < regs->lanes ? (int)(kernel->members - first) : regs->lanes;
        taut_statement_kernel_run(kernel, level, first, n, w->task->inputs, regs);
        odd += taut_statement_kernel_test(kernel, level, n, regs);
        clip.rows = b >= s->own && b < s->own_end;
        if (acts && (b < s->clear || b >= s->clear_end || !clip.rows))
            taut_statement_kernel_scatter_clipped(context, kernel, asked, first, n, regs->regs,
                                                  regs->lanes, &clip, w->values);
        else
            taut_statement_kernel_scatter(context, kernel, asked, first, n, regs->regs, regs->lanes,
                                          w->task->inputs->v, w->values);
    }
    return odd;
}

static void begin_range(const taut_context *context, bool steady, const double *from, double *to,
                        taut_index begin, taut_index end)
{
    if (begin >= end)
        return;
    if (steady && context->steady_force)
        taut_copy(end - begin, from + begin, to + begin);
    else
        taut_clear(end - begin, to + begin);
}

static void begin_part(const work *w, taut_index begin, taut_index end)
{
    const taut_parts_task *task = w->task;
    const taut_index from = task->from < begin ? begin
                            : task->from > end ? end
                                               : task->from,
                     until = task->until < from  ? from
                             : task->until > end ? end
                                                 : task->until;
    if (w->wanted & TAUT_WANT_FORCE) {
        const double *steady = w->context->steady_force;
        begin_range(w->context, task->steady, steady, w->values->force, begin, from);
        begin_range(w->context, task->steady, steady, w->values->force, until, end);
    }
    if (w->wanted & TAUT_WANT_STIFF_FORCE)
        taut_clear(end - begin, w->values->stiff_force + begin);
}

static void run_part(void *context, int64_t part, int thread)
{
    work *w = context;
    const taut_parts *p = w->context->parts;
    const taut_index begin = p->begin[part], end = p->begin[part + 1];
    double odd = 0, force = 0;
    if (w->begin)
        begin_part(w, begin, end);
    for (int32_t k = w->first; k < w->last; k++) {
        unsigned asked;
        const int level = level_of(w, k, &asked);
        if (level >= 0)
            odd += run_batches(w, k, level, asked, (int32_t)part, &p->regs[thread][k]);
    }
    if (w->test && w->wanted & TAUT_WANT_FORCE)
        force += taut_lanes_test(w->values->force + begin, end - begin);
    if (w->test && w->wanted & TAUT_WANT_STIFF_FORCE)
        force += taut_lanes_test(w->values->stiff_force + begin, end - begin);
    w->odd[part] = odd;
    w->odd_force[part] = force;
}

/* Does a kernel act on coordinates without being regular? */
static bool is_alone(const work *w, int32_t k)
{
    unsigned asked;
    const taut_statement_kernel *kernel = w->context->system->kernel[k];
    const int level = level_of(w, k, &asked);
    return level >= 0 && !w->context->parts->regular[k] &&
           (kernel->role != TAUT_ROLE_BOND || asked & TAUT_WANT_PULL);
}

/* By the caller; in the place of a part that is everything. */
static double run_alone(const work *w, int32_t k)
{
    taut_context *context = w->context;
    const taut_statement_kernel *kernel = context->system->kernel[k];
    taut_block_regs *regs = &context->regs[k];
    unsigned asked;
    const int level = level_of(w, k, &asked);
    double odd = 0;
    for (int64_t first = 0; first < kernel->members; first += regs->lanes) {
        const int n =
            kernel->members - first < regs->lanes ? (int)(kernel->members - first) : regs->lanes;
        taut_statement_kernel_run(kernel, level, first, n, w->task->inputs, regs);
        odd += taut_statement_kernel_test(kernel, level, n, regs);
        taut_statement_kernel_scatter(context, kernel, asked, first, n, regs->regs, regs->lanes,
                                      w->task->inputs->v, w->values);
    }
    return odd;
}

double taut_parts_run(taut_context *context, const taut_parts_task *task, taut_values *values,
                      double *force)
{
    const taut_system *system = context->system;
    const taut_parts *p = context->parts;
    const unsigned part = task->wanted & (TAUT_WANT_FAST | TAUT_WANT_SLOW);
    work w = {.context = context,
              .task = task,
              .values = values,
              .part = part,
              .wanted = task->wanted & ~part,
              .begin = task->begin};
    w.steady_wanted = w.wanted & ~(unsigned)TAUT_WANT_FORCE;
    double odd = 0;
    *force = 0;
    for (int32_t k = 0; k <= system->kernels; k = w.last + 1) {
        w.first = w.last = k;
        while (w.last < system->kernels && !is_alone(&w, w.last))
            w.last++;
        w.test = w.last == system->kernels && !(task->until > task->from);
        taut_pool_run(context->pool, p->count, run_part, &w);
        w.begin = false;
        for (int i = 0; i < p->count; i++) {
            odd += w.odd[i];
            *force += w.odd_force[i];
        }
        if (w.last < system->kernels)
            odd += run_alone(&w, w.last);
    }
    return odd;
}
