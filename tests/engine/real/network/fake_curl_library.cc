// A libcurl that was built without proxies: it refuses the option.
#include <curl/curl.h>

extern "C" {

CURLcode curl_global_init(long) { return CURLE_OK; }

curl_version_info_data* curl_version_info(CURLversion) {
  static curl_version_info_data found = {};
  found.version_num = LIBCURL_VERSION_NUM;
  return &found;
}

CURL* curl_easy_init() {
  static int handle = 0;
  return &handle;
}
void curl_easy_cleanup(CURL*) {}
void curl_easy_reset(CURL*) {}

CURLcode curl_easy_setopt(CURL*, CURLoption option, ...) {
  return option == CURLOPT_PROXY ? CURLE_UNKNOWN_OPTION : CURLE_OK;
}

const curl_easyoption* curl_easy_option_by_id(CURLoption option) {
  static const curl_easyoption proxy = {"PROXY", CURLOPT_PROXY, CURLOT_STRING,
                                        0};
  return option == CURLOPT_PROXY ? &proxy : nullptr;
}

CURLcode curl_easy_perform(CURL*) { return CURLE_OK; }
CURLcode curl_easy_getinfo(CURL*, CURLINFO, ...) { return CURLE_OK; }

const char* curl_easy_strerror(CURLcode code) {
  return code == CURLE_UNKNOWN_OPTION ? "An unknown option" : "No error";
}

curl_slist* curl_slist_append(curl_slist*, const char*) {
  static curl_slist all = {};
  return &all;
}
void curl_slist_free_all(curl_slist*) {}

}  // extern "C"
