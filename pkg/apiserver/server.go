/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/admission"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	registry "inferencecache.io/inference-cache/pkg/registry/inferencecache/rest"
)

const (
	// ProgramName is what this program is called: in the library's log lines, in
	// Events and in traces.
	ProgramName = "inference-cache-apiserver"

	// readyPoll is how often readiness is looked at while starting. It bounds
	// how late a user learns that the server serves.
	readyPoll = 20 * time.Millisecond

	// dropPoll is how often connections of our own are closed while the server stops.
	dropPoll = 100 * time.Millisecond
)

// Server is an API server with its group installed. It runs once.
type Server struct {
	// Generic is the server of the library, for hooks and checks of the caller.
	Generic *genericapiserver.GenericAPIServer

	extra *ExtraConfig
	live  *live
	// fail stops a running server; background is what Run waits for.
	fail       context.CancelCauseFunc
	background sync.WaitGroup
	closeOnce  sync.Once
	closeErr   error
}

// New installs the group and returns a server that is ready to run.
func (c CompletedConfig) New(ctx context.Context) (*Server, error) {
	c.generic.BuildHandlerChainFunc = explainReadyz(c.generic.BuildHandlerChainFunc, c.extra.openChecks())
	generic, err := c.generic.New(ProgramName, genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("make generic API server: %w", err)
	}
	live, err := newLive(ctx, c.extra, c.generic.Config)
	if err != nil {
		return nil, err
	}
	s := &Server{Generic: generic, extra: c.extra, live: live}
	if err := c.install(generic, live.data); err != nil { //nolint:contextcheck // hooks get the server's own context
		return nil, err
	}
	installMetrics(generic, c.extra.Metrics, c.extra.EmbeddedEtcd)
	if err := generic.AddPostStartHook("inference-cache-informers", live.startInformers); err != nil {
		return nil, fmt.Errorf("add hook: %w", err)
	}
	if err := generic.AddPostStartHook("inference-cache-grpc", s.startGRPC); err != nil {
		return nil, fmt.Errorf("add hook: %w", err)
	}
	if err := generic.AddReadyzChecks(c.extra.openChecks()...); err != nil {
		return nil, fmt.Errorf("add readiness check: %w", err)
	}
	if c.extra.Registration != nil {
		if err := generic.AddPostStartHook("inference-cache-registration", s.startRegistration); err != nil {
			return nil, fmt.Errorf("add hook: %w", err)
		}
	}
	if err := s.installBackground(generic); err != nil {
		return nil, err
	}
	return s, nil
}

// installBackground makes the server do what it does in a cluster beside serving.
func (s *Server) installBackground(generic *genericapiserver.GenericAPIServer) error {
	if s.extra.Rights != nil {
		if err := generic.AddPostStartHook("inference-cache-rights", s.askForRights); err != nil {
			return fmt.Errorf("add hook: %w", err)
		}
	}
	if s.extra.SpaceEvents != nil {
		if err := generic.AddPostStartHook("inference-cache-events", s.makeEvents); err != nil {
			return fmt.Errorf("add hook: %w", err)
		}
	}
	return nil
}

// makeEvents is a post-start hook.
func (s *Server) makeEvents(hook genericapiserver.PostStartHookContext) error {
	s.background.Go(func() { s.extra.SpaceEvents.Run(hook) })
	return nil
}

// startRegistration is a post-start hook.
func (s *Server) startRegistration(hook genericapiserver.PostStartHookContext) error {
	s.background.Go(func() { s.extra.Registration.Run(hook) })
	return nil
}

// askForRights is a post-start hook. The rights are looked at for as long as one
// is missing.
func (s *Server) askForRights(hook genericapiserver.PostStartHookContext) error {
	s.background.Go(func() { s.extra.Rights.Run(hook) })
	return nil
}

// install makes the server serve the group.
func (c CompletedConfig) install(generic *genericapiserver.GenericAPIServer, live registry.LiveData) error {
	storage, err := registry.NewStorage(c.extra.Codecs.Scheme, c.generic.RESTOptionsGetter, admission.New(adapters.All()), live, c.extra.Namespaces)
	if err != nil {
		return err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(inferencecache.GroupName, c.extra.Codecs.Scheme,
		runtime.NewParameterCodec(c.extra.Codecs.Scheme), c.extra.Codecs.Factory)
	group.NegotiatedSerializer = c.extra.Codecs.Negotiated()
	group.VersionedResourcesStorageMap[v1alpha1.SchemeGroupVersion.Version] = storage
	if err := generic.InstallAPIGroup(&group); err != nil {
		return fmt.Errorf("install API group: %w", err)
	}
	if err := generic.AddPostStartHook("inference-cache-reservations", repairReservations(storage)); err != nil {
		return fmt.Errorf("add hook: %w", err)
	}
	return nil
}

// startGRPC is a post-start hook. The gRPC server lives as long as the HTTPS
// server, and a failure of it ends both: half a server would look healthy.
func (s *Server) startGRPC(hook genericapiserver.PostStartHookContext) error {
	s.background.Go(func() { s.live.recheckSessions(hook) })
	s.background.Go(func() {
		if err := s.live.grpc.Serve(hook, s.extra.GRPCListener); err != nil {
			s.fail(err)
		}
	})
	return nil
}

// Run serves until ctx ends and returns when everything has stopped: first gRPC
// and HTTP, then the storage clients, then what CloseLast closes. An error of
// any part stops the rest.
func (s *Server) Run(ctx context.Context) error {
	ctx, s.fail = context.WithCancelCause(ctx)
	defer s.fail(nil)
	if s.extra.OnReady != nil {
		s.background.Go(func() {
			if err := s.reportReady(ctx); err != nil {
				s.fail(err)
			}
		})
	}
	ended := make(chan struct{})
	s.background.Go(func() { s.dropLoopback(ctx, ended) })
	err := s.Generic.PrepareRun().RunWithContext(ctx)
	close(ended)
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	s.fail(nil)
	s.background.Wait()
	return errors.Join(err, s.Close())
}

// Close releases what outlives the running server. It is for a server that was
// made but never run, and may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		if err := s.extra.GRPCListener.Close(); !errors.Is(err, net.ErrClosed) {
			s.closeErr = err
		}
		s.closeErr = errors.Join(s.closeErr, s.extra.CloseLast())
	})
	return s.closeErr
}

// dropLoopback closes what our own clients keep open while the server stops. A
// connection that is made just then is not told that the server goes, and would be
// waited for as long as for an open request.
func (s *Server) dropLoopback(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-ended:
		return
	}
	client, err := rest.HTTPClientFor(s.Generic.LoopbackClientConfig)
	if err != nil {
		return // nobody has such a connection then
	}
	ticker := time.NewTicker(dropPoll)
	defer ticker.Stop()
	for {
		utilnet.CloseIdleConnectionsFor(client.Transport)
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
	}
}

func (s *Server) reportReady(ctx context.Context) error {
	if err := s.WaitReady(ctx); err != nil {
		// The server is stopping, which Run reports.
		return nil
	}
	klog.FromContext(ctx).Info("Serving", "api", s.Generic.SecureServingInfo.Listener.Addr().String(),
		"grpc", s.extra.GRPCListener.Addr().String(), "version", Version())
	if err := s.extra.OnReady(); err != nil {
		return fmt.Errorf("report readiness: %w", err)
	}
	return nil
}

// WaitReady returns when /readyz is good, or with the context's error. The
// server has to be running already, or be started by somebody else.
func (s *Server) WaitReady(ctx context.Context) error {
	client, err := rest.HTTPClientFor(s.Generic.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("make loopback client: %w", err)
	}
	defer utilnet.CloseIdleConnectionsFor(client.Transport)
	url := s.Generic.LoopbackClientConfig.Host + readyzPath
	return wait.PollUntilContextCancel(ctx, readyPoll, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			// Not listening yet.
			return false, nil
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK, nil
	})
}
