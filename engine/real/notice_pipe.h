// The socket between a worker process and its launcher: the worker sends its
// progress and its result, the launcher acknowledges the result.
//
// One JSON object a line, at most 4096 bytes with its line feed, so that each
// is sent whole or not at all:
//   {"progress":{"step":150,"epoch":1,"steps_per_epoch":128,
//                "loss":"3f2a0c11","line":"resumed from step 100"}}
//   {"result":{"status":"done","epochs":3,"steps":384,"digest":"…",
//              "loss":"3e99999a","accuracy":0.91,"val_accuracy":0.9,
//              "resumed_from":100}}
//   {"acknowledged":true}              from the launcher
// A loss is the 8 hex digits of its float32. Values that there are none of are
// left out: of a progress `loss`, `line` and `failure`, of a result `loss`,
// `accuracy`, `val_accuracy` and `resumed_from`.
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
#include "engine/world/clock.h"

namespace gauntlet {

// Where a launcher of this program puts the socket into its workers.
inline constexpr int kNoticeDescriptor = 3;

// What the launcher sends once it has the result, with its line feed.
inline constexpr std::string_view kAcknowledgementLine =
    "{\"acknowledged\":true}\n";

// With its line feed. Texts that are too long are cut.
std::string NoticeLine(const WorkerProgress& progress);
std::string NoticeLine(const TrainResult& result);

// The inverse of both, of a line without its line feed. kInvalidArgument says
// what is wrong.
Result<std::variant<WorkerProgress, TrainResult>> ParseNoticeLine(
    std::string_view line);

// The worker's end. A launcher that does not read, as it is paused, keeps no
// worker waiting: notices are dropped where there is no more room for their
// kind. Those for people and signs of life have half of the socket's buffer,
// those that the launcher acts on have more, and the rest is kept for the
// result, which therefore always arrives.
class WorkerNotices final : public ProgressReporter {
 public:
  // Takes over a descriptor that this process was started with; it is closed
  // by exec from now on. kInvalidArgument if it is no stream socket.
  static gauntlet::Result<std::unique_ptr<WorkerNotices>> Open(int fd);

  void Progress(const WorkerProgress& progress) override;
  void Result(const TrainResult& result) override;
  Status AwaitAcknowledgement(Time deadline) override;

 private:
  WorkerNotices(Descriptor fd, int buffer_bytes)
      : fd_(std::move(fd)), buffer_bytes_(buffer_bytes) {}

  bool HasRoomFor(const WorkerProgress& progress) const;
  // Never blocks.
  void Send(const std::string& line);

  std::mutex mutex_;
  const Descriptor fd_;
  const int buffer_bytes_;  // that the launcher may leave unread
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NOTICE_PIPE_H_
