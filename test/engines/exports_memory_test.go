package engines

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestAnExportOfManyRowsNeedsLittleMemory fetches 50,000 rows of a kilobyte, and looks at the memory meanwhile.
func TestAnExportOfManyRowsNeedsLittleMemory(t *testing.T) {
	const rows, size, most = 50_000, 1000, 16 << 20
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
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

// inUse is the memory that cannot be collected.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
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
