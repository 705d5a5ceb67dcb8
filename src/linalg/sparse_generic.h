/* sparse_generic.h - one MUMPS instance over SCALAR; MUMPS_INSTANCE, MUMPS_NUMBER and MUMPS_DO
 * name its arithmetic. Included by sparse.c. Array positions are MUMPS's numbers minus one:
 * icntl[13] is ICNTL(14). */

static int NAME(run)(MUMPS_INSTANCE *mumps, int job)
{
    mumps->job = job;
    pthread_mutex_lock(&mumps_lock);
    MUMPS_DO(mumps);
    pthread_mutex_unlock(&mumps_lock);
    return mumps->infog[0];
}

static int NAME(begin)(MUMPS_INSTANCE *mumps, taut_index rows, int64_t entries, int *row,
                       int *column, bool symmetric, taut_error *error)
{
    mumps->par = 1;
    mumps->sym = symmetric ? 2 : 0;
    mumps->comm_fortran = WORLD;
    if (NAME(run)(mumps, -1) < 0)
        return mumps_failed(mumps->infog, error);
    mumps->icntl[0] = mumps->icntl[1] = mumps->icntl[2] = -1; /* silent */
    mumps->icntl[3] = 0;
    /* no permutation by values: the analysis sees the pattern alone */
    mumps->icntl[5] = 0;
    mumps->icntl[7] = 0; /* scaled already */
    /* one step of iterative refinement: pivoting is by threshold */
    mumps->icntl[9] = -1;
    mumps->icntl[11] = 1;                     /* ordering of the plain pattern */
    mumps->icntl[13] = 200;                   /* per cent of room for delayed pivots */
    mumps->icntl[23] = 1;                     /* find null pivots ... */
    mumps->cntl[2] = -taut_form_tolerance(0); /* ... below this */
    mumps->n = rows;
    mumps->nnz = entries;
    mumps->irn = row;
    mumps->jcn = column;
    return NAME(run)(mumps, 1) < 0 ? mumps_failed(mumps->infog, error) : 0;
}

/* Values in the order of sparse_pattern. */
static void NAME(load)(const taut_form *form, const taut_saddle_values *values, SCALAR *a)
{
    const taut_saddle_shape *shape = &form->shape;
    const double *x = form->scale, *y = form->scale + shape->n;
    for (taut_index i = 0; i < shape->n; i++) {
        taut_index first = shape->k_start ? shape->k_start[i] : i,
                   end = shape->k_start ? shape->k_start[i + 1] : i + 1;
        for (taut_index e = first; e < end; e++) {
            taut_index j = shape->k_start ? shape->k_column[e] : i;
            if (j <= i || !shape->symmetric)
                *a++ = NAME(entry_of_k)(values, values->sum, e, i, i == j) * (x[i] * x[j]);
        }
    }
    for (taut_index i = 0; i < shape->m; i++) {
        for (taut_index e = shape->g_start[i]; e < shape->g_start[i + 1]; e++) {
            double both = y[i] * x[shape->g_column[e]];
            *a++ = NAME(entry_of_g)(values->sum, values->g2, e) * both;
            if (!shape->symmetric)
                *a++ = NAME(entry_of_g)(values->sum, values->g1, e) * both;
        }
        *a++ = values->d ? -NAME(entry_of_d)(values, values->sum, i) * (y[i] * y[i]) : 0;
    }
}

static int NAME(decompose)(MUMPS_INSTANCE *mumps, SCALAR *a)
{
    mumps->a = (MUMPS_NUMBER *)a;
    int info = NAME(run)(mumps, 2);
    /* delayed pivots can need more room than foreseen */
    while ((info == -8 || info == -9) && mumps->icntl[13] < 100000) {
        mumps->icntl[13] *= 3;
        info = NAME(run)(mumps, 2);
    }
    return info;
}

static int NAME(substitute)(MUMPS_INSTANCE *mumps, SCALAR *x)
{
    mumps->rhs = (MUMPS_NUMBER *)x;
    mumps->nrhs = 1;
    mumps->lrhs = mumps->n;
    return NAME(run)(mumps, 3);
}
