/* parted_saddle_generic.h - one parallel MUMPS instance over SCALAR; MUMPS_INSTANCE, MUMPS_NUMBER
 * and MUMPS_DO name its arithmetic. Included by parted_saddle.c. Array positions are MUMPS's
 * numbers minus one. */

static int NAME(run)(MUMPS_INSTANCE *mumps, int job)
{
    mumps->job = job;
    MUMPS_DO(mumps);
    return mumps->infog[0];
}

static int NAME(begin)(parted_saddle *w, MUMPS_INSTANCE *mumps, bool symmetric)
{
    enum { WORLD = -987654, DISTRIBUTED = 3, SPARE = 100 };
    mumps->comm_fortran = WORLD;
    mumps->par = 1;
    mumps->sym = symmetric ? 2 : 0;
    if (NAME(run)(mumps, -1) < 0)
        return mumps->infog[0];
    w->begun = true;
    for (int k = 0; k < 4; k++) /* silent */
        mumps->icntl[k] = k < 3 ? -1 : 0;
    mumps->icntl[9] = -1; /* one step of iterative refinement: pivoting is by threshold */
    mumps->icntl[12] = 1; /* null pivots are seen in all fronts */
    mumps->icntl[13] = SPARE;
    mumps->icntl[17] = DISTRIBUTED;
    mumps->icntl[23] = 1; /* find null pivots */
    mumps->n = (MUMPS_INT)w->rows;
    mumps->nnz_loc = w->entries;
    mumps->irn_loc = w->i;
    mumps->jcn_loc = w->j;
    mumps->a_loc = (MUMPS_NUMBER *)w->a;
    return NAME(run)(mumps, 1);
}

/* Values in the order of find_pattern. */
static void NAME(load)(const parted_saddle *w, const taut_saddle_shape *shape,
                       const taut_saddle_values *values)
{
    const taut_saddle_sum *sum = values->sum;
    SCALAR *a = w->a;
    for (taut_index r = 0; r < shape->n; r++)
        for (taut_index e = shape->k_start[r]; w->own_column[r] && e < shape->k_start[r + 1]; e++)
            if (is_given(w, shape, r, shape->k_column[e]))
                *a++ = NAME(entry_of_k)(values, sum, e, r, shape->k_column[e] == r);
    for (taut_index b = 0; b < shape->m; b++) {
        for (taut_index e = shape->g_start[b]; e < shape->g_start[b + 1]; e++) {
            if (w->own_row[b])
                *a++ = NAME(entry_of_g)(sum, values->g2, e);
            if (!shape->symmetric && w->own_column[shape->g_column[e]])
                *a++ = NAME(entry_of_g)(sum, values->g1, e);
        }
        if (w->own_row[b])
            *a++ = values->d ? -NAME(entry_of_d)(values, sum, b) : 0;
    }
}

static int NAME(decompose)(MUMPS_INSTANCE *mumps)
{
    int info = NAME(run)(mumps, 2);
    /* delayed pivots can need more room than foreseen */
    while ((info == -8 || info == -9) && mumps->icntl[13] < 100000) {
        mumps->icntl[13] *= 3;
        info = NAME(run)(mumps, 2);
    }
    return info >= 0 && mumps->infog[27] > 0 ? NULL_PIVOT : info;
}

static int NAME(substitute)(const parted_saddle *w, MUMPS_INSTANCE *mumps)
{
    mumps->rhs = (MUMPS_NUMBER *)(void *)w->whole;
    mumps->nrhs = 1;
    mumps->lrhs = mumps->n;
    return NAME(run)(mumps, 3);
}
