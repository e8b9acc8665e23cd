/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package standalone makes a server usable without a cluster around it.
//
// It keeps, in the data directory, what a cluster would otherwise provide: a
// certificate authority and a serving certificate for the loopback addresses, a
// single bearer token, and a kubeconfig that holds both. All of them survive a
// restart, so a kubeconfig stays valid for the life of the directory.
//
// The rules that it holds to:
//
//   - Whoever has the token may do everything, and nobody else may do anything.
//     A request without the token is refused with 401; only the health
//     endpoints answer to anyone. There is no anonymous administrator.
//   - Only loopback addresses are bound. Reaching the server from elsewhere is
//     what the cluster mode with its delegated authentication is for.
//   - Whatever carries a secret has mode 0600.
//   - What a user may miss compared with a cluster is said at start.
//
// Files in the data directory:
//
//	kubeconfig   cluster, token and CA in one file, rewritten when the port changes
//	token        the bearer token
//	ca.crt       the certificate authority, for clients other than kubectl
//	pki/         the authority's key, the serving certificate and its key
package standalone
