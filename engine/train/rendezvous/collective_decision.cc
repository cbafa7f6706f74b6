#include "engine/train/rendezvous/collective_decision.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/cluster/link/protobuf_edge.h"
#include "engine/train/rendezvous/rendezvous.pb.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kOnTheCpu = "computes on the CPU";

// Returns the reason why these ranks cannot exchange between devices; empty:
// they can.
std::string ObstacleOf(std::span<const CollectiveOffer> offers) {
  std::map<std::string, size_t> owners;
  for (size_t rank = 0; rank < offers.size(); ++rank) {
    const CollectiveOffer& offer = offers[rank];
    if (!offer.unavailable_reason.empty()) {
      return fmt::format("rank {} {}", rank, offer.unavailable_reason);
    }
    if (offer.version != offers[0].version) {
      return fmt::format("rank 0 has {}, rank {} has {}", offers[0].version,
                         rank, offer.version);
    }
    if (offer.device.empty()) continue;
    const auto [owner, is_first] = owners.emplace(offer.device, rank);
    if (!is_first) {
      return fmt::format("ranks {} and {} share the device {}", owner->second,
                         rank, offer.device);
    }
  }
  return "";
}

bool AllOnTheCpu(std::span<const CollectiveOffer> offers) {
  return std::ranges::all_of(offers, [](const CollectiveOffer& offer) {
    return offer.unavailable_reason == kOnTheCpu;
  });
}

// Returns true if the text can be shown to people as a part of one line.
bool IsPrintable(std::string_view text) {
  constexpr size_t kMost = 400;
  return text.size() <= kMost && std::ranges::none_of(text, [](char c) {
           return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
         });
}

CollectiveDecision ExchangeByDevices(std::span<const CollectiveOffer> offers) {
  return {.communicator = gpu::CommunicatorId(),
          .line = fmt::format(
              "collective: {} (each worker has a device of its own)",
              offers[0].version)};
}

}  // namespace

CollectiveOffer OfferOf(DeviceKind kind, const gpu::DevicePlace& place) {
  const auto none = [](std::string_view why) {
    return CollectiveOffer{
        .unavailable_reason = std::string(why), .version = {}, .device = {}};
  };
  if (kind == DeviceKind::kCpu) return none(kOnTheCpu);
  if (place.collective == nullptr) {
    return none(fmt::format("has no NCCL: {}", place.no_collective));
  }
  gpu::DeviceText why;
  gpu::DeviceText version;
  if (!place.collective->version(&version, &why)) {
    return none(fmt::format("has no NCCL: {}", std::string_view(why.text)));
  }
  gpu::DeviceText device;
  if (!place.collective->identify(place.index, &device, &why)) {
    return none(fmt::format("cannot tell its device from others: {}",
                            std::string_view(why.text)));
  }
  std::string name = place.collective->name;
  if (version.text[0] != '\0') {
    name += fmt::format(" {}", std::string_view(version.text));
  }
  return {.unavailable_reason = {},
          .version = std::move(name),
          .device = device.text,
          .use = place.collective->use};
}

std::string EncodeOffer(const CollectiveOffer& offer) {
  wire::CollectiveOffer message;
  message.set_unavailable_reason(offer.unavailable_reason);
  message.set_version(offer.version);
  message.set_device(offer.device);
  message.set_only_if_requested(offer.use ==
                                gpu::CollectiveUse::kWhereAskedFor);
  return message.SerializeAsString();
}

Result<CollectiveOffer> DecodeOffer(std::string_view bytes) {
  wire::CollectiveOffer message;
  if (!ParseMessage(bytes, message) ||
      !IsPrintable(message.unavailable_reason()) ||
      !IsPrintable(message.version()) || !IsPrintable(message.device())) {
    return DataLoss("a worker's message about its device is malformed");
  }
  return CollectiveOffer{.unavailable_reason = message.unavailable_reason(),
                         .version = message.version(),
                         .device = message.device(),
                         .use = message.only_if_requested()
                                    ? gpu::CollectiveUse::kWhereAskedFor
                                    : gpu::CollectiveUse::kAlways};
}

CollectiveDecision FallBackToRing(const std::string& why) {
  return {.communicator = {},
          .line = fmt::format("collective: ring ({})", why)};
}

Result<CollectiveDecision> DecideCollective(
    CollectiveChoice choice, std::span<const CollectiveOffer> offers) {
  CHECK(!offers.empty(), "at least one rank has made an offer");
  if (choice == CollectiveChoice::kRing) return CollectiveDecision();
  const std::string obstacle = ObstacleOf(offers);
  if (choice == CollectiveChoice::kNccl) {
    if (!obstacle.empty()) {
      return InvalidArgument(fmt::format(
          "collective nccl: expected a device of its own for each worker, and "
          "NCCL: {}",
          obstacle));
    }
    CollectiveDecision decision = ExchangeByDevices(offers);
    decision.line.clear();
    return decision;
  }
  // A single rank has no exchange.
  if (offers.size() == 1 || AllOnTheCpu(offers)) return CollectiveDecision();
  if (!obstacle.empty()) return FallBackToRing(obstacle);
  for (const CollectiveOffer& offer : offers) {
    if (offer.use == gpu::CollectiveUse::kAlways) continue;
    return FallBackToRing(fmt::format("the devices are {}", offer.version));
  }
  return ExchangeByDevices(offers);
}

std::string EncodeCollective(const CollectiveDecision& decision) {
  wire::CollectiveDecision message;
  message.set_line(decision.line);
  if (decision.communicator) {
    message.set_communicator(decision.communicator->bytes,
                             sizeof decision.communicator->bytes);
  }
  return message.SerializeAsString();
}

Result<CollectiveDecision> DecodeCollective(std::string_view bytes) {
  wire::CollectiveDecision message;
  gpu::CommunicatorId id;
  if (!ParseMessage(bytes, message) || !IsPrintable(message.line()) ||
      (!message.communicator().empty() &&
       message.communicator().size() != sizeof id.bytes)) {
    return DataLoss("the chief's message about the collective is malformed");
  }
  CollectiveDecision decision = {.communicator = {}, .line = message.line()};
  if (!message.communicator().empty()) {
    std::memcpy(id.bytes, message.communicator().data(), sizeof id.bytes);
    decision.communicator = id;
  }
  return decision;
}

}  // namespace gauntlet
