#include "harness/run/executor/metadata_server.h"

#include <fstream>

#include <gtest/gtest.h>

#include "engine/real/network/http_client.h"
#include "engine/real/posix/system_clock.h"
#include "tests/engine/real/scratch_directory.h"

namespace gauntlet {
namespace {

HttpResponse AnswerOf(const MetadataServer& server) {
  const Time deadline = SystemClock().Now() + std::chrono::seconds(60);
  return HttpClient()
      .SendRequest({.url = ParseHttpUrl(server.url()).value()}, deadline)
      .value();
}

TEST(MetadataServerTest, AnswersTrueOnceTheFileExists) {
  const ScratchDirectory scratch;
  const auto server = MetadataServer::Start(scratch / "go").value();
  EXPECT_EQ(AnswerOf(*server).body, "FALSE");
  std::ofstream(scratch / "go") << "";
  EXPECT_EQ(AnswerOf(*server).body, "TRUE");
}

}  // namespace
}  // namespace gauntlet
