/* scalar_complex.h - the arithmetic of the *_generic.h files over double complex. Included
 * before each of them; no guard on purpose.
 *
 * The product is written out: the C operator checks for infinities (Annex G) and costs five
 * times as much. */
#undef SCALAR
#undef NAME
#undef TIMES
#undef MAGNITUDE
#define SCALAR double complex
#define NAME(name) name##_complex
#define TIMES(a, b) times_complex(a, b)
#define MAGNITUDE(a) (fabs(creal(a)) + fabs(cimag(a)))

static inline double complex times_complex(double complex a, double complex b)
{
    union {
        double part[2];
        double complex whole;
    } product = {
        {creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b)}};
    return product.whole;
}
