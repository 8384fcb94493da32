#include "analysis/stealing/steal_schedule.h"

#include <string>
#include <utility>
#include <vector>

#include "sched/program_writer.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using sched::RankId;
using sched::Slice;

class LogWriter {
 public:
  LogWriter(const StealOptions& options, const StealLog& log, std::string_view title)
      : options_(options), log_(log), writer_(options.ranks), sent_(options.ranks) {
    writer_.set_title(std::string(title));
  }

  sched::Schedule make() {
    add_memory();
    for (std::uint32_t r = 0; r < options_.ranks; ++r) write_rank(r);
    for (const auto& [message, poll] : polls_) {
      writer_.add_flag_match(sent_[message.first][message.second].put, poll);
    }
    return writer_.build();
  }

 private:
  struct Message {
    Slice source;  // beside the mark; no bytes if that is all
    Slice landing;
    bool taken = false;
    OpId put;
  };

  sched::ValueId next_value() { return sched::ValueId(values_++); }

  void add_memory() {
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      for (const StealStep& step : log_.steps[r]) {
        if (step.what == StealStep::What::kSend) sent_[r].emplace_back();
      }
    }
    std::vector<std::uint64_t> lands(options_.ranks, 0);
    std::vector<std::uint64_t> gives(options_.ranks, 0);
    each_sent([&](std::uint32_t r, const StealStep& step, Message& message) {
      const std::uint64_t bytes = bytes_of(step.kind, step.number);
      message.landing = {{}, lands[step.rank], bytes};
      lands[step.rank] += bytes;
      message.source = {{}, gives[r], step.kind == StealMessage::kWork ? bytes - kStealMark : 0};
      gives[r] += message.source.bytes;
    });
    for (const std::vector<StealStep>& steps : log_.steps) {
      for (const StealStep& step : steps) {
        if (step.what == StealStep::What::kTake) sent_[step.rank][step.number].taken = true;
      }
    }
    std::vector<sched::BufferId> landings, sources, records;
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      marks_.push_back({writer_.add_buffer(RankId(r), kStealMark), 0, kStealMark});
      const std::uint64_t record = bytes_of(StealMessage::kAsk, 0) - kStealMark;
      records_.push_back({writer_.add_buffer(RankId(r), record), 0, record});
      landings.push_back(writer_.add_buffer(RankId(r), lands[r]));
      sources.push_back(writer_.add_buffer(RankId(r), gives[r]));
      writer_.add_pre({marks_[r], next_value(), 0});
      writer_.add_pre({records_[r], next_value(), 0});
    }
    each_sent([&](std::uint32_t r, const StealStep& step, Message& message) {
      message.landing.buffer = landings[step.rank];
      message.source.buffer = sources[r];
      if (step.kind == StealMessage::kAsk || step.kind == StealMessage::kToken) {
        message.source = records_[r];
      }
      if (step.kind != StealMessage::kWork) return;
      const sched::ValueId value = next_value();
      writer_.add_pre({message.source, value, 0});
      if (!message.taken) return;
      writer_.add_post(
          {{message.landing.buffer, message.landing.offset, message.source.bytes}, value, 0});
    });
  }

  template <class Visit>
  void each_sent(const Visit& visit) {
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      std::size_t number = 0;
      for (const StealStep& step : log_.steps[r]) {
        if (step.what == StealStep::What::kSend) visit(r, step, sent_[r][number++]);
      }
    }
  }

  // Each step begins when the one before has ended; a message, when it is posted.
  void write_rank(std::uint32_t r) {
    const sched::OpPlace here{RankId(r)};
    OpId last;
    sched::On on = sched::On::kDone;
    const auto then = [&](OpId op, sched::On how = sched::On::kDone) {
      writer_.after(last, op, on);
      last = op;
      on = how;
    };
    std::size_t number = 0;
    OpId before_rest;
    sched::Time rest{0};
    for (const StealStep& step : log_.steps[r]) {
      switch (step.what) {
        case StealStep::What::kSearch:
          then(writer_.calc(
              here, sched::Time{options_.work.count() * static_cast<std::int64_t>(step.number)}));
          break;
        case StealStep::What::kTake: {
          const Message& message = sent_[step.rank][step.number];
          then(writer_.poll(here, sched::end_of(message.landing, kStealMark)));
          polls_.push_back({{step.rank, step.number}, last});
          if (options_.handler > sched::Time{0}) then(writer_.calc(here, options_.handler));
          break;
        }
        case StealStep::What::kRest:
          before_rest = last;
          rest = sched::Time{static_cast<std::int64_t>(step.number)};
          break;
        case StealStep::What::kSend: {
          Message& message = sent_[r][number++];
          OpId rested;
          if (step.kind == StealMessage::kAsk && rest > sched::Time{0}) {
            rested = writer_.delay(here, rest, {before_rest});
            rest = sched::Time{0};
          }
          const sched::Notify notify = message.taken ? sched::Notify::kFlag : sched::Notify::kNone;
          const sched::ChannelId on_channel = writer_.channel(RankId(r), RankId(step.rank));
          message.put = message.source.bytes == 0
                            ? writer_.put(here, on_channel, marks_[r], message.landing, notify)
                            : writer_.put(here, on_channel, {message.source, marks_[r]},
                                          message.landing, notify);
          writer_.after(rested, message.put);
          then(message.put, sched::On::kIssued);
        }
      }
    }
  }

  const StealOptions& options_;
  const StealLog& log_;
  sched::ProgramWriter writer_;
  std::vector<std::vector<Message>> sent_;  // by rank
  std::vector<std::pair<std::pair<std::uint32_t, std::uint64_t>, OpId>> polls_;
  std::vector<Slice> marks_;
  std::vector<Slice> records_;
  std::uint32_t values_ = 0;
};

}  // namespace

sched::Schedule pairs_of_ranks(std::uint32_t ranks, std::uint64_t most_bytes) {
  sched::ProgramWriter writer(ranks);
  for (std::uint32_t src = 0; src < ranks; ++src) {
    for (std::uint32_t dst = 0; dst < ranks; ++dst) {
      if (src != dst) writer.connect(RankId(src), RankId(dst));
    }
  }
  if (ranks > 1) {
    const Slice from{writer.add_buffer(RankId(0), most_bytes), 0, most_bytes};
    const Slice to{writer.add_buffer(RankId(1), most_bytes), 0, most_bytes};
    writer.put({RankId(0)}, sched::ChannelId(0), from, to, sched::Notify::kNone);
  }
  return writer.build();
}

sched::Schedule schedule_of(const StealOptions& options, const StealLog& log,
                            std::string_view title) {
  return LogWriter(options, log, title).make();
}

}  // namespace slackline::analysis
