// Package validation holds every way in against every other: for each marker and rule of the API's kinds it takes objects below,
// at and beyond the bound, and demands that a real API server, lint, can and dev say the same of each.
package validation

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/can"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/dev"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/lint"
	"github.com/mcp-admin/mcp-admin-operator/test/apiserver"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// certificate is one in PEM.
var certificate = func() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}()

// verdict is the API server's answer about an object: "" if it takes it, else its causes.
type verdict struct {
	refused bool
	causes  []metav1.StatusCause
	text    string
}

func TestEveryWayInSaysTheSame(t *testing.T) {
	kinds := definitions(t)
	k8s := startAPIServer(t)
	all := everyVariant(t, kinds, k8s)
	verdicts := judge(t, k8s, all)
	compareWithCommands(t, all, verdicts)

	for i, v := range all {
		switch {
		case v.refused && !verdicts[i].refused:
			t.Errorf("%s: the API server takes it, which is beyond a marker", v.name)
		case v.at && verdicts[i].refused && !nowhere.MatchString(v.name):
			t.Errorf("%s: the API server refuses it, so what is beyond it is not tried: %s", v.name, verdicts[i].text)
		}
	}
	rulesWithoutRefusal(t, kinds, all, verdicts)
	t.Logf("%d objects", len(all))
}

func startAPIServer(t *testing.T) client.Client {
	_, config := apiserver.Start(t, filepath.Join("..", "..", "config", "crd", "bases"))
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	k8s, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return k8s
}

// everyVariant returns the variants of each place, each made from a base that the API server accepts. Unless tests are whole, a
// place whose schema equals another one's, and has no rules, gets a few.
func everyVariant(t *testing.T, kinds map[string]*schema, k8s client.Client) []variant {
	given, extra := objectsOf(t, bases), objectsOf(t, more)
	extra["MCPToken"] = append(extra["MCPToken"], tooMuch()...)
	var all []variant
	known := map[string]bool{}
	for kind, root := range kinds {
		for _, base := range given[kind] {
			all = append(all, variant{kind: kind, name: kind + " as it is", object: base, at: true})
		}
		for _, o := range extra[kind] {
			all = append(all, variant{kind: kind, name: fmt.Sprintf("%s %v", kind, o["spec"]), object: o, refused: true})
		}
		for _, p := range places(root) {
			if len(p.path) == 0 || p.path[0] != "spec" {
				continue
			}
			base := slices.IndexFunc(given[kind], func(base object) bool {
				return !ask(t, k8s, put(base, root, p.path, example(p.schema)).(object)).refused
			})
			changes := variants(kind, root, given[kind][max(base, 0)], p)
			if text := kind + " " + constraints(t, p.schema); !known[text] {
				known[text] = true
			} else if !harness.Whole() && len(p.schema.XValidations) == 0 {
				changes = changes[:min(len(changes), 2)]
			}
			all = append(all, changes...)
			if len(p.schema.XValidations) > 0 && p.schema.Properties != nil {
				for _, base := range given[kind] {
					all = append(all, toggles(kind, root, base, p)...)
				}
			}
		}
	}
	return all
}

// constraints are a schema without its description, as text.
func constraints(t *testing.T, s *schema) string {
	bare := *s
	bare.Description = ""
	encoded, err := json.Marshal(bare)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// ask asks the API server for a dry run.
func ask(t *testing.T, k8s client.Client, o object) verdict {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(normal(t, o))}
	u.SetNamespace("default")
	err := k8s.Create(context.Background(), u, client.DryRunAll, client.FieldValidation("Strict"))
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return verdict{}
	case errors.As(err, &status) && (apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)):
		v := verdict{refused: true, text: err.Error()}
		if details := status.Status().Details; details != nil {
			v.causes = details.Causes
		}
		return v
	}
	t.Errorf("the API server: %v", err)
	return verdict{}
}

// normal is an object as JSON has it.
func normal(t *testing.T, o object) object {
	encoded, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(encoded); err != nil {
		t.Fatal(err)
	}
	return u.Object
}

func judge(t *testing.T, k8s client.Client, all []variant) []verdict {
	verdicts := make([]verdict, len(all))
	next := make(chan int)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := range next {
				verdicts[i] = ask(t, k8s, all[i].object)
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	workers.Wait()
	return verdicts
}

// compareWithCommands holds what lint, can and dev say against the API server's verdicts.
func compareWithCommands(t *testing.T, all []variant, verdicts []verdict) {
	folder := t.TempDir()
	for i, v := range all {
		o := normal(t, v.object)
		o["metadata"] = with(o["metadata"], "namespace", fmt.Sprint("n", i)) // each is alone
		encoded, err := json.Marshal(o)
		if err == nil {
			err = os.WriteFile(file(folder, i), encoded, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	linted := lintAll(t, folder)
	for i, v := range all {
		said := linted[file(folder, i)]
		switch refuses := said != ""; {
		case verdicts[i].refused && !refuses:
			t.Errorf("%s: lint takes what the API server refuses: %s", v.name, verdicts[i].text)
		case !verdicts[i].refused && refuses && !onlyInGo.MatchString(said):
			t.Errorf("%s: lint refuses what the API server takes: %s", v.name, said)
		}
		if !verdicts[i].refused {
			continue
		}
		for _, command := range [][]string{{"can", "shop", "-f"}, {"dev", "--stdio", "--state", filepath.Join(folder, ".state"), "-f"}} {
			if err := run(t, append(command, file(folder, i))...); err == nil || !strings.Contains(err.Error(), filepath.Base(file(folder, i))+":") {
				t.Errorf("%s: %s says %v of what the API server refuses: %s", v.name, command[0], err, verdicts[i].text)
			}
		}
	}
}

// nowhere are the fields that a rule refuses in any new object: those of row policies only, decisions, which are added later, and the
// reference that goes with the object's own name.
var nowhere = regexp.MustCompile(`update\.where\[\](\.any\[\])?\.tokenAttribute|^MCPApproval spec\.(decisions|endpointRef\.name)`)

// onlyInGo are the fields whose rules the schema cannot express fully.
var onlyInGo = regexp.MustCompile(`\.(statement|statements\[\d+\]|message|certificateAuthority): Invalid value`)

func file(folder string, i int) string { return filepath.Join(folder, fmt.Sprintf("v%d.json", i)) }

// lintAll returns lint's errors, by file.
func lintAll(t *testing.T, folder string) map[string]string {
	var out bytes.Buffer
	command := lint.Command()
	command.SetOut(&out)
	command.SetErr(&bytes.Buffer{})
	command.SetArgs([]string{"-f", folder, "-o", "json"})
	command.SilenceErrors, command.SilenceUsage = true, true
	_ = command.ExecuteContext(t.Context()) // that there are errors, the findings say
	var report struct {
		Findings []struct{ File, Severity, Field, Message string }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("lint says %.300s: %v", out.String(), err)
	}
	said := map[string]string{}
	for _, f := range report.Findings {
		if f.Severity == "error" {
			said[f.File] += f.Field + ": " + f.Message + "\n"
		}
	}
	return said
}

// run runs can or dev with nothing on standard input.
func run(t *testing.T, arguments ...string) error {
	command := can.Command()
	if arguments[0] == "dev" {
		command = dev.Command()
	}
	command.SetIn(&bytes.Buffer{})
	command.SetOut(&bytes.Buffer{})
	command.SetErr(&bytes.Buffer{})
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs(arguments[1:])
	return command.ExecuteContext(t.Context())
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

// rulesWithoutRefusal demands that the API server refused something by each rule, at each of its places.
func rulesWithoutRefusal(t *testing.T, kinds map[string]*schema, all []variant, verdicts []verdict) {
	used := map[string]bool{}
	for i, v := range verdicts {
		for _, cause := range v.causes {
			path := strings.TrimPrefix(index.ReplaceAllString(cause.Field, "[]"), "<nil>")
			used[all[i].kind+" "+path+" "+cause.Message[strings.LastIndex(cause.Message, ": ")+1:]] = true
		}
	}
	seen := func(kind, path, message string) bool {
		for key := range used {
			if strings.HasPrefix(key, kind+" "+path+" ") && strings.Contains(message, strings.TrimSpace(key[len(kind)+len(path)+2:])) {
				return true
			}
		}
		return false
	}
	rules := 0
	for kind, root := range kinds {
		for _, p := range places(root) {
			for _, rule := range p.schema.XValidations {
				if strings.Contains(rule.Rule, "oldSelf") && !strings.Contains(rule.Rule, "hasValue") || strings.Contains(rule.Message, "cannot be changed") {
					continue // a rule on changes
				}
				rules++
				path := strings.ReplaceAll(strings.ReplaceAll(p.String(), "{}", "[]"), ".[]", "[]")
				if !seen(kind, path, rule.Message) {
					t.Errorf("%s %s: no object was refused by the rule %q", kind, p, rule.Message)
				}
			}
		}
	}
	t.Logf("%d rules", rules)
}
