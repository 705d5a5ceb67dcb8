/* shipped.c - where the shipped models are. The folder is found from the program's own place, so
 * that no path is built in. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "windows.h"

/* The folder of the program, allocated: from the kernel where it is available, else from argv[0]
 * and PATH. NULL when unknown. */
static char *program_folder(const char *program)
{
    char *path = realpath("/proc/self/exe", NULL);
    if (!path && strchr(program, '/'))
        path = realpath(program, NULL);
    const char *search = path ? NULL : getenv("PATH");
    while (!path && search && *search) {
        int length = (int)strcspn(search, ":");
        char *candidate = cli_format("%.*s/%s", length, search, program);
        path = candidate ? realpath(candidate, NULL) : NULL;
        free(candidate);
        search += length;
        search += *search == ':';
    }
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    return path;
}

static bool append(cli_shipped *list, const char *folder, const char *file)
{
    char **names = realloc(list->name, ((size_t)list->count + 1) * sizeof *names);
    if (names)
        list->name = names;
    char **paths = realloc(list->path, ((size_t)list->count + 1) * sizeof *paths);
    if (paths)
        list->path = paths;
    if (!names || !paths)
        return false;
    char *name = cli_format("%.*s", (int)(strlen(file) - strlen(".taut")), file);
    char *path = cli_format("%s/%s", folder, file);
    if (!name || !path) {
        free(name);
        free(path);
        return false;
    }
    list->name[list->count] = name;
    list->path[list->count++] = path;
    return true;
}

static bool has_name(const cli_shipped *list, const char *file)
{
    size_t length = strlen(file) - strlen(".taut");
    for (int k = 0; k < list->count; k++)
        if (strlen(list->name[k]) == length && strncmp(list->name[k], file, length) == 0)
            return true;
    return false;
}

bool cli_shipped_folder(const char *folder, cli_shipped *list)
{
    DIR *directory = opendir(folder);
    bool good = true;
    struct dirent *entry;
    while (directory && good && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.' && cli_has_ending(entry->d_name, ".taut") &&
            !has_name(list, entry->d_name))
            good = append(list, folder, entry->d_name);
    if (directory)
        closedir(directory);
    return good;
}

/* Insertion sort of both arrays together: a few dozen names. */
static void sort(cli_shipped *list)
{
    for (int i = 1; i < list->count; i++) {
        char *name = list->name[i], *path = list->path[i];
        int k = i;
        for (; k > 0 && strcmp(list->name[k - 1], name) > 0; k--) {
            list->name[k] = list->name[k - 1];
            list->path[k] = list->path[k - 1];
        }
        list->name[k] = name;
        list->path[k] = path;
    }
}

bool cli_shipped_list(const char *program, cli_shipped *list)
{
    static const char *const beside[] = {"../share/taut/models", "../models"};
    *list = (cli_shipped){0};
    const char *own = getenv("TAUT_MODELS");
    bool good = !own || !own[0] || cli_shipped_folder(own, list);
    char *folder = program_folder(program);
    for (int k = 0; good && folder && k < 2; k++) {
        char *candidate = cli_format("%s/%s", folder, beside[k]);
        char *path = candidate ? realpath(candidate, NULL) : NULL;
        good = candidate && (!path || cli_shipped_folder(path, list));
        free(path);
        free(candidate);
    }
    free(folder);
    if (!good)
        cli_shipped_release(list);
    sort(list);
    return good;
}

char *cli_shipped_data(const char *program, const char *variable, const char *name)
{
    static const char *const beside[] = {"../share/taut", ".."};
    const char *own = getenv(variable);
    if (own && own[0])
        return cli_format("%s", own);
    char *folder = program_folder(program), *found = NULL;
    for (int k = 0; folder && !found && k < 2; k++) {
        char *candidate = cli_format("%s/%s/%s", folder, beside[k], name);
        found = candidate ? realpath(candidate, NULL) : NULL;
        free(candidate);
    }
    free(folder);
    return found;
}

void cli_shipped_release(cli_shipped *list)
{
    for (int k = 0; k < list->count; k++) {
        free(list->name[k]);
        free(list->path[k]);
    }
    free(list->name);
    free(list->path);
    *list = (cli_shipped){0};
}
