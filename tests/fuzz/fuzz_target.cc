#include "tests/fuzz/fuzz_target.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/check.h"
#include "tests/fuzz/fuzz_targets.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array kTargets = {
    FuzzTarget{"cifar10", FuzzCifar10, Cifar10Seeds, ""},
    FuzzTarget{"claim", FuzzClaim, ClaimSeeds, ""},
    FuzzTarget{"cluster", FuzzCluster, ClusterSeeds, ""},
    FuzzTarget{"event_log", FuzzEventLog, EventLogSeeds, "json.dict"},
    FuzzTarget{"frame", FuzzFrame, FrameSeeds, ""},
    FuzzTarget{"idx", FuzzIdx, IdxSeeds, ""},
    FuzzTarget{"job", FuzzJob, JobSeeds, "json.dict"},
    FuzzTarget{"job_file", FuzzJobFile, JobFileSeeds, "yaml.dict"},
    FuzzTarget{"manifest", FuzzManifest, ManifestSeeds, "json.dict"},
    FuzzTarget{"metadata_answer", FuzzMetadataAnswer, MetadataAnswerSeeds, ""},
    FuzzTarget{"rendezvous", FuzzRendezvous, RendezvousSeeds, ""},
    FuzzTarget{"npy", FuzzNpy, NpySeeds, "npy.dict"},
    FuzzTarget{"plan", FuzzPlan, PlanSeeds, "json.dict"},
    FuzzTarget{"record", FuzzRecord, RecordSeeds, "json.dict"},
    FuzzTarget{"result", FuzzResult, ResultSeeds, "json.dict"},
    FuzzTarget{"safetensors", FuzzSafetensors, SafetensorsSeeds, "json.dict"},
    FuzzTarget{"scenario", FuzzScenario, ScenarioSeeds, "yaml.dict"},
    FuzzTarget{"session", FuzzSession, SessionSeeds, ""},
    FuzzTarget{"state_file", FuzzStateFile, StateFileSeeds, ""},
    FuzzTarget{"store_names", FuzzStoreNames, StoreNamesSeeds, ""},
    FuzzTarget{"tf_config", FuzzTfConfig, TfConfigSeeds, "json.dict"},
    FuzzTarget{"train_options", FuzzTrainOptions, TrainOptionsSeeds,
               "json.dict"},
};

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  CHECK(in.good(), path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

int HexValue(char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const size_t value = kHex.find(c);
  return value == std::string_view::npos ? -1 : static_cast<int>(value);
}

std::string DecodeHex(std::string_view text, std::string_view name) {
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    if (c == '\n') continue;
    const int value = HexValue(c);
    CHECK(value >= 0, fmt::format("{}: expected hex digits", name));
    if (high >= 0) bytes.push_back(static_cast<char>(high << 4 | value));
    high = high >= 0 ? -1 : value;
  }
  CHECK(high < 0, fmt::format("{}: expected whole bytes", name));
  return bytes;
}

}  // namespace

std::span<const FuzzTarget> AllFuzzTargets() { return kTargets; }

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &FuzzTarget::name);
  return found == kTargets.end() ? nullptr : &*found;
}

std::vector<FuzzInput> InputsOf(const FuzzTarget& target) {
  std::vector<FuzzInput> inputs;
  for (std::string& seed : target.seeds()) {
    inputs.push_back({fmt::format("seed-{}", inputs.size()), std::move(seed)});
  }
  const std::filesystem::path folder =
      std::filesystem::path(GAUNTLET_FUZZ_CORPUS) / target.name;
  if (!std::filesystem::exists(folder)) return inputs;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename();
    std::string bytes = ReadAll(file.path());
    if (name.ends_with(".hex")) bytes = DecodeHex(bytes, name);
    inputs.push_back({name, std::move(bytes)});
  }
  std::ranges::sort(inputs, {}, &FuzzInput::name);
  return inputs;
}

void CheckErrorLine(std::string_view message) {
  constexpr size_t kLong = 2000;
  CHECK(!message.empty(), "an error without a message");
  CHECK(message.size() <= kLong,
        fmt::format("a message of {} bytes: {}", message.size(),
                    message.substr(0, 200)));
  for (const char c : message) {
    CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f,
          fmt::format("control character {} in a message: {}",
                      static_cast<int>(c), message));
  }
}

void CheckSameText(std::string_view first, std::string_view second,
                   std::string_view what) {
  CHECK(first == second,
        fmt::format("{}: it became other text:\n{}\nand then\n{}", what, first,
                    second));
}

}  // namespace gauntlet
