#include "chaos/inject/faulty_network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "chaos/inject/network_edge.h"

namespace gauntlet {
namespace {

class FaultyChannel final : public Channel {
 public:
  FaultyChannel(NetworkEdge& edge, std::unique_ptr<Channel> base)
      : edge_(edge), line_(edge.Add(std::move(base))) {}
  // See NetworkEdge::TakeFirst.
  Time TakeFirst(const Frame& first) { return edge_.TakeFirst(*line_, first); }
  ~FaultyChannel() override { edge_.Close(*line_); }
  Status Send(Frame frame, Time deadline) override {
    return edge_.Send(line_, std::move(frame), deadline);
  }
  Result<Frame> Receive(Time deadline) override {
    return edge_.Receive(line_, deadline);
  }
  void Close() override { edge_.Close(*line_); }
  const Nonce& nonce() const override { return edge_.NonceOf(*line_); }

 private:
  NetworkEdge& edge_;
  const std::shared_ptr<EdgeLine> line_;
};

class FaultyListener final : public Listener {
 public:
  FaultyListener(NetworkEdge& edge, Clock& clock,
                 std::unique_ptr<Listener> base)
      : edge_(edge), clock_(clock), base_(std::move(base)) {}
  Result<Incoming> Accept(Time deadline) override {
    while (true) {
      edge_.SleepWhileCut(deadline);
      const auto next = std::ranges::min_element(late_, {}, &Late::due);
      const bool is_due = next != late_.end() && next->due <= clock_.Now();
      if (is_due) {
        Incoming incoming = std::move(next->incoming);
        late_.erase(next);
        return incoming;
      }
      const Time until =
          next == late_.end() ? deadline : std::min(deadline, next->due);
      Result<Incoming> came = base_->Accept(until);
      if (came.ok()) {
        DelayIncoming(*std::move(came));
      } else if (came.status().code() != Code::kDeadlineExceeded ||
                 until >= deadline) {
        return came;
      }
    }
  }

 private:
  // A caller whose first frame is late.
  struct Late {
    Time due;
    Incoming incoming;
  };

  void DelayIncoming(Incoming incoming) {
    auto channel =
        std::make_unique<FaultyChannel>(edge_, std::move(incoming.channel));
    const Time due = channel->TakeFirst(incoming.first);
    incoming.channel = std::move(channel);
    late_.push_back({.due = due, .incoming = std::move(incoming)});
  }

  std::vector<Late> late_;
  NetworkEdge& edge_;
  Clock& clock_;
  const std::unique_ptr<Listener> base_;
};

}  // namespace

FaultyNetwork::FaultyNetwork(Network& base, Clock& clock, Tasks& tasks,
                             uint64_t seed, EventLog* events)
    : edge_(std::make_unique<NetworkEdge>(clock, tasks, seed, events)),
      base_(base),
      clock_(clock) {}

FaultyNetwork::~FaultyNetwork() { edge_->End(); }

Result<std::unique_ptr<Listener>> FaultyNetwork::Listen(
    const std::string& address, ConnectionFilter filter) {
  ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener,
                   base_.Listen(address, std::move(filter)));
  return std::unique_ptr<Listener>(
      std::make_unique<FaultyListener>(*edge_, clock_, std::move(listener)));
}

Result<std::unique_ptr<Channel>> FaultyNetwork::Connect(
    const std::string& address, Time deadline) {
  edge_->SleepWhileCut(deadline);
  ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel,
                   base_.Connect(address, deadline));
  return std::unique_ptr<Channel>(
      std::make_unique<FaultyChannel>(*edge_, std::move(channel)));
}

void FaultyNetwork::BeginFault(const Fault& fault) { edge_->Begin(fault); }

}  // namespace gauntlet
