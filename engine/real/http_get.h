// One question to an HTTP server, over a TCP connection of its own.
#ifndef GAUNTLET_ENGINE_REAL_HTTP_GET_H_
#define GAUNTLET_ENGINE_REAL_HTTP_GET_H_

#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/http_format.h"

namespace gauntlet {

// As Host::Get. Proxies of the environment are not asked.
Result<HttpAnswer> HttpGet(const HttpUrl& url, Time deadline);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_HTTP_GET_H_
