// A file that is written wholly or not at all, by one writer at a time.
#include "dataplane/base/output_file.hh"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/file_contents.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::output_file_test {
namespace {

namespace fs = std::filesystem;

// As a full disk, but for the word: writes beyond `bytes` of a file fail.
class SmallFiles {
  public:
    explicit SmallFiles(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit small{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;
    ~SmallFiles() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

  private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_GROUP(OutputFile) {
    std::string folder;
    std::string path;

    void setup() override {
        std::string name = (fs::temp_directory_path() / "sluice-output-XXXXXX").string();
        CHECK_TRUE(mkdtemp(name.data()) != nullptr);
        folder = name;
        path = folder + "/out";
    }
    void teardown() override { fs::remove_all(folder); }

    std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder), {}); }
    void refuses(const char* word) const {
        const auto file = OutputFile::create(path);
        CHECK_FALSE(file.has_value());
        if (file) return;
        STRCMP_CONTAINS(path.c_str(), file.error().c_str());
        STRCMP_CONTAINS(word, file.error().c_str());
    }
};

TEST(OutputFile, refusesAFolderThatIsNotThereAndAFolder) {
    path = folder + "/no/out";
    refuses("No such file");
    path = folder;
    refuses("Is a directory");
    path = "";
    refuses("");
}

TEST(OutputFile, refusesASecondWriterOfTheSameFile) {
    const auto first = OutputFile::create(path);
    CHECK_TRUE(first.has_value());
    refuses("is locked");
    path = folder + "/./out";  // the same under another name
    refuses("is locked");
    CHECK_EQUAL(1, files());
    STRCMP_EQUAL("", (*first)->close().c_str());
    CHECK_TRUE(OutputFile::create(path).has_value());  // whose file is gone again
    CHECK_EQUAL(1, files());
}

TEST(OutputFile, refusesALinkInPlaceOfThePart) {
    std::ofstream(folder + "/other") << "kept";
    fs::create_symlink(folder + "/other", path + ".sluice-part");
    refuses("");
    STRCMP_EQUAL("kept", contents(folder + "/other").c_str());
}

TEST(OutputFile, appearsWhenItIsWhole) {
    std::ofstream(path) << "before";
    std::ofstream(path + ".sluice-part") << "left by a writer that was killed";
    std::string wanted;
    {
        auto file = OutputFile::create(path);
        for (unsigned n = 0; n < 30'000; ++n) {  // more than the buffer holds, in pieces of many sizes
            const std::string piece(n % 37, static_cast<char>('a' + n % 26));
            (*file)->write(piece);
            wanted += piece;
        }
        (*file)->write(std::string(200'000, 'z'));
        wanted += std::string(200'000, 'z');
        STRCMP_EQUAL("before", contents(path).c_str());
        STRCMP_EQUAL("", (*file)->close(true).c_str());
        STRCMP_EQUAL("", (*file)->close().c_str());  // a second time does no harm
        CHECK_TRUE(contents(path) == wanted);
    }
    CHECK_TRUE(contents(path) == wanted);
    CHECK_EQUAL(1, files());
}

TEST(OutputFile, leavesNothingWithoutAClose) {
    std::ofstream(path) << "before";
    {
        auto file = OutputFile::create(path);
        (*file)->write("half");
    }
    STRCMP_EQUAL("before", contents(path).c_str());
    CHECK_EQUAL(1, files());
}

TEST(OutputFile, keepsTheModeOfWhatWasThere) {
    std::ofstream(path) << "before";
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    auto file = OutputFile::create(path);
    (*file)->write("after");
    STRCMP_EQUAL("", (*file)->close().c_str());
    CHECK_TRUE(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    STRCMP_EQUAL("after", contents(path).c_str());
}

TEST(OutputFile, aFullDiskLeavesWhatWasThere) {
    for (const std::size_t bytes : {std::size_t{5000}, std::size_t{500'000}}) {
        std::ofstream(path) << "before";
        const SmallFiles limit(4096);
        auto file = OutputFile::create(path);
        CHECK_TRUE(file.has_value());
        (*file)->write(std::string(bytes, 'x'));
        const std::string error = (*file)->close();
        STRCMP_CONTAINS(path.c_str(), error.c_str());
        STRCMP_CONTAINS("File too large", error.c_str());
        STRCMP_EQUAL("before", contents(path).c_str());
        CHECK_EQUAL(1, files());
    }
}

TEST(OutputFile, writesDevicesAndPipesInPlace) {
    if (access("/dev/full", W_OK) != 0) {
        UtestShell::getCurrent()->print("SKIP: no /dev/full here", __FILE__, __LINE__);
        return;
    }
    auto full = OutputFile::create("/dev/full");
    (*full)->write("x");
    STRCMP_CONTAINS("/dev/full: cannot be written: No space left", (*full)->close().c_str());
    auto first = OutputFile::create("/dev/null");
    auto second = OutputFile::create("/dev/null");
    (*first)->write("x");
    STRCMP_EQUAL("", (*first)->close().c_str());
    STRCMP_EQUAL("", (*second)->close().c_str());
    CHECK_FALSE(fs::exists("/dev/null.sluice-part"));
}

}  // namespace sluice::output_file_test
