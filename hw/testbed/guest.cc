#include "hw/testbed/guest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "hw/launch/remote_command.h"
#include "hw/testbed/entry.h"
#include "hw/testbed/shaper.h"
#include "hw/testbed/shell_text.h"

namespace slackline::hw {
namespace {

constexpr const char* kQemu = "qemu-system-x86_64";
constexpr std::uint32_t kMemoryMib = 768;
// Bands of a queue, and places of its map of priorities.
constexpr std::size_t kMostLatencies = 16;

bool is_in_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = fmt::format("{}/{}", rest.substr(0, end), program);
    if (access(file.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string whole_path(const std::string& folder, const char* name) {
  const std::string path = std::filesystem::absolute(std::filesystem::path(folder) / name);
  if (access(path.c_str(), R_OK) == 0) return path;
  throw EnvironmentError(
      fmt::format("no {} in {}; `scripts/guest --image {}` of Slackline's source puts there what "
                  "a virtual machine boots",
                  name, folder, quoted_for_shell(folder)));
}

// `tc`'s lines in the virtual machine: what it sends leaves later, by where it goes. (Bands differ
// in priority, but packets wait for their own time alone.)
std::string delays_of(const SwitchTree& tree, std::uint32_t host) {
  const std::vector<PortQueue> queues = queues_by_latency(tree, host);
  if (queues.size() > kMostLatencies) {
    throw Unsupported(
        fmt::format("ways from {} have {} latencies; expected at most {} from a virtual "
                    "machine (or --bare-latency)",
                    tree.hosts[host].name, queues.size(), kMostLatencies));
  }
  std::string text = fmt::format("qdisc add dev eth0 root handle 1: prio bands {} priomap{}\n",
                                 kMostLatencies, " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
  for (std::size_t q = 0; q < queues.size(); ++q) {
    text +=
        fmt::format("qdisc add dev eth0 parent 1:{:x} {}\n", q + 1, queue_words(queues[q].latency));
    for (const std::uint32_t to : queues[q].hosts) {
      text += fmt::format("filter add dev eth0 parent 1: u32 match ip dst {} flowid 1:{:x}\n",
                          testbed_address(to), q + 1);
    }
  }
  return text;
}

}  // namespace

GuestImage guest_image(const std::string& folder) {
  struct Need {
    const char* program;
    const char* package;
  };
  for (const Need& need : {Need{kQemu, "qemu-system-x86"}, Need{"rdma", "iproute2"},
                           Need{"setpriv", "util-linux"}, Need{"nsenter", "util-linux"}}) {
    if (is_in_path(need.program)) continue;
    throw EnvironmentError(fmt::format("no {} here, which --guests needs; install it (Debian: {})",
                                       need.program, need.package));
  }
  if (access("/dev/net/tun", R_OK | W_OK) != 0) {
    throw EnvironmentError(
        "no /dev/net/tun that this user may open, which --guests needs; `modprobe tun` as root");
  }
  return {whole_path(folder, "vmlinux"), whole_path(folder, "initrd")};
}

std::string guest_tap(std::uint32_t mtu) {
  return fmt::format(
      "tuntap add dev tap0 mode tap\n"
      "link set tap0 mtu {} txqueuelen {} master br0 up\n",
      mtu, kQueuedPackets);
}

std::string guest_entry_script(const SwitchTree& tree, TestbedLatency latency,
                               const GuestImage& image,
                               const std::function<std::string(std::uint32_t host)>& space_of) {
  std::string text = choice_of_host(tree, space_of);
  std::string each;
  for (std::uint32_t h = 0; h < tree.hosts.size(); ++h) {
    each +=
        fmt::format("{}) address={} segment={} delays='{}' mac=52:54:00:00:00:{:02x} ;;\n",
                    tree.hosts[h].name, testbed_address(h), segment_bytes(tree.hosts[h].cable.up),
                    latency == TestbedLatency::kTree ? delays_of(tree, h) : "", h + 1);
  }
  text += fmt::format("case \"$2\" in\n{}esac\n", each);
  // What the guest does. Its standard input is QEMU's, so this comes by another descriptor.
  text +=
      "TESTBED_COMMAND=$3 TESTBED_HOST=$2 TESTBED_ADDRESS=$address TESTBED_SEGMENT=$segment "
      "TESTBED_DELAYS=$delays\n"
      "export TESTBED_COMMAND TESTBED_HOST TESTBED_ADDRESS TESTBED_SEGMENT TESTBED_DELAYS\n"
      "exec 8<&0\n"
      "{\n"
      "export -p\n"
      "cat <<'TEXT'\n";
  text += fmt::format(
      "{}{}{}hostname \"$TESTBED_HOST\"\n"
      "ulimit -l unlimited\n"
      "{}"
      "if [ -n \"$TESTBED_DELAYS\" ]; then\n"
      "tool tc -batch - <<END\n"
      "$TESTBED_DELAYS\n"
      "END\n"
      "fi\n"
      "tool rdma link add rxe0 type rxe netdev eth0\n"
      "set +e\n"
      "exec sh -c \"$TESTBED_COMMAND\"\n"
      "TEXT\n",
      kToolsMustWork, kQuietNetwork, kPlainTcp,
      with_ip(fmt::format("link set eth0 mtu {} txqueuelen {}\n{}", kRocePackets.mtu,
                          kQueuedPackets, own_port("$TESTBED_ADDRESS", "$TESTBED_SEGMENT"))));
  // Its status is no one that QEMU ends with by itself (see scripts/guest).
  text += fmt::format(
      "}} | nsenter --net=\"$space\" setpriv --pdeathsig KILL {} -accel tcg -smp 1 -m {} "
      "-nodefaults -no-user-config -display none -monitor none -no-reboot "
      "-kernel {} -initrd {} "
      "-append 'console=ttyS0 panic=-1 mitigations=off no_timer_check loglevel=1' "
      "-chardev file,id=log,path=/dev/fd/2 -serial chardev:log "
      "-device virtio-serial-pci "
      "-chardev stdio,id=in,signal=off -device virtserialport,chardev=in,name=in "
      "-chardev file,id=out,path=/dev/fd/1 -device virtserialport,chardev=out,name=out "
      "-chardev file,id=err,path=/dev/fd/2 -device virtserialport,chardev=err,name=err "
      "-netdev tap,id=port,ifname=tap0,script=no,downscript=no,vhost=off "
      "-device \"virtio-net-pci,netdev=port,mac=$mac,host_mtu={}\" "
      "-fsdev local,id=host,path=/,security_model=none,multidevs=remap "
      "-device virtio-9p-pci,fsdev=host,mount_tag=host "
      "-device isa-debug-exit,iobase=0xf4,iosize=1 "
      "-fw_cfg name=opt/org.slackline/work,file=/dev/fd/9 9<&0 0<&8\n"
      "status=$?\n"
      "if [ $status -gt 128 ]; then\n"
      "echo \"signal $((status - 128)) ended its virtual machine\" >&2\n"
      "exit 255\n"
      "fi\n"
      "[ $status -gt 2 ] || exit 255\n"
      "exit $((status / 2 - 1))\n",
      kQemu, kMemoryMib, quoted_for_shell(image.kernel), quoted_for_shell(image.ram_disk),
      kRocePackets.mtu);
  return text;
}

}  // namespace slackline::hw
