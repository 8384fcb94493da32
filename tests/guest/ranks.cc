#include "tests/guest/ranks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "base/end_with_parent.h"
#include "hw/verbs/transport.h"
#include "tests/hw/local_ranks.h"

namespace slackline::guest {
namespace {

using testing::local_ranks::readable;
using testing::local_ranks::receive_bytes;
using testing::local_ranks::send_bytes;

constexpr std::chrono::seconds kLongestWait{60};

// Serves the ranks' all_gathers until none is left; false if one keeps the others waiting too long.
bool serve(std::vector<int> sockets) {
  std::size_t left = sockets.size();
  while (left != 0) {
    std::vector<Bytes> told(sockets.size());
    for (std::size_t r = 0; r < sockets.size(); ++r) {
      if (sockets[r] < 0) continue;
      constexpr int kLongest = 2 * std::chrono::milliseconds(kLongestWait).count();
      if (!readable(sockets[r], kLongest)) return false;
      if (receive_bytes(sockets[r], told[r])) continue;
      sockets[r] = -1;  // it has ended; the parent closes it
      --left;
    }
    for (const int socket : sockets) {
      for (std::size_t r = 0; socket >= 0 && r < told.size(); ++r) {
        send_bytes(socket, told[r].data(), told[r].size());
      }
    }
  }
  return true;
}

void be_rank(std::uint32_t index, std::uint32_t count, int socket,
             const std::function<hw::VerbsOptions(std::uint32_t)>& options,
             const std::function<void(Rank&)>& body) {
  try {
    Rank rank(index, count, socket, options(index));
    body(rank);
    // Nobody takes memory away that another may still be at work on.
    rank.meet();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "rank " << index << ": " << error.what();
  }
}

}  // namespace

Rank::Rank(std::uint32_t index, std::uint32_t count, int socket, const hw::VerbsOptions& options)
    : index_(index),
      count_(count),
      socket_(socket),
      memory_(kMemory),
      transport_(hw::make_verbs_transport(options)),
      local_(transport_->register_memory(memory_)) {}

std::vector<Bytes> Rank::all_gather(std::span<const std::byte> bytes) {
  std::vector<Bytes> told(count_);
  bool well = send_bytes(socket_, bytes.data(), bytes.size());
  for (Bytes& one : told) well = well && receive_bytes(socket_, one);
  if (!well) throw std::runtime_error("the parent has ended");
  return told;
}

std::vector<hw::ChannelEnd> Rank::connect(std::span<const Channel> channels) {
  std::vector<hw::ChannelEnd> ends;
  for (const Channel& channel : channels) {
    if (channel.from == index_) ends.push_back({channel.number, channel.to, true});
    if (channel.to == index_) ends.push_back({channel.number, channel.from, false});
  }
  const std::vector<hw::Address> addresses = all_gather(transport_->open(ends));
  remote_.clear();
  for (const Bytes& bytes : all_gather(std::as_bytes(std::span(&local_.remote, 1)))) {
    remote_.emplace_back();
    std::memcpy(&remote_.back(), bytes.data(), bytes.size());
  }
  transport_->connect(addresses);
  meet();
  return ends;
}

void Rank::post(std::span<const hw::WorkRequest> requests) {
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (true) {
    requests = requests.subspan(transport_->post(requests));
    if (requests.empty()) return;
    hw::Completion completion;
    if (transport_->poll({&completion, 1}) != 0) kept_.push_back(completion);
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("never any room");
  }
}

hw::Completion Rank::next() {
  hw::Completion completion;
  if (!kept_.empty()) {
    completion = kept_.front();
    kept_.erase(kept_.begin());
    return completion;
  }
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (transport_->poll({&completion, 1}) == 0) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("nothing completes");
  }
  return completion;
}

void run_ranks(std::uint32_t count, const std::function<void(Rank&)>& body,
               const std::set<std::uint32_t>& killed) {
  run_ranks(
      count, [](std::uint32_t) { return hw::VerbsOptions(); }, body, killed);
}

void run_ranks(std::uint32_t count,
               const std::function<hw::VerbsOptions(std::uint32_t rank)>& options,
               const std::function<void(Rank&)>& body, const std::set<std::uint32_t>& killed) {
  std::fflush(nullptr);  // what is in the buffer would be printed twice
  std::vector<int> sockets;
  std::vector<pid_t> children;
  for (std::uint32_t r = 0; r < count; ++r) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0) << std::strerror(errno);
    const pid_t parent = getpid();
    const pid_t child = fork();
    ASSERT_GE(child, 0) << std::strerror(errno);
    if (child == 0) {
      sched::end_with_parent(parent);
      for (const int socket : sockets) close(socket);
      close(pair[0]);
      be_rank(r, count, pair[1], options, body);
      std::fflush(nullptr);
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    close(pair[1]);
    sockets.push_back(pair[0]);
    children.push_back(child);
  }
  const bool in_time = serve(sockets);
  EXPECT_TRUE(in_time) << "a rank kept the others waiting too long";
  for (std::uint32_t r = 0; r < count; ++r) {
    if (!in_time) kill(children[r], SIGKILL);
    close(sockets[r]);
    int status = 0;
    ASSERT_EQ(waitpid(children[r], &status, 0), children[r]);
    if (killed.contains(r)) {
      EXPECT_TRUE(WIFSIGNALED(status)) << "rank " << r << " lives";
    } else {
      EXPECT_EQ(status, 0) << "rank " << r << " failed; what it printed is above";
    }
  }
}

}  // namespace slackline::guest
