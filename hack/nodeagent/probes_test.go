package nodeagent

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestTallyReportsAtTheThreshold(t *testing.T) {
	probe := &corev1.Probe{SuccessThreshold: 2, FailureThreshold: 3}
	var got strings.Builder
	var count tally
	for _, outcome := range "ooxxoxxxxoo" { // o is a success
		if count.add(outcome == 'o', probe) {
			got.WriteRune(outcome)
		} else {
			got.WriteRune('.')
		}
	}
	if want := ".o.....xx.o"; got.String() != want {
		t.Errorf("got %s, want %s", got.String(), want)
	}
}

func TestProbeAsksTheNamedPortOverHTTPS(t *testing.T) {
	var status atomic.Int32
	status.Store(http.StatusOK)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" || r.URL.RawQuery != "full=1" || r.Header.Get("X-Probe") != "yes" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(int(status.Load()))
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	to := target{ip: u.Hostname(), container: &corev1.Container{Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: int32(port)}}}}
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Scheme: corev1.URISchemeHTTPS, Path: "/healthz?full=1", Port: intstr.FromString("web"),
		HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Probe", Value: "yes"}},
	}}}
	for code, healthy := range map[int32]bool{200: true, 302: true, 404: false, 503: false} {
		status.Store(code)
		if err := to.ask(context.Background(), probe); (err == nil) != healthy {
			t.Errorf("status %d: %v", code, err)
		}
	}
	probe.ProbeHandler = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(int32(port))}}
	if err := to.ask(context.Background(), probe); err != nil {
		t.Errorf("tcpSocket: %v", err)
	}
	server.Close()
	if err := to.ask(context.Background(), probe); err == nil {
		t.Error("tcpSocket: a closed port is healthy")
	}
}
