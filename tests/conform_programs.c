/* Compiled programs in the cache folder. Every case is a process of its own, this program called with the
 * word "solve": it solves a small system on the OpenCL device and prints how many programs were compiled,
 * how many came from the folder, the iterations, and a checksum of x. Whatever the folder holds, x is the same.
 */
#include "core/base/cache.h"
#include "core/base/sum64.h"
#include "tests/calls.h"
#include "tests/check.h"
#include "tests/options.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 400, CAPACITY = 1200, NO_DEVICE = 77 };
typedef struct outcome {
  int compiled, cached;
  long long iterations;
  unsigned long long sum;
} outcome;

static int solve_system(kcl_context *ctx) {
  static double b[N], x[N];
  kcl_csr *A = NULL;
  kcl_solver *s = NULL;
  kcl_setup_info info;
  kcl_report r;
  kcl_options o = cg_options();
  for (int i = 0; i < N; i++) b[i] = 1;
  o.format = "csr-scalar", o.precision = KCL_S;
  int rc = kcl_generate(ctx, "poisson2d:20", &A, NULL);
  if (!rc) rc = kcl_setup(ctx, A, &o, &s);
  if (!rc) rc = kcl_solve_one(s, b, x, &r);
  if (!rc) {
    kcl_solver_info(s, &info);
    printf("%d %d %lld %llu\n", info.programs_compiled, info.programs_cached,
           (long long)r.iterations, (unsigned long long)kcl_sum64(x, sizeof x, 0));
  }
  kcl_solver_free(&s), kcl_csr_free(&A);
  return rc;
}

static int child(void) {
  kcl_context *ctx = NULL;
  if (kcl_context_create(NULL, 0, &ctx)) return 1;
  int rc = kcl_select(ctx, "opencl", 0) ? NO_DEVICE : solve_system(ctx);
  if (rc) printf("%s\n", kcl_error());
  kcl_context_free(&ctx);
  return rc;
}

/* ---------------------------------------------------------------- processes */

static const char *self;
static char home[] = "/tmp/krylocl-programs-XXXXXX";
static outcome first;

static FILE *begin(const char *folder) { /* one program: without a persistent kernel */
  char line[2 * CAPACITY];
  snprintf(line, sizeof line, "KRYLOCL_PERSISTENT=0 KRYLOCL_CACHE='%s' exec '%s' solve", folder,
           self);
  return popen(line, "r");
}

/* The exit status. */
static int end(FILE *f, outcome *o) {
  char line[CAPACITY] = "";
  *o = (outcome){.compiled = -1};
  if (!f || !fgets(line, sizeof line, f)) line[0] = 0;
  int status = f ? pclose(f) : -1;
  if (sscanf(line, "%d %d %lld %llu", &o->compiled, &o->cached, &o->iterations, &o->sum) != 4)
    printf("%s", line);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A process with this folder compiles and loads as many programs as said, and finds the same x. */
static void expect(const char *folder, int compiled, int cached, const char *what) {
  outcome o;
  int status = end(begin(folder), &o);
  CHECKF(status == 0, "%s: exit status %d", what, status);
  CHECKF(o.compiled == compiled && o.cached == cached, "%s: %d compiled, %d from the cache", what,
         o.compiled, o.cached);
  CHECKF(o.iterations == first.iterations && o.sum == first.sum, "%s: x differs", what);
}

static const char *inside(const char *name) {
  static char path[CAPACITY];
  snprintf(path, sizeof path, "%s/%s", home, name);
  return path;
}

/* ---------------------------------------------------------------- entries */

/* The last entry of the folder; how many there are. */
static int entries(char path[CAPACITY]) {
  int count = 0;
  DIR *d = opendir(inside("programs"));
  for (struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.')
      count++, snprintf(path, CAPACITY, "%s/programs/%.200s", home, e->d_name);
  if (d) closedir(d);
  return count;
}

static void test_damage(void) {
  char path[CAPACITY], change = 'x';
  if (!CHECK(entries(path) == 1)) return;
  int f = open(path, O_WRONLY);
  CHECK(f >= 0 && pwrite(f, &change, 1, 300) == 1 && !close(f));
  expect(home, 1, 0, "a damaged entry");
  CHECK(truncate(path, 5000) == 0);
  expect(home, 1, 0, "an entry cut short");
  CHECK(chmod(path, 0) == 0);
  expect(home, access(path, R_OK) != 0, access(path, R_OK) == 0, "an entry for nobody to read");
  expect(home, 0, 1, "and all is well again");
}

/* Other users can write the folder: its programs might be theirs. */
static void test_others(void) {
  CHECK(!chmod(inside("programs"), 0777));
  expect(home, 1, 0, "a folder that others can write");
  CHECK(!chmod(inside("programs"), 0700));
  expect(home, 0, 1, "  and its own again");
}

/* A whole entry whose binary is none. The key stands behind five words of eight bytes, the third its length. */
static void test_refused(void) {
  static const char junk[] = "this is no binary of any driver";
  char path[CAPACITY];
  uint64_t head[5] = {0};
  FILE *f = CHECK(entries(path) == 1) ? fopen(path, "rb") : NULL;
  char *key = f && fread(head, sizeof head, 1, f) == 1 ? calloc(1, head[2] + 1) : NULL;
  if (CHECK(key && fread(key, head[2], 1, f) == 1 && strstr(key, "kernel"))) {
    setenv("KRYLOCL_CACHE", home, 1);
    kcl_cache_put("programs", key, junk, sizeof junk);
    CHECK(entries(path) == 1);
    expect(home, 1, 0, "a binary that the driver refuses");
    expect(home, 0, 1, "  is replaced");
  }
  free(key);
  if (f) fclose(f);
}

/* 300 MB that nobody used for long go as soon as something is added. */
static void test_limit(void) {
  static const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  char path[CAPACITY];
  CHECK(entries(path) == 1 && truncate(path, 0) == 0);
  int f = open(inside("programs/old"), O_WRONLY | O_CREAT, 0600);
  CHECK(f >= 0 && !ftruncate(f, (off_t)300 << 20) && !futimens(f, old) && !close(f));
  expect(home, 1, 0, "beyond the limit");
  CHECK(access(inside("programs/old"), F_OK) != 0 && entries(path) == 1);
  expect(home, 0, 1, "the latest is kept");
}

static void test_two_at_once(void) {
  char path[CAPACITY], folder[CAPACITY];
  snprintf(folder, sizeof folder, "rm -rf '%s/programs'", home);
  CHECK(system(folder) == 0);
  FILE *f[2] = {begin(home), begin(home)};
  for (int i = 0; i < 2; i++) {
    outcome o;
    int status = end(f[i], &o);
    CHECKF(status == 0 && o.compiled + o.cached == 1 && o.sum == first.sum,
           "two at once: exit status %d, %d compiled, %d from the cache", status, o.compiled,
           o.cached);
  }
  CHECK(entries(path) == 1);
  expect(home, 0, 1, "after two at once");
}

int main(int argc, char **argv) {
  char line[CAPACITY];
  if (argc > 1 && !strcmp(argv[1], "solve")) return child();
  self = argv[0];
  if (!mkdtemp(home)) return 1;
  int status = end(begin(home), &first);
  if (status == NO_DEVICE) {
    skip("programs on disk: no OpenCL device");
  } else if (CHECKF(status == 0 && first.compiled == 1 && first.cached == 0,
                    "exit status %d, %d compiled, %d from the cache", status, first.compiled,
                    first.cached)) {
    expect(home, 0, 1, "a second process");
    expect(inside("moved/there"), 1, 0, "another folder");
    expect(inside("moved/there"), 0, 1, "  again");
    for (int i = 0; i < 2; i++) {
      expect("", 1, 0, "KRYLOCL_CACHE=");
      expect("/dev/null/krylocl", 1, 0, "no folder can be made");
    }
    test_damage(), test_others(), test_refused(), test_limit(), test_two_at_once();
  }
  snprintf(line, sizeof line, "rm -rf '%s'", home);
  CHECK(system(line) == 0);
  return check_report();
}
