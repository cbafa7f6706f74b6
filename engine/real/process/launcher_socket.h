// The socket between a worker process and its launcher: the worker sends its
// progress and its result, the launcher acknowledges the result.
//
// One JSON object per line, at most 4096 bytes with its line feed, so that each
// line is sent whole or not at all:
//   {"progress":{"step":150,"epoch":1,"steps_per_epoch":128,
//                "loss":"3f2a0c11","line":"resumed from step 100"}}
//   {"result":{"status":"done","epochs":3,"steps":384,"digest":"…",
//              "loss":"3e99999a","accuracy":0.91,"val_accuracy":0.9,
//              "resumed_from":100}}
//   {"acknowledged":true}              from the launcher
// A loss is the 8 hex digits of its float32. Values that are missing are left
// out, such as `loss` and `line` of a progress, or `accuracy` and
// `resumed_from` of a result.
#ifndef GAUNTLET_ENGINE_REAL_PROCESS_LAUNCHER_SOCKET_H_
#define GAUNTLET_ENGINE_REAL_PROCESS_LAUNCHER_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/worker_processes.h"
#include "engine/world/clock.h"

namespace gauntlet {

// Descriptor number of the socket in a worker.
inline constexpr int kLauncherSocketDescriptor = 3;

// Line that acknowledges a result, with its line feed.
inline constexpr std::string_view kAcknowledgementLine =
    "{\"acknowledged\":true}\n";

// Returns the message as a line, with its line feed. Long texts are truncated.
std::string WorkerMessageLine(const WorkerProgress& progress);
std::string WorkerMessageLine(const TrainResult& result);

// Parses a line of either kind, without its line feed. kInvalidArgument if the
// line is neither.
Result<std::variant<WorkerProgress, TrainResult>> ParseWorkerMessage(
    std::string_view line);

// Maximum total size, in bytes, of the messages that wait in a worker for room
// in the send buffer.
inline constexpr size_t kMaxWaitingBytes = size_t{1} << 20;

// The worker's end. Only AwaitAcknowledgement blocks; all other functions
// return even if the launcher is paused and does not read. Progress that the
// launcher acts on uses at most 7/8 of the send buffer, other progress at most
// 1/2. The rest is reserved for the result, which therefore always fits. A
// message for which its share has no room is dropped or, if it has a `line`,
// waits. Messages wait, in order, until a later Progress or Result finds room.
// At most kMaxWaitingBytes wait. Further lines, and those that still wait when
// the result is sent, are lost; a line states their number.
class LauncherSocket final : public ProgressReporter {
 public:
  // Takes over an inherited descriptor and sets FD_CLOEXEC. kInvalidArgument if
  // it is not a socket.
  static gauntlet::Result<std::unique_ptr<LauncherSocket>> Open(int fd);

  void Progress(const WorkerProgress& progress) override;
  void Result(const TrainResult& result) override;
  Status AwaitAcknowledgement(Time deadline) override;

 private:
  LauncherSocket(Descriptor fd, int buffer_bytes)
      : fd_(std::move(fd)),
        progress_share_(buffer_bytes / 2),
        acted_on_share_(buffer_bytes / 8 * 7) {}

  // Returns true iff less than `share` bytes of the buffer are in use.
  bool HasRoom(int share) const;
  // Sends the message if there is room. Returns true iff it was sent. Never
  // blocks.
  bool Send(const std::string& message);
  // Sends waiting messages, as far as there is room for progress.
  void SendWaiting();
  // If lines were lost and there is room, sends a line that states their
  // number.
  void SendLoss();
  void KeepWaiting(std::string message);

  std::mutex mutex_;
  const Descriptor fd_;
  const int progress_share_;  // bytes of the buffer that progress may fill
  const int acted_on_share_;  // the same, for progress that the launcher acts
                              // on
  std::deque<std::string> waiting_;
  size_t waiting_bytes_ = 0;
  uint64_t lost_lines_ = 0;  // lost and not yet reported
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_PROCESS_LAUNCHER_SOCKET_H_
