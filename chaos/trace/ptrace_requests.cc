#include "chaos/trace/ptrace_requests.h"

namespace gauntlet {

void Request(__ptrace_request request, pid_t thread, int signal) {
  ptrace(request, thread, nullptr, static_cast<uintptr_t>(signal));
}

std::optional<user_regs_struct> RegistersOf(pid_t thread) {
  user_regs_struct registers = {};
  if (ptrace(PTRACE_GETREGS, thread, nullptr, &registers) != 0)
    return std::nullopt;
  return registers;
}

void ReturnError(pid_t thread, int error) {
  auto registers = RegistersOf(thread);
  if (!registers) return;
  registers->orig_rax = UINT64_MAX;  // no call
  registers->rax = static_cast<uint64_t>(-int64_t{error});
  ptrace(PTRACE_SETREGS, thread, nullptr, &*registers);
}

uint64_t EventMessage(pid_t thread) {
  unsigned long message = 0;  // NOLINT(google-runtime-int): as ptrace has it
  ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &message);
  return message;
}

SystemCall SystemCallOf(const user_regs_struct& registers) {
  return {.number = static_cast<int64_t>(registers.orig_rax),
          .arguments = {registers.rdi, registers.rsi, registers.rdx,
                        registers.r10, registers.r8, registers.r9}};
}

}  // namespace gauntlet
