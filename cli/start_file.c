/* start_file.c - a state as a [start] section, which --start reads. */
#include <errno.h>

#include "cli.h"

static void write_values(cli_output *output, const taut_system *system, taut_item item,
                         taut_index count, const double *value, const char *prime)
{
    char name[256];
    for (taut_index i = 0; i < count && output->reason == 0; i++) {
        taut_system_name(system, item, i, name, sizeof name);
        if (fprintf(output->file, "%s%s = %.17g\n", name, prime, value[i]) < 0)
            output->reason = errno ? errno : EIO;
    }
}

int cli_start_write(const char *path, const char *option, const char *title,
                    const taut_system *system, const double *q, const double *v, taut_error *error)
{
    cli_output output;
    taut_sizes sizes;
    taut_sizes_init(&sizes);
    taut_system_sizes_get(system, &sizes, NULL);
    if (cli_output_open(&output, path)) {
        fprintf(output.file, "# %s\n[start]\n", title);
        write_values(&output, system, TAUT_COORDINATE, sizes.coordinates, q, "");
        if (sizes.kind == TAUT_MECHANICAL)
            write_values(&output, system, TAUT_COORDINATE, sizes.coordinates, v, "'");
        else
            write_values(&output, system, TAUT_ALGEBRAIC, sizes.algebraic, v, "");
    }
    return cli_output_close(&output, option, error);
}
