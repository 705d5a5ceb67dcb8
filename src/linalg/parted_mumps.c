/* parted_mumps.c - A = G K^-1 G^T + D of several ranks where it is no narrow band (parted.c): nets
 * and trusses, by parallel MUMPS, Cholesky without pivoting. Built with -DTAUT_MPI=ON where the
 * library is there.
 *
 *     P. Amestoy, I. Duff, J.-Y. L'Excellent, J. Koster,
 *     SIAM J. Matrix Anal. Appl. 23 (2001) 15-41
 *
 * Each rank gives the entries of its rows, of which it needs no message; MUMPS distributes the
 * factors. Right-hand sides and solutions are gathered on rank 0, one number a bond. MUMPS takes
 * its own memory, also while factoring. */
#include "linalg/backend.h"

#include <dmumps_c.h>

#include "base/vectors.h"

typedef struct parted_mumps {
    taut_space *space;
    const taut_halo *halo;
    DMUMPS_STRUC_C mumps;
    bool begun;
    int64_t entries;
    int *row, *column; /* from 1, in the whole matrix */
    double *value;
    int32_t *slot; /* of each pair of entries of G that share a column, in the order of `walk` */
    int *partner;  /* on rank 0 all others, elsewhere rank 0 */
    int64_t *start, *nothing; /* [size + 1] numbers that rank 0 exchanges with each, and none */
    double *own;              /* [owned rows] */
    double *whole;            /* [rows of all ranks], on rank 0 */
} parted_mumps;

/* Visits pairs (e, f) of entries of G in a column, e of a row owned and f of a row that does not
 * come after it in the whole matrix; in the order of rows. */
typedef void visit(parted_mumps *w, taut_index i, taut_index k, taut_index e, taut_index f,
                   int64_t pair, void *user);
static int64_t walk(parted_mumps *w, const taut_form *form, const double *place, visit *function,
                    void *user)
{
    const taut_columns *columns = &form->columns;
    const taut_index *start = form->shape.g_start, *column = form->shape.g_column;
    int64_t pairs = 0;
    for (int r = 0; r < w->halo->ranges; r++)
        for (taut_index i = w->halo->range[r][0]; i < w->halo->range[r][1]; i++)
            for (taut_index e = start[i]; e < start[i + 1]; e++)
                for (taut_index a = columns->start[column[e]]; a < columns->start[column[e] + 1];
                     a++) {
                    const taut_index k = columns->row[a];
                    if (place[k] > place[i])
                        continue;
                    if (function)
                        function(w, i, k, e, columns->entry[a], pairs, user);
                    pairs++;
                }
    return pairs;
}

/* ---- once */

typedef struct pattern {
    const double *place;
    int32_t *mark; /* [rows]: slot of a row in the row being made, or below its first one */
    taut_index row;
    int64_t first;
} pattern;

static void find_slot(parted_mumps *w, taut_index i, taut_index k, taut_index e, taut_index f,
                      int64_t pair, void *user)
{
    pattern *p = user;
    (void)e, (void)f;
    if (i != p->row) {
        p->row = i;
        p->first = w->entries;
    }
    if (p->mark[k] < p->first) {
        p->mark[k] = (int32_t)w->entries;
        w->row[w->entries] = (int)p->place[i] + 1;
        w->column[w->entries++] = (int)p->place[k] + 1;
    }
    w->slot[pair] = p->mark[k];
}

static int find_pattern(parted_mumps *w, const taut_form *form, taut_arena *arena,
                        taut_arena *scratch, taut_error *error)
{
    double *place = TAUT_NEW(scratch, double, form->rows);
    pattern p = {.place = place, .mark = TAUT_NEW(scratch, int32_t, form->rows), .row = -1};
    TAUT_NEED(error, place, p.mark);
    int64_t next = w->halo->before;
    for (int r = 0; r < w->halo->ranges; r++)
        for (taut_index i = w->halo->range[r][0]; i < w->halo->range[r][1]; i++)
            place[i] = (double)next++;
    taut_halo_refresh(w->halo, place);
    for (taut_index i = 0; i < form->rows; i++)
        p.mark[i] = -1;
    const int64_t pairs = walk(w, form, place, NULL, NULL);
    w->slot = TAUT_NEW(arena, int32_t, pairs);
    w->row = TAUT_NEW(arena, int, pairs);
    w->column = TAUT_NEW(arena, int, pairs);
    TAUT_NEED(error, w->slot, w->row, w->column);
    walk(w, form, place, find_slot, &p);
    return TAUT_RESERVE(arena, w->entries, error, &w->value);
}

/* What rank 0 gets from each: the ranks own successive rows. */
static int find_exchange(parted_mumps *w, taut_arena *arena, taut_error *error)
{
    const int size = w->space->size;
    const bool first = w->space->rank == 0;
    w->partner = TAUT_NEW(arena, int, size);
    w->start = TAUT_NEW(arena, int64_t, size + 1);
    w->nothing = TAUT_NEW(arena, int64_t, size + 1);
    TAUT_NEED(error, w->partner, w->start, w->nothing);
    double own = 0;
    for (int r = 0; r < w->halo->ranges; r++)
        own += w->halo->range[r][1] - w->halo->range[r][0];
    TAUT_TRY(TAUT_RESERVE(arena, (int64_t)own, error, &w->own));
    TAUT_TRY(TAUT_RESERVE(arena, first ? w->halo->total : 0, error, &w->whole));
    w->space->calls->gather(w->space, sizeof own, &own, w->space->room);
    for (int r = 1; r < size && first; r++) {
        w->partner[r - 1] = r;
        w->start[r] = w->start[r - 1] + (int64_t)w->space->room[r];
    }
    if (!first)
        w->start[1] = (int64_t)own;
    return TAUT_OK;
}

static int begin(parted_mumps *w, taut_error *error)
{
    enum { WORLD = -987654, DISTRIBUTED = 3, SPARE = 100 };
    DMUMPS_STRUC_C *m = &w->mumps;
    m->comm_fortran = WORLD;
    m->sym = 1;
    m->par = 1;
    m->job = -1;
    dmumps_c(m);
    w->begun = true;
    for (int k = 0; k < 4; k++) /* silent */
        m->icntl[k] = k < 3 ? -1 : 0;
    m->icntl[17] = DISTRIBUTED;
    m->icntl[13] = SPARE; /* percent; with less, factorisations on several ranks run out of room */
    m->n = (MUMPS_INT)w->halo->total;
    m->nnz_loc = w->entries;
    m->irn_loc = w->row;
    m->jcn_loc = w->column;
    m->a_loc = w->value;
    m->job = 1;
    dmumps_c(m);
    return m->infog[0] >= 0 ? TAUT_OK
                            : taut_fail(error, TAUT_ERROR_CONVERGE,
                                        "MUMPS cannot analyse the rigid bonds: INFOG(1) = %d, "
                                        "INFOG(2) = %d",
                                        m->infog[0], m->infog[1]);
}

static int create_parted_mumps(taut_saddle *saddle, taut_error *error)
{
    taut_form *form = &saddle->form;
    const taut_halo *halo = form->shape.row_halo;
    parted_mumps *w = saddle->work = TAUT_NEW(&saddle->arena, parted_mumps, 1);
    taut_arena scratch;
    taut_arena_init(&scratch, &saddle->arena.allocator);
    int status = w ? TAUT_OK : taut_fail_memory(error);
    TAUT_TRY(taut_space_agree(halo->space, status, error));
    w->space = halo->space;
    w->halo = halo;
    status = find_pattern(w, form, &saddle->arena, &scratch, error);
    taut_arena_clear(&scratch);
    TAUT_TRY(taut_space_agree(w->space, status, error));
    status = taut_space_agree(w->space, find_exchange(w, &saddle->arena, error), error);
    return status == 0 ? taut_space_agree(w->space, begin(w, error), error) : status;
}

static void destroy_parted_mumps(taut_saddle *saddle)
{
    parted_mumps *w = saddle->work;
    if (!w || !w->begun)
        return;
    w->mumps.job = -2;
    dmumps_c(&w->mumps);
    w->begun = false;
}

/* ---- values */

typedef struct products {
    const double *g, *inverse;
    const taut_index *column;
} products;

static void add_product(parted_mumps *w, taut_index i, taut_index k, taut_index e, taut_index f,
                        int64_t pair, void *user)
{
    const products *p = user;
    (void)i, (void)k;
    w->value[w->slot[pair]] += p->g[e] * p->g[f] * p->inverse[p->column[e]];
}

static int factor_parted_mumps(taut_saddle *saddle, const taut_saddle_values *values,
                               taut_error *error)
{
    parted_mumps *w = saddle->work;
    taut_form *form = &saddle->form;
    int status = taut_form_load(form, values, error);
    TAUT_TRY(taut_space_agree(w->space, status, error));
    products p = {values->g1, form->k_inverse, form->shape.g_column};
    double *place = form->vector; /* free until a right-hand side comes */
    int64_t next = w->halo->before;
    for (int r = 0; r < w->halo->ranges; r++)
        for (taut_index i = w->halo->range[r][0]; i < w->halo->range[r][1]; i++)
            place[i] = (double)next++;
    taut_halo_refresh(w->halo, place);
    taut_clear(w->entries, w->value);
    walk(w, form, place, add_product, &p);
    for (int64_t k = 0; values->d && k < w->entries; k++)
        if (w->row[k] == w->column[k]) {
            int64_t own = w->row[k] - 1 - w->halo->before;
            for (int r = 0; r < w->halo->ranges; r++) {
                const taut_index length = w->halo->range[r][1] - w->halo->range[r][0];
                if (own >= 0 && own < length)
                    w->value[k] += ((const double *)values->d)[w->halo->range[r][0] + own];
                own -= length;
            }
        }
    w->mumps.job = 2;
    dmumps_c(&w->mumps);
    const int info = w->mumps.infog[0];
    if (info >= 0)
        return TAUT_OK;
    if (info == -10 || info == -40)
        return taut_fail(error, TAUT_ERROR_SINGULAR,
                         "the saddle matrix is singular: bonds without compliance depend on each "
                         "other");
    return taut_fail(error, TAUT_ERROR_CONVERGE,
                     "MUMPS cannot factor the rigid bonds: INFOG(1) = %d, INFOG(2) = %d", info,
                     w->mumps.infog[1]);
}

/* owned rows of the form's vector -> rank 0, and back */
static void to_first(parted_mumps *w)
{
    const bool first = w->space->rank == 0;
    const int64_t rest = w->start[w->space->size - 1];
    double *others = first ? w->whole + (w->halo->total - rest) : NULL;
    w->space->calls->exchange(w->space, first ? w->space->size - 1 : 1, w->partner,
                              first ? w->nothing : w->start, w->own, first ? w->start : w->nothing,
                              others);
}

static void from_first(parted_mumps *w)
{
    const bool first = w->space->rank == 0;
    const int64_t rest = w->start[w->space->size - 1];
    const double *others = first ? w->whole + (w->halo->total - rest) : NULL;
    w->space->calls->exchange(w->space, first ? w->space->size - 1 : 1, w->partner,
                              first ? w->start : w->nothing, others, first ? w->nothing : w->start,
                              w->own);
}

static int solve_parted_mumps(taut_saddle *saddle, taut_error *error)
{
    parted_mumps *w = saddle->work;
    taut_form *form = &saddle->form;
    double *vector = form->vector, *own = w->space->rank == 0 ? w->whole : w->own;
    const taut_halo *halo = w->halo;
    int64_t k = 0;
    for (int r = 0; r < halo->ranges; r++)
        for (taut_index i = halo->range[r][0]; i < halo->range[r][1]; i++)
            own[k++] = vector[i] / form->scale[i];
    to_first(w);
    w->mumps.rhs = w->whole;
    w->mumps.nrhs = 1;
    w->mumps.lrhs = w->mumps.n;
    w->mumps.job = 3;
    dmumps_c(&w->mumps);
    from_first(w);
    k = 0;
    for (int r = 0; r < halo->ranges; r++)
        for (taut_index i = halo->range[r][0]; i < halo->range[r][1]; i++)
            vector[i] = own[k++];
    taut_halo_refresh(halo, vector);
    for (taut_index i = 0; i < form->rows; i++)
        vector[i] /= form->scale[i];
    return w->mumps.infog[0] >= 0 ? TAUT_OK
                                  : taut_fail(error, TAUT_ERROR_CONVERGE,
                                              "MUMPS cannot solve for the rigid bonds: INFOG(1) = "
                                              "%d, INFOG(2) = %d",
                                              w->mumps.infog[0], w->mumps.infog[1]);
}

static void archive_nothing(taut_saddle *saddle, taut_archive *archive)
{
    (void)saddle, (void)archive; /* nothing is kept between steps */
}

const taut_backend_functions taut_backend_parted_mumps = {create_parted_mumps, factor_parted_mumps,
                                                          solve_parted_mumps,  destroy_parted_mumps,
                                                          archive_nothing,     NULL};
