#!/bin/sh
# Turns kernel files into one C table: embed.sh FILE... > kernels.c
echo '/* Made by kernels/embed.sh from the files of kernels/. */'
echo '#include "core/opencl.h"'
echo '#include <string.h>'
echo 'static const struct { const char *name, *text; } file[] = {'
for f in "$@"; do
  printf '  {"%s",\n   ""\n' "$(basename "$f")"
  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/   "/' -e 's/$/\\n"/' "$f"
  echo '  },'
done
echo '};'
echo 'const char *kcl_kernel_text(const char *name) {'
echo '  for (size_t i = 0; i < sizeof file / sizeof *file; i++)'
echo '    if (!strcmp(file[i].name, name)) return file[i].text;'
echo '  return NULL;'
echo '}'
