/* krylocl list: the names that options take, a line each. */
#include "cli/help.h"
#include "cli/input/input.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"
#include "cli/ui/text.h"

static const char *const words[] = {"formats",    "solvers", "preconds",  "parameters",
                                    "generators", "devices", "collection"};
enum {
  WORDS = sizeof words / sizeof *words,
  NAMES = WORDS - 2
}; /* NAMES: without devices and collection */

/* The word that is meant: headings and the names of folders are accepted, too. */
static const char *word_meant(const char *typed) {
  static const char *const also[][2] = {{"preconditioners", "preconds"}, {"methods", "solvers"}};
  for (size_t i = 0; i < sizeof also / sizeof *also; i++)
    if (strcmp(also[i][0], typed) == 0) return also[i][1];
  return typed;
}

static cJSON *names_json(kcl_registry which) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < kcl_list_size(which); i++) {
    cJSON *one = cli_json_item(list);
    cli_json_text(one, "name", kcl_list(which, i).name);
    cli_json_text(one, "summary", kcl_list(which, i).summary);
    if (kcl_list(which, i).example) cli_json_text(one, "example", kcl_list(which, i).example);
    if (which == KCL_FORMATS) cli_json_bool(one, "study", kcl_list(which, i).study);
  }
  return list;
}

static void list_parameters(const cli_options *o, cJSON *all) {
  cJSON *list = cJSON_AddArrayToObject(all, "parameters");
  kcl_option p;
  for (int i = 0; (p = cli_parameter(i)).name; i++) {
    cJSON *one = cli_json_item(list);
    cli_json_text(one, "name", p.name), cli_json_text(one, "summary", p.help);
    cli_json_text(one, "default", p.default_text);
    cli_json_number(one, "min", p.min), cli_json_number(one, "max", p.max);
    cli_json_bool(one, "whole", p.kind == KCL_OPTION_WHOLE);
  }
  if (!o->json) cli_print_parameters();
}

/* Lists the devices without measuring them, which krylocl devices does. */
static int list_device_names(kcl_context *ctx, const cli_options *o, cJSON *all) {
  CLI_OWNED kcl_device *list = NULL;
  int count = 0, rc = cli_lib(kcl_device_list(ctx, &list, &count));
  cJSON *names = cJSON_CreateArray();
  for (int i = 0; i < count; i++) {
    cJSON *one = cli_json_item(names);
    cli_json_text(one, "name", cli_device_place(&list[i]).s);
    cli_json_text(one, "summary", list[i].name);
    if (!o->json) cli_say(o, "  %-15s  %s\n", cli_device_place(&list[i]).s, list[i].name);
  }
  cJSON_AddItemToObject(all, "devices", names);
  return rc;
}

static int list_collection(kcl_context *ctx, const cli_options *o, cJSON *all) {
  char *kept = NULL, *save, *name;
  CLI_CALL(cli_lib(kcl_collection_kept(ctx, &kept)));
  cJSON *names = cJSON_AddArrayToObject(all, "collection");
  if (!o->json) cli_say(o, "%s", *kept ? kept : "no matrix of the collection is kept here yet\n");
  if (!o->json)
    cli_say(o, "krylocl get Group/Name fetches one.\nTheir names: https://sparse.tamu.edu\n");
  for (name = strtok_r(kept, "\n", &save); name; name = strtok_r(NULL, "\n", &save))
    cJSON_AddItemToArray(names, cJSON_CreateString(name));
  free(kept);
  return 0;
}

static int list_word(kcl_context *ctx, const cli_options *o, const char *word, cJSON *all) {
  if (strcmp(word, "devices") == 0) return list_device_names(ctx, o, all);
  if (strcmp(word, "collection") == 0) return list_collection(ctx, o, all);
  if (strcmp(word, "parameters") == 0) list_parameters(o, all);
  for (const cli_names *l = cli_lists; l->word; l++) {
    if (strcmp(l->word, word)) continue;
    cJSON_AddItemToObject(all, word, names_json(l->which));
    if (!o->json) cli_print_list(l);
  }
  return 0;
}

static bool is_list_word(const char *word) {
  for (int i = 0; i < WORDS; i++)
    if (strcmp(words[i], word) == 0) return true;
  return false;
}

/* Prints the lists that are named; without an operand those of the library, which are the same on any machine. */
static int run_list(kcl_context *ctx, const cli_options *o) {
  CLI_OWNED_BY(cli_json_free) cJSON *all = cJSON_CreateObject();
  for (int i = 0; i < o->count; i++)
    if (!is_list_word(word_meant(o->files[i])))
      CLI_CALL(cli_unknown("list", o->files[i], words, WORDS));
  for (int i = 0; i < o->count; i++) CLI_CALL(list_word(ctx, o, word_meant(o->files[i]), all));
  for (int i = 0; i < NAMES && !o->count; i++) {
    if (i && !o->json) putchar('\n');
    CLI_CALL(list_word(ctx, o, words[i], all));
  }
  return cli_json_write(o->json, all);
}

const cli_command cli_list = {
    .name = "list",
    .operands = "[formats] [solvers] [preconds] [parameters] [generators] [devices] [collection]",
    .summary = "the names that options take, with a line about each",
    .options = "json",
    .max = WORDS,
    .run = run_list,
    .notes =
        "preconditioners and methods are other words for preconds and solvers.\n"
        "parameters: those of preconditioners, for --parameters.\n"
        "collection: the matrices of the SuiteSparse collection that are kept in the user's cache "
        "folder.\n"
        "\n"
        "--json: an object with a list of {name summary} for each word, of generators "
        "with an example, of parameters with default min max whole, of formats with study (true: "
        "it repeats a published study, and auto "
        "never takes it), devices only if asked for; collection: a list of names, if asked for.\n"};
