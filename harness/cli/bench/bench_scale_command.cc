#include "harness/cli/bench/bench_scale_command.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/real/host/real_host.h"
#include "engine/text/counted.h"
#include "harness/bench/machine_limits.h"
#include "harness/bench/scale_bench.h"
#include "harness/cli/bench/bench_progress.h"
#include "harness/cli/bench/bench_scale_text.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

ExitCode Conclude(const ScaleResult& result, Console& console) {
  if (result.interrupted) {
    fmt::print(console.err,
               "gauntlet bench scale: interrupted; these are the figures of "
               "the clusters that were over\n");
    return ExitCode::kInterrupted;
  }
  const auto voided = std::ranges::count_if(
      result.figures,
      [](const ScaleFigures& one) { return !one.voided.empty(); });
  if (voided == 0) return ExitCode::kOk;
  fmt::print(console.err,
             "gauntlet bench scale: {} void: a run did not end with the state "
             "of the undisturbed one\n",
             Counted(static_cast<uint64_t>(voided), "cluster"));
  return ExitCode::kViolated;
}

}  // namespace

int RunBenchScale(const BenchScaleCommand& command, Console& console) {
  InstallSignalHandlers();
  ExitOnSecondInterrupt(static_cast<int>(ExitCode::kInterrupted));
  BenchProgress progress(console);
  Result<ScaleResult> result = RunScaleBench(command.plan, progress);
  progress.Clear();
  if (!result.ok()) {
    fmt::print(console.err, "gauntlet bench scale: {}\n",
               result.status().message());
    return static_cast<int>(ExitCode::kViolated);
  }
  result->context = DescribeMachine(".");
  result->context.version = GAUNTLET_VERSION;
  console.out << (command.output == OutputFormat::kJson
                      ? ScaleResultToJson(*result)
                      : ScaleResultToText(*result));
  console.Flush();
  return static_cast<int>(Conclude(*result, console));
}

}  // namespace gauntlet
