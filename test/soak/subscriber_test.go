//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/subscriber"
)

// runSubscriber is kvevent-subscriber in a world where every host name has the
// given addresses. In a cluster the name is that of a headless Service; no
// machine has such a name for loopback.
func runSubscriber(addresses, args []string) error {
	var known []netip.Addr
	for _, address := range addresses {
		parsed, err := netip.ParseAddr(address)
		if err != nil {
			return err
		}
		known = append(known, parsed)
	}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() { _ = errors.Join(answerNames(server, known), server.Close()) }() // the resolver has gone
		return client, nil
	}}
	options := subscriber.NewOptions()
	flags := pflag.NewFlagSet("subscriber", pflag.ContinueOnError)
	options.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := subscriber.New(*options)
	if err != nil {
		return err
	}
	return s.Run(klog.NewContext(context.Background(), klog.Background()))
}

// answerNames answers the questions that arrive on a stream: a name server with
// the same addresses for every name.
func answerNames(stream io.ReadWriter, addresses []netip.Addr) error {
	for {
		var size [2]byte
		if _, err := io.ReadFull(stream, size[:]); err != nil {
			return err
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(stream, query); err != nil {
			return err
		}
		reply, err := nameReply(query, addresses)
		if err != nil {
			return err
		}
		if _, err := stream.Write(slices.Concat(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply)); err != nil {
			return err
		}
	}
}

// nameReply answers one question for addresses (RFC 1035, section 4). For other
// types than A there are none.
func nameReply(query []byte, addresses []netip.Addr) ([]byte, error) {
	const header, typeA, recursive, ttl = 12, 1, 0x8180, 1
	end := header
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	if end+5 > len(query) {
		return nil, fmt.Errorf("question of %d bytes is cut off", len(query))
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	end += 5
	reply := slices.Clone(query[:end])
	binary.BigEndian.PutUint16(reply[2:], recursive)
	var answers uint16
	for _, address := range addresses {
		if kind != typeA {
			break
		}
		answers++
		// The name is the one at the beginning of the question.
		reply = append(reply, 0xc0, header, 0, typeA, 0, 1, 0, 0, 0, ttl, 0, 4)
		reply = append(reply, address.AsSlice()...)
	}
	copy(reply[4:header], []byte{0, 1, byte(answers >> 8), byte(answers), 0, 0, 0, 0})
	return reply, nil
}

// TestNames asks the name server the way the subscriber does.
func TestNames(t *testing.T) {
	want := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}
	client, server := net.Pipe()
	go func() { _ = answerNames(server, want) }() // ends when the client is closed
	t.Cleanup(func() { _ = errors.Join(client.Close(), server.Close()) })
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
	got, err := resolver.LookupNetIP(t.Context(), "ip4", indexName)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a.Unmap() == b.Unmap() })); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
