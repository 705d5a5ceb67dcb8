/* lapack.h - the Fortran routines Taut calls (LAPACK in OpenBLAS, or any other), with 32-bit
 * integers. The hidden lengths of character arguments are passed, as gfortran's calling
 * convention asks. */
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

#endif
