package dev

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// State is the folder that keeps what a cluster would keep: generated tokens and SQLite files. All its files are reached
// through an os.Root, so neither a name nor a symbolic link leads out of the folder.
type State struct{ root *os.Root }

// OpenState opens the folder and makes it if it does not exist. Its tokens are plain text, so a file makes git ignore it.
func OpenState(folder string) (*State, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, err
	}
	s := &State{root}
	if _, err := root.Lstat(".gitignore"); errors.Is(err, fs.ErrNotExist) {
		if err := s.write(".gitignore", []byte("*\n")); err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	return s, nil
}

// Close ends the use of the folder; its files stay.
func (s *State) Close() error { return s.root.Close() }

// Folder is the absolute path of the folder.
func (s *State) Folder() string { return s.root.Name() }

// TokenFile is the path of the file that holds the text of a generated token.
func (s *State) TokenFile(key types.NamespacedName) string {
	return filepath.Join(s.Folder(), "tokens", key.Namespace, key.Name)
}

// Token returns the text of a generated token: the content of tokens/NAMESPACE/NAME, which is made if it does not exist.
func (s *State) Token(key types.NamespacedName) (string, error) {
	file := filepath.Join("tokens", key.Namespace, key.Name)
	text, err := s.root.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(contract.NewToken() + "\n")
		err = s.write(file, text)
	}
	return strings.TrimRight(string(text), "\r\n"), err
}

// SQLiteFile is the path of an endpoint's SQLite database.
func (s *State) SQLiteFile(e *v1alpha1.MCPEndpoint) string {
	return filepath.Join(s.Folder(), sqliteFolder(e), "database.sqlite")
}

// SQLiteInitDir is the path of the folder with the files that fill a new SQLite database.
func (s *State) SQLiteInitDir(e *v1alpha1.MCPEndpoint) string {
	return filepath.Join(s.Folder(), initFolder(e))
}

func sqliteFolder(e *v1alpha1.MCPEndpoint) string {
	return filepath.Join("sqlite", e.Namespace, e.Name)
}

func initFolder(e *v1alpha1.MCPEndpoint) string { return filepath.Join(sqliteFolder(e), "init") }

// WriteSQLiteInit writes the ConfigMap that fills a new SQLite file to SQLiteInitDir: one file for each key, as a volume
// has them. Without a ConfigMap the folder is empty.
func (s *State) WriteSQLiteInit(e *v1alpha1.MCPEndpoint, m *Manifests) error {
	var data map[string][]byte
	if ref := e.Spec.Database.SQLite.InitConfigMapRef; ref != nil {
		key := types.NamespacedName{Namespace: e.Namespace, Name: ref.Name}
		var ok bool
		if data, ok = m.ConfigMaps[key]; !ok {
			return fmt.Errorf("spec.database.sqlite.initConfigMapRef: the manifests hold no ConfigMap %s", key)
		}
	}
	folder := initFolder(e)
	if err := errors.Join(s.root.RemoveAll(folder), s.root.MkdirAll(folder, 0o700)); err != nil {
		return err
	}
	for name, content := range data {
		if err := s.write(filepath.Join(folder, name), content); err != nil {
			return err
		}
	}
	return nil
}

// Credential returns a token's credential, from the manifests or from the state of a generated token. The text itself is
// returned too if it is known, for the client configuration.
func (s *State) Credential(t *v1alpha1.MCPToken, m *Manifests) (compile.Credential, string, error) {
	switch {
	case t.Spec.IssuedElsewhere():
		return compile.Credential{}, "", nil // its callers show what somebody else issued
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

// write writes a file of the folder that only its owner may read, whole or not at all.
func (s *State) write(file string, content []byte) error {
	if err := s.root.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temporary := file + ".new"
	if err := s.root.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return s.root.Rename(temporary, file)
}
