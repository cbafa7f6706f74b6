// Random bytes that no other process can predict: for nonces and tokens, never
// for training.
#ifndef GAUNTLET_ENGINE_WORLD_ENTROPY_H_
#define GAUNTLET_ENGINE_WORLD_ENTROPY_H_

#include <cstddef>
#include <span>

namespace gauntlet {

class Entropy {
 public:
  virtual ~Entropy() = default;
  // Fills the whole span. Safe from any task.
  virtual void Fill(std::span<std::byte> bytes) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_ENTROPY_H_
