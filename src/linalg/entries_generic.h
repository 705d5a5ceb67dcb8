/* entries_generic.h - entries of a saddle matrix over SCALAR (scalar_real.h, scalar_complex.h),
 * from arrays or from a sum of real matrices (saddle.h). Included by form.c, sparse.c and
 * parted_saddle.c. */

/* Entry e of K, which may be on the diagonal, in row i. `sum`: values->sum, or NULL where the
 * compiler may see that. */
static inline SCALAR NAME(entry_of_k)(const taut_saddle_values *values, const taut_saddle_sum *sum,
                                      taut_index e, taut_index i, bool diagonal)
{
    if (!sum)
        return ((const SCALAR *)values->k)[e];
    SCALAR entry = diagonal && sum->diagonal ? sum->diagonal[i] : 0;
    for (int p = 0; p < sum->parts; p++)
        entry += (SCALAR)sum->factor[p] * sum->part[p][e];
    return entry;
}

/* g: one of those of `values` */
static inline SCALAR NAME(entry_of_g)(const taut_saddle_sum *sum, const void *g, taut_index e)
{
    return sum ? ((const double *)g)[e] : ((const SCALAR *)g)[e];
}

static inline SCALAR NAME(entry_of_d)(const taut_saddle_values *values, const taut_saddle_sum *sum,
                                      taut_index i)
{
    return sum ? (SCALAR)sum->d_factor[(int64_t)i * sum->d_step] * sum->d[i]
               : ((const SCALAR *)values->d)[i];
}
