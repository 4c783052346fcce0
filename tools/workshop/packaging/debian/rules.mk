# The packet path is measured at -O3, and some libraries ask for less: Meson's options say so, not the flags of dpkg.
export DEB_BUILD_MAINT_OPTIONS = hardening=+all reproducible=+all
export DEB_CFLAGS_MAINT_STRIP = -O2
export DEB_CXXFLAGS_MAINT_STRIP = -O2
programs = obj-$(DEB_HOST_GNU_TYPE)
include /usr/share/dpkg/architecture.mk

%:
	dh $@ --buildsystem=meson

# With a precompiled header GCC writes the same code and, by where memory lies, other debugging symbols.
override_dh_auto_configure:
	dh_auto_configure -- -Doptimization=3 -Ddebug=true -Dtests=false -Dfiles_at_once=true -Db_pch=false -Dsystemd_unit_dir=/lib/systemd/system

# Its tests are those of the sources' tree: tools/test.
override_dh_auto_test:

# The references are what the programs print.
execute_after_dh_auto_build:
	mkdir -p debian/references
	$(programs)/sluiced --reference >debian/references/configuration.md
	$(programs)/sluiced --figures >debian/references/figures.md
	$(programs)/sluiced --metrics-reference >debian/references/metrics.md
	$(programs)/sluiced --findings >debian/references/findings.txt
	$(programs)/tools/fabric/sluice-fabric reference >debian/references/fabric.md
	$(programs)/tools/traffic/sluice-traffic --help-recipe >debian/references/recipe.txt

# debian/copyright has the licenses. The README files keep their folders, so that their links hold.
execute_after_dh_auto_install:
	rm -r debian/tmp/usr/share/doc/sluice
	install -Dm 644 conf/real.toml debian/tmp/etc/sluice/sluice.toml
	find . -name '*.md' -not -path './debian/*' -not -path './obj-*' -exec install -Dm 644 {} debian/tmp/usr/share/doc/sluice-doc/guide/{} \;
	MESON_INSTALL_PREFIX=/usr python3 tools/workshop/packaging/as_installed.py share/sluice/conf debian/tmp/usr/share/doc/sluice-doc/guide

override_dh_installsystemd:
	dh_installsystemd --no-enable --no-start --no-stop-on-upgrade

execute_before_dh_installsystemd:
	dh_installsysusers

# Links of guides lead to files as they are named.
override_dh_compress:
	dh_compress -X.md -X.txt

override_dh_dwz:
	# It saves a tenth of the debugging symbols and takes as long as the compiler.
