/* The choice of format and method where it is left to us ("auto"). A selection owns the engine in use and exchanges it
 * for a faster one: at set-up, or around the correction loop, between two of its batches.
 *
 *   solver/auto/methods.c   the plan: methods and preconditioners by structure, in the order in which they are tried
 *   solver/auto/choose.c    the first choice, before anything runs
 *   solver/auto/draft.c     what its kernels take to compile, and whether another is there sooner
 *   solver/auto/trial.c     other formats and forms of the method, timed
 *   solver/auto/elliptic.c   is A an elliptic operator on a grid, and how large is its condition number?
 *   solver/auto/remaining.c  iterations to come
 *   solver/auto/candidates.c ways that a solve may switch to, with their predicted seconds
 *   solver/auto/switch.c     from a plain method to one of them, where that pays
 *   solver/auto/direct.c     from iterations to a direct solution, where that pays
 *   solver/auto/outcome.c    what whole solves took by these
 *   solver/auto/adapt.c     around the correction loop: a faster format, the next method, what is remembered
 */
#ifndef KCL_AUTO_H
#define KCL_AUTO_H

#include "core/base/text.h"
#include "core/device/device.h"
#include "core/tuning/choices.h"
#include "solver/loop/loop.h"

enum { KCL_MOST_WAYS = 12 };

/* A way to solve. */
typedef struct kcl_way {
  const kcl_method *method;
  const kcl_precond_kind *precond;
} kcl_way;

typedef struct kcl_plan {
  kcl_way way[KCL_MOST_WAYS];
  int count;
} kcl_plan;

/* A as a discretised elliptic operator (solver/auto/elliptic.c). */
typedef struct kcl_elliptic {
  bool known, holds; /* most rows have no positive coupling and sum to about 0 */
  bool
      searched; /* the diameter of the graph is known; else it is at least what the bandwidth says */
  bool smooth;  /* and most couplings of a row are nearly as strong as the strongest */
  double strong;         /* share of the couplings that are; 1 where A is not elliptic */
  bool network;          /* or not, and A is nearly, not quite, symmetric: a circuit */
  double condition_root; /* root of the condition number, estimated */
  double
      transport; /* how far convection outweighs diffusion across the graph: asymmetry of couplings times its diameter */
  double asymmetry, most_root,
      contrast; /* of couplings; the root at most; and how much larger jumps of coefficients make it */
} kcl_elliptic;

/* How far a residual had to fall at some iterations of the solve, each half as many again as the one before. */
enum { KCL_DESCENT = 3 };
typedef struct kcl_descent {
  int64_t done[KCL_DESCENT]; /* [count] iterations, the latest first */
  double left[KCL_DESCENT];  /* [count] natural logarithm of the least residual / target */
  int count;
} kcl_descent;

/* A way that a solve may switch to (solver/auto/candidates.c). */
typedef struct kcl_candidate {
  kcl_way way;
  bool levels;       /* multigrid */
  bool last;         /* the solve does not switch again */
  double setup;      /* predicted seconds */
  double iterations; /* predicted */
  double predicted;  /* seconds of set-up and all iterations */
  double seconds;    /* remembered, or else predicted */
} kcl_candidate;

enum { KCL_MOST_CANDIDATES = 8 };

typedef struct kcl_selection kcl_selection;
struct kcl_selection {
  const kcl_system *system;
  /* Solves by other means what a method did not, if that takes about so many seconds at most (solver/rescue.c). NULL: there
   * are none. */
  int (*rescue)(void *owner, kcl_loop *l, double seconds);
  /* Predicted seconds of that; INFINITY: none, or not known after `spent` seconds. */
  double (*rescue_price)(void *owner, const kcl_loop *l, double spent);
  /* Another engine of the system; NULL: kcl_engine_build. On several ranks all have one, or none has. */
  int (*build)(void *owner, const kcl_way *way, kcl_engine **out);
  /* Goes on from a checkpoint, after the first START; NULL: there are none. */
  int (*resume)(void *solver, kcl_loop *l);
  void *owner, *solver; /* of these; of `resume` */
  kcl_plan plan;
  kcl_way way;    /* in use; a form of cg stands for cg in the plan */
  unsigned tried; /* ways of the plan, in this solve: one bit each */
  double reached
      [KCL_MOST_WAYS]; /* what they left of the residual: the largest, relative to the target, squared */
  kcl_engine *engine;    /* in use; owned */
  char key[KCL_KEY];     /* of this structure in the file of choices (core/tuning/choices.h) */
  kcl_choice remembered; /* its line there, and what was timed since */
  bool recalled;         /* there was such a line */
  bool way_recalled;     /* and it began the solve with another way than the plan does */
  bool dirty;            /* remembered differs from it */
  kcl_way next;  /* to go on with, once those that iterate have stopped; method NULL: none */
  bool switched; /* that has been done, or is not to be */
  bool direct; /* the solve goes on with a direct solution, once those that iterate have stopped */
  double instead;      /* seconds that were predicted without it */
  kcl_descent descent; /* of the method in use */
  double began,
      began_busy; /* seconds at the start of the solve: by the wall clock, by the processor's clock for this thread */
  kcl_elliptic diffusion; /* A as a grid, once asked for */
  int64_t asked;          /* iterations when it was last asked whether that pays */
  double
      rest; /* seconds with it, but for its compilation, which kept it from paying; 0: it was not that */
  bool
      hurried; /* the engine in use is not the fastest: it was there sooner (solver/auto/draft.c) */
  double compilation;       /* seconds that its kernels were expected to compile, before set-up */
  kcl_later *later;         /* programs of the fastest, shared; NULL: none are missing */
  const kcl_method *wants;  /* its method, NULL: it was tried; */
  const kcl_format *wanted; /* and its format */
  double gain;              /* seconds that it saves, of each of the one in use */
  double setup;             /* seconds of its set-up; 0: none in this solve */
  double before;            /* seconds of the solve until then */
  double plain;     /* seconds that were predicted without it, in all; 0: nothing was switched */
  double trusted;   /* seconds until which the solve stays with a way that it switched to */
  double promised;  /* iterations predicted for multigrid that the solve switched to; 0: none */
  bool decided;     /* nothing more is to be timed */
  int candidates;   /* formats that would be timed */
  double cost;      /* seconds to set up one of them, estimated */
  double seconds;   /* spent on timing */
  int64_t expected; /* iterations, as remembered at set-up; 0: not known */
  double predicted; /* seconds per iteration of one right-hand side, of set-up's choice */
  char why_format[400], why_method[200];
  char changes[2000]; /* of the last solve: a line for each engine exchanged */
};

void kcl_selection_use(kcl_selection *c, kcl_engine **e); /* takes it, and frees the one before */
/* The format of A for another engine: the fastest, whatever is compiled for the one in use. */
const kcl_format *kcl_selection_format(const kcl_selection *c);

/* ---- before a solve: by what is remembered, else by structure and bytes */
int kcl_choose_plan(kcl_selection *c); /* and its first way */
/* before: the choices for other values in A's pattern, which are kept where they suit; or NULL. Do all of them suit? */
bool kcl_choice_stays(const kcl_selection *c, const kcl_selection *before);
int kcl_choose_way(kcl_selection *c, const kcl_selection *before);
int kcl_choose_format(kcl_selection *c, const kcl_selection *before, const kcl_format **format);
/* A draft of the way in this format, or where that is not compiled, of what takes less seconds in all. before: as above. */
int kcl_choose_draft(kcl_selection *c, const kcl_selection *before, const kcl_format *format,
                     kcl_engine **out);
/* A faster engine is compiled beside the iterations once that pays: asked after set-up, and between batches. After a solve its loss is
 * added to those before. */
void kcl_draft_begin(kcl_selection *c);
void kcl_draft_watch(const kcl_selection *c, const kcl_loop *l);
void kcl_draft_account(const kcl_selection *c, const kcl_loop *l);
void kcl_draft_forget(kcl_selection *c);
/* Once it is compiled: before a solve it becomes the engine in use. Or does it pay to go on with it between two batches? */
void kcl_draft_adopt(kcl_selection *c);
void kcl_draft_compile(kcl_selection *c); /* it does at once, for benchmarks */
bool kcl_draft_pays(const kcl_selection *c, const kcl_loop *l);
void kcl_choose_explain_adjoint(kcl_selection *c); /* of the engine built: the format of A^H */
/* Times others, where that was asked for or is known to pay. */
int kcl_choose_by_time(kcl_selection *c);

/* ---- around a solve */
int kcl_adapt_run(kcl_selection *c, kcl_loop *l); /* from b and x on the device to reports */
/* Remembers a solve that converged: iterations, and seconds for all of them. */
void kcl_adapt_forget(kcl_selection *c); /* after a solve that failed */
void kcl_adapt_remember(kcl_selection *c, int64_t iterations, double seconds);

/* ---- remaining.c: iterations to come, of the right-hand side that needs most; INFINITY: the residual does not fall. */
double kcl_remaining(const kcl_loop *l);
/* By the recent slope, over about the second half of the iterations: the residual of many methods falls fast at first. */
double kcl_remaining_lately(const kcl_selection *c, const kcl_loop *l);
/* And at least as many as the graph of an elliptic A says; 0: not known. */
double kcl_remaining_here(const kcl_selection *c, const kcl_loop *l);
/* Between two batches: notes how far the residual has fallen. */
void kcl_remaining_note(kcl_selection *c, const kcl_loop *l);

/* Before the first iteration; 0: not known. */
double kcl_remaining_first(const kcl_selection *c);

/* ---- candidates.c: their number, when so many iterations of `each` seconds are left without them. */
int kcl_candidates(const kcl_selection *c, double left, double each,
                   kcl_candidate list[KCL_MOST_CANDIDATES]);
/* Why so many iterations are predicted: a phrase. */
const char *kcl_candidate_reason(const kcl_selection *c, const kcl_candidate *p);
/* Predicted seconds of a way; 0: it is not one of them. */
double kcl_candidate_seconds(const kcl_selection *c, const kcl_way *way, double each);
/* Seconds to compile the kernels of one, less those that solves of the structure have missed without them: as many are likely to
 * come, so that all solves together take at most twice as long as if that had been known. */
double kcl_candidate_compilation(const kcl_selection *c, const kcl_candidate *p);

/* ---- switch.c: does it pay to go on with a candidate? Then it is set up, c->next is it, and what iterates is given up. */
bool kcl_switch_pays(kcl_selection *c, kcl_loop *l);
/* Before the first iteration: is one remembered as the fastest way, or worth a try? */
bool kcl_switch_begins(kcl_selection *c, kcl_loop *l);
/* Afterwards: what it took, in `seconds` and its set-up, and what was predicted without. */
void kcl_switch_remember(kcl_selection *c, double seconds);
/* Or, where there was none for want of programs, what that has missed; false: nothing. */
bool kcl_switch_missed(kcl_selection *c, double seconds);
/* May the solve switch from the way in use at all? */
bool kcl_may_switch(const kcl_selection *c);
/* Does multigrid run, or may the solve switch to it, and is A elliptic? Then that is faster than a factorisation. */
bool kcl_switch_promises(kcl_selection *c, kcl_loop *l);

/* ---- outcome.c: what whole solves took; NULL: not known. */
const kcl_timing *kcl_outcome_of(const kcl_choice *known, const char *method, const char *precond);
int kcl_outcome_count(const kcl_choice *known);
/* The least, where that is less than iterations in the way that the plan begins with take. */
const kcl_timing *kcl_outcome_best(const kcl_selection *c);
/* Seconds of the one solve that is known, and of an iteration in the plan's way; INFINITY: none, or another way was tried since. */
double kcl_outcome_untried(const kcl_selection *c, double *each);
void kcl_outcome_remember(kcl_selection *c, const char *method, const char *precond, double seconds,
                          double without);
/* A way that a solve switched to was left for a direct solution. */
void kcl_outcome_failed(kcl_selection *c, const char *method, const char *precond);
/* Is that way remembered as one that failed? */
bool kcl_outcome_is_failed(const kcl_selection *c, const char *method, const char *precond);
/* Recalls what is remembered of such a system with these options. */
void kcl_outcome_recall(kcl_selection *c, const kcl_options *o);

/* ---- elliptic.c: from a sample of the rows of A. */
kcl_elliptic kcl_elliptic_of(const kcl_csr *A, const kcl_stats *known);
/* And its diameter, from searches of the graph, which take about so many seconds. */
double kcl_elliptic_search_seconds(const kcl_csr *A);
void kcl_elliptic_search(const kcl_csr *A, kcl_elliptic *g);
/* For a selection: looks at A once. */
bool kcl_elliptic_holds(kcl_selection *c);
/* And during a solve, whose seconds so far are those of iterations without what it took. */
bool kcl_elliptic_during(kcl_selection *c, kcl_loop *l);
void kcl_elliptic_search_during(kcl_selection *c, kcl_loop *l);
/* Time since `begin` is not of iterations: it is left out of the seconds per iteration. */
void kcl_count_apart(kcl_loop *l, double begin);

/* ---- direct.c: does it pay to go on with a direct solution? Then what iterates is given up. */
bool kcl_direct_begins(kcl_selection *c,
                       kcl_loop *l); /* or is it asked for, or remembered as faster? */
/* Predicted seconds, as in kcl_selection.rescue_price, on a processor as busy as it is. */
double kcl_direct_price(const kcl_selection *c, const kcl_loop *l, double spent);
/* At least, before an ordering is made. */
double kcl_direct_least(const kcl_selection *c);
/* Is a direct solution among what auto may choose? */
bool kcl_may_solve_directly(const kcl_selection *c);
bool kcl_direct_pays(kcl_selection *c, kcl_loop *l);
void kcl_direct_failed(kcl_selection *c);
/* After a solve that it ended in so many seconds. */
void kcl_direct_remember(kcl_selection *c, double seconds);

/* ---- methods.c */
int kcl_auto_plan(const kcl_system *s, kcl_plan *p);
/* The number of a way, -1 where it is not in the plan; a form of cg counts as cg. */
int kcl_plan_find(const kcl_plan *p, const char *method, const char *precond);
const char *kcl_auto_structure(const kcl_system *s); /* a phrase for reports */
/* Forms of cg with fewer barriers; may they be used for these options? */
enum { KCL_CG_FORMS = 2 };
extern const char *const kcl_cg_forms[KCL_CG_FORMS];
bool kcl_auto_is_cg_form(const char *name);
bool kcl_auto_cg_forms_fit(const kcl_options *o);

/* ---- choose.c, for the others */
bool kcl_auto_remembers(const kcl_selection *c); /* does the file of choices matter here? */
/* The remembered timing with the least seconds for set-up and solve, or NULL. */
const kcl_timing *kcl_auto_best(const kcl_selection *c);
void kcl_auto_say_timings(const kcl_selection *c, const kcl_timing *first, char *text,
                          size_t capacity);

/* ---- trial.c, for adapt.c */
typedef struct kcl_trial {
  double budget;   /* seconds for all candidates */
  bool in_a_solve; /* the engine stands between two passes, and its state moves to the faster one */
} kcl_trial;
double kcl_trial_budget(double seconds); /* for trials beside a solve of so many seconds */
double kcl_trial_price(const kcl_selection *c, double each); /* seconds that one candidate takes */
/* Times the candidates and keeps the fastest engine. each: seconds per iteration of the one in use. */
int kcl_trial_run(kcl_selection *c, const kcl_trial *t, double each);
void kcl_trial_note(kcl_selection *c, double each); /* the engine in use took so long */
void kcl_trial_explain(kcl_selection *c);           /* why_format and why_method, after timing */

#endif
