/* small_kernels_generic.h - LU with partial pivoting, and L D L^T of symmetric bands
 * without, over SCALAR (scalar_real.h, scalar_complex.h), with NAME(subtract): y[0..count) -=
 * factor x[0..count). Golub, Van Loan, Matrix Computations, 4th ed., algorithms 3.4.1 (dense)
 * and 4.3.1 with row interchanges (band). Included by small_kernels.c, once per field. */

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

/* Columns reach up to 2b above the diagonal once rows are exchanged; *reach is the last column
 * touched so far. Column j, with `below` entries under the diagonal; false: its pivot is small. */
TAUT_INLINED bool NAME(band_column)(taut_index rows, const taut_index b, taut_index j,
                                    const taut_index below, SCALAR *diagonal, taut_index *pivot,
                                    taut_index *reach, double tolerance)
{
    const int64_t next = 3 * (int64_t)b; /* from (i,j) to (i,j+1) */
    taut_index p = NAME(largest)(below + 1, diagonal);
    pivot[j] = j + p;
    if (!(MAGNITUDE(diagonal[p]) > tolerance))
        return false;
    taut_index last = j + b + p < rows - 1 ? j + b + p : rows - 1;
    *reach = last > *reach ? last : *reach;
    if (p)
        for (taut_index k = 0; k <= *reach - j; k++) {
            SCALAR *entry = diagonal + k * next, held = entry[0];
            entry[0] = entry[p];
            entry[p] = held;
        }
    SCALAR inverse = 1.0 / diagonal[0];
    diagonal[0] = inverse;
    for (taut_index i = 1; i <= below; i++)
        diagonal[i] = TIMES(diagonal[i], inverse);
    for (taut_index k = 1; k <= *reach - j; k++) {
        SCALAR *other = diagonal + k * next;
        if (other[0] != 0)
            NAME(subtract)(below, other[0], diagonal + 1, other + 1);
    }
    return true;
}

/* All columns but the last have the same number of entries, which the compiler may see. */
TAUT_INLINED taut_index NAME(band_factor)(taut_index rows, const taut_index b, SCALAR *a,
                                          taut_index *pivot, double tolerance)
{
    const int64_t column = 3 * (int64_t)b + 1;
    SCALAR *diagonal = a + 2 * (int64_t)b;
    taut_index reach = 0, j = 0;
    for (; j < rows - b; j++, diagonal += column)
        if (!NAME(band_column)(rows, b, j, b, diagonal, pivot, &reach, tolerance))
            return j + 1;
    for (; j < rows; j++, diagonal += column)
        if (!NAME(band_column)(rows, b, j, rows - 1 - j, diagonal, pivot, &reach, tolerance))
            return j + 1;
    return 0;
}

TAUT_HOT static taut_index NAME(band_lu_factor)(taut_index rows, taut_index b, SCALAR *a,
                                                taut_index *pivot, double tolerance)
{
    switch (b) {
    case 4: return NAME(band_factor)(rows, 4, a, pivot, tolerance);
    default: return NAME(band_factor)(rows, b, a, pivot, tolerance);
    }
}

/* Column j forwards and backwards, with the numbers of entries below and above. */
TAUT_INLINED void NAME(band_forward)(taut_index j, int64_t below, const SCALAR *diagonal,
                                     const taut_index *pivot, SCALAR *x)
{
    SCALAR held = x[pivot[j]];
    x[pivot[j]] = x[j];
    x[j] = held;
    NAME(subtract)(below, held, diagonal + 1, x + j + 1);
}

TAUT_INLINED void NAME(band_backward)(taut_index j, int64_t above, const SCALAR *diagonal,
                                      SCALAR *x)
{
    SCALAR here = x[j] = TIMES(x[j], diagonal[0]);
    NAME(subtract)(above, here, diagonal - above, x + j - above);
}

/* All columns but those at the ends have the same number of entries, which the compiler may see. */
TAUT_INLINED void NAME(band_solve)(taut_index rows, const taut_index b, const SCALAR *a,
                                   const taut_index *pivot, SCALAR *x)
{
    const int64_t column = 3 * (int64_t)b + 1;
    const SCALAR *diagonal = a + 2 * (int64_t)b;
    taut_index j = 0;
    for (; j < rows - b; j++, diagonal += column)
        NAME(band_forward)(j, b, diagonal, pivot, x);
    for (; j < rows; j++, diagonal += column)
        NAME(band_forward)(j, rows - 1 - j, diagonal, pivot, x);
    for (j = rows - 1; j >= 2 * b; j--) {
        diagonal -= column;
        NAME(band_backward)(j, 2 * b, diagonal, x);
    }
    for (; j >= 0; j--) {
        diagonal -= column;
        NAME(band_backward)(j, j, diagonal, x);
    }
}

TAUT_HOT static void NAME(band_lu_solve)(taut_index rows, taut_index b, const SCALAR *a,
                                         const taut_index *pivot, SCALAR *x)
{
    switch (b) {
    case 2: NAME(band_solve)(rows, 2, a, pivot, x); break;
    case 4: NAME(band_solve)(rows, 4, a, pivot, x); break;
    case 6: NAME(band_solve)(rows, 6, a, pivot, x); break;
    default: NAME(band_solve)(rows, b, a, pivot, x);
    }
}

/* A column of L D L^T, whose error is that of the products |L||D||L^T|. */
TAUT_INLINED bool NAME(symmetric_column)(const taut_index b, const taut_index below,
                                         SCALAR *diagonal, double tolerance)
{
    const double size = MAGNITUDE(diagonal[0]);
    double most = 0;
    for (taut_index k = 1; k <= below; k++)
        most = MAGNITUDE(diagonal[k]) > most ? MAGNITUDE(diagonal[k]) : most;
    if (!(size > tolerance && most * most <= MOST_GROWTH * size))
        return false;
    const SCALAR inverse = 1.0 / diagonal[0];
    for (taut_index k = 1; k <= below; k++)
        NAME(subtract)
    (below - k + 1, TIMES(diagonal[k], inverse), diagonal + k, diagonal + k * (int64_t)(b + 1));
    for (taut_index k = 1; k <= below; k++)
        diagonal[k] = TIMES(diagonal[k], inverse);
    diagonal[0] = inverse;
    return true;
}

TAUT_INLINED bool NAME(symmetric_factor)(taut_index rows, const taut_index b, SCALAR *a,
                                         double tolerance)
{
    taut_index j = 0;
    for (; j < rows - b; j++, a += b + 1)
        if (!NAME(symmetric_column)(b, b, a, tolerance))
            return false;
    for (; j < rows; j++, a += b + 1)
        if (!NAME(symmetric_column)(b, rows - 1 - j, a, tolerance))
            return false;
    return true;
}

TAUT_HOT static bool NAME(band_symmetric_factor)(taut_index rows, taut_index b, SCALAR *a,
                                                 double tolerance)
{
    switch (b) {
    case 5: return NAME(symmetric_factor)(rows, 5, a, tolerance);
    case 7: return NAME(symmetric_factor)(rows, 7, a, tolerance);
    default: return NAME(symmetric_factor)(rows, b, a, tolerance);
    }
}

/* x[j], whose column has `below` entries under the diagonal: the number found last comes last. */
TAUT_INLINED void NAME(symmetric_backward)(const taut_index below, const SCALAR *diagonal,
                                           SCALAR *x)
{
    SCALAR here = TIMES(x[0], diagonal[0]);
    if (below > 1)
        here -= NAME(dot)(below - 1, diagonal + 2, x + 2);
    if (below > 0)
        here -= TIMES(diagonal[1], x[1]);
    x[0] = here;
}

TAUT_INLINED void NAME(symmetric_solve)(taut_index rows, const taut_index b, const SCALAR *a,
                                        SCALAR *x)
{
    taut_index j = 0;
    for (; j < rows - b; j++)
        NAME(subtract)(b, x[j], a + j * (int64_t)(b + 1) + 1, x + j + 1);
    for (; j < rows; j++)
        NAME(subtract)(rows - 1 - j, x[j], a + j * (int64_t)(b + 1) + 1, x + j + 1);
    for (j = rows - 1; j >= rows - b && j >= 0; j--)
        NAME(symmetric_backward)(rows - 1 - j, a + j * (int64_t)(b + 1), x + j);
    for (; j >= 0; j--)
        NAME(symmetric_backward)(b, a + j * (int64_t)(b + 1), x + j);
}

TAUT_HOT static void NAME(band_symmetric_solve)(taut_index rows, taut_index b, const SCALAR *a,
                                                SCALAR *x)
{
    switch (b) {
    case 5: NAME(symmetric_solve)(rows, 5, a, x); break;
    case 7: NAME(symmetric_solve)(rows, 7, a, x); break;
    default: NAME(symmetric_solve)(rows, b, a, x);
    }
}
