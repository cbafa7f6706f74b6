#include "harness/cli/bench/bench_scale_command.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/cli/exit_code.h"
#include "engine/real/host/real_host.h"
#include "engine/text/counted.h"
#include "harness/bench/figures/scale_result.h"
#include "harness/bench/machine_limits.h"
#include "harness/bench/scale_bench.h"
#include "harness/cli/bench/bench_output.h"
#include "harness/cli/bench/bench_progress.h"
#include "harness/cli/bench/bench_scale_text.h"
#include "reports/bench/scale_page.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

// `bench scale` has its own folder. In the folder of `bench checkpoint`, users
// take the link `latest` as the baseline of the next run, so the link must not
// name results of `bench scale`.
constexpr const char* kScaleBenchFolder = ".gauntlet/bench-scale";

ExitCode ReportOutcome(const ScaleResult& result, Console& console) {
  if (result.interrupted) {
    fmt::print(console.err,
               "gauntlet bench scale: interrupted; the figures cover the "
               "finished clusters\n");
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

// Measures, prints the results, and writes them to the folder.
Result<ExitCode> MeasureScale(const BenchScaleCommand& command,
                              const BenchOutput& out, Console& console) {
  BenchProgress progress(console);
  Result<ScaleResult> result = RunScaleBench(command.plan, progress);
  progress.Clear();
  if (!result.ok()) {
    fmt::print(console.err, "gauntlet bench scale: {}\n",
               result.status().message());
    return ExitWithoutFigures(result.status());
  }
  result->context = DescribeMachine(".");
  result->context.version = GAUNTLET_VERSION;
  const std::string json = ScaleResultToJson(*result);
  const bool is_text = command.output == OutputFormat::kText;
  // Prints before it writes, so that the figures are not lost if the disk is
  // full.
  console.out << (is_text ? ScaleResultToText(*result) : json);
  const Status written = out.Write(json, RenderScalePage(*result));
  if (written.ok() && is_text) {
    fmt::print(console.out, "report  {}\n", out.report().string());
  }
  console.Flush();
  if (!written.ok()) {
    fmt::print(console.err, "gauntlet bench scale: {}\n", written.message());
    return ExitCode::kNoVerdict;
  }
  return ReportOutcome(*result, console);
}

// Creates the folder for the results before it measures, so that a wrong --out
// is reported at once. kInvalidArgument: the folder cannot be used, and nothing
// was measured.
Result<ExitCode> MeasureScaleInFolder(const BenchScaleCommand& command,
                                      Console& console) {
  ASSIGN_OR_RETURN(const BenchOutput out,
                   BenchOutput::Make(command.out_directory, kScaleBenchFolder));
  Result<ExitCode> code = MeasureScale(command, out, console);
  out.RemoveIfEmpty();
  return code;
}

}  // namespace

int RunBenchScale(const BenchScaleCommand& command, Console& console) {
  InstallSignalHandlers();
  ExitOnSecondInterrupt(static_cast<int>(ExitCode::kInterrupted));
  const Result<ExitCode> code = MeasureScaleInFolder(command, console);
  if (code.ok()) return static_cast<int>(*code);
  fmt::print(console.err, "gauntlet bench scale: {}\n",
             code.status().message());
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace gauntlet
