/** The invariants of a run by name, and their breaches. A run ends at the first breach. */

export const invariants = {
  "double-entry": "the postings of each transaction sum to zero per currency",
  balances: "balance rows are the sums of postings",
  "one-execution": "a keyed request is executed once",
  "same-bytes": "the same key gets the same bytes",
  "output-gate": "nothing is answered that is not committed",
  "bulk-truth": "the answer of a bulk report tells what all of its tries did",
  acknowledged: "every acknowledged report is in the store exactly once, as answered",
  claims: "references, e-mails and item changes are claimed once",
  deposits: "a deposit notice is decided once, and credited exactly when it is confirmed",
  withdrawals: "a withdrawal request takes declared steps, each moving exactly its cash and reserve",
  custody:
    "a custody model changes whole, once nothing is open, and nothing is filed under another than the present one",
  revisions: "revisions of a KYC package are numbered without a gap, and the package shows the last one",
  timers: "a timer fires when it is due and once, and goes with the commit of what it did",
  payouts: "a payout goes to a client at level NONE, out of its cash, once for its reference",
  review:
    "compliance clears what it has looked at, and a client leaves KYC_PENDING only when every case is cleared in that commit",
  ends: "a person is refused and an account closed with nothing in it and nothing open, and CLOSED is the end",
  level: "level MICA_MIFID rests on five approved blocks and a test that is passed or acknowledged",
  documents: "every document has its content, and none once it is deleted",
  screening: "passes go forward one at a time, their hits freeze, and after a night nobody on a list is overlooked",
  lists: "a list that is imported is what its version names",
  "four-eyes": "a guarded command takes effect once, and only while the keys that asked for it and granted it are live",
  breaks: "an open break lets no money out",
  rules: "a report is decided by the committed state it is booked on",
  events: "events are numbered without a gap, in commit order",
  "audit-chain": "audit, decisions and ledger are all there, sealed in commit order",
  "settlement-item": "a settlement item exists if and only if its posting does",
  "delivery-rows": "each committed event of an ACTIVE endpoint has one delivery row, written with its cause",
  "delivery-claim": "only the holder of a delivery's claim writes a failed attempt, and SENT is the end",
  feed: "each notification since the endpoint became ACTIVE is forwarded once",
  delivered: "a delivery reaches a receiver that recovers, and is SENT only if it did",
  "delivery-body": "what arrives is committed, with the stored bytes",
  signature: "a delivery is signed with the present secret",
  venue: "a call of the venue is made once, executed once, and in the end known on both sides alike",
  accepts:
    "a quote is accepted while it stands, at its price and with money for it, and its hold ends by the venue's word",
  contracts:
    "each contract of the venue has one row with its terms, ends once as the venue says, with one commission and one settlement",
  orders: "each trade of an order is booked once with its money, and what is held for it ends with it",
  swaps:
    "each take reserves once and ends by the venue's word, each payment is booked once, and the service's share is of the reward alone",
  margin: "an account is NORMAL exactly while its cash covers its premiums, and no two orders take the same margin",
  "recorded-state": "the recorded risk state is the one that fresh marks imply, within a second",
  "no-debt": "no retail client owes anything once nothing is open and its close-out is over",
  restriction: "a close-out restricts its client from its first commit until the account is NORMAL",
  episodes: "a client has one close-out at a time, it comes to its end, and its orders only reduce",
  "write-off":
    "a write-off is exactly the debt of a retail client with nothing open, once per episode, and what comes back repays it first",
  funding: "each stamp of a position is posted once, for the quantity at its place, to the micro-USDC",
  totals: "an account's totals are what its trades and contracts have added up to, and what is shown of it adds up",
  statements: "versions of a statement's period follow one another, each says something else, and one is live",
  nights: "every execution of a night stands in exactly one TRANSACTIONS statement",
  states: "machine states are declared ones",
  writer: "a replaced process writes nothing",
  barred: "nothing is done for a suspended partner or with a revoked key, and nobody is onboarded without reliance",
  reads: "a read shows a committed state of its own time",
  liveness: "after the faults everything is served again",
  defects: "no fault is a defect"
} as const
export type Invariant = keyof typeof invariants

export interface Finding {
  readonly invariant: Invariant
  readonly detail: string
}

export class Findings {
  readonly all: Array<Finding> = []

  add(invariant: Invariant, detail: string): void {
    this.all.push({ invariant, detail })
  }

  /** Adds a breach unless `fact` is true. */
  expect(fact: boolean, invariant: Invariant, detail: () => string): void {
    if (!fact) this.add(invariant, detail())
  }
}
