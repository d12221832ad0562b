package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// addressAnnotation is where a test's pod says that its /status is.
const addressAnnotation = "test/address"

// fakeServer stands for a server's pod: a Pod object whose status it writes, and a real /status. It takes each Config
// as it comes, as the server does, unless it is frozen.
type fakeServer struct {
	pod  *corev1.Pod
	http *httptest.Server
	stop context.CancelFunc
	// stopped is closed when the pod ended.
	stopped <-chan struct{}

	mu     sync.Mutex
	key    string
	config *contract.Config
	status contract.Status
	serial int
	frozen bool
	// parts are the newest Secrets of the Config, by name; base is what their names begin with.
	parts map[string]contract.Part
	base  string
	// look is the newest request to look at the database, seen the newest answer that the manager says it has.
	look, seen string
	// tables says what the pod finds of a model, by its table; what is not there is served.
	tables map[string]contract.ModelStatus
	// used is the pod's report on the tokens' use.
	used contract.Usage
	// approvals are the calls that the pod holds back, in the order of their last changes; decisions are those of the newest parts.
	approvals []contract.Approval
	decisions map[string]contract.Decision
	// waiting is what those parts tell of calls that still wait.
	waiting map[string]contract.Decision
	news    chan struct{}
}

// runServer starts a pod of an endpoint, and makes the endpoint's Deployment say that it is available.
func (w *world) runServer(endpoint, name string) *fakeServer {
	s := &fakeServer{
		tables: map[string]contract.ModelStatus{}, parts: map[string]contract.Part{}, base: endpoint + "-mcp-config", news: make(chan struct{}),
	}
	s.status.Database = contract.DatabaseStatus{Reason: contract.ReasonConnected, Engine: "SQLite", Version: "3.50"}
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.stopped = stop, ctx.Done()
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	DeferCleanup(func() {
		s.stop()
		s.http.Close()
	})

	w.deploymentAvailable(endpoint)
	s.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w.replicaSet(endpoint), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
			Labels:          map[string]string{"mcpadmin.dev/endpoint": endpoint, "mcpadmin.dev/component": "server"},
			Annotations:     map[string]string{addressAnnotation: strings.TrimPrefix(s.http.URL, "http://")},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "server:test"}}},
	}
	Expect(k8s.Create(ctx, s.pod)).To(Succeed())
	s.pod.Status.PodIP = "10.0.0.1"
	s.setReady(true)
	secrets, err := k8s.Watch(ctx, &corev1.SecretList{}, client.InNamespace(w.namespace))
	Expect(err).NotTo(HaveOccurred())
	go s.follow(secrets)
	return s
}

// replicaSet is the ReplicaSet that the Deployment's controller would make.
func (w *world) replicaSet(endpoint string) *appsv1.ReplicaSet {
	GinkgoHelper()
	d := &appsv1.Deployment{ObjectMeta: w.meta(endpoint + "-mcp")}
	Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(d), d)).To(Succeed())
	rs := &appsv1.ReplicaSet{ObjectMeta: w.meta(endpoint + "-mcp-" + string(d.UID[:8]))}
	rs.Labels = d.Spec.Template.Labels
	rs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	rs.Spec.Selector, rs.Spec.Template = d.Spec.Selector, d.Spec.Template
	if err := k8s.Create(context.Background(), rs); apierrors.IsAlreadyExists(err) {
		Expect(k8s.Get(context.Background(), client.ObjectKeyFromObject(rs), rs)).To(Succeed())
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	return rs
}

// runTwo starts two pods of an endpoint, and waits until the manager has heard of both: one that it has not heard of holds
// everything up.
func (w *world) runTwo(endpoint string) (first, second *fakeServer) {
	GinkgoHelper()
	first, second = w.runServer(endpoint, endpoint+"-0"), w.runServer(endpoint, endpoint+"-1")
	Eventually(first.heard).Should(BeTrue())
	Eventually(second.heard).Should(BeTrue())
	return first, second
}

func (s *fakeServer) setReady(ready bool) {
	GinkgoHelper()
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	s.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	Expect(k8s.Status().Update(context.Background(), s.pod)).To(Succeed())
}

// follow applies each new part of the Config.
func (s *fakeServer) follow(secrets watch.Interface) {
	defer secrets.Stop()
	for {
		select {
		case event, open := <-secrets.ResultChan():
			if !open {
				return
			}
			if secret, is := event.Object.(*corev1.Secret); is && strings.HasPrefix(secret.Name, s.base) {
				s.hear(secret, event.Type == watch.Deleted)
			}
		case <-s.stopped:
			return
		}
	}
}

func (s *fakeServer) hear(secret *corev1.Secret, deleted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[secret.Name] = secret.Data
	if deleted {
		delete(s.parts, secret.Name)
	}
	s.take()
}

// take applies the Config, as far as it is there, unless the pod is frozen. The caller holds the lock.
func (s *fakeServer) take() {
	main := s.parts[contract.MainSecret(s.base)]
	if main == nil || s.frozen {
		return
	}
	config, err := contract.DecodeMain(main)
	if err != nil {
		if s.status.Refused == nil {
			s.status.Refused = &contract.Refusal{Message: err.Error()}
			s.changed()
		}
		return
	}
	revisions := make([]int64, config.Layout.Parts)
	s.decisions, s.waiting = map[string]contract.Decision{}, map[string]contract.Decision{}
	for i := range revisions {
		tokens, err := contract.DecodeTokens(s.parts[contract.TokensSecret(s.base, i)], i)
		if err != nil {
			continue
		}
		revisions[i] = tokens.Revision
		for _, d := range tokens.Decisions {
			s.decisions[d.Name] = d
		}
		for _, d := range tokens.Waiting {
			s.waiting[d.Name] = d
		}
		for _, t := range tokens.Tokens {
			if contract.PartOf(t.Namespace, t.Name, config.Layout.Parts) == i {
				config.Tokens = append(config.Tokens, t)
			}
		}
	}
	if s.config == nil || s.config.Revision != config.Revision || !slices.Equal(s.status.TokenParts, revisions) {
		s.config, s.key = config, config.Endpoint.StatusKey
		s.status.TokenParts = revisions
		s.report()
	}
}

// report makes the status what the config and the tables say. The caller holds the lock.
func (s *fakeServer) report() {
	s.status.Version, s.status.Revision, s.status.Refused, s.status.Ready, s.status.Models = contract.Version, s.config.Revision, nil, true, nil
	for _, m := range s.config.Models {
		found, ok := s.tables[m.Table]
		if !ok {
			found = contract.ModelStatus{
				Reason: contract.ReasonServed, Table: m.Table, Columns: []string{"id", "name"}, Key: []string{"id"},
				Tools: []string{"list_" + m.Name, "get_" + m.Name},
			}
		}
		found.Exposure, found.UID, found.Name = m.Exposure, m.UID, m.Name
		s.status.Models = append(s.status.Models, found)
	}
	s.changed()
}

// change lets a case change what the pod says.
func (s *fakeServer) change(f func(*fakeServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
	s.take()
	if s.config != nil && !s.frozen {
		s.report()
	}
	s.changed()
}

func (s *fakeServer) changed() {
	s.serial++
	s.status.Serial = fmt.Sprintf("%s-%d", s.pod.Name, s.serial)
	close(s.news)
	s.news = make(chan struct{})
}

// lets reports whether the pod would answer somebody who shows that token.
func (s *fakeServer) lets(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config != nil && slices.ContainsFunc(s.config.Tokens, func(t contract.Token) bool {
		return slices.Contains(t.Hashes, contract.HashToken(text))
	})
}

func (s *fakeServer) applied() *contract.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// serve answers /status as the contract says, and agents by their token alone.
func (s *fakeServer) serve(out http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/mcp/" {
		if !s.lets(strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")) {
			http.Error(out, "no", http.StatusUnauthorized)
		}
		return
	}
	wait, _ := time.ParseDuration(request.URL.Query().Get("wait"))
	timeout := time.After(wait)
	for {
		s.mu.Lock()
		authorised := s.key != "" && request.Header.Get("Authorization") == "Bearer "+s.key
		s.look = request.URL.Query().Get("look")
		status, news, used := s.status, s.news, s.used
		if authorised && request.URL.Path == "/approvals" {
			page := s.approvalPage(request.URL.Query().Get("after"))
			s.mu.Unlock()
			_ = json.NewEncoder(out).Encode(page)
			return
		}
		if authorised && request.URL.Path != "/usage" {
			s.seen = request.URL.Query().Get("seen")
		}
		s.mu.Unlock()
		if !authorised {
			http.Error(out, "no", http.StatusUnauthorized)
			return
		}
		if request.URL.Path == "/usage" {
			_ = json.NewEncoder(out).Encode(used)
			return
		}
		if status.Serial != request.URL.Query().Get("seen") {
			_ = json.NewEncoder(out).Encode(status)
			return
		}
		select {
		case <-news:
		case <-timeout:
			_ = json.NewEncoder(out).Encode(status)
			return
		case <-request.Context().Done():
			return
		case <-s.stopped:
			http.Error(out, "ended", http.StatusServiceUnavailable)
			return
		}
	}
}

// heard reports whether the manager has what the pod reports.
func (s *fakeServer) heard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen != ""
}

// asked is the newest request to look at the database.
func (s *fakeServer) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.look
}
