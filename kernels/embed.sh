#!/bin/sh
# Turns kernel files into one C table: embed.sh FILE... > kernels.c
# A line  #include "FILE"  stands for that file of the same folder: a format's kernel can be a variant of another's.
echo '/* Made by kernels/embed.sh from the files of kernels/. */'
echo '#include "kernels/kernels.h"'
echo '#include <string.h>'
echo 'static const struct { const char *name, *text; } file[] = {'
for f in "$@"; do
  printf '  {"%s",\n   ""\n' "$(basename "$f")"
  awk -v folder="$(dirname "$f")" -v file="$f" '
    function text(path,    line) {
      while ((getline line <path) > 0)
        if (line ~ /^#include "/) { split(line, word, "\""); text(folder "/" word[2]) }
        else { gsub(/\\/, "&&", line); gsub(/"/, "\\\\&", line); printf "   \"%s\\n\"\n", line }
      close(path)
    }
    BEGIN { text(file) }'
  echo '  },'
done
echo '};'
echo 'const char *kcl_kernel_text(const char *name) {'
echo '  for (size_t i = 0; i < sizeof file / sizeof *file; i++)'
echo '    if (!strcmp(file[i].name, name)) return file[i].text;'
echo '  return NULL;'
echo '}'
