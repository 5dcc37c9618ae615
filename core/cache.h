/* The user's cache folder: $XDG_CACHE_HOME/krylocl, else ~/.cache/krylocl. */
#ifndef KCL_CACHE_H
#define KCL_CACHE_H
#include <stddef.h>

/* Makes the folder `sub` in it and puts "that folder/name" in path; -1 when there can be none. */
int kcl_cache_path(const char *sub, const char *name, char *path, size_t room);
#endif
