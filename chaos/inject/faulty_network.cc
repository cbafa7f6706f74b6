#include "chaos/inject/faulty_network.h"

#include <utility>

#include "chaos/inject/network_edge.h"

namespace gauntlet {
namespace {

class FaultyChannel final : public Channel {
 public:
  FaultyChannel(NetworkEdge& edge, std::unique_ptr<Channel> base)
      : edge_(edge), line_(edge.Add(std::move(base))) {}
  ~FaultyChannel() override { edge_.Close(*line_); }
  Status Send(Frame frame, Time deadline) override {
    return edge_.Send(line_, std::move(frame), deadline);
  }
  Result<Frame> Receive(Time deadline) override {
    return edge_.Receive(line_, deadline);
  }
  void Close() override { edge_.Close(*line_); }

 private:
  NetworkEdge& edge_;
  const std::shared_ptr<EdgeLine> line_;
};

class FaultyListener final : public Listener {
 public:
  FaultyListener(NetworkEdge& edge, std::unique_ptr<Listener> base)
      : edge_(edge), base_(std::move(base)) {}
  Result<std::unique_ptr<Channel>> Accept(Time deadline) override {
    edge_.SleepWhileCut(deadline);
    ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel, base_->Accept(deadline));
    return std::unique_ptr<Channel>(
        std::make_unique<FaultyChannel>(edge_, std::move(channel)));
  }

 private:
  NetworkEdge& edge_;
  const std::unique_ptr<Listener> base_;
};

}  // namespace

FaultyNetwork::FaultyNetwork(Network& base, Clock& clock, Tasks& tasks,
                             uint64_t seed)
    : edge_(std::make_unique<NetworkEdge>(clock, tasks, seed)), base_(base) {}

FaultyNetwork::~FaultyNetwork() { edge_->End(); }

Result<std::unique_ptr<Listener>> FaultyNetwork::Listen(
    const std::string& address) {
  ASSIGN_OR_RETURN(std::unique_ptr<Listener> listener, base_.Listen(address));
  return std::unique_ptr<Listener>(
      std::make_unique<FaultyListener>(*edge_, std::move(listener)));
}

Result<std::unique_ptr<Channel>> FaultyNetwork::Connect(
    const std::string& address, Time deadline) {
  edge_->SleepWhileCut(deadline);
  ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel,
                   base_.Connect(address, deadline));
  return std::unique_ptr<Channel>(
      std::make_unique<FaultyChannel>(*edge_, std::move(channel)));
}

void FaultyNetwork::Trouble(const Fault& fault) { edge_->Begin(fault); }

}  // namespace gauntlet
