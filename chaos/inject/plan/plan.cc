// Validation of plans.
#include "chaos/inject/plan/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/text/units.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxFaults = 10000;

bool IsIdCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

Status Bad(const Fault& fault, std::string_view field,
           std::string_view expected, std::string_view found) {
  return InvalidArgument(fmt::format("fault {}: {}: expected {}, found {}",
                                     fault.id, field, expected, found));
}

Status ValidateOffset(const Fault& fault, std::string_view field,
                      const FileOffset& offset) {
  if (offset.unit == OffsetUnit::kPercent && offset.value > 100) {
    return Bad(fault, field, "at most 100%", fmt::format("{}%", offset.value));
  }
  return OkStatus();
}

Status ValidateSite(const Fault& fault) {
  const FaultSite& site = fault.site;
  if (site.worker < kChief) {
    return Bad(fault, "at.worker", "a worker, any, all or chief",
               std::to_string(site.worker));
  }
  if (site.incarnation < kAnyIncarnation) {
    return Bad(fault, "at.incarnation", "1 or more, or any",
               std::to_string(site.incarnation));
  }
  if (site.occurrence < 1) {
    return Bad(fault, "at.occurrence", "1 or more", "0");
  }
  if (site.save == 0u) return Bad(fault, "at.save", "1 or more", "0");
  if (site.save && !IsOfSave(site.point)) {
    return Bad(fault, "at.save", "a point of a save", PointName(site.point));
  }
  if (site.block != 0 && (site.offset || !HasBlocks(site.point))) {
    return Bad(fault, "at.block",
               "only at a point that writes a file block by block, and "
               "without an offset",
               PointName(site.point));
  }
  if (!site.offset) return OkStatus();
  if (!HasBlocks(site.point)) {
    return Bad(fault, "at.offset", "a point that writes a file block by block",
               PointName(site.point));
  }
  return ValidateOffset(fault, "at.offset", *site.offset);
}

Status ValidateDuration(const Fault& fault, std::string_view field,
                        Duration duration) {
  if (duration >= Duration::zero() && duration <= kLongestDuration) {
    return OkStatus();
  }
  return Bad(fault, field, "0 to 24 hours",
             fmt::format("{} ns", duration.count()));
}

template <typename T>
Status ValidateNumber(const Fault& fault, const FaultParameterInfo& parameter,
                      T number) {
  if (std::cmp_greater_equal(number, parameter.low) &&
      std::cmp_less_equal(number, parameter.high)) {
    return OkStatus();
  }
  return Bad(fault, fmt::format("with.{}", parameter.name),
             fmt::format("{} to {}", parameter.low, parameter.high),
             std::to_string(number));
}

// Checks a jump of the wall clock, which may be longer than any other duration.
Status ValidateJump(const Fault& fault) {
  constexpr Duration kMaxJump = std::chrono::hours(24 * 365 * 100);
  constexpr Duration kASecond = std::chrono::seconds(1);
  const Duration by = fault.with.by;
  if (by >= kASecond && by <= kMaxJump && by % kASecond == Duration::zero()) {
    return OkStatus();
  }
  return Bad(fault, "with.by", "whole seconds, 1 to those of 100 years",
             fmt::format("{} ns", by.count()));
}

// Checks a parameter against the bounds in its table row.
Status ValidateBounds(const Fault& fault, const FaultParameterInfo& parameter) {
  const FaultParameters& with = fault.with;
  const std::string field = fmt::format("with.{}", parameter.name);
  return std::visit(
      OnPlace{[&](Duration FaultParameters::*duration) {
                return duration == &FaultParameters::by
                           ? ValidateJump(fault)
                           : ValidateDuration(fault, field, with.*duration);
              },
              [&](std::optional<Duration> FaultParameters::*duration) {
                return ValidateDuration(
                    fault, field, (with.*duration).value_or(Duration::zero()));
              },
              [&](FileOffset FaultParameters::*offset) {
                return ValidateOffset(fault, field, with.*offset);
              },
              [&](int FaultParameters::*number) {
                return ValidateNumber(fault, parameter, with.*number);
              },
              [&](uint64_t FaultParameters::*number) {
                return ValidateNumber(fault, parameter, with.*number);
              },
              // ValidateParameters checks the others that can be invalid.
              [](const auto&) { return OkStatus(); }},
      parameter.place);
}

// Checks the blocks of a torn write. REQUIRES: their number is valid.
Status ValidateTear(const Fault& fault) {
  const FaultParameters& with = fault.with;
  const uint64_t all =
      with.blocks == 64 ? ~uint64_t{0} : (uint64_t{1} << with.blocks) - 1;
  if ((with.keep & ~all) != 0) {
    return Bad(fault, "with.keep", fmt::format("blocks below {}", with.blocks),
               fmt::format("mask {:#x}", with.keep));
  }
  if (with.keep == all) {
    return Bad(fault, "with.keep", "a block that does not land", "all of them");
  }
  return OkStatus();
}

Status ValidateGroups(const Fault& fault) {
  const std::vector<std::vector<int>>& groups = fault.with.groups;
  if (groups.size() == 1) {
    return Bad(fault, "with.groups", "none, or two and more", "one");
  }
  std::set<int> workers;
  for (const std::vector<int>& group : groups) {
    if (group.empty()) {
      return Bad(fault, "with.groups", "workers in each group", "an empty one");
    }
    for (const int worker : group) {
      if (worker < 0) {
        return Bad(fault, "with.groups", "numbers of workers",
                   std::to_string(worker));
      }
      if (!workers.insert(worker).second) {
        return Bad(fault, "with.groups", "each worker once",
                   fmt::format("worker {} twice", worker));
      }
    }
  }
  return OkStatus();
}

Status ValidateParameters(const Fault& fault) {
  const FaultParameters& with = fault.with;
  if (!HasOnlyParametersOf(fault.kind, with)) {
    return Bad(
        fault, "with",
        fmt::format("parameters that {} takes ({})", FaultKindName(fault.kind),
                    ParameterNames(fault.kind)),
        "others");
  }
  if (with.until_step && with.times != FaultTimes::kAlways) {
    return Bad(fault, "with.until_step", "repeat: always", "repeat: once");
  }
  for (const FaultParameterInfo& parameter : ParametersOf(fault.kind)) {
    RETURN_IF_ERROR(ValidateBounds(fault, parameter));
  }
  if (with.hits > 1 && with.times == FaultTimes::kAlways) {
    return Bad(fault, "with.consecutive", "repeat: once", "repeat: always");
  }
  if (std::ranges::find(AllFaultErrors(), with.error,
                        &FaultErrorInfo::number) == AllFaultErrors().end()) {
    return Bad(fault, "with.error", "an error of the table",
               std::to_string(with.error));
  }
  RETURN_IF_ERROR(ValidateTear(fault));
  return ValidateGroups(fault);
}

// Follows each `after` to its end; a chain longer than the plan is a cycle.
Status ValidateOrder(const std::vector<Fault>& faults) {
  std::map<std::string_view, const Fault*> by_id;
  for (const Fault& fault : faults) by_id[fault.id] = &fault;
  for (const Fault& fault : faults) {
    if (!fault.after.empty() && !by_id.contains(fault.after)) {
      return Bad(fault, "after", "the id of a fault of this plan", fault.after);
    }
  }
  std::set<std::string_view> ends_well;
  for (const Fault& fault : faults) {
    std::set<std::string_view> chain;
    const Fault* next = &fault;
    while (!next->after.empty() && !ends_well.contains(next->id)) {
      if (!chain.insert(next->id).second) {
        return Bad(fault, "after", "an order without a circle",
                   fmt::format("{} after itself", next->id));
      }
      next = by_id[next->after];
    }
    ends_well.merge(chain);
  }
  return OkStatus();
}

}  // namespace

bool IsFaultId(std::string_view text) {
  constexpr size_t kMaxLength = 64;
  return !text.empty() && text.size() <= kMaxLength && text.front() != '.' &&
         std::ranges::all_of(text, IsIdCharacter);
}

Status Validate(const FaultPlan& plan) {
  if (plan.faults.size() > kMaxFaults) {
    return InvalidArgument(
        fmt::format("plan: expected at most {} faults, "
                    "found {}",
                    kMaxFaults, plan.faults.size()));
  }
  std::set<std::string_view> ids;
  for (const Fault& fault : plan.faults) {
    if (!IsFaultId(fault.id)) {
      return Bad(fault, "id",
                 "1 to 64 of [A-Za-z0-9._-], not beginning with a dot",
                 fmt::format("{} characters", fault.id.size()));
    }
    if (!ids.insert(fault.id).second) {
      return Bad(fault, "id", "an id of its own", "another fault of that id");
    }
    RETURN_IF_ERROR(ValidateSite(fault));
    RETURN_IF_ERROR(ValidateParameters(fault));
  }
  std::set<PlantedBug> bugs;
  for (const PlantedBug bug : plan.bugs) {
    if (!bugs.insert(bug).second) {
      return InvalidArgument("plan: bugs: expected each once, found one twice");
    }
  }
  return ValidateOrder(plan.faults);
}

}  // namespace gauntlet
