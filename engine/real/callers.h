// The callers of one listener that Accept has not returned.
#ifndef GAUNTLET_ENGINE_REAL_CALLERS_H_
#define GAUNTLET_ENGINE_REAL_CALLERS_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/real/descriptor.h"
#include "engine/real/grpc_link.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"

namespace gauntlet {

// A caller is silent from the moment its TCP connection is there until its
// first frame has come; then it waits for Accept. The bounds are those of
// engine/world/network.h. A connection belongs to gRPC; here is a second
// descriptor of a silent one, by which it is shut down and its end is noticed.
//
// Safe from any thread. Where it is not said otherwise, no lock of a link may
// be held.
class Callers {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // `screen`: as of Network::Listen.
  explicit Callers(Screen screen) : screen_(std::move(screen)) {}

  // A connection from there was accepted. `watch` is a second descriptor of it.
  void AddConnection(std::string peer, Descriptor watch);
  // A stream was opened on it. False: the stream must be refused, as it is not
  // the connection's first.
  bool AddStream(const std::string& peer, std::shared_ptr<Link> link);
  // The screen's answer to a caller's first frame. The link's lock may be held.
  std::optional<Frame> Judge(const Nonce& nonce, const Frame& first) const {
    return screen_ ? screen_(nonce, first) : std::nullopt;
  }
  // The first frame came. False: too many wait, the stream must be cut off. The
  // link's lock may be held.
  bool Speak(const Link* link);
  // The stream has ended.
  void Forget(const Link* link);

  // The one whose first frame came first; nullptr at the deadline.
  std::shared_ptr<Link> Next(Time deadline);
  // Disconnects all, and each that comes from now on.
  void Close();

  // What the thread that accepts connections has to do next.
  struct Outlook {
    bool has_room = true;  // for one connection more
    SteadyTime look_again = SteadyTime::max();
    // Of the silent connections: each has hung up once it can be read to its
    // end.
    std::vector<std::shared_ptr<const Descriptor>> silent;
  };
  // Disconnects who has been silent for too long, and the oldest of too many.
  Outlook LookAt(SteadyTime now);
  // That silent connection has hung up.
  void HangUp(const Descriptor* watch);

 private:
  struct Silent {
    std::string peer;
    std::shared_ptr<const Descriptor> watch;
    SteadyTime since;
    std::shared_ptr<Link> link;  // null until it has opened a stream
  };
  using Silents = std::deque<Silent>;

  Silents::iterator Find(const Link* link);
  static void Disconnect(const Silent& caller);

  const Screen screen_;
  std::mutex mutex_;
  std::condition_variable ready_;
  Silents silent_;                             // the oldest first
  std::deque<std::shared_ptr<Link>> waiting_;  // have sent a frame
  bool closed_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_CALLERS_H_
