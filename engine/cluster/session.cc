#include "engine/cluster/session.h"

#include <algorithm>
#include <utility>

#include "engine/cluster/address_text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr int kChief = 0;

// An error as the chief tells it: its code in `chunk`, its message as payload.
Frame RefusalFrame(const Status& status) {
  return EncodeFrame({.kind = FrameKind::kRefuse,
                      .chunk = static_cast<uint32_t>(status.code())},
                     status.message());
}

Status RefusalStatus(const FrameHeader& header, const Frame& frame) {
  const auto last = static_cast<uint32_t>(Code::kForbidden);
  const uint32_t code = std::clamp<uint32_t>(header.chunk, 1, last);
  return {static_cast<Code>(code),
          fmt::format("chief: {}", FramePayload(frame))};
}

}  // namespace

Session::Session(World& world, const SessionOptions& options)
    : world_(&world),
      options_(options),
      deadline_(world.clock.Now() + options.rendezvous_timeout),
      control_(static_cast<size_t>(options.size())),
      attendants_(static_cast<size_t>(options.size())) {
  attendants_[kChief] = {.life = options.life,
                         .generation = options.generation,
                         .said = options.said};
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
  return TellWorkers(
      {.kind = FrameKind::kWelcome, .generation = decision_.generation},
      WelcomeText());
}

// Waits until each worker has hung up, so that none misses the reason. The
// error that this rank reports is the decision's, whatever becomes of that.
void Session::RefuseAll(const Status& reason) {
  const Frame refusal = RefusalFrame(reason);
  const Time until = world_->clock.Now() + options_.lost_after;
  for (const auto& channel : control_) {
    if (channel && channel->Send(refusal, until).ok()) {
      static_cast<void>(channel->Receive(until));
    }
  }
}

Result<Session::Caller> Session::AcceptCaller(ChannelRole role, Time deadline) {
  while (true) {
    ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel,
                     listener_->Accept(deadline));
    const Time patience =
        std::min(deadline, world_->clock.Now() + options_.lost_after);
    const Result<Frame> frame = channel->Receive(patience);
    if (!frame.ok()) continue;
    const Result<FrameHeader> hello = DecodeFrame(*frame);
    if (!hello.ok() || !TakesPart(*hello, role)) continue;
    Caller caller = {.channel = std::move(channel), .hello = *hello};
    if (TakeSaid(FramePayload(*frame), caller)) return caller;
  }
}

bool Session::TakesPart(const FrameHeader& hello, ChannelRole role) const {
  return hello.kind == FrameKind::kHello && hello.role == role &&
         hello.rank < static_cast<uint32_t>(options_.size());
}

// What a worker says in its hello to the chief.
std::string Session::HelloText() const {
  if (options_.address_book == AddressBook::kKnown) return options_.said;
  return EncodeList(
      {options_.addresses[static_cast<size_t>(options_.rank)], options_.said});
}

// False: it tells no address where it is the one to tell.
bool Session::TakeSaid(std::string_view text, Caller& caller) const {
  if (caller.hello.role != ChannelRole::kControl ||
      options_.address_book == AddressBook::kKnown) {
    caller.said = text;
    return true;
  }
  Result<std::vector<std::string>> texts = DecodeList(text);
  if (!texts.ok() || texts->size() != 2 || !CheckAddress((*texts)[0]).ok()) {
    return false;
  }
  caller.address = std::move((*texts)[0]);
  caller.said = std::move((*texts)[1]);
  return true;
}

std::string Session::WelcomeText() const {
  if (options_.address_book == AddressBook::kKnown) return decision_.text;
  std::vector<std::string> texts = options_.addresses;
  texts.push_back(decision_.text);
  return EncodeList(texts);
}

Status Session::TakeWelcome(const FrameHeader& header, std::string_view text) {
  decision_ = {.generation = header.generation, .text = std::string(text)};
  if (options_.address_book == AddressBook::kKnown) return OkStatus();
  ASSIGN_OR_RETURN(std::vector<std::string> texts, DecodeList(text));
  if (texts.size() != options_.addresses.size() + 1) {
    return InvalidArgument(
        fmt::format("rank {}: expected {} addresses and a decision in the "
                    "chief's welcome, found {} texts: were all told the same "
                    "number of workers?",
                    options_.rank, options_.size(), texts.size()));
  }
  decision_.text = std::move(texts.back());
  texts.pop_back();
  for (const std::string& address : texts) {
    RETURN_IF_ERROR(Annotate(CheckAddress(address), "the chief's welcome"));
  }
  options_.addresses = std::move(texts);
  return OkStatus();
}

Status Session::AcceptWorkers() {
  for (int joined = 1; joined < options_.size();) {
    Result<Caller> caller = AcceptCaller(ChannelRole::kControl, deadline_);
    if (!caller.ok()) {
      return Annotate(caller.status(),
                      fmt::format("chief: waiting for {}", MissingRanks()));
    }
    const uint32_t rank = caller->hello.rank;
    if (rank == 0) continue;
    // A second hello of a rank is of its next life, or of the same one's next
    // attempt; one of an earlier life, of a late survivor.
    Attendant& attendant = attendants_[rank];
    if (control_[rank] && caller->hello.step < attendant.life) continue;
    if (!control_[rank]) ++joined;
    control_[rank] = std::move(caller->channel);
    if (options_.address_book == AddressBook::kToldByChief) {
      options_.addresses[rank] = std::move(caller->address);
    }
    attendant = {.life = caller->hello.step,
                 .generation = caller->hello.generation,
                 .said = std::move(caller->said)};
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

Status Session::TellWorkers(const FrameHeader& header,
                            const std::string& payload) {
  for (size_t rank = 1; rank < control_.size(); ++rank) {
    RETURN_IF_ERROR(Annotate(
        control_[rank]->Send(EncodeFrame(header, payload),
                             world_->clock.Now() + options_.lost_after),
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
  const FrameHeader hello = {.kind = FrameKind::kHello,
                             .role = ChannelRole::kControl,
                             .rank = static_cast<uint32_t>(options_.rank),
                             .generation = options_.generation,
                             .step = options_.life};
  RETURN_IF_ERROR(
      control_[kChief]->Send(EncodeFrame(hello, HelloText()), deadline_));
  const Result<Frame> frame =
      control_[kChief]->Receive(deadline_ + options_.decision_timeout);
  if (!frame.ok()) {
    return Annotate(
        frame.status(),
        fmt::format("rank {}: waiting for the chief's welcome", options_.rank));
  }
  ASSIGN_OR_RETURN(const FrameHeader header, DecodeFrame(*frame));
  if (header.kind == FrameKind::kRefuse) return RefusalStatus(header, *frame);
  if (header.kind != FrameKind::kWelcome) {
    return Unavailable(
        fmt::format("rank {}: expected a welcome, found frame kind {}",
                    options_.rank, static_cast<int>(header.kind)));
  }
  return TakeWelcome(header, FramePayload(*frame));
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
  const FrameHeader hello = {.kind = FrameKind::kHello,
                             .role = role,
                             .rank = static_cast<uint32_t>(options_.rank),
                             .generation = decision_.generation};
  RETURN_IF_ERROR(neighbours.next->Send(EncodeFrame(hello, ""), deadline));
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
      });
  heartbeat_->Start();
}

void Session::Leave() { heartbeat_->Leave(); }

void Session::Abandon() {
  heartbeat_->Abandon();
  ring_->Abort();
}

}  // namespace gauntlet
