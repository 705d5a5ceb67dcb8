/* scalar_real.h - the arithmetic of the *_generic.h files over double. Included before each of
 * them; no guard on purpose. */
#undef SCALAR
#undef NAME
#undef TIMES
#undef MAGNITUDE
#define SCALAR double
#define NAME(name) name##_real
#define TIMES(a, b) ((a) * (b))
#define MAGNITUDE(a) fabs(a)
