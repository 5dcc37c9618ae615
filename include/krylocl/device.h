/** @file
 * Devices: lists, rates, tunables, event times. For programs that choose and measure devices, beside krylocl.h. It may change with
 * every release.
 */
#ifndef KRYLOCL_DEVICE_H
#define KRYLOCL_DEVICE_H

#include <krylocl.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** Sets the number of threads of all that the library computes on the CPU for the calling thread: reading, set-up,
 * the native executor of devices that are selected later, certificates, writing. It has no influence on results. 0,
 * the default: as many processors as this process may use (affinity mask, quota of control groups), or
 * OMP_NUM_THREADS. KCL_USAGE: negative or above KCL_MAX_THREADS. */
int kcl_set_threads(int threads);

/** The number of threads of the calling thread, at least 1. */
int kcl_threads(void);

/** Selects the device.
 *
 * device: "auto" (a GPU if there is one, else cpu), "cpu" (the native executor), "opencl"
 * (the first OpenCL device, a GPU before a CPU), "gpu", "gpu:N" (GPU number N, from 0), "P:D" (platform and device number), or a
 * part of a device's name. NULL: the environment variable KRYLOCL_DEVICE, or "auto" if it is not
 * set.
 *
 * threads: of the native executor; not 0: kcl_set_threads(threads) is called too. 0: kcl_threads().
 *
 * A set-up selects NULL if no device was selected. A second call replaces the device. KCL_USAGE: a
 * solver or an operator still uses the present one. KCL_DEVICE: no device matches (the message lists them). */
int kcl_select(kcl_context *ctx, const char *device, int threads);

/** NULL, or a sentence that says why this process has no OpenCL: its loader was not found, lacks functions, or
 * the library was built without OpenCL. It is static, not to be freed.
 *
 * The OpenCL loader is not linked but loaded, by the first call that needs it: the library that the environment variable
 * KRYLOCL_OPENCL names, else the one that the program is linked with, else libOpenCL.so.1. */
const char *kcl_opencl_missing(void);

/** A device. */
typedef struct kcl_device {
  int platform;            /**< number of the OpenCL platform; -1: the native executor */
  int device;              /**< number of the device in its platform; -1: the native executor */
  char platform_name[128]; /**< name of the platform */
  char name[128];          /**< name of the device */
  char version[128];       /**< version of OpenCL that the device supports */
  char driver[128];        /**< version of the driver */
  const char *kind;        /**< "gpu", "cpu", "accelerator" or "native" */
  int compute_units;       /**< compute units; threads of the native executor */
  uint64_t memory;         /**< memory of the device, bytes */
  uint64_t max_alloc;      /**< largest buffer, bytes; 0: not limited */
  bool has_double;         /**< double precision is supported */
  char vendor[128];        /**< vendor of the device; empty: the native executor, as what follows */
  char c_version[64];      /**< version of OpenCL C */
  int clock_mhz;           /**< highest clock rate, MHz; 0: not known */
  int max_group;           /**< work-items of a work-group, at most */
  uint64_t local_memory;   /**< local memory per work-group, bytes */
  uint64_t cache;          /**< cache of global memory, bytes; 0: none, or not known */
  bool has_images;         /**< images are supported */
} kcl_device;

/** The selected device; selects NULL if there is none. */
int kcl_device_current(kcl_context *ctx, kcl_device *out);

/** All devices, the native executor first. *list is [*count], to be freed with free(). */
int kcl_device_list(kcl_context *ctx, kcl_device **list, int *count);

/** The extensions of an OpenCL device, separated by blanks, malloc'd: free it with free(). Empty for the native
 * executor. KCL_DEVICE: d is no device of this machine. */
int kcl_device_extensions(kcl_context *ctx, const kcl_device *d, char **out);

/** The properties of a device that OpenCL offers, as lines of a name and its value: "max_work_item_sizes 1024 1024 64". The names are
 * those of clGetDeviceInfo. malloc'd and empty as above. KCL_DEVICE: d is no device of this machine. */
int kcl_device_properties(kcl_context *ctx, const kcl_device *d, char **out);

/** Rates of the triad z = a x + y on a device (McCalpin 1995, STREAM). One measurement is the median of several
 * passes over vectors of at least four times the last-level cache, as far as a quarter of the memory allows. The last five
 * measurements are on record in the user's cache folder, by device, driver and threads. */
typedef struct kcl_stream {
  double rate; /**< bytes/s: the median of the measurements on record */
  double low;  /**< bytes/s of the slowest pass on record */
  double high; /**< bytes/s of the fastest pass on record */
  double
      cache_rate; /**< bytes/s with vectors that fit into the last-level cache; 0: not measured, as on GPUs */
  int64_t cache_bytes;  /**< the last-level cache, of all threads; 0: not known */
  int64_t vector_bytes; /**< each of the three vectors */
  int measurements;     /**< on record */
  int64_t date;         /**< of the newest measurement, seconds since 1970 */
} kcl_stream;

/** The rates of the selected device: those on record, else measured now, which takes about a second. They are measured again, too,
 * where a solve of this context moved its data four times as fast and the record has fewer than five measurements. While programs of
 * this context are compiled beside its solves nothing is measured, and the rate is 0 where none is on record. */
int kcl_stream_get(kcl_context *ctx, kcl_stream *out);

/** kcl_stream_get's rate alone; measured where none is on record, while programs are compiled, too. */
int kcl_stream_rate(kcl_context *ctx, double *bytes_per_second);

/** Measures once more and adds that to the record; *bytes_per_second is of this measurement alone. */
int kcl_stream_measure(kcl_context *ctx, double *bytes_per_second);

/** Commands of one kind and name on an OpenCL device, by event times (CL_PROFILING_COMMAND_START and _END). */
typedef struct kcl_profile_entry {
  char name[48];          /**< of a kernel its function; else empty */
  const char *kind;       /**< "kernel", "write", "read", "copy", "fill" or "map"; constant text */
  int64_t count;          /**< commands */
  double seconds;         /**< sum of their times on the device */
  double bytes;           /**< moved between host and device, copied or filled; 0 of kernels */
  int group;              /**< kernels: work-items per work-group; 0: the driver's choice */
  int largest_group;      /**< kernels: most work-items per work-group */
  int preferred_multiple; /**< kernels: preferred multiple of the work-group size */
  uint64_t private_bytes; /**< kernels: private memory per work-item, as the driver says */
  uint64_t local_bytes;   /**< kernels: local memory per work-group */
  int registers; /**< kernels: per work-item, by the driver's build log (NVIDIA); 0: not known */
  int64_t
      spill_bytes; /**< kernels: stored and loaded by a work-item where registers do not suffice, if they are known */
  int instructions; /**< kernels: of PTX, which the driver assembles (NVIDIA); 0: not known */
} kcl_profile_entry;

/** Event times of a stretch of work. */
typedef struct kcl_profile {
  int count;                /**< number of entries */
  kcl_profile_entry *entry; /**< [count], in the order of their first command */
  double seconds;           /**< with a command or in a gap, from the first command to the last */
  double gaps;              /**< of these without any command on the device */
} kcl_profile;

/** Devices that are selected after this call record the event times of all commands. Recording costs time: not for
 * benchmarks. */
void kcl_profile_enable(kcl_context *ctx, bool on);

/** Launches recorded since the last call, or since the device was selected. Nothing on the native executor. Waits until
 * the device is done. out->entry is to be freed with free(). */
int kcl_profile_take(kcl_context *ctx, kcl_profile *out);

/** Hardware counters of a stretch of work on the host's processors, sums over all threads of the process. Negative: not
 * counted, because the system or the processor has or allows no such counter. */
typedef struct kcl_counters {
  double cycles;       /**< processor cycles */
  double instructions; /**< instructions */
  double cache_misses; /**< misses of the last cache */
  double memory_bytes; /**< bytes between memory and processors, of all processes */
  bool
      memory_from_misses; /**< memory_bytes is cache_misses by the length of a line, of this process */
} kcl_counters;

/** A tunable. */
typedef struct kcl_tunable {
  const char *name;   /**< its name, such as "sell.slice" */
  const char *help;   /**< what it is, one phrase */
  const char *format; /**< the format that it applies to; NULL: all */
  int value;          /**< as set; 0: the default */
  int default_value;  /**< the default; 0: it depends on the matrix */
  int min;            /**< smallest value; all values are powers of two */
  int max;            /**< largest value */
  bool applies;       /**< the selected device uses it */
} kcl_tunable;

/** Number of tunables. */
int kcl_tunable_count(void);

/** Tunable i, 0 <= i < kcl_tunable_count(). */
int kcl_tunable_get(kcl_context *ctx, int i, kcl_tunable *out);

/** Sets a tunable for the set-ups that follow; 0: the default. */
int kcl_tunable_set(kcl_context *ctx, const char *name, int value);

/** Writes the path of the selected device's own file to path [size]. Returns -1 if there is no
 * cache folder or the path does not fit, else 0. */
int kcl_tune_path(kcl_context *ctx, char *path, size_t size);

/** Sets the tunables that a file lists. */
int kcl_tune_read(kcl_context *ctx, const char *path);

/** Writes all tunables of the selected device to a file. remark: lines for its head, or NULL. */
int kcl_tune_write(kcl_context *ctx, const char *path, const char *remark);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
