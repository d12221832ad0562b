package engines

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// TestAnExportOfManyRowsNeedsLittleMemory fetches 50,000 rows of a kilobyte, and looks at the memory meanwhile.
func TestAnExportOfManyRowsNeedsLittleMemory(t *testing.T) {
	const rows, size, most = 50_000, 1000, 16 << 20
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			skipOnlyRead(t, engine)
			s := start(t, engine, exporters)
			s.fill(t, rows, size)
			uri, said := s.asks(t, "exporter", "list_review", `{"export":"csv","order_by":["id"]}`)
			if said != fmt.Sprint(rows+5) {
				t.Fatalf("the answer says %s rows, want %d", said, rows+5)
			}
			before := inUse()
			response, err := http.Get(uri)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var peak uint64
			read, piece := 0, make([]byte, 1<<20)
			for {
				n, err := io.ReadFull(response.Body, piece)
				if read += n; read%(8<<20) < 1<<20 {
					peak = max(peak, inUse())
				}
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if read < rows*size || response.Trailer.Get("Export-Rows") != said {
				t.Errorf("%d bytes, %s rows", read, response.Trailer.Get("Export-Rows"))
			}
			if peak > before+most {
				t.Errorf("%d MiB in use while %d MiB were read, and %d before", peak>>20, read>>20, before>>20)
			}
		})
	}
}

// TestLinksThatNobodyFetchesNeedNoMemory asks for links again and again: what they hold is in the links themselves.
func TestLinksThatNobodyFetchesNeedNoMemory(t *testing.T) {
	const links, most = 5000, 1 << 20 // less than half a kilobyte of each link, which has more
	s := start(t, harness.Engines[0], exporters)
	ask := func() string {
		uri, _ := s.asks(t, "exporter", "list_book", `{"export":"csv","filters":{"title__in":["`+strings.Join(noise(10), `","`)+`"]}}`)
		return uri
	}
	for range 100 {
		ask() // what is made once is there
	}
	s.endpoint.Log.Reset()
	before := inUse()
	var last string
	for range links {
		last = ask()
		s.endpoint.Log.Reset()
	}
	if got := inUse(); got > before+most {
		t.Errorf("%d KiB more are in use after %d links of %d bytes", (got-before)>>10, links, len(last))
	}
	if got := fetch(t, http.MethodGet, last); got.status != http.StatusOK {
		t.Errorf("the last link is answered by %d", got.status)
	}
}

// inUse is the memory that a collection found in use. What others allocate after it is not counted, however long it takes this
// goroutine to look.
func inUse() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// fill adds reviews of so many bytes.
func (s *suite) fill(t *testing.T, rows, size int) {
	t.Helper()
	const piece = 1000
	for from := 0; from < rows; from += piece {
		var values []string
		for i := from; i < from+piece; i++ {
			values = append(values, fmt.Sprintf("(1, 'R%d', 1, '%0*d')", i, size, i))
		}
		if _, err := s.plain.Exec("insert into review (book_id, reader, stars, body) values " + strings.Join(values, ",")); err != nil {
			t.Fatal(err)
		}
	}
}
