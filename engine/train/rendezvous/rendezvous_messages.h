// Messages of the rendezvous between workers and the chief, and their encoding
// (rendezvous.proto).
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RENDEZVOUS_MESSAGES_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RENDEZVOUS_MESSAGES_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/train/rendezvous/collective_decision.h"
#include "engine/train/rendezvous/held_state.h"

namespace gauntlet {

// Message from a worker to the chief.
struct Introduction {
  std::string settings;  // EncodeCommonSettings
  std::optional<HeldState> held;
  CollectiveOffer offer;
};

std::string EncodeIntroduction(const Introduction& introduction);
// Returns kDataLoss if malformed. Does not decode the settings.
Result<Introduction> DecodeIntroduction(std::string_view bytes);
// Returns an error if the introduction, or its settings, are malformed.
// Different settings are no error. `settings`: those of the chief.
Status CheckIntroduction(std::string_view bytes, std::string_view settings);

// Message from the chief to all: start state and collective of the generation.
struct RendezvousDecision {
  StartDecision start;
  CollectiveDecision collective;
};

std::string EncodeDecision(const RendezvousDecision& decision);
// Returns kDataLoss if malformed.
Result<RendezvousDecision> DecodeDecision(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_RENDEZVOUS_MESSAGES_H_
