/* lapack.h - the Fortran routines Taut calls (LAPACK in OpenBLAS, or any other), with 32-bit
 * integers. The hidden lengths of character arguments are passed, as gfortran's calling
 * convention asks. The library is loaded at the first request (base/library.h). */
#ifndef TAUT_LINALG_LAPACK_H
#define TAUT_LINALG_LAPACK_H

#include <complex.h>
#include <stddef.h>

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *ipiv, double *b, const int *ldb, int *info, size_t trans_length);
void zgetrf_(const int *m, const int *n, double complex *a, const int *lda, int *ipiv, int *info);
void zgetrs_(const char *trans, const int *n, const int *nrhs, const double complex *a,
             const int *lda, const int *ipiv, double complex *b, const int *ldb, int *info,
             size_t trans_length);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info, size_t uplo_length);
void dpbtrf_(const char *uplo, const int *n, const int *kd, double *ab, const int *ldab, int *info,
             size_t uplo_length);
void dpbtrs_(const char *uplo, const int *n, const int *kd, const int *nrhs, const double *ab,
             const int *ldab, double *b, const int *ldb, int *info, size_t uplo_length);
void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab,
             int *ipiv, int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs,
             const double *ab, const int *ldab, const int *ipiv, double *b, const int *ldb,
             int *info, size_t trans_length);
void zgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double complex *ab,
             const int *ldab, int *ipiv, int *info);
void zgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs,
             const double complex *ab, const int *ldab, const int *ipiv, double complex *b,
             const int *ldb, int *info, size_t trans_length);
void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t jobz_length, size_t uplo_length);

typedef struct taut_lapack {
    __typeof__(dgetrf_) *dgetrf;
    __typeof__(dgetrs_) *dgetrs;
    __typeof__(zgetrf_) *zgetrf;
    __typeof__(zgetrs_) *zgetrs;
    __typeof__(dpotrf_) *dpotrf;
    __typeof__(dpotrs_) *dpotrs;
    __typeof__(dpbtrf_) *dpbtrf;
    __typeof__(dpbtrs_) *dpbtrs;
    __typeof__(dgbtrf_) *dgbtrf;
    __typeof__(dgbtrs_) *dgbtrs;
    __typeof__(zgbtrf_) *zgbtrf;
    __typeof__(zgbtrs_) *zgbtrs;
    __typeof__(dsyev_) *dsyev;
} taut_lapack;

/* The routines, or NULL: own kernels have to do. (lapack.c) */
const taut_lapack *taut_lapack_get(void);

#endif
