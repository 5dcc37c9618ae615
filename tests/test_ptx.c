/* Resources of kernels by NVIDIA's driver, read from a log of ptxas 13.0 for sm_90 (one of its register counts altered), and from PTX by hand. */
#include "core/base/ptx.h"
#include "tests/check.h"
#include <string.h>

static const char log_text[] =
    "ptxas info    : Overriding maximum register limit 256 for 'stage_1_01' with  32 of "
    "maxrregcount option\n"
    "ptxas info    : Overriding maximum register limit 256 for 'stage_1_0' with  32 of "
    "maxrregcount option\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'stage_1_01' for 'sm_90'\n"
    "ptxas info    : Function properties for stage_1_01\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 30 registers, used 0 barriers\n"
    "ptxas info    : Compile time = 32.900 ms\n"
    "ptxas info    : Compiling entry function 'stage_1_0' for 'sm_90'\n"
    "ptxas info    : Function properties for stage_1_0\n"
    "    440 bytes stack frame, 688 bytes spill stores, 816 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 0 barriers, 440 bytes cumulative stack size\n"
    "ptxas info    : Compile time = 25.698 ms\n";

/* As NVIDIA's OpenCL driver 580.159 writes it, on an H200. */
static const char driver_text[] =
    "(): Warning: Function f is a kernel, so overriding noinline attribute. The function may be "
    "inlined when called.\n"
    "\n"
    "ptxas warning : For profile sm_90a adjusting per thread register count of 16 to lower bound "
    "of 24\n"
    "ptxas info    : Overriding maximum register limit 256 for 'f' with  24 of maxrregcount "
    "option\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'f' for 'sm_90a'\n"
    "ptxas info    : Function properties for f\n"
    "ptxas         .     704 bytes stack frame, 836 bytes spill stores, 848 bytes spill loads\n"
    "ptxas info    : Used 24 registers, used 0 barriers\n"
    "ptxas info    : Compile time = 36.069 ms\n";

static const char ptx_text[] = ".version 6.4\n"
                               ".target sm_75\n"
                               ".entry stage_1_01(\n"
                               "\t.param .u64 .ptr .global .align 8 stage_1_01_param_0\n"
                               ")\n"
                               "{\n"
                               "\tret;\n"
                               "}\n"
                               "\t// .globl\tstage_1_0\n"
                               ".visible .entry stage_1_0(\n"
                               "\t.param .u32 stage_1_0_param_0\n"
                               ")\n"
                               ".maxntid 256, 1, 1\n"
                               "{\n"
                               "\t.reg .pred \t%p<4>;\n"
                               "\t.reg .b32 \t%r<5>;\n"
                               "\t.loc\t1 4 0\n"
                               "\tmov.u32 \t%r1, %tid.x;\n"
                               "\t@%p1 bra \t$L__BB0_2; // a branch; of one instruction\n"
                               "\t{ // callseq 0, 0\n"
                               "\t.reg .b32 temp_param_reg;\n"
                               "\tcall.uni (retval0),\n"
                               "\t_Z13get_global_idj,\n"
                               "\t(\n"
                               "\tparam0\n"
                               "\t);\n"
                               "\t} // callseq 0\n"
                               "$L__BB0_2:\n"
                               "\tadd.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;\n"
                               "\tret;\n"
                               "}\n";

static void test_log(void) {
  kcl_kernel_usage u;
  CHECK(kcl_ptxas_usage(log_text, "stage_1_01", &u) && u.registers == 30 && u.stack == 0 &&
        u.spill_stores == 0 && u.spill_loads == 0);
  CHECK(kcl_ptxas_usage(log_text, "stage_1_0", &u) && u.registers == 32 && u.stack == 440 &&
        u.spill_stores == 688 && u.spill_loads == 816);
  CHECK(kcl_ptxas_usage(driver_text, "f", &u) && u.registers == 24 && u.stack == 704 &&
        u.spill_stores == 836 && u.spill_loads == 848);
  CHECK(!kcl_ptxas_usage(log_text, "stage_1", &u) && u.registers == 0);
  CHECK(!kcl_ptxas_usage("", "stage_1_0", &u) && u.registers == 0);
}

/* A log that ends anywhere is read without harm, and a kernel is told whole or not. */
static void test_parts_of_log(void) {
  char part[sizeof log_text];
  kcl_kernel_usage u;
  for (size_t n = 0; n < sizeof log_text; n++) {
    memcpy(part, log_text, n), part[n] = 0;
    const bool told = kcl_ptxas_usage(part, "stage_1_0", &u);
    CHECK(told ? u.spill_loads == 816 && u.registers > 0 : u.registers == 0);
  }
}

static void test_instructions(void) {
  CHECKF(kcl_ptx_instructions(ptx_text, "stage_1_0") == 6, "%d",
         kcl_ptx_instructions(ptx_text, "stage_1_0"));
  CHECK(kcl_ptx_instructions(ptx_text, "stage_1_01") == 1);
  CHECK(kcl_ptx_instructions(ptx_text, "stage_1") == 0);
  CHECK(kcl_ptx_instructions("\177ELF", "stage_1_0") == 0);
}

int main(void) {
  test_log();
  test_parts_of_log();
  test_instructions();
  return check_report();
}
