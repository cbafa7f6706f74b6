// The machine and the process that the engine finds itself in.
#ifndef GAUNTLET_ENGINE_WORLD_HOST_H_
#define GAUNTLET_ENGINE_WORLD_HOST_H_

#include <string>

namespace gauntlet {

class Host {
 public:
  virtual ~Host() = default;
  // For claims and logs: where this process runs, for people.
  virtual std::string Name() const = 0;
  // How many times this process was told that it must go (SIGTERM and the
  // like). Never blocks; callers ask at step boundaries.
  virtual int TerminationNotices() const = 0;
  // Ends the process at once, all tasks with it; nothing is unwound or flushed
  // beyond what was handed to Storage and EventLog.
  [[noreturn]] virtual void Exit(int code) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_HOST_H_
