/* The terminal: its width, bold and colour, and the status line at its bottom, on standard error, which tells what the
 * program is doing. A thread redraws the line ten times a second, fits it to the width of the moment and adds the seconds
 * of a step that sends no news itself. Every other output erases the line first. Where the cursor cannot
 * move, and with --verbose where there is no terminal, the same text is printed once a second. */
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool silent;

void cli_silence(void) { silent = true; }
bool cli_silent(void) { return silent; }

/* Does the launcher, our parent, have a terminal there? */
static bool launcher_has_terminal(int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), fd);
  const int to = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
  const bool has = to >= 0 && isatty(to);
  if (to >= 0) close(to);
  return has;
}

bool cli_is_terminal(FILE *f) {
  return isatty(fileno(f)) && (!getenv("OMPI_COMM_WORLD_RANK") || launcher_has_terminal(fileno(f)));
}

static bool can_move(FILE *f) { /* to move the cursor */
  const char *term = getenv("TERM");
  return cli_is_terminal(f) && term && *term && strcmp(term, "dumb");
}

const char *cli_style(FILE *f, const char *code) {
  const char *none = getenv("NO_COLOR");
  return can_move(f) && !(none && *none) ? code : "";
}

int cli_columns(FILE *f) {
  struct winsize w = {0};
  const char *given = getenv("COLUMNS");
  int n = ioctl(fileno(f), TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
  if (n <= 0 && given) n = atoi(given);
  return n > 0 ? n : 80;
}

static const double patience = 0.3, redraw = 0.1, lines = 1; /* seconds */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t woken;
  pthread_t thread;
  bool started, ended, terminal, shown;
  cli_status now, base; /* base: the activity of the program that contains one of the library */
  double begin;         /* of this step */
  double due;           /* of the next drawing */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .woken = PTHREAD_COND_INITIALIZER};

static void erase_status(void) {
  if (line.shown && line.terminal) fputs("\r\033[K", stderr), fflush(stderr);
  line.shown = false;
}

/* Joins the parts that fit, from the first on. The first one is cut if necessary. */
static void compose_status(const cli_status *s, int columns, char *text, size_t capacity) {
  int used = snprintf(text, capacity, "%s", s->part[0]);
  if (columns < (int)capacity && used > columns) text[columns] = 0;
  for (int i = 1; i < CLI_PARTS && s->part[i][0]; i++) {
    int more = (int)strlen(s->part[i]) + 2;
    if (used + more > columns || used + more >= (int)capacity) break;
    used += snprintf(text + used, capacity - (size_t)used, "  %s", s->part[i]);
  }
}

static void draw_status(void) {
  char text[sizeof line.now.part];
  cli_status s = line.now;
  double seconds = cli_now() - line.begin;
  if (s.timed && seconds >= 1)
    cli_append(s.part[0], sizeof s.part[0], ", %s", cli_seconds((double)(long)seconds).s);
  compose_status(&s, line.terminal ? cli_columns(stderr) - 1 : 1000, text, sizeof text);
  fprintf(stderr, line.terminal ? "\r%s\033[K" : "%s\n", text);
  fflush(stderr);
  line.shown = true;
}

static void *redraw_thread(void *unused) {
  pthread_mutex_lock(&line.lock);
  while (!line.ended) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(redraw * 1e9);
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&line.woken, &line.lock, &until);
    if (line.ended || !line.now.part[0][0] || cli_now() < line.due) continue;
    draw_status();
    line.due = cli_now() + (line.terminal ? redraw : lines);
  }
  pthread_mutex_unlock(&line.lock);
  return unused;
}

/* Starts the thread that redraws, with all signals blocked: they go to the other threads. */
static void start_redraws(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  line.started = pthread_create(&line.thread, NULL, redraw_thread, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool cli_shows(const cli_options *o) {
  return !silent && !o->quiet && (o->verbose || cli_is_terminal(stderr));
}

/* Replaces control characters, which file names may hold. */
static void mask_controls(char *text) {
  for (int n; *text; text += n)
    if (!(n = cli_character(text))) *text = '?', n = 1;
}

static void show_status(const cli_options *o, const cli_status *s, bool base) {
  if (!cli_shows(o)) return;
  pthread_mutex_lock(&line.lock);
  line.terminal = can_move(stderr);
  if (strcmp(line.now.part[0], s->part[0])) line.begin = cli_now();
  if (!line.now.part[0][0]) line.due = line.begin + (line.terminal ? patience : lines);
  line.now = *s;
  for (int i = 0; i < CLI_PARTS; i++) mask_controls(line.now.part[i]);
  if (base) line.base = line.now;
  if (!line.started && !line.ended) start_redraws();
  pthread_mutex_unlock(&line.lock);
}

void cli_show(const cli_options *o, const cli_status *s) { show_status(o, s, true); }

void cli_busy(const cli_options *o, const char *format, ...) {
  cli_status s = {.timed = true};
  va_list args;
  va_start(args, format);
  vsnprintf(s.part[0], sizeof s.part[0], format, args);
  va_end(args);
  cli_show(o, &s);
}

void cli_watch(void *o, const kcl_activity *a) {
  cli_status s = line.base;
  char *text = s.part[0];
  const size_t capacity = sizeof s.part[0];
  s.timed |= a->what != NULL;
  if (a->what) cli_append(text, capacity, "%s%s", *text ? ": " : "", a->what);
  if (a->what && a->parts > 1)
    cli_append(text, capacity, " %d of %d", a->part, a->parts);
  else if (a->what && a->flops > 0)
    cli_append(text, capacity, ", %s Gflop", cli_count((int64_t)ceil(a->flops * 1e-9)).s);
  if (*text) show_status(o, &s, false);
}

void cli_idle(void) {
  pthread_mutex_lock(&line.lock);
  line.now.part[0][0] = line.base.part[0][0] = 0;
  erase_status();
  pthread_mutex_unlock(&line.lock);
}

void cli_output_begin(void) {
  pthread_mutex_lock(&line.lock);
  erase_status();
}

void cli_output_end(void) {
  line.due = cli_now() + (line.terminal ? patience : lines);
  pthread_mutex_unlock(&line.lock);
}

void cli_terminal_end(void) {
  pthread_mutex_lock(&line.lock);
  bool join = line.started && !line.ended;
  line.ended = true;
  erase_status();
  pthread_cond_signal(&line.woken);
  pthread_mutex_unlock(&line.lock);
  if (join) pthread_join(line.thread, NULL);
}
