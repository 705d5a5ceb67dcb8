/* test_options.c - the options table, its validation and near misses; numbers as text. */
#include <float.h>
#include <locale.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/options.h"
#include "support/faulty.h"
#include "support/table.h"

static void test_table(void)
{
    check_group("options table");
    int count = 0;
    const taut_option *row = taut_option_table(&count);
    check_row(count > 10, "%d rows", count);
    taut_options *options;
    taut_error error;
    check_equal("create", taut_options_create(NULL, &options, &error), 0);
    for (int k = 0; k < count; k++) {
        check_row(taut_option_find(row[k].name) == &row[k], "%s is listed once", row[k].name);
        check_row(row[k].help && strlen(row[k].help) > 10 && row[k].verbs[0],
                  "%s has help and verbs", row[k].name);
        bool takes_value = row[k].type != TAUT_OPTION_FLAG;
        bool named = row[k].argument[0] != '\0';
        check_row(takes_value ? named : !(named && row[k].choices[0]),
                  "%s: an argument is named where one is taken; that of a flag is one kind of text",
                  row[k].name);
        bool words = row[k].type == TAUT_OPTION_CHOICE || !strcmp(row[k].name, "every") ||
                     !strcmp(row[k].name, "compile");
        check_row(words == (row[k].choices[0] != '\0'), "%s: choices", row[k].name);
        /* a default must pass the table's own validation */
        if (row[k].value[0])
            check_row(taut_options_set(options, row[k].name, row[k].value, &error) == 0,
                      "%s: default '%s': %s", row[k].name, row[k].value, error.message);
        /* a model file must not make Taut read, write or run anything */
        if (row[k].in_model)
            check_row(row[k].type == TAUT_OPTION_REAL || row[k].type == TAUT_OPTION_INTEGER ||
                          row[k].type == TAUT_OPTION_CHOICE || !strcmp(row[k].name, "method") ||
                          !strcmp(row[k].name, "accelerate") || !strcmp(row[k].name, "raw") ||
                          !strncmp(row[k].name, "project", 7),
                      "%s may stand in [run]", row[k].name);
    }
    taut_options_destroy(options);
}

static void test_values(void)
{
    static const struct {
        const char *name, *value;
        int code;
        const char *message; /* part of it, or NULL */
    } rows[] = {
        {"compile", "auto", 0, NULL},
        {"compile", "yes", 0, NULL},
        {"compile", "maybe", TAUT_ERROR_USAGE, "expected yes, auto or no, found 'maybe'"},
        {"raw", "auto", TAUT_ERROR_USAGE, "expected yes or no, found 'auto'"},
        {"every", "step", 0, NULL},
        {"every", "0.1", 0, NULL},
        {"every", "steps", TAUT_ERROR_USAGE, "expected a number > 0 or step, found 'steps'"},
        {"every", "", TAUT_ERROR_USAGE, "expected a number > 0 or step"},
        {"step", "step", TAUT_ERROR_USAGE, "expected a number > 0, found 'step'"},
        {"step", "1e-3", 0, NULL},
        {"step", " .5 ", 0, NULL},
        {"step", "abc", TAUT_ERROR_USAGE, "expected a number > 0, found 'abc'"},
        {"step", "0", TAUT_ERROR_USAGE, "expected a number > 0, found '0'"},
        {"step", "-1", TAUT_ERROR_USAGE, "> 0"},
        {"step", "", TAUT_ERROR_USAGE, "found ''"},
        {"step", "1e400", TAUT_ERROR_USAGE, "> 0"},
        {"step", "inf", TAUT_ERROR_USAGE, "> 0"},
        {"step", "nan", TAUT_ERROR_USAGE, "> 0"},
        {"step", "0x10", TAUT_ERROR_USAGE, "> 0"},
        {"step", "1 2", TAUT_ERROR_USAGE, "> 0"},
        {"step", "1e", TAUT_ERROR_USAGE, "> 0"},
        {"step", "1.5.2", TAUT_ERROR_USAGE, "> 0"},
        {"until", "-3", 0, NULL},
        {"until", "x", TAUT_ERROR_USAGE, "expected a number, found 'x'"},
        {"steps", "1e6", 0, NULL},
        {"steps", "0", TAUT_ERROR_USAGE, "expected a whole number >= 1, found '0'"},
        {"steps", "1.5", TAUT_ERROR_USAGE, "a whole number"},
        {"steps", "1e17", TAUT_ERROR_USAGE, "a whole number"},
        {"motion", "slow", 0, NULL},
        {"motion", "fll", TAUT_ERROR_USAGE,
         "expected one of rigid|slow|effective|full, found 'fll'; did you mean full?"},
        {"motion", "", TAUT_ERROR_USAGE, "expected one of"},
        {"motion", "rigid|slow", TAUT_ERROR_USAGE, "expected one of"},
        {"backend", "banded", 0, NULL},
        {"json", "yes", 0, NULL},
        {"json", "perhaps", TAUT_ERROR_USAGE, "expected yes or no, found 'perhaps'"},
        {"out", "", TAUT_ERROR_USAGE, "expected FILE"},
        {"stpe", "1", TAUT_ERROR_USAGE, "unknown option; did you mean step?"},
        {"untill", "1", TAUT_ERROR_USAGE, "did you mean until?"},
        {"zzzzzzzz", "1", TAUT_ERROR_USAGE, "unknown option; docs/options.md lists"},
        {"", "1", TAUT_ERROR_USAGE, "unknown option"},
    };
    check_group("option values");
    taut_options *options;
    check_equal("create", taut_options_create(NULL, &options, NULL), 0);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_error error;
        taut_error_clear(&error);
        int code = taut_options_set(options, rows[k].name, rows[k].value, &error);
        check_row(code == rows[k].code, "--%s '%s': code %d, expected %d (%s)", rows[k].name,
                  rows[k].value, code, rows[k].code, error.message);
        if (rows[k].message) {
            check_contains(rows[k].name, error.message, rows[k].message);
            check_row(strcmp(error.option, rows[k].name) == 0, "%s: the option is named: '%s'",
                      rows[k].name, error.option);
        }
    }
    /* a refused value leaves the accepted one */
    check_near("step", taut_options_real(options, "step"), .5, 0);
    check_equal("steps", taut_options_integer(options, "steps"), 1000000);
    check_equal("no options", taut_options_set(NULL, "step", "1", NULL), TAUT_ERROR_USAGE);
    check_equal("no name", taut_options_set(options, NULL, "1", NULL), TAUT_ERROR_USAGE);
    taut_options_destroy(options);
    taut_options_destroy(NULL);
}

/* Values of the option's own type; every other type is refused, with the option's name. */
static void test_typed(void)
{
    static const struct {
        const char *name;
        char type; /* that it is set with */
        double value;
        const char *text;
        int code;
    } rows[] = {
        {"every", 'r', 0.1, NULL, 0},
        {"every", 't', 0, "step", 0},
        {"every", 't', 0, "stop", -1},
        {"rtol", 'r', 1e-8, NULL, 0},
        {"step", 'r', 0.1, NULL, 0},
        {"steps", 'i', 7, NULL, 0},
        {"json", 'f', 1, NULL, 0},
        {"json", 'f', 0, NULL, 0},
        {"method", 't', 0, "radau5", 0},
        {"motion", 't', 0, "slow", 0},
        {"rtol", 'i', 1, NULL, TAUT_ERROR_USAGE},
        {"rtol", 'r', 2, NULL, -1},
        {"rtol", 'r', NAN, NULL, -1},
        {"step", 'r', INFINITY, NULL, -1},
        {"steps", 'r', 7, NULL, -1},
        {"steps", 'i', 0, NULL, -1},
        {"json", 'i', 1, NULL, -1},
        {"json", 't', 0, "yes", -1},
        {"method", 'f', 1, NULL, -1},
        {"motion", 't', 0, "fast", -1},
        {"motion", 'r', 1, NULL, -1},
        {"method", 't', 0, NULL, -1},
        {"step", 't', 0, "0.1", -1},
        {"no-such", 'r', 1, NULL, -1},
        {"no-such", 't', 1, "x", -1},
    };
    check_group("typed values");
    taut_options *options;
    check_equal("create", taut_options_create(NULL, &options, NULL), 0);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const char *name = rows[k].name;
        taut_error error = {0};
        double x = rows[k].value;
        int code =
            rows[k].type == 'r'   ? taut_options_set_real(options, name, x, &error)
            : rows[k].type == 'i' ? taut_options_set_integer(options, name, (int64_t)x, &error)
            : rows[k].type == 'f' ? taut_options_set_flag(options, name, x != 0, &error)
                                  : taut_options_set_text(options, name, rows[k].text, &error);
        check_row(code == rows[k].code, "%s as %c: %d (%s)", name, rows[k].type, code,
                  error.message);
        if (code != 0)
            check_row(strcmp(error.option, name) == 0 && error.message[0], "%s: '%s' %s", name,
                      error.option, error.message);
        else if (rows[k].type == 'r')
            check_near(name, taut_options_real(options, name), x, 0);
        else if (rows[k].type == 'i')
            check_equal(name, taut_options_integer(options, name), (int64_t)x);
        else if (rows[k].type == 'f')
            check_equal(name, taut_options_flag(options, name), x != 0);
        else
            check_row(strcmp(taut_options_text(options, name), rows[k].text) == 0, "%s", name);
    }
    taut_options_destroy(options);
}

static void test_access(void)
{
    check_group("option access");
    taut_options *options, *other;
    check_equal("create", taut_options_create(NULL, &options, NULL), 0);
    check_equal("create", taut_options_create(NULL, &other, NULL), 0);
    check_row(!taut_options_given(options, "from"), "from is not given");
    check_near("from by default", taut_options_real(options, "from"), 0, 0);
    check_row(isnan(taut_options_real(options, "step")), "step has no default");
    check_equal("steps without value", taut_options_integer(options, "steps"), 0);
    check_row(!taut_options_flag(options, "json"), "json is off");
    check_row(taut_options_text(options, "nothing") == NULL, "unknown names have no text");
    taut_options_set(options, "json", NULL, NULL);
    check_row(taut_options_flag(options, "json") && taut_options_given(options, "json"),
              "json is on");
    taut_options_set(options, "json", "no", NULL);
    check_row(!taut_options_flag(options, "json"), "json is off again");

    taut_options_set(options, "set", "omega=10", NULL);
    taut_options_set(options, "set", "N=3", NULL);
    check_row(!strcmp(taut_options_text(options, "set"), "omega=10\nN=3"), "set accumulates: '%s'",
              taut_options_text(options, "set"));
    taut_options_set(options, "out", "a.csv", NULL);
    taut_options_set(options, "out", "b.csv", NULL);
    check_row(!strcmp(taut_options_text(options, "out"), "b.csv"), "out is replaced: '%s'",
              taut_options_text(options, "out"));

    taut_options_set(other, "step", "1", NULL);
    taut_options_set(other, "until", "5", NULL);
    taut_options_set(options, "step", "2", NULL);
    check_equal("merge", taut_options_merge(other, options, NULL), 0);
    check_near("given values win", taut_options_real(other, "step"), 2, 0);
    check_near("others stay", taut_options_real(other, "until"), 5, 0);
    taut_options_destroy(options);
    taut_options_destroy(other);
}

static void test_memory(void)
{
    check_group("options without memory");
    int code = TAUT_ERROR_MEMORY, k = 0;
    while (code == TAUT_ERROR_MEMORY && k++ < 100) {
        faulty c = {.fail = k};
        taut_allocator allocator = faulty_allocator(&c);
        taut_options *options = NULL;
        code = taut_options_create(&allocator, &options, NULL);
        for (int i = 0; code == 0 && i < 5; i++)
            code = taut_options_set(options, i % 2 ? "set" : "out", "x=1", NULL);
        taut_options_destroy(options);
        check_row(c.live == 0, "failure %d: %d blocks leak", k, (int)c.live);
    }
    check_equal("allocations seen", k - 1, 6);
    check_equal("finally", code, 0);
}

static void test_numbers(void)
{
    check_group("numbers as text");
    static const double values[] = {0.1,     1e-300, -2.5e300, 5e-324, 0, 123456789.123456789,
                                    DBL_MAX, -17,    1.5e10};
    const char *wanted = getenv("TAUT_TEST_LOCALE"); /* tests/test_locale.sh makes some */
    bool comma = setlocale(LC_NUMERIC, wanted ? wanted : "de_DE.UTF-8") ||
                 (!wanted && setlocale(LC_NUMERIC, "fr_FR.UTF-8"));
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        char text[TAUT_NUMBER_SIZE];
        double back = NAN;
        taut_number_format(values[k], 17, text);
        bool good = taut_number_parse(text, &back) && back == values[k] &&
                    strspn(text, "+-.0123456789e") == strlen(text);
        check_row(good, "'%s' reads back as %.17g", text, back);
    }
    char text[TAUT_NUMBER_SIZE];
    check_equal("length of -0.25", taut_number_format(-0.25, 17, text), 5);
    check_row(!strcmp(text, "-0.25"), "-0.25 is '%s'", text);
    static const char *const wrong[] = {"",     ".",   "1,5", "1..5", "1.5.2", "e5",
                                        "0x10", "nan", "inf", "1 2",  "--1"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        double value = 7;
        check_row(!taut_number_parse(wrong[k], &value) && value == 7, "'%s' is %g", wrong[k],
                  value);
    }
    taut_number_format(-(double)NAN, 17, text);
    check_row(!strcmp(text, "nan"), "NaN is '%s'", text);
    taut_number_format(-INFINITY, 17, text);
    check_row(!strcmp(text, "-inf"), "-infinity is '%s'", text);
    if (!comma)
        check_skip("no locale with a decimal comma is installed");
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    test_table();
    test_values();
    test_typed();
    test_access();
    test_memory();
    test_numbers();
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", TAUT_VERSION_MAJOR, TAUT_VERSION_MINOR,
             TAUT_VERSION_PATCH);
    check_row(!strcmp(taut_version(), version) && taut_features(), "version %s, features %s",
              taut_version(), taut_features());
    return check_done();
}
