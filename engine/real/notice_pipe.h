// The pipe by which a worker process tells its launcher how far it is.
//
// One JSON object a line, at most 4096 bytes with its line feed, so that each
// is one atomic write:
//   {"progress":{"step":150,"epoch":1,"steps_per_epoch":128,
//                "loss":"3f2a0c11","line":"resumed from step 100"}}
//   {"result":{"status":"done","epochs":3,"steps":384,"digest":"…",
//              "loss":"3e99999a","accuracy":0.91,"val_accuracy":0.9,
//              "resumed_from":100}}
// A loss is the 8 hex digits of its float32; `line`, `failure` and
// `resumed_from` are left out where there is none; a figure that is not a
// number is null.
#ifndef GAUNTLET_ENGINE_REAL_NOTICE_PIPE_H_
#define GAUNTLET_ENGINE_REAL_NOTICE_PIPE_H_

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/real/descriptor.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/worker_processes.h"

namespace gauntlet {

// Where a launcher of this program puts the pipe into its workers.
inline constexpr int kNoticeDescriptor = 3;

// With its line feed. Texts that are too long are cut.
std::string NoticeLine(const WorkerProgress& progress);
std::string NoticeLine(const TrainResult& result);

// The inverse of both, of a line without its line feed. kInvalidArgument says
// what is wrong.
Result<std::variant<WorkerProgress, TrainResult>> ParseNoticeLine(
    std::string_view line);

// The worker's end. Progress is dropped while the pipe is full; a result waits
// a few seconds for room. REQUIRES: SIGPIPE is ignored (InstallSignalHandlers).
class WorkerNotices final : public ProgressReporter {
 public:
  // Takes over a descriptor that this process was started with; it is closed
  // by exec from now on. kInvalidArgument if it is not open for writing.
  static gauntlet::Result<std::unique_ptr<WorkerNotices>> Open(int fd);

  void Progress(const WorkerProgress& progress) override;
  void Result(const TrainResult& result) override;

 private:
  explicit WorkerNotices(Descriptor fd) : fd_(std::move(fd)) {}

  std::mutex mutex_;
  const Descriptor fd_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NOTICE_PIPE_H_
