#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# All JSON reports are as the schema says, and none of its names is missing or
# one too many: those of real runs, final and interval, of one layer and two,
# and the odd ones that a unit test makes by hand.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires /usr/bin/python3 -c 'import jsonschema.validators as v
v.Draft202012Validator'
requires nbdkit --filter=blocksize --filter=error null --version
requires nbdsh --version

validate ()
{
  /usr/bin/python3 "$top_srcdir/tests/json-schema.py" \
    "$top_srcdir/schema/nbdkit-stats-report.schema.json" "$@"
}

cat >"$tmp/client.py" <<'EOF'
for i in range(20):
    try:
        h.pwrite(bytes(3000), i * 5000)
    except nbd.Error:
        pass
h.pread(3000, 0)
h.zero(4096, 0)
h.trim(4096, 0)
h.cache(4096, 0)
h.flush()
h.block_status(4096, 0, lambda *args: 0)
EOF

nbdkit -U - --filter=stats null statsfile="$tmp/idle" statsformat=json \
       --run true
nbdkit -U - --filter=stats --filter=blocksize --filter=stats --filter=error \
       memory 1M minblock=512 error-pwrite=ENOSPC error-pwrite-rate=50% \
       statsfile="$tmp/layers" statsformat=json statsblock=4K statszero=true \
       statsinterval=0.05 \
       --run "nbdsh --base-allocation -u \"\$uri\" -c - <'$tmp/client.py'
              until [ -s '$tmp/layers' ]; do sleep 0.02; done"
validate "$tmp/idle" "$tmp/layers"
grep -c '"type":"interval"' "$tmp/layers"
grep '"ENOSPC"' "$tmp/layers" >/dev/null
grep '"layer":2,.*"layer":2,' "$tmp/layers" >/dev/null

# As the manual says, for a file of several reports. The last line of them is as
# it must be, too.
sed -n "/^ python3 -c '/,/^ ' DATADIR/{s/^ //;p}" \
    "$top_srcdir/man/nbdkit-stats-report.pod" >"$tmp/from-manual"
sed -i "s|DATADIR|$top_srcdir/schema|" "$tmp/from-manual"
cat "$tmp/from-manual"
cd "$tmp"
cp layers rows.json
[ "$(wc -l <rows.json)" -gt 1 ] || fail "there are not several"
PATH=/usr/bin:$PATH bash -e from-manual
sed '$s/"pid":/"piid":/' layers >rows.json
if PATH=/usr/bin:$PATH bash -e from-manual 2>wrong; then
  fail "a wrong one was taken"
fi
cat wrong
grep piid wrong
cd "$OLDPWD"

# It is there where cmocka is.
requires test -x ./unit-json
UNIT_JSON_REPORTS="$tmp/unit" ./unit-json
validate "$tmp/unit"
