// SPDX-License-Identifier: Apache-2.0
// Joules from fake counters: a tree like /sys/class/powercap, a library like NVML; and who waits how for the GPU.
#include <solvers/base/errors.h>
#include <solvers/device/device.h>
#include <solvers/device/device_vector.h>
#include <solvers/device/energy_meter.h>
#include <solvers/device/waiting.h>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

namespace leopard::device
{
  namespace
  {
    namespace fs = std::filesystem;

    /** A folder with the files of RAPL, removed at the end. */
    class FakePowercap
    {
    public:
      FakePowercap() { fs::create_directories(folder); }
      ~FakePowercap() { fs::remove_all(folder); }

      void write(const std::string &zone, const std::string &name, double microjoules, double range = 1e9) const
      {
        fs::create_directories(folder / zone);
        std::ofstream(folder / zone / "name") << name << '\n';
        std::ofstream(folder / zone / "energy_uj") << static_cast<long long>(microjoules) << '\n';
        std::ofstream(folder / zone / "max_energy_range_uj") << static_cast<long long>(range) << '\n';
      }

      const fs::path folder = fs::path(testing::TempDir()) / ("powercap_" + std::to_string(::getpid()) + "_" + std::to_string(n++));

    private:
      static inline int n = 0;
    };

    std::unique_ptr<EnergyCounter> rapl(const FakePowercap &fake)
    {
      std::string why_not;
      auto        counter = make_rapl(why_not, fake.folder.c_str());
      EXPECT_EQ(why_not, "");
      return counter;
    }

    TEST(Rapl, AddsUpPackagesAndNothingTwice)
    {
      const FakePowercap fake;
      fake.write("intel-rapl:0", "package-0", 5e6);
      fake.write("intel-rapl:1", "package-1", 7e6);
      fake.write("intel-rapl:0:0", "core", 1e6);         // a part of package 0
      fake.write("intel-rapl:2", "psys", 1e6);           // the whole board
      fake.write("intel-rapl-mmio:0", "package-0", 1e6); // package 0 by another way
      const auto counter = rapl(fake);
      ASSERT_NE(counter, nullptr);
      EXPECT_EQ(counter->how(), "RAPL, 2 packages");
      const double before = counter->joules();
      fake.write("intel-rapl:0", "package-0", 5.5e6);
      fake.write("intel-rapl:1", "package-1", 9e6);
      for (const char *zone : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"})
        fake.write(zone, zone == std::string("intel-rapl:2") ? "psys" : "package-0", 100e6);
      EXPECT_NEAR(counter->joules() - before, 2.5, 1e-9);
    }

    TEST(Rapl, GoesOnWhereACounterBeginsAnew)
    {
      const FakePowercap fake;
      fake.write("intel-rapl:0", "package-0", 999e6);
      const auto counter = rapl(fake);
      ASSERT_NE(counter, nullptr);
      const double before = counter->joules();
      fake.write("intel-rapl:0", "package-0", 2e6); // of 1000 J
      EXPECT_NEAR(counter->joules() - before, 3., 1e-9);
    }

    TEST(Rapl, SaysWhyItCannotBeRead)
    {
      const FakePowercap fake;
      std::string        why_not;
      EXPECT_EQ(make_rapl(why_not, fake.folder.c_str()), nullptr);
      EXPECT_NE(why_not.find("intel-rapl:*"), std::string::npos) << why_not;
      fake.write("intel-rapl:0", "package-0", 1.);
      std::ofstream(fake.folder / "intel-rapl:0" / "energy_uj") << "\n"; // as what may not be read looks to root
      EXPECT_EQ(make_rapl(why_not, fake.folder.c_str()), nullptr);
      EXPECT_NE(why_not.find("energy_uj holds no number"), std::string::npos) << why_not;
    }

    TEST(Rapl, CountersThatVanishAreNotKnownAnyMore)
    {
      FakePowercap fake;
      fake.write("intel-rapl:0", "package-0", 1e6);
      EnergySources sources;
      sources.why_no_gpu = "no GPU is used";
      sources.cpu        = rapl(fake);
      EnergyMeter     meter(std::move(sources));
      const EnergyUse before = meter.read();
      fs::remove_all(fake.folder);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const EnergyUse use = meter.read().since(before);
      EXPECT_FALSE(use.cpu.is_known());
      EXPECT_TRUE(std::isnan(use.cpu.joules));
      EXPECT_NE(use.cpu.why_not.find("energy_uj"), std::string::npos) << use.cpu.why_not;
    }

    TEST(Energy, OfTooShortATimeIsNotKnown)
    {
      const Energy before = {1., 0.1, "a counter", ""}, after = {1.5, 0.1, "a counter", ""};
      const Energy known = after.since(before, 1.);
      EXPECT_TRUE(known.is_known());
      EXPECT_EQ(known.joules, 0.5);
      const Energy stuck = after.since(after, 1.);
      EXPECT_TRUE(std::isnan(stuck.joules)) << "and not zero";
      EXPECT_EQ(stuck.why_not, "a counter has not moved");
      for (const double seconds : {0.99, 0., std::nan("")})
        {
          const Energy use = after.since(before, seconds);
          EXPECT_FALSE(use.is_known()) << seconds;
          EXPECT_TRUE(std::isnan(use.joules)) << "and not zero";
          EXPECT_NE(use.why_not.find("too short"), std::string::npos) << use.why_not;
        }
    }

    TEST(Energy, OfSomethingNotKnownIsNotKnown)
    {
      Energy unknown;
      unknown.why_not    = "no reason";
      const Energy known = {5., 0., "a counter", ""};
      for (const Energy &use : {known.since(unknown, 1.), unknown.since(known, 1.)})
        {
          EXPECT_EQ(use.why_not, "no reason");
          EXPECT_TRUE(std::isnan(use.joules));
          EXPECT_EQ(leopard::to_string(use, 1.), "not known: no reason");
        }
      const Energy less = {4., 0., "a counter", ""};
      EXPECT_FALSE(less.since(known, 1.).is_known()) << "it has gone backwards";
      EXPECT_EQ(leopard::to_string(known, 2.), "5 J, 2.5 W (a counter)");
    }

    /** fake_nvml.cc, which is built beside this program. */
    std::string fake_nvml()
    {
      return (fs::read_symlink("/proc/self/exe").parent_path() / "libfake_nvml.so").string();
    }

    /** A meter of one of the fake GPUs and no processor. */
    std::unique_ptr<EnergyMeter> meter_of(const std::string &pci_bus_id, double period, bool keeps_samples = false)
    {
      EnergySources sources;
      sources.gpu        = find_gpu_power(pci_bus_id, sources.why_no_gpu, fake_nvml().c_str());
      sources.why_no_cpu = "nobody asks";
      EXPECT_NE(sources.gpu, nullptr) << sources.why_no_gpu;
      return std::make_unique<EnergyMeter>(std::move(sources), period, keeps_samples);
    }

    EnergyUse use_of_a_second(EnergyMeter &meter)
    {
      const EnergyUse before = meter.read();
      std::this_thread::sleep_for(std::chrono::milliseconds(1050));
      return meter.read().since(before);
    }

    TEST(Nvml, CountsAndSamplesBesideEachOther)
    {
      const auto      meter = meter_of("0000:01:00.0", 0.04, true);
      const EnergyUse use   = use_of_a_second(*meter);
      EXPECT_NEAR(use.gpu.joules / use.seconds, 100., 1.) << use.text();
      EXPECT_EQ(use.gpu.how, "NVML's counter");
      EXPECT_NEAR(use.gpu_sampled.joules / use.seconds, 80., 1e-6) << "the power of the moment, not the mean";
      EXPECT_EQ(use.gpu_sampled.how, "NVML's power, sampled every 40 ms");
      EXPECT_FALSE(use.cpu.is_known());
      EXPECT_TRUE(std::isnan(use.joules())) << "a part is not known";
      EXPECT_NE(use.text().find("CPU not known: nobody asks"), std::string::npos) << use.text();
      const auto samples = meter->take_samples();
      EXPECT_GE(samples.size(), 10u);
      for (const PowerSample &sample : samples)
        {
          EXPECT_EQ(sample.gpu, 80.);
          EXPECT_TRUE(std::isnan(sample.cpu));
        }
      const EnergySources &sources = meter->all_sources();
      ASSERT_NE(sources.gpu, nullptr);
      EXPECT_EQ(sources.gpu->clock_megahertz(), 1980.);
      EXPECT_EQ(sources.gpu->power_limit_watts(), 700.);
    }

    TEST(Nvml, SamplesWhereThereIsNoCounter)
    {
      const auto      meter = meter_of("0000:02:00.0", 0.);
      const EnergyUse use   = use_of_a_second(*meter);
      EXPECT_NEAR(use.gpu.joules / use.seconds, 50., 1e-6) << use.text();
      EXPECT_EQ(use.gpu.how, "NVML's power, sampled every 100 ms");
    }

    TEST(Nvml, SaysWhyItDoesNotAnswer)
    {
      std::string why_not;
      EXPECT_EQ(find_gpu_power("0000:03:00.0", why_not, fake_nvml().c_str()), nullptr);
      EXPECT_EQ(why_not, "nvmlDeviceGetHandleByPciBusId_v2: Not Found");
      EXPECT_EQ(find_gpu_power("0000:01:00.0", why_not, "libnothing-of-this-name.so"), nullptr);
      EXPECT_NE(why_not.find("libnothing-of-this-name.so"), std::string::npos) << why_not;
    }

    TEST(Waiting, HasNames)
    {
      for (const Waiting waiting : {Waiting::spin, Waiting::block})
        EXPECT_EQ(waiting_of(to_string(waiting)), waiting);
      EXPECT_THROW(waiting_of("yield"), InvalidInput);
    }

    /** Seconds of processor time that this thread takes while it waits for about a second of work of the GPU. */
    double processor_seconds_of_waiting(DeviceVector<double> &x, const DeviceVector<double> &y, double &wall_seconds)
    {
      const auto processor = [] {
        timespec time;
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
      };
      for (int i = 0; i < 400; ++i) // each some milliseconds of copies, and few launches
        x.add(1e-3, y);
      const double start = processor();
      const auto   begin = std::chrono::steady_clock::now();
      synchronize();
      wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      return processor() - start;
    }

    TEST(Waiting, BlockLeavesTheCoreToOthersWhileTheGpuWorks)
    {
      if (n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      DeviceVector<double> x(1 << 28), y(1 << 28);
      for (const Waiting now : {Waiting::spin, Waiting::block, Waiting::spin})
        {
          set_waiting(now);
          EXPECT_EQ(waiting(), now);
          double       wall = 0.;
          const double busy = processor_seconds_of_waiting(x, y, wall) / wall;
          const char  *what = now == Waiting::spin ? "spin" : "block";
          ASSERT_GT(wall, 0.05) << what;
          RecordProperty(what, std::to_string(busy));
          std::printf("%s: %.1f percent of a core in %.3f s\n", what, 100. * busy, wall);
          if (now == Waiting::spin)
            EXPECT_GT(busy, 0.7);
          else
            EXPECT_LT(busy, 0.2);
        }
    }

    TEST(Nvml, KnowsTheGpuThatCudaUses)
    {
      if (n_devices() == 0)
        GTEST_SKIP() << "no GPU here";
      EnergySources sources = energy_sources(true);
      if (sources.gpu == nullptr)
        GTEST_SKIP() << "NVML does not tell here: " << sources.why_no_gpu;
      EnergyMeter meter(std::move(sources), 0.02);
      EXPECT_GT(use_of_a_second(meter).gpu_sampled.joules, 5.) << "an idle GPU takes some watts";
      std::printf("%s\n", use_of_a_second(meter).text().c_str());
    }
  } // namespace
} // namespace leopard::device
