package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/hack/platform"
)

const namespace = "identity"

// A world is all that runs: the cluster with the operator and the endpoints, and the issuers.
type world struct {
	cluster *platform.Platform
	core    *kubernetes.Clientset
	objects client.Client
	// node is Node.js, caFile the certificate authority of the issuers.
	node, caFile string

	// company is where people and programs of the company have their tokens from, ci a service that runs its jobs.
	company, ci *issuer
	// spiffe publishes keys alone, as a SPIFFE trust domain does; hostile are issuers that misbehave.
	spiffe  *spiffe
	hostile *hostile

	// shop checks ServiceAccounts by keys, reviewed by TokenReview; doubtful knows the hostile issuers, too.
	shop, reviewed, doubtful endpoint
}

// revocations is how many MCPTokens are taken away to measure how long it takes until they are refused.
const revocations = 50

func newWorld(ctx context.Context, root, program string) (*world, error) {
	w := &world{node: program}
	if err := w.start(ctx, root); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

func (w *world) start(ctx context.Context, root string) (err error) {
	log.SetLogger(logr.Discard()) // the client's own log would end in the terminal
	dir := filepath.Join(root, ".local", "identity")
	if w.cluster, err = platform.Start(ctx, root, dir, os.Stdout); err != nil {
		return err
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	for name, e := range map[string]*endpoint{"shop": &w.shop, "reviewed": &w.reviewed, "doubtful": &w.doubtful} {
		e.name = name
		if e.address, err = w.cluster.Forward(namespace+"/"+name+"-mcp:80", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	w.caFile = filepath.Join(dir, "issuers.crt")
	if err := os.WriteFile(w.caFile, []byte(ca.pem), 0o600); err != nil {
		return err
	}
	if err := w.startIssuers(ctx, ca, filepath.Join(dir, "logs")); err != nil {
		return err
	}
	return w.apply(ctx, ca)
}

func (w *world) connect(ctx context.Context) (err error) {
	if w.core, err = kubernetes.NewForConfig(w.cluster.RESTConfig()); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	if w.objects, err = client.New(w.cluster.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if err := w.objects.List(ctx, &v1alpha1.MCPTokenList{}, client.Limit(1)); err != nil { // has it discover the API now
		return err
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		return err
	}
	return w.cluster.SetImage("sleep:dev", sleep)
}

func (w *world) startIssuers(ctx context.Context, ca *authority, dir string) (err error) {
	if w.company, err = newIssuer(w.node, dir, "company", "RS256", ca); err != nil {
		return err
	}
	for name, claims := range companyClaims() {
		w.company.addClient(name, claims)
	}
	for i := range revocations {
		w.company.addClient(visitor(i), nil)
	}
	if w.ci, err = newIssuer(w.node, dir, "ci", "ES256", ca); err != nil {
		return err
	}
	w.ci.addClient("job", object{"repository": "acme/bookshop", "ref": "refs/heads/main", "environment": "production"})
	w.ci.addClient("fork", object{"repository": "mallory/bookshop", "ref": "refs/heads/main", "environment": "production"})
	resources := []string{w.shop.url(), w.reviewed.url(), w.doubtful.url(), otherEndpoint}
	for _, i := range []*issuer{w.company, w.ci} {
		i.settings.Resources = resources
		if err := i.start(ctx); err != nil {
			return err
		}
	}
	if w.spiffe, err = startSPIFFE(ca); err != nil {
		return err
	}
	w.hostile, err = startHostile(ca)
	return err
}

// otherEndpoint is one that does not exist.
const otherEndpoint = "http://other-mcp.identity.svc/mcp/"

//go:embed objects.yaml
var objects string

// apply makes the objects, and waits until callers are let in.
func (w *world) apply(ctx context.Context, ca *authority) error {
	company := issuerObject{Name: "company", URL: w.company.url, Algorithm: "RS256", Listing: "Listed"}
	tokens := append(shopTokens(), reviewedTokens()...)
	tokens = append(tokens, w.hostile.tokens()...)
	names := make([]string, len(tokens))
	for i, t := range tokens {
		names[i] = t.Name
	}
	var manifest bytes.Buffer
	err := template.Must(template.New("objects").Parse(objects)).Execute(&manifest, object{
		"Names": names, "Tokens": tokens, "CertificateAuthority": ca.pem,
		"Endpoints": []endpointObject{
			{w.shop.name, w.shop.address, "Keys", []issuerObject{company,
				{Name: "ci", URL: w.ci.url, Algorithm: "ES256", Listing: "Unlisted"},
				{Name: "spiffe", URL: w.spiffe.url, KeysURL: w.spiffe.keysURL, Algorithm: "ES256", Listing: "Unlisted"}}},
			{w.reviewed.name, w.reviewed.address, "TokenReview", nil},
			{w.doubtful.name, w.doubtful.address, "Keys", append(w.hostile.issuers(), company)},
		},
		"ServiceAccounts": []metav1.ObjectMeta{
			{Name: "agent", Namespace: namespace}, {Name: "leaver", Namespace: namespace}, {Name: "unknown", Namespace: namespace},
			{Name: "agent", Namespace: "elsewhere"},
		},
		"Pods": []podObject{{"agent-of-shop", w.shop.url()}, {"agent-of-reviewed", w.reviewed.url()}},
	})
	if err != nil {
		return err
	}
	if _, err := w.cluster.KubectlInput(ctx, manifest.String(), "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	_, err = w.cluster.Kubectl(ctx, "-n", namespace, "wait", "--for=condition=Ready", "--timeout=10m",
		"mcpendpoint/shop", "mcpmodelexposure/shop-self", "mcpmodelexposure/shop-sale", "pod/agent-of-shop", "pod/agent-of-reviewed")
	if err != nil {
		state, _ := w.cluster.Kubectl(ctx, "-n", namespace, "get", "mcpendpoints,pods", "-o", "wide")
		return fmt.Errorf("%w\n%s", err, state)
	}
	return w.findPods(ctx)
}

// findPods finds the pods of the endpoints.
func (w *world) findPods(ctx context.Context) error {
	for _, e := range []*endpoint{&w.shop, &w.reviewed, &w.doubtful} {
		pods, err := w.core.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "mcpadmin.dev/endpoint=" + e.name})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 {
			return fmt.Errorf("%s has %d pods", e.name, len(pods.Items))
		}
		e.admin = pods.Items[0].Status.PodIP + ":8081"
	}
	return nil
}

type (
	endpointObject struct {
		Name, Address, Check string
		Issuers              []issuerObject
	}
	issuerObject struct{ Name, URL, KeysURL, Algorithm, Listing string }
	tokenObject  struct{ Name, Endpoint, Spec string }
	podObject    struct{ Name, Audience string }
)

func (w *world) stop() error {
	var failed error
	for _, i := range []*issuer{w.company, w.ci} {
		if i != nil {
			failed = errors.Join(failed, i.stop())
		}
	}
	for _, s := range []io.Closer{w.spiffe, w.hostile} {
		failed = errors.Join(failed, s.Close())
	}
	if w.cluster != nil {
		failed = errors.Join(failed, w.cluster.Stop())
	}
	return failed
}

// podToken reads the token from a pod's projected volume, as its program would.
func (w *world) podToken(ctx context.Context, name string) (string, error) {
	pod, err := w.core.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	folder := filepath.Dir(w.cluster.PodLog(pod, "agent"))
	text, err := os.ReadFile(filepath.Join(folder, "volumes", "mcp-token", "token"))
	return string(text), err
}

// accountToken asks the API server for a token of a ServiceAccount, bound to a pod if one is named.
func (w *world) accountToken(ctx context.Context, namespace, name, audience string, bound *corev1.Pod) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))}}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	if bound != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: bound.Name, UID: bound.UID}
	}
	answer, err := w.core.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return answer.Status.Token, nil
}

// condition is "status reason: message" of an object's condition.
func (w *world) condition(ctx context.Context, object, condition string) string {
	path := fmt.Sprintf(`jsonpath={range .status.conditions[?(@.type==%q)]}{.status} {.reason}: {.message}{end}`, condition)
	output, err := w.cluster.Kubectl(ctx, "-n", namespace, "get", object, "-o", path)
	if err != nil {
		return err.Error()
	}
	return output
}

// settle waits until a token is let in at an endpoint.
func (w *world) settle(ctx context.Context, e endpoint, token string) (time.Duration, error) {
	took, ok := within(ctx, func() bool { return e.status(ctx, token) == 200 })
	if !ok {
		return took, fmt.Errorf("%s does not let it in: %d", e.name, e.status(ctx, token))
	}
	return took, nil
}
