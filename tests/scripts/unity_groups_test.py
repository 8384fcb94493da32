"""Which sources are compiled as one: cmake/unity_groups.py."""

import importlib.util
import pathlib
import sys
import tempfile
import unittest


def loaded(path):
    spec = importlib.util.spec_from_file_location("unity_groups", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCE = '''
#include "a.h"
namespace slackline::hw {
namespace {
using sched::Op;
using Bytes = std::vector<std::byte>;
constexpr std::array<int, 2> kPair = {1, 2};
const char* const kText = "struct Hidden { };  // } no brace";
// struct Commented {};
template <class T>
std::optional<T> first_of(const std::vector<T>& all) { int local = 0; return {}; }
class Reader : public Base {
 public:
  Reader(int value) : value_(value) {}
  int member() const { return value_; }
};
struct { int field; } nameless;
static_assert(sizeof(int) == 4);
}  // namespace
Thing::Thing(int value) : value_(value) {}
int Thing::get() const { return value_; }
void free_function(int argument) {}
TEST(Suite, Name) { int x = 0; }
}
'''


class UnityGroups(unittest.TestCase):
    def test_names_at_namespace_level(self):
        names, used, hidden, places, defined = GROUPS.names_of(SOURCE)
        self.assertEqual(names - {"nameless", "field"}, {
            "Bytes", "kPair", "kText", "first_of", "Reader", "free_function", "Suite , Name"})
        self.assertEqual(used, {"Op": "sched::Op"})
        self.assertEqual(places["free_function"], {"slackline::hw::free_function"})
        self.assertIn("slackline::hw::free_function(int)", defined)
        self.assertEqual(hidden - {"nameless", "field"},
                         {"Bytes", "kPair", "kText", "first_of", "Reader"})

    def group(self, *texts, header="", other=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "room").mkdir()
            (root / "room" / "h.h").write_text(header)
            (root / "room" / "other.h").write_text(other)
            paths = []
            for number, text in enumerate(texts):
                paths.append(root / "room" / f"{number}.cc")
                paths[-1].write_text("namespace a { namespace {\n" + text + "\n} }\n")
            found = GROUPS.grouped(root, [str(path) for path in paths])
            return [[int(pathlib.Path(source).stem) for source in group.sources]
                    for group in found]

    def test_names_given_twice_stand_apart(self):
        self.assertEqual(self.group("int f() { return 1; }", "int g() { return 1; }"), [[0, 1]])
        for one, other in (("int f() { return 1; }", "int f(int) { return 1; }"),
                           ("[[noreturn]] void f() { throw 1; }", "[[nodiscard]] int f(int);"),
                           ("constexpr int kA = 1;", "constexpr long kA = 2;"),
                           ("struct A {};", "class A {};"),
                           ("enum class A { kB };", "int A = 0;"),
                           ("using b::A;", "struct A {};"),
                           ("using b::A;", "using c::A;"),
                           ("TEST(A, B) {}", "TEST(A, B) {}"),
                           ("template <class T> void f(T) {}", "void f() {}")):
            with self.subTest(one=one, other=other):
                self.assertEqual(self.group(one, other), [[0], [1]])
        self.assertEqual(self.group("constexpr int kA = 1;", "void f() { constexpr int kA = 2; }"),
                         [[0], [1]])
        self.assertEqual(self.group("using b::A;", "using b::A;"), [[0, 1]])
        self.assertEqual(self.group("void f() { int k = 0; }", "void g() { int k = 0; }"), [[0, 1]])

    def test_what_hides_a_name_of_a_header_stands_apart_from_those_that_see_it(self):
        include = '#include "room/h.h"\n'
        header = "namespace b { struct A; int h(int); }"
        for hides in ("struct A {};", "int h() { return 1; }"):
            self.assertEqual(self.group(hides, include + "int f();", "int g();", header=header),
                             [[0, 2], [1]])

    def test_what_names_another_than_a_header_does_stands_apart_from_those_that_see_that(self):
        include = '#include "room/h.h"\n'
        header = "namespace slackline::b { struct A; } namespace slackline { struct C; }"
        for uses, apart in (("using c::A;", True), ("using other::b::A;", True),
                            ("using b::A;", False), ("using slackline::b::A;", False),
                            ("using slackline::C;", False), ("using b::D;", False)):
            with self.subTest(uses=uses):
                self.assertEqual(self.group(uses, include + "int f();", "int g();", header=header),
                                 [[0, 2], [1]] if apart else [[0, 1, 2]])

    def test_sources_whose_headers_define_one_thing_twice_stand_apart(self):
        def apart(one, other):
            return len(self.group('#include "room/h.h"', '#include "room/other.h"',
                                  header=f"namespace b {{ {one} }}",
                                  other=f"namespace b {{ {other} }}")) == 2

        for one, other in (
                ("inline Time us(double t) { return t; }", "inline sched::Time us(double) { return 1; }"),
                ("inline void f(const a::B& b, int n = 1) {}", "inline int f(const B& c, int) { }"),
                ("inline void f(Map<int, int> m) {}", "inline void f(Map<int, int>) {}"),
                ("inline constexpr int kA = 1;", "inline constexpr int kA{1};")):
            with self.subTest(one=one, other=other):
                self.assertTrue(apart(one, other))
        for one, other in (
                ("inline Time us(double t) { return t; }", "inline Time us(int t) { return t; }"),
                ("inline void f(int a) {}", "inline void f(int a, int b) {}"),
                ("inline void f(int a) {}", "void f(int a);"),
                ("struct A {};", "struct A;"),
                ("inline void f() {}", "} namespace c { inline void f() {}")):
            with self.subTest(one=one, other=other):
                self.assertFalse(apart(one, other))

    def test_groups_are_no_larger_than_they_may_be(self):
        sizes = [len(group) for group in self.group(*[f"int f{k}();" for k in range(20)])]
        self.assertEqual(sum(sizes), 20)
        self.assertEqual(max(sizes), GROUPS.LARGEST)


if __name__ == "__main__":
    GROUPS = loaded(sys.argv.pop(1))
    unittest.main()
