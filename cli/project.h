/* project.h - a projection as the verb has it: computed by project.c, printed by
 * project_report.c. */
#ifndef TAUT_CLI_PROJECT_H
#define TAUT_CLI_PROJECT_H

#include "cli.h"

typedef struct project {
    cli_call *call;
    cli_model model;
    const taut_system *system; /* of the result */
    taut_sizes sizes;
    const char *out, *plot; /* files to write; NULL for none */
    bool written, drawn;    /* they are there */
    taut_projection *projection;
    taut_projection_result result;
    taut_error error; /* of the projection, or of a file that could not be written */
    int code;         /* of the projection */
    int status;       /* of the program */
} project;

bool project_is_mechanical(const project *p);
/* how many of so many rows are printed */
taut_index project_rows(const project *p, taut_index count);
void project_print(const project *p);
void project_json(const project *p);
/* (project_expansion.c) Nothing when there is no expansion. */
void project_print_expansion(const project *p);
void project_json_expansion(cli_json *json, const project *p);

#endif
