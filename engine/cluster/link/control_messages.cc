#include "engine/cluster/link/control_messages.h"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/cluster/link/link.pb.h"
#include "engine/cluster/link/protobuf_edge.h"
#include "engine/utf8.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Names of the messages, by their index in the variant ControlMessage.
constexpr std::array<std::string_view, 9> kNames = {
    "challenge", "hello", "accepted",   "welcome",   "refusal",
    "beat",      "bye",   "lane offer", "lane taken"};

template <typename T>
constexpr size_t IndexOf() {
  return ControlMessage(T()).index();
}

Status NoMessage(const std::string& why) {
  return DataLoss("frame: not a message of this protocol: " + why);
}

void ToWire(const Challenge& from, wire::Frame& to) {
  wire::Challenge& challenge = *to.mutable_challenge();
  challenge.set_version(from.version);
  challenge.set_nonce(from.nonce.data(), from.nonce.size());
}

void ToWire(const Hello& from, wire::Frame& to) {
  wire::Hello& hello = *to.mutable_hello();
  hello.set_role(static_cast<wire::ChannelRole>(from.role));
  hello.set_rank(from.rank);
  hello.set_incarnation(from.incarnation);
  hello.set_generation(from.generation);
  hello.set_host(from.host);
  hello.set_address(from.address);
  hello.set_payload(from.payload);
  hello.set_proof(from.proof);
  hello.set_nonce(from.nonce);
}

void ToWire(const Accepted& from, wire::Frame& to) {
  to.mutable_accepted()->set_proof(from.proof);
}

void ToWire(const Welcome& from, wire::Frame& to) {
  wire::Welcome& welcome = *to.mutable_welcome();
  welcome.set_generation(from.generation);
  for (const std::string& address : from.addresses) {
    welcome.add_addresses(address);
  }
  welcome.set_decision(from.decision);
  welcome.set_proof(from.proof);
}

void ToWire(const Refusal& from, wire::Frame& to) {
  wire::Refusal& refusal = *to.mutable_refusal();
  refusal.set_code(static_cast<uint32_t>(from.code));
  refusal.set_message(from.message);
  refusal.set_proof(from.proof);
}

void ToWire(const Beat& from, wire::Frame& to) {
  wire::Heartbeat& beat = *to.mutable_heartbeat();
  beat.set_rank(from.rank);
  beat.set_generation(from.generation);
}

void ToWire(const Bye& from, wire::Frame& to) {
  wire::Goodbye& bye = *to.mutable_goodbye();
  bye.set_rank(from.rank);
  bye.set_generation(from.generation);
}

void ToWire(const LaneOffer& from, wire::Frame& to) {
  wire::LaneOffer& offer = *to.mutable_lane_offer();
  offer.set_process(from.process);
  offer.set_descriptor(from.descriptor);
}

void ToWire(const LaneTaken& /*from*/, wire::Frame& to) {
  to.mutable_lane_taken();
}

Result<ControlMessage> FromWire(const wire::Challenge& from) {
  Challenge challenge = {.version = from.version()};
  if (from.nonce().size() != kNonceBytes) {
    return NoMessage(fmt::format("expected a nonce of {} bytes, found {}",
                                 kNonceBytes, from.nonce().size()));
  }
  std::memcpy(challenge.nonce.data(), from.nonce().data(), kNonceBytes);
  return ControlMessage(challenge);
}

Result<ControlMessage> FromWire(wire::Hello& from) {
  if (from.role() < wire::CHANNEL_ROLE_CONTROL ||
      from.role() > wire::CHANNEL_ROLE_DEVICE) {
    return NoMessage(
        fmt::format("unknown role {}", static_cast<int>(from.role())));
  }
  return ControlMessage(Hello{.role = static_cast<ChannelRole>(from.role()),
                              .rank = from.rank(),
                              .incarnation = from.incarnation(),
                              .generation = from.generation(),
                              .host = std::move(*from.mutable_host()),
                              .address = std::move(*from.mutable_address()),
                              .payload = std::move(*from.mutable_payload()),
                              .proof = std::move(*from.mutable_proof()),
                              .nonce = std::move(*from.mutable_nonce())});
}

Result<ControlMessage> FromWire(wire::Welcome& from) {
  Welcome welcome = {.generation = from.generation(),
                     .decision = std::move(*from.mutable_decision()),
                     .proof = std::move(*from.mutable_proof())};
  for (std::string& address : *from.mutable_addresses()) {
    welcome.addresses.push_back(std::move(address));
  }
  return ControlMessage(std::move(welcome));
}

Result<ControlMessage> FromWire(wire::Refusal& from) {
  const auto last = static_cast<uint32_t>(kLastCode);
  if (from.code() == 0 || from.code() > last) {
    return NoMessage(fmt::format("unknown code {}", from.code()));
  }
  return ControlMessage(Refusal{.code = static_cast<Code>(from.code()),
                                .message = Shortened(from.message()),
                                .proof = std::move(*from.mutable_proof())});
}

}  // namespace

std::string Shortened(std::string_view text) {
  constexpr size_t kMaxMessageBytes = 4000;
  return std::string(TruncateUtf8(text, kMaxMessageBytes));
}

Frame EncodeControl(const ControlMessage& message) {
  wire::Frame frame;
  std::visit([&frame](const auto& one) { ToWire(one, frame); }, message);
  return frame.SerializeAsString();
}

Result<ControlMessage> DecodeControl(const Frame& frame) {
  wire::Frame parsed;
  if (!ParseMessage(frame, parsed)) {
    return NoMessage(fmt::format("malformed, {} bytes", frame.size()));
  }
  switch (parsed.body_case()) {
    case wire::Frame::kChallenge:
      return FromWire(parsed.challenge());
    case wire::Frame::kHello:
      return FromWire(*parsed.mutable_hello());
    case wire::Frame::kAccepted:
      return ControlMessage(Accepted{
          .proof = std::move(*parsed.mutable_accepted()->mutable_proof())});
    case wire::Frame::kWelcome:
      return FromWire(*parsed.mutable_welcome());
    case wire::Frame::kRefusal:
      return FromWire(*parsed.mutable_refusal());
    case wire::Frame::kHeartbeat:
      return ControlMessage(
          Beat{.rank = parsed.heartbeat().rank(),
               .generation = parsed.heartbeat().generation()});
    case wire::Frame::kGoodbye:
      return ControlMessage(Bye{.rank = parsed.goodbye().rank(),
                                .generation = parsed.goodbye().generation()});
    case wire::Frame::kLaneOffer:
      return ControlMessage(
          LaneOffer{.process = parsed.lane_offer().process(),
                    .descriptor = parsed.lane_offer().descriptor()});
    case wire::Frame::kLaneTaken:
      return ControlMessage(LaneTaken());
    case wire::Frame::kChunk:
      return NoMessage("expected a control message, found a chunk");
    case wire::Frame::BODY_NOT_SET:
      break;
  }
  return NoMessage("it is empty");
}

template <typename T>
Result<T> DecodeControlAs(const Frame& frame) {
  ASSIGN_OR_RETURN(ControlMessage message, DecodeControl(frame));
  if (T* const found = std::get_if<T>(&message)) return std::move(*found);
  return NoMessage(fmt::format("expected a {}, found a {}",
                               kNames[IndexOf<T>()], kNames[message.index()]));
}

template Result<Challenge> DecodeControlAs(const Frame& frame);
template Result<Hello> DecodeControlAs(const Frame& frame);
template Result<Accepted> DecodeControlAs(const Frame& frame);
template Result<Welcome> DecodeControlAs(const Frame& frame);
template Result<Refusal> DecodeControlAs(const Frame& frame);
template Result<LaneOffer> DecodeControlAs(const Frame& frame);

}  // namespace gauntlet
