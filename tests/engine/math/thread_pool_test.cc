#include "engine/math/thread_pool.h"

#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

TEST(ThreadPoolTest, RunsEveryIndexOnceAndWaitsForAll) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    std::vector<int> calls(static_cast<size_t>(threads), 0);
    for (int round = 0; round < 100; ++round) {
      pool.Run([&](int index) { ++calls[static_cast<size_t>(index)]; });
    }
    EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(threads), 100));
  }
}

TEST(ThreadPoolTest, OneThreadIsTheCaller) {
  ThreadPool pool(1);
  std::thread::id id;
  pool.Run([&](int) { id = std::this_thread::get_id(); });
  EXPECT_EQ(id, std::this_thread::get_id());
}

ptrdiff_t ThreadsOfThisProcess() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/task"),
                       fs::directory_iterator());
}

TEST(ThreadPoolTest, EndsItsThreads_WithoutEverHavingRun) {
  const ptrdiff_t before = ThreadsOfThisProcess();
  { const ThreadPool pool(4); }
  EXPECT_EQ(ThreadsOfThisProcess(), before);
}

}  // namespace
}  // namespace gauntlet
