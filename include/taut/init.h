/* init.h - structs of callers made empty: their size set, everything else zero. <taut/taut.h>
 * includes it.
 *
 * These are compiled into the program, so that `size` is that of the header the program was built
 * with: the library reads and writes no more than that. */
#ifndef TAUT_INIT_H
#define TAUT_INIT_H

#include <string.h>
#include <taut/taut.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void taut_load_init(taut_load *load)
{
    memset(load, 0, sizeof *load);
    load->size = sizeof *load;
}

static inline void taut_sizes_init(taut_sizes *sizes)
{
    memset(sizes, 0, sizeof *sizes);
    sizes->size = sizeof *sizes;
}

static inline void taut_method_info_init(taut_method_info *method_info)
{
    memset(method_info, 0, sizeof *method_info);
    method_info->size = sizeof *method_info;
}

static inline void taut_result_init(taut_result *result)
{
    memset(result, 0, sizeof *result);
    result->size = sizeof *result;
}

static inline void taut_projection_info_init(taut_projection_info *projection_info)
{
    memset(projection_info, 0, sizeof *projection_info);
    projection_info->size = sizeof *projection_info;
}

static inline void taut_projection_result_init(taut_projection_result *projection_result)
{
    memset(projection_result, 0, sizeof *projection_result);
    projection_result->size = sizeof *projection_result;
}

static inline void taut_projection_window_init(taut_projection_window *projection_window)
{
    memset(projection_window, 0, sizeof *projection_window);
    projection_window->size = sizeof *projection_window;
}

static inline void taut_projection_stage_init(taut_projection_stage *projection_stage)
{
    memset(projection_stage, 0, sizeof *projection_stage);
    projection_stage->size = sizeof *projection_stage;
}

static inline void taut_compare_request_init(taut_compare_request *compare_request)
{
    memset(compare_request, 0, sizeof *compare_request);
    compare_request->size = sizeof *compare_request;
}

static inline void taut_compared_init(taut_compared *compared)
{
    memset(compared, 0, sizeof *compared);
    compared->size = sizeof *compared;
}

static inline void taut_sweep_request_init(taut_sweep_request *sweep_request)
{
    memset(sweep_request, 0, sizeof *sweep_request);
    sweep_request->size = sizeof *sweep_request;
}

static inline void taut_swept_init(taut_swept *swept)
{
    memset(swept, 0, sizeof *swept);
    swept->size = sizeof *swept;
}

static inline void taut_check_report_init(taut_check_report *check_report)
{
    memset(check_report, 0, sizeof *check_report);
    check_report->size = sizeof *check_report;
}

static inline void taut_values_init(taut_values *values)
{
    memset(values, 0, sizeof *values);
    values->size = sizeof *values;
}

static inline void taut_modes_report_init(taut_modes_report *modes_report)
{
    memset(modes_report, 0, sizeof *modes_report);
    modes_report->size = sizeof *modes_report;
}

static inline void taut_modes_rows_init(taut_modes_rows *modes_rows)
{
    memset(modes_rows, 0, sizeof *modes_rows);
    modes_rows->size = sizeof *modes_rows;
}

static inline void taut_modes_episode_init(taut_modes_episode *modes_episode)
{
    memset(modes_episode, 0, sizeof *modes_episode);
    modes_episode->size = sizeof *modes_episode;
}

static inline void taut_rates_report_init(taut_rates_report *rates_report)
{
    memset(rates_report, 0, sizeof *rates_report);
    rates_report->size = sizeof *rates_report;
}

static inline void taut_event_info_init(taut_event_info *event_info)
{
    memset(event_info, 0, sizeof *event_info);
    event_info->size = sizeof *event_info;
}

static inline void taut_callbacks_init(taut_callbacks *callbacks)
{
    memset(callbacks, 0, sizeof *callbacks);
    callbacks->size = sizeof *callbacks;
}

static inline void taut_black_box_init(taut_black_box *black_box)
{
    memset(black_box, 0, sizeof *black_box);
    black_box->size = sizeof *black_box;
}

static inline void taut_shape_init(taut_shape *shape)
{
    memset(shape, 0, sizeof *shape);
    shape->size = sizeof *shape;
}

static inline void taut_memory_rows_init(taut_memory_rows *rows)
{
    memset(rows, 0, sizeof *rows);
    rows->size = sizeof *rows;
}

static inline void taut_butcher_tableau_init(taut_butcher_tableau *tableau)
{
    memset(tableau, 0, sizeof *tableau);
    tableau->size = sizeof *tableau;
}

#ifdef __cplusplus
}
#endif

#endif
