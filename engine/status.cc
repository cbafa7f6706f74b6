#include "engine/status.h"

namespace gauntlet {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kNotFound:
      return "NOT_FOUND";
    case Code::kAlreadyExists:
      return "ALREADY_EXISTS";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::kFenced:
      return "FENCED";
    case Code::kDataLoss:
      return "DATA_LOSS";
    case Code::kIoError:
      return "IO_ERROR";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case Code::kOtherJob:
      return "OTHER_JOB";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kForbidden:
      return "FORBIDDEN";
  }
  return "UNKNOWN";
}

Status::Status(Code code, std::string message) {
  CHECK(code != Code::kOk, "an error needs an error code");
  // Messages quote text from outside, which may contain line ends and terminal
  // escape sequences.
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  error_ = new Error{.code = code, .message = std::move(message)};
}

const Status::Error* Status::Clone(const Error& error) {
  return new Error(error);
}

void Status::Free(const Error* error) { delete error; }

const std::string& Status::message() const {
  static const std::string none;
  return ok() ? none : error_->message;
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  return std::string(CodeName(code())) + ": " + message();
}

Status InvalidArgument(std::string message) {
  return {Code::kInvalidArgument, std::move(message)};
}
Status NotFound(std::string message) {
  return {Code::kNotFound, std::move(message)};
}
Status AlreadyExists(std::string message) {
  return {Code::kAlreadyExists, std::move(message)};
}
Status Unavailable(std::string message) {
  return {Code::kUnavailable, std::move(message)};
}
Status DeadlineExceeded(std::string message) {
  return {Code::kDeadlineExceeded, std::move(message)};
}
Status Fenced(std::string message) {
  return {Code::kFenced, std::move(message)};
}
Status DataLoss(std::string message) {
  return {Code::kDataLoss, std::move(message)};
}
Status IoError(std::string message) {
  return {Code::kIoError, std::move(message)};
}
Status ResourceExhausted(std::string message) {
  return {Code::kResourceExhausted, std::move(message)};
}
Status Forbidden(std::string message) {
  return {Code::kForbidden, std::move(message)};
}
Status FailedPrecondition(std::string message) {
  return {Code::kFailedPrecondition, std::move(message)};
}
Status OtherJob(std::string message) {
  return {Code::kOtherJob, std::move(message)};
}
Status Cancelled(std::string message) {
  return {Code::kCancelled, std::move(message)};
}

Status Annotate(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  return {status.code(), std::string(context) + ": " + status.message()};
}

}  // namespace gauntlet
