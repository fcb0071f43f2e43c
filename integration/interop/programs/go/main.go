// A participant of an etcd queue: participant ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]. See ../../protocol.ts.
package main

import (
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/clientv3"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "hold" {
		holdForEtcdctl(os.Args[2])
		return
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	task, err := readTask(args)
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{task.endpoint}, DialTimeout: 10 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	party := &participant{task: task, client: client, told: readLines(os.Stdin)}
	defer party.end()
	if err := party.open(); err != nil {
		return err
	}
	party.say(event{Ev: "ready"})
	if _, more := <-party.told; !more {
		return nil
	}
	switch task.recipe {
	case "observe":
		return party.observe()
	case "etcdctl":
		party.rounds(party.etcdctlRound)
	default:
		party.rounds(party.round)
	}
	party.say(event{Ev: "done"})
	return nil
}
