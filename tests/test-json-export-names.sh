#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Clients choose export names, and any sequence of bytes may come. The JSON
# report has them escaped, or with U+FFFD in place of what is no UTF-8, and each
# with the number of its connections.

source ./functions.sh
set -e -u -x

requires jq --version
requires /usr/bin/python3 -c 'import nbd'

cd "$tmp"
cat >client.py <<'EOF'
import json
import sys
import urllib.parse

import nbd

NAMES = [
    b"", b"disk", b'say "hello"', b"back\\slash\\", b"two\nlines\r\n",
    b"\t\b\f",
    b"\x01\x1f\x7f", b"</script>", b"%s%n%d", "Fußgänger €".encode(),
    "\N{GRINNING FACE}".encode(), "\u2028".encode(),
    # No UTF-8: not at all, cut off, longer than needed, a surrogate, too much.
    b"\xff\xfe", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    # The longest, where each byte becomes six, or three.
    b"x" * 4096, b"\x01" * 4096, b"\xff" * 4096,
    # No character is cut in two.
    b"y" * 255, b"y" * 254 + "€".encode(), b"y" * 253 + "€".encode(),
    b"z" * 256,
]

def cut(name):
    n = min(len(name), 255)
    while 0 < n < len(name) and name[n] & 0xc0 == 0x80:
        n -= 1
    return name[:n]

for i, name in enumerate(NAMES):
    for j in range(1 + i % 2):
        h = nbd.NBD()
        h.connect_uri("nbd+unix:///%s?socket=%s" %
                      (urllib.parse.quote(name), sys.argv[1]))
        h.shutdown()
with open("expected", "w") as expected:
    for i, name in enumerate(NAMES):
        text = cut(name).decode("utf-8", "replace")
        expected.write(json.dumps([text, text.encode() != name and
                                   len(name) > 255, 1 + i % 2]) + "\n")
EOF
start_nbdkit --filter=stats null statsfile=report statsformat=json \
             statsinterval=0.05
/usr/bin/python3 client.py "$sock"
stop_nbdkit

[ "$(jq .type report | wc -l)" -eq "$(wc -l <report)" ] || fail "not one a line"
if LC_ALL=C grep -P '[^\x20-\xff]' report; then
  fail "there are raw control characters"
fi
if ! iconv -f UTF-8 -t UTF-8 report >/dev/null; then fail "no UTF-8"; fi

tail -n 1 report | jq -c '.layers[0].exports[] | [.name, .cut, .opened]' | sort >names
jq -c . expected | sort | diff -u - names ||
  fail "what was asked for (-) and the report (+) differ"
