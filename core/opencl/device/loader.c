/* OpenCL's functions, from a library that is loaded when a process first needs one and stays until it ends. Which library:
 *
 *   the one that KRYLOCL_OPENCL names; else
 *   the one that the process has already, linked with its program or preloaded (as Oclgrind's is); else
 *   libOpenCL.so.1
 */
#include "core/opencl/device/device.h"
#include <dlfcn.h>
#include <unistd.h>

#ifdef __APPLE__
#define STANDARD "/System/Library/Frameworks/OpenCL.framework/OpenCL"
#define OTHERWISE STANDARD
#define ADVICE "it is part of macOS"
#else
#define STANDARD "libOpenCL.so.1"
#define OTHERWISE "libOpenCL.so"
#define ADVICE "install an OpenCL loader (Debian, Ubuntu: ocl-icd-libopencl1)"
#endif

struct kcl_cl kcl_cl;

#define CL(f) {#f, &f},
static const struct {
  const char *name;
  void *pointer; /* in kcl_cl */
} functions[] = {
#include "core/opencl/device/functions.def"
};
#undef CL

static void *library;      /* dlopen's handle, or NULL */
static char missing[1000]; /* why OpenCL cannot be called; empty: it can */
static pid_t loaded_by;    /* this process, or its parent where fork() copied the library */

static bool open_library(const char *name) {
  library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  return library != NULL;
}

/* dlerror() without the name of the library before it. */
static const char *explain_failure(const char *name) {
  const char *text = dlerror();
  const size_t length = strlen(name);
  return !strncmp(text, name, length) && text[length] == ':' ? text + length + 2 : text;
}

/* Opens it, or says why not; its name. */
static const char *choose_library(void) {
  const char *given = getenv("KRYLOCL_OPENCL");
  if (given && *given) {
    if (!open_library(given))
      snprintf(missing, sizeof missing, "KRYLOCL_OPENCL is %.400s, which cannot be loaded: %s",
               given, explain_failure(given));
    return given;
  }
  if (open_library(NULL) && dlsym(library, "clGetPlatformIDs")) return "this program";
  if (open_library(STANDARD)) return STANDARD;
  snprintf(missing, sizeof missing, STANDARD " was not found (%s): " ADVICE,
           explain_failure(STANDARD));
  open_library(OTHERWISE);
  return OTHERWISE;
}

/* Fills the table; names the first functions that the library lacks. */
static void find_functions(const char *name) {
  enum { NAMED = 5 };
  int lacking = 0, used = 0;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *f = dlsym(library, functions[i].name);
    memcpy(functions[i].pointer, &f, sizeof f);
    if (f || ++lacking > NAMED) continue;
    if (lacking == 1)
      used = snprintf(missing, sizeof missing,
                      "%.400s is no loader of OpenCL 1.2 or later, it lacks", name);
    used += snprintf(missing + used, sizeof missing - (size_t)used, "%s %s", lacking > 1 ? "," : "",
                     functions[i].name);
  }
  if (lacking > NAMED)
    snprintf(missing + used, sizeof missing - (size_t)used, " and %d more", lacking - NAMED);
}

static void load_library(void) {
  const char *name = choose_library();
  loaded_by = getpid();
  if (!library) return;
  missing[0] = 0;
  find_functions(name);
  if (!missing[0]) kcl_watch_install(&kcl_cl);
}

const char *kcl_cl_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_library);
  if (loaded_by != getpid())
    return "OpenCL was loaded before fork(), and drivers do not work in the child: use the device "
           "cpu there, or fork before devices are listed or used";
  return missing[0] ? missing : NULL;
}

void *kcl_cl_find(const char *function) { return kcl_cl_load() ? NULL : dlsym(library, function); }

const char *kcl_icd_loader(void) {
  Dl_info where;
  return dladdr((void *)(intptr_t)clGetPlatformIDs, &where) && where.dli_fname ? where.dli_fname
                                                                               : "unknown";
}
