#!/usr/bin/env bash
# packages.sh installs what a node needs of the machine's own programs, on Debian and its like, as root: nft and ip, and a C
# compiler with libseccomp to build runc. It does nothing if they are there, or cannot be installed.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
missing=()
command -v nft >/dev/null || missing+=(nftables)
command -v ip >/dev/null || missing+=(iproute2)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v pkg-config >/dev/null || missing+=(pkg-config)
pkg-config --exists libseccomp 2>/dev/null || missing+=(libseccomp-dev)
if [ ${#missing[@]} -eq 0 ] || [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then exit 0; fi
echo "installing ${missing[*]} …"
export DEBIAN_FRONTEND=noninteractive
apt-get install -qq --no-install-recommends "${missing[@]}" >/dev/null ||
  { apt-get update -qq && apt-get install -qq --no-install-recommends "${missing[@]}" >/dev/null; }
