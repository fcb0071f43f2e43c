package main

import (
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

// Clients with a connection and a session each, that want the same lock again as soon as they have let go of it.
func fresh(p *plan) (result, error) {
	clients, rounds, warm := p.number("clients", 2, 2), p.number("rounds", 50, 1), p.number("warm", 5, 0)
	hold := time.Duration(p.number("hold", 5, 0)) * time.Millisecond
	isNoisy := p.text("noise", "0") == "1"
	if err := p.firstMistake(); err != nil {
		return nil, err
	}
	if isNoisy {
		hush, err := makeNoise(p.endpoint)
		if err != nil {
			return nil, err
		}
		defer hush()
	}
	grants := &grants{start: time.Now(), uncounted: warm * clients}
	contenders := make([]contender, clients)
	for i := range contenders {
		client, err := connect(p.endpoint)
		if err != nil {
			return nil, err
		}
		defer client.Close()
		session, err := openSession(client)
		if err != nil {
			return nil, err
		}
		mutex := concurrency.NewMutex(session, p.text("name", "fresh"))
		contenders[i] = contender{i, client, mutex, grants}
	}
	ended := make(chan error, clients)
	for _, one := range contenders {
		go func(one contender) { ended <- one.contend(warm+rounds, hold) }(one)
	}
	for range contenders {
		if err := <-ended; err != nil {
			return nil, err
		}
	}
	return grants.result()
}

type contender struct {
	id     int
	client *clientv3.Client
	mutex  *concurrency.Mutex
	grants *grants
}

func (c contender) contend(rounds int, hold time.Duration) error {
	for n := 0; n < rounds; n++ {
		c.grants.requesting()
		if err := c.mutex.Lock(c.client.Ctx()); err != nil {
			return err
		}
		c.grants.granted(c.id)
		time.Sleep(hold)
		c.grants.releasing()
		if err := c.mutex.Unlock(c.client.Ctx()); err != nil {
			return err
		}
	}
	return nil
}
