#include "harness/explore/trial/case_pool.h"

#include <utility>

#include "harness/run/crash_notice.h"

namespace gauntlet {

Result<PlanRunner*> PlanRunners::Of(size_t setup) {
  const auto found = made_.find(setup);
  if (found != made_.end()) return &found->second;
  ASSIGN_OR_RETURN(PlanRunner runner,
                   PlanRunner::Make(setups_.at(setup), references_));
  runner.CutBy(cut_);
  return &made_.emplace(setup, std::move(runner)).first->second;
}

CasePool::CasePool(const std::vector<Case>& setups, References& references,
                   const CasePoolOptions& options)
    : setups_(setups), references_(references), options_(options) {
  for (int i = 0; i < options.threads; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

CasePool::~CasePool() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CasePool::Begin(std::vector<ExploreCase> cases) {
  {
    const std::lock_guard lock(mutex_);
    cases_ = std::move(cases);
    reports_.assign(cases_.size(), std::nullopt);
    begun_ = 0;
  }
  changed_.notify_all();
}

std::optional<CaseReport> CasePool::Take(size_t index, Duration patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience,
                    [&] { return reports_.at(index).has_value(); });
  return std::exchange(reports_.at(index), std::nullopt);
}

bool CasePool::WillRun(size_t index) {
  const std::lock_guard lock(mutex_);
  return !stopped_ || index < begun_;
}

bool CasePool::Pause(Duration patience) {
  std::unique_lock lock(mutex_);
  paused_ = true;
  return changed_.wait_for(lock, patience, [&] { return at_work_ == 0; });
}

void CasePool::Resume() {
  {
    const std::lock_guard lock(mutex_);
    paused_ = false;
  }
  changed_.notify_all();
}

void CasePool::Cut() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  cut_.store(true, std::memory_order_relaxed);
}

// Waits for the next case; nullopt if there will be none.
std::optional<size_t> CasePool::NextIndex() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return ended_ || (!paused_ && !stopped_ && begun_ < cases_.size());
  });
  if (ended_) return std::nullopt;
  ++at_work_;
  return begun_++;
}

void CasePool::Work() {
  PlanRunners runners(setups_, references_,
                      [this] { return cut_.load(std::memory_order_relaxed); });
  while (const std::optional<size_t> index = NextIndex()) {
    // No other thread changes cases_ while one of its cases is running.
    const ExploreCase& one = cases_[*index];
    const AtWork at(options_.name_of(one));
    const bool twice = one.counts && options_.twice_every > 0 &&
                       one.number % options_.twice_every == 0;
    CaseReport report = Examine(*runners.Of(one.setup).value(), one,
                                twice ? Runs::kTwice : Runs::kOnce);
    {
      const std::lock_guard lock(mutex_);
      reports_[*index] = std::move(report);
      --at_work_;
    }
    changed_.notify_all();
  }
}

}  // namespace gauntlet
