#include "hw/testbed/testbed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/error.h"
#include "hw/launch/remote_shell.h"
#include "hw/testbed/entry.h"

namespace slackline::hw {
namespace {

// A thread can leave its network for a new one. Who made it need not stay.
Descriptor new_network() {
  Descriptor space;
  int reason = 0;
  std::thread([&] {
    if (unshare(CLONE_NEWNET) == 0) {
      space.reset(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    }
    reason = errno;
  }).join();
  if (space) return space;
  if (reason == EPERM) {
    throw EnvironmentError(
        "a testbed is made of network namespaces, which this user may not make; run this as root "
        "(or, where the system lets users do so, within `unshare --map-root-user`)");
  }
  throw EnvironmentError(fmt::format(
      "no network namespace: {}; a testbed needs a kernel that has them, and `ulimit -n` above "
      "the number of hosts",
      strerror(reason)));
}

// A file that has no name, and that nobody can write any more: the kernel starts no program that
// somebody could write to.
Descriptor nameless_program(const std::string& text) {
  const Descriptor writable(memfd_create("slackline-testbed", MFD_CLOEXEC));
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t more = write(writable.get(), text.data() + written, text.size() - written);
    if (more <= 0) break;
    written += static_cast<std::size_t>(more);
  }
  Descriptor program;
  if (written == text.size() && fchmod(writable.get(), 0500) == 0) {
    const std::string path = fmt::format("/proc/self/fd/{}", writable.get());
    program.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!program) throw EnvironmentError(fmt::format("no file in memory: {}", strerror(errno)));
  return program;
}

// What the programs say when the kernel has no such thing.
std::string cure(const std::string& words) {
  const auto has = [&](const char* part) { return words.find(part) != std::string::npos; };
  if (has("not found")) return "install it (Debian: iproute2, nftables)";
  return "a testbed needs a kernel with veth, bridge, sch_htb and nf_tables with egress hooks; for "
         "latencies sch_netem, or --bare-latency; for --guests tun";
}

}  // namespace

Testbed::Testbed(const SwitchTree& tree, TestbedLatency latency,
                 const std::optional<GuestImage>& guests,
                 const std::function<void(std::uint32_t ready)>& progress) {
  const auto count = static_cast<std::uint32_t>(tree.hosts.size());
  if (count > kMostTestbedHosts) {
    throw InputError(
        fmt::format("{} hosts; expected at most {} in a testbed", count, kMostTestbedHosts));
  }
  const TestbedKind kind{latency, guests ? TestbedHosts::kGuests : TestbedHosts::kNamespaces};
  switches_ = new_network();
  for (std::uint32_t host = 0; host < count; ++host) spaces_.push_back(new_network());
  const auto space_of = [&](std::uint32_t host) { return path_of(spaces_[host]); };
  for (const std::string& script : switch_scripts(tree, kind, space_of)) {
    carry_out(script, switches_);
  }
  for (std::uint32_t host = 0; host < count; ++host) {
    carry_out(host_script(tree, kind, host), spaces_[host]);
    if (progress) progress(host + 1);
  }
  entry_ = nameless_program(guests ? guest_entry_script(tree, latency, *guests, space_of)
                                   : entry_script(tree, space_of));
  hosts_ = nameless_program(testbed_host_list(tree));
}

std::string Testbed::path_of(const Descriptor& descriptor) {
  return fmt::format("/proc/{}/fd/{}", getpid(), descriptor.get());
}

void Testbed::carry_out(const std::string& script, const Descriptor& space) const {
  RemoteShell shell({"nsenter", "--net=" + path_of(space), "sh"},
                    "install it (Debian: util-linux)");
  shell.say(script);
  shell.hang_up();
  while (!shell.ended()) {
    pollfd ends[] = {{shell.out(), POLLIN, 0}, {shell.err(), POLLIN, 0}};
    poll(ends, 2, 10);
    shell.hear();
  }
  shell.hear();
  const int status = *shell.ended();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string words = shell.last_words();
  throw EnvironmentError(
      fmt::format("the testbed's network cannot be built: {}; {}", words, cure(words)));
}

}  // namespace slackline::hw
