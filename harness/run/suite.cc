#include "harness/run/suite.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/real/cuda_plugin.h"
#include "harness/run/crash_notice.h"
#include "harness/run/slow_watch.h"
#include <fmt/format.h>
#include <sys/statvfs.h>

namespace gauntlet {
namespace {

uint64_t FreeBytes(const std::string& directory) {
  struct statvfs facts = {};
  if (statvfs(directory.c_str(), &facts) != 0) return 0;
  return static_cast<uint64_t>(facts.f_bavail) * facts.f_frsize;
}

int CountGpus() {
  const Result<CudaDevices> cuda = OpenCuda();
  return cuda.ok() ? cuda->count : 0;
}

// GPUs are looked for where the case may want one.
Capabilities CapabilitiesFor(const SuiteItem& item,
                             const std::string& directory) {
  Capabilities here = CapabilitiesOf(item.world);
  here.disk_bytes = FreeBytes(directory);
  const bool wanted = item.one.needs.gpus > 0 ||
                      ComputesOn(item.one.train.kernels, DeviceKind::kCuda);
  if (item.world == WorldKind::kReal && wanted) here.gpus = CountGpus();
  return here;
}

class Suite {
 public:
  Suite(const std::vector<SuiteItem>& items, const SuiteOptions& options,
        const std::function<void(const CaseResult&)>& done)
      : items_(items),
        options_(options),
        done_(done),
        references_(options.cache_directory, options.build),
        results_(items.size()),
        watch_([this](size_t index) { options_.slow(items_[index]); }) {}

  std::vector<CaseResult> Run();

 private:
  std::optional<size_t> NextItem();
  void Work();
  CaseOutcome RunItem(size_t index);
  void Finish(size_t index, CaseOutcome outcome);
  void CompareWorlds(CaseOutcome& outcome);

  const std::vector<SuiteItem>& items_;
  const SuiteOptions& options_;
  const std::function<void(const CaseResult&)>& done_;
  References references_;
  std::mutex mutex_;  // of what is below, but for the watch
  size_t next_ = 0;
  int failures_ = 0;
  std::vector<std::optional<CaseResult>> results_;
  std::map<std::string, CaseOutcome> by_name_;  // of the first world to end
  SlowWatch watch_;
};

std::optional<size_t> Suite::NextItem() {
  const std::lock_guard lock(mutex_);
  const bool enough =
      options_.max_failures > 0 && failures_ >= options_.max_failures;
  if (enough || next_ == items_.size() || options_.interrupted()) {
    return std::nullopt;
  }
  return next_++;
}

CaseOutcome Suite::RunItem(size_t index) {
  const SuiteItem& item = items_[index];
  const AtWork at(fmt::format("{} ({}), {}:{}", item.one.name,
                              WorldKindName(item.world), item.one.file,
                              item.one.line));
  const std::string directory = fmt::format(
      "{}/{}.{}", options_.directory, item.one.name, WorldKindName(item.world));
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return RunCase(item.one,
                 {.world = item.world,
                  .program = options_.program,
                  .directory = directory,
                  .replay = options_.replay ? options_.replay(item) : "",
                  .interrupted = options_.interrupted,
                  .explain = options_.explain},
                 CapabilitiesFor(item, options_.directory), references_);
}

void Suite::CompareWorlds(CaseOutcome& outcome) {
  const auto [other, first] = by_name_.emplace(outcome.result.name, outcome);
  if (first || other->second.result.world == outcome.result.world) return;
  Verdict& verdict = outcome.result.verdict;
  const Verdict& there = other->second.result.verdict;
  const auto says_nothing = [](const Verdict& one) {
    return one.kind == VerdictKind::kSkip || one.kind == VerdictKind::kError;
  };
  const bool agree = verdict.kind == there.kind &&
                     outcome.final_digest == other->second.final_digest;
  if (says_nothing(verdict) || says_nothing(there) || agree) return;
  const auto end = [](const CaseOutcome& one) {
    const Verdict& said = one.result.verdict;
    return fmt::format(
        "{} with {}{}", VerdictKindName(said.kind),
        one.final_digest.empty() ? "no final state"
                                 : "final state " + one.final_digest,
        said.kind == VerdictKind::kFail ? " (" + said.reason + ")" : "");
  };
  verdict.reason =
      fmt::format("the worlds disagree: {} in the {} world, {} here",
                  end(other->second), other->second.result.world, end(outcome));
  verdict.kind = VerdictKind::kFail;
}

void Suite::Finish(size_t index, CaseOutcome outcome) {
  const std::lock_guard lock(mutex_);
  // What was cut off has no verdict.
  if (options_.interrupted()) return;
  CompareWorlds(outcome);
  const VerdictKind kind = outcome.result.verdict.kind;
  if (kind == VerdictKind::kFail || kind == VerdictKind::kError) ++failures_;
  done_(outcome.result);
  results_[index] = std::move(outcome.result);
}

void Suite::Work() {
  while (const std::optional<size_t> index = NextItem()) {
    watch_.Begins(*index, items_[*index].one.timeouts.slow);
    CaseOutcome outcome = RunItem(*index);
    watch_.Ends(*index);
    Finish(*index, std::move(outcome));
  }
}

std::vector<CaseResult> Suite::Run() {
  std::vector<std::thread> others;
  for (int job = 1; job < options_.jobs; ++job) {
    others.emplace_back([this] { Work(); });
  }
  Work();
  for (std::thread& other : others) other.join();
  std::vector<CaseResult> results;
  for (std::optional<CaseResult>& result : results_) {
    if (result) results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace

std::vector<CaseResult> RunSuite(
    const std::vector<SuiteItem>& items, const SuiteOptions& options,
    const std::function<void(const CaseResult&)>& done) {
  return Suite(items, options, done).Run();
}

}  // namespace gauntlet
