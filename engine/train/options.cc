#include "engine/train/options.h"

#include <algorithm>
#include <array>

namespace gauntlet {

Duration RejoinGraceOf(const ClusterOptions& cluster) {
  constexpr Duration kLeast = std::chrono::milliseconds(500);
  return std::max(
      kLeast, std::min(cluster.step_timeout, cluster.rendezvous_timeout / 2));
}

std::string_view RestartPolicyName(RestartPolicy policy) {
  switch (policy) {
    case RestartPolicy::kNone:
      return "none";
    case RestartPolicy::kWholeJob:
      return "whole-job";
    case RestartPolicy::kRejoin:
      return "rejoin";
  }
  return "?";
}

std::span<const std::string_view> NoticeSignals() {
  static constexpr std::array<std::string_view, 7> kSignals = {
      "SIGTERM", "SIGHUP",  "SIGQUIT", "SIGUSR1",
      "SIGUSR2", "SIGXCPU", "SIGPWR"};
  return kSignals;
}

}  // namespace gauntlet
