// Selective signalling against a queue pair that keeps its promises and nothing more: it takes
// requests one at a time, carries them out in order at a time of its own choosing, and completes
// those that ask for it.
#include "hw/selective_signalling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace slackline::hw {
namespace {

using Want = SelectiveSignalling::Want;

TEST(SelectiveSignalling, AllButOneInUMaxAreSilent) {
  for (const std::uint64_t u_max : {1, 2, 7, 256}) {
    SelectiveSignalling signalling(u_max);
    for (std::uint64_t k = 1; k <= 10 * u_max; ++k) {
      const auto decision = signalling.begin(Want::kNothing);
      EXPECT_EQ(decision.signalled, k % u_max == 0) << k << " of " << u_max;
      if (decision.signalled) signalling.completed(decision.flush);
      EXPECT_EQ(signalling.flush_number(), k / u_max);
    }
  }
}

TEST(SelectiveSignalling, NoneIsSilentWhileAFlushIsDue) {
  SelectiveSignalling signalling(4);
  for (int k = 1; k < 4; ++k) EXPECT_FALSE(signalling.begin(Want::kNothing).signalled);
  const auto due = signalling.begin(Want::kNothing);
  EXPECT_TRUE(due.signalled);
  for (int k = 5; k < 20; ++k) EXPECT_TRUE(signalling.begin(Want::kNothing).signalled) << k;
  // The first completion reaches into the second period only, and k = 20 is in the sixth.
  signalling.completed(due.flush);
  EXPECT_TRUE(signalling.begin(Want::kNothing).signalled);
  signalling.completed(5);
  EXPECT_FALSE(signalling.begin(Want::kNothing).signalled);
}

TEST(SelectiveSignalling, WhoWantsACompletionGetsOneAndShiftsNoOther) {
  SelectiveSignalling signalling(4);
  EXPECT_TRUE(signalling.begin(Want::kCompletion).signalled);
  EXPECT_FALSE(signalling.begin(Want::kNothing).signalled);
  EXPECT_TRUE(signalling.begin(Want::kCompletion).signalled);
  EXPECT_TRUE(signalling.begin(Want::kNothing).signalled);
}

TEST(SelectiveSignalling, CompletionsSeenOutOfOrderNeverTakeBack) {
  SelectiveSignalling signalling(1);
  const auto first = signalling.begin(Want::kNothing);
  const auto second = signalling.begin(Want::kNothing);
  signalling.completed(second.flush);
  signalling.completed(first.flush);
  EXPECT_EQ(signalling.flush_number(), 2u);
}

TEST(SelectiveSignalling, AFlushFreesWhatWasPostedBefore) {
  SelectiveSignalling signalling(1000);
  signalling.begin(Want::kNothing);
  const std::uint64_t tag = signalling.tag();
  const auto flush = signalling.begin(Want::kFlush);
  EXPECT_TRUE(flush.signalled);
  EXPECT_FALSE(signalling.is_free(tag));
  signalling.completed(flush.flush);
  EXPECT_TRUE(signalling.is_free(tag));
  // It took number 1001; the next whose turn it is has 2000.
  for (int k = 1002; k < 2000; ++k) ASSERT_FALSE(signalling.begin(Want::kNothing).signalled) << k;
  EXPECT_TRUE(signalling.begin(Want::kNothing).signalled);
}

// Thread A takes its number first and posts last: the completion of B's request, between the two,
// says nothing of A's. (With the flush number itself as the tag, it would free A's memory.)
TEST(SelectiveSignalling, AFlushFreesNothingThatWasPostedAfterIt) {
  SelectiveSignalling signalling(2);
  EXPECT_FALSE(signalling.begin(Want::kNothing).signalled);  // A's number
  const auto flush = signalling.begin(Want::kNothing);       // B's, which is posted now
  EXPECT_TRUE(flush.signalled);
  EXPECT_EQ(signalling.flush_number(), 0u);
  const std::uint64_t tag = signalling.tag();  // A posts, and tags
  signalling.completed(flush.flush);
  EXPECT_EQ(signalling.flush_number(), 1u);
  EXPECT_FALSE(signalling.is_free(tag));
}

// Every order in which threads, the queue pair and whoever polls it may take their steps.
class EveryOrder {
 public:
  // `thread_of` has the thread of each request; a thread posts its own in this order.
  EveryOrder(std::uint64_t u_max, std::vector<int> thread_of)
      : u_max_(u_max), thread_of_(std::move(thread_of)) {}

  // Answers how many orders there are.
  int run() {
    int orders = 0;
    std::vector<int> choices;
    while (true) {
      follow(choices);
      ++orders;
      if (::testing::Test::HasFailure()) return orders;
      // The next order: the last step at which there was another choice left takes it.
      choices = taken_;
      while (!choices.empty() && choices.back() + 1 == width_[choices.size() - 1]) {
        choices.pop_back();
      }
      if (choices.empty()) return orders;
      ++choices.back();
    }
  }

 private:
  enum Step { kBegin, kPost, kTag, kSteps };
  struct Request {
    SelectiveSignalling::Decision decision;
    bool carried_out = false;
    std::optional<std::uint64_t> tag;
  };

  void follow(const std::vector<int>& choices) {
    SelectiveSignalling signalling(u_max_);
    std::vector<Request> requests(thread_of_.size());
    std::vector<int> steps(thread_of_.size(), 0);
    std::deque<std::size_t> queue;      // posted, not carried out
    std::deque<std::uint64_t> flushes;  // completions nobody has seen
    taken_.clear();
    width_.clear();
    while (true) {
      constexpr std::size_t kQueuePair = 1000;
      constexpr std::size_t kPolling = 1001;
      std::vector<std::size_t> actors;  // those, and requests that are their thread's next
      for (std::size_t r = 0; r < requests.size(); ++r) {
        bool is_next = steps[r] < kSteps;
        for (std::size_t b = 0; b < r; ++b) {
          if (thread_of_[b] == thread_of_[r] && steps[b] < kSteps) is_next = false;
        }
        if (is_next) actors.push_back(r);
      }
      if (!queue.empty()) actors.push_back(kQueuePair);
      if (!flushes.empty()) actors.push_back(kPolling);
      if (actors.empty()) break;
      const int choice = taken_.size() < choices.size() ? choices[taken_.size()] : 0;
      taken_.push_back(choice);
      width_.push_back(static_cast<int>(actors.size()));
      const std::size_t actor = actors[choice];
      if (actor == kQueuePair) {
        Request& request = requests[queue.front()];
        queue.pop_front();
        request.carried_out = true;
        if (request.decision.signalled) flushes.push_back(request.decision.flush);
      } else if (actor == kPolling) {
        signalling.completed(flushes.front());
        flushes.pop_front();
      } else {
        const int step = steps[actor]++;
        if (step == kBegin) requests[actor].decision = signalling.begin(Want::kNothing);
        if (step == kPost) queue.push_back(actor);
        if (step == kTag) requests[actor].tag = signalling.tag();
      }
      for (const Request& request : requests) {
        if (!request.tag) continue;
        ASSERT_TRUE(request.carried_out || !signalling.is_free(*request.tag))
            << "freed early, with u_max " << u_max_;
      }
    }
    signalling.completed(signalling.begin(Want::kFlush).flush);
    for (const Request& request : requests) ASSERT_TRUE(signalling.is_free(*request.tag));
  }

  std::uint64_t u_max_;
  std::vector<int> thread_of_;
  std::vector<int> taken_;
  std::vector<int> width_;
};

TEST(SelectiveSignalling, FreesNothingEarlyInAnyOrder) {
  for (const std::uint64_t u_max : {1, 2, 3}) {
    EXPECT_GT(EveryOrder(u_max, {0, 0, 1}).run(), 1000);
  }
  EXPECT_GT(EveryOrder(2, {0, 1, 2}).run(), 10'000);
}

// The same with real threads. Buffers are used again as soon as they are free.
class Stress {
 public:
  Stress(std::uint64_t u_max, int threads) : signalling_(u_max), owners_(threads) {}

  void run(int requests) {
    std::thread queue_pair([&] { carry_out(); });
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < owners_.size(); ++t) {
      threads.emplace_back([&, t] { post_requests(owners_[t], requests, t); });
    }
    for (std::thread& thread : threads) thread.join();
    Buffer last;
    const auto decision = signalling_.begin(Want::kFlush);
    post(last, decision);
    wait_for(decision.flush);
    over_ = true;
    queue_pair.join();
  }

  std::uint64_t early() const { return early_; }
  std::uint64_t used_again() const { return used_again_; }
  std::uint64_t silent() const { return silent_; }
  std::uint64_t most_silent() const { return most_silent_; }
  bool all_free() const {
    return std::all_of(owners_.begin(), owners_.end(), [&](const auto& buffers) {
      return std::all_of(buffers.begin(), buffers.end(), [&](const Buffer& buffer) {
        return !buffer.tag || signalling_.is_free(*buffer.tag);
      });
    });
  }

 private:
  struct Buffer {
    std::optional<std::uint64_t> tag;
    std::atomic<bool> in_use{false};
  };
  using Buffers = std::array<Buffer, 64>;
  struct Posted {
    Buffer* buffer;
    SelectiveSignalling::Decision decision;
    std::uint64_t silent_before;  // how many silent requests were posted before it
  };

  void post_requests(Buffers& buffers, int requests, std::size_t seed) {
    std::minstd_rand random(static_cast<std::uint32_t>(seed + 1));
    const auto pause = [&] {
      if (random() % 8 == 0) std::this_thread::yield();
    };
    std::size_t next = 0;
    for (int r = 0; r < requests; ++r) {
      Buffer& buffer = buffers[next++ % buffers.size()];
      while (buffer.tag && !signalling_.is_free(*buffer.tag)) {
        // The others may be through, and a period only half full.
        if (!see_completion()) {
          Buffer none;
          const auto flush = signalling_.begin(Want::kFlush);
          post(none, flush);
          wait_for(flush.flush);
        }
      }
      if (buffer.in_use.exchange(true)) ++early_;
      if (buffer.tag) ++used_again_;
      const auto decision = signalling_.begin(Want::kNothing);
      pause();
      post(buffer, decision);
      pause();
      buffer.tag = signalling_.tag();
      if (decision.signalled) see_completion();
    }
  }

  void wait_for(std::uint64_t flush) {
    while (signalling_.flush_number() < flush) {
      if (!see_completion()) std::this_thread::yield();
    }
  }

  void post(Buffer& buffer, SelectiveSignalling::Decision decision) {
    const std::scoped_lock lock(mutex_);
    if (!decision.signalled) {
      ++silent_;
      most_silent_ = std::max(most_silent_, silent_ - silent_seen_);
    }
    queue_.push_back({&buffer, decision, silent_});
  }

  void carry_out() {
    for (; !over_; std::this_thread::yield()) {
      const std::scoped_lock lock(mutex_);
      for (int i = 0; i < 8 && !queue_.empty(); ++i) {
        const Posted posted = queue_.front();
        queue_.pop_front();
        posted.buffer->in_use = false;
        if (posted.decision.signalled) completions_.push_back(posted);
      }
    }
  }

  bool see_completion() {
    std::uint64_t flush = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (completions_.empty()) return false;
      silent_seen_ = std::max(silent_seen_, completions_.front().silent_before);
      flush = completions_.front().decision.flush;
      completions_.pop_front();
    }
    signalling_.completed(flush);
    return true;
  }

  SelectiveSignalling signalling_;
  std::vector<Buffers> owners_;  // by thread
  std::atomic<std::uint64_t> early_{0};
  std::atomic<std::uint64_t> used_again_{0};
  std::atomic<bool> over_{false};
  std::mutex mutex_;  // of what follows: a queue pair takes one request at a time
  std::deque<Posted> queue_;
  std::deque<Posted> completions_;
  std::uint64_t silent_ = 0;
  std::uint64_t silent_seen_ = 0;  // of those, known to be complete
  std::uint64_t most_silent_ = 0;
};

TEST(SelectiveSignalling, ThreadsShareAQueuePairAndFreeMemoryNeitherEarlyNorNever) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 20'000;
  for (const std::uint64_t u_max : {2, 16, 61}) {
    Stress stress(u_max, kThreads);
    stress.run(kRequests);
    EXPECT_EQ(stress.early(), 0u) << u_max;
    EXPECT_EQ(stress.used_again(), kThreads * (kRequests - 64u)) << u_max;
    EXPECT_TRUE(stress.all_free()) << u_max;
    // What a queue pair must have room for beside the signalled ones.
    EXPECT_LE(stress.most_silent(), u_max + kThreads) << u_max;
    EXPECT_GT(stress.silent(), 0u) << u_max;
  }
}

}  // namespace
}  // namespace slackline::hw
