#include "engine/real/network/http_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/real/network/curl_library.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using CurlHeaders = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// The part of an answer that has arrived.
struct Arrival {
  size_t bytes = 0;  // header and body together
  std::string body;
};

// Both callbacks return the size that they accept: 0 ends the transfer with
// CURLE_WRITE_ERROR.
size_t AcceptHeader(char*, size_t, size_t size, void* arrival) {
  size_t& bytes = static_cast<Arrival*>(arrival)->bytes;
  bytes += size;
  return bytes < kMaxHttpResponseBytes ? size : 0;
}

size_t AcceptBody(char* data, size_t, size_t size, void* arrival) {
  if (AcceptHeader(data, 1, size, arrival) == 0) return 0;
  static_cast<Arrival*>(arrival)->body.append(data, size);
  return size;
}

// Returns the time left in milliseconds, rounded up: a request must not end
// before its deadline. nullopt: the deadline has passed.
std::optional<int64_t> LimitUntil(Time deadline) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto left = deadline.time_since_epoch() - now;
  if (left <= Duration::zero()) return std::nullopt;
  return std::min<int64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1,
      std::numeric_limits<int32_t>::max());
}

Status NoResponseInTime() {
  return DeadlineExceeded("no complete response in time");
}

// One request. Sets its options on a handle that has none set.
class Transfer {
 public:
  Transfer(const CurlLibrary& curl, CURL* handle)
      : curl_(curl), handle_(handle), headers_(nullptr, curl.slist_free_all) {}
  // Removes the options, as some point into this object.
  ~Transfer() { curl_.easy_reset(handle_); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Result<HttpResponse> Perform(const HttpRequest& request, int64_t limit_ms) {
    SetLimits(limit_ms);
    SetRequest(request);
    SetArrival();
    RETURN_IF_ERROR(refused_);
    const CURLcode code = curl_.easy_perform(handle_);
    if (code != CURLE_OK) return FailureOf(code);
    return HttpResponse{
        .status = static_cast<int>(Info(CURLINFO_RESPONSE_CODE)),
        .body = std::move(arrival_.body)};
  }

 private:
  // libcurl takes numbers as long, which int64_t is on Linux.
  template <typename Value>
  void Set(CURLoption option, Value value) {
    const CURLcode code = curl_.easy_setopt(handle_, option, value);
    if (code != CURLE_OK) Refuse(option, code);
  }
  void SetNumber(CURLoption option, int64_t value) { Set(option, value); }

  // Records the error of the first option that libcurl refuses: libcurl may be
  // built without the option's feature, or lack memory.
  void Refuse(CURLoption option, CURLcode code) {
    if (!refused_.ok()) return;
    const curl_easyoption* const known = curl_.easy_option_by_id(option);
    refused_ = Unavailable(
        fmt::format("libcurl refuses the option {}: {}",
                    known == nullptr ? std::to_string(option) : known->name,
                    curl_.easy_strerror(code)));
  }

  int64_t Info(CURLINFO info) const {
    int64_t value = 0;
    curl_.easy_getinfo(handle_, info, &value);
    return value;
  }

  void SetLimits(int64_t limit_ms) {
    SetNumber(CURLOPT_TIMEOUT_MS, limit_ms);
    SetNumber(CURLOPT_NOSIGNAL, 1);
    // Makes a request end at its deadline even if a resolver hangs. The
    // resolver's thread then runs on; without this option libcurl would wait
    // for it.
    SetNumber(CURLOPT_QUICK_EXIT, 1);
    Set(CURLOPT_PROTOCOLS_STR, "http");
    Set(CURLOPT_PROXY, "");  // none, even if the environment has one
    SetNumber(CURLOPT_FOLLOWLOCATION, 0);
    SetNumber(CURLOPT_FORBID_REUSE, 1);
  }

  void SetRequest(const HttpRequest& request) {
    Set(CURLOPT_URL, HttpUrlText(request.url).c_str());
    SetNumber(CURLOPT_PATH_AS_IS, 1);
    for (const HttpHeader& header : request.headers) {
      AppendHeader(fmt::format("{}: {}", header.name, header.value));
    }
    AppendHeader("Connection: close");
    Set(CURLOPT_HTTPHEADER, headers_.get());
    if (request.method == HttpMethod::kPut) {
      SetNumber(CURLOPT_UPLOAD, 1);
      SetNumber(CURLOPT_INFILESIZE, 0);
    }
  }

  void AppendHeader(const std::string& line) {
    curl_slist* const all = curl_.slist_append(headers_.get(), line.c_str());
    if (all == nullptr) return Refuse(CURLOPT_HTTPHEADER, CURLE_OUT_OF_MEMORY);
    static_cast<void>(headers_.release());
    headers_.reset(all);
  }

  void SetArrival() {
    Set(CURLOPT_ERRORBUFFER, error_.data());
    Set(CURLOPT_HEADERFUNCTION, &AcceptHeader);
    Set(CURLOPT_HEADERDATA, &arrival_);
    Set(CURLOPT_WRITEFUNCTION, &AcceptBody);
    Set(CURLOPT_WRITEDATA, &arrival_);
  }

  Status FailureOf(CURLcode code) const {
    const std::string_view reason =
        error_[0] != '\0' ? error_.data() : curl_.easy_strerror(code);
    const int64_t error = Info(CURLINFO_OS_ERRNO);
    switch (code) {
      case CURLE_OPERATION_TIMEDOUT:
        return NoResponseInTime();
      case CURLE_COULDNT_RESOLVE_HOST:
        return Unavailable(std::string(reason));
      case CURLE_COULDNT_CONNECT:
      case CURLE_SEND_ERROR:
      case CURLE_RECV_ERROR:
        if (error == 0) {
          if (code == CURLE_COULDNT_CONNECT) {
            return Unavailable(std::string(reason));
          }
          break;  // The answer is malformed.
        }
        return Unavailable(fmt::format(
            "{}: {}", curl_.easy_strerror(code),
            std::generic_category().message(static_cast<int>(error))));
      case CURLE_GOT_NOTHING:
      case CURLE_PARTIAL_FILE:
        return DataLoss(
            "answer: expected its end, found that of the connection");
      case CURLE_WRITE_ERROR:
        return DataLoss(
            fmt::format("answer: expected less than {} bytes, found more",
                        kMaxHttpResponseBytes));
      case CURLE_UNSUPPORTED_PROTOCOL:
        return DataLoss("answer: expected HTTP/1.1, found something else");
      default:
        break;
    }
    return DataLoss(fmt::format("answer: {}", reason));
  }

  const CurlLibrary& curl_;
  CURL* const handle_;
  Status refused_;  // error of the first option that libcurl refused
  CurlHeaders headers_;
  Arrival arrival_;
  std::array<char, CURL_ERROR_SIZE> error_ = {};
};

}  // namespace

// Owns libcurl's functions and one idle handle: that of the last successful
// request. The handle caches the addresses of names.
class HttpClient::Handles {
 public:
  explicit Handles(std::string library) : library_(std::move(library)) {}

  Result<const CurlLibrary*> Curl() {
    const std::lock_guard lock(mutex_);
    if (!curl_) {
      ASSIGN_OR_RETURN(curl_, OpenCurl(library_));
    }
    return &*curl_;
  }

  // REQUIRES: Curl() returned `curl`.
  Result<CurlHandle> Take(const CurlLibrary& curl) {
    {
      const std::lock_guard lock(mutex_);
      if (idle_) return *std::exchange(idle_, std::nullopt);
    }
    CurlHandle handle(curl.easy_init(), curl.easy_cleanup);
    if (handle == nullptr) return Unavailable("libcurl: no handle");
    return handle;
  }

  void Keep(CurlHandle handle) {
    const std::lock_guard lock(mutex_);
    idle_ = std::move(handle);
  }

 private:
  const std::string library_;
  std::mutex mutex_;
  std::optional<CurlLibrary> curl_;  // nullopt: not opened yet
  std::optional<CurlHandle> idle_;
};

HttpClient::HttpClient() : HttpClient(kCurlLibrary) {}
HttpClient::HttpClient(std::string library)
    : handles_(std::make_unique<Handles>(std::move(library))) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::SendRequest(const HttpRequest& request,
                                             Time deadline) {
  const std::string url = HttpUrlText(request.url);
  const Result<const CurlLibrary*> curl = handles_->Curl();
  if (!curl.ok()) return Annotate(curl.status(), url);
  Result<CurlHandle> handle = handles_->Take(**curl);
  if (!handle.ok()) return Annotate(handle.status(), url);
  const std::optional<int64_t> limit_ms = LimitUntil(deadline);
  if (!limit_ms) return Annotate(NoResponseInTime(), url);
  Result<HttpResponse> answer =
      Transfer(**curl, handle->get()).Perform(request, *limit_ms);
  if (!answer.ok()) return Annotate(answer.status(), url);
  handles_->Keep(*std::move(handle));
  return answer;
}

}  // namespace gauntlet
