// Heartbeats between the chief and every other worker.
//
// The chief has one control channel to each worker. Both ends of a channel send
// beats at regular intervals. The task that sends them does nothing else, so a
// long step or a slow save is not mistaken for a dead worker. Silence for
// `lost_after`, or a broken connection, counts as a loss.
#ifndef GAUNTLET_ENGINE_CLUSTER_SESSION_HEARTBEAT_H_
#define GAUNTLET_ENGINE_CLUSTER_SESSION_HEARTBEAT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/cluster/link/control_messages.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

struct HeartbeatOptions {
  Duration every = std::chrono::milliseconds(200);
  Duration lost_after = std::chrono::seconds(5);
  uint64_t generation = 0;
  int rank = 0;
};

// A control channel to the worker `rank`.
struct ControlChannel {
  int rank = 0;
  std::unique_ptr<Channel> channel;
};

class Heartbeat {
 public:
  // Called at most once, at the first loss, by a task that receives beats. Must
  // not block.
  using OnLost = std::function<void(int rank, const Status& status)>;

  // Called by the task that sends beats, after each beat.
  using OnBeat = std::function<void()>;

  Heartbeat(World& world, const HeartbeatOptions& options,
            std::vector<ControlChannel> channels, OnLost on_lost,
            OnBeat on_beat);

  void Start();

  // After this call no loss is reported. If a report is in progress, waits for
  // its end.
  void StopReportingLosses();

  // Ends the heartbeat normally. Each worker sends a bye and waits for the
  // chief's bye; the chief sends its bye when it has received those of all
  // workers. Each wait is limited to `lost_after`. Once Leave has begun, no
  // loss is reported.
  void Leave();

  // Ends immediately: sends no bye, breaks all channels, and waits for the end
  // of all tasks. Has no effect after Leave.
  void Abort();

  // Returns the number of beats received from that rank; 0 if that rank sends
  // its beats to the chief only. May be called from any task.
  uint64_t BeatsFrom(uint32_t rank) const;

 private:
  struct Peer {
    ControlChannel control;
    std::unique_ptr<std::atomic<uint64_t>> beats;  // received so far
    std::unique_ptr<Event> bye;  // set at the peer's bye, or its loss
    std::unique_ptr<Task> receiver;
  };

  void End();
  void SendBeats();
  void Receive(Peer& peer);
  void SendToAll(const Frame& frame);
  void ReportLoss(int rank, const Status& status);

  World* world_;
  HeartbeatOptions options_;
  OnLost on_lost_;
  OnBeat on_beat_;
  std::vector<Peer> peers_;
  std::unique_ptr<Event> stop_;
  std::unique_ptr<Task> sender_;
  std::mutex mutex_;                // held while a loss is reported
  bool reporting_stopped_ = false;  // leaving, or a loss has been reported
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_SESSION_HEARTBEAT_H_
