package tail

import (
	"fmt"
	"testing"
	"time"
)

func TestTheNewestCallsAreKept(t *testing.T) {
	begin := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	n := NewNewest(3, begin.Add(time.Second))
	for _, second := range []int{0, 1, 2, 4, 3, 5} {
		fmt.Fprintf(n, `{"time":%q,"msg":"audit","token":"shop/agent","tool":"list_order","rows":2,"bytes":7,"seconds":0.5,"outcome":"ok"}`+"\n", begin.Add(time.Duration(second)*time.Second).Format(time.RFC3339))
	}
	fmt.Fprint(n, "no line\n")
	calls, over := n.Calls()
	var seconds []int
	for _, c := range calls {
		seconds = append(seconds, int(c.At.Sub(begin)/time.Second))
	}
	if fmt.Sprint(seconds) != "[5 4 3]" || over != 2 || *calls[0].Seconds != 0.5 || calls[0].Bytes != 7 || *calls[0].Rows != 2 || calls[0].Token != "shop/agent" {
		t.Errorf("got %v, %d left out, %+v", seconds, over, calls[0])
	}
}
