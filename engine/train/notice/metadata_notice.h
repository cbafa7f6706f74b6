// Requests to a cloud's metadata service about the preemption of this machine,
// and their responses.
//
// Amazon's service may require a token with each request ("IMDSv2"): the
// service responds with status 401 to a request without a token. A PUT to
// /latest/api/token of the same server, with the lifetime of the token, returns
// a token, which is then sent in a header of each request.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_METADATA_NOTICE_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_METADATA_NOTICE_H_

#include <string>

#include "engine/status.h"
#include "engine/world/http.h"

namespace gauntlet {

// Returns true if the response is a preemption notice:
// - Google, instance/preempted: the body TRUE, rather than FALSE;
//   instance/maintenance-event: TERMINATE_ON_HOST_MAINTENANCE, rather than NONE
//   or MIGRATE_ON_HOST_MAINTENANCE.
// - Amazon, spot/instance-action: an object whose "action" is terminate, stop
//   or hibernate, rather than status 404.
// Returns kInvalidArgument for every other response (another status, a
// redirect, garbage): it shows neither that there is a notice nor that there is
// none. The message is one line with the expected and the found value.
Result<bool> IsPreemptionNotice(const HttpResponse& answer);

// Status of the response to a request without a token, or with an expired one.
inline constexpr int kTokenRequired = 401;

// Returns the request for a token, to the URL's server.
HttpRequest TokenRequest(const HttpUrl& url);

// Returns the token in a response: printable ASCII of limited length, since it
// is sent in a header. kInvalidArgument names the expected and the found value.
Result<std::string> ParseToken(const HttpResponse& answer);

// Returns the request for a notice; IsPreemptionNotice reads the response.
// Includes the header that Google's service requires, and the token unless it
// is empty.
HttpRequest RequestWithToken(const HttpUrl& url, const std::string& token);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_METADATA_NOTICE_H_
