#include "harness/cli/notice_flags.h"

#include <optional>
#include <string>

#include "engine/world/http_format.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// "SIGUSR1" or "USR1".
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

void AddNoticeFlags(Flags& flags, PreemptionOptions& told) {
  flags.Value({"--notice-file", "PATH",
               "a notice once it is there; each worker looks for it"},
              ReadFileName(told.file));
  flags.Value({"--notice-url", "URL",
               "a notice once it answers TRUE, or an action of Amazon's; plain "
               "http; a token is asked for where one is wanted (IMDSv2)"},
              ReadUrl(told.url));
  flags.Value({"--notice-every", "TIME", "how often both are looked at (1s)"},
              ReadPeriod(told.poll_every));
  flags.Value({"--notice-signal", "NAME",
               "a notice too, beside SIGTERM, SIGINT and SIGHUP: SIGQUIT, "
               "SIGUSR1, SIGUSR2, SIGXCPU or SIGPWR; SIGHUP even where it "
               "is ignored"},
              ReadSignal(told.signal));
}

}  // namespace gauntlet
