// The parameters that faults can have: one table. Readers and writers of plans
// and scenarios, their checks, random plans, sweeps, shrinking, the JSON Schema
// and the help are generated from it.
#ifndef GAUNTLET_CHAOS_INJECT_PLAN_FAULT_PARAMETERS_H_
#define GAUNTLET_CHAOS_INJECT_PLAN_FAULT_PARAMETERS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chaos/inject/plan/plan.h"

namespace gauntlet {

// A number of bytes, written with a unit.
struct BytesPlace {
  uint64_t FaultParameters::*bytes;
};

// One of several names. The value is an index into `names()`.
struct ChoicePlace {
  std::vector<std::string_view> (*names)();
  size_t (*get)(const FaultParameters& with);
  void (*set)(size_t index, FaultParameters& with);
};

// A set of block numbers; bit i is block i.
struct BlocksPlace {
  uint64_t FaultParameters::*mask;
};

// Groups of workers.
struct GroupsPlace {
  std::vector<std::vector<int>> FaultParameters::*groups;
};

// Pointer to the member that holds a parameter's value. The variant's
// alternative is the parameter's type.
using ParameterPlace =
    std::variant<Duration FaultParameters::*,
                 std::optional<Duration> FaultParameters::*,
                 int FaultParameters::*, uint64_t FaultParameters::*,
                 FileOffset FaultParameters::*, BytesPlace, ChoicePlace,
                 BlocksPlace, GroupsPlace>;

// Distribution from which a random plan draws a parameter.
enum class DrawKind : uint8_t {
  kUsual,       // always the usual value: FaultParameterInfo::set_usual
  kEach,        // a number from `low` to `most`, or any choice
  kOf,          // one of `values`
  kLogUniform,  // 1 to 2^bits; ranges (2^(k-1), 2^k] are equally likely
  kSpecial,     // drawn by code: depends on the site or another parameter
};

struct ParameterDraw {
  DrawKind kind = DrawKind::kUsual;
  // One fault in `one_in` gets a drawn value and the others the usual value,
  // or the reverse if `one_is_usual`.
  uint64_t one_in = 1;
  bool one_is_usual = false;
  uint64_t most = 0;  // kEach: largest number; 0: the parameter's `high`
  // kOf: numbers, or indices of choices.
  std::span<const int> values = {};
  uint64_t bits = 0;                             // kLogUniform
  int plus = 0;                                  // added to the number drawn
  Duration unit = std::chrono::milliseconds(1);  // of a duration
};

struct FaultParameterInfo {
  std::string_view name;      // "latency"
  std::string_view doc;       // one line
  std::string_view fallback;  // the default, as a scenario writes it
  ParameterPlace place;
  uint64_t low = 0;  // bounds of a number, or of each list element
  uint64_t high = uint64_t{1} << 53;
  bool is_required = false;  // in a scenario
  // Example in help and hints, for a required parameter whose default has no
  // effect; else "".
  std::string_view example = "";
  // Returns true iff the given values have an effect; null: all values have
  // one.
  bool (*has_effect)(const FaultParameters& with) = nullptr;
  ParameterDraw draw = {};
  // Sets the usual value in explorations; null: the default is usual.
  void (*set_usual)(FaultParameters& with) = nullptr;
  bool is_swept = false;  // sweeps try each choice
};

// Returns the parameters of the kind, without `repeat` and `until`, which every
// kind takes.
std::span<const FaultParameterInfo> ParametersOf(FaultKind kind);

// Returns the names of the kind's parameters, such as "blocks keep then".
std::string ParameterNames(FaultKind kind);

// Returns true iff faults of the kind take FaultParameters::latency.
bool TakesLatency(FaultKind kind);

// Returns true iff the parameter is a length of time.
bool IsDuration(const FaultParameterInfo& parameter);

// Sets the parameter in `to` to its value in `from`. REQUIRES: that value is
// valid.
void CopyParameter(const FaultParameterInfo& parameter,
                   const FaultParameters& from, FaultParameters& to);

// Returns true iff the parameter has its default value.
bool IsDefault(const FaultParameterInfo& parameter,
               const FaultParameters& with);

// Returns true iff all parameters that the kind does not take have their
// default values.
bool HasOnlyParametersOf(FaultKind kind, const FaultParameters& with);

// Overload set of lambdas, for std::visit.
template <typename... Lambdas>
struct OnPlace : Lambdas... {
  using Lambdas::operator()...;
};
// Deduction guide, which clang 14 does not generate by itself.
template <typename... Lambdas>
OnPlace(Lambdas...) -> OnPlace<Lambdas...>;

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_PLAN_FAULT_PARAMETERS_H_
