// What a cloud's metadata service says of the end of this machine.
#ifndef GAUNTLET_ENGINE_TRAIN_METADATA_NOTICE_H_
#define GAUNTLET_ENGINE_TRAIN_METADATA_NOTICE_H_

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

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_METADATA_NOTICE_H_
