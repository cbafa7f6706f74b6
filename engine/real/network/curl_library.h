// Loads libcurl at run time, when the first request needs it.
//
// The program is not linked with it. libcurl depends on 26 libraries that
// nothing else here uses. To load them would make the start of each process
// take a third longer, although most processes send no request.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_CURL_LIBRARY_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_CURL_LIBRARY_H_

#include <string>

#include "engine/status.h"
#include <curl/curl.h>

namespace gauntlet {

inline constexpr const char* kCurlLibrary = "libcurl.so.4";

// The functions of libcurl in use, by their names without curl_.
struct CurlLibrary {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_version_info) version_info = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_option_by_id) easy_option_by_id = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

// Opens the library, and never closes it: a thread of libcurl may still be
// resolving a host name. kUnavailable: the library does not load or is too old.
// Safe from any thread.
Result<CurlLibrary> OpenCurl(const std::string& file);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_CURL_LIBRARY_H_
