/* The colours of pictures and pages, light and dark. Series are those of Okabe & Ito (2008), which people with any colour
 * vision tell apart; those for dark paper are lighter forms of the same. */
#include "cli/draw/svg.h"

static const struct {
  const char *selector, *property, *light, *dark;
} colours[] = {
    {".ink", "fill", "#1b1e23", "#e6e9ed"},     {".mute", "fill", "#5d6570", "#9ba5b0"},
    {".rule", "stroke", "#e1e4e8", "#2b3138"},  {".axis,.lead", "stroke", "#8b929b", "#6f7882"},
    {".ideal", "stroke", "#8b929b", "#7f8892"}, {".bar", "fill", "#b4c7dd", "#36506f"},
    {".best", "fill", "#0072b2", "#2f87c4"},    {".none", "stroke", "#9aa1aa", "#7f8892"},
    {".dot", "fill", "#1b1e23", "#e6e9ed"},     {".stream", "fill", "#009e73", "#23c997"},
    {".on", "fill", "#ffffff", "#ffffff"},      {".cell", "fill", "#12395f", "#8cc4f2"},
    {".paper", "fill", "#ffffff", "#14171b"},   {".s0", "stroke", "#0072b2", "#56b4e9"},
    {".s1", "stroke", "#d55e00", "#ff8f4d"},    {".s2", "stroke", "#009e73", "#2fd0a0"},
    {".s3", "stroke", "#b4548c", "#e6a5c9"},    {".s4", "stroke", "#b87f00", "#f0c350"},
    {".s5", "stroke", "#3a96cf", "#a6dbf7"},    {".s6", "stroke", "#6f6400", "#d8cf5a"},
    {".s7", "stroke", "#4d4d4d", "#cfcfcf"},    {".f0", "fill", "#0072b2", "#56b4e9"},
    {".f1", "fill", "#d55e00", "#ff8f4d"},      {".f2", "fill", "#009e73", "#2fd0a0"},
    {".f3", "fill", "#b4548c", "#e6a5c9"},      {".f4", "fill", "#b87f00", "#f0c350"},
    {".f5", "fill", "#3a96cf", "#a6dbf7"},      {".f6", "fill", "#6f6400", "#d8cf5a"},
    {".f7", "fill", "#4d4d4d", "#cfcfcf"}};

static const char shapes[] =
    "text{font:12px \"Helvetica Neue\",Helvetica,Arial,\"Liberation Sans\",sans-serif;"
    "font-variant-numeric:tabular-nums}"
    ".c{text-anchor:middle}.e{text-anchor:end}.b{font-weight:600}"
    ".rule{stroke-width:1}.axis{stroke-width:1}.lead{stroke-width:.7}"
    ".ideal{stroke-width:1.2;stroke-dasharray:4 3}"
    ".none{fill:none;stroke-dasharray:2 2}.dot{fill-opacity:.45}"
    "path{fill:none;stroke-width:1.8;stroke-linejoin:round}path.thin{stroke-width:1;opacity:.6}"
    ".hit{fill:none;pointer-events:all}.ideal.s0,.ideal.s1,.ideal.s2,.ideal.s3{stroke-width:1.3}"
    ".f0,.f1,.f2,.f3,.f4,.f5,.f6,.f7{fill-opacity:.9}";

static void print_colours(FILE *f, bool dark) {
  for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
    fprintf(f, "%s{%s:%s}", colours[i].selector, colours[i].property,
            dark ? colours[i].dark : colours[i].light);
}

void cli_svg_style(FILE *f, bool alone) {
  fputs(shapes, f);
  print_colours(f, false);
  if (alone) return;
  fputs("\n@media screen and (prefers-color-scheme:dark){", f);
  print_colours(f, true);
  fputs("}", f);
}
