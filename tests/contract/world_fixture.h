// The contract tests' view of a world. Each promise of engine/world/ is one
// test body, run over every kind of world.
//
// A kind is registered by a source file that contains
//   INSTANTIATE_WORLD_CONTRACTS(Simulated, WorldKind{…});
// and is linked with the *_contract.cc of this folder into a test program.
#ifndef GAUNTLET_TESTS_CONTRACT_WORLD_FIXTURE_H_
#define GAUNTLET_TESTS_CONTRACT_WORLD_FIXTURE_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/world/world.h"

namespace gauntlet {

// A fresh world with one process that runs a test's body.
class WorldUnderTest {
 public:
  virtual ~WorldUnderTest() = default;
  // Runs the body to its end, in a task of the process. Called once.
  virtual void Run(const std::function<void(World&)>& body) = 0;
  // Returns an existing, empty directory of this test, without a trailing '/'.
  virtual std::string Directory() = 0;
  // Returns a free address that the process may listen on.
  virtual std::string FreeAddress() = 0;
};

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<WorldUnderTest>()> make;
  // First frame that a client of the network sends.
  Frame first_frame = "first";
  // Waits until a new connection has reached its final speed. May be empty.
  std::function<void()> await_connection = nullptr;
};
inline void PrintTo(const WorldKind& kind, std::ostream* out) {
  *out << kind.name;
}

class WorldContract : public testing::TestWithParam<WorldKind> {
 protected:
  void SetUp() override { world_ = GetParam().make(); }
  void InWorld(const std::function<void(World&)>& body) { world_->Run(body); }
  std::string Path(const std::string& name) {
    return world_->Directory() + "/" + name;
  }
  std::string FreeAddress() { return world_->FreeAddress(); }

  // Timeouts: kSoon for events that must happen, kShort for those that must
  // not.
  static constexpr Duration kSoon = std::chrono::seconds(10);
  static constexpr Duration kShort = std::chrono::milliseconds(30);

 private:
  std::unique_ptr<WorldUnderTest> world_;
};

class ClockContract : public WorldContract {};
class TasksContract : public WorldContract {};
class QueueContract : public WorldContract {};
class StorageContract : public WorldContract {};
class NetworkContract : public WorldContract {};
class HostContract : public WorldContract {};
class SaveContract : public WorldContract {};

#define INSTANTIATE_WORLD_CONTRACTS(prefix, ...)          \
  INSTANTIATE_TEST_SUITE_P(prefix, ClockContract,         \
                           testing::Values(__VA_ARGS__)); \
  INSTANTIATE_TEST_SUITE_P(prefix, TasksContract,         \
                           testing::Values(__VA_ARGS__)); \
  INSTANTIATE_TEST_SUITE_P(prefix, QueueContract,         \
                           testing::Values(__VA_ARGS__)); \
  INSTANTIATE_TEST_SUITE_P(prefix, StorageContract,       \
                           testing::Values(__VA_ARGS__)); \
  INSTANTIATE_TEST_SUITE_P(prefix, NetworkContract,       \
                           testing::Values(__VA_ARGS__)); \
  INSTANTIATE_TEST_SUITE_P(prefix, HostContract,          \
                           testing::Values(__VA_ARGS__)); \
  INSTANTIATE_TEST_SUITE_P(prefix, SaveContract, testing::Values(__VA_ARGS__))

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CONTRACT_WORLD_FIXTURE_H_
