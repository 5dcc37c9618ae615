/* When a tuned value counts as faster (cli/confirm.h), by times made by hand. */
#include "cli/confirm.h"
#include "tests/check.h"

typedef double pair[2]; /* before, after */

static bool faster(const pair *times, int *taken) {
  cli_pairs p = {.count = 0};
  *taken = 0;
  while (cli_pairs_add(&p, times[*taken][0], times[*taken][1])) ++*taken;
  ++*taken;
  return cli_pairs_faster(&p, 0.97);
}

int main(void) {
  const pair clear[] = {{10, 8}, {20, 17}, {10, 9}, {30, 24}, {10, 9}, {10, 9.9}},
             lucky[] = {{10, 5}, {10, 10.1}, {10, 5}, {10, 5}, {10, 5}, {10, 5}},
             small[] = {{10, 9.9}, {10, 9.8}, {10, 9.9}, {10, 9.8}, {10, 9.9}, {10, 9.7}},
             equal[] = {{10, 10}},
             loaded[] = {{40, 10}, {10, 10.5}}; /* a load that fell on the old value once */
  int taken;
  CHECK(faster(clear, &taken) && taken == CLI_PAIRS);
  CHECKF(!faster(lucky, &taken) && taken == 2, "one pair against it ends the comparison: %d",
         taken);
  CHECKF(!faster(small, &taken) && taken == CLI_PAIRS, "less than the margin");
  CHECK(!faster(equal, &taken) && taken == 1);
  CHECKF(!faster(loaded, &taken), "one noisy comparison decides nothing");
  CHECK(!cli_pairs_faster(&(cli_pairs){.ratio = {0.5}, .count = 1}, 0.97));
  CHECK(cli_pairs_median(&(cli_pairs){.ratio = {1, 3, 5}, .count = 3}) == 3);
  return check_report();
}
