/* Aggregates of nodes, as multigrid/aggregate.c defines them. A node is `block` rows. Row i of a graph of nodes is where A's rows of
 * node i are: it begins at A_ptr[i block] and ends at END(S, i), so that no row has to be counted before it is written. */
#include "sparse.clh"
#define WG 256
#define MOST_BLOCK 12 /* KCL_MOST_NEAR_NULL */
#define LONG_ROW 1024 /* KCL_LONG_ROW */
#define START(i) A_ptr[(i) * block]
#define GRAPH(name) global const int *A_ptr, const int block, global const int *name##_col, ENDS(name)
#define FOR_COUPLED(i, k) for (int k = START(i); k < END(S, i); k++)

/* ---------------------------------------------------------------- the graph of nodes */

/* Where the columns of this work-item of a team begin, in blocks: those of node's first row are shared out. */
inline int first_block(PATTERN(A), const int first, const int block, const int lane, const int team)
{
  const int from = A_ptr[first], k = from + (A_ptr[first + 1] - from) * lane / team;
  if (lane == team) return INT_MAX;
  if (k == from) return 0;
  return A_col[k] / block + (A_col[k - 1] / block == A_col[k] / block);
}

/* The rows of a node, merged: where each has come to. */
typedef struct merge {
  int at[MOST_BLOCK];
  double squares; /* of the block found last, added by ascending row and column */
} merge;

/* The first entry of each row from a block on. */
inline void begin_merge(merge *m, PATTERN(A), const int first, const int block, const int from)
{
  for (int q = 0; q < block; q++) {
    int at = A_ptr[first + q];
    for (int to = A_ptr[first + q + 1]; at < to;) {
      const int middle = (at + to) / 2;
      if (A_col[middle] / block < from) at = middle + 1;
      else to = middle;
    }
    m->at[q] = at;
  }
}

/* The next block before `end`, INT_MAX: there is none. */
inline int next_block(merge *m, CSR(A), const int first, const int block, const int end)
{
  int other = INT_MAX;
  for (int q = 0; q < block; q++)
    if (m->at[q] < A_ptr[first + q + 1]) other = min(other, A_col[m->at[q]] / block);
  m->squares = 0;
  if (other >= end) return INT_MAX;
  for (int q = 0; q < block; q++)
    for (; m->at[q] < A_ptr[first + q + 1] && A_col[m->at[q]] / block == other; m->at[q]++)
      m->squares += A_val[m->at[q]] * A_val[m->at[q]];
  return other;
}

/* Walks the blocks from `from` to `end`: how many; N_col: NULL, or where they are written; *most: of their squares beside the diagonal. */
inline int walk_blocks(CSR(A), const int first, const int block, const int from, const int end, global int *N_col,
                       global double *N_val, double *most)
{
  merge m;
  int count = 0;
  begin_merge(&m, A_ptr, A_col, first, block, from);
  for (int other; (other = next_block(&m, A_ptr, A_col, A_val, first, block, end)) < INT_MAX; count++) {
    if (!N_col) continue;
    if (other != first / block) *most = fmax(*most, m.squares);
    N_col[count] = other, N_val[count] = m.squares;
  }
  return count;
}

/* The squares of each block of A. A team per node: each work-item counts its blocks, then writes them. largest: beside the diagonal. */
kernel void square_blocks(CSR(A), const int nodes, const int block, const int team, global int *N_col, global double *N_val,
                          global int *N_end, global double *largest)
{
  local int counts[WG];
  local double all[WG];
  const int node = get_global_id(0) / team, lane = get_global_id(0) % team, first = min(node, nodes - 1) * block;
  const int from = first_block(A_ptr, A_col, first, block, lane, team), end = first_block(A_ptr, A_col, first, block, lane + 1, team);
  double most = 0;
  const int mine = walk_blocks(A_ptr, A_col, A_val, first, block, from, end, 0, 0, &most);
  const int to = A_ptr[first] + team_before(mine, team, counts);
  if (node < nodes) walk_blocks(A_ptr, A_col, A_val, first, block, from, end, N_col + to, N_val + to, &most);
  if (lane == team - 1 && node < nodes) N_end[node] = to + mine;
  most = team_largest(most, team, all);
  if (lane == 0 && node < nodes) largest[node] = most;
}

/* The largest squared entry beside the diagonal, for nodes of one row. A team per row. */
kernel void largest_square(CSR(A), const int n, const int team, global double *largest)
{
  local double all[WG];
  const int i = get_global_id(0) / team, lane = get_global_id(0) % team;
  double most = 0;
  FOR_TEAM(i < n ? A_ptr[i] : 0, i < n ? A_ptr[i + 1] : 0, lane, team, k)
    if (A_col[k] != i) most = fmax(most, A_val[k] * A_val[k]);
  most = team_largest(most, team, all);
  if (lane == 0 && i < n) largest[i] = most;
}

/* Entry k of row i of N; the squares of norms are compared. plain: N's values are those of A. least: theta^4. */
inline bool is_coupled(GRAPH(N), global const double *N_val, global const double *largest, const int plain, const double least,
                       const int i, const int k)
{
  const int j = N_col[k];
  const double size = plain ? N_val[k] * N_val[k] : N_val[k];
  return i != j && END(N, j) - START(j) <= LONG_ROW && rounded(size * size) > rounded(least * largest[i] * largest[j]);
}
#define COUPLED(k) is_coupled(A_ptr, block, N_col, N_end, N_next, N_val, largest, plain, least, i, k)

/* S: the strong entries of N. Each work-item of a team has a part of the row. S may be in N's place where a team is one work-item. */
kernel void couple_nodes(GRAPH(N), global const double *N_val, const int nodes, const int team, const int plain, const double least,
                         global const double *largest, global int *S_col, global double *S_val, global int *S_end)
{
  local int all[WG];
  const int i = get_global_id(0) / team;
  const int2 part = i < nodes ? team_part(START(i), END(N, i), team) : (int2)0;
  int mine = 0;
  for (int k = part.x; k < part.y && team > 1; k++) mine += COUPLED(k);
  int at = team_before(mine, team, all) + (i < nodes ? START(i) : 0);
  for (int k = part.x; k < part.y; k++)
    if (COUPLED(k)) S_col[at] = N_col[k], S_val[at++] = plain ? N_val[k] * N_val[k] : N_val[k];
  if (i < nodes && get_local_id(0) % team == team - 1) S_end[i] = at;
}

/* ---------------------------------------------------------------- roots: a maximal independent set of distance 2 */

/* key: state in the upper two bits, then a hash, then the number of the node: the largest wins. */
enum { OUT, UNDECIDED, ROOT };
inline int state_of(const ulong key) { return (int)(key >> 62); }
inline ulong with_state(const ulong key, const int state) { return key << 2 >> 2 | (ulong)state << 62; }

kernel void begin_roots(GRAPH(S), const int nodes, global ulong *key, global ulong *near)
{
  const int i = get_global_id(0);
  if (i >= nodes) return;
  const ulong h = hash(i);
  key[i] = with_state(h >> 34 << 32 | (ulong)i, START(i) == END(S, i) ? OUT : UNDECIDED);
  near[i] = with_state(0, UNDECIDED);
}

/* The largest key at distance 1. Where it is that of a root, or all are out, it does not change any more. */
kernel void look_near(GRAPH(S), const int nodes, global const ulong *key, global ulong *near)
{
  const int i = get_global_id(0);
  if (i >= nodes || state_of(near[i]) != UNDECIDED) return;
  ulong most = key[i];
  FOR_COUPLED(i, k) most = max(most, key[S_col[k]]);
  near[i] = most;
}

/* By the largest key at distance 2. The note: some are still undecided. */
kernel void decide_roots(GRAPH(S), const int nodes, global const ulong *near, global ulong *key, NOTES)
{
  const int i = get_global_id(0);
  if (i >= nodes || state_of(key[i]) != UNDECIDED) return;
  ulong most = near[i];
  FOR_COUPLED(i, k) most = max(most, near[S_col[k]]);
  if ((uint)most == (uint)i) key[i] = with_state(key[i], ROOT);
  else if (state_of(most) == ROOT) key[i] = with_state(key[i], OUT);
  else notes[note] = 1;
}

kernel void mark_roots(global const ulong *key, const int nodes, global int *flag)
{
  const int i = get_global_id(0);
  if (i < nodes) flag[i] = state_of(key[i]) == ROOT;
}

/* before[i]: roots before i. */
kernel void number_roots(global const ulong *key, global const int *before, const int nodes, global int *aggregate)
{
  const int i = get_global_id(0);
  if (i < nodes) aggregate[i] = state_of(key[i]) == ROOT ? before[i] : -1;
}

/* ---------------------------------------------------------------- which node joins which aggregate */

/* to[i]: of those neighbours that have an aggregate in `from`, the one of the strongest; or -1. */
kernel void join_nodes(GRAPH(S), global const double *S_val, const int nodes, global const int *from, global int *to)
{
  const int i = get_global_id(0);
  if (i >= nodes) return;
  int best = from[i];
  double most = 0;
  if (best < 0) FOR_COUPLED(i, k) {
    const double size = rounded(S_val[k]);
    const int other = from[S_col[k]];
    if (other >= 0 && size > most) best = other, most = size;
  }
  to[i] = best;
}

kernel void count_members(global const int *aggregate, const int nodes, global int *size)
{
  const int i = get_global_id(0);
  if (i < nodes && aggregate[i] >= 0) atomic_inc(&size[aggregate[i]]);
}

kernel void mark_large(global const int *size, const int n, const int least, global int *flag)
{
  const int a = get_global_id(0);
  if (a < n) flag[a] = size[a] >= least;
}

/* before[a]: large aggregates before a. */
kernel void number_large(global const int *size, global const int *before, const int nodes, const int least, global int *aggregate)
{
  const int i = get_global_id(0);
  if (i >= nodes || aggregate[i] < 0) return;
  aggregate[i] = size[aggregate[i]] >= least ? before[aggregate[i]] : -1;
}
