// Differences of a run from its reference run, down to single values.
#ifndef GAUNTLET_HARNESS_RECORD_RESULT_DIFFERENCE_H_
#define GAUNTLET_HARNESS_RECORD_RESULT_DIFFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gauntlet {

// A value of the run and that of the reference run. `found` and `expected` are
// decimal numbers as text, as JSON has no NaN and no 64-bit integers. The
// `_bits` are the bits of the value in hex, two digits for each byte of its
// type.
struct DifferingElement {
  std::string index;  // "[3,17]"; "" for a scalar
  std::string found;
  std::string found_bits;
  std::string expected;
  std::string expected_bits;
  std::optional<uint64_t> ulps;  // distance of two floats that are not NaN

  bool operator==(const DifferingElement&) const = default;
};

struct DifferingTensor {
  std::string name;      // "rng/key"; for an output, its operation's name
  std::string mismatch;  // "U32 [2] against F32 [2]": no values are compared
  uint64_t elements = 0;
  uint64_t differing = 0;
  std::vector<DifferingElement> first;  // the first that differ

  bool operator==(const DifferingTensor&) const = default;
};

// Maximum numbers of tensors, and of elements in total, in a StateDifference.
inline constexpr size_t kListedTensors = 20;
inline constexpr size_t kListedElements = 20;

// A state of the run, or the output of one operation, that differs from that of
// the reference run.
struct StateDifference {
  std::string place;      // "the state loaded at step 10", "step 11"
  std::string operation;  // "loss", "optimizer update"; "" for a state
  int replica = -1;       // -1: of no single replica
  int worker = 0;         // worker that had the differing state
  // Other workers whose state is bitwise identical to that worker's.
  std::vector<int> alike = {};
  uint64_t compared = 0;   // number of tensors
  uint64_t differing = 0;  // number of tensors
  // The first tensors that differ, in the state's order; not empty.
  std::vector<DifferingTensor> tensors;

  bool operator==(const StateDifference&) const = default;
};

// A loss that differs from the reference's.
struct LossDifference {
  std::string place;  // "step 11", "the epoch that ends with step 12"
  int worker = 0;
  int incarnation = 1;
  std::string found;
  std::string found_bits;
  std::string expected;
  std::string expected_bits;
  std::optional<uint64_t> ulps;

  bool operator==(const LossDifference&) const = default;
};

// Returns ", the same on workers 1, 2", to end a sentence about the difference;
// "" if no other worker has it.
std::string AlikeText(const StateDifference& difference);

// Losses of a run that differ from its reference's.
struct LossDifferences {
  uint64_t compared = 0;
  uint64_t differing = 0;
  std::vector<LossDifference> first;  // the first that differ, by time

  bool operator==(const LossDifferences&) const = default;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RESULT_DIFFERENCE_H_
