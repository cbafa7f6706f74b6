// This machine and this process.
#ifndef GAUNTLET_ENGINE_REAL_REAL_HOST_H_
#define GAUNTLET_ENGINE_REAL_REAL_HOST_H_

#include <string>

#include "engine/world/host.h"

namespace gauntlet {

// For main() of a program that trains, once and before it starts a thread:
// from then on SIGTERM and SIGINT are termination notices, and a write to a
// broken pipe or past the file size limit is an error of that write instead of
// the end of the process.
void InstallSignalHandlers();

class RealHost final : public Host {
 public:
  std::string Name() const override;
  // Of all SIGTERM and SIGINT since InstallSignalHandlers; 0 without it.
  int TerminationNotices() const override;
  [[noreturn]] void Exit(int code) override;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_REAL_HOST_H_
