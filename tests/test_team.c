/* Parallel regions and loops: members, steps, parts, reductions, user threads at once, a child of fork(), threads that
 * cannot be created, and the quota of control groups, read from trees of files. */
#include "core/base/base.h"
#include "tests/check.h"
#include "tests/system_files.h"
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, MANY = 500, ROUNDS = 2000, LENGTH = 10007 };

/* ---------------------------------------------------------------- steps */

typedef struct relay {
  int step, wrong;     /* written by next alone */
  atomic_int now[256]; /* [part]: the step that it ran in last */
  int late;            /* the part that sleeps in this step, or -1 */
  int parts;
} relay;

/* All parts of the step before have run, each once. */
static bool next_step(void *arg) {
  relay *r = arg;
  for (int p = 0; p < r->parts; p++) r->wrong += r->now[p] != r->step;
  r->late = r->step % 100 ? -1 : r->step / 100;
  return r->step++ < ROUNDS;
}

static void run_part(void *arg, int part, int parts) {
  relay *r = arg;
  if (part == r->late) usleep(200);
  if (part == 0) r->parts = parts;
  if (atomic_fetch_add(&r->now[part], 1) != r->step - 1) r->now[part] = -ROUNDS;
}

static bool relay_good(int threads) {
  relay r = {0};
  kcl_while(threads, next_step, run_part, &r);
  return !r.wrong && r.step == ROUNDS + 1 && r.parts >= threads;
}

static void test_steps(void) {
  for (int threads = 1; threads <= MOST; threads++)
    CHECKF(relay_good(threads), "%d threads", threads);
}

/* ---------------------------------------------------------------- regions */

static void count_member(void *arg, const kcl_member *me) {
  atomic_int *count = arg;
  (void)me;
  ++*count;
}

static void nest(void *arg, const kcl_member *me) {
  (void)me;
  kcl_parallel(4, count_member, arg);
}

/* Regions one after another, of changing size; regions inside a region have one member. */
static void test_regions(void) {
  atomic_int count = 0;
  int expected = 0;
  for (int i = 0; i < ROUNDS; i++) {
    kcl_parallel(i % MOST + 1, count_member, &count);
    expected += i % MOST + 1;
  }
  CHECK(count == expected);
  count = 0;
  kcl_parallel(3, nest, &count);
  CHECK(count == 3);
}

static void *user(void *good) {
  for (int i = 0; i < 4; i++) *(bool *)good = relay_good(2 + i % 3) && *(bool *)good;
  return NULL;
}

static void test_users(void) {
  pthread_t thread[MOST];
  bool good[MOST];
  for (int i = 0; i < MOST; i++) good[i] = true, pthread_create(&thread[i], NULL, user, &good[i]);
  for (int i = 0; i < MOST; i++) pthread_join(thread[i], NULL), CHECKF(good[i], "user %d", i);
}

/* ---------------------------------------------------------------- loops */

static void add_one(void *arg, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) ((unsigned char *)arg)[i]++;
}

static bool each_once(const unsigned char *seen, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (seen[i] != 1) return false;
  return true;
}

static double reciprocals(const void *arg, int64_t from, int64_t to) {
  double sum = 0;
  (void)arg;
  for (int64_t i = from; i < to; i++) sum += 1 / (double)(i + 1);
  return sum;
}

static double greatest(const void *arg, int64_t from, int64_t to) {
  double most = 0;
  for (int64_t i = from; i < to; i++)
    if (((const double *)arg)[i] > most || isnan(((const double *)arg)[i]))
      most = ((const double *)arg)[i];
  return most;
}

static void test_loops(void) {
  static unsigned char seen[LENGTH];
  static double v[LENGTH];
  for (int64_t n = 0; n < LENGTH; n = 3 * n + 1) {
    memset(seen, 0, sizeof seen), kcl_for(n, 1, add_one, seen);
    CHECKF(each_once(seen, n) && !seen[n], "for of %lld", (long long)n);
    memset(seen, 0, sizeof seen), kcl_for_each(n, 7, add_one, seen);
    CHECKF(each_once(seen, n) && !seen[n], "for_each of %lld", (long long)n);
    double one = kcl_sum(n, INT64_MAX / 2, reciprocals, NULL),
           all = kcl_sum(n, 1, reciprocals, NULL);
    CHECKF(!memcmp(&one, &all, sizeof one) && fabs(one - reciprocals(NULL, 0, n)) < 1e-12,
           "sum of %lld: %.17g and %.17g", (long long)n, one, all);
    for (int64_t i = 0; i < n; i++) v[i] = (double)(i * 7919 % n);
    CHECK(kcl_largest(n, 1, greatest, v) == (n ? (double)(n - 1) : 0));
    if (n) v[n / 2] = NAN;
    CHECK(!n || isnan(kcl_largest(n, 1, greatest, v)));
  }
  _Atomic int64_t low = 5, high = 5;
  kcl_lower(&low, 7), kcl_lower(&low, -2), kcl_raise(&high, 3), kcl_raise(&high, 9);
  CHECK(low == -2 && high == 9);
}

/* ---------------------------------------------------------------- fork, and threads that cannot be created */

/* The exit status of a child that does this, -1 if it hangs. */
static int in_child(bool (*test)(void)) {
  pid_t child = fork();
  if (child == 0) {
    alarm(HANG);
    _exit(test() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool three_threads(void) { return relay_good(3); }

static bool child_of_child(void) {
  return relay_good(2) && in_child(three_threads) == 0 && relay_good(4);
}

/* With no room for stacks, beyond those that the C library keeps, regions have fewer members. */
static bool without_threads(void) {
  atomic_int count = 0;
  const struct rlimit none = {1 << 20, 1 << 20};
  if (setrlimit(RLIMIT_AS, &none)) return false;
  kcl_parallel(MANY, count_member, &count);
  return count >= 1 && count < MANY;
}

static void test_fork(void) {
  CHECK(relay_good(4));
  CHECK(in_child(child_of_child) == 0);
  CHECK(relay_good(4));
  if (getenv("SAN") && *getenv("SAN"))
    skip("threads that cannot be created: sanitizers need address space");
  else
    CHECK(in_child(without_threads) == 0);
}

/* ---------------------------------------------------------------- quota */

static void test_quota(void) {
  if (!CHECK(mkdtemp(root))) return;
  CHECK(kcl_cgroup_cpus(root) == 0);
  put("proc/self/cgroup", "0::/\n"), put("sys/fs/cgroup/cpu.max", "150000 100000\n");
  CHECK(kcl_cgroup_cpus(root) == 1.5);
  put("sys/fs/cgroup/cpu.max", "max 100000\n");
  CHECK(kcl_cgroup_cpus(root) == 0);
  put("proc/self/cgroup", "0::/a/b\n"), put("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  CHECK(kcl_cgroup_cpus(root) == 2); /* of the group above */
  put("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  CHECK(kcl_cgroup_cpus(root) == 0.5);
  clear(); /* version 1; in a container the group itself is not visible */
  put("proc/self/cgroup", "9:pids:/x\n4:cpu,cpuacct:/docker/0123\n0::/\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
      put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(kcl_cgroup_cpus(root) == 0);
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  CHECK(kcl_cgroup_cpus(root) == 3);
  put("sys/fs/cgroup/cpu/docker/0123/cpu.cfs_quota_us", "100000\n");
  put("sys/fs/cgroup/cpu/docker/0123/cpu.cfs_period_us", "50000\n");
  CHECK(kcl_cgroup_cpus(root) == 2);
  put("proc/self/cgroup", "no colons\n:\n0\n"), put("sys/fs/cgroup/cpu.max", "nonsense\n");
  CHECK(kcl_cgroup_cpus(root) == 0);
  clear(), rmdir(root);
}

int main(void) {
  test_steps();
  test_regions();
  test_users();
  test_loops();
  test_fork();
  test_quota();
  CHECK(kcl_cpus() >= 1);
  return check_report();
}
