// The seccomp filter of a traced program: stops it only at system calls that
// change files.
//
// Sources: man 2 seccomp, man 2 syscall, linux/seccomp.h, linux/filter.h and
// Documentation/userspace-api/seccomp_filter.rst of the kernel.
#ifndef GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_FILTER_H_
#define GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_FILTER_H_

#include <cstdint>
#include <vector>

#include <linux/filter.h>

namespace gauntlet {

// The message of PTRACE_EVENT_SECCOMP: the reason for the stop.
enum class TrapReason : uint16_t {
  kFileCall = 1,       // changes a file, or opens one
  kUnmap,              // munmap, msync: may end a shared mapping
  kAsynchronousIo,     // io_uring_setup, io_setup: rejected by the tracer
  kForeignConvention,  // a 32-bit or x32 call: rejected by the tracer
  kPtrace,             // ptrace itself, which fails in a traced program
  kClone,              // may create a process that cannot be traced
  kNotRecorded,        // may change a file in a way that no operation describes
};

struct FilterScope {
  bool reads = false;   // opens for reading stop too
  bool closes = false;  // calls that close a descriptor stop too
};

// Returns a filter for x86-64. Calls that stop are SECCOMP_RET_TRACE with a
// TrapReason, so that they fail with ENOSYS in a process that has lost its
// tracer. All other calls are allowed.
std::vector<sock_filter> FileCallFilter(const FilterScope& scope);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_SYSCALL_FILTER_H_
