// Outcome of an operation that can fail for reasons outside the program.
//
// A Status is either Ok or a code with a one-line message that names the
// object, what was expected and what was found. A code exists only where some
// caller acts differently on it. Result<T> is a T or a Status that is not Ok.
#ifndef GAUNTLET_ENGINE_STATUS_H_
#define GAUNTLET_ENGINE_STATUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/check.h"

namespace gauntlet {

enum class Code {
  kOk,
  kInvalidArgument,     // Bad input from outside: reject it (exit 2).
  kNotFound,            // The named thing is absent.
  kAlreadyExists,       // Another process created it first.
  kUnavailable,         // A connection or worker is lost: rejoin.
  kDeadlineExceeded,    // A wait ended without the event: suspect a hang.
  kFenced,              // A newer generation owns the store: stop writing.
  kDataLoss,            // Stored bytes differ from those written.
  kIoError,             // The disk failed (EIO): a retry needs new files.
  kResourceExhausted,   // A full disk, or no process or thread left.
  kFailedPrecondition,  // Not permitted in this situation (exit 1 or 7).
  kOtherJob,            // The checkpoints belong to another job (exit 8).
  kCancelled,           // The caller requested the stop.
  // Permissions, a read-only disk or a size limit: fails until a person acts.
  kForbidden,
};
inline constexpr Code kLastCode = Code::kForbidden;

// Returns "NOT_FOUND" and so on.
std::string_view CodeName(Code code);

// A Status holds one pointer, which is null if Ok. Every step passes hundreds
// of Statuses, so one that is Ok must cost almost nothing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // Control characters in the message become '?'. REQUIRES: code is not kOk.
  [[gnu::cold]] Status(Code code, std::string message);

  Status(const Status& other) : error_(CopyOf(other.error_)) {}
  // A moved-from Status is Ok.
  Status(Status&& other) noexcept
      : error_(std::exchange(other.error_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~Status() {
    if (error_ != nullptr) [[unlikely]]
      Free(error_);
  }

  bool ok() const { return error_ == nullptr; }
  Code code() const { return ok() ? Code::kOk : error_->code; }
  // Empty if Ok.
  const std::string& message() const;
  // Returns "NOT_FOUND: /a/b: no such file", or "OK".
  std::string ToString() const;

 private:
  struct Error {
    Code code;
    std::string message;
  };
  static const Error* CopyOf(const Error* error) {
    return error == nullptr ? nullptr : Clone(*error);
  }
  [[gnu::cold]] static const Error* Clone(const Error& error);
  [[gnu::cold]] static void Free(const Error* error);

  const Error* error_ = nullptr;  // owned
};

inline Status OkStatus() { return Status(); }
[[gnu::cold]] Status InvalidArgument(std::string message);
[[gnu::cold]] Status NotFound(std::string message);
[[gnu::cold]] Status AlreadyExists(std::string message);
[[gnu::cold]] Status Unavailable(std::string message);
[[gnu::cold]] Status DeadlineExceeded(std::string message);
[[gnu::cold]] Status Fenced(std::string message);
[[gnu::cold]] Status DataLoss(std::string message);
[[gnu::cold]] Status IoError(std::string message);
[[gnu::cold]] Status ResourceExhausted(std::string message);
[[gnu::cold]] Status Forbidden(std::string message);
[[gnu::cold]] Status FailedPrecondition(std::string message);
[[gnu::cold]] Status OtherJob(std::string message);
[[gnu::cold]] Status Cancelled(std::string message);

// Returns the Status with "context: " prepended to the message. Ok stays Ok.
[[gnu::cold]] Status Annotate(const Status& status, std::string_view context);

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return status;` both read well.
  Result(const T& value) : value_(value) {}             // NOLINT
  Result(T&& value) : value_(std::move(value)) {}       // NOLINT
  Result(Status status) : status_(std::move(status)) {  // NOLINT
    CHECK(!status_.ok(), "a Result without a value needs an error");
  }

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  // REQUIRES: ok().
  T& value() & {
    CHECK(value_.has_value(), status_.ToString());
    return *value_;
  }
  const T& value() const& {
    CHECK(value_.has_value(), status_.ToString());
    return *value_;
  }
  T&& value() && {
    CHECK(value_.has_value(), status_.ToString());
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace gauntlet

// Returns the Status of an expression from the enclosing function unless Ok.
#define RETURN_IF_ERROR(expr)                     \
  do {                                            \
    ::gauntlet::Status gauntlet_status_ = (expr); \
    if (!gauntlet_status_.ok()) [[unlikely]]      \
      return gauntlet_status_;                    \
  } while (false)

#define GAUNTLET_CONCAT_INNER_(a, b) a##b
#define GAUNTLET_CONCAT_(a, b) GAUNTLET_CONCAT_INNER_(a, b)
// `ASSIGN_OR_RETURN(auto x, F());`: x = value of F(), or return its Status.
#define ASSIGN_OR_RETURN(lhs, expr)                                    \
  auto GAUNTLET_CONCAT_(gauntlet_result_, __LINE__) = (expr);          \
  if (!GAUNTLET_CONCAT_(gauntlet_result_, __LINE__).ok()) [[unlikely]] \
    return GAUNTLET_CONCAT_(gauntlet_result_, __LINE__).status();      \
  lhs = std::move(GAUNTLET_CONCAT_(gauntlet_result_, __LINE__)).value()

#endif  // GAUNTLET_ENGINE_STATUS_H_
