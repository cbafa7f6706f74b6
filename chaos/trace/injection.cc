#include "chaos/trace/injection.h"

#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

namespace gauntlet {
namespace {

constexpr int kLargestErrno = 4095;  // of any system call

}  // namespace

bool Matches(const OperationPattern& pattern, const FileOperation& operation) {
  if (!IsCrashPoint(operation.kind)) return false;
  if (pattern.kind && *pattern.kind != operation.kind) return false;
  if (pattern.rank && *pattern.rank != operation.rank) return false;
  const auto has = [&](const FileName& name) {
    return fnmatch(pattern.path.c_str(), name.path.c_str(), 0) == 0;
  };
  return has(operation.name) ||
         (!operation.to.path.empty() && has(operation.to));
}

Status CheckInjection(const Injection& injection) {
  if (injection.at.occurrence == 0)
    return InvalidArgument(
        "injection: occurrence: expected 1 or more, found 0");
  if (injection.at.path.empty())
    return InvalidArgument("injection: file: expected a pattern, found none");
  if (injection.at.kind && !IsCrashPoint(*injection.at.kind)) {
    return InvalidArgument(fmt::format(
        "injection: operation: expected one that changes or syncs files, found "
        "{}",
        OperationKindName(*injection.at.kind)));
  }
  if (injection.kind == InjectionKind::kFail &&
      (injection.error < 1 || injection.error > kLargestErrno)) {
    return InvalidArgument(
        fmt::format("injection: errno: expected 1 to {}, found {}",
                    kLargestErrno, injection.error));
  }
  if (injection.duration < Duration::zero()) {
    return InvalidArgument(
        "injection: duration: expected 0 or more, found a negative one");
  }
  return OkStatus();
}

ArmedInjections::ArmedInjections(std::vector<Injection> injections) {
  for (Injection& injection : injections)
    armed_.push_back({.what = std::move(injection)});
}

std::optional<size_t> ArmedInjections::Due(
    const FileOperation& operation) const {
  for (size_t i = 0; i < armed_.size(); ++i) {
    const Armed& armed = armed_[i];
    const uint64_t now = armed.count + 1;
    const uint64_t occurrence = armed.what.at.occurrence;
    const bool is_time =
        armed.what.repeats ? now >= occurrence : now == occurrence;
    if (!armed.is_done && is_time && Matches(armed.what.at, operation))
      return i;
  }
  return std::nullopt;
}

void ArmedInjections::MarkDone(size_t index) {
  armed_[index].is_done = !armed_[index].what.repeats;
}

void ArmedInjections::Count(const FileOperation& operation) {
  for (Armed& armed : armed_) {
    if (Matches(armed.what.at, operation)) ++armed.count;
  }
}

}  // namespace gauntlet
