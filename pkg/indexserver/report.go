/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

const (
	// readAhead is how many messages of a stream are read before they are handled.
	readAhead = 4
	// ackEvery is the largest number of deltas that one Ack answers.
	ackEvery = 64
	// idleLeases is after how many leases of silence a stream is closed; a
	// client that lives has sent at least six heartbeats in that time.
	idleLeases = 2
)

// Errors that end a stream for no fault of a message.
var (
	errStopping   = status.Error(codes.Unavailable, "the server is stopping")
	errSuperseded = status.Error(codes.Aborted, "superseded by a newer stream of the same holder")
	errIdle       = status.Error(codes.DeadlineExceeded, "nothing was said for two leases")
)

// Report serves the session of one engine rank.
func (s *Server) Report(stream grpc.BidiStreamingServer[pb.ReportRequest, pb.ReportResponse]) error {
	who, err := identityFrom(stream.Context())
	if err != nil {
		return err
	}
	idle := idleLeases * s.config.Index.Lease()
	c := &conversation{
		server: s, stream: stream, messages: receive(stream),
		idle: idle, timer: s.config.Clock.NewTimer(idle),
	}
	defer c.timer.Stop()
	err = c.run(stream.Context(), who)
	s.metricsOf(stream.Context()).ends.WithLabelValues(status.Code(err).String()).Inc()
	return err
}

// received is one message of a stream, or why there are no more.
type received[Request any] struct {
	request *Request
	err     error
}

// receive reads a stream until it ends. Its goroutine ends with the call.
func receive[Request, Response any](stream grpc.BidiStreamingServer[Request, Response]) <-chan received[Request] {
	messages := make(chan received[Request], readAhead)
	go func() {
		for {
			req, err := stream.Recv()
			select {
			case messages <- received[Request]{req, err}:
			case <-stream.Context().Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return messages
}

// conversation is the exchange of messages on one stream.
type conversation struct {
	server   *Server
	stream   grpc.BidiStreamingServer[pb.ReportRequest, pb.ReportResponse]
	messages <-chan received[pb.ReportRequest]
	idle     time.Duration
	timer    clock.Timer
	// ended is nil until the session is open.
	ended <-chan error
	// unacked counts the messages since the last Ack; acked is what it will say.
	unacked int
	acked   uint64
}

func (c *conversation) run(ctx context.Context, who Identity) error {
	first, err := c.next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if first.GetHello() == nil {
		return status.Error(codes.InvalidArgument, "hello: the first message must be a hello")
	}
	sess, reply, err := c.server.open(ctx, who, first.GetHello())
	if err != nil {
		return err
	}
	defer c.server.close(sess)
	// Also while the client does not read what it is sent, which this waits for.
	defer context.AfterFunc(ctx, func() { c.server.config.Index.Close(sess.stream, c.server.config.Clock.Now()) })()
	c.ended = sess.ended
	c.keepWatch(ctx, sess)
	log := c.server.config.Logger.WithValues("namespace", sess.holder.Namespace, "pod", sess.holder.Pod, "rank", sess.holder.Rank)
	log.V(2).Info("Report stream opened", "epoch", first.GetHello().GetEpoch(), "snapshotWanted", reply.GetSnapshotWanted(), "resumeFrom", reply.GetResumeFrom())
	if err := c.stream.Send(&pb.ReportResponse{Message: &pb.ReportResponse_Hello{Hello: reply}}); err != nil {
		return err
	}
	err = c.exchange(ctx, sess)
	log.V(2).Info("Report stream ended", "code", status.Code(err).String(), "reason", status.Convert(err).Message())
	return err
}

// exchange handles messages until the stream ends.
func (c *conversation) exchange(ctx context.Context, sess *session) error {
	for {
		req, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a, err := sess.handle(req)
		if err != nil {
			return c.reason(err)
		}
		if err := c.send(a); err != nil {
			return err
		}
	}
}

// keepWatch has the session looked at for as long as it lasts. What was learnt while
// it was being opened counts as well.
func (c *conversation) keepWatch(ctx context.Context, sess *session) {
	c.server.recheck(sess)
	if w := watchFrom(ctx); w != nil {
		check := func(ctx context.Context, who Identity) error { return c.server.mayContinue(ctx, sess, who) }
		w.also.Store(&check)
	}
}

// reason is why the session was told to end, or else what a message met.
func (c *conversation) reason(err error) error {
	select {
	case why := <-c.ended:
		return why
	default:
		return err
	}
}

// next waits for a message, or for a reason to end the stream.
func (c *conversation) next(ctx context.Context) (*pb.ReportRequest, error) {
	c.timer.Reset(c.idle)
	select {
	case m := <-c.messages:
		return m.request, m.err
	case <-ctx.Done():
		return nil, whyEnded(ctx)
	case <-c.server.stopping:
		return nil, errStopping
	case why := <-c.ended:
		return nil, why
	case <-c.timer.C():
		return nil, errIdle
	}
}

// send answers a message. Acks wait while more messages do.
func (c *conversation) send(a answer) error {
	if a.ack {
		c.unacked++
		c.acked = a.sequence
	}
	if c.unacked > 0 && (a.resync != "" || len(c.messages) == 0 || c.unacked >= ackEvery) {
		c.unacked = 0
		ack := &pb.ReportResponse{Message: &pb.ReportResponse_Ack{Ack: &pb.Ack{Sequence: c.acked}}}
		if err := c.stream.Send(ack); err != nil {
			return err
		}
	}
	if a.resync == "" {
		return nil
	}
	return c.stream.Send(&pb.ReportResponse{Message: &pb.ReportResponse_Resync{Resync: &pb.Resync{Reason: a.resync}}})
}
