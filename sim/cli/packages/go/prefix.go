// Package forkcast tests that an agent keeps the prefix of its prompts, byte for byte.
//
//	sent := &forkcast.Capture{}
//	client := anthropic.NewClient(option.WithHTTPClient(&http.Client{Transport: sent}))
//	runTheAgent(client)
//	forkcast.AssertPrefix(t, sent.Requests())
//
// The program forkcast decides (FORKCAST_BIN, or the one on PATH); this package gives it the bodies and shows its report.
package forkcast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// AssertPrefix fails the test with the program's report if a request breaks the cached prefix of an earlier one. The
// requests are bodies in the order in which they were sent; options are further ones of `forkcast check`.
func AssertPrefix(t testing.TB, requests [][]byte, options ...string) {
	t.Helper()
	report(t, requests, append([]string{"--lock", "none"}, options...))
}

// AssertLocked is AssertPrefix, and the requests must also be those of testdata/NAME.lock, which FORKCAST_UPDATE=1 writes.
func AssertLocked(t testing.TB, name string, requests [][]byte, options ...string) {
	t.Helper()
	lock := filepath.Join("testdata", name+".lock")
	how := "--locked"
	if os.Getenv("FORKCAST_UPDATE") == "1" {
		how = "--update"
		if err := os.MkdirAll(filepath.Dir(lock), 0o777); err != nil {
			t.Fatal(err)
		}
	} else if _, err := os.Stat(lock); err != nil {
		t.Fatalf("no lock %s yet: FORKCAST_UPDATE=1 writes it", lock)
	}
	report(t, requests, append([]string{"--lock", lock, how}, options...))
}

func report(t testing.TB, requests [][]byte, options []string) {
	t.Helper()
	bodies := filepath.Join(t.TempDir(), "requests")
	if err := os.Mkdir(bodies, 0o777); err != nil {
		t.Fatal(err)
	}
	for number, body := range requests {
		if err := os.WriteFile(filepath.Join(bodies, fmt.Sprintf("%05d.json", number)), body, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program := os.Getenv("FORKCAST_BIN")
	if program == "" {
		program = "forkcast"
	}
	command := exec.Command(program, append([]string{"check", bodies, "--in-tests"}, options...)...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	found, err := command.Output()
	var ended *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &ended) && ended.ExitCode() == 1:
		t.Fatalf("%s", found)
	default:
		t.Fatalf("not checked: %v: %s", err, complaint.String())
	}
}

// Capture is a transport that keeps the bodies of all prompts that pass it, as sent, in order.
type Capture struct {
	// Base sends the requests; http.DefaultTransport if it is nil.
	Base http.RoundTripper

	lock     sync.Mutex
	requests [][]byte
}

// Requests are the bodies so far.
func (capture *Capture) Requests() [][]byte {
	capture.lock.Lock()
	defer capture.lock.Unlock()
	return append([][]byte(nil), capture.requests...)
}

// RoundTrip sends the request.
func (capture *Capture) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		if err := request.Body.Close(); err != nil {
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Body = io.NopCloser(bytes.NewReader(body))
		if isPrompt(body) {
			capture.lock.Lock()
			capture.requests = append(capture.requests, body)
			capture.lock.Unlock()
		}
	}
	base := capture.Base
	if base == nil {
		base = http.DefaultTransport
	}
	return base.RoundTrip(request)
}

func isPrompt(body []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return false
	}
	// Messages and chat completions, Responses, Gemini.
	for _, field := range []string{"messages", "input", "contents"} {
		if _, found := fields[field]; found {
			return true
		}
	}
	return false
}
