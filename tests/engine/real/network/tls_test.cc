// TLS between workers: accepted files, and callers that may connect.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/network/grpc_network.h"
#include "engine/real/network/tcp_socket.h"
#include "engine/real/network/tls_credentials.h"
#include "engine/real/storage/posix_storage.h"
#include "tests/engine/real/network/test_certificates.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/engine/real/test_process.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHere = "IP:127.0.0.1,DNS:job.example";

class TlsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(scratch_ / name) << text;
    return scratch_ / name;
  }
  TlsFiles Files(const PemPair& pair, const TestAuthority& ca) {
    ++count_;
    return {.cert = Write(fmt::format("cert{}", count_), pair.cert),
            .key = Write(fmt::format("key{}", count_), pair.key),
            .ca = Write(fmt::format("ca{}", count_), ca.Pem())};
  }
  // Returns the reason why the files cannot be used.
  std::string WhyNot(const TlsFiles& files) {
    const Status status = ReadTlsCredentials(storage_, files).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    return status.message();
  }
  TlsCredentials Read(const TlsFiles& files) {
    Result<TlsCredentials> read = ReadTlsCredentials(storage_, files);
    CHECK(read.ok(), read.status().ToString());
    return *std::move(read);
  }
  // Returns true iff a caller with the files `caller`, or without TLS, can
  // connect to a listener with the files `called`, and exchange frames with it.
  bool IsLetIn(const std::optional<TlsFiles>& caller, const TlsFiles& called) {
    const ReservedPort port = *ReservePort("127.0.0.1");
    const std::string address = fmt::format("127.0.0.1:{}", port.port);
    GrpcNetwork network;
    network.UseTls(Read(called));
    const auto listener = *network.Listen(address);
    GrpcNetwork other;
    if (caller) other.UseTls(Read(*caller));
    const Time deadline = In(std::chrono::seconds(2));
    const auto channel = other.Connect(address, deadline);
    if (!channel.ok()) return false;
    if (!(*channel)->Send("hello", deadline).ok()) return false;
    const auto incoming = listener->Accept(deadline);
    return incoming.ok() && incoming->first == "hello" &&
           incoming->channel->Send("welcome", deadline).ok() &&
           (*channel)->Receive(deadline).ok();
  }

  ScratchDirectory scratch_;
  PosixStorage storage_;
  TestAuthority ca_;
  TestAuthority other_ca_;
  int count_ = 0;
};

TEST_F(TlsTest, TakesACertificateItsKeyAndItsAuthority) {
  const TlsCredentials read = Read(Files(ca_.Issue(kHere), ca_));
  EXPECT_THAT(read.cert, HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_THAT(read.key, HasSubstr("PRIVATE KEY"));
}

TEST_F(TlsTest, RefusesFilesThatDoNotFit_InOneLine) {
  const PemPair good = ca_.Issue(kHere);
  TlsFiles missing = Files(good, ca_);
  missing.cert = scratch_ / "nowhere";
  EXPECT_THAT(WhyNot(missing), HasSubstr("--tls-cert: "));
  TlsFiles no_pem = Files(good, ca_);
  no_pem.ca = Write("text", "no certificate");
  EXPECT_THAT(WhyNot(no_pem), HasSubstr("expected certificates in PEM form"));
  TlsFiles torn = Files(good, ca_);
  torn.cert = Write("torn", good.cert.substr(0, good.cert.size() / 2));
  EXPECT_THAT(WhyNot(torn), HasSubstr("--tls-cert: "));
  EXPECT_THAT(WhyNot(Files({.cert = good.cert, .key = "?"}, ca_)),
              HasSubstr("--tls-key: "));
  EXPECT_THAT(
      WhyNot(Files({.cert = good.cert, .key = ca_.Issue(kHere).key}, ca_)),
      HasSubstr("not the key of"));
  EXPECT_THAT(WhyNot(Files(other_ca_.Issue(kHere), ca_)),
              HasSubstr("not valid for a TLS server"));
  EXPECT_THAT(WhyNot(Files(ca_.Issue(kHere, 60), ca_)), HasSubstr("expired"));
  TlsFiles name = Files(good, ca_);
  name.name = "another.example";
  EXPECT_THAT(WhyNot(name), HasSubstr("another.example"));
}

TEST_F(TlsTest, WorkersOfOneAuthorityMeet) {
  const TlsFiles called = Files(ca_.Issue(kHere), ca_);
  EXPECT_TRUE(IsLetIn(Files(ca_.Issue(kHere), ca_), called));
}

TEST_F(TlsTest, RefusesStrangers) {
  const TlsFiles called = Files(ca_.Issue(kHere), ca_);
  EXPECT_FALSE(IsLetIn(std::nullopt, called));
  EXPECT_FALSE(IsLetIn(Files(other_ca_.Issue(kHere), other_ca_), called));
}

TEST_F(TlsTest, CertificateMustNameTheServer) {
  const TlsFiles called = Files(ca_.Issue("DNS:job.example"), ca_);
  TlsFiles caller = Files(ca_.Issue("DNS:job.example"), ca_);
  EXPECT_FALSE(IsLetIn(caller, called));
  caller.name = "job.example";
  EXPECT_TRUE(IsLetIn(caller, called));
}

}  // namespace
}  // namespace gauntlet
