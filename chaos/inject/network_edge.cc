#include "chaos/inject/network_edge.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace gauntlet {

// State of one connection. NetworkEdge::mutex_ guards everything except `base`.
struct EdgeLine {
  struct Late {
    Time due;
    // The frame, or the error that ends the connection.
    Result<Frame> frame;
  };

  EdgeLine(std::unique_ptr<Channel> channel, Tasks& tasks)
      : base(std::move(channel)),
        work(tasks.NewEvent()),
        room(tasks.NewEvent()),
        arrival(tasks.NewEvent()),
        space(tasks.NewEvent()) {}

  const std::unique_ptr<Channel> base;
  const std::unique_ptr<Event> work;     // wakes the courier
  const std::unique_ptr<Event> room;     // wakes senders
  const std::unique_ptr<Event> arrival;  // wakes receivers
  const std::unique_ptr<Event> space;    // wakes the reader
  std::deque<Late> outgoing;
  std::deque<Late> incoming;
  Time last_out{};
  Time last_in{};
  size_t held_out = 0;         // bytes, queued or being sent by the courier
  size_t held_in = 0;          // bytes
  int receiving = 0;           // receivers that wait in the base
  bool has_courier = false;    // a task sends the outgoing frames
  bool courier_sends = false;  // that task is in the base's Send
  bool has_reader = false;     // a task receives the incoming frames
  bool closed = false;         // by this process
  bool broken = false;         // by a reset
  Status lost;                 // error that every further Send returns

  void WakeAll() {
    work->Set();
    room->Set();
    arrival->Set();
    space->Set();
  }
};

NetworkEdge::NetworkEdge(Clock& clock, Tasks& tasks, uint64_t seed,
                         EventLog* events)
    : clock_(clock),
      tasks_(tasks),
      faults_(seed, [events](const std::string& fault, Duration late) {
        if (events == nullptr) return;
        events->Emit({.kind = EventKind::kFrameLate,
                      .detail = fault,
                      .limit_ns = late.count()});
      }) {}

std::shared_ptr<EdgeLine> NetworkEdge::Add(std::unique_ptr<Channel> base) {
  auto line = std::make_shared<EdgeLine>(std::move(base), tasks_);
  bool needs_reader = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(lines_, [](const auto& one) { return one.expired(); });
    lines_.push_back(line);
    needs_reader = TakeReadersPlace(*line);
  }
  if (needs_reader) StartReader(line);
  return line;
}

void NetworkEdge::Begin(const Fault& fault) {
  if (fault.kind == FaultKind::kConnectionReset) return Reset();
  std::vector<std::shared_ptr<EdgeLine>> unread;
  {
    const std::lock_guard lock(mutex_);
    faults_.Begin(fault, clock_.Now());
    has_faults_ = true;
    for (const auto& known : lines_) {
      const std::shared_ptr<EdgeLine> line = known.lock();
      if (line != nullptr && TakeReadersPlace(*line)) unread.push_back(line);
    }
  }
  for (const auto& line : unread) StartReader(line);
}

void NetworkEdge::Reset() {
  std::vector<std::shared_ptr<EdgeLine>> broken;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& known : lines_) {
      const std::shared_ptr<EdgeLine> line = known.lock();
      if (line == nullptr || line->broken) continue;
      line->broken = true;
      line->outgoing.clear();
      line->incoming.clear();
      line->WakeAll();
      broken.push_back(line);
    }
    has_faults_ = true;
  }
  for (const auto& line : broken) line->base->Close();
}

void NetworkEdge::End() {
  std::vector<std::unique_ptr<Task>> helpers;
  std::vector<std::shared_ptr<EdgeLine>> lines;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    helpers.swap(helpers_);
    for (const auto& known : lines_) {
      if (std::shared_ptr<EdgeLine> line = known.lock()) {
        line->WakeAll();
        lines.push_back(std::move(line));
      }
    }
  }
  for (const auto& line : lines) line->base->Close();
  for (const auto& helper : helpers) helper->Join();
}

void NetworkEdge::SleepWhileCut(Time deadline) {
  if (!has_faults_) return;
  while (clock_.Now() < deadline) {
    Time until;
    {
      const std::lock_guard lock(mutex_);
      until = std::max(faults_.CutUntil(LinkDirection::kOut),
                       faults_.CutUntil(LinkDirection::kIn));
    }
    if (until <= clock_.Now()) return;
    clock_.SleepUntil(std::min(until, deadline));
  }
}

// Queues the frame: kTaken, or kNeedsCourier if the caller must start a
// courier. Does not queue a frame that may pass at once (kPasses), or for which
// there is no room (kNoRoom). Errors: the connection is lost.
Result<NetworkEdge::Taking> NetworkEdge::Take(EdgeLine& line, Frame& frame) {
  const std::lock_guard lock(mutex_);
  line.room->Reset();
  if (line.broken || line.closed) {
    return Unavailable("the connection is lost");
  }
  RETURN_IF_ERROR(line.lost);
  const Time now = clock_.Now();
  const bool idle = line.outgoing.empty() && !line.courier_sends;
  if (idle && !faults_.Any(LinkDirection::kOut, now)) return Taking::kPasses;
  if (line.held_out != 0 && line.held_out + frame.size() > kMaxHeldBytes) {
    return Taking::kNoRoom;
  }
  line.last_out = std::max(
      line.last_out, now + faults_.DrawLateness(LinkDirection::kOut, now));
  if (faults_.Doubles(now)) {
    line.held_out += frame.size();
    line.outgoing.push_back({.due = line.last_out, .frame = frame});
  }
  line.held_out += frame.size();
  line.outgoing.push_back({.due = line.last_out, .frame = std::move(frame)});
  line.work->Set();
  return std::exchange(line.has_courier, true) ? Taking::kTaken
                                               : Taking::kNeedsCourier;
}

Status NetworkEdge::Send(const std::shared_ptr<EdgeLine>& line, Frame frame,
                         Time deadline) {
  if (!has_faults_ || frame.size() > kMaxFrameBytes) {
    return line->base->Send(std::move(frame), deadline);
  }
  while (true) {
    ASSIGN_OR_RETURN(const Taking taking, Take(*line, frame));
    switch (taking) {
      case Taking::kPasses:
        return line->base->Send(std::move(frame), deadline);
      case Taking::kNeedsCourier:
        StartCourier(line);
        return OkStatus();
      case Taking::kTaken:
        return OkStatus();
      case Taking::kNoRoom:
        break;
    }
    if (!line->room->WaitUntil(deadline)) {
      return DeadlineExceeded("send: too much is in flight");
    }
  }
}

void NetworkEdge::StartCourier(const std::shared_ptr<EdgeLine>& line) {
  auto courier = tasks_.Spawn("courier", [this, line] {
    while (BringNext(*line)) {
    }
  });
  const std::lock_guard lock(mutex_);
  helpers_.push_back(std::move(courier));
}

// Sends the next frame if it is due, else waits for it. Returns true if there
// may be more.
bool NetworkEdge::BringNext(EdgeLine& line) {
  std::optional<Frame> frame;
  Time due = kNever;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    line.work->Reset();
    if (ending_ || line.broken) return false;
    last = line.outgoing.empty() && line.closed;
    if (!line.outgoing.empty()) {
      EdgeLine::Late& first = line.outgoing.front();
      due = std::max(first.due, faults_.CutUntil(LinkDirection::kOut));
      if (due <= clock_.Now()) {
        frame = *std::move(first.frame);
        line.outgoing.pop_front();
        line.courier_sends = true;
      }
    }
  }
  if (last) {
    line.base->Close();
    return false;
  }
  if (!frame) {
    line.work->WaitUntil(due);
    return true;
  }
  const size_t size = frame->size();
  const Status sent = line.base->Send(*std::move(frame), kNever);
  bool closes = false;
  {
    const std::lock_guard lock(mutex_);
    line.courier_sends = false;
    line.held_out -= size;
    line.room->Set();
    if (sent.ok()) return true;
    // This courier ends, and every later Send returns the error.
    line.lost = sent;
    line.has_courier = false;
    line.outgoing.clear();
    line.held_out = 0;
    closes = line.closed;
  }
  if (closes) line.base->Close();
  return false;
}

// Returns true if the caller must start a reader of the line; has_reader is
// then already set. Only one task can receive at a time, so no reader is needed
// while a receiver waits in the base.
bool NetworkEdge::TakeReadersPlace(EdgeLine& line) {
  if (line.has_reader || line.receiving > 0 || line.closed || line.broken ||
      ending_ || !faults_.Any(LinkDirection::kIn, clock_.Now())) {
    return false;
  }
  line.has_reader = true;
  return true;
}

void NetworkEdge::StartReader(const std::shared_ptr<EdgeLine>& line) {
  auto reader = tasks_.Spawn("reader", [this, line] {
    while (ReadNext(*line)) {
    }
  });
  const std::lock_guard lock(mutex_);
  helpers_.push_back(std::move(reader));
}

// Receives the next frame, or waits for space. Returns true if there may be
// more.
bool NetworkEdge::ReadNext(EdgeLine& line) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    line.space->Reset();
    if (ending_ || line.broken || line.closed) return false;
    full = line.held_in >= kMaxHeldBytes;
  }
  if (full) {
    line.space->WaitUntil(kNever);
    return true;
  }
  Result<Frame> came = line.base->Receive(kNever);
  const std::lock_guard lock(mutex_);
  if (ending_ || line.broken || line.closed) return false;
  const bool more = came.ok();
  QueueIncoming(line, std::move(came));
  return more;
}

void NetworkEdge::PutCopy(EdgeLine& line, const Frame& frame) {
  line.held_in += frame.size();
  line.incoming.push_back({.due = line.last_in, .frame = frame});
}

// Queues the frame or the error, with the lateness that faults give it.
void NetworkEdge::QueueIncoming(EdgeLine& line, Result<Frame>&& came) {
  const Time now = clock_.Now();
  line.last_in = std::max(line.last_in,
                          now + faults_.DrawLateness(LinkDirection::kIn, now));
  if (came.ok() && faults_.Doubles(now)) PutCopy(line, *came);
  if (came.ok()) line.held_in += came->size();
  line.incoming.push_back({.due = line.last_in, .frame = std::move(came)});
  line.arrival->Set();
}

// Returns the next frame or error that is due. If none is, returns nullopt and
// sets `waiting` to where the caller must wait; for kHere, `until` is the time
// at which to try again.
std::optional<Result<Frame>> NetworkEdge::HandOut(EdgeLine& line,
                                                  Waiting& waiting,
                                                  Time& until) {
  const std::lock_guard lock(mutex_);
  line.arrival->Reset();
  if (line.broken) return Unavailable("the connection was reset");
  until = kNever;
  if (!line.incoming.empty()) {
    EdgeLine::Late& first = line.incoming.front();
    until = std::max(first.due, faults_.CutUntil(LinkDirection::kIn));
    if (until <= clock_.Now()) {
      // The error stays in the queue, so every further call returns it too.
      if (!first.frame.ok()) return first.frame;
      Result<Frame> frame = std::move(first.frame);
      line.incoming.pop_front();
      line.held_in -= frame->size();
      line.space->Set();
      return frame;
    }
  }
  if (line.closed) return Unavailable("the connection is closed here");
  if (TakeReadersPlace(line)) {
    waiting = Waiting::kNeedsReader;
  } else if (line.has_reader || !line.incoming.empty()) {
    waiting = Waiting::kHere;
  } else {
    waiting = Waiting::kInTheBase;
    ++line.receiving;
  }
  return std::nullopt;
}

// Handles a frame, or error, that the base's Receive returned to a receiver.
// Returns false if the receiver must return it at once. Returns true if it is
// queued instead, or if the line was reset.
bool NetworkEdge::PutAside(EdgeLine& line, Result<Frame>& came) {
  const std::lock_guard lock(mutex_);
  --line.receiving;
  if (line.broken) return true;
  if (came.status().code() == Code::kDeadlineExceeded) return false;
  if (line.closed || !faults_.Any(LinkDirection::kIn, clock_.Now()))
    return false;
  QueueIncoming(line, std::move(came));
  return true;
}

Result<Frame> NetworkEdge::Receive(const std::shared_ptr<EdgeLine>& line,
                                   Time deadline) {
  while (true) {
    Waiting waiting = Waiting::kHere;
    Time until{};
    std::optional<Result<Frame>> ready = HandOut(*line, waiting, until);
    if (ready) return *std::move(ready);
    if (waiting == Waiting::kNeedsReader) {
      StartReader(line);
    } else if (waiting == Waiting::kInTheBase) {
      Result<Frame> came = line->base->Receive(deadline);
      if (!PutAside(*line, came)) return came;
    } else if (clock_.Now() >= deadline) {
      return DeadlineExceeded("receive: no frame came in time");
    } else {
      line->arrival->WaitUntil(std::min(until, deadline));
    }
  }
}

// Closes the line. If frames are queued, the courier sends them first and then
// closes the base. If a receiver waits in the base, drops the queued frames and
// closes the base at once, as nothing else wakes the receiver.
void NetworkEdge::Close(EdgeLine& line) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(line.closed, true)) return;
    line.WakeAll();
    const bool idle = line.outgoing.empty() && !line.courier_sends;
    if (line.has_courier && !idle && line.receiving == 0) return;
    line.outgoing.clear();
  }
  line.base->Close();
}

Time NetworkEdge::TakeFirst(EdgeLine& line, const Frame& first) {
  const std::lock_guard lock(mutex_);
  const Time now = clock_.Now();
  line.last_in = now + faults_.DrawLateness(LinkDirection::kIn, now);
  if (faults_.Doubles(now)) PutCopy(line, first);
  return line.last_in;
}

const Nonce& NetworkEdge::NonceOf(const EdgeLine& line) const {
  return line.base->nonce();
}

}  // namespace gauntlet
