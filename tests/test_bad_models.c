/* test_bad_models.c - models that are well formed but make no sense: each is refused at the
 * right place, with words that help.
 *
 * The first line of every tests/data/bad/x.taut says what is expected: "# expect LINE:COLUMN
 * words". The words stand in the message; for a mistake in a table they name the CSV file, and
 * the place is in it. */
#include <dirent.h>

#include "support/table.h"
#include <taut/taut.h>

#ifndef TAUT_SOURCE_DIR
#define TAUT_SOURCE_DIR "."
#endif
#define FOLDER TAUT_SOURCE_DIR "/tests/data/bad/"

enum { MODELS_LEAST = 40, MODELS_MOST = 400, NAME_SIZE = 128, PATH_SIZE = 1024 };

static char names[MODELS_MOST][NAME_SIZE];

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Names of all bad models, sorted; returns their number. */
static int list_models(void)
{
    int count = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry; folder && count < MODELS_MOST && (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".taut") == 0 && strlen(entry->d_name) < NAME_SIZE)
            strcpy(names[count++], entry->d_name);
    }
    if (folder)
        closedir(folder);
    qsort(names, (size_t)count, NAME_SIZE, by_name);
    return count;
}

/* Reads the expectation from the first line; the words stay in `line`. */
static bool read_expectation(const char *path, char *line, size_t size, int *row, int *column,
                             const char **words)
{
    int skipped = 0;
    FILE *file = fopen(path, "r");
    bool good = file && fgets(line, (int)size, file) &&
                sscanf(line, "# expect %d:%d %n", row, column, &skipped) == 2 && skipped > 0;
    if (file)
        fclose(file);
    if (!good)
        return false;
    line[strcspn(line, "\r\n")] = 0;
    *words = line + skipped;
    return **words != 0;
}

static void check_model(const char *name)
{
    char path[PATH_SIZE], line[PATH_SIZE];
    int row = 0, column = 0;
    const char *words = NULL;
    snprintf(path, sizeof path, FOLDER "%s", name);
    if (!check_row(read_expectation(path, line, sizeof line, &row, &column, &words),
                   "%s: the first line is no expectation", name))
        return;
    taut_error error = {0};
    taut_system *system = NULL;
    int status = taut_system_load(path, NULL, &system, &error);
    check_row(status == TAUT_ERROR_MODEL && error.code == status && !system,
              "%s: status %d, expected %d (%s)", name, status, TAUT_ERROR_MODEL, error.message);
    check_row(error.line == row && error.column == column, "%s: place %d:%d, expected %d:%d (%s)",
              name, error.line, error.column, row, column, error.message);
    check_row(strstr(error.message, words) || strstr(error.file, words),
              "%s: \"%s\" (in %s) lacks \"%s\"", name, error.message, error.file, words);
    /* the line shown is the line meant: its length reaches the column */
    check_row(row == 0 || strlen(error.source) + 1 >= (size_t)column,
              "%s: the line shown is \"%s\"", name, error.source);
    taut_system_destroy(system);
}

/* Every section of the language has at least one bad model: names of the files begin with that
 * of the section. */
static void check_sections(int count)
{
    static const char *const section[] = {
        "parameters",  "coordinates",     "particles", "definitions", "tables",     "mass",
        "kinetic",     "potential",       "forces",    "bonds",       "start",      "run",
        "state",       "algebraic",       "rates",     "constraints", "invariants", "stepper",
        "observables", "stiff_potential", "outputs",   "events",      "shapes"};
    for (size_t k = 0; k < sizeof section / sizeof *section; k++) {
        int found = 0;
        for (int i = 0; i < count; i++)
            found += strncmp(names[i], section[k], strlen(section[k])) == 0;
        check_row(found > 0, "no bad model for section %s", section[k]);
    }
}

/* A command in a model is not run by loading it: the model is good, with or without permission. */
static void check_command(void)
{
    static const char text[] =
        "[state]\nx\n[stepper]\ncommand = ./no-such-program --fast\nhorizon = 1\n[observables]\nx\n"
        "[start]\nx = 1\n";
    for (int allowed = 0; allowed < 2; allowed++) {
        taut_error error = {0};
        taut_system *system = NULL;
        taut_load how = {.size = sizeof how, .allow_command = allowed != 0};
        int status = taut_system_parse(text, sizeof text - 1, "command", &how, &system, &error);
        check_row(status == 0, "command, allowed %d: status %d (%s)", allowed, status,
                  error.message);
        taut_system_destroy(system);
    }
}

int main(void)
{
    check_group("bad models");
    int count = list_models();
    check_row(count >= MODELS_LEAST && count < MODELS_MOST, "%d bad models in " FOLDER, count);
    for (int k = 0; k < count; k++)
        check_model(names[k]);
    check_group("sections");
    check_sections(count);
    check_group("command");
    check_command();
    return check_done();
}
