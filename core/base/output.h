/* Output that appears under its name only when it is complete: written to a temporary file beside it (an unnamed one if
 * the system has such) and renamed. Devices, pipes and standard output are written in place. Every file that the library
 * or the program writes for its user comes through here. */
#ifndef KCL_OUTPUT_H
#define KCL_OUTPUT_H
#include "core/base/base.h"

typedef struct kcl_output {
  const char *name;
  char *final, *temporary; /* NULL if written in place (standard output, devices) */
  int file;
  bool pack;    /* as gzip: the name ends in .gz */
  bool unnamed; /* has no name yet: removed by the system if the process ends */
} kcl_output;
typedef struct kcl_bytes {
  char *data;
  size_t size;
} kcl_bytes;
int kcl_output_open(kcl_context *ctx, const char *path, kcl_output *out);
int kcl_output_write(kcl_context *ctx, kcl_output *out, const void *data, size_t size);
int kcl_output_seek(kcl_context *ctx, kcl_output *out,
                    int64_t at); /* what is written next begins there */

/* Several processes write one file: one opens it under a temporary name, the others open that. Is path such a file, which
 * appears by renaming and is not packed? join: false: there is no such file here. */
bool kcl_output_is_plain(const char *path);
int kcl_output_open_named(kcl_context *ctx, const char *path, kcl_output *out);
bool kcl_output_join(const char *path, const char *temporary, kcl_output *out);
/* Writes what the folder of a file has changed (its names) to the disk. */
void kcl_folder_synchronise(const char *path);
/* Discards the output if rc is not 0; returns the status. */
int kcl_output_close(kcl_context *ctx, kcl_output *out, int rc);
#endif
