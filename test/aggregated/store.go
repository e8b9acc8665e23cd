/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"inferencecache.io/inference-cache/test/programs"
)

// store is where the etcd of several replicas listens.
type store struct{ client, peer string }

// startStore runs the etcd that several replicas share. It is alone on loopback,
// dies with the test and holds nothing that is worth a certificate or the disk.
func (i *Installation) startStore(ctx context.Context) error {
	if i.options.Etcd == "" {
		return errors.New("several replicas need an etcd")
	}
	for _, address := range []*string{&i.storage.client, &i.storage.peer} {
		var err error
		if *address, err = programs.FreeAddress(); err != nil {
			return err
		}
	}
	client, peer, log := i.storeURL(), "http://"+i.storage.peer, i.path("etcd.log")
	var err error
	i.store, err = i.starting.Start(programs.Command{
		Path: i.options.Etcd, Log: log, Tied: true,
		Args: []string{
			"--name=only", "--data-dir=" + filepath.Join(i.options.Dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=only=" + peer,
		},
	})
	if err != nil {
		return fmt.Errorf("run etcd: %w", err)
	}
	if err := programs.Poll(ctx, func() error { return healthy(ctx, client) }); err != nil {
		return fmt.Errorf("wait for etcd: %w\n%s", err, programs.Tail(log))
	}
	return nil
}

func (i *Installation) storeURL() string { return "http://" + i.storage.client }

// healthy is an error if an etcd has no leader yet.
func healthy(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, programs.CallTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/health", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return err
}
