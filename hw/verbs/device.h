// An RDMA device's port, opened: what it can do, how peers address it, and the objects of
// libibverbs with an owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/transport.h"
#include "hw/verbs/device_choice.h"
#include "hw/verbs/port.h"
#include "hw/verbs_options.h"

struct ibv_ah;
struct ibv_comp_channel;
struct ibv_context;
struct ibv_cq;
struct ibv_device;
struct ibv_mr;
struct ibv_pd;
struct ibv_qp;

namespace slackline::hw {

struct CloseVerbs {
  void operator()(ibv_ah* address) const;
  void operator()(ibv_comp_channel* channel) const;
  void operator()(ibv_context* context) const;
  void operator()(ibv_cq* queue) const;
  void operator()(ibv_device** devices) const;  // a list of them
  void operator()(ibv_mr* region) const;
  void operator()(ibv_pd* domain) const;
  void operator()(ibv_qp* pair) const;
};
template <class Object>
using Verbs = std::unique_ptr<Object, CloseVerbs>;

/// How queue pairs of a port send.
struct VerbsPath {
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
  std::uint16_t partition_index = 0;
  std::uint8_t ack_timeout = 0;  // 4.096 us · 2^n
  std::uint8_t retries = 0;
};

class VerbsDevice {
 public:
  /// Throws InputError for what cannot be a device, EnvironmentError if there is no such port, none
  /// is active, or the port lacks what the options ask of it.
  explicit VerbsDevice(const VerbsOptions& options);

  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  std::uint8_t port() const { return port_; }
  std::uint8_t gid_index() const { return gid_index_; }
  const VerbsPort& address() const { return address_; }
  const VerbsPath& path() const { return path_; }
  /// Bytes of a packet: as address() has it, or fewer once it is connected with a port of a smaller
  /// MTU; of several the smallest.
  std::uint32_t packet_bytes() const { return packet_bytes_; }
  /// An end was connected with packets of so many bytes (enum ibv_mtu).
  void set_agreed(std::uint8_t mtu) { packet_bytes_ = std::min(packet_bytes_, mtu_bytes(mtu)); }
  /// For people: "rxe0 port 1".
  const std::string& name() const { return name_; }

  /// Whether its port is active just now.
  bool is_active() const;

  std::uint32_t max_completions() const { return max_completions_; }  // of one queue
  std::uint32_t max_requests() const { return max_requests_; }        // of a queue pair, each way
  std::uint32_t max_segments() const { return max_segments_; }
  std::uint64_t max_message() const { return max_message_; }  // bytes
  bool has_atomics() const { return has_atomics_; }
  /// −1 if the machine does not tell.
  int numa_node() const;

  /// The number of the region.
  std::uint32_t register_memory(std::span<std::byte> memory);
  void unregister_memory(std::uint32_t region);
  std::uint32_t local_key(std::uint32_t region) const;
  std::uint32_t remote_key(std::uint32_t region) const;

  /// EnvironmentError for a failed call, with the cure where memory must not be locked.
  [[noreturn]] void throw_failed(std::string_view what, int error) const;

 private:
  void set_name(const PortDescription& port);
  void query();
  void set_port(const VerbsOptions& options);
  void set_gid(const PortDescription& port, const VerbsOptions& options,
               std::span<const Gid> of_host);
  void set_partition(const VerbsOptions& options);

  Verbs<ibv_context> context_;
  Verbs<ibv_pd> domain_;
  std::vector<Verbs<ibv_mr>> regions_;  // by number; empty where one was
  std::string name_;
  std::uint8_t port_ = 0;
  std::uint8_t gid_index_ = 0;
  VerbsPort address_;
  VerbsPath path_;
  std::uint32_t packet_bytes_ = 0;
  std::uint32_t max_completions_ = 0;
  std::uint32_t max_requests_ = 0;
  std::uint32_t max_segments_ = 0;
  std::uint64_t max_message_ = 0;
  bool has_atomics_ = false;
};

}  // namespace slackline::hw
