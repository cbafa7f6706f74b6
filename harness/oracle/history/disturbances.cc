#include "harness/oracle/history/disturbances.h"

#include <algorithm>

#include "harness/record/fault_traits.h"

namespace gauntlet {
namespace {

int64_t OverAt(const RecordFault& fault, int64_t t_ns) {
  if (DiesImmediately(fault)) return t_ns;
  if (fault.always || fault.hits > 1) return INT64_MAX;
  if (TraitsOf(fault).lasts && fault.duration_ns == 0) return INT64_MAX;
  return t_ns + fault.duration_ns + fault.latency_ns;
}

bool IsOverWithItsProcess(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  return traits.BlocksTask() || traits.hinders == HinderedPart::kDevice ||
         traits.fails_device || traits.reports_error;
}

}  // namespace

void Disturbances::Fired(const RecordFault& fault, const Emitter& in,
                         int64_t t_ns) {
  if (fault.kind == "duplicate") return;
  const Emitter of = IsOverWithItsProcess(fault)
                         ? in
                         : Emitter{.kind = Emitter::Kind::kMachine};
  const auto [at, is_new] = until_ns_.try_emplace(of, t_ns);
  at->second = std::max(at->second, OverAt(fault, t_ns));
}

void Disturbances::Ended(const Emitter& process, int64_t t_ns) {
  const auto at = until_ns_.find(process);
  if (at != until_ns_.end()) at->second = std::min(at->second, t_ns);
}

bool Disturbances::AnySince(int64_t t_ns) const {
  return std::ranges::any_of(
      until_ns_, [&](const auto& one) { return one.second >= t_ns; });
}

}  // namespace gauntlet
