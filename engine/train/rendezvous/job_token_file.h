// The token of a cluster's job in its checkpoint directory: DIR/job-token.
//
// The chief makes the file if there is none; the other workers read it. It
// appears whole (written under another name, synced, renamed), is open to its
// owner alone from its first moment, and stays until the store is deleted.
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

// kNotFound: there is none. kInvalidArgument: the file is damaged, a link, or
// a stranger's, or others than its owner may open it; the message says what to
// do.
Result<JobToken> ReadTokenFile(World& world, const std::string& directory);

// For the chief: the directory's token, made now if there is none. Of several
// chiefs at once, all return the same one. The file is durable when it returns.
Result<JobToken> MakeTokenFile(World& world, const std::string& directory);

// For every other worker: waits for the chief's file until `deadline`
// (kDeadlineExceeded). A file server may show it late: now and then this worker
// changes the directory, at most every 5 s in the end, so that its host lists
// it anew. `say` takes one line if there is anything to wait for.
Result<JobToken> AwaitTokenFile(
    World& world, const std::string& directory, Time deadline,
    const std::function<void(std::string_view)>& say);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_JOB_TOKEN_FILE_H_
