package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTheStartWaitsForAnAPIServerThatDoesNotAnswer(t *testing.T) {
	wrong := errors.New("the kind is not installed")
	away := []error{
		&url.Error{Op: "Get", URL: "https://10.0.0.1/openapi/v3", Err: io.EOF},
		apierrors.NewServiceUnavailable("etcd is away"), apierrors.NewInternalError(io.EOF), apierrors.NewTooManyRequestsError("later"),
		errors.Join(wrong, context.DeadlineExceeded),
	}
	asked := 0
	err := untilRight(t.Context(), time.Nanosecond, time.Nanosecond, func(context.Context) error {
		if asked++; asked <= 100 {
			return away[asked%len(away)]
		}
		return wrong
	})
	if !errors.Is(err, wrong) || asked < 102 {
		t.Errorf("%v after %d looks", err, asked)
	}
	// What was wrong before the API server went away counts from anew.
	asked = 0
	err = untilRight(t.Context(), time.Hour, time.Nanosecond, func(context.Context) error {
		switch asked++; {
		case asked < 10:
			return wrong
		case asked < 20:
			return away[0]
		}
		return nil
	})
	if err != nil || asked != 20 {
		t.Errorf("%v after %d looks", err, asked)
	}
	for _, answered := range []error{
		wrong, apierrors.NewForbidden(apischema.GroupResource{Resource: "secrets"}, "x", wrong), apierrors.NewNotFound(apischema.GroupResource{Resource: "secrets"}, "x"),
	} {
		if unreachable(answered) {
			t.Errorf("%v is taken for an API server that does not answer", answered)
		}
	}
}

func TestTheKubeletIsAnsweredWhileTheManagerWaits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	end, err := answerProbes(address)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		answer, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
	end()
	l, err = net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the manager cannot listen there afterwards: %v", err)
	}
	l.Close()
	for _, none := range []string{"", "0"} {
		if end, err := answerProbes(none); err != nil {
			t.Error(err)
		} else {
			end()
		}
	}
}
