/* project_expansion.c - prints the coefficients of the slow point as a power series in the
 * compliance [Lubich 1993, (2.6)]. */
#include <string.h>

#include "project.h"

void project_print_expansion(const project *p)
{
    const double *q[3], *v[3];
    double eps2;
    char name[96];
    for (int k = 0; k < 3; k++)
        if (!taut_projection_expansion(p->projection, k, &q[k], &v[k], &eps2))
            return;
    taut_index n = p->sizes.coordinates, shown = project_rows(p, n);
    printf("  y = y0 + eps^2 y1 + eps^4 y2 + ..., eps^2 = %.6g, the largest compliance\n", eps2);
    printf("  %-24s %18s %18s %18s\n", "coordinate", "y0", "y1", "y2");
    for (taut_index i = 0; i < 2 * shown; i++) {
        taut_index j = i % shown;
        const double *const *x = i < shown ? q : v;
        taut_system_name(p->system, TAUT_COORDINATE, j, name, sizeof name - 1);
        size_t length = strlen(name);
        if (i >= shown) {
            name[length] = '\'';
            name[length + 1] = 0;
        }
        printf("  %-24s %18.12g %18.12g %18.12g\n", name, x[0][j], x[1][j], x[2][j]);
    }
    if (shown < n)
        printf("  ... and those of %d more coordinates (--json prints all)\n", (int)(n - shown));
}

void project_json_expansion(cli_json *json, const project *p)
{
    const double *q, *v;
    double eps2;
    if (!taut_projection_expansion(p->projection, 0, NULL, NULL, &eps2))
        return;
    cli_json_open(json, "expansion", '{');
    cli_json_real(json, "eps2", eps2);
    cli_json_open(json, "terms", '[');
    for (int k = 0; taut_projection_expansion(p->projection, k, &q, &v, NULL); k++) {
        cli_json_open(json, NULL, '{');
        cli_json_reals(json, "q", q, p->sizes.coordinates);
        cli_json_reals(json, "v", v, p->sizes.coordinates);
        cli_json_close(json, '}');
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}
