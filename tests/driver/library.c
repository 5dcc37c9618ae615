/* PoCL's library of functions for kernels, without those whose names are not among WORDS: PoCL reads all 23,000 of them, 9 MB, in
 * every process that builds a program. Functions that are kept keep those that they call. By the LLVM that PoCL uses, of which
 * no header need be there.
 *
 *   library libpocl.so library.bc WORDS smaller.bc
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *value;                 /* any pointer to an object of LLVM's */
enum { EXTERNAL = 0, INTERNAL = 8 }; /* of LLVMLinkage */

static void *pocl;
static char words[20000][64];
static size_t count;

static int by_name(const void *a, const void *b) { return strcmp(a, b); }
static bool is_word(const char *s) { return bsearch(s, words, count, sizeof *words, by_name); }

/* void (*f)(value) = of_llvm("LLVM...") */
static void *of_llvm(const char *name) {
  void *f = dlsym(pocl, name);
  if (!f) fprintf(stderr, "%s: not there\n", name), exit(1);
  return f;
}

/* Mangled: _Z, length, name, types. PoCL calls fma _cl_fma. A name without its digits, too: macros add the width of vectors. Of
 * others those of the mathematical library stay only if they are called. */
static bool is_wanted(const char *mangled) {
  char name[64] = "", *at = name;
  int length, read;
  if (sscanf(mangled, "_Z%d%n", &length, &read) < 1) return strncmp(mangled, "Sleef_", 6) != 0;
  if (length >= (int)sizeof name) return true;
  memcpy(name, mangled + read, (size_t)length);
  if (!strncmp(at, "_cl_", 4)) at += 4;
  if (is_word(at)) return true;
  for (char *end = at + strlen(at); end > at && isdigit(end[-1]);) *--end = 0;
  return is_word(at);
}

int main(int argc, char **argv) {
  if (argc != 5 || !(pocl = dlopen(argv[1], RTLD_NOW))) return 1;
  FILE *f = fopen(argv[3], "r");
  while (f && count < sizeof words / sizeof *words && fscanf(f, "%63s", words[count]) == 1) count++;
  qsort(words, count, sizeof *words, by_name);
  int (*open)(const char *, value *, char **) = of_llvm("LLVMCreateMemoryBufferWithContentsOfFile");
  int (*parse)(value, value *) = of_llvm("LLVMParseBitcode2");
  value (*first)(value) = of_llvm("LLVMGetFirstFunction"),
        (*next)(value) = of_llvm("LLVMGetNextFunction");
  const char *(*name)(value, size_t *) = of_llvm("LLVMGetValueName2");
  int (*linkage)(value) = of_llvm("LLVMGetLinkage"),
      (*declared)(value) = of_llvm("LLVMIsDeclaration");
  void (*set_linkage)(value, int) = of_llvm("LLVMSetLinkage");
  value (*options)(void) = of_llvm("LLVMCreatePassBuilderOptions");
  value (*run)(value, const char *, value, value) = of_llvm("LLVMRunPasses"); /* NULL: done */
  int (*write)(value, const char *) = of_llvm("LLVMWriteBitcodeToFile");
  value buffer, library;
  size_t length;
  if (!f || !count || open(argv[2], &buffer, &(char *){0}) || parse(buffer, &library)) return 1;
  for (value at = first(library); at; at = next(at))
    if (!declared(at) && linkage(at) == EXTERNAL && !is_wanted(name(at, &length)))
      set_linkage(at, INTERNAL);
  return run(library, "globaldce,strip-dead-prototypes", NULL, options()) ||
         write(library, argv[4]);
}
