/* The user's cache folder for everything that is kept between runs: $KRYLOCL_CACHE (no folder if empty), otherwise
 * $XDG_CACHE_HOME/krylocl, otherwise ~/.cache/krylocl. Its subfolders:
 *
 *   programs/    compiled programs                             (core/opencl/device/program_cache.c)
 *   rates/       stream rates, times of a launch               (core/tuning/rates.c)
 *   compile/     seconds that a driver's compiler takes        (core/opencl/device/compile_cost.c), and that
 *                solves lost without kernels                  (core/device/later.c)
 *   selftest/    verdicts on kernels of a driver               (solver/engine/selftest.c)
 *   tune/        tunables, and timings for the choice by `auto` (core/base/tunables.c, core/tuning/choices.c)
 *   matrices/    parsed files as .kcl                          (data/files/read_cached.c)
 *   collection/  downloaded matrices                           (data/collection/get.c)
 *
 * Compiled programs run as this user, so folders and files are used only if he owns them and no other user can write them;
 * kcl_cache_refused (krylocl.h) says what was refused.
 *
 * Everything in it can be recomputed: entries that are missing, damaged or of another version are replaced, and a folder
 * that cannot be written is not an error. */
#ifndef KCL_CACHE_H
#define KCL_CACHE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Creates the subfolder `sub` and writes the path of `name` in it; -1 if there can be no such folder. */
int kcl_cache_path(const char *sub, const char *name, char *path, size_t capacity);
/* Opens a file of a subfolder for reading; -1: there is none that only this user can have written. */
int kcl_cache_open(const char *sub, const char *name);
FILE *kcl_cache_stream(const char *sub, const char *name); /* the same as a stream, or NULL */

/* Small entries, one file each, by a key of any length. get: allocated by malloc; NULL without a valid entry. put: renamed
 * into place when complete, so that concurrent processes see whole entries only. */
void *kcl_cache_get(const char *sub, const char *key, size_t *size);
bool kcl_cache_has(const char *sub, const char *key); /* its data are not looked at */
void kcl_cache_put(const char *sub, const char *key, const void *data, size_t size);
/* Removes the least recently used files until the rest add up to at most `most` bytes. */
void kcl_cache_trim(const char *sub, long long most);
#endif
