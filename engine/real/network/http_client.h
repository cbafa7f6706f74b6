// Requests to HTTP servers, by libcurl.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_

#include <memory>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"
#include "engine/world/http.h"

namespace gauntlet {

// Ignores proxies in the environment, and follows no redirects. Each request
// has a connection of its own. A name's addresses are cached for a minute, or
// until a request fails. If a name is not resolved by a request's deadline, the
// thread that resolves it runs on in the background.
class HttpClient {
 public:
  HttpClient();
  // Opens the file `library` instead of libcurl.so.4.
  explicit HttpClient(std::string library);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // As Host::SendRequest; kUnavailable also if libcurl does not load or refuses
  // an option. Safe from any thread; requests of several threads do not wait
  // for each other. The first request opens libcurl.
  Result<HttpResponse> SendRequest(const HttpRequest& request, Time deadline);

 private:
  class Handles;
  const std::unique_ptr<Handles> handles_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_HTTP_CLIENT_H_
