/* Compares the readers with a simple one in this file: random matrices in the layouts of other programs (blanks, comments,
 * line ends, Fortran fields of many kinds, both index bases, duplicates, symmetries). The expectation is a dense matrix,
 * filled entry by entry from the same words by strtod. Every number must agree bit for bit. */
#include "tests/data_test.h"

enum { MOST = 12, ENTRIES = 40, TRIALS = 300 };

typedef struct expected {
  int rows, cols, width;
  bool there[MOST][MOST];
  double v[MOST][MOST][2];
} expected;

static char text[1 << 16], *end;
static int below(int n) { return (int)(random_bits() % (uint64_t)n); }
static bool maybe(int in) { return below(in) == 0; }
__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
  va_list args;
  va_start(args, format);
  end += vsnprintf(end, (size_t)(text + sizeof text - end), format, args);
  va_end(args);
}

static void add(expected *e, int i, int j, double re, double im) {
  e->v[i][j][0] = e->there[i][j] ? e->v[i][j][0] + re : re;
  e->v[i][j][1] = e->there[i][j] ? e->v[i][j][1] + im : im;
  e->there[i][j] = true;
}

/* The entry above the diagonal is that below it, duplicates summed, to the sign of a zero. */
static void mirror(expected *e, int i, int j, bool negate_re, bool negate_im) {
  const double *v = e->v[i][j];
  e->v[j][i][0] = negate_re ? -v[0] : v[0], e->v[j][i][1] = negate_im ? -v[1] : v[1];
  e->there[j][i] = true;
}

/* A number as C programs print it; its value. */
static double word(char *out) {
  static const char *const formats[] = {"%.17g",  "%.16e", "%g",    "%.3f",
                                        "%+.10E", "%.0f",  "%.25g", "%a"};
  double v = (double)(int64_t)random_bits() * ldexp(1, below(120) - 120);
  int f = below(7);
  if (maybe(8)) v = maybe(2) ? 0.0 : -0.0;
  snprintf(out, 60, formats[f], f == 3 || f == 5 ? fmod(v, 1e6) : v);
  if (maybe(10)) snprintf(out, 60, "%s", maybe(2) ? ".5" : "-7.");
  return strtod(out, NULL);
}

static bool agrees(const kcl_csr *A, const expected *e) {
  int64_t count = 0, k;
  if (A->rows != e->rows || A->cols != e->cols) return false;
  for (int i = 0; i < e->rows; i++)
    for (int j = 0; j < e->cols; j++) {
      if (!e->there[i][j]) continue;
      count++;
      for (k = A->row_ptr[i]; k < A->row_ptr[i + 1] && A->col[k] != j; k++) {}
      if (k == A->row_ptr[i + 1]) return false;
      const double *v = (const double *)A->val + e->width * k;
      if (memcmp(v, e->v[i][j], (size_t)e->width * sizeof *v)) return false;
    }
  return count == A->nnz;
}

static void compare(const char *kind, int trial, const expected *e) {
  kcl_csr *A = NULL;
  int rc = kcl_csr_read(ctx, put_bytes("t.any", text, (size_t)(end - text)), &A);
  bool good = !rc && agrees(A, e);
  if (!CHECKF(good, "%s, trial %d: %s", kind, trial, rc ? kcl_error() : "another matrix"))
    printf("%.*s\n", (int)(end - text) < 1500 ? (int)(end - text) : 1500, text);
  kcl_csr_free(&A);
}

/* ---------------------------------------------------------------- Matrix Market */

static void blanks(int least) {
  for (int n = below(3) + least; n > 0; n--) put("%s", maybe(3) ? "\t" : " ");
}

static void line_end(void) { put("%s", maybe(6) ? " \r\n" : "\n"); }

static void noise(void) {
  if (maybe(9)) put("\n");
  if (maybe(12)) put("   \n");
}

static void test_coordinate(void) {
  static const char *const symmetry[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  for (int trial = 0; trial < TRIALS; trial++) {
    int s = below(4), n = below(ENTRIES);
    bool complex = s == 3 || maybe(3);
    expected e = {.rows = 1 + below(MOST), .width = complex ? 2 : 1};
    e.cols = s ? e.rows : 1 + below(MOST);
    if (s == 2 && e.rows == 1) continue; /* no entry fits */
    end = text;
    put("%%%%MatrixMarket matrix %s %s %s\n", maybe(3) ? "COORDINATE" : "coordinate",
        complex ? "complex" : "Real", symmetry[s]);
    if (maybe(3)) put("%% a comment\n%%\n");
    put("%d %d %d", e.rows, e.cols, n), line_end();
    for (int k = 0; k < n; k++) {
      char w[2][60];
      int i = below(e.rows), j = below(e.cols), t = i;
      if (s && i < j) i = j, j = t;
      if (s == 2 && i == j) i ? j-- : i++;
      double re = word(w[0]), im = complex ? word(w[1]) : 0;
      if (s == 3 && i == j) im = 0, strcpy(w[1], "0");
      noise(), blanks(0), put("%d", i + 1), blanks(1), put("%d", j + 1), blanks(1), put("%s", w[0]);
      if (complex) blanks(1), put("%s", w[1]);
      line_end();
      add(&e, i, j, re, im);
      if (s && i != j) mirror(&e, i, j, s == 2, s > 1);
    }
    compare("coordinate", trial, &e);
  }
}

static void test_array(void) {
  for (int trial = 0; trial < TRIALS; trial++) {
    bool complex = maybe(3), half = maybe(3);
    expected e = {.rows = 1 + below(MOST), .width = complex ? 2 : 1};
    e.cols = half ? e.rows : 1 + below(MOST);
    end = text;
    put("%%%%MatrixMarket matrix array %s %s\n%d %d\n", complex ? "complex" : "real",
        half ? "symmetric" : "general", e.rows, e.cols);
    for (int j = 0; j < e.cols; j++)
      for (int i = half ? j : 0; i < e.rows; i++) {
        char w[2][60];
        double re = word(w[0]), im = complex ? word(w[1]) : 0;
        noise(), blanks(0), put("%s", w[0]);
        if (complex) blanks(1), put("%s", w[1]);
        line_end();
        add(&e, i, j, re, im);
        if (half && i != j) add(&e, j, i, re, im);
      }
    compare("array", trial, &e);
  }
}

/* ---------------------------------------------------------------- row lists */

static void test_rows(void) {
  for (int trial = 0; trial < TRIALS; trial++) {
    bool complex = maybe(3);
    int n = 0, base = below(2);
    expected e = {.rows = 1 + below(MOST), .cols = 1 + below(MOST), .width = complex ? 2 : 1};
    int length[MOST];
    for (int i = 0; i < e.rows; i++) n += length[i] = below(5);
    if (!n) continue; /* real or complex cannot be told */
    end = text;
    if (maybe(3)) put("# a comment\n");
    put("%d %d %d\n", e.rows, e.cols, n);
    for (int i = 0; i < e.rows; i++) {
      if (i && !length[i] && maybe(2)) continue;
      put("%s %d%s:", maybe(4) ? "ROW" : "row", i + base, maybe(4) ? " " : "");
      for (int k = 0; k < length[i]; k++) {
        char w[2][60];
        int j = below(e.cols);
        double re = word(w[0]), im = complex ? word(w[1]) : 0;
        blanks(0), put("(%d,", j + base), blanks(0), put("%s", w[0]);
        if (complex) put(","), blanks(0), put("%s", w[1]);
        put(")");
        add(&e, i, j, re, im);
      }
      line_end();
    }
    compare("row lists", trial, &e);
  }
}

/* ---------------------------------------------------------------- Harwell-Boeing */

/* A number as Fortran writes it into a field: with or without E, with D, with a bare sign, packed or not. */
static double fortran(char *out, int width, int digits, bool wide_exponent) {
  char plain[80], number[80];
  double v = (double)(int64_t)random_bits() * ldexp(1, below(60) - 90);
  if (wide_exponent) v *= maybe(2) ? 1e-130 : 1e130;
  snprintf(plain, sizeof plain, "%.*e", digits, v);
  v = strtod(plain, NULL);
  snprintf(number, sizeof number, "%s", plain);
  char *exponent = strchr(number, 'e');
  if (strlen(exponent) == 5)
    memmove(exponent, exponent + 1, strlen(exponent)); /* 1.0-120 */
  else
    *exponent = "EDed"[below(4)];
  snprintf(out, 80, "%*s", maybe(4) ? -width : width, number), out[width] = 0;
  return v;
}

static void put_integers(const int *v, int n, int per_line, int width) {
  for (int k = 0; k < n; k++)
    put("%*d%s", width, v[k], (k + 1) % per_line && k + 1 < n ? "" : "\n");
}

static void test_harwell_boeing(void) {
  for (int trial = 0; trial < TRIALS; trial++) {
    int n = 0, pointer[MOST + 1] = {1}, index[ENTRIES * 2], digits = 3 + below(14),
        per = 1 + below(4), iw = 3 + below(6);
    int width = digits + 7 + below(4), ip = 1 + below(12);
    bool complex = maybe(3), far = maybe(3);
    expected e = {.rows = 1 + below(MOST), .cols = 1 + below(MOST), .width = complex ? 2 : 1};
    for (int j = 0; j < e.cols; j++) {
      for (int k = below(4); k > 0; k--) index[n++] = 1 + below(e.rows);
      pointer[j + 1] = n + 1;
    }
    if (!n) continue;
    int numbers = n * e.width,
        lines[3] = {(e.cols + ip) / ip, (n + ip - 1) / ip, (numbers + per - 1) / per};
    end = text;
    put("%-72s%-8s\n%14d%14d%14d%14d\n", "a title", "key", lines[0] + lines[1] + lines[2], lines[0],
        lines[1], lines[2]);
    put("%cUA %14d%14d%14d%14d\n(%dI%d) (%dI%d) (%s%d%c%d.%d)\n", complex ? 'C' : 'R', e.rows,
        e.cols, n, 0, ip, iw, ip, iw, maybe(3) ? "1P," : "", per, "EDG"[below(3)], width, digits);
    put_integers(pointer, e.cols + 1, ip, iw), put_integers(index, n, ip, iw);
    double re = 0;
    for (int k = 0, j = 0; k < numbers; k++) {
      char w[80];
      double v = fortran(w, width, digits, far);
      while (k / e.width + 1 >= pointer[j + 1]) j++;
      if (complex && k % 2 == 0) re = v;
      if (!complex || k % 2) add(&e, index[k / e.width] - 1, j, complex ? re : v, complex ? v : 0);
      put("%s%s", w, (k + 1) % per && k + 1 < numbers ? "" : "\n");
    }
    compare("Harwell-Boeing", trial, &e);
  }
}

int main(void) {
  static const test tests[] = {{"coordinate", test_coordinate},
                               {"array", test_array},
                               {"row lists", test_rows},
                               {"Harwell-Boeing", test_harwell_boeing}};
  return run_tests(tests, sizeof tests / sizeof *tests);
}
