/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"bytes"
	"net/http"
	"strings"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
)

// readyzPath is the page on which the library names failed checks and withholds
// why they failed.
const readyzPath = "/readyz"

// openChecks are the readiness checks of this server whose reason everybody may
// read, because it says what an operator has to do and nothing of anybody's data.
func (e *ExtraConfig) openChecks() []healthz.HealthChecker {
	var checks []healthz.HealthChecker
	if e.Rights != nil {
		checks = append(checks, e.Rights)
	}
	if e.Registration != nil {
		checks = append(checks, e.Registration)
	}
	return checks
}

// buildChain is what makes the handler chain of a server.
type buildChain = func(http.Handler, *genericapiserver.Config) http.Handler

// explainReadyz makes a server say on /readyz why one of the given checks fails.
// The status, the other checks and the pages below /readyz stay the library's.
func explainReadyz(build buildChain, checks []healthz.HealthChecker) buildChain {
	return func(handler http.Handler, config *genericapiserver.Config) http.Handler {
		return build(withReasons(handler, checks), config)
	}
}

// withReasons is innermost in the chain, so it sees what the library has written
// before anything else touches it.
func withReasons(handler http.Handler, checks []healthz.HealthChecker) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != readyzPath || len(checks) == 0 {
			handler.ServeHTTP(w, r)
			return
		}
		page := &heldPage{ResponseWriter: w, status: http.StatusOK}
		handler.ServeHTTP(page, r)
		w.WriteHeader(page.status)
		body := page.body.Bytes()
		if page.status != http.StatusOK {
			body = giveReasons(body, r, checks)
		}
		// Nobody is told when the client has gone.
		_, _ = w.Write(body)
	})
}

// heldPage keeps an answer until it is complete.
type heldPage struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (p *heldPage) WriteHeader(status int) {
	p.status = status
}

// Write implements http.ResponseWriter.
func (p *heldPage) Write(b []byte) (int, error) {
	return p.body.Write(b)
}

// giveReasons puts the reasons of failed checks where they were withheld. A check
// that has recovered since it was asked keeps the library's words.
func giveReasons(body []byte, r *http.Request, checks []healthz.HealthChecker) []byte {
	for _, check := range checks {
		err := check.Check(r)
		if err == nil {
			continue
		}
		failed := "[-]" + check.Name() + " failed: "
		reason := strings.ReplaceAll(err.Error(), "\n", " ")
		body = bytes.Replace(body, []byte(failed+"reason withheld\n"), []byte(failed+reason+"\n"), 1)
	}
	return body
}
