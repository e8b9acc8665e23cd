/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
)

// Prober probes a server from outside, through the port that it serves on: it reports a
// block as an engine does and asks for it as a router does. The block and its holder
// belong to ReservedTenant; they show nowhere else, and are gone when the probe is over
// or cut off. It is safe for concurrent use.
type Prober struct {
	server  *Server
	address net.Addr
}

// Prober returns the prober of a server that serves on address. The error says that the
// index would show others what a probe reports.
func (s *Server) Prober(address net.Addr) (*Prober, error) {
	if !s.config.Index.HidesTenant(ReservedTenant) {
		return nil, fmt.Errorf("probe the index server: its index does not hide the tenant %s", ReservedTenant)
	}
	return &Prober{server: s, address: address}, nil
}

// ProbeOutcome is how a stage of a probe ended.
type ProbeOutcome uint8

// The outcomes of a stage.
const (
	// ProbeOK stages did what they are for.
	ProbeOK ProbeOutcome = iota
	// ProbeFailed stages show a fault of the server.
	ProbeFailed
	// ProbeSkipped stages were not taken, because the one before was not ProbeOK.
	ProbeSkipped
	// ProbeUnknown stages were ended from elsewhere before they could show anything.
	ProbeUnknown
)

// ProbeStage is one step of a probe.
type ProbeStage struct {
	Outcome ProbeOutcome
	// Message says in one line why a stage is not ProbeOK.
	Message string
	// Took is the stage's time.
	Took time.Duration
}

// ProbeReport is what a probe found.
type ProbeReport struct {
	// Ingest opened a session, reported a block and had it acknowledged.
	Ingest ProbeStage
	// Routing found the block's holder with exactly its tokens, and nobody for another
	// prompt.
	Routing ProbeStage
}

var (
	// ErrTooManyProbes means that Limits.Probes are under way.
	ErrTooManyProbes = errors.New("too many probes are under way")

	errProbeTimeout = errors.New("the time for a probe is over")
)

// Probe probes the server once, within Limits.ProbeTimeout. A fault of the server is
// part of the report; the error is ErrTooManyProbes.
func (p *Prober) Probe(ctx context.Context) (ProbeReport, error) {
	select {
	case p.server.probes.slots <- struct{}{}:
		defer func() { <-p.server.probes.slots }()
	default:
		return ProbeReport{}, ErrTooManyProbes
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.server.config.Limits.ProbeTimeout, errProbeTimeout)
	defer cancel()
	conn, err := p.dial()
	if err != nil {
		outcome, why := p.judge(ctx, err)
		return ProbeReport{Ingest: ProbeStage{Outcome: outcome, Message: why}, Routing: notTaken()}, nil
	}
	// It ends whatever an early return leaves open.
	defer func() { _ = conn.Close() }()
	return p.run(ctx, conn), nil
}

func (p *Prober) run(ctx context.Context, conn grpc.ClientConnInterface) ProbeReport {
	errand := newErrand(conn, p.server.config.Name)
	defer errand.leave()
	report := ProbeReport{Ingest: p.stage(ctx, errand.report), Routing: notTaken()}
	if report.Ingest.Outcome == ProbeOK {
		report.Routing = p.stage(ctx, errand.find)
	}
	return report
}

// notTaken is the routing of a probe that has reported nothing.
func notTaken() ProbeStage {
	return ProbeStage{Outcome: ProbeSkipped, Message: "nothing was reported that could be found"}
}

// stage takes a step and judges its end.
func (p *Prober) stage(ctx context.Context, step func(context.Context) error) ProbeStage {
	start := p.server.config.Clock.Now()
	err := step(ctx)
	stage := ProbeStage{Took: p.server.config.Clock.Since(start)}
	stage.Outcome, stage.Message = p.judge(ctx, err)
	return stage
}

// judge tells a server that is at fault from one that nothing can be said about: it is
// about to go, or who asked for the probe does not wait for its end.
func (p *Prober) judge(ctx context.Context, err error) (ProbeOutcome, string) {
	if err == nil {
		return ProbeOK, ""
	}
	select {
	case <-p.server.stopping:
		return ProbeUnknown, "the server is stopping"
	default:
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errProbeTimeout):
		return ProbeFailed, fmt.Sprintf("no answer within %s: %v", p.server.config.Limits.ProbeTimeout, err)
	case cause != nil:
		return ProbeUnknown, fmt.Sprintf("the probe was cut off: %v", err)
	}
	return ProbeFailed, err.Error()
}
