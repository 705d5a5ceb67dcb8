/* test_for_pages.c - what bindings and pages ask of a system: its text, tables from memory, the
 * points that bonds join. */
#include "support/run.h"

static void test_text(void)
{
    static const char model[] = "# a title\n[coordinates]\nx\n";
    taut_system *system = NULL;
    taut_error error = {0};
    size_t length = 99;
    check_group("text");
    check_equal("parse", taut_system_parse(model, sizeof model - 1, "m", NULL, &system, &error), 0);
    const char *text = taut_system_text(system, &length);
    check_row(length == sizeof model - 1 && text && memcmp(text, model, length + 1) == 0,
              "%d bytes", (int)length);
    check_row(taut_system_text(system, NULL) == text, "without a length");
    check_row(taut_system_text(NULL, &length) == NULL && length == 0, "of no system");
    taut_system_destroy(system);
}

static void test_tables(void)
{
    static const char model[] = "[tables]\nd = sub/data.csv\n[coordinates]\nx\n[start]\n"
                                "x = d.value[2] + 10*d.rows\n";
    static const char data[] = "value\n1\n7.5\n", bad[] = "value\nx\n", zero[] = "value\n1\n\0";
    taut_table_text table = {"sub/data.csv", data, sizeof data - 1};
    taut_load how = {.size = sizeof how, .tables = &table, .table_count = 1};
    taut_system *system = NULL;
    taut_context *context = NULL;
    taut_error error = {0};
    double q[1], v[1];
    check_group("tables from memory");
    int code = taut_system_parse(model, sizeof model - 1, "m", &how, &system, &error);
    check_row(code == 0, "%s", error.message);
    if (code == 0 && taut_context_create(system, NULL, &context, &error) == 0) {
        check_equal("start", taut_context_start(context, 0, q, v, &error), 0);
        check_near("x", q[0], 27.5, 0);
    }
    taut_context_destroy(context);
    taut_system_destroy(system);
    const struct {
        const char *what;
        taut_table_text table;
        int code;
        const char *message;
    } rows[] = {
        {"a wrong entry", {"sub/data.csv", bad, sizeof bad - 1}, TAUT_ERROR_MODEL, "number"},
        {"a zero byte", {"sub/data.csv", zero, sizeof zero}, TAUT_ERROR_MODEL, "zero byte"},
        {"empty", {"sub/data.csv", "", 0}, TAUT_ERROR_MODEL, "empty"},
        {"cut", {"sub/data.csv", data, 8}, TAUT_ERROR_MODEL, ""},
        {"another name", {"data.csv", data, sizeof data - 1}, TAUT_ERROR_MODEL, "opened"},
        {"no text", {"sub/data.csv", NULL, 0}, TAUT_ERROR_USAGE, "tables"},
        {"no name", {NULL, data, 1}, TAUT_ERROR_USAGE, "tables"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        how.tables = &rows[k].table;
        code = taut_system_parse(model, sizeof model - 1, "m", &how, &system, &error);
        check_row(code == rows[k].code && !system, "%s: %d %s", rows[k].what, code, error.message);
        check_contains(rows[k].what, error.message, rows[k].message);
        if (rows[k].code == TAUT_ERROR_MODEL && k < 2)
            check_row(error.line > 0, "%s: line %d of %s", rows[k].what, error.line, error.file);
    }
    how.tables = NULL;
    code = taut_system_parse(model, sizeof model - 1, "m", &how, &system, &error);
    check_equal("no array", code, TAUT_ERROR_USAGE);
}

/* "0:2 2:2" */
static void ends_of(const taut_system *system, taut_index k, char *text, size_t size)
{
    taut_index first[4];
    int dimension[4], count = taut_system_bond_ends(system, k, 4, first, dimension);
    text[0] = '\0';
    for (int i = 0; i < count && i < 4; i++)
        snprintf(text + strlen(text), size - strlen(text), "%s%d:%d", i ? " " : "", (int)first[i],
                 dimension[i]);
}

static void test_ends(void)
{
    static const struct {
        const char *model;
        taut_index bond;
        const char *ends;
    } rows[] = {
        {"double_pendulum", 0, "0:2"}, {"double_pendulum", 1, "0:2 2:2"}, {"chain", 0, "0:2"},
        {"chain", 1, "2:2 0:2"},       {"chain", 7, "14:2 12:2"},         {"four_bar", 0, NULL},
    };
    check_group("ends of bonds");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char path[1200], text[80];
        taut_system *system = NULL;
        taut_error error = {0};
        snprintf(path, sizeof path, "%s/models/%s.taut", TAUT_SOURCE_DIR, rows[k].model);
        int code = taut_system_load(path, NULL, &system, &error);
        check_row(code == 0, "%s: %s", rows[k].model, error.message);
        ends_of(system, rows[k].bond, text, sizeof text);
        check_row(!rows[k].ends || strcmp(text, rows[k].ends) == 0, "%s, bond %d: %s",
                  rows[k].model, (int)rows[k].bond, text);
        check_equal("out of range", taut_system_bond_ends(system, 100000, 0, NULL, NULL), -1);
        check_row(taut_system_bond_ends(system, 0, 0, NULL, NULL) > 0, "counting alone");
        taut_system_destroy(system);
    }
    check_equal("no system", taut_system_bond_ends(NULL, 0, 0, NULL, NULL), -1);
    static const taut_index first[2] = {2, 0}, second[2] = {-1, 1};
    static const double anchor[6] = {0}, rest[2] = {1, 1}, p[9] = {1, 0, 0, 2, 0, 0, 3, 0, 0};
    taut_builder *b = NULL;
    taut_system *system = NULL;
    char text[80];
    check_equal("builder", taut_builder_create(3, 3, NULL, &b, NULL), 0);
    taut_builder_start(b, p, NULL);
    taut_builder_distances(b, "link", 2, first, second, anchor, rest, NULL);
    check_equal("finish", taut_builder_finish(b, &system, NULL), 0);
    ends_of(system, 0, text, sizeof text);
    check_row(strcmp(text, "6:3") == 0, "to an anchor: %s", text);
    ends_of(system, 1, text, sizeof text);
    check_row(strcmp(text, "0:3 3:3") == 0, "between particles: %s", text);
    check_row(taut_system_text(system, NULL) == NULL, "no text");
    taut_system_destroy(system);
    taut_builder_destroy(b);
}

int main(void)
{
    test_text();
    test_tables();
    test_ends();
    return check_done();
}
