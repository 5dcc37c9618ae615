/* Labels that do not collide. A label of a point tries places around it, near ones first, and takes the first that
 * is free of points and of earlier labels. Labels of lines stand at their ends, pushed apart. */
#include "cli/draw/svg.h"

static const double LINE = 14; /* height of a line of text */

typedef struct box {
  double x1, y1, x2, y2;
} box;

static box box_of(const cli_label *l) {
  return (box){l->at_x - 2, l->at_y - 10, l->at_x + cli_svg_width(l->text) + 2, l->at_y + 3};
}

static bool boxes_meet(box a, box b) {
  return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;
}

static bool free_of(const cli_label *list, int count, const cli_label *l) {
  const box mine = box_of(l);
  for (int i = 0; i < count; i++) {
    const box point = {list[i].x - 4, list[i].y - 4, list[i].x + 4, list[i].y + 4};
    if (boxes_meet(mine, point)) return false;
    if (list[i].placed && boxes_meet(mine, box_of(&list[i]))) return false;
  }
  return true;
}

static void place_label(cli_label *list, int count, cli_label *l, double width, double top,
                        double bottom) {
  const double w = cli_svg_width(l->text);
  for (int ring = 0; ring < 3; ring++)
    for (int k = 0; k < 8; k++) { /* right first, then left, below, above, corners */
      static const double way[8][2] = {{1, 0}, {-1, 0}, {0, 1},  {0, -1},
                                       {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
      const double away = 8 + 16 * ring, dx = way[k][0], dy = way[k][1];
      l->at_x = l->x + dx * away + (dx > 0 ? 0 : dx < 0 ? -w : -w / 2);
      l->at_y = l->y + 4 + dy * (away + 4);
      if (l->at_x < 2 || l->at_x + w > width - 2 || l->at_y - 10 < top || l->at_y + 3 > bottom)
        continue;
      if (!free_of(list, count, l)) continue;
      l->placed = true;
      return;
    }
}

void cli_labels_place(cli_label *list, int count, double width, double top, double bottom) {
  for (int i = 0; i < count; i++) list[i].placed = false;
  for (int i = 0; i < count; i++)
    if (*list[i].text) place_label(list, count, &list[i], width, top, bottom);
}

static int compare_label_heights(const void *a, const void *b) {
  const cli_label *x = *(cli_label *const *)a, *y = *(cli_label *const *)b;
  return (x->y > y->y) - (x->y < y->y);
}

/* Labels that would touch form a block, which stands where its labels are nearest to their own places. */
typedef struct block {
  double want; /* sum over its labels of the top that each prefers for the block */
  int count;
} block;

static double top_of(const block *b) { return b->want / b->count; }

static int form_blocks(cli_label *const *order, int count, block *blocks) {
  int n = 0;
  for (int i = 0; i < count; i++) {
    blocks[n++] = (block){order[i]->y + 4, 1};
    while (n > 1 && top_of(&blocks[n - 2]) + LINE * blocks[n - 2].count > top_of(&blocks[n - 1])) {
      block *up = &blocks[n - 2], *down = &blocks[n - 1];
      up->want += down->want - LINE * up->count * down->count;
      up->count += down->count, n--;
    }
  }
  return n;
}

void cli_labels_spread(cli_label *list, int count, double x, double top, double bottom) {
  cli_label **order = malloc(((size_t)count + 1) * sizeof *order);
  block *blocks = malloc(((size_t)count + 1) * sizeof *blocks);
  double next = top + 10;
  int i = 0;
  for (; order && i < count; i++) order[i] = &list[i];
  if (order) qsort(order, (size_t)count, sizeof *order, compare_label_heights);
  const int n = order && blocks ? form_blocks(order, count, blocks) : 0;
  i = 0;
  for (int b = 0; b < n; b++)
    for (int k = 0; k < blocks[b].count; k++, i++) {
      order[i]->at_x = x, order[i]->placed = true;
      order[i]->at_y = fmax(top_of(&blocks[b]) + LINE * k, next);
      next = order[i]->at_y + LINE;
    }
  next = bottom;
  for (i = n ? count - 1 : -1; i >= 0; i--) {
    order[i]->at_y = fmin(order[i]->at_y, next);
    next = order[i]->at_y - LINE;
  }
  free(order), free(blocks);
}

void cli_labels_draw(FILE *f, const cli_label *list, int count) {
  for (int i = 0; i < count; i++) {
    const cli_label *l = &list[i];
    if (!l->placed) continue;
    const double w = cli_svg_width(l->text), y = l->at_y - 4;
    const double x = l->at_x > l->x ? l->at_x - 2 : l->at_x + w < l->x ? l->at_x + w + 2 : l->x;
    if (!l->far && hypot(x - l->x, y - l->y) > 16) cli_svg_line(f, l->x, l->y, x, y, "lead");
    cli_svg_text(f, l->at_x, l->at_y, l->class, l->text);
  }
}
