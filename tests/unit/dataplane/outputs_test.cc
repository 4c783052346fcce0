// Files that may be written, and folders in which a program replaces nothing but its own.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"
#include "dataplane/base/output_folder.hh"
#include "tests/file_contents.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::outputs_test {
namespace {

namespace fs = std::filesystem;

// A folder of its own, which is the current one.
class Place {
  public:
    Place() : before_(fs::current_path()) {
        std::string name = (fs::temp_directory_path() / "sluice-outputs-XXXXXX").string();
        CHECK_TRUE(mkdtemp(name.data()) != nullptr);
        folder_ = name;
        fs::current_path(folder_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
        fs::current_path(before_);
        fs::remove_all(folder_);
    }

  private:
    fs::path before_, folder_;
};

std::string clash(const char* read, const char* written, const char* written_too = "") {
    FileRoles roles;
    roles.reads("the input", read);
    roles.writes("--one", written);
    roles.writes("--two", written_too);
    return roles.clash_text();
}

std::string write(const std::string& name, const std::string& text, const std::string& folder = "out") {
    auto out = OutputFolder::open(folder);
    return out ? out->write(name, text) : out.error();
}

}  // namespace

TEST_GROUP(FileRoles) { Place place; };

TEST(FileRoles, oneFileUnderAnyNameHasOnePart) {
    std::ofstream("a") << "input";
    fs::create_directory("folder");
    fs::create_symlink("a", "link");
    fs::create_symlink("link", "link-to-link");
    fs::create_hard_link("a", "second");
    fs::create_symlink(".", "here");
    for (const char* name : {"a", "./a", "folder/../a", "link", "link-to-link", "second", "here/a", ".//a"}) {
        STRCMP_CONTAINS("--one would overwrite the input", clash("a", name).c_str());
        STRCMP_CONTAINS(name, clash("a", name).c_str());
        STRCMP_CONTAINS("--two would overwrite what --one writes", clash("", "a", name).c_str());
    }
    for (const char* name : {"b", "folder/a", "/dev/null", ""}) STRCMP_EQUAL("", clash("a", name).c_str());
}

TEST(FileRoles, filesThatAreNotThereYetAreComparedToo) {
    fs::create_directory("folder");
    fs::create_symlink("folder", "other");
    fs::create_symlink("new", "to-new");
    for (const char* name : {"new", "./new", "folder/../new", "to-new", "folder/../to-new"})
        STRCMP_CONTAINS("--two would overwrite", clash("", "new", name).c_str());
    STRCMP_CONTAINS("--two would overwrite", clash("", "folder/x", "other/x").c_str());
    STRCMP_CONTAINS("--two would overwrite", clash("", "no/folder/x", "./no/folder/x").c_str());
    STRCMP_EQUAL("", clash("", "no/folder/x", "no/x").c_str());
    STRCMP_EQUAL("", clash("", "folder/new", "new").c_str());
}

TEST(FileRoles, inputsAndDevicesMayBeShared) {
    std::ofstream("a") << "input";
    FileRoles roles;
    roles.reads("the input", "a");
    roles.reads("another", "./a");
    roles.writes("--one", "/dev/null");
    roles.writes("--two", "/dev/null");
    STRCMP_EQUAL("", roles.clash_text().c_str());
}

TEST_GROUP(OutputFolder) { Place place; };

TEST(OutputFolder, replacesWhatItWroteAndNothingElse) {
    STRCMP_EQUAL("", write("in/a", "one").c_str());
    STRCMP_EQUAL("", write("in/a", "two").c_str());
    STRCMP_EQUAL("two", contents("out/in/a").c_str());
    std::ofstream("out/in/a", std::ios::app) << " and a note";
    STRCMP_CONTAINS("out/in/a: is there, and is not as a program of Sluice wrote it; do:",
                    write("in/a", "three").c_str());
    STRCMP_EQUAL("two and a note", contents("out/in/a").c_str());
    fs::remove("out/in/a");
    STRCMP_EQUAL("", write("in/a", "four").c_str());
    std::ofstream("out/b") << "a stranger's";
    STRCMP_CONTAINS("out/b: is there", write("b", "x").c_str());
    STRCMP_EQUAL("a stranger's", contents("out/b").c_str());
    fs::create_directory("out/c");
    STRCMP_CONTAINS("out/c: is there", write("c", "x").c_str());
    fs::rename("out/in/a", "out/d");  // its own, but not by this name
    STRCMP_CONTAINS("out/d: is there", write("d", "x").c_str());
}

TEST(OutputFolder, neverLeavesItself) {
    fs::create_directories("out");
    fs::create_directory("elsewhere");
    fs::create_symlink("../elsewhere", "out/in");
    STRCMP_CONTAINS("out/in: is there, and is not a folder", write("in/a", "x").c_str());
    fs::create_symlink("../elsewhere/b", "out/b");
    STRCMP_CONTAINS("out/b: is there", write("b", "x").c_str());
    std::ofstream("out/c") << "no folder";
    STRCMP_CONTAINS("out/c: is there, and is not a folder", write("c/d", "x").c_str());
    CHECK_TRUE(fs::is_empty("elsewhere"));
}

TEST(OutputFolder, hasOneProgramAtATime) {
    {
        const auto first = OutputFolder::open("out");
        CHECK_TRUE(first.has_value());
        STRCMP_CONTAINS("out/.: another program writes there", write("a", "x", "out/.").c_str());
    }
    STRCMP_EQUAL("", write("a", "x").c_str());
}

TEST(OutputFolder, leavesNoListWhereItWroteNothing) {
    STRCMP_CONTAINS("is not as a program",
                    (write("a", "x"), std::ofstream("out/a") << "y", write("a", "z")).c_str());
    CHECK_FALSE(fs::exists("out/.sluice-outputs"));
    std::ofstream("file") << "";
    STRCMP_CONTAINS("file: ", write("a", "x", "file").c_str());
}

TEST(OutputFolder, aListThatIsDamagedOwnsNothing) {
    STRCMP_EQUAL("", write("a", "one").c_str());
    for (const char* text : {"", "a\n", "1 2 a\n", "x y z a\n", "3 99999999999999999999 1 a\n", "3 1 1 a"}) {
        std::ofstream("out/.sluice-outputs") << text;
        STRCMP_CONTAINS("out/a: is there", write("a", "two").c_str());
        STRCMP_EQUAL("one", contents("out/a").c_str());
    }
}

TEST(OutputFolder, ACopyIsAsGood) {
    STRCMP_EQUAL("", write("a", "one").c_str());
    fs::copy("out", "copy");
    STRCMP_EQUAL("", write("a", "two", "copy").c_str());
    std::ofstream("copy/a") << "TWO";  // as long
    STRCMP_CONTAINS("copy/a: is there", write("a", "three", "copy").c_str());
}

TEST(OutputFolder, knowsItsOwnFilesBelowAFolder) {
    STRCMP_EQUAL("", write("in/a", "1").c_str());
    STRCMP_EQUAL("", write("in/b", "1").c_str());
    STRCMP_EQUAL("", write("inner", "1").c_str());
    std::ofstream("out/in/b") << "of somebody else";
    std::ofstream("out/in/c") << "of somebody else";
    const auto out = OutputFolder::open("out");
    const auto own = out->own_files("in");
    CHECK_EQUAL(1U, own.size());
    STRCMP_EQUAL("in/a", own.front().c_str());
}

TEST(OutputFolder, keepsALinkThatNamesAnOutput) {
    std::ofstream("target") << "before";
    fs::create_symlink("target", "link");
    auto file = OutputFile::create("link");
    (*file)->write("after");
    STRCMP_EQUAL("", (*file)->close().c_str());
    CHECK_TRUE(fs::is_symlink("link"));
    STRCMP_EQUAL("after", contents("target").c_str());
}

}  // namespace sluice::outputs_test
