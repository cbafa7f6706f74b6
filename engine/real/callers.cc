#include "engine/real/callers.h"

#include <algorithm>
#include <utility>

#include <sys/socket.h>

namespace gauntlet {
namespace {

// gRPC closes a connection only some time after it was shut down here. If
// callers come faster than one in this time, they wait in the kernel's queue,
// so that their number stays bounded.
constexpr auto kLeastSilence = std::chrono::milliseconds(20);

}  // namespace

void Callers::Disconnect(const Silent& caller) {
  shutdown(caller.watch->get(), SHUT_RDWR);
}

Callers::Silents::iterator Callers::Find(const Link* link) {
  return std::ranges::find_if(silent_, [link](const Silent& caller) {
    return caller.link.get() == link;
  });
}

void Callers::AddConnection(std::string peer, Descriptor watch) {
  Silent caller = {
      .peer = std::move(peer),
      .watch = std::make_shared<const Descriptor>(std::move(watch)),
      .since = std::chrono::steady_clock::now(),
      .link = nullptr};
  const std::lock_guard lock(mutex_);
  if (closed_) return Disconnect(caller);
  silent_.push_back(std::move(caller));
}

bool Callers::AddStream(const std::string& peer, std::shared_ptr<Link> link) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(silent_, peer, &Silent::peer);
  if (closed_ || found == silent_.end() || found->link != nullptr) return false;
  found->link = std::move(link);
  return true;
}

bool Callers::Speak(const Link* link) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(link);
  if (found == silent_.end()) return true;  // it is cut off already
  const bool has_room = waiting_.size() < kMaxWaitingCallers;
  if (has_room) {
    waiting_.push_back(std::move(found->link));
    ready_.notify_one();
  } else {
    Disconnect(*found);
  }
  silent_.erase(found);  // its stream still holds it
  return has_room;
}

void Callers::Forget(const Link* link) {
  std::shared_ptr<Link> freed;  // after the lock is let go
  const std::lock_guard lock(mutex_);
  const auto found = Find(link);
  if (found == silent_.end()) return;
  freed = std::move(found->link);
  Disconnect(*found);
  silent_.erase(found);
}

std::shared_ptr<Link> Callers::Next(Time deadline) {
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

void Callers::Close() {
  Silents silent;
  std::deque<std::shared_ptr<Link>> waiting;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    silent.swap(silent_);
    waiting.swap(waiting_);
  }
  for (const Silent& caller : silent) Disconnect(caller);
  for (const auto& link : waiting) link->Close();
}

Callers::Outlook Callers::LookAt(SteadyTime now) {
  Silents gone;  // freed after the lock is let go
  Outlook outlook;
  const std::lock_guard lock(mutex_);
  const auto let_go = [&] {
    Disconnect(silent_.front());
    gone.push_back(std::move(silent_.front()));
    silent_.pop_front();
  };
  while (!silent_.empty() && now - silent_.front().since >= kMaxSilence) {
    let_go();
  }
  if (silent_.size() > kMaxSilentCallers) {
    outlook.has_room = now - silent_.front().since >= kLeastSilence;
    outlook.look_again = silent_.front().since + kLeastSilence;
    if (outlook.has_room) let_go();
  }
  if (!silent_.empty() && outlook.has_room) {
    outlook.look_again = silent_.front().since + kMaxSilence;
  }
  for (const Silent& caller : silent_) outlook.silent.push_back(caller.watch);
  return outlook;
}

void Callers::HangUp(const Descriptor* watch) {
  Silent gone;  // freed after the lock is let go
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      silent_, [watch](const Silent& one) { return one.watch.get() == watch; });
  if (found == silent_.end()) return;
  gone = std::move(*found);
  silent_.erase(found);
}

}  // namespace gauntlet
