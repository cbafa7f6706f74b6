// Speed of listing the crash states of a recorded program, and of building
// them as directories. The program saves ten checkpoints of 1 MiB in 500
// operations.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "chaos/crash/crash_state_list.h"
#include "chaos/crash/directory_builder.h"
#include "engine/check.h"
#include "tests/chaos/trace/folder.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kSaves = 10;
constexpr uint64_t kWrites = 46;  // per save
constexpr uint64_t kWriteBytes = (uint64_t{1} << 20U) / kWrites;
constexpr size_t kStates = 500;  // built per iteration

// A log of saves, each written without a sync to a temporary name and renamed.
class SavesLog {
 public:
  explicit SavesLog(const std::string& folder)
      : log_(OperationLog::Create(folder, {"/watched"}, {}).value()) {
    for (uint64_t save = 0; save < kSaves; ++save) {
      const uint64_t file = log_.AddFile({.device = 1, .inode = save + 1});
      const std::string name = fmt::format("checkpoint-{}", save);
      Add({.kind = OperationKind::kCreate,
           .file = file,
           .name = {.path = name + ".tmp"},
           .mode = 0644});
      for (uint64_t i = 0; i < kWrites; ++i) Write(file, name + ".tmp", i);
      Add({.kind = OperationKind::kRename,
           .file = file,
           .name = {.path = name + ".tmp"},
           .to = {.path = name}});
    }
  }
  const OperationLog& log() const { return log_; }

 private:
  void Add(FileOperation op) {
    op.call = log_.operations().size() + 1;
    op.begin = 2 * op.call;
    op.end = op.begin;
    op.time = Duration(static_cast<int64_t>(op.call) * 1'000'000);
    const Status status = log_.Append(std::move(op));
    CHECK(status.ok(), status.ToString());
  }
  void Write(uint64_t file, const std::string& name, uint64_t index) {
    std::string bytes(kWriteBytes, '\0');
    for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
      ++word_;
      std::memcpy(bytes.data() + i, &word_,
                  std::min(sizeof word_, bytes.size() - i));
    }
    const auto extent = log_.AppendBytes(
        [&](uint64_t at, std::span<std::byte> into) -> Result<size_t> {
          std::memcpy(into.data(), bytes.data() + at, into.size());
          return into.size();
        },
        0, bytes.size());
    CHECK(extent.ok(), extent.status().ToString());
    Add({.kind = OperationKind::kWrite,
         .file = file,
         .name = {.path = name},
         .offset = index * kWriteBytes,
         .length = kWriteBytes,
         .bytes = *extent});
  }

  OperationLog log_;
  uint64_t word_ = 0;
};

std::vector<CrashState> ListStates(const OperationLog& log, size_t at_most) {
  CrashStateList list(log, {});
  std::vector<CrashState> states;
  while (states.size() < at_most) {
    const auto state = list.Next();
    CHECK(state.ok(), state.status().ToString());
    if (!*state) break;
    states.push_back(**state);
  }
  return states;
}

void BM_ListStates(benchmark::State& state) {
  const Folder directory;
  const SavesLog saves(directory.Make("log"));
  size_t states = 0;
  for (auto _ : state) states += ListStates(saves.log(), 5000).size();
  state.SetItemsProcessed(static_cast<int64_t>(states));
}
BENCHMARK(BM_ListStates)->UseRealTime()->Unit(benchmark::kMillisecond);

// Builds states whose directories hold 0 to 10 MB, 5 MB on average.
void BM_BuildStates(benchmark::State& state, bool shares_files) {
  const Folder directory;
  const SavesLog saves(directory.Make("log"));
  std::vector<CrashState> all = ListStates(saves.log(), 30'000);
  std::vector<CrashState> states;
  for (size_t i = 0; i < kStates; ++i)
    states.push_back(all[i * all.size() / kStates]);
  std::ranges::stable_sort(states, {}, &CrashState::operations);
  BuildOptions options = {.cache = directory.Make("cache")};
  if (shares_files) options.is_read_only = [](const FileName&) { return true; };
  DirectoryBuilder builder(saves.log(), options);
  for (auto _ : state) {
    for (const CrashState& one : states) {
      const std::string target = directory.Make("target");
      const Status status = builder.Build(one, {target});
      CHECK(status.ok(), status.ToString());
      std::filesystem::remove_all(target);
    }
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(states.size()));
  state.SetLabel(fmt::format("of {} states", all.size()));
}
BENCHMARK_CAPTURE(BM_BuildStates, copied, false)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_BuildStates, linked, true)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gauntlet
