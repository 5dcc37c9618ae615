/* Inputs are mapped, and the pages beyond the new end of a file that became shorter are gone: the system answers a read there with
 * SIGBUS, at any instruction of any thread. The handler finds the file by its address in the list of mappings
 *
 *   7f2a40000000-7f2a48000000 r--p 00000000 08:01 1234    /home/me/A.kcl
 *
 * and ends the program. Only functions that a handler may call (POSIX): open, read, write, _exit, sigaction. */
#include "cli/ui/truncation.h"
#include "krylocl.h"
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

typedef struct mappings {
  int file;
  char data[4096];
  ssize_t size, at;
} mappings;

/* The next character; '\n' at the end of the list. */
static char next_character(mappings *m) {
  if (m->at == m->size) m->size = read(m->file, m->data, sizeof m->data), m->at = 0;
  return m->size > 0 ? m->data[m->at++] : (char)(m->size = m->at = 0, '\n');
}

/* A hexadecimal number, and the character after it. */
static uintptr_t next_address(mappings *m) {
  uintptr_t a = 0;
  for (char c = next_character(m);; c = next_character(m)) {
    const char *digits = "0123456789abcdef", *digit = c ? strchr(digits, c) : NULL;
    if (!digit) return a;
    a = a << 4 | (uintptr_t)(digit - digits);
  }
}

/* The rest of the line, from its first '/' on: a path, or "". */
static void next_path(mappings *m, char *path, size_t capacity) {
  size_t n = 0;
  for (char c = next_character(m); c != '\n'; c = next_character(m))
    if ((n || c == '/') && n + 1 < capacity) path[n++] = c;
  path[n] = 0;
}

/* path: of the file that is mapped at this address, or "". */
static void find_mapped_file(const void *address, char *path, size_t capacity) {
  mappings m = {.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
  bool found = false;
  *path = 0;
  while (m.file >= 0 && !found) {
    const uintptr_t from = next_address(&m), end = next_address(&m);
    if (!end) break;
    next_path(&m, path, capacity);
    found = from <= (uintptr_t)address && (uintptr_t)address < end;
  }
  if (!found) *path = 0;
}

static void write_text(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

/* Other faults on the bus end the program as they did. */
static void report_truncation(int sig, siginfo_t *info, void *context) {
  char path[4096];
  (void)context;
  find_mapped_file(info->si_addr, path, sizeof path);
  if (info->si_code != BUS_ADRERR || !*path) {
    signal(sig, SIG_DFL); /* the instruction is repeated */
    return;
  }
  write_text("krylocl: "), write_text(path);
  write_text(": cannot be read: it became shorter while it was in use\n");
  _exit(KCL_INPUT);
}

void cli_truncation_begin(void) {
  struct sigaction act = {.sa_sigaction = report_truncation, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &act, NULL);
}
