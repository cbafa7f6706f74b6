#include "engine/world/event_log.h"

#include <array>
#include <utility>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 28> kKindNames = {
    "worker_started",
    "claimed",
    "resumed",
    "initialized",
    "step",
    "evaluated",
    "epoch_end",
    "save_begin",
    "save_acknowledged",
    "save_failed",
    "retired",
    "rejected",
    "fenced_checkpoint",
    "superseded",
    "notice_received",
    "stop_agreed",
    "worker_lost",
    "fault_fired",
    "loaded",
    "checkpoints_deleted",
    "finished",
    "worker_exited",
    "left_generation",
    "resumed_from_memory",
    "damaged",
    "save_copied",
    "result_acknowledged",
    "not_finite",
};
static_assert(kKindNames.size() ==
              static_cast<size_t>(EventKind::kNotFinite) + 1);

constexpr std::array<std::string_view, 3> kPhaseNames = {
    "in_epoch", "evaluation_due", "callbacks_due"};

template <typename Enum, size_t n>
std::optional<Enum> Find(const std::array<std::string_view, n>& names,
                         std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view EventKindName(EventKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::optional<EventKind> FindEventKind(std::string_view name) {
  return Find<EventKind>(kKindNames, name);
}

std::string_view PhaseName(Phase phase) {
  return kPhaseNames[static_cast<size_t>(phase)];
}

std::optional<Phase> FindPhase(std::string_view name) {
  return Find<Phase>(kPhaseNames, name);
}

}  // namespace gauntlet
