#include "hw/verbs/facts.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "hw/link_rate.h"

namespace slackline::hw {
namespace {

// The library has no call that tells: its file does, libibverbs.so.1.14.44.0.
std::string library() {
  constexpr std::string_view kName = "libibverbs";
  constexpr std::string_view kBefore = ".so.";
  Dl_info found{};
  if (dladdr(reinterpret_cast<void*>(&ibv_get_device_list), &found) == 0 ||
      found.dli_fname == nullptr) {
    return std::string(kName);
  }
  std::error_code failed;
  const std::string file = std::filesystem::canonical(found.dli_fname, failed).filename().string();
  const std::size_t at = file.find(kBefore);
  if (failed || at == std::string::npos) return std::string(kName);
  return std::string(kName) + ' ' + file.substr(at + kBefore.size());
}

}  // namespace

TransportFacts facts_of(const VerbsDevice& device) {
  TransportFacts facts;
  facts.provider = "verbs";
  facts.library = library();
  facts.device = ibv_get_device_name(device.context()->device);
  facts.port = device.port();
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(AF_INET6, device.address().gid.data(), text.data(), text.size()) != nullptr) {
    facts.gid = text.data();
  }
  // enum ibv_mtu: 1 is 256 bytes, and each is twice the one before.
  if (device.address().mtu > 0 && device.address().mtu < 16) {
    facts.mtu = 128u << device.address().mtu;
  }
  facts.link_bits_per_s = rdma_port_rate(facts.device, facts.port);
  return facts;
}

}  // namespace slackline::hw
