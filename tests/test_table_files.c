/* test_table_files.c - CSV files of [tables] as people and programs write them, and as they
 * should not be. Numbers are read as in model files, also where the host has set a decimal
 * comma. */
#define _XOPEN_SOURCE 700

#include <taut/taut.h>

#include "support/table.h"

#include <locale.h>
#include <unistd.h>

static char folder[] = "/tmp/taut-tables-XXXXXX";

/* The sum of a column of a table with this text; NaN when it is refused: then *error says why. */
static double sum_of(const char *text, size_t length, taut_error *error)
{
    static const char model[] = "[tables]\nd = d.csv\n[parameters]\ns = sum(d.a[k] for k in "
                                "1..d.rows)\n[coordinates]\nx\n[potential]\ns*x\n";
    char path[64];
    snprintf(path, sizeof path, "%s/d.csv", folder);
    FILE *file = fopen(path, "wb");
    if (!file)
        return NAN;
    fwrite(text, 1, length, file);
    fclose(file);
    taut_load how = {.size = sizeof how, .table_folder = folder};
    taut_system *system = NULL;
    taut_context *context = NULL;
    double sum = NAN;
    memset(error, 0, sizeof *error);
    if (taut_system_parse(model, sizeof model - 1, "test", &how, &system, error) == 0 &&
        taut_context_create(system, NULL, &context, error) == 0)
        sum = taut_context_parameter(context, 0);
    taut_context_destroy(context);
    taut_system_destroy(system);
    unlink(path);
    return sum;
}

static void test_good(void)
{
    static const struct {
        const char *name, *text;
        double sum;
    } rows[] = {
        {"plain", "a,b\n1,2\n3,4\n", 4},
        {"no line end", "a\n1.5\n2.5", 4},
        {"CRLF", "a,b\r\n1,2\r\n3,4\r\n", 4},
        {"blanks", " a , b \n 1 ,\t2 \n3,4", 4},
        {"comments and empty lines", "# what it is\n\na\n# more\n1\n\n\n2\n#3\n", 3},
        {"byte-order mark",
         "\xef\xbb\xbf"
         "a,b\n1,2\n",
         1},
        {"exponents and signs", "a\n-1e2\n+.5\n3E-1\n", -99.2},
        {"other columns first", "b,c,a\n1,2,3\n4,5,6\n", 9},
        {"no rows", "a\n", 0},
    };
    check_group("read");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_error error;
        double sum = sum_of(rows[k].text, strlen(rows[k].text), &error);
        check_row(fabs(sum - rows[k].sum) < 1e-13, "%s: %.17g, expected %g; %s", rows[k].name, sum,
                  rows[k].sum, error.message);
    }
}

static void test_bad(void)
{
    static const struct {
        const char *name, *text;
        size_t length; /* 0: to the terminator */
        int line, column;
        const char *message;
    } rows[] = {
        {"empty", "", 0, 1, 1, "the table is empty"},
        {"no header", "1,2\n", 0, 1, 1, "expected the name of a column"},
        {"a column twice", "a,a\n1,2\n", 0, 1, 3, "named twice"},
        {"short row", "a,b\n1,2\n3\n", 0, 3, 2, "too short"},
        {"long row", "a\n1,2\n", 0, 2, 2, "more entries"},
        {"an empty entry", "b,a\n1,\n2,3\n", 0, 2, 3, "expected a number in column 'a'"},
        {"an entry in the next line", "b,a\n1,\f\n2\n", 0, 2, 3, "expected a number in column 'a'"},
        {"a word", "a\n1\nx\n", 0, 3, 1, "expected a number"},
        {"hexadecimal", "a\n0x10\n", 0, 2, 1, "expected a number"},
        {"infinity", "a\ninf\n", 0, 2, 1, "expected a number"},
        {"not a number", "a\nnan\n", 0, 2, 1, "expected a number"},
        {"too large", "a\n1e999\n", 0, 2, 1, "expected a number"},
        {"decimal comma", "a\n1,5\n", 0, 2, 2, "more entries"},
        {"semicolons", "a;b\n1;2\n", 0, 1, 2, "expected ','"},
        {"a zero byte", "a\n1\n\0002\n", 7, 2, 1, "zero byte"},
        {"letters of a locale", "\xe9\n1\n", 0, 1, 1, "expected the name of a column"},
    };
    check_group("refused");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        taut_error error;
        double sum =
            sum_of(rows[k].text, rows[k].length ? rows[k].length : strlen(rows[k].text), &error);
        check_row(isnan(sum) && error.code == TAUT_ERROR_MODEL &&
                      strstr(error.message, rows[k].message) && error.line == rows[k].line &&
                      error.column == rows[k].column,
                  "%s: %g, %d:%d %s", rows[k].name, sum, error.line, error.column, error.message);
    }
}

/* Any locale with a decimal comma will do. */
static void test_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE",
                                        "fr_FR",       "nl_NL.UTF-8", "pl_PL.UTF-8"};
    check_group("decimal comma");
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (setlocale(LC_ALL, names[k])) {
            taut_error error;
            check_near(names[k], sum_of("a\n1.5\n2.25\n", 11, &error), 3.75, 0);
            setlocale(LC_ALL, "C");
            return;
        }
    check_skip("no locale with a decimal comma is installed");
}

int main(void)
{
    if (!mkdtemp(folder)) {
        check_row(false, "no temporary folder");
        return check_done();
    }
    test_good();
    test_bad();
    test_locale();
    rmdir(folder);
    return check_done();
}
