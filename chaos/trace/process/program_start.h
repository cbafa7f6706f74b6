// Starts a program that is traced from its first instruction on (man 2 ptrace,
// seccomp).
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
  // The program, searched for in PATH as by a shell, and its arguments.
  std::vector<std::string> arguments;
  std::string working_directory;  // empty: as this process
  // All variables, as "NAME=value"; nullopt: those of this process.
  std::optional<std::vector<std::string>> environment;
  // Destination of standard output and error; -1: as this process.
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
  // Starts the program. Errors, each one line: kInvalidArgument: no program is
  // named. kNotFound: the program does not exist. kFailedPrecondition: it is
  // set-uid; /proc is missing; not on x86-64. kForbidden: ptrace or seccomp is
  // not permitted, or another process, such as a debugger, traces this one.
  // kResourceExhausted: no process can be created.
  static Result<StartedProgram> Start(const TracedCommand& command,
                                      const FilterScope& scope);

  pid_t pid() const { return pid_; }
  // Called after the process has ended: returns the reason if exec failed.
  // kNotFound, kForbidden and others, from exec(2).
  Status FailureToStart() const;

 private:
  StartedProgram(pid_t pid, Descriptor report, std::string name)
      : pid_(pid), report_(std::move(report)), name_(std::move(name)) {}

  pid_t pid_;
  Descriptor report_;
  std::string name_;
};

// Returns true if executing the file would give another user's or group's
// rights, which a traced program does not get.
bool IsSetUserId(const std::string& path);

// Ignores SIGINT and SIGQUIT, and restores them when destroyed.
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
