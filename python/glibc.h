/* Included first by each file of the wheel: pow, exp and log of before glibc 2.29, which differ in how they set errno alone. So a wheel that is
 * built with glibc 2.29 or newer runs with 2.27, as in RHEL 8, too. */
#include <features.h>
#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver pow, pow@GLIBC_2.2.5");
__asm__(".symver exp, exp@GLIBC_2.2.5");
__asm__(".symver log, log@GLIBC_2.2.5");
#endif
