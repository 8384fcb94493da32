// Reads what NCCL knows of a host, in the XML of its NCCL_TOPO_DUMP_FILE and NCCL_TOPO_FILE.
#pragma once

#include <string_view>

#include "machine/platform.h"

namespace slackline::machine {

/// What a reader of such a file says beside it: that these figures will be set, whatever the file
/// says, so that it need not.
struct NcclFigures {
  bool rate = false;
  bool copy_rate = false;
};

/// A star of such hosts, as many as the ranks fill. Each GPU is a rank of its host
/// (ranks_per_node), each `net` a NIC (rails, rail=rank). `rate` is a NIC's speed, or what its own
/// PCIe link carries if that is less; `copy_rate` what a GPU sends another of the host: over NVLink
/// as many links as lead to a switch, or to each other GPU; without NVLink, what the narrowest PCIe
/// link from the GPU to its CPU carries. What a link carries is NCCL's own figure for it (its
/// src/graph/topo.h). Latencies, overheads and the rest are Platform's defaults: the file does not
/// say them.
///
/// Throws InputError, naming file and line, on what is not such XML, and on a figure out of range;
/// Unsupported on several hosts (host_hash), NICs or GPUs that are not alike, GPUs that have more
/// links to one GPU than to another, links that it has no figure of (XGMI; to CPUs alone), GPUs of
/// one PCIe device, ports of one card that its PCIe link has not the rate for, and, unless
/// `figures` has it, on a file without the speed of a NIC, or of a link between GPUs.
Platform platform_from_nccl(std::string_view text, std::string_view file,
                            const NcclFigures& figures);

/// Whether `text` begins as such a file does, after comments.
bool looks_like_nccl_topology(std::string_view text);

}  // namespace slackline::machine
