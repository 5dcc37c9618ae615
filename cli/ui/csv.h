/* Fields of CSV. */
#ifndef CLI_UI_CSV_H
#define CLI_UI_CSV_H

#include <stdio.h>

void cli_csv_text(FILE *f, const char *v);
/* Writes a comma and a number; nothing after the comma if it is not finite. */
void cli_csv_number(FILE *f, double v);

#endif
