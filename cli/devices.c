/* krylocl devices: all devices with their measured memory rates. */
#include "cli/drivers.h"
#include "cli/ui/json.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

/* Measures the stream rate; all 0 if that fails, with the reason in the context. */
static kcl_stream measure_stream(kcl_context *ctx, const kcl_device *d) {
  kcl_stream s = {0};
  double now;
  if (!kcl_select(ctx, cli_device_place(d).s, 0) && !kcl_stream_measure(ctx, &now))
    kcl_stream_get(ctx, &s);
  return s;
}

static void say_device(const cli_options *o, const kcl_device *d, const kcl_stream *s,
                       const char *why) {
  char units[32], speed[32] = "-";
  snprintf(units, sizeof units, "%d %s", d->compute_units, d->platform < 0 ? "threads" : "units");
  if (s->rate > 0) snprintf(speed, sizeof speed, "%.1f GB/s", s->rate * 1e-9);
  cli_say(o, "%-6s  %-11s %10s %9s  %-6s %10s  %s\n", cli_device_place(d).s, d->kind, units,
          cli_bytes((double)d->memory).s, d->has_double ? "yes" : "no", speed, d->name);
  if (!(s->rate > 0)) {
    cli_say(o, "        no stream rate: %s\n", why);
    return;
  }
  cli_say(o, "        stream: %.1f to %.1f GB/s in passes over three vectors of %s", s->low * 1e-9,
          s->high * 1e-9, cli_bytes((double)s->vector_bytes).s);
  if (s->measurements > 1) cli_say(o, "; median of the last %d measurements", s->measurements);
  if (s->cache_bytes) cli_say(o, "; last-level cache %s", cli_bytes((double)s->cache_bytes).s);
  if (s->cache_rate > 0) cli_say(o, ", in it %.1f GB/s", s->cache_rate * 1e-9);
  cli_say(o, "\n");
}

static void say_limits(const cli_options *o, const kcl_device *d) {
  cli_say(o, "        %s, %s, driver %s\n", d->platform_name, d->version, d->driver);
  cli_say(o, "        vendor %s, %s", d->vendor, d->c_version);
  if (d->clock_mhz) cli_say(o, ", %s MHz", cli_count(d->clock_mhz).s);
  cli_say(o, ", %s\n", d->has_images ? "images" : "no images");
  cli_say(o, "        work-groups of up to %s, local memory %s, cache %s, largest buffer %s\n",
          cli_count(d->max_group).s, cli_bytes((double)d->local_memory).s,
          d->cache ? cli_bytes((double)d->cache).s : "not known",
          cli_bytes((double)d->max_alloc).s);
}

static void say_extensions(const cli_options *o, const char *list) {
  if (o->quiet) return;
  cli_output_begin();
  fprintf(cli_out(o), "        extensions:");
  cli_wrap(cli_out(o), 19, 10, list, (int)strlen(list));
  cli_output_end();
}

/* Calls each for the name and the value of every line. */
static void each_property(char *lines,
                          void (*each)(void *self, const char *name, const char *value),
                          void *self) {
  char *rest = NULL;
  for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *value = strchr(line, ' ');
    if (!value) continue;
    *value++ = 0;
    each(self, line, value);
  }
}

static void say_property(void *self, const char *name, const char *value) {
  cli_say(self, "        %-32s %s\n", name, value);
}

/* A value of digits alone is a number. */
static void property_json(void *self, const char *name, const char *value) {
  if (*value && !value[strspn(value, "0123456789")])
    cli_json_number(self, name, strtod(value, NULL));
  else
    cli_json_text(self, name, value);
}

/* Prints what OpenCL tells, and adds it to the JSON object of the device. */
static int report_properties(kcl_context *ctx, const cli_options *o, const kcl_device *d,
                             cJSON *json) {
  char *lines = NULL;
  int rc = cli_lib(kcl_device_properties(ctx, d, &lines));
  char *copy = rc ? NULL : strdup(lines);
  if (!rc && !copy) rc = cli_fail(KCL_MEMORY, "out of memory: the properties of a device");
  if (!rc) each_property(copy, say_property, (void *)o);
  if (!rc) each_property(lines, property_json, cJSON_AddObjectToObject(json, "properties"));
  free(copy), free(lines);
  return rc;
}

static cJSON *device_json(cJSON *all, const kcl_device *d, const kcl_stream *s,
                          const char *extensions) {
  cJSON *o = cli_json_item(all);
  cli_json_text(o, "place", cli_device_place(d).s);
  cli_json_text(o, "kind", d->kind);
  cli_json_text(o, "name", d->name);
  cli_json_text(o, "platform", d->platform_name);
  cli_json_text(o, "version", d->version);
  cli_json_text(o, "driver", d->driver);
  cli_json_count(o, "compute_units", d->compute_units);
  cli_json_count(o, "memory_bytes", (int64_t)d->memory);
  cli_json_count(o, "max_alloc_bytes", (int64_t)d->max_alloc);
  cli_json_bool(o, "double_precision", d->has_double);
  if (d->platform >= 0) {
    cli_json_text(o, "vendor", d->vendor);
    cli_json_text(o, "opencl_c_version", d->c_version);
    cli_json_count(o, "clock_mhz", d->clock_mhz);
    cli_json_count(o, "max_work_group", d->max_group);
    cli_json_count(o, "local_memory_bytes", (int64_t)d->local_memory);
    cli_json_count(o, "cache_bytes", (int64_t)d->cache);
    cli_json_bool(o, "images", d->has_images);
    cli_json_text(o, "extensions", extensions);
  }
  cli_json_number(o, "stream_bytes_per_second", s->rate > 0 ? s->rate : NAN);
  cli_json_stream(o, s);
  return o;
}

static int report_on_device(kcl_context *ctx, const cli_options *o, const kcl_device *d,
                            cJSON *all) {
  CLI_OWNED char *extensions = NULL;
  cli_busy(o, "measuring %s: %s", cli_device_place(d).s, d->name);
  const kcl_stream rate = measure_stream(ctx, d);
  say_device(o, d, &rate, kcl_error());
  int rc = 0;
  CLI_CALL(cli_lib(kcl_device_extensions(ctx, d, &extensions)));
  if (d->platform >= 0) say_limits(o, d);
  if (d->platform >= 0 && o->verbose) say_extensions(o, extensions);
  cJSON *json = device_json(all, d, &rate, extensions);
  if (d->platform >= 0 && o->verbose) rc = report_properties(ctx, o, d, json);
  return rc;
}

static int run_devices(kcl_context *ctx, const cli_options *o) {
  int count = 0;
  CLI_OWNED kcl_device *list = NULL;
  CLI_OWNED_BY(cli_json_free) cJSON *all = cJSON_CreateArray();
  cli_busy(o, "asking the drivers");
  CLI_CALL(cli_lib(kcl_device_list(ctx, &list, &count)));
  cli_say(o, "device  kind             units    memory  double     stream  name\n");
  for (int i = 0; i < count; i++) CLI_CALL(report_on_device(ctx, o, &list[i], all));
  for (int i = 0; i < count; i++)
    if (!list[i].has_double)
      cli_say(o, "precision   %s has no double precision: --precision s, or --device cpu\n",
              cli_device_place(&list[i]).s);
  if (count == 1) cli_say(o, "no OpenCL device\n");
  if (count == 1 || o->verbose) cli_say_drivers(o);
  return cli_json_write(o->json, all);
}

const cli_command cli_devices = {
    .name = "devices",
    .operands = "",
    .summary = "list all devices with their measured memory rates",
    .options = "threads json quiet verbose",
    .run = run_devices,
    .notes =
        "The first column is what --device takes. The stream rate is that of z = a x + y on "
        "vectors of four times the last-level cache (McCalpin 1995), the median of the last five "
        "measurements, of which this makes one. --verbose adds extensions, all that OpenCL tells "
        "about a device, and drivers. Where there is no OpenCL device it says what was found "
        "instead: docs/troubleshooting.md.\n"
        "\n"
        "--json: a list of {place kind name platform version driver compute_units memory_bytes "
        "max_alloc_bytes double_precision stream_bytes_per_second (null if not measured) stream "
        "{bytes_per_second low high in_cache cache_bytes vector_bytes measurements date "
        "age_seconds}}, of OpenCL devices also {vendor opencl_c_version clock_mhz max_work_group "
        "local_memory_bytes cache_bytes images extensions}, with --verbose properties, by the "
        "names of clGetDeviceInfo\n"};
