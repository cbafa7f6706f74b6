// A program that writes blocks of 4 KiB, untraced and traced. Each iteration
// starts it and runs it once.
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "chaos/trace/log/operation_log.h"
#include "chaos/trace/tracer.h"
#include "engine/check.h"
#include "tests/chaos/trace/folder.h"
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

namespace gauntlet {
namespace {

constexpr int kWrites = 20'000;

std::vector<std::string> Command(const std::string& directory) {
  return {VICTIM, "blocks", directory, std::to_string(kWrites)};
}

void RunUntraced(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  CHECK(posix_spawn(&child, VICTIM, nullptr, nullptr, arguments.data(),
                    environ) == 0,
        "the program");
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "its end");
}

void CountWrites(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kWrites);
}

void BM_Untraced(benchmark::State& state) {
  const Folder directory;
  for (auto _ : state) RunUntraced(Command(directory.Make("out")));
  CountWrites(state);
}
BENCHMARK(BM_Untraced)->UseRealTime()->Unit(benchmark::kMillisecond);

// Records all operations with their bytes.
void BM_Recorded(benchmark::State& state) {
  for (auto _ : state) {
    const Folder directory;
    const std::string out = directory.Make("out");
    auto log = OperationLog::Create(directory.Make("log"), {out}, {});
    CHECK(log.ok(), log.status().ToString());
    TraceOptions options;
    options.directories = {out};
    options.log = &*log;
    const auto outcome = Trace({.arguments = Command(out)}, options);
    CHECK(outcome.ok() && outcome->exit_code == 0, "a traced run");
    CHECK(log->operations().size() > kWrites, "all writes are recorded");
  }
  CountWrites(state);
}
BENCHMARK(BM_Recorded)->UseRealTime()->Unit(benchmark::kMillisecond);

// Traces without a log, as runs with injections do. If the argument
// `elsewhere` is 1, the program writes files outside the watched directories.
void BM_Watched(benchmark::State& state) {
  const bool is_elsewhere = state.range(0) != 0;
  for (auto _ : state) {
    const Folder directory;
    TraceOptions options;
    options.directories = {directory.Make("out")};
    const auto outcome = Trace(
        {.arguments = Command(directory.Make(is_elsewhere ? "aside" : "out"))},
        options);
    CHECK(outcome.ok() && outcome->exit_code == 0, "a traced run");
  }
  CountWrites(state);
}
BENCHMARK(BM_Watched)
    ->ArgName("elsewhere")
    ->Arg(0)
    ->Arg(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gauntlet
