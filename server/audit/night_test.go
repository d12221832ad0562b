package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// BenchmarkNight writes lines about reads into files, and tells the bytes of a night of twelve hours with 100 reads a second. Of four reads
// three are of one row, and one is a list of 25 rows with a condition.
func BenchmarkNight(b *testing.B) {
	const reads = 100 * 12 * 60 * 60
	row := func(id int) string {
		return fmt.Sprintf(`{"id":%d,"name":"Ann Arbour","email":"ann@example.com","city":"Bonn","created_at":"2026-11-27T13:40:01Z"}`, id)
	}
	var rows []string
	for i := range 25 {
		rows = append(rows, row(104200+i))
	}
	list, one := []byte(`{"count":25,"results":[`+strings.Join(rows, ",")+`]}`), []byte(row(104217))
	arguments, id := []byte(`{"filters":{"city":"Bonn","created_at__gte":"2026-11-01"},"order_by":["-created_at"],"limit":25}`), []byte(`{"id":104217}`)
	ctx := audit.WithOrigin(context.Background(), &audit.Caller{Address: "10.244.1.7", Client: "claude-code 2.1.0", Request: "1742", Trace: "0af7651916cd43dd8448eb211c80319c"})
	for _, format := range []string{"JSON", "OCSF"} {
		for _, level := range []string{"Summary", "Rows"} {
			b.Run(format+"/"+level, func(b *testing.B) {
				dir := b.TempDir()
				folder := audit.NewFolder(dir, "shop-mcp-7d9f8c6b5-x2x4z", nil)
				log := audit.NewLog(folder)
				log.Pod, log.Version = "shop-mcp-7d9f8c6b5-x2x4z", "0.1.0"
				log.Use(audit.Settings{OCSF: format == "OCSF", Endpoint: "shop/shop", Files: audit.FolderLimits{MaxFileBytes: 100 << 20}})
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					r := audit.Read{Token: "shop/support", Model: "customer", Took: 2100 * time.Microsecond, Outcome: "ok"}
					if n%4 == 0 {
						r.Tool, r.Operation, r.Question, r.Shown, r.Bytes = "list_customer", "list", audit.Question(arguments), audit.ShownBy(list, false, level == "Rows"), len(list)
					} else {
						r.Tool, r.Operation, r.Question, r.Shown, r.Bytes = "get_customer", "get", audit.Question(id), audit.ShownBy(one, true, level == "Rows"), len(one)
					}
					if err := log.WriteRead(ctx, &r); err != nil {
						b.Fatal(err)
					}
					n++
				}
				if err := folder.Close(); err != nil {
					b.Fatal(err)
				}
				files, err := filepath.Glob(dir + "/*.jsonl")
				written := int64(0)
				for _, file := range files {
					info, failed := os.Stat(file)
					if failed != nil {
						b.Fatal(failed)
					}
					written += info.Size()
				}
				if err != nil || written == 0 {
					b.Fatal("there are no files", err)
				}
				each := float64(written) / float64(n)
				b.ReportMetric(each, "B/line")
				b.ReportMetric(each*reads/1e9, "GB/night")
			})
		}
	}
}
