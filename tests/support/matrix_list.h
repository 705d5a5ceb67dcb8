/* matrix_list.h - the names of the shipped models, sorted. */
#ifndef TAUT_TESTS_SUPPORT_MATRIX_LIST_H
#define TAUT_TESTS_SUPPORT_MATRIX_LIST_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static inline int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline int list_models(char **names, int room)
{
    DIR *folder = opendir(TAUT_SOURCE_DIR "/models");
    int count = 0;
    for (struct dirent *entry; folder && count < room && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".taut") != 0)
            continue;
        names[count] = calloc(1, length);
        memcpy(names[count++], entry->d_name, length - 5);
    }
    if (folder)
        closedir(folder);
    qsort(names, (size_t)count, sizeof *names, compare_names);
    return count;
}

#endif
