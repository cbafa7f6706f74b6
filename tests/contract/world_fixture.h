// The contract tests' view of a world: each promise of engine/world/ is one
// body here, run over every kind of world there is.
//
// A kind is made known by a source file that says
//   INSTANTIATE_WORLD_CONTRACTS(Simulated, WorldKind{…});
// and a test program made of that file and the *_contract.cc beside this one.
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

// One fresh world with one process to run a test's body in.
class WorldUnderTest {
 public:
  virtual ~WorldUnderTest() = default;
  // Runs the body to its end, in a task of the process. Once.
  virtual void Run(const std::function<void(World&)>& body) = 0;
  // A directory that exists, is empty and is the test's own; no '/' at its end.
  virtual std::string Directory() = 0;
  // An address that the process may listen on and nobody does.
  virtual std::string FreeAddress() = 0;
};

struct WorldKind {
  std::string name;
  std::function<std::unique_ptr<WorldUnderTest>()> make;
  // First frame of a client of the network.
  Frame first_frame = "first";
  // Waits until a new connection is as fast as it will be. May be empty.
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

  // Long enough for anything that is to happen, short enough to wait for what
  // is not.
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
