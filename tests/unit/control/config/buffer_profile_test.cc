// Profiles of real switches: the files of conf/profiles, and how a configuration is read over one.
#include "control/config/schema/buffer_profile.hh"

#include <set>

#include "config_text.hh"
#include "control/config/text/embedded_files.hh"

namespace sluice::buffer_profile_test {
namespace {

using namespace sluice::config_text;

}  // namespace

TEST_GROUP(BufferProfile){};

TEST(BufferProfile, everyFileIsReadAndFitsItsMemory) {
    CHECK_TRUE(embedded::buffer_profiles.size() >= 4);
    for (const auto& [name, text] : embedded::buffer_profiles) {
        const std::string said(name);
        const auto profile = parse_buffer_profile(text, name);
        if (!profile) FAIL(profile.error().front().text().c_str());
        CHECK_TRUE_TEXT(profile->size_bytes != 0 && profile->cell_bytes != 0, said.c_str());
        CHECK_EQUAL_TEXT(0, profile->size_bytes % profile->cell_bytes, said.c_str());
        std::uint64_t ingress = 0;
        // Groups and queues find their pools by these names.
        const std::set<std::string> known{"lossless", "lossy", "egress-lossless", "egress-lossy"};
        for (const auto& [pool_name, pool] : profile->pools) {
            CHECK_TRUE_TEXT(known.contains(pool_name), said.c_str());
            CHECK_TRUE_TEXT(pool.size_bytes <= profile->size_bytes, said.c_str());
            if (pool.direction == PoolDirection::ingress) ingress += pool.size_bytes;
        }
        CHECK_TRUE_TEXT(ingress != 0 && ingress <= profile->size_bytes, said.c_str());
        CHECK_TRUE_TEXT(!profile->headroom.empty(), said.c_str());
        for (const ProfileHeadroom& row : profile->headroom)
            CHECK_TRUE_TEXT(profile->headroom_of(row.speed, row.cable_m) == &row, said.c_str());
        CHECK_TRUE_TEXT(profile->lossless_group.size_bytes && profile->lossless_group.dynamic_th &&
                            profile->lossless_group.xon_offset_bytes && profile->lossy_queue.dynamic_th,
                        said.c_str());
    }
}

TEST(BufferProfile, headroomIsThatOfTheShortestCableThatIsLongEnough) {
    const BufferProfile& profile = *buffer_profile("tomahawk3");
    LONGS_EQUAL(178'562, profile.headroom_of(gigabits(400), 1)->xoff_bytes);
    LONGS_EQUAL(178'562, profile.headroom_of(gigabits(400), 5)->xoff_bytes);
    LONGS_EQUAL(201'930, profile.headroom_of(gigabits(400), 6)->xoff_bytes);
    LONGS_EQUAL(398'526, profile.headroom_of(gigabits(100), 2000)->xoff_bytes);
    POINTERS_EQUAL(nullptr, profile.headroom_of(gigabits(100), 2001));
    POINTERS_EQUAL(nullptr, profile.headroom_of(gigabits(25), 5));
}

TEST(BufferProfile, namesTheNearestAndAllThatAreKnown) {
    const std::string said = errors_of("[buffer]\nprofile = \"tomahawk33\"\n");
    STRCMP_CONTAINS("f:2:11: buffer.profile: \"tomahawk33\" is not a known word", said.c_str());
    STRCMP_CONTAINS("\"spectrum-2\", ", said.c_str());
    STRCMP_CONTAINS("do: write \"tomahawk3\"", said.c_str());
}

TEST(BufferProfile, itsMemoryIsADefaultThatTheFileMayReplace) {
    const Config plain = accepted("buffer.profile = \"tomahawk3\"");
    LONGS_EQUAL(67'117'468, plain.buffer_size_bytes);
    LONGS_EQUAL(254, plain.cell_bytes);
    for (const char* text : {"[buffer]\nsize = \"8MB\"\nprofile = \"tomahawk3\"\n",
                             "[buffer]\nprofile = \"tomahawk3\"\nsize = \"8MB\"\n"}) {
        LONGS_EQUAL(8'000'000, accepted(text).buffer_size_bytes);
        LONGS_EQUAL(254, accepted(text).cell_bytes);
    }
    const Config none = accepted("buffer.profile = \"none\"");
    LONGS_EQUAL(Config{}.buffer_size_bytes, none.buffer_size_bytes);
    LONGS_EQUAL(Config{}.cell_bytes, none.cell_bytes);
}

// Its values that are not the profile's are said, even where they are the built-in defaults.
TEST(BufferProfile, isSavedByItsName) {
    STRCMP_EQUAL("[buffer]\nprofile = \"tomahawk3\"\n",
                 to_toml(accepted("buffer.profile = \"tomahawk3\"")).c_str());
    const Config own = accepted("[buffer]\nprofile = \"tomahawk3\"\ncell = 256\nsize = \"16MB\"\n");
    STRCMP_EQUAL("[buffer]\nprofile = \"tomahawk3\"\nsize = \"16MB\"\ncell = \"256B\"\n",
                 to_toml(own).c_str());
}

}  // namespace sluice::buffer_profile_test
