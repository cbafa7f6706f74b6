#include "engine/real/network/pending_connections.h"

#include <algorithm>
#include <utility>

#include <sys/socket.h>

namespace gauntlet {
namespace {

// Least time that a connection may stay silent. If too many are silent, one of
// them is disconnected (ChooseOneToDisconnect), but only after this time. Until
// then no other connection is accepted; new ones wait in the kernel's queue.
// gRPC closes a connection only some time after it was shut down here. So
// without this limit the number of open connections would have no bound.
constexpr auto kLeastSilence = std::chrono::milliseconds(20);

}  // namespace

void PendingConnections::Disconnect(const Silent& one) {
  shutdown(one.watch->get(), SHUT_RDWR);
}

PendingConnections::Silents::iterator PendingConnections::Find(
    const Link* link) {
  return std::ranges::find_if(
      silent_, [link](const Silent& one) { return one.link.get() == link; });
}

// A worker with a stream believes that it is connected, so strangers without a
// stream must not displace it. Strangers with a stream must not keep workers
// from opening one, so they get half of the places.
PendingConnections::Silents::iterator
PendingConnections::ChooseOneToDisconnect() {
  const auto has_stream = [](const Silent& one) { return one.link != nullptr; };
  const auto streams =
      static_cast<size_t>(std::ranges::count_if(silent_, has_stream));
  return std::ranges::find(silent_, streams > kMaxSilentCallers / 2,
                           has_stream);
}

void PendingConnections::AddConnection(std::string peer, Descriptor watch) {
  Silent added = {.peer = std::move(peer),
                  .watch = std::make_shared<const Descriptor>(std::move(watch)),
                  .since = std::chrono::steady_clock::now(),
                  .link = nullptr};
  const std::lock_guard lock(mutex_);
  if (closed_) return Disconnect(added);
  silent_.push_back(std::move(added));
}

bool PendingConnections::AddStream(const std::string& peer,
                                   std::shared_ptr<Link> link) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(silent_, peer, &Silent::peer);
  if (closed_ || found == silent_.end() || found->link != nullptr) return false;
  found->link = std::move(link);
  return true;
}

bool PendingConnections::MarkFirstFrame(const Link* link) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(link);
  if (found == silent_.end()) return true;  // already disconnected
  const bool has_room = waiting_.size() < kMaxWaitingCallers;
  if (has_room) {
    waiting_.push_back(std::move(found->link));
    ready_.notify_one();
  } else {
    Disconnect(*found);
  }
  silent_.erase(found);  // the stream still owns the link
  return has_room;
}

void PendingConnections::RemoveStream(const Link* link) {
  std::shared_ptr<Link> freed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = Find(link);
  if (found == silent_.end()) return;
  freed = std::move(found->link);
  Disconnect(*found);
  silent_.erase(found);
}

std::shared_ptr<Link> PendingConnections::WaitForFirst(Time deadline) {
  std::unique_lock lock(mutex_);
  const auto come = [this] { return !waiting_.empty(); };
  if (deadline == kNever) {
    ready_.wait(lock, come);
  } else if (!ready_.wait_until(lock, SteadyTime(deadline.time_since_epoch()),
                                come)) {
    return nullptr;
  }
  std::shared_ptr<Link> link = std::move(waiting_.front());
  waiting_.pop_front();
  return link;
}

void PendingConnections::Close() {
  Silents silent;
  std::deque<std::shared_ptr<Link>> waiting;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    silent.swap(silent_);
    waiting.swap(waiting_);
  }
  for (const Silent& one : silent) Disconnect(one);
  for (const auto& link : waiting) link->Close();
}

PendingConnections::AcceptState PendingConnections::DisconnectExpired(
    SteadyTime now) {
  Silents gone;  // destroyed after the lock is released
  AcceptState state;
  const std::lock_guard lock(mutex_);
  const auto disconnect = [&](Silents::iterator one) {
    Disconnect(*one);
    gone.push_back(std::move(*one));
    silent_.erase(one);
  };
  while (!silent_.empty() && now - silent_.front().since >= kMaxSilence) {
    disconnect(silent_.begin());
  }
  if (silent_.size() > kMaxSilentCallers) {
    const auto chosen = ChooseOneToDisconnect();
    state.can_accept = now - chosen->since >= kLeastSilence;
    state.next_check = chosen->since + kLeastSilence;
    if (state.can_accept) disconnect(chosen);
  }
  if (!silent_.empty() && state.can_accept) {
    state.next_check = silent_.front().since + kMaxSilence;
  }
  for (const Silent& one : silent_) state.watched.push_back(one.watch);
  return state;
}

void PendingConnections::RemoveClosed(const Descriptor* watch) {
  Silent gone;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      silent_, [watch](const Silent& one) { return one.watch.get() == watch; });
  if (found == silent_.end()) return;
  gone = std::move(*found);
  silent_.erase(found);
}

}  // namespace gauntlet
