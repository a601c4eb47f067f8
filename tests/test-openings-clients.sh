#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Connections are the clients, and openings the exports that they open, of which
# each may open several. Every layer that has a recorder has openings of its
# own, with the time of what is below it.

# shellcheck disable=SC2016 # the shells of --run and the plugin expand it
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires jq --version
requires nbdkit eval --version
requires nbdinfo --version
requires nbdsh --version

cd "$tmp"
exports=(get_size='echo 1M' pread='head -c $3 /dev/zero'
         list_exports='echo NAMES; echo a; echo b; echo c')
# run ARGS...
run ()
{
  rm -f report
  nbdkit -U - --filter=stats eval "${exports[@]}" statsfile=report "$@" \
         --run 'nbdinfo --list "$uri"'
}
run statsformat=json
json '.layers[0] | del(.ops)'
json_check '.layers[0].connections.clients >= 1' \
           '.layers[0].connections.opened > .layers[0].connections.clients' \
           '.layers[0].connections.opened == sum(.layers[0].exports[].opened)' \
           '.layers[0].connections.failed == 0' \
           '[.layers[0].exports[].name] | (["a", "b", "c"] - .) == []'
clients=$(json '.layers[0].connections.clients')
opened=$(json '.layers[0].connections.opened')
run statsdetail=full
cat report
grep -E "^openings, by $clients connections? +opened +failed " report
grep -E "^all +$opened +0 " report
run statsformat=prometheus
grep -v '^#' report | grep -i -e connection -e opening

# Two layers, with a filter between them that refuses to prepare: below it all
# went well. Each asks the plugin once, which is slow then.
echo "this is no gzip file" >disk
requires nbdkit --filter=gzip null --version
rm report
nbdkit -U - --filter=stats --filter=gzip --filter=stats file disk \
       statsfile=report statsformat=json --run '
  if nbdsh -u "$uri" -c "h.pread(1, 0)"; then exit 1; fi'
json '.layers[] | del(.ops)'
json_check 'layer(1).connections | [.opened, .failed] == [0, .clients]' \
           'layer(2).connections | [.clients, .failed] == [.opened, 0]' \
           'layer(1).connections.clients == layer(2).connections.clients' \
           'layer(2).exports | map(.failed) == [0]'

rm report
nbdkit -U - --filter=stats --filter=delay --filter=stats eval \
       delay-open=400ms get_size='sleep 0.3; echo 1M' \
       pread='head -c $3 /dev/zero' \
       statsfile=report statsformat=json --run '
  nbdsh -u "$uri" -c "h.pread(512, 0)"'
json '.layers[] | del(.ops)'
json_check 'layer(1).connections.open_ns.sum >= 7e8' \
           'layer(2).connections.open_ns.sum >= 3e8' \
           'layer(1).connections.open_ns.sum >=
            layer(2).connections.open_ns.sum + 4e8' \
           'layer(1).open_busy_ns >= layer(2).open_busy_ns + 4e8'

# A list of exports that takes its time, in both layers.
rm report
nbdkit -U - --filter=stats --filter=stats eval get_size='echo 1M' \
       pread='head -c $3 /dev/zero' \
       list_exports='sleep 0.3; echo NAMES; echo a' statsfile=report \
       statsformat=json --run 'nbdinfo --list "$uri"'
json '.layers[] | del(.ops)'
json_check 'layer(1).open_busy_ns >= layer(2).open_busy_ns' \
           'layer(2).open_busy_ns >= 3e8'
