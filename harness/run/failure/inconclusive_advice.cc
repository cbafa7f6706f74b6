#include "harness/run/failure/inconclusive_advice.h"

#include <algorithm>
#include <array>

#include "harness/record/invariants.h"
#include "harness/record/verdict.h"
#include "harness/run/failure/advice.h"
#include "harness/run/failure/met_expectations.h"
#include "harness/run/files/disk_room.h"
#include "harness/run/files/oom_kills.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// A part of an error's text, and the advice on the error.
struct MachineError {
  std::string_view part;
  std::string_view advice;
};

constexpr std::string_view kNeedsMemory =
    "free memory or raise its limit (ulimit -v, or the cgroup's), or run fewer "
    "cases at a time (-j), and repeat the run";

constexpr std::array kMachineErrors = {
    MachineError{"(ulimit -f",
                 "raise the limit on file sizes (ulimit -f) and repeat the "
                 "run"},
    MachineError{"(ulimit -n",
                 "raise the limit on open files (ulimit -n) and repeat the "
                 "run"},
    MachineError{"ulimit -u",
                 "raise the limit on processes (ulimit -u or pids.max) or on "
                 "memory (ulimit -v), or run fewer cases at a time (-j), and "
                 "repeat the run"},
    MachineError{kOutOfMemory, kNeedsMemory},
    MachineError{kAllocatorRanOut, kNeedsMemory},
    MachineError{"cannot be written: No such file or directory",
                 "repeat the run, and leave its folder in place until it "
                 "ends"},
};

// Returns the advice on an invariant that the scenario names although nothing
// in the run is subject to it; "" if the case is inconclusive for another
// reason.
std::string AdviceOnIdleInvariant(const CaseResult& result) {
  for (const InvariantInfo& info : AllInvariants()) {
    const bool is_the_reason = result.verdict.reason.starts_with(
        fmt::format("{}{}", info.name, kIsExpectedBut));
    if (!is_the_reason) continue;
    return fmt::format(
        "remove {} from `invariants` under expect ({}), or change the scenario "
        "so that the run has something to check ({}: {})",
        info.name, PlaceOfExpect(result), info.name, info.description);
  }
  return "";
}

}  // namespace

std::string_view AdviceOnMachineError(std::string_view error) {
  if (ReportsFullDisk(error)) return "free space and repeat the run";
  for (const MachineError& one : kMachineErrors) {
    if (error.find(one.part) != error.npos) return one.advice;
  }
  return "";
}

std::string AdviceOnInconclusive(const Record& record,
                                 const CaseResult& result) {
  if (!record.harness_error.empty()) {
    return std::string(AdviceOnMachineError(record.harness_error));
  }
  if (std::string advice = AdviceOnIdleInvariant(result); !advice.empty()) {
    return advice;
  }
  const bool has_events = std::ranges::any_of(
      record.incarnations,
      [](const IncarnationEvents& one) { return !one.events.empty(); });
  if (has_events) {
    return fmt::format("see what each worker did ({})",
                       CommandToShow(result, "--all"));
  }
  if (record.launchers.empty() || result.directory.empty() ||
      result.world != "real") {
    return "";
  }
  return fmt::format(
      "see the output of the launcher ({}/launch-1.json) and of the workers "
      "({}/logs)",
      result.directory, result.directory);
}

}  // namespace gauntlet
