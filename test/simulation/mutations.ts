// Deliberate faults of the system, one at a time, to prove that the auditor notices: each takes one promise away behind
// the service's back, through the seams of a simulated process. No production code knows of them.
import type { Commit } from "../../src/runtime/engine/Commit.ts"
import type { Journal, Outcome } from "../../src/runtime/engine/Journal.ts"
import type { MemoryStore } from "../../src/runtime/engine/MemoryStore.ts"
import type { OutgoingWebhook } from "../../src/runtime/webhooks/WebhookSender.ts"
import type { Invariant } from "./Findings.ts"
import { bentStore } from "./ObservedStore.ts"
import type { Seams } from "./SimProcess.ts"

export interface Mutation {
  readonly name: string
  /** The invariants that may tell of it. */
  readonly breaks: ReadonlyArray<Invariant>
  /** Fresh seams for one run. */
  readonly seams: () => Seams
}

/** Every commit is bent before it is written. */
const commits = (bend: (commit: Commit, store: MemoryStore) => Commit): Seams => ({
  store: (store) => bentStore(store, { apply: (commit) => store.apply(bend(commit, store)) })
})

const without = (commit: Commit, ...tables: ReadonlyArray<keyof Commit["rows"]>): Commit => ({
  ...commit,
  rows: Object.fromEntries(Object.entries(commit.rows).filter(([table]) => !tables.includes(table as never)))
})

const only = (commit: Commit, table: keyof Commit["rows"]): Commit => ({
  fence: null,
  partner: null,
  claims: [],
  releases: [],
  clearedTimers: [],
  rows: { [table]: commit.rows[table] }
})

type Submit = Journal["Service"]["submit"]

/** The journal with another way to submit. */
const journal = (submit: (inner: Submit) => Submit): Seams => ({
  journal: (inner) => ({ ...inner, submit: submit((commit, done) => inner.submit(commit, done)) })
})

/** What the host is told is bent. */
const told = (bend: (outcome: Outcome) => Outcome | null): Seams =>
  journal((submit) => (commit, done) => {
    submit(commit, (outcome) => {
      const word = bend(outcome)
      if (word !== null) done(word)
    })
  })

const anyToken = (commit: Commit, store: MemoryStore): Commit =>
  commit.fence === null
    ? commit
    : { ...commit, fence: { ...commit.fence, expected: store.image(commit.fence.subject).token } }

const anyEpoch = (commit: Commit, store: MemoryStore): Commit => {
  const row = store.rows("partners").find(({ id }) => id === commit.partner?.partnerId)
  return row === undefined ? commit : { ...commit, partner: { partnerId: row.id, epoch: row.epoch } }
}

/** A process that never hears of another one: it reads its own reign out of the writer row for ever. */
const ownReign = (store: MemoryStore): MemoryStore => {
  let reign = { owner: "", epoch: 0 }
  return bentStore(store, {
    takeOver: (owner) => {
      reign = { owner, epoch: store.takeOver(owner, () => {}) }
      return reign.epoch
    },
    get epoch() {
      return reign.epoch
    },
    set epoch(epoch) {
      reign = { ...reign, epoch }
    },
    get owner() {
      return reign.owner
    }
  })
}

export const mutations: ReadonlyArray<Mutation> = [
  {
    name: "the writer's epoch is not checked",
    breaks: ["writer"],
    seams: () => ({ store: ownReign })
  },
  {
    name: "no fence, and memory is kept although nobody knows what was written",
    breaks: ["balances", "rules"],
    seams: () => ({
      ...commits(anyToken),
      ...told((outcome) => (outcome._tag === "Unavailable" ? { ...outcome, unknown: false } : outcome))
    })
  },
  {
    name: "the answer leaves before the commit",
    breaks: ["output-gate"],
    seams: () =>
      journal((submit) => (commit, done) => {
        submit(commit, () => {})
        done({ _tag: "Committed" })
      })
  },
  {
    name: "a lost commit is taken for a written one",
    breaks: ["output-gate"],
    seams: () =>
      told((outcome) => (outcome._tag === "Unavailable" && outcome.unknown ? { _tag: "Committed" } : outcome))
  },
  {
    name: "the second word is not told",
    breaks: ["liveness", "signature", "reads", "delivery-rows"],
    seams: () => {
      const heard = new WeakSet<Commit>()
      return journal((submit) => (commit, done) => {
        submit(commit, (outcome) => {
          if (!heard.has(commit)) done(outcome)
          heard.add(commit)
        })
      })
    }
  },
  {
    name: "claims are dropped",
    breaks: ["claims"],
    seams: () => commits((commit) => ({ ...commit, claims: [] }))
  },
  {
    name: "the stored answer is forgotten",
    breaks: ["output-gate"],
    seams: () => commits((commit) => without(commit, "answers"))
  },
  {
    name: "the answer is stored by a commit of its own",
    breaks: ["output-gate", "one-execution"],
    seams: () =>
      journal((submit) => (commit, done) => {
        if (commit.rows.answers === undefined || commit.fence === null) return submit(commit, done)
        submit(without(commit, "answers"), (outcome) => {
          done(outcome)
          if (outcome._tag === "Committed") submit(only(commit, "answers"), () => {})
        })
      })
  },
  {
    name: "deliveries are queued by a commit of their own",
    breaks: ["delivery-rows"],
    seams: () =>
      journal((submit) => (commit, done) => {
        if (commit.rows.webhookDeliveries === undefined) return submit(commit, done)
        submit(without(commit, "webhookDeliveries"), (outcome) => {
          if (outcome._tag === "Committed") submit(only(commit, "webhookDeliveries"), () => {})
          done(outcome)
        })
      })
  },
  {
    name: "the partner's epoch is not checked",
    breaks: ["barred", "delivery-rows"],
    seams: () => commits(anyEpoch)
  },
  {
    name: "the settlement item is left out",
    breaks: ["settlement-item"],
    seams: () => commits((commit) => (commit.rows.postings === undefined ? commit : without(commit, "settlementItems")))
  },
  {
    name: "the balance row is left out",
    breaks: ["balances"],
    seams: () => commits((commit) => without(commit, "balances"))
  },
  {
    name: "a delivery's result is written without its claim",
    breaks: ["delivery-claim"],
    seams: () => ({
      deliveries: (inner, store) => ({
        ...inner,
        finish: (changes) => {
          const rows = new Map(store.rows("webhookDeliveries").map((row) => [row.id, row]))
          return inner.finish(
            changes.map((change) => ({ ...change, before: rows.get(change.before.id) ?? change.before }))
          )
        }
      })
    })
  },
  {
    name: "a failed attempt counts as sent",
    breaks: ["delivered"],
    seams: () => ({
      deliveries: (inner) => ({
        ...inner,
        finish: (changes) =>
          inner.finish(
            changes.map((change) => (change.state === "RETRYING" ? { ...change, state: "SENT" as const } : change))
          )
      })
    })
  },
  {
    name: "deliveries are signed with the first secret",
    breaks: ["signature"],
    seams: () => {
      const secrets = new Map<string, string>()
      return {
        outgoing: (webhook: OutgoingWebhook) => {
          const secret = secrets.get(webhook.url) ?? webhook.secret
          secrets.set(webhook.url, secret)
          return { ...webhook, secret }
        }
      }
    }
  },
  {
    name: "the body is written anew for each attempt",
    breaks: ["delivery-body"],
    seams: () => {
      let attempts = 0
      return { outgoing: (webhook) => ({ ...webhook, body: webhook.body.replace("{", `{"attempt":${++attempts},`) }) }
    }
  }
]
