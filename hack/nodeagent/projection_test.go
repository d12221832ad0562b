package nodeagent

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestVolumeFiles(t *testing.T) {
	private := int32(0o400)
	local := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	for name, test := range map[string]struct {
		volume corev1.VolumeSource
		want   map[string]string // path to mode and data
		fails  bool
	}{
		"a Secret": {
			volume: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: &private}},
			want:   map[string]string{"k": "-r-------- /data/secret"},
		},
		"items": {
			volume: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("c"), Items: []corev1.KeyToPath{{Key: "a", Path: "sub/a.txt", Mode: &private}}}},
			want:   map[string]string{"sub/a.txt": "-r-------- 1"},
		},
		"an item that is missing": {
			volume: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("c"), Items: []corev1.KeyToPath{{Key: "none", Path: "x"}}}},
			fails:  true,
		},
		"a path that leaves the volume": {
			volume: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("c"), Items: []corev1.KeyToPath{{Key: "a", Path: "../x"}}}},
			fails:  true,
		},
		"a Secret that is missing": {volume: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}}, fails: true},
		"an optional Secret that is missing": {
			volume: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none", Optional: &yes}},
			want:   map[string]string{},
		},
		"what is mounted for a service account": {
			volume: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: local("c"), Items: []corev1.KeyToPath{{Key: "a", Path: "ca.crt"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
			}}},
			want: map[string]string{"token": "-rw-r--r-- a-token", "ca.crt": "-rw-r--r-- 1", "namespace": "-rw-r--r-- n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := volumeFiles(testPod, &corev1.Volume{Name: "v", VolumeSource: test.volume}, objs)
			if (err != nil) != test.fails {
				t.Fatalf("error %v, want one: %v", err, test.fails)
			}
			if err != nil {
				return
			}
			dir := t.TempDir()
			if err := writeAtomically(dir, got); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(test.want) {
				t.Errorf("%d files, want %d", len(got), len(test.want))
			}
			for path, want := range test.want {
				info, err := os.Stat(filepath.Join(dir, path))
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode().String() + " " + read(t, filepath.Join(dir, path)); got != want {
					t.Errorf("%s: got %q, want %q", path, got, want)
				}
			}
		})
	}
}

func TestWriteAtomicallyReplacesAll(t *testing.T) {
	dir := t.TempDir()
	text := func(s string) file { return file{data: []byte(s), mode: 0o644} }
	for _, content := range []files{
		{"a": text("1"), "sub/b": text("1"), "old": text("1")},
		{"a": text("2"), "sub/c": text("2")},
	} {
		if err := writeAtomically(dir, content); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, filepath.Join(dir, "a")) + read(t, filepath.Join(dir, "sub/c")); got != "22" {
		t.Errorf("got %q", got)
	}
	for _, path := range []string{"old", "sub/b"} {
		if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 4 { // a, sub, ..data, and what that points to
		t.Errorf("entries: %v", entries)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
