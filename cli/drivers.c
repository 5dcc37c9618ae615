/* OpenCL drivers: the cache folder that PoCL needs and, for krylocl devices, reasons why a device is missing: a
 * loader that is missing, a driver that is registered with it and cannot be loaded, or a device file without
 * permission. Linux only. */
#include "cli/drivers.h"
#include "cli/ui/say.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if PoCL can write its cache below this folder, or make it. */
static bool can_make(const char *base, const char *folder) {
  char path[4096];
  for (snprintf(path, sizeof path, "%.4000s/%s", base, folder); *path; *strrchr(path, '/') = 0)
    if (access(path, F_OK) == 0) return access(path, W_OK | X_OK) == 0;
  return access("/", W_OK | X_OK) == 0;
}

static bool is_own_folder(const char *folder) {
  struct stat s;
  return !lstat(folder, &s) && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
         !(s.st_mode & (S_IRWXG | S_IRWXO));
}

/* PoCL shows no device where it cannot write a cache, as in containers and for users of services. A folder for
 * temporary files then serves, which must belong to this user alone because compiled programs are read from it. */
static void find_pocl_cache(void) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *tmp = getenv("TMPDIR");
  char path[4096];
  if (getenv("POCL_CACHE_DIR")) return;
  if (base && *base == '/' ? can_make(base, "pocl")
                           : home && *home == '/' && can_make(home, ".cache/pocl"))
    return;
  snprintf(path, sizeof path, "%s/krylocl-%lu", tmp && *tmp == '/' ? tmp : "/tmp",
           (unsigned long)geteuid());
  if ((mkdir(path, 0700) == 0 || errno == EEXIST) && is_own_folder(path))
    setenv("POCL_CACHE_DIR", path, 1);
}

/* Makes PoCL run the kernels of its program binaries, which allow any work-group size, instead of compiling each
 * kernel again for the size in use. They are as fast. */
void cli_configure_drivers(void) {
  setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 0);
  find_pocl_cache();
}

static bool folder_ends(const char *name, const char *ending) {
  size_t n = strlen(name), e = strlen(ending);
  return n > e && strcmp(name + n - e, ending) == 0;
}

/* The library that an .icd file names. */
static void say_driver(const cli_options *o, const char *folder, const char *name) {
  char path[4096], library[1024] = "";
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "r");
  if (!f) {
    cli_say(o, "drivers     %s cannot be read: %s\n", path, strerror(errno));
    return;
  }
  if (fgets(library, sizeof library, f)) library[strcspn(library, " \t\r\n")] = 0;
  fclose(f);
  void *handle = *library ? dlopen(library, RTLD_LAZY | RTLD_LOCAL) : NULL;
  if (handle)
    cli_say(o, "drivers     %s: %s, which can be loaded\n", path, library);
  else
    cli_say(o, "drivers     %s: %s cannot be loaded: %s\n", path, *library ? library : "no library",
            *library ? dlerror() : "the file is empty");
  if (handle) dlclose(handle);
}

static void say_registered(const cli_options *o, const char *folder) {
  int found = 0;
  DIR *d = opendir(folder);
  if (!d) {
    cli_say(o, "drivers     %s: %s, so no driver is registered\n", folder, strerror(errno));
    return;
  }
  for (const struct dirent *e; (e = readdir(d));)
    if (folder_ends(e->d_name, ".icd")) say_driver(o, folder, e->d_name), found++;
  closedir(d);
  if (!found) cli_say(o, "drivers     %s is empty: no driver is registered\n", folder);
}

/* Prints device files that exist and that this user may not open. */
static void say_permissions(const cli_options *o, const char *folder, const char *prefix) {
  char path[4096];
  DIR *d = opendir(folder);
  if (!d) return;
  for (const struct dirent *e; (e = readdir(d));) {
    if (strncmp(e->d_name, prefix, strlen(prefix))) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (access(path, R_OK | W_OK) != 0) cli_say(o, "permission  %s: %s\n", path, strerror(errno));
  }
  closedir(d);
}

static void say_nvidia(const cli_options *o, const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/nvidia.icd", folder);
  if (access("/dev/nvidiactl", F_OK) != 0 || access(path, F_OK) == 0) return;
  cli_say(o,
          "drivers     an NVIDIA device is there (/dev/nvidiactl), its driver is not registered:\n"
          "            echo libnvidia-opencl.so.1 > %s\n",
          path);
}

/* Finds the page on missing devices: where `make install` puts it, or in the source tree. */
static const char *find_guide(void) {
  static const char *const places[] = {"/../share/doc/krylocl/docs", "/../docs"};
  static char found[4096]; /* PATH_MAX */
  char path[4200], folder[4000];
  ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
  folder[n > 0 ? n : 0] = 0;
  char *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
    snprintf(path, sizeof path, "%s%s/troubleshooting.md", folder, places[i]);
    if (access(path, R_OK) == 0 && realpath(path, found)) return found;
  }
  return "docs/troubleshooting.md";
}

/* Where the drivers of an installed loader are, and why they show no device. */
static void say_installed(const cli_options *o) {
  const char *vendors = getenv("OCL_ICD_VENDORS");
  const char *folder =
      vendors && *vendors && !folder_ends(vendors, ".icd") ? vendors : "/etc/OpenCL/vendors";
  if (vendors && *vendors) cli_say(o, "drivers     OCL_ICD_VENDORS is %s\n", vendors);
  say_registered(o, folder);
  say_nvidia(o, folder);
  say_permissions(o, "/dev/dri", "renderD");
  say_permissions(o, "/dev", "nvidia");
  say_permissions(o, "/dev", "kfd");
}

void cli_say_drivers(const cli_options *o) {
  const char *missing = kcl_opencl_missing();
  if (missing)
    cli_say(o, "drivers     %s\n", missing);
  else
    say_installed(o);
  cli_say(o, "help        %s\n", find_guide());
}
