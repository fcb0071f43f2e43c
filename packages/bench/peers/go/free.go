package main

import (
	"fmt"
	"time"

	"go.etcd.io/etcd/clientv3/concurrency"
)

// Locks that nobody else wants, over and over; one session for all of them.
func free(p *plan) (result, error) {
	locks, warm, window := p.number("locks", 1, 1), p.number("warm", 200, 0), p.window()
	if err := p.firstMistake(); err != nil {
		return nil, err
	}
	client, err := connect(p.endpoint)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	session, err := openSession(client)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	loops := make([]cycle, locks)
	for i := range loops {
		mutex := concurrency.NewMutex(session, fmt.Sprintf("%s-%d", p.text("name", "free"), i))
		loops[i] = func() (time.Duration, time.Duration, error) {
			start := time.Now()
			if err := mutex.Lock(client.Ctx()); err != nil {
				return 0, 0, err
			}
			acquired := time.Since(start)
			err := mutex.Unlock(client.Ctx())
			return acquired, time.Since(start), err
		}
	}
	return repeat(loops, warm, window)
}
