// A locked file has one owner, though owners remove it while others open it.
#include "dataplane/base/file_descriptor.hh"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::locked_file_test {
TEST_GROUP(LockedFile){};

TEST(LockedFile, hasOneOwnerWhoeverRemovesIt) {
    std::string folder = (std::filesystem::temp_directory_path() / "sluice-lock-XXXXXX").string();
    CHECK_TRUE(mkdtemp(folder.data()) != nullptr);
    const std::string path = folder + "/lock";
    std::atomic<int> owners{0}, most{0}, owned{0}, of_no_name{0};
    const auto own = [&] {
        for (int n = 0; n < 20'000; ++n) {
            const FileDescriptor file = open_locked(path, O_RDONLY | O_CREAT);
            if (!file) continue;
            ++owned;
            const int now = ++owners;
            if (now > most) most = now;
            struct stat ours {
            }, named{};
            if (fstat(file.get(), &ours) != 0 || stat(path.c_str(), &named) != 0 ||
                ours.st_ino != named.st_ino)
                ++of_no_name;
            --owners;  // the next one may come as soon as the name is gone
            static_cast<void>(std::remove(path.c_str()));
        }
    };
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) threads.emplace_back(own);
    for (std::thread& each : threads) each.join();
    std::filesystem::remove_all(folder);
    CHECK_TRUE(owned > 1000);
    LONGS_EQUAL(1, most);
    LONGS_EQUAL(0, of_no_name);  // a lock that the next one does not see
}

}  // namespace sluice::locked_file_test
