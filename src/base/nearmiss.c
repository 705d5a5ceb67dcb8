/* nearmiss.c - optimal string alignment distance on short names, without allocation. */
#include "base/nearmiss.h"

#include <string.h>

enum { LONGEST = 64, FAR = 99 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

int taut_edit_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST)
        return FAR;
    int row[3][LONGEST + 1]; /* rows i-2, i-1, i of the distance table, by i % 3 */
    for (size_t j = 0; j <= n; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int change = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(change, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[m % 3][n];
}

const char *taut_near_miss(const char *name, const char *const *candidates, int64_t count)
{
    if (!name || !candidates)
        return NULL;
    size_t length = strlen(name);
    int best = length <= 4 ? 1 : length <= 8 ? 2 : 3;
    const char *found = NULL;
    for (int64_t k = 0; k < count; k++) {
        int d = taut_edit_distance(name, candidates[k]);
        /* a replacement of every letter is no near miss */
        if (d < (int)length && (d < best || (d == best && !found))) {
            best = d;
            found = candidates[k];
        }
    }
    return found;
}
