/* small_kernels_generic.h - LU with partial pivoting over SCALAR (scalar_real.h,
 * scalar_complex.h): Golub, Van Loan, Matrix Computations, 4th ed., algorithms 3.4.1 (dense) and
 * 4.3.1 with row interchanges (band). Included by small_kernels.c, once per field. */

/* y[0..count) -= factor * x[0..count) */
static inline void NAME(subtract)(int64_t count, SCALAR factor, const SCALAR *restrict x,
                                  SCALAR *restrict y)
{
    for (int64_t k = 0; k < count; k++)
        y[k] -= TIMES(factor, x[k]);
}

/* The row of the largest of `count` numbers. */
static inline taut_index NAME(largest)(taut_index count, const SCALAR *x)
{
    taut_index best = 0;
    double size = MAGNITUDE(x[0]);
    for (taut_index k = 1; k < count; k++)
        if (MAGNITUDE(x[k]) > size) {
            size = MAGNITUDE(x[k]);
            best = k;
        }
    return best;
}

TAUT_HOT static taut_index NAME(lu_factor)(taut_index rows, SCALAR *a, taut_index *pivot,
                                           double tolerance)
{
    for (taut_index j = 0; j < rows; j++) {
        SCALAR *column = a + (int64_t)j * rows;
        taut_index p = j + NAME(largest)(rows - j, column + j);
        pivot[j] = p;
        if (!(MAGNITUDE(column[p]) > tolerance))
            return j + 1;
        if (p != j)
            for (taut_index k = 0; k < rows; k++) {
                SCALAR *row = a + (int64_t)k * rows, held = row[j];
                row[j] = row[p];
                row[p] = held;
            }
        SCALAR inverse = 1.0 / column[j];
        for (taut_index i = j + 1; i < rows; i++)
            column[i] = TIMES(column[i], inverse);
        for (taut_index k = j + 1; k < rows; k++) {
            SCALAR *other = a + (int64_t)k * rows;
            NAME(subtract)(rows - j - 1, other[j], column + j + 1, other + j + 1);
        }
    }
    return 0;
}

static void NAME(lu_solve)(taut_index rows, const SCALAR *a, const taut_index *pivot, SCALAR *x)
{
    for (taut_index j = 0; j < rows; j++) {
        SCALAR held = x[j];
        x[j] = x[pivot[j]];
        x[pivot[j]] = held;
    }
    for (taut_index j = 0; j < rows; j++)
        NAME(subtract)(rows - j - 1, x[j], a + (int64_t)j * rows + j + 1, x + j + 1);
    for (taut_index j = rows - 1; j >= 0; j--) {
        const SCALAR *column = a + (int64_t)j * rows;
        x[j] /= column[j];
        NAME(subtract)(j, x[j], column, x);
    }
}

/* Columns reach up to 2b above the diagonal once rows are exchanged; `reach` is the last column
 * touched so far. */
static taut_index NAME(band_lu_factor)(taut_index rows, taut_index b, SCALAR *a, taut_index *pivot,
                                       double tolerance)
{
    const int64_t next = 3 * (int64_t)b; /* from (i,j) to (i,j+1) */
    taut_index reach = 0;
    for (taut_index j = 0; j < rows; j++) {
        SCALAR *diagonal = a + 2 * (int64_t)b + j * (next + 1);
        taut_index below = rows - 1 - j < b ? rows - 1 - j : b;
        taut_index p = NAME(largest)(below + 1, diagonal);
        pivot[j] = j + p;
        if (!(MAGNITUDE(diagonal[p]) > tolerance))
            return j + 1;
        taut_index last = j + b + p < rows - 1 ? j + b + p : rows - 1;
        reach = last > reach ? last : reach;
        if (p)
            for (taut_index k = 0; k <= reach - j; k++) {
                SCALAR *entry = diagonal + k * next, held = entry[0];
                entry[0] = entry[p];
                entry[p] = held;
            }
        SCALAR inverse = 1.0 / diagonal[0];
        diagonal[0] = inverse;
        for (taut_index i = 1; i <= below; i++)
            diagonal[i] = TIMES(diagonal[i], inverse);
        for (taut_index k = 1; k <= reach - j; k++) {
            SCALAR *other = diagonal + k * next;
            if (other[0] != 0)
                NAME(subtract)(below, other[0], diagonal + 1, other + 1);
        }
    }
    return 0;
}

TAUT_HOT static void NAME(band_lu_solve)(taut_index rows, taut_index b, const SCALAR *a,
                                         const taut_index *pivot, SCALAR *x)
{
    const int64_t column = 3 * (int64_t)b + 1;
    for (taut_index j = 0; j < rows; j++) {
        SCALAR held = x[pivot[j]];
        x[pivot[j]] = x[j];
        x[j] = held;
        taut_index below = rows - 1 - j < b ? rows - 1 - j : b;
        NAME(subtract)(below, held, a + 2 * (int64_t)b + j * column + 1, x + j + 1);
    }
    for (taut_index j = rows - 1; j >= 0; j--) {
        const SCALAR *diagonal = a + 2 * (int64_t)b + j * column;
        int64_t above = j < 2 * (int64_t)b ? j : 2 * (int64_t)b;
        x[j] = TIMES(x[j], diagonal[0]);
        NAME(subtract)(above, x[j], diagonal - above, x + j - above);
    }
}
