package controllers_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// patientClient is a client for polling. Whoever reads an object for the third time, and found the same version twice, waits
// until something happened to it, or for the breath. Each answer comes from the API server at that moment.
//
// A poll costs the API server, etcd and the test some milliseconds of processor time, and there are hundreds each second.
type patientClient struct {
	client.WithWatch

	mu      sync.Mutex
	objects map[objectKey]*heardObject
}

// breath is how long a read waits at most for what happens to an object: no watch tells of some kinds.
const breath = 100 * time.Millisecond

type objectKey struct {
	schema.GroupKind
	client.ObjectKey
}

// heardObject is what is known of an object.
type heardObject struct {
	// answer is the version that was read last, or the error; times is how often it was read in a row, the last time at.
	answer string
	times  int
	at     time.Time
	// latest is the version that a watch told last, "" if it was deleted. The channel is closed when a watch tells of it.
	latest string
	news   chan struct{}
}

// watchedByPatience are the kinds that cases mostly wait for.
var watchedByPatience = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Secret"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "mcpadmin.dev", Version: "v1alpha1", Kind: "MCPEndpoint"},
	{Group: "mcpadmin.dev", Version: "v1alpha1", Kind: "MCPModelExposure"},
	{Group: "mcpadmin.dev", Version: "v1alpha1", Kind: "MCPToken"},
}

func newPatientClient(api client.WithWatch) *patientClient {
	GinkgoHelper()
	c := &patientClient{WithWatch: api, objects: map[objectKey]*heardObject{}}
	for _, kind := range watchedByPatience {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		events, err := api.Watch(context.Background(), list)
		Expect(err).NotTo(HaveOccurred())
		go c.hear(kind.GroupKind(), events)
	}
	return c
}

func (c *patientClient) hear(kind schema.GroupKind, events watch.Interface) {
	for event := range events.ResultChan() {
		o, is := event.Object.(*metav1.PartialObjectMetadata)
		if !is {
			continue
		}
		c.mu.Lock()
		heard := c.object(objectKey{kind, client.ObjectKeyFromObject(o)})
		if heard.latest = o.ResourceVersion; event.Type == watch.Deleted {
			heard.latest = ""
		}
		close(heard.news)
		heard.news = make(chan struct{})
		c.mu.Unlock()
	}
}

// object returns what is known of an object. The caller holds the lock.
func (c *patientClient) object(key objectKey) *heardObject {
	if c.objects[key] == nil {
		c.objects[key] = &heardObject{news: make(chan struct{})}
	}
	return c.objects[key]
}

// Get implements [client.Reader].
func (c *patientClient) Get(ctx context.Context, name client.ObjectKey, o client.Object, options ...client.GetOption) error {
	kind, err := apiutil.GVKForObject(o, c.Scheme())
	if err != nil {
		return err
	}
	key := objectKey{kind.GroupKind(), name}
	c.wait(key)
	err = c.WithWatch.Get(ctx, name, o, options...)
	c.note(key, o.GetResourceVersion(), err)
	return err
}

// wait ends when there may be something new about an object that was read twice with the same answer.
func (c *patientClient) wait(key objectKey) {
	c.mu.Lock()
	heard := c.object(key)
	news, left := heard.news, breath-time.Since(heard.at)
	there := heard.times < 2 || heard.latest != "" && heard.latest != heard.answer
	c.mu.Unlock()
	if there {
		return
	}
	select {
	case <-news:
	case <-time.After(left):
	}
}

func (c *patientClient) note(key objectKey, version string, err error) {
	answer := version
	if err != nil {
		answer = fmt.Sprint("error: ", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	heard := c.object(key)
	if heard.answer != answer {
		heard.answer, heard.times = answer, 0
	}
	heard.times++
	heard.at = time.Now()
}
