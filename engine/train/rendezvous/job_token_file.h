// File DIR/job-token in a checkpoint directory: the token (JobToken) that the
// workers of a job share.
//
// The chief creates the file if it does not exist; the other workers read it.
// The file appears complete (written under another name, synced, renamed), is
// accessible only to its owner from the start, and exists until the store is
// deleted.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_JOB_TOKEN_FILE_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_JOB_TOKEN_FILE_H_

#include <functional>
#include <string>
#include <string_view>

#include "engine/cluster/link/job_token.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/world.h"

namespace gauntlet {

std::string TokenFile(const std::string& directory);

// Returns kNotFound if there is no token file; kInvalidArgument if it is
// damaged, a link, owned by another user, or accessible to others. The message
// of kInvalidArgument names the remedy.
Result<JobToken> ReadTokenFile(World& world, const std::string& directory);

// For the chief: returns the directory's token, creating it if there is none.
// Concurrent chiefs all return the same token. The file is durable on return.
Result<JobToken> CreateTokenFile(World& world, const std::string& directory);

// For every other worker: waits for the chief's file until `deadline`
// (kDeadlineExceeded). Meanwhile creates and removes a file in the directory
// from time to time, with pauses that grow to 5 s. Each such change makes this
// worker's host reread the listing, in which the chief's file may otherwise
// appear late. `log` receives one line if the worker has to wait. Other errors
// are those of ReadTokenFile.
Result<JobToken> AwaitTokenFile(
    World& world, const std::string& directory, Time deadline,
    const std::function<void(std::string_view)>& log);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_JOB_TOKEN_FILE_H_
