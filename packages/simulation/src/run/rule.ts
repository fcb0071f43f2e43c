/** The rules that the product must keep in every simulated run. */
export const RULES = {
  exclusive: 'nobody believes in a hold while another one that conflicts with it begins',
  order:
    'a hold begins when nothing that conflicts with it is ahead in the store, by create revision, but what a session has left to another entry of its own',
  tokens: 'tokens grow with every grant that conflicts with an earlier one',
  guarded:
    'of the writes that are guarded by the entries of holds, none of an earlier hold is accepted after one of a later hold',
  reported: 'an owner whose entry was removed is notified within the TTL',
  taken:
    'once a later hold of another session has begun, a session hands on what was taken from it for a moment at most',
  time: 'a hold begins with the time that was asked for',
  view: 'who looks at a queue sees it as it was, and when nothing happens any more as it is',
  progress: 'once the trouble is over, everybody gets an answer',
  outcome:
    'a wait ends with a hold, or with an error that is typed and that something in the run is the reason for',
  agreed:
    'a slot is done once, a round begins and ends with all its members, and a latch opens after the last count',
  'nothing left': 'no key, lease, stream, call or timer is left over',
  'nothing lost': 'no error is thrown to nobody',
  'no storm': 'no client sends more than so many requests in a second',
} as const;

export type Rule = keyof typeof RULES;
