/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
)

// Defaults of Options.
const (
	DefaultTimeout         = 50 * time.Millisecond
	DefaultHealthInterval  = time.Second
	DefaultResolveInterval = 10 * time.Second
)

// Resolver looks up host names; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options say where the index is and how to ask it.
type Options struct {
	// Servers are addresses of the index as host:port; at least one is required.
	// Every address of every host is a replica, so that the name of a headless
	// Service is enough. Its Service should publish addresses that are not ready:
	// the client finds out by itself which ones know everything.
	Servers []string
	// CAFile holds the PEM certificates that the index is verified with; empty
	// means those of the system.
	CAFile string
	// ServerName is the name on the certificate of the index; the host of the
	// entry in Servers when it is empty.
	ServerName string
	// TokenFile holds the bearer token. Empty sends none, which an index refuses.
	TokenFile string

	// Timeout bounds every lookup; a context can only shorten it. 0 means
	// DefaultTimeout. Text has to be tokenized first and may take longer than that.
	Timeout time.Duration
	// HealthInterval is how often a replica is asked how it is, and how long it
	// may take to say so. 0 means DefaultHealthInterval.
	HealthInterval time.Duration
	// ResolveInterval is how often host names are looked up. 0 means
	// DefaultResolveInterval.
	ResolveInterval time.Duration

	// Resolver is the system's when it is nil.
	Resolver Resolver
	// Logger hears of replicas that come, go and change. The zero value is silent.
	Logger logr.Logger
}

// complete checks options and fills in defaults. The error names everything that
// is wrong.
func (o Options) complete() (Options, error) {
	var problems []error
	if len(o.Servers) == 0 {
		problems = append(problems, errors.New("no server is named"))
	}
	for _, server := range o.Servers {
		if host, port, err := net.SplitHostPort(server); err != nil {
			problems = append(problems, fmt.Errorf("server %q: %w", server, err))
		} else if host == "" || port == "" {
			problems = append(problems, fmt.Errorf("server %q is not of the form host:port", server))
		}
	}
	if _, err := (rootsFile{path: o.CAFile}).config(); err != nil {
		problems = append(problems, err)
	}
	if o.TokenFile != "" {
		if _, err := readToken(o.TokenFile); err != nil {
			problems = append(problems, err)
		}
	}
	for _, setting := range []struct {
		name     string
		duration *time.Duration
		standard time.Duration
	}{
		{"timeout", &o.Timeout, DefaultTimeout},
		{"health interval", &o.HealthInterval, DefaultHealthInterval},
		{"resolve interval", &o.ResolveInterval, DefaultResolveInterval},
	} {
		if *setting.duration < 0 {
			problems = append(problems, fmt.Errorf("the %s is %v", setting.name, *setting.duration))
		}
		if *setting.duration == 0 {
			*setting.duration = setting.standard
		}
	}
	if len(problems) > 0 {
		return Options{}, fmt.Errorf("options of the lookup client: %w", errors.Join(problems...))
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Logger.GetSink() == nil {
		o.Logger = logr.Discard()
	}
	return o, nil
}
