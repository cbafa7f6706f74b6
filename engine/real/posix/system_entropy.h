// Random bytes from the kernel's cryptographic generator.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_SYSTEM_ENTROPY_H_
#define GAUNTLET_ENGINE_REAL_POSIX_SYSTEM_ENTROPY_H_

#include "engine/world/entropy.h"

namespace gauntlet {

class SystemEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte> bytes) override;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_SYSTEM_ENTROPY_H_
