#include "engine/world/event_log.h"

namespace gauntlet {

Reason ReasonOf(Code code) {
  switch (code) {
    case Code::kOk:
      return Reason::kNone;
    case Code::kUnavailable:
      return Reason::kLostWorker;
    case Code::kDeadlineExceeded:
      return Reason::kDeadline;
    case Code::kFenced:
      return Reason::kSuperseded;
    case Code::kInvalidArgument:
      return Reason::kBadInput;
    case Code::kIoError:
      return Reason::kDiskError;
    case Code::kResourceExhausted:
      return Reason::kDiskFull;
    case Code::kForbidden:
      return Reason::kForbidden;
    case Code::kNotFound:
    case Code::kAlreadyExists:
      return Reason::kMissingFile;
    case Code::kDataLoss:
      return Reason::kBadData;
    case Code::kFailedPrecondition:
      return Reason::kPrecondition;
    case Code::kOtherJob:
      return Reason::kOtherJob;
    case Code::kCancelled:
      return Reason::kCancelled;
  }
  return Reason::kNone;
}

Reason ReasonOfWait(const Status& status) {
  return status.code() == Code::kDeadlineExceeded ? Reason::kDeadline
                                                  : Reason::kClosed;
}

}  // namespace gauntlet
