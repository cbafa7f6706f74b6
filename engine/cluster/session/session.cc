#include "engine/cluster/session/session.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/cluster/address_text.h"
#include "engine/cluster/link/numbered_channel.h"
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
      gate_(std::make_shared<Gate>(options.token, options.rank)),
      control_(static_cast<size_t>(options.size())),
      joined_(static_cast<size_t>(options.size())),
      hello_nonces_(static_cast<size_t>(options.size())) {
  joined_[kChief] = {.incarnation = options.incarnation,
                     .generation = options.generation,
                     .hello_payload = options.hello_payload};
}

Result<std::unique_ptr<Session>> Session::Form(World& world,
                                               const Kernels& kernels,
                                               const SessionOptions& options,
                                               const Decide& decide) {
  CHECK(options.rank >= 0 && options.rank < options.size(),
        "the rank is one of the cluster's");
  std::unique_ptr<Session> session(new Session(world, options));
  RETURN_IF_ERROR(world.faults.Hit(Point::kRendezvous, {}));
  if (options.size() > 1) RETURN_IF_ERROR(session->Listen());
  if (options.rank == kChief) {
    RETURN_IF_ERROR(session->FormAsChief(decide));
  } else {
    RETURN_IF_ERROR(session->JoinChief());
  }
  RETURN_IF_ERROR(session->ConnectRing(kernels));
  session->StartHeartbeat();
  return session;
}

Status Session::Listen() {
  const std::string& own =
      options_.addresses[static_cast<size_t>(options_.rank)];
  const std::string& address =
      options_.listen_on.empty() ? own : options_.listen_on;
  if (!options_.token && !options_.insecure) {
    RETURN_IF_ERROR(CheckMayListenWithoutToken(options_.rank, address));
  }
  ASSIGN_OR_RETURN(listener_, world_->network.Listen(
                                  address, [gate = gate_](const Nonce& nonce,
                                                          const Frame& first) {
                                    return gate->Check(nonce, first);
                                  }));
  return OkStatus();
}

Status Session::FormAsChief(const Decide& decide) {
  RETURN_IF_ERROR(AcceptWorkers());
  Result<Decision> decision = decide(joined_);
  if (!decision.ok()) {
    RefuseAll(decision.status());
    return decision.status();
  }
  decision_ = std::move(*decision);
  return WelcomeWorkers();
}

// Sends the reason to each worker, and waits until that worker has closed its
// connection: it has received the reason then. Ignores failures: this rank
// itself returns the error of the decision.
void Session::RefuseAll(const Status& reason) {
  world_->events.Emit(
      {.kind = EventKind::kLeaving, .generation = options_.generation});
  const Time until = world_->clock.Now() + options_.lost_after;
  for (size_t rank = 1; rank < control_.size(); ++rank) {
    Channel* const channel = control_[rank].get();
    if (channel == nullptr) continue;
    if (channel->Send(RefusalTo(ContextOfRank(rank), reason), until).ok()) {
      static_cast<void>(channel->Receive(until));
    }
  }
}

Hello Session::HelloTo(int server, ChannelRole role,
                       const Channel& channel) const {
  Hello hello = {.role = role,
                 .rank = static_cast<uint32_t>(options_.rank),
                 .incarnation = options_.incarnation};
  if (role == ChannelRole::kControl) {
    hello.generation = options_.generation;
    hello.host = world_->host.Name();
    if (options_.address_book == AddressBook::kSentByChief) {
      hello.address = options_.addresses[static_cast<size_t>(options_.rank)];
    }
    hello.payload = options_.hello_payload;
    hello.nonce.resize(kNonceBytes);
    world_->entropy.Fill(std::as_writable_bytes(std::span(hello.nonce)));
  } else {
    hello.generation = decision_.generation;
  }
  gate_->proofs().Sign(channel.nonce(), static_cast<uint32_t>(server), hello);
  return hello;
}

Status Session::ApplyWelcome(Welcome welcome) {
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
    Result<Client> client = AcceptClient(deadline_);
    if (!client.ok()) {
      for (size_t rank = 1; rank < control_.size(); ++rank) {
        if (control_[rank]) continue;
        EmitWorkerLost(static_cast<int>(rank), ReasonOfWait(client.status()),
                       options_.rendezvous_timeout);
      }
      return Annotate(client.status(),
                      fmt::format("chief: waiting for {}", MissingRanks()));
    }
    Hello& hello = client->hello;
    const Status valid = CheckHello(hello, ChannelRole::kControl);
    if (!valid.ok()) {
      Refuse(*client, valid);
      continue;
    }
    // If two hellos are of one rank, the second is from the next incarnation,
    // or the same incarnation has tried again. A hello of an earlier
    // incarnation is from a stale worker.
    JoinedWorker& joined_worker = joined_[hello.rank];
    std::unique_ptr<Channel>& control = control_[hello.rank];
    const Status replaced = Unavailable(
        fmt::format("another process of rank {} has come", hello.rank));
    if (control && hello.incarnation < joined_worker.incarnation) {
      Refuse(*client, replaced);
      continue;
    }
    if (!Accept(*client).ok()) continue;
    if (control) {
      static_cast<void>(control->Send(
          RefusalTo(ContextOfRank(hello.rank), replaced), world_->clock.Now()));
    } else {
      ++joined;
    }
    control = std::move(client->channel);
    if (options_.address_book == AddressBook::kSentByChief) {
      options_.addresses[hello.rank] = std::move(hello.address);
    }
    joined_worker = {.host = std::move(hello.host),
                     .incarnation = hello.incarnation,
                     .generation = hello.generation,
                     .hello_payload = std::move(hello.payload)};
    hello_nonces_[hello.rank] = std::move(hello.nonce);
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
  if (options_.address_book == AddressBook::kSentByChief) {
    welcome.addresses = options_.addresses;
  }
  for (size_t rank = 1; rank < control_.size(); ++rank) {
    gate_->proofs().Sign(ContextOfRank(rank), welcome);
    const Status sent = control_[rank]->Send(
        EncodeControl(welcome), world_->clock.Now() + options_.lost_after);
    if (sent.ok()) continue;
    EmitWorkerLost(static_cast<int>(rank), ReasonOfWait(sent),
                   options_.lost_after);
    return Annotate(sent, fmt::format("chief: welcoming rank {}", rank));
  }
  return OkStatus();
}

// Retries until a process that knows the token answers. If there is no answer,
// retries until the rendezvous timeout: another process may occupy the chief's
// address for a moment. If an answer has no proof of the token, retries only
// for `lost_after`: the sender may be the chief, with another token.
Status Session::JoinChief() {
  Time give_up = kNever;
  while (true) {
    RETURN_IF_ERROR(ConnectToChief());
    const Time patience = world_->clock.Now() + 2 * options_.lost_after;
    Result<Answer> answer = ReceiveAnswer(std::min(deadline_, patience));
    if (answer.ok() && answer->is_proven) {
      return AwaitWelcome(*std::move(answer));
    }
    const Time now = world_->clock.Now();
    if (answer.ok()) {
      give_up = std::min({give_up, deadline_, now + options_.lost_after});
      if (now >= give_up) return NoChiefError(*answer);
    } else if (now >= deadline_) {
      EmitWorkerLost(kChief, ReasonOfWait(answer.status()),
                     options_.rendezvous_timeout);
      return Annotate(answer.status(),
                      fmt::format("rank {}: waiting for the chief ({})",
                                  options_.rank, options_.addresses[kChief]));
    }
    control_[kChief].reset();
    world_->clock.SleepUntil(
        std::min(deadline_, now + options_.heartbeat_every));
  }
}

Status Session::NoChiefError(const Answer& answer) const {
  const auto* const refusal = std::get_if<Refusal>(&answer.message);
  return InvalidArgument(fmt::format(
      "rank {}: no chief with this job token at {}{}: check the address, and "
      "set the same {} (or use DIR/job-token in a shared --ckpt DIR) for all "
      "workers",
      options_.rank, options_.addresses[kChief],
      refusal == nullptr
          ? ""
          : fmt::format(" (it says {})", QuotedText(refusal->message)),
      kTokenVariable));
}

Status Session::ConnectToChief() {
  const std::string& address = options_.addresses[kChief];
  Result<std::unique_ptr<Channel>> channel =
      world_->network.Connect(address, deadline_);
  if (!channel.ok()) {
    EmitWorkerLost(kChief, ReasonOfWait(channel.status()),
                   options_.rendezvous_timeout);
    return Annotate(channel.status(),
                    fmt::format("rank {}: waiting for the chief ({})",
                                options_.rank, address));
  }
  std::unique_ptr<Channel>& control = control_[kChief];
  control = NumberFrames(world_->tasks, LinkEnd::kClient, *std::move(channel));
  Hello hello = HelloTo(kChief, ChannelRole::kControl, *control);
  // An error is ignored here: the wait for the answer detects a closed
  // connection.
  static_cast<void>(control->Send(EncodeControl(hello), deadline_));
  hello_nonces_[kChief] = std::move(hello.nonce);
  return OkStatus();
}

Result<Session::Answer> Session::ReceiveAnswer(Time deadline) {
  const Channel& control = *control_[kChief];
  ASSIGN_OR_RETURN(const Frame frame, control_[kChief]->Receive(deadline));
  Result<ControlMessage> message = DecodeControl(frame);
  if (!message.ok()) return Unavailable(message.status().message());
  const LinkContext link = {.server_nonce = control.nonce(),
                            .client_nonce = hello_nonces_[kChief],
                            .client = static_cast<uint32_t>(options_.rank),
                            .server = kChief};
  const LinkProofs& proofs = gate_->proofs();
  if (const auto* const accepted = std::get_if<Accepted>(&*message)) {
    if (!proofs.Accepts(link, *accepted)) {
      return Unavailable("accepted without a proof of the job's token");
    }
    return Answer{.message = *accepted, .is_proven = true};
  }
  if (auto* const refusal = std::get_if<Refusal>(&*message)) {
    const bool is_proven = proofs.Accepts(link, *refusal);
    return Answer{.message = std::move(*refusal), .is_proven = is_proven};
  }
  if (auto* const welcome = std::get_if<Welcome>(&*message)) {
    const bool is_proven = proofs.Accepts(link, *welcome);
    return Answer{.message = std::move(*welcome), .is_proven = is_proven};
  }
  return Unavailable("neither a welcome nor a refusal");
}

Status Session::AwaitWelcome(Answer answer) {
  if (std::holds_alternative<Accepted>(answer.message)) {
    Result<Answer> next = ReceiveAnswer(deadline_ + options_.decision_timeout);
    if (next.ok() &&
        (!next->is_proven || std::holds_alternative<Accepted>(next->message))) {
      next = Unavailable("neither a welcome nor a refusal");
    }
    if (!next.ok()) {
      EmitWorkerLost(kChief, ReasonOfWait(next.status()),
                     options_.decision_timeout);
      return Annotate(next.status(),
                      fmt::format("rank {}: waiting for the chief's welcome",
                                  options_.rank));
    }
    answer = *std::move(next);
  }
  if (const auto* const refusal = std::get_if<Refusal>(&answer.message)) {
    EmitWorkerLost(kChief, Reason::kRefused, Duration::zero());
    return {refusal->code, "chief: " + refusal->message};
  }
  return ApplyWelcome(std::get<Welcome>(std::move(answer.message)));
}

Duration Session::RingTimeout() const {
  return options_.ring_timeout > Duration::zero() ? options_.ring_timeout
                                                  : options_.rendezvous_timeout;
}

// If the previous rank closes its connection before this rank accepts it, no
// connection arrives. On the chief, a hello that supersedes a joined worker's
// ends the wait.
Result<std::unique_ptr<Channel>> Session::AcceptFromPrevious(ChannelRole role) {
  const int previous = (options_.rank + options_.size() - 1) % options_.size();
  const Time deadline = world_->clock.Now() + RingTimeout();
  while (true) {
    Result<Client> client = AcceptClient(deadline);
    if (!client.ok()) {
      EmitWorkerLost(previous, ReasonOfWait(client.status()), RingTimeout());
      return Annotate(client.status(),
                      fmt::format("rank {}: waiting for the ring from rank {}",
                                  options_.rank, previous));
    }
    const Hello& hello = client->hello;
    if (SupersedesJoinedWorker(hello)) {
      EmitWorkerLost(static_cast<int>(hello.rank), Reason::kClosed,
                     Duration::zero());
      return Unavailable(
          fmt::format("chief: rank {} came again as the ring of generation {} "
                      "formed",
                      hello.rank, decision_.generation));
    }
    Status status = CheckHello(hello, role);
    if (status.ok() && (hello.rank != static_cast<uint32_t>(previous) ||
                        hello.generation != decision_.generation)) {
      status = Unavailable(fmt::format("expected rank {} of generation {}",
                                       previous, decision_.generation));
    }
    if (status.ok()) return std::move(client->channel);
    Refuse(*client, status);
  }
}

Result<Session::Neighbours> Session::ConnectNeighbours(ChannelRole role) {
  Neighbours neighbours;
  if (options_.size() == 1) return neighbours;
  const int next = (options_.rank + 1) % options_.size();
  const Time deadline = world_->clock.Now() + RingTimeout();
  Status reached;
  Result<std::unique_ptr<Channel>> channel = world_->network.Connect(
      options_.addresses[static_cast<size_t>(next)], deadline);
  if (channel.ok()) {
    neighbours.next =
        NumberFrames(world_->tasks, LinkEnd::kClient, *std::move(channel));
    const Hello hello = HelloTo(next, role, *neighbours.next);
    reached = neighbours.next->Send(EncodeControl(hello), deadline);
  } else {
    reached = channel.status();
  }
  if (!reached.ok()) {
    EmitWorkerLost(next, ReasonOfWait(reached), RingTimeout());
    return reached;
  }
  ASSIGN_OR_RETURN(neighbours.previous, AcceptFromPrevious(role));
  return neighbours;
}

Status Session::ConnectRing(const Kernels& kernels) {
  ASSIGN_OR_RETURN(Neighbours neighbours,
                   ConnectNeighbours(ChannelRole::kRing));
  const RingPlace place = {.rank = options_.rank,
                           .size = options_.size(),
                           .generation = decision_.generation};
  ring_ = std::make_unique<Ring>(*world_, kernels, place,
                                 std::move(neighbours.next),
                                 std::move(neighbours.previous));
  return OkStatus();
}

Result<std::unique_ptr<CollectiveLinks>> Session::OpenLinks() {
  Result<Neighbours> neighbours = ConnectNeighbours(ChannelRole::kDevice);
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

void Session::EmitWorkerLost(int rank, Reason reason, Duration limit) {
  world_->events.Emit({.kind = EventKind::kWorkerLost,
                       .generation = decision_.generation,
                       .about = rank,
                       .reason = reason,
                       // Zero if the deadline had passed before the wait began.
                       .limit_ns = std::max(limit, Duration::zero()).count()});
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
        const bool silent = status.code() == Code::kDeadlineExceeded;
        EmitWorkerLost(rank, silent ? Reason::kSilent : Reason::kClosed,
                       options_.lost_after);
        if (silent) silent_rank_ = rank;
        ring_->Abort();
      },
      [this] {
        AnswerLateConnections();
        LogRejections();
      });
  heartbeat_->Start();
}

void Session::Leave() { heartbeat_->Leave(); }

void Session::Abort() {
  ring_->EmitLeaving();
  heartbeat_->Abort();
  ring_->Abort();
}

}  // namespace gauntlet
