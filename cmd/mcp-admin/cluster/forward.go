package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// podCheck is how often a forward looks whether its pod is still Ready.
	podCheck = 2 * time.Second
	// podRetry is how long a forward waits before it looks for a pod again.
	podRetry = time.Second
	// connectionWait is how long a connection waits for a pod.
	connectionWait = 30 * time.Second
	// firstAttempts is how often a forward that never worked is tried.
	firstAttempts = 3
)

// Forward is a local port that leads to a Ready pod of an endpoint's server: to another one if that pod goes. A connection
// that comes in between waits.
type Forward struct {
	cluster  *Cluster
	endpoint client.ObjectKey
	listener net.Listener
	// tell says what happens, in one line each.
	tell func(string)

	mu sync.Mutex
	// pod is the local address that leads to the present pod; "" while there is none. changed is closed when that changes.
	pod     string
	changed chan struct{}
	// failed is why the forward was given up.
	failed error
}

// Forward opens a local port for an endpoint. It is closed when the context ends. It returns once the port leads somewhere.
func (c *Cluster) Forward(ctx context.Context, endpoint client.ObjectKey, address string, tell func(string)) (*Forward, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the local port cannot be opened: %w; name another one with --port-forward=PORT", err)
	}
	f := &Forward{cluster: c, endpoint: endpoint, listener: listener, tell: tell, changed: make(chan struct{})}
	context.AfterFunc(ctx, func() { _ = listener.Close() }) // it ends accept
	go f.keep(ctx)
	go f.accept(ctx)
	if _, err := f.wait(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// Addr is the local address.
func (f *Forward) Addr() string { return f.listener.Addr().String() }

// keep holds a way to one pod after another open until the context ends.
func (f *Forward) keep(ctx context.Context) {
	before, worked, waiting := "", false, false
	for attempt := 1; ctx.Err() == nil; attempt++ {
		pods, err := f.cluster.Pods(ctx, f.endpoint)
		pod := choosePod(pods, before)
		switch {
		case err == nil && pod == nil && len(pods) == 0:
			err = fmt.Errorf("MCPEndpoint %s has no pods", f.endpoint)
		case err == nil && pod == nil:
			err = fmt.Errorf("none of the %d pods of MCPEndpoint %s is Ready", len(pods), f.endpoint)
		case err == nil:
			err = f.through(ctx, pod, func() {
				worked, waiting, before = true, false, string(pod.UID)
				f.tell("connected to pod " + pod.Name)
			})
		}
		switch {
		case ctx.Err() != nil:
			return
		case !worked && attempt == firstAttempts:
			f.giveUp(fmt.Errorf("%w; \"mcp-admin doctor %s -n %s\" says what is wrong", err, f.endpoint.Name, f.endpoint.Namespace))
			return
		case err != nil && worked && !waiting:
			waiting = true
			f.tell(err.Error() + "; looking for another pod")
		}
		pause(ctx, podRetry)
	}
}

// through leads to one pod until it goes. It calls connected when the way is open.
func (f *Forward) through(ctx context.Context, pod *corev1.Pod, connected func()) error {
	_, port, err := agentPort(pod)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	address, ended, err := f.cluster.open(ctx, pod, port)
	if err != nil {
		return err
	}
	f.set(address)
	defer f.set("")
	connected()
	gone := make(chan struct{})
	go func() {
		f.watch(ctx, pod)
		close(gone)
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("pod %s: %w", pod.Name, err)
	case <-gone:
		return fmt.Errorf("pod %s is not Ready any more", pod.Name)
	}
}

// open leads a local address to a port of a pod, until the context ends or the connection does: ended says why.
func (c *Cluster) open(ctx context.Context, pod *corev1.Pod, port int32) (address string, ended <-chan error, err error) {
	dialer, err := c.dialer(pod)
	if err != nil {
		return "", nil, err
	}
	ready := make(chan struct{})
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(ctx, dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, ready, io.Discard, io.Discard)
	if err != nil {
		return "", nil, err
	}
	over := make(chan error, 1)
	go func() { over <- forwarder.ForwardPorts() }()
	select {
	case err := <-over:
		return "", nil, fmt.Errorf("pod %s: %w", pod.Name, err)
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0].Local), over, nil
}

// watch returns when the pod is not Ready any more, or the context ends. What cannot be asked counts for nothing.
func (f *Forward) watch(ctx context.Context, pod *corev1.Pod) {
	for pause(ctx, podCheck) {
		pods, err := f.cluster.Pods(ctx, f.endpoint)
		if now := choosePod(pods, string(pod.UID)); err == nil && (now == nil || now.UID != pod.UID) {
			return
		}
	}
}

func (f *Forward) set(pod string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pod = pod
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *Forward) giveUp(why error) {
	f.mu.Lock()
	f.failed = why
	f.mu.Unlock()
	f.set("")
}

// wait is the address that leads to a pod, once there is one.
func (f *Forward) wait(ctx context.Context) (string, error) {
	for {
		f.mu.Lock()
		pod, changed, failed := f.pod, f.changed, f.failed
		f.mu.Unlock()
		if pod != "" || failed != nil {
			return pod, failed
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		}
	}
}

func (f *Forward) accept(ctx context.Context) {
	for {
		connection, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go f.serve(ctx, connection)
		}
	}
}

// serve copies what a connection says to the pod, and back.
func (f *Forward) serve(ctx context.Context, from net.Conn) {
	defer from.Close()
	waiting, stop := context.WithTimeout(ctx, connectionWait)
	defer stop()
	pod, err := f.wait(waiting)
	if err != nil {
		return
	}
	to, err := new(net.Dialer).DialContext(ctx, "tcp", pod)
	if err != nil {
		return
	}
	defer to.Close()
	defer context.AfterFunc(ctx, func() { _ = from.Close() })()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(to, from) // it ends with the connection
		_ = to.(*net.TCPConn).CloseWrite()
		close(done)
	}()
	_, _ = io.Copy(from, to)
	_ = from.(*net.TCPConn).CloseWrite()
	<-done
}

// dialer connects to a pod's ports as kubectl does: over a WebSocket, or over SPDY if the API server is too old for that.
func (c *Cluster) dialer(pod *corev1.Pod) (httpstream.Dialer, error) {
	url := c.Core.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(c.Config)
	if err != nil {
		return nil, err
	}
	overSPDY := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	overWebSocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, c.Config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(overWebSocket, overSPDY, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// pause waits, and reports whether the context still lives.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// DialContext connects to a pod of the endpoint, whatever the address: a client that dials by it calls the endpoint by its
// own URL.
func (f *Forward) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, f.Addr())
}
