#include "engine/cluster/session.h"

#include <algorithm>
#include <utility>

#include "engine/cluster/address_text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr int kChief = 0;

}  // namespace

Session::Session(World& world, const SessionOptions& options)
    : world_(&world),
      options_(options),
      deadline_(world.clock.Now() + options.rendezvous_timeout),
      control_(static_cast<size_t>(options.size())),
      attendants_(static_cast<size_t>(options.size())) {
  attendants_[kChief] = {.incarnation = options.incarnation,
                         .generation = options.generation,
                         .introduction = options.introduction};
}

Result<std::unique_ptr<Session>> Session::Form(World& world,
                                               const Kernels& kernels,
                                               const SessionOptions& options,
                                               const Decide& decide) {
  CHECK(options.rank >= 0 && options.rank < options.size(),
        "the rank is one of the cluster's");
  std::unique_ptr<Session> session(new Session(world, options));
  RETURN_IF_ERROR(world.faults.Hit(Point::kRendezvous, {}));
  if (options.size() > 1) {
    const std::string& own =
        options.addresses[static_cast<size_t>(options.rank)];
    ASSIGN_OR_RETURN(session->listener_,
                     world.network.Listen(
                         options.listen_on.empty() ? own : options.listen_on));
  }
  if (options.rank == kChief) {
    RETURN_IF_ERROR(session->MeetAsChief(decide));
  } else {
    RETURN_IF_ERROR(session->MeetChief());
  }
  RETURN_IF_ERROR(session->CloseRing(kernels));
  session->StartHeartbeat();
  return session;
}

Status Session::MeetAsChief(const Decide& decide) {
  RETURN_IF_ERROR(AcceptWorkers());
  Result<Decision> decision = decide(attendants_);
  if (!decision.ok()) {
    RefuseAll(decision.status());
    return decision.status();
  }
  decision_ = std::move(*decision);
  return WelcomeWorkers();
}

// Waits until each worker has hung up, so that none misses the reason. The
// error that this rank reports is the decision's, whatever becomes of that.
void Session::RefuseAll(const Status& reason) {
  const Frame refusal = EncodeControl(
      Refusal{.code = reason.code(), .message = std::string(reason.message())});
  const Time until = world_->clock.Now() + options_.lost_after;
  for (const auto& channel : control_) {
    if (channel && channel->Send(refusal, until).ok()) {
      static_cast<void>(channel->Receive(until));
    }
  }
}

Hello Session::HelloOf(ChannelRole role) const {
  Hello hello = {.role = role,
                 .rank = static_cast<uint32_t>(options_.rank),
                 .incarnation = options_.incarnation};
  if (role != ChannelRole::kControl) {
    hello.generation = decision_.generation;
    return hello;
  }
  hello.generation = options_.generation;
  hello.host = world_->host.Name();
  if (options_.address_book == AddressBook::kToldByChief) {
    hello.address = options_.addresses[static_cast<size_t>(options_.rank)];
  }
  hello.introduction = options_.introduction;
  return hello;
}

Status Session::TakeWelcome(Welcome welcome) {
  decision_ = {.generation = welcome.generation,
               .text = std::move(welcome.decision)};
  if (options_.address_book == AddressBook::kKnown) return OkStatus();
  if (welcome.addresses.size() != options_.addresses.size()) {
    return InvalidArgument(
        fmt::format("rank {}: expected {} addresses in the chief's welcome, "
                    "found {}: were all told the same number of workers?",
                    options_.rank, options_.size(), welcome.addresses.size()));
  }
  for (const std::string& address : welcome.addresses) {
    RETURN_IF_ERROR(Annotate(CheckAddress(address), "the chief's welcome"));
  }
  options_.addresses = std::move(welcome.addresses);
  return OkStatus();
}

Status Session::AcceptWorkers() {
  for (int joined = 1; joined < options_.size();) {
    Result<Caller> caller = AcceptCaller(ChannelRole::kControl, deadline_);
    if (!caller.ok()) {
      return Annotate(caller.status(),
                      fmt::format("chief: waiting for {}", MissingRanks()));
    }
    Hello& hello = caller->hello;
    // A second hello of a rank comes from its next incarnation, or from the
    // same one's next attempt; one of an earlier incarnation from a stale
    // worker.
    Attendant& attendant = attendants_[hello.rank];
    std::unique_ptr<Channel>& control = control_[hello.rank];
    const bool is_stale = control && hello.incarnation < attendant.incarnation;
    std::unique_ptr<Channel> refused =
        is_stale ? std::move(caller->channel) : std::move(control);
    if (refused != nullptr) {
      Refuse(*refused, Unavailable(fmt::format(
                           "another process of rank {} has come", hello.rank)));
    }
    if (is_stale) continue;
    if (!refused) ++joined;
    control = std::move(caller->channel);
    if (options_.address_book == AddressBook::kToldByChief) {
      options_.addresses[hello.rank] = std::move(hello.address);
    }
    attendant = {.host = std::move(hello.host),
                 .incarnation = hello.incarnation,
                 .generation = hello.generation,
                 .introduction = std::move(hello.introduction)};
  }
  return OkStatus();
}

std::string Session::MissingRanks() const {
  std::vector<std::string> missing;
  for (size_t rank = 1; rank < control_.size(); ++rank) {
    if (control_[rank]) continue;
    const std::string& address = options_.addresses[rank];
    missing.push_back(address.empty()
                          ? fmt::format("rank {}", rank)
                          : fmt::format("rank {} ({})", rank, address));
  }
  return fmt::format("{}", fmt::join(missing, ", "));
}

Status Session::WelcomeWorkers() {
  Welcome welcome = {.generation = decision_.generation,
                     .decision = decision_.text};
  if (options_.address_book == AddressBook::kToldByChief) {
    welcome.addresses = options_.addresses;
  }
  const Frame frame = EncodeControl(welcome);
  for (size_t rank = 1; rank < control_.size(); ++rank) {
    RETURN_IF_ERROR(Annotate(
        control_[rank]->Send(frame, world_->clock.Now() + options_.lost_after),
        fmt::format("chief: welcoming rank {}", rank)));
  }
  return OkStatus();
}

Status Session::MeetChief() {
  const std::string& address = options_.addresses[kChief];
  Result<std::unique_ptr<Channel>> channel =
      world_->network.Connect(address, deadline_);
  if (!channel.ok()) {
    return Annotate(channel.status(),
                    fmt::format("rank {}: waiting for the chief ({})",
                                options_.rank, address));
  }
  control_[kChief] = std::move(*channel);
  RETURN_IF_ERROR(control_[kChief]->Send(
      EncodeControl(HelloOf(ChannelRole::kControl)), deadline_));
  const Result<Frame> frame =
      control_[kChief]->Receive(deadline_ + options_.decision_timeout);
  if (!frame.ok()) {
    return Annotate(
        frame.status(),
        fmt::format("rank {}: waiting for the chief's welcome", options_.rank));
  }
  Result<ControlMessage> answer = DecodeControl(*frame);
  if (!answer.ok()) return Unavailable(answer.status().message());
  if (const auto* const refusal = std::get_if<Refusal>(&*answer)) {
    return {refusal->code, "chief: " + refusal->message};
  }
  if (auto* const welcome = std::get_if<Welcome>(&*answer)) {
    return TakeWelcome(std::move(*welcome));
  }
  return Unavailable(
      fmt::format("rank {}: the chief sent no welcome", options_.rank));
}

Duration Session::RingTimeout() const {
  return options_.ring_timeout > Duration::zero() ? options_.ring_timeout
                                                  : options_.rendezvous_timeout;
}

Result<std::unique_ptr<Channel>> Session::AcceptFromPrevious(ChannelRole role) {
  const int previous = (options_.rank + options_.size() - 1) % options_.size();
  const Time deadline = world_->clock.Now() + RingTimeout();
  while (true) {
    Result<Caller> caller = AcceptCaller(role, deadline);
    if (!caller.ok()) {
      return Annotate(caller.status(),
                      fmt::format("rank {}: waiting for the ring from rank {}",
                                  options_.rank, previous));
    }
    if (caller->hello.rank == static_cast<uint32_t>(previous) &&
        caller->hello.generation == decision_.generation) {
      return std::move(caller->channel);
    }
    Refuse(*caller->channel,
           Unavailable(fmt::format("expected rank {} of generation {}",
                                   previous, decision_.generation)));
  }
}

Result<Session::Neighbours> Session::MeetNeighbours(ChannelRole role) {
  Neighbours neighbours;
  if (options_.size() == 1) return neighbours;
  const int next = (options_.rank + 1) % options_.size();
  const Time deadline = world_->clock.Now() + RingTimeout();
  ASSIGN_OR_RETURN(
      neighbours.next,
      world_->network.Connect(options_.addresses[static_cast<size_t>(next)],
                              deadline));
  RETURN_IF_ERROR(
      neighbours.next->Send(EncodeControl(HelloOf(role)), deadline));
  ASSIGN_OR_RETURN(neighbours.previous, AcceptFromPrevious(role));
  return neighbours;
}

Status Session::CloseRing(const Kernels& kernels) {
  ASSIGN_OR_RETURN(Neighbours neighbours, MeetNeighbours(ChannelRole::kRing));
  const RingPlace place = {.rank = options_.rank,
                           .size = options_.size(),
                           .generation = decision_.generation};
  ring_ = std::make_unique<Ring>(*world_, kernels, place,
                                 std::move(neighbours.next),
                                 std::move(neighbours.previous));
  return OkStatus();
}

Result<std::unique_ptr<CollectiveLinks>> Session::OpenLinks() {
  Result<Neighbours> neighbours = MeetNeighbours(ChannelRole::kDevice);
  if (!neighbours.ok()) {
    ring_->Abort();
    return neighbours.status();
  }
  return std::make_unique<CollectiveLinks>(
      CollectiveLinks{.clock = world_->clock,
                      .generation = decision_.generation,
                      .next = std::move(neighbours->next),
                      .previous = std::move(neighbours->previous)});
}

void Session::StartHeartbeat() {
  std::vector<ControlChannel> channels;
  for (size_t rank = 0; rank < control_.size(); ++rank) {
    if (!control_[rank]) continue;
    channels.push_back(
        {.rank = static_cast<int>(rank), .channel = std::move(control_[rank])});
  }
  const HeartbeatOptions options = {.every = options_.heartbeat_every,
                                    .lost_after = options_.lost_after,
                                    .generation = decision_.generation,
                                    .rank = options_.rank};
  heartbeat_ = std::make_unique<Heartbeat>(
      *world_, options, std::move(channels),
      [this](int rank, const Status& status) {
        world_->events.Emit(
            {.kind = EventKind::kWorkerLost,
             .generation = decision_.generation,
             .detail = fmt::format("rank {}: {}", rank, status.message())});
        if (status.code() == Code::kDeadlineExceeded) silent_rank_ = rank;
        ring_->Abort();
      },
      [this] { AnswerWaitingCallers(); });
  heartbeat_->Start();
}

void Session::Leave() { heartbeat_->Leave(); }

void Session::Abandon() {
  heartbeat_->Abandon();
  ring_->Abort();
}

}  // namespace gauntlet
