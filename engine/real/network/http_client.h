// One request to an HTTP server, over a TCP connection of its own.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_

#include "engine/real/network/name_lookup.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/http_format.h"

namespace gauntlet {

// As Host::Ask. Ignores proxies in the environment. If a name has several
// addresses, tries each for its share of the time until one accepts the
// connection.
Result<HttpAnswer> AskByHttp(const HttpQuestion& question, Time deadline,
                             NameLookup& names);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_
