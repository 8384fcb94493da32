// A host of a testbed that is a virtual machine: a kernel of its own, with Soft-RoCE on its port.
//
// It boots a bare kernel and a RAM disk (`scripts/guest --image` makes both). This machine's files
// are its own, by 9P, so a command's program and the files that it names are there at the same
// paths. What it is to do is told by QEMU (fw_cfg). A command's standard input, output and error
// are ports of the virtual machine. Processors are emulated by TCG: a /dev/kvm that is there may
// hang.
//
// Its port is a tap in the host's namespace. Both ends of the host's cable are shaped outside of
// the virtual machine, whose own clock is a poor one. The latency of what leaves the host is
// netem's of the virtual machine's kernel, as this machine's may have none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hw/testbed/scripts.h"
#include "hw/testbed/switch_tree.h"

namespace slackline::hw {

struct GuestImage {
  std::string kernel;  // files, by their whole paths
  std::string ram_disk;
};

/// What is in a folder. Throws EnvironmentError, with the cure, if it is not there, or if this
/// machine lacks something that such hosts need.
GuestImage guest_image(const std::string& folder);

/// `ip`'s lines in the host's namespace, beside its bridge br0: the virtual machine's port.
std::string guest_tap(std::uint32_t mtu);

/// As entry_script(): boots the host's virtual machine for the command, and ends with its status.
/// QEMU is ended with this process. Throws Unsupported for more latencies from one host than a
/// virtual machine can tell apart.
std::string guest_entry_script(const SwitchTree& tree, TestbedLatency latency,
                               const GuestImage& image,
                               const std::function<std::string(std::uint32_t host)>& space_of);

}  // namespace slackline::hw
