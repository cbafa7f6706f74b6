// A separate program, as it replaces the system's resolver by one that hangs.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/network/http_client.h"
#include "engine/real/posix/system_clock.h"
#include <netdb.h>

extern "C" int getaddrinfo(const char*, const char*, const addrinfo*,
                           addrinfo**) {
  std::this_thread::sleep_for(std::chrono::seconds(20));
  return EAI_AGAIN;
}

namespace gauntlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(HangingResolverTest, IsLeftAtTheDeadline) {
  HttpClient client;
  const SystemClock clock;
  const Time begin = clock.Now();
  for (int i = 0; i < 2; ++i) {
    const auto answer = client.SendRequest(
        {.url = ParseHttpUrl("http://no-such-host.invalid/").value()},
        clock.Now() + milliseconds(100));
    EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded)
        << answer.status().ToString();
  }
  EXPECT_LT(clock.Now(), begin + seconds(10));
}

}  // namespace
}  // namespace gauntlet
