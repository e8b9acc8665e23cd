/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package artifacts tests what is applied to clusters and built into images: the
// manifests, the scripts that install and uninstall them, and the Dockerfile.
//
// Roles are held against the program, which knows its rights, and against what the
// API serves. With the build tag integration, everything that kustomize makes of the
// manifests is read strictly, its flags are given to the program's own parser, names
// and ports are held against each other, the scripts meet clusters that are not fit,
// and the commands of the Dockerfile are run. That a real cluster takes the
// manifests and that the scripts work is tested in test/e2e/install.
//
// No image is built and no network policy enforced here, and cert-manager's
// controllers do not run: there are no containers.
package artifacts
