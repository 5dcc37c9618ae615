/* Fields of CSV. */
#ifndef CLI_UI_CSV_H
#define CLI_UI_CSV_H

#include <stdio.h>

void csv_text(FILE *f, const char *v);
void csv_number(FILE *f, double v);

#endif
