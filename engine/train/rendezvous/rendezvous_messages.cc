#include "engine/train/rendezvous/rendezvous_messages.h"

#include <utility>

#include "engine/cluster/link/protobuf_edge.h"
#include "engine/train/rendezvous/common_settings.h"
#include "engine/train/rendezvous/rendezvous.pb.h"

namespace gauntlet {

std::string EncodeIntroduction(const Introduction& introduction) {
  wire::Introduction message;
  message.set_settings(introduction.settings);
  message.set_held(EncodeHeld(introduction.held));
  message.set_offer(EncodeOffer(introduction.offer));
  return message.SerializeAsString();
}

Result<Introduction> DecodeIntroduction(std::string_view bytes) {
  wire::Introduction message;
  if (!ParseMessage(bytes, message)) {
    return DataLoss("the introduction is malformed");
  }
  Introduction introduction = {.settings =
                                   std::move(*message.mutable_settings())};
  ASSIGN_OR_RETURN(introduction.held, DecodeHeld(message.held()));
  ASSIGN_OR_RETURN(introduction.offer, DecodeOffer(message.offer()));
  return introduction;
}

Status CheckIntroduction(std::string_view bytes, std::string_view settings) {
  ASSIGN_OR_RETURN(const Introduction introduction, DecodeIntroduction(bytes));
  if (introduction.settings == settings) return OkStatus();
  return CheckSettings(introduction.settings);
}

std::string EncodeDecision(const RendezvousDecision& decision) {
  wire::RendezvousDecision message;
  message.set_start(EncodeStart(decision.start));
  message.set_collective(EncodeCollective(decision.collective));
  return message.SerializeAsString();
}

Result<RendezvousDecision> DecodeDecision(std::string_view bytes) {
  wire::RendezvousDecision message;
  if (!ParseMessage(bytes, message)) {
    return DataLoss("the decision is malformed");
  }
  RendezvousDecision decision;
  ASSIGN_OR_RETURN(decision.start, DecodeStart(message.start()));
  ASSIGN_OR_RETURN(decision.collective, DecodeCollective(message.collective()));
  return decision;
}

}  // namespace gauntlet
