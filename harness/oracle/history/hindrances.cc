#include "harness/oracle/history/hindrances.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/record/fault_traits.h"

namespace gauntlet {
namespace {

constexpr int64_t kForEver = Hindrances::kForEver;
constexpr std::string_view kHeartbeat = "ctl.heartbeat";

int64_t After(int64_t t_ns, int64_t duration_ns) {
  return duration_ns == 0 ? kForEver : t_ns + duration_ns;
}

// Returns the hindrance that a fault at the point causes; nullopt: none.
std::optional<Hindrance::Kind> KindOf(HinderedPart part,
                                      std::string_view point) {
  using Kind = Hindrance::Kind;
  switch (part) {
    case HinderedPart::kNone:
      return std::nullopt;
    case HinderedPart::kTask:
    case HinderedPart::kDevice:
      return point == kHeartbeat ? Kind::kBeats : Kind::kTask;
    case HinderedPart::kProcess:
      return Kind::kProcess;
    case HinderedPart::kLinks:
      return Kind::kLinks;
    case HinderedPart::kFrames:
      return Kind::kLateFrames;
  }
  return std::nullopt;
}

// Maximum number of late frames whose delays add up in one exchange: the
// exchange goes round the ring twice, with a few frames for each rank.
constexpr int64_t kFramesInARow = 64;

}  // namespace

bool MatchesLateness(const Hindrance& one, int64_t limit_ns) {
  return one.kind != Hindrance::Kind::kLateFrames ||
         one.late_ns >= limit_ns / kFramesInARow;
}

void Hindrances::Fired(const RecordFault& fault, const Emitter& in,
                       int64_t t_ns) {
  const FaultTraits traits = TraitsOf(fault);
  const auto kind = KindOf(traits.hinders, fault.point);
  if (!kind) return;
  Hindrance one = {.kind = *kind,
                   .of = in,
                   .from_ns = t_ns,
                   .until_ns = traits.lasts ? After(t_ns, fault.duration_ns)
                                            : t_ns + fault.latency_ns};
  if (one.kind == Hindrance::Kind::kLateFrames) {
    one.late_ns = fault.latency_ns;
    if (one.until_ns != kForEver) one.until_ns += fault.latency_ns;
  }
  if (fault.groups.empty()) return Add(one);
  for (const int worker : fault.groups) {
    one.of.worker = worker;
    Add(one);
  }
}

// Both ends of a connection may delay the same frame; the delays add up.
void Hindrances::FrameLate(const Emitter& of, int64_t t_ns, int64_t late_ns) {
  const bool again = !all_.empty() && all_.back().from_ns == t_ns &&
                     all_.back().kind == Hindrance::Kind::kLateFrames;
  if (again) late_ns += all_.back().until_ns - t_ns;
  Add({.kind = Hindrance::Kind::kLateFrames,
       .of = of,
       .from_ns = t_ns,
       .until_ns = t_ns + late_ns,
       .late_ns = kForEver});
}

void Hindrances::Ended(const Emitter& process, int64_t t_ns) {
  for (Hindrance& one : all_) {
    if (one.of == process) one.until_ns = std::min(one.until_ns, t_ns);
  }
}

void Hindrances::Present(int worker, int64_t t_ns) {
  for (Hindrance& one : all_) {
    if (one.kind == Hindrance::Kind::kAbsent && one.of.worker == worker) {
      one.until_ns = std::min(one.until_ns, t_ns);
    }
  }
}

int64_t Hindrances::Undisturbed(int64_t from_ns, int64_t until_ns,
                                const Counts& counts,
                                int64_t longest_ns) const {
  std::vector<std::pair<int64_t, int64_t>> disturbed;
  for (const Hindrance& one : all_) {
    const int64_t from = std::max(one.from_ns, from_ns);
    const int64_t over = one.from_ns > kForEver - longest_ns
                             ? kForEver
                             : one.from_ns + longest_ns;
    const int64_t until = std::min({one.until_ns, until_ns, over});
    if (from < until && counts(one)) disturbed.emplace_back(from, until);
  }
  std::ranges::sort(disturbed);
  int64_t left = until_ns - from_ns;
  int64_t reached = from_ns;
  for (const auto& [from, until] : disturbed) {
    left -= std::max<int64_t>(0, until - std::max(from, reached));
    reached = std::max(reached, until);
  }
  return left;
}

std::optional<int64_t> Hindrances::Since(int64_t t_ns,
                                         const Counts& counts) const {
  std::optional<int64_t> since;
  for (bool found = true; found;) {
    found = false;
    const int64_t at = since.value_or(t_ns);
    for (const Hindrance& one : all_) {
      if (one.from_ns < at && at <= one.until_ns && counts(one)) {
        since = std::min(since.value_or(one.from_ns), one.from_ns);
        found = true;
      }
    }
  }
  return since;
}

bool Hindrances::Any(int64_t from_ns, int64_t until_ns,
                     const Counts& counts) const {
  return std::ranges::any_of(all_, [&](const Hindrance& one) {
    return one.from_ns <= until_ns && one.until_ns >= from_ns && counts(one);
  });
}

}  // namespace gauntlet
