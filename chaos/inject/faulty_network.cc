#include "chaos/inject/faulty_network.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "chaos/inject/frame_trouble.h"
#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

Time EndOf(const Fault& fault, Time begin) {
  return fault.with.duration == Duration::zero() ? kNever
                                                 : begin + fault.with.duration;
}

}  // namespace

// One connection. Everything but `base` is guarded by the edge's mutex.
struct FaultyNetwork::Line {
  struct Late {
    Time due;
    // The frame, or the news that there are no more.
    Result<Frame> frame;
  };

  Line(std::unique_ptr<Channel> channel, Tasks& tasks)
      : base(std::move(channel)),
        work(tasks.NewEvent()),
        room(tasks.NewEvent()),
        arrival(tasks.NewEvent()) {}

  const std::unique_ptr<Channel> base;
  const std::unique_ptr<Event> work;     // for the courier
  const std::unique_ptr<Event> room;     // for a sender
  const std::unique_ptr<Event> arrival;  // for a receiver
  std::deque<Late> outgoing;
  std::deque<Late> incoming;
  Time last_out{};
  Time last_in{};
  size_t held_bytes = 0;       // on the way out, with what the courier sends
  int receiving = 0;           // receivers that wait in the base
  bool has_courier = false;    // a task that brings what is outgoing
  bool courier_sends = false;  // it is in the base
  bool closed = false;         // by this process
  bool broken = false;         // by a reset, or as the base says

  void WakeAll() {
    work->Set();
    room->Set();
    arrival->Set();
  }
};

// What the process's connections have in common: the troubles.
class FaultyNetwork::Edge {
 public:
  Edge(Clock& clock, Tasks& tasks, uint64_t seed)
      : clock_(clock), tasks_(tasks), seed_(seed) {}

  std::unique_ptr<Channel> Wrap(std::unique_ptr<Channel> base);
  void Begin(const Fault& fault);
  void End();
  void SleepWhileCut(Time deadline);

  Status Send(const std::shared_ptr<Line>& line, Frame frame, Time deadline);
  Result<Frame> Receive(Line& line, Time deadline);
  void Close(Line& line);

 private:
  struct Cut {
    bool out;
    bool in;
    Time until;
  };
  struct Lateness {
    FrameTrouble out;
    FrameTrouble in;
    Time until;
  };

  void Reset();
  Time CutUntil(LinkWay way) const;
  Duration DrawLateness(LinkWay way);
  bool IsTroubled(LinkWay way);
  enum class Taking : uint8_t { kPasses, kTaken, kNeedsCourier, kNoRoom };
  Result<Taking> Take(Line& line, Frame& frame);
  void StartCourier(const std::shared_ptr<Line>& line);
  bool BringNext(Line& line);
  std::optional<Result<Frame>> HandOut(Line& line, Time& until);
  bool PutAside(Line& line, Result<Frame>& came);

  Clock& clock_;
  Tasks& tasks_;
  const uint64_t seed_;
  std::atomic<bool> troubled_ = false;  // now or at some time before
  std::mutex mutex_;                    // of all below, and of the lines
  bool ending_ = false;
  std::vector<Cut> cuts_;
  std::vector<Lateness> latenesses_;
  std::vector<std::weak_ptr<Line>> lines_;
  std::vector<std::unique_ptr<Task>> couriers_;
};

class FaultyNetwork::FaultyChannel final : public Channel {
 public:
  FaultyChannel(Edge& edge, std::shared_ptr<Line> line)
      : edge_(edge), line_(std::move(line)) {}
  ~FaultyChannel() override { edge_.Close(*line_); }
  Status Send(Frame frame, Time deadline) override {
    return edge_.Send(line_, std::move(frame), deadline);
  }
  Result<Frame> Receive(Time deadline) override {
    return edge_.Receive(*line_, deadline);
  }
  void Close() override { edge_.Close(*line_); }

 private:
  Edge& edge_;
  const std::shared_ptr<Line> line_;
};

class FaultyNetwork::FaultyListener final : public Listener {
 public:
  FaultyListener(std::shared_ptr<Edge> edge, std::unique_ptr<Listener> base)
      : edge_(std::move(edge)), base_(std::move(base)) {}
  Result<std::unique_ptr<Channel>> Accept(Time deadline) override {
    edge_->SleepWhileCut(deadline);
    ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel, base_->Accept(deadline));
    return edge_->Wrap(std::move(channel));
  }

 private:
  const std::shared_ptr<Edge> edge_;
  const std::unique_ptr<Listener> base_;
};

std::unique_ptr<Channel> FaultyNetwork::Edge::Wrap(
    std::unique_ptr<Channel> base) {
  auto line = std::make_shared<Line>(std::move(base), tasks_);
  const std::lock_guard lock(mutex_);
  std::erase_if(lines_, [](const auto& one) { return one.expired(); });
  lines_.push_back(line);
  return std::make_unique<FaultyChannel>(*this, std::move(line));
}

void FaultyNetwork::Edge::Begin(const Fault& fault) {
  CHECK(IsOfNetwork(fault.kind) && fault.with.groups.empty(),
        fmt::format("{}: no trouble of one process's network", fault.id));
  if (fault.kind == FaultKind::kReset) return Reset();
  const Time until = EndOf(fault, clock_.Now());
  const std::lock_guard lock(mutex_);
  if (fault.kind == FaultKind::kPartition) {
    cuts_.push_back({.out = true, .in = true, .until = until});
  } else if (fault.kind == FaultKind::kOneWay) {
    const bool out = fault.with.way == LinkWay::kOut;
    cuts_.push_back({.out = out, .in = !out, .until = until});
  } else {
    const auto trouble = [&](LinkWay way) {
      return FrameTrouble(
          fault, RandomStream(seed_, TroubleStream(fault, way, "here")));
    };
    latenesses_.push_back({.out = trouble(LinkWay::kOut),
                           .in = trouble(LinkWay::kIn),
                           .until = until});
  }
  troubled_ = true;
}

void FaultyNetwork::Edge::Reset() {
  std::vector<std::shared_ptr<Line>> broken;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& known : lines_) {
      const std::shared_ptr<Line> line = known.lock();
      if (line == nullptr || line->broken) continue;
      line->broken = true;
      line->outgoing.clear();
      line->incoming.clear();
      line->WakeAll();
      broken.push_back(line);
    }
    troubled_ = true;
  }
  for (const auto& line : broken) line->base->Close();
}

// REQUIRES: no channel is left.
void FaultyNetwork::Edge::End() {
  std::vector<std::unique_ptr<Task>> couriers;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    couriers.swap(couriers_);
    for (const auto& known : lines_) {
      const std::shared_ptr<Line> line = known.lock();
      if (line == nullptr) continue;
      line->WakeAll();
      line->base->Close();
    }
  }
  for (const auto& courier : couriers) courier->Join();
}

// No connection comes about while either way is cut.
void FaultyNetwork::Edge::SleepWhileCut(Time deadline) {
  if (!troubled_) return;
  while (clock_.Now() < deadline) {
    Time until;
    {
      const std::lock_guard lock(mutex_);
      until = std::max(CutUntil(LinkWay::kOut), CutUntil(LinkWay::kIn));
    }
    if (until <= clock_.Now()) return;
    clock_.SleepUntil(std::min(until, deadline));
  }
}

Time FaultyNetwork::Edge::CutUntil(LinkWay way) const {
  Time until{};
  for (const Cut& cut : cuts_) {
    if (way == LinkWay::kOut ? cut.out : cut.in) {
      until = std::max(until, cut.until);
    }
  }
  return until;
}

Duration FaultyNetwork::Edge::DrawLateness(LinkWay way) {
  const Time now = clock_.Now();
  std::erase_if(latenesses_,
                [now](const Lateness& one) { return one.until <= now; });
  Duration late{0};
  for (Lateness& one : latenesses_) {
    late += way == LinkWay::kOut ? one.out.Draw() : one.in.Draw();
  }
  return late;
}

bool FaultyNetwork::Edge::IsTroubled(LinkWay way) {
  const Time now = clock_.Now();
  std::erase_if(latenesses_,
                [now](const Lateness& one) { return one.until <= now; });
  return !latenesses_.empty() || CutUntil(way) > now;
}

// Takes the frame in, unless it may pass at once or there is no room.
Result<FaultyNetwork::Edge::Taking> FaultyNetwork::Edge::Take(Line& line,
                                                              Frame& frame) {
  const std::lock_guard lock(mutex_);
  line.room->Reset();
  if (line.broken || line.closed) {
    return Unavailable("the connection is lost");
  }
  const bool idle = line.outgoing.empty() && !line.courier_sends;
  if (idle && !IsTroubled(LinkWay::kOut)) return Taking::kPasses;
  if (line.held_bytes != 0 && line.held_bytes + frame.size() > kMaxHeldBytes) {
    return Taking::kNoRoom;
  }
  line.last_out =
      std::max(line.last_out, clock_.Now() + DrawLateness(LinkWay::kOut));
  line.held_bytes += frame.size();
  line.outgoing.push_back({.due = line.last_out, .frame = std::move(frame)});
  line.work->Set();
  return std::exchange(line.has_courier, true) ? Taking::kTaken
                                               : Taking::kNeedsCourier;
}

Status FaultyNetwork::Edge::Send(const std::shared_ptr<Line>& line, Frame frame,
                                 Time deadline) {
  if (!troubled_) return line->base->Send(std::move(frame), deadline);
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
      return DeadlineExceeded("send: too much is under way");
    }
  }
}

void FaultyNetwork::Edge::StartCourier(const std::shared_ptr<Line>& line) {
  auto courier = tasks_.Spawn("courier", [this, line] {
    while (BringNext(*line)) {
    }
  });
  const std::lock_guard lock(mutex_);
  couriers_.push_back(std::move(courier));
}

// Waits for what is to be done next, or does it; whether there may be more.
bool FaultyNetwork::Edge::BringNext(Line& line) {
  std::optional<Frame> frame;
  Time due = kNever;
  {
    const std::lock_guard lock(mutex_);
    line.work->Reset();
    if (ending_ || line.broken) return false;
    if (line.outgoing.empty() && line.closed) {
      line.base->Close();
      return false;
    }
    if (!line.outgoing.empty()) {
      Line::Late& first = line.outgoing.front();
      due = std::max(first.due, CutUntil(LinkWay::kOut));
      if (due <= clock_.Now()) {
        frame = *std::move(first.frame);
        line.outgoing.pop_front();
        line.courier_sends = true;
      }
    }
  }
  if (!frame) {
    line.work->WaitUntil(due);
    return true;
  }
  const size_t size = frame->size();
  const Status sent = line.base->Send(*std::move(frame), kNever);
  const std::lock_guard lock(mutex_);
  line.courier_sends = false;
  line.held_bytes -= size;
  if (!sent.ok()) line.outgoing.clear();
  line.room->Set();
  return sent.ok();
}

// What has arrived here and may be handed out; nullopt: nothing yet, wait until
// `until` (kNever: in the base).
std::optional<Result<Frame>> FaultyNetwork::Edge::HandOut(Line& line,
                                                          Time& until) {
  const std::lock_guard lock(mutex_);
  line.arrival->Reset();
  if (line.broken) return Unavailable("the connection was reset");
  const Time now = clock_.Now();
  const Time cut_until = CutUntil(LinkWay::kIn);
  if (line.incoming.empty()) {
    if (line.closed) return Unavailable("the connection is closed here");
    until = cut_until > now ? cut_until : Time{};
    if (until == Time{}) ++line.receiving;
    return std::nullopt;
  }
  Line::Late& first = line.incoming.front();
  until = std::max(first.due, cut_until);
  if (until > now) return std::nullopt;
  // The news that there are no more stays.
  if (!first.frame.ok()) return first.frame;
  Result<Frame> frame = std::move(first.frame);
  line.incoming.pop_front();
  return frame;
}

// What came from the base; whether it is to be late.
bool FaultyNetwork::Edge::PutAside(Line& line, Result<Frame>& came) {
  const std::lock_guard lock(mutex_);
  --line.receiving;
  if (line.broken) return true;
  if (came.status().code() == Code::kDeadlineExceeded) return false;
  if (line.closed || !IsTroubled(LinkWay::kIn)) return false;
  line.last_in =
      std::max(line.last_in, clock_.Now() + DrawLateness(LinkWay::kIn));
  line.incoming.push_back({.due = line.last_in, .frame = std::move(came)});
  return true;
}

Result<Frame> FaultyNetwork::Edge::Receive(Line& line, Time deadline) {
  while (true) {
    Time until{};
    std::optional<Result<Frame>> ready = HandOut(line, until);
    if (ready) return *std::move(ready);
    if (until == Time{}) {
      Result<Frame> came = line.base->Receive(deadline);
      if (!PutAside(line, came)) return came;
    } else if (clock_.Now() >= deadline) {
      return DeadlineExceeded("receive: no frame came in time");
    } else {
      line.arrival->WaitUntil(std::min(until, deadline));
    }
  }
}

// What waits for its time goes first, unless somebody waits in the base for a
// frame: he is to be woken, and only the base's end does that.
void FaultyNetwork::Edge::Close(Line& line) {
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

FaultyNetwork::FaultyNetwork(Network& base, Clock& clock, Tasks& tasks,
                             uint64_t seed)
    : edge_(std::make_shared<Edge>(clock, tasks, seed)), base_(base) {}

FaultyNetwork::~FaultyNetwork() { edge_->End(); }

Result<std::unique_ptr<Listener>> FaultyNetwork::Listen(
    const std::string& address) {
  ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener, base_.Listen(address));
  return std::unique_ptr<Listener>(
      std::make_unique<FaultyListener>(edge_, std::move(listener)));
}

Result<std::unique_ptr<Channel>> FaultyNetwork::Connect(
    const std::string& address, Time deadline) {
  edge_->SleepWhileCut(deadline);
  ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel,
                   base_.Connect(address, deadline));
  return edge_->Wrap(std::move(channel));
}

void FaultyNetwork::Trouble(const Fault& fault) { edge_->Begin(fault); }

}  // namespace gauntlet
