// One program started as a child of this process.
#ifndef GAUNTLET_ENGINE_REAL_PROCESS_CHILD_PROCESS_H_
#define GAUNTLET_ENGINE_REAL_PROCESS_CHILD_PROCESS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include <sys/types.h>

namespace gauntlet {

// Treatment of the signals that may be notices (SignalsThatMayBeNotices) when
// the child starts. kOpen: they have their usual effect. kHeld: they are held
// until the program decides what they mean (HoldSignals).
enum class SignalsAtStart : uint8_t { kOpen, kHeld };

// Destination of a child's standard output and error: those of this process, or
// a pipe. Output beyond the pipe's capacity is lost, so that no child waits for
// its reader.
enum class ChildOutput : uint8_t { kInherited, kPiped };

// The running program, even if the file at its path was replaced since.
inline constexpr const char* kThisProgram = "/proc/self/exe";

struct ChildProgram {
  std::string path;                      // PATH is not searched for it
  std::vector<std::string> arguments;    // without argv[0]
  std::vector<std::string> environment;  // complete, "NAME=value"
  // File to which standard output and error are appended (OpenToAppend); empty:
  // see `output`.
  std::string log_file;
  ChildOutput output = ChildOutput::kInherited;
  // Descriptors that stay open in the child, under the same numbers. Each
  // number is 10 or more.
  std::vector<int> kept_descriptors;
  SignalsAtStart signals = SignalsAtStart::kOpen;
};

struct ChildProcess {
  pid_t pid = 0;
  Descriptor pidfd;   // readable once the child has ended
  Descriptor socket;  // the other end of the child's descriptor 3; non-blocking
  // Read end of the child's output, non-blocking; invalid unless kPiped.
  Descriptor output;
};

// Starts the program in a process group of its own. Its standard input is
// empty. All signals have their default handling, but an ignored SIGHUP stays
// ignored. No signals are blocked, except with SignalsAtStart::kHeld. Open
// descriptors: 0, 1 and 2; descriptor 3, a stream socket whose other end is
// ChildProcess::socket; and `kept_descriptors`.
//
// The child is killed when the thread that called this ends, for any reason
// (PR_SET_PDEATHSIG refers to the thread, not the process). So call it from a
// thread that lives as long as the child may: usually the main thread.
//
// kNotFound and other errors of exec name the program. kResourceExhausted: no
// process can be created, or no memory is left.
Result<ChildProcess> StartChild(const ChildProgram& program);

// End of a child: its exit code, or 128 + the signal that ended it.
struct ChildEnd {
  int code = 0;
  int signal = 0;  // 0 if the child exited
};
ChildEnd AwaitEnd(const ChildProcess& child);

// Sends the signal. Has no effect on a child that has ended.
void SendSignal(const ChildProcess& child, int signal);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_PROCESS_CHILD_PROCESS_H_
