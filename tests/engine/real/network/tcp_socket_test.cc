#include "engine/real/network/tcp_socket.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cluster/address_text.h"
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gauntlet {
namespace {

TEST(TcpSocketTest, TakesAddressesApart) {
  const HostPort name = *ParseHostPort("worker-0.example:5000");
  EXPECT_EQ(name.kind, HostPort::Kind::kName);
  EXPECT_EQ(name.host, "worker-0.example");
  EXPECT_EQ(name.port, 5000);
  EXPECT_EQ(ParseHostPort("127.0.0.1:1")->kind, HostPort::Kind::kIpv4);
  EXPECT_EQ(ParseHostPort("[::1]:65535")->kind, HostPort::Kind::kIpv6);
  EXPECT_EQ(ParseHostPort("[::1]:65535")->host, "::1");
}

TEST(TcpSocketTest, RefusesMalformedAddresses) {
  for (const char* address :
       {"", ":", "a", "a:", ":1", "a:0", "a:65536", "a:-1", "a:+1", "a:1x",
        "a: 1", "::1:5", "[::1]", "[::1", "[]:1", "[a]:1", "a b:1",
        "http://a:1", "a:99999999999999999999"}) {
    const auto parsed = ParseHostPort(address);
    ASSERT_FALSE(parsed.ok()) << address;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_NE(parsed.status().message().find(fmt::format("\"{}\"", address)),
              std::string::npos);
  }
}

TEST(TcpSocketTest, ReservedPortCanBeListenedOnOnceAtATime) {
  const ReservedPort port = *ReservePort("127.0.0.1");
  const std::string address = fmt::format("127.0.0.1:{}", port.port);
  auto first = ListenOn(address);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(ListenOn(address).status().code(), Code::kAlreadyExists);
  first->Reset();
  EXPECT_TRUE(ListenOn(address).ok());
}

TEST(TcpSocketTest, ReservedPorts_AreDistinct) {
  std::vector<ReservedPort> ports;
  std::set<int> numbers;
  for (int i = 0; i < 500; ++i) {
    ports.push_back(*ReservePort("127.0.0.1"));
    numbers.insert(ports.back().port);
  }
  EXPECT_EQ(numbers.size(), ports.size());
}

TEST(TcpSocketTest, PortOfAllInterfacesCanBeListenedOn) {
  const ReservedPort port = *ReservePort("0.0.0.0");
  EXPECT_TRUE(ListenOn(fmt::format("0.0.0.0:{}", port.port)).ok());
}

TEST(TcpSocketTest, WayToLoopbackBeginsThere) {
  EXPECT_EQ(*OwnHostTowards("127.0.0.1:5000"), "127.0.0.1");
  EXPECT_EQ(*OwnHostTowards("127.0.0.9:1"), "127.0.0.1");
}

TEST(TcpSocketTest, UnresolvedNameMayResolveLater) {
  EXPECT_EQ(OwnHostTowards("no-such-host.invalid:5000").status().code(),
            Code::kUnavailable);
  EXPECT_EQ(OwnHostTowards("no port").status().code(), Code::kInvalidArgument);
}

TEST(TcpSocketTest, NameLeadsToAnAddressOfThisMachine) {
  EXPECT_EQ(*LocalAddressOf("127.0.0.1"), "127.0.0.1");
  EXPECT_TRUE(ListenOn(AddressOf(*LocalAddressOf("localhost"),
                                 ReservePort("localhost")->port))
                  .ok());
  EXPECT_EQ(LocalAddressOf("192.0.2.1").status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(LocalAddressOf("no-such-host.invalid").status().code(),
            Code::kUnavailable);
}

TEST(TcpSocketTest, AddressOfAnotherMachineIsRefused) {
  EXPECT_EQ(ListenOn("192.0.2.1:5000").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace gauntlet
