package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"
)

const inSyncWithin = 60 * time.Second

var behind = regexp.MustCompile(`(?m)^etcd_debugging_mvcc_slow_watcher_total (\S+)$`)

// Waits until etcd counts no watch as behind: those it serves only from a loop that ticks every 100 ms.
func awaitInSync(endpoint string) error {
	for deadline := time.Now().Add(inSyncWithin); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		late, err := watchesBehind(endpoint)
		if err != nil || late == "0" {
			return err
		}
	}
	return fmt.Errorf("some watches are still behind after %v", inSyncWithin)
}

func watchesBehind(endpoint string) (string, error) {
	answer, err := http.Get("http://" + endpoint + "/metrics")
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	found := behind.FindSubmatch(page)
	if found == nil {
		return "", fmt.Errorf("etcd on %s does not say how many watches are behind", endpoint)
	}
	return string(found[1]), nil
}
