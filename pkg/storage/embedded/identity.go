/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"

	"inferencecache.io/inference-cache/pkg/storage/durablefile"
)

const (
	// memberName and peerURL are constants because etcd derives the member's id
	// from them and the cluster token; the token alone tells directories apart.
	// Nobody dials the peer URL: a cluster of one has nobody to do it.
	memberName = "embedded"
	peerURL    = "unix://embedded"

	identityFormat = 1
)

// identity ties a directory to the one member that may live in it.
type identity struct {
	// Format is the version of the directory's layout.
	Format int `json:"format"`
	// Token is the etcd cluster token, random per directory.
	Token string `json:"token"`
}

// loadIdentity reads the directory's identity, or gives a new one to a
// directory that holds no member yet. It is written before etcd starts: a
// process killed during its very first start finds its own directory again.
func loadIdentity(dir string) (identity, error) {
	path := filepath.Join(dir, identityFile)
	b, err := os.ReadFile(path)
	switch {
	case err == nil:
		return parseIdentity(dir, b)
	case !errors.Is(err, fs.ErrNotExist):
		return identity{}, fmt.Errorf("read identity of data directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, memberDir)); err == nil {
		return identity{}, fmt.Errorf(
			"%s holds an etcd member that this program did not create (no %s file beside it); use an empty data directory", dir, identityFile)
	}
	id := newIdentity()
	return id, id.write(dir)
}

// newIdentity returns an identity that no other directory has.
func newIdentity() identity {
	return identity{Format: identityFormat, Token: rand.Text()}
}

// write makes this the identity of dir.
func (id identity) write(dir string) error {
	b, err := json.Marshal(id)
	if err != nil {
		return fmt.Errorf("encode identity of data directory: %w", err)
	}
	if err := durablefile.Write(filepath.Join(dir, identityFile), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write identity of data directory: %w", err)
	}
	return nil
}

func parseIdentity(dir string, b []byte) (identity, error) {
	var id identity
	if err := json.Unmarshal(b, &id); err != nil {
		return identity{}, fmt.Errorf("identity file of %s is damaged: %w", dir, err)
	}
	if id.Format != identityFormat {
		return identity{}, fmt.Errorf("%s has layout format %d, this program knows only %d", dir, id.Format, identityFormat)
	}
	if id.Token == "" {
		return identity{}, fmt.Errorf("identity file of %s has no token", dir)
	}
	return id, nil
}

// memberID is the id that etcd gives to the member of this identity.
func (id identity) memberID() types.ID {
	return membership.NewMember(memberName, types.MustNewURLs([]string{peerURL}), id.Token, nil).ID
}
