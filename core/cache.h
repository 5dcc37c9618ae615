/* The user's cache folder, one for everything that is kept between runs: $KRYLOCL_CACHE, which is none
 * when empty; without it $XDG_CACHE_HOME/krylocl, else ~/.cache/krylocl. In it
 *
 *   programs/    compiled programs        (core/opencl_program.c)
 *   rates/       stream rates             (core/stream.c)
 *   tune/        what --format auto found out (core/choices.c)
 *   matrices/    parsed files as .kcl     (data/parsed.c)
 *   tune/        tunables, and what `auto` remembers (core/tune.c, core/choices.c)
 *   collection/  downloaded matrices      (data/get.c)
 *
 * Nothing in it is needed: what is missing, damaged or of another version is made again, and a folder that
 * cannot be written is no error. */
#ifndef KCL_CACHE_H
#define KCL_CACHE_H
#include <stddef.h>

/* Makes the folder `sub` in it and puts "that folder/name" in path; -1 when there can be none. */
int kcl_cache_path(const char *sub, const char *name, char *path, size_t room);

/* Small entries, one file each, by a key of any length. get: malloc'd, NULL when there is none that is
 * whole. put: under its name when complete, so that processes do not disturb each other. */
void *kcl_cache_get(const char *sub, const char *key, size_t *size);
void kcl_cache_put(const char *sub, const char *key, const void *data, size_t size);
/* Removes what was used the longest time ago until the folder's files add up to `most` bytes or less. */
void kcl_cache_trim(const char *sub, long long most);
#endif
