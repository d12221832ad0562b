package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
)

const (
	// adminTime is how long one answer of a pod's admin port may take.
	adminTime = 10 * time.Second
	// maxMetrics is the most that is read of a pod's metrics, in bytes. They are far shorter.
	maxMetrics = 8 << 20
)

// Metrics reads a server's pod's metrics, as Prometheus' text.
func (c *Cluster) Metrics(ctx context.Context, pod *corev1.Pod) ([]byte, error) {
	text, status, err := c.admin(ctx, pod, "/metrics", maxMetrics)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("pod %s answers %d", pod.Name, status)
	}
	return text, err
}

// admin reads a path of a server's pod's admin port, at most so many bytes, through a connection that is made as "kubectl port-forward"
// makes it: a NetworkPolicy does not stop it. It needs the right to create pods/portforward.
func (c *Cluster) admin(ctx context.Context, pod *corev1.Pod, path string, most int64) (text []byte, status int, err error) {
	port := int32(0)
	for _, container := range pod.Spec.Containers {
		for _, p := range container.Ports {
			if container.Name == ServerContainer && p.Name == "admin" {
				port = p.ContainerPort
			}
		}
	}
	if port == 0 {
		return nil, 0, fmt.Errorf("pod %s has no container %q with a port named admin", pod.Name, ServerContainer)
	}
	ctx, stop := context.WithTimeout(ctx, adminTime)
	defer stop()
	address, _, err := c.open(ctx, pod, port)
	if err != nil {
		return nil, 0, Explain(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(io.LimitReader(answer.Body, most))
	return text, answer.StatusCode, err
}

// ParseMetrics reads Prometheus' text. The families are by name.
func ParseMetrics(text []byte) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

// Label is a label of a metric; "" if it has none of that name.
func Label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
