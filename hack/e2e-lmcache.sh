#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/e2e-lmcache.sh [ARGUMENT-OF-GO-TEST...]
#
# Probes LMCache's own server, of every release whose protocol we claim to know or
# to recognise. They run on what `make e2e-engine` installs, which takes 6 GB.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What the servers need beyond the engine's environment.
needed=(sortedcontainers==2.4.0)
releases=(0.3.9 0.4.7 0.5.6)

engine=$(hack/engine-env.sh)
LMCACHE_PYTHON="${engine}/bin/python3"
export LMCACHE_PYTHON
cache="${INFERENCE_CACHE_TOOLS:-${XDG_CACHE_HOME:-${HOME}/.cache}/inference-cache}/tools"
LMCACHE_RELEASES="${cache}/lmcache-$(echo "${engine}" "${needed[@]}" "${releases[@]}" | sha256sum | cut -c1-16)"
export LMCACHE_RELEASES

for release in "${releases[@]}"; do
  target="${LMCACHE_RELEASES}/${release}"
  if [[ ! -f "${target}/complete" ]]; then
    echo "Installing LMCache ${release} (once)" >&2
    rm -rf "${target}"
    "${LMCACHE_PYTHON}" -m pip install --quiet --disable-pip-version-check --no-deps --target "${target}" "lmcache==${release}" "${needed[@]}"
    touch "${target}/complete"
  fi
done

nice go test -tags=e2e -count=1 -timeout=15m "$@" -run='^TestReleases$' ./pkg/adapters/lmcacheserver
