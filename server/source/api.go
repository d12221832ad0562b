package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// InCluster returns how a pod reaches the API, from the folder of its service account and the variables that every pod
// has.
func InCluster(serviceAccountDir string) (*rest.Config, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod")
	}
	return &rest.Config{
		Host:            "https://" + net.JoinHostPort(host, port),
		BearerTokenFile: filepath.Join(serviceAccountDir, "token"), // the file is read again when the token is renewed
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(serviceAccountDir, "ca.crt")},
	}, nil
}

// newClient returns a client for Secrets alone: a typed client for all kinds would make up most of this small program.
func newClient(config *rest.Config) (rest.Interface, runtime.ParameterCodec, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath = "/api"
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.UserAgent = "mcp-admin-server"
	config.QPS = -1 // it sends few requests, and our own backoff paces them
	config.WarningHandler = rest.NoWarnings{}
	client, err := rest.RESTClientFor(config)
	return client, runtime.NewParameterCodec(scheme), err
}

// A secretWatch follows one Secret through the API. It lists and watches that one name only, because a Role with
// resourceNames allows no more.
type secretWatch struct {
	client     rest.Interface
	parameters runtime.ParameterCodec
	namespace  string
	name       string
	log        *slog.Logger
	// heard is called with what the API says; nil means that the Secret does not exist.
	heard func(Secret)
}

// The pauses between attempts to reach the API.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// run follows the Secret until ctx ends. After the API was away it lists again instead of resuming the watch, so that
// the first thing it reports is the present state.
func (w *secretWatch) run(ctx context.Context) {
	pause := firstPause
	away := false
	for ctx.Err() == nil {
		started := time.Now()
		err := w.follow(ctx, func() {
			if away {
				w.log.Info("The API answers again", "secret", w.name)
			}
			away = false
		})
		if ctx.Err() != nil {
			return
		}
		if time.Since(started) > 2*mostPause {
			pause = firstPause
		}
		if !isExpired(err) {
			if !away {
				w.log.Warn("The API does not answer for a Secret; what is known of it stays", "secret", w.name, "error", err)
			}
			away = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
		pause = min(2*pause, mostPause)
	}
}

// isExpired reports whether the watch must start anew, from a list.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// follow lists, then watches until the API fails, and returns how.
func (w *secretWatch) follow(ctx context.Context, answered func()) error {
	list, err := w.list(ctx)
	if err != nil {
		return err
	}
	answered()
	var now Secret
	for i := range list.Items {
		if list.Items[i].Name == w.name {
			now = content(&list.Items[i])
		}
	}
	w.heard(now)
	version := list.ResourceVersion
	for {
		started := time.Now()
		next, err := w.watch(ctx, version)
		if err != nil {
			return err
		}
		if next == version && time.Since(started) < time.Second {
			return errors.New("watches end as soon as they begin")
		}
		version = next
	}
}

// listTimeout bounds a list: an API that accepts the request and never answers counts as away, too.
const listTimeout = 10 * time.Second

func (w *secretWatch) list(ctx context.Context) (*corev1.SecretList, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list := &corev1.SecretList{}
	return list, w.request(metav1.ListOptions{}).Do(ctx).Into(list)
}

// watch reports every change after a version until the API ends the watch. It returns the version to continue from.
func (w *secretWatch) watch(ctx context.Context, version string) (string, error) {
	timeout := int64(300 + rand.IntN(300))
	stream, err := w.request(metav1.ListOptions{
		Watch: true, ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &timeout,
	}).Watch(ctx)
	if err != nil {
		return version, err
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if event.Type == watch.Error {
			return version, apierrors.FromObject(event.Object)
		}
		secret, ok := event.Object.(*corev1.Secret)
		if !ok {
			return version, fmt.Errorf("the watch brought a %T", event.Object)
		}
		version = secret.ResourceVersion
		if secret.Name != w.name {
			continue // a bookmark only moves the version on
		}
		switch event.Type {
		case watch.Added, watch.Modified:
			w.heard(content(secret))
		case watch.Deleted:
			w.heard(nil)
		}
	}
	return version, nil
}

func (w *secretWatch) request(options metav1.ListOptions) *rest.Request {
	options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, w.name).String()
	// We retry ourselves: the client's own retries would hide for many seconds that the API is away.
	return w.client.Get().MaxRetries(0).Namespace(w.namespace).Resource("secrets").VersionedParams(&options, w.parameters)
}

// content returns the data of a Secret that exists. It is never nil.
func content(secret *corev1.Secret) Secret {
	if secret.Data == nil {
		return Secret{}
	}
	return secret.Data
}
