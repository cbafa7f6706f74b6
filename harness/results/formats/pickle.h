// Reads a Python pickle, protocols 2 to 5, without executing anything: where
// Python would import and call a function, the result has the name and the
// arguments of the function instead.
//
// https://docs.python.org/3/library/pickletools.html describes the opcodes.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace gauntlet {

// Index of a value. Values may refer to each other in cycles.
using PickleId = uint32_t;

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInteger,     // at most 64 bits
  kBigInteger,  // in `text`: "0x1f…", two's complement
  kFloat,
  kText,
  kBytes,
  kList,
  kTuple,
  kSet,
  kDict,        // items: key, value, key, value, …
  kGlobal,      // text: "module name"
  kCall,        // items: the callee, its arguments
  kPersistent,  // items: the id
};

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t integer = 0;  // also the value of a bool
  double number = 0;
  std::string text;
  std::vector<PickleId> items;
  // States that the opcode BUILD has set. A call also has a list or dict here:
  // the items that were added to the object that it created.
  std::vector<PickleId> states = {};
};

struct Pickle {
  std::vector<PickleValue> values;
  PickleId root = 0;

  const PickleValue& operator[](PickleId id) const { return values[id]; }
};

// kDataLoss names the offset of the error. Reads at most two million values.
Result<Pickle> ParsePickle(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_PICKLE_H_
