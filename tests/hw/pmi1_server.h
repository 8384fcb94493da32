// A launcher that speaks PMI-1 with the ranks it is told of: as Flux's RFC 13 has it, or wrongly in
// one answer.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hw/descriptor.h"

namespace slackline::testing {

class Pmi1Server {
 public:
  /// What it answers instead: called with the rank, the command's name and the right answer.
  using Spoil = std::function<std::string(int rank, const std::string& name, std::string answer)>;

  explicit Pmi1Server(
      int ranks, Spoil spoil = [](int, const std::string&, std::string answer) { return answer; })
      : ranks_(ranks), spoil_(std::move(spoil)) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::array<int, 2> ends{};
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
      ends_.emplace_back(ends[0]);
      threads_.emplace_back([this, rank, fd = ends[1]] { serve(rank, hw::Descriptor(fd)); });
    }
  }
  ~Pmi1Server() {
    ends_.clear();
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pmi1Server(const Pmi1Server&) = delete;
  Pmi1Server& operator=(const Pmi1Server&) = delete;

  /// A rank's end, once.
  hw::Descriptor take(int rank) { return std::move(ends_[static_cast<std::size_t>(rank)]); }

 private:
  void serve(int rank, const hw::Descriptor& end) {
    std::string line;
    char c = 0;
    while (read(end.get(), &c, 1) == 1) {
      if (c != '\n') {
        line += c;
        continue;
      }
      const std::string name = word(line, "cmd");
      const std::string answer = spoil_(rank, name, answer_to(line, name));
      line.clear();
      if (send(end.get(), answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
      if (answer.find('\n') == std::string::npos && answer.ends_with("!")) return;  // hangs up
    }
  }

  std::string answer_to(const std::string& line, const std::string& name) {
    std::unique_lock lock(mutex_);
    if (name == "init") return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n";
    if (name == "get_maxes") return "cmd=maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024\n";
    if (name == "get_my_kvsname") return "cmd=my_kvsname rc=0 kvsname=kvs_7\n";
    if (name == "put") {
      values_[word(line, "key")] = word(line, "value");
      return "cmd=put_result rc=0\n";
    }
    if (name == "barrier_in") {
      ++in_barrier_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return in_barrier_ == ranks_ || over_; });
      return "cmd=barrier_out rc=0\n";
    }
    if (name == "get") return "cmd=get_result rc=0 value=" + values_[word(line, "key")] + "\n";
    if (name == "finalize") return "cmd=finalize_ack rc=0\n";
    return "cmd=unknown rc=-1\n";
  }

  static std::string word(const std::string& line, const std::string& key) {
    const std::size_t at = (" " + line).find(" " + key + "=");
    if (at == std::string::npos) return "";
    const std::size_t from = at + key.size() + 1;
    return line.substr(from, line.find(' ', from) - from);
  }

  int ranks_;
  Spoil spoil_;
  std::vector<hw::Descriptor> ends_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
  int in_barrier_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace slackline::testing
