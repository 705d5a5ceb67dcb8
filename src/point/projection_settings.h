/* projection_settings.h - how to project, as typed values. Text options become settings once, in
 * project/projection_settings.c. */
#ifndef TAUT_POINT_PROJECTION_SETTINGS_H
#define TAUT_POINT_PROJECTION_SETTINGS_H

#include "base/memory.h"

/* Settings that only some projections read (field `reads` of their rows). */
enum {
    TAUT_SETTING_OMEGA = 1 << 0,
    TAUT_SETTING_WINDOW = 1 << 1,
    TAUT_SETTING_MICRO_STEPS = 1 << 2,
    TAUT_SETTING_KERNEL = 1 << 3,
    TAUT_SETTING_MOMENTS = 1 << 4,
    TAUT_SETTING_SMOOTHNESS = 1 << 5,
    TAUT_SETTING_ACCELERATE = 1 << 6,
    TAUT_SETTING_PASSES = 1 << 7,
    TAUT_SETTING_TOLERANCE = 1 << 8,
    TAUT_SETTING_ORDER = 1 << 9,
    TAUT_SETTING_HORIZON = 1 << 10,
    TAUT_SETTING_ITERATE = 1 << 11,
    TAUT_SETTING_COPIES = 1 << 12,
    TAUT_SETTING_FIRST_HORIZON = 1 << 13,
};

/* Weights of a filter; in the order of the choices of option `kernel`. */
typedef enum taut_kernel_choice {
    TAUT_KERNEL_AUTO,
    TAUT_KERNEL_TUNED, /* "aware" */
    TAUT_KERNEL_SMOOTH,
    TAUT_KERNEL_BUMP,
    TAUT_KERNEL_CUBIC
} taut_kernel_choice;

typedef struct taut_projection_settings {
    const struct taut_projection_method *method;
    const unsigned char *hold; /* [n]: coordinates that keep their values (hold.h), or NULL */
    unsigned given;            /* TAUT_SETTING_ bits: chosen by the user, not defaults */
    bool record;               /* windows and iterations are kept for a picture */
    bool inside;               /* a run: the state alone is wanted, not what was moved */
    bool expansion;            /* coefficients in powers of the compliance are wanted */
    int richardson;            /* levels of extrapolation to infinite stiffness */
    double omega;              /* 0: not given */
    double window;             /* times omega */
    int64_t micro_steps;       /* to each side; 0: not given */
    taut_kernel_choice kernel;
    int moments, smoothness; /* of the smooth kernel; smoothness -1: not given */
    bool accelerate;
    int64_t passes;
    double tolerance; /* NaN: not given */
    int order;
    double horizon, first_horizon;          /* NaN: not given */
    const struct taut_iteration *iteration; /* of project/difference_iterations.c; NULL: auto */
    int copies;                             /* processes of a program; 0: not given */
    double from;                            /* time of the initial state */
    double enough; /* of a series: relative accuracy that suffices (slow/series.h); 0: rounding */
} taut_projection_settings;

#endif
