package nodeagent

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// forward replaces kube-proxy and EndpointSlices, which refuse loopback addresses, in this cluster. It is a local
// address whose connections go to a Service's ready pods in turn.
type forward struct {
	agent           *Agent
	namespace, name string
	port            string // by number or name
	listener        net.Listener
	turn            atomic.Uint64
}

// Forward listens on a local address, "127.0.0.1:8080", and forwards each connection to a ready pod of a Service,
// "namespace/service:port", with the port by number or by name. The Service need not exist yet. It returns the address,
// with the port that was chosen if it was 0.
func (a *Agent) Forward(service, address string) (net.Addr, error) {
	namespace, rest, ok := strings.Cut(service, "/")
	name, port, okPort := strings.Cut(rest, ":")
	if !ok || !okPort || namespace == "" || name == "" || port == "" {
		return nil, fmt.Errorf("forward %q: want namespace/service:port", service)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return nil, fmt.Errorf("forward %s: the agent has stopped", service)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("forward %s: %w", service, err)
	}
	f := &forward{agent: a, namespace: namespace, name: name, port: port, listener: listener}
	a.forwards[listener.Addr().String()] = f
	a.running.Go(f.serve)
	return listener.Addr(), nil
}

func (f *forward) close() { _ = f.listener.Close() }

func (f *forward) serve() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			if f.agent.ctx.Err() != nil {
				return
			}
			select { // too many open files, for example
			case <-f.agent.ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		go f.handle(conn)
	}
}

// handle connects to the next ready pod, or to another if that one refuses. If there is none, it closes the connection.
func (f *forward) handle(client net.Conn) {
	defer client.Close()
	stop := context.AfterFunc(f.agent.ctx, func() { _ = client.Close() })
	defer stop()
	targets := f.targets()
	start := f.turn.Add(1)
	for i := range targets {
		dialer := net.Dialer{Timeout: time.Second}
		server, err := dialer.DialContext(f.agent.ctx, "tcp", targets[(start+uint64(i))%uint64(len(targets))])
		if err != nil {
			continue
		}
		defer server.Close()
		join(client, server)
		return
	}
	f.agent.logf("forward %s/%s:%s: no ready pod takes connections", f.namespace, f.name, f.port)
}

// join copies both ways and passes on the end of each.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			if _, err := io.Copy(pair[0], pair[1]); err != nil {
				_ = a.Close()
				_ = b.Close()
				return
			}
			if half, ok := pair[0].(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
		})
	}
	both.Wait()
}

// targets returns the addresses of the Service's ready pods, oldest first. It makes no request, so connections go on
// while the API server is away.
func (f *forward) targets() []string {
	service, ok := f.agent.services.get(f.namespace, f.name)
	if !ok || len(service.Spec.Selector) == 0 {
		return nil
	}
	var port *corev1.ServicePort
	for i, p := range service.Spec.Ports {
		if p.Name == f.port || strconv.Itoa(int(p.Port)) == f.port {
			port = &service.Spec.Ports[i]
		}
	}
	if port == nil {
		return nil
	}
	f.agent.mu.Lock()
	var workers []*worker
	for _, w := range f.agent.workers {
		workers = append(workers, w)
	}
	f.agent.mu.Unlock()
	slices.SortFunc(workers, func(a, b *worker) int { return cmp.Or(a.born.Compare(b.born), cmp.Compare(a.uid, b.uid)) })
	selector := labels.SelectorFromSet(service.Spec.Selector)
	var targets []string
	for _, w := range workers {
		pod := w.current()
		if w.namespace != f.namespace || !selector.Matches(labels.Set(pod.Labels)) || !w.isReady() {
			continue
		}
		if number := podPort(pod, port); number > 0 {
			targets = append(targets, net.JoinHostPort(w.address(), strconv.Itoa(number)))
		}
	}
	return targets
}

// podPort resolves a Service's target port in a pod, or returns 0.
func podPort(pod *corev1.Pod, port *corev1.ServicePort) int {
	if port.TargetPort.Type == intstr.Int {
		if number := port.TargetPort.IntValue(); number != 0 {
			return number
		}
		return int(port.Port)
	}
	for _, c := range allContainers(pod) {
		for _, p := range c.Ports {
			if p.Name == port.TargetPort.StrVal {
				return int(p.ContainerPort)
			}
		}
	}
	return 0
}

// services knows the Services of the cluster by name.
type services struct {
	mu    sync.Mutex
	known map[string]*corev1.Service
}

func newServices() *services { return &services{known: map[string]*corev1.Service{}} }

func (s *services) set(service *corev1.Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[service.Namespace+"/"+service.Name] = service
}

func (s *services) remove(service *corev1.Service) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, service.Namespace+"/"+service.Name)
}

func (s *services) get(namespace, name string) (*corev1.Service, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	service, ok := s.known[namespace+"/"+name]
	return service, ok
}
