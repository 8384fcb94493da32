#include "machine/nccl_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text_scan.h"
#include "base/xml_reader.h"
#include "machine/platform_checks.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

using base::XmlElement;

constexpr std::uint64_t kMega = 1'000'000;
constexpr std::uint32_t kMostRails = 256;
constexpr std::uint64_t kMostSpeed = 1'000'000'000;     // Mb/s
constexpr std::string_view kCpuLinkClass = "0x068001";  // of an NVLink that leads to a CPU
constexpr std::string_view kGpuClass = "0x03";
constexpr std::string_view kNicClass = "0x02";

// Of an NVLink each way, by the GPU's compute capability: the highest that is not above, but for
// one of its own. Mb/s.
struct NcclLinkRate {
  std::uint32_t capability;
  std::uint64_t mbps;
};
constexpr std::array<NcclLinkRate, 5> kNvlink = {
    {{100, 320'800}, {90, 164'800}, {80, 160'000}, {70, 160'000}, {60, 144'000}}};
constexpr NcclLinkRate kNvlinkAlone = {86, 96'000};

// Of a lane of PCIe, by what its generation is called. Mb/s.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 6> kPcieLane = {
    {{"2.5", 1'500}, {"5", 3'000}, {"8", 6'000}, {"16", 12'000}, {"32", 24'000}, {"64", 48'000}}};

struct NcclGpu {
  std::uint32_t line = 0;
  std::string name;  // for people
  std::uint32_t capability = 0;
  std::uint64_t pcie_mbps = 0;  // of the narrowest link to its CPU; 0: not told
  std::string_view bus;
  std::map<std::string_view, std::uint64_t> links;  // by target
  std::set<std::string_view> switches;              // those targets that are
  bool has_xgmi = false;
  bool has_cpu_links = false;  // other than PCIe: c2c, or NVLinks
  bool is_told = true;         // and not a device of PCIe alone
};

struct NcclNic {
  std::uint32_t line = 0;
  std::string name;
  std::uint64_t mbps = 0;  // 0: not told
  // Of a card whose ports have more than its PCIe link carries: what they have, and that.
  std::uint64_t together_mbps = 0;
  std::uint64_t card_mbps = 0;
};

class NcclReader {
 public:
  NcclReader(std::string_view file, const NcclFigures& figures) : file_(file), figures_(figures) {}

  Platform read(std::string_view text) {
    const XmlElement root = base::read_xml(text, file_);
    if (root.name != "system") fail(root.line, "it has no <system>; expected NCCL's topology");
    for (const XmlElement& child : root.children) {
      if (child.name == "cpu") cpu(child);
    }
    if (gpus_.empty()) fail(root.line, "a host without a GPU; expected at least one");
    Platform platform;
    platform.name = file_;
    platform.node.ranks = static_cast<std::uint32_t>(gpus_.size());
    platform.node.rails.count = nic_count(root.line);
    if (!figures_.rate) platform.rate = Rate{nic_mbps(root.line) * kMega};
    if (!figures_.copy_rate && gpus_.size() > 1) platform.copy_rate = Rate{gpu_mbps() * kMega};
    check_platform(platform, file_);
    return platform;
  }

 private:
  [[noreturn]] void fail(std::uint32_t line, std::string_view message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, line, message));
  }
  [[noreturn]] void refuse(std::uint32_t line, std::string_view message) const {
    throw Unsupported(fmt::format("{}:{}: {}", file_, line, message));
  }

  static std::string_view text_of(const XmlElement& element, std::string_view attribute) {
    const std::string_view* value = element.find(attribute);
    return value == nullptr ? std::string_view() : *value;
  }

  std::uint64_t number(const XmlElement& element, std::string_view attribute, std::uint64_t most,
                       std::uint64_t missing) const {
    const std::string_view* value = element.find(attribute);
    if (value == nullptr) return missing;
    std::string_view left = *value;
    std::uint64_t number = 0;
    if (!sched::take_number(left, number) || !left.empty() || number > most) {
      fail(element.line, fmt::format("{}={}; expected a whole number from 0 to {}", attribute,
                                     sched::in_quotes(*value), most));
    }
    return number;
  }

  void cpu(const XmlElement& element) {
    const std::string_view hash = text_of(element, "host_hash");
    if (!host_.empty() && !hash.empty() && hash != host_) {
      refuse(element.line,
             "a second host (host_hash); expected one, of which there are as many as "
             "the ranks fill");
    }
    if (!hash.empty()) host_ = hash;
    for (const XmlElement& child : element.children) below(child, 0, 0);
  }

  // What one link to the CPU carries, if it says so: an element of PCIe has the link above it.
  std::uint64_t link_mbps(const XmlElement& pci) const {
    std::string_view speed = text_of(pci, "link_speed");
    if (speed.empty()) return 0;
    std::string_view digits = speed.substr(0, speed.find(' '));
    if (digits.ends_with(".0")) digits.remove_suffix(2);
    const auto found = std::find_if(kPcieLane.begin(), kPcieLane.end(),
                                    [&](const auto& lane) { return lane.first == digits; });
    if (found == kPcieLane.end()) {
      fail(pci.line, fmt::format("link_speed={}; expected 2.5, 5, 8, 16, 32 or 64 GT/s",
                                 sched::in_quotes(speed)));
    }
    // A machine that is not real has lanes of which there are none; NCCL takes 16.
    const std::uint64_t lanes = number(pci, "link_width", 64, 0);
    return found->second * (lanes == 0 ? 16 : lanes);
  }

  static std::uint64_t least(std::uint64_t a, std::uint64_t b) {
    return a == 0 ? b : b == 0 ? a : std::min(a, b);
  }

  // `own`: of the last PCIe link to here; `path`: of the narrowest one on the way.
  void below(const XmlElement& element, std::uint64_t own, std::uint64_t path) {
    if (element.name == "pci") return pci(element, path);
    if (element.name == "gpu") return gpu(element, {}, path);
    if (element.name == "nic") return card(element, own, path);
    if (element.name != "net") return;
    const std::uint64_t mbps = number(element, "speed", kMostSpeed, 0);
    nics_.push_back(
        {element.line, std::string(text_of(element, "name")), mbps == 0 ? 0 : least(mbps, own)});
  }

  // Its ports share its PCIe link.
  void card(const XmlElement& element, std::uint64_t own, std::uint64_t path) {
    const std::size_t before = nics_.size();
    std::uint64_t together = 0;
    for (const XmlElement& child : element.children) {
      below(child, own, path);
      if (child.name == "net") together += number(child, "speed", kMostSpeed, 0);
    }
    if (own == 0 || together <= own || nics_.size() < before + 2) return;
    nics_.back().together_mbps = together;
    nics_.back().card_mbps = own;
  }

  void pci(const XmlElement& element, std::uint64_t path) {
    const std::uint64_t own = link_mbps(element);
    const std::uint64_t narrowest = least(own, path);
    const std::string_view kind = text_of(element, "class");
    const auto has = [&](std::string_view name) {
      return std::any_of(element.children.begin(), element.children.end(),
                         [&](const XmlElement& child) { return child.name == name; });
    };
    const std::string_view bus = text_of(element, "busid");
    // Files that people write name devices only.
    if (kind.starts_with(kGpuClass) && !has("gpu")) {
      NcclGpu gpu;
      gpu.line = element.line;
      gpu.name = fmt::format("GPU {}", gpus_.size());
      gpu.is_told = false;
      gpus_.push_back(std::move(gpu));
    }
    if (kind.starts_with(kNicClass) && !has("nic") && !has("net")) {
      nics_.push_back({element.line, std::string(bus), 0});
    }
    for (const XmlElement& child : element.children) {
      if (child.name == "gpu") {
        gpu(child, bus, narrowest);
      } else {
        below(child, own, narrowest);
      }
    }
  }

  void gpu(const XmlElement& element, std::string_view bus, std::uint64_t path) {
    NcclGpu gpu;
    gpu.line = element.line;
    gpu.name = fmt::format("GPU {}", gpus_.size());
    gpu.capability = static_cast<std::uint32_t>(number(element, "sm", 100'000, 0));
    gpu.pcie_mbps = path;
    gpu.bus = bus;
    for (const XmlElement& child : element.children) {
      gpu.has_xgmi = gpu.has_xgmi || child.name == "xgmi";
      const std::string_view kind = text_of(child, "tclass");
      const bool to_cpu = child.name == "c2c" || kind.starts_with(kCpuLinkClass);
      gpu.has_cpu_links = gpu.has_cpu_links || to_cpu;
      if (child.name != "nvlink" || to_cpu) continue;
      const std::string_view target = text_of(child, "target");
      gpu.links[target] += number(child, "count", 1'000, 1);
      // NCCL takes whatever is neither a GPU nor a CPU for a switch.
      if (!kind.empty() && !kind.starts_with(kGpuClass)) gpu.switches.insert(target);
    }
    gpus_.push_back(std::move(gpu));
  }

  std::uint32_t nic_count(std::uint32_t line) const {
    if (nics_.size() > kMostRails) {
      refuse(line, fmt::format("{} NICs; expected at most {}", nics_.size(), kMostRails));
    }
    return std::max<std::uint32_t>(static_cast<std::uint32_t>(nics_.size()), 1);
  }

  std::uint64_t nic_mbps(std::uint32_t line) const {
    const auto untold =
        std::find_if(nics_.begin(), nics_.end(), [](const NcclNic& nic) { return nic.mbps == 0; });
    if (nics_.empty() || untold != nics_.end()) {
      refuse(nics_.empty() ? line : untold->line,
             "the speed of a NIC (<net speed=…>) is not told; expected it, or rate=RATE behind the "
             "file's name");
    }
    for (const NcclNic& nic : nics_) {
      if (nic.together_mbps != 0) {
        refuse(
            nic.line,
            fmt::format("NIC {} and those of its card have {} Mb/s together, and their PCIe link "
                        "carries {}; expected no more than it carries, or rate=RATE behind the "
                        "file's name",
                        sched::in_quotes(nic.name), nic.together_mbps, nic.card_mbps));
      }
      if (nic.mbps == nics_.front().mbps) continue;
      refuse(nic.line,
             fmt::format("NIC {} has {} Mb/s, and {} on line {} has {}; expected NICs of one rate, "
                         "or rate=RATE behind the file's name",
                         sched::in_quotes(nic.name), nic.mbps, sched::in_quotes(nics_.front().name),
                         nics_.front().line, nics_.front().mbps));
    }
    return nics_.front().mbps;
  }

  // What each sends another.
  std::uint64_t gpu_mbps() const {
    std::vector<std::uint64_t> mbps;
    std::set<std::string_view> buses;
    for (const NcclGpu& gpu : gpus_) {
      if (!gpu.is_told) {
        refuse(gpu.line,
               fmt::format("the links of {} to others are not told (<gpu>); expected them, "
                           "or copy_rate=RATE behind the file's name",
                           gpu.name));
      }
      if (gpu.has_xgmi) {
        refuse(gpu.line,
               "links between GPUs (xgmi) that have no figure here; expected "
               "copy_rate=RATE behind the file's name");
      }
      if (gpu.links.empty() && gpu.has_cpu_links) {
        refuse(
            gpu.line,
            fmt::format("{} sends others what its links to the CPU (c2c, NVLink) carry, of which "
                        "there is no figure here; expected copy_rate=RATE behind the file's name",
                        gpu.name));
      }
      if (!gpu.bus.empty() && !buses.insert(gpu.bus).second) {
        refuse(gpu.line,
               fmt::format("{} shares PCIe device {} with another GPU; expected one GPU a "
                           "device, or copy_rate=RATE behind the file's name",
                           gpu.name, sched::in_quotes(gpu.bus)));
      }
      mbps.push_back(gpu.links.empty() ? gpu.pcie_mbps : links_to_each(gpu) * nvlink_mbps(gpu));
      if (mbps.back() == 0) {
        refuse(gpu.line,
               fmt::format("neither NVLinks nor the PCIe link of {} are told; expected one, "
                           "or copy_rate=RATE behind the file's name",
                           gpu.name));
      }
      if (mbps.back() == mbps.front()) continue;
      refuse(
          gpu.line,
          fmt::format("{} sends another {} Mb/s, and {} on line {} {}; expected GPUs that are "
                      "alike, or copy_rate=RATE behind the file's name",
                      gpu.name, mbps.back(), gpus_.front().name, gpus_.front().line, mbps.front()));
    }
    return mbps.front();
  }

  // All of them lead to switches, or as many to each other GPU.
  std::uint64_t links_to_each(const NcclGpu& gpu) const {
    std::uint64_t all = 0;
    for (const auto& [target, count] : gpu.links) all += count;
    if (gpu.switches.size() == gpu.links.size()) return all;
    const std::uint64_t first = gpu.links.begin()->second;
    for (const NcclGpu& other : gpus_) {
      if (&other == &gpu) continue;
      const auto found = gpu.links.find(other.bus);
      const std::uint64_t count = found == gpu.links.end() ? 0 : found->second;
      if (count == first) continue;
      refuse(gpu.line,
             fmt::format("{} has {} NVLinks to {} ({}), and {} to {}; expected as many to each, or "
                         "copy_rate=RATE behind the file's name",
                         gpu.name, count, other.name, other.bus, first, gpu.links.begin()->first));
    }
    return first;
  }

  std::uint64_t nvlink_mbps(const NcclGpu& gpu) const {
    if (gpu.capability == kNvlinkAlone.capability) return kNvlinkAlone.mbps;
    for (const NcclLinkRate& rate : kNvlink) {
      if (gpu.capability >= rate.capability) return rate.mbps;
    }
    refuse(gpu.line,
           fmt::format("NVLinks of {}, whose compute capability (sm) is {}; expected 60 or "
                       "more, or copy_rate=RATE behind the file's name",
                       gpu.name, gpu.capability));
  }

  std::string_view file_;
  const NcclFigures& figures_;
  std::string_view host_;
  std::vector<NcclGpu> gpus_;  // as they stand
  std::vector<NcclNic> nics_;
};

}  // namespace

Platform platform_from_nccl(std::string_view text, std::string_view file,
                            const NcclFigures& figures) {
  return NcclReader(file, figures).read(text);
}

bool looks_like_nccl_topology(std::string_view text) { return base::xml_root(text) == "system"; }

}  // namespace slackline::machine
