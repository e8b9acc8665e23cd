#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/tool.sh NAME
#
# Builds the programs of the tool module hack/tools/NAME, unless this very
# version was built before, and prints the directory that holds them. The
# directory lies in the user's cache, keyed by the module's sources, its
# checksums and the Go version, so every clone shares it and a changed pin
# builds anew.

set -o errexit -o nounset -o pipefail

name=${1:?usage: hack/tool.sh NAME}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
module="${root}/hack/tools/${name}"
cache="${INFERENCE_CACHE_TOOLS:-${XDG_CACHE_HOME:-${HOME}/.cache}/inference-cache}/tools"

if [[ ! -f "${module}/go.mod" ]]; then
  echo "hack/tool.sh: no tool module hack/tools/${name}" >&2
  exit 1
fi
cd "${module}"

mapfile -t sources < <(find . -name '*.go' | LC_ALL=C sort)
key=$({ go version; cat go.mod go.sum "${sources[@]}"; } | sha256sum | cut -c1-16)
target="${cache}/${name}-${key}"

if [[ ! -d "${target}" ]]; then
  echo "Building the tools of hack/tools/${name} (once per version)" >&2
  ldflags=()
  # Programs of Kubernetes do not know their release; a module version names it,
  # which is 0.x for the libraries of release 1.x.
  release=
  case "${name}" in
  kubectl) release=k8s.io/kubectl ;;
  controlplane) release=k8s.io/kubernetes ;;
  esac
  if [[ -n "${release}" ]]; then
    version=$(go list -m -f '{{.Version}}' "${release}")
    version="v1${version#v[01]}"
    minor=${version#v1.}
    package=k8s.io/component-base/version
    ldflags=("-s" "-w" "-X" "${package}.gitVersion=${version}" "-X" "${package}.gitMajor=1" "-X" "${package}.gitMinor=${minor%%.*}")
  fi
  tags=
  # Rules are checked without looking for servers, and the libraries of all clouds
  # take many minutes to compile.
  if [[ "${name}" == promtool ]]; then
    tags=remove_all_sd
  fi
  mkdir -p "${cache}"
  # Built aside and renamed, so that a broken build leaves nothing behind and
  # two builds at once do not disturb each other.
  building=$(mktemp -d "${cache}/building.XXXXXX")
  trap 'rm -rf "${building}"' EXIT
  packages=()
  if compgen -G './*.go' >/dev/null; then
    packages+=(.)
  fi
  if grep -q '^tool' go.mod; then
    mapfile -t -O "${#packages[@]}" packages < <(go list tool)
  fi
  GOFLAGS="${GOFLAGS:-} -mod=readonly -buildvcs=false" go build -tags "${tags}" -ldflags "${ldflags[*]}" -o "${building}/" "${packages[@]}"
  chmod 0755 "${building}"
  mv -T "${building}" "${target}" 2>/dev/null || [[ -d "${target}" ]]
fi
echo "${target}"
