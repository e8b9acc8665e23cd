/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
)

func TestNewPassword(t *testing.T) {
	got, err := workload.NewPassword(bytes.NewReader(bytes.Repeat([]byte{0xfb}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	// 32 bytes of 8 bits are 43 characters of 6.
	if want := "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s"; got != want {
		t.Errorf("NewPassword() = %s, want %s", got, want)
	}
	if strings.ContainsAny(got, "$=+/ \"'") {
		t.Errorf("%s has to be quoted somewhere", got)
	}
}

func TestNewPasswordWithoutRandomness(t *testing.T) {
	if _, err := workload.NewPassword(bytes.NewReader(make([]byte, 31))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want that of the source", err)
	}
}
