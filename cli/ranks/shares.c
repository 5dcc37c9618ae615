/* --devices and --shares: lists between commas, an element for each rank. */
#include "cli/ranks/shares.h"
#include "cli/ranks/ranks.h"
#include "cli/ui/say.h"

static int count_elements(const char *list) {
  int n = 1;
  for (const char *s = list; *s; s++) n += *s == ',';
  return n;
}

int cli_device_count(const cli_options *o) { return o->devices ? count_elements(o->devices) : 0; }

/* Element i of a list, to word [capacity]. */
static void copy_element(const char *list, int i, char *word, size_t capacity) {
  while (i-- > 0) list += strcspn(list, ",") + 1;
  snprintf(word, capacity, "%.*s", (int)strcspn(list, ","), list);
}

void cli_device_of_rank(const cli_options *o, int rank, char *word, size_t capacity) {
  copy_element(o->devices, rank, word, capacity);
}

const char *cli_share_rule(const cli_options *o) {
  static const char *const rules[] = {"nonzeros", "rates", "rows"};
  for (size_t i = 0; o->shares && i < sizeof rules / sizeof *rules; i++)
    if (!strcmp(o->shares, rules[i])) return rules[i];
  return NULL;
}

double cli_share_of_rank(const cli_options *o, int rank) {
  char word[64];
  if (!o->shares || cli_share_rule(o)) return 0;
  copy_element(o->shares, rank, word, sizeof word);
  return strtod(word, NULL);
}

static int check_share(const cli_options *o, int i) {
  char word[64], *end;
  copy_element(o->shares, i, word, sizeof word);
  const double share = strtod(word, &end);
  if (end != word && !*end && share > 0 && share < 1e300) return 0;
  return cli_fail(KCL_USAGE,
                  "--shares %s: '%s' is not a positive number, and no rule: nonzeros, rates, rows",
                  o->shares, word);
}

int cli_devices_check(const cli_options *o) {
  int rc = 0;
  char word[300];
  const bool numbers = o->shares && !cli_share_rule(o);
  if (o->shares && !o->devices && (numbers || cli_ranks() == 1))
    return cli_fail(KCL_USAGE, "--shares needs --devices, whose shares they are");
  if (!o->devices) return 0;
  if (o->device) return cli_fail(KCL_USAGE, "--device and --devices: one of them is enough");
  for (int i = 0; i < cli_device_count(o); i++) {
    copy_element(o->devices, i, word, sizeof word);
    if (!*word) return cli_fail(KCL_USAGE, "--devices %s: a device is missing", o->devices);
  }
  if (numbers && count_elements(o->shares) != cli_device_count(o))
    return cli_fail(KCL_USAGE, "--shares has %d numbers for %d devices", count_elements(o->shares),
                    cli_device_count(o));
  if (cli_ranks() > 1 && cli_ranks() != cli_device_count(o))
    return cli_fail(KCL_USAGE, "--devices names %d for %d ranks", cli_device_count(o), cli_ranks());
  for (int i = 0; numbers && i < cli_device_count(o) && !rc; i++) rc = check_share(o, i);
  return rc;
}
