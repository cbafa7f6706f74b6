// Requests to a traced thread that is stopped (man 2 ptrace).
//
// Such a thread may be killed at any moment: then each request fails with
// ESRCH, and waitpid reports the thread's end. So failures are not errors here.
#ifndef GAUNTLET_CHAOS_TRACE_PTRACE_REQUESTS_H_
#define GAUNTLET_CHAOS_TRACE_PTRACE_REQUESTS_H_

#include <cstdint>
#include <optional>

#include "chaos/trace/calls/file_calls.h"
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>

namespace gauntlet {

// Lets the thread go on; `signal` is delivered to it.
void Request(__ptrace_request request, pid_t thread, int signal = 0);

std::optional<user_regs_struct> RegistersOf(pid_t thread);
// The call that the thread is stopped before or behind.
SystemCall SystemCallOf(const user_regs_struct& registers);
// In the place of a call that the thread is stopped before.
void ReturnError(pid_t thread, int error);

// The message of the event that the thread is stopped for.
uint64_t EventMessage(pid_t thread);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PTRACE_REQUESTS_H_
