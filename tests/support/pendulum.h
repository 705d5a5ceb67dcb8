/* pendulum.h - for tests of runs: the text of a pendulum in the plane. */
#ifndef TAUT_TESTS_SUPPORT_PENDULUM_H
#define TAUT_TESTS_SUPPORT_PENDULUM_H

/* On a spring, with a stiffness, or "rigid": it has negligible oscillation at rest. */
#define PENDULUM(stiffness, start)                                                                 \
    "[coordinates]\nx, y\n[potential]\ny\n[bonds]\nrod = sqrt(x^2 + y^2) - 1 " stiffness           \
    "\n[start]\n" start "\n"

#endif
