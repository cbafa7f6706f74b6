// Random bytes of a simulated process: a seeded stream, so that runs are
// repeatable.
#ifndef GAUNTLET_CHAOS_SIM_SCHEDULER_SIM_ENTROPY_H_
#define GAUNTLET_CHAOS_SIM_SCHEDULER_SIM_ENTROPY_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "chaos/sim/scheduler/random_stream.h"
#include "engine/world/entropy.h"

namespace gauntlet {

class SimEntropy final : public Entropy {
 public:
  explicit SimEntropy(RandomStream stream) : stream_(stream) {}

  void Fill(std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      const uint64_t number = stream_.Next();
      const size_t size = std::min(bytes.size(), sizeof number);
      std::memcpy(bytes.data(), &number, size);
      bytes = bytes.subspan(size);
    }
  }

 private:
  RandomStream stream_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_SCHEDULER_SIM_ENTROPY_H_
