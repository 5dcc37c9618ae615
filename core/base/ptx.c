/* NVIDIA's build logs and PTX, as texts. A log of ptxas has per kernel
 *
 *   ptxas info    : Compiling entry function 'stage_0_0' for 'sm_90a'
 *   ptxas info    : Function properties for stage_0_0
 *   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 32 registers, used 0 barriers
 */
#include "core/base/ptx.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text before end, or NULL. */
static const char *find_before(const char *text, const char *end, const char *words) {
  const char *at = strstr(text, words);
  return at && at < end ? at : NULL;
}

bool kcl_ptxas_usage(const char *log, const char *kernel, kcl_kernel_usage *out) {
  char words[128];
  long long stack, stores, loads;
  *out = (kcl_kernel_usage){0};
  snprintf(words, sizeof words, "entry function '%.80s'", kernel);
  const char *at = strstr(log, words);
  if (!at) return false;
  at += strlen(words);
  const char *next = strstr(at, "entry function '"), *end = next ? next : at + strlen(at);
  const char *used = find_before(at, end, "Used ");
  snprintf(words, sizeof words, "properties for %.80s\n", kernel);
  const char *properties = find_before(at, end, words);
  if (!used || !properties) return false;
  properties += strlen(words);
  properties += strcspn(properties, "0123456789"); /* the driver repeats "ptxas" here */
  if (sscanf(properties, "%lld bytes stack frame, %lld bytes spill stores, %lld bytes spill loads",
             &stack, &stores, &loads) != 3)
    return false;
  *out = (kcl_kernel_usage){atoi(used + strlen("Used ")), stack, stores, loads};
  return out->registers > 0;
}

static bool is_part_of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* The braces of a kernel's body, or NULL. */
static const char *find_body(const char *ptx, const char *kernel) {
  const size_t n = strlen(kernel);
  for (const char *at = ptx; (at = strstr(at, ".entry"));) {
    at += strlen(".entry");
    at += strspn(at, " \t\n");
    if (!strncmp(at, kernel, n) && !is_part_of_name(at[n])) return strchr(at, '{');
  }
  return NULL;
}

/* Skips blanks, comments and labels, and lines of directives without a semicolon. */
static const char *skip_to_statement(const char *s) {
  for (;;) {
    const char *word = s += strspn(s, " \t\r\n");
    while (is_part_of_name(*word)) word++;
    if (word > s && *word == ':')
      s = word + 1;
    else if (!strncmp(s, "//", 2) || !strncmp(s, ".loc", 4) || !strncmp(s, ".file", 5))
      s += strcspn(s, "\n");
    else
      return s;
  }
}

int kcl_ptx_instructions(const char *ptx, const char *kernel) {
  const char *s = find_body(ptx, kernel);
  int count = 0, depth = 0;
  while (s && *s) {
    s = skip_to_statement(s);
    if (*s == '{' || *s == '}') {
      depth += *s++ == '{' ? 1 : -1;
      if (!depth) return count;
      continue;
    }
    count += *s && *s != '.' && *s != ';';
    s += strcspn(s, ";");
    s += *s == ';';
  }
  return count;
}
