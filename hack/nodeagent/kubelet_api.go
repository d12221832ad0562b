package nodeagent

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"
)

// serveKubeletAPI answers the requests that the API server makes to a kubelet, for "kubectl logs", "kubectl port-forward" and
// "kubectl exec", on a free port of this machine, and returns the port. The configuration decides who may ask.
func (a *Agent) serveKubeletAPI(config *tls.Config) (port int, err error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(hostIP, "0"))
	if err != nil {
		return 0, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", a.containerLogs)
	mux.HandleFunc("/portForward/{namespace}/{pod}", a.portForward)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", a.exec)
	a.kubeletAPI = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	a.running.Go(func() {
		if err := a.kubeletAPI.Serve(tls.NewListener(listener, config)); !errors.Is(err, http.ErrServerClosed) {
			a.logf("the kubelet's API: %v", err)
		}
	})
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func (a *Agent) stopKubeletAPI() {
	if a.kubeletAPI != nil {
		_ = a.kubeletAPI.Close()
	}
}

// workerOf returns the worker of a pod of this node, or nil.
func (a *Agent) workerOf(namespace, pod string) *worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.workers {
		if w.namespace == namespace && w.name == pod {
			return w
		}
	}
	return nil
}

// container returns a container of a pod of this node, or nil.
func (a *Agent) container(namespace, pod, name string) *container {
	w := a.workerOf(namespace, pod)
	if w == nil {
		return nil
	}
	for _, c := range append(append([]*container{}, w.inits...), w.mains...) {
		if c.spec.Name == name {
			return c
		}
	}
	return nil
}
