package rootfs

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheAuthoritiesAreRead(t *testing.T) {
	rest, number := authorities(), 0
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			t.Fatalf("after %d certificates: no PEM", number)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !certificate.IsCA {
			t.Errorf("certificate %d is no authority's: %v", number, err)
		}
		number++
	}
	if number < 100 {
		t.Errorf("%d authorities, want more than 100", number)
	}
}

func TestTheUserHasAName(t *testing.T) {
	folder := t.TempDir()
	if err := Write(folder); err != nil {
		t.Fatal(err)
	}
	passwd, err := os.ReadFile(filepath.Join(folder, "etc", "passwd"))
	if err != nil || !strings.Contains(string(passwd), ":x:"+User+":") {
		t.Errorf("/etc/passwd lacks %s: %v\n%s", User, err, passwd)
	}
}
