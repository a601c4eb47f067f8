#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# "make install" puts our files, and no other, where the user expects them, and
# says how to run the filter; the manual has the same path. The directory in which
# the distribution has its own stats filter is refused, unless one insists.

source ./functions.sh
set -e -u -x

requires make --version
requires pod2man --help
requires_tool
# A configured source tree refuses a second build directory.
requires test ! -e "$top_srcdir/config.status"

# What configure found for this build it need not find by itself again.
settings=()
for var in CC NBDKIT PKG_CONFIG PKG_CONFIG_PATH; do
  settings+=("$var=$(sed -n "s/^$var = //p" "$top_builddir/Makefile")")
done

# Neither the options of the make that runs us nor a site's wishes count here.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
export CONFIG_SITE=/dev/null

configure ()
{
  "$top_srcdir/configure" --quiet --cache-file="$tmp/cache" "${settings[@]}" "$@"
}

# check_install NAME CONFIGURE-OPTIONS..., with the files expected on stdin. One
# build after the other has the same objects, but libtool knows where the filter
# will be.
mkdir "$tmp/build"
cd "$tmp/build"
check_install ()
{
  local root=$tmp/$1.root
  shift
  configure "$@"
  rm -f filters/stats/nbdkit-stats-filter.la
  make
  make install DESTDIR="$root" >installed
  cat installed
  (cd "$root" && find . ! -type d | sort) >files
  diff -u - files || fail "with '$*' other files were installed"
}

# Literally, since these paths are in people's scripts.
check_install default <<'END'
./usr/local/bin/nbdkit-stats
./usr/local/lib/nbdkit-stats/nbdkit-load.la
./usr/local/lib/nbdkit-stats/nbdkit-load.so
./usr/local/lib/nbdkit/filters/nbdkit-stats-filter.la
./usr/local/lib/nbdkit/filters/nbdkit-stats-filter.so
./usr/local/share/bash-completion/completions/nbdkit-stats
./usr/local/share/doc/nbdkit-stats/LICENSE
./usr/local/share/doc/nbdkit-stats/NEWS.md
./usr/local/share/doc/nbdkit-stats/README.md
./usr/local/share/man/man1/nbdkit-stats-bench.1
./usr/local/share/man/man1/nbdkit-stats-compare.1
./usr/local/share/man/man1/nbdkit-stats-filter.1
./usr/local/share/man/man1/nbdkit-stats-overhead.1
./usr/local/share/man/man1/nbdkit-stats-report.1
./usr/local/share/man/man1/nbdkit-stats.1
./usr/local/share/man/man5/nbdkit-stats-report.5
./usr/local/share/man/man7/nbdkit-stats-diagnosis.7
./usr/local/share/nbdkit-stats/jobs/block-driver.job
./usr/local/share/nbdkit-stats/jobs/convert.job
./usr/local/share/nbdkit-stats/jobs/write-requests.job
./usr/local/share/nbdkit-stats/nbdkit-stats-bench.schema.json
./usr/local/share/nbdkit-stats/nbdkit-stats-report.schema.json
./usr/local/share/nbdkit-stats/nbdkit-stats.alerts.yml
./usr/local/share/nbdkit-stats/nbdkit-stats.rules.yml
END

# command_is DIR: so ends what "make install" says, and so says the manual of the
# same build.
command_is ()
{
  grep -v '^make' installed | tail -n 2 | head -n 1 >last
  grep -x "  nbdkit --filter=$1/nbdkit-stats-filter.so PLUGIN" last
  # Without what troff needs.
  sed -e 's/\\-/-/g' -e 's/\\s-*[0-9]//g' man/*.[157] >manual
  grep "FILTERDIR is .*$1" manual
  grep "DATADIR is .*/usr/local/share/nbdkit-stats" manual
  [ "$(grep -c "stats=$1/nbdkit-stats-filter.so" manual)" -eq 3 ]
  if grep -n '@[a-z]*@' manual; then fail "the manual has this"; fi
}
command_is /usr/local/lib/nbdkit/filters

check_install moved --with-filterdir=/opt/filters --mandir=/opt/man <<'END'
./opt/filters/nbdkit-stats-filter.la
./opt/filters/nbdkit-stats-filter.so
./opt/man/man1/nbdkit-stats-bench.1
./opt/man/man1/nbdkit-stats-compare.1
./opt/man/man1/nbdkit-stats-filter.1
./opt/man/man1/nbdkit-stats-overhead.1
./opt/man/man1/nbdkit-stats-report.1
./opt/man/man1/nbdkit-stats.1
./opt/man/man5/nbdkit-stats-report.5
./opt/man/man7/nbdkit-stats-diagnosis.7
./usr/local/bin/nbdkit-stats
./usr/local/lib/nbdkit-stats/nbdkit-load.la
./usr/local/lib/nbdkit-stats/nbdkit-load.so
./usr/local/share/bash-completion/completions/nbdkit-stats
./usr/local/share/doc/nbdkit-stats/LICENSE
./usr/local/share/doc/nbdkit-stats/NEWS.md
./usr/local/share/doc/nbdkit-stats/README.md
./usr/local/share/nbdkit-stats/jobs/block-driver.job
./usr/local/share/nbdkit-stats/jobs/convert.job
./usr/local/share/nbdkit-stats/jobs/write-requests.job
./usr/local/share/nbdkit-stats/nbdkit-stats-bench.schema.json
./usr/local/share/nbdkit-stats/nbdkit-stats-report.schema.json
./usr/local/share/nbdkit-stats/nbdkit-stats.alerts.yml
./usr/local/share/nbdkit-stats/nbdkit-stats.rules.yml
END

command_is /opt/filters

# refused ARGS...: nothing is configured, and the reason is told.
refused ()
{
  if configure "$@" 2>error; then fail "'$*' was taken"; fi
  cat error
  grep 'overwrite the stats filter that comes with nbdkit' error
  grep -e --enable-replace-stock-filter error
}
own=$(nbdkit --dump-config | sed -n 's/^filterdir=//p')
refused --with-filterdir="$own"
refused --with-filterdir="$own/"
refused --libdir="${own%/nbdkit/filters}"
ln -s "$own" link
refused --with-filterdir="$PWD/link"
configure --with-filterdir="$own" --enable-replace-stock-filter
grep -x "filterdir = $own" Makefile

# What was installed works.
nbdkit -U - null --run true --filter="$tmp/default.root/usr/local/lib/nbdkit/filters/nbdkit-stats-filter.so"
NBDKIT_STATS_JOBS=$tmp/default.root/usr/local/share/nbdkit-stats/jobs \
  "$tmp/default.root/usr/local/bin/nbdkit-stats" bench --list |
  grep '^write-requests '
