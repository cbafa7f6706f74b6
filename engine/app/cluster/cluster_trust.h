// Security between a cluster's workers: the source of the job token, and the
// encryption of connections.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_TRUST_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_TRUST_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/app/commands.h"
#include "engine/cluster/resolver/cluster_resolver.h"
#include "engine/status.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

enum class TokenSource : uint8_t {
  kEnvironment,          // GAUNTLET_JOB_TOKEN
  kCheckpointDirectory,  // DIR/job-token
  kLauncher,             // made by the launcher for the workers it starts
  kNone,                 // listens on loopback only
  kInsecure,             // --insecure: anybody may join
};

// Returns the source of the job's token. kInvalidArgument: --insecure is given,
// and the environment has a token.
Result<TokenSource> TokenSourceOf(const Environment& environment,
                                  const TrainCommand& command);

// Returns "GAUNTLET_JOB_TOKEN", "ckpt/job-token", …, for --explain-cluster.
std::string TokenText(TokenSource source, const TrainCommand& command);
// Returns "mutual, by worker.pem", or "none".
std::string TlsText(const TlsFiles& tls);

struct TokenSearch {
  const Environment& environment;
  const TrainCommand& command;
  Time deadline;  // end of the wait for the chief's token file
  // Prints a line before the wait.
  std::function<void(std::string_view)> say;
};

// Sets the job's token in `place`. If the token file is missing, the chief
// creates it, and the other workers wait for it until the deadline
// (kDeadlineExceeded). REQUIRES: the chief holds the lock on the checkpoint
// directory. kInvalidArgument: the token is malformed, or there is none and the
// worker would listen beyond loopback.
Status FindToken(World& world, const TokenSearch& search, WorkerSpec& place);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_CLUSTER_TRUST_H_
