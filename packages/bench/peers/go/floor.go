package main

import (
	"fmt"
	"time"

	"go.etcd.io/etcd/clientv3"
)

// What locks are made of, without a lock.
func floor(p *plan) (result, error) {
	inFlight, warm, window := p.number("inflight", 1, 1), p.number("warm", 200, 0), p.window()
	what := p.text("what", "putdelete")
	prepare, known := map[string]func(*clientv3.Client, string) (cycle, error){
		"put": puts, "putdelete": putsAndDeletes, "event": events,
	}[what]
	if !known {
		return nil, fmt.Errorf("what=%s: the floors of etcd are put, putdelete and event", what)
	}
	if err := p.firstMistake(); err != nil {
		return nil, err
	}
	client, err := connect(p.endpoint)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	loops := make([]cycle, inFlight)
	for i := range loops {
		if loops[i], err = prepare(client, fmt.Sprintf("%s-%d", p.text("name", "floor"), i)); err != nil {
			return nil, err
		}
	}
	return repeat(loops, warm, window)
}

func puts(client *clientv3.Client, key string) (cycle, error) {
	return func() (time.Duration, time.Duration, error) {
		start := time.Now()
		_, err := client.Put(client.Ctx(), key, "")
		took := time.Since(start)
		return took, took, err
	}, nil
}

func putsAndDeletes(client *clientv3.Client, key string) (cycle, error) {
	return func() (time.Duration, time.Duration, error) {
		start := time.Now()
		if _, err := client.Put(client.Ctx(), key, ""); err != nil {
			return 0, 0, err
		}
		put := time.Since(start)
		_, err := client.Delete(client.Ctx(), key)
		return put, time.Since(start), err
	}, nil
}

// Of a delete: its answer comes first in the pair, its event second. The put before it is not timed.
func events(client *clientv3.Client, key string) (cycle, error) {
	changes := client.Watch(client.Ctx(), key, clientv3.WithCreatedNotify())
	if _, err := next(changes); err != nil {
		return nil, err
	}
	return func() (time.Duration, time.Duration, error) {
		if _, err := client.Put(client.Ctx(), key, ""); err != nil {
			return 0, 0, err
		}
		if _, err := next(changes); err != nil {
			return 0, 0, err
		}
		start := time.Now()
		answered := make(chan error, 1)
		var answer time.Duration
		go func() {
			_, err := client.Delete(client.Ctx(), key)
			answer = time.Since(start)
			answered <- err
		}()
		_, err := next(changes)
		event := time.Since(start)
		if failed := <-answered; failed != nil {
			err = failed
		}
		return answer, event, err
	}, nil
}

func next(changes clientv3.WatchChan) (clientv3.WatchResponse, error) {
	change, open := <-changes
	if !open {
		return change, fmt.Errorf("a watch ended before its time")
	}
	return change, change.Err()
}
