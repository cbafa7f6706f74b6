// One question to an HTTP server, over a TCP connection of its own.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_

#include "engine/real/network/name_lookup.h"
#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/http_format.h"

namespace gauntlet {

// As Host::Ask. Proxies of the environment are not asked. Of a name that has
// several addresses each gets its share of the time until one lets us connect.
Result<HttpAnswer> AskByHttp(const HttpQuestion& question, Time deadline,
                             NameLookup& names);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_
