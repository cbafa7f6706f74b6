// Progress line of a benchmark.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_BENCH_PROGRESS_H_
#define GAUNTLET_HARNESS_CLI_BENCH_BENCH_PROGRESS_H_

#include <cstdint>
#include <string>

#include "engine/cli/terminal/console.h"
#include "engine/cli/terminal/status_line.h"
#include "engine/real/host/real_host.h"
#include "engine/real/posix/system_clock.h"
#include "harness/bench/checkpoint_bench.h"

namespace gauntlet {

class BenchProgress final : public BenchObserver {
 public:
  explicit BenchProgress(Console& console)
      : line_(clock_, console.err, console.err_style), begin_(clock_.Now()) {}

  void OnTrialBegun(uint64_t done, uint64_t all,
                    const std::string& name) override;
  bool Interrupted() override { return host_.TerminationNotices() > 0; }
  void Clear() { line_.Clear(); }

 private:
  SystemClock clock_;
  RealHost host_;
  StatusLine line_;
  const Time begin_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_BENCH_PROGRESS_H_
