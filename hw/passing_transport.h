// A transport that passes everything on to another: what adds something to one, or watches it,
// overrides what it is about.
#pragma once

#include <memory>
#include <utility>

#include "hw/transport.h"

namespace slackline::hw {

class PassingTransport : public Transport {
 public:
  explicit PassingTransport(std::unique_ptr<Transport> under) : under_(std::move(under)) {}

  std::string_view name() const override { return under_->name(); }
  LocalMemory register_memory(std::span<std::byte> memory) override {
    return under_->register_memory(memory);
  }
  void unregister_memory(const LocalMemory& memory) override { under_->unregister_memory(memory); }
  Address open(std::span<const ChannelEnd> ends) override { return under_->open(ends); }
  void connect(std::span<const Address> peers) override { under_->connect(peers); }
  void close(std::span<const ChannelEnd> ends) override { under_->close(ends); }
  std::size_t post(std::span<const WorkRequest> requests) override {
    return under_->post(requests);
  }
  std::size_t poll(std::span<Completion> completions) override { return under_->poll(completions); }
  void wait(std::chrono::nanoseconds timeout, int also) override { under_->wait(timeout, also); }
  std::size_t max_segments() const override { return under_->max_segments(); }
  bool completes_in_order() const override { return under_->completes_in_order(); }
  bool writes_in_order() const override { return under_->writes_in_order(); }
  int numa_node() const override { return under_->numa_node(); }
  TransportFacts facts() const override { return under_->facts(); }
  bool has_atomics() const override { return under_->has_atomics(); }
  bool multicasts() const override { return under_->multicasts(); }
  bool has_bitwise_atomics() const override { return under_->has_bitwise_atomics(); }

 protected:
  Transport& under() { return *under_; }
  /// Ends the transport below, as its destructor would; after it, nothing may be called.
  void end_under() { under_.reset(); }

 private:
  std::unique_ptr<Transport> under_;
};

}  // namespace slackline::hw
