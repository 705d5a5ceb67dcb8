/* clock.h - a clock for durations, which setting the time of day does not change. */
#ifndef TAUT_BASE_CLOCK_H
#define TAUT_BASE_CLOCK_H

/* Seconds since some fixed moment. */
double taut_clock(void);

#endif
