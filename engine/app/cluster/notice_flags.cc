#include "engine/app/cluster/notice_flags.h"

#include <optional>
#include <string>

#include "engine/world/http.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns a reader of names such as "SIGUSR1" or "USR1".
FlagReader ReadSignal(std::string& target) {
  return [&target](const std::string& text) -> Status {
    for (const std::string_view name : NoticeSignals()) {
      if (text != name && "SIG" + text != name) continue;
      target = name;
      return OkStatus();
    }
    return ExpectedValue(
        fmt::format("one of {}", fmt::join(NoticeSignals(), ", ")), text);
  };
}

FlagReader ReadUrl(std::string& target) {
  return [&target](const std::string& text) -> Status {
    RETURN_IF_ERROR(ParseHttpUrl(text).status());
    target = text;
    return OkStatus();
  };
}

FlagReader ReadFileName(std::string& target) {
  return [&target](const std::string& text) -> Status {
    RETURN_IF_ERROR(CheckText(text));
    if (text.ends_with('/')) return ExpectedValue("the name of a file", text);
    target = text;
    return OkStatus();
  };
}

FlagReader ReadPeriod(Duration& target) {
  return [&target](const std::string& text) -> Status {
    std::optional<Duration> period;
    RETURN_IF_ERROR(ReadTime(period)(text));
    target = *period;
    return OkStatus();
  };
}

}  // namespace

void AddNoticeFlags(Flags& flags, PreemptionOptions& values) {
  flags.Value({"--notice-file", "PATH",
               "Preemption notice by a file: sent once PATH exists."},
              ReadFileName(values.file));
  flags.Value(
      {"--notice-url", "URL",
       "Preemption notice by a metadata service (plain http): sent once "
       "URL answers TRUE (Google) or an action (Amazon, with an IMDSv2 "
       "token if required)."},
      ReadUrl(values.url));
  flags.Value(
      {"--notice-every", "TIME", "Time between two polls of both (1s)."},
      ReadPeriod(values.poll_every));
  flags.Value({"--notice-signal", "NAME",
               "Preemption notice by one more signal, besides SIGTERM, SIGINT "
               "and SIGHUP: SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU or SIGPWR; "
               "SIGHUP: even if it is ignored (nohup)."},
              ReadSignal(values.signal));
}

}  // namespace gauntlet
