/* Entries of the cache folder: read back complete or not at all, also if their files are damaged or several
 * processes write at the same time. */
#include "core/base/cache.h"
#include "core/base/context.h"
#include "core/tuning/rates.h"
#include "tests/calls.h"
#include "tests/check.h"
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPACITY = 1200 };
static char home[] = "/tmp/krylocl-cache-XXXXXX";

/* The number of entries of a folder, and the path of the last. */
static int entries(const char *sub, char path[CAPACITY]) {
  char folder[CAPACITY];
  int count = 0;
  snprintf(folder, sizeof folder, "%s/%s", home, sub);
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.') count++, snprintf(path, CAPACITY, "%.500s/%.200s", folder, e->d_name);
  if (d) closedir(d);
  return count;
}

static bool holds(const char *sub, const char *key, const void *want, size_t size) {
  size_t n = 0;
  void *got = kcl_cache_get(sub, key, &n);
  bool good = want ? got && n == size && !memcmp(got, want, size) : !got;
  free(got);
  return good;
}

static void test_round(void) {
  static char data[100000];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)random_bits();
  CHECK(holds("round", "a", NULL, 0));
  kcl_cache_put("round", "a", data, sizeof data);
  kcl_cache_put("round", "a longer\nkey", data, 7);
  kcl_cache_put("round", "", data, 0);
  CHECK(holds("round", "a", data, sizeof data) && holds("round", "a longer\nkey", data, 7));
  CHECK(holds("round", "", data, 0) && holds("round", "b", NULL, 0));
  kcl_cache_put("round", "a", data + 1, 500);
  CHECK(holds("round", "a", data + 1, 500));
}

/* Every byte of the file changed, truncated to every length, extended, the file of another key. */
static void test_damage(void) {
  static const char data[] = "what is kept";
  char path[CAPACITY], bytes[512], other[CAPACITY];
  kcl_cache_put("damage", "the key", data, sizeof data);
  if (!CHECK(entries("damage", path) == 1)) return;
  int file = open(path, O_RDWR);
  ssize_t size = read(file, bytes, sizeof bytes);
  struct stat info;
  CHECK(size > 40 && size < (ssize_t)sizeof bytes && !fstat(file, &info) &&
        (info.st_mode & 0777) == 0600);
  for (ssize_t i = 0; i < size; i++)
    for (int bit = 0; bit < 8; bit++) {
      char changed = (char)(bytes[i] ^ 1 << bit);
      bool good = pwrite(file, &changed, 1, i) == 1 && holds("damage", "the key", NULL, 0);
      CHECKF(good, "bit %d of byte %zd changed", bit, i);
      CHECK(pwrite(file, &bytes[i], 1, i) == 1);
    }
  CHECK(holds("damage", "the key", data, sizeof data));
  for (ssize_t n = size; n-- > 0;)
    CHECKF(!ftruncate(file, n) && holds("damage", "the key", NULL, 0), "cut to %zd bytes", n);
  CHECK(pwrite(file, bytes, (size_t)size, 0) == size &&
        holds("damage", "the key", data, sizeof data));
  CHECK(!ftruncate(file, size + 1) && holds("damage", "the key", NULL, 0));
  close(file);
  kcl_cache_put("damage", "the key", data, sizeof data);
  kcl_cache_put("other", "the yek", data, sizeof data);
  CHECK(entries("other", other) == 1 && !rename(path, other));
  CHECK(holds("damage", "the key", NULL, 0) && holds("other", "the yek", NULL, 0));
  CHECK(!unlink(other) && !mkdir(other, 0700)); /* a folder in its place */
  kcl_cache_put("other", "the yek", data, sizeof data);
  CHECK(holds("other", "the yek", NULL, 0) && entries("other", other) == 1 && !rmdir(other));
}

/* An entry that nobody may read, in the folder of an ordinary user, is replaced. A process of its own: root would read it. */
static bool replaces_unreadable(void) {
  static const char data[] = "what is kept";
  enum { NOBODY = 65534 };
  char path[CAPACITY];
  if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY))) return false;
  snprintf(home, sizeof home, "/tmp/krylocl-cache-XXXXXX");
  if (!mkdtemp(home) || setenv("KRYLOCL_CACHE", home, 1)) return false;
  kcl_cache_put("damage", "the key", data, sizeof data);
  bool good =
      entries("damage", path) == 1 && !chmod(path, 0) && holds("damage", "the key", NULL, 0);
  kcl_cache_put("damage", "the key", data, sizeof data);
  good = good && holds("damage", "the key", data, sizeof data);
  unlink(path), rmdir((snprintf(path, CAPACITY, "%s/damage", home), path)), rmdir(home);
  return good;
}

static void test_unreadable(void) {
  int status = 1;
  pid_t child = fork();
  if (child == 0) _exit(!replaces_unreadable());
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* The most recently used entries are kept. */
static void test_limit(void) {
  static char data[1000];
  char path[CAPACITY], key[2] = "a";
  for (; *key <= 'j'; ++*key) {
    kcl_cache_put("limit", key, data, sizeof data);
    DIR *d = opendir((snprintf(path, sizeof path, "%s/limit", home), path));
    struct timespec old[2] = {{.tv_sec = 1000 + *key}, {.tv_sec = 1000 + *key}};
    for (struct dirent *e; d && (e = readdir(d));) { /* the new one is the only one of today */
      struct stat info;
      if (e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &info, 0) && info.st_mtime > 2000)
        CHECK(!utimensat(dirfd(d), e->d_name, old, 0));
    }
    if (d) closedir(d);
  }
  kcl_cache_trim("limit", 20000);
  CHECK(entries("limit", path) == 10);
  CHECK(holds("limit", "b", data, sizeof data));
  kcl_cache_trim("limit", 4500);
  CHECK(entries("limit", path) == 4);
  CHECK(holds("limit", "b", data, sizeof data) && holds("limit", "h", data, sizeof data));
  CHECK(holds("limit", "a", NULL, 0) && holds("limit", "g", NULL, 0));
  kcl_cache_trim("limit", 0);
  CHECK(entries("limit", path) == 0);
  kcl_cache_trim("nothing here", 0);
}

/* Is an entry that no process has written before missing, once this one has written it? */
static int loses_new_entry(int number) {
  char key[24];
  snprintf(key, sizeof key, "new key %d", number);
  kcl_cache_put("new", key, key, sizeof key);
  return !holds("new", key, key, sizeof key);
}

/* Several writers of one key: a reader sees the complete text of one of them. */
static void test_processes(void) {
  enum { CHILDREN = 4, TIMES = 300, SIZE = 20000 };
  char path[CAPACITY];
  for (int c = 0; c < CHILDREN; c++) {
    pid_t child = fork();
    if (child > 0) continue;
    static char data[SIZE];
    int bad = child < 0;
    memset(data, 'a' + c, SIZE);
    for (int i = 0; i < TIMES && !bad; i++) {
      size_t n = 0;
      kcl_cache_put("many", "one key", data, SIZE);
      char *got = kcl_cache_get("many", "one key", &n);
      bad = !got || n != SIZE || memcmp(got, got + 1, SIZE - 1);
      free(got);
      bad = bad || loses_new_entry(i);
    }
    _exit(bad);
  }
  for (int c = 0, status; c < CHILDREN; c++)
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(entries("many", path) == 1);
}

static void give(const char *path, unsigned uid) { CHECK(!chown(path, uid, (gid_t)-1)); }

/* Files and folders that another user owns or can write are not used: his programs would run as this user. It is said once. */
static void test_others(void) {
  static const char data[] = "a program";
  char path[CAPACITY], folder[CAPACITY], other[CAPACITY];
  snprintf(folder, sizeof folder, "%s/others", home);
  snprintf(other, sizeof other, "%s/elsewhere", home);
  kcl_cache_put("others", "key", data, sizeof data);
  if (!CHECK(entries("others", path) == 1 && holds("others", "key", data, sizeof data))) return;
  CHECK(!kcl_cache_refused());
  CHECK(!chmod(path, 0666) && holds("others", "key", data, sizeof data)); /* in a closed folder */
  CHECK(!chmod(folder, 0755) && holds("others", "key", NULL, 0));
  CHECK(kcl_cache_refused() && strstr(kcl_cache_refused(), path));
  CHECK(!chmod(path, 0644) && holds("others", "key", data, sizeof data));
  char *const folders[] = {folder, home};
  for (int i = 0; i < 2; i++)
    for (int mode = 0720; mode >= 0702; mode -= 016) {
      CHECKF(!chmod(folders[i], (mode_t)mode) && holds("others", "key", NULL, 0), "%s: %o",
             folders[i], mode);
      kcl_cache_put("others", "another", data, sizeof data);
      CHECK(!chmod(folders[i], 0700) && holds("others", "key", data, sizeof data));
      CHECKF(entries("others", path) == 1, "nothing is written");
    }
  CHECK(!rename(path, other) && !symlink(other, path) && holds("others", "key", NULL, 0));
  CHECK(!unlink(path) && !rename(other, path) && holds("others", "key", data, sizeof data));
  const unsigned other_user = geteuid() + 1;
  if (chown(path, other_user, (gid_t)-1)) { /* also root of a container with one user */
    skip("a cache of another user: only root can make one");
    return;
  }
  give(path, geteuid());
  char *const owned[] = {path, folder, home};
  for (int i = 0; i < 3; i++) {
    give(owned[i], other_user);
    CHECKF(holds("others", "key", NULL, 0), "%s belongs to another user", owned[i]);
    give(owned[i], geteuid());
    CHECK(holds("others", "key", data, sizeof data));
  }
}

/* The folder: three environment variables in this order; none is not an error. */
static void test_place(void) {
  char path[CAPACITY], want[CAPACITY];
  setenv("XDG_CACHE_HOME", home, 1), setenv("HOME", home, 1);
  CHECK(!kcl_cache_path("s", "n", path, sizeof path));
  CHECK(!strcmp(path, (snprintf(want, sizeof want, "%s/s/n", home), want)));
  unsetenv("KRYLOCL_CACHE");
  CHECK(!kcl_cache_path("s", "n", path, sizeof path));
  CHECK(!strcmp(path, (snprintf(want, sizeof want, "%s/krylocl/s/n", home), want)));
  unsetenv("XDG_CACHE_HOME");
  CHECK(!kcl_cache_path("s", "n", path, sizeof path));
  CHECK(!strcmp(path, (snprintf(want, sizeof want, "%s/.cache/krylocl/s/n", home), want)));
  CHECK(kcl_cache_path("s", "n", path, strlen(want)));
  unsetenv("HOME");
  CHECK(kcl_cache_path("s", "n", path, sizeof path));
  static const char *const nowhere[] = {"", "/dev/null/krylocl"};
  for (int i = 0; i < 2; i++) {
    setenv("KRYLOCL_CACHE", nowhere[i], 1);
    kcl_cache_put("s", "key", "data", 4);
    CHECK(kcl_cache_path("s", "n", path, sizeof path) && holds("s", "key", NULL, 0));
    kcl_cache_trim("s", 0);
  }
}

/* The native executor's stream rate: measured once, then read from the folder; of two measurements the greater counts. */
static double rate_of(int (*get)(kcl_context *, double *)) {
  kcl_context *ctx = NULL;
  double rate = 0;
  CHECK(kcl_context_create(NULL, 0, &ctx) == KCL_OK && kcl_select(ctx, "cpu", 1) == KCL_OK &&
        get(ctx, &rate) == KCL_OK);
  kcl_context_free(&ctx);
  return rate;
}

/* A record as earlier versions wrote it, under the key that they used, of a rate that no memory has. */
static void put_old_record(void) {
  const double rates[2] = {1e15, 0};
  char key[600];
  kcl_context *ctx = NULL;
  kcl_device d;
  CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 1) &&
        !kcl_device_current(ctx, &d));
  snprintf(key, sizeof key, "triad\n%s\n%s\n%s\n%s\n%d", d.platform_name, d.name, d.version,
           d.driver, d.compute_units);
  kcl_cache_put("rates", key, rates, sizeof rates);
  kcl_context_free(&ctx);
}

/* Vectors of four caches each, unless that is more than a quarter of the memory. */
static void check_stream(void) {
  kcl_context *ctx = NULL;
  kcl_stream s;
  kcl_device d;
  CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 1) &&
        !kcl_device_current(ctx, &d) && !kcl_stream_get(ctx, &s));
  CHECKF(s.vector_bytes >= 4 * s.cache_bytes || 24 * s.vector_bytes > (int64_t)d.memory / 8,
         "vectors of %lld bytes, a cache of %lld", (long long)s.vector_bytes,
         (long long)s.cache_bytes);
  CHECK(s.low > 0 && s.low <= s.high && s.rate > 0 && s.measurements >= 1);
  CHECK(s.date > 1600000000 && s.cache_rate >= 0);
  kcl_context_free(&ctx);
}

static void solve_small(kcl_context *ctx) {
  kcl_csr *A = NULL;
  kcl_dense *b = NULL, *x = NULL;
  kcl_solver *s = NULL;
  CHECK(!kcl_generate(ctx, "poisson2d:30", &A, &b) && !kcl_setup(ctx, A, NULL, &s) &&
        !kcl_dense_create(ctx, A->rows, 1, KCL_D, &x) && !kcl_solve_one(s, b->val, x->val, NULL));
  kcl_solver_free(&s), kcl_csr_free(&A), kcl_dense_free(&b), kcl_dense_free(&x);
}

/* A record that iterations refute gets further measurements, until it is full. */
static void check_refuted(void) {
  kcl_context *ctx = NULL;
  kcl_stream s, again;
  CHECK(!kcl_context_create(NULL, 0, &ctx) && !kcl_select(ctx, "cpu", 1) &&
        !kcl_stream_get(ctx, &s));
  solve_small(ctx);
  CHECK(ctx->moved > 0 && ctx->moved < 1e13);
  ctx->moved = 3.9 * fmax(s.rate, s.cache_rate);
  CHECK(!kcl_stream_get(ctx, &again) && again.measurements == s.measurements);
  for (int kept = s.measurements + 1; kept < 8; kept++) {
    ctx->moved = 1e17;
    CHECK(!kcl_stream_get(ctx, &again));
    CHECKF(again.measurements == (kept < KCL_RATES_KEPT ? kept : KCL_RATES_KEPT), "%d, not %d",
           again.measurements, kept);
  }
  kcl_context_free(&ctx);
}

static void test_rate(void) {
  char path[CAPACITY];
  put_old_record();
  const double fresh = rate_of(kcl_stream_rate);
  CHECKF(fresh < 1e14, "a record of an older version was used: %g", fresh);
  check_stream(), check_refuted();
  snprintf(path, sizeof path, "rm -rf '%s/rates'", home);
  CHECK(system(path) == 0);
  double first = rate_of(kcl_stream_rate), second, again;
  CHECK(first > 0 && entries("rates", path) == 1);
  CHECKF(rate_of(kcl_stream_rate) == first, "the rate is remembered");
  second = rate_of(kcl_stream_measure);
  CHECKF(rate_of(kcl_stream_rate) == (second > first ? second : first), "the greater of two");
  CHECK(truncate(path, 30) == 0);
  again = rate_of(kcl_stream_rate);
  CHECK(again > 0 && rate_of(kcl_stream_rate) == again);
  CHECKF(second != first && again != first, "measured three times, %g each time", first);
}

int main(void) {
  char line[CAPACITY];
  if (!mkdtemp(home)) return 1;
  setenv("KRYLOCL_CACHE", home, 1);
  unsetenv("KRYLOCL_RATE_ROOM"); /* the vectors of users */
  test_round(), test_damage(), test_unreadable(), test_limit(), test_processes(), test_others();
  test_rate(), test_place();
  snprintf(line, sizeof line, "rm -rf '%s'", home);
  CHECK(system(line) == 0);
  return check_report();
}
