package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// containerLog has a pod's audit lines by container.
type containerLog struct {
	// previous is the first line of the container before the present one, present the first of this one.
	previous, present int
	// restarts is how many containers there were before.
	restarts int
	// waits reports whether the next container has not started yet.
	waits bool
}

func (p *serverPod) log() containerLog {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	return p.container
}

// endContainer ends the container: its log ends, and the server continues and writes what nobody has read yet.
func (p *serverPod) endContainer() {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.container.waits = true
}

// startContainer starts the next one. The pod's status does not show it until showRestart.
func (p *serverPod) startContainer() {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.container = containerLog{previous: p.container.present, present: len(p.audit.Lines("")), restarts: p.container.restarts + 1}
}

func (p *serverPod) showRestart() {
	p.world.t.Helper()
	p.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", Image: "server:test", Ready: true, RestartCount: int32(p.log().restarts)}}
	p.world.check(p.world.k8s.Status().Update(context.Background(), p.pod))
}

// logs answers as a kubelet does, with the audit lines of the pod's container, each with its time in front, and follows the
// log if asked to.
func (w *world) logs(out http.ResponseWriter, r *http.Request) {
	timed := r.URL.Query().Get("timestamps") == "true"
	if timed && w.untimed.Load() {
		http.Error(out, "timestamps: this node does not know when a line was written", http.StatusBadRequest)
		return
	}
	p := w.serverPod(r.PathValue("pod"))
	since, _ := time.Parse(time.RFC3339, r.URL.Query().Get("sinceTime"))
	at := p.log()
	tell := func(lines []string) {
		for _, line := range lines {
			written, _, _ := strings.Cut(strings.TrimPrefix(line, `{"time":"`), `"`)
			if stamp, err := time.Parse(time.RFC3339Nano, written); err == nil && !stamp.Before(since) {
				if timed {
					line = written + " " + line
				}
				fmt.Fprintln(out, line)
			}
		}
		_ = http.NewResponseController(out).Flush()
	}
	switch {
	case r.URL.Query().Get("previous") == "true":
		tell(p.audit.Lines("")[at.previous:at.present])
		return
	case at.waits:
		http.Error(out, "the container is waiting to start", http.StatusBadRequest)
		return
	}
	for told := at.present; p.log() == at; time.Sleep(20 * time.Millisecond) {
		lines := p.audit.Lines("")
		tell(lines[told:])
		told = len(lines)
		if r.URL.Query().Get("follow") != "true" || p.ended.Err() != nil || r.Context().Err() != nil {
			return
		}
	}
}
