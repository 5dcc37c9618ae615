/** @file
 * Matrices and vectors on the host: files in all formats, generated systems, conversions. For programs that read and write files,
 * beside krylocl.h. It may change with every release.
 */
#ifndef KRYLOCL_IO_H
#define KRYLOCL_IO_H

#include <krylocl.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** Scalar types. */
typedef enum kcl_type {
  KCL_S, /**< float */
  KCL_D, /**< double */
  KCL_C, /**< complex float */
  KCL_Z  /**< complex double */
} kcl_type;

/** Size of one element: 4, 8, 8 or 16 bytes. */
size_t kcl_type_size(kcl_type t);

/** True for KCL_C and KCL_Z. */
bool kcl_type_complex(kcl_type t);

/** The character of the type: 's', 'd', 'c' or 'z'. */
char kcl_type_letter(kcl_type t);

/** Field of the values of a file, as in the Matrix Market format. */
typedef enum kcl_field {
  KCL_REAL,    /**< real numbers */
  KCL_INTEGER, /**< whole numbers */
  KCL_COMPLEX, /**< complex numbers */
  KCL_PATTERN  /**< no values: every entry is 1 */
} kcl_field;

/** "real", "integer", "complex" or "pattern". */
const char *kcl_field_name(kcl_field f);

/** "general", "symmetric", "skew-symmetric" or "hermitian". */
const char *kcl_symmetry_name(kcl_symmetry s);

/** A matrix in compressed sparse rows: all entries (both triangles of a symmetric matrix), no
 * duplicates, columns ascending within each row.
 *
 * May be filled with your own arrays. They are not copied where the type and the format allow it; the
 * struct itself is, and may go once a set-up has returned. kcl_matrix_lend checks the structure, and set-up the
 * declared symmetry (KCL_USAGE, with the row); other functions assume the structure. */
typedef struct kcl_csr {
  int64_t rows;          /**< number of rows */
  int64_t cols;          /**< number of columns */
  int64_t nnz;           /**< number of entries */
  int64_t *row_ptr;      /**< [rows + 1] start of each row in col and val; row_ptr[rows] = nnz */
  int32_t *col;          /**< [nnz] column indices from 0 */
  void *val;             /**< [nnz] values of type `type` */
  kcl_type type;         /**< scalar type of val */
  kcl_symmetry symmetry; /**< as far as known, else KCL_GENERAL; it is checked: KCL_USAGE where it
                            does not hold up to rounding */
  kcl_field field;       /**< field of the file */
  int64_t stored;        /**< entries in the file: before half storage is expanded and duplicates
                            are summed */
  void *mapped;          /**< private: the mapped .kcl file that holds the arrays, or NULL */
  size_t mapped_size;    /**< private: size of the mapping, bytes */
  int owners;            /**< private: owners beyond the first */
  bool lent;             /**< private: the arrays are another one's */
  int *
      structure_owners; /**< private: owners of row_ptr and col beyond the first; NULL: this matrix alone */
} kcl_csr;

/** Allocates a matrix with arrays for nnz entries, zeroed. At most 2^31 rows and columns. */
int kcl_csr_create(kcl_context *ctx, int64_t rows, int64_t cols, int64_t nnz, kcl_type type,
                   kcl_csr **out);

/** Frees a matrix that this library allocated, with its arrays. */
void kcl_csr_free(kcl_csr **A);

/** A matrix whose arrays are those of A, which must stay alive and unchanged while it or anything made from it is used. KCL_USAGE: A is not
 * as kcl_csr describes. */
int kcl_matrix_lend(kcl_context *ctx, const kcl_csr *A, kcl_matrix **out);
/** The entries of a matrix, valid as long as it has these values. */
const kcl_csr *kcl_matrix_csr(const kcl_matrix *A);

/** Columns of numbers, dense and column-major: right-hand sides, initial guesses, solutions. */
typedef struct kcl_dense {
  int64_t rows;  /**< number of rows */
  int64_t cols;  /**< number of columns */
  kcl_type type; /**< KCL_D or KCL_Z */
  double *val;   /**< [cols, rows], pairs if complex */
} kcl_dense;

/** Allocates dense columns, zeroed. type: KCL_D or KCL_Z. */
int kcl_dense_create(kcl_context *ctx, int64_t rows, int64_t cols, kcl_type type, kcl_dense **out);

/** Frees dense columns that this library allocated. */
void kcl_dense_free(kcl_dense **B);

/** Reads a matrix as type D, or Z if its field is complex.
 *
 * Formats: Matrix Market (coordinate or array; coordinates also without its banner), Harwell-Boeing,
 * Rutherford-Boeing, row lists and the binary .kcl, recognised by content; all but .kcl may be packed by gzip. "-" is standard
 * input. Duplicates are summed and half storage is expanded. */
int kcl_csr_read(kcl_context *ctx, const char *path, kcl_csr **out);

/** The number of the first row and column in coordinate files that are read from now on: 1, as in the Matrix Market
 * format, or 0. Files of other formats state it. KCL_USAGE: base is neither. */
int kcl_set_index_base(kcl_context *ctx, int base);

/** As kcl_csr_read, with the right-hand sides and initial guesses that the file holds: columns of
 * A's type, or NULL if it holds none. b and x0 may be NULL pointers. */
int kcl_csr_read_system(kcl_context *ctx, const char *path, kcl_csr **A, kcl_dense **b,
                        kcl_dense **x0);

/** As kcl_csr_read_system, through a cache: the parsed file is kept as .kcl in the user's cache
 * folder ($KRYLOCL_CACHE, else $XDG_CACHE_HOME/krylocl, else ~/.cache/krylocl) under the size, time
 * and checksum of the source. */
int kcl_csr_read_cached(kcl_context *ctx, const char *path, kcl_csr **A, kcl_dense **b,
                        kcl_dense **x0);

/** Why the user's cache folder is not used: it, or a file in it, belongs to another user or can be written by others, who
 * could put programs and matrices there. One sentence; NULL as long as nothing was refused in this process. */
const char *kcl_cache_refused(void);

/** Finds a matrix of the SuiteSparse collection (Davis & Hu 2011) by its name "Group/Name" and
 * writes the path of its Matrix Market file in the user's cache folder to path [size].
 *
 * fetch: download it with the program curl if it is not there; else KCL_INPUT. A right-hand side
 * that comes with the matrix is the file Name_b.mtx in the same folder. */
int kcl_collection_get(kcl_context *ctx, const char *group_name, bool fetch, char *path,
                       size_t size);

/** The matrices of the collection that are in the user's cache folder: *names is text to be freed with
 * free(), a line "Group/Name" for each, sorted; "" if there are none. */
int kcl_collection_kept(kcl_context *ctx, char **names);

/** Writes a matrix in the format of the file name's ending: .rb, .rows, .kcl, otherwise Matrix
 * Market. All but .kcl are packed if .gz follows. Symmetric matrices are written as their lower
 * half (not in .rows and .kcl). "-" is standard output. */
int kcl_csr_write(kcl_context *ctx, const char *path, const kcl_csr *A);

/** As kcl_csr_write, with right-hand sides and initial guesses, which only .kcl keeps. b and x0 may
 * be NULL. */
int kcl_csr_write_system(kcl_context *ctx, const char *path, const kcl_csr *A, const kcl_dense *b,
                         const kcl_dense *x0);

/** Copies a matrix into another scalar type. Complex to real is KCL_USAGE. */
int kcl_csr_convert(kcl_context *ctx, const kcl_csr *A, kcl_type type, kcl_csr **out);

/** The conjugate transpose A^H. */
int kcl_csr_adjoint(kcl_context *ctx, const kcl_csr *A, kcl_csr **out);

/** y = A x, or y = b - A x if b is not NULL, on the host in double precision with compensated sums
 * (Ogita, Rump & Oishi 2005, Dot2). A may be of any type; x [cols], b and y [rows] are of type D,
 * or Z if A is complex. x NULL: all ones. Does nothing if A or y is NULL. */
void kcl_csr_product(const kcl_csr *A, const double *x, const double *b, double *y);

/** Reads dense columns: Matrix Market (array or coordinate), or plain numbers as one column;
 * recognised by content, gzip too. "-" is standard input. */
int kcl_dense_read(kcl_context *ctx, const char *path, kcl_dense **out);

/** Writes dense columns as a Matrix Market array, packed if the name ends in .gz. */
int kcl_dense_write(kcl_context *ctx, const char *path, const kcl_dense *B);

/** Writes bytes to a file that appears under its name only when it is complete, as all files that
 * this library writes: beside it first, then renamed. Devices and pipes are written in place; "-" is
 * standard output. KCL_INPUT: it cannot be written. */
int kcl_file_write(kcl_context *ctx, const char *path, const void *data, size_t size);

/** true: every file that the library writes from now on, in all contexts of the process, is on the disk (fsync) before it
 * appears under its name, and its folder before the function returns: it survives a power failure. false: the system decides
 * when (as it begins). Files of the cache never are. */
void kcl_files_synchronise(bool on);

/** The file that is written as `path`, to target [size]: symbolic links are followed, also to a file that
 * does not exist yet. KCL_USAGE: too many links, or no room. */
int kcl_file_target(const char *path, char *target, size_t size);

/** Copies D columns into type Z. Z to D is KCL_USAGE. */
int kcl_dense_convert(kcl_context *ctx, const kcl_dense *B, kcl_type type, kcl_dense **out);

/** Generates a system. kind_size: "KIND:SIZE", such as "heatsink:40" or "poisson2d:100"; the kinds
 * are kcl_list(KCL_GENERATORS, i). b may be a NULL pointer; it receives the right-hand side of the
 * problem, or A*1 if the problem has none. */
int kcl_generate(kcl_context *ctx, const char *kind_size, kcl_csr **A, kcl_dense **b);

/** Rigid body modes for kcl_options.near_null, from coordinates [nodes, 2 or 3] of type D: *out [2 nodes, 3] or
 * [3 nodes, 6]: translations, then rotations about the centre. Unknown c of node i is row 2 i + c or 3 i + c. Free with
 * kcl_dense_free. KCL_USAGE: another shape or type. */
int kcl_rigid_modes(kcl_context *ctx, const kcl_dense *coordinates, kcl_dense **out);

/** 64-bit checksum of an array, at memory bandwidth: any change of one word changes it. An x
 * kept after a solve is unchanged if its checksum is kcl_report.x_sum. */
uint64_t kcl_checksum(const void *data, size_t size);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
