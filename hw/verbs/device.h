// An RDMA device's port, opened: what it can do, how peers address it, and the objects of
// libibverbs with an owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/transport.h"

struct ibv_comp_channel;
struct ibv_context;
struct ibv_cq;
struct ibv_mr;
struct ibv_pd;
struct ibv_qp;

namespace slackline::hw {

struct CloseVerbs {
  void operator()(ibv_comp_channel* channel) const;
  void operator()(ibv_context* context) const;
  void operator()(ibv_cq* queue) const;
  void operator()(ibv_mr* region) const;
  void operator()(ibv_pd* domain) const;
  void operator()(ibv_qp* pair) const;
};
template <class Object>
using Verbs = std::unique_ptr<Object, CloseVerbs>;

/// A port as its peers need it to reach it. Plain bytes.
struct VerbsPort {
  std::array<std::uint8_t, 16> gid{};
  std::uint16_t lid = 0;       // 0 on Ethernet
  std::uint8_t ethernet = 0;   // RoCE, else InfiniBand
  std::uint8_t mtu = 0;        // enum ibv_mtu
  std::uint8_t reads_in = 0;   // reads and atomics of one peer that it serves at a time
  std::uint8_t reads_out = 0;  // that it has under way at a time
};

class VerbsDevice {
 public:
  /// `device` is "NAME" or "NAME:PORT"; empty: the first active port. Where a port has several
  /// GIDs, that of the address `host` is taken, else RoCE v2's before v1's, IPv4's before others.
  /// Throws InputError for what cannot be a device, EnvironmentError if there is no such port, or
  /// none is active.
  VerbsDevice(const std::string& device, const std::string& host);

  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  std::uint8_t port() const { return port_; }
  std::uint8_t gid_index() const { return gid_index_; }
  const VerbsPort& address() const { return address_; }
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
  void open(const std::string& device);
  // False if the port is not active. Port 0: the first that is.
  bool open_port(int port);
  void choose_gid(const std::string& host);

  Verbs<ibv_context> context_;
  Verbs<ibv_pd> domain_;
  std::vector<Verbs<ibv_mr>> regions_;  // by number; empty where one was
  std::string name_;
  std::uint8_t port_ = 0;
  std::uint8_t gid_index_ = 0;
  VerbsPort address_;
  std::uint32_t max_completions_ = 0;
  std::uint32_t max_requests_ = 0;
  std::uint32_t max_segments_ = 0;
  std::uint64_t max_message_ = 0;
  bool has_atomics_ = false;
};

}  // namespace slackline::hw
