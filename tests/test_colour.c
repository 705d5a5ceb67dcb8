/* test_colour.c - colours and the pattern of A^T A on random sparse patterns, against their
 * definitions by brute force. */
#include "support/faulty.h"
#include "system/from_c/colour.h"
#include "support/table.h"
#include "support/twins.h"

enum { ROWS_MOST = 40, COLUMNS_MOST = 30 };

typedef struct matrix { /* a pattern, and the same as a table */
    taut_index start[ROWS_MOST + 1], column[ROWS_MOST * COLUMNS_MOST];
    bool has[ROWS_MOST][COLUMNS_MOST];
    taut_pattern pattern;
} matrix;

static void make(matrix *a, taut_index rows, taut_index columns, double density, uint64_t *seed)
{
    memset(a, 0, sizeof *a);
    taut_index used = 0;
    for (taut_index i = 0; i < rows; i++) {
        for (taut_index j = columns - 1; j >= 0; j--) /* not sorted upwards */
            if (fabs(twins_random(seed)) < density) {
                a->has[i][j] = true;
                a->column[used++] = j;
            }
        a->start[i + 1] = used;
    }
    a->pattern = (taut_pattern){rows, columns, a->start, a->column};
}

static bool share_row(const matrix *a, taut_index j, taut_index k)
{
    for (taut_index i = 0; i < a->pattern.rows; i++)
        if (a->has[i][j] && a->has[i][k])
            return true;
    return false;
}

/* Every column once; no two of one colour in a row; entries by columns are those of the pattern. */
static void check_colours(const matrix *a, const taut_colouring *c)
{
    const taut_pattern *p = &a->pattern;
    int seen[COLUMNS_MOST] = {0}, clashes = 0, wrong = 0, most = 0;
    for (taut_index k = 0; k < c->colours; k++)
        for (taut_index g = c->group_start[k]; g < c->group_start[k + 1]; g++) {
            seen[c->group_column[g]]++;
            for (taut_index h = c->group_start[k]; h < g; h++)
                clashes += share_row(a, c->group_column[g], c->group_column[h]);
        }
    for (taut_index j = 0; j < p->columns; j++) {
        wrong += seen[j] != 1;
        for (taut_index e = c->column_start[j]; e < c->column_start[j + 1]; e++)
            wrong += p->column[c->place[e]] != j || c->place[e] < p->start[c->row[e]] ||
                     c->place[e] >= p->start[c->row[e] + 1];
    }
    for (taut_index i = 0; i < p->rows; i++)
        most = p->start[i + 1] - p->start[i] > most ? p->start[i + 1] - p->start[i] : most;
    check_row(clashes == 0 && wrong == 0 && c->column_start[p->columns] == p->start[p->rows],
              "%d x %d: %d clashes, %d wrong, %d of %d entries", p->rows, p->columns, clashes,
              wrong, c->column_start[p->columns], p->start[p->rows]);
    check_row(c->colours >= most && c->colours <= p->columns, "%d colours for rows of up to %d",
              c->colours, most);
}

static void check_square(const matrix *a, const taut_pattern *square)
{
    int wrong = 0;
    for (taut_index j = 0; j < a->pattern.columns; j++) {
        taut_index at = square->start[j];
        for (taut_index k = 0; k < a->pattern.columns; k++)
            if (j == k || share_row(a, j, k))
                wrong += at >= square->start[j + 1] ||
                         square->column[at++] != k; /* in order, none missing */
        wrong += at != square->start[j + 1];
    }
    check_row(wrong == 0, "%d x %d: %d differences from A^T A", a->pattern.rows, a->pattern.columns,
              wrong);
}

static void check_one(const matrix *a, const taut_allocator *allocator)
{
    taut_arena arena;
    taut_error error = {0};
    taut_colouring colouring;
    taut_pattern square;
    taut_arena_init(&arena, allocator);
    if (check_row(taut_colour(&a->pattern, &arena, &colouring, &error) == 0, "colours: %s",
                  error.message))
        check_colours(a, &colouring);
    if (check_row(taut_colour_square(&a->pattern, 1000000, &arena, &square, &error) == 0,
                  "square: %s", error.message)) {
        check_square(a, &square);
        int64_t entries = square.start[square.rows];
        check_equal("one entry too many",
                    taut_colour_square(&a->pattern, entries - 1, &arena, &square, &error),
                    TAUT_ERROR_SIZE);
        check_equal("just enough",
                    taut_colour_square(&a->pattern, entries, &arena, &square, &error), 0);
    }
    taut_arena_clear(&arena);
}

int main(void)
{
    check_group("random patterns");
    static matrix a;
    uint64_t seed = 5;
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    static const double density[] = {0, 0.03, 0.1, 0.3, 0.8, 1};
    for (size_t d = 0; d < sizeof density / sizeof density[0]; d++)
        for (taut_index rows = 0; rows <= ROWS_MOST; rows += 8)
            for (taut_index columns = 1; columns <= COLUMNS_MOST; columns += 7) {
                make(&a, rows, columns, density[d], &seed);
                check_one(&a, &allocator);
            }
    check_equal("blocks left", f.live, 0);

    check_group("known patterns");
    taut_arena arena;
    taut_colouring c;
    taut_arena_init(&arena, &allocator);
    make(&a, 0, 10, 0, &seed);
    taut_colour(&a.pattern, &arena, &c, NULL);
    check_equal("nothing in common: one colour", c.colours, 1);
    /* a chain: columns i, i+1 in row i */
    for (taut_index i = 0; i < 9; i++) {
        a.start[i] = 2 * i;
        a.column[2 * i] = i;
        a.column[2 * i + 1] = i + 1;
    }
    a.start[9] = 18;
    a.pattern.rows = 9;
    taut_colour(&a.pattern, &arena, &c, NULL);
    check_equal("a chain: two colours", c.colours, 2);
    taut_arena_clear(&arena);
    return check_done();
}
