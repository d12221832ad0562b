package nodeagent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// impatience is how often a program that has never answered is asked. After a first failure the kubelet waits a whole
// period, often ten seconds for a program that starts in ten milliseconds. Failures in between are not counted, so
// thresholds keep their meaning.
const impatience = 200 * time.Millisecond

// target is the address of a container's probes and hooks.
type target struct {
	ip        string
	container *corev1.Container
}

// runProbe asks until the context ends or report returns false. It reports an outcome each time that it was the same as
// often as the probe's threshold says.
func runProbe(ctx context.Context, t target, probe *corev1.Probe, impatient bool, report func(ok bool, why error) bool) {
	if !sleep(ctx, time.Duration(probe.InitialDelaySeconds)*time.Second) {
		return
	}
	period := time.Duration(max(1, probe.PeriodSeconds)) * time.Second
	var count tally
	due := time.Now()
	for answered := false; ; {
		err := t.ask(ctx, probe)
		if ctx.Err() != nil {
			return
		}
		counted := !time.Now().Before(due)
		if counted {
			due = time.Now().Add(period)
		}
		answered = answered || err == nil
		if (err == nil || counted) && count.add(err == nil, probe) && !report(err == nil, err) {
			return
		}
		wait := time.Until(due)
		if impatient && !answered {
			wait = min(wait, impatience)
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}

// tally counts equal outcomes in a row.
type tally struct {
	ok   bool
	runs int32
}

// add reports whether the outcome has reached its threshold.
func (t *tally) add(ok bool, probe *corev1.Probe) bool {
	if ok != t.ok {
		t.ok, t.runs = ok, 0
	}
	t.runs++
	if ok {
		return t.runs >= probe.SuccessThreshold
	}
	return t.runs >= probe.FailureThreshold
}

func (t target) ask(ctx context.Context, probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(1, probe.TimeoutSeconds))*time.Second)
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return t.get(ctx, probe.HTTPGet)
	case probe.TCPSocket != nil:
		address, err := t.address(probe.TCPSocket.Host, probe.TCPSocket.Port)
		if err != nil {
			return err
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	return errors.New("the node agent knows httpGet and tcpSocket only")
}

// probeClient makes a connection per request, like the kubelet: an answer over an old connection says little. It
// follows no redirects: a redirect is an answer.
var probeClient = &http.Client{
	Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as probes are documented
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (t target) get(ctx context.Context, action *corev1.HTTPGetAction) error {
	address, err := t.address(action.Host, action.Port)
	if err != nil {
		return err
	}
	path, query, _ := strings.Cut(action.Path, "?")
	u := url.URL{Scheme: strings.ToLower(string(action.Scheme)), Host: address, Path: path, RawQuery: query}
	if u.Scheme == "" {
		u.Scheme = "http"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "kube-probe/nodeagent")
	for _, header := range action.HTTPHeaders {
		if http.CanonicalHeaderKey(header.Name) == "Host" {
			request.Host = header.Value
			continue
		}
		request.Header.Add(header.Name, header.Value)
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("HTTP status %d", response.StatusCode)
	}
	return nil
}

// address resolves a port by number or by its name in the container.
func (t target) address(host string, port intstr.IntOrString) (string, error) {
	if host == "" {
		host = t.ip
	}
	if port.Type == intstr.Int {
		return net.JoinHostPort(host, strconv.Itoa(port.IntValue())), nil
	}
	for _, p := range t.container.Ports {
		if p.Name == port.StrVal {
			return net.JoinHostPort(host, strconv.Itoa(int(p.ContainerPort))), nil
		}
	}
	return "", fmt.Errorf("container %s has no port named %s", t.container.Name, port.StrVal)
}

// runHook runs a preStop hook. As in Kubernetes, its outcome only goes to the log.
func (t target) runHook(ctx context.Context, hook *corev1.LifecycleHandler) error {
	switch {
	case hook.Sleep != nil:
		sleep(ctx, time.Duration(hook.Sleep.Seconds)*time.Second)
		return nil
	case hook.HTTPGet != nil:
		return t.get(ctx, hook.HTTPGet)
	}
	return errors.New("the node agent knows the hooks sleep and httpGet only")
}

// sleep waits and reports whether the context is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
