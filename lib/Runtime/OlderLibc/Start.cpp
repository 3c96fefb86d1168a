//===- Start.cpp - Where a program begins ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces Scrt1.o of the C library. Since glibc 2.34, that file requires a
// version of __libc_start_main that older systems do not have, and leaves the
// constructors of the program to that function. Here a function that calls the
// constructors is passed to __libc_start_main. Older and newer versions call
// it. The dynamic loader has called the functions of DT_PREINIT_ARRAY before.
//
//===----------------------------------------------------------------------===//

using Constructor = void (*)(int, char **, char **);

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

// Bounds that the linker defines, and what crti.o and crtn.o contain.
HIDDEN Constructor initBegin[] __asm__("__init_array_start");
HIDDEN Constructor initEnd[] __asm__("__init_array_end");
HIDDEN void init() __asm__("_init");

/// The C library reads from this variable which version of its streams the
/// program uses.
extern "C" const int _IO_stdin_used = 0x20001; // NOLINT: the C library's name

HIDDEN void pdlrt_call_constructors(int argc, char **argv, char **environment);

extern "C" void pdlrt_call_constructors(int argc, char **argv,
                                        char **environment) {
  init();
  for (Constructor *each = initBegin; each != initEnd; ++each)
    (*each)(argc, argv, environment);
}

// Calls __libc_start_main(main, argc, argv, init, fini, rtld_fini, stack_end).
// The loader passes rtld_fini in rdx, and argc and argv on the stack.
__asm__(".symver pdl_start_main, __libc_start_main@GLIBC_2.2.5\n"
        ".text\n"
        ".globl _start\n"
        ".type _start,@function\n"
        "_start:\n"
        "  .cfi_startproc\n"
        "  .cfi_undefined rip\n"
        "  xorl %ebp, %ebp\n"
        "  movq %rdx, %r9\n"
        "  popq %rsi\n"
        "  movq %rsp, %rdx\n"
        "  andq $-16, %rsp\n"
        "  pushq %rax\n"
        "  pushq %rsp\n"
        "  xorl %r8d, %r8d\n"
        "  leaq pdlrt_call_constructors(%rip), %rcx\n"
        "  movq main@GOTPCREL(%rip), %rdi\n"
        "  call *pdl_start_main@GOTPCREL(%rip)\n"
        "  hlt\n"
        "  .cfi_endproc\n"
        ".size _start,.-_start\n");
