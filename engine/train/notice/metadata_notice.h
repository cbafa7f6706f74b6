// Requests to a cloud's metadata service about the end of this machine, and its
// answers.
//
// Amazon's service may require a token with each request (its "IMDSv2"): it
// answers a request without one with status 401. A PUT to /latest/api/token of
// the same server, with the lifetime of the token, returns one, which is sent
// in a header from then on.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_METADATA_NOTICE_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_METADATA_NOTICE_H_

#include <string>

#include "engine/status.h"
#include "engine/world/http_format.h"

namespace gauntlet {

// Returns true if the answer is a termination notice:
// - Google, instance/preempted: the body TRUE, as against FALSE;
//   instance/maintenance-event: TERMINATE_ON_HOST_MAINTENANCE, as against NONE
//   and MIGRATE_ON_HOST_MAINTENANCE.
// - Amazon, spot/instance-action: an object whose "action" is terminate, stop
//   or hibernate, as against status 404.
// kInvalidArgument for all else (other states, a redirect, rubbish), which says
// nothing of a notice: one line, what was expected and what was found.
Result<bool> NoticeIn(const HttpAnswer& answer);

// Status of the answer to a request without a token, or with an expired one.
inline constexpr int kTokenWanted = 401;

// Request for a token of the URL's server.
HttpQuestion QuestionForToken(const HttpUrl& url);

// The token: printable ASCII of a sensible length, since it goes into a header.
// kInvalidArgument says what was expected and what was found.
Result<std::string> TokenIn(const HttpAnswer& answer);

// A plain request, with the token if it is not "".
HttpQuestion QuestionWithToken(const HttpUrl& url, const std::string& token);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_METADATA_NOTICE_H_
