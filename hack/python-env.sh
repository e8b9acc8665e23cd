#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/python-env.sh
#
# Makes the Python environment of the integration tests, unless it is there, and
# prints its directory. It lies in the user's cache, keyed by what it holds.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

requirements=hack/python-requirements.txt
cache="${INFERENCE_CACHE_TOOLS:-${XDG_CACHE_HOME:-${HOME}/.cache}/inference-cache}/tools"

if ! command -v python3 >/dev/null; then
  echo "hack/python-env.sh: python3 is missing; install it with: apt-get install python3 python3-venv" >&2
  exit 1
fi
key=$({ python3 -c 'import sys; print(sys.version, sys.prefix)'; cat "${requirements}"; } | sha256sum | cut -c1-16)
target="${cache}/python-${key}"

if [[ ! -f "${target}/complete" ]]; then
  echo "Making the Python environment of the integration tests (once per version)" >&2
  # An environment knows its own path, so it is made in place and marked when
  # it is whole.
  rm -rf "${target}"
  if ! python3 -m venv "${target}" >&2; then
    echo "hack/python-env.sh: python3 cannot make environments; install the module with: apt-get install python3-venv" >&2
    exit 1
  fi
  "${target}/bin/python3" -m pip install --quiet --disable-pip-version-check --requirement "${requirements}" >&2
  touch "${target}/complete"
fi
echo "${target}"
