// Knows the digests of training states that were digested before, by value.
//
// Where the same job is trained over and over, and by several workers at once,
// the same states come again, and to compare bytes is cheaper than to digest
// them. A state that differs in one bit, a name, a type or a shape is another
// one, and not known.
#ifndef GAUNTLET_ENGINE_CKPT_KNOWN_STATES_H_
#define GAUNTLET_ENGINE_CKPT_KNOWN_STATES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/digest.h"
#include "engine/tensor.h"

namespace gauntlet {

class KnownStates {
 public:
  // Forgets everything when it would hold more than so many bytes.
  explicit KnownStates(size_t capacity_bytes)
      : capacity_bytes_(capacity_bytes) {}

  // Which of the known states one is compared with: a moment has one, the
  // latest that was put there.
  struct Moment {
    uint64_t step = 0;
    uint64_t phase = 0;
    auto operator<=>(const Moment&) const = default;
  };
  // REQUIRES of both: the tensors are in the order of their names.
  // nullopt: not known.
  std::optional<Digest> Find(const Moment& moment,
                             std::span<const TensorView> tensors) const;
  void Put(const Moment& moment, std::span<const TensorView> tensors,
           const Digest& digest);

  uint64_t found() const { return found_; }
  size_t bytes() const { return bytes_; }

 private:
  struct State {
    std::vector<Tensor> tensors;
    Digest digest;
    size_t bytes = 0;
  };

  size_t capacity_bytes_;
  size_t bytes_ = 0;
  mutable uint64_t found_ = 0;
  std::map<Moment, State> states_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_KNOWN_STATES_H_
