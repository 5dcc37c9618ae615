/* kcl_names, kcl_name, kcl_name_help: the registries, options and devices as text, for programs in any language. */
#include "solver/interface/handles.h"
#include <stdio.h>

static const char *const registries[] = {[KCL_FORMATS] = "format",
                                         [KCL_SOLVERS] = "solver",
                                         [KCL_PRECONDS] = "precond",
                                         [KCL_GENERATORS] = "generator"};
enum { REGISTRIES = sizeof registries / sizeof *registries };

static int registry_of(const char *kind) {
  for (int i = 0; i < REGISTRIES; i++)
    if (!strcmp(registries[i], kind)) return i;
  return -1;
}

/* The devices of the process as the thread saw them last. */
static _Thread_local struct {
  char name[64][16]; /* "cpu", "0:0" */
  kcl_device device[64];
  int count;
} seen;

static int look_for_devices(void) {
  kcl_device *list = NULL;
  int count = 0;
  kcl_context *ctx = NULL;
  seen.count = 0;
  if (kcl_context_create(NULL, 0, &ctx)) return 0;
  if (!kcl_device_list(ctx, &list, &count))
    for (int i = 0; i < count && i < 64; i++, seen.count++) {
      seen.device[i] = list[i];
      if (list[i].platform < 0)
        strcpy(seen.name[i], "cpu");
      else
        snprintf(seen.name[i], sizeof seen.name[i], "%d:%d", list[i].platform, list[i].device);
    }
  free(list);
  kcl_context_free(&ctx);
  return seen.count;
}

int kcl_names(const char *kind) {
  const int which = kind ? registry_of(kind) : -1;
  if (which >= 0) return kcl_list_size((kcl_registry)which);
  if (kind && !strcmp(kind, "option")) return kcl_option_count();
  return kind && !strcmp(kind, "device") ? look_for_devices() : 0;
}

const char *kcl_name(const char *kind, int i) {
  const int which = kind ? registry_of(kind) : -1;
  const char *name = NULL;
  if (which >= 0)
    name = kcl_list((kcl_registry)which, i).name;
  else if (kind && !strcmp(kind, "option"))
    name = kcl_option_at(i).name;
  else if (kind && !strcmp(kind, "device") && (seen.count || look_for_devices()))
    name = i >= 0 && i < seen.count ? seen.name[i] : NULL;
  return name ? name : "";
}

/* The words that option i takes, or its range. */
static const char *option_values(int i, const kcl_option *o) {
  static _Thread_local char text[1024];
  const char *word;
  size_t n = 0;
  text[0] = 0;
  if (!kcl_option_word(i, 0))
    snprintf(text, sizeof text, "%s from %.15g to %.15g",
             o->kind == KCL_OPTION_WHOLE ? "a whole number" : "a number", o->min, o->max);
  for (int k = 0; (word = kcl_option_word(i, k)) && n < sizeof text; k++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? ", " : "", word);
  return text;
}

static const char *option_help(const char *name, const char *what) {
  for (int i = 0; i < kcl_option_count(); i++) {
    const kcl_option o = kcl_option_at(i);
    if (strcmp(o.name, name)) continue;
    if (!strcmp(what, "summary")) return o.help;
    if (!strcmp(what, "default")) return o.default_text;
    return !strcmp(what, "values") ? option_values(i, &o) : "";
  }
  return "";
}

static const char *device_help(const char *name, const char *what) {
  static _Thread_local char text[320];
  const kcl_device *d = NULL;
  for (int i = 0; i < seen.count || (!i && look_for_devices()); i++)
    if (!strcmp(seen.name[i], name)) d = &seen.device[i];
  if (!d || strcmp(what, "summary")) return "";
  snprintf(text, sizeof text, "%s, %s, %.3g GB", d->name, d->kind, (double)d->memory * 1e-9);
  return text;
}

const char *kcl_name_help(const char *kind, const char *name, const char *what) {
  const int which = kind ? registry_of(kind) : -1;
  if (!kind || !name || !what) return "";
  if (!strcmp(kind, "option")) return option_help(name, what);
  if (!strcmp(kind, "device")) return device_help(name, what);
  for (int i = 0; which >= 0 && i < kcl_list_size((kcl_registry)which); i++) {
    const kcl_entry e = kcl_list((kcl_registry)which, i);
    const char *text = !strcmp(what, "summary")   ? e.summary
                       : !strcmp(what, "example") ? e.example
                                                  : NULL;
    if (!strcmp(e.name, name)) return text ? text : "";
  }
  return "";
}
