#include "engine/real/network/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace gauntlet {
namespace {

// First version with CURLOPT_QUICK_EXIT. Initialisation is safe from any thread
// since 7.84.
constexpr unsigned kOldestCurl = CURL_VERSION_BITS(7, 87, 0);

template <typename Function>
Status FindFunction(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return OkStatus();
  return Unavailable(
      fmt::format("libcurl: expected a function {}, found none", name));
}

Status FindFunctions(void* library, CurlLibrary& curl) {
  Status found = OkStatus();
  const auto find = [&](const char* name, auto& function) {
    if (found.ok()) found = FindFunction(library, name, function);
  };
  find("curl_global_init", curl.global_init);
  find("curl_version_info", curl.version_info);
  find("curl_easy_init", curl.easy_init);
  find("curl_easy_cleanup", curl.easy_cleanup);
  find("curl_easy_reset", curl.easy_reset);
  find("curl_easy_setopt", curl.easy_setopt);
  find("curl_easy_option_by_id", curl.easy_option_by_id);
  find("curl_easy_perform", curl.easy_perform);
  find("curl_easy_getinfo", curl.easy_getinfo);
  find("curl_easy_strerror", curl.easy_strerror);
  find("curl_slist_append", curl.slist_append);
  find("curl_slist_free_all", curl.slist_free_all);
  return found;
}

}  // namespace

Result<CurlLibrary> OpenCurl(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const error = dlerror();
    return Unavailable(fmt::format(
        "libcurl does not load: {} (on Debian: apt-get install libcurl4)",
        error == nullptr ? "no reason given" : error));
  }
  CurlLibrary curl;
  RETURN_IF_ERROR(FindFunctions(library, curl));
  const curl_version_info_data* const found =
      curl.version_info(CURLVERSION_NOW);
  if (found->version_num < kOldestCurl) {
    return Unavailable(fmt::format(
        "libcurl: expected version 7.87 or newer, found {}", found->version));
  }
  const CURLcode started = curl.global_init(CURL_GLOBAL_DEFAULT);
  if (started == CURLE_OK) return curl;
  return Unavailable(
      fmt::format("libcurl does not start: {}", curl.easy_strerror(started)));
}

}  // namespace gauntlet
