package main

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/clientv3"
)

// The floor of hand-offs: keys that fall one after the other, each deleted when its predecessor is seen deleted.
func chain(p *plan) (result, error) {
	links, name := p.number("n", 100, 1), p.text("name", "chain")
	if err := p.firstMistake(); err != nil {
		return nil, err
	}
	if _, err := fall(queue{p.endpoint, name + "-warm", 20}, untold); err != nil {
		return nil, err
	}
	return fall(queue{p.endpoint, name, links}, told)
}

func fall(q queue, stage stage) (result, error) {
	client, err := connect(q.endpoint)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	stage("connected")
	arrival := time.Now()
	passing, fallen := &passage{}, make(chan error, q.waiters)
	for i := 0; i < q.waiters; i++ {
		changes, err := stand(client, q.link(i))
		if err != nil {
			return nil, err
		}
		// Whoever sees the last one fall has nobody to let go.
		follow := func() error { return nil }
		if i+1 < q.waiters {
			key := q.link(i + 1)
			follow = func() error { return remove(client, key) }
		}
		go func() { fallen <- seeFall(changes, passing, follow) }()
	}
	enqueue := time.Since(arrival)
	stage("ready")
	passing.begin(q.waiters)
	if err := remove(client, q.link(0)); err != nil {
		return nil, err
	}
	for i := 0; i < q.waiters; i++ {
		if err := <-fallen; err != nil {
			return nil, err
		}
	}
	return passing.result(enqueue), nil
}

func (q queue) link(i int) string { return fmt.Sprintf("%s/%d", q.name, i) }

type watching struct {
	changes clientv3.WatchChan
	cancel  func()
}

// Puts a key and watches it from now on.
func stand(client *clientv3.Client, key string) (watching, error) {
	if _, err := client.Put(client.Ctx(), key, ""); err != nil {
		return watching{}, err
	}
	ctx, cancel := context.WithCancel(client.Ctx())
	changes := client.Watch(ctx, key, clientv3.WithCreatedNotify())
	_, err := next(changes)
	return watching{changes, cancel}, err
}

// A watch ends with its event, as a waiter's does.
func seeFall(watching watching, passing *passage, follow func() error) error {
	defer watching.cancel()
	if _, err := next(watching.changes); err != nil {
		return err
	}
	passing.pass()
	return follow()
}

func remove(client *clientv3.Client, key string) error {
	_, err := client.Delete(client.Ctx(), key)
	return err
}
