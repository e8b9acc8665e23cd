/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scrape

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"unicode"
)

const (
	// maxAsked is how often an engine is asked for its version; one that does not
	// say it then has none to say.
	maxAsked = 3
	// maxVersionPage and maxVersion bound the answer, in bytes.
	maxVersionPage = 4 << 20
	maxVersion     = 64
)

// versionPaths are where engines say their version, newest way first.
func versionPaths(profile Profile) []string {
	if profile == SGLang {
		return []string{"/server_info", "/get_server_info"}
	}
	return []string{"/version"}
}

// identify asks the engine for its version, until it has said it.
func (s *Scraper) identify(ctx context.Context) {
	if s.asked >= maxAsked {
		return
	}
	s.asked++
	for _, path := range versionPaths(s.config.Profile) {
		version := s.version(ctx, path)
		if version == "" {
			continue
		}
		s.asked = maxAsked
		for _, sink := range s.sinks {
			sink.SetEngine(string(s.config.Profile) + "/" + version)
		}
		return
	}
}

// version returns what a page gives as version, empty if nothing.
func (s *Scraper) version(ctx context.Context, path string) string {
	address, err := url.Parse(s.config.URL)
	if err != nil {
		return ""
	}
	address.Path, address.RawPath, address.RawQuery = path, "", ""
	var answer struct {
		Version string `json:"version"`
	}
	err = s.get(ctx, address.String(), func(page io.Reader) error {
		return json.NewDecoder(io.LimitReader(page, maxVersionPage)).Decode(&answer)
	})
	if err != nil {
		return "" // not every engine says it, and none has to
	}
	if len(answer.Version) > maxVersion || strings.ContainsFunc(answer.Version, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) }) {
		return ""
	}
	return answer.Version
}
