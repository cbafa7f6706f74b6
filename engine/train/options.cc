#include "engine/train/options.h"

#include <algorithm>
#include <array>

#include "engine/train/launcher_options.h"

namespace gauntlet {

Duration RejoinGraceOf(const ClusterOptions& cluster) {
  constexpr Duration kLeast = std::chrono::milliseconds(500);
  return std::max(
      kLeast, std::min(cluster.step_timeout, cluster.rendezvous_timeout / 2));
}

std::string_view RestartPolicyName(RestartPolicy policy) {
  return std::ranges::find(kRestartPolicyNames, policy,
                           [](const auto& named) { return named.second; })
      ->first;
}

void SetDerived(TrainOptions& train, LauncherOptions& launcher) {
  train.cluster.on_loss = OnLossUnder(launcher.restart);
  launcher.rejoin_grace = RejoinGraceOf(train.cluster);
  launcher.stop_grace = LauncherOptions().stop_grace + train.preemption.grace;
  launcher.notices = train.preemption;
  launcher.checkpoint_directory = train.checkpoint.directory;
}

std::span<const std::string_view> NoticeSignals() {
  static constexpr std::array<std::string_view, 7> kSignals = {
      "SIGTERM", "SIGHUP",  "SIGQUIT", "SIGUSR1",
      "SIGUSR2", "SIGXCPU", "SIGPWR"};
  return kSignals;
}

}  // namespace gauntlet
