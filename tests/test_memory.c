/* test_memory.c - the arena: alignment, zeroes, growth, overflow, failure at every call; and the
 * table of codes. */
#include "base/memory.h"
#include "base/nearmiss.h"

#include "support/faulty.h"
#include "support/table.h"

/* Sizes around every boundary of the arena: the alignment switch at 64 bytes, the first block,
 * the largest step. */
static const unsigned sizes[] = {0,      1,   7,   8,    15,   16,   17,    63,      64,
                                 65,     127, 128, 4000, 4096, 4097, 70000, 1 << 20, (1 << 20) + 1,
                                 3 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static bool all_zero(const unsigned char *bytes, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (bytes[k])
            return false;
    return true;
}

static void blocks_are_apart(void)
{
    check_group("arena");
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    taut_arena arena;
    taut_arena_init(&arena, &allocator);
    unsigned char *block[3 * SIZES];
    int64_t total = 0;
    for (int k = 0; k < 3 * SIZES; k++) {
        unsigned size = sizes[k % SIZES];
        block[k] = taut_arena_get(&arena, size, 1);
        if (!check_row(block[k] != NULL, "block of %u bytes", size))
            continue;
        uintptr_t alignment = size >= 64 ? 64 : 16;
        check_row((uintptr_t)block[k] % alignment == 0, "block of %u bytes is aligned to %d", size,
                  (int)alignment);
        check_row(all_zero(block[k], size), "block of %u bytes is zero", size);
        memset(block[k], 1 + k, size);
        total += size ? size : 1;
    }
    /* had two blocks overlapped, the later mark would show in the earlier one */
    for (int k = 0; k < 3 * SIZES; k++) {
        int64_t wrong = 0;
        for (int64_t j = 0; j < sizes[k % SIZES]; j++)
            wrong += block[k][j] != (unsigned char)(1 + k);
        check_equal("bytes overwritten by other blocks", wrong, 0);
    }
    check_equal("bytes handed out", arena.bytes, total);
    taut_arena_clear(&arena);
    check_equal("blocks left after clear", f.live, 0);
    check_row(taut_arena_get(&arena, 10, 8) != NULL && f.live == 1, "usable after clear, live %lld",
              (long long)f.live);
    taut_arena_clear(&arena);
    taut_arena_clear(&arena);
    check_equal("blocks left after clearing twice", f.live, 0);
}

/* Large arrays of arenas that steps loop over share blocks; of others, and with an allocator of the
 * caller, each has its own. */
static void large_arrays(void)
{
    check_group("large arrays");
    for (int looped = 0; looped < 2; looped++)
        for (int own = 0; own < 2; own++) {
            faulty f = {0};
            taut_allocator allocator = faulty_allocator(&f);
            taut_arena arena;
            taut_arena_init(&arena, own ? &allocator : NULL);
            arena.looped = looped;
            bool good = true;
            int shared = 0; /* begin where the one before ends */
            uintptr_t end = 0;
            for (int k = 0; k < 8; k++) {
                unsigned char *x = taut_arena_get(&arena, 3 << 18, 1);
                shared += (uintptr_t)x == end;
                end = (uintptr_t)x + (3 << 18);
                good = good && x && all_zero(x, 3 << 18);
                if (x)
                    memset(x, 1, 3 << 18);
            }
            check_row(good, "looped %d, own allocator %d", looped, own);
            if (own)
                check_equal("blocks", f.live, 8);
            check_equal("in the block of the one before", shared, looped && !own ? 6 : 0);
            taut_arena_clear(&arena);
            check_row(arena.looped == looped, "a cleared arena stays as it was");
        }
}

static void impossible_sizes(void)
{
    check_group("overflow");
    taut_arena arena;
    taut_arena_init(&arena, NULL);
    check_row(!taut_arena_get(&arena, -1, 8), "negative count");
    check_row(!taut_arena_get(&arena, INT64_MAX, 8), "count * size beyond size_t");
    check_row(!taut_arena_get(&arena, INT64_MAX / 16, 64), "a product that wraps");
    check_row(!taut_arena_get(&arena, 2, SIZE_MAX / 4), "a size near the largest");
    check_row(taut_arena_get(&arena, 1, 8) != NULL, "still usable");
    taut_arena_clear(&arena);
}

static void growing(void)
{
    check_group("grow");
    faulty f = {0};
    taut_allocator allocator = faulty_allocator(&f);
    taut_arena arena;
    taut_arena_init(&arena, &allocator);
    int64_t *array = NULL, capacity = 0, moves = 0;
    enum { MANY = 100000 };
    for (int64_t k = 0; k < MANY; k++) {
        int64_t *larger = taut_arena_grow(&arena, array, k, &capacity, sizeof *array);
        if (!larger)
            break;
        moves += larger != array;
        array = larger;
        array[k] = k * k;
    }
    int64_t wrong = 0;
    for (int64_t k = 0; array && k < MANY; k++)
        wrong += array[k] != k * k;
    check_equal("entries lost", wrong, 0);
    check_row(moves <= 14, "array moved %lld times for %d entries", (long long)moves, MANY);
    /* old copies stay: at most as much again (memory.h), doubled once for the last step */
    check_below("bytes per entry", (double)arena.bytes / MANY, 4.0 * sizeof *array);
    check_below("allocator calls", (double)f.calls, 40);
    char *text = taut_arena_text(&arena, "inner and outer", 5);
    check_row(text && strcmp(text, "inner") == 0, "copy of a text: %s", text ? text : "(null)");
    taut_arena_clear(&arena);
}

/* The work that is made to fail: small pieces, a growing array, a large piece. */
static int work(taut_arena *arena)
{
    int64_t capacity = 0;
    double *array = NULL;
    for (int k = 0; k < 300; k++) {
        double *larger = taut_arena_grow(arena, array, k, &capacity, sizeof *array);
        if (!larger || !taut_arena_get(arena, 33, 7))
            return TAUT_ERROR_MEMORY;
        array = larger;
        array[k] = k;
    }
    return taut_arena_get(arena, 1, 3 << 20) ? 0 : TAUT_ERROR_MEMORY;
}

static void failing_at_every_call(void)
{
    check_group("failing allocator");
    for (int64_t k = 1; k < 1000; k++) {
        faulty f = {.fail = k};
        taut_allocator allocator = faulty_allocator(&f);
        taut_arena arena;
        taut_arena_init(&arena, &allocator);
        int status = work(&arena);
        taut_arena_clear(&arena);
        check_row(status == (f.failed ? TAUT_ERROR_MEMORY : 0) && f.live == 0,
                  "call %lld fails: status %d, %lld blocks left", (long long)k, status,
                  (long long)f.live);
        if (!f.failed) {
            check_row(k > 5, "failures were tried: %lld", (long long)(k - 1));
            return;
        }
    }
    check_row(false, "the work never succeeded");
}

static void codes(void)
{
    check_group("codes");
    for (int code = TAUT_ERROR_PROCESS; code <= TAUT_LIMIT; code++) {
        check_row(strncmp(taut_code_name(code), "TAUT_", 5) == 0, "code %d has a name: %s", code,
                  taut_code_name(code));
        check_row(strcmp(taut_code_text(code), "unknown code") != 0, "code %d has a text", code);
        for (int other = TAUT_ERROR_PROCESS; other < code; other++)
            check_row(strcmp(taut_code_name(code), taut_code_name(other)) != 0,
                      "codes %d and %d have different names", code, other);
    }
    check_row(strcmp(taut_code_name(77), "unknown") == 0, "77 is unknown: %s", taut_code_name(77));

    taut_error error;
    memset(&error, 1, sizeof error);
    int status = taut_fail(&error, TAUT_ERROR_USAGE, "%s is %d", "it", 7);
    check_equal("status", status, TAUT_ERROR_USAGE);
    check_equal("code", error.code, TAUT_ERROR_USAGE);
    check_row(strcmp(error.message, "it is 7") == 0, "message: %s", error.message);
    check_row(error.line == 0 && error.column == 0 && !error.file[0] && !error.source[0] &&
                  isnan(error.t),
              "the rest is empty");
    check_equal("without an error object", taut_fail(NULL, TAUT_ERROR_STEP, "x"), TAUT_ERROR_STEP);
    char text[2 * sizeof error.message];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    taut_fail(&error, TAUT_ERROR_MODEL, "%s", text);
    check_equal("a long message is cut", (long long)strlen(error.message),
                (long long)sizeof error.message - 1);
    check_equal("memory", taut_fail_memory(&error), TAUT_ERROR_MEMORY);
}

static void near_misses(void)
{
    check_group("near misses");
    static const struct {
        const char *a, *b;
        int distance;
    } pairs[] = {
        {"", "", 0},      {"a", "", 1},           {"abc", "abc", 0},    {"abc", "acb", 1},
        {"abc", "ab", 1}, {"abc", "xabc", 1},     {"omega", "omga", 1}, {"step", "until", 4},
        {"ca", "abc", 3}, {"motion", "moiton", 1}};
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        check_equal(pairs[k].a, taut_edit_distance(pairs[k].a, pairs[k].b), pairs[k].distance);
        check_equal(pairs[k].b, taut_edit_distance(pairs[k].b, pairs[k].a), pairs[k].distance);
    }
    static const char *const names[] = {"motion", "method", "step", "until", "x1"};
    static const struct {
        const char *name, *expected;
    } rows[] = {{"mtion", "motion"}, {"methd", "method"}, {"setp", "step"}, {"untill", "until"},
                {"x2", "x1"},        {"zzz", NULL},       {"y", NULL},      {"", NULL}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const char *found = taut_near_miss(rows[k].name, names, 5);
        check_row(found == rows[k].expected ||
                      (found && rows[k].expected && strcmp(found, rows[k].expected) == 0),
                  "'%s': '%s', expected '%s'", rows[k].name, found ? found : "none",
                  rows[k].expected ? rows[k].expected : "none");
    }
    check_row(!taut_near_miss("step", names, 0), "no candidates");
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    check_row(taut_edit_distance(longer, "a") > 64, "names beyond 64 bytes are far from all");
}

int main(void)
{
    blocks_are_apart();
    large_arrays();
    impossible_sizes();
    growing();
    failing_at_every_call();
    codes();
    near_misses();
    return check_done();
}
