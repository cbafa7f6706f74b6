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

// Treatment of signals that may be notices (SignalsThatMayBeNotices) from the
// child's first moment: they have their usual effect, or wait until the program
// has decided about them (HoldSignals).
enum class SignalsAtStart : uint8_t { kOpen, kHeld };

// Destination of a child's standard output and error: those of this process, or
// a pipe. Output that finds no room in the pipe is lost, so that no child waits
// for its reader.
enum class ChildOutput : uint8_t { kInherited, kPiped };

struct ChildProgram {
  std::string path;                      // not searched for
  std::vector<std::string> arguments;    // without the program's own name
  std::vector<std::string> environment;  // all of it, "NAME=value"
  // Standard output and error are appended to it (OpenToAppend); empty: see
  // `output`.
  std::string log_file;
  ChildOutput output = ChildOutput::kInherited;
  // Stay open in the child under their own numbers, which are 10 or more.
  std::vector<int> kept_descriptors;
  SignalsAtStart signals = SignalsAtStart::kOpen;
};

struct ChildProcess {
  pid_t pid = 0;
  Descriptor pidfd;   // readable once it has ended
  Descriptor socket;  // the other end of its descriptor 3; not blocking
  // The read end of its output, not blocking; invalid unless that is piped.
  Descriptor output;
};

// Starts the program in a process group of its own, with standard input empty,
// all signals at their defaults, none blocked that is not to be held, and no
// descriptors but 0, 1, 2, a stream socket to `socket` as 3, and those kept.
//
// The child is killed when the thread that called this ends, however it ends
// (PR_SET_PDEATHSIG is of the thread, not of the process): call it from a
// thread that lives as long as the child may, as a rule the main thread.
//
// kNotFound and others, as exec says, name the program. kResourceExhausted:
// there is no process left, or no memory for one.
Result<ChildProcess> StartChild(const ChildProgram& program);

// Waits for the end of the child. The code, or 128 + the signal that ended it.
struct ChildEnd {
  int code = 0;
  int signal = 0;  // 0 if it exited by itself
};
ChildEnd AwaitEnd(const ChildProcess& child);

// A child that has ended is fine.
void SendSignal(const ChildProcess& child, int signal);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_PROCESS_CHILD_PROCESS_H_
