/* table.h - the test harness: every row runs, a failing row prints its numbers, the last line
 * counts them.
 *
 *     int main(void) { check_group("orders"); check_near("euler", slope, 1.0, 0.1);
 *     return check_done(); }
 *
 * Rows print only when they fail (or with TAUT_TEST_VERBOSE set). Header only, no dependencies. */
#ifndef TAUT_TESTS_SUPPORT_TABLE_H
#define TAUT_TESTS_SUPPORT_TABLE_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int passed, failed, skipped;
    const char *group;
} check_counts = {0, 0, 0, ""};

static inline void check_group(const char *name)
{
    check_counts.group = name;
}

/* One row: passes when `good`; the text tells the numbers. Returns `good`. */
__attribute__((format(printf, 2, 3))) static inline bool check_row(bool good, const char *format,
                                                                   ...)
{
    if (good)
        check_counts.passed++;
    else
        check_counts.failed++;
    if (!good || getenv("TAUT_TEST_VERBOSE")) {
        printf("%s %s: ", good ? "ok  " : "FAIL", check_counts.group);
        va_list list;
        va_start(list, format);
        vprintf(format, list);
        va_end(list);
        printf("\n");
        fflush(stdout);
    }
    return good;
}

/* |value - expected| <= tolerance (absolute); NaN fails. */
static inline bool check_near(const char *what, double value, double expected, double tolerance)
{
    return check_row(fabs(value - expected) <= tolerance,
                     "%s: %.17g, expected %.17g, off by %.3g, allowed %.3g", what, value, expected,
                     fabs(value - expected), tolerance);
}

/* value <= limit; NaN fails. */
static inline bool check_below(const char *what, double value, double limit)
{
    return check_row(value <= limit, "%s: %.6g, limit %.6g", what, value, limit);
}

static inline bool check_equal(const char *what, long long value, long long expected)
{
    return check_row(value == expected, "%s: %lld, expected %lld", what, value, expected);
}

static inline bool check_contains(const char *what, const char *text, const char *part)
{
    return check_row(text && strstr(text, part), "%s: \"%s\" does not contain \"%s\"", what,
                     text ? text : "(null)", part);
}

static inline void check_skip(const char *why)
{
    check_counts.skipped++;
    printf("skip %s: %s\n", check_counts.group, why);
}

static inline int check_done(void)
{
    printf("%d passed, %d failed, %d skipped\n", check_counts.passed, check_counts.failed,
           check_counts.skipped);
    return check_counts.failed ? 1 : 0;
}

#endif
