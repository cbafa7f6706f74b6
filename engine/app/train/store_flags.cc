#include "engine/app/train/store_flags.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "engine/job/job.h"
#include "engine/train/options.h"

namespace gauntlet {
namespace {

// Returns a reader of "50", "30s", "epoch" or "never".
FlagReader ReadTrigger(SaveTrigger& target) {
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

FlagReader ReadSaveMode(SaveMode& target) {
  return [&target](const std::string& text) -> Status {
    const auto found = std::ranges::find(kSaveModeNames, text);
    if (found == kSaveModeNames.end()) {
      return ExpectedValue("sync, async or zero-copy", text);
    }
    target = static_cast<SaveMode>(found - kSaveModeNames.begin());
    return OkStatus();
  };
}

// Adds flags that require a checkpoint directory.
class StoreFlags {
 public:
  StoreFlags(Flags& flags, FirstStoreFlag& first)
      : flags_(flags), first_(first) {}

  void Value(const FlagText& text, FlagReader read) {
    flags_.Value(text, [note = Note(text),
                        read = std::move(read)](const std::string& value) {
      note();
      return read(value);
    });
  }
  void Switch(const FlagText& text, std::function<void()> set) {
    flags_.Switch(text, [note = Note(text), set = std::move(set)] {
      note();
      set();
    });
  }

 private:
  std::function<void()> Note(const FlagText& text) {
    return [&first = first_, name = text.name] {
      if (first.name.empty()) first.name = name;
    };
  }

  Flags& flags_;
  FirstStoreFlag& first_;
};

}  // namespace

void AddStoreFlags(Flags& flags, CheckpointOptions& checkpoint,
                   FirstStoreFlag& first) {
  flags.Value(
      {"--ckpt", "DIR",
       "Checkpoint directory (default: no checkpoints). If another run uses "
       "it, wait 5 seconds at most."},
      ReadText(checkpoint.directory));
  StoreFlags store(flags, first);
  store.Value(
      {"--save-every", "N|Ns|epoch|never",
       "Save after each N steps, N seconds (30s) or epoch; never: only at a "
       "preemption and at the end (epoch).",
       "--every"},
      ReadTrigger(checkpoint.trigger));
  store.Value({"--ckpt-mode", "sync|async|zero-copy",
               "Training waits for each save, or continues while a copy of the "
               "state is written, or the state itself without a copy (sync)."},
              ReadSaveMode(checkpoint.mode));
  store.Value({"--shards", "N",
               "Number of workers that write a checkpoint, each a shard of it "
               "(all, as far as there are tensors)."},
              ReadWhole(checkpoint.shards, 1, kMaxReplicas));
  store.Value({"--keep-last", "N", "Number of newest checkpoints to keep (5).",
               "--keep"},
              ReadWhole(checkpoint.keep, 1, 1'000'000));
  store.Value(
      {"--keep-every-hours", "N",
       "Also keep one checkpoint each N hours for good; 0: none (10000)."},
      ReadWhole(checkpoint.keep_every_hours, uint64_t{0}, kMaxKeepHours));
  store.Switch(
      {"--delete-checkpoints-at-success", "",
       "Delete all checkpoints after a successful run whose final "
       "state is finite."},
      [&checkpoint] { checkpoint.at_success = AtSuccess::kDeleteCheckpoints; });
  store.Switch(
      {"--allow-cold-start", "",
       "Start from scratch if checkpoints exist and none is good (default: "
       "exit 7)."},
      [&checkpoint] { checkpoint.allow_cold_start = true; });
}

}  // namespace gauntlet
