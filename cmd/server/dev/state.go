package dev

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// State is the folder that keeps what a cluster would keep: generated tokens and SQLite files.
type State string

// Token returns the text of a generated token: that of tokens/NAMESPACE/NAME, which is made where it is not there.
func (s State) Token(key types.NamespacedName) (string, error) {
	file := filepath.Join(string(s), "tokens", key.Namespace, key.Name)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(contract.NewToken() + "\n")
		err = writePrivate(file, text)
	}
	return strings.TrimRight(string(text), "\r\n"), err
}

// SQLiteFile is the file of an endpoint's SQLite database.
func (s State) SQLiteFile(e *v1alpha1.MCPEndpoint) string {
	return filepath.Join(string(s), "sqlite", e.Namespace, e.Name, "database.sqlite")
}

// SQLiteInitDir is the folder of the files that fill a new SQLite database.
func (s State) SQLiteInitDir(e *v1alpha1.MCPEndpoint) string {
	return filepath.Join(filepath.Dir(s.SQLiteFile(e)), "init")
}

// WriteSQLiteInit writes the ConfigMap that fills a new SQLite file to SQLiteInitDir, one file for each key, as a volume
// would show it. Without a ConfigMap the folder is empty.
func (s State) WriteSQLiteInit(e *v1alpha1.MCPEndpoint, m *Manifests) error {
	sqlite := e.Spec.Database.SQLite
	if sqlite == nil {
		return nil
	}
	var data map[string][]byte
	if ref := sqlite.InitConfigMapRef; ref != nil {
		key := types.NamespacedName{Namespace: e.Namespace, Name: ref.Name}
		var ok bool
		if data, ok = m.ConfigMaps[key]; !ok {
			return fmt.Errorf("spec.database.sqlite.initConfigMapRef: the manifests hold no ConfigMap %s", key)
		}
	}
	folder := s.SQLiteInitDir(e)
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700)); err != nil {
		return err
	}
	for name, content := range data {
		if err := writePrivate(filepath.Join(folder, filepath.Base(name)), content); err != nil {
			return err
		}
	}
	return nil
}

// Credential is what the manifests, or the state for a generated token, tell of a token's text. The text itself is
// returned too where it is known, for the client configuration.
func (s State) Credential(t *v1alpha1.MCPToken, m *Manifests) (compile.Credential, string, error) {
	switch {
	case t.Spec.TokenSecretRef != nil:
		text, missing := m.secretKey(t, t.Spec.TokenSecretRef)
		if missing != nil {
			return *missing, "", nil
		}
		text = bytes.TrimRight(text, "\r\n")
		return compile.TextCredential(string(text)), string(text), nil
	case t.Spec.TokenHashSecretRef != nil:
		hash, missing := m.secretKey(t, t.Spec.TokenHashSecretRef)
		if missing != nil {
			return *missing, "", nil
		}
		return compile.HashCredential(string(hash)), "", nil
	}
	text, err := s.Token(types.NamespacedName{Namespace: t.Namespace, Name: t.Name})
	return compile.TextCredential(text), text, err
}

// secretKey returns the key's value, or the credential that says what is missing.
func (m *Manifests) secretKey(t *v1alpha1.MCPToken, ref *v1alpha1.SecretKeyReference) ([]byte, *compile.Credential) {
	data, ok := m.Secrets[types.NamespacedName{Namespace: t.Namespace, Name: ref.Name}]
	if !ok {
		return nil, &compile.Credential{Reason: v1alpha1.ReasonSecretNotFound, Message: fmt.Sprintf("the manifests hold no Secret %s", ref.Name)}
	}
	value, ok := data[ref.Key]
	if !ok {
		return nil, &compile.Credential{Reason: v1alpha1.ReasonSecretKeyMissing, Message: fmt.Sprintf("Secret %s has no key %s", ref.Name, ref.Key)}
	}
	return value, nil
}

// writePrivate writes a file that only its owner may read, whole or not at all.
func writePrivate(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temporary := file + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, file)
}
