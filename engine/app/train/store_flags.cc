#include "engine/app/train/store_flags.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/job/job.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns a reader of "50", "30s", "epoch" or "never".
FlagReader ReadTrigger(std::optional<SaveTrigger>& target) {
  return [&target](const std::string& text) -> Status {
    if (text == "epoch") {
      target = SaveTrigger{.unit = SaveUnit::kEpochs, .every = 1};
    } else if (text == "never") {
      target = SaveTrigger{.unit = SaveUnit::kNone, .every = 1};
    } else {
      const bool seconds = text.ends_with('s');
      const Result<uint64_t> every = ParseWhole<uint64_t>(
          text.substr(0, text.size() - (seconds ? 1 : 0)), 1, 1'000'000'000);
      if (!every.ok()) {
        return ExpectedValue("steps (50), seconds (30s), epoch or never", text);
      }
      target =
          SaveTrigger{.unit = seconds ? SaveUnit::kSeconds : SaveUnit::kSteps,
                      .every = *every};
    }
    return OkStatus();
  };
}

FlagReader ReadSaveMode(std::optional<SaveMode>& target) {
  return [&target](const std::string& text) -> Status {
    const auto found = std::ranges::find(kSaveModeNames, text);
    if (found == kSaveModeNames.end()) {
      return ExpectedValue("sync, async or zero-copy", text);
    }
    target = static_cast<SaveMode>(found - kSaveModeNames.begin());
    return OkStatus();
  };
}

}  // namespace

void AddStoreFlags(Flags& flags, CheckpointOptions& checkpoint,
                   StoreFlags& told) {
  flags.Value(
      {"--ckpt", "DIR",
       "Checkpoint directory (default: no checkpoints). If another run uses "
       "it, wait 5 seconds at most."},
      ReadText(checkpoint.directory));
  flags.Value(
      {"--save-every", "N|Ns|epoch|never",
       "Save after each N steps, N seconds (30s) or epoch; never: only at a "
       "preemption and at the end (epoch).",
       "--every"},
      ReadTrigger(told.trigger));
  flags.Value({"--ckpt-mode", "sync|async|zero-copy",
               "Training waits for each save, or continues while a copy of the "
               "state is written, or the state itself without a copy (sync)."},
              ReadSaveMode(told.mode));
  flags.Value({"--shards", "N",
               "Number of workers that write a checkpoint, each a shard of it "
               "(all, as far as there are tensors)."},
              ReadWhole(told.shards, 1, kMaxReplicas));
  flags.Value({"--keep-last", "N", "Number of newest checkpoints to keep (5).",
               "--keep"},
              ReadWhole(told.keep, 1, 1'000'000));
  flags.Value(
      {"--keep-every-hours", "N",
       "Also keep one checkpoint each N hours for good; 0: none (10000)."},
      ReadWhole(told.keep_every_hours, 0, 1'000'000));
  flags.Switch({"--delete-checkpoints-at-success", "",
                "Delete all checkpoints after a successful run whose final "
                "state is finite."},
               [&told] { told.delete_at_success = true; });
  flags.Switch(
      {"--allow-cold-start", "",
       "Start from scratch if checkpoints exist and none is good (default: "
       "exit 7)."},
      [&told] { told.allow_cold_start = true; });
}

Status TakeStore(const StoreFlags& told, CheckpointOptions& checkpoint) {
  const auto name_of_needing = [&told]() -> std::string_view {
    if (told.trigger) return "--save-every";
    if (told.mode) return "--ckpt-mode";
    if (told.shards) return "--shards";
    if (told.keep) return "--keep-last";
    if (told.keep_every_hours) return "--keep-every-hours";
    if (told.delete_at_success) return "--delete-checkpoints-at-success";
    if (told.allow_cold_start) return "--allow-cold-start";
    return "";
  };
  if (checkpoint.directory.empty() && !name_of_needing().empty()) {
    return InvalidArgument(
        fmt::format("{} requires --ckpt DIR", name_of_needing()));
  }
  checkpoint.trigger = told.trigger.value_or(checkpoint.trigger);
  checkpoint.mode = told.mode.value_or(checkpoint.mode);
  checkpoint.shards = told.shards.value_or(checkpoint.shards);
  checkpoint.keep = told.keep.value_or(checkpoint.keep);
  constexpr int kKeepEveryHours = 10'000;
  checkpoint.keep_every_hours =
      static_cast<uint64_t>(told.keep_every_hours.value_or(kKeepEveryHours));
  checkpoint.allow_cold_start |= told.allow_cold_start;
  if (told.delete_at_success) {
    checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  }
  return OkStatus();
}

}  // namespace gauntlet
