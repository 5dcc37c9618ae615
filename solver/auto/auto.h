/* The choice of format and method where it is left to us ("auto"). A selection owns the engine in use and exchanges it
 * for a faster one: at set-up, or around the correction loop, between two of its batches.
 *
 *   solver/auto/methods.c   methods by structure, and the order in which they are tried
 *   solver/auto/choose.c    the first choice, before anything runs
 *   solver/auto/trial.c     other formats and forms of the method, timed
 *   solver/auto/adapt.c     around the correction loop: a faster format, the next method, what is remembered
 */
#ifndef KCL_AUTO_H
#define KCL_AUTO_H

#include "core/tuning/choices.h"
#include "solver/loop/loop.h"

typedef struct kcl_selection {
  const kcl_system *system;
  const kcl_method *method; /* decided before the engine is built */
  kcl_engine *engine;       /* in use; owned */
  char key[KCL_KEY];        /* of this structure in the file of choices (core/tuning/choices.h) */
  kcl_choice remembered;    /* its line there, and what was timed since */
  bool recalled;            /* there was such a line */
  bool dirty;               /* remembered differs from it */
  bool decided;             /* nothing more is to be timed */
  int candidates;           /* formats that would be timed */
  double cost;              /* seconds to set up one of them, estimated */
  double seconds;           /* spent on timing */
  int64_t expected;         /* iterations, as remembered at set-up; 0: not known */
  char why_format[400], why_method[200];
  char changes[600]; /* of the last solve: a line for each engine exchanged */
} kcl_selection;

void kcl_selection_use(kcl_selection *c, kcl_engine **e); /* takes it, and frees the one before */

/* ---- before a solve: by what is remembered, else by structure and bytes */
int kcl_choose_method(kcl_selection *c);
int kcl_choose_format(kcl_selection *c, const kcl_format **format);
void kcl_choose_explain_adjoint(kcl_selection *c); /* of the engine built: the format of A^H */
/* Times others, where that was asked for or is known to pay. */
int kcl_choose_by_time(kcl_selection *c);

/* ---- around a solve */
int kcl_adapt_run(kcl_selection *c, kcl_loop *l); /* from b and x on the device to reports */
/* Remembers a solve that converged: iterations, and seconds for all of them. */
void kcl_adapt_remember(kcl_selection *c, int64_t iterations, double seconds);

/* ---- methods.c */
const char *const *kcl_auto_methods(const kcl_system *s); /* in the order of trial, then NULL */
bool kcl_auto_has_method(const kcl_system *s, const char *name); /* is it one of these? */
const char *kcl_auto_structure(const kcl_stats *s);              /* a phrase for reports */
/* Forms of cg with fewer barriers; may they be used for these options? */
enum { KCL_CG_FORMS = 2 };
extern const char *const kcl_cg_forms[KCL_CG_FORMS];
bool kcl_auto_is_cg_form(const char *name);
bool kcl_auto_cg_forms_fit(const kcl_options *o);
/* The method to try after this one gave up; NULL: none. */
const char *kcl_auto_next_method(const kcl_system *s, const char *name, kcl_reason reason);

/* ---- choose.c, for the others */
bool kcl_auto_remembers(const kcl_selection *c); /* does the file of choices matter here? */
/* The remembered timing with the least seconds for set-up and solve, or NULL. */
const kcl_timing *kcl_auto_best(const kcl_selection *c);
void kcl_auto_say(char *text, size_t room, const char *format, ...) KCL_PRINTF(3, 4); /* appends */
void kcl_auto_say_timings(const kcl_selection *c, const kcl_timing *first, char *text, size_t room);

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
