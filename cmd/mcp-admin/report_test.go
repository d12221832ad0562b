package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// The archive has what helps, and no secret of the cluster in any form.
func (w *world) testReport(t *testing.T) {
	const planted, inEvent, inMessage = "planted-in-an-annotation", "planted-in-a-url", "planted-in-a-message"
	e := &v1alpha1.MCPEndpoint{ObjectMeta: objectMeta("shop")}
	w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(e), e))
	changed := e.DeepCopy()
	changed.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"password":"` + planted + `"}`, "team": planted}
	changed.Labels = map[string]string{"team": planted}
	w.check(w.k8s.Patch(t.Context(), changed, client.MergeFrom(e)))
	w.create(&corev1.Event{
		ObjectMeta: objectMeta("told"), Type: "Warning", Reason: "Tried", InvolvedObject: corev1.ObjectReference{Kind: "MCPEndpoint", Namespace: "shop", Name: "shop"},
		Message: "postgres://shop:" + inEvent + "@db/shop does not answer: password=" + inMessage,
	})
	file := filepath.Join(t.TempDir(), "shop.tar.gz")
	w.expect(t, false, []string{file + " contains:\n", "status.json ", "objects/mcpendpoint.yaml ", "objects/mcptokens.yaml ", "pods/shop-0/log.txt ",
		"pods/shop-0/metrics.txt ", "events.yaml ", "config.yaml ", "left out:\n", "the content of Secrets"}, "report", "shop", "-n", "shop", "-o", file)
	w.expect(t, true, []string{"exists; name another file with -o"}, "report", "shop", "-n", "shop", "-o", file)

	files, all := unpack(t, file)
	for name, want := range map[string]string{
		"CONTENTS.txt": "pods/shop-0/log.txt: ", "status.json": `"ready": true`, "objects/mcpendpoint.yaml": "name: shop", "objects/mcpmodelexposures.yaml": "orders",
		"objects/mcptokens.yaml": "clerks", "pods/shop-0/log.txt": `"msg":"audit"`, "pods/shop-0/metrics.txt": "mcp_admin_config_revision",
		"pods/shop-0/pod.yaml": "server:test", "events.yaml": "does not answer", "config.yaml": "shop-mcp-config-tokens-0", "versions.yaml": "kubernetes: v1.",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %q:\n%s", name, want, files[name])
		}
	}
	var secrets corev1.SecretList
	w.check(w.k8s.List(context.Background(), &secrets))
	hunted := 0
	hunt := func(what string, secret []byte) {
		hunted++
		for form, text := range forms(secret) {
			if bytes.Contains(all, text) {
				t.Errorf("%s is in the archive, as %s", what, form)
			}
		}
	}
	for _, planted := range []string{planted, inEvent, inMessage} {
		hunt(planted, []byte(planted))
	}
	for i := range secrets.Items {
		s := &secrets.Items[i]
		for key, value := range s.Data {
			if len(value) < 8 || key == "url" {
				continue // a revision, the number of a part, or status.url of the endpoint
			}
			hunt("Secret "+s.Name+", "+key, value)
			for _, unpacked := range tokensIn(value) {
				hunt("a value of Secret "+s.Name, unpacked)
			}
		}
	}
	if hunted < 8 {
		t.Errorf("only %d secrets were looked for", hunted)
	}

	w.check(w.k8s.Get(t.Context(), client.ObjectKeyFromObject(e), e))
	changed = e.DeepCopy()
	changed.Annotations, changed.Labels = nil, nil
	w.check(w.k8s.Patch(t.Context(), changed, client.MergeFrom(e)))
	w.check(w.k8s.Delete(t.Context(), &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "told"}}))
}

// forms are the ways in which a secret could be written, and its hashes.
func forms(secret []byte) map[string][]byte {
	sum := sha256.Sum256(secret)
	quoted, _ := json.Marshal(string(secret)) // a text can always be written
	all := map[string][]byte{
		"it is": secret, "base64": []byte(base64.StdEncoding.EncodeToString(secret)), "base64 of URLs": []byte(base64.RawURLEncoding.EncodeToString(secret)),
		"hexadecimal": []byte(hex.EncodeToString(secret)), "part of a URL": []byte(url.QueryEscape(string(secret))), "JSON": quoted[1 : len(quoted)-1],
		"its hash": sum[:], "its hash, hexadecimal": []byte(hex.EncodeToString(sum[:])), "its hash, base64": []byte(base64.StdEncoding.EncodeToString(sum[:])),
	}
	return all
}

// tokensIn are the hashes and keys in a packed part of a Config: its texts of more than 40 characters that are no sentence.
func tokensIn(value []byte) [][]byte {
	packed, err := gzip.NewReader(bytes.NewReader(value))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		return nil
	}
	var found [][]byte
	for _, piece := range strings.Split(string(text), `"`) {
		if len(piece) >= 40 && !strings.ContainsAny(piece, " {}[],:") {
			found = append(found, []byte(piece))
		}
	}
	return found
}

// unpack returns the archive's files, and all of their bytes.
func unpack(t *testing.T, path string) (files map[string]string, all []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if all, err = io.ReadAll(packed); err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	archive := tar.NewReader(bytes.NewReader(all))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, all
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(text)
	}
}
