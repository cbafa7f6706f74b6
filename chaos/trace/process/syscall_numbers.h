// System calls of x86-64 that the headers of Debian 12 lack.
#ifndef GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_NUMBERS_H_
#define GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_NUMBERS_H_

#include <sys/syscall.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_NUMBERS_H_
