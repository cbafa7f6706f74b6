// Requests to a traced thread that is stopped (man 2 ptrace).
//
// Such a thread may be killed at any time: then each request fails with ESRCH,
// and waitpid reports the thread's end. So failures are not errors here.
#ifndef GAUNTLET_CHAOS_TRACE_PTRACE_REQUESTS_H_
#define GAUNTLET_CHAOS_TRACE_PTRACE_REQUESTS_H_

#include <cstdint>
#include <optional>

#include "chaos/trace/calls/file_calls.h"
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>

namespace gauntlet {

// Resumes the thread with the given request, such as PTRACE_CONT; `signal` is
// delivered to the thread.
void Request(__ptrace_request request, pid_t thread, int signal = 0);

std::optional<user_regs_struct> RegistersOf(pid_t thread);
// Returns the call before or after which the thread is stopped.
SystemCall SystemCallOf(const user_regs_struct& registers);
// Makes a call do nothing and return the error. REQUIRES: the thread is stopped
// before the call.
void ReturnError(pid_t thread, int error);

// Returns the message of the event at which the thread is stopped.
uint64_t EventMessage(pid_t thread);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PTRACE_REQUESTS_H_
