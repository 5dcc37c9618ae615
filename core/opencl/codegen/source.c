/* OpenCL C source as it grows, and skeletons whose holes are filled: see source.h. */
#include "core/opencl/codegen/source.h"
#include "kernels/kernels.h"
#include <stdarg.h>
#include <stdio.h>

static bool grow_source(kcl_source *t, size_t more) {
  if (t->length + more + 1 <= t->capacity) return true;
  size_t capacity = 2 * (t->length + more + 1);
  char *data = realloc(t->data, capacity);
  if (data)
    t->data = data, t->capacity = capacity;
  else
    t->failed = true;
  return data != NULL;
}

static void put_bytes(kcl_source *t, const char *text, size_t n) {
  if (t->failed || !grow_source(t, n)) return;
  memcpy(t->data + t->length, text, n);
  t->data[t->length += n] = 0;
}

void kcl_put(kcl_source *t, const char *format, ...) {
  va_list args, again;
  if (t->failed || !grow_source(t, 80)) return; /* mostly enough */
  va_start(args, format);
  va_copy(again, args);
  const size_t left = t->capacity - t->length,
               n = (size_t)vsnprintf(t->data + t->length, left, format, args);
  va_end(args);
  if (n >= left && grow_source(t, n)) vsnprintf(t->data + t->length, n + 1, format, again);
  va_end(again);
  if (!t->failed) t->length += n;
}

void kcl_put_file(kcl_source *t, const char *name) {
  const char *body = kcl_kernel_text(name);
  if (body)
    put_bytes(t, body, strlen(body));
  else
    kcl_put(t, "#error no kernel file %s\n", name);
}

static const kcl_hole *find_hole(const kcl_hole *holes, int count, const char *name,
                                 size_t length) {
  for (int i = 0; i < count; i++)
    if (strlen(holes[i].name) == length && !strncmp(holes[i].name, name, length)) return &holes[i];
  return NULL;
}

/* Appends every line of `part`, indented unless it is a preprocessor line. */
static void put_lines(kcl_source *t, const char *part, int indent) {
  while (part && *part) {
    size_t n = strcspn(part, "\n");
    for (int i = n && *part != '#' ? indent : 0; i > 0; i--) put_bytes(t, " ", 1);
    put_bytes(t, part, n), put_bytes(t, "\n", 1);
    part += n + (part[n] == '\n');
  }
}

static const char *after_comment(const char *text) {
  const char *end = strncmp(text, "/*", 2) ? NULL : strstr(text, "*/\n");
  return end ? end + 3 : text;
}

/* One line of a skeleton, [line, end). */
static void put_line(kcl_source *t, const char *line, const char *end, const kcl_hole *holes,
                     int count, const void *of) {
  const char *at = memchr(line, '@', (size_t)(end - line)),
             *close = at ? memchr(at + 1, '@', (size_t)(end - at - 1)) : NULL;
  const kcl_hole *hole = close ? find_hole(holes, count, at + 1, (size_t)(close - at - 1)) : NULL;
  int indent = (int)strspn(line, " ");
  if (!hole) {
    put_bytes(t, line, (size_t)(end - line));
    if (at) kcl_put(t, "\n#error a hole without a name in the table");
    put_bytes(t, "\n", 1);
  } else if (line + indent == at && close + 1 == end) { /* alone on its line */
    kcl_source part = {0};
    hole->fill(&part, of);
    put_lines(t, part.data, indent);
    t->failed = t->failed || part.failed;
    free(part.data);
  } else {
    put_bytes(t, line, (size_t)(at - line));
    hole->fill(t, of);
    put_line(t, close + 1, end, holes, count, of);
  }
}

void kcl_put_skeleton(kcl_source *t, const char *file, const kcl_hole *holes, int count,
                      const void *of) {
  const char *line = kcl_kernel_text(file);
  if (!line) {
    kcl_put(t, "#error no kernel file %s\n", file);
    return;
  }
  for (line = after_comment(line); *line;) {
    const char *end = line + strcspn(line, "\n");
    put_line(t, line, end, holes, count, of);
    line = end + (*end == '\n');
  }
}
