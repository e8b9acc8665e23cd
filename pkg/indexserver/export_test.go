/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

// ProbeToken is the token that probes send.
func (s *Server) ProbeToken() string { return s.probes.token }
