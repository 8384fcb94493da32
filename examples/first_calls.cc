#include <cstdio>
#include <map>
#include <string>

#include "hw/call.h"
#include "hw/local_port.h"
#include "hw/rank_processes.h"
#include "hw/transports.h"

using namespace slackline;

// What functions that are called here work on.
struct Words {
  std::map<std::string, std::uint64_t> places;
};

void be_rank(hw::Mesh& mesh) {
  hw::Calls calls(mesh, hw::make_transport("shm", {}));
  Words words;
  calls.set_local(words);
  calls.settle();  // everybody has something local now

  if (calls.rank() == 0) {
    hw::Synchronizer done(calls);  // counts calls until they have run
    std::uint64_t number = 0;
    for (const std::string word : {"apple", "pear", "plum"}) {
      calls.call_buffer(
          1,
          [number](hw::CallContext& here, std::span<std::byte> buffer) {
            const std::string text(reinterpret_cast<const char*>(buffer.data()), buffer.size());
            here.local<Words>().places[text] = number;
          },
          std::as_bytes(std::span(word)), &done);
      ++number;
    }
    done.wait();

    std::uint64_t count = 0;
    std::uint64_t place = 77;
    calls.call_return(
        1, [](hw::CallContext& here) { return here.local<Words>().places.size(); }, &count, done);
    calls.call_return(
        1, [](hw::CallContext& here) { return here.local<Words>().places.at("apple"); }, &place,
        done);
    done.wait();
    std::printf("rank 1 holds %d words; apple stands at %d\n", static_cast<int>(count),
                static_cast<int>(place));
    std::fflush(stdout);

    calls.call(
        1, [](hw::CallContext& here) { here.local<Words>().places.at("fig"); }, &done);
    try {
      done.wait();
    } catch (const hw::CallFailed& failed) {
      std::printf("%s\n", failed.what());  // a call at rank 1 has thrown: map::at
      std::fflush(stdout);
    }
  }
  calls.finish();  // runs what comes until all ranks are through
}

int main() {
  const hw::LocalPort port;
  const hw::Secret secret = hw::Secret::random();  // which both ranks inherit
  hw::RankProcesses ranks(0, 2, [&](std::uint32_t rank) -> hw::RankEnd {
    try {
      hw::MeshOptions options;
      options.rank = rank;
      options.ranks = 2;
      options.root = port.address();
      options.root_socket = port.socket();
      options.secret = secret;
      hw::Mesh mesh(options);
      be_rank(mesh);
      return {};
    } catch (const Error& error) {
      return {error.exit_code(), error.what()};
    }
  });
  const hw::RankEnd end = hw::most_telling(ranks.wait(std::chrono::seconds(5)));
  std::fputs(end.message.c_str(), stderr);
  return end.code;
}
