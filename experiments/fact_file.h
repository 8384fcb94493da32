// What each experiment is held to, as facts.toml of its folder says. A fact is written there and
// nowhere else: the runner judges by it, prints it, and docs/reproduction.md is made of it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::experiments {

/// Where a fact comes from.
enum class Source {
  kStated,   // the paper's text says so
  kDerived,  // follows from what it says, or from its code
  kOurs,     // a question that the paper leaves open
};
std::string_view name(Source source);

/// What a fact can show.
enum class Nature {
  kFinding,        // the model could have come out otherwise
  kNearTautology,  // nearly follows from the model's own figures
  kIdentity,       // follows from the definitions: it tests the program, not the model
};
std::string_view name(Nature nature);

/// How a value is held to what is expected of it. A number that is not finite never holds.
struct Form {
  enum class Kind {
    kEqual,    // |got − expected| ≤ tolerance · |expected|
    kNear,     // |got − expected| ≤ tolerance
    kAtMost,   // got ≤ expected
    kAtLeast,  // got ≥ expected
    kBetween,  // expected ≤ got ≤ high
    kWords,    // what no single number says
  };
  Kind kind = Kind::kWords;
  double expected = 0;
  double high = 0;
  double tolerance = 0;
  std::string words;

  bool holds(double got) const;
  /// "4.4 to 4.8", "at most 1.05", "3.7 ± 10 %".
  std::string text() const;
};

/// A figure that the paper does not state, and how far it may move alone before the fact fails.
struct RestsOn {
  std::string figure;  // "interrupt_cost"
  std::string value;   // "4us"
  std::string from;    // the least that was found to hold; empty: a tenth does
  std::string to;      // the most that was found to hold; empty: ten times does
  std::string text() const;
};

/// Something that happened to a fact.
struct FactChange {
  std::string date;
  std::string why;
  std::string was;  // what judged() said before; empty if that did not change
  std::string text() const;
};

/// A fact, or several that are judged alike.
struct FactEntry {
  struct Case {
    std::string name;  // "64 B"; empty if there is one case only
    Form form;
    std::string gap;  // set beforehand where it is known not to come out, or not with --quick: why
  };

  std::string id;     // distinct in its file
  std::string what;   // "{}" stands for the case's name
  std::string where;  // in the paper: "table 2"
  Source source = Source::kStated;
  Nature nature = Nature::kFinding;
  std::string because;  // of a nature other than a finding
  std::vector<Case> cases;
  std::vector<RestsOn> rests_on;
  std::vector<FactChange> history;  // oldest first

  std::string text(const Case& of) const;
  /// What is judged and in which form, of all cases: what may not change without an entry in the
  /// history.
  std::string judged() const;
};

/// A statement of the paper that is not held, and why.
struct NotHeld {
  std::string what;
  std::string where;
  std::string why;
};

struct FactFile {
  std::string moved;  // the assumed figures that were moved to find what facts rest on, and how far
  std::vector<FactEntry> facts;
  std::vector<NotHeld> not_held;
};

/// The file of an experiment. Throws InternalError if there is none, or if it is not well-formed.
FactFile read_fact_file(std::string_view experiment);

/// The text of each file, which is compiled in.
struct FactText {
  std::string_view experiment;
  std::string_view toml;
};
std::span<const FactText> fact_texts();

}  // namespace slackline::experiments
