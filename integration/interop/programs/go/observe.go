package main

import (
	"context"
	"strconv"

	"go.etcd.io/etcd/clientv3/concurrency"
)

// Tells what Election.Observe tells, until there is nothing more on the standard input.
func (p *participant) observe() error {
	ctx, stop := context.WithCancel(p.client.Ctx())
	defer stop()
	leaders := concurrency.NewElection(p.session, p.name).Observe(ctx)
	p.say(event{Ev: "observing"})
	for {
		select {
		case leader, more := <-leaders:
			if !more {
				return nil
			}
			entry := leader.Kvs[0]
			p.say(event{Ev: "leader", Value: string(entry.Value), Order: strconv.FormatInt(entry.CreateRevision, 10)})
		case _, more := <-p.told:
			if !more {
				p.say(event{Ev: "done"})
				return nil
			}
		}
	}
}
