package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
)

// podRange holds the simulated pods' addresses. On Linux all of 127.0.0.0/8 is local without further set-up.
var podRange = netip.MustParsePrefix("127.78.0.0/16")

// ceilingNamespace holds the objects that only measure the API server. Nothing runs there.
const ceilingNamespace = "ceiling"

// pods are the simulated pods of all endpoints, one for each: one watch follows all Configs, one HTTP server answers at
// each pod's own address.
type pods struct {
	core   kubernetes.Interface
	server *http.Server
	// decoding are the pods that have a Secret to read.
	decoding chan *pod

	mu         sync.Mutex
	next       netip.Addr
	byAddress  map[string]*pod
	byEndpoint map[types.NamespacedName]*pod
	// configWrites and configBytes are how often the Configs were written, and how much.
	configWrites, configBytes int64
}

// pod answers /status as a server does: it applies each Config as it comes.
type pod struct {
	mu      sync.Mutex
	queued  bool
	pending []seenSecret
	config  podConfig
	serial  string
	count   int
	news    chan struct{}
	waiters []podWaiter
}

type seenSecret struct {
	secret  *corev1.Secret
	deleted bool
}

// podWaiter waits until the pod lets a token in, or refuses it.
type podWaiter struct {
	namespace, token string
	lets             bool
	done             chan time.Time
}

func runPods(ctx context.Context, core kubernetes.Interface) (*pods, error) {
	p := &pods{
		core: core, decoding: make(chan *pod, 1<<16), next: podRange.Addr().Next(),
		byAddress: map[string]*pod{}, byEndpoint: map[types.NamespacedName]*pod{},
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: 10 * time.Second}
	for range 2 {
		go p.decode(ctx)
	}
	now, err := core.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}) // its version is the whole server's
	if err != nil {
		return nil, err
	}
	if err := follow(ctx, core.CoreV1().Secrets(""), now.ResourceVersion, configSelector, p.hear); err != nil {
		return nil, err
	}
	return p, p.followDeployments(ctx, now.ResourceVersion)
}

func (p *pods) stop() { _ = p.server.Close() }

// of is the pod of an endpoint, which may not run yet.
func (p *pods) of(endpoint types.NamespacedName) *pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.byEndpoint[endpoint]
	if found == nil {
		found = &pod{serial: rand.Text(), news: make(chan struct{})}
		p.byEndpoint[endpoint] = found
	}
	return found
}

// listen gives an endpoint's pod an address at which it answers.
func (p *pods) listen(of *pod) (netip.Addr, error) {
	for {
		p.mu.Lock()
		address := p.next
		p.next = address.Next()
		p.mu.Unlock()
		if !podRange.Contains(address) {
			return address, errors.New("no free address in " + podRange.String())
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(address.String(), observe.AdminPort))
		if err != nil {
			continue // another program has it
		}
		p.mu.Lock()
		p.byAddress[listener.Addr().String()] = of
		p.mu.Unlock()
		go func() { _ = p.server.Serve(listener) }() // it ends with the server
		return address, nil
	}
}

// hear gives a pod a Secret of its Config. Readers take only the newest of each name.
func (p *pods) hear(secret *corev1.Secret, deleted bool) {
	if secret.Namespace == ceilingNamespace {
		return
	}
	size := int64(0)
	for _, value := range secret.Data {
		size += int64(len(value))
	}
	p.mu.Lock()
	p.configWrites++
	p.configBytes += size
	p.mu.Unlock()

	of := p.of(endpointOf(secret.Namespace, secret.Labels))
	of.mu.Lock()
	defer of.mu.Unlock()
	of.pending = slices.DeleteFunc(of.pending, func(s seenSecret) bool { return s.secret.Name == secret.Name })
	of.pending = append(of.pending, seenSecret{secret, deleted})
	if !of.queued {
		of.queued = true
		p.decoding <- of
	}
}

// written is how often the Configs were written, and how many bytes.
func (p *pods) written() (writes, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.configWrites, p.configBytes
}

func (p *pods) decode(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case of := <-p.decoding:
			of.apply()
		}
	}
}

// apply reads the Secrets that came until there are no more, and tells who waits. One at a time does that for a pod: of two,
// the slower would put back what the other has read.
func (p *pod) apply() {
	for {
		p.mu.Lock()
		pending, config := p.pending, p.config
		p.pending = nil
		p.queued = len(pending) > 0
		p.mu.Unlock()
		if len(pending) == 0 {
			return
		}
		for _, s := range pending { // without the lock: it may take long
			config.hear(s.secret, s.deleted)
		}
		p.applied(config)
	}
}

// applied takes a Config that was read, and tells who waits.
func (p *pod) applied(config podConfig) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config = config
	p.count++
	close(p.news)
	p.news = make(chan struct{})
	p.waiters = slices.DeleteFunc(p.waiters, func(w podWaiter) bool {
		if p.config.lets(w.namespace, w.token) != w.lets {
			return false
		}
		w.done <- now
		return true
	})
}

// await tells when the pod lets a token in, or refuses it. It must be called before the change that leads there.
func (p *pod) await(namespace, token string, lets bool) <-chan time.Time {
	w := podWaiter{namespace, token, lets, make(chan time.Time, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiters = append(p.waiters, w)
	return w.done
}

// answer is the status, the key that opens it, and a channel that is closed when there is another status.
func (p *pod) answer() (key string, status contract.Status, news <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	status = p.config.status()
	status.Serial = p.serial + "-" + strconv.Itoa(p.count)
	status.ModelsSerial = p.serial + "-" + status.ModelsSerial
	return p.config.statusKey(), status, p.news
}

// serve answers /status, as the contract says.
func (p *pods) serve(out http.ResponseWriter, r *http.Request) {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	p.mu.Lock()
	of := p.byAddress[fmt.Sprint(local)]
	p.mu.Unlock()
	if of == nil || r.URL.Path != "/status" {
		http.NotFound(out, r)
		return
	}
	wait, _ := time.ParseDuration(r.URL.Query().Get("wait"))
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for waiting := wait > 0; ; {
		key, status, news := of.answer()
		if key == "" || r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(out, "no", http.StatusUnauthorized)
			return
		}
		if status.Serial != r.URL.Query().Get("seen") || !waiting {
			if r.URL.Query().Get("models") == status.ModelsSerial {
				status.Models = nil
			}
			_ = json.NewEncoder(out).Encode(status) // an error means that the manager is gone
			return
		}
		select {
		case <-news:
		case <-timeout.C:
			waiting = false
		case <-r.Context().Done():
			return
		}
	}
}
