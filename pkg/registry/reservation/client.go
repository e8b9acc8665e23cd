/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// How a connection is kept: as the storage of objects keeps its own, so that both
// notice a lost etcd member in the same time.
const (
	dialTimeout      = 20 * time.Second
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
)

// dial returns a client of the etcd that objects are stored in. It connects when
// it is first used.
func dial(config storagebackend.TransportConfig) (*clientv3.Client, error) {
	options := clientv3.Config{
		Endpoints:            config.ServerList,
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    keepaliveTime,
		DialKeepAliveTimeout: keepaliveTimeout,
		// What goes wrong is returned, and logged by whom it concerns.
		Logger: zap.NewNop(),
	}
	var err error
	if options.TLS, err = clientTLS(config); err != nil {
		return nil, err
	}
	if config.EgressLookup != nil {
		dialer, err := config.EgressLookup(egressselector.Etcd.AsNetworkContext())
		if err != nil {
			return nil, fmt.Errorf("look up the way to etcd: %w", err)
		}
		if dialer != nil {
			options.DialOptions = append(options.DialOptions, grpc.WithContextDialer(through(dialer)))
		}
	}
	client, err := clientv3.New(options)
	if err != nil {
		return nil, fmt.Errorf("make etcd client: %w", err)
	}
	return client, nil
}

// clientTLS returns nil when no file is given, which is a connection in clear.
func clientTLS(config storagebackend.TransportConfig) (*tls.Config, error) {
	if config.CertFile == "" && config.KeyFile == "" && config.TrustedCAFile == "" {
		return nil, nil
	}
	files := transport.TLSInfo{CertFile: config.CertFile, KeyFile: config.KeyFile, TrustedCAFile: config.TrustedCAFile}
	c, err := files.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("etcd client certificate: %w", err)
	}
	return c, nil
}

// through makes the client dial with dialer, which wants host and port where the
// client may have a URL.
func through(dialer utilnet.DialFunc) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		if strings.Contains(address, "//") {
			u, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			address = u.Host
		}
		return dialer(ctx, "tcp", address)
	}
}
