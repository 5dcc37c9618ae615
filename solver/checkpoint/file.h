/* A checkpoint as a file: a head, named texts, numbers of the loop and of each right-hand side, histories, vectors, the state of
 * the executor (docs/files.md). All that is here is about bytes; solver/checkpoint_save.c and solver/checkpoint_resume.c know what they mean.
 *
 * A file is written beside its name, synchronised and renamed; the one before it becomes NAME.1. A reader has looked at the
 * checksum of all of it before it returns a byte. */
#ifndef KCL_CHECKPOINT_FILE_H
#define KCL_CHECKPOINT_FILE_H

#include "core/base/output.h"
#include <stdio.h>

enum { KCL_CHECKPOINT_VERSION = 2 };

/* Each struct has 64-bit fields and texts alone: no padding, the same on every machine. */
typedef struct kcl_saved_head {
  uint64_t structure, values; /* of A's entries (core/matrix/fingerprint.h); 0: A is a function */
  int64_t ranks; /* that wrote it: vectors are whole, states of ranks follow each other */
  int64_t rows, cols, type; /* of A */
  char method[32], precond[32], format[32];
  int64_t words; /* bytes of the texts that follow, NUL at their end: what else decides the bits */
  int64_t nrhs;
  int64_t scaled, unit; /* x is of a system with scaled rows; exponent of the unit */
  int64_t since, shared, method_changed, tried; /* kcl_loop, kcl_selection */
  int64_t vectors;
  int64_t state; /* bytes */
} kcl_saved_head;

typedef struct kcl_saved_rhs { /* kcl_rhs and its control block */
  uint64_t b_sum;              /* fingerprint of b, of A's type */
  int64_t shift;
  int64_t stop, iteration, limit, cycle_open;
  int64_t active, from_zero, given_up, reason, restarts;
  int64_t best_at, decade_at, round_began, first_round, began;
  double allowed, target, rr, rr0, claim, rr_began, best, decade;
  int64_t history; /* entries */
} kcl_saved_rhs;

typedef struct kcl_saved_vector {
  char name[24];
  int64_t n, type; /* as it is stored; nrhs columns follow */
} kcl_saved_vector;

/* ---- writing. A counting writer only adds up sizes: the head of the file has that of all. */
typedef struct kcl_checkpoint_writer {
  kcl_context *ctx;
  kcl_output output;
  bool counting;
  bool replaces; /* the file of that name is damaged: it does not become NAME.1 */
  uint64_t size, sum;
  char *block; /* bytes of the block that is being filled */
  size_t filled;
} kcl_checkpoint_writer;

/* size: of all that will be put. */
int kcl_checkpoint_open(kcl_context *ctx, const char *path, uint64_t size,
                        kcl_checkpoint_writer *out);
int kcl_checkpoint_put(kcl_checkpoint_writer *w, const void *data, size_t size);
/* rc not 0: nothing has been written. Returns the first failure. */
int kcl_checkpoint_close(kcl_checkpoint_writer *w, int rc);
/* KCL_USAGE: not a name of a file that can be renamed; KCL_INPUT: it cannot be written. */
int kcl_checkpoint_try(kcl_context *ctx, const char *path);
uint64_t kcl_checkpoint_bytes(uint64_t size); /* of the file */

/* ---- reading */
typedef struct kcl_checkpoint_reader {
  kcl_context *ctx;
  FILE *f;
  char *path;          /* owned */
  uint64_t size, left; /* of what was put; not read yet */
  kcl_saved_head head;
  char *words;           /* [head.words], owned */
  bool predecessor;      /* it is NAME.1: NAME is not there or damaged */
  char why[KCL_MESSAGE]; /* then: what was wrong with NAME */
} kcl_checkpoint_reader;

/* NAME, else NAME.1. The head and the words have been read. KCL_INPUT: neither is a checkpoint that is whole; the message names
 * the file and what it has. */
int kcl_checkpoint_read(kcl_context *ctx, const char *path, kcl_checkpoint_reader **out);
int kcl_checkpoint_get(kcl_checkpoint_reader *r, void *data, size_t size);
int kcl_checkpoint_damaged(const kcl_checkpoint_reader *r); /* its parts do not fit together */
void kcl_checkpoint_free(kcl_checkpoint_reader **r);

#endif
