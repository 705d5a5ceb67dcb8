/* library_peer.c - the shared library of test_process: examples/legacy_library.c, which also leaves
 * a file when it is loaded, named by TAUT_LIBRARY_MARK. */
#include <stdio.h>

#include "../examples/legacy_library.c"

__attribute__((constructor)) static void mark(void)
{
    const char *path = getenv("TAUT_LIBRARY_MARK");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
}
