#include "harness/cli/bench/bench_progress.h"

#include <chrono>

#include <fmt/format.h>

namespace gauntlet {

void BenchProgress::OnTrialBegun(uint64_t done, uint64_t all,
                                 const std::string& name) {
  const double seconds =
      std::chrono::duration<double>(clock_.Now() - begin_).count();
  std::string left;
  if (done > 0) {
    left =
        fmt::format("  {} left", ClockText(seconds / static_cast<double>(done) *
                                           static_cast<double>(all - done)));
  }
  line_.Draw(fmt::format("trial {} of {}{}  {}", done + 1, all, left, name));
}

}  // namespace gauntlet
