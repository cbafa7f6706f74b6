// What a cloud's metadata service is asked about the end of this machine, and
// what it says of it.
//
// Amazon's may want a token with each question (its "IMDSv2"): a question
// without one is answered with status 401. A token is had by a PUT to
// /latest/api/token of the same server that says how long it is to be good for,
// and is sent in a header from then on.
#ifndef GAUNTLET_ENGINE_TRAIN_METADATA_NOTICE_H_
#define GAUNTLET_ENGINE_TRAIN_METADATA_NOTICE_H_

#include <string>

#include "engine/status.h"
#include "engine/world/http_format.h"

namespace gauntlet {

// Whether the answer is a termination notice:
// - Google, instance/preempted: the body TRUE, as against FALSE;
//   instance/maintenance-event: TERMINATE_ON_HOST_MAINTENANCE, as against NONE
//   and MIGRATE_ON_HOST_MAINTENANCE.
// - Amazon, spot/instance-action: an object whose "action" is terminate, stop
//   or hibernate, as against status 404.
// kInvalidArgument for all else (other states, a redirect, rubbish), which says
// nothing of a notice: one line, what was expected and what was found.
Result<bool> NoticeIn(const HttpAnswer& answer);

// The status of an answer to who brings no token, or one that has run out.
inline constexpr int kTokenWanted = 401;

// For a token of the server that the URL is of.
HttpQuestion QuestionForToken(const HttpUrl& url);

// The token: printable ASCII of a sensible length, since it goes into a header.
// kInvalidArgument says what was expected and what was found.
Result<std::string> TokenIn(const HttpAnswer& answer);

// A plain question, with the token where it is not "".
HttpQuestion QuestionWithToken(const HttpUrl& url, const std::string& token);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_METADATA_NOTICE_H_
