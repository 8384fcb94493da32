// Hosts made of network namespaces, one bridge between them. They have no names: when this process
// is gone, however it ended, so are they.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "hw/descriptor.h"

namespace slackline::testing {

class NetworkHosts {
 public:
  /// Hosts 0 … count − 1, at 10.77.0.1 and so on. If why_not() says something, there are none.
  explicit NetworkHosts(int count) {
    if (geteuid() != 0) {
      why_not_ = "network namespaces need root";
      return;
    }
    for (int host = 0; host <= count; ++host) spaces_.push_back(new_space());
    if (!why_not_.empty()) return;
    const int bridge = count;
    run(bridge, {"link", "add", "br0", "type", "bridge"});
    run(bridge, {"link", "set", "br0", "up"});
    for (int host = 0; host < count; ++host) {
      const std::string end = fmt::format("v{}", host);
      run(bridge, {"link", "add", end, "type", "veth", "peer", "name", "eth0", "netns",
                   fmt::format("/proc/{}/fd/{}", getpid(), spaces_[host].get())});
      run(bridge, {"link", "set", end, "master", "br0", "up"});
      run(host, {"address", "add", address(host) + "/24", "dev", "eth0"});
      run(host, {"link", "set", "eth0", "up"});
      run(host, {"link", "set", "lo", "up"});
    }
  }

  /// What this machine lacks.
  const std::string& why_not() const { return why_not_; }

  static std::string address(int host) { return fmt::format("10.77.0.{}", host + 1); }

  /// The calling thread is on the host from now on.
  void enter(int host) const {
    if (setns(spaces_[host].get(), CLONE_NEWNET) != 0) _exit(1);
  }

  /// As if the cable at the bridge had been pulled.
  void pull_link(int host) {
    run(static_cast<int>(spaces_.size()) - 1, {"link", "set", fmt::format("v{}", host), "down"});
  }

  /// What the host sends goes no faster than that: "40mbit".
  void slow_down(int host, const std::string& rate) {
    run(host,
        {"qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "32kbit", "latency",
         "50ms"},
        "tc");
  }

  /// `ip ARGUMENTS` on the host.
  void run(int host, std::vector<std::string> arguments, const char* program = "ip") {
    if (!why_not_.empty()) return;
    arguments.insert(arguments.begin(), program);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      enter(host);
      execvp(program, pointers.data());
      _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (status == 0) return;
    why_not_ = WEXITSTATUS(status) == 127 ? "there is no `ip` (Debian: iproute2)" : "failed:";
    if (WEXITSTATUS(status) == 127) return;
    for (const std::string& argument : arguments) why_not_ += " " + argument;
  }

 private:
  hw::Descriptor new_space() {
    hw::Descriptor space;
    std::thread([&] {
      if (unshare(CLONE_NEWNET) == 0) {
        space.reset(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
      }
    }).join();
    if (!space) why_not_ = "this kernel gives no network namespaces";
    return space;
  }

  std::vector<hw::Descriptor> spaces_;  // the last holds the bridge
  std::string why_not_;
};

}  // namespace slackline::testing
