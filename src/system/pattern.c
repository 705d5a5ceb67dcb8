/* pattern.c - sparsity, fixed when a system is made: rows of G, and the one n x n pattern on
 * which df/dq, df/dv, M and weighted Hessians live, so that K = M - h mu df/dv - ... is a sum of
 * arrays. The n x n pattern is formed at its first request, because explicit methods never need
 * it. */
#include "base/rows.h"
#include "system/pair_sums.h"

#include <stdlib.h>
#include <string.h>

static taut_index local_index(const taut_local *local, int64_t member)
{
    return local->gather ? local->gather[member] : local->one;
}

/* Stable by role, so that the members of g come in file order. */
static int sort_kernels(taut_system *system, taut_error *error)
{
    taut_statement_kernel **sorted =
        TAUT_NEW(&system->arena, taut_statement_kernel *, system->kernels);
    TAUT_NEED(error, sorted);
    int32_t count = 0;
    for (int role = 0; role < TAUT_ROLE_COUNT; role++)
        for (int32_t k = 0; k < system->kernels; k++)
            if ((int)system->kernel[k]->role == role)
                sorted[count++] = system->kernel[k];
    system->kernel = sorted;
    return 0;
}

/* Where kernels find their entries by columns (base/rows.h). */
static void place_columns(taut_system *system)
{
    const taut_index *start = system->jacobian_start;
    system->columns = true;
    for (int32_t k = 0; k < system->kernels; k++) {
        taut_statement_kernel *kernel = system->kernel[k];
        if (kernel->role != TAUT_ROLE_BOND || kernel->members == 0)
            continue;
        const bool next =
            !kernel->rows.gather && (kernel->rows.stride == 1 || kernel->members == 1);
        const taut_index row = kernel->row[0], terms = kernel->locals;
        taut_index group = row;
        while (group > 0 && start[group] - start[group - 1] == terms)
            group--;
        kernel->column_step =
            next ? taut_columns_end(start, system->sizes.bonds, group) - group : 0;
        kernel->column_first = start[group] + (row - group);
        system->columns = system->columns && next;
        if (kernel->guards && kernel->guards->held) {
            kernel->guards->held->column_step = kernel->column_step;
            kernel->guards->held->column_first = kernel->column_first;
        }
    }
}

int taut_system_complete(taut_system *system, taut_error *error)
{
    TAUT_TRY(sort_kernels(system, error));
    taut_index m = system->sizes.bonds;
    int64_t entries = 0;
    system->jacobian_start = TAUT_NEW(&system->arena, taut_index, m + 1);
    TAUT_NEED(error, system->jacobian_start);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        system->sizes.members += kernel->members;
        if (kernel->role != TAUT_ROLE_BOND)
            continue;
        entries += kernel->members * kernel->locals;
        for (int64_t i = 0; i < kernel->members; i++)
            system->jacobian_start[kernel->row[i] + 1] = kernel->locals;
    }
    if (entries > INT32_MAX)
        return taut_fail(error, TAUT_ERROR_SIZE,
                         "G would have %lld entries; at most %d can be stored", (long long)entries,
                         INT32_MAX);
    for (taut_index i = 0; i < m; i++)
        system->jacobian_start[i + 1] += system->jacobian_start[i];
    system->jacobian_column = TAUT_NEW(&system->arena, taut_index, entries);
    TAUT_NEED(error, system->jacobian_column);
    for (int32_t k = 0; k < system->kernels; k++) {
        const taut_statement_kernel *kernel = system->kernel[k];
        if (kernel->role != TAUT_ROLE_BOND)
            continue;
        for (int64_t i = 0; i < kernel->members; i++)
            for (int32_t c = 0; c < kernel->locals; c++)
                system->jacobian_column[system->jacobian_start[kernel->row[i]] + c] =
                    local_index(&kernel->local[c], i);
    }
    place_columns(system);
    system->sizes.jacobian_entries = entries;
    system->sizes.kernels = system->kernels;
    return 0;
}

/* Every (row, column) that a kernel touches, one after another: the pattern and the maps are
 * made by the same walk. */
typedef struct walk {
    const taut_system *system;
    bool control; /* the pattern of df/dy instead */
    taut_index *start, *column;
    taut_index *fill; /* next free place of each row, while collecting */
    taut_index *map;  /* while mapping: where to write positions */
    int stage;        /* 0 count, 1 collect, 2 map */
} walk;

static taut_index position(const walk *w, taut_index row, taut_index column)
{
    taut_index low = w->start[row], high = w->start[row + 1];
    while (low < high) {
        taut_index middle = low + (high - low) / 2;
        if (w->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void touch(walk *w, taut_index row, taut_index column, int64_t entry, int64_t members,
                  int64_t member)
{
    if (w->stage == 0)
        w->start[row + 1]++;
    else if (w->stage == 1)
        w->column[w->fill[row]++] = column;
    else
        w->map[entry * members + member] = position(w, row, column);
}

static bool is_square(const taut_statement_kernel *kernel)
{
    return kernel->role == TAUT_ROLE_KINETIC || (kernel->role <= TAUT_ROLE_STIFF && kernel->second);
}

/* Entries of one kernel; the order of maps is that of kernel.h and evaluate.c. */
static void walk_kernel(walk *w, const taut_statement_kernel *kernel)
{
    int32_t nc = kernel->locals;
    for (int64_t i = 0; i < kernel->members; i++) {
        if (is_square(kernel) && !w->control) {
            for (int32_t a = 0; a < nc; a++)
                for (int32_t b = 0; b < nc; b++)
                    touch(w, local_index(&kernel->local[a], i), local_index(&kernel->local[b], i),
                          (int64_t)a * nc + b, kernel->members, i);
        } else if (kernel->role == TAUT_ROLE_FORCE) {
            for (int32_t c = 0; c < nc; c++) {
                bool algebraic =
                    w->system->sizes.kind != TAUT_MECHANICAL && kernel->local[c].q_slot < 0;
                if (algebraic == w->control)
                    touch(w, kernel->row[i], local_index(&kernel->local[c], i), c, kernel->members,
                          i);
            }
        } else if (kernel->role == TAUT_ROLE_MASS && !w->control) {
            taut_index a = kernel->row[i], b = kernel->column[i];
            touch(w, a, b, 0, kernel->members, i);
            touch(w, b, a, 1, kernel->members, i);
            for (int32_t c = 0; c < nc; c++) {
                touch(w, a, local_index(&kernel->local[c], i), 2 + c, kernel->members, i);
                touch(w, b, local_index(&kernel->local[c], i), 2 + nc + c, kernel->members, i);
            }
        }
    }
}

/* Sums over pairs: any pair can come near; their maps are made when it does. */
static void walk_pairs(walk *w, const taut_pair_sum *sum)
{
    const taut_pair_families *f = &sum->families;
    const int d = f->dimension;
    for (int64_t k = 0; k < (int64_t)f->count[0] * f->count[1]; k++) {
        const taut_index at[2] = {f->first[0] + d * (taut_index)(k / f->count[1]),
                                  f->first[1] + d * (taut_index)(k % f->count[1])};
        for (int e = 0; e < 4 * d * d; e++)
            touch(w, at[e / (2 * d * d)] + e / (2 * d) % d, at[e / d % 2] + e % d, 0, 0, 0);
    }
}

static void walk_all(walk *w, int stage)
{
    w->stage = stage;
    if (!w->control)
        for (taut_index i = 0; i < w->system->sizes.coordinates; i++)
            touch(w, i, i, 0, 0, 0);
    for (int32_t k = 0; k < w->system->kernels; k++)
        walk_kernel(w, w->system->kernel[k]);
    for (int32_t k = 0; k < w->system->pair_sums && !w->control; k++)
        if (taut_pair_sum_dense(w->system->pair_sum[k]))
            walk_pairs(w, w->system->pair_sum[k]);
}

static int compare(const void *a, const void *b)
{
    taut_index x = *(const taut_index *)a, y = *(const taut_index *)b;
    return (x > y) - (x < y);
}

/* Short rows are the rule: insertion sort for them. */
static void sort_row(taut_index *x, taut_index count)
{
    if (count > 32) {
        qsort(x, (size_t)count, sizeof *x, compare);
        return;
    }
    for (taut_index i = 1; i < count; i++) {
        taut_index value = x[i], j = i;
        for (; j > 0 && x[j - 1] > value; j--)
            x[j] = x[j - 1];
        x[j] = value;
    }
}

/* Sorts rows and removes repetitions, in place. */
static void compress(taut_index rows, taut_index *start, taut_index *column)
{
    taut_index to = 0, from = 0;
    for (taut_index i = 0; i < rows; i++) {
        taut_index end = start[i + 1];
        sort_row(column + from, end - from);
        start[i] = to;
        for (taut_index k = from; k < end; k++)
            if (k == from || column[k] != column[k - 1])
                column[to++] = column[k];
        from = end;
    }
    start[rows] = to;
}

static int64_t map_entries(const taut_statement_kernel *kernel)
{
    int64_t nc = kernel->locals;
    if (is_square(kernel))
        return nc * nc;
    return kernel->role == TAUT_ROLE_FORCE ? nc : kernel->role == TAUT_ROLE_MASS ? 2 + 2 * nc : 0;
}

/* As many contributions as walk_kernel makes, or a few more; counted before walking, which may
 * take too long. */
static int check_contributions(const taut_system *system, taut_error *error)
{
    double total = system->sizes.coordinates;
    for (int32_t k = 0; k < system->kernels; k++)
        total += (double)map_entries(system->kernel[k]) * (double)system->kernel[k]->members;
    if (total <= INT32_MAX)
        return 0;
    return taut_fail(
        error, TAUT_ERROR_SIZE,
        "the matrix of second derivatives would need %.0f contributions; at most %d fit", total,
        INT32_MAX);
}

static int make_maps(walk *w, taut_error *error)
{
    w->stage = 2;
    for (int32_t k = 0; k < w->system->kernels; k++) {
        taut_statement_kernel *kernel = w->system->kernel[k];
        int64_t entries = map_entries(kernel);
        if (entries == 0 || (w->control && kernel->role != TAUT_ROLE_FORCE))
            continue;
        w->map = TAUT_NEW(&w->system->late->arena, taut_index, entries * kernel->members);
        TAUT_NEED(error, w->map);
        /* -1: no entry */
        memset(w->map, 0xff, (size_t)(entries * kernel->members) * sizeof *w->map);
        walk_kernel(w, kernel);
        *(w->control ? &kernel->control_map : &kernel->map) = w->map;
        if (kernel->guards)
            *(w->control ? &kernel->guards->held->control_map : &kernel->guards->held->map) =
                w->map;
    }
    return 0;
}

static int form(const taut_system *system, bool control, taut_pattern *pattern, taut_error *error)
{
    taut_arena scratch;
    taut_arena_init(&scratch, &system->arena.allocator);
    taut_index n = system->sizes.coordinates;
    walk w = {.system = system, .control = control};
    int status = check_contributions(system, error);
    if (status)
        goto done;
    taut_index *collected;
    w.start = TAUT_NEW(&system->late->arena, taut_index, n + 1);
    w.fill = TAUT_NEW(&scratch, taut_index, n + 1);
    if (!w.start || !w.fill) {
        status = taut_fail_memory(error);
        goto done;
    }
    walk_all(&w, 0);
    for (taut_index i = 0; i < n; i++) {
        w.start[i + 1] += w.start[i];
        w.fill[i] = w.start[i];
    }
    collected = w.column = TAUT_NEW(&scratch, taut_index, w.start[n]);
    if (!w.column) {
        status = taut_fail_memory(error);
        goto done;
    }
    walk_all(&w, 1);
    compress(n, w.start, w.column);
    w.column = TAUT_NEW(&system->late->arena, taut_index, w.start[n]);
    if (!w.column) {
        status = taut_fail_memory(error);
        goto done;
    }
    memcpy(w.column, collected, (size_t)w.start[n] * sizeof *w.column);
    status = make_maps(&w, error);
    if (status == 0)
        *pattern = (taut_pattern){n, control ? system->sizes.algebraic : n, w.start, w.column};
done:
    taut_arena_clear(&scratch);
    return status;
}

const taut_patterns *taut_system_patterns(const taut_system *system)
{
    static const taut_patterns none;
    const taut_patterns *formed =
        atomic_load_explicit(&system->late->patterns, memory_order_acquire);
    return formed ? formed : &none;
}

int taut_system_form(const taut_system *system, const taut_patterns **patterns, taut_error *error)
{
    taut_late *late = system->late;
    *patterns = atomic_load_explicit(&late->patterns, memory_order_acquire);
    if (*patterns)
        return TAUT_OK;
    pthread_mutex_lock(&late->lock);
    int status = 0;
    /* kernels and their maps are shared by base and derived systems, as `late` is */
    if (!late->formed.tangent.start)
        status = form(system, false, &late->formed.tangent, error);
    if (status == 0 && !late->formed.control.start && system->sizes.algebraic > 0)
        status = form(system, true, &late->formed.control, error);
    if (status == 0)
        atomic_store_explicit(&late->patterns, *patterns = &late->formed, memory_order_release);
    pthread_mutex_unlock(&late->lock);
    return status;
}

int taut_system_pattern(const taut_system *system, taut_pattern_of which, taut_pattern *pattern,
                        taut_error *error)
{
    const taut_sizes *sizes = &system->sizes;
    if (which == TAUT_PATTERN_JACOBIAN) {
        *pattern = (taut_pattern){sizes->bonds, sizes->coordinates, system->jacobian_start,
                                  system->jacobian_column};
        return 0;
    }
    if (which != TAUT_PATTERN_TANGENT && sizes->algebraic == 0)
        return taut_fail(error, TAUT_ERROR_USAGE,
                         "this system has no algebraic variables, so there is no control pattern");
    const taut_patterns *patterns;
    TAUT_TRY(taut_system_form(system, &patterns, error));
    *pattern = which == TAUT_PATTERN_TANGENT ? patterns->tangent : patterns->control;
    return 0;
}
