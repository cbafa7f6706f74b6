// Starts a program so that it is traced from its first instruction on (man 2
// ptrace, seccomp).
#ifndef GAUNTLET_CHAOS_TRACE_PROCESS_PROGRAM_START_H_
#define GAUNTLET_CHAOS_TRACE_PROCESS_PROGRAM_START_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/trace/process/syscall_filter.h"
#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include <sys/types.h>

namespace gauntlet {

struct TracedCommand {
  // The program, searched for in PATH as a shell does, and its arguments.
  std::vector<std::string> arguments;
  std::string working_directory;  // empty: this process'
  // All of it, "NAME=value"; nullopt: this process'.
  std::optional<std::vector<std::string>> environment;
  // Standard output and error go there; -1: where this process' go.
  int output = -1;
};

// Handling of the terminal's SIGINT and SIGQUIT in this process while the
// program runs. The program receives them in any case: it is in the same
// process group.
enum class KeyboardSignals : uint8_t {
  kIgnored,  // the program decides what they do; one trace at a time
  kLeft,     // as the caller has set them
};

class StartedProgram {
 public:
  // Errors, each one line:
  // kInvalidArgument: no program is named. kNotFound: there is none.
  // kFailedPrecondition: it is set-uid; there is no /proc; not on x86-64.
  // kForbidden: ptrace or seccomp is not permitted, or another process traces
  // this one, as a debugger does. kResourceExhausted: no process is left.
  static Result<StartedProgram> Start(const TracedCommand& command,
                                      const FilterScope& scope);

  pid_t pid() const { return pid_; }
  // After the program's process has ended: the reason if it never became the
  // program. kNotFound, kForbidden and others, as exec(2) says.
  Status FailureToStart() const;

 private:
  StartedProgram(pid_t pid, Descriptor report, std::string name)
      : pid_(pid), report_(std::move(report)), name_(std::move(name)) {}

  pid_t pid_;
  Descriptor report_;
  std::string name_;
};

// True if running the file gives another user's or group's rights, which a
// traced program does not get.
bool IsSetUserId(const std::string& path);

// Sets SIGINT and SIGQUIT back when it ends.
class KeyboardSignalsIgnored {
 public:
  KeyboardSignalsIgnored();
  KeyboardSignalsIgnored(const KeyboardSignalsIgnored&) = delete;
  KeyboardSignalsIgnored& operator=(const KeyboardSignalsIgnored&) = delete;
  ~KeyboardSignalsIgnored();

 private:
  using Handler = void (*)(int);
  Handler interrupt_;
  Handler quit_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_PROCESS_PROGRAM_START_H_
