/* families.h - models with families of springs, which Verlet moves in place
 * (system/kernel/family.h).
 */
#ifndef TAUT_TESTS_SUPPORT_FAMILIES_H
#define TAUT_TESTS_SUPPORT_FAMILIES_H

enum { FAMILY_MOST = 600 }; /* coordinates */

/* In a plane, with a single bond at one end. */
static const char family_plane[] =
    "[particles]\ndimension = 2\nbob[i] for i in 1..300 mass 1\n"
    "[potential]\nsum(bob[i].y for i in 1..300)\n[bonds]\n"
    "link[1] = length(bob[1]) - 1 stiffness 1e4\n"
    "link[i] = length(bob[i] - bob[i-1]) - 1 for i in 2..300 stiffness 1e4\n"
    "[start]\nbob[i] = (i, 0) for i in 1..300\n";
/* In space, with masses, a second family that depends on t, and forces on points between. */
static const char family_space[] =
    "[particles]\ndimension = 3\nbob[i] for i in 1..99 mass 1 + i/50\n"
    "[potential]\nsum(i*bob[i].z/10 for i in 1..99)\n[bonds]\n"
    "link[i] = length(bob[i+1] - bob[i]) - 1 for i in 1..98 stiffness 100*i\n"
    "far[i] = length(bob[i+4] - bob[i]) - 4 - sin(t)/10 for i in 1..40 stiffness 50\n"
    "[forces]\nbob[50].x = -3*bob[50].x + cos(t)\n"
    "[start]\nbob[i] = (i, 0.1*sin(i), 0) for i in 1..99\n";
/* On a line, members with three points: three terms. */
static const char family_line[] =
    "[coordinates]\nx[i] for i in 1..200\n[mass]\nx[i] = 2 for i in 1..200\n[bonds]\n"
    "bend[i] = x[i] - 2*x[i+1] + x[i+2] + x[i]^2/9 for i in 1..198 stiffness 10\n"
    "[start]\nx[i] = sin(i)/4 for i in 1..200\n";
/* One of the springs is over-stretched until its force is the root of a negative number. */
static const char family_torn[] = "[coordinates]\nx[i] for i in 1..60\n[bonds]\n"
                                  "s[i] = sqrt(2 + x[i] - x[i+1]) for i in 1..59 stiffness 1e-3\n"
                                  "[start]\nx[i] = i for i in 1..60\nx[40]' = -1\n";

#endif
