/* The user's cache folder, one for everything that is kept between runs: $KRYLOCL_CACHE, which is none
 * when empty; without it $XDG_CACHE_HOME/krylocl, else ~/.cache/krylocl. In it
 *
 *   matrices/    parsed files as .kcl     (data/parsed.c)
 *   collection/  downloaded matrices      (data/get.c)
 *
 * Nothing in it is needed: what is missing, damaged or cannot be written is made again, silently. */
#ifndef KCL_CACHE_H
#define KCL_CACHE_H
#include <stddef.h>

/* Makes the folder `sub` in it and puts "that folder/name" in path; -1 when there can be none. */
int kcl_cache_path(const char *sub, const char *name, char *path, size_t room);
#endif
