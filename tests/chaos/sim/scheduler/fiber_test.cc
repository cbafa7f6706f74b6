#include "chaos/sim/scheduler/fiber.h"

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

struct Script {
  FiberContext* context = nullptr;
  std::vector<std::string> log;
};

TEST(FiberTest, AlternatesWithItsCaller) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  context->Begin([&script] {
    script.log.push_back("fiber 1");
    script.context->Suspend();
    script.log.push_back("fiber 2");
  });
  EXPECT_TRUE(context->Resume());
  script.log.push_back("caller");
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"fiber 1", "caller", "fiber 2"}));
}

TEST(FiberTest, UnmappableStack_ThrowsBadAlloc) {
  EXPECT_THROW(FiberContext(size_t{1} << 60), std::bad_alloc);
}

TEST(FiberTest, StackServesManyBodies) {
  FiberPool pool;
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    auto context = pool.Take();
    context->Begin([&runs] { ++runs; });
    EXPECT_FALSE(context->Resume());
    pool.Put(std::move(context));
  }
  EXPECT_EQ(runs, 100);
}

// C++ would take the exceptions in flight for exceptions of the fiber that runs
// next.
TEST(FiberTest, SuspendingInAHandlerIsAnError) {
  const auto suspend_in_handler = [] {
    FiberPool pool;
    auto context = pool.Take();
    context->Begin([&context] {
      try {
        throw std::runtime_error("one");
      } catch (const std::runtime_error&) {
        context->Suspend();
      }
    });
    context->Resume();
  };
  EXPECT_DEATH(suspend_in_handler(), "suspends while it handles an exception");
}

// Logs its name when it is destroyed.
struct Witness {
  Script& script;
  std::string name;
  ~Witness() { script.log.push_back(name); }
};

// Each frame holds a witness. The innermost frame suspends, and then unwinds
// all frames.
void Descend(Script& script, int depth) {
  const Witness witness{script, std::to_string(depth)};
  if (depth < 3) {
    Descend(script, depth + 1);
    script.log.push_back("came back");
  }
  script.context->Suspend();
  if (depth == 3) script.context->Unwind();
}

TEST(FiberTest, UnwoundBodyIsDestroyedFromTheTopOfItsStack) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  for (int round = 0; round < 100; ++round) {
    script.log.clear();
    context->Begin([&script] { Descend(script, 1); });
    EXPECT_TRUE(context->Resume());
    EXPECT_TRUE(script.log.empty());
    EXPECT_FALSE(context->Resume());
    EXPECT_EQ(script.log, (std::vector<std::string>{"3", "2", "1"}));
  }
  pool.Put(std::move(context));
}

TEST(FiberTest, DestroysCapturesOfABodyAfterItsLocals) {
  FiberPool pool;
  auto context = pool.Take();
  Script script{.context = context.get(), .log = {}};
  for (const bool unwinds : {false, true}) {
    script.log.clear();
    context->Begin(
        [&script, unwinds,
         held = std::shared_ptr<Witness>(new Witness{script, "held"})] {
          const Witness local{script, "local"};
          script.context->Suspend();
          if (unwinds) script.context->Unwind();
        });
    EXPECT_TRUE(context->Resume());
    EXPECT_TRUE(script.log.empty());
    EXPECT_FALSE(context->Resume());
    EXPECT_EQ(script.log, (std::vector<std::string>{"local", "held"}));
  }
}

void UnwindInCatch(Script& s) {
  try {
    const Witness outer{s, "outer"};
    try {
      throw std::runtime_error("one");
    } catch (const std::runtime_error&) {
      const Witness inner{s, "inner"};
      s.context->Unwind();
    }
  } catch (const std::runtime_error&) {
    s.log.push_back("took it for an exception");
  } catch (...) {
    s.log.push_back("passed through");
    throw;
  }
}

TEST(FiberTest, BodyMayBeUnwoundInAHandler) {
  FiberPool pool;
  Script script{.context = nullptr, .log = {}};
  auto context = pool.Take();
  script.context = context.get();
  context->Begin([&script] { UnwindInCatch(script); });
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"inner", "outer", "passed through"}));
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  // The context can be used again, and its next body may suspend.
  context->Begin([&script] {
    script.context->Suspend();
    script.log.push_back("again");
  });
  EXPECT_TRUE(context->Resume());
  EXPECT_FALSE(context->Resume());
  EXPECT_EQ(script.log.back(), "again");
}

// A fiber may be unwound while others are suspended, and its stack may then be
// used again.
TEST(FiberTest, OthersStaySuspendedWhenOneIsUnwound) {
  FiberPool pool;
  auto first = pool.Take();
  auto second = pool.Take();
  Script script{.context = second.get(), .log = {}};
  first->Begin([&] {
    const Witness witness{script, "first ends"};
    first->Suspend();
    script.log.push_back("first goes on");
  });
  second->Begin([&script] { Descend(script, 3); });
  EXPECT_TRUE(first->Resume());
  EXPECT_TRUE(second->Resume());
  EXPECT_FALSE(second->Resume());
  second->Begin([&script] { script.log.push_back("second again"); });
  EXPECT_FALSE(second->Resume());
  EXPECT_FALSE(first->Resume());
  EXPECT_EQ(script.log,
            (std::vector<std::string>{"3", "second again", "first goes on",
                                      "first ends"}));
}

}  // namespace
}  // namespace gauntlet
